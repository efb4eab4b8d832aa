//! Filters, hidden columns and masks, and what becomes of those that cannot be kept.

use datafusion::prelude::SessionContext;
use datafusion_toolset::{ErrorCode, Policy, Source, Toolset};

use super::{answer, people};
use crate::toolset::{numbered, register};

const PEOPLE: &str = "tenant,name,ssn,age,note\nacme,ann,111,30,10\nacme,bob,222,40,20\nother,eve,333,50,x\n";

fn restricted(source: Source) -> Source {
    source.with_filter("tenant = 'acme'").with_hidden(["tenant", "ssn"]).with_mask("name", "concat(left(name, 1), '*')")
}

#[tokio::test]
async fn the_table_is_the_filtered_and_masked_one_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let tools = people(folder.path(), PEOPLE, restricted);
    for (sql, rows) in [
        ("SELECT * FROM people ORDER BY age", r#"[["a*",30,"10"],["b*",40,"20"]]"#),
        ("SELECT count(*) FROM people", "[[2]]"),
        ("SELECT count(*) FROM people WHERE age > 35", "[[1]]"),
        ("SELECT name FROM people WHERE name = 'bob'", "[]"),
        ("SELECT name FROM people WHERE name = 'b*'", r#"[["b*"]]"#),
        ("WITH p AS (SELECT * FROM people) SELECT max(age) FROM p", "[[40]]"),
        ("SELECT age FROM people p WHERE EXISTS (SELECT 1 FROM people q WHERE q.age > p.age)", "[[30]]"),
        ("SELECT sum(CAST(note AS INT)) FROM people", "[[30]]"),
        ("SELECT count(*) FROM people WHERE 1 / (age - 50) < 1", "[[2]]"),
        ("SELECT age FROM people LIMIT 1", "[[30]]"),
        (
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'people' ORDER BY 1",
            r#"[["age"],["name"],["note"]]"#,
        ),
    ] {
        let payload = answer(&tools, sql).await;
        assert!(payload.contains(&format!("\"rows\":{rows}")), "{sql}: {payload}");
    }
    let schema = tools.get_schema("people", None).await.unwrap().into_json();
    assert!(!schema.contains("ssn") && !schema.contains("tenant"), "{schema}");
    let explained = answer(&tools, "EXPLAIN SELECT name FROM people WHERE age > 1").await;
    for secret in ["acme", "tenant", "ssn", "concat", "csv"] {
        assert!(!explained.contains(secret), "{explained}");
    }
}

#[tokio::test]
async fn a_hidden_column_fails_as_one_that_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = people(folder.path(), PEOPLE, |source| source.with_hidden(["ssn"]));
    let other = tempfile::tempdir().unwrap();
    let never = people(other.path(), "tenant,name,age,note\nacme,ann,30,10\n", |source| source);
    for sql in ["SELECT ssn FROM people", "SELECT people.ssn FROM people", "SELECT age FROM people WHERE sn = 1"] {
        assert_eq!(answer(&hidden, sql).await, answer(&never, sql).await);
    }
}

#[tokio::test]
async fn a_rule_that_cannot_be_kept_closes_the_table() {
    let folder = tempfile::tempdir().unwrap();
    for (rules, text) in [
        ((|s| s.with_filter("tenant =")) as fn(Source) -> Source, "its filter does not plan"),
        (|s| s.with_filter("tenant = 'a' extra garbage"), "its filter does not plan"),
        (|s| s.with_filter("tenannt = 'acme'"), "its filter does not plan"),
        (|s| s.with_filter("age + 1"), "a rule for it does not plan"),
        (|s| s.with_filter("nosuch(age)"), "its filter does not plan"),
        (|s| s.with_filter("random() < 2"), "calls a function that gives another value each time"),
        (|s| s.with_filter("age IN (SELECT 1)"), "its filter needs more than the row"),
        (|s| s.with_filter("count(age) > 0"), "its filter needs more than the row"),
        (|s| s.with_filter("age > $1"), "its filter"),
        (|s| s.with_hidden(["snn"]), "no column `snn` to hide"),
        (|s| s.with_mask("nam", "'x'"), "no column `nam` to mask"),
        (|s| s.with_mask("name", "upper(nam)"), "the mask of `name` does not plan"),
        (|s| s.with_hidden(["tenant", "name", "ssn", "age", "note"]), "every column of it is hidden"),
    ] {
        let tools = people(folder.path(), PEOPLE, rules);
        for sql in ["SELECT * FROM people", "SELECT count(*) FROM people", "EXPLAIN SELECT 1 FROM people"] {
            let error = tools.query(sql).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::SourceUnavailable, "{text}: {error}");
            assert!(error.message().contains(text), "{text}: {error}");
            assert!(!error.message().contains("tenant") && !error.message().contains("acme"), "{error}");
        }
    }
    let denied = Policy::default().with_denied_functions(["upper"]).with_filter("t", "upper(name) = 'NAME 1'");
    let context = SessionContext::new();
    register(&context, "t", numbered(3));
    let tools = Toolset::builder().session_context(&context).policy(denied).build().unwrap();
    assert_eq!(tools.query("SELECT * FROM t").await.unwrap_err().code(), ErrorCode::SourceUnavailable);
}

#[tokio::test]
async fn a_rule_that_fails_on_a_row_quotes_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let tools = people(folder.path(), PEOPLE, |source| source.with_mask("note", "CAST(note AS INT)"));
    let error = tools.query("SELECT note FROM people").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceUnavailable);
    assert!(!error.json().contains("'x'"), "{}", error.json());
    // A mask that is not asked for costs nothing, not even its failure.
    assert!(tools.query("SELECT age FROM people").await.is_ok());
}

#[tokio::test]
async fn the_policy_restricts_tables_of_a_context_too() {
    let context = SessionContext::new();
    register(&context, "t", numbered(10));
    let policy = Policy::default()
        .with_filter("t", "id < 5")
        .with_filter("t", "id > 1")
        .with_mask("t", "name", "upper(name)")
        .with_mask("t", "name", "upper(left(name, 2))");
    let tools = Toolset::builder().session_context(&context).policy(policy).build().unwrap();
    assert_eq!(
        answer(&tools, "SELECT * FROM t WHERE id <> 3 ORDER BY id").await,
        r#"{"columns":["id","name"],"rows":[[2,"NA"],[4,"NA"]],"row_count":2}"#
    );
    let error = Toolset::builder().policy(Policy::default().with_filter("x", "true")).build().unwrap_err();
    assert!(error.to_string().contains("rules for `x`"), "{error}");
}

#[tokio::test]
async fn the_exact_total_counts_what_can_be_seen() {
    let context = SessionContext::new();
    register(&context, "t", numbered(100));
    let policy = Policy::default().with_filter("t", "id < 60");
    let tools = Toolset::builder().session_context(&context).policy(policy).build().unwrap();
    let payload = answer(&tools, "SELECT id FROM t").await;
    assert!(payload.contains("truncated") && !payload.contains("total_rows"), "{payload}");
}
