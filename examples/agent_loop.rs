//! An agent loop: `definitions()` goes to the model, each call it makes goes through `call()`, and what that gives goes
//! back, be it a result or an error: `cargo run --example agent_loop`. The model here is a script.

#![allow(clippy::print_stdout, reason = "an example shows what it gets")]

use datafusion_toolset::{Source, Toolset};

/// What a model's answer holds: a call of a tool, or its last word.
enum Turn {
    Call { tool: &'static str, arguments: &'static str },
    Say(String),
}

/// Stands for the model: sees the tools' definitions once and the results so far.
fn model(tools: &str, results: &[String]) -> Turn {
    assert!(tools.contains("get_schema"), "the model was given its tools");
    match results {
        [] => Turn::Call { tool: "list_tables", arguments: "" },
        [_] => Turn::Call { tool: "get_schema", arguments: r#"{"table_name":"orders"}"# },
        // It guesses a name; the error tells it the right one.
        [_, _] => Turn::Call { tool: "query", arguments: r#"{"sql":"SELECT max(prize) AS top FROM orders"}"# },
        [_, _, _] => Turn::Call { tool: "query", arguments: r#"{"sql":"SELECT max(price) AS top FROM orders"}"# },
        [.., last] => Turn::Say(format!("The dearest order: {last}")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Toolset::builder().source(Source::new("orders", "testdata/orders.parquet")).build()?;
    let for_the_model: Vec<String> = tools
        .definitions()
        .iter()
        .map(|tool| format!(r#"{{"name":"{}","input_schema":{}}}"#, tool.name, tool.input_schema))
        .collect();

    let mut results = Vec::new();
    loop {
        match model(&for_the_model.join(","), &results) {
            Turn::Call { tool, arguments } => {
                let result = match tools.call(tool, arguments).await {
                    Ok(payload) => payload,
                    Err(error) => error.json(),
                };
                println!("{tool}({arguments}) -> {result}");
                results.push(result);
            }
            Turn::Say(text) => {
                println!("{text}");
                return Ok(());
            }
        }
    }
}
