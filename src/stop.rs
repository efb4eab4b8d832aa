//! Making a physical plan stop when its call is over.
//!
//! A task is cancelled where it yields, and DataFusion's operators yield where they read their inputs. A join compares
//! every row of one batch with all rows of the other side before it reads on, for hours if need be, so the plan is
//! rewritten before it runs:
//!
//! ```text
//! before   NestedLoopJoinExec: filter=sin(l + r) > 2     after   StopExec
//!            DataSourceExec                                        NestedLoopJoinExec: filter=stop(sin(l + r) > 2)
//!            DataSourceExec                                          StopExec
//!                                                                      DataSourceExec
//!                                                                    StopExec
//!                                                                      DataSourceExec
//! ```
//!
//! `StopExec` yields to the scheduler and ends with an error once the call is over; the filter of a join does the same
//! for each batch of pairs. What cannot be stopped is one step on one batch: a function's call on 8,192 rows, a sort of
//! what is in memory, a partition's window frames. For these [`Workers`](crate::session) replaces its threads.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder, SortMergeJoinExec,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions};
use futures::StreamExt;

use crate::error::{Error, ErrorCode};

/// Whether a call is over. Clones belong to the same call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Says that nobody waits for the call's result any more.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether something of the call is still alive besides this clone.
    pub(crate) fn is_held(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// # Errors
    /// `cancelled` when the call is over.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.is_set() {
            return Ok(());
        }
        Err(DataFusionError::External(Box::new(Error::new(ErrorCode::Cancelled, "The call is over."))))
    }
}

/// The same plan, which ends soon after `stop` is set. To be called last: optimizer rules do not know the nodes.
///
/// # Errors
/// DataFusion's, which it has none of for a plan that it made itself.
pub(crate) fn stoppable(plan: Arc<dyn ExecutionPlan>, stop: &Stop) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|plan| {
        let guarded = |filter: &JoinFilter| {
            let expression = Arc::new(StopExpr { inner: Arc::clone(filter.expression()), stop: stop.clone() });
            JoinFilter::new(expression, filter.column_indices().to_vec(), Arc::clone(filter.schema()))
        };
        let plan: Arc<dyn ExecutionPlan> = if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>()
            && let Some(filter) = join.filter()
        {
            Arc::new(NestedLoopJoinExecBuilder::from(join).with_filter(Some(guarded(filter))).build()?)
        } else if let Some(join) = plan.downcast_ref::<HashJoinExec>()
            && let Some(filter) = join.filter()
        {
            join.builder().with_filter(Some(guarded(filter))).build_exec()?
        } else if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>()
            && let Some(filter) = join.filter()
        {
            Arc::new(SortMergeJoinExec::try_new(
                Arc::clone(join.left()),
                Arc::clone(join.right()),
                join.on().to_vec(),
                Some(guarded(filter)),
                join.join_type(),
                join.sort_options().to_vec(),
                join.null_equality(),
            )?)
        } else {
            plan
        };
        // One batch of their input can become millions of their output, all of them ready at once.
        let multiplies = plan.children().len() != 1 || plan.is::<UnnestExec>();
        Ok(if multiplies {
            Transformed::yes(Arc::new(StopExec { input: plan, stop: stop.clone() }) as Arc<dyn ExecutionPlan>)
        } else {
            Transformed::no(plan)
        })
    })
    .map(|stoppable| stoppable.data)
}

/// Passes its input's batches on, yields between them, and fails when the call is over.
#[derive(Debug)]
struct StopExec {
    input: Arc<dyn ExecutionPlan>,
    stop: Stop,
}

impl DisplayAs for StopExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StopExec")
    }
}

impl ExecutionPlan for StopExec {
    fn name(&self) -> &str {
        "StopExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self { input, stop: self.stop.clone() })),
            _ => Err(DataFusionError::Internal("StopExec has one input".to_owned())),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(
            children,
            ReplaceChildrenOptions::new(datafusion::physical_plan::ChildrenPropertiesMode::Recompute),
        )
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.stop.check()?;
        let stream = self.input.execute(partition, context)?;
        let stop = self.stop.clone();
        let checked = stream.map(move |batch| stop.check().and(batch));
        Ok(Box::pin(cooperative(RecordBatchStreamAdapter::new(self.schema(), checked))))
    }
}

/// An expression that fails when the call is over.
#[derive(Debug)]
struct StopExpr {
    inner: Arc<dyn PhysicalExpr>,
    stop: Stop,
}

impl PartialEq for StopExpr {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner)
    }
}

impl Eq for StopExpr {}

impl Hash for StopExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for StopExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PhysicalExpr for StopExpr {
    fn data_type(&self, input_schema: &Schema) -> Result<DataType> {
        self.inner.data_type(input_schema)
    }

    fn nullable(&self, input_schema: &Schema) -> Result<bool> {
        self.inner.nullable(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.stop.check()?;
        self.inner.evaluate(batch)
    }

    fn return_field(&self, input_schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(input_schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        match (children.pop(), children.is_empty()) {
            (Some(inner), true) => Ok(Arc::new(Self { inner, stop: self.stop.clone() })),
            _ => Err(DataFusionError::Internal("a stoppable expression has one child".to_owned())),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
