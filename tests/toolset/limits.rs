//! Rows, bytes and totals.

use datafusion_toolset::{Limits, QueryRequest, TotalRows, TruncatedBy};
use serde_json::json;

use super::{parse, query, toolset};

/// mcp-01: a cut result can be told from a complete one with exactly max_rows rows.
#[tokio::test]
async fn exactly_max_rows_is_whole() {
    for rows in [0, 199, 200] {
        let tools = toolset(rows, Limits::default().with_max_rows(200));
        let result = tools.query("SELECT * FROM t").await.expect("a result");
        assert_eq!((result.row_count() as i64, result.truncated_by()), (rows, None));
        assert_eq!(parse(result.json()).get("truncated"), None);
        assert_eq!(result.total_rows(), Some(rows as u64));
    }
    let tools = toolset(201, Limits::default().with_max_rows(200));
    let payload = query(&tools, "SELECT * FROM t").await;
    assert_eq!(payload["row_count"], 200);
    assert_eq!(payload["truncated"], true);
    assert_eq!(payload["truncated_by"], "max_rows");
    assert!(payload["hint"].is_string());
    assert_eq!(payload["total_rows"], 201);
}

#[tokio::test]
async fn a_caller_may_lower_max_rows_but_not_raise_it() {
    let tools = toolset(100, Limits::default().with_max_rows(10));
    for (asked, given) in [(3, 3), (10, 10), (11, 10), (usize::MAX, 10)] {
        let result = tools.query(QueryRequest::new("SELECT id FROM t").with_max_rows(asked)).await.expect("a result");
        assert_eq!(result.row_count(), given);
        assert_eq!(result.truncated_by(), Some(TruncatedBy::MaxRows));
    }
}

#[tokio::test]
async fn the_users_own_limit_is_no_truncation() {
    let tools = toolset(100, Limits::default().with_max_rows(10));
    let payload = query(&tools, "SELECT id FROM t ORDER BY id DESC LIMIT 2 OFFSET 1;").await;
    assert_eq!(payload, json!({"columns": ["id"], "rows": [[98], [97]], "row_count": 2}));
}

#[tokio::test]
async fn total_rows_goes_as_far_as_its_setting() {
    let filtered = "SELECT id FROM t WHERE id % 2 = 0";
    for (setting, plain, with_filter) in
        [(TotalRows::Free, Some(100), None), (TotalRows::Count, Some(100), Some(50)), (TotalRows::Never, None, None)]
    {
        let tools = toolset(100, Limits::default().with_max_rows(10).with_total_rows(setting));
        for (sql, total) in [("SELECT id FROM t", plain), (filtered, with_filter)] {
            let payload = query(&tools, sql).await;
            assert_eq!(payload["truncated"], true, "{setting:?} {sql}");
            assert_eq!(payload.get("total_rows").and_then(|total| total.as_u64()), total, "{setting:?} {sql}");
        }
    }
}

#[tokio::test]
async fn no_payload_of_any_tool_exceeds_the_budget() {
    let long = "x".repeat(5000);
    for budget in [512, 700, 1024, 4096] {
        let tools = toolset(500, Limits::default().with_max_result_bytes(budget).with_max_rows(400));
        for (tool, arguments) in [
            ("query", json!({"sql": "SELECT * FROM t"})),
            ("query", json!({"sql": format!("SELECT 1 AS \"{long}\"")})),
            ("query", json!({"sql": format!("SELECT \"{long}\" FROM t")})),
            ("query", json!({"sql": format!("SELECT * FROM \"{long}\"")})),
            ("check_query", json!({"sql": format!("SELECT \"{long}\" FROM t")})),
            ("check_query", json!({"sql": format!("SELECT 1 AS \"{long}\"")})),
            ("get_schema", json!({"table_name": long})),
            ("get_schema", json!({"table_name": "t", "name_contains": long})),
            ("list_tables", json!({"name_contains": long})),
            ("query", json!({ "sql": "SELECT 1", long.as_str(): 1 })),
        ] {
            let payload = match tools.call(tool, &arguments.to_string()).await {
                Ok(payload) => payload,
                Err(error) => error.json(),
            };
            assert!(payload.len() <= budget, "{tool}: {} > {budget}: {payload}", payload.len());
            parse(&payload);
        }
    }
}
