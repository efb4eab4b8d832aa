//! An operator that stops its input when its call is over.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions};
use futures::Stream;

use super::Stop;

/// Passes its input's batches on, yields between them, and fails when the call is over.
#[derive(Debug)]
pub(super) struct StopExec {
    pub(super) input: Arc<dyn ExecutionPlan>,
    pub(super) stop: Stop,
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
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.stop.check()?;
        let stream = self.input.execute(partition, context)?;
        Ok(Box::pin(cooperative(StopStream { inner: stream, stop: self.stop.clone() })))
    }
}

struct StopStream {
    inner: SendableRecordBatchStream,
    stop: Stop,
}

impl Stream for StopStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Err(over) = self.stop.check() {
            return Poll::Ready(Some(Err(over)));
        }
        let _current = self.stop.enter();
        self.inner.as_mut().poll_next(context)
    }
}

impl RecordBatchStream for StopStream {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }
}
