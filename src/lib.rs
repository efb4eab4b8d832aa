//! Bounded query tools for analytics agents, DataFusion-native.
//!
//! A language model that works on data calls tools. Each result stays in its message history and is paid again on every
//! later request, so the size of an answer is its cost. This crate gives an agent four tools over data that DataFusion
//! can read, and every answer is bounded by bytes as well as rows, says when it was cut and by what, and says who is to
//! blame when a call fails:
//!
//! | tool | answers |
//! |---|---|
//! | `list_tables` | the tables' names, without opening a file |
//! | `get_schema` | a table's columns and types, summed up when there are many |
//! | `query` | one read-only statement's result: names once, positional rows |
//! | `check_query` | whether `query` would take a statement, without reading data |
//!
//! ```
//! use datafusion_toolset::{Source, Toolset};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Toolset::builder().source(Source::new("orders", "testdata/orders.parquet")).build()?;
//! let answer = tools.call("query", r#"{"sql":"SELECT count(*) AS n FROM orders"}"#).await;
//! let for_the_model = answer.unwrap_or_else(|error| error.json());
//! # Ok(())
//! # }
//! ```
//!
//! [`Toolset::definitions`] has the tools' names, descriptions and input schemas for the list that a model is given;
//! [`Toolset::call`] takes what it answers. The typed methods, such as [`Toolset::query`], give the payload and its
//! facts. A toolset can also be laid over a [`SessionContext`](datafusion::prelude::SessionContext) that the program
//! already has: [`ToolsetBuilder::session_context`].
//!
//! # Limits
//!
//! [`Limits`] has every bound with its default. No caller can raise one. A call's time includes planning, listing,
//! execution and encoding; when it is over, or the call's future is dropped, its work stops.
//!
//! # What may be seen
//!
//! Only registered tables can be named: no file paths, no reader functions. With
//! [`Policy::with_allowed_tables`] the catalog that the planner sees holds those tables alone.
//!
//! # Secrets
//!
//! Keys, tokens, passwords and signed query strings are replaced by `***` in payloads, error texts and `Debug` output.
//!
//! # Features
//!
//! - `cli` (on by default): the command line `datafusion-toolset`; brings `config`.
//! - `config`: the TOML file, for programs that build a toolset from one: [`Config`].
//! - `mcp` (on by default): the MCP server on stdio and over streamable HTTP: [`mcp`].
//! - `rig`: the four tools as those of an agent built with rig: [`Toolset::rig_tools`].
//! - `aws`, `azure`, `gcp`, `http` (on by default): sources at `s3://`, `az://` and `abfss://`, `gs://`, `https://`. Without
//!   one, its sources are refused by a message that names the feature.
//!
//! With `default-features = false` the crate is the library alone, over local files.

#[cfg(feature = "config")]
mod config;
pub mod encode;
mod error;
mod functions;
mod guard;
mod ident;
mod json;
mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
mod plan;
mod policy;
mod query;
mod redact;
mod redacted;
mod result;
#[cfg(feature = "rig")]
mod rig;
mod schema;
mod session;
mod source;
mod stop;
mod toolset;

#[cfg(feature = "config")]
pub use config::Config;
pub use error::{ConfigError, Error, ErrorCode, Retry};
pub use limits::{Limits, TotalRows, parse_bytes, parse_duration};
pub use policy::Policy;
pub use redact::redact;
pub use result::{CheckResult, Column, QueryResult, ResultFormat, SchemaResult, TablesResult, TruncatedBy};
pub use source::{Format, Source};
pub use toolset::{QueryRequest, ToolDefinition, Toolset, ToolsetBuilder};
