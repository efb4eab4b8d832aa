//! The examples run, and print what they say they show. `cargo test` builds them beside this binary.

use std::path::Path;
use std::process::Command;

#[track_caller]
fn example(name: &str, arguments: &[&Path]) -> String {
    let folder = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples");
    let output = Command::new(folder.join(name)).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}; plain `cargo test` builds the examples"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn quick_start() {
    let printed = example("quick_start", &[]);
    assert!(printed.contains(r#""truncated_by":"max_rows""#), "{printed}");
    assert!(printed.contains(r#""suggestions":["\"signupDate\""]"#), "{printed}");
}

#[test]
fn existing_context() {
    let printed = example("existing_context", &[]);
    assert!(printed.starts_with(r#"{"tables":["french","orders"],"table_count":2}"#), "{printed}");
    assert!(printed.contains(r#""columns":["name","gross"]"#), "{printed}");
    assert!(printed.contains(r#""code":"unknown_table""#), "{printed}");
}

#[test]
fn agent_loop() {
    let printed = example("agent_loop", &[]);
    assert!(printed.contains(r#""suggestions":["price"#), "{printed}");
    assert!(printed.lines().last().unwrap().starts_with("The dearest order: "), "{printed}");
}

#[test]
fn provider_tools() {
    let printed = example("provider_tools", &[]);
    let lines: Vec<serde_json::Value> = printed.lines().map(super::json).collect();
    assert_eq!(lines[0][2]["function"]["parameters"]["required"][0], "sql");
    assert_eq!(lines[1][2]["input_schema"]["required"][0], "sql");
    assert!(lines[2]["content"].as_str().unwrap().contains("[[500]]"), "{printed}");
    assert_eq!(lines[3]["is_error"], true);
    assert!(lines[3]["content"].as_str().unwrap().contains("unknown_column"), "{printed}");
}

#[test]
fn the_generator_makes_the_files_that_are_committed() {
    let made = tempfile::tempdir().unwrap();
    example("generate_testdata", &[made.path()]);
    let names =
        ["customers.csv", "orders.parquet", "events.ndjson", "sales/year=2023/q1.csv", "sales/year=2024/q2.csv"];
    for name in names {
        let committed = std::fs::read(Path::new("testdata").join(name)).unwrap();
        assert!(std::fs::read(made.path().join(name)).unwrap() == committed, "{name} differs");
    }
}
