//! Avro and Arrow IPC.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::ipc::writer::{FileWriter, StreamWriter};
use datafusion::arrow_avro::writer::AvroWriter;

use super::{Files, assert_says, batch, ints, refusal, rows, texts};

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("rows");
    writer.finish().expect("a footer");
    writer.into_inner().expect("bytes")
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(batch).expect("rows");
    writer.finish().expect("an end");
    writer.into_inner().expect("bytes")
}

fn avro(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = AvroWriter::new(Vec::new(), batch.schema().as_ref().clone()).expect("a writer");
    writer.write(batch).expect("rows");
    writer.finish().expect("an end");
    writer.into_inner()
}

#[tokio::test]
async fn arrow_files_and_streams_are_read_side_by_side() {
    let one = batch(vec![("a", ints(&[1, 2])), ("b", texts(&["x", "y"]))]);
    let two = batch(vec![("c", ints(&[7])), ("a", ints(&[3]))]);
    let files = Files::new(&[
        ("m/1.arrow", &arrow_file(&one)),
        ("m/2.arrows", &arrow_stream(&two)),
        ("noext", &arrow_file(&one)),
    ]);
    assert_eq!(rows(&files.source("m"), "SELECT * FROM t").await, [["1", "x", ""], ["2", "y", ""], ["3", "", "7"]]);
    assert_eq!(
        rows(&files.source("m"), "SELECT c, count(*) FROM t GROUP BY c ORDER BY c").await,
        [["7", "1"], ["", "2"]]
    );
    assert_eq!(rows(&files.source("m"), "SELECT count(*) FROM t").await, [["3"]]);
    assert_eq!(rows(&files.source("noext"), "SELECT b FROM t").await, [["x"], ["y"]]);
}

#[tokio::test]
async fn avro_is_read_by_name() {
    let one = batch(vec![("a", ints(&[1, 2])), ("b", texts(&["x", "y"]))]);
    let two = batch(vec![("b", texts(&["z"])), ("a", ints(&[3]))]);
    let files = Files::new(&[("m/1.avro", &avro(&one)), ("m/2.avro", &avro(&two))]);
    assert_eq!(rows(&files.source("m"), "SELECT * FROM t").await, [["1", "x"], ["2", "y"], ["3", "z"]]);
    assert_eq!(rows(&files.source("m"), "SELECT b FROM t").await, [["x"], ["y"], ["z"]]);
    assert_eq!(rows(&files.source("m"), "SELECT count(*) FROM t").await, [["3"]]);
}

#[tokio::test]
async fn what_is_neither_is_named() {
    let good = arrow_file(&batch(vec![("a", ints(&[1]))]));
    let files = Files::new(&[
        ("x.arrow", b"id,name\n1,x\n"),
        ("x.avro", b"id,name\n1,x\n"),
        ("cut.arrow", &good[..good.len() / 2]),
        ("cut.avro", b"Obj\x01\x02"),
    ]);
    for (file, format) in
        [("x.arrow", "Arrow IPC"), ("x.avro", "Avro"), ("cut.arrow", "Arrow IPC"), ("cut.avro", "Avro")]
    {
        assert_says(&refusal(&files.source(file)).await, &[file, "is not valid", format]);
    }
}
