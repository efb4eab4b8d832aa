//! A loop of your own against a provider's interface: `definitions()` as OpenAI and as Anthropic take them, and a call of
//! each kind answered: `cargo run --example provider_tools`.

#![allow(clippy::print_stdout, reason = "an example shows what it gets")]

use datafusion_toolset::{Source, ToolDefinition, Toolset};
use serde_json::{Value, json};

/// An entry of `tools` in OpenAI's chat completions, and of whoever speaks that protocol.
fn openai(tool: &ToolDefinition) -> Value {
    let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.input_schema });
    json!({ "type": "function", "function": function })
}

/// An entry of `tools` in Anthropic's messages.
fn anthropic(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema })
}

/// OpenAI writes the arguments as text, and takes the answer as a message of the role `tool`.
async fn answer_openai(tools: &Toolset, call: &Value) -> Value {
    let function = &call["function"];
    let (name, arguments) = (function["name"].as_str(), function["arguments"].as_str());
    let result = tools.call(name.unwrap_or_default(), arguments.unwrap_or_default()).await;
    json!({ "role": "tool", "tool_call_id": call["id"], "content": result.unwrap_or_else(|error| error.json()) })
}

/// Anthropic writes them as an object, and takes the answer as a block that says whether it is an error.
async fn answer_anthropic(tools: &Toolset, block: &Value) -> Value {
    let result = tools.call(block["name"].as_str().unwrap_or_default(), &block["input"].to_string()).await;
    let is_error = result.is_err();
    let content = result.unwrap_or_else(|error| error.json());
    json!({ "type": "tool_result", "tool_use_id": block["id"], "content": content, "is_error": is_error })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Toolset::builder().source(Source::new("orders", "testdata/orders.parquet")).build()?;
    let definitions = tools.definitions();
    println!("{}", Value::Array(definitions.iter().map(openai).collect()));
    println!("{}", Value::Array(definitions.iter().map(anthropic).collect()));

    // What the two send back when the model makes a call.
    let function = json!({ "name": "query", "arguments": r#"{"sql":"SELECT count(*) AS n FROM orders"}"# });
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    println!("{}", answer_openai(&tools, &call).await);
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "query", "input": { "sql": "SELECT max(prize) FROM orders" } });
    println!("{}", answer_anthropic(&tools, &block).await);
    Ok(())
}
