//! What can go wrong, said to whoever has to act on it.
//!
//! [`Error`] is the failure of a tool call: a stable [`ErrorCode`] for the program, one line of text for the model and
//! the cause for the operator. [`ConfigError`] is the failure of a set-up, before there are any tools.

mod datafusion;
mod engine_text;
mod suggest;

use std::error::Error as StdError;
use std::fmt;

use crate::json;
use crate::redact::{Secrets, redact};

pub(crate) use datafusion::Missing;
pub(crate) use suggest::nearest;

/// The longest error payload in bytes, whatever `max_result_bytes` says. A message has what the rest leaves it.
pub(crate) const MAX_ERROR_BYTES: usize = 1024;

/// At most this many near names are suggested.
pub(crate) const MAX_SUGGESTIONS: usize = 5;

/// Why a call failed. The codes are part of the wire format and do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The call's arguments: one is missing, unknown or of the wrong type.
    InvalidArguments,
    /// The SQL does not parse, is empty, or holds several statements.
    Syntax,
    /// No table of that name can be seen.
    UnknownTable,
    /// No column of that name is in reach.
    UnknownColumn,
    /// No function of that name is registered.
    UnknownFunction,
    /// Any other planning error: types, aggregates, ambiguous names.
    InvalidQuery,
    /// Not read-only, outside the policy, or past the run's budget.
    NotAllowed,
    /// The statement is too long, too deep or too large to plan.
    TooComplex,
    /// The data made the query fail: a cast, a division.
    Execution,
    /// The memory or spill limit was reached.
    ResourceExhausted,
    /// The deadline passed.
    Timeout,
    /// A file or store cannot be read.
    SourceUnavailable,
    /// The caller went away.
    Cancelled,
    /// A bug or a panic.
    Internal,
}

/// Whether the same call can succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// Only with other arguments.
    Changed,
    /// As it is, later.
    Later,
    /// Not at all.
    Never,
}

impl ErrorCode {
    /// The code as the payload writes it, such as `unknown_column`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::Syntax => "syntax",
            Self::UnknownTable => "unknown_table",
            Self::UnknownColumn => "unknown_column",
            Self::UnknownFunction => "unknown_function",
            Self::InvalidQuery => "invalid_query",
            Self::NotAllowed => "not_allowed",
            Self::TooComplex => "too_complex",
            Self::Execution => "execution",
            Self::ResourceExhausted => "resource_exhausted",
            Self::Timeout => "timeout",
            Self::SourceUnavailable => "source_unavailable",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// Whether the same call can succeed later.
    pub fn retry(self) -> Retry {
        match self {
            Self::SourceUnavailable | Self::Cancelled => Retry::Later,
            Self::Internal => Retry::Never,
            _ => Retry::Changed,
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Retry {
    /// `changed`, `later` or `never`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Later => "later",
            Self::Never => "never",
        }
    }
}

/// A tool call that failed.
///
/// `Display` gives the message alone; [`Error::json`] gives the payload that the model is to see:
///
/// ```json
/// {"error":{"code":"unknown_column","message":"…","suggestions":["\"userId\""],"retry":"changed"}}
/// ```
///
/// `suggestions` is left out when there are none. The payload is one line of at most 1,024 bytes and never more than
/// the toolset's `max_result_bytes`. The text has passed [redaction](crate#secrets); the [source](StdError::source) is
/// for logs and has not.
pub struct Error(Box<Inner>);

struct Inner {
    code: ErrorCode,
    message: String,
    suggestions: Vec<String>,
    max_bytes: usize,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error with one line of text that says what to do next. Line breaks become spaces and secrets `***`.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message: String = message.into();
        Self(Box::new(Inner {
            code,
            message: one_line(&redact(&message)),
            suggestions: Vec::new(),
            max_bytes: MAX_ERROR_BYTES,
            cause: None,
        }))
    }

    /// Near names, best first, already quoted as SQL needs them. The first five are kept.
    #[must_use]
    pub fn with_suggestions(mut self, suggestions: impl IntoIterator<Item = String>) -> Self {
        self.0.suggestions = suggestions.into_iter().take(MAX_SUGGESTIONS).collect();
        self
    }

    /// What lies behind it, for the operator's log. It never reaches the payload.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// Lowers the most bytes that [`Error::json`] may take; 1,024 is kept when that is less.
    #[must_use]
    pub(crate) fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.0.max_bytes = self.0.max_bytes.min(max_bytes);
        self
    }

    /// Replaces the known secrets in the text.
    #[must_use]
    pub(crate) fn without(mut self, secrets: &Secrets) -> Self {
        self.0.message = secrets.redact(&self.0.message).into_owned();
        self
    }

    /// The same text and code again, without the cause: for an error that several receivers share.
    pub(crate) fn duplicate(&self) -> Self {
        Self(Box::new(Inner {
            code: self.0.code,
            message: self.0.message.clone(),
            suggestions: self.0.suggestions.clone(),
            max_bytes: self.0.max_bytes,
            cause: None,
        }))
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The text for the model, one line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// At most five near names, quoted as SQL needs them.
    pub fn suggestions(&self) -> &[String] {
        &self.0.suggestions
    }

    /// Whether the same call can succeed later.
    pub fn retry(&self) -> Retry {
        self.0.code.retry()
    }

    /// The payload, one line of JSON.
    pub fn json(&self) -> String {
        let mut out = Vec::with_capacity(256);
        self.write(self.0.max_bytes, &mut out);
        into_string(out)
    }

    /// Appends the payload in at most `max_bytes` bytes: suggestions are left out from the last one on, then the
    /// message is cut.
    pub(crate) fn write(&self, max_bytes: usize, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(b"{\"error\":{\"code\":\"");
        out.extend_from_slice(self.0.code.as_str().as_bytes());
        out.extend_from_slice(b"\",\"message\":");
        let mut end = Vec::with_capacity(32);
        end.extend_from_slice(b",\"retry\":\"");
        end.extend_from_slice(self.retry().as_str().as_bytes());
        end.extend_from_slice(b"\"}}");

        // The message has half of what there is before a suggestion has any of it.
        let room = max_bytes.saturating_sub(out.len() - start + end.len());
        let mut message = Vec::new();
        json::write_str(&mut message, &self.0.message);
        let most = room - message.len().min(room / 2);
        let mut suggestions = Vec::new();
        for name in &self.0.suggestions {
            let mut item = Vec::new();
            item.extend_from_slice(if suggestions.is_empty() { b",\"suggestions\":[" } else { b"," });
            json::write_str(&mut item, name);
            if suggestions.len() + item.len() + 1 > most {
                break;
            }
            suggestions.extend_from_slice(&item);
        }
        if !suggestions.is_empty() {
            suggestions.push(b']');
        }
        json::write_str_within(out, &self.0.message, room - suggestions.len());
        out.extend_from_slice(&suggestions);
        out.extend_from_slice(&end);
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("code", &self.0.code)
            .field("message", &self.0.message)
            .field("suggestions", &self.0.suggestions)
            .field("cause", &self.0.cause.as_ref().map(|cause| redact(&cause.to_string()).into_owned()))
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_ref().map(|cause| cause.as_ref() as &(dyn StdError + 'static))
    }
}

/// A set-up that cannot be used: a limit below its least, a table name twice, an unknown key in the configuration
/// file. `Display` is one or more lines for the operator, with secrets replaced by `***`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// An error that names the thing and says what would be right.
    pub fn new(message: impl Into<String>) -> Self {
        Self(redact(&message.into()).into_owned())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for ConfigError {}

/// Folds line breaks and runs of blanks into one space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The writers only append whole characters, so this never replaces anything.
fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
