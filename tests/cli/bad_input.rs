//! Files that cannot be read: each is named, at the calls that use it, and no other table suffers.

use super::{call, json, run, write};

const GOOD: &str = "good=testdata/customers.csv";

/// A query of a bad table: `source_unavailable`, with the table and what is wrong, and the other table works.
#[track_caller]
fn unavailable(source: &str, parts: &[&str]) {
    let name = source.split('=').next().unwrap();
    let said = call(source, "query", &format!(r#"{{"sql":"SELECT count(*) FROM {name}"}}"#));
    assert_eq!(said.status, Some(1), "{source}: {said:?}");
    let error = &json(&said.stdout)["error"];
    assert_eq!(error["code"], "source_unavailable", "{source}: {error}");
    assert_eq!(error["retry"], "later", "{source}: {error}");
    let message = error["message"].as_str().unwrap();
    for part in parts.iter().chain([&name]) {
        assert!(message.contains(part), "{source} lacks `{part}`: {message}");
    }
    assert!(said.stdout.len() <= 1200 && !message.contains('\n'), "{message}");
    let schema = call(source, "get_schema", &format!(r#"{{"table_name":"{name}"}}"#));
    assert_eq!(json(&schema.stdout)["error"]["code"], "source_unavailable", "{source}");
    let others = run(&["-t", source, "-t", GOOD, "query", "SELECT count(*) AS n FROM good"]);
    assert_eq!(others.stdout, "{\"columns\":[\"n\"],\"rows\":[[40]],\"row_count\":1}\n", "{source}");
    assert_eq!(run(&["-t", source, "tables"]).status, Some(0), "{source}");
}

#[test]
fn what_is_not_there() {
    unavailable("t=testdata/gone.parquet", &["gone.parquet"]);
    unavailable("t=testdata/gone/", &["gone"]);
    unavailable("t=testdata/*.avro", &["*.avro"]);
    unavailable("t=/no/such/folder/x.csv", &["x.csv"]);
}

#[test]
fn what_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["empty.parquet", "empty.avro", "empty.arrow"] {
        unavailable(&format!("t={}", write(folder.path(), name, "")), &[name]);
    }
    let empty = folder.path().join("nothing");
    std::fs::create_dir(&empty).unwrap();
    unavailable(&format!("t={}", empty.display()), &["nothing"]);
}

#[test]
fn what_is_of_another_format() {
    let folder = tempfile::tempdir().unwrap();
    let text = "id,name\n1,a\n";
    for name in ["text.parquet", "text.avro", "text.arrow", "text.csv.gz", "text.ndjson"] {
        unavailable(&format!("t={}", write(folder.path(), name, text)), &[name]);
    }
    let parquet = std::fs::read("testdata/orders.parquet").unwrap();
    unavailable(&format!("t={}", write(folder.path(), "parquet.csv", &parquet)), &["parquet.csv"]);
    unavailable(&format!("t={}", write(folder.path(), "cut.parquet", &parquet[..parquet.len() / 2])), &["cut.parquet"]);
    unavailable(&format!("t={}", write(folder.path(), "name.without_format", text)), &["name.without_format"]);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.csv");
    std::os::unix::fs::symlink(folder.path().join("gone.csv"), &link).unwrap();
    unavailable(&format!("t={}", link.display()), &["link.csv"]);
    // Not a regular file: reading it would wait for a writer for ever.
    let pipe = folder.path().join("pipe.csv");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    unavailable(&format!("t={}", pipe.display()), &["pipe.csv"]);
    // Nor is a name below a file.
    let file = write(folder.path(), "file.csv", "a\n1\n");
    unavailable(&format!("t={file}/x.csv"), &["x.csv"]);
}
