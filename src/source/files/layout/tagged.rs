//! Avro and Arrow IPC, whose files state their schema.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::{FileReader, StreamReader};
use datafusion::arrow_avro::reader::{Reader, ReaderBuilder};

use super::{Batches, FileName, Input, Layout, Wanted};
use crate::error::Error;
use crate::source::files::convert::adapt;
use crate::source::files::place::first_line;

const BUFFER: usize = 128 * 1024;

fn invalid(name: &FileName, format: &str, error: &dyn std::fmt::Display) -> Error {
    name.unavailable(&format!(
        "is not valid {format} ({}); replace or remove it, or check the source's `format`",
        first_line(error)
    ))
}

/// The schema of an Avro file.
///
/// # Errors
/// If it is none.
pub(crate) fn infer_avro(name: &FileName, input: Box<dyn Input>) -> Result<SchemaRef, Error> {
    Ok(avro(name, input, None, 1)?.schema())
}

/// Whether an Arrow file is of the file or the stream format, and its schema.
///
/// # Errors
/// If it is neither.
pub(crate) fn infer_arrow(name: &FileName, mut input: Box<dyn Input>) -> Result<(Layout, SchemaRef), Error> {
    let mut magic = Vec::with_capacity(8);
    (&mut input)
        .take(8)
        .read_to_end(&mut magic)
        .and_then(|_| input.seek(SeekFrom::Start(0)))
        .map_err(|error| invalid(name, "Arrow IPC", &error))?;
    if magic.starts_with(b"FEA1") {
        return Err(name.unavailable("is Feather version 1, which cannot be read; write it again as Feather version 2"));
    }
    if magic.starts_with(b"ARROW1") {
        let reader = FileReader::try_new(BufReader::with_capacity(BUFFER, input), None)
            .map_err(|error| invalid(name, "Arrow IPC", &error))?;
        return Ok((Layout::ArrowFile, reader.schema()));
    }
    // A stream begins with a continuation marker, or before version 0.15 with a length. Any other file is refused here,
    // since its first bytes would be taken for the length of a message.
    if !magic.starts_with(&[0xFF; 4]) {
        return Err(invalid(name, "Arrow IPC", &"it begins like no Arrow file or stream"));
    }
    let reader = StreamReader::try_new(BufReader::with_capacity(BUFFER, input), None)
        .map_err(|error| invalid(name, "Arrow IPC", &error))?;
    Ok((Layout::ArrowStream, reader.schema()))
}

fn avro(
    name: &FileName,
    input: Box<dyn Input>,
    projection: Option<Vec<usize>>,
    batch_size: usize,
) -> Result<Reader<BufReader<Box<dyn Input>>>, Error> {
    let mut builder = ReaderBuilder::new().with_batch_size(batch_size);
    if let Some(projection) = projection {
        builder = builder.with_projection(projection);
    }
    builder.build(BufReader::with_capacity(BUFFER, input)).map_err(|error| invalid(name, "Avro", &error))
}

pub(crate) fn read_avro(name: &FileName, mut input: Box<dyn Input>, wanted: &Wanted) -> Result<Batches, Error> {
    // The file's own schema says at which place the wanted columns are; it is read from the header alone.
    let schema = {
        let probe: Box<dyn Input> = Box::new(Head(&mut input).cloned().map_err(|error| invalid(name, "Avro", &error))?);
        avro(name, probe, None, 1).map(|reader| reader.schema())
    };
    let projection = schema.ok().and_then(|schema| projection(&schema, &wanted.schema));
    input.seek(SeekFrom::Start(0)).map_err(|error| invalid(name, "Avro", &error))?;
    let reader = avro(name, input, projection, wanted.batch_size)?;
    Ok(adapted(name, "Avro", wanted, reader))
}

/// The first bytes of a file, which an Avro header fits into.
struct Head<'a>(&'a mut Box<dyn Input>);

impl Head<'_> {
    fn cloned(self) -> std::io::Result<std::io::Cursor<Vec<u8>>> {
        let mut bytes = Vec::new();
        self.0.take(1 << 20).read_to_end(&mut bytes)?;
        Ok(std::io::Cursor::new(bytes))
    }
}

pub(crate) fn read_arrow_file(name: &FileName, input: Box<dyn Input>, wanted: Wanted) -> Result<Batches, Error> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let invalid = |error: &ArrowError| invalid(name, "Arrow IPC", error);
    let schema = FileReader::try_new(&mut input, None).map_err(|error| invalid(&error))?.schema();
    let reader = FileReader::try_new(input, projection(&schema, &wanted.schema)).map_err(|error| invalid(&error))?;
    Ok(adapted(name, "Arrow IPC", &wanted, reader))
}

pub(crate) fn read_arrow_stream(name: &FileName, input: Box<dyn Input>, wanted: Wanted) -> Result<Batches, Error> {
    let reader = StreamReader::try_new(BufReader::with_capacity(BUFFER, input), None)
        .map_err(|error| invalid(name, "Arrow IPC", &error))?;
    Ok(adapted(name, "Arrow IPC", &wanted, reader))
}

/// Where the wanted columns are in the file; `None` when that is every column, or none, which a reader cannot count.
fn projection(file: &SchemaRef, wanted: &SchemaRef) -> Option<Vec<usize>> {
    let mut found: Vec<usize> = wanted.fields().iter().filter_map(|field| file.index_of(field.name()).ok()).collect();
    found.sort_unstable();
    (!found.is_empty() && found.len() < file.fields().len()).then_some(found)
}

fn adapted(
    name: &FileName,
    format: &'static str,
    wanted: &Wanted,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
) -> Batches {
    let (name, schema, rows) = (name.clone(), Arc::clone(&wanted.schema), wanted.batch_size.max(1));
    let mut failed = false;
    Box::new(
        batches
            .map(move |batch| {
                let batch = batch.map_err(|error| invalid(&name, format, &error))?;
                adapt(&batch, &schema).map_err(|(column, error)| {
                    name.execution(&format!(
                        "has a value in column `{column}` that cannot be read ({})",
                        first_line(&error)
                    ))
                })
            })
            .take_while(move |batch| !std::mem::replace(&mut failed, batch.is_err()))
            // A file's own batches may be of any size; one that is too large is handed on in pieces, without copying.
            .flat_map(move |batch| match batch {
                Ok(batch) if batch.num_rows() > rows => (0..batch.num_rows())
                    .step_by(rows)
                    .map(|from| Ok(batch.slice(from, rows.min(batch.num_rows() - from))))
                    .collect::<Vec<_>>(),
                batch => vec![batch],
            }),
    )
}
