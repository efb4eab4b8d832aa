//! Which statements are read-only, from the engine's own parse.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::sqlparser::ast::{Query, Select, SetExpr, Statement, Visit, Visitor};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::error::{Error, ErrorCode};

/// Refuses a statement that is not a query, an `EXPLAIN` of one, `DESCRIBE` or `SHOW`.
pub(super) fn check(statement: &EngineStatement) -> Result<(), Error> {
    match statement {
        EngineStatement::Statement(statement) => check_sql(statement),
        EngineStatement::Explain(explain) => match explain.statement.as_ref() {
            EngineStatement::Statement(statement) if matches!(statement.as_ref(), Statement::Query(_)) => {
                check_sql(statement)
            }
            other => Err(explain_of(&other.to_string())),
        },
        EngineStatement::CreateExternalTable(_) => Err(refuse("CREATE EXTERNAL TABLE")),
        EngineStatement::CopyTo(_) => Err(refuse("COPY")),
        EngineStatement::Reset(_) => Err(refuse("RESET")),
    }
}

fn check_sql(statement: &Statement) -> Result<(), Error> {
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
    match statement.visit(&mut OnlyReads) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(what) => Err(refuse(what)),
    }
}

/// Finds what writes or locks inside a query, wherever it stands.
struct OnlyReads;

impl Visitor for OnlyReads {
    type Break = &'static str;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        if !query.locks.is_empty() {
            return ControlFlow::Break("FOR UPDATE");
        }
        // Branches of set operations are no queries of their own; their left side is as deep as there are branches.
        let mut branches = vec![query.body.as_ref()];
        while let Some(branch) = branches.pop() {
            match branch {
                SetExpr::SetOperation { left, right, .. } => branches.extend([left.as_ref(), right.as_ref()]),
                SetExpr::Insert(_) => return ControlFlow::Break("INSERT"),
                SetExpr::Update(_) => return ControlFlow::Break("UPDATE"),
                SetExpr::Delete(_) => return ControlFlow::Break("DELETE"),
                SetExpr::Merge(_) => return ControlFlow::Break("MERGE"),
                SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Values(_) | SetExpr::Table(_) => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        if select.into.is_some() { ControlFlow::Break("SELECT INTO") } else { ControlFlow::Continue(()) }
    }
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
