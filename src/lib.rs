//! Bounded query tools for analytics agents, DataFusion-native.

#[cfg(feature = "config")]
mod config;
pub mod encode;
mod error;
mod json;
mod limits;
mod policy;
mod redact;
mod result;
mod source;
mod toolset;

#[cfg(feature = "config")]
pub use config::Config;
pub use error::{ConfigError, Error, ErrorCode, Retry};
pub use limits::{Limits, TotalRows, parse_bytes, parse_duration};
pub use policy::Policy;
pub use result::{CheckResult, Column, QueryResult, ResultFormat, SchemaResult, TablesResult, TruncatedBy};
pub use source::{Format, Source};
pub use toolset::{QueryRequest, ToolDefinition, Toolset, ToolsetBuilder};
