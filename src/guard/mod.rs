//! SQL text → one verified read-only `LogicalPlan`.
//!
//! ```text
//! text ──► tokens ──► size ──► one statement ──► its kind ──► plan ──► every node of the plan
//!          (sqlparser) (text.rs)  (the engine's own parser)   (the engine's planner)  (tree.rs)
//! ```
//!
//! What is checked is what runs: parser and planner are the engine's. Planning executes nothing; that is
//! `SessionContext::sql`'s doing, which is never called.

mod describe;
mod statement;
mod text;
mod tree;
mod wildcard;

use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::dialect::dialect_from_str;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::error::{Error, ErrorCode};

pub(crate) use describe::{describe, unknown_table};

/// Plans one read-only statement, and refuses everything else.
///
/// Planning and dropping a plan recurse: call it on a thread with at least [`STACK_BYTES`] of stack, and drop the plan
/// on such a thread as well.
///
/// # Errors
/// `too_complex`, `syntax`, `not_allowed`, or what is wrong with the query, with near names.
pub(crate) async fn plan(sql: &str, state: &SessionState, max_sql_bytes: usize) -> Result<LogicalPlan, Error> {
    let statement = parse(sql, state, max_sql_bytes)?;
    statement::check(&statement, state.aggregate_functions())?;
    let planned = match wildcard::plan(&statement, state).await {
        Some(planned) => planned,
        None => state.statement_to_plan(statement).await,
    };
    let plan = match planned {
        Ok(plan) => plan,
        Err(error) => return Err(describe(error, state)),
    };
    tree::check(&plan)?;
    Ok(plan)
}

/// The stack that the largest statement that passes needs, from parsing to execution, in a debug build.
pub(crate) const STACK_BYTES: usize = 32 << 20;

fn parse(sql: &str, state: &SessionState, max_sql_bytes: usize) -> Result<Statement, Error> {
    if sql.len() > max_sql_bytes {
        return Err(Error::new(
            ErrorCode::TooComplex,
            format!("The statement has {} bytes; at most {max_sql_bytes} are taken. Shorten it.", sql.len()),
        ));
    }
    let options = &state.config().options().sql_parser;
    let dialect = dialect_from_str(options.dialect).ok_or_else(|| {
        Error::new(ErrorCode::Internal, format!("The session's SQL dialect {} is not known.", options.dialect))
    })?;
    let tokens = Tokenizer::new(dialect.as_ref(), sql).tokenize_with_location().map_err(|error| {
        Error::from_datafusion(datafusion::error::DataFusionError::SQL(Box::new(error.into()), None))
    })?;
    let several = has_several(&tokens);
    text::check(&tokens)?;

    let refused = statement::refused_by_first_word(&tokens);
    let parsed = DFParserBuilder::new(tokens)
        .with_dialect(dialect.as_ref())
        .with_recursion_limit(options.recursion_limit.get())
        .build()
        .and_then(|mut parser| parser.parse_statements());
    let mut statements = match parsed {
        Ok(statements) => statements,
        Err(_) if several => return Err(one_at_a_time()),
        // A statement of some other database that the engine cannot even read.
        Err(error) => return Err(refused.unwrap_or_else(|| Error::from_datafusion(error))),
    };
    match (statements.pop_front(), statements.is_empty()) {
        (None, _) => Err(Error::new(ErrorCode::Syntax, "There is no statement in the text. Write one SELECT.")),
        (Some(_), false) => Err(one_at_a_time()),
        (Some(statement), true) => Ok(statement),
    }
}

fn one_at_a_time() -> Error {
    Error::new(ErrorCode::Syntax, "The text holds several statements. Send one statement at a time.")
}

/// Whether something follows a semicolon.
fn has_several(tokens: &[TokenWithSpan]) -> bool {
    let mut statements = 0;
    let mut inside = false;
    for token in tokens {
        match token.token {
            Token::SemiColon => inside = false,
            Token::Whitespace(_) | Token::EOF => {}
            _ if !inside => {
                inside = true;
                statements += 1;
            }
            _ => {}
        }
    }
    statements > 1
}

#[cfg(test)]
mod tests;
