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
//! for each batch of pairs, and so does an aggregate in a window for each row, if it takes more than a step. What cannot
//! be stopped is one step on one batch: a function's call on 8,192 rows, a sort of what is in memory, an optimizer rule.
//! For these the [workers](crate::session) replace their threads.

mod exec;
mod expr;
mod rule;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::window::SlidingAggregateWindowExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder, SortMergeJoinExec,
};
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};

use self::exec::StopExec;
use self::expr::StopExpr;
pub(crate) use self::rule::StopRule;

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

    /// Does `work` as that of this call, so that [`check`] knows of it: in planning, and in functions.
    pub(crate) async fn scope<F: Future>(self, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            let _entered = self.enter();
            work.as_mut().poll(context)
        })
        .await
    }

    /// Makes it the thread's call for as long as the result lives.
    fn enter(&self) -> Entered {
        Entered(CURRENT.replace(Some(self.clone())))
    }

    /// # Errors
    /// `cancelled` when the call is over.
    fn check(&self) -> Result<()> {
        if !self.is_set() {
            return Ok(());
        }
        Err(DataFusionError::External(Box::new(Error::new(ErrorCode::Cancelled, "The call is over."))))
    }
}

thread_local! {
    /// The call on whose behalf this thread works.
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// The stop of the call that this thread works for.
pub(crate) fn current() -> Option<Stop> {
    CURRENT.with_borrow(Clone::clone)
}

/// Asks for the call on whose behalf this thread works: for functions, which DataFusion tells nothing about it.
///
/// # Errors
/// `cancelled` when that call is over.
pub(crate) fn check() -> Result<()> {
    CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), Stop::check))
}

/// Sets the thread's call back to what it was.
struct Entered(Option<Stop>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// The same plan, which ends soon after `stop` is set. To be called last: optimizer rules do not know the nodes.
///
/// # Errors
/// What the engine would say of a window function when it runs: that it cannot work on the frame.
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
        let windows = match (plan.downcast_ref::<WindowAggExec>(), plan.downcast_ref::<BoundedWindowAggExec>()) {
            (Some(windows), _) => windows.window_expr(),
            (_, Some(windows)) => windows.window_expr(),
            _ => &[],
        };
        for window in windows {
            if let Some(sliding) = window.as_any().downcast_ref::<SlidingAggregateWindowExpr>() {
                sliding.get_aggregate_expr().create_sliding_accumulator()?;
            }
        }
        // Sources; and what can make millions of batches out of one, all of them ready at once, or works for long.
        let stops = plan.children().len() != 1 || plan.is::<UnnestExec>() || !windows.is_empty();
        Ok(if stops {
            Transformed::yes(Arc::new(StopExec { input: plan, stop: stop.clone() }) as Arc<dyn ExecutionPlan>)
        } else {
            Transformed::no(plan)
        })
    })
    .map(|stoppable| stoppable.data)
}
