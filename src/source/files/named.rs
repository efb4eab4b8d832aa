//! A `FileSource` whose errors name the file they come from.
//!
//! DataFusion's Parquet errors say what is wrong with a page or footer but not of which file. Everything is passed on to
//! the source inside; only errors on the way out are given the name that the `PartitionedFile` carries.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::object_store::ObjectStore;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::filter_pushdown::FilterPushdownPropagation;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, PhysicalExpr, SortOrderPushdownResult};
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::layout::FileName;
use super::parquet::unreadable;
use super::place::first_line;
use super::scan::carry;

/// Passes everything on to the source inside.
pub(crate) struct NamedSource {
    inner: Arc<dyn FileSource>,
}

impl NamedSource {
    pub(crate) fn new(inner: Arc<dyn FileSource>) -> Self {
        Self { inner }
    }

    fn wrap(inner: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(Self { inner })
    }
}

impl FileSource for NamedSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        self.inner.create_file_opener(store, config, partition)
    }

    fn create_morselizer(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        Ok(Box::new(Named { inner: self.inner.create_morselizer(store, config, partition)?, name: None }))
    }

    fn table_schema(&self) -> &TableSchema {
        self.inner.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Self::wrap(self.inner.with_batch_size(batch_size))
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.inner.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.inner.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.inner.metrics()
    }

    fn file_type(&self) -> &str {
        self.inner.file_type()
    }

    fn fmt_extra(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_extra(kind, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.inner.supports_repartitioning()
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        repartition_file_min_size: usize,
        output_ordering: Option<LexOrdering>,
        config: &FileScanConfig,
    ) -> Result<Option<FileScanConfig>> {
        // Only the file groups are changed; the source in the configuration stays this one.
        self.inner.repartitioned(target_partitions, repartition_file_min_size, output_ordering, config)
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let pushed = self.inner.try_pushdown_filters(filters, config)?;
        Ok(FilterPushdownPropagation { filters: pushed.filters, updated_node: pushed.updated_node.map(Self::wrap) })
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        Ok(self.inner.try_pushdown_sort(order, properties)?.map(Self::wrap))
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.inner.reorder_files(files)
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(self.inner.try_pushdown_projection(projection)?.map(Self::wrap))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.inner.apply_expressions(f)
    }
}

/// One of the morsel traits' objects with the name of its file.
#[derive(Debug)]
struct Named<T> {
    inner: T,
    name: Option<FileName>,
}

impl Morselizer for Named<Box<dyn Morselizer>> {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let name = file.extension::<FileName>().cloned();
        let inner = self.inner.plan_file(file).map_err(|error| with_name(error, name.as_ref()))?;
        Ok(Box::new(Named { inner, name }))
    }
}

impl MorselPlanner for Named<Box<dyn MorselPlanner>> {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let Self { inner, name } = *self;
        let Some(mut plan) = inner.plan().map_err(|error| with_name(error, name.as_ref()))? else { return Ok(None) };
        let planner = |inner| Box::new(Named { inner, name: name.clone() }) as Box<dyn MorselPlanner>;
        let morsel = |inner| Box::new(Named { inner, name: name.clone() }) as Box<dyn Morsel>;
        let mut named = MorselPlan::new()
            .with_morsels(plan.take_morsels().into_iter().map(morsel).collect())
            .with_planners(plan.take_ready_planners().into_iter().map(planner).collect());
        if let Some(pending) = plan.take_pending_planner() {
            let name = name.clone();
            named.set_pending_planner(async move {
                let inner = pending.await.map_err(|error| with_name(error, name.as_ref()))?;
                Ok(Box::new(Named { inner, name }) as Box<dyn MorselPlanner>)
            });
        }
        Ok(Some(named))
    }
}

impl Morsel for Named<Box<dyn Morsel>> {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let Self { inner, name } = *self;
        inner.into_stream().map(move |batch| batch.map_err(|error| with_name(error, name.as_ref()))).boxed()
    }
}

/// Errors of the file become the crate's own; those of the query (a cast in its filter, memory) stay as they are.
fn with_name(error: DataFusionError, name: Option<&FileName>) -> DataFusionError {
    let Some(name) = name else { return error };
    match error.find_root() {
        DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => {
            carry(unreadable(name, &error).with_cause(error))
        }
        DataFusionError::ArrowError(inner, _) => {
            use datafusion::arrow::error::ArrowError;
            match inner.as_ref() {
                ArrowError::ParquetError(_) | ArrowError::IoError(..) | ArrowError::InvalidArgumentError(_) => {
                    carry(unreadable(name, &error).with_cause(error))
                }
                ArrowError::CastError(why) => carry(name.execution(&format!(
                    "has a value that is not of the table's column type ({}); declare the column's type with `columns`",
                    first_line(why)
                ))),
                _ => error,
            }
        }
        _ => error,
    }
}
