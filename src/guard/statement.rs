//! Which statements are read-only, from the engine's own parse.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::logical_expr::AggregateUDF;
use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, OrderByKind, Query, Select, SetExpr, Statement, TableFactor, Visit, Visitor,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{Error, ErrorCode};

/// Refuses a statement that is not a query, an `EXPLAIN` of one, `DESCRIBE` or `SHOW`.
pub(super) fn check(statement: &EngineStatement, aggregates: &HashMap<String, Arc<AggregateUDF>>) -> Result<(), Error> {
    match statement {
        EngineStatement::Statement(statement) => check_sql(statement, aggregates),
        EngineStatement::Explain(explain) => match explain.statement.as_ref() {
            EngineStatement::Statement(statement) if matches!(statement.as_ref(), Statement::Query(_)) => {
                check_sql(statement, aggregates)
            }
            other => Err(explain_of(&other.to_string())),
        },
        EngineStatement::CreateExternalTable(_) => Err(refuse("CREATE EXTERNAL TABLE")),
        EngineStatement::CopyTo(_) => Err(refuse("COPY")),
        EngineStatement::Reset(_) => Err(refuse("RESET")),
    }
}

fn check_sql(statement: &Statement, aggregates: &HashMap<String, Arc<AggregateUDF>>) -> Result<(), Error> {
    match statement {
        Statement::Query(_) => {}
        Statement::Explain { statement, .. } => match statement.as_ref() {
            Statement::Query(_) => {}
            other => return Err(explain_of(&other.to_string())),
        },
        Statement::ExplainTable { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowFunctions { .. }
        | Statement::ShowVariable { .. }
        | Statement::ShowVariables { .. }
        | Statement::ShowCreate { .. }
        | Statement::ShowDatabases { .. }
        | Statement::ShowSchemas { .. }
        | Statement::ShowCatalogs { .. }
        | Statement::ShowViews { .. }
        | Statement::ShowObjects { .. }
        | Statement::ShowStatus { .. }
        | Statement::ShowCollation { .. }
        | Statement::ShowCharset { .. }
        | Statement::ShowProcessList { .. } => {}
        other => return Err(refuse(&other.to_string())),
    }
    match statement.visit(&mut Reading::new(aggregates)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Tables and queries of a statement, when every `WITH` name is replaced by its query. Twenty names that each use the
/// one before twice are a million, and planning does replace them.
const MAX_EXPANDED: u64 = 1_500;
/// Sets that `CUBE`, `ROLLUP` and `GROUPING SETS` may stand for; ten columns of `CUBE` are 1,024.
const MAX_GROUPING_SETS: u64 = 1_024;

/// Columns that one `SELECT` names: planning takes time with the square, 1 s for 3,000 in a debug build.
const MAX_SELECTED: usize = 4_000;
/// Aggregates of the whole statement: the planner compares each with all others, 3.7 s for 1,000 in a debug build and
/// 23 s for 2,500.
const MAX_AGGREGATES: usize = 1_000;
/// Expressions of one `ORDER BY`: 2 s for 500 of them, a minute for 3,000.
const MAX_SORTED: usize = 256;

/// Walks a query: finds what writes or locks, what the planner would leave out silently, and what grows in planning.
struct Reading<'a> {
    /// The functions that aggregate.
    known_aggregates: &'a HashMap<String, Arc<AggregateUDF>>,
    aggregates: usize,
    /// Size of the open queries, the innermost last.
    open: Vec<u64>,
    /// `WITH` names, by the address of the query that defines them.
    names: HashMap<usize, String>,
    sizes: HashMap<String, u64>,
    grouping_sets: u64,
}

impl<'a> Reading<'a> {
    fn new(known_aggregates: &'a HashMap<String, Arc<AggregateUDF>>) -> Self {
        Self {
            known_aggregates,
            aggregates: 0,
            open: Vec::new(),
            names: HashMap::new(),
            sizes: HashMap::new(),
            grouping_sets: 0,
        }
    }

    fn add(&mut self, size: u64) -> ControlFlow<Error> {
        if let Some(open) = self.open.last_mut() {
            *open = open.saturating_add(size);
            if *open > MAX_EXPANDED {
                return ControlFlow::Break(too_complex(
                    "with every WITH query in place of its name, it has too many parts",
                    "Use each WITH query once, or split the statement.",
                ));
            }
        }
        ControlFlow::Continue(())
    }
}

fn address(query: &Query) -> usize {
    std::ptr::from_ref(query).addr()
}

impl Visitor for Reading<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        if !query.locks.is_empty() {
            return ControlFlow::Break(refuse("FOR UPDATE"));
        }
        // The planner passes over these, so that the answer would not be what was asked for.
        if query.for_clause.is_some() || query.format_clause.is_some() || query.settings.is_some() {
            return ControlFlow::Break(unsupported("FOR, FORMAT and SETTINGS after a query"));
        }
        let sorted = match query.order_by.as_ref().map(|order| &order.kind) {
            Some(OrderByKind::Expressions(expressions)) => expressions.len(),
            _ => 0,
        };
        if sorted > MAX_SORTED {
            return ControlFlow::Break(too_complex("it sorts by more than 256 expressions", "Sort by fewer."));
        }
        // Branches of set operations are no queries of their own; their left side is as deep as there are branches.
        let mut branches = vec![query.body.as_ref()];
        while let Some(branch) = branches.pop() {
            match branch {
                SetExpr::SetOperation { left, right, .. } => branches.extend([left.as_ref(), right.as_ref()]),
                SetExpr::Insert(_) => return ControlFlow::Break(refuse("INSERT")),
                SetExpr::Update(_) => return ControlFlow::Break(refuse("UPDATE")),
                SetExpr::Delete(_) => return ControlFlow::Break(refuse("DELETE")),
                SetExpr::Merge(_) => return ControlFlow::Break(refuse("MERGE")),
                SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) | SetExpr::Table(_) => {}
            }
        }
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.names.insert(address(&cte.query), cte.alias.name.value.to_lowercase());
        }
        self.open.push(1);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let size = self.open.pop().unwrap_or_default();
        if let Some(name) = self.names.remove(&address(query)) {
            let known = self.sizes.entry(name).or_default();
            *known = size.max(*known);
            // It counts where it is used.
            return ControlFlow::Continue(());
        }
        self.add(size)
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<Error> {
        let size = self.sizes.get(&name.to_string().replace('"', "").to_lowercase()).copied();
        self.add(size.unwrap_or(1))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        if select.into.is_some() {
            return ControlFlow::Break(refuse("SELECT INTO"));
        }
        if select.projection.len() > MAX_SELECTED {
            return ControlFlow::Break(too_complex("it selects more than 4,000 columns by name", "Select fewer."));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<Error> {
        match table {
            TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } => {
                ControlFlow::Break(unsupported("TABLESAMPLE (use WHERE random() < 0.1)"))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        if let Expr::Function(call) = expr
            && self.known_aggregates.contains_key(&call.name.to_string().to_lowercase())
        {
            self.aggregates += 1;
            if self.aggregates > MAX_AGGREGATES {
                return ControlFlow::Break(too_complex(
                    "it has more than 1,000 aggregates",
                    "Ask for some of the columns at a time.",
                ));
            }
        }
        let sets = match expr {
            Expr::Cube(sets) => 1_u64.checked_shl(u32::try_from(sets.len()).unwrap_or(u32::MAX)).unwrap_or(u64::MAX),
            Expr::Rollup(sets) => sets.len() as u64 + 1,
            Expr::GroupingSets(sets) => sets.len() as u64,
            _ => return ControlFlow::Continue(()),
        };
        self.grouping_sets = self.grouping_sets.max(1).saturating_mul(sets.max(1));
        if self.grouping_sets > MAX_GROUPING_SETS {
            return ControlFlow::Break(too_complex("it has more than 1,024 grouping sets", "Group by fewer columns."));
        }
        ControlFlow::Continue(())
    }
}

fn too_complex(why: &str, advice: &str) -> Error {
    Error::new(ErrorCode::TooComplex, format!("The statement is too complex: {why}. {advice}"))
}

fn unsupported(what: &str) -> Error {
    Error::new(ErrorCode::InvalidQuery, format!("The engine does not support this: {what}. Write it another way."))
}

/// The refusal of a text that does not parse but begins as a statement that writes or changes settings, maybe one
/// that only another database has.
pub(super) fn refused_by_first_word(tokens: &[TokenWithSpan]) -> Option<Error> {
    let mut words = tokens.iter().map(|token| &token.token).filter(|token| !matches!(token, Token::Whitespace(_)));
    let mut first = words.next()?;
    let mut explained = false;
    while let Token::Word(word) = first
        && word.quote_style.is_none()
        && (matches!(word.keyword, Keyword::EXPLAIN)
            || explained && matches!(word.keyword, Keyword::ANALYZE | Keyword::VERBOSE))
    {
        explained = true;
        first = words.next()?;
    }
    let Token::Word(word) = first else { return None };
    if word.quote_style.is_some() {
        return None;
    }
    let name = word.value.to_ascii_uppercase();
    WRITES.contains(&name.as_str()).then(|| refuse(&name))
}

const WRITES: &[&str] = &[
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "CACHE",
    "CALL",
    "CHECKPOINT",
    "CLOSE",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DECLARE",
    "DELETE",
    "DETACH",
    "DISCARD",
    "DO",
    "DROP",
    "EXEC",
    "EXECUTE",
    "EXPORT",
    "FETCH",
    "FLUSH",
    "FORCE",
    "GRANT",
    "IMPORT",
    "INSERT",
    "INSTALL",
    "KILL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MERGE",
    "MSCK",
    "NOTIFY",
    "OPEN",
    "OPTIMIZE",
    "PRAGMA",
    "PREPARE",
    "PURGE",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "RENAME",
    "REPLACE",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SET",
    "START",
    "TRUNCATE",
    "UNCACHE",
    "UNLISTEN",
    "UNLOAD",
    "UNLOCK",
    "UPDATE",
    "UPSERT",
    "USE",
    "VACUUM",
];

/// `what` is a statement's text or name; its first words say enough.
fn refuse(what: &str) -> Error {
    let kind = kind(what);
    Error::new(
        ErrorCode::NotAllowed,
        format!(
            "{kind} is not allowed: the tools are read-only. Write one SELECT, WITH, VALUES, EXPLAIN, DESCRIBE or SHOW."
        ),
    )
}

fn explain_of(what: &str) -> Error {
    Error::new(
        ErrorCode::NotAllowed,
        format!("EXPLAIN of {} is not allowed: the tools are read-only. Only a query can be explained.", kind(what)),
    )
}

/// `CREATE TABLE`, `SELECT INTO`, `BEGIN`: the words in capitals at the beginning, two at most.
fn kind(statement: &str) -> String {
    let words: Vec<&str> =
        statement.split_whitespace().take(2).take_while(|word| word.bytes().all(|b| b.is_ascii_uppercase())).collect();
    if words.is_empty() { "The statement".to_owned() } else { words.join(" ") }
}
