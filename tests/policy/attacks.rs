//! Two data sets that differ only in what the caller may not see give the same payloads, byte for byte.

use datafusion_toolset::Toolset;
use proptest::prelude::*;

use super::{answer, people};

/// The same visible rows, among others that are not: their number, values, places and even their types' limits differ.
fn pair(folder: &std::path::Path) -> [Toolset; 2] {
    let visible: Vec<String> = (0..20).map(|id| format!("acme,{id},{},name{id},{}", id * 7 % 10, 100 + id)).collect();
    let header = "tenant,id,secret,name,note\n";
    let one = format!("{header}other,900,42,zoe,12\n{}\nother,901,0,yan,abc\n", visible.join("\n"));
    let mut two = format!("{header}rival,5,7,ann,xyz\n");
    for (at, row) in visible.iter().enumerate() {
        // What is masked or hidden differs in the visible rows as well.
        two += &row.replace("name", "person").replacen(&format!(",{},", at * 7 % 10), ",3,", usize::from(at > 15));
        two += "\n";
        two += &format!("rival,{},{},hidden{at},{at}\n", 1000 + at, at % 3);
    }
    [("one", one), ("two", two)].map(|(name, text)| {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        people(&folder, &text, |source| {
            source
                .with_filter("tenant = 'acme'")
                .with_hidden(["tenant", "secret"])
                .with_mask("name", "concat('m', CAST(length(name) > 0 AS VARCHAR))")
        })
    })
}

fn predicates() -> Vec<String> {
    let mut all = Vec::new();
    for column in ["id", "name", "note", "secret", "tenant", "people.secret"] {
        for shape in [
            "1 / (@ - 42) > 0",
            "1 / (@ - 900) > 0",
            "CAST(@ AS INT) > 0",
            "CAST(@ AS DATE) IS NULL",
            "@ = 'zoe' OR @ = '42'",
            "@ > (SELECT max(@) FROM people) - 1",
            "@ IN (SELECT @ FROM people q WHERE q.id = people.id)",
            "EXISTS (SELECT 1 FROM people q WHERE q.@ > people.@)",
            "@ LIKE '%z%'",
            "regexp_like(@, '^(z|a).*')",
            "arrow_cast(@, 'Int8') < 100",
            "@ IS NULL AND 1 / 0 = 1",
            "CASE WHEN @ = '901' THEN 1 / 0 ELSE 1 END = 1",
            "power(10, @) > 0 AND sqrt(@) < 5",
            "@ BETWEEN 800 AND 1200",
            "1 / (CAST(@ AS INT) - 12) < 1",
            "100 / (CAST(@ AS BIGINT) - 900) < 1",
            "CAST(@ AS VARCHAR) < 'm'",
            "CAST(@ AS VARCHAR) LIKE '%z%'",
            "CAST(@ AS VARCHAR) = 'zoe' OR CAST(@ AS VARCHAR) = '42'",
            "CAST(@ AS DOUBLE) / 3 > 1",
            "arrow_cast(CAST(@ AS INT), 'Int8') < 100",
            "CAST(@ AS VARCHAR) IN (SELECT CAST(@ AS VARCHAR) FROM people q WHERE q.id = people.id)",
        ] {
            all.push(shape.replace('@', column).replace("q.people.", "q.").replace("people.people.", "people."));
        }
    }
    all
}

fn statements() -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for predicate in predicates() {
        all.push(format!("SELECT count(*) FROM people WHERE {predicate}"));
        all.push(format!("SELECT id, {predicate} FROM people ORDER BY id LIMIT 3"));
        all.push(format!("EXPLAIN SELECT id FROM people WHERE {predicate}"));
    }
    for column in ["id", "name", "note", "secret", "tenant"] {
        for shape in [
            "SELECT min(@), max(@), count(@), count(DISTINCT @), approx_distinct(@) FROM people",
            "SELECT @ FROM people UNION SELECT @ FROM people ORDER BY 1",
            "SELECT @ FROM people EXCEPT SELECT 'zoe' ORDER BY 1",
            "SELECT @ FROM people INTERSECT SELECT @ FROM people ORDER BY 1",
            "SELECT a.@ FROM people a JOIN people b ON a.@ = b.@ ORDER BY 1 LIMIT 5",
            "SELECT id, (SELECT max(@) FROM people q WHERE q.id < p.id) FROM people p ORDER BY id",
            "SELECT id, row_number() OVER (ORDER BY @, id) FROM people ORDER BY id",
            "EXPLAIN VERBOSE SELECT max(@) FROM people",
            "EXPLAIN FORMAT TREE SELECT @ FROM people WHERE id > 5",
            "EXPLAIN SELECT * FROM people a JOIN people b ON a.@ = b.@",
            "SELECT arrow_typeof(@) FROM people LIMIT 1",
            "SELECT DISTINCT md5(CAST(@ AS VARCHAR)) FROM people ORDER BY 1",
            "SELECT array_agg(@ ORDER BY id) FROM people",
            "SELECT people['@'] FROM people",
            "SELECT id AS @ FROM people WHERE @ > 3 ORDER BY 1",
            "SELECT * EXCLUDE (@) FROM people ORDER BY id LIMIT 2",
        ] {
            all.push(shape.replace('@', column));
        }
    }
    for sql in [
        "SELECT * FROM people ORDER BY id",
        "SELECT * FROM people",
        "DESCRIBE people",
        "SHOW COLUMNS FROM people",
        "SELECT * FROM information_schema.columns ORDER BY table_name, ordinal_position",
        "SELECT * FROM information_schema.tables ORDER BY 1, 2, 3",
        "SELECT * FROM information_schema.views",
        "SELECT __file_row_number FROM people",
        "SELECT input_file_name() FROM people",
        "SELECT filename FROM people",
        "SELECT count(*) FROM people",
        "SELECT count(*) FROM people TABLESAMPLE BERNOULLI (50)",
    ] {
        all.push(sql.to_owned());
    }
    all
}

/// Whether the answers, which have to be the same, are no errors.
async fn told_apart(pair: &[Toolset; 2], sql: &str) -> Result<bool, String> {
    let [one, two] = pair;
    let (one, two) = (answer(one, sql).await, answer(two, sql).await);
    // The file's own folder is all that is meant to differ, and no text may show it.
    if one == two { Ok(!one.starts_with("{\"error\"")) } else { Err(format!("{sql}\n  {one}\n  {two}")) }
}

#[tokio::test]
async fn no_statement_tells_the_data_sets_apart() {
    let folder = tempfile::tempdir().unwrap();
    let pair = pair(folder.path());
    let statements = statements();
    assert!(statements.len() >= 200);
    let mut told = Vec::new();
    let mut answered = 0;
    for sql in &statements {
        match told_apart(&pair, sql).await {
            Ok(is_answer) => answered += usize::from(is_answer),
            Err(difference) => told.push(difference),
        }
    }
    assert!(told.is_empty(), "{} of {}:\n{}", told.len(), statements.len(), told.join("\n"));
    assert!(answered > 100, "only {answered} of {} are statements at all", statements.len());
    for tool in ["get_schema", "list_tables"] {
        let arguments = if tool == "get_schema" { r#"{"table_name":"people"}"# } else { "" };
        assert_eq!(pair[0].call(tool, arguments).await.unwrap(), pair[1].call(tool, arguments).await.unwrap());
    }
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "id", "name", "note", "secret", "tenant", "0", "1", "42", "900", "'zoe'", "'12'", "NULL", "TRUE",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        (
            prop::sample::select(vec![
                "(A + B)",
                "(A / B)",
                "(A % B)",
                "(A = B)",
                "(A < B)",
                "(A AND B)",
                "(A OR B)",
                "(NOT A)",
                "CAST(A AS INT)",
                "CAST(A AS VARCHAR)",
                "CAST(A AS BOOLEAN)",
                "(A IS NULL)",
                "coalesce(A, B)",
                "nullif(A, B)",
                "length(A)",
                "left(A, B)",
                "CASE WHEN A THEN B ELSE A END",
                "(A || B)",
                "(A IN (B, A))",
                "TRY_CAST(A AS INT)",
                "(SELECT max(A) FROM people)",
                "(A IN (SELECT B FROM people))",
                "(A LIKE B)",
            ]),
            inner.clone(),
            inner,
        )
            .prop_map(|(shape, a, b)| {
                shape.split_inclusive(['A', 'B']).fold(String::new(), |mut text, part| {
                    let (rest, last) = part.split_at(part.len() - 1);
                    let word = rest.chars().last().is_some_and(|c| c.is_ascii_uppercase());
                    text.push_str(rest);
                    text.push_str(match last {
                        "A" if !word => &a,
                        "B" if !word => &b,
                        other => other,
                    });
                    text
                })
            })
    })
}

#[test]
fn no_random_statement_does_either() {
    let folder = tempfile::tempdir().unwrap();
    let pair = pair(folder.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 200, ..ProptestConfig::default() });
    let statement = (
        expression(),
        expression(),
        prop::sample::select(vec![
            "SELECT id, P FROM people WHERE Q ORDER BY id",
            "SELECT count(*), max(P) FROM people WHERE Q",
            "SELECT P, count(*) FROM people GROUP BY P ORDER BY 1",
            "EXPLAIN SELECT P FROM people WHERE Q",
            "SELECT a.id FROM people a JOIN people b ON a.id = b.id WHERE b.id IN (SELECT id FROM people WHERE Q) ORDER BY 1",
        ]),
    )
        .prop_map(|(p, q, shape)| shape.replace(" P ", &format!(" {p} ")).replace("(P)", &format!("({p})"))
            .replace("P,", &format!("{p},")).replace(" Q", &format!(" {q}")));
    runner
        .run(&statement, |sql| {
            let told = runtime.block_on(told_apart(&pair, &sql));
            prop_assert!(told.is_ok(), "{}", told.unwrap_err());
            Ok(())
        })
        .unwrap();
}
