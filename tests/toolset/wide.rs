//! Wide results: an answer costs what it shows, and says what an answer that cost everything would say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::datasource::MemTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_toolset::encode::{Encoder, ResultFormat};
use datafusion_toolset::{Limits, QueryRequest, Source, Toolset};
use proptest::prelude::*;

/// A table that counts how often it is read.
#[derive(Debug)]
struct Counted {
    batch: RecordBatch,
    reads: Arc<AtomicUsize>,
}

impl PartitionStream for Counted {
    fn schema(&self) -> &SchemaRef {
        self.batch.schema_ref()
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Box::pin(MemoryStream::try_new(vec![self.batch.clone()], self.batch.schema(), None).unwrap())
    }
}

fn numbers(columns: usize, rows: i64) -> RecordBatch {
    let fields: Vec<Field> =
        (0..columns).map(|n| Field::new(format!("customer_metric_{n:05}"), DataType::Int64, true)).collect();
    let array: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![array; columns]).unwrap()
}

fn counted(columns: usize, limits: Limits) -> (Toolset, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let batch = numbers(columns, 10);
    let table =
        StreamingTable::try_new(batch.schema(), vec![Arc::new(Counted { batch, reads: Arc::clone(&reads) })]).unwrap();
    let ctx = SessionContext::new();
    ctx.register_table("t", Arc::new(table)).unwrap();
    (Toolset::builder().session_context(&ctx).limits(limits).build().unwrap(), reads)
}

#[tokio::test]
async fn names_that_do_not_fit_need_no_data() {
    let (toolset, reads) = counted(3_000, Limits::default());
    for sql in ["SELECT * FROM t", "SELECT * FROM t WHERE customer_metric_00007 > 5 ORDER BY customer_metric_00001"] {
        for format in [ResultFormat::Json, ResultFormat::Markdown, ResultFormat::Csv] {
            let result = toolset.query(QueryRequest::new(sql).with_format(format)).await.unwrap();
            assert_eq!(result.row_count(), 0);
            assert_eq!(result.columns().len(), 3_000);
            assert!(result.json().contains("3000 columns"), "{}", result.json());
        }
        assert!(toolset.check_query(sql).await.unwrap().is_valid());
    }
    assert_eq!(
        toolset.query("SELECT * FROM t").await.unwrap().json(),
        "{\"column_count\":3000,\"rows\":[],\"row_count\":0,\"truncated\":true,\"truncated_by\":\"max_result_bytes\",\
         \"hint\":\"The names of the 3000 columns do not fit: select the columns you need.\"}"
    );
    assert_eq!(reads.load(Ordering::SeqCst), 0);
    let result = toolset.query("SELECT customer_metric_00007 FROM t").await.unwrap();
    assert_eq!((result.row_count(), reads.load(Ordering::SeqCst)), (10, 1));
}

#[tokio::test]
async fn a_total_from_statistics_is_told_without_reading() {
    let ctx = SessionContext::new();
    super::register(&ctx, "t", numbers(3_000, 10));
    let toolset = Toolset::builder().session_context(&ctx).build().unwrap();
    let result = toolset.query("SELECT * FROM t").await.unwrap();
    assert!(result.json().contains("\"row_count\":0,\"total_rows\":10,\"truncated\":true"), "{}", result.json());
    let result = toolset.query("SELECT * FROM t WHERE customer_metric_00000 > 3").await.unwrap();
    assert!(!result.json().contains("total_rows"), "{}", result.json());
}

/// A column of one of the kinds whose text is short.
fn column(kind: u8, rows: usize, seed: u64) -> ArrayRef {
    let value = move |row: usize| (row as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let null = move |row: usize| value(row) % 5 == 0;
    let all = 0..rows;
    match kind {
        0 => Arc::new(Int64Array::from_iter(all.map(|row| (!null(row)).then(|| value(row) as i64 % 12)))),
        1 => Arc::new(StringArray::from_iter(all.map(|row| (!null(row)).then(|| "x".repeat(value(row) as usize % 9))))),
        2 => Arc::new(BooleanArray::from_iter(all.map(|row| (!null(row)).then(|| value(row) % 2 == 0)))),
        3 => Arc::new(
            Decimal128Array::from_iter(all.map(|row| Some(value(row) as i128 % 3)))
                .with_data_type(DataType::Decimal128(3, 0)),
        ),
        4 => Arc::new(Date32Array::from_iter(all.map(|row| (!null(row)).then(|| value(row) as i32)))),
        5 => Arc::new(NullArray::new(rows)),
        6 => Arc::new(BinaryArray::from_iter(all.map(|row| Some(vec![7u8; value(row) as usize % 2])))),
        7 => Arc::new(Time32SecondArray::from_iter(all.map(|row| Some(value(row) as i32 - 5)))),
        _ => Arc::new(Float64Array::from_iter(all.map(|row| (!null(row)).then(|| value(row) as f64 % 3.0)))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// A budget that holds few rows lowers the fetch; the payload is that of an encoder that was given every row.
    #[test]
    fn a_lowered_fetch_gives_the_same_payload(
        kinds in prop::collection::vec(0u8..9, 1..60),
        rows in 0usize..300,
        batch_rows in 1usize..80,
        max_rows in 1usize..400,
        max_bytes in 512usize..6_000,
        offset in 0usize..40,
        format in prop::sample::select(vec![ResultFormat::Json, ResultFormat::Markdown, ResultFormat::Csv]),
        seed in any::<u64>(),
    ) {
        let columns = kinds.iter().enumerate().map(|(n, kind)| {
            (format!("c{n}"), column(*kind, rows, seed.wrapping_add(n as u64)), true)
        });
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let batches: Vec<RecordBatch> = (0..rows)
            .step_by(batch_rows)
            .map(|at| batch.slice(at, batch_rows.min(rows - at)))
            .collect();
        let ctx = SessionContext::new();
        ctx.register_table("t", Arc::new(MemTable::try_new(batch.schema(), vec![batches]).unwrap())).unwrap();
        let limits = Limits::default().with_max_rows(max_rows).with_max_result_bytes(max_bytes);
        let toolset = Toolset::builder().session_context(&ctx).limits(limits).build().unwrap();

        let offset = offset.min(rows);
        let mut encoder = Encoder::new(&batch.schema(), format, max_rows, max_bytes);
        if encoder.names_fit() {
            encoder.push(&batch.slice(offset, rows - offset));
        }
        let expected = encoder.finish(Some((rows - offset) as u64));
        let sql = if offset == 0 { "SELECT * FROM t".to_owned() } else { format!("SELECT * FROM t OFFSET {offset}") };
        let request = QueryRequest::new(sql).with_format(format);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let result = runtime.block_on(toolset.query(request)).unwrap();
        prop_assert_eq!(result.json(), expected.payload.as_str());
    }
}

/// A folder of Parquet files whose rows are numbered in the order of the files' names; small row groups and pages.
fn folder(columns: usize, files: &[usize]) -> (tempfile::TempDir, RecordBatch) {
    let kinds = [0u8, 1, 2, 4, 8];
    let rows: usize = files.iter().sum();
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let others = (1..columns).map(|n| (format!("c{n}"), column(kinds[n % kinds.len()], rows, n as u64), true));
    let all = RecordBatch::try_from_iter_with_nullable(std::iter::once(("c0".to_owned(), numbers, true)).chain(others))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut start = 0;
    for (at, &rows) in files.iter().enumerate() {
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(40))
            .set_data_page_row_count_limit(10)
            .set_write_batch_size(5)
            .build();
        let file = std::fs::File::create(folder.path().join(format!("part-{at:03}.parquet"))).unwrap();
        let mut writer = ArrowWriter::try_new(file, all.schema(), Some(properties)).unwrap();
        writer.write(&all.slice(start, rows)).unwrap();
        writer.close().unwrap();
        start += rows;
    }
    (folder, all)
}

/// The payload of rows `offset..` of a batch that is known whole.
fn expected(rows: &RecordBatch, offset: usize, max_rows: usize, max_bytes: usize, total: Option<u64>) -> String {
    let mut encoder = Encoder::new(&rows.schema(), ResultFormat::Json, max_rows, max_bytes);
    encoder.push(&rows.slice(offset, rows.num_rows() - offset));
    encoder.finish(total).payload
}

#[tokio::test]
async fn groups_of_columns_give_the_rows_of_one_scan() {
    let (folder, all) = folder(300, &[13, 1, 90, 0, 57]);
    let rows = all.num_rows();
    for (max_rows, max_bytes) in [(1, 65_536), (50, 65_536), (50, 8_192), (161, 1 << 20), (100, 1 << 20)] {
        let limits = Limits::default().with_max_rows(max_rows).with_max_result_bytes(max_bytes);
        let source = Source::new("t", folder.path().to_str().unwrap());
        let toolset = Toolset::builder().source(source).limits(limits).build().unwrap();
        for offset in [0, 12, 13, 100, rows - 1] {
            let sql = format!("SELECT * FROM t OFFSET {offset}");
            let result = toolset.query(sql.as_str()).await.unwrap();
            let whole = expected(&all, offset, max_rows, max_bytes, result.total_rows());
            assert_eq!(result.json(), whole, "{sql}, {max_rows} rows, {max_bytes} bytes");
        }
        let reversed: Vec<usize> = (0..299).rev().collect();
        let names: Vec<String> = reversed.iter().map(|n| format!("c{n}")).collect();
        let result = toolset.query(format!("SELECT {} FROM t", names.join(", "))).await.unwrap();
        let projected = all.project(&reversed).unwrap();
        assert_eq!(result.json(), expected(&projected, 0, max_rows, max_bytes, result.total_rows()));
    }
    let toolset = Toolset::builder().source(Source::new("t", folder.path().to_str().unwrap())).build().unwrap();
    let plan = toolset.query("EXPLAIN SELECT * FROM t LIMIT 5").await.unwrap();
    assert!(plan.json().contains("ColumnGroupsExec: columns=300, limit=5"), "{}", plan.json());
    // Sorted or filtered rows are not the first of the files.
    for sql in ["EXPLAIN SELECT * FROM t ORDER BY c1 LIMIT 5", "EXPLAIN SELECT * FROM t WHERE c0 > 7 LIMIT 5"] {
        let plan = toolset.query(sql).await.unwrap();
        assert!(!plan.json().contains("ColumnGroupsExec"), "{}", plan.json());
    }
    let sum = toolset.query("SELECT sum(c0), count(c299) FROM (SELECT * FROM t LIMIT 20)").await.unwrap();
    assert!(sum.json().contains("[[190,"), "{}", sum.json());
}

#[tokio::test]
async fn rows_come_in_the_order_of_storage() {
    let files = [30, 100, 7, 55, 1, 81, 40, 90, 120, 64];
    let (folder, all) = folder(6, &files);
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(4).with_batch_size(16));
    let source = Source::new("t", folder.path().to_str().unwrap());
    let limits = Limits::default().with_max_rows(75);
    let toolset = Toolset::builder().session_context(&ctx).source(source).limits(limits).build().unwrap();
    let numbers = all.column(0).as_primitive::<Int64Type>().values();
    type Keep = fn(i64) -> bool;
    let conditions: [(&str, Keep); 5] = [
        ("true", |_| true),
        ("c0 % 7 = 3", |n| n % 7 == 3),
        ("c0 > 333", |n| n > 333),
        ("c0 BETWEEN 35 AND 39 OR c0 >= 200", |n| (35..40).contains(&n) || n >= 200),
        ("c0 > 580", |n| n > 580),
    ];
    for (condition, keep) in conditions {
        let kept: Vec<i64> = numbers.iter().copied().filter(|n| keep(*n)).take(75).collect();
        for _ in 0..4 {
            let result = toolset.query(format!("SELECT c0 FROM t WHERE {condition}")).await.unwrap();
            let payload = super::parse(result.json());
            let rows: Vec<i64> =
                payload["rows"].as_array().unwrap().iter().map(|row| row[0].as_i64().unwrap()).collect();
            assert_eq!(rows, kept, "{condition}");
        }
    }
}
