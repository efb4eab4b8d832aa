//! A [`Source`] → a `TableProvider` over its files.
//!
//! ```text
//! location ─► listing ─► names ─► layout of each file ─► schema ─► FilesTable
//!             (files)    (format)  (columns, types)       (by name)  (scan)
//! ```
//!
//! The listing is of the time of opening; whoever keeps an [`OpenTable`] decides how long it may be kept.

mod columns;
mod convert;
mod layout;
mod listing;
mod named;
mod names;
mod parquet;
mod partitions;
mod place;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod remote;
mod scan;
mod schema;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Statistics;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::ObjectStore;
use futures::{FutureExt, StreamExt, TryStreamExt};

use self::layout::json_guess::settle_nulls;
use self::layout::{FileLayout, FileName, Layout, csv, json, tagged};
use self::listing::{DataFile, Listing};
use self::partitions::Partitions;
pub(crate) use self::place::Place;
use self::schema::Kind;
use self::table::FilesTable;
use super::options::{Settings, TextOptions};
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
use super::store::{Location, Patience, locate};
use super::{Format, Source};
use crate::error::{Error, ErrorCode};

/// A source that was opened.
#[derive(Debug, Clone)]
pub(crate) struct OpenTable {
    /// What the planner scans.
    pub(crate) provider: Arc<dyn TableProvider>,
    /// How many records a guessed schema rests on; `None` when the files state their schema. Of several files, the
    /// most that were read of one.
    pub(crate) inferred_from: Option<usize>,
    /// Names of the columns that come from folder names.
    pub(crate) partition_columns: Vec<String>,
}

/// Heads and footers are read this many at a time.
const CONCURRENCY: usize = 32;

/// Of a session that says no other.
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
const DEFAULT_PATIENCE: Patience = Patience(std::time::Duration::from_secs(30));

/// Lists the source's files and settles its schema.
///
/// # Errors
/// `source_unavailable` if a file cannot be listed or read, with the table and the file; `invalid_query` never.
pub(crate) async fn open(source: &Source, session: &dyn Session) -> Result<OpenTable, Error> {
    #[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
    if let Ok(Location::Remote(remote)) = locate(&source.uri) {
        let patience = session.config().get_extension::<Patience>().map_or(DEFAULT_PATIENCE, |patience| *patience);
        let open =
            async { open_listed(source, session, remote::list(source, &remote, patience, session).await?).await };
        return tokio::time::timeout(patience.0.mul_f64(0.85), open).await.unwrap_or_else(|_| {
            let why =
                "cannot be opened in time: its store answers too slowly; try again later, or allow a longer timeout";
            let location = source.shown_uri();
            Err(Error::new(
                ErrorCode::SourceUnavailable,
                format!("table `{}`: location `{location}` {why}", source.name),
            ))
        });
    }
    let listing = listing::list(source).await?;
    let url = ObjectStoreUrl::local_filesystem();
    let store = session.runtime_env().object_store(&url).map_err(|error| {
        Error::new(ErrorCode::SourceUnavailable, format!("table `{}`: no file system can be reached", source.name))
            .with_cause(error)
    })?;
    open_listed(source, session, (listing, store, url)).await
}

/// Settles the schema of what was listed.
async fn open_listed(
    source: &Source,
    session: &dyn Session,
    listed: (Listing, Arc<dyn ObjectStore>, ObjectStoreUrl),
) -> Result<OpenTable, Error> {
    let (mut listing, store, url) = listed;
    let settings = Settings::new(source).map_err(|error| {
        Error::new(ErrorCode::SourceUnavailable, format!("table `{}` is not set up rightly: {error}", source.name))
    })?;
    let place = Arc::clone(&listing.place);
    // Futures are boxed here and below, since the compiler cannot see through closures that borrow that they are `Send`.
    let probe = |file| head(Arc::clone(&store), Arc::clone(&place), file).boxed();
    let format = names::settle(&mut listing, source.format, probe).await?;
    let stated: Arc<BTreeSet<String>> = Arc::new(settings.columns.iter().map(|(name, _)| name.clone()).collect());

    let read = read_heads(&listing, &place, format, &settings.text, &stated, session, &store).await?;
    if read.is_empty() {
        return Err(place.unavailable("", "holds no header and no record"));
    }
    let files: Vec<DataFile> = read.iter().map(|head| head.file.clone()).collect();
    let Partitions { fields: partition_fields, values } = partitions::find(&place, &files, &settings.partitions)?;
    let partition_columns: Vec<String> = partition_fields.iter().map(|field| field.name().clone()).collect();

    let is_csv = format == Format::Csv;
    let kind = match format {
        Format::Csv => Kind::Csv,
        Format::Json => Kind::Json,
        _ => Kind::Typed,
    };
    let schemas: Vec<(&str, SchemaRef)> =
        read.iter().map(|head| (head.file.relative.as_str(), Arc::clone(&head.schema))).collect();
    let mut fields = schema::merge(&place, &schemas, &settings.columns, kind)?;
    // The folder's value wins over a column of that name in the file.
    fields.retain(|field| !partition_columns.contains(field.name()));
    schema::override_types(&place, &mut fields, &settings.columns, &partition_columns)?;
    let text = matches!(format, Format::Csv | Format::Json);
    if text {
        for field in &mut fields {
            let settled = settle_nulls(field.data_type());
            *field = Arc::new(field.as_ref().clone().with_data_type(settled));
        }
    }
    let guessed = text && (!is_csv || fields.iter().any(|field| !stated.contains(field.name())));
    let inferred_from = guessed.then(|| read.iter().map(|head| head.records).max()).flatten();

    let file_schema: SchemaRef = Arc::new(Schema::new(fields));
    let table_schema =
        TableSchema::builder(Arc::clone(&file_schema)).with_table_partition_cols(partition_fields).build();
    let keep_columns = file_schema.fields().len().saturating_mul(read.len()) <= parquet::MAX_COLUMN_STATISTICS;
    let work: Vec<_> = read.into_iter().zip(values).collect();
    let partitioned: Vec<PartitionedFile> = futures::stream::iter(work)
        .map(|(head, values)| {
            let (store, file_schema, url_schema) = (&store, &file_schema, table_schema.table_schema());
            async move {
                let mut file = PartitionedFile::new_from_meta(head.file.meta.clone());
                if format == Format::Parquet {
                    let columns = (file_schema, &head.schema);
                    let mut statistics =
                        parquet::statistics(session, store, &head.file.meta, &head.name, columns, &values).await?;
                    if !keep_columns {
                        let num_rows = statistics.num_rows;
                        statistics = Statistics { num_rows, ..Statistics::new_unknown(url_schema) };
                    }
                    file.statistics = Some(Arc::new(statistics));
                    file = file.with_extension(head.name);
                } else if let Some(layout) = head.layout {
                    file = file.with_extension(Arc::new(FileLayout { name: head.name, layout }));
                }
                file.partition_values = values;
                Ok::<_, Error>(file)
            }
            .boxed()
        })
        .buffered(CONCURRENCY)
        .try_collect()
        .await?;

    let provider = Arc::new(FilesTable::new(format, url, store, table_schema, partitioned, stated));
    Ok(OpenTable { provider, inferred_from, partition_columns })
}

/// A file's first bytes.
async fn head(store: Arc<dyn ObjectStore>, place: Arc<Place>, file: DataFile) -> Result<Vec<u8>, Error> {
    let name = FileName { place, relative: file.relative };
    let input = scan::input(&store, &file.meta, &name).await?;
    let mut head = Vec::with_capacity(8);
    let read = input.take(8).read_to_end(&mut head);
    read.map_err(|error| name.unavailable(&format!("cannot be read ({})", listing::reason(&error))))?;
    Ok(head)
}

/// What a file says of itself.
struct Head {
    file: DataFile,
    name: FileName,
    schema: SchemaRef,
    /// `None` for Parquet.
    layout: Option<Layout>,
    records: usize,
}

async fn read_heads(
    listing: &Listing,
    place: &Arc<Place>,
    format: Format,
    text: &TextOptions,
    stated: &Arc<BTreeSet<String>>,
    session: &dyn Session,
    store: &Arc<dyn ObjectStore>,
) -> Result<Vec<Head>, Error> {
    let found: Vec<Option<Head>> = futures::stream::iter(listing.files.clone())
        .map(|file| {
            let name = FileName { place: Arc::clone(place), relative: file.relative.clone() };
            async move {
                if format == Format::Parquet {
                    let schema = parquet::infer(session, store, &file.meta, &name).await?;
                    return Ok(Some(Head { file, name, schema, layout: None, records: 0 }));
                }
                let input = scan::input(store, &file.meta, &name).await?;
                let (text, stated) = (text.clone(), Arc::clone(stated));
                let damaged = name.clone();
                let read = move || read_head(file, name, format, &text, &stated, input);
                tokio::task::spawn_blocking(read)
                    .await
                    .unwrap_or_else(|_| Err(damaged.unavailable("is damaged so that its reader gave up; replace it")))
                    .map_err(at_open)
            }
            .boxed()
        })
        .buffered(CONCURRENCY)
        .try_collect()
        .await?;
    Ok(found.into_iter().flatten().collect())
}

/// A value that is wrong is the query's failure, unless the table cannot even be opened for it.
fn at_open(error: Error) -> Error {
    match error.code() {
        ErrorCode::Execution => Error::new(ErrorCode::SourceUnavailable, error.message()),
        _ => error,
    }
}

fn read_head(
    file: DataFile,
    name: FileName,
    format: Format,
    text: &TextOptions,
    stated: &BTreeSet<String>,
    input: Box<dyn layout::Input>,
) -> Result<Option<Head>, Error> {
    let (schema, layout, records) = match format {
        Format::Csv => match csv::infer(&name, file.name(), text, input)? {
            Some(head) => (head.schema, Layout::Csv(head.layout), head.records),
            None => return Ok(None),
        },
        Format::Json => match json::infer(&name, file.name(), text, stated, input)? {
            Some(head) => (head.schema, Layout::Json(head.layout), head.records),
            None => return Ok(None),
        },
        Format::Avro => (tagged::infer_avro(&name, input)?, Layout::Avro, 0),
        _ => {
            let (layout, schema) = tagged::infer_arrow(&name, input)?;
            (schema, layout, 0)
        }
    };
    schema::refuse_repeated(&name.place, &name.relative, &schema)?;
    Ok(Some(Head { file, name, schema, layout: Some(layout), records }))
}
