//! Locations: what is found, what is left out, what is refused.

use super::{Files, assert_says, batch, ints, parquet_bytes, refusal, rows};
use crate::source::{Format, Source};

#[tokio::test]
async fn what_is_not_there_is_named() {
    let files = Files::new(&[("e/x.csv", b""), ("d/.hidden.csv", b"a\n1\n"), ("empty.csv", b""), ("x", b"a\n1\n")]);
    std::fs::create_dir(files.root().join("n")).expect("a folder");
    for (location, says) in [
        ("missing.csv", "does not exist"),
        ("n", "a folder without data files"),
        ("d", "a folder without data files"),
        ("e", "only empty files"),
        ("empty.csv", "is an empty file"),
        ("*.parquet", "matches no data file"),
        ("no/*.csv", "does not exist"),
        ("x", "set `format`"),
    ] {
        let error = refusal(&files.source(location)).await;
        assert_says(&error, &["table `t`", &files.path(location), says]);
    }
}

#[tokio::test]
async fn names_of_every_kind_are_read() {
    let names = ["a b.csv", "a%20b.csv", "a#b.csv", "a+b.csv", "a[1].csv", "ä€😀.csv", "a?b.csv", "a\\b.csv", "A.CSV"];
    let files = Files::new(&[]);
    for (at, name) in names.iter().enumerate() {
        files.write(name, format!("n\n{at}\n").as_bytes());
        assert_eq!(rows(&files.source(name), "SELECT n FROM t").await, [[at.to_string()]], "{name}");
    }
    assert_eq!(rows(&files.source(""), "SELECT count(*) FROM t").await, [[names.len().to_string()]]);
    let url = format!("file://{}", files.path("a b.csv").replace(' ', "%20"));
    assert_eq!(rows(&Source::new("t", url), "SELECT n FROM t").await, [["0"]]);
}

#[tokio::test]
async fn globs_and_siblings() {
    let files = Files::new(&[
        ("data/2023.csv", b"a\n1\n"),
        ("data/2024.csv", b"a\n2\n"),
        ("data/sub/2024.csv", b"a\n4\n"),
        ("data2/x.csv", b"a\n8\n"),
    ]);
    let sum = "SELECT sum(a) FROM t";
    for (location, expected) in [
        ("data", "7"),
        ("data/", "7"),
        ("data/*.csv", "3"),
        ("data/**/*4.csv", "6"),
        ("data/202[3].csv", "1"),
        ("dat?/*", "3"),
    ] {
        assert_eq!(rows(&files.source(location), sum).await, [[expected]], "{location}");
    }
}

#[tokio::test]
async fn formats_are_told_apart() {
    let one = parquet_bytes(&batch(vec![("a", ints(&[1]))]));
    let files = Files::new(&[
        ("m/1.csv", b"a\n1\n"),
        ("m/2.parquet", &one),
        ("n/1.csv", b"a\n1\n"),
        ("n/README.md", b"# hello\n"),
        ("o/part-0", &one),
        ("wrong.parquet", b"a\n1\n"),
    ]);
    let mixed = refusal(&files.source("m")).await;
    assert_says(&mixed, &["m/2.parquet", "is parquet", "m/1.csv", "is csv", "set `format`"]);
    assert_eq!(rows(&files.source("m").with_format(Format::Csv), "SELECT * FROM t").await, [["1"]]);
    assert_eq!(rows(&files.source("n"), "SELECT * FROM t").await, [["1"]]);
    assert_eq!(rows(&files.source("o"), "SELECT * FROM t").await, [["1"]]);
    assert_says(&refusal(&files.source("wrong.parquet")).await, &["wrong.parquet", "not valid Parquet"]);
    assert_says(&refusal(&files.source("m").with_format(Format::Avro)).await, &["no file of the format `avro`"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_reads_nothing_outside_its_root() {
    use std::os::unix::fs::symlink;
    let files = Files::new(&[("in/a.csv", b"a\n1\n"), ("in/sub/b.csv", b"a\n2\n"), ("out/x.csv", b"a\n100\n")]);
    symlink(files.root().join("out/x.csv"), files.root().join("in/x.csv")).expect("a link");
    symlink(files.root().join("out"), files.root().join("in/out")).expect("a link");
    symlink(files.root().join("in"), files.root().join("in/sub/up")).expect("a link");
    symlink(files.root().join("nowhere"), files.root().join("in/z.csv")).expect("a link");
    assert_eq!(rows(&files.source("in"), "SELECT sum(a) FROM t").await, [["3"]]);
}
