//! One file of a web server, by range requests where the server knows them, else got once as a whole.
//!
//! The first request asks for one byte: it works where `HEAD` is refused, as it is by signed URLs, and its answer says
//! whether ranges are known. A server without them answers with the whole file, which is kept up to a bound.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::client::{HttpClient, HttpConnector, HttpRequest, HttpRequestBody, HttpResponse};
use object_store::path::Path;
use object_store::{
    ClientConfigKey, ClientOptions, CopyOptions, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use url::Url;

use super::Patience;
use super::client::{first_byte, http_settings};
use super::wire::Connector;

/// The largest file that is kept whole, in bytes, from a server without range requests.
const MAX_WHOLE: u64 = 256 * 1024 * 1024;

/// A file of a web server.
pub(crate) struct Web {
    client: HttpClient,
    url: Url,
    authorization: Option<String>,
    /// What is known of the file.
    pub(crate) meta: ObjectMeta,
    whole: Option<Bytes>,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a web server")
    }
}

fn failed(why: &'static str) -> object_store::Error {
    object_store::Error::Generic { store: "HTTP", source: why.into() }
}

fn broken(error: object_store::client::HttpError) -> object_store::Error {
    object_store::Error::Generic { store: "HTTP", source: Box::new(error) }
}

impl Web {
    /// Asks the server for the file's size, and gets the file when the server knows no ranges.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached, or the file is too large to be kept whole.
    pub(crate) async fn open(
        url: &str,
        location: Path,
        table: &BTreeMap<String, String>,
        patience: Patience,
    ) -> Result<Self> {
        let mut url = Url::parse(url).map_err(|_| failed("no URL"))?;
        url.set_fragment(None);
        let authorization = (!url.username().is_empty()).then(|| {
            let decoded = |text: &str| super::percent_decode(text).unwrap_or_else(|| text.to_owned());
            let pair = format!("{}:{}", decoded(url.username()), decoded(url.password().unwrap_or_default()));
            format!("Basic {}", base64(pair.as_bytes()))
        });
        // Neither fails for a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let mut options = ClientOptions::new().with_config(ClientConfigKey::AllowHttp, "true");
        for (key, value) in http_settings(patience) {
            options = options.with_config(key, value);
        }
        for (key, value) in table {
            options = options.with_config(key.parse()?, value);
        }
        let client = Connector { patience: first_byte(patience) }.connect(&options)?;
        let meta = ObjectMeta { location, last_modified: Utc::now(), size: 0, e_tag: None, version: None };
        let mut web = Self { client, url, authorization, meta, whole: None };
        let response = match web.ask(Some(0..1)).await {
            Ok(response) => response,
            // There is no first byte.
            Err(error) if is_unsatisfiable(&error) => return Ok(web),
            Err(error) => return Err(error),
        };
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        web.meta.e_tag = header("etag").map(str::to_owned);
        if let Some(time) = header("last-modified").and_then(|text| DateTime::parse_from_rfc2822(text).ok()) {
            web.meta.last_modified = time.with_timezone(&Utc);
        }
        let total = header("content-range").and_then(|text| text.rsplit_once('/')?.1.parse().ok());
        match total.filter(|_| response.status().as_u16() == 206) {
            Some(total) => web.meta.size = total,
            None => {
                let response = if response.status().as_u16() == 206 { web.ask(None).await? } else { response };
                let whole = whole(response).await?;
                web.meta.size = whole.len() as u64;
                web.whole = Some(whole);
            }
        }
        Ok(web)
    }

    async fn ask(&self, range: Option<Range<u64>>) -> Result<HttpResponse> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = self.url.as_str().parse().map_err(|_| failed("no URL"))?;
        let headers = request.headers_mut();
        if let Some(range) = range {
            let value = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
            headers.insert("range", value.parse().map_err(|_| failed("no range"))?);
        }
        if let Some(authorization) = &self.authorization {
            headers.insert("authorization", authorization.parse().map_err(|_| failed("no password"))?);
        }
        self.client.execute(request).await.map_err(broken)
    }
}

fn is_unsatisfiable(error: &object_store::Error) -> bool {
    matches!(super::wire::refusal(error), Some(super::wire::Refusal::Status { status: 416, .. }))
}

async fn whole(response: HttpResponse) -> Result<Bytes> {
    let mut body = Vec::new();
    let mut stream = response.into_body().bytes_stream();
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.map_err(broken)?;
        if (body.len() + bytes.len()) as u64 > MAX_WHOLE {
            return Err(object_store::Error::Generic { store: "HTTP", source: Box::new(TooLarge) });
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body.into())
}

/// The file is larger than what is kept.
#[derive(Debug)]
pub(crate) struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = MAX_WHOLE / 1024 / 1024;
        write!(f, "the server knows no range requests and the file is over {mib} MiB; download it and name the copy")
    }
}

impl std::error::Error for TooLarge {}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn not_here<T>(operation: &str) -> Result<T> {
    let operation = operation.to_owned();
    Err(object_store::Error::NotImplemented { operation, implementer: "a web server".to_owned() })
}

#[async_trait]
impl ObjectStore for Web {
    async fn get_opts(&self, _: &Path, options: GetOptions) -> Result<GetResult> {
        let size = self.meta.size;
        let range = match &options.range {
            None => 0..size,
            Some(GetRange::Bounded(range)) => range.start.min(size)..range.end.min(size),
            Some(GetRange::Offset(start)) => (*start).min(size)..size,
            Some(GetRange::Suffix(length)) => size.saturating_sub(*length)..size,
        };
        let stream: BoxStream<'static, Result<Bytes>> = if options.head || range.is_empty() {
            futures::stream::empty().boxed()
        } else if let Some(whole) = &self.whole {
            let part = match (usize::try_from(range.start), usize::try_from(range.end)) {
                (Ok(start), Ok(end)) => whole.slice(start..end),
                _ => return Err(failed("no range")),
            };
            futures::stream::once(async move { Ok(part) }).boxed()
        } else {
            let response = self.ask(Some(range.clone())).await?;
            let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
            let expected = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            let changed = header("etag").map(str::to_owned) != self.meta.e_tag;
            if response.status().as_u16() != 206 || header("content-range") != Some(expected.as_str()) || changed {
                let source = "another size, tag or range".into();
                return Err(object_store::Error::Precondition { path: String::new(), source });
            }
            response.into_body().bytes_stream().map_err(broken).boxed()
        };
        let meta = self.meta.clone();
        Ok(GetResult { payload: GetResultPayload::Stream(stream), meta, range, attributes: Default::default() })
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        not_here("put")
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        not_here("put")
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        futures::stream::once(async { not_here("delete") }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        futures::stream::once(async { not_here("list") }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> Result<ListResult> {
        not_here("list")
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        not_here("copy")
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn passwords_are_encoded_as_the_protocol_asks() {
        for (plain, encoded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("u:p\u{fe}", "dTpww74=")] {
            assert_eq!(super::base64(plain.as_bytes()), encoded);
        }
    }
}
