//! The four tools through the library.

mod arguments;
mod catalog;
mod codes;
mod isolation;
mod limits;
mod secrets;
mod spill;
mod statements;
pub(crate) mod stopping;
mod wide;

use std::sync::Arc;

use datafusion::arrow::array::{Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use datafusion_toolset::{Limits, Toolset};
use serde_json::Value;

/// A table of one batch.
pub(crate) fn register(ctx: &SessionContext, name: &str, batch: RecordBatch) {
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).expect("a table");
    ctx.register_table(datafusion::common::TableReference::bare(name), Arc::new(table)).expect("a new name");
}

/// `rows` rows of `id` from 0 on and `name`.
pub(crate) fn numbered(rows: i64) -> RecordBatch {
    let schema = Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("name", DataType::Utf8, true)]);
    let names: Vec<String> = (0..rows).map(|id| format!("name {id}")).collect();
    let columns: Vec<datafusion::arrow::array::ArrayRef> =
        vec![Arc::new(Int64Array::from_iter_values(0..rows)), Arc::new(StringArray::from(names))];
    RecordBatch::try_new(Arc::new(schema), columns).expect("a batch")
}

/// A toolset over `t` with so many rows.
fn toolset(rows: i64, limits: Limits) -> Toolset {
    let ctx = SessionContext::new();
    register(&ctx, "t", numbered(rows));
    Toolset::builder().session_context(&ctx).limits(limits).build().expect("a toolset")
}

fn parse(payload: &str) -> Value {
    serde_json::from_str(payload).unwrap_or_else(|error| panic!("{error}: {payload}"))
}

/// The payload of a call, be it a result or an error.
async fn call(toolset: &Toolset, tool: &str, arguments: &str) -> Value {
    match toolset.call(tool, arguments).await {
        Ok(payload) => parse(&payload),
        Err(error) => parse(&error.json()),
    }
}

async fn query(toolset: &Toolset, sql: &str) -> Value {
    call(toolset, "query", &serde_json::json!({ "sql": sql }).to_string()).await
}
