//! One tool call: its progress, its end, and its result as the protocol carries it.

use std::future::Future;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam};
use rmcp::service::RequestContext;

use crate::error::{Error, ErrorCode};

/// How often a client that asked for progress hears of it.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Runs a call until it is done, is cancelled, or `gone` says that nobody waits for it; the latter two drop it, which
/// stops its query.
pub(super) async fn watched(
    call: impl Future<Output = Result<String, Error>>,
    context: &RequestContext<RoleServer>,
    gone: impl Future<Output = ()>,
) -> Result<String, Error> {
    tokio::select! {
        // Progress first, so that even a short call sends one notification.
        biased;
        () = progress(context) => Err(cancelled("the call was cancelled")),
        done = call => done,
        () = context.ct.cancelled() => Err(cancelled("the client cancelled the call")),
        () = gone => Err(cancelled("the connection was closed before the answer")),
    }
}

/// Tells a client that asked for it how long the call has been running. Never ends.
async fn progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let started = Instant::now();
    loop {
        let seconds = started.elapsed().as_secs_f64();
        let param =
            ProgressNotificationParam::new(token.clone(), seconds).with_message(format!("running for {seconds:.0} s"));
        // A client that cannot be told will be missed by the transport.
        let _ = context.peer.notify_progress(param).await;
        tokio::time::sleep(PROGRESS_EVERY).await;
    }
}

/// The payload as the protocol carries it.
pub(super) fn result(outcome: Result<String, Error>) -> CallToolResult {
    match outcome {
        Ok(payload) => CallToolResult::success(vec![ContentBlock::text(payload)]),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.json())]),
    }
}

fn cancelled(message: &str) -> Error {
    Error::new(ErrorCode::Cancelled, message)
}
