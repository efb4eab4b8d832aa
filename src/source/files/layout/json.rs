//! NDJSON and JSON arrays: guessed types, batches.
//!
//! Numbers are decoded as the digits they are written with and read as the column's type from there, since the decoder
//! itself would round them in silence. Keys that the schema does not have are left out.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::json::ReaderBuilder;
use datafusion::arrow::json::reader::Decoder;
use datafusion::common::parsers::CompressionTypeVariant as Compression;
use serde_json::Value;

use super::csv::toml_key;
use super::json_guess::Keys;
use super::json_records::{JsonRecords, Values};
use super::text::{Text, not_utf8};
use super::{Batches, FileName, Input, Wanted};
use crate::error::{Error, ErrorCode};
use crate::source::files::convert::{as_text, parse_nested};
use crate::source::files::names::compression_of;
use crate::source::files::place::first_line;
use crate::source::options::TextOptions;

/// A batch is cut when its values have this many bytes.
const BATCH_BYTES: usize = 8 << 20;

/// What is known of a file before its values are read.
#[derive(Debug)]
pub(crate) struct JsonLayout {
    compression: Compression,
}

/// The head of a file.
pub(crate) struct JsonHead {
    pub(crate) layout: JsonLayout,
    pub(crate) schema: SchemaRef,
    pub(crate) records: usize,
}

/// Reads the sample. `None` if there is no value at all.
///
/// # Errors
/// If the file cannot be read, a value is no object, or two values of a key have no common type; with the line.
pub(crate) fn infer(
    name: &FileName,
    file_name: &str,
    options: &TextOptions,
    stated: &BTreeSet<String>,
    input: Box<dyn Input>,
) -> Result<Option<JsonHead>, Error> {
    let compression = options.compression.unwrap_or_else(|| compression_of(file_name));
    let mut records = JsonRecords::new(Text::open(name, compression, input)?, name.clone());
    let mut values = Values::default();
    let mut keys = Keys::default();
    let mut seen = 0;
    while seen < options.infer_records && records.read(&mut values)? {
        for (value, line) in values.iter() {
            let record = object(value, line).map_err(|why| name.unavailable(&why))?;
            keys.add(&record, |key| stated.contains(key)).map_err(|conflict| {
                let column = conflict.path.split('.').next().unwrap_or_default();
                // Objects and arrays are not read as text, so that would be no way out.
                let nested = |kind: &str| kind == "an object" || kind == "an array";
                let way_out = if nested(conflict.now) || nested(conflict.before) {
                    "correct the line, or split such records into a table of their own".to_owned()
                } else {
                    format!(
                        "read the column as text with `columns = {{ {} = \"Utf8\" }}`, or correct the line",
                        toml_key(column)
                    )
                };
                name.unavailable(&format!(
                    "has {} on line {line} in `{}`, which is {} before; {way_out}",
                    conflict.now, conflict.path, conflict.before
                ))
            })?;
        }
        values.clear();
        seen += 1;
    }
    if seen == 0 {
        return Ok(None);
    }
    let schema = Arc::new(Schema::new(keys.fields()));
    Ok(Some(JsonHead { layout: JsonLayout { compression }, schema, records: seen }))
}

/// Reads one value as an object, or says why not.
fn object(value: &[u8], line: u64) -> Result<serde_json::Map<String, Value>, String> {
    if let Err(error) = std::str::from_utf8(value) {
        let before = value[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() as u64;
        return Err(not_utf8(line + before));
    }
    match serde_json::from_slice::<Value>(value) {
        Ok(Value::Object(record)) => Ok(record),
        Ok(other) => {
            let what = match other {
                Value::Array(_) => "an array",
                Value::String(_) => "a string",
                Value::Null => "null",
                Value::Bool(_) => "a boolean",
                _ => "a number",
            };
            Err(format!(
                "has {what} on line {line} where a record is due; a record is an object: `{{\"column\":value}}`"
            ))
        }
        Err(error) => {
            let at = line + u64::try_from(error.line()).unwrap_or(1).saturating_sub(1);
            let text = error.to_string();
            let why = text.split(" at line ").next().unwrap_or_default();
            Err(format!("is not valid JSON on line {at} ({why}); correct the line, or check the source's `format`"))
        }
    }
}

/// The values as batches of the wanted columns.
///
/// # Errors
/// If the head of the file cannot be read, or a column cannot be read from JSON.
pub(crate) fn read(
    name: &FileName,
    layout: &JsonLayout,
    input: Box<dyn Input>,
    wanted: Wanted,
) -> Result<Batches, Error> {
    let text = Text::open(name, layout.compression, input)?;
    let fields: Vec<Field> = wanted
        .schema
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_data_type(as_text(field.data_type())).with_nullable(true))
        .collect();
    Ok(Box::new(JsonBatches {
        records: JsonRecords::new(text, name.clone()),
        name: name.clone(),
        decoded: Arc::new(Schema::new(fields)),
        wanted,
        values: Values::default(),
        ended: false,
    }))
}

struct JsonBatches {
    records: JsonRecords,
    name: FileName,
    /// The wanted columns with text in the place of numbers and times.
    decoded: SchemaRef,
    wanted: Wanted,
    values: Values,
    ended: bool,
}

impl Iterator for JsonBatches {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.batch();
        self.ended |= batch.is_err();
        batch.transpose()
    }
}

impl JsonBatches {
    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.values.clear();
        while self.values.ends.len() < self.wanted.batch_size && self.values.data.len() < BATCH_BYTES {
            if !self.records.read(&mut self.values)? {
                self.ended = true;
                break;
            }
            // Values may touch each other: `{}{}`.
            self.values.data.push(b'\n');
            if let Some((end, _)) = self.values.ends.last_mut() {
                *end += 1;
            }
        }
        if self.values.ends.is_empty() {
            return Ok(None);
        }
        let batch = match self.decode(&self.values.data, self.values.ends.len()) {
            Ok(batch) => batch,
            Err(error) => return Err(self.culprit(&error)),
        };
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (column, field) in batch.columns().iter().zip(self.wanted.schema.fields()) {
            let guessed = !self.wanted.stated.contains(field.name());
            match parse_nested(column, field.data_type(), guessed) {
                Ok(Ok(column)) => columns.push(column),
                Ok(Err(bad)) => {
                    let lines = (self.values.ends.first(), self.values.ends.last());
                    let line = match (bad.row.and_then(|row| self.values.ends.get(row)), lines) {
                        (Some((_, line)), _) => format!("line {line}"),
                        (None, (Some((_, from)), Some((_, to)))) => format!("a line from {from} to {to}"),
                        _ => "a line".to_owned(),
                    };
                    return Err(self.name.execution(&format!(
                        "has `{}` on {line} in column `{name}`, which is {} by {}; read the column as text with `columns \
                         = {{ {name} = \"Utf8\" }}`",
                        bad.text,
                        bad.data_type,
                        if guessed { "its first records" } else { "the source's `columns`" },
                        name = toml_key(field.name())
                    )));
                }
                Err(error) => {
                    return Err(self.name.execution(&format!(
                        "cannot give column `{}` as {} ({})",
                        field.name(),
                        field.data_type(),
                        first_line(&error)
                    )));
                }
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.values.ends.len()));
        RecordBatch::try_new_with_options(Arc::clone(&self.wanted.schema), columns, &options)
            .map(Some)
            .map_err(|error| self.name.execution(&format!("cannot be read ({})", first_line(&error))))
    }

    fn decode(&self, data: &[u8], rows: usize) -> Result<RecordBatch, Error> {
        let failed = |error: &dyn std::fmt::Display| Error::new(ErrorCode::Execution, first_line(error));
        let mut decoder = self.decoder(rows).map_err(|error| failed(&error))?;
        let mut at = 0;
        while at < data.len() {
            match decoder.decode(&data[at..]).map_err(|error| failed(&error))? {
                0 => break,
                taken => at += taken,
            }
        }
        match decoder.flush().map_err(|error| failed(&error))? {
            Some(batch) if batch.num_rows() == rows => Ok(batch),
            _ => Err(Error::new(ErrorCode::Execution, "a record is not one JSON object")),
        }
    }

    fn decoder(&self, rows: usize) -> Result<Decoder, datafusion::arrow::error::ArrowError> {
        ReaderBuilder::new(Arc::clone(&self.decoded)).with_batch_size(rows).with_coerce_primitive(true).build_decoder()
    }

    /// Reads the values one by one to find the first that is wrong, and says where it is.
    fn culprit(&self, error: &Error) -> Error {
        for (value, line) in self.values.iter() {
            if let Err(why) = object(value, line) {
                return self.name.execution(&why);
            }
            if let Err(error) = self.decode(value, 1) {
                let why: String = error.message().trim_start_matches("Json error: ").chars().take(200).collect();
                return self.name.execution(&format!(
                    "has a value on line {line} that does not have its column's type ({why}); correct the line, declare \
                     the column's type with `columns`, or raise the option `infer_records`"
                ));
            }
        }
        self.name.execution(&format!("cannot be read ({})", error.message()))
    }
}
