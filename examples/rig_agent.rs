//! An agent on rig: the model is given the four tools, each call it makes goes to the tool of that name, and what that
//! gives goes back, be it a result or an error. `ask` takes any of rig's models; the question needs one to run:
//! `cargo run --features rig --example rig_agent` shows the tools alone.

#![allow(clippy::print_stdout, reason = "an example shows what it gets")]

use std::error::Error;

use datafusion_toolset::{Source, Toolset};
use rig_core::completion::CompletionRequest;
use rig_core::message::{Message, ToolResultContent};
use rig_core::operation::Completion;
use rig_core::{DynModel, tool::DynamicTool};

/// Asks until the model has no more calls to make. Any model of rig's is turned into a `DynModel` by `erase`, such as
/// `OpenAI::from_env()?.with_http(http).responses(openai::GPT_5_2).erase()`.
async fn ask(model: &DynModel<Completion>, tools: &[DynamicTool], question: &str) -> Result<String, Box<dyn Error>> {
    let mut messages = vec![Message::user(question)];
    loop {
        let last = messages.last().cloned().ok_or("nothing was asked")?;
        let request = CompletionRequest::new(last)
            .preamble("Answer from the tables alone. Never state a number that you have not queried.")
            .messages(messages[..messages.len() - 1].to_vec())
            .tools(tools.iter().map(DynamicTool::definition).collect());
        let response = model.call(request).await?;
        messages.extend(response.message());
        let mut results = Vec::new();
        for call in response.tool_calls() {
            let tool = tools.iter().find(|tool| *tool.name() == call.function.name).ok_or("no such tool")?;
            let output = tool.execute(call.function.arguments.clone().into()).await;
            // An error is for the model too: its feedback says what to do next.
            let text = output.map_or_else(|error| error.model_output().render(), |output| output.render());
            results.push(call.result(vec![ToolResultContent::text(text)]));
        }
        if results.is_empty() {
            return Ok(response.text());
        }
        messages.push(Message::tool_results(results));
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let toolset = Toolset::builder().source(Source::new("orders", "testdata/orders.parquet")).build()?;
    let tools = toolset.rig_tools();
    for tool in &tools {
        println!("{}: {}", tool.name(), tool.definition().description);
    }
    // With a model at hand: println!("{}", ask(&model, &tools, "Which region sells most?").await?);
    let _ = ask;
    let tables = tools[0].execute(serde_json::json!({})).await?;
    println!("{}", tables.render());
    Ok(())
}
