//! The end of a caller's plan over a table with rules.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties, ReplaceChildrenOptions,
};
use futures::StreamExt;

use crate::error::{Error, ErrorCode};

/// Runs a plan of its own and shows nothing of it: no children, so that no optimizer reaches into it; no metrics, no
/// order and no statistics but the exact number of the rows that can be seen; and as many partitions whatever there is
/// to read.
#[derive(Debug)]
pub(super) struct ViewExec {
    table: Arc<str>,
    inner: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    rows: Precision<usize>,
}

impl ViewExec {
    pub(super) fn new(
        table: Arc<str>,
        inner: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        rows: Precision<usize>,
        partitions: usize,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(partitions.max(1)),
            inner.pipeline_behavior(),
            inner.boundedness(),
        );
        // What is not exact is made from statistics of the rows that are taken away as well.
        let rows = if matches!(rows, Precision::Exact(_)) { rows } else { Precision::Absent };
        Self { table, inner, properties: Arc::new(properties), rows }
    }
}

impl DisplayAs for ViewExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "ScanExec: table={}, projection=[{}]", self.table, names.join(", "))
    }
}

impl ExecutionPlan for ViewExec {
    fn name(&self) -> &str {
        "ScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("ScanExec has no input") }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("ScanExec has no input") }
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let inner = reset_plan_states(Arc::clone(&self.inner))?;
        Ok(Arc::new(Self {
            table: Arc::clone(&self.table),
            inner,
            properties: Arc::clone(&self.properties),
            rows: self.rows,
        }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let step = self.properties.partitioning.partition_count();
        let count = self.inner.output_partitioning().partition_count();
        let streams = (partition..count).step_by(step).map(|part| self.inner.execute(part, Arc::clone(&context)));
        let streams = streams.collect::<Result<Vec<_>>>().map_err(|error| unreadable(&self.table, error))?;
        let (table, schema) = (Arc::clone(&self.table), self.schema());
        let named = Arc::clone(&schema);
        let batches = futures::stream::iter(streams).flatten().map(move |batch| {
            let batch = batch.map_err(|error| unreadable(&table, error))?;
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(Arc::clone(&named), batch.columns().to_vec(), &options)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }

    fn statistics_from_inputs(&self, _inputs: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        if args.partition().is_none() {
            statistics.num_rows = self.rows;
        }
        Ok(Arc::new(statistics))
    }
}

/// The engine's text can quote a value that is masked or that stands in a row that is taken away.
fn unreadable(table: &str, error: DataFusionError) -> DataFusionError {
    let error = Error::from_datafusion(error);
    let error = match error.code() {
        ErrorCode::ResourceExhausted | ErrorCode::Timeout | ErrorCode::Cancelled => error,
        _ => {
            let message =
                format!("table `{table}`: its data cannot be read under the rules for it. Use another table.");
            Error::new(ErrorCode::SourceUnavailable, message).with_cause(error)
        }
    };
    DataFusionError::External(Box::new(error))
}
