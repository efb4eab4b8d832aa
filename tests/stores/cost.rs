//! Requests, counted at the store.

use serde_json::json;

use super::{S3, call, parquet, rows, toolset};

#[tokio::test]
async fn footers_are_read_once_and_listing_tables_asks_nothing() {
    let s3 = S3::start().await;
    for file in 0..20 {
        s3.put(&format!("d/{file:02}.parquet"), parquet(file * 100..file * 100 + 100));
    }
    let tools = toolset([s3.source("t", "s3://bucket/d/")]);
    let listed = call(&tools, "list_tables", json!({})).await;
    assert_eq!(listed["table_count"], 1);
    assert_eq!(s3.requests(), Vec::<String>::new());

    let schema = call(&tools, "get_schema", json!({ "table_name": "t" })).await;
    assert_eq!(schema["column_count"], 1);
    let opening = s3.requests();
    assert_eq!(opening.iter().filter(|request| request.contains("list-type=2")).count(), 1, "{opening:?}");
    // Small files are read whole with their footer: one request each.
    assert!(opening.len() <= 21, "{} {opening:#?}", opening.len());

    assert_eq!(rows(&tools, "SELECT count(*) FROM t").await, json!([[2000]]));
    assert_eq!(s3.requests(), Vec::<String>::new(), "a count comes from the footers");

    assert_eq!(rows(&tools, "SELECT sum(id) FROM t WHERE id >= 1900").await, json!([[194_950]]));
    let filtered = s3.requests();
    assert_eq!(filtered.len(), 1, "the other files are left out by their footers: {filtered:#?}");
    assert!(filtered.iter().all(|request| request.contains("d/19.parquet")), "{filtered:#?}");
    assert!(s3.path("d/19.parquet").exists());
}
