//! `SELECT *` over wide tables, planned without what is quadratic in their columns.
//!
//! ```text
//! SELECT * FROM t WHERE x > 1 ORDER BY y LIMIT 5
//!
//! by the engine's SQL planner   SELECT NULL FROM t WHERE x > 1   →  Projection: NULL
//!                                                                     Filter: x > 1
//!                                                                       TableScan: t
//! by its plan builder           the input of that projection     →  Limit: fetch=5
//!                                                                     Sort: y
//!                                                                       Projection: every column
//!                                                                         Filter: …
//! ```
//!
//! The SQL planner looks for `UNNEST` in each expression of a select list and compares each with all before it: 0.7 s
//! for 3,000 columns, although a wildcard only ever stands for columns. The builder that it calls for the wildcard, the
//! sort and the limit is called here as well, in the same order, so the plan is the same one; the tests compare them
//! over many statements. Every shape that is not named here, and every failure after the `FROM`, goes the planner's way.

use datafusion::common::{DFSchema, TableReference};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::WildcardOptions;
use datafusion::logical_expr::expr_rewriter::normalize_sorts;
use datafusion::logical_expr::select_expr::SelectExpr;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SortExpr};
use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::planner::NullOrdering;
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, ExprWithAlias, GroupByExpr, LimitClause, OrderBy, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, Value, WildcardAdditionalOptions,
};

/// The plan of a statement that selects nothing but wildcards, or why its `FROM` or `WHERE` cannot be planned; `None`
/// for every other statement.
pub(super) async fn plan(statement: &EngineStatement, state: &SessionState) -> Option<Result<LogicalPlan>> {
    let EngineStatement::Statement(inner) = statement else { return None };
    let Statement::Query(query) = inner.as_ref() else { return None };
    let select = plain_select(query)?;
    let wildcards: Vec<SelectExpr> = select.projection.iter().map(wildcard).collect::<Option<_>>()?;
    let sorted = sort_keys(query.order_by.as_ref())?;
    let (limit, offset) = limits(query.limit_clause.as_ref())?;

    let marked = Query {
        with: query.with.clone(),
        body: Box::new(SetExpr::Select(Box::new(Select {
            projection: vec![SelectItem::UnnamedExpr(SqlExpr::value(Value::Null))],
            ..select.clone()
        }))),
        order_by: None,
        limit_clause: None,
        ..query.as_ref().clone()
    };
    let marked = EngineStatement::Statement(Box::new(Statement::Query(Box::new(marked))));
    match state.statement_to_plan(marked).await {
        Ok(LogicalPlan::Projection(marked)) => {
            let from = std::sync::Arc::unwrap_or_clone(marked.input);
            build(from, wildcards, sorted, limit, offset, state).ok().map(Ok)
        }
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    }
}

/// A column to sort by, as it is written.
struct SortKey<'a> {
    by: &'a SqlExpr,
    asc: bool,
    nulls_first: Option<bool>,
}

fn build(
    from: LogicalPlan,
    wildcards: Vec<SelectExpr>,
    sorted: Vec<SortKey<'_>>,
    limit: Option<&SqlExpr>,
    offset: Option<&SqlExpr>,
    state: &SessionState,
) -> Result<LogicalPlan> {
    let mut plan = LogicalPlanBuilder::from(from.clone()).project(wildcards)?.build()?;
    if !sorted.is_empty() {
        // What is selected is searched first, then what it is selected from.
        let mut schema = plan.schema().as_ref().clone();
        schema.merge(from.schema());
        let nulls: NullOrdering = state.config_options().sql_parser.default_null_ordering.as_str().into();
        let sorted = sorted.into_iter().map(|key| {
            let nulls_first = key.nulls_first.unwrap_or_else(|| nulls.nulls_first(key.asc));
            Ok(SortExpr::new(expression(key.by, &schema, state)?, key.asc, nulls_first))
        });
        let sorted = normalize_sorts(sorted.collect::<Result<Vec<_>>>()?, &plan)?;
        plan = LogicalPlanBuilder::from(plan).sort(sorted)?.build()?;
    }
    if limit.is_some() || offset.is_some() {
        let none = DFSchema::empty();
        let skip = offset.map(|offset| expression(offset, &none, state)).transpose()?;
        let fetch = limit.map(|limit| expression(limit, &none, state)).transpose()?;
        plan = LogicalPlanBuilder::from(plan).limit_by_expr(skip, fetch)?.build()?;
    }
    Ok(plan)
}

fn expression(sql: &SqlExpr, schema: &DFSchema, state: &SessionState) -> Result<Expr> {
    state.create_logical_expr_from_sql_expr(ExprWithAlias { expr: sql.clone(), alias: None }, schema)
}

/// The select of a query that has a select list, `FROM`, `WHERE`, `ORDER BY` and `LIMIT`, and nothing else.
fn plain_select(query: &Query) -> Option<&Select> {
    let Query {
        with: _,
        body,
        order_by: _,
        limit_clause: _,
        fetch: None,
        locks,
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators,
    } = query
    else {
        return None;
    };
    let SetExpr::Select(select) = body.as_ref() else { return None };
    let Select {
        select_token: _,
        optimizer_hints: _,
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: _,
        projection: _,
        exclude: None,
        into: None,
        from,
        lateral_views,
        prewhere: None,
        selection: _,
        connect_by,
        group_by: GroupByExpr::Expressions(group_by, group_by_modifiers),
        cluster_by,
        distribute_by,
        sort_by,
        having: None,
        named_window,
        qualify: None,
        window_before_qualify: _,
        value_table_mode: None,
        flavor: _,
    } = select.as_ref()
    else {
        return None;
    };
    let plain = locks.is_empty()
        && pipe_operators.is_empty()
        && !from.is_empty()
        && lateral_views.is_empty()
        && connect_by.is_empty()
        && group_by.is_empty()
        && group_by_modifiers.is_empty()
        && cluster_by.is_empty()
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && named_window.is_empty();
    plain.then_some(select)
}

/// `*` and `t.*`, with `EXCLUDE` or `EXCEPT` at most.
fn wildcard(item: &SelectItem) -> Option<SelectExpr> {
    match item {
        SelectItem::Wildcard(options) => Some(SelectExpr::Wildcard(wildcard_options(options)?)),
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
            let [part] = name.0.as_slice() else { return None };
            let ident = part.as_ident()?;
            // Whatever the session does with names in capitals, it leaves these as they are.
            if ident.quote_style.is_none() && ident.value.chars().any(|c| !c.is_ascii() || c.is_ascii_uppercase()) {
                return None;
            }
            Some(SelectExpr::QualifiedWildcard(TableReference::bare(ident.value.as_str()), wildcard_options(options)?))
        }
        _ => None,
    }
}

fn wildcard_options(options: &WildcardAdditionalOptions) -> Option<WildcardOptions> {
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike: None,
        opt_exclude,
        opt_except,
        opt_replace: None,
        opt_rename: None,
        opt_alias: None,
    } = options
    else {
        return None;
    };
    Some(WildcardOptions {
        ilike: None,
        exclude: opt_exclude.clone(),
        except: opt_except.clone(),
        replace: None,
        rename: None,
    })
}

/// Names to sort by; positions and expressions go the planner's way.
fn sort_keys(order_by: Option<&OrderBy>) -> Option<Vec<SortKey<'_>>> {
    let Some(order_by) = order_by else { return Some(Vec::new()) };
    let OrderBy { kind: OrderByKind::Expressions(keys), interpolate: None } = order_by else { return None };
    keys.iter()
        .map(|key| {
            let named = matches!(key.expr, SqlExpr::Identifier(_) | SqlExpr::CompoundIdentifier(_));
            (named && key.with_fill.is_none()).then_some(SortKey {
                by: &key.expr,
                asc: key.options.asc.unwrap_or(true),
                nulls_first: key.options.nulls_first,
            })
        })
        .collect()
}

/// `LIMIT` and `OFFSET`, where they are numbers.
fn limits(clause: Option<&LimitClause>) -> Option<(Option<&SqlExpr>, Option<&SqlExpr>)> {
    let (limit, offset) = match clause {
        None => (None, None),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        Some(_) => return None,
    };
    let number = |sql: Option<&SqlExpr>| {
        sql.is_none_or(|sql| matches!(sql, SqlExpr::Value(value) if matches!(value.value, Value::Number(..))))
    };
    (number(limit) && number(offset)).then_some((limit, offset))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::datasource::MemTable;
    use datafusion::prelude::SessionContext;

    use super::*;

    fn context() -> SessionContext {
        let ctx = SessionContext::new();
        let list = DataType::new_list(DataType::Int64, true);
        let of_struct = DataType::Struct(vec![Field::new("x", DataType::Int64, true)].into());
        for (table, columns) in [
            ("t", vec![("id", DataType::Int64), ("name", DataType::Utf8), ("tags", list), ("userId", DataType::Int64)]),
            ("u", vec![("id", DataType::Int64), ("name", DataType::Utf8View), ("place", of_struct)]),
            ("v", vec![("id", DataType::Int32), ("z", DataType::Float64)]),
        ] {
            let fields: Vec<Field> =
                columns.into_iter().map(|(name, data_type)| Field::new(name, data_type, true)).collect();
            let table_of = MemTable::try_new(Arc::new(Schema::new(fields)), vec![vec![]]).unwrap();
            ctx.register_table(table, Arc::new(table_of)).unwrap();
        }
        ctx
    }

    /// Select lists, sources, conditions, orders and limits, each with each.
    fn statements() -> Vec<String> {
        let selected = [
            "*",
            "t.*",
            "u.*",
            "T.*",
            "\"t\".*",
            "public.t.*",
            "*, *",
            "t.*, u.*",
            "* EXCLUDE (id)",
            "* EXCLUDE id",
            "* EXCEPT (name)",
            "t.* EXCLUDE (name, tags)",
            "* EXCLUDE (id, id)",
            "* EXCLUDE (missing)",
            "* EXCLUDE (id, name, tags, \"userId\")",
            "* REPLACE (1 AS id)",
            "*, id + 1",
            "*, unnest(tags)",
            "count(*)",
            "id, name",
            "DISTINCT *",
            "DISTINCT ON (id) *",
        ];
        let from = [
            "t",
            "t AS u",
            "u",
            "t, u",
            "t JOIN u ON t.id = u.id",
            "t JOIN u USING (id)",
            "t LEFT JOIN u USING (id, name)",
            "t FULL JOIN v USING (id)",
            "t NATURAL JOIN u",
            "t LEFT SEMI JOIN u ON t.id = u.id",
            "t JOIN v ON t.id = v.id JOIN u ON u.id = v.id",
            "(SELECT * FROM t) AS t",
            "(SELECT id, count(*) AS n FROM t GROUP BY id) AS t",
            "(SELECT id, count(*) FROM t GROUP BY id)",
            "(VALUES (1, 2), (3, 4)) AS t(id, name)",
            "unnest([1, 2]) AS t(id)",
            "t AS t(id, b)",
            "missing",
        ];
        let conditions = [
            "",
            " WHERE true",
            " WHERE id > 1",
            " WHERE t.id IN (SELECT v.id FROM v WHERE v.id = t.id)",
            " WHERE EXISTS (SELECT 1 FROM u WHERE u.id = 1) AND t.name LIKE 'a%'",
            " WHERE missing = 1",
        ];
        let orders = [
            "",
            " ORDER BY id",
            " ORDER BY name DESC",
            " ORDER BY t.id NULLS FIRST, name ASC NULLS LAST",
            " ORDER BY \"userId\"",
            " ORDER BY z",
            " ORDER BY public.t.id",
            " ORDER BY 1",
            " ORDER BY id + 1",
            " ORDER BY ALL",
            " ORDER BY (SELECT max(id) FROM v)",
        ];
        let limits = ["", " LIMIT 5", " LIMIT 5 OFFSET 2", " OFFSET 3", " LIMIT 1 + 1", " LIMIT ALL"];
        let mut statements = Vec::new();
        let mut limit = limits.iter().cycle();
        for selected in selected {
            for from in from {
                for condition in conditions {
                    for order in orders {
                        let limit = limit.next().unwrap();
                        statements.push(format!("SELECT {selected} FROM {from}{condition}{order}{limit}"));
                    }
                }
            }
        }
        statements.extend(
            [
                "WITH c AS (SELECT * FROM t) SELECT * FROM c ORDER BY id LIMIT 3",
                "WITH c AS (SELECT id FROM t), d AS (SELECT * FROM c) SELECT d.*, c.* FROM c, d",
                "FROM t",
                "FROM t SELECT * EXCLUDE (id)",
                "SELECT *",
                "SELECT * FROM t UNION ALL SELECT * FROM t",
                "SELECT * FROM t GROUP BY id",
                "SELECT * FROM t HAVING id > 1",
                "SELECT * FROM t QUALIFY row_number() OVER () = 1",
                "SELECT * FROM t WINDOW w AS (ORDER BY id)",
                "SELECT * FROM t LIMIT -1",
                "SELECT * FROM t |> WHERE id > 1",
                "SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.id = t.id) AS l",
                "SELECT * FROM t WHERE id = $1 ORDER BY id",
            ]
            .map(str::to_owned),
        );
        statements
    }

    #[tokio::test]
    async fn plans_are_those_of_the_planner() {
        let ctx = context();
        for nulls in ["nulls_max", "nulls_first"] {
            let mut state = ctx.state();
            state.config_mut().options_mut().sql_parser.default_null_ordering = nulls.to_owned();
            let dialect = datafusion::common::config::Dialect::Generic;
            let (mut taken, mut refused) = (0, 0);
            for sql in statements() {
                let Ok(statement) = state.sql_to_statement(&sql, &dialect) else { continue };
                let Some(planned) = plan(&statement, &state).await else { continue };
                match (state.statement_to_plan(statement).await, planned) {
                    (Ok(expected), Ok(planned)) => {
                        taken += 1;
                        assert_eq!(planned, expected, "{sql}");
                        assert_eq!(
                            planned.display_indent_schema().to_string(),
                            expected.display_indent_schema().to_string(),
                            "{sql}"
                        );
                        let name = |plan: &LogicalPlan| plan.schema().columns();
                        assert_eq!(name(&planned), name(&expected), "{sql}");
                    }
                    (Err(expected), Err(error)) => {
                        refused += 1;
                        assert_eq!(error.strip_backtrace(), expected.strip_backtrace(), "{sql}");
                    }
                    (expected, planned) => panic!("{sql}: {planned:?} instead of {expected:?}"),
                }
            }
            assert!(taken > 1_500 && refused > 1_000, "{taken} plans and {refused} errors were compared");
        }
    }
}
