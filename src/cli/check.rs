//! `mcp --check`: opens every source and reports what an agent would see.

use std::fmt::Write;

use datafusion_toolset::mcp::INSTRUCTIONS;
use datafusion_toolset::{Error, Toolset};
use serde_json::json;

use super::text::{counted, cut, grouped, visible};
use super::{Failure, wait};

/// Columns of a terminal that an answer's beginning takes in the report.
const SHOWN: usize = 100;

/// The report; as a failure when a source cannot be read.
pub(super) fn report(toolset: &Toolset) -> Result<String, Failure> {
    let (report, whole) = wait(inspect(toolset))?;
    if whole { Ok(report) } else { Err(Failure::Report(report)) }
}

/// The report, and whether every table can be read.
async fn inspect(toolset: &Toolset) -> Result<(String, bool), Error> {
    let mut report = String::new();
    let definitions = toolset.definitions();
    let bytes = definitions.iter().map(|tool| {
        json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema })
            .to_string()
            .len()
    });
    line(&mut report, "instructions", INSTRUCTIONS.len(), INSTRUCTIONS);
    let names: Vec<_> = definitions.iter().map(|tool| tool.name).collect();
    line(&mut report, "tool definitions", bytes.sum(), &names.join(", "));

    let tables = toolset.list_tables(None).await?;
    line(&mut report, "list_tables", tables.json().len(), tables.json());
    let mut broken = 0;
    for table in tables.tables() {
        let sql = format!("SELECT * FROM {table}");
        let calls = [("get_schema", table, json!({ "table_name": table })), ("query", &sql, json!({ "sql": sql }))];
        let mut failed = false;
        for (tool, what, arguments) in calls {
            let outcome = toolset.call(tool, &arguments.to_string()).await;
            failed |= outcome.is_err();
            let payload = outcome.unwrap_or_else(|error| error.json());
            line(&mut report, &format!("{tool} {what}"), payload.len(), &payload);
        }
        broken += u64::from(failed);
    }
    let all = counted(u64::try_from(tables.tables().len()).unwrap_or(u64::MAX), "table");
    let _ = match broken {
        0 => writeln!(report, "\n{all}, each can be read"),
        broken => writeln!(report, "\n{} of {all} cannot be read", grouped(broken)),
    };
    Ok((report, broken == 0))
}

/// What is asked, the bytes of the answer, and its beginning.
fn line(report: &mut String, what: &str, bytes: usize, answer: &str) {
    let what = cut(&visible(what), 40);
    let bytes = grouped(u64::try_from(bytes).unwrap_or(u64::MAX));
    let _ = writeln!(report, "{what:<40} {bytes:>9} bytes  {}", cut(&visible(answer), SHOWN));
}
