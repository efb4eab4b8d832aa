//! What statements give: EXPLAIN, DESCRIBE, SHOW, names twice, nothing at all.

use datafusion_toolset::{ErrorCode, Limits};
use serde_json::json;

use super::{query, toolset};

/// sql-02: a plan-level limit must not break EXPLAIN.
#[tokio::test]
async fn explain_describe_and_show_work() {
    let tools = toolset(2, Limits::default());
    for sql in [
        "EXPLAIN SELECT * FROM t",
        "EXPLAIN ANALYZE SELECT * FROM t",
        "EXPLAIN VERBOSE SELECT * FROM t",
        "EXPLAIN FORMAT TREE SELECT * FROM t",
        "DESCRIBE t",
        "SHOW TABLES",
        "SHOW ALL",
        "SHOW COLUMNS FROM t",
        "SHOW datafusion.execution.batch_size",
    ] {
        let result = tools.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(result.row_count() > 0, "{sql}");
        assert!(tools.check_query(sql).await.expect(sql).is_valid(), "{sql}");
    }
    let plan = tools.query("EXPLAIN SELECT * FROM t").await.expect("a plan").into_json();
    assert!(!plan.contains("Limit"), "{plan}");
}

/// enc-12: positional rows.
#[tokio::test]
async fn columns_that_share_a_name_stay_two() {
    let tools = toolset(2, Limits::default());
    let sql = "SELECT a.id, b.id, a.name AS \"\" FROM t a JOIN t b ON a.id = b.id ORDER BY a.id";
    let payload = query(&tools, sql).await;
    assert_eq!(payload["columns"], json!(["id", "id", ""]));
    assert_eq!(payload["rows"], json!([[0, 0, "name 0"], [1, 1, "name 1"]]));
    let error = tools.query("SELECT 1, 1").await.expect_err("refused by the planner");
    assert_eq!(error.code(), ErrorCode::InvalidQuery);
}

/// enc-14: a result without batches has its names.
#[tokio::test]
async fn an_empty_result_has_its_columns() {
    let tools = toolset(2, Limits::default());
    for (sql, columns) in
        [("SELECT id, name FROM t WHERE id < 0", json!(["id", "name"])), ("SELECT id FROM t LIMIT 0", json!(["id"]))]
    {
        assert_eq!(query(&tools, sql).await, json!({"columns": columns, "rows": [], "row_count": 0}), "{sql}");
    }
}

/// sql-01: the limit is a plan node over the user's own order.
#[tokio::test]
async fn the_users_order_is_kept() {
    let tools = toolset(4000, Limits::default().with_max_rows(3));
    let payload = query(&tools, "SELECT id FROM t ORDER BY id DESC").await;
    assert_eq!(payload["rows"], json!([[3999], [3998], [3997]]));
    assert_eq!(payload["truncated_by"], "max_rows");
}

/// enc-03: floats that JSON has no number for.
#[tokio::test]
async fn special_floats_are_strings() {
    let tools = toolset(1, Limits::default());
    let sql = "SELECT 'NaN'::double a, 'Infinity'::double b, '-Infinity'::double c, NULL::double d, -0.0::double e, \
               ['NaN'::double, 1.5] f, arrow_cast('NaN','Float32') g";
    let payload = query(&tools, sql).await;
    assert_eq!(payload["rows"], json!([["NaN", "Infinity", "-Infinity", null, -0.0, ["NaN", 1.5], "NaN"]]));
}
