//! The budget is never passed, and no longer prefix would have fitted.

use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::*;
use datafusion_toolset::encode::{Encoded, ResultFormat, TruncatedBy};
use serde_json::Value;

use super::{FORMATS, batch, encode_batches};

/// The text of each row with what stands before it, written alone; and the text before the rows.
fn parts(batch: &RecordBatch, format: ResultFormat) -> (String, Vec<String>) {
    let whole = |batch: &RecordBatch| {
        let slice = std::slice::from_ref(batch);
        encode_batches(&batch.schema(), slice, format, usize::MAX, usize::MAX, None).payload
    };
    let tail = if format == ResultFormat::Json { "],\"row_count\":0}".len() } else { 0 };
    let head = whole(&batch.slice(0, 0));
    let head = head[..head.len() - tail].to_string();
    let rows = (0..batch.num_rows())
        .map(|row| {
            let text = whole(&batch.slice(row, 1));
            let comma = if format == ResultFormat::Json && row > 0 { "," } else { "" };
            format!("{comma}{}", &text[head.len()..text.len() - tail])
        })
        .collect();
    (head, rows)
}

fn whole_tail(format: ResultFormat, rows: usize) -> String {
    if format == ResultFormat::Json { format!("],\"row_count\":{rows}}}") } else { String::new() }
}

/// What stands after the rows of a cut result; `hint` is encoded as it stands in the payload.
fn cut_tail(format: ResultFormat, rows: usize, total: Option<u64>, by: TruncatedBy, hint: &str) -> String {
    let by = by.as_str();
    let text_total = total.map_or(String::new(), |total| format!(", total_rows: {total}"));
    let json_total = total.map_or(String::new(), |total| format!(",\"total_rows\":{total}"));
    match format {
        ResultFormat::Json => {
            format!("],\"row_count\":{rows}{json_total},\"truncated\":true,\"truncated_by\":\"{by}\",\"hint\":{hint}}}")
        }
        ResultFormat::Markdown => format!("\ntruncated: true, truncated_by: {by}{text_total}, hint: {hint}"),
        ResultFormat::Csv => format!("\n# truncated: true, truncated_by: {by}{text_total}, hint: {hint}"),
    }
}

fn hint_of(payload: &str, format: ResultFormat) -> &str {
    if format == ResultFormat::Json {
        let start = payload.rfind(",\"hint\":\"").unwrap() + 8;
        return &payload[start..payload.len() - 1];
    }
    let line = payload.rfind('\n').map_or(0, |at| at + 1);
    &payload[line + payload[line..].find("hint: ").unwrap() + 6..]
}

/// Checks one call against an account of all prefixes; returns what was encoded.
pub(super) fn check_cut(
    batch: &RecordBatch,
    format: ResultFormat,
    max_rows: usize,
    max_bytes: usize,
    total: Option<u64>,
) -> Encoded {
    let (head, rows) = parts(batch, format);
    check_cut_of(batch, (&head, &rows), format, max_rows, max_bytes, total)
}

fn check_cut_of(
    batch: &RecordBatch,
    (head, rows): (&str, &[String]),
    format: ResultFormat,
    max_rows: usize,
    max_bytes: usize,
    total: Option<u64>,
) -> Encoded {
    let encoded = encode_batches(&batch.schema(), std::slice::from_ref(batch), format, max_rows, max_bytes, total);
    let payload = &encoded.payload;
    assert!(payload.len() <= max_bytes, "{} > {max_bytes}", payload.len());
    let length = |count: usize| head.len() + rows[..count].iter().map(String::len).sum::<usize>();
    let prefix = |count: usize| format!("{head}{}", rows[..count].concat());

    let whole_fits = rows.len() <= max_rows && length(rows.len()) + whole_tail(format, rows.len()).len() <= max_bytes;
    if whole_fits {
        assert_eq!(*payload, prefix(rows.len()) + &whole_tail(format, rows.len()));
        assert_eq!((encoded.row_count, encoded.truncated_by), (rows.len(), None));
        return encoded;
    }
    let shown = encoded.row_count;
    let by = encoded.truncated_by.expect("something was left out");
    let hint = hint_of(payload, format);
    let nameless = if format == ResultFormat::Json {
        let parsed: Value = serde_json::from_str(payload).unwrap();
        assert_eq!(parsed["row_count"], shown);
        assert_eq!(parsed["rows"].as_array().unwrap().len(), shown);
        assert_eq!(parsed["truncated"], true);
        assert_eq!(parsed["truncated_by"], by.as_str());
        assert_eq!(parsed.get("total_rows").and_then(Value::as_u64), total);
        parsed.get("column_count").is_some()
    } else {
        payload.trim_start_matches("# ").starts_with("column_count: ")
    };
    assert!(hint.len() <= 282);
    if nameless {
        let names = match format {
            ResultFormat::Json => head.len() - "{\"columns\":,\"rows\":[".len(),
            _ => head.len(),
        };
        assert!(names > max_bytes / 4, "{names} of {max_bytes}");
        assert_eq!((shown, by), (0, TruncatedBy::MaxResultBytes));
    } else {
        assert_eq!(*payload, prefix(shown) + &cut_tail(format, shown, total, by, hint));
        assert_eq!(by == TruncatedBy::MaxRows, shown == max_rows && rows.len() > max_rows);
    }
    // One row more, with its own tail and the same hint, passes the budget. (All rows need none, and did not fit.)
    for more in shown + 1..=max_rows.min(rows.len()) {
        let by_rows = more == max_rows && rows.len() > max_rows;
        let by = if by_rows { TruncatedBy::MaxRows } else { TruncatedBy::MaxResultBytes };
        let needs = if more == rows.len() {
            whole_tail(format, more).len()
        } else {
            cut_tail(format, more, total, by, hint).len()
        };
        assert!(length(more) + needs > max_bytes, "{more} rows fit {max_bytes}, {shown} are shown: {payload}");
    }
    encoded
}

fn sweep(table: &RecordBatch, budgets: impl Iterator<Item = usize> + Clone) {
    for format in FORMATS {
        let (head, rows) = parts(table, format);
        for max_bytes in budgets.clone() {
            for (max_rows, total) in [(usize::MAX, None), (7, Some(12_345)), (rows.len(), Some(u64::MAX))] {
                check_cut_of(table, (&head, &rows), format, max_rows, max_bytes, total);
            }
        }
    }
}

fn wide_budgets() -> impl Iterator<Item = usize> + Clone {
    (0..45).map(|step| 512 + step * step * 36).chain([65_536, 70_000])
}

#[test]
fn wide_tables() {
    let columns: Vec<(String, ArrayRef)> = (0..300)
        .map(|n| {
            let array: ArrayRef = match n % 4 {
                0 => Arc::new(Int64Array::from_iter((0..12).map(|row| (row % 3 != 0).then_some(row * n)))),
                1 => Arc::new(Float64Array::from_iter_values((0..12).map(|row| row as f64 / 7.0))),
                2 => Arc::new(StringArray::from_iter_values((0..12).map(|row| format!("value {row}")))),
                _ => Arc::new(TimestampMicrosecondArray::from_iter_values((0..12).map(|row| row * 1_000_003))),
            };
            (format!("column_{n}"), array)
        })
        .collect();
    let table = batch(columns.iter().map(|(name, array)| (name.as_str(), array.clone())).collect());
    sweep(&table, wide_budgets());
}

#[test]
fn texts_of_many_bytes_and_escapes() {
    for text in ["🎉", "\u{1}", "\"\\", "日本語\u{2028}|", "plain text"] {
        let values = (0..60).map(|row| text.repeat(row * row % 40));
        let table = batch(vec![
            ("t", Arc::new(StringArray::from_iter_values(values.clone())) as ArrayRef),
            ("The \"other\" column\u{2028}", Arc::new(StringViewArray::from_iter_values(values))),
        ]);
        sweep(&table, wide_budgets());
    }
}

#[test]
fn nested_tables() {
    let lists = (0..40).map(|row: i64| Some((0..row % 9).map(|n| Some(n * 1_000_000_007_000_000)).collect::<Vec<_>>()));
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>(lists);
    let fields = Fields::from(vec![Field::new("l", list.data_type().clone(), true)]);
    let structs = StructArray::new(fields, vec![Arc::new(list)], None);
    let table = batch(vec![("s", Arc::new(structs) as ArrayRef)]);
    sweep(&table, wide_budgets());
}

#[test]
fn every_budget_of_narrow_rows() {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..400));
    let nulls: ArrayRef = Arc::new(NullArray::new(400));
    let shrinking: ArrayRef = Arc::new(StringArray::from_iter_values((0..60).map(|row| "x".repeat(60 - row))));
    for table in [batch(vec![("id", ids)]), batch(vec![("n", nulls)]), batch(vec![("t", shrinking)])] {
        sweep(&table, 512..700);
        sweep(&table, (512..4_000).step_by(97));
    }
}

/// Columns whose widths and names alternate, so that the hint after one row is shorter than after the next.
#[test]
fn hints_of_uneven_length() {
    let long = "a_rather_long_name_for_a_column";
    let a: ArrayRef = Arc::new(StringArray::from_iter_values((0..200).map(|row| "y".repeat(row % 2 * 12))));
    let b: ArrayRef = Arc::new(StringArray::from_iter_values((0..200).map(|row| "z".repeat((row + 1) % 2 * 12))));
    let table = batch(vec![("a", a), (long, b)]);
    sweep(&table, 512..800);
}

#[test]
fn hints_name_the_widest_columns() {
    let table = batch(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef),
        ("userText", Arc::new(StringArray::from(vec!["a".repeat(400), "b".repeat(900)]))),
        ("note", Arc::new(StringArray::from(vec!["c".repeat(100), "\"".repeat(100)]))),
    ]);
    let encoded = check_cut(&table, ResultFormat::Json, 50, 1_000, None);
    let parsed: Value = serde_json::from_str(&encoded.payload).unwrap();
    assert_eq!(
        parsed["hint"],
        "Row 2 does not fit: \"userText\" takes at least 902 bytes, note 202, id 1. \
         Use left(\"userText\", 200), leave it out, or aggregate."
    );
    let long = "n".repeat(200);
    let table = batch(vec![(long.as_str(), Arc::new(StringArray::from(vec!["a".repeat(4_000)])) as ArrayRef)]);
    for format in FORMATS {
        let encoded = check_cut(&table, format, 50, 1_000, Some(1));
        assert!(encoded.payload.contains("nnn...") && encoded.payload.contains("left(…, 200)"), "{}", encoded.payload);
    }
}
