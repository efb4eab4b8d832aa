//! Where a source's files are, and how an error names them.

use std::path::PathBuf;

use crate::error::{Error, ErrorCode};

/// A table and its root. Errors show files as the source's own location does, never by a path that it does not show.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The table's name as configured.
    pub(crate) table: String,
    /// The root as the source's location writes it.
    pub(crate) shown: String,
    /// The root's real path.
    pub(crate) root: PathBuf,
}

impl Place {
    /// A file below the root as an error shows it; the root itself for `""`.
    pub(crate) fn show(&self, relative: &str) -> String {
        match (relative, self.shown.trim_end_matches('/')) {
            ("", _) => self.shown.clone(),
            (relative, "") => format!("/{relative}"),
            (relative, shown) => format!("{shown}/{relative}"),
        }
    }

    /// `table `t`: file `data/x.csv` …`: something that cannot be read.
    pub(crate) fn unavailable(&self, relative: &str, why: &str) -> Error {
        self.error(ErrorCode::SourceUnavailable, relative, why)
    }

    /// The same with a code of the caller's choice.
    pub(crate) fn error(&self, code: ErrorCode, relative: &str, why: &str) -> Error {
        let what = if relative.is_empty() { "location" } else { "file" };
        Error::new(code, format!("table `{}`: {what} `{}` {}", self.table, self.show(relative), self.scrub(why)))
    }

    /// Replaces the root's real path, which object_store's and the system's errors contain, by the shown one.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let root = self.root.to_string_lossy();
        if root.len() < 2 {
            return text.to_owned();
        }
        let text = text.replace(root.as_ref(), &self.shown);
        text.replace(root.trim_start_matches('/'), &self.shown)
    }
}

/// The crate's own error that lies behind a reader's, such as a store's refusal.
pub(crate) fn carried(error: &(dyn std::error::Error + 'static)) -> Option<Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(own) = error.downcast_ref::<Error>() {
            return Some(own.duplicate());
        }
        next = error.source();
    }
    None
}

/// The first line of an error, without DataFusion's and Arrow's prefixes, which say nothing to the reader.
pub(crate) fn first_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut line = text.lines().next().unwrap_or_default().trim();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix)) {
        line = rest;
    }
    line.trim_end_matches('.').chars().take(300).collect()
}

const PREFIXES: [&str; 15] = [
    "Avro error: ",
    "External error: ",
    "External: ",
    "Arrow error: ",
    "Parquet error: ",
    "Object Store error: ",
    "Execution error: ",
    "Error during planning: ",
    "IO error: ",
    "Io error: ",
    "Ipc error: ",
    "Csv error: ",
    "Json error: ",
    "Parser error: ",
    "Parse error: ",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shown_path_is_seen() {
        let place = Place { table: "t".into(), shown: "data/".into(), root: PathBuf::from("/home/u/data") };
        let error = place.unavailable("a/x.csv", "cannot be read (Object at location /home/u/data/a/x.csv not found)");
        assert_eq!(
            error.message(),
            "table `t`: file `data/a/x.csv` cannot be read (Object at location data//a/x.csv not found)"
        );
        assert_eq!(place.show(""), "data/");
        assert_eq!(first_line(&"External error: Parquet error: EOF: x.\nbacktrace"), "EOF: x");
    }
}
