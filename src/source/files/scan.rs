//! The `FileSource` of every format but Parquet: each file is read as its own layout says.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileOpenFuture, FileOpener, FileScanConfig, FileSource};
use datafusion::datasource::projection::{ProjectionOpener, SplitProjection};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::object_store::{GetResultPayload, ObjectMeta, ObjectStore, ObjectStoreExt};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, PhysicalExpr};
use futures::{FutureExt, StreamExt};

use super::layout::{FileLayout, FileName, Input, Wanted};
use super::place::{carried, first_line};
use crate::error::Error;

/// Reads files by their [`FileLayout`], which each `PartitionedFile` carries.
#[derive(Clone)]
pub(crate) struct LayoutSource {
    file_type: &'static str,
    table_schema: TableSchema,
    stated: Arc<BTreeSet<String>>,
    projection: SplitProjection,
    batch_size: usize,
    metrics: ExecutionPlanMetricsSet,
}

impl LayoutSource {
    pub(crate) fn new(file_type: &'static str, table_schema: TableSchema, stated: Arc<BTreeSet<String>>) -> Self {
        let projection = SplitProjection::unprojected(&table_schema);
        Self { file_type, table_schema, stated, projection, batch_size: 8192, metrics: ExecutionPlanMetricsSet::new() }
    }
}

/// The bytes of an object: the file itself where it is local.
///
/// # Errors
/// Names the file.
pub(crate) async fn input(
    store: &Arc<dyn ObjectStore>,
    meta: &ObjectMeta,
    name: &FileName,
) -> Result<Box<dyn Input>, Error> {
    let failed = |error: &datafusion::object_store::Error| {
        carried(error).unwrap_or_else(|| {
            name.unavailable(&format!(
                "cannot be read ({}); check its permissions and that it still exists",
                first_line(error)
            ))
        })
    };
    let result = store.get(&meta.location).await.map_err(|error| failed(&error))?;
    match result.payload {
        GetResultPayload::File(file, _) => Ok(Box::new(file)),
        GetResultPayload::Stream(_) => {
            let bytes = result.bytes().await.map_err(|error| failed(&error))?;
            Ok(Box::new(Cursor::new(bytes)))
        }
    }
}

/// An [`Error`] on its way through DataFusion.
pub(crate) fn carry(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

struct LayoutOpener {
    store: Arc<dyn ObjectStore>,
    wanted: Wanted,
}

impl FileOpener for LayoutOpener {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let layout = file
            .extension::<Arc<FileLayout>>()
            .cloned()
            .ok_or_else(|| DataFusionError::Internal("a file of a table has no layout".to_owned()))?;
        let (store, wanted) = (Arc::clone(&self.store), self.wanted.clone());
        Ok(async move {
            let input = input(&store, &file.object_meta, &layout.name).await.map_err(carry)?;
            let batches = layout.read(input, wanted).map_err(carry)?;
            Ok(futures::stream::iter(batches.map(|batch| batch.map_err(carry))).boxed())
        }
        .boxed())
    }
}

impl FileSource for LayoutSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        _config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        let file_schema = self.table_schema.file_schema();
        let schema = Arc::new(file_schema.project(&self.projection.file_indices)?);
        let wanted = Wanted { schema, stated: Arc::clone(&self.stated), batch_size: self.batch_size };
        let opener = Arc::new(LayoutOpener { store, wanted });
        ProjectionOpener::try_new(self.projection.clone(), opener, file_schema)
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { batch_size, ..self.clone() })
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection.source)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        self.file_type
    }

    fn fmt_extra(&self, _: DisplayFormatType, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    /// A record's end cannot be found from the middle of a file: a line break may be quoted.
    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        let merged = self.projection.source.try_merge(projection)?;
        let projection = SplitProjection::new(self.table_schema.file_schema(), &merged);
        Ok(Some(Arc::new(Self { projection, ..self.clone() })))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        datafusion::physical_plan::apply_expression_roots(self.projection.source.iter(), f)
    }
}
