//! Sources are opened over files in a temporary folder and asked by SQL.

mod csv;
mod folders;
mod json;
mod parquet;
mod tagged;

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{SessionConfig, SessionContext};
use tempfile::TempDir;

use super::{OpenTable, open};
use crate::error::Error;
use crate::source::Source;

/// A folder of files that is removed at the end of the test.
pub(super) struct Files(TempDir);

impl Files {
    pub(super) fn new(files: &[(&str, &[u8])]) -> Self {
        let this = Self(tempfile::tempdir().expect("a temporary folder"));
        for (name, bytes) in files {
            this.write(name, bytes);
        }
        this
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, bytes).expect("a file");
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    pub(super) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn source(&self, name: &str) -> Source {
        Source::new("t", self.path(name))
    }
}

pub(super) fn parquet_bytes(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(batch).expect("rows");
    writer.into_inner().expect("a footer")
}

pub(super) async fn opened(source: &Source) -> Result<OpenTable, Error> {
    open(source, &SessionContext::new().state()).await
}

/// What opening says when it fails.
pub(super) async fn refusal(source: &Source) -> String {
    let error = opened(source).await.expect_err("it cannot be opened");
    assert_eq!(error.code().as_str(), "source_unavailable");
    error.message().to_owned()
}

/// `name:type` of every column.
pub(super) async fn columns(source: &Source) -> Vec<String> {
    let table = opened(source).await.expect("it opens");
    table.provider.schema().fields().iter().map(|field| format!("{}:{}", field.name(), field.data_type())).collect()
}

/// Runs a query over the source as table `t`, at several partition counts, which must agree.
pub(super) async fn run(source: &Source, sql: &str) -> Result<String, Error> {
    let mut first: Option<Result<String, String>> = None;
    let mut last = Ok(String::new());
    for partitions in [1, 4] {
        last = run_in(source, sql, partitions).await;
        let seen = last.as_ref().map(Clone::clone).map_err(|error| error.message().to_owned());
        // Unordered rows may differ; whether there is an error may not.
        if let Some(first) = &first {
            assert_eq!(first.is_ok(), seen.is_ok(), "{first:?} {seen:?}");
        }
        if partitions == 1 {
            first = Some(seen);
        }
    }
    match first {
        Some(Ok(text)) => Ok(text),
        _ => last,
    }
}

pub(super) async fn run_in(source: &Source, sql: &str, partitions: usize) -> Result<String, Error> {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(100);
    let context = SessionContext::new_with_config(config);
    let table = open(source, &context.state()).await?;
    context.register_table("t", table.provider).expect("a new name");
    let batches = async { context.sql(sql).await?.collect().await }.await.map_err(unwrapped)?;
    Ok(pretty_format_batches(&batches).expect("text").to_string())
}

/// The crate's error, as `Error::from_datafusion` is to find it.
fn unwrapped(error: datafusion::error::DataFusionError) -> Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(own) = inner.downcast_ref::<Error>() {
            return Error::new(own.code(), own.message());
        }
        cause = inner.source();
    }
    if let datafusion::error::DataFusionError::External(inner) = error.find_root()
        && let Some(own) = inner.downcast_ref::<Error>()
    {
        return Error::new(own.code(), own.message());
    }
    Error::new(crate::error::ErrorCode::Internal, format!("not one of ours: {error}"))
}

/// The cells of a result, row by row.
pub(super) async fn rows(source: &Source, sql: &str) -> Vec<Vec<String>> {
    let text = run(source, sql).await.expect("it runs");
    text.lines()
        .filter(|line| line.starts_with('|'))
        .skip(1)
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// What a query says when it fails while running.
pub(super) async fn failure(source: &Source, sql: &str) -> String {
    let error = run(source, sql).await.expect_err("it fails");
    assert_ne!(error.code().as_str(), "internal", "{error}");
    error.message().to_owned()
}

pub(super) fn batch(columns: Vec<(&str, datafusion::arrow::array::ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("a batch")
}

pub(super) fn ints(values: &[i64]) -> datafusion::arrow::array::ArrayRef {
    Arc::new(datafusion::arrow::array::Int64Array::from(values.to_vec()))
}

pub(super) fn texts(values: &[&str]) -> datafusion::arrow::array::ArrayRef {
    Arc::new(datafusion::arrow::array::StringArray::from(values.to_vec()))
}

pub(super) fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{message}` does not say `{part}`");
    }
}

pub(super) fn type_of(table: &OpenTable, column: &str) -> DataType {
    table.provider.schema().field_with_name(column).expect("a column").data_type().clone()
}
