//! What a client is told, and that a call is the library's.

use std::process::Stdio;

use datafusion_toolset::mcp::INSTRUCTIONS;
use rmcp::model::{ReadResourceRequestParams, ResourceContents};
use serde_json::{Value, json};

use super::wire::Wire;
use super::{TABLES, binary, call, client, library, only_text};

#[tokio::test]
async fn the_tools_are_the_definitions() {
    let client = client(&TABLES).await;
    let tools = client.list_all_tools().await.expect("tools");
    let definitions = library().definitions();
    assert_eq!(tools.len(), definitions.len());
    for (tool, definition) in tools.iter().zip(definitions) {
        let wire = serde_json::to_value(tool).expect("JSON");
        let annotations = json!({ "title": definition.title, "readOnlyHint": true, "openWorldHint": false });
        let expected = json!({
            "name": definition.name, "title": definition.title, "description": definition.description,
            "inputSchema": definition.input_schema, "annotations": annotations,
        });
        assert_eq!(wire, expected);
    }
    let bytes = serde_json::to_string(&tools).expect("JSON").len();
    assert!(bytes <= 6 * 1024, "{bytes} bytes");
}

#[tokio::test]
async fn a_result_is_the_librarys_payload() {
    let (client, library) = (client(&TABLES).await, library());
    for (tool, arguments) in [
        ("list_tables", json!({})),
        ("list_tables", json!({"name_contains": "ORD"})),
        ("get_schema", json!({"table_name": "orders"})),
        ("get_schema", json!({"table_name": "orders", "name_contains": "CITY"})),
        ("query", json!({"sql": "SELECT * FROM orders"})),
        ("query", json!({"sql": "SELECT * FROM orders", "max_rows": 2.0, "format": null})),
        ("query", json!({"sql": "SELECT id, note FROM orders", "max_rows": 3, "format": "csv"})),
        ("query", json!({"sql": "SELECT id, note FROM orders", "max_rows": 3, "format": "markdown"})),
        ("query", json!({"sql": "SELECT '\u{2028}\u{85}\"\\' AS x, chr(1) AS y, 'größe 🦀' AS z"})),
        ("check_query", json!({"sql": "SELECT price FROM orders"})),
        ("check_query", json!({"sql": "DROP TABLE orders"})),
        ("query", json!({"sql": "SELECT prize FROM orders"})),
        ("query", json!({"sql": "SELECT FROM"})),
        ("query", json!({"sql": "SELECT 1 / 0"})),
        ("query", json!({"sqll": "SELECT 1"})),
        ("get_schema", json!({"table_name": "order"})),
        ("no_tool", json!({})),
    ] {
        let expected = match library.call(tool, &arguments.to_string()).await {
            Ok(payload) => (payload, false),
            Err(error) => (error.json(), true),
        };
        assert_eq!(only_text(&call(&client, tool, arguments.clone()).await), expected, "{tool} {arguments}");
    }
}

#[tokio::test]
async fn the_instructions_are_short_and_told_once() {
    let client = client(&TABLES).await;
    let info = client.peer_info().expect("it answered");
    assert_eq!(info.instructions.as_deref(), Some(INSTRUCTIONS));
    const { assert!(INSTRUCTIONS.len() <= 2048) };
}

#[tokio::test]
async fn each_table_is_a_resource() {
    let (client, library) = (client(&TABLES).await, library());
    let resources = client.list_all_resources().await.expect("resources");
    let uris: Vec<_> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["toolset://tables/customers", "toolset://tables/orders"]);
    let templates = client.list_all_resource_templates().await.expect("templates");
    assert_eq!(templates[0].uri_template, "toolset://tables/{name}");
    let read = client.read_resource(ReadResourceRequestParams::new(uris[1])).await.expect("its schema");
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else { panic!("text") };
    let schema = library.call("get_schema", r#"{"table_name":"orders"}"#).await.expect("a schema");
    assert_eq!((text, read.contents.len()), (&schema, 1));
    for other in ["toolset://tables/nothing", "file:///etc/passwd"] {
        client.read_resource(ReadResourceRequestParams::new(other)).await.expect_err(other);
    }
}

#[test]
fn older_revisions_are_spoken_too() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut wire = Wire::start(binary(&[&TABLES[..], &["mcp"]].concat()));
        let told = wire.initialize(version);
        assert_eq!(told["protocolVersion"], version);
        assert_eq!(told["serverInfo"]["name"], "datafusion-toolset");
        assert!(wire.call("query", json!({"sql": "SELECT 1 AS one"})).contains("[[1]]"), "{version}");
    }
}

#[test]
fn progress_and_log_messages_come_to_those_who_ask() {
    let mut wire = Wire::initialized(binary(&[&TABLES[..], &["mcp"]].concat()));
    let arguments = json!({"sql": "SELECT count(*) FROM orders"});
    let params = json!({"name": "query", "arguments": arguments, "_meta": {"progressToken": "p1"}});
    let id = wire.ask("tools/call", params.clone());
    let progress = wire.next();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    assert_eq!(progress["params"]["progressToken"], "p1", "{progress}");
    assert_eq!(wire.next()["id"], id);
    let silent = json!({"name": "query", "arguments": arguments});
    let id = wire.ask("tools/call", silent.clone());
    assert_eq!(wire.next()["id"], id, "nobody asked");

    wire.request("logging/setLevel", json!({"level": "info"}));
    let id = wire.ask("tools/call", silent);
    let message = wire.next();
    assert_eq!(message["method"], "notifications/message", "{message}");
    assert_eq!((&message["params"]["level"], &message["params"]["data"]["tool"]), (&json!("info"), &json!("query")));
    assert!(!message.to_string().contains("count("), "the SQL stays: {message}");
    assert_eq!(wire.next()["id"], id);
}

/// mcp-07: whatever is logged, and whatever fails, standard output carries messages alone.
#[test]
fn standard_output_carries_messages_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = std::fs::File::create(folder.path().join("log")).expect("a file");
    let mut command = binary(&[&TABLES[..], &["-t", "gone=gone.parquet", "-t", "s3=s3://b/k.parquet", "mcp"]].concat());
    command.env("RUST_LOG", "trace").env("AWS_ENDPOINT_URL", "http://127.0.0.1:9").stderr(Stdio::from(log));
    command.args(["--timeout", "3s"]);
    // Each line is read as a message, or the test panics.
    let mut wire = Wire::initialized(command);
    wire.request("tools/list", json!({}));
    let failed = |text: String| serde_json::from_str::<Value>(&text).expect("JSON")["error"]["code"].clone();
    wire.call("list_tables", json!({}));
    wire.call("get_schema", json!({"table_name": "orders"}));
    wire.call("check_query", json!({"sql": "SELECT 1"}));
    assert!(wire.call("query", json!({"sql": "EXPLAIN ANALYZE SELECT * FROM orders"})).contains("Plan with Metrics"));
    assert_eq!(failed(wire.call("query", json!({"sql": "SELECT * FROM gone"}))), "source_unavailable");
    failed(wire.call("query", json!({"sql": "SELECT * FROM s3"})));
    assert_eq!(failed(wire.call("query", json!({"sql": "SELECT CAST('x' AS INT)"}))), "execution");
    wire.request("no/method", json!({}));
    let (status, rest) = wire.ended();
    assert_eq!((status.code(), rest.len()), (Some(0), 0), "{rest:?}");
    let log = std::fs::read_to_string(folder.path().join("log")).expect("a log");
    assert!(log.contains("answered") && !log.contains('\u{1b}'), "{log}");
}
