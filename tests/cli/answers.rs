//! What the commands print when all is well, and for a tool's errors.

use datafusion_toolset::{Limits, Source, Toolset};

use super::{call, json, run, run_with_input};

const ORDERS: &str = "orders=testdata/orders.parquet";
const TOP: &str = "SELECT region, count(*) AS n FROM orders GROUP BY region ORDER BY region";

#[tokio::test]
async fn call_prints_the_librarys_payload_and_a_newline() {
    let toolset = Toolset::builder()
        .source(Source::new("orders", "testdata/orders.parquet"))
        .limits(Limits::default())
        .build()
        .unwrap();
    for (tool, arguments) in [
        ("list_tables", "{}"),
        ("list_tables", ""),
        ("get_schema", r#"{"table_name":"orders"}"#),
        ("get_schema", r#"{"table_name":"orders","name_contains":"CITY"}"#),
        ("query", r#"{"sql":"SELECT * FROM orders"}"#),
        ("query", r#"{"sql":"SELECT * FROM orders","max_rows":2.0,"format":null}"#),
        ("query", r#"{"sql":"SELECT id, note FROM orders","max_rows":3,"format":"csv"}"#),
        ("query", r#"{"sql":"SELECT id, note FROM orders","max_rows":3,"format":"markdown"}"#),
        ("check_query", r#"{"sql":"SELECT price FROM orders"}"#),
        ("check_query", r#"{"sql":"DROP TABLE orders"}"#),
        ("query", r#"{"sql":"SELECT prize FROM orders"}"#),
        ("query", r#"{"sql":"SELECT FROM"}"#),
        ("query", r#"{"sqll":"SELECT 1"}"#),
        ("no_tool", "{}"),
    ] {
        let (payload, status) = match toolset.call(tool, arguments).await {
            Ok(payload) => (payload, 0),
            Err(error) => (error.json(), 1),
        };
        let said = call(ORDERS, tool, arguments);
        assert_eq!((said.stdout, said.status), (payload + "\n", Some(status)), "{tool} {arguments}");
        assert_eq!(said.stderr, "", "{tool} {arguments}");
    }
}

#[test]
fn a_person_is_told_how_many_rows_and_why_no_more() {
    let said = run(&["-t", ORDERS, "query", "--format", "table", TOP]);
    assert_eq!(said.status, Some(0));
    for part in ["region", "north", "4 rows"] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    let said = run(&["-t", ORDERS, "--max-rows", "3", "query", "--format", "table", "SELECT id FROM orders"]);
    assert!(said.stdout.contains("500") && said.stdout.contains("max_rows"), "{}", said.stdout);
    let said = run(&["-t", ORDERS, "query", "--format", "table", "SELECT prize FROM orders"]);
    assert_eq!(said.status, Some(1));
    assert!(said.stderr.contains("prize") && said.stderr.contains("price"), "{}", said.stderr);
    assert_eq!(json(&said.stdout)["error"]["code"], "unknown_column");
}

#[test]
fn the_other_commands_are_the_other_tools() {
    for (command, tool, arguments) in [
        (vec!["tables"], "list_tables", "{}"),
        (vec!["tables", "ORD"], "list_tables", r#"{"name_contains":"ORD"}"#),
        (vec!["schema", "orders"], "get_schema", r#"{"table_name":"orders"}"#),
        (vec!["schema", "orders", "at"], "get_schema", r#"{"table_name":"orders","name_contains":"at"}"#),
        (vec!["check", "SELECT 1"], "check_query", r#"{"sql":"SELECT 1"}"#),
        (vec!["query", "SELECT 1"], "query", r#"{"sql":"SELECT 1"}"#),
    ] {
        let said = run(&[&["-t", ORDERS], command.as_slice()].concat());
        assert_eq!(said.stdout, call(ORDERS, tool, arguments).stdout, "{command:?}");
        assert_eq!(said.status, Some(0), "{command:?}");
    }
    for command in [vec!["tables"], vec!["schema", "orders"], vec!["check", "SELECT 1 AS one"]] {
        let said = run(&[&["-t", ORDERS], command.as_slice(), &["--format", "table"]].concat());
        assert_eq!(said.status, Some(0));
        assert!(serde_json::from_str::<serde_json::Value>(&said.stdout).is_err(), "{}", said.stdout);
    }
}

#[test]
fn statements_and_arguments_come_from_standard_input_too() {
    let asked = run(&["-t", ORDERS, "query", TOP]).stdout;
    assert_eq!(run_with_input(&["-t", ORDERS, "query", "-"], TOP.as_bytes()).stdout, asked);
    let arguments = serde_json::json!({ "sql": TOP }).to_string();
    assert_eq!(run_with_input(&["-t", ORDERS, "call", "query", "-"], arguments.as_bytes()).stdout, asked);
    let said = run_with_input(&["-t", ORDERS, "query", "-"], b"SELECT '\xff'");
    assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""));
    let long = format!("SELECT '{}'", "x".repeat(2_000_000));
    let said = run_with_input(&["-t", ORDERS, "query", "-"], long.as_bytes());
    assert_eq!((said.status, &json(&said.stdout)["error"]["code"]), (Some(1), &"too_complex".into()));
}

#[test]
fn limits_are_flags() {
    let said = run(&["-t", ORDERS, "--max-result-bytes", "512", "query", "SELECT * FROM orders"]);
    assert!(said.stdout.len() <= 513, "{}", said.stdout);
    assert_eq!(json(&said.stdout)["truncated_by"], "max_result_bytes");
    let said = run(&["-t", ORDERS, "query", "SELECT id FROM orders", "--max-rows=2", "--total-rows", "never"]);
    assert_eq!(json(&said.stdout)["row_count"], 2);
    assert!(!said.stdout.contains("total_rows"), "{}", said.stdout);
    let slow = "SELECT count(*) FROM generate_series(1, 100000000000)";
    let said = run(&["--timeout", "200ms", "query", slow]);
    assert_eq!((said.status, &json(&said.stdout)["error"]["code"]), (Some(1), &"timeout".into()));
    let said = run(&["--max-sql-bytes", "8", "query", "SELECT 11"]);
    assert_eq!(json(&said.stdout)["error"]["code"], "too_complex");
}

#[test]
fn help_completions_and_version_need_nothing() {
    let said = run(&["--help"]);
    assert_eq!((said.status, said.stderr.as_str()), (Some(0), ""));
    for part in
        ["call", "query", "tables", "schema", "check", "completions", "--config", "--max-result-bytes", "Exit status"]
    {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    assert_eq!(run(&["--version"]).stdout, format!("datafusion-toolset {}\n", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = run(&["completions", shell]);
        assert!(said.status == Some(0) && said.stdout.contains("max-rows"), "{shell}");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_prints_nothing_to_standard_output() {
    for wrong in [
        vec![],
        vec!["quarry", "SELECT 1"],
        vec!["query"],
        vec!["query", "SELECT 1", "--formt", "csv"],
        vec!["query", "SELECT 1", "--format", "xml"],
        vec!["--max-rows", "many", "query", "SELECT 1"],
        vec!["--max-rows", "0", "query", "SELECT 1"],
        vec!["--max-result-bytes", "511", "query", "SELECT 1"],
        vec!["--timeout", "0ms", "query", "SELECT 1"],
        vec!["--timeout", "5 parsecs", "query", "SELECT 1"],
        vec!["--memory", "1MiB", "query", "SELECT 1"],
        vec!["--max-concurrent-queries", "0", "tables"],
        vec!["--total-rows", "guess", "tables"],
        vec!["-t", "orders", "tables"],
        vec!["-t", ORDERS, "-t", ORDERS, "tables"],
        vec!["-t", "orders=file.parquet", "-t", "orders=ftp://host/x", "tables"],
        vec!["--config", "testdata/no_such.toml", "tables"],
        vec!["--config", "testdata", "tables"],
    ] {
        let said = run(&wrong);
        assert_eq!((said.status, said.stdout.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(!said.stderr.trim().is_empty(), "{wrong:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::Stdio;
    let mut child = super::binary()
        .args(["-t", ORDERS, "query", "SELECT * FROM orders"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}
