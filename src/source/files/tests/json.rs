//! The cases of topic csv-ndjson that are about JSON, and enc-16.

use super::{Files, assert_says, columns, failure, opened, refusal, rows};

#[tokio::test]
async fn late_keys_are_found_by_a_larger_sample_csv_09() {
    let mut late = "{\"a\":1}\n".repeat(1000);
    late.push_str("{\"a\":2,\"b\":3}\n");
    let files = Files::new(&[
        ("late.json", late.as_bytes()),
        ("mixed.json", b"{\"v\":1}\n{\"v\":\"x\"}\n{\"v\":{\"k\":1}}\n"),
        ("arr.json", b"[\n {\"a\":1, \"b\":\"],\"},\n {\"a\":2}\n]\n"),
        ("cut.json", b"[{\"a\":1}"),
    ]);
    let table = opened(&files.source("late.json")).await.expect("opens");
    assert_eq!((table.inferred_from, table.provider.schema().fields().len()), (Some(1000), 1));
    let larger = files.source("late.json").with_option("infer_records", "2000");
    assert_eq!(rows(&larger, "SELECT count(b) FROM t").await, [["1"]]);
    assert_eq!(opened(&larger).await.expect("opens").inferred_from, Some(1001));
    let mixed = refusal(&files.source("mixed.json")).await;
    assert_says(&mixed, &["mixed.json", "a string on line 2", "`v`", "a number before", "columns = { v = \"Utf8\" }"]);
    let as_text = files.source("mixed.json").with_column("v", "Utf8");
    assert_says(&failure(&as_text, "SELECT * FROM t").await, &["mixed.json", "on line 3"]);
    assert_eq!(rows(&files.source("arr.json"), "SELECT a, b FROM t").await, [["1", "],"], ["2", ""]]);
    assert_says(&refusal(&files.source("cut.json")).await, &["cut.json", "cut off"]);
}

#[tokio::test]
async fn late_conflicts_name_their_line() {
    let many = |last: &str| format!("{}{last}\n", "{\"v\":1,\"w\":[1]}\n".repeat(1200)).into_bytes();
    let files = Files::new(&[
        ("text.json", &many("{\"v\":\"x\"}")),
        ("object.json", &many("{\"v\":{\"k\":1}}")),
        ("half.json", &many("{\"v\":1.5}")),
        ("nested.json", &many("{\"w\":[1.5]}")),
        ("broken.json", &many("{\"v\" 1}")),
        ("open.json", &many("{\"v\":")),
        ("array.json", &many("[1]")),
    ]);
    for (file, says) in [
        ("text.json", ["`x` on line 1201", "column `v`"]),
        ("object.json", ["on line 1201", "'v'"]),
        ("half.json", ["`1.5` on line 1201", "column `v`"]),
        ("nested.json", ["a line from 1201 to 1201", "column `w`"]),
        ("broken.json", ["not valid JSON on line 1201", "correct the line"]),
        ("open.json", ["not valid JSON on line", "correct the line"]),
        ("array.json", ["an array on line 1201", "a record is an object"]),
    ] {
        let error = failure(&files.source(file), "SELECT * FROM t").await;
        assert_says(&error, &[file, says[0], says[1]]);
    }
}

#[tokio::test]
async fn large_integers_are_exact_enc_16() {
    let files = Files::new(&[("snow.json", b"{\"id\":9007199254740993}\n{\"id\":18446744073709551615}\n")]);
    let exact = [["9007199254740993"], ["18446744073709551615"]];
    for data_type in ["UInt64", "Utf8", "Decimal128(20, 0)"] {
        let source = files.source("snow.json").with_column("id", data_type);
        assert_eq!(rows(&source, "SELECT id FROM t").await, exact, "{data_type}");
    }
    assert_eq!(rows(&files.source("snow.json"), "SELECT id FROM t").await, exact);
}

#[tokio::test]
async fn values_of_every_shape_are_read() {
    let files = Files::new(&[
        (
            "x.jsonl",
            b"\xEF\xBB\xBF{\"s\":{\"a\":1,\"b\":null},\"l\":[{\"k\":1.5},null],\"t\":true,\"n\":null}\r\n\r\n{\n \"s\":{\"b\":\"y\"},\n \"e\":[]}{\"l\":[]}",
        ),
        ("two/1.json", b"{\"a\":1,\"b\":1}\n"),
        ("two/2.json", b"{\"b\":2.5,\"c\":\"x\"}\n"),
        ("bad.json", b"{\"a\":1}\n{\"a\":\n"),
        ("empty.json", b"\n \n"),
        ("latin.json", b"{\"a\":\"\xE9\"}\n"),
    ]);
    assert_eq!(
        rows(&files.source("x.jsonl"), "SELECT count(*), sum(s['a']), max(s['b']) FROM t").await,
        [["3", "1", "y"]]
    );
    assert_eq!(columns(&files.source("two")).await, ["a:Int64", "b:Float64", "c:Utf8"].map(str::to_owned).to_vec(),);
    assert_eq!(rows(&files.source("two"), "SELECT * FROM t ORDER BY b").await, [["1", "1.0", ""], ["", "2.5", "x"]]);
    assert_says(&refusal(&files.source("bad.json")).await, &["bad.json", "not valid JSON on line"]);
    assert_says(&refusal(&files.source("empty.json")).await, &["no record"]);
    assert_says(&refusal(&files.source("latin.json")).await, &["latin.json", "not UTF-8 on line 1"]);
}
