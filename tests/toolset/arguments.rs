//! Lenient where no meaning is lost, else refused by name.

use datafusion_toolset::Limits;
use serde_json::json;

use super::{call, toolset};

#[tokio::test]
async fn no_meaning_is_lost_by_null_or_a_whole_float() {
    let tools = toolset(20, Limits::default());
    let tables = json!({"tables": ["t"], "table_count": 1});
    for arguments in ["", "{}", "null", r#"{"name_contains":null}"#, r#"{"name_contains":"T"}"#] {
        assert_eq!(call(&tools, "list_tables", arguments).await, tables, "{arguments}");
    }
    let ten = call(&tools, "query", r#"{"sql":"SELECT id FROM t","max_rows":10.0,"format":null}"#).await;
    assert_eq!(ten["row_count"], 10);
    let most = call(&tools, "query", r#"{"sql":"SELECT id FROM t","max_rows":18446744073709551615}"#).await;
    assert_eq!(most["row_count"], 20);
}

#[tokio::test]
async fn a_wrong_argument_is_named() {
    let tools = toolset(2, Limits::default());
    for (tool, arguments, named) in [
        ("query", "{}", "`sql`"),
        ("query", r#"{"sql":1}"#, "`sql`"),
        ("query", r#"{"sql":"SELECT 1","max_rows":0}"#, "`max_rows`"),
        ("query", r#"{"sql":"SELECT 1","max_rows":-5}"#, "`max_rows`"),
        ("query", r#"{"sql":"SELECT 1","max_rows":1.5}"#, "`max_rows`"),
        ("query", r#"{"sql":"SELECT 1","max_rows":"10"}"#, "`max_rows`"),
        ("query", r#"{"sql":"SELECT 1","maxrows":10}"#, "`maxrows`"),
        ("query", r#"{"sql":"SELECT 1","format":"xml"}"#, "`xml`"),
        ("query", "[1]", "an array"),
        ("query", "{", "not JSON"),
        ("get_schema", r#"{"table":"t"}"#, "`table`"),
        ("drop_table", "{}", "`drop_table`"),
    ] {
        let error = &call(&tools, tool, arguments).await["error"];
        assert_eq!(error["code"], "invalid_arguments", "{tool} {arguments}");
        assert_eq!(error["retry"], "changed", "{tool} {arguments}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(named), "{tool} {arguments}: {message}");
    }
    assert_eq!(call(&tools, "query", r#"{"maxrows":1}"#).await["error"]["suggestions"], json!(["max_rows"]));
}

#[tokio::test]
async fn input_schemas_are_plain() {
    let definitions = toolset(1, Limits::default()).definitions();
    let names: Vec<_> = definitions.iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["list_tables", "get_schema", "query", "check_query"]);
    for tool in definitions {
        let schema = &tool.input_schema;
        assert_eq!(schema["type"], "object");
        assert!(!tool.description.is_empty());
        let properties = schema["properties"].as_object().expect("properties");
        for required in schema["required"].as_array().expect("required") {
            assert!(properties.contains_key(required.as_str().expect("a name")));
        }
        for (name, property) in properties {
            assert!(property["type"].is_string(), "{name} has no scalar type");
            assert!(property["description"].is_string(), "{name} has no description");
            for key in ["$ref", "anyOf", "oneOf", "format"] {
                assert!(property.get(key).is_none(), "{name} has {key}");
            }
        }
    }
}
