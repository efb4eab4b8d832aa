//! One HTTP exchange with a store: retried a few times, given up in time, and only its reason kept.
//!
//! object_store's own client waits up to three minutes and puts whole response bodies into its errors. Here a refusal
//! is a [`Refusal`]: status, the store's one-word code, and the region that it names.

use std::error::Error as StdError;
use std::fmt;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::StreamExt;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, Result};

/// So many times a request is sent in all.
const ATTEMPTS: u32 = 4;

/// So much of a refusal's body is looked at; the rest is never read.
const MAX_BODY: usize = 4096;

/// The wait before the second attempt; it doubles each time.
const BACKOFF: Duration = Duration::from_millis(80);

/// Why a store did not give what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It answered with an error.
    Status { status: u16, code: Option<String>, region: Option<String>, retry_after: Option<u64> },
    /// No connection could be made.
    Unreachable,
    /// The connection was cut.
    Cut,
    /// No answer came in time.
    Silent,
    /// There are no credentials, and the machine has none to give.
    NoCredentials,
}

impl Refusal {
    /// Whether it says that there is no such object or bucket.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Status { status: 404, .. })
    }

    /// The bucket's region, when the request went to another one.
    pub(crate) fn other_region(&self) -> Option<&str> {
        match self {
            Self::Status { status: 300..=399, region, .. } => region.as_deref(),
            Self::Status { code: Some(code), region, .. } if code == "AuthorizationHeaderMalformed" => {
                region.as_deref()
            }
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, code, region, retry_after) = match self {
            Self::Unreachable => return f.write_str("the store cannot be reached; check its endpoint and the network"),
            Self::Cut => return f.write_str("the store cut the connection"),
            Self::Silent => return f.write_str("the store did not answer in time"),
            Self::NoCredentials => {
                return f
                    .write_str("no credentials were found; set them in the source's `store`, or `anonymous = true`");
            }
            Self::Status { status, code, region, retry_after } => (*status, code.as_deref(), region, retry_after),
        };
        let shown = match code {
            Some(code) => format!("{status} {code}"),
            None => format!("status {status}"),
        };
        match (status, code) {
            (_, Some("NoSuchBucket" | "ContainerNotFound")) => write!(f, "there is no such bucket ({shown})"),
            (404 | 410, _) => write!(f, "it does not exist ({shown})"),
            (_, Some("ExpiredToken" | "TokenRefreshRequired" | "ExpiredAuthenticationToken")) => {
                write!(f, "the credentials have expired ({shown}); renew them")
            }
            (300..=399, _)
            | (_, Some("AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException")) => {
                match region {
                    Some(region) => {
                        write!(f, "the region is wrong ({shown}): the bucket is in `{region}`; set `region`")
                    }
                    None if code.is_some() => write!(f, "the region is wrong ({shown}); set `region` in `store`"),
                    None => write!(f, "the store sends the request elsewhere ({shown}); check `endpoint` and `region`"),
                }
            }
            (_, Some("SignatureDoesNotMatch" | "InvalidAccessKeyId" | "AuthenticationFailed")) => {
                write!(f, "the credentials are wrong ({shown}); check the keys in `store`")
            }
            (401 | 403, _) => {
                write!(
                    f,
                    "access is denied ({shown}); check the credentials, or set `anonymous = true` for public data"
                )
            }
            (429 | 503, _) | (_, Some("SlowDown")) => match retry_after {
                Some(seconds) => write!(f, "the store is throttling ({shown}); it asks to wait {seconds} s"),
                None => write!(f, "the store is throttling ({shown}); try again later"),
            },
            _ => write!(f, "the store failed ({shown})"),
        }
    }
}

impl StdError for Refusal {}

/// The refusal that lies behind an error.
pub(crate) fn refusal(error: &(dyn StdError + 'static)) -> Option<Refusal> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(refusal) = error.downcast_ref::<Refusal>() {
            return Some(refusal.clone());
        }
        if let Some(error) = error.downcast_ref::<HttpError>() {
            let own = StdError::source(error).and_then(refusal);
            return own.or(match error.kind() {
                HttpErrorKind::Connect => Some(Refusal::Unreachable),
                HttpErrorKind::Timeout => Some(Refusal::Silent),
                // What ends a body is mostly a cut connection, whatever the client calls it.
                _ => Some(Refusal::Cut),
            });
        }
        next = error.source();
    }
    None
}

/// Makes clients whose every exchange passes [`Wire`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connector {
    /// The longest that one request may take with all its attempts, to the first byte of its answer.
    pub(crate) patience: Duration,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Wire { client, patience: self.patience }))
    }
}

#[derive(Debug)]
struct Wire {
    client: HttpClient,
    patience: Duration,
}

#[async_trait]
impl HttpService for Wire {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        // The machine's own service for credentials answers at once or is not there.
        let asks_machine = matches!(
            request.uri().host(),
            Some("169.254.169.254" | "169.254.170.2" | "metadata.google.internal" | "metadata")
        );
        let (attempts, patience) =
            if asks_machine { (1, self.patience.min(Duration::from_secs(1))) } else { (ATTEMPTS, self.patience) };
        let end = Instant::now() + patience;
        let mut attempt = 1;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let refusal = match tokio::time::timeout(left, self.client.execute(request.clone())).await {
                Err(_) => Refusal::Silent,
                Ok(Err(error)) => refusal(&error).unwrap_or(Refusal::Cut),
                Ok(Ok(response)) if response.status().is_success() || response.status().as_u16() == 304 => {
                    return Ok(response);
                }
                Ok(Ok(response)) => described(response, left).await,
            };
            if asks_machine {
                return Err(HttpError::new(HttpErrorKind::Unknown, Refusal::NoCredentials));
            }
            let wait = match &refusal {
                Refusal::Status { status: 408 | 429 | 500..=599, retry_after, .. } => Some(*retry_after),
                Refusal::Status { code: Some(code), .. } if code == "SlowDown" => Some(None),
                Refusal::Unreachable | Refusal::Cut => Some(None),
                _ => None,
            };
            let pause = match wait {
                Some(Some(seconds)) => Duration::from_secs(seconds),
                _ => BACKOFF * 2u32.pow(attempt - 1),
            };
            // `Unknown` is what the client above does not try again by itself.
            if wait.is_none() || attempt >= attempts || Instant::now() + pause >= end {
                return Err(HttpError::new(HttpErrorKind::Unknown, refusal));
            }
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }
}

/// What a refusal says of itself, from its headers and the first bytes of its body.
async fn described(response: HttpResponse, left: Duration) -> Refusal {
    let status = response.status().as_u16();
    let text = |name: &str| {
        let value = response.headers().get(name)?.to_str().ok()?;
        let plain = value.len() <= 64 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        plain.then(|| value.to_owned())
    };
    let region = text("x-amz-bucket-region");
    let retry_after = text("retry-after").and_then(|text| text.parse().ok());
    let by_header = text("x-ms-error-code");
    let mut body = Vec::new();
    let mut stream = response.into_body().bytes_stream();
    let read = async {
        while let Some(Ok(bytes)) = stream.next().await {
            body.extend_from_slice(&bytes[..bytes.len().min(MAX_BODY - body.len())]);
            if body.len() >= MAX_BODY {
                break;
            }
        }
    };
    // The status alone is enough when the body does not come.
    let _ = tokio::time::timeout(left.min(Duration::from_secs(1)), read).await;
    let body = String::from_utf8_lossy(&body);
    let element = |name: &str| {
        let (_, rest) = body.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once(&format!("</{name}>"))?;
        let plain = value.len() <= 64 && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        (plain && !value.is_empty()).then(|| value.to_owned())
    };
    let code = by_header.or_else(|| element("Code"));
    Refusal::Status { status, region: region.or_else(|| element("Region")), code, retry_after }
}
