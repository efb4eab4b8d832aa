//! The front door: [`Toolset`], its builder and the definitions of its tools.

use datafusion::prelude::SessionContext;

use crate::encode::ResultFormat;
use crate::error::{ConfigError, Error, ErrorCode};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::result::{CheckResult, QueryResult, SchemaResult, TablesResult};
use crate::source::Source;

/// A statement for [`Toolset::query`], with what the caller may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRequest {
    sql: String,
    max_rows: Option<usize>,
    format: ResultFormat,
}

impl QueryRequest {
    /// One read-only statement, in the toolset's limits and as JSON.
    pub fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), max_rows: None, format: ResultFormat::Json }
    }

    /// At most this many rows; the toolset's own `max_rows` holds when that is less. Least 1.
    #[must_use]
    pub fn with_max_rows(mut self, rows: usize) -> Self {
        self.max_rows = Some(rows);
        self
    }

    /// The text to answer in. Default [`ResultFormat::Json`].
    #[must_use]
    pub fn with_format(mut self, format: ResultFormat) -> Self {
        self.format = format;
        self
    }
}

impl From<&str> for QueryRequest {
    fn from(sql: &str) -> Self {
        Self::new(sql)
    }
}

impl From<String> for QueryRequest {
    fn from(sql: String) -> Self {
        Self::new(sql)
    }
}

/// One tool, for the list that a model is given.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object with a scalar `type` per property.
    pub input_schema: serde_json::Value,
}

/// The four tools over the registered tables. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Toolset {}

/// Collects what a [`Toolset`] is made of.
#[derive(Debug, Default)]
pub struct ToolsetBuilder {
    sources: Vec<Source>,
    limits: Limits,
    policy: Policy,
}

impl ToolsetBuilder {
    /// Adds a table.
    #[must_use]
    pub fn source(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    /// Adds tables.
    #[must_use]
    pub fn sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        self.sources.extend(sources);
        self
    }

    /// Sets the limits. Default [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what may be seen. Default: everything.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Shows the tables of a context that the program already has.
    #[must_use]
    pub fn session_context(self, context: &SessionContext) -> Self {
        let _ = context;
        self
    }

    /// Checks the set-up. Does no I/O.
    ///
    /// # Errors
    /// Names what cannot be used.
    pub fn build(self) -> Result<Toolset, ConfigError> {
        self.limits.check()?;
        Ok(Toolset {})
    }
}

impl Toolset {
    /// Starts a toolset without tables.
    pub fn builder() -> ToolsetBuilder {
        ToolsetBuilder::default()
    }

    /// Names the tables.
    ///
    /// # Errors
    /// See [`ErrorCode`].
    pub async fn list_tables(&self, name_contains: Option<&str>) -> Result<TablesResult, Error> {
        let _ = name_contains;
        Err(Error::new(ErrorCode::Internal, "skeleton"))
    }

    /// Describes a table.
    ///
    /// # Errors
    /// See [`ErrorCode`].
    pub async fn get_schema(&self, table_name: &str, name_contains: Option<&str>) -> Result<SchemaResult, Error> {
        let _ = (table_name, name_contains);
        Err(Error::new(ErrorCode::Internal, "skeleton"))
    }

    /// Runs a statement.
    ///
    /// # Errors
    /// See [`ErrorCode`].
    pub async fn query(&self, request: impl Into<QueryRequest>) -> Result<QueryResult, Error> {
        let _ = request.into();
        Err(Error::new(ErrorCode::Internal, "skeleton"))
    }

    /// Plans a statement.
    ///
    /// # Errors
    /// See [`ErrorCode`]. A statement that `query` would refuse is an answer, not an error.
    pub async fn check_query(&self, sql: &str) -> Result<CheckResult, Error> {
        let _ = sql;
        Err(Error::new(ErrorCode::Internal, "skeleton"))
    }

    /// Calls a tool by name with its arguments as JSON text, and gives the payload.
    ///
    /// # Errors
    /// See [`ErrorCode`]; [`Error::json`] is the payload to give the model.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<String, Error> {
        let _ = (tool, arguments);
        Err(Error::new(ErrorCode::Internal, "skeleton"))
    }

    /// The four tools' names, descriptions and input schemas.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        Vec::new()
    }
}
