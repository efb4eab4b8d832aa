//! [`FilesTable`]: files with a settled schema as a `TableProvider`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, ScalarValue, Statistics, project_schema};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::listing::helpers::expr_applicable_for_cols;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::object_store::ObjectStore;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;

use super::columns::{self, ColumnGroupsExec};
use super::named::NamedSource;
use super::parquet;
use super::scan::LayoutSource;
use crate::source::Format;

/// The files of a source, in the order of their names, as a table.
pub(crate) struct FilesTable {
    format: Format,
    url: ObjectStoreUrl,
    store: Arc<dyn ObjectStore>,
    schema: TableSchema,
    files: Vec<PartitionedFile>,
    /// Columns whose type the source states.
    stated: Arc<BTreeSet<String>>,
}

impl fmt::Debug for FilesTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilesTable")
            .field("format", &self.format)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl FilesTable {
    pub(crate) fn new(
        format: Format,
        url: ObjectStoreUrl,
        store: Arc<dyn ObjectStore>,
        schema: TableSchema,
        files: Vec<PartitionedFile>,
        stated: Arc<BTreeSet<String>>,
    ) -> Self {
        Self { format, url, store, schema, files, stated }
    }

    /// Whether a filter can be settled by the folders' names alone.
    fn is_partition_filter(&self, filter: &Expr) -> bool {
        let names: Vec<&str> = self.schema.table_partition_cols().iter().map(|field| field.name().as_str()).collect();
        !names.is_empty() && !filter.is_volatile() && expr_applicable_for_cols(&names, filter)
    }

    /// The files in whose folders the filters hold.
    fn prune(&self, session: &dyn Session, filters: Vec<Expr>) -> Result<Vec<PartitionedFile>> {
        let Some(filter) = conjunction(filters) else { return Ok(self.files.clone()) };
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        let fields = self.schema.table_partition_cols();
        let columns = (0..fields.len())
            .map(|at| {
                ScalarValue::iter_to_array(self.files.iter().filter_map(|file| file.partition_values.get(at).cloned()))
            })
            .collect::<Result<Vec<ArrayRef>>>()?;
        let schema = Arc::new(Schema::new(fields.clone()));
        let df_schema = DFSchema::try_from(Arc::clone(&schema))?;
        let batch = RecordBatch::try_new(schema, columns)?;
        let filter = session.create_physical_expr(filter, &df_schema)?;
        let holds = filter.evaluate(&batch)?.into_array(batch.num_rows())?;
        let holds = holds.as_boolean();
        let kept = self.files.iter().enumerate().filter(|(at, _)| holds.is_valid(*at) && holds.value(*at));
        Ok(kept.map(|(_, file)| file.clone()).collect())
    }
}

#[async_trait]
impl TableProvider for FilesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        merged(&self.files, self.schema.table_schema())
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(filters
            .iter()
            .map(|filter| match self.is_partition_filter(filter) {
                true => TableProviderFilterPushDown::Exact,
                false => TableProviderFilterPushDown::Inexact,
            })
            .collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (of_folders, others): (Vec<Expr>, Vec<Expr>) =
            filters.iter().cloned().partition(|filter| self.is_partition_filter(filter));
        let mut files = self.prune(session, of_folders)?;
        let limit = limit.filter(|_| others.is_empty());
        if let Some(limit) = limit {
            files = enough_for(files, limit);
        }
        if files.is_empty() {
            return Ok(Arc::new(EmptyExec::new(project_schema(&self.schema(), projection)?)));
        }
        if self.format == Format::Parquet
            && let Some(limit) = limit
        {
            let all: Vec<usize>;
            let wanted = match projection {
                Some(wanted) => wanted,
                None => {
                    all = (0..self.schema().fields().len()).collect();
                    &all
                }
            };
            if let Some(groups) = columns::groups(wanted, limit, files.len()) {
                let scans = groups.into_iter().map(|columns| {
                    // The rows are read in the order of the files, and no more of them than are kept.
                    self.scan_files(session, files.clone(), Some(&columns), Some(limit), 1, None)
                });
                let schema = project_schema(&self.schema(), projection)?;
                return Ok(Arc::new(ColumnGroupsExec::new(scans.collect::<Result<_>>()?, schema, limit)));
            }
        }
        let statistics = merged(&files, self.schema.table_schema());
        self.scan_files(session, files, projection, limit, session.config().target_partitions(), statistics)
    }
}

impl FilesTable {
    fn scan_files(
        &self,
        session: &dyn Session,
        files: Vec<PartitionedFile>,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
        partitions: usize,
        statistics: Option<Statistics>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let file_source: Arc<dyn FileSource> = match self.format {
            Format::Parquet => {
                let source = parquet::source(session, Arc::clone(&self.store), self.schema.clone());
                Arc::new(NamedSource::new(Arc::new(source)))
            }
            format => Arc::new(LayoutSource::new(format.as_str(), self.schema.clone(), Arc::clone(&self.stated))),
        };
        let mut config = FileScanConfigBuilder::new(self.url.clone(), file_source)
            .with_file_groups(groups(files, partitions))
            .with_projection_indices(projection.cloned())?
            .with_limit(limit);
        if let Some(statistics) = statistics {
            config = config.with_statistics(statistics);
        }
        Ok(DataSourceExec::from_data_source(config.build()))
    }
}

/// Statistics of all files; `None` unless every file has some.
fn merged(files: &[PartitionedFile], schema: &SchemaRef) -> Option<Statistics> {
    let each: Vec<&Statistics> = files.iter().map(|file| file.statistics.as_deref()).collect::<Option<_>>()?;
    if each.is_empty() {
        return None;
    }
    Statistics::try_merge_iter(each, schema).ok()
}

/// The first files that surely have `limit` rows, so that later ones are not opened.
fn enough_for(files: Vec<PartitionedFile>, limit: usize) -> Vec<PartitionedFile> {
    let mut rows = 0usize;
    files
        .into_iter()
        .take_while(|file| {
            let before = rows;
            if let Some(Precision::Exact(own)) = file.statistics.as_ref().map(|statistics| statistics.num_rows) {
                rows = rows.saturating_add(own);
            }
            before < limit
        })
        .collect()
}

/// Contiguous runs of files, so that one partition after the other is the order of the names.
fn groups(files: Vec<PartitionedFile>, partitions: usize) -> Vec<FileGroup> {
    let size = files.len().div_ceil(partitions.max(1)).max(1);
    let mut groups = Vec::new();
    let mut files = files.into_iter().peekable();
    while files.peek().is_some() {
        groups.push(FileGroup::new(files.by_ref().take(size).collect()));
    }
    groups
}
