//! Reports about other servers, asked of this one over the wire: cuts that cannot be told from whole results, a cap that
//! the first row or an escape gets past.

use std::path::Path;

use serde_json::{Value, json};

use super::binary;
use super::wire::Wire;

fn wire(folder: &Path, arguments: &[&str], ndjson: &str) -> Wire {
    let file = folder.join("t.ndjson");
    std::fs::write(&file, ndjson).expect("a file");
    let source = format!("t={}", file.display());
    Wire::initialized(binary(&[&["-t", &source], arguments, &["mcp"]].concat()))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// mcp-01
#[test]
fn a_result_of_exactly_max_rows_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    for (rows, shown, cut) in [(0, 0, false), (199, 199, false), (200, 200, false), (201, 200, true)] {
        let lines: String = (0..201).map(|id| format!("{{\"id\":{id}}}\n")).collect();
        let mut wire = wire(folder.path(), &["--max-rows", "200"], &lines);
        let sql = format!("SELECT * FROM t WHERE id < {rows}");
        let answer = parse(&wire.call("query", json!({"sql": sql, "max_rows": 200})));
        assert_eq!((&answer["row_count"], answer["rows"].as_array().expect("rows").len()), (&json!(shown), shown));
        assert_eq!(answer.get("truncated").is_some(), cut, "{rows}");
        if cut {
            assert_eq!((&answer["truncated"], &answer["truncated_by"]), (&json!(true), &json!("max_rows")));
            assert!(answer["hint"].is_string());
        }
        let refused = parse(&wire.call("query", json!({"sql": "SELECT * FROM t", "max_rows": 0})));
        assert_eq!(refused["error"]["code"], "invalid_arguments");
        for most in [i64::MAX as u64, u64::MAX] {
            let answer = parse(&wire.call("query", json!({"sql": "SELECT * FROM t", "max_rows": most})));
            assert_eq!(answer["row_count"], 200);
        }
    }
}

/// mcp-02
#[test]
fn the_first_row_is_under_the_cap_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |id: usize, bytes: usize| format!("{{\"id\":{id},\"s\":\"{}\"}}\n", "x".repeat(bytes));
    let cap = ["--max-result-bytes", "4096"];
    let first = row(1, 300_000) + &row(2, 3) + &row(3, 3);
    let fourth = row(1, 3) + &row(2, 3) + &row(3, 3) + &row(4, 300_000) + &row(5, 3);
    for (lines, shown) in [(first, 0), (fourth, 3)] {
        let text = wire(folder.path(), &cap, &lines).call("query", json!({"sql": "SELECT * FROM t"}));
        assert!(text.len() <= 4096, "{} bytes", text.len());
        let answer = parse(&text);
        let ids: Vec<_> = answer["rows"].as_array().expect("rows").iter().map(|row| row[0].clone()).collect();
        assert_eq!(ids, (1..=shown).map(Value::from).collect::<Vec<_>>());
        assert_eq!((&answer["row_count"], &answer["truncated"]), (&json!(shown), &json!(true)));
        assert_eq!(answer["truncated_by"], "max_result_bytes");
        let hint = answer["hint"].as_str().expect("a hint");
        assert!(hint.contains(&format!("Row {}", shown + 1)) && hint.contains("s takes"), "{hint}");
    }
    let named = format!("{{\"{}\":1}}\n", "n".repeat(10_000));
    let text = wire(folder.path(), &cap, &named).call("query", json!({"sql": "SELECT * FROM t"}));
    assert!(text.len() <= 4096 && parse(&text)["truncated"] == true, "{text}");
}

/// mcp-03: the cap is of the bytes on the wire's text, escapes and all; `encode::budget` sweeps every cap.
#[test]
fn escapes_and_multibyte_text_count_as_they_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for cell in ["🦀".repeat(200), "\u{1}".repeat(200), "\"\\".repeat(200)] {
        let lines: String = (0..40).map(|id| json!({"id": id, "s": cell}).to_string() + "\n").collect();
        for cap in [512, 1300, 2048, 4000] {
            let mut wire = wire(folder.path(), &["--max-result-bytes", &cap.to_string()], &lines);
            let text = wire.call("query", json!({"sql": "SELECT * FROM t"}));
            assert!(text.len() <= cap, "{} bytes of {cap}", text.len());
            let answer = parse(&text);
            assert_eq!(answer["row_count"], answer["rows"].as_array().expect("rows").len());
            assert_eq!(answer["truncated"], true);
        }
    }
}
