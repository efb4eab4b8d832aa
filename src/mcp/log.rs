//! How calls went, told to the operator's log and to the clients that ask for it. Neither hears the SQL or the data.
//!
//! A client hears of its own calls alone, and not of whatever else the process logs: over HTTP that may be about other
//! callers.

#![expect(deprecated, reason = "the protocol will drop log messages; clients of today ask for them")]

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{JsonObject, LoggingLevel, LoggingMessageNotificationParam, ServerCapabilities};
use rmcp::service::RequestContext;
use serde_json::json;

use crate::error::{Error, ErrorCode};
use crate::redact::redact;

/// The request for messages.
pub(super) type SetLevel = rmcp::model::SetLevelRequestParams;

/// The least level of messages that a session's client asked for; none until it asks.
#[derive(Default)]
pub(super) struct Asked(Mutex<Option<LoggingLevel>>);

impl Asked {
    pub(super) fn set(&self, request: &SetLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.level);
    }

    /// What holds for one request: newer clients ask with each.
    fn with(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        context.meta.log_level().or(*self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Says that messages can be had.
pub(super) fn announce(capabilities: &mut ServerCapabilities) {
    capabilities.logging = Some(JsonObject::new());
}

/// Tells how a call went.
pub(super) async fn call(
    tool: &str,
    outcome: &Result<String, Error>,
    took: Duration,
    context: &RequestContext<RoleServer>,
    asked: &Asked,
) {
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let (level, data) = match outcome {
        Ok(payload) => {
            tracing::info!(tool, bytes = payload.len(), milliseconds, "answered");
            (LoggingLevel::Info, json!({ "tool": tool, "bytes": payload.len(), "milliseconds": milliseconds }))
        }
        Err(error) => {
            let (code, message) = (error.code().as_str(), error.message());
            let cause = std::error::Error::source(error).map(|cause| redact(&cause.to_string()).into_owned());
            match error.code() {
                ErrorCode::Internal | ErrorCode::SourceUnavailable | ErrorCode::ResourceExhausted => {
                    tracing::warn!(tool, code, message, cause, milliseconds, "failed");
                }
                _ => tracing::info!(tool, code, message, cause, milliseconds, "failed"),
            }
            let data = json!({ "tool": tool, "code": code, "message": message, "milliseconds": milliseconds });
            (LoggingLevel::Warning, data)
        }
    };
    if asked.with(context).is_some_and(|least| severity(level) >= severity(least)) {
        let param = LoggingMessageNotificationParam::new(level, data).with_logger(env!("CARGO_PKG_NAME"));
        // A client that cannot be told will be missed by the transport.
        let _ = context.peer.notify_logging_message(param).await;
    }
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
