//! Who may see what.

mod attacks;
mod rules;

use std::path::Path;

use datafusion_toolset::{Policy, Source, Toolset};

/// A caller's answer, whatever it is.
async fn answer(tools: &Toolset, sql: &str) -> String {
    let arguments = serde_json::json!({ "sql": sql }).to_string();
    tools.call("query", &arguments).await.unwrap_or_else(|error| error.json())
}

/// A toolset over one CSV file `people`.
fn people(folder: &Path, text: &str, rules: impl FnOnce(Source) -> Source) -> Toolset {
    let file = folder.join("people.csv");
    std::fs::write(&file, text).unwrap();
    let source = Source::new("people", file.to_str().unwrap()).with_column("note", "Utf8");
    Toolset::builder().source(rules(source)).policy(Policy::default()).build().unwrap()
}
