//! The cases of topic parquet.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BinaryArray, Float64Array, Int32Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion::common::stats::Precision;
use datafusion::parquet::data_type::{Int96, Int96Type};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::file::writer::SerializedFileWriter;
use datafusion::parquet::schema::parser::parse_message_type;

use super::{Files, assert_says, batch, columns, failure, ints, opened, parquet_bytes, refusal, rows, texts, type_of};

#[tokio::test]
async fn int96_keeps_its_instant_pq_01() {
    let schema = Arc::new(parse_message_type("message m { required int96 ts; }").expect("a schema"));
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default())).expect("a writer");
    let day = |julian: u32, nanos: u64| {
        let mut value = Int96::new();
        value.set_data((nanos & 0xFFFF_FFFF) as u32, (nanos >> 32) as u32, julian);
        value
    };
    let mut group = writer.next_row_group().expect("a group");
    let mut column = group.next_column().expect("reads").expect("a column");
    // 9999-12-31T23:59:59, 0001-01-01, 2020-01-01
    let values = [day(5_373_484, 86_399_000_000_000), day(1_721_426, 0), day(2_458_850, 0)];
    column.typed::<Int96Type>().write_batch(&values, None, None).expect("values");
    column.close().expect("closes");
    group.close().expect("closes");
    let bytes = writer.into_inner().expect("a footer");
    let files = Files::new(&[("i96.parquet", &bytes)]);
    let source = files.source("i96.parquet");
    assert_eq!(
        rows(&source, "SELECT ts FROM t ORDER BY ts").await,
        [["0001-01-01T00:00:00"], ["2020-01-01T00:00:00"], ["9999-12-31T23:59:59"]]
    );
    assert_eq!(type_of(&opened(&source).await.expect("opens"), "ts"), DataType::Timestamp(TimeUnit::Microsecond, None));
}

#[tokio::test]
async fn helper_files_are_left_out_pq_03() {
    let two = parquet_bytes(&batch(vec![("a", ints(&[1, 2]))]));
    let none = parquet_bytes(&batch(vec![("a", ints(&[]))]));
    let files = Files::new(&[
        ("h/p1.parquet", &two),
        ("h/.p2.parquet", &two),
        ("h/_p3.parquet", &two),
        ("h/_temporary/0/p4.parquet", &two),
        ("h/_SUCCESS", b""),
        ("h/._p1.parquet", &[7; 32]),
        ("h/.p1.parquet.crc", b"crc"),
        ("h/b.parquet", b""),
        ("h/c.parquet", &none),
    ]);
    assert_eq!(rows(&files.source("h"), "SELECT count(*) FROM t").await, [["2"]]);
    assert_eq!(rows(&files.source("h/"), "SELECT a FROM t").await, [["1"], ["2"]]);
}

#[tokio::test]
async fn broken_files_are_named_pq_04() {
    let good = parquet_bytes(&batch(vec![("a", ints(&[1, 2]))]));
    let files = Files::new(&[("good.parquet", &good)]);
    for (name, bytes) in [("bad", &good[..good.len() / 2]), ("tiny", b"PAR"), ("text", b"only some plain text here")] {
        files.write(&format!("k/{name}.parquet"), bytes);
        files.write("k/good.parquet", &good);
        let error = refusal(&files.source("k")).await;
        assert_says(&error, &["table `t`", &format!("k/{name}.parquet"), "is not valid Parquet"]);
        std::fs::remove_file(files.path(&format!("k/{name}.parquet"))).expect("removed");
    }
    let mut encrypted = good.clone();
    let end = encrypted.len();
    encrypted[end - 4..].copy_from_slice(b"PARE");
    files.write("e.parquet", &encrypted);
    assert_says(&refusal(&files.source("e.parquet")).await, &["e.parquet", "encrypted"]);
    // A page that is broken is seen only by the query; its error names the file as well.
    let mut page = good.clone();
    page[4..40].fill(0xFF);
    files.write("p/page.parquet", &page);
    files.write("p/a.parquet", &good);
    assert_says(&failure(&files.source("p"), "SELECT * FROM t").await, &["p/page.parquet", "is not valid Parquet"]);
    assert_eq!(rows(&files.source("good.parquet"), "SELECT a FROM t").await, [["1"], ["2"]]);
}

#[tokio::test]
async fn repeated_columns_are_refused_pq_05() {
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("value", DataType::Int64, true),
        Field::new("value", DataType::Int64, true),
    ]);
    let two = RecordBatch::try_new(Arc::new(schema), vec![ints(&[1]), ints(&[10]), ints(&[100])]).expect("a batch");
    let files = Files::new(&[("d.parquet", &parquet_bytes(&two))]);
    assert_says(&refusal(&files.source("d.parquet")).await, &["d.parquet", "two columns named `value`"]);
}

#[tokio::test]
async fn partition_folders_are_columns_pq_07() {
    let one = parquet_bytes(&batch(vec![("a", ints(&[1]))]));
    let with_id = parquet_bytes(&batch(vec![("id", ints(&[1])), ("a", ints(&[5]))]));
    let files = Files::new(&[
        ("s/y=2023/a.parquet", &one),
        ("s/y=2024/b.parquet", &one),
        ("s/y=2024/c.parquet", &one),
        ("s/y=__HIVE_DEFAULT_PARTITION__/d.parquet", &one),
        ("s/stray.parquet", &one),
        ("q/id=9/p.parquet", &with_id),
        ("deep/a.parquet", &one),
        ("deep/sub/b.parquet", &one),
        ("p/city=S%C3%A3o%20Paulo/a.parquet", &one),
    ]);
    let s = files.source("s");
    assert_eq!(columns(&s).await, ["a:Int64", "y:Utf8"]);
    let counts = "SELECT y, count(*) FROM t GROUP BY y ORDER BY y";
    assert_eq!(rows(&s, counts).await, [["2023", "1"], ["2024", "2"], ["", "2"]]);
    assert_eq!(rows(&s, "SELECT count(*) FROM t WHERE y = '2024'").await, [["2"]]);
    assert_eq!(rows(&s, "SELECT count(*), count(y) FROM t").await, [["5", "3"]]);
    let typed = files.source("s").with_partition("y", "Int32");
    assert_eq!(columns(&typed).await, ["a:Int64", "y:Int32"]);
    assert_eq!(rows(&typed, "SELECT max(y), min(y) FROM t WHERE y > 2023").await, [["2024", "2024"]]);
    assert_eq!(rows(&typed, "SELECT count(*) FROM t WHERE y IS NULL").await, [["2"]]);
    assert_eq!(opened(&s).await.expect("opens").partition_columns, ["y"]);
    assert_eq!(columns(&files.source("q")).await, ["a:Int64", "id:Utf8"]);
    assert_eq!(rows(&files.source("q"), "SELECT id, a FROM t").await, [["9", "5"]]);
    assert_eq!(rows(&files.source("deep"), "SELECT count(*) FROM t").await, [["2"]]);
    assert_eq!(rows(&files.source("p"), "SELECT city FROM t").await, [["São Paulo"]]);
    assert_says(&refusal(&files.source("deep").with_partition("y", "Int32")).await, &["no folder `y=…`"]);
    assert_says(&refusal(&files.source("p").with_partition("city", "Int32")).await, &["city=São Paulo", "no Int32"]);
}

#[tokio::test]
async fn files_widen_or_are_named() {
    let small: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let double: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
    let files = Files::new(&[
        ("w/1.parquet", &parquet_bytes(&batch(vec![("n", Arc::clone(&small)), ("only", ints(&[4]))]))),
        ("w/2.parquet", &parquet_bytes(&batch(vec![("n", ints(&[1 << 40]))]))),
        ("x/1.parquet", &parquet_bytes(&batch(vec![("n", ints(&[1]))]))),
        ("x/2.parquet", &parquet_bytes(&batch(vec![("n", texts(&["x"]))]))),
        ("y/1.parquet", &parquet_bytes(&batch(vec![("n", small)]))),
        ("y/2.parquet", &parquet_bytes(&batch(vec![("n", double)]))),
    ]);
    let w = files.source("w");
    assert_eq!(columns(&w).await, ["n:Int64", "only:Int64"]);
    assert_eq!(rows(&w, "SELECT n, only FROM t ORDER BY n").await, [["1", "4"], ["1099511627776", ""]]);
    assert_eq!(rows(&w, "SELECT max(n), min(n), count(only) FROM t").await, [["1099511627776", "1", "1"]]);
    assert_eq!(rows(&w, "SELECT n FROM t WHERE n > 5").await, [["1099511627776"]]);
    assert_eq!(rows(&files.source("y"), "SELECT sum(n) FROM t").await, [["1.5"]]);
    assert_says(&refusal(&files.source("x")).await, &["x/2.parquet", "column `n`", "Int64"]);
    let text = files.source("x").with_column("n", "Utf8");
    assert_eq!(rows(&text, "SELECT n FROM t ORDER BY n").await, [["1"], ["x"]]);
}

#[tokio::test]
async fn row_counts_are_exact_and_bytes_stay_bytes() {
    let bytes: ArrayRef =
        Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0xFF, 0xFE]), Some(b"plain"), Some(b""), None]));
    let files = Files::new(&[("raw.parquet", &parquet_bytes(&batch(vec![("b", bytes)])))]);
    let table = opened(&files.source("raw.parquet")).await.expect("opens");
    assert_eq!(table.provider.statistics().map(|statistics| statistics.num_rows), Some(Precision::Exact(4)));
    assert_eq!(table.inferred_from, None);
    assert_eq!(type_of(&table, "b"), DataType::BinaryView);
    assert_eq!(rows(&files.source("raw.parquet"), "SELECT count(b) FROM t").await, [["3"]]);
}

#[tokio::test]
async fn text_that_is_not_utf8_is_an_error_with_its_file_enc_15() {
    let mut bytes = parquet_bytes(&batch(vec![("s", texts(&["Orleans-marker", "x"]))]));
    // Plain and dictionary pages of so few rows are compressed by nothing; statistics hold the text as well.
    while let Some(at) = bytes.windows(14).position(|window| window == b"Orleans-marker") {
        bytes[at + 3] = 0xE9;
    }
    let files =
        Files::new(&[("bad.parquet", &bytes), ("good.parquet", &parquet_bytes(&batch(vec![("s", texts(&["x"]))])))]);
    assert_says(&failure(&files.source("bad.parquet"), "SELECT s FROM t").await, &["bad.parquet"]);
    assert_eq!(rows(&files.source("good.parquet"), "SELECT s FROM t").await, [["x"]]);
}

#[tokio::test]
async fn names_are_case_sensitive_sql_13() {
    let names = ["userId", "UserID", "order.total", "unit price", "select", "quo\"te"];
    let one = batch(names.iter().map(|name| (*name, ints(&[1]))).collect());
    assert_eq!(one.column(0).len(), 1);
    let files = Files::new(&[("Web-Events 2024.parquet", &parquet_bytes(&one))]);
    let source = files.source("Web-Events 2024.parquet");
    let sql = "SELECT \"userId\", \"UserID\", \"order.total\", \"unit price\", \"select\", \"quo\"\"te\" FROM t";
    assert_eq!(rows(&source, sql).await, [["1", "1", "1", "1", "1", "1"]]);
}

#[tokio::test]
async fn a_limit_opens_no_later_file() {
    let files = Files::new(&[
        ("l/1.parquet", &parquet_bytes(&batch(vec![("a", ints(&[1, 2, 3]))]))),
        // Two values, since a column of one value is answered from the footer.
        ("l/2.parquet", &parquet_bytes(&batch(vec![("a", ints(&[4, 5]))]))),
    ]);
    let source = files.source("l");
    let context = datafusion::prelude::SessionContext::new();
    let table = super::super::open(&source, &context.state()).await.expect("opens");
    context.register_table("t", table.provider).expect("a new name");
    // The second file goes away after opening: what does not need it does not notice.
    std::fs::remove_file(files.path("l/2.parquet")).expect("removed");
    let first = context.sql("SELECT a FROM t LIMIT 3").await.expect("plans").collect().await.expect("runs");
    assert_eq!(first.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
    let error = context.sql("SELECT sum(a) FROM t").await.expect("plans").collect().await.expect_err("it is gone");
    assert_says(&error.to_string(), &["l/2.parquet", "does not exist any more"]);
}
