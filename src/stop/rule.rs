//! A rule that ends the planning of a call that is over.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// Stands before the engine's rules, and so is asked before each of the optimizer's passes. It changes nothing.
#[derive(Debug)]
pub(crate) struct StopRule;

impl OptimizerRule for StopRule {
    fn name(&self) -> &str {
        "stop"
    }

    fn rewrite(&self, plan: LogicalPlan, _config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        super::check()?;
        Ok(Transformed::no(plan))
    }
}

impl PhysicalOptimizerRule for StopRule {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        super::check()?;
        Ok(plan)
    }

    fn name(&self) -> &str {
        "stop"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
