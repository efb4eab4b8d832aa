//! A [`Source`] → a `TableProvider` over its files.

use std::sync::Arc;

use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::avro::AvroFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};

use super::{Format, Source};
use crate::error::{Error, ErrorCode};

/// A source that was opened.
#[derive(Debug, Clone)]
pub(crate) struct OpenTable {
    /// What the planner scans.
    pub(crate) provider: Arc<dyn TableProvider>,
    /// How many records a guessed schema rests on; `None` when the files state their schema.
    pub(crate) inferred_from: Option<usize>,
    /// Names of the columns that come from folder names.
    pub(crate) partition_columns: Vec<String>,
}

/// Lists the source's files and settles its schema.
///
/// # Errors
/// `source_unavailable` if a file cannot be listed or read, with the table and the location.
pub(crate) async fn open(source: &Source, session: &dyn Session) -> Result<OpenTable, Error> {
    let unavailable = |why: String| {
        let text = format!("table `{}` cannot be read from {}: {why}", source.name, source.shown_uri());
        Error::new(ErrorCode::SourceUnavailable, text)
    };
    let url = ListingTableUrl::parse(&source.uri).map_err(|error| unavailable(error.strip_backtrace()))?;
    let (format, extension): (Arc<dyn FileFormat>, &str) = match source.format.or_else(|| from_name(&source.uri)) {
        Some(Format::Parquet) => (Arc::new(ParquetFormat::default()), "parquet"),
        Some(Format::Csv) => (Arc::new(CsvFormat::default()), "csv"),
        Some(Format::Json) => (Arc::new(JsonFormat::default()), "json"),
        Some(Format::Avro) => (Arc::new(AvroFormat), "avro"),
        Some(Format::Arrow) => (Arc::new(ArrowFormat), "arrow"),
        None => return Err(unavailable("its format cannot be told from the name; set `format`".to_owned())),
    };
    let options = ListingOptions::new(format).with_file_extension(extension);
    let schema = options.infer_schema(session, &url).await.map_err(|error| unavailable(error.strip_backtrace()))?;
    let config = ListingTableConfig::new(url).with_listing_options(options).with_schema(schema);
    let table = ListingTable::try_new(config).map_err(|error| unavailable(error.strip_backtrace()))?;
    Ok(OpenTable { provider: Arc::new(table), inferred_from: None, partition_columns: Vec::new() })
}

fn from_name(uri: &str) -> Option<Format> {
    uri.rsplit_once('.').and_then(|(_, extension)| extension.parse().ok())
}
