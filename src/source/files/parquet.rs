//! Parquet: schema and statistics from the footers, which the session's metadata cache keeps.

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef, TimeUnit};
use datafusion::catalog::Session;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::physical_plan::ParquetSource;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::datasource::physical_plan::parquet::{CachedParquetFileReaderFactory, transform_schema_to_view};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::DataFusionError;
use datafusion::object_store::{ObjectMeta, ObjectStore};

use super::layout::FileName;
use super::place::{carried, first_line};
use super::schema::refuse_repeated;
use crate::error::Error;

/// Column statistics of all files are kept up to this many; beyond it only the row counts are.
pub(crate) const MAX_COLUMN_STATISTICS: usize = 200_000;

fn options(session: &dyn Session) -> TableParquetOptions {
    let mut options = session.default_table_options().parquet;
    // An INT96 time in nanoseconds wraps outside 1677–2262; in microseconds every instant it can hold is right.
    options.global.coerce_int96 = Some("us".to_owned());
    // Bytes that nobody called text are not text.
    options.global.binary_as_string = false;
    options
}

fn metadata<'a>(session: &dyn Session, store: &'a dyn ObjectStore, meta: &'a ObjectMeta) -> DFParquetMetadata<'a> {
    DFParquetMetadata::new(store, meta)
        .with_metadata_size_hint(options(session).global.metadata_size_hint)
        .with_file_metadata_cache(Some(session.runtime_env().cache_manager.get_file_metadata_cache()))
        .with_coerce_int96(Some(TimeUnit::Microsecond))
}

/// The schema that a file's footer states.
///
/// # Errors
/// If the file cannot be read, is no valid Parquet, or has two columns of one name.
pub(crate) async fn infer(
    session: &dyn Session,
    store: &Arc<dyn ObjectStore>,
    meta: &ObjectMeta,
    name: &FileName,
) -> Result<SchemaRef, Error> {
    let schema =
        metadata(session, store.as_ref(), meta).fetch_schema().await.map_err(|error| unreadable(name, &error))?;
    refuse_repeated(&name.place, &name.relative, &schema)?;
    // Key-value metadata differs from file to file and says nothing about the columns.
    let schema = Schema::new(schema.fields().clone());
    Ok(Arc::new(transform_schema_to_view(&schema)))
}

/// A footer or page that cannot be read: why, and in which file.
pub(crate) fn unreadable(name: &FileName, error: &DataFusionError) -> Error {
    if let Some(own) = carried(error) {
        return own;
    }
    let text = error.to_string();
    let lower = text.to_lowercase();
    if lower.contains("encrypt") {
        return name.unavailable("is encrypted Parquet, which cannot be read; write it again without encryption");
    }
    if lower.contains("permission denied") {
        return name.unavailable("cannot be read (permission denied); check its permissions");
    }
    if lower.contains("not found") || lower.contains("no such file") {
        return name.unavailable("does not exist any more; call again, so that the folder is listed anew");
    }
    name.unavailable(&format!("is not valid Parquet ({}); replace or remove it", first_line(&text)))
}

/// Row count and column statistics of a file, for the file columns of the table and then its partition columns.
///
/// # Errors
/// If the footer cannot be read.
pub(crate) async fn statistics(
    session: &dyn Session,
    store: &Arc<dyn ObjectStore>,
    meta: &ObjectMeta,
    name: &FileName,
    columns: (&SchemaRef, &SchemaRef),
    partition_values: &[ScalarValue],
) -> Result<Statistics, Error> {
    let (table, file) = columns;
    let mut statistics = metadata(session, store.as_ref(), meta)
        .fetch_statistics(table)
        .await
        .map_err(|error| unreadable(name, &error))?;
    for (column, field) in statistics.column_statistics.iter_mut().zip(table.fields()) {
        // Bounds in the file's own type are no bounds of the type that it is read as.
        match file.field_with_name(field.name()) {
            Ok(own) if own.data_type() != field.data_type() => {
                let null_count = column.null_count;
                *column = ColumnStatistics { null_count, ..ColumnStatistics::new_unknown() };
            }
            _ => {}
        }
    }
    for value in partition_values {
        let rows = statistics.num_rows;
        let mut column = ColumnStatistics::new_unknown();
        if value.is_null() {
            column.null_count = rows;
        } else {
            column.null_count = Precision::Exact(0);
            column.min_value = Precision::Exact(value.clone());
            column.max_value = Precision::Exact(value.clone());
        }
        statistics.column_statistics.push(column);
    }
    Ok(statistics)
}

/// What reads the files.
pub(crate) fn source(session: &dyn Session, store: Arc<dyn ObjectStore>, schema: TableSchema) -> ParquetSource {
    let cache = session.runtime_env().cache_manager.get_file_metadata_cache();
    let options = options(session);
    let hint = options.global.metadata_size_hint;
    let source = ParquetSource::new(schema)
        .with_table_parquet_options(options)
        .with_parquet_file_reader_factory(Arc::new(CachedParquetFileReaderFactory::new(store, cache)));
    match hint {
        Some(hint) => source.with_metadata_size_hint(hint),
        None => source,
    }
}
