//! The front door: [`Toolset`], its builder and the definitions of its tools.

mod arguments;
mod definitions;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use datafusion::execution::context::SessionState;
use datafusion::prelude::SessionContext;

use self::arguments::{Arguments, invalid};
pub use self::definitions::ToolDefinition;
use crate::encode::ResultFormat;
use crate::error::{ConfigError, Error};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::result::{CheckResult, QueryResult, SchemaResult, TablesResult};
use crate::schema::{self, Facts};
use crate::session::Session;
use crate::source::Source;
use crate::stop::Stop;
use crate::{guard, query};

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

/// The four tools over the registered tables.
///
/// Cheap to clone, `Send + Sync`; clones share the tables, the limits and the threads that queries run on. The methods
/// are plain futures: they need no runtime of a certain kind, and dropping one stops its query.
#[derive(Clone)]
pub struct Toolset(Arc<Inner>);

struct Inner {
    session: Session,
    limits: Limits,
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset")
            .field("catalog", &self.0.session.catalog)
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

/// Collects what a [`Toolset`] is made of.
#[derive(Default)]
pub struct ToolsetBuilder {
    sources: Vec<Source>,
    limits: Limits,
    policy: Policy,
    base: Option<SessionState>,
}

impl fmt::Debug for ToolsetBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolsetBuilder")
            .field("sources", &self.sources)
            .field("limits", &self.limits)
            .field("policy", &self.policy)
            .field("session_context", &self.base.is_some())
            .finish()
    }
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

    /// Shows the catalogs, tables and functions of a context that the program already has. Its query planner, its
    /// object stores and its settings are used; the memory pool and the spill directory are the toolset's own. Sources
    /// are added to its default catalog. Tables that are registered with it later are seen, functions are not.
    #[must_use]
    pub fn session_context(mut self, context: &SessionContext) -> Self {
        self.base = Some(context.state());
        self
    }

    /// Checks the set-up. Does no I/O.
    ///
    /// # Errors
    /// Names what cannot be used: a limit below its least, a table name twice, an empty allow-list or one with a name
    /// that is no table.
    pub fn build(self) -> Result<Toolset, ConfigError> {
        let session = Session::new(self.sources, self.base, &self.limits, &self.policy)?;
        Ok(Toolset(Arc::new(Inner { session, limits: self.limits })))
    }
}

impl Toolset {
    /// Starts a toolset without tables.
    pub fn builder() -> ToolsetBuilder {
        ToolsetBuilder::default()
    }

    /// The limits that hold for every call.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Names the tables, those whose name holds `name_contains` in any case. Opens no file and asks no store.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub async fn list_tables(&self, name_contains: Option<&str>) -> Result<TablesResult, Error> {
        let catalog = &self.0.session.catalog;
        let needle = name_contains.map(str::to_lowercase);
        let tables = catalog.tables();
        let shown = tables.iter().filter(|table| {
            needle.as_ref().is_none_or(|needle| {
                table.sql.to_lowercase().contains(needle) || table.table.to_lowercase().contains(needle)
            })
        });
        let shown = shown.map(|table| (table.sql.clone(), catalog.description(table))).collect();
        Ok(schema::table_list(shown, name_contains, self.0.limits.max_result_bytes()))
    }

    /// Describes a table: its columns, or those whose name holds `name_contains` in any case, fields inside structs
    /// included. `table_name` is written as `list_tables` shows it, or exactly as the source was named.
    ///
    /// # Errors
    /// `unknown_table`, `source_unavailable`, `timeout`.
    pub async fn get_schema(&self, table_name: &str, name_contains: Option<&str>) -> Result<SchemaResult, Error> {
        let inner = Arc::clone(&self.0);
        let table_name = table_name.to_owned();
        let name_contains = name_contains.map(str::to_owned);
        self.run(move |_stop| async move {
            let state = inner.session.state()?;
            let open = match inner.session.catalog.find(&table_name) {
                Some(table) => inner.session.catalog.open(&table).await?,
                None => None,
            };
            let Some(open) = open else {
                return Err(guard::unknown_table(&table_name, state));
            };
            let facts = Facts { partition_columns: &open.partition_columns, inferred_from: open.inferred_from };
            let limits = &inner.limits;
            Ok(schema::summary(
                &open.provider.schema(),
                &facts,
                name_contains.as_deref(),
                limits.max_columns(),
                limits.max_result_bytes(),
            ))
        })
        .await
    }

    /// Runs one read-only statement.
    ///
    /// # Errors
    /// Every code but `invalid_arguments`, which only a `max_rows` of 0 gives.
    pub async fn query(&self, request: impl Into<QueryRequest>) -> Result<QueryResult, Error> {
        let request = request.into();
        if request.max_rows == Some(0) {
            return Err(self.bounded(invalid("max_rows is 0; it has to be at least 1".to_owned())));
        }
        let inner = Arc::clone(&self.0);
        let deadline = Instant::now() + self.0.limits.timeout();
        let run = move |stop| async move {
            let max_rows = request.max_rows.unwrap_or(usize::MAX).min(inner.limits.max_rows());
            query::run(&inner.session, &inner.limits, &request.sql, max_rows, request.format, deadline, &stop).await
        };
        let done = self.0.session.workers.query(self.0.limits.timeout(), run).await;
        done.map_err(|error| self.bounded(error))
    }

    /// Plans one statement without reading data, and refuses exactly what [`Toolset::query`] refuses.
    ///
    /// # Errors
    /// `timeout`, `cancelled`, `internal`. A statement that `query` would refuse is an answer, not an error.
    pub async fn check_query(&self, sql: &str) -> Result<CheckResult, Error> {
        let inner = Arc::clone(&self.0);
        let sql = sql.to_owned();
        let max_bytes = self.0.limits.max_result_bytes();
        self.run(move |stop| async move {
            Ok(match query::check(&inner.session, &inner.limits, &sql, &stop).await {
                Ok(columns) => CheckResult { payload: schema::checked(&columns, max_bytes), outcome: Ok(columns) },
                Err(error) => {
                    let error = error.with_max_bytes(max_bytes).without(&inner.session.secrets);
                    CheckResult { payload: schema::refused(&error, max_bytes), outcome: Err(error) }
                }
            })
        })
        .await
    }

    /// Calls a tool by name with its arguments as JSON text, and gives the payload: what an agent loop needs.
    ///
    /// `null` stands for an absent argument, `10.0` for `10`, and empty text for no arguments at all.
    ///
    /// # Errors
    /// Those of the tool, and `invalid_arguments` for a tool or an argument that is not there or of the wrong type.
    /// [`Error::json`] is the payload to give the model.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<String, Error> {
        self.dispatch(tool, arguments).await.map_err(|error| self.bounded(error))
    }

    async fn dispatch(&self, tool: &str, arguments: &str) -> Result<String, Error> {
        match tool {
            "list_tables" => {
                let mut arguments = Arguments::parse("list_tables", &["name_contains"], arguments)?;
                let name_contains = arguments.optional_text("name_contains")?;
                Ok(self.list_tables(name_contains.as_deref()).await?.into_json())
            }
            "get_schema" => {
                let mut arguments = Arguments::parse("get_schema", &["table_name", "name_contains"], arguments)?;
                let table_name = arguments.text("table_name")?;
                let name_contains = arguments.optional_text("name_contains")?;
                Ok(self.get_schema(&table_name, name_contains.as_deref()).await?.into_json())
            }
            "query" => {
                let mut arguments = Arguments::parse("query", &["sql", "max_rows", "format"], arguments)?;
                let mut request = QueryRequest::new(arguments.text("sql")?);
                request.max_rows = arguments.optional_count("max_rows")?;
                if let Some(format) = arguments.optional_text("format")? {
                    request.format = format.parse().map_err(|error: ConfigError| invalid(error.to_string()))?;
                }
                Ok(self.query(request).await?.into_json())
            }
            "check_query" => {
                let mut arguments = Arguments::parse("check_query", &["sql"], arguments)?;
                let sql = arguments.text("sql")?;
                Ok(self.check_query(&sql).await?.into_json())
            }
            other => {
                let shown: String = other.chars().take(60).collect();
                Err(invalid(format!(
                    "there is no tool `{shown}`; the tools are list_tables, get_schema, query and check_query"
                )))
            }
        }
    }

    /// The four tools' names, descriptions and input schemas, for the list that a model is given.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        definitions::definitions(&self.0.limits)
    }

    /// Runs a call's work on the toolset's own threads, under its deadline.
    async fn run<T, W, F>(&self, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(Stop) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let done = self.0.session.workers.run(self.0.limits.timeout(), work).await;
        done.map_err(|error| self.bounded(error))
    }

    fn bounded(&self, error: Error) -> Error {
        error.with_max_bytes(self.0.limits.max_result_bytes()).without(&self.0.session.secrets)
    }
}
