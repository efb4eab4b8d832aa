//! SQL → one verified read-only `LogicalPlan`.

use datafusion::execution::context::{SQLOptions, SessionState};
use datafusion::logical_expr::LogicalPlan;

use crate::error::{Error, ErrorCode};

/// Parses and plans one statement with the engine itself, and lets only a read-only plan through.
///
/// # Errors
/// `syntax`, `unknown_…`, `invalid_query`, `not_allowed`, `too_complex`.
pub(crate) async fn plan(sql: &str, state: &SessionState, max_sql_bytes: usize) -> Result<LogicalPlan, Error> {
    if sql.len() > max_sql_bytes {
        return Err(Error::new(
            ErrorCode::TooComplex,
            format!("the statement has {} bytes; at most {max_sql_bytes} are taken", sql.len()),
        ));
    }
    let dialect = state.config_options().sql_parser.dialect;
    let statement = state.sql_to_statement(sql, &dialect).map_err(Error::from_datafusion)?;
    let plan = state.statement_to_plan(statement).await.map_err(Error::from_datafusion)?;
    let read_only = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    read_only.verify_plan(&plan).map_err(|error| Error::new(ErrorCode::NotAllowed, error.strip_backtrace()))?;
    Ok(plan)
}

/// The error for a table that is not there.
pub(crate) fn unknown_table(name: &str, _state: &SessionState) -> Error {
    Error::new(ErrorCode::UnknownTable, format!("there is no table `{name}`; call list_tables to see them"))
}
