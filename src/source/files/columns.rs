//! Wide reads of few rows, a group of columns at a time.
//!
//! ```text
//! one scan of 3,000 columns, limit=23      ColumnGroupsExec: columns=3000, limit=23
//!                                            scan of columns 0 to 127, limit=23
//!                                            scan of columns 128 to 255, limit=23
//!                                            …
//! ```
//!
//! A scan holds the compressed and the decoded pages of all its columns at once, however few rows are wanted: 2 GB for
//! 3,000 columns of 20,000 rows. Each group reads the same files in the same order, without a filter and in one
//! partition, so row n of every group is the same row; when a group is done, only the rows that are wanted are kept.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, ChildrenPropertiesMode, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, TryStreamExt, stream};

/// Columns that are read together at least: enough that opening the files again costs little beside decoding.
const GROUP: usize = 128;
/// Groups at most: each opening looks at every column of the schema.
const MOST_GROUPS: usize = 16;
/// Fewer columns are read at once.
const LEAST_COLUMNS: usize = 2 * GROUP;
/// Cells that are kept at most, until all groups are read.
const MOST_CELLS: usize = 1_000_000;
/// Files at most, since each group opens them.
const MOST_FILES: usize = 64;
/// Groups that are decoded at a time.
const CONCURRENT: usize = 2;

/// The groups of a scan's columns, if it is one to be read in groups.
pub(super) fn groups(projection: &[usize], limit: usize, files: usize) -> Option<Vec<Vec<usize>>> {
    let wide = projection.len() >= LEAST_COLUMNS
        && projection.len().saturating_mul(limit) <= MOST_CELLS
        && (1..=MOST_FILES).contains(&files);
    let size = projection.len().div_ceil(MOST_GROUPS).max(GROUP);
    wide.then(|| projection.chunks(size).map(<[usize]>::to_vec).collect())
}

/// Reads its inputs, which are groups of columns of the same rows, and puts them side by side.
#[derive(Debug)]
pub(super) struct ColumnGroupsExec {
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    limit: usize,
    properties: Arc<PlanProperties>,
}

impl ColumnGroupsExec {
    /// The first `limit` rows of `inputs`, whose columns together are `schema`.
    pub(super) fn new(inputs: Vec<Arc<dyn ExecutionPlan>>, schema: SchemaRef, limit: usize) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { inputs, limit, properties: Arc::new(properties) }
    }
}

impl DisplayAs for ColumnGroupsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnGroupsExec: columns={}, limit={}", self.schema().fields().len(), self.limit)
    }
}

impl ExecutionPlan for ColumnGroupsExec {
    fn name(&self) -> &str {
        "ColumnGroupsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true; self.inputs.len()]
    }

    /// Rows of the inputs belong together by their place.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.inputs.len()]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(children, self.schema(), self.limit)))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (inputs, schema, limit) = (self.inputs.clone(), self.schema(), self.limit);
        let output = Arc::clone(&schema);
        let reads: Vec<_> = inputs.into_iter().map(|input| read(input, Arc::clone(&context), limit)).collect();
        let batch = async move {
            let groups: Vec<RecordBatch> = stream::iter(reads).buffered(CONCURRENT).try_collect().await?;
            side_by_side(groups, schema)
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(output, stream::once(batch))))
    }
}

/// Reads one group in a task of its own, which ends when this is dropped.
async fn read(input: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>, limit: usize) -> Result<RecordBatch> {
    let task = SpawnedTask::spawn(async move { first_rows(input.execute(0, context)?, limit).await });
    task.join().await.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))?
}

/// The first `limit` rows, without what else the reader decoded.
async fn first_rows(mut input: SendableRecordBatchStream, limit: usize) -> Result<RecordBatch> {
    let schema = input.schema();
    let mut batches = Vec::new();
    let mut rows = 0;
    while rows < limit {
        let Some(batch) = input.next().await.transpose()? else { break };
        let batch = batch.slice(0, batch.num_rows().min(limit - rows));
        rows += batch.num_rows();
        batches.push(batch);
    }
    drop(input);
    let batch = match batches.as_slice() {
        [batch] => batch.clone(),
        _ => concat_batches(&schema, &batches)?,
    };
    let columns = batch.columns().iter().map(compact).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// A view array points into the pages that it was decoded from, and keeps all of them.
fn compact(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        _ => Arc::clone(array),
    }
}

fn side_by_side(groups: Vec<RecordBatch>, schema: SchemaRef) -> Result<RecordBatch> {
    let rows = groups.first().map_or(0, RecordBatch::num_rows);
    if groups.iter().any(|group| group.num_rows() != rows) {
        return Err(DataFusionError::Internal("groups of columns have different numbers of rows".to_owned()));
    }
    let columns = groups.iter().flat_map(|group| group.columns().iter().cloned()).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}
