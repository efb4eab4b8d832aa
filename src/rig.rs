//! The four tools as rig's own: [`Toolset::rig_tools`].
//!
//! A result is one text block with the payload of [`Toolset::call`], byte for byte. rig hides an error's text from the
//! model unless it is told otherwise; here the model is given the payload of [`Error::json`](crate::Error::json), since
//! it says what to do next.

use rig_core::completion::message::ToolName;
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};

use crate::Toolset;
use crate::error::{Error, ErrorCode, Retry};

impl Toolset {
    /// The tools for an agent built with rig, in the order of [`Toolset::definitions`]; each is a cheap clone of this
    /// toolset. Dropping a tool's future stops its query.
    #[must_use]
    pub fn rig_tools(&self) -> Vec<DynamicTool> {
        // A name is refused when it is empty, and none of ours is.
        self.definitions()
            .into_iter()
            .filter_map(|tool| {
                let (toolset, name) = (self.clone(), tool.name);
                Some(DynamicTool::new(
                    ToolName::new(name).ok()?,
                    tool.description,
                    tool.input_schema,
                    move |arguments| {
                        let toolset = toolset.clone();
                        Box::pin(async move {
                            let outcome = toolset.call(name, &arguments.to_string()).await;
                            outcome.map(ToolOutput::text).map_err(failure)
                        })
                    },
                ))
            })
            .collect()
    }
}

/// The error as rig sees it: its code and whether a repetition can help are for the program, its payload for the model.
fn failure(error: Error) -> ToolExecutionError {
    let kind = match error.code() {
        ErrorCode::Timeout => ToolErrorKind::Timeout,
        ErrorCode::Cancelled => ToolErrorKind::Cancelled,
        ErrorCode::SourceUnavailable => ToolErrorKind::Provider,
        ErrorCode::NotAllowed => ToolErrorKind::PermissionDenied,
        ErrorCode::UnknownTable | ErrorCode::UnknownColumn | ErrorCode::UnknownFunction => ToolErrorKind::NotFound,
        ErrorCode::InvalidArguments | ErrorCode::Syntax | ErrorCode::InvalidQuery | ErrorCode::TooComplex => {
            ToolErrorKind::InvalidArgs
        }
        _ => ToolErrorKind::Other,
    };
    ToolExecutionError::new(kind, error.message())
        .with_code(error.code().as_str())
        // As rig means it: the same call again.
        .with_retryable(error.code().retry() == Retry::Later)
        .with_model_feedback(error.json())
        .with_source(error)
}
