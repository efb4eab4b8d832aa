//! Over the wire too, arguments are lenient where no meaning is lost, and schemas are what strict clients take.

use serde_json::{Value, json};

use super::wire::Wire;
use super::{TABLES, binary};

fn wire() -> Wire {
    Wire::initialized(binary(&[&TABLES[..], &["mcp"]].concat()))
}

/// mcp-05: what is published, and the `null` that is not but is taken.
#[test]
fn schemas_are_plain_and_null_is_taken() {
    let mut wire = wire();
    let answer = wire.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 4);
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        let properties = schema["properties"].as_object().expect("properties, even when there are none");
        for (name, property) in properties {
            assert!(property["type"].is_string() && property["description"].is_string(), "{name}");
        }
        let text = schema.to_string();
        for word in ["$ref", "$defs", "anyOf", "oneOf", "\"format\":\"uint", "[\"string\",\"null\"]", ":true", ":false"]
        {
            assert!(!text.contains(word), "{}: {word}", tool["name"]);
        }
    }
    for (tool, arguments) in [
        ("list_tables", json!({"name_contains": null})),
        ("get_schema", json!({"table_name": "orders", "name_contains": null})),
        ("query", json!({"sql": "SELECT 1", "max_rows": null, "format": null})),
        ("query", json!({"sql": "SELECT 1", "max_rows": 10.0})),
    ] {
        assert!(!wire.call(tool, arguments.clone()).contains("\"error\""), "{tool} {arguments}");
    }
}

#[test]
fn no_arguments_at_all_are_taken_where_none_are_needed() {
    let mut wire = wire();
    let answer = wire.request("tools/call", json!({"name": "list_tables"}));
    assert!(answer["result"]["content"][0]["text"].as_str().expect("text").contains("\"table_count\":2"), "{answer}");
    assert_ne!(answer["result"]["isError"], true);
}

#[test]
fn a_wrong_argument_is_an_error_of_the_tool() {
    let mut wire = wire();
    for (tool, arguments, named) in [
        ("query", json!({}), "`sql`"),
        ("query", json!({"sql": 1}), "`sql`"),
        ("query", json!({"sql": "SELECT 1", "max_rows": 0}), "`max_rows`"),
        ("query", json!({"sql": "SELECT 1", "max_rows": "10"}), "`max_rows`"),
        ("query", json!({"sql": "SELECT 1", "maxrows": 10}), "`maxrows`"),
        ("get_schema", json!({"table": "orders"}), "`table`"),
        ("drop_table", json!({}), "`drop_table`"),
    ] {
        let answer = wire.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().expect("text");
        let error: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(error["error"]["code"], "invalid_arguments", "{text}");
        assert!(error["error"]["message"].as_str().expect("a message").contains(named), "{text}");
    }
}
