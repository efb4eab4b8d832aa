//! Rules in SQL → the plan of a [`View`].

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};

use super::{View, ViewColumn};
use crate::error::{Error, ErrorCode};
use crate::policy::TableRules;
use crate::source::files::OpenTable;

/// Lays rules over an open table, each over what the ones before it leave; filters are over the table's own columns.
///
/// # Errors
/// `source_unavailable` if a rule cannot be kept. The text names the rule and neither the SQL nor a column of the table;
/// the engine's own text is the cause.
pub(in crate::source) fn lay(
    open: OpenTable,
    table: &str,
    layers: &[&TableRules],
    state: &SessionState,
) -> Result<OpenTable, Error> {
    if layers.iter().all(|rules| rules.is_empty()) {
        return Ok(open);
    }
    let failed = |what: &str| {
        let message = format!("table `{table}` is not set up rightly: {what}. Use another table.");
        Error::new(ErrorCode::SourceUnavailable, message)
    };
    let with_cause = |what: &str, error: datafusion::error::DataFusionError| {
        tracing::error!(table, rule = what, error = %error.strip_backtrace(), "a rule of the policy cannot be kept");
        failed(what)
    };

    let all = open.provider.schema();
    let whole = DFSchema::try_from(Arc::clone(&all)).map_err(|error| with_cause("two columns have one name", error))?;
    let own = |field: &FieldRef| (Arc::clone(field), Expr::Column(Column::new_unqualified(field.name())), false);
    let mut columns: Vec<(FieldRef, Expr, bool)> = all.fields().iter().map(own).collect();
    let mut filters = Vec::new();
    for rules in layers {
        for filter in &rules.filter {
            let expression =
                planned(filter, &whole, state).map_err(|error| with_cause("its filter does not plan", error))?;
            if let Some(why) = forbidden(&expression) {
                return Err(failed(&format!("its filter {why}")));
            }
            filters.push(expression);
        }
        // Masks see what the layers before left, each of this layer the same.
        let below: HashMap<String, Expr> =
            columns.iter().map(|(field, expression, _)| (field.name().clone(), expression.clone())).collect();
        let fields: Vec<FieldRef> = columns.iter().map(|(field, _, _)| Arc::clone(field)).collect();
        let below_schema =
            DFSchema::try_from(Schema::new(fields)).map_err(|error| with_cause("two columns have one name", error))?;
        for (name, sql) in &rules.mask {
            let Some(at) = columns.iter().position(|(field, _, _)| field.name() == name) else {
                // Hidden by a layer before, which keeps more than a mask would.
                if whole.has_column_with_unqualified_name(name) {
                    continue;
                }
                return Err(failed(&format!("it has no column `{name}` to mask")));
            };
            let what = format!("the mask of `{name}`");
            let plan = |sql: &str| -> DataFusionResult<(Expr, DataType)> {
                let expression = planned(sql, &below_schema, state)?;
                let expression = expression
                    .transform(|expression| {
                        Ok(match &expression {
                            Expr::Column(column) => match below.get(column.name()) {
                                Some(stands_for) => Transformed::yes(stands_for.clone()),
                                None => Transformed::no(expression),
                            },
                            _ => Transformed::no(expression),
                        })
                    })?
                    .data;
                let data_type = expression.get_type(&whole)?;
                Ok((expression, data_type))
            };
            let (expression, data_type) =
                plan(sql).map_err(|error| with_cause(&format!("{what} does not plan"), error))?;
            if let Some(why) = forbidden(&expression) {
                return Err(failed(&format!("{what} {why}")));
            }
            columns[at] = (Arc::new(Field::new(name, data_type, true)), expression, true);
        }
        for name in &rules.hide {
            if !whole.has_column_with_unqualified_name(name) {
                return Err(failed(&format!("it has no column `{name}` to hide")));
            }
        }
        columns.retain(|(field, _, _)| !rules.hide.contains(field.name()));
    }
    if columns.is_empty() {
        return Err(failed("every column of it is hidden"));
    }

    let partition_columns = open
        .partition_columns
        .iter()
        .filter(|name| columns.iter().any(|(field, _, is_masked)| field.name() == name.as_str() && !is_masked));
    let partition_columns = partition_columns.cloned().collect();
    let (fields, columns): (Vec<FieldRef>, Vec<ViewColumn>) =
        columns.into_iter().map(|(field, expression, is_masked)| (field, ViewColumn { expression, is_masked })).unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, all.metadata().clone()));
    // How many records were read tells of those that are taken away.
    let inferred_from = open.inferred_from.filter(|_| filters.is_empty());
    let mut view = View { table: table.into(), inner: open.provider, filters, columns, schema };
    view.settle(state).map_err(|error| with_cause("a rule for it does not plan", error))?;
    Ok(OpenTable { provider: Arc::new(view), inferred_from, partition_columns })
}

fn planned(sql: &str, schema: &DFSchema, state: &SessionState) -> DataFusionResult<Expr> {
    Ok(state.create_logical_expr(sql, schema)?.unalias())
}

/// Why an expression may not be a rule.
fn forbidden(expression: &Expr) -> Option<&'static str> {
    if expression.is_volatile() {
        return Some("calls a function that gives another value each time");
    }
    let is_more_than_a_row = |expression: &Expr| {
        matches!(
            expression,
            Expr::ScalarSubquery(_)
                | Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::AggregateFunction(_)
                | Expr::WindowFunction(_)
                | Expr::Unnest(_)
                | Expr::GroupingSet(_)
                | Expr::Placeholder(_)
        )
    };
    let found = expression.exists(|expression| Ok(is_more_than_a_row(expression))).unwrap_or(true);
    found.then_some("needs more than the row it stands for: no subquery, aggregate or window can be used")
}

impl View {
    /// Plans the whole table once: that filters are boolean, and what types the masks have after coercion.
    fn settle(&mut self, state: &SessionState) -> DataFusionResult<()> {
        let columns: Vec<usize> = (0..self.columns.len()).collect();
        let plan = self.plan(&columns, &[], None)?;
        let analyzed = state.analyzer().execute_and_check(plan, state.config_options(), |_, _| {})?;
        let LogicalPlan::Projection(_) = &analyzed else {
            return datafusion::common::internal_err!("a projection became something else");
        };
        let types = Arc::clone(analyzed.schema());
        let fields = self.schema.fields().iter().enumerate().map(|(at, field)| match self.columns[at].is_masked {
            true => Arc::new(Field::new(field.name(), types.field(at).data_type().clone(), true)),
            false => Arc::clone(field),
        });
        let fields: Vec<FieldRef> = fields.collect();
        self.schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        Ok(())
    }
}
