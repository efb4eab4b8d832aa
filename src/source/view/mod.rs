//! An open table under its rules: the filtered and masked table that the planner sees.
//!
//! ```text
//! ViewExec: table=t            what the caller's plan ends in; nothing of it is pushed further down
//!   └─ Projection: visible columns, masks in their places      planned apart, where filter and projection
//!        └─ Filter: the rules' predicates                      are pushed into the scan as always
//!             └─ TableScan: the table as it is
//! ```
//!
//! `AND` evaluates both its sides over a whole batch, and the optimizer merges filters: a caller's `1 / (secret - 42)`
//! below the rule's filter would tell by its error what stands in rows that are taken away. So only predicates that
//! cannot fail go below, and all others stay above.

mod exec;
mod rules;
mod safe;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

use self::exec::ViewExec;
pub(super) use self::rules::lay;
use crate::stop;

/// A table under its rules.
struct View {
    table: Arc<str>,
    inner: Arc<dyn TableProvider>,
    /// The rules' predicates over the columns of `inner`.
    filters: Vec<Expr>,
    columns: Vec<ViewColumn>,
    schema: SchemaRef,
}

/// What stands in one visible column's place.
struct ViewColumn {
    /// Over the columns of `inner`, without the name.
    expression: Expr,
    is_masked: bool,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("table", &self.table).field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl View {
    /// The rows and the columns, by their indices, that can be seen.
    fn plan(&self, columns: &[usize], filters: &[Expr], limit: Option<usize>) -> Result<LogicalPlan> {
        let mut plan = LogicalPlanBuilder::scan("rows", provider_as_source(Arc::clone(&self.inner)), None)?;
        for filter in &self.filters {
            plan = plan.filter(filter.clone())?;
        }
        for filter in filters {
            plan = plan.filter(safe::unqualified(filter.clone())?)?;
        }
        if let Some(limit) = limit {
            plan = plan.limit(0, Some(limit))?;
        }
        let expressions = columns.iter().map(|at| {
            let expression = self.columns[*at].expression.clone();
            expression.alias(self.schema.field(*at).name())
        });
        plan.project(expressions.collect::<Vec<_>>())?.build()
    }

    /// Whether the predicate compares columns as they are stored and cannot fail on any row.
    fn is_safe(&self, filter: &Expr) -> bool {
        let type_of = |column: &Column| {
            let at = self.schema.index_of(column.name()).ok()?;
            (!self.columns[at].is_masked).then(|| self.schema.field(at).data_type())
        };
        safe::cannot_fail(filter, &type_of)
    }
}

#[async_trait]
impl TableProvider for View {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| match self.is_safe(filter) {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let schema: Schema = self.schema.project(&columns)?;
        let plan = state.create_physical_plan(&self.plan(&columns, filters, limit)?).await?;
        let rows = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?.num_rows;
        let plan = match stop::current() {
            Some(stop) => stop::stoppable(plan, &stop)?,
            None => plan,
        };
        let partitions = state.config().target_partitions();
        Ok(Arc::new(ViewExec::new(Arc::clone(&self.table), plan, Arc::new(schema), rows, partitions)))
    }
}
