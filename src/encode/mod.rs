//! Arrow batches → the text of a result, row by row under a byte budget. Knows Arrow alone.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;

use crate::error::ConfigError;

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

/// Writes the rows of record batches into one payload.
#[derive(Debug)]
pub struct Encoder {}

impl Encoder {
    /// An encoder for batches of `schema`, whose field names are the result's columns.
    ///
    /// `max_rows` is the most rows that are shown: one more is enough to know that there are more.
    /// `max_bytes` is the budget of the whole payload, at least 512.
    pub fn new(schema: &Schema, format: ResultFormat, max_rows: usize, max_bytes: usize) -> Self {
        let _ = (schema, format, max_rows, max_bytes);
        Self {}
    }

    /// Takes the rows of the next batch, as many as fit.
    pub fn push(&mut self, batch: &RecordBatch) -> Progress {
        let _ = batch;
        Progress::Decided
    }

    /// Whether rows were left out so far; `finish` may leave out more to make room for the envelope.
    pub fn is_truncated(&self) -> bool {
        false
    }

    /// Closes the payload. `total_rows` is the exact number of rows of the whole result, if it is known; it is written
    /// only when something was left out.
    pub fn finish(self, total_rows: Option<u64>) -> Encoded {
        let _ = total_rows;
        Encoded { payload: String::new(), row_count: 0, truncated_by: None }
    }
}
