//! The encoder, against the contract's "query" section and its value table.

mod budget;
mod cases;
mod golden;
mod model;
mod random;
mod types;

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion_toolset::encode::{Encoded, Encoder, Progress, ResultFormat};
use serde_json::Value;

const FORMATS: [ResultFormat; 3] = [ResultFormat::Json, ResultFormat::Markdown, ResultFormat::Csv];

/// A batch of these columns, nullable all.
fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let rows = columns.first().map_or(0, |(_, array)| array.len());
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).unwrap()
}

fn encode_batches(
    schema: &Schema,
    batches: &[RecordBatch],
    format: ResultFormat,
    max_rows: usize,
    max_bytes: usize,
    total: Option<u64>,
) -> Encoded {
    let mut encoder = Encoder::new(schema, format, max_rows, max_bytes);
    for batch in batches {
        if encoder.push(batch) == Progress::Decided {
            assert!(encoder.is_truncated());
            break;
        }
    }
    encoder.finish(total)
}

fn encode(batch: &RecordBatch, format: ResultFormat, max_rows: usize, max_bytes: usize) -> Encoded {
    encode_batches(&batch.schema(), std::slice::from_ref(batch), format, max_rows, max_bytes, None)
}

/// The whole result as JSON text.
fn json(batch: &RecordBatch) -> String {
    let encoded = encode(batch, ResultFormat::Json, usize::MAX, usize::MAX);
    assert_eq!(encoded.truncated_by, None);
    assert_eq!(encoded.row_count, batch.num_rows());
    encoded.payload
}

/// The text of the rows, without what stands around them.
fn rows_text(columns: Vec<(&str, ArrayRef)>) -> String {
    let payload = json(&batch(columns));
    let start = payload.find("\"rows\":").unwrap() + 7;
    let end = payload.rfind(",\"row_count\"").unwrap();
    payload[start..end].to_string()
}

/// The values of one column, as the text of a JSON array.
fn column_text(array: ArrayRef) -> String {
    let rows = rows_text(vec![("c", array)]);
    let values: Vec<Value> = serde_json::from_str(&rows).unwrap();
    assert!(values.iter().all(|row| row.as_array().unwrap().len() == 1));
    rows
}
