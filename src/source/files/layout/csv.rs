//! CSV and TSV: header, guessed types, batches.
//!
//! Every file is read from its first byte to its last by one reader, since a line break in a quoted field cannot be
//! told from the end of a record in the middle of a file. A record with more or fewer fields than the header is an
//! error with its line (empty fields after the last column are let pass). An empty field is null, as in DataFusion.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringBuilder, new_null_array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::parsers::CompressionTypeVariant as Compression;

use super::csv_records::{CsvRecords, Dialect, Rows};
use super::guess::Guess;
use super::text::Text;
use super::{Batches, FileName, Input, Wanted};
use crate::error::Error;
use crate::source::files::convert::parse;
use crate::source::files::names::{compression_of, is_tsv};
use crate::source::files::place::first_line;
use crate::source::options::TextOptions;

/// A batch is cut when its fields have this many bytes, so that long records do not add up.
const BATCH_BYTES: usize = 8 << 20;

/// What is known of a file before its records are read.
#[derive(Debug)]
pub(crate) struct CsvLayout {
    dialect: Dialect,
    compression: Compression,
    has_header: bool,
    null: Option<String>,
    /// The columns' distinct names in the file's order.
    names: Vec<String>,
}

/// The head of a file: its layout, the guessed types, and how many records they rest on.
pub(crate) struct CsvHead {
    pub(crate) layout: CsvLayout,
    pub(crate) schema: SchemaRef,
    pub(crate) records: usize,
}

/// Reads header and sample. `None` if there is nothing but blank lines and comments.
///
/// Columns without a name are `column_N`; repeated names get `_2`, `_3`, ….
///
/// # Errors
/// If the file cannot be read or is not UTF-8.
pub(crate) fn infer(
    name: &FileName,
    file_name: &str,
    options: &TextOptions,
    input: Box<dyn Input>,
) -> Result<Option<CsvHead>, Error> {
    let compression = options.compression.unwrap_or_else(|| compression_of(file_name));
    let dialect = Dialect {
        delimiter: options.delimiter.unwrap_or(if is_tsv(file_name) { b'\t' } else { b',' }),
        quote: options.quote,
        escape: options.escape,
        comment: options.comment,
    };
    let text = Text::open(name, compression, input)?;
    let mut records = CsvRecords::new(text, name.clone(), dialect);
    let mut rows = Rows::default();
    if !records.read(&mut rows)? {
        return Ok(None);
    }
    rows.check_utf8().map_err(|why| name.unavailable(&why))?;
    let field = |rows: &Rows, at: usize| String::from_utf8_lossy(rows.field(0, at)).into_owned();
    let header = (0..rows.width(0)).map(|at| if options.has_header { field(&rows, at) } else { String::new() });
    let names = distinct(header.collect());

    let mut guesses = vec![Guess::Nothing; names.len()];
    let mut seen = 0;
    if options.has_header {
        rows.clear();
    }
    loop {
        if rows.len() == 0 && !(seen < options.infer_records && records.read(&mut rows)?) {
            break;
        }
        rows.check_utf8().map_err(|why| name.unavailable(&why))?;
        seen += 1;
        for (at, guess) in guesses.iter_mut().enumerate() {
            let text = std::str::from_utf8(rows.field(0, at)).unwrap_or_default();
            if *guess != Guess::Text && options.null.as_deref() != Some(text) {
                *guess = guess.or(Guess::of(text));
            }
        }
        rows.clear();
    }
    let fields: Vec<Field> = names
        .iter()
        .zip(&guesses)
        .map(|(name, guess)| Field::new(name, guess.data_type().unwrap_or(DataType::Null), true))
        .collect();
    let layout = CsvLayout { dialect, compression, has_header: options.has_header, null: options.null.clone(), names };
    Ok(Some(CsvHead { layout, schema: Arc::new(Schema::new(fields)), records: seen }))
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let given: HashSet<String> = names.iter().cloned().collect();
    let mut taken: HashSet<String> = HashSet::with_capacity(names.len());
    names
        .into_iter()
        .enumerate()
        .map(|(at, name)| {
            let blank = name.trim().is_empty();
            let base = if blank { format!("column_{}", at + 1) } else { name };
            let (mut chosen, mut number) = (base.clone(), 1);
            // A made-up name must not take one that the header has.
            while taken.contains(&chosen) || ((blank || number > 1) && given.contains(&chosen)) {
                number += 1;
                chosen = format!("{base}_{number}");
            }
            taken.insert(chosen.clone());
            chosen
        })
        .collect()
}

/// The records as batches of the wanted columns.
///
/// # Errors
/// If the head of the file cannot be read.
pub(crate) fn read(
    name: &FileName,
    layout: &CsvLayout,
    input: Box<dyn Input>,
    wanted: Wanted,
) -> Result<Batches, Error> {
    let text = Text::open(name, layout.compression, input)?;
    let columns =
        wanted.schema.fields().iter().map(|field| layout.names.iter().position(|n| n == field.name())).collect();
    Ok(Box::new(CsvBatches {
        records: CsvRecords::new(text, name.clone(), layout.dialect),
        name: name.clone(),
        width: layout.names.len(),
        skip_header: layout.has_header,
        null: layout.null.clone(),
        columns,
        wanted,
        rows: Rows::default(),
        ended: false,
    }))
}

struct CsvBatches {
    records: CsvRecords,
    name: FileName,
    width: usize,
    skip_header: bool,
    null: Option<String>,
    /// For each wanted column its place in the file.
    columns: Vec<Option<usize>>,
    wanted: Wanted,
    rows: Rows,
    ended: bool,
}

impl Iterator for CsvBatches {
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

impl CsvBatches {
    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        self.rows.clear();
        if std::mem::take(&mut self.skip_header) {
            self.records.read(&mut self.rows)?;
            self.rows.clear();
        }
        while self.rows.len() < self.wanted.batch_size && self.rows.bytes() < BATCH_BYTES {
            if !self.records.read(&mut self.rows)? {
                self.ended = true;
                break;
            }
            self.check_width(self.rows.len() - 1)?;
        }
        if self.rows.len() == 0 {
            return Ok(None);
        }
        self.rows.check_utf8().map_err(|why| self.name.execution(&why))?;
        let fields = Arc::clone(&self.wanted.schema);
        let columns = fields
            .fields()
            .iter()
            .zip(&self.columns)
            .map(|(field, column)| match column {
                Some(column) => self.column(field, *column),
                None => Ok(new_null_array(field.data_type(), self.rows.len())),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows.len()));
        RecordBatch::try_new_with_options(fields, columns, &options)
            .map(Some)
            .map_err(|error| self.name.execution(&format!("cannot be read ({})", first_line(&error))))
    }

    fn check_width(&self, row: usize) -> Result<(), Error> {
        let width = self.rows.width(row);
        let only_empty_ones_more =
            width > self.width && (self.width..width).all(|at| self.rows.field(row, at).is_empty());
        if width == self.width || only_empty_ones_more {
            return Ok(());
        }
        let fields = |count: usize| if count == 1 { "1 field".to_owned() } else { format!("{count} fields") };
        Err(self.name.execution(&format!(
            "has {} on line {}, but {} in its first line; correct the line, or check the options `delimiter` and `quote`",
            fields(width),
            self.rows.line(row),
            fields(self.width)
        )))
    }

    fn column(&self, field: &Field, column: usize) -> Result<ArrayRef, Error> {
        let mut texts = StringBuilder::with_capacity(self.rows.len(), self.rows.bytes() / self.width.max(1));
        let null = self.null.as_deref().map(str::as_bytes);
        for row in 0..self.rows.len() {
            let bytes = self.rows.field(row, column);
            if bytes.is_empty() || null == Some(bytes) {
                texts.append_null();
            } else {
                // The whole buffer is UTF-8; a delimiter is ASCII, so a field cannot begin within a character.
                texts.append_value(std::str::from_utf8(bytes).unwrap_or_default());
            }
        }
        let guessed = !self.wanted.stated.contains(field.name());
        match parse(&texts.finish(), field.data_type(), guessed) {
            Ok(Ok(array)) => Ok(array),
            Ok(Err(bad)) => {
                let line = bad.row.map_or(0, |row| self.rows.line(row));
                Err(self.name.execution(&format!(
                    "has `{}` on line {line} in column `{name}`, which is {} by {}; read the column as text with \
                     `columns = {{ {name} = \"Utf8\" }}`",
                    bad.text,
                    bad.data_type,
                    if guessed { "its first records" } else { "the source's `columns`" },
                    name = toml_key(field.name())
                )))
            }
            Err(error) => Err(self.name.execution(&format!(
                "cannot give column `{}` as {} ({})",
                field.name(),
                field.data_type(),
                first_line(&error)
            ))),
        }
    }
}

/// A column's name as a TOML key.
pub(crate) fn toml_key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare { name.to_owned() } else { format!("{name:?}") }
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn names_become_distinct() {
        let names = |names: &[&str]| distinct(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(names(&["value", "value", ""]), ["value", "value_2", "column_3"]);
        assert_eq!(names(&["a", "a", "a_2", "a"]), ["a", "a_3", "a_2", "a_4"]);
        assert_eq!(names(&["", "column_1", " "]), ["column_1_2", "column_1", "column_3"]);
    }
}
