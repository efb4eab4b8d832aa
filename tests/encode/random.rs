//! Random batches: the JSON read back is what the values say, and the invariants hold whatever the bytes are.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::ipc::writer::StreamWriter;
use proptest::prelude::*;
use serde_json::Value;

use super::budget::check_cut;
use super::model::{Rng, random_batch};
use super::{FORMATS, encode, encode_batches, json};

/// What readers of lines cut at.
const LINE_ENDS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Equal, but for the last bit of a float: `serde_json` reads floats to within one unit in the last place.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) if left.is_f64() || right.is_f64() => {
            match (left.as_f64(), right.as_f64()) {
                (Some(left), Some(right)) => left == right || ((left - right) / right).abs() < 1e-15,
                _ => false,
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|((key, left), (name, right))| key == name && same(left, right))
        }
        _ => left == right,
    }
}

/// The same rows in batches of random sizes, empty ones included.
fn rechunked(batch: &RecordBatch, seed: u64) -> Vec<RecordBatch> {
    let mut rng = Rng(seed);
    let mut chunks = Vec::new();
    let mut at = 0;
    while at < batch.num_rows() {
        let rows = rng.below(4).min(batch.num_rows() - at);
        chunks.push(batch.slice(at, rows));
        at += rows;
    }
    chunks
}

/// The batch as it comes from a file; `None` for what IPC cannot carry.
fn through_ipc(batch: &RecordBatch) -> Option<RecordBatch> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).ok()?;
    writer.write(batch).ok()?;
    writer.finish().ok()?;
    StreamReader::try_new(bytes.as_slice(), None).ok()?.next()?.ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_read_back(seed: u64, columns in 0usize..5, rows in 0usize..10, depth in 0usize..4) {
        let (batch, expected) = random_batch(seed, columns, rows, depth);
        let payload = json(&batch);
        let parsed: Value = serde_json::from_str(&payload).unwrap();
        let expected = Value::Array(expected);
        prop_assert!(same(&parsed["rows"], &expected), "{}\n{}", parsed["rows"], expected);
        prop_assert!(!payload.contains(LINE_ENDS), "{}", payload);
    }

    #[test]
    fn batch_boundaries_do_not_show(
        seed: u64, columns in 0usize..5, rows in 0usize..20, depth in 0usize..3,
        max_rows in 0usize..25, max_bytes in 512usize..3_000,
    ) {
        let (batch, _) = random_batch(seed, columns, rows, depth);
        for format in FORMATS {
            let one = encode(&batch, format, max_rows, max_bytes);
            let chunks = rechunked(&batch, seed);
            let many = encode_batches(&batch.schema(), &chunks, format, max_rows, max_bytes, None);
            prop_assert_eq!(one.payload, many.payload);
            prop_assert_eq!(one.truncated_by, many.truncated_by);
        }
    }

    /// The body of a fuzz target: whatever a file holds, the invariants hold.
    #[test]
    fn invariants(
        seed: u64, columns in 0usize..6, rows in 0usize..30, depth in 0usize..4,
        max_rows in 0usize..35, max_bytes in 512usize..6_000, total: Option<u64>,
    ) {
        let (batch, _) = random_batch(seed, columns, rows, depth);
        let batch = through_ipc(&batch).unwrap_or(batch);
        for format in FORMATS {
            check_cut(&batch, format, max_rows, max_bytes, total);
        }
    }
}
