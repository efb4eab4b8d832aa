//! A location → an `ObjectStore` and the path in it. Only the local file system so far.

use std::path::{Path, PathBuf};

use crate::error::ConfigError;

/// Where a source's files are: a folder or file that surely exists in the location's text, and what is to be matched
/// below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// The path as the file system takes it; a glob's characters are still in it.
    pub(crate) path: PathBuf,
}

/// The schemes that the contract lists.
const SCHEMES: [&str; 9] = ["file", "s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https"];

/// The scheme of a URL, in lower case, and what follows `://`.
fn scheme(uri: &str) -> Option<(String, &str)> {
    let (scheme, rest) = uri.split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    is_scheme.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// Checks what can be checked without looking: the location is not empty and its scheme is known.
///
/// # Errors
/// If it is empty or of an unknown scheme.
pub(crate) fn check(uri: &str) -> Result<(), ConfigError> {
    if uri.is_empty() {
        return Err(ConfigError::new("the location is empty; give a file, a folder or a glob"));
    }
    match scheme(uri) {
        Some((scheme, _)) if !SCHEMES.contains(&scheme.as_str()) => {
            Err(ConfigError::new(format!("`{scheme}://` is no known scheme; give a local path or a `file://` URL")))
        }
        _ => Ok(()),
    }
}

/// Reads a location: a plain path (absolute, relative, `~/`) or `file://`.
///
/// A `file://` URL is percent-decoded, a plain path is taken as it is written.
///
/// # Errors
/// If the scheme is one that is not built yet or is unknown, or the URL names no local path.
pub(crate) fn locate(uri: &str) -> Result<Location, ConfigError> {
    check(uri)?;
    match scheme(uri) {
        Some((scheme, rest)) if scheme == "file" => return file_url(rest),
        Some((scheme, _)) => {
            return Err(ConfigError::new(format!(
                "`{scheme}://` locations cannot be read yet; copy the files to a local folder and name that"
            )));
        }
        None => {}
    }
    let path = match uri.strip_prefix("~/").or((uri == "~").then_some("")) {
        Some(rest) => std::env::home_dir()
            .ok_or_else(|| ConfigError::new("`~` cannot be resolved: no home directory is known; give a full path"))?
            .join(rest),
        None => PathBuf::from(uri),
    };
    Ok(Location { path: absolute(&path)? })
}

/// The part after `file://`: an empty or `localhost` host, then an absolute path in percent-encoding. What a URL would
/// cut off as query or fragment is taken as part of the name, and so are a glob's characters.
fn file_url(rest: &str) -> Result<Location, ConfigError> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(ConfigError::new("a `file://` URL needs an absolute path: `file:///folder/name`"));
    }
    let decoded = percent_decode(path)
        .ok_or_else(|| ConfigError::new("the `file://` URL does not decode to UTF-8; give the path as it is"))?;
    Ok(Location { path: PathBuf::from(decoded) })
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
        let path = |uri: &str| locate(uri).map(|location| location.path);
        assert_eq!(path("/a/b%20c#1.csv"), Ok(PathBuf::from("/a/b%20c#1.csv")));
        assert_eq!(path("file:///a/b%20c.csv"), Ok(PathBuf::from("/a/b c.csv")));
        assert_eq!(path("file://localhost/a"), Ok(PathBuf::from("/a")));
        assert!(path("data/x").is_ok_and(|path| path.is_absolute() && path.ends_with("data/x")));
        assert!(path("~/x").is_ok_and(|path| path.is_absolute() && !path.starts_with("~")));
        for bad in ["", "s3://b/k", "file://x", "ftp://h/x"] {
            assert!(path(bad).is_err(), "{bad}");
        }
        assert_eq!(percent_decode("a%2Fb%zz%"), Some("a/b%zz%".to_owned()));
        assert_eq!(percent_decode("%ff"), None);
    }
}
