//! A [`Source`]: a table name over a location. Data only; [`files`] opens it and [`catalog`] shows it to the planner.

pub(crate) mod catalog;
pub(crate) mod files;
mod options;
pub(crate) mod store;
mod types;
mod view;

use std::collections::BTreeMap;
use std::fmt;

pub(crate) use options::validate;

use crate::error::ConfigError;
use crate::policy::TableRules;
use crate::redact::redact;

/// The file formats that a source can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Delimited text, plain or compressed by gzip, zstd, bzip2 or xz. Names ending in `.tsv` are split at tabs.
    Csv,
    /// One JSON object a line (NDJSON), plain or compressed likewise.
    Json,
    /// Apache Avro object container files.
    Avro,
    /// Arrow IPC, the file and the stream format.
    Arrow,
}

impl Format {
    /// The name as the configuration writes it: `parquet`, `csv`, `json`, `avro` or `arrow`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Avro => "avro",
            Self::Arrow => "arrow",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = ConfigError;

    /// Reads a format's name in any case. `tsv`, `ndjson`, `jsonl`, `ipc` and `feather` are taken for what they are.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text.to_ascii_lowercase().as_str() {
            "parquet" => Ok(Self::Parquet),
            "csv" | "tsv" => Ok(Self::Csv),
            "json" | "ndjson" | "jsonl" => Ok(Self::Json),
            "avro" => Ok(Self::Avro),
            "arrow" | "ipc" | "feather" => Ok(Self::Arrow),
            _ => Err(ConfigError::new(format!(
                "`{text}` is no format; it can be `parquet`, `csv`, `json`, `avro` or `arrow`"
            ))),
        }
    }
}

/// A table's name: `table` or `schema.table`, each part as it is, without SQL quotes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TableName {
    /// The schema; `public` when the name gave none.
    pub(crate) schema: String,
    /// The table within the schema.
    pub(crate) table: String,
}

/// The schema of a source whose name gives none; DataFusion's own default.
pub(crate) const DEFAULT_SCHEMA: &str = "public";

/// A table: a name over a location, with what is to be known about its files.
///
/// Nothing is read or checked until the toolset is built, and no file is opened before a call names the table.
///
/// ```
/// use datafusion_toolset::{Format, Source};
///
/// let source = Source::new("sales", "data/sales/")
///     .with_format(Format::Csv)
///     .with_description("One row per order line")
///     .with_column("zip", "Utf8")
///     .with_option("delimiter", ";");
/// ```
#[derive(Clone, PartialEq)]
pub struct Source {
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) format: Option<Format>,
    pub(crate) description: Option<String>,
    pub(crate) partitions: Vec<(String, String)>,
    pub(crate) columns: Vec<(String, String)>,
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) store: BTreeMap<String, String>,
    pub(crate) rules: TableRules,
}

impl Source {
    /// A table over a location.
    ///
    /// `name` is `table` or `schema.table`, taken as it is written: `Web-Events 2024` is a good name, which SQL writes
    /// `"Web-Events 2024"`. A part that holds a dot stands in double quotes.
    ///
    /// `uri` is a path, a folder (read with the folders in it), a glob, or a URL of the schemes that the contract
    /// lists. A relative path is relative to the working directory; `~/` is the home directory.
    pub fn new(name: impl Into<String>, uri: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri: uri.into(),
            format: None,
            description: None,
            partitions: Vec::new(),
            columns: Vec::new(),
            options: BTreeMap::new(),
            store: BTreeMap::new(),
            rules: TableRules::default(),
        }
    }

    /// The format. Default: from the file names.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// A line that tells the model what a row is; `list_tables` shows it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Declares a hive-style partition folder (`year=2024/`) and its Arrow type, such as `Int32`. Default: the folders
    /// that are found, typed as `Utf8`.
    #[must_use]
    pub fn with_partition(mut self, column: impl Into<String>, data_type: impl Into<String>) -> Self {
        self.partitions.push((column.into(), data_type.into()));
        self
    }

    /// The Arrow type of a column, such as `Utf8`, `Int64`, `Decimal128(18, 2)` or `Timestamp(µs)`, instead of what
    /// is inferred or stored.
    #[must_use]
    pub fn with_column(mut self, column: impl Into<String>, data_type: impl Into<String>) -> Self {
        self.columns.push((column.into(), data_type.into()));
        self
    }

    /// An option of the format:
    ///
    /// | format | option | default | meaning |
    /// |---|---|---|---|
    /// | csv | `has_header` | `true` | the first line holds the column names |
    /// | csv | `delimiter` | `,`; tab for `.tsv` | one byte, or `tab` or `\t` |
    /// | csv | `quote` | `"` | one byte |
    /// | csv | `escape` | none | one byte; without it a quote in a quoted field is doubled |
    /// | csv | `comment` | none | one byte that starts a line to skip |
    /// | csv | `null` | none | a field that reads as null, beside the empty one, which always does |
    /// | csv, json | `infer_records` | `1000` | records that the types are guessed from, per file |
    /// | csv, json | `compression` | from the name | `none`, `gzip`, `zstd`, `bz2` or `xz` |
    #[must_use]
    pub fn with_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.insert(name.into(), value.into());
        self
    }

    /// A setting of the object store, such as `region` or `access_key_id`: object_store's own configuration keys
    /// without the provider's prefix. The value is never shown.
    #[must_use]
    pub fn with_store_option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.store.insert(name.into(), value.into());
        self
    }

    /// A predicate in SQL that every read of the table gets, as with [`Policy::with_filter`](crate::Policy::with_filter).
    #[must_use]
    pub fn with_filter(mut self, predicate: impl Into<String>) -> Self {
        self.rules.filter.push(predicate.into());
        self
    }

    /// Columns that do not exist for the caller, as with [`Policy::with_hidden`](crate::Policy::with_hidden).
    #[must_use]
    pub fn with_hidden<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.rules.hide.extend(columns.into_iter().map(Into::into));
        self
    }

    /// An SQL expression that stands in a column's place, as with [`Policy::with_mask`](crate::Policy::with_mask).
    #[must_use]
    pub fn with_mask(mut self, column: impl Into<String>, expression: impl Into<String>) -> Self {
        self.rules.set_mask(column.into(), expression.into());
        self
    }

    /// The name as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description, if one was given.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The location as text that may be shown.
    pub(crate) fn shown_uri(&self) -> String {
        redact(&self.uri).into_owned()
    }

    /// The values of its store options that no text may show.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = String> {
        let is_secret = |key: &str| ["secret", "key", "token", "password", "sas"].iter().any(|part| key.contains(part));
        self.store.iter().filter(move |(key, _)| is_secret(&key.to_ascii_lowercase())).map(|(_, value)| value.clone())
    }

    /// Splits the name.
    ///
    /// # Errors
    /// If it is empty, has an empty part or more than two parts, or an open quote.
    pub(crate) fn table_name(&self) -> Result<TableName, ConfigError> {
        let wrong = |why: &str| ConfigError::new(format!("source name `{}` {why}", self.name));
        let parts = split_name(&self.name).ok_or_else(|| wrong("has a quote that is not closed"))?;
        if parts.iter().any(String::is_empty) {
            return Err(wrong("is empty or has an empty part"));
        }
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(table), None, None) => Ok(TableName { schema: DEFAULT_SCHEMA.to_owned(), table }),
            (Some(schema), Some(table), None) if schema != "information_schema" => Ok(TableName { schema, table }),
            (Some(_), Some(_), None) => Err(wrong("is in the schema `information_schema`, which is the engine's own")),
            _ => Err(wrong("has more than two parts; write `table` or `schema.table`")),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("uri", &self.shown_uri())
            .field("format", &self.format)
            .field("description", &self.description)
            .field("partitions", &self.partitions)
            .field("columns", &self.columns)
            .field("options", &self.options)
            .field("store", &self.store.keys().map(|key| (key, "***")).collect::<BTreeMap<_, _>>())
            .field("rules", &self.rules)
            .finish()
    }
}

/// Splits at dots outside double quotes; `None` if a quote stays open. A part is quoted only as a whole.
fn split_name(name: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = name.chars().peekable();
    loop {
        if part.is_empty() && chars.peek() == Some(&'"') {
            chars.next();
            loop {
                match chars.next()? {
                    '"' if chars.peek() == Some(&'"') => {
                        chars.next();
                        part.push('"');
                    }
                    '"' => break,
                    c => part.push(c),
                }
            }
        }
        match chars.next() {
            Some('.') => parts.push(std::mem::take(&mut part)),
            Some(c) => part.push(c),
            None => {
                parts.push(part);
                return Some(parts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_dots_outside_quotes() {
        let split = |name: &str| Source::new(name, "x").table_name().map(|name| (name.schema, name.table));
        let pair = |schema: &str, table: &str| Ok((schema.to_owned(), table.to_owned()));
        assert_eq!(split("sales"), pair("public", "sales"));
        assert_eq!(split("crm.Customers"), pair("crm", "Customers"));
        assert_eq!(split("Web-Events 2024"), pair("public", "Web-Events 2024"));
        assert_eq!(split("\"a.b\""), pair("public", "a.b"));
        assert_eq!(split("s.\"q\"\"x\""), pair("s", "q\"x"));
        for bad in ["", ".", "a.", ".a", "a.b.c", "\"a", "information_schema.tables"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn debug_shows_no_store_value() {
        let text = format!("{:?}", Source::new("t", "s3://b/k").with_store_option("secret_access_key", "hunter2"));
        assert!(text.contains("secret_access_key") && !text.contains("hunter2"), "{text}");
    }
}
