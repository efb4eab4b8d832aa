//! Streamable HTTP: who may connect, and how it ends.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::StreamExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::callers::{Callers, Unauthorized};
use super::server::Server;
use crate::Toolset;
use crate::error::ConfigError;

/// A session that nobody uses for so long ends. A person may think for a while before the next question.
const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

/// Sessions open at a time. Each costs some ten kilobytes; a client that opens one a call must not cost all memory.
const MAX_SESSIONS: usize = 1000;

/// What running calls have to answer once the server is asked to end; and what connections then have to close.
const GRACE: Duration = Duration::from_secs(10);
const CLOSING: Duration = Duration::from_secs(1);

/// The most bytes of one request by default: a statement of 64 KiB, written all in `\u` escapes, fits.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Hosts and origins that are this machine's own.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const LOOPBACK_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "https://localhost:*",
    "https://127.0.0.1:*",
    "https://[::1]:*",
];

/// The MCP server over streamable HTTP, at `/mcp` and at `/`; `GET /healthz` answers `ok`.
///
/// Requests are answered when their `Host` is this machine's own, the address that was bound, or allowed; and their
/// `Origin`, if they have one, is on this machine or allowed. So a web page that a user visits cannot reach a server on
/// the user's machine.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    callers: Callers,
    hosts: Vec<String>,
    origins: Vec<String>,
    max_body_bytes: usize,
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("address", &self.address)
            .field("allowed_hosts", &self.hosts)
            .field("allowed_origins", &self.origins)
            .field("max_body_bytes", &self.max_body_bytes)
            .finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Listens at `address`: `HOST:PORT`, or a port alone for `127.0.0.1`. Port 0 is any that is free.
    ///
    /// `open` gives the toolset for a request's bearer token, or for none. It is called for every request, so it has to
    /// be cheap: build toolsets before, and hand out clones. What it gives for the request that opens a session serves
    /// that whole session, and is dropped with it; a session can be used with the token that opened it alone. Clients
    /// whose protocol has no sessions (from 2026-07-28 on) share one toolset a token until they pause for half an hour.
    ///
    /// # Errors
    /// If the address cannot be listened at, or is not a loopback address and `open` lets callers in without a token.
    pub fn bind(
        address: &str,
        open: impl Fn(Option<&str>) -> Result<Toolset, Unauthorized> + Send + Sync + 'static,
    ) -> Result<Self, ConfigError> {
        let wrong = |error: io::Error| ConfigError::new(format!("cannot listen at {address}: {error}"));
        let port = address.strip_prefix(':').unwrap_or(address);
        let (host, addresses) = match port.parse::<u16>() {
            Ok(port) => (None, vec![SocketAddr::from(([127, 0, 0, 1], port))]),
            Err(_) => {
                let host = address.rsplit_once(':').map(|(host, _)| host.trim_matches(['[', ']']).to_owned());
                (host, address.to_socket_addrs().map_err(wrong)?.collect())
            }
        };
        let callers = Callers::new(Arc::new(open), SESSION_IDLE);
        if let Some(open_to_others) = addresses.iter().find(|address| !address.ip().is_loopback())
            && callers.admits_anyone()
        {
            return Err(ConfigError::new(format!(
                "{open_to_others} can be reached from other machines, so callers need a bearer token: name the \
                 environment variable that holds it with --token-env, or listen at 127.0.0.1"
            )));
        }
        let listener = TcpListener::bind(&addresses[..]).map_err(wrong)?;
        listener.set_nonblocking(true).map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let hosts = LOOPBACK_HOSTS.iter().map(|host| (*host).to_owned()).chain(host).collect();
        let origins = LOOPBACK_ORIGINS.map(str::to_owned).to_vec();
        Ok(Self { listener, address, callers, hosts, origins, max_body_bytes: MAX_BODY_BYTES })
    }

    /// Answers requests for these hosts too, each a name or `name:port`: the names that clients know this machine by.
    #[must_use]
    pub fn with_allowed_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.hosts.extend(hosts);
        self
    }

    /// Answers requests from web pages of these origins too, such as `https://app.example.com:443`.
    #[must_use]
    pub fn with_allowed_origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.origins.extend(origins);
        self
    }

    /// The most bytes of one request's body; what is longer is refused with status 413. Default 1 MiB.
    #[must_use]
    pub fn with_max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` resolves. Then nobody new is let in, and running calls have ten seconds to answer.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let end_sessions = CancellationToken::new();
        let mut config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(self.hosts)
            .with_allowed_origins(self.origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(self.max_body_bytes)
            .with_json_response(true)
            .with_cancellation_token(end_sessions.clone());
        // An answer that nobody waits for is not computed, so there is nothing to come back for.
        config.sse_retry = None;
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        sessions.session_config.sse_retry = None;
        sessions.session_config.completed_cache_ttl = Duration::ZERO;
        let sessions = Arc::new(sessions);
        let door = Arc::new(Door { callers: self.callers, sessions: Arc::clone(&sessions) });

        let service = StreamableHttpService::new(|| Ok(Server::default()), sessions, config);
        let router = Router::new()
            .route_service("/mcp", service.clone())
            .route_service("/", service)
            .layer(from_fn_with_state(Arc::clone(&door), admit))
            .route("/healthz", get(|| async { "ok" }));
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let stop = CancellationToken::new();
        let serving = axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
        tokio::select! {
            served = serving => served,
            () = async {
                shutdown.await;
                stop.cancel();
                let _ = tokio::time::timeout(GRACE, door.callers.all_answered()).await;
                end_sessions.cancel();
                tokio::time::sleep(CLOSING).await;
            } => Ok(()),
        }
    }
}

struct Door {
    callers: Callers,
    sessions: Arc<LocalSessionManager>,
}

/// Lets a request in with the caller it comes from, and keeps watch whether the caller still waits.
async fn admit(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let Ok((caller, waiting)) = door.callers.admit(bearer(request.headers())) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, Unauthorized.to_string()).into_response();
    };
    if opens_session(&request) && door.sessions.sessions.read().await.len() >= MAX_SESSIONS {
        let later = [(header::RETRY_AFTER, "60")];
        return (StatusCode::SERVICE_UNAVAILABLE, later, "too many sessions are open").into_response();
    }
    // Only a POST waits for an answer; a GET listens, without end.
    let waiting = (request.method() == Method::POST).then_some(waiting);
    request.extensions_mut().insert(caller);
    let response = next.run(request).await;
    let (parts, body) = response.into_parts();
    let body = body.into_data_stream().inspect(move |_| {
        // Lives as long as the body does.
        let _ = &waiting;
    });
    Response::from_parts(parts, Body::from_stream(body))
}

/// The token of `Authorization: Bearer …`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn opens_session(request: &Request) -> bool {
    let headers = request.headers();
    let has_sessions =
        headers.get("mcp-protocol-version").is_none_or(|version| version.as_bytes() < &b"2026-07-28"[..]);
    request.method() == Method::POST && has_sessions && !headers.contains_key("mcp-session-id")
}
