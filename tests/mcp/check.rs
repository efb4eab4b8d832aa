//! `mcp --check`: what an agent would see, in bytes, without serving.

use std::process::Stdio;

use super::{TABLES, binary, library};

fn report(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = binary(&[arguments, &["mcp", "--check"]].concat()).stdin(Stdio::null()).output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The bytes that the report gives for a line.
fn bytes(report: &str, what: &str) -> usize {
    let line = report.lines().find(|line| line.starts_with(what)).unwrap_or_else(|| panic!("no {what}: {report}"));
    let words: Vec<_> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "bytes").expect("bytes");
    words[at - 1].chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("a number")
}

#[tokio::test]
async fn all_is_well() {
    let (status, out, err) = report(&TABLES);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{out}");
    let library = library();
    let tables = library.call("list_tables", "").await.expect("tables");
    let schema = library.call("get_schema", r#"{"table_name":"orders"}"#).await.expect("a schema");
    let rows = library.call("query", r#"{"sql":"SELECT * FROM orders"}"#).await.expect("rows");
    for (what, payload) in
        [("list_tables", tables), ("get_schema orders", schema), ("query SELECT * FROM orders", rows)]
    {
        assert_eq!(bytes(&out, what), payload.len(), "{what}: {out}");
    }
    assert!(bytes(&out, "tool definitions") <= 6 * 1024, "{out}");
    assert!(bytes(&out, "instructions") <= 2048, "{out}");
    assert!(out.ends_with("2 tables, each can be read\n"), "{out}");
}

#[test]
fn what_is_wrong_is_said() {
    let (status, out, _) = report(&[&TABLES[..], &["-t", "gone=gone.parquet"]].concat());
    assert_eq!(status, Some(1), "{out}");
    assert!(out.contains("source_unavailable") && out.contains("1 of 3 tables cannot be read"), "{out}");
    let (status, out, err) = report(&["--config", "nowhere.toml"]);
    assert_eq!((status, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("nowhere.toml"), "{err}");
}

/// Also the tables that a bounded list leaves out.
#[test]
fn every_source_is_opened() {
    let sources: Vec<_> = (0..60).map(|number| format!("table_number_{number:02}=gone.parquet")).collect();
    let mut arguments = vec!["--max-result-bytes", "512"];
    arguments.extend(sources.iter().flat_map(|source| ["-t", source.as_str()]));
    let (status, out, _) = report(&arguments);
    assert_eq!(status, Some(1), "{out}");
    assert!(out.contains("60 of 60 tables cannot be read"), "{out}");
}
