//! `mcp`: serves an agent until it leaves or a signal comes.

use datafusion_toolset::mcp::{HttpServer, Token, Unauthorized, serve_stdio};
use datafusion_toolset::{ConfigError, Toolset};
use tokio::runtime::{Builder, Runtime};

use super::args::McpArgs;
use super::{Failure, interrupt, notice};

/// The least bytes of one HTTP request that are read; more when the longest statement needs more.
const BODY_BYTES: usize = 1024 * 1024;

/// Serves. What is said goes out by the protocol, so nothing is left to print.
pub(super) fn serve(toolset: Toolset, args: McpArgs) -> Result<String, Failure> {
    match args.http.clone() {
        None => stdio(toolset),
        Some(address) => http(toolset, &address, args),
    }
}

fn stdio(toolset: Toolset) -> Result<String, Failure> {
    // The queries have threads of their own; this one reads and writes messages.
    let runtime = started(Builder::new_current_thread())?;
    let mut interrupted = None;
    let served = runtime.block_on(serve_stdio(toolset, async {
        interrupted = Some(interrupt::interrupted().await);
    }));
    // Reading a terminal cannot be called off.
    runtime.shutdown_background();
    match (interrupted, served) {
        (Some(status), _) => Err(Failure::Interrupted(status)),
        (None, served) => served.map(|()| String::new()).map_err(|error| Failure::Usage(format!("MCP: {error}"))),
    }
}

fn http(toolset: Toolset, address: &str, args: McpArgs) -> Result<String, Failure> {
    let token = args.token_env.as_deref().map(token).transpose()?;
    // A statement may be written all in `\u` escapes, beside the rest of the message.
    let body_bytes = toolset.limits().max_sql_bytes().saturating_mul(6).saturating_add(64 * 1024).max(BODY_BYTES);
    let open = move |given: Option<&str>| match &token {
        Some(token) if !token.is(given) => Err(Unauthorized),
        _ => Ok(toolset.clone()),
    };
    let server = HttpServer::bind(address, open)?
        .with_allowed_hosts(args.allow_host)
        .with_allowed_origins(args.allow_origin)
        .with_max_body_bytes(body_bytes);
    notice(&format!("MCP is served at http://{}/mcp\n", server.local_addr()));
    let runtime = started(Builder::new_multi_thread())?;
    let served = runtime.block_on(server.serve(async {
        interrupt::interrupted().await;
    }));
    runtime.shutdown_background();
    served.map(|()| String::new()).map_err(|error| Failure::Usage(format!("HTTP: {error}")))
}

/// The token in an environment variable.
fn token(name: &str) -> Result<Token, ConfigError> {
    match std::env::var(name) {
        Ok(token) if !token.trim().is_empty() => Ok(Token::new(token.trim())),
        _ => Err(ConfigError::new(format!("--token-env {name}: this environment variable is not set, or empty"))),
    }
}

fn started(mut builder: Builder) -> Result<Runtime, Failure> {
    builder.enable_all().build().map_err(|error| Failure::Usage(format!("the runtime does not start: {error}")))
}
