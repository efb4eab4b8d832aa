//! The MCP face as a process, seen by rmcp's own client and, line by line, by none.

mod arguments;
mod check;
mod current;
mod ending;
mod http;
mod protocol;
mod reported;
mod wire;

use std::process::Stdio;
use std::time::Duration;

use datafusion_toolset::{Source, Toolset};
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;

/// Longer than anything here takes, on a machine that does much else.
const LONG: Duration = Duration::from_secs(60);

const TABLES: [&str; 4] = ["-t", "orders=testdata/orders.parquet", "-t", "customers=testdata/customers.csv"];

/// Runs for hours.
const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 100000000000)";

/// The binary, started where `testdata/` is.
fn binary(arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_datafusion-toolset"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("RUST_LOG").args(arguments);
    command
}

/// The library's toolset over the same tables.
fn library() -> Toolset {
    let builder = Toolset::builder().source(Source::new("orders", "testdata/orders.parquet"));
    builder.source(Source::new("customers", "testdata/customers.csv")).build().expect("a toolset")
}

type Client = RunningService<RoleClient, ()>;

/// rmcp's client over a child process.
async fn client(arguments: &[&str]) -> Client {
    let command = tokio::process::Command::from(binary(&[arguments, &["mcp"]].concat()));
    let (process, _) = TokioChildProcess::builder(command).stderr(Stdio::null()).spawn().expect("it starts");
    ().serve(process).await.expect("it initializes")
}

async fn call(client: &Client, tool: &str, arguments: Value) -> CallToolResult {
    let mut request = CallToolRequestParams::new(tool.to_owned());
    request.arguments = arguments.as_object().cloned();
    tokio::time::timeout(LONG, client.call_tool(request)).await.expect("in time").expect("an answer")
}

/// The one text block of a result that has nothing beside it, and whether it is an error.
fn only_text(result: &CallToolResult) -> (String, bool) {
    assert!(result.structured_content.is_none(), "the payload would be paid twice");
    assert_eq!(result.content.len(), 1, "one block");
    let wire = serde_json::to_value(&result.content[0]).expect("JSON");
    assert_eq!(wire.as_object().expect("a block").keys().collect::<Vec<_>>(), ["type", "text"]);
    (wire["text"].as_str().expect("text").to_owned(), result.is_error == Some(true))
}
