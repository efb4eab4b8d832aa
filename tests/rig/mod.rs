//! The tools as an agent built with rig has them, through rig's own interface.

use datafusion_toolset::{Error, Limits, Source, Toolset};
use rig_core::tool::{DynamicTool, ToolErrorKind};
use serde_json::{Value, json};

fn toolset() -> Toolset {
    let builder = Toolset::builder().limits(Limits::default().with_max_rows(5));
    builder
        .source(Source::new("orders", "testdata/orders.parquet"))
        .source(Source::new("gone", "gone.csv"))
        .build()
        .unwrap()
}

fn tool<'a>(tools: &'a [DynamicTool], name: &str) -> &'a DynamicTool {
    tools.iter().find(|tool| *tool.name() == *name).unwrap()
}

#[test]
fn the_tools_are_the_definitions() {
    let told: Vec<_> = toolset().rig_tools().iter().map(DynamicTool::definition).collect();
    let expected = toolset().definitions();
    assert_eq!(told.len(), expected.len());
    for (told, expected) in told.iter().zip(expected) {
        assert_eq!(told.name.to_string(), expected.name);
        assert_eq!((&told.description, &told.parameters), (&expected.description, &expected.input_schema));
    }
}

#[tokio::test]
async fn a_result_is_the_librarys_payload() {
    let (toolset, tools) = (toolset(), toolset().rig_tools());
    for (name, arguments) in [
        ("list_tables", json!({})),
        ("list_tables", Value::Null),
        ("get_schema", json!({"table_name": "orders", "name_contains": null})),
        ("query", json!({"sql": "SELECT * FROM orders", "max_rows": 2.0})),
        ("query", json!({"sql": "SELECT id, note FROM orders", "format": "csv"})),
        ("check_query", json!({"sql": "SELECT prize FROM orders"})),
    ] {
        let payload = toolset.call(name, &arguments.to_string()).await.unwrap();
        let output = tool(&tools, name).execute(arguments).await.unwrap();
        // Text, not JSON: it reaches the model as it stands.
        assert_eq!(output.as_text(), Some(payload.as_str()), "{name}");
    }
}

#[tokio::test]
async fn an_error_reaches_the_model_with_its_text() {
    let (toolset, tools) = (toolset(), toolset().rig_tools());
    for (arguments, kind, retryable) in [
        (json!({"sql": "SELECT prize FROM orders"}), ToolErrorKind::NotFound, false),
        (json!({"sql": "SELECT FROM"}), ToolErrorKind::InvalidArgs, false),
        (json!({"sqll": "SELECT 1"}), ToolErrorKind::InvalidArgs, false),
        (json!({"sql": "DROP TABLE orders"}), ToolErrorKind::PermissionDenied, false),
        (json!({"sql": "SELECT 1 / 0"}), ToolErrorKind::Other, false),
        (json!({"sql": "SELECT * FROM gone"}), ToolErrorKind::Provider, true),
    ] {
        let expected = toolset.call("query", &arguments.to_string()).await.unwrap_err();
        let error = tool(&tools, "query").execute(arguments).await.unwrap_err();
        assert_eq!(error.model_feedback(), Some(expected.json().as_str()));
        assert_eq!((error.code(), error.message()), (Some(expected.code().as_str()), expected.message()));
        assert_eq!((error.kind(), error.retryable()), (kind, Some(retryable)), "{error}");
        assert_eq!(error.downcast_ref::<Error>().map(Error::code), Some(expected.code()));
    }
}
