//! How one file is laid out, and its records as batches of the table's columns.
//!
//! The files of one table may differ: each carries its own [`Layout`], and its reader gives the table's columns by name.

pub(crate) mod csv;
pub(crate) mod csv_records;
pub(crate) mod guess;
pub(crate) mod json;
pub(crate) mod json_guess;
pub(crate) mod json_records;
pub(crate) mod tagged;
pub(crate) mod text;

use std::collections::BTreeSet;
use std::io::{Read, Seek};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use super::place::Place;
use crate::error::{Error, ErrorCode};

/// A file's bytes.
pub(crate) trait Input: Read + Seek + Send {}

impl<T: Read + Seek + Send> Input for T {}

/// The batches of a file.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send>;

/// The name of a file for its errors.
#[derive(Debug, Clone)]
pub(crate) struct FileName {
    pub(crate) place: Arc<Place>,
    pub(crate) relative: String,
}

impl FileName {
    /// The file cannot be read.
    pub(crate) fn unavailable(&self, why: &str) -> Error {
        self.place.unavailable(&self.relative, why)
    }

    /// The file can be read, but a value in it is not what the table says.
    pub(crate) fn execution(&self, why: &str) -> Error {
        self.place.error(ErrorCode::Execution, &self.relative, why)
    }
}

/// How a file is to be read.
#[derive(Debug)]
pub(crate) enum Layout {
    Csv(csv::CsvLayout),
    Json(json::JsonLayout),
    Avro,
    ArrowFile,
    ArrowStream,
}

/// What a reader is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The table's columns that are needed, without those from folders.
    pub(crate) schema: SchemaRef,
    /// Columns whose type the source's `columns` states; all others of a text file are guessed.
    pub(crate) stated: Arc<BTreeSet<String>>,
    /// The most rows of a batch.
    pub(crate) batch_size: usize,
}

/// A file with its layout; it travels with the `PartitionedFile`.
#[derive(Debug)]
pub(crate) struct FileLayout {
    pub(crate) name: FileName,
    pub(crate) layout: Layout,
}

impl FileLayout {
    /// Reads the file's records; nothing is read before the first batch is asked for but what the layout needs.
    ///
    /// # Errors
    /// If the file's head is not what its layout says.
    pub(crate) fn read(&self, input: Box<dyn Input>, wanted: Wanted) -> Result<Batches, Error> {
        match &self.layout {
            Layout::Csv(layout) => csv::read(&self.name, layout, input, wanted),
            Layout::Json(layout) => json::read(&self.name, layout, input, wanted),
            Layout::Avro => tagged::read_avro(&self.name, input, &wanted),
            Layout::ArrowFile => tagged::read_arrow_file(&self.name, input, wanted),
            Layout::ArrowStream => tagged::read_arrow_stream(&self.name, input, wanted),
        }
    }
}
