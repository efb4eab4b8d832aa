//! Verified plan → bounded plan.
//!
//! ```text
//! before   Sort: x DESC                  after   Limit: skip=0, fetch=51
//!            TableScan: t                          Sort: x DESC
//!                                                    TableScan: t
//! ```
//!
//! The user's own `ORDER BY`, `LIMIT` and `OFFSET` lie below and keep their meaning. `Explain` and `Analyze` must stay
//! the root, so they stay as they are and the encoder bounds their rows.

use datafusion::error::Result;
use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

/// Puts a fetch of `fetch` rows over the plan.
///
/// # Errors
/// DataFusion's, which it has none of for a plan that was planned.
pub(crate) fn bounded(plan: LogicalPlan, fetch: usize) -> Result<LogicalPlan> {
    if !can_be_wrapped(&plan) {
        return Ok(plan);
    }
    LogicalPlanBuilder::from(plan).limit(0, Some(fetch))?.build()
}

/// A plan that counts the rows of `plan`; `None` where a plan has no rows of data.
///
/// # Errors
/// As [`bounded`].
pub(crate) fn counted(plan: LogicalPlan) -> Result<Option<LogicalPlan>> {
    if !can_be_wrapped(&plan) {
        return Ok(None);
    }
    LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), vec![count_all()])?.build().map(Some)
}

fn can_be_wrapped(plan: &LogicalPlan) -> bool {
    !matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) | LogicalPlan::DescribeTable(_))
}

/// Whether rows come in the order of storage: the plan only scans, filters, projects and limits.
pub(crate) fn keeps_storage_order(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(_) => true,
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::Limit(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().into_iter().all(keeps_storage_order)
        }
        _ => false,
    }
}

/// Whether the first rows of storage are the first rows of the result: nothing filters, skips or reorders them, so a
/// scan need not read more rows than are fetched.
pub(crate) fn takes_first_rows(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(scan) => scan.filters.is_empty(),
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => plan.inputs().into_iter().all(takes_first_rows),
        LogicalPlan::Limit(limit) => limit.skip.is_none() && takes_first_rows(&limit.input),
        _ => false,
    }
}
