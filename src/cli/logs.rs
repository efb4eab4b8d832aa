//! Logs: on standard error, as much as `RUST_LOG` says, without secrets.

use std::io::{self, Write};

use datafusion_toolset::redact;
use tracing_subscriber::EnvFilter;

use super::args::Command;

/// Starts logging. A server warns unless `RUST_LOG` says otherwise; a command that answers once is silent.
pub(super) fn start(command: &Command) {
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(filter) if !filter.is_empty() => filter,
        _ if serves(command) => "warn".to_owned(),
        _ => return,
    };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::builder().parse_lossy(filter))
        .with_writer(|| Redacted)
        // It would tell of an event that cannot be written on standard error, and panic when that is closed.
        .log_internal_errors(false)
        .init();
}

#[cfg(feature = "mcp")]
fn serves(command: &Command) -> bool {
    matches!(command, Command::Mcp(mcp) if !mcp.check)
}

#[cfg(not(feature = "mcp"))]
fn serves(_: &Command) -> bool {
    false
}

/// Standard error, which secrets do not reach. Each event is written at once, so none is cut in two.
struct Redacted;

impl Write for Redacted {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write_all(redact(&String::from_utf8_lossy(event)).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
