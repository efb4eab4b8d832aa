//! The tables, made once in `target/tmp`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};

/// A number without a pattern that a codec could use up.
fn scattered(n: usize) -> i64 {
    ((n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as i64
}

/// A quarter each Int64 with nulls, Float64, Utf8 and Timestamp(µs); one row group; snappy.
fn wide(rows: std::ops::Range<usize>, columns: usize) -> RecordBatch {
    let columns = (0..columns).map(|column| {
        let numbers = rows.clone().map(move |row| scattered(row * 7_919 + column));
        let number = column / 4;
        let (name, array): (&str, ArrayRef) = match column % 4 {
            0 => (
                "customer_metric",
                Arc::new(Int64Array::from_iter(numbers.map(|n| (n % 10 != 0).then_some(n % 1_000_000)))),
            ),
            1 => (
                "customer_ratio",
                Arc::new(Float64Array::from_iter_values(numbers.map(|n| (n % 10_000_000) as f64 / 997.0))),
            ),
            2 => (
                "customer_label",
                Arc::new(StringArray::from_iter_values(rows.clone().map(|row| format!("value-{number}-{row}")))),
            ),
            _ => (
                "updated_at",
                Arc::new(TimestampMicrosecondArray::from_iter_values(numbers.map(|n| 1_600_000_000_000_000 + n * 97))),
            ),
        };
        (format!("{name}_{number:04}"), array, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}

fn narrow(rows: std::ops::Range<usize>) -> RecordBatch {
    let regions = ["north", "south", "east", "west"];
    let numbers = || rows.clone().map(scattered);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| row as i64)))),
        ("price", Arc::new(Float64Array::from_iter_values(numbers().map(|n| (n % 100_000) as f64 / 100.0)))),
        ("qty", Arc::new(Int32Array::from_iter_values(numbers().map(|n| (n % 100) as i32)))),
        ("region", Arc::new(StringArray::from_iter_values(numbers().map(|n| regions[n as usize % 4])))),
        (
            "ts",
            Arc::new(TimestampMicrosecondArray::from_iter_values(numbers().map(|n| 1_600_000_000_000_000 + n * 97))),
        ),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn write(path: &Path, rows: usize, step: usize, group: usize, batch: impl Fn(std::ops::Range<usize>) -> RecordBatch) {
    let unfinished = path.with_extension("part");
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(group))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(20_000)
        .build();
    let file = File::create(&unfinished).expect("a file in target/tmp");
    let mut writer = ArrowWriter::try_new(file, batch(0..1).schema(), Some(properties)).expect("a writer");
    for start in (0..rows).step_by(step) {
        writer.write(&batch(start..rows.min(start + step))).expect("written rows");
    }
    writer.close().expect("a closed file");
    std::fs::rename(unfinished, path).expect("a renamed file");
}

/// Where a table is, made if it is not there: `wide_N` has N columns, `narrow` five.
pub(crate) fn table(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("payload-{name}.parquet"));
    if path.exists() {
        return path;
    }
    match name {
        "narrow" => write(&path, 5_000_000, 20_000, 1_000_000, narrow),
        "wide_100" => write(&path, 100_000, 10_000, 100_000, |rows| wide(rows, 100)),
        "wide_1200" => write(&path, 5_000, 1_000, 5_000, |rows| wide(rows, 1_200)),
        "wide_3000" => write(&path, 20_000, 1_000, 20_000, |rows| wide(rows, 3_000)),
        _ => write(&path, 2_000, 500, 2_000, |rows| wide(rows, 10_000)),
    }
    path
}
