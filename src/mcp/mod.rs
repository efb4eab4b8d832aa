//! The MCP face: the four tools on stdio and over streamable HTTP.
//!
//! A result is one text block with the payload of [`Toolset::call`], byte for byte; a failed call is the same with
//! `isError` and the payload of [`Error::json`](crate::Error::json). There is no structured content beside it: that
//! would be paid a second time. Each table's bounded schema is a resource as well, `toolset://tables/{name}`.
//!
//! ```no_run
//! use datafusion_toolset::{Source, Toolset, mcp};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = Toolset::builder().source(Source::new("orders", "orders.parquet")).build()?;
//! mcp::serve_stdio(tools.clone(), std::future::pending()).await?;
//!
//! let server = mcp::HttpServer::bind("127.0.0.1:8080", move |_token| Ok(tools.clone()))?;
//! server.serve(std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```

mod call;
mod callers;
mod http;
mod instructions;
mod log;
mod resources;
mod server;

use std::future::Future;
use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::stdio_pipes;

pub use self::callers::{Token, Unauthorized};
pub use self::http::HttpServer;
pub use self::instructions::INSTRUCTIONS;
use self::server::Server;
use crate::Toolset;

/// Serves one client on standard input and output until the input ends or `shutdown` resolves.
///
/// Only protocol messages are written to standard output; nothing else in the process may write there. Calls that are
/// running when the input ends have five seconds to answer, then their queries stop.
///
/// # Errors
/// If the client's first message opens no session, or standard output cannot be written.
pub async fn serve_stdio(toolset: Toolset, shutdown: impl Future<Output = ()>) -> io::Result<()> {
    let mut shutdown = std::pin::pin!(shutdown);
    let starting = Server::new(toolset).serve(stdio_pipes());
    let service = tokio::select! {
        started = starting => match started {
            Ok(service) => service,
            // Whoever asked has gone.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        },
        () = &mut shutdown => return Ok(()),
    };
    let stop = service.cancellation_token();
    let quit = tokio::select! {
        quit = service.waiting() => quit,
        () = &mut shutdown => {
            stop.cancel();
            return Ok(());
        }
    };
    quit.map(drop).map_err(io::Error::other)
}
