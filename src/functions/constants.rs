//! Large constants in a plan that is about to run.
//!
//! `range(1, 100000)` is one list while it is planned. A projection repeats it for every row of a batch, which makes
//! 8,192 of them at once, in memory that no pool sees.

use std::sync::Arc;

use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

use super::growth::{CALL_SHARE, exhausted};

/// Constants of no more bytes than this are not counted: people write them out.
const SMALL: usize = 16 << 10;

/// Refuses a plan that would repeat its constants to more than an eighth of `memory` bytes at once.
///
/// # Errors
/// `resource_exhausted`.
pub(crate) fn check(plan: &Arc<dyn ExecutionPlan>, memory: usize, batch_size: usize) -> Result<()> {
    let most = memory / CALL_SHARE;
    plan.apply(|node| {
        let mut bytes = 0_usize;
        node.apply_expressions(&mut |expr| {
            expr.apply(|expr| {
                if let Some(literal) = expr.downcast_ref::<Literal>() {
                    let size = literal.value().size();
                    bytes = bytes.saturating_add(if size > SMALL { size } else { 0 });
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        if bytes > 0 && bytes.saturating_mul(rows(node, batch_size)) > most {
            return Err(exhausted(format!(
                "Constants of {bytes} bytes, repeated for every row, would take more than {most} bytes at once. Make \
                 shorter texts or lists, or join a subquery that makes them in one row."
            )));
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map(drop)
}

/// Rows that a node's input has in one batch, at most.
fn rows(node: &Arc<dyn ExecutionPlan>, batch_size: usize) -> usize {
    let known = node.children().first().and_then(|input| {
        let statistics = StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new()).ok()?;
        match statistics.num_rows {
            Precision::Exact(rows) => Some(rows),
            _ => None,
        }
    });
    known.unwrap_or(batch_size).min(batch_size)
}
