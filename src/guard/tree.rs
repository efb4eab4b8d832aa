//! The check of a whole plan: every node, the subqueries in its expressions, what `EXPLAIN` explains.

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::error::{Error, ErrorCode};
use crate::functions;

// A `WITH` name stands in the plan once for each time that it is used, so twenty names that each use the one before
// twice make a million nodes. The optimizer takes minutes for a thousand joins.

/// Nodes of a plan: 500 branches of a union have 1,500.
const MAX_NODES: usize = 4_000;
/// Joins, commas in `FROM` included, and subqueries in expressions, which become joins.
const MAX_JOINS: usize = super::text::MAX_JOINS;

/// Calls of functions that make much out of a small number: each may leave a constant of a megabyte in the plan.
const MAX_GROWING_CALLS: usize = 64;

/// Refuses a plan that does anything but read, or that is too large to be optimized.
pub(super) fn check(plan: &LogicalPlan) -> Result<(), Error> {
    let mut size = Size { nodes: 0, joins: 0, growing: 0 };
    let mut subqueries: Vec<Arc<LogicalPlan>> = Vec::new();
    check_inputs(plan, &mut size, &mut subqueries)?;
    while let Some(subquery) = subqueries.pop() {
        check_inputs(&subquery, &mut size, &mut subqueries)?;
    }
    Ok(())
}

/// There is no way to give a value for it.
fn parameter(name: &str) -> Error {
    let message = format!("{name} is a parameter, and parameters have no values here: write the value itself.");
    Error::new(ErrorCode::InvalidQuery, message)
}

struct Size {
    nodes: usize,
    joins: usize,
    /// Calls that can make large constants.
    growing: usize,
}

impl Size {
    fn check(&self) -> Result<(), Error> {
        let (what, most) = if self.joins > MAX_JOINS {
            ("joins and subqueries", MAX_JOINS)
        } else if self.growing > MAX_GROWING_CALLS {
            ("calls of repeat, lpad, range and the like", MAX_GROWING_CALLS)
        } else if self.nodes > MAX_NODES {
            ("steps", MAX_NODES)
        } else {
            return Ok(());
        };
        let message = format!(
            "The statement is too complex: it has too many {what} (at most {most}); a WITH query counts again wherever it \
             is used. Use each of them once, or split the statement."
        );
        Err(Error::new(ErrorCode::TooComplex, message))
    }
}

/// Walks without recursion, because a plan can be as deep as a statement has parts.
fn check_inputs(plan: &LogicalPlan, size: &mut Size, subqueries: &mut Vec<Arc<LogicalPlan>>) -> Result<(), Error> {
    let mut open = vec![plan];
    while let Some(plan) = open.pop() {
        size.nodes += 1;
        size.joins += usize::from(matches!(plan, LogicalPlan::Join(_)));
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
                    | Expr::ScalarSubquery(subquery) => {
                        size.joins += 1;
                        subqueries.push(Arc::clone(&subquery.subquery))
                    }
                    Expr::ScalarFunction(call) if functions::grows(call.name()) => size.growing += 1,
                    Expr::Placeholder(placeholder) => {
                        return Err(DataFusionError::External(Box::new(parameter(&placeholder.id))));
                    }
                    _ => {}
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
        .map_err(Error::from_datafusion)?;
        size.check()?;
    }
    Ok(())
}
