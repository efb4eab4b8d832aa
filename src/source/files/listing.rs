//! Location → the data files below it, sorted by name.
//!
//! What is read: the file itself; every file of a folder and the folders in it; every file that a glob matches. An
//! existing path wins over its reading as a glob. Left out: names that start with `.` or `_` in any segment below the
//! root (unless the glob's own segment starts so), names ending in `.crc`, files without a byte, and symbolic links
//! that lead out of the root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path as ObjectPath;

use super::place::Place;
use crate::error::{Error, ErrorCode};
use crate::source::Source;
use crate::source::store::{self, Location};

/// A data file.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    /// The path below the root, with `/`; empty when the root is the file.
    pub(crate) relative: String,
    /// What the store is asked with.
    pub(crate) meta: ObjectMeta,
}

impl DataFile {
    /// The last segment of the name.
    pub(crate) fn name(&self) -> &str {
        self.meta.location.filename().unwrap_or_default()
    }
}

/// The files of a source.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) place: Arc<Place>,
    pub(crate) files: Vec<DataFile>,
    /// Whether the location named one file, which is then read whatever its name says.
    pub(crate) single: bool,
}

/// Lists on a thread of its own, which stops when the caller does.
///
/// # Errors
/// If the location does not exist, cannot be listed, or holds no data file.
pub(crate) async fn list(source: &Source) -> Result<Listing, Error> {
    let stop = Stop(Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&stop.0);
    let source = source.clone();
    tokio::task::spawn_blocking(move || list_blocking(&source, &flag))
        .await
        .unwrap_or_else(|_| Err(Error::new(ErrorCode::Internal, "listing the files of a table panicked")))
}

/// Sets the flag when the future that waits is dropped.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn list_blocking(source: &Source, stop: &AtomicBool) -> Result<Listing, Error> {
    let unavailable = |why: &str| {
        Error::new(
            ErrorCode::SourceUnavailable,
            format!("table `{}`: location `{}` {why}", source.name, source.shown_uri()),
        )
    };
    let location = match store::locate(&source.uri) {
        Ok(Location::Local(path)) => path,
        Ok(Location::Remote(_)) => return Err(unavailable("is in a store, and not in a folder")),
        Err(error) => return Err(unavailable(&format!("cannot be read: {error}"))),
    };
    let (root, shown, pattern) = match fs::metadata(&location) {
        Ok(_) => (location, source.shown_uri(), None),
        Err(error) if error.kind() == io::ErrorKind::NotFound || error.kind() == io::ErrorKind::NotADirectory => {
            let Some((root, pattern)) = split_glob(&location) else {
                return Err(unavailable("does not exist; check the path of the source"));
            };
            if !root.is_dir() {
                return Err(unavailable("matches nothing: the folder before its first wildcard does not exist"));
            }
            (root, shown_root(&source.shown_uri()), Some(pattern))
        }
        Err(error) => return Err(unavailable(&format!("cannot be read ({}); check its permissions", reason(&error)))),
    };
    let root = root.canonicalize().map_err(|error| unavailable(&format!("cannot be read ({})", reason(&error))))?;
    let place = Arc::new(Place { table: source.name.clone(), shown, root: root.clone() });

    let single = root.is_file();
    let mut walk = Walk { place: &place, pattern: pattern.as_deref(), stop, files: Vec::new(), empty: 0 };
    if single {
        let metadata =
            fs::metadata(&root).map_err(|error| unavailable(&format!("cannot be read ({})", reason(&error))))?;
        walk.take(&root, String::new(), &metadata)?;
    } else if root.is_dir() {
        walk.folder(&root, "")?;
    } else {
        return Err(unavailable("is neither a file nor a folder"));
    }
    let (mut files, empty) = (walk.files, walk.empty);
    if files.is_empty() {
        return Err(unavailable(match (single, empty, &pattern) {
            (true, ..) => "is an empty file",
            (_, 0, Some(_)) => "matches no data file; check the pattern (names starting with `.` or `_` are left out)",
            (_, 0, None) => "is a folder without data files (names starting with `.` or `_` are left out)",
            _ => "holds only empty files",
        }));
    }
    files.sort_by(|a, b| a.relative.cmp(&b.relative));
    Ok(Listing { place, files, single })
}

struct Walk<'a> {
    place: &'a Place,
    pattern: Option<&'a [String]>,
    stop: &'a AtomicBool,
    files: Vec<DataFile>,
    empty: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, relative: &str) -> Result<(), Error> {
        let cannot = |error: &io::Error| {
            self.place.unavailable(relative, &format!("cannot be listed ({}); check its permissions", reason(error)))
        };
        let entries = fs::read_dir(folder).map_err(|error| cannot(&error))?;
        for entry in entries {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorCode::Cancelled, "the call was given up"));
            }
            let entry = entry.map_err(|error| cannot(&error))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let shown = format!("{relative}/{}", name.to_string_lossy());
                return Err(self
                    .place
                    .unavailable(shown.trim_start_matches('/'), "has a name that is not UTF-8; rename it"));
            };
            if is_hidden(name, self.pattern) {
                continue;
            }
            let below = if relative.is_empty() { name.to_owned() } else { format!("{relative}/{name}") };
            let path = entry.path();
            let Some((path, metadata)) = self.resolve(folder, path, &below)? else { continue };
            if metadata.is_dir() {
                self.folder(&path, &below)?;
            } else if metadata.is_file() && matches(&below, self.pattern) {
                self.take(&path, below, &metadata)?;
            }
        }
        Ok(())
    }

    /// Follows a symbolic link within the root. `None` for one that leads out of it, nowhere, or to a folder above.
    fn resolve(&self, folder: &Path, path: PathBuf, below: &str) -> Result<Option<(PathBuf, fs::Metadata)>, Error> {
        let cannot = |error: &io::Error| self.place.unavailable(below, &format!("cannot be read ({})", reason(error)));
        let metadata = fs::symlink_metadata(&path).map_err(|error| cannot(&error))?;
        if !metadata.is_symlink() {
            return Ok(Some((path, metadata)));
        }
        let Ok(target) = path.canonicalize() else { return Ok(None) };
        if !target.starts_with(&self.place.root) || folder.starts_with(&target) {
            return Ok(None);
        }
        let metadata = fs::metadata(&target).map_err(|error| cannot(&error))?;
        Ok(Some((target, metadata)))
    }

    fn take(&mut self, path: &Path, relative: String, metadata: &fs::Metadata) -> Result<(), Error> {
        if metadata.len() == 0 {
            self.empty += 1;
            return Ok(());
        }
        let location = path
            .to_str()
            .and_then(|path| ObjectPath::parse(path).ok())
            .ok_or_else(|| self.place.unavailable(&relative, "has a name with control characters; rename it"))?;
        let last_modified = metadata.modified().map(chrono::DateTime::<chrono::Utc>::from).unwrap_or_default();
        let meta = ObjectMeta { location, last_modified, size: metadata.len(), e_tag: None, version: None };
        self.files.push(DataFile { relative, meta });
        Ok(())
    }
}

/// Whether a segment's name marks what is no data, unless the pattern itself asks for such names.
pub(crate) fn is_hidden(name: &str, pattern: Option<&[String]>) -> bool {
    let marked = name.starts_with(['.', '_'])
        && !pattern.is_some_and(|segments| segments.iter().any(|segment| segment.starts_with(&name[..1])));
    marked || name.to_ascii_lowercase().ends_with(".crc")
}

/// Whether the pattern, if there is one, takes the path below the root.
pub(crate) fn matches(relative: &str, pattern: Option<&[String]>) -> bool {
    pattern.is_none_or(|pattern| {
        let pattern: Vec<&str> = pattern.iter().map(String::as_str).collect();
        let segments: Vec<&str> = relative.split('/').collect();
        matches_path(&pattern, &segments)
    })
}

/// The system's reason without a path in it.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        kind => kind.to_string(),
    }
}

/// What makes a segment a pattern.
pub(crate) const WILD: [char; 3] = ['*', '?', '['];

/// Splits before the first segment with a wildcard. `None` if there is none.
fn split_glob(path: &Path) -> Option<(PathBuf, Vec<String>)> {
    let mut root = PathBuf::new();
    let mut pattern = Vec::new();
    for part in path {
        let text = part.to_str()?;
        if pattern.is_empty() && !text.contains(WILD) {
            root.push(part);
        } else {
            pattern.push(text.to_owned());
        }
    }
    (!pattern.is_empty()).then_some((root, pattern))
}

/// The part of a location's text before the segment with the first wildcard.
pub(crate) fn shown_root(uri: &str) -> String {
    let before = uri.find(WILD).map_or(uri, |at| &uri[..at]);
    match before.rfind('/') {
        Some(0) => "/".to_owned(),
        Some(at) => before[..at].to_owned(),
        None => ".".to_owned(),
    }
}

fn matches_path(pattern: &[&str], segments: &[&str]) -> bool {
    match (pattern.split_first(), segments.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=segments.len()).any(|skip| matches_path(rest, &segments[skip..])),
        (Some((first, rest)), Some((segment, below))) => {
            matches_segment(&first.chars().collect::<Vec<_>>(), &segment.chars().collect::<Vec<_>>())
                && matches_path(rest, below)
        }
        _ => false,
    }
}

fn matches_segment(pattern: &[char], text: &[char]) -> bool {
    let Some((&first, rest)) = pattern.split_first() else { return text.is_empty() };
    match first {
        '*' => (0..=text.len()).any(|skip| matches_segment(rest, &text[skip..])),
        '?' => text.split_first().is_some_and(|(_, text)| matches_segment(rest, text)),
        '[' => match (set(rest), text.split_first()) {
            // An open bracket that is never closed stands for itself.
            (None, Some(('[', text))) => matches_segment(rest, text),
            (Some((has, rest)), Some((&c, text))) => has(c) && matches_segment(rest, text),
            _ => false,
        },
        c => text.split_first().is_some_and(|(&found, text)| found == c && matches_segment(rest, text)),
    }
}

/// Reads `a-z]` or `!a-z]`: whether a character is in the set, and what follows it.
fn set(pattern: &[char]) -> Option<(impl Fn(char) -> bool + '_, &[char])> {
    let negated = matches!(pattern.first(), Some('!' | '^'));
    let pattern = &pattern[usize::from(negated)..];
    // A bracket in the first place is a member of the set.
    let end = 1 + pattern.get(1..)?.iter().position(|&c| c == ']')?;
    let members = &pattern[..end];
    let has = move |c: char| {
        let mut at = 0;
        let mut found = false;
        while let Some(&low) = members.get(at) {
            match (members.get(at + 1), members.get(at + 2)) {
                (Some('-'), Some(&high)) => {
                    found |= (low..=high).contains(&c);
                    at += 3;
                }
                _ => {
                    found |= low == c;
                    at += 1;
                }
            }
        }
        found != negated
    };
    Some((has, &pattern[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_by_segment() {
        let matches = |pattern: &str, path: &str| {
            matches_path(&pattern.split('/').collect::<Vec<_>>(), &path.split('/').collect::<Vec<_>>())
        };
        for (pattern, path) in [
            ("*.csv", "a.csv"),
            ("**/*.csv", "a.csv"),
            ("**/*.csv", "x/y/a.csv"),
            ("x/**", "x/y/z"),
            ("p?[0-9].csv", "pä7.csv"),
            ("[!a]b", "cb"),
            ("[]]b", "]b"),
            ("a[b", "a[b"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in
            [("*.csv", "x/a.csv"), ("*.csv", "a.csv.gz"), ("[a-c]", "d"), ("[!a]b", "ab"), ("x/*", "x")]
        {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
        assert_eq!(shown_root("data/y=*/a.csv"), "data");
        assert_eq!(shown_root("*.csv"), ".");
        assert_eq!(shown_root("/*.csv"), "/");
    }
}
