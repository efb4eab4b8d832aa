//! Names, allow-lists and contexts that were brought along.

use datafusion::prelude::SessionContext;
use datafusion_toolset::{ErrorCode, Limits, Policy, Source, Toolset};
use serde_json::json;

use super::{call, numbered, query, register, toolset};

#[tokio::test]
async fn names_are_listed_as_sql_takes_them() {
    let sources = ["orders", "crm.Customers", "Web-Events 2024", "select", "\"a.b\""];
    let tools = Toolset::builder()
        .sources(sources.map(|name| Source::new(name, "/nowhere/x.parquet")))
        .build()
        .expect("a toolset without any I/O");
    let tables = call(&tools, "list_tables", "").await;
    let expected = json!(["\"Web-Events 2024\"", "\"a.b\"", "\"select\"", "crm.\"Customers\"", "orders"]);
    assert_eq!(tables, json!({"tables": expected, "table_count": 5}));
}

#[tokio::test]
async fn a_long_list_is_cut_within_the_budget() {
    let limits = Limits::default().with_max_result_bytes(600);
    let sources = (0..5000).map(|n| Source::new(format!("table_{n:04}"), "/nowhere/x.csv").with_description("rows"));
    let tools = Toolset::builder().sources(sources).limits(limits).build().expect("a toolset");
    let payload = tools.call("list_tables", "").await.expect("a list");
    assert!(payload.len() <= 600 && payload.len() > 580, "{}", payload.len());
    let cut = super::parse(&payload);
    assert_eq!((cut["table_count"].as_u64(), cut["truncated"].as_bool()), (Some(5000), Some(true)));
    assert_eq!(cut["tables"][0], "table_0000");
    let one = call(&tools, "list_tables", r#"{"name_contains":"_0042"}"#).await;
    assert_eq!(one, json!({"tables": ["table_0042"], "table_count": 1, "descriptions": {"table_0042": "rows"}}));
}

#[tokio::test]
async fn what_is_not_allowed_does_not_exist() {
    let ctx = SessionContext::new();
    for name in ["t", "secret"] {
        register(&ctx, name, numbered(3));
    }
    let policy = Policy::default().with_allowed_tables(["t"]);
    let tools = Toolset::builder().session_context(&ctx).policy(policy).build().expect("a toolset");
    assert_eq!(call(&tools, "list_tables", "").await, json!({"tables": ["t"], "table_count": 1}));
    for sql in [
        "SELECT * FROM secret",
        "SELECT * FROM public.secret",
        "SELECT * FROM datafusion.public.secret",
        "WITH x AS (SELECT * FROM secret) SELECT * FROM x",
        "SELECT (SELECT count(*) FROM secret) FROM t",
        "DESCRIBE secret",
        "SHOW COLUMNS FROM secret",
        "EXPLAIN SELECT * FROM secret",
    ] {
        let error = tools.query(sql).await.expect_err(sql);
        assert_eq!(error.code(), ErrorCode::UnknownTable, "{sql}: {error}");
        assert!(error.suggestions().iter().all(|name| name != "secret"), "{sql}: {error:?}");
    }
    for sql in ["SHOW TABLES", "SELECT * FROM information_schema.columns", "SELECT * FROM information_schema.tables"] {
        let text = tools.query(sql).await.expect(sql).into_json();
        assert!(!text.contains("secret"), "{sql}: {text}");
    }
    assert_eq!(query(&tools, "SELECT count(*) AS n FROM t").await["rows"], json!([[3]]));
}

#[test]
fn a_policy_that_cannot_be_is_refused() {
    let build = |tables: &[&str]| {
        let policy = Policy::default().with_allowed_tables(tables.iter().copied());
        Toolset::builder().source(Source::new("sales", "x.csv")).policy(policy).build()
    };
    let empty = build(&[]).expect_err("empty").to_string();
    assert!(empty.contains("allowed_tables") && empty.contains("empty"), "{empty}");
    let unknown = build(&["sale"]).expect_err("unknown").to_string();
    assert!(unknown.contains("`sale`"), "{unknown}");
    assert!(build(&["sales"]).is_ok());
    let twice = Toolset::builder().source(Source::new("a", "x.csv")).source(Source::new("a", "y.csv")).build();
    assert!(twice.expect_err("twice").to_string().contains("`a`"));
}

#[tokio::test]
async fn sources_lie_over_the_context_that_was_brought() {
    let ctx = SessionContext::new();
    register(&ctx, "mine", numbered(2));
    let tools = Toolset::builder()
        .session_context(&ctx)
        .source(Source::new("broken", "/nowhere/x.parquet"))
        .build()
        .expect("a toolset");
    assert_eq!(call(&tools, "list_tables", "").await["tables"], json!(["broken", "mine"]));
    register(&ctx, "later", numbered(4));
    assert_eq!(query(&tools, "SELECT count(*) AS n FROM later").await["rows"], json!([[4]]));
    // A broken source breaks the calls that use it, and nothing else.
    let error = tools.query("SELECT * FROM broken").await.expect_err("no such file");
    assert_eq!(error.code(), ErrorCode::SourceUnavailable);
    assert!(error.message().contains("broken"), "{error}");
    assert_eq!(tools.get_schema("broken", None).await.expect_err("no such file").code(), ErrorCode::SourceUnavailable);
    let shown = tools.query("SHOW COLUMNS FROM mine").await.expect("columns of the good table");
    assert_eq!(shown.row_count(), 2);
    assert_eq!(tools.query("SHOW TABLES").await.expect("tables").truncated_by(), None);
}

#[tokio::test]
async fn a_schema_says_what_sql_needs() {
    let tools = toolset(1, Limits::default());
    let schema = call(&tools, "get_schema", r#"{"table_name":"t"}"#).await;
    let columns = json!([{"name": "id", "type": "Int64", "nullable": false}, {"name": "name", "type": "Utf8"}]);
    assert_eq!(schema, json!({"columns": columns, "column_count": 2}));
    let one = call(&tools, "get_schema", r#"{"table_name":"T","name_contains":"NAM"}"#).await;
    let columns = json!([{"name": "name", "type": "Utf8"}]);
    assert_eq!(one, json!({"columns": columns, "column_count": 1, "name_contains": "NAM", "total_columns": 2}));
    let none = call(&tools, "get_schema", r#"{"table_name":"t","name_contains":"%"}"#).await;
    assert_eq!((&none["columns"], &none["total_columns"]), (&json!([]), &json!(2)));
    assert_eq!(tools.get_schema("u", None).await.expect_err("no such table").code(), ErrorCode::UnknownTable);
}
