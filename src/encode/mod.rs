//! Arrow batches → the text of a result, row by row under a byte budget. Knows Arrow alone.
//!
//! An [`Encoder`] takes batches until it says that the payload is [decided](Progress::Decided), and then
//! [finishes](Encoder::finish) it. What it writes is the contract's "query" section; how each Arrow type is written is
//! its value table:
//!
//! | Arrow type | JSON |
//! |---|---|
//! | integers | number; outside ±(2^53 − 1) a string of digits |
//! | floats | shortest number that reads back, in the column's own width; `"NaN"`, `"Infinity"`, `"-Infinity"` |
//! | decimals | string with every digit and the scale: `"1.10"`; a negative scale is written out: `"12300"` |
//! | text | string; U+0085, U+2028 and U+2029 are escaped as well |
//! | binary | string of lowercase hex |
//! | dates | `"2024-02-29"`; Date64 too, whatever is left of its day |
//! | times | `"13:45:01.25"`: seconds always, a fraction without its last zeros |
//! | timestamps | `"2024-02-29T13:45:01.25"`; `+01:00` or `Z` when there is a zone; an unknown zone is taken as UTC |
//! | any of these three outside the calendar (years -262143 to 262142) or the day | the stored integer |
//! | durations, intervals | ISO 8601, a sign per component: months as `Y` and `M`, days as `D`, time as `H`, `M`, `S` |
//! | lists of any layout | array |
//! | struct | object with every field; an array of `[name,value]` when two fields share a name |
//! | map | object when the keys are strings and distinct in that value; else an array of `[key,value]` |
//! | union, dictionary, run-end encoded | the value that is meant |
//! | null of any type | `null` |
//!
//! Markdown and CSV write the same text without JSON's quotes around it, and nested values as their JSON. A null is
//! `NULL` in Markdown and nothing at all in CSV, where an empty text is `""`. Lines end in LF; nothing follows the last.

mod budget;
mod hint;
mod out;
mod text;
mod value;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Fields, Schema};

use crate::error::ConfigError;
use budget::{Cut, Ending, Frame, RowEnds};
use hint::{Widest, Width};
use out::Out;
use value::Cell;

/// What cut an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TruncatedBy {
    /// `max_rows`.
    MaxRows,
    /// `max_result_bytes`.
    MaxResultBytes,
    /// `max_columns`; of `get_schema` only.
    MaxColumns,
}

impl TruncatedBy {
    /// The limit's name, as the payload writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxRows => "max_rows",
            Self::MaxResultBytes => "max_result_bytes",
            Self::MaxColumns => "max_columns",
        }
    }
}

/// The text that `query` answers in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ResultFormat {
    /// Columns once, rows positional.
    #[default]
    Json,
    /// A table in pipe syntax.
    Markdown,
    /// RFC 4180 with a header line.
    Csv,
}

impl std::str::FromStr for ResultFormat {
    type Err = ConfigError;

    /// Reads `json`, `markdown` or `csv`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "json" => Ok(Self::Json),
            "markdown" => Ok(Self::Markdown),
            "csv" => Ok(Self::Csv),
            _ => Err(ConfigError::new(format!("`{text}` is no format; it can be `json`, `markdown` or `csv`"))),
        }
    }
}

/// Whether an [`Encoder`] can use another batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The next batch may still add to the payload.
    Continue,
    /// The payload is decided; further batches change nothing.
    Decided,
}

/// A finished payload.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The text, at most the budget's bytes.
    pub payload: String,
    /// Rows in it.
    pub row_count: usize,
    /// What cut it, if something was left out.
    pub truncated_by: Option<TruncatedBy>,
}

/// The least budget in bytes: room for an answer without names and rows.
const MIN_BYTES: usize = 512;

/// A cell of a row that did not fit is measured up to this many bytes at least.
const MIN_MEASURE: usize = 256;

/// Writes the rows of record batches into one payload.
///
/// The payload is at most `max_bytes` long, and either whole or the longest prefix of the rows that fits together with
/// what says that it was cut. How the rows came in batches does not show.
///
/// Work and memory are bounded by the budget too: a cell is written no further than there is room for, whatever it
/// holds, and the buffers take less than twice `max_bytes` and a constant.
///
/// ```
/// use std::sync::Arc;
/// use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use datafusion_toolset::encode::{Encoder, ResultFormat};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut encoder = Encoder::new(&batch.schema(), ResultFormat::Json, 50, 65_536);
/// encoder.push(&batch);
/// assert_eq!(encoder.finish(None).payload, r#"{"columns":["id"],"rows":[[1],[null]],"row_count":2}"#);
/// # Ok::<(), datafusion::arrow::error::ArrowError>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    format: ResultFormat,
    fields: Fields,
    max_rows: usize,
    max_bytes: usize,
    frame: Frame,
    out: Out,
    ends: RowEnds,
    /// Bytes of the names, `None` when they do not fit.
    names: Option<usize>,
    /// The first row that fits no prefix.
    failed: Option<Widest>,
    /// `max_rows` rows are written and more exist.
    more_rows: bool,
}

impl Encoder {
    /// An encoder for batches of `schema`, whose field names are the result's columns.
    ///
    /// `max_rows` is the most rows that are shown: one more is enough to know that there are more.
    /// `max_bytes` is the budget of the whole payload; less than 512 is taken as 512.
    pub fn new(schema: &Schema, format: ResultFormat, max_rows: usize, max_bytes: usize) -> Self {
        let max_bytes = max_bytes.max(MIN_BYTES);
        let mut out = Out::new(format, max_bytes - budget::whole_tail_len(format, 0));
        let names = budget::write_head(&mut out, format, &schema.fields);
        if names.is_none() {
            out.buf.clear();
        }
        let ends = RowEnds::new(out.buf.len(), max_bytes);
        Self {
            format,
            fields: schema.fields.clone(),
            max_rows,
            max_bytes,
            frame: Frame::new(format),
            out,
            ends,
            names,
            failed: None,
            more_rows: false,
        }
    }

    /// Whether the names of the columns fit: otherwise no row changes the answer, which needs none.
    pub fn names_fit(&self) -> bool {
        self.names.is_some()
    }

    /// The most rows that can matter: one more than are shown, by the limit or because no more would fit if each cell
    /// were as short as its type can be. A source asked for so many gives the same payload as one asked for all.
    pub fn fetch(&self) -> usize {
        let room = self.max_bytes.saturating_sub(self.out.buf.len() + budget::whole_tail_len(self.format, 0));
        // The first row has one separator less at most.
        let most = (room + 1) / budget::least_row(self.format, &self.fields).max(1);
        self.max_rows.min(most).saturating_add(1)
    }

    /// Takes the rows of the next batch, as many as fit.
    pub fn push(&mut self, batch: &RecordBatch) -> Progress {
        if self.is_decided() {
            return Progress::Decided;
        }
        let mut columns = Columns { batch, cells: Vec::new() };
        for row in 0..batch.num_rows() {
            if self.names.is_some() && self.ends.rows() == self.max_rows {
                self.more_rows = true;
                return Progress::Decided;
            }
            if self.names.is_none() || !self.write_row(&mut columns, row) {
                self.failed = Some(self.measure(&mut columns, row));
                return Progress::Decided;
            }
        }
        Progress::Continue
    }

    fn is_decided(&self) -> bool {
        self.failed.is_some() || self.more_rows
    }

    /// Writes one row, or leaves the buffer as it was and returns false.
    fn write_row(&mut self, columns: &mut Columns<'_>, row: usize) -> bool {
        let rows = self.ends.rows();
        let start = self.out.buf.len();
        self.out.set_limit(self.max_bytes - budget::whole_tail_len(self.format, rows + 1));
        self.out.reserve(0);
        self.out.bytes(if rows == 0 { self.frame.first_row } else { self.frame.next_row });
        for column in 0..columns.batch.num_columns() {
            if column > 0 {
                self.out.byte(self.frame.between);
            }
            columns.cell(column).write(row, &mut self.out);
            if self.out.is_spent() {
                self.out.buf.truncate(start);
                return false;
            }
            self.out.reserve(0);
        }
        self.out.bytes(self.frame.row_end);
        if self.out.is_spent() {
            self.out.buf.truncate(start);
            return false;
        }
        self.ends.push(self.out.buf.len());
        true
    }

    /// The widest columns of a row that did not fit.
    ///
    /// Each cell is written once more, up to its share of half the budget, and dropped again; so the measure depends on
    /// the row alone, and not on the room that the rows before it left.
    fn measure(&mut self, columns: &mut Columns<'_>, row: usize) -> Widest {
        let mut widest = Widest::default();
        let start = self.out.buf.len();
        let count = columns.batch.num_columns();
        let share = (self.max_bytes / 2 / count.max(1)).max(MIN_MEASURE);
        for column in 0..count {
            self.out.set_limit(start.saturating_add(share));
            self.out.reserve(0);
            columns.cell(column).write(row, &mut self.out);
            let bytes = (self.out.buf.len() - start).saturating_add(self.out.skipped());
            widest.add(Width { column, bytes, exact: !self.out.is_spent() });
            self.out.buf.truncate(start);
        }
        widest
    }

    /// Whether rows were left out so far; `finish` may leave out more to make room for the envelope.
    pub fn is_truncated(&self) -> bool {
        self.is_decided() || self.names.is_none()
    }

    /// Closes the payload. `total_rows` is the exact number of rows of the whole result, if it is known; it is written
    /// only when something was left out.
    ///
    /// A cut result tells after `row_count` the total, that and by which limit it was cut, and what to do. Names that
    /// do not fit, or that take more than a quarter of the budget when no row fits, are left out:
    ///
    /// ```json
    /// {"columns":["id"],"rows":[[1]],"row_count":1,"total_rows":9,"truncated":true,"truncated_by":"max_rows","hint":"…"}
    /// {"column_count":1200,"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"…"}
    /// ```
    pub fn finish(mut self, total_rows: Option<u64>) -> Encoded {
        if !self.is_truncated() {
            let row_count = self.ends.rows();
            self.out.bytes(&budget::whole_tail(self.format, row_count));
            return Encoded { payload: into_string(self.out.buf), row_count, truncated_by: None };
        }
        let ending = Cut {
            format: self.format,
            fields: &self.fields,
            max_bytes: self.max_bytes,
            total: total_rows,
            text: &self.out.buf,
            ends: &self.ends,
            names: self.names,
            failed: self.failed,
            more_rows: self.more_rows,
        }
        .ending();
        let mut payload = self.out.buf;
        let (row_count, by) = match ending {
            Ending::Prefix { rows, end, tail, by } => {
                payload.truncate(end);
                payload.extend_from_slice(&tail);
                (rows, by)
            }
            Ending::Nameless(answer) => {
                payload = answer;
                (0, TruncatedBy::MaxResultBytes)
            }
        };
        Encoded { payload: into_string(payload), row_count, truncated_by: Some(by) }
    }
}

/// The writers of a batch's columns, each made when a row first comes so far: of a very wide batch, a small budget
/// reaches the first columns only.
struct Columns<'a> {
    batch: &'a RecordBatch,
    cells: Vec<Box<dyn Cell + 'a>>,
}

impl<'a> Columns<'a> {
    #[inline]
    fn cell(&mut self, column: usize) -> &dyn Cell {
        while self.cells.len() <= column {
            self.cells.push(value::cell(self.batch.column(self.cells.len()).as_ref()));
        }
        self.cells[column].as_ref()
    }
}

/// The writers append whole characters and cut where a row or a cell starts, so nothing is ever replaced.
fn into_string(mut bytes: Vec<u8>) -> String {
    bytes.shrink_to_fit();
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
