use datafusion::prelude::{SessionConfig, SessionContext};

use super::*;
use crate::error::{Error, ErrorCode};

/// One call may make an eighth of it, 32 MiB.
const MEMORY: usize = 256 << 20;

fn context(policy: &Policy) -> Result<SessionContext, ConfigError> {
    let mut state = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1)).state();
    apply_policy(&mut state, policy)?;
    guard(&mut state, MEMORY).expect("guard");
    Ok(SessionContext::new_with_state(state))
}

async fn run(context: &SessionContext, sql: &str) -> Result<usize, Error> {
    let frame = context.sql(sql).await.map_err(Error::from_datafusion)?;
    let batches = frame.collect().await.map_err(Error::from_datafusion)?;
    Ok(batches.iter().map(|batch| batch.num_rows()).sum())
}

#[tokio::test]
async fn what_would_be_huge_is_refused_before_it_is_made() {
    let context = context(&Policy::default()).expect("context");
    for sql in [
        "SELECT length(repeat('x', 300000000))",
        "SELECT repeat(x, 9223372036854775807) FROM (VALUES ('abc')) v(x)",
        "SELECT repeat('ab', 400000000) || repeat('cd', 400000000)",
        "SELECT rpad('a', 1073741824, 'a')",
        "SELECT lpad(x, 1073741824, 'é') FROM (VALUES ('abc')) v(x)",
        "SELECT cardinality(array_repeat(1, 1000000000))",
        "SELECT cardinality(list_repeat('abcdef', 100000000))",
        "SELECT cardinality(range(1000000000))",
        "SELECT cardinality(generate_series(1, 1000000000000, 7))",
        "SELECT cardinality(range(DATE '0001-01-01', DATE '9999-01-01', INTERVAL '1 nanosecond'))",
        "SELECT cardinality(generate_series(TIMESTAMP '2000-01-01', TIMESTAMP '2020-01-01', INTERVAL '1 microsecond'))",
        "SELECT cardinality(array_resize([1], 1000000000, 0))",
        "SELECT length(replace(repeat('x', 1000000), 'x', repeat('y', 1000)))",
        "SELECT length(regexp_replace(repeat('x', 1000000), 'x', repeat('y', 1000), 'g'))",
        "SELECT length(repeat('x', value)) FROM generate_series(100000000, 100000001)",
        "WITH a AS (SELECT repeat('x', 900000) AS x), b AS (SELECT concat(x, x, x, x, x, x, x, x) AS x FROM a) \
         SELECT length(concat(x, x, x, x, x, x, x, x)) FROM b",
        "SELECT max(length(x || x)) FROM (SELECT repeat('x', 10000) AS x FROM generate_series(1, 8192))",
        "SELECT array_to_string(range(1, 100000), repeat('x', 100000))",
        "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
        "SELECT max(levenshtein(repeat('a', value), repeat('b', value))) FROM generate_series(1, 8000)",
    ] {
        match run(&context, sql).await {
            Ok(rows) => panic!("{sql} gave {rows} rows"),
            Err(error) => assert_eq!(error.code(), ErrorCode::ResourceExhausted, "{sql}: {error}"),
        }
    }
}

#[tokio::test]
async fn what_people_write_passes() {
    let context = context(&Policy::default()).expect("context");
    for (sql, rows) in [
        ("SELECT repeat('*', value) FROM generate_series(1, 100)", 100),
        ("SELECT lpad(cast(value AS varchar), 8, '0'), rpad('a', 10) FROM generate_series(1, 10000)", 10_000),
        ("SELECT unnest(range(1, 1000))", 999),
        ("SELECT unnest(generate_series(DATE '2024-01-01', DATE '2024-12-31', INTERVAL '1 month'))", 12),
        ("SELECT replace('a b', ' ', '_'), regexp_replace('a1', '[0-9]', '', 'g')", 1),
        ("SELECT concat('a', NULL, 1), concat_ws('-', 'a', 'b'), [1, 2] || [3], array_append([1], 2)", 1),
        ("SELECT repeat(NULL, 3), repeat('a', -1), lpad('a', -5), array_resize([1], 3)", 1),
        ("SELECT count(*) FROM generate_series(1, 100000)", 1),
        ("SELECT array_to_string(range(1, 1000), ', '), levenshtein('kitten', 'sitting')", 1),
    ] {
        assert_eq!(run(&context, sql).await.expect(sql), rows, "{sql}");
    }
}

/// 2^30 of 10 characters, of a constant and of a column.
#[tokio::test]
async fn doubling_by_with_names_is_refused() {
    let context = context(&Policy::default()).expect("context");
    for first in ["SELECT 'abcdefghij' AS s", "SELECT cast(value AS varchar) AS s FROM generate_series(1, 3)"] {
        for twice in ["s || s", "concat(s, s)", "replace(s, '1', s) || s"] {
            let names: Vec<String> =
                (1..=30).map(|i| format!("c{i} AS (SELECT {twice} AS s FROM c{})", i - 1)).collect();
            let sql = format!("WITH c0 AS ({first}), {} SELECT max(length(s)) FROM c30", names.join(", "));
            let error = run(&context, &sql).await.expect_err(&sql);
            assert_eq!(error.code(), ErrorCode::ResourceExhausted, "{sql}: {error}");
        }
    }
}

/// What is refused is a share of the limit, and the share is an eighth.
#[tokio::test]
async fn one_call_may_make_an_eighth_of_the_limit() {
    let context = context(&Policy::default()).expect("context");
    // Of a column, so that it is no constant: one row of just under and just over 32 MiB.
    let sql = |bytes: usize| format!("SELECT length(repeat('x', value)) FROM generate_series({bytes}, {bytes})");
    assert_eq!(run(&context, &sql(MEMORY / 8)).await.expect("an eighth"), 1);
    let error = run(&context, &sql(MEMORY / 8 + 1)).await.expect_err("more than an eighth");
    assert_eq!(error.code(), ErrorCode::ResourceExhausted);
    assert!(error.message().contains(&(MEMORY / 8).to_string()), "{error}");
}

/// The operator `||` and aggregates in windows.
#[tokio::test]
async fn what_is_replaced_keeps_names_types_and_nulls() {
    let context = context(&Policy::default()).expect("context");
    let plain = SessionContext::new();
    for sql in [
        "SELECT array_agg(a) OVER (ORDER BY b), string_agg(b, ',') OVER (ORDER BY b DESC), median(a) OVER (ORDER BY b), \
         count(DISTINCT a) OVER (ORDER BY b), sum(a) OVER (ORDER BY b), array_agg(a) FILTER (WHERE a > 1) OVER () \
         FROM (VALUES (1, 'y'), (NULL, 'z'), (3, 'x')) AS v(a, b) ORDER BY b",
        "SELECT array_agg(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), \
         array_agg(a) OVER (ORDER BY b ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING), \
         approx_percentile_cont(a, 0.5) OVER (PARTITION BY b) FROM (VALUES (1, 'y'), (2, 'z'), (3, 'x')) AS v(a, b) \
         ORDER BY b",
        "SELECT 'a' || 'b', 'a' || 1, 1 || 'a', NULL || 'a', 'a' || NULL || 'b'",
        "SELECT a || b, a || '-' || b AS x, arrow_cast(a, 'LargeUtf8') || b, a || arrow_cast(b, 'Utf8View'), a || 1.5 \
         FROM (VALUES ('x', 'y'), (NULL, 'z'), ('u', NULL)) AS v(a, b) ORDER BY a || b",
        "SELECT a || b, count(*) FROM (VALUES ('x', 'y'), ('x', 'y')) AS v(a, b) GROUP BY a || b HAVING a || b <> 'q'",
        "SELECT a || b, count(*) FROM (VALUES ('x', 'y')) AS v(a, b) GROUP BY ROLLUP (a || b) ORDER BY 1",
        "SELECT [1] || [2], [1] || 2, 1 || [2], [[1]] || [2]",
        "SELECT (SELECT max(a || b) FROM (VALUES ('x', 'y')) AS w(a, b)) || 'z' AS m",
        "SELECT a FROM (VALUES ('x', 'y')) AS v(a, b) WHERE a || b = 'xy' AND a || b LIKE 'x%'",
        "SELECT sum(length(a || b)) OVER (PARTITION BY a || b ORDER BY a || b) FROM (VALUES ('x', 'y')) AS v(a, b)",
        "SELECT X'00' || X'ff'",
        "SELECT a || (b || a) || 1 || NULL || 'q', 1 || 2, 1 || a || 2.5, NULL || NULL FROM (VALUES ('x', 'y')) AS v(a, b)",
        "SELECT arrow_cast(a, 'LargeUtf8') || b || arrow_cast(b, 'Utf8View') FROM (VALUES ('x', 'y')) AS v(a, b)",
    ] {
        let show = async |context: &SessionContext| match context.sql(sql).await {
            Ok(frame) => {
                let schema = format!("{:?}", frame.schema().as_arrow().fields());
                let batches = frame.collect().await.expect(sql);
                let rows = datafusion::arrow::util::pretty::pretty_format_batches(&batches).expect("rows").to_string();
                (schema, rows)
            }
            Err(error) => (error.strip_backtrace(), String::new()),
        };
        assert_eq!(show(&context).await, show(&plain).await, "{sql}");
    }
}

#[tokio::test]
async fn the_policy_decides_which_functions_exist() {
    let only = context(&Policy::default().with_allowed_functions(["sum", "UPPER", "char_length"])).expect("context");
    for sql in [
        "SELECT sum(1)",
        "SELECT upper('a')",
        "SELECT length('a'), character_length('a')",
        "SELECT [1][1], 'a' || 'b', 1 + 1",
    ] {
        run(&only, sql).await.expect(sql);
    }
    for sql in
        ["SELECT max(1)", "SELECT lower('a')", "SELECT row_number() OVER ()", "SELECT * FROM generate_series(1, 2)"]
    {
        assert_eq!(run(&only, sql).await.expect_err(sql).code(), ErrorCode::UnknownFunction, "{sql}");
    }
    let without = context(&Policy::default().with_denied_functions(["now", "generate_series", "list_sort", "mean"]))
        .expect("context");
    for sql in [
        "SELECT current_timestamp()",
        "SELECT array_sort([1])",
        "SELECT avg(1)",
        "SELECT * FROM generate_series(1, 2)",
        "SELECT generate_series(1, 2)",
    ] {
        assert_eq!(run(&without, sql).await.expect_err(sql).code(), ErrorCode::UnknownFunction, "{sql}");
    }
    run(&without, "SELECT sum(1)").await.expect("sum");
}

#[test]
fn a_name_that_nobody_knows_is_refused() {
    let error = context(&Policy::default().with_denied_functions(["repaet"])).map(drop).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "`denied_functions` names the function `repaet`, which the session does not have; did you mean `repeat`?"
    );
}

#[test]
fn no_table_function_reads_files() {
    let state = SessionContext::new().state();
    let mut names: Vec<&String> = state.table_functions().keys().collect();
    names.sort();
    assert_eq!(names, ["generate_series", "range"]);
}
