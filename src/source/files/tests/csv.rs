//! The cases of topic csv-ndjson that are about delimited text, and others of their kind.

use super::{Files, assert_says, columns, failure, opened, refusal, rows, run_in};
use crate::source::Format;

const GZ: &[u8] = include_bytes!("../../../../testdata/compressed/two.csv.gz");
const ZST: &[u8] = include_bytes!("../../../../testdata/compressed/two.csv.zst");
const BZ2: &[u8] = include_bytes!("../../../../testdata/compressed/two.csv.bz2");
const XZ: &[u8] = include_bytes!("../../../../testdata/compressed/two.csv.xz");

#[tokio::test]
async fn columns_are_matched_by_name_csv_01() {
    let files = Files::new(&[("swap/1.csv", b"x,y\n1,2\n"), ("swap/2.csv", b"y,x\n10,20\n")]);
    assert_eq!(rows(&files.source("swap"), "SELECT x, y FROM t ORDER BY x").await, [["1", "2"], ["20", "10"]]);
    assert_eq!(rows(&files.source("swap"), "SELECT y FROM t ORDER BY y").await, [["2"], ["10"]]);
    assert_eq!(rows(&files.source("swap"), "SELECT count(*) FROM t").await, [["2"]]);
}

#[tokio::test]
async fn quoted_line_breaks_are_counted_right_csv_02() {
    let rows_of = |count: u64| {
        let mut text = String::from("id,note\n");
        for id in 0..count {
            text.push_str(&format!(
                "{id},\"first part of the note, then {id}\nsecond part, with more of the text in it {id:0>20}\"\n"
            ));
        }
        text
    };
    for count in [3u64, 160_000] {
        let files = Files::new(&[("nl.csv", rows_of(count).as_bytes())]);
        for partitions in [1, 2, 8] {
            let text = run_in(&files.source("nl.csv"), "SELECT count(*) AS n, sum(id) AS s FROM t", partitions)
                .await
                .expect("it runs");
            let sum = count * (count - 1) / 2;
            assert!(text.contains(&format!(" {count} ")) && text.contains(&format!(" {sum} ")), "{text}");
        }
    }
}

#[tokio::test]
async fn growing_headers_give_null_csv_03() {
    let files = Files::new(&[
        ("grow/2023.csv", b"a,b\n1,2\n"),
        ("grow/2024.csv", b"a,b,c\n3,4,5\n"),
        ("short.csv", b"a,b,c\n1,2,3\n4,5\n"),
        ("long.csv", b"a,b\n\"1\n\",2\n3,4,5\n"),
        ("trailing.csv", b"a,b\n1,2,\n"),
    ]);
    assert_eq!(rows(&files.source("grow"), "SELECT * FROM t ORDER BY a").await, [["1", "2", ""], ["3", "4", "5"]]);
    let short = failure(&files.source("short.csv"), "SELECT * FROM t").await;
    assert_says(&short, &["table `t`", "short.csv", "2 fields on line 3", "3 fields in its first line"]);
    let long = failure(&files.source("long.csv"), "SELECT * FROM t").await;
    assert_says(&long, &["long.csv", "3 fields on line 4"]);
    assert_eq!(rows(&files.source("trailing.csv"), "SELECT * FROM t").await, [["1", "2"]]);
}

#[tokio::test]
async fn late_values_name_their_line_csv_05() {
    let mut late = String::from("n\n");
    late.push_str(&"1\n".repeat(1000));
    late.push_str("n/a\n");
    let files = Files::new(&[
        ("late.csv", late.as_bytes()),
        ("zip.csv", b"zip\n00501\n02134\n"),
        ("d.csv", b"d\n2024-01-01\n2024-02-30\n"),
    ]);
    let error = failure(&files.source("late.csv"), "SELECT count(*) FROM t WHERE n > 0").await;
    assert_says(&error, &["table `t`", "late.csv", "`n/a`", "line 1002", "column `n`", "columns = { n = \"Utf8\" }"]);
    let text = files.source("late.csv").with_column("n", "Utf8");
    assert_eq!(rows(&text, "SELECT count(*) FROM t WHERE n = 'n/a'").await, [["1"]]);
    let null = files.source("late.csv").with_option("null", "n/a");
    assert_eq!(rows(&null, "SELECT count(*), count(n) FROM t").await, [["1001", "1000"]]);
    let larger = files.source("late.csv").with_option("infer_records", "2000");
    assert_eq!(columns(&larger).await, ["n:Utf8"]);

    assert_eq!(rows(&files.source("zip.csv"), "SELECT * FROM t").await, [["00501"], ["02134"]]);
    assert_eq!(rows(&files.source("d.csv"), "SELECT * FROM t").await, [["2024-01-01"], ["2024-02-30"]]);
    let dates = files.source("d.csv").with_column("d", "Date32");
    assert_says(&failure(&dates, "SELECT * FROM t").await, &["d.csv", "`2024-02-30`", "line 3", "column `d`"]);
    assert_eq!(opened(&files.source("late.csv")).await.expect("opens").inferred_from, Some(1000));
    assert_eq!(opened(&text).await.expect("opens").inferred_from, None);
}

#[tokio::test]
async fn compressed_and_plain_are_read_together_csv_06() {
    let files = Files::new(&[
        ("mix/1.csv", b"a\n1\n"),
        ("mix/2.csv.gz", GZ),
        ("mix/3.CSV.ZST", ZST),
        ("mix/4.csv.bz2", BZ2),
        ("mix/5.csv.xz", XZ),
        ("onlygz/2.csv.gz", GZ),
        ("fake.csv.gz", b"a\n1\n"),
        ("data.bin", GZ),
        ("cut.csv.gz", &GZ[..GZ.len() - 9]),
    ]);
    assert_eq!(rows(&files.source("mix"), "SELECT a FROM t").await, [["1"], ["2"], ["2"], ["2"], ["2"]]);
    assert_eq!(rows(&files.source("onlygz"), "SELECT * FROM t").await, [["2"]]);
    assert_says(&refusal(&files.source("fake.csv.gz")).await, &["fake.csv.gz", "cannot be decompressed as gzip"]);
    assert_says(&refusal(&files.source("cut.csv.gz")).await, &["cut.csv.gz", "cannot be decompressed as gzip"]);
    let stated = files.source("data.bin").with_format(Format::Csv).with_option("compression", "gzip");
    assert_eq!(rows(&stated, "SELECT * FROM t").await, [["2"]]);
}

#[tokio::test]
async fn other_encodings_are_named_csv_08() {
    let mut utf16 = vec![0xFF, 0xFE];
    utf16.extend("id,city\n1,x\n".encode_utf16().flat_map(u16::to_le_bytes));
    let mut late = "id,city\n".to_owned().into_bytes();
    for _ in 0..1500 {
        late.extend_from_slice(b"1,x\n");
    }
    late.extend_from_slice(b"2,Orl\xE9ans\n");
    let files = Files::new(&[
        ("latin.csv", b"id,city\n1,Orl\xE9ans\n"),
        ("late.csv", &late),
        ("u16.csv", &utf16),
        ("bom.csv", b"\xEF\xBB\xBFid,city\n1,Orl\xC3\xA9ans\n"),
    ]);
    assert_says(&refusal(&files.source("latin.csv")).await, &["latin.csv", "not UTF-8 on line 2", "Latin-1"]);
    assert_says(&failure(&files.source("late.csv"), "SELECT * FROM t").await, &["late.csv", "not UTF-8 on line 1502"]);
    assert_says(&refusal(&files.source("u16.csv")).await, &["u16.csv", "UTF-16"]);
    assert_eq!(rows(&files.source("bom.csv"), "SELECT id, city FROM t").await, [["1", "Orléans"]]);
}

#[tokio::test]
async fn headers_are_taken_as_they_are() {
    let files = Files::new(&[
        ("repeat.csv", b"value,value,\n1,2,3\n"),
        ("header.csv", b"a,b\n"),
        ("blank/blank.csv", b"\n\n\r\n"),
        ("blank/x.csv", b"a\n1\n"),
        ("only.csv", b"\n\n"),
        ("crlf.CSV", b"a,b\r\n1,x\r\n\r\n2,\"y\r\nz\"\r\n"),
        ("bare.csv", b"1,x\n2,y"),
        ("semi.csv", b"a;b\n1,5;'x;y'\n# no\n2;z\n"),
        ("tab.tsv", b"a\tb\n1\t2\n"),
    ]);
    assert_eq!(columns(&files.source("repeat.csv")).await, ["value:Int64", "value_2:Int64", "column_3:Int64"]);
    assert_eq!(columns(&files.source("header.csv")).await, ["a:Utf8", "b:Utf8"]);
    assert_eq!(rows(&files.source("header.csv"), "SELECT count(*) FROM t").await, [["0"]]);
    assert_eq!(rows(&files.source("blank"), "SELECT * FROM t").await, [["1"]]);
    assert_says(&refusal(&files.source("only.csv")).await, &["no header and no record"]);
    assert_eq!(rows(&files.source("crlf.CSV"), "SELECT a, length(b) FROM t").await, [["1", "1"], ["2", "4"]]);
    let bare = files.source("bare.csv").with_option("has_header", "false");
    assert_eq!(rows(&bare, "SELECT column_1, column_2 FROM t").await, [["1", "x"], ["2", "y"]]);
    let semi =
        files.source("semi.csv").with_option("delimiter", ";").with_option("quote", "'").with_option("comment", "#");
    assert_eq!(rows(&semi, "SELECT a, b FROM t").await, [["1,5", "x;y"], ["2", "z"]]);
    assert_eq!(columns(&files.source("tab.tsv")).await, ["a:Int64", "b:Int64"]);
}

#[tokio::test]
async fn values_keep_their_digits() {
    let files = Files::new(&[
        ("big.csv", b"u,d,m,x\n18446744073709551615,36893488147419103232,1,1.5\n1,-1,2.5,9007199254740993\n"),
        ("empty.csv", b"a,b\n,x\n1,\n"),
        ("open.csv", b"a,b\n1,\"x\n2,y\n"),
    ]);
    assert_eq!(
        columns(&files.source("big.csv")).await,
        ["u:Decimal128(38, 0)", "d:Decimal128(38, 0)", "m:Float64", "x:Float64"]
    );
    assert_eq!(
        rows(&files.source("big.csv"), "SELECT u, d FROM t").await[0],
        ["18446744073709551615", "36893488147419103232"]
    );
    assert_says(&failure(&files.source("big.csv"), "SELECT x FROM t").await, &["`9007199254740993` on line 3"]);
    assert_eq!(
        rows(&files.source("empty.csv"), "SELECT a IS NULL, b IS NULL FROM t").await,
        [["true", "false"], ["false", "true"]]
    );
    assert_says(&failure(&files.source("open.csv"), "SELECT * FROM t").await, &["open.csv", "never closed", "line 2"]);
}

#[tokio::test]
async fn rows_come_in_the_order_of_the_names() {
    let files = Files::new(&[("o/b.csv", b"a\n3\n4\n"), ("o/a.csv", b"a\n1\n2\n"), ("o/c/a.csv", b"a\n5\n")]);
    let text = run_in(&files.source("o"), "SELECT a FROM t LIMIT 4", 1).await.expect("it runs");
    let found: Vec<_> = text.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(found, ['1', '2', '3', '4']);
}

#[tokio::test]
async fn a_column_that_does_not_exist_is_named_with_the_nearest() {
    let files = Files::new(&[("x.csv", b"postcode\n1\n")]);
    let error = refusal(&files.source("x.csv").with_column("postcod", "Utf8")).await;
    assert_says(&error, &["no column `postcod`", "did you mean `postcode`"]);
}
