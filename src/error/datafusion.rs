//! The only way from a `DataFusionError` to an [`Error`].

use datafusion::error::DataFusionError;

use super::{Error, ErrorCode};

impl Error {
    /// Reads the code from the error's type. An [`Error`] that travelled through DataFusion comes out as it went in.
    pub(crate) fn from_datafusion(error: DataFusionError) -> Self {
        Self::new(ErrorCode::Internal, error.strip_backtrace())
    }
}
