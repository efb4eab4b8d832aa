//! The encoder against arrow-json and against rows built as `serde_json::Value`.
//!
//! Throughput is cells per second, but for the text columns, where it is bytes of text. After the figures come the
//! ratios, from a run of the same bodies side by side.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use datafusion::arrow::array::*;
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::*;
use datafusion::arrow::json::ArrayWriter;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion_toolset::encode::{Encoder, ResultFormat};
use serde_json::Value;

fn batch(columns: Vec<(String, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of one length")
}

/// Numbers without a pattern that a branch predictor learns.
fn scattered(n: usize) -> i64 {
    ((n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24) as i64
}

/// A quarter each Int64 with nulls, Float64, Utf8 and Timestamp(µs).
fn wide(rows: usize, columns: usize) -> RecordBatch {
    let columns = (0..columns).map(|column| {
        let numbers = (0..rows).map(move |row| scattered(row * 7_919 + column));
        let array: ArrayRef = match column % 4 {
            0 => Arc::new(Int64Array::from_iter(numbers.map(|n| (n % 10 != 0).then_some(n % 1_000_000)))),
            1 => Arc::new(Float64Array::from_iter_values(numbers.map(|n| (n % 10_000_000) as f64 / 997.0))),
            2 => Arc::new(StringArray::from_iter_values(numbers.map(|n| format!("customer {}", n % 100_000)))),
            _ => Arc::new(TimestampMicrosecondArray::from_iter_values(numbers.map(|n| 1_600_000_000_000_000 + n * 97))),
        };
        (format!("column_{column}"), array)
    });
    batch(columns.collect())
}

fn orders() -> RecordBatch {
    let numbers = || (0..8_192).map(scattered);
    let regions = ["north", "south", "east", "west"];
    batch(vec![
        ("id".into(), Arc::new(Int64Array::from_iter_values(0..8_192)) as ArrayRef),
        ("price".into(), Arc::new(Float64Array::from_iter_values(numbers().map(|n| (n % 100_000) as f64 / 100.0)))),
        ("qty".into(), Arc::new(Int32Array::from_iter_values(numbers().map(|n| (n % 100) as i32)))),
        ("region".into(), Arc::new(StringArray::from_iter_values(numbers().map(|n| regions[n as usize % 4])))),
        (
            "ts".into(),
            Arc::new(TimestampMicrosecondArray::from_iter_values(numbers().map(|n| 1_600_000_000_000_000 + n * 97))),
        ),
    ])
}

/// 2,000 texts of about 100 bytes.
fn texts(pattern: &str) -> RecordBatch {
    let text: String = pattern
        .chars()
        .cycle()
        .scan(0, |bytes, c| {
            *bytes += c.len_utf8();
            (*bytes <= 102).then_some(c)
        })
        .collect();
    batch(vec![("t".into(), Arc::new(StringArray::from_iter_values((0..2_000).map(|_| text.as_str()))) as ArrayRef)])
}

fn ours(batch: &RecordBatch, max_bytes: usize) -> usize {
    let mut encoder = Encoder::new(&batch.schema(), ResultFormat::Json, usize::MAX, max_bytes);
    encoder.push(batch);
    black_box(encoder.finish(None)).payload.len()
}

fn arrow_json(batch: &RecordBatch) -> usize {
    let mut writer = ArrayWriter::new(Vec::new());
    writer.write(batch).expect("a type that arrow-json knows");
    writer.finish().expect("an array");
    black_box(writer.into_inner()).len()
}

/// Row objects as `serde_json::Value`, then text: the usual way of a first version.
fn values(batch: &RecordBatch) -> usize {
    let options = FormatOptions::default();
    let formatters: Vec<ArrayFormatter<'_>> = batch
        .columns()
        .iter()
        .map(|array| ArrayFormatter::try_new(array.as_ref(), &options).expect("a type that can be shown"))
        .collect();
    let schema = batch.schema();
    let rows: Vec<Value> = (0..batch.num_rows())
        .map(|row| {
            let cells = batch.columns().iter().zip(&formatters).zip(schema.fields());
            let object = cells.map(|((array, formatter), field)| {
                let value = match array.data_type() {
                    _ if array.is_null(row) => Value::Null,
                    DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into(),
                    DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
                    DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
                    _ => formatter.value(row).to_string().into(),
                };
                (field.name().clone(), value)
            });
            Value::Object(object.collect())
        })
        .collect();
    black_box(serde_json::to_vec(&rows).expect("JSON")).len()
}

/// One list cell of 10,000,000 integers, one text of 500 MB, one struct of 100,000 fields.
fn huge() -> Vec<(&'static str, RecordBatch)> {
    let list: ArrayRef = Arc::new(ListArray::new(
        Arc::new(Field::new_list_field(DataType::Int32, true)),
        OffsetBuffer::from_lengths([10_000_000]),
        Arc::new(Int32Array::from_iter_values(0..10_000_000)),
        None,
    ));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(500_000_000)]));
    let fields: Vec<(FieldRef, ArrayRef)> = (0..100_000)
        .map(|n| {
            let value: ArrayRef = Arc::new(Int32Array::from(vec![n]));
            (Arc::new(Field::new(format!("f{n}"), DataType::Int32, true)), value)
        })
        .collect();
    let structure: ArrayRef = Arc::new(StructArray::from(fields));
    [("list of 10M", list), ("text of 500 MB", text), ("struct of 100k", structure)]
        .map(|(name, array)| (name, batch(vec![("c".to_string(), array)])))
        .into()
}

/// The best of many runs of each body, one after the other, so that both meet the same machine.
fn race(left: impl Fn() -> usize, right: impl Fn() -> usize) -> (Duration, Duration) {
    let time = |body: &dyn Fn() -> usize| {
        let start = Instant::now();
        black_box(body());
        start.elapsed()
    };
    let mut best = (Duration::MAX, Duration::MAX);
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1_500) {
        best = (best.0.min(time(&left)), best.1.min(time(&right)));
    }
    best
}

/// The figures and the ratios.
#[allow(clippy::print_stdout, reason = "a bench prints what it measured")]
pub(crate) fn run() {
    let wide_batch = wide(51, 1_200);
    let orders_batch = orders();
    let ascii = texts("The quick brown fox jumps over the lazy dog, and 1,234 others. ");
    let cjk = texts("東京都の顧客は、注文を三回しました。");
    let escapes = texts("a\"b\\c\nd\te");
    let unbounded = usize::MAX;

    let mut criterion = Criterion::default()
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500))
        .sample_size(20)
        .configure_from_args();
    for (name, batch) in [("wide: dispatch and every common type", &wide_batch), ("orders: few columns", &orders_batch)]
    {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements((batch.num_rows() * batch.num_columns()) as u64));
        group.bench_function("ours", |b| b.iter(|| ours(batch, unbounded)));
        group.bench_function("arrow-json", |b| b.iter(|| arrow_json(batch)));
        group.bench_function("serde_json::Value", |b| b.iter(|| values(batch)));
        group.finish();
    }
    let mut group = criterion.benchmark_group("text: scan and escape");
    for (name, batch) in [("ascii", &ascii), ("cjk", &cjk), ("escapes", &escapes)] {
        let bytes = batch.column(0).as_string::<i32>().value_data().len();
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(format!("{name}/ours"), |b| b.iter(|| ours(batch, unbounded)));
        group.bench_function(format!("{name}/arrow-json"), |b| b.iter(|| arrow_json(batch)));
    }
    group.finish();
    let mut group = criterion.benchmark_group("64 KiB: work stops at the budget");
    group.bench_function("wide", |b| b.iter(|| ours(&wide_batch, 65_536)));
    let huge = huge();
    for (name, batch) in &huge {
        group.bench_function(*name, |b| b.iter(|| ours(batch, 65_536)));
    }
    group.finish();

    println!("\nratios, best of many runs:");
    let show = |name: &str, batch: &RecordBatch, other: &dyn Fn() -> usize| {
        let (left, right) = race(|| ours(batch, unbounded), other);
        let cells = (batch.num_rows() * batch.num_columns()) as f64;
        println!(
            "{name:<40} {:5.1}x   {:6.1} ns a cell against {:6.1}",
            right.as_secs_f64() / left.as_secs_f64(),
            left.as_secs_f64() * 1e9 / cells,
            right.as_secs_f64() * 1e9 / cells,
        );
    };
    show("wide / arrow-json (5x)", &wide_batch, &|| arrow_json(&wide_batch));
    show("wide / serde_json::Value (10x)", &wide_batch, &|| values(&wide_batch));
    show("orders / arrow-json (4x)", &orders_batch, &|| arrow_json(&orders_batch));
    show("text ascii / arrow-json (2x)", &ascii, &|| arrow_json(&ascii));
    show("text cjk / arrow-json (2x)", &cjk, &|| arrow_json(&cjk));
    show("text escapes / arrow-json (2x)", &escapes, &|| arrow_json(&escapes));
    let (bounded, whole) = race(|| ours(&wide_batch, 65_536), || ours(&wide_batch, unbounded));
    println!("wide under 64 KiB: {bounded:?}, unbounded: {whole:?}");
    for (name, batch) in &huge {
        let (time, _) = race(|| ours(batch, 65_536), || 0);
        println!("{name} under 64 KiB: {time:?}");
    }
}
