//! The check of a whole plan: every node, the subqueries in its expressions, what `EXPLAIN` explains.

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::error::{Error, ErrorCode};

/// A `WITH` name stands in the plan once for each time that it is used, so twenty names that each use the one before
/// twice make a million nodes. Statements that people write have hundreds.
const MAX_NODES: usize = 10_000;

/// Refuses a plan that does anything but read, or that is too large to be optimized.
pub(super) fn check(plan: &LogicalPlan) -> Result<(), Error> {
    let mut nodes = 0;
    let mut subqueries: Vec<Arc<LogicalPlan>> = Vec::new();
    check_inputs(plan, &mut nodes, &mut subqueries)?;
    while let Some(subquery) = subqueries.pop() {
        check_inputs(&subquery, &mut nodes, &mut subqueries)?;
    }
    Ok(())
}

/// Walks without recursion, because a plan can be as deep as a statement has parts.
fn check_inputs(plan: &LogicalPlan, nodes: &mut usize, subqueries: &mut Vec<Arc<LogicalPlan>>) -> Result<(), Error> {
    let mut open = vec![plan];
    while let Some(plan) = open.pop() {
        *nodes += 1;
        if *nodes > MAX_NODES {
            return Err(Error::new(
                ErrorCode::TooComplex,
                "The statement is too complex: its plan has more than 10,000 steps, because a WITH query is planned \
                 again wherever it is used. Use each WITH query once or twice, or split the statement.",
            ));
        }
        // No wildcard: a kind of node that a later DataFusion adds has to be looked at.
        match plan {
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::Window(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Repartition(_)
            | LogicalPlan::Union(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::EmptyRelation(_)
            | LogicalPlan::Subquery(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Values(_)
            | LogicalPlan::Explain(_)
            | LogicalPlan::Analyze(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::DescribeTable(_)
            | LogicalPlan::Unnest(_)
            | LogicalPlan::RecursiveQuery(_)
            // SQL alone makes no such node: it comes from the embedding program's own planners.
            | LogicalPlan::Extension(_) => {}
            LogicalPlan::Statement(_) | LogicalPlan::Dml(_) | LogicalPlan::Ddl(_) | LogicalPlan::Copy(_) => {
                return Err(Error::new(
                    ErrorCode::NotAllowed,
                    "The statement would change something: the tools are read-only. Write one SELECT.",
                ));
            }
        }
        open.extend(plan.inputs());
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                match expr {
                    Expr::Exists(Exists { subquery, .. })
                    | Expr::InSubquery(InSubquery { subquery, .. })
                    | Expr::SetComparison(SetComparison { subquery, .. })
                    | Expr::ScalarSubquery(subquery) => subqueries.push(Arc::clone(&subquery.subquery)),
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
        .map_err(Error::from_datafusion)?;
    }
    Ok(())
}
