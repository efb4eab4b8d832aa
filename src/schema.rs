//! Arrow schema → bounded summary, and the other lists of names that have to fit: tables and checked columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, UnionFields};

use crate::encode::TruncatedBy;
use crate::error::{Error, MAX_ERROR_BYTES};
use crate::ident;
use crate::json;
use crate::result::{Column, SchemaResult, TablesResult};

/// Types that a histogram names; the rest is counted under `(other)`.
const HISTOGRAM_TYPES: usize = 20;
/// Names that a summary shows as a sample.
const SAMPLE_COLUMNS: usize = 20;

/// What is known about a table beside its Arrow schema.
#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    /// Columns that come from folder names.
    pub(crate) partition_columns: &'a [String],
    /// Records that a guessed schema rests on.
    pub(crate) inferred_from: Option<usize>,
}

/// A type as the tools write it. The view layouts are the engine's own business: they read as what they hold.
pub(crate) fn type_text(data_type: &DataType) -> String {
    logical(data_type).to_string()
}

fn logical(data_type: &DataType) -> Cow<'_, DataType> {
    fn field(field: &FieldRef) -> FieldRef {
        Arc::new(Field::new(field.name(), logical(field.data_type()).into_owned(), field.is_nullable()))
    }
    Cow::Owned(match data_type {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::ListView(item) => DataType::ListView(field(item)),
        DataType::LargeListView(item) => DataType::LargeListView(field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(field(item), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect::<Fields>()),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        DataType::Union(members, mode) => {
            let members: UnionFields = members.iter().map(|(id, member)| (id, field(member))).collect();
            DataType::Union(members, *mode)
        }
        DataType::Dictionary(key, value) => DataType::Dictionary(key.clone(), Box::new(logical(value).into_owned())),
        DataType::RunEndEncoded(ends, values) => DataType::RunEndEncoded(Arc::clone(ends), field(values)),
        _ => return Cow::Borrowed(data_type),
    })
}

/// The answer of `get_schema`.
pub(crate) fn summary(
    schema: &Schema,
    facts: &Facts<'_>,
    name_contains: Option<&str>,
    max_columns: usize,
    max_bytes: usize,
) -> SchemaResult {
    let mut tail = Vec::new();
    let mut columns: Vec<Listing<'_>> = Vec::new();
    match name_contains {
        None => columns.extend(schema.fields().iter().map(Listing::column)),
        Some(text) => {
            let needle = text.to_lowercase();
            for field in schema.fields() {
                if field.name().to_lowercase().contains(&needle) {
                    columns.push(Listing::column(field));
                }
                nested(&mut columns, field, &ident::quote(field.name()), &needle);
            }
            tail.extend_from_slice(b",\"name_contains\":");
            json::write_str_within(&mut tail, text, 128);
            tail.extend_from_slice(format!(",\"total_columns\":{}", schema.fields().len()).as_bytes());
        }
    }
    if let Some(records) = facts.inferred_from {
        tail.extend_from_slice(format!(",\"inferred_from\":{records}").as_bytes());
    }

    let mut cut = TruncatedBy::MaxColumns;
    if columns.len() <= max_columns {
        cut = TruncatedBy::MaxResultBytes;
        let mut out = b"{\"columns\":[".to_vec();
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            column.write(&mut out, facts);
            if out.len() > max_bytes {
                break;
            }
        }
        out.extend_from_slice(format!("],\"column_count\":{}", columns.len()).as_bytes());
        out.extend_from_slice(&tail);
        out.push(b'}');
        if out.len() <= max_bytes {
            return SchemaResult { payload: text(out), column_count: columns.len(), truncated_by: None };
        }
    }
    let payload = summed_up(&columns, &tail, cut, name_contains.is_some(), max_bytes);
    SchemaResult { payload: text(payload), column_count: columns.len(), truncated_by: Some(cut) }
}

/// A column, or a field within one, as it is listed.
struct Listing<'a> {
    field: &'a FieldRef,
    /// The expression that selects a nested field.
    expression: Option<String>,
}

impl<'a> Listing<'a> {
    fn column(field: &'a FieldRef) -> Self {
        Self { field, expression: None }
    }

    fn name(&self) -> &str {
        self.expression.as_deref().unwrap_or(self.field.name())
    }

    fn write(&self, out: &mut Vec<u8>, facts: &Facts<'_>) {
        out.extend_from_slice(b"{\"name\":");
        json::write_str(out, self.name());
        out.extend_from_slice(b",\"type\":");
        json::write_str(out, &type_text(self.field.data_type()));
        if self.expression.is_none() {
            if let Cow::Owned(quoted) = ident::quote(self.field.name()) {
                out.extend_from_slice(b",\"sql\":");
                json::write_str(out, &quoted);
            }
            if facts.partition_columns.contains(self.field.name()) {
                out.extend_from_slice(b",\"partition\":true");
            }
            if let Some(description) = self.field.metadata().get("description").or(self.field.metadata().get("comment"))
            {
                out.extend_from_slice(b",\"description\":");
                json::write_str_within(out, description, 512);
            }
        }
        if !self.field.is_nullable() {
            out.extend_from_slice(b",\"nullable\":false");
        }
        out.push(b'}');
    }
}

/// Fields inside structs whose name matches, by the expression that selects them.
fn nested<'a>(found: &mut Vec<Listing<'a>>, field: &'a FieldRef, expression: &str, needle: &str) {
    let DataType::Struct(fields) = field.data_type() else { return };
    for inner in fields {
        let expression = format!("{expression}['{}']", inner.name().replace('\'', "''"));
        if inner.name().to_lowercase().contains(needle) {
            found.push(Listing { field: inner, expression: Some(expression.clone()) });
        }
        nested(found, inner, &expression, needle);
    }
}

/// What stands in for a list that is too long: histogram and sample are dropped, in that order, when they do not fit.
fn summed_up(columns: &[Listing<'_>], tail: &[u8], cut: TruncatedBy, filtered: bool, max_bytes: usize) -> Vec<u8> {
    let mut head = format!("{{\"column_count\":{}", columns.len()).into_bytes();
    head.extend_from_slice(tail);
    head.extend_from_slice(
        format!(
            ",\"truncated\":true,\"truncated_by\":\"{}\",\"hint\":\"{}\"",
            cut.as_str(),
            if filtered {
                "call get_schema with a longer name_contains to see fewer columns with their types"
            } else {
                "call get_schema with name_contains, a part of a column's name, to see its columns with their types"
            }
        )
        .as_bytes(),
    );
    let histogram = histogram(columns);
    let room = max_bytes.saturating_sub(head.len() + 1);
    let sample = sample(columns, room);
    let parts: &[&[u8]] = if histogram.len() + sample.len() <= room {
        &[&histogram, &sample]
    } else if sample.len() <= room {
        &[&sample]
    } else {
        &[]
    };
    for part in parts {
        head.extend_from_slice(part);
    }
    head.push(b'}');
    head
}

fn histogram(columns: &[Listing<'_>]) -> Vec<u8> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for column in columns {
        *counts.entry(type_text(column.field.data_type())).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if counts.len() > HISTOGRAM_TYPES {
        let other = counts.split_off(HISTOGRAM_TYPES);
        counts.push(("(other)".to_owned(), other.iter().map(|(_, count)| count).sum()));
    }
    let mut out = b",\"type_histogram\":{".to_vec();
    for (index, (name, count)) in counts.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json::write_str(&mut out, name);
        out.extend_from_slice(format!(":{count}").as_bytes());
    }
    out.push(b'}');
    out
}

/// The first names, as many as fit; spread over the table they would not show how its names are made.
fn sample(columns: &[Listing<'_>], room: usize) -> Vec<u8> {
    let mut out = b",\"sample_columns\":[".to_vec();
    for (index, column) in columns.iter().take(SAMPLE_COLUMNS).enumerate() {
        let end = out.len();
        if index > 0 {
            out.push(b',');
        }
        json::write_str(&mut out, column.name());
        if out.len() + 1 > room {
            out.truncate(end);
            break;
        }
    }
    out.push(b']');
    out
}

/// The answer of `list_tables`: `tables` as SQL takes their names, each with its description.
pub(crate) fn table_list(
    tables: Vec<(String, Option<&str>)>,
    name_contains: Option<&str>,
    max_bytes: usize,
) -> TablesResult {
    let mut out = b"{\"tables\":[".to_vec();
    let mut ends = Vec::with_capacity(tables.len());
    for (index, (name, _)) in tables.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        json::write_str(&mut out, name);
        ends.push(out.len());
        if out.len() > max_bytes {
            break;
        }
    }
    let count = format!("],\"table_count\":{}", tables.len());
    let mut descriptions = Vec::new();
    for (name, description) in &tables {
        if let Some(description) = description {
            descriptions.extend_from_slice(if descriptions.is_empty() { b",\"descriptions\":{" } else { b"," });
            json::write_str(&mut descriptions, name);
            descriptions.push(b':');
            json::write_str(&mut descriptions, description);
        }
    }
    if !descriptions.is_empty() {
        descriptions.push(b'}');
    }
    let names = tables.into_iter().map(|(name, _)| name).collect();
    if ends.last().copied().unwrap_or(out.len()) + count.len() + descriptions.len() < max_bytes {
        out.extend_from_slice(count.as_bytes());
        out.extend_from_slice(&descriptions);
        out.push(b'}');
        return TablesResult { payload: text(out), tables: names, truncated_by: None };
    }
    let hint = if name_contains.is_some() {
        "call list_tables with a longer name_contains to see fewer tables"
    } else {
        "call list_tables with name_contains, a part of a table's name, to see the rest and the descriptions"
    };
    let end = format!("{count},\"truncated\":true,\"truncated_by\":\"max_result_bytes\",\"hint\":\"{hint}\"}}");
    let keep = ends.iter().rev().find(|keep| **keep + end.len() <= max_bytes);
    out.truncate(keep.copied().unwrap_or(b"{\"tables\":[".len()));
    out.extend_from_slice(end.as_bytes());
    TablesResult { payload: text(out), tables: names, truncated_by: Some(TruncatedBy::MaxResultBytes) }
}

/// The answer of `check_query` for a statement that is valid.
pub(crate) fn checked(columns: &[Column], max_bytes: usize) -> String {
    let mut out = b"{\"valid\":true,\"columns\":[".to_vec();
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"name\":");
        json::write_str(&mut out, &column.name);
        out.extend_from_slice(b",\"type\":");
        json::write_str(&mut out, &column.data_type);
        out.push(b'}');
        if out.len() > max_bytes {
            break;
        }
    }
    out.extend_from_slice(b"]}");
    if out.len() > max_bytes {
        out = format!(
            "{{\"valid\":true,\"column_count\":{},\"truncated\":true,\"truncated_by\":\"max_result_bytes\",\
             \"hint\":\"the columns do not fit; name fewer of them in SELECT\"}}",
            columns.len()
        )
        .into_bytes();
    }
    text(out)
}

/// The answer of `check_query` for a statement that is refused.
pub(crate) fn refused(error: &Error, max_bytes: usize) -> String {
    let mut out = b"{\"valid\":false,".to_vec();
    let mut payload = Vec::new();
    // The error's own object, opened one brace earlier.
    error.write(max_bytes.min(MAX_ERROR_BYTES) - out.len() + 1, &mut payload);
    out.extend_from_slice(&payload[1..]);
    text(out)
}

/// The writers only append whole characters, so this never replaces anything.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
