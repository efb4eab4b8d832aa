//! A location's text → where it is. No I/O.

use std::path::{Path, PathBuf};

use crate::error::ConfigError;

/// Where a source's files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// The path as the file system takes it; a glob's characters are still in it.
    Local(PathBuf),
    /// In a store.
    Remote(Remote),
}

/// Who keeps the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    /// Amazon S3 and what speaks its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// One file of a web server.
    Http,
}

impl Provider {
    /// The feature that brings its client.
    pub(crate) fn feature(self) -> &'static str {
        match self {
            Self::S3 => "aws",
            Self::Gcs => "gcp",
            Self::Azure => "azure",
            Self::Http => "http",
        }
    }

    /// Whether this build has its client.
    pub(crate) fn is_built(self) -> bool {
        match self {
            Self::S3 => cfg!(feature = "aws"),
            Self::Gcs => cfg!(feature = "gcp"),
            Self::Azure => cfg!(feature = "azure"),
            Self::Http => cfg!(feature = "http"),
        }
    }
}

/// A place in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    /// Who is asked.
    pub(crate) provider: Provider,
    /// Bucket or container; of a web server the whole URL.
    pub(crate) bucket: String,
    /// The key as the user's own tools show it, without a leading slash; of a web server the decoded path.
    pub(crate) key: String,
    /// The storage account, where an Azure URL names it.
    pub(crate) account: Option<String>,
    /// The signed query of an Azure URL.
    pub(crate) query: Option<String>,
}

/// The schemes that the contract lists.
const SCHEMES: &str = "`file`, `s3`, `s3a`, `gs`, `az`, `abfs`, `abfss`, `http` or `https`";

/// The scheme of a URL, in lower case, and what follows `://`.
fn scheme(uri: &str) -> Option<(String, &str)> {
    let (scheme, rest) = uri.split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    is_scheme.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// Reads a location: a plain path (absolute, relative, `~/`), `file://`, or a store's URL.
///
/// A `file://`, `http://` or `https://` URL is percent-decoded. A plain path and the key of a store are taken as they
/// are written, so `%`, `#`, `+` and spaces are part of the name.
///
/// # Errors
/// If it is empty, of an unknown scheme, or names no bucket.
pub(crate) fn parse(uri: &str) -> Result<Location, ConfigError> {
    if uri.is_empty() {
        return Err(ConfigError::new("the location is empty; give a file, a folder or a glob"));
    }
    let Some((scheme, rest)) = scheme(uri) else { return Ok(Location::Local(PathBuf::from(uri))) };
    match scheme.as_str() {
        "file" => file_url(rest).map(Location::Local),
        "s3" | "s3a" => in_bucket(Provider::S3, &scheme, rest),
        "gs" => in_bucket(Provider::Gcs, &scheme, rest),
        "az" | "abfs" | "abfss" => azure(&scheme, rest),
        "http" | "https" => web(uri, rest),
        _ => Err(ConfigError::new(format!("`{scheme}://` is no known scheme; it can be {SCHEMES}, or a local path"))),
    }
}

/// [`parse`], with a local path made absolute.
///
/// # Errors
/// Those of [`parse`]; if the home or working directory is not known; if this build has no client for the store.
pub(crate) fn locate(uri: &str) -> Result<Location, ConfigError> {
    match parse(uri)? {
        Location::Remote(remote) if !remote.provider.is_built() => Err(ConfigError::new(format!(
            "this build has no client for it; build with the feature `{}`",
            remote.provider.feature()
        ))),
        Location::Local(path) => {
            let text = path.to_str().unwrap_or_default();
            let path = match text.strip_prefix("~/").or((text == "~").then_some("")) {
                Some(rest) => std::env::home_dir()
                    .ok_or_else(|| {
                        ConfigError::new("`~` cannot be resolved: no home directory is known; give a full path")
                    })?
                    .join(rest),
                None => path,
            };
            Ok(Location::Local(absolute(&path)?))
        }
        remote => Ok(remote),
    }
}

fn in_bucket(provider: Provider, scheme: &str, rest: &str) -> Result<Location, ConfigError> {
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() || bucket.contains(['@', ':', '?', '#', '*']) {
        return Err(ConfigError::new(format!("`{scheme}://` needs a bucket: `{scheme}://bucket/folder/`")));
    }
    Ok(Location::Remote(Remote {
        provider,
        bucket: bucket.to_owned(),
        key: key.trim_start_matches('/').to_owned(),
        account: None,
        query: None,
    }))
}

/// `az://container/path` and `abfss://container@account.dfs.core.windows.net/path`.
fn azure(scheme: &str, rest: &str) -> Result<Location, ConfigError> {
    let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
    let (container, host) = match authority.split_once('@') {
        Some((container, host)) => (container, Some(host)),
        None => (authority, None),
    };
    let Location::Remote(mut remote) = in_bucket(Provider::Azure, scheme, &format!("{container}/{key}"))? else {
        return Err(ConfigError::new("an Azure URL names a container"));
    };
    remote.account = host.map(|host| host.split('.').next().unwrap_or_default().to_owned());
    Ok(Location::Remote(remote))
}

/// A web server's file, or a container where the host is Azure's own.
fn web(uri: &str, rest: &str) -> Result<Location, ConfigError> {
    let before_query = rest.find(['?', '#']).map_or(rest, |at| &rest[..at]);
    let (authority, path) = before_query.split_once('/').unwrap_or((before_query, ""));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.is_empty() {
        return Err(ConfigError::new("the URL names no host"));
    }
    let decoded = percent_decode(path).ok_or_else(|| ConfigError::new("the URL's path does not decode to UTF-8"))?;
    let lower = host.to_ascii_lowercase();
    if let Some((account, "blob.core.windows.net" | "dfs.core.windows.net")) = lower.split_once('.') {
        let Location::Remote(mut remote) = in_bucket(Provider::Azure, "https", &decoded)? else {
            return Err(ConfigError::new("an Azure URL names a container"));
        };
        remote.account = Some(account.to_owned());
        remote.query = rest.split_once('?').map(|(_, query)| query.to_owned());
        return Ok(Location::Remote(remote));
    }
    if uri.parse::<url::Url>().is_err() {
        return Err(ConfigError::new("the location is no valid URL"));
    }
    Ok(Location::Remote(Remote {
        provider: Provider::Http,
        bucket: uri.to_owned(),
        key: decoded,
        account: None,
        query: None,
    }))
}

/// The part after `file://`: an empty or `localhost` host, then an absolute path in percent-encoding. What a URL would
/// cut off as query or fragment is taken as part of the name, and so are a glob's characters.
fn file_url(rest: &str) -> Result<PathBuf, ConfigError> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(ConfigError::new("a `file://` URL needs an absolute path: `file:///folder/name`"));
    }
    let decoded = percent_decode(path)
        .ok_or_else(|| ConfigError::new("the `file://` URL does not decode to UTF-8; give the path as it is"))?;
    Ok(PathBuf::from(decoded))
}

fn absolute(path: &Path) -> Result<PathBuf, ConfigError> {
    std::path::absolute(path).map_err(|error| {
        ConfigError::new(format!("the working directory cannot be read ({}); give a full path", error.kind()))
    })
}

/// Decodes `%XX`; anything else stays. `None` if the result is not UTF-8.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'%'
            && let (Some(high), Some(low)) =
                (bytes.get(at + 1).copied().and_then(hex), bytes.get(at + 2).copied().and_then(hex))
        {
            out.push(high * 16 + low);
            at += 3;
            continue;
        }
        out.push(byte);
        at += 1;
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_taken_as_written_and_urls_are_decoded() {
        let path = |uri: &str| match locate(uri) {
            Ok(Location::Local(path)) => Some(path),
            _ => None,
        };
        assert_eq!(path("/a/b%20c#1.csv"), Some(PathBuf::from("/a/b%20c#1.csv")));
        assert_eq!(path("file:///a/b%20c.csv"), Some(PathBuf::from("/a/b c.csv")));
        assert_eq!(path("file://localhost/a"), Some(PathBuf::from("/a")));
        assert!(path("data/x").is_some_and(|path| path.is_absolute() && path.ends_with("data/x")));
        assert!(path("~/x").is_some_and(|path| path.is_absolute() && !path.starts_with("~")));
        for bad in ["", "s3://", "s3:///k", "gs://u@b/k", "file://x", "ftp://h/x", "https:///x", "https://h/%ff"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(percent_decode("a%2Fb%zz%"), Some("a/b%zz%".to_owned()));
        assert_eq!(percent_decode("%ff"), None);
    }

    #[test]
    fn keys_are_taken_as_the_users_tools_show_them() {
        let remote = |uri: &str| match parse(uri) {
            Ok(Location::Remote(remote)) => (remote.provider, remote.bucket, remote.key, remote.account),
            other => unreachable!("{other:?}"),
        };
        let is = |provider, bucket: &str, key: &str, account: Option<&str>| {
            (provider, bucket.to_owned(), key.to_owned(), account.map(str::to_owned))
        };
        assert_eq!(remote("s3a://b/a b/p%20q#1+x/漢.csv"), is(Provider::S3, "b", "a b/p%20q#1+x/漢.csv", None));
        assert_eq!(remote("GS://b"), is(Provider::Gcs, "b", "", None));
        assert_eq!(remote("az://c/x/"), is(Provider::Azure, "c", "x/", None));
        assert_eq!(remote("abfss://c@acc.dfs.core.windows.net/x%20y"), is(Provider::Azure, "c", "x%20y", Some("acc")));
        assert_eq!(
            remote("https://acc.blob.core.windows.net/c/x%20y?sig=1"),
            is(Provider::Azure, "c", "x y", Some("acc"))
        );
        let url = "https://u:p@h:1/a%20b.csv?X-Amz-Signature=1";
        assert_eq!(remote(url), is(Provider::Http, url, "a b.csv", None));
    }
}
