//! Bounded query tools for analytics agents, DataFusion-native.

pub mod encode;
mod error;
mod guard;
mod ident;
mod json;
mod limits;
mod plan;
mod policy;
mod query;
mod redact;
mod result;
mod schema;
mod session;
mod source;
mod toolset;

pub use error::{ConfigError, Error, ErrorCode, Retry};
pub use limits::{Limits, TotalRows, parse_bytes, parse_duration};
pub use policy::Policy;
pub use result::{CheckResult, Column, QueryResult, ResultFormat, SchemaResult, TablesResult, TruncatedBy};
pub use source::{Format, Source};
pub use toolset::{QueryRequest, ToolDefinition, Toolset, ToolsetBuilder};
