//! Delimited text → records with the line each of them starts on.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::FileName;
use super::text::{Text, not_utf8};
use crate::error::Error;

/// The characters that structure the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    pub(crate) quote: u8,
    pub(crate) escape: Option<u8>,
    pub(crate) comment: Option<u8>,
}

/// No record is longer; an open quote would otherwise take the rest of the file into memory.
const MAX_RECORD: usize = 256 << 20;

/// Reads records one by one. Blank lines and comments are skipped; `\n`, `\r\n` and `\r` end a record.
pub(crate) struct CsvRecords {
    text: Text,
    name: FileName,
    reader: Reader,
    /// Line breaks consumed so far.
    breaks: u64,
    ended: bool,
}

/// Records one after another: their unescaped fields in one buffer.
#[derive(Default)]
pub(crate) struct Rows {
    data: Vec<u8>,
    data_len: usize,
    /// Where each field ends in `data`.
    ends: Vec<usize>,
    ends_len: usize,
    /// For each record: where its fields end in `ends`, and the line break before which it ends.
    rows: Vec<(usize, u64)>,
}

impl CsvRecords {
    pub(crate) fn new(text: Text, name: FileName, dialect: Dialect) -> Self {
        let reader = ReaderBuilder::new()
            .delimiter(dialect.delimiter)
            .quote(dialect.quote)
            .escape(dialect.escape)
            .double_quote(dialect.escape.is_none_or(|escape| escape == dialect.quote))
            .comment(dialect.comment)
            .build();
        Self { text, name, reader, breaks: 0, ended: false }
    }

    /// Appends the next record; `false` at the end.
    ///
    /// # Errors
    /// If the file cannot be read, or a quote stays open.
    pub(crate) fn read(&mut self, rows: &mut Rows) -> Result<bool, Error> {
        let (data_start, ends_start) = (rows.data_len, rows.ends_len);
        let mut last = 0;
        while !self.ended {
            rows.reserve();
            let input = self.text.fill()?;
            let at_end = input.is_empty();
            // A line break of our own ends the last record, unless a quote is open, which then takes it in.
            let input = if at_end { b"\n" } else { input };
            let (result, taken, written, fields) =
                self.reader.read_record(input, &mut rows.data[rows.data_len..], &mut rows.ends[rows.ends_len..]);
            if taken > 0 {
                last = input[taken - 1];
                self.breaks += input[..taken].iter().filter(|&&byte| byte == b'\n').count() as u64;
            }
            if at_end {
                self.ended = taken > 0;
            } else {
                self.text.consume(taken);
            }
            rows.data_len += written;
            for end in &mut rows.ends[rows.ends_len..rows.ends_len + fields] {
                *end += data_start;
            }
            rows.ends_len += fields;
            match result {
                ReadRecordResult::Record => {
                    rows.rows.push((rows.ends_len, self.breaks - u64::from(last == b'\n')));
                    return Ok(true);
                }
                ReadRecordResult::End => self.ended = true,
                ReadRecordResult::InputEmpty if at_end && written > 0 => {
                    let breaks =
                        rows.data[data_start..rows.data_len].iter().filter(|&&byte| byte == b'\n').count() as u64;
                    return Err(self.name.execution(&format!(
                        "has a quote that is never closed in the record on line {}; correct the line, or set the option \
                         `quote`",
                        1 + self.breaks.saturating_sub(breaks)
                    )));
                }
                ReadRecordResult::InputEmpty | ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
            }
            if rows.data_len - data_start > MAX_RECORD {
                return Err(self.name.execution(&format!(
                    "has a record of more than {} MiB that ends after line {}; a quote may be open, or the `delimiter` \
                     be another",
                    MAX_RECORD >> 20,
                    self.breaks
                )));
            }
        }
        rows.data_len = data_start;
        rows.ends_len = ends_start;
        Ok(false)
    }
}

impl Rows {
    /// Room for the next step of the reader. What was there stays, so clearing costs nothing.
    fn reserve(&mut self) {
        if self.data.len() < self.data_len + 4096 {
            self.data.resize((self.data.len() * 2).max(self.data_len + 64 * 1024), 0);
        }
        if self.ends.len() < self.ends_len + 64 {
            self.ends.resize((self.ends.len() * 2).max(self.ends_len + 4096), 0);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.data_len = 0;
        self.ends_len = 0;
        self.rows.clear();
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of all fields.
    pub(crate) fn bytes(&self) -> usize {
        self.data_len
    }

    /// The number of fields of a record.
    pub(crate) fn width(&self, row: usize) -> usize {
        self.rows[row].0 - self.first_field(row)
    }

    /// The line on which a record starts, from 1.
    pub(crate) fn line(&self, row: usize) -> u64 {
        let (start, end) = (self.field_start(self.first_field(row)), self.rows[row].0);
        let inside = match end.checked_sub(1) {
            Some(last) => self.data[start..self.ends[last]].iter().filter(|&&byte| byte == b'\n').count() as u64,
            None => 0,
        };
        (1 + self.rows[row].1).saturating_sub(inside)
    }

    /// The bytes of a field; empty if the record has no such field.
    pub(crate) fn field(&self, row: usize, column: usize) -> &[u8] {
        if column >= self.width(row) {
            return &[];
        }
        let at = self.first_field(row) + column;
        &self.data[self.field_start(at)..self.ends[at]]
    }

    /// All fields as text.
    ///
    /// # Errors
    /// Says on which line they are not UTF-8.
    pub(crate) fn check_utf8(&self) -> Result<(), String> {
        let Err(error) = std::str::from_utf8(&self.data[..self.data_len]) else { return Ok(()) };
        let at = error.valid_up_to();
        let row = self.rows.partition_point(|(ends, _)| ends.checked_sub(1).is_some_and(|last| self.ends[last] <= at));
        Err(not_utf8(self.line(row.min(self.len().saturating_sub(1)))))
    }

    fn first_field(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.rows[before].0)
    }

    fn field_start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before])
    }
}
