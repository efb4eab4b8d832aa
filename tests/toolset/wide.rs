//! Wide results: an answer costs what it shows, and says what an answer that cost everything would say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::datasource::MemTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::streaming::PartitionStream;
use datafusion::prelude::SessionContext;
use datafusion_toolset::encode::{Encoder, ResultFormat};
use datafusion_toolset::{Limits, QueryRequest, Toolset};
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
