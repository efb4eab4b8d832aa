//! A [`Source`]'s options, partitions and column types, parsed. No I/O.

use std::collections::BTreeSet;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::parsers::CompressionTypeVariant as Compression;

use super::types::parse_type;
use super::{Format, Source, store};
use crate::error::ConfigError;

/// How many records the types of a text file are guessed from.
pub(crate) const DEFAULT_INFER_RECORDS: usize = 1000;

/// What [`Source::with_option`] says, with the defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextOptions {
    pub(crate) has_header: bool,
    /// `None`: `,`, or a tab for `.tsv`.
    pub(crate) delimiter: Option<u8>,
    pub(crate) quote: u8,
    pub(crate) escape: Option<u8>,
    pub(crate) comment: Option<u8>,
    pub(crate) null: Option<String>,
    pub(crate) infer_records: usize,
    /// `None`: from the name of each file.
    pub(crate) compression: Option<Compression>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            has_header: true,
            delimiter: None,
            quote: b'"',
            escape: None,
            comment: None,
            null: None,
            infer_records: DEFAULT_INFER_RECORDS,
            compression: None,
        }
    }
}

/// A [`Source`] whose texts have been read.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) text: TextOptions,
    pub(crate) partitions: Vec<(String, DataType)>,
    pub(crate) columns: Vec<(String, DataType)>,
}

const CSV_OPTIONS: [&str; 8] =
    ["has_header", "delimiter", "quote", "escape", "comment", "null", "infer_records", "compression"];
const JSON_OPTIONS: [&str; 2] = ["infer_records", "compression"];

/// Checks all of a source that can be checked without reading anything: name, location, options, types.
///
/// # Errors
/// Names the source and the thing that is wrong.
pub(crate) fn validate(source: &Source) -> Result<(), ConfigError> {
    source.table_name()?;
    let of_source = |error: ConfigError| ConfigError::new(format!("source `{}`: {error}", source.name));
    store::check(source).map_err(of_source)?;
    Settings::new(source).map(|_| ()).map_err(of_source)
}

impl Settings {
    /// # Errors
    /// Names the option, partition or column that is wrong.
    pub(crate) fn new(source: &Source) -> Result<Self, ConfigError> {
        Ok(Self {
            text: text_options(source)?,
            partitions: types("partition", &source.partitions)?,
            columns: types("column", &source.columns)?,
        })
    }
}

fn types(what: &str, pairs: &[(String, String)]) -> Result<Vec<(String, DataType)>, ConfigError> {
    let mut seen = BTreeSet::new();
    pairs
        .iter()
        .map(|(name, text)| {
            if !seen.insert(name.as_str()) {
                return Err(ConfigError::new(format!("{what} `{name}` is given twice")));
            }
            let data_type = parse_type(text).map_err(|error| ConfigError::new(format!("{what} `{name}`: {error}")))?;
            if what == "partition" && data_type.is_nested() {
                return Err(ConfigError::new(format!("{what} `{name}`: a folder name cannot be read as `{text}`")));
            }
            Ok((name.clone(), data_type))
        })
        .collect()
}

fn text_options(source: &Source) -> Result<TextOptions, ConfigError> {
    let known: &[&str] = match source.format {
        // Without a stated format the names decide later, so the widest set is allowed.
        None | Some(Format::Csv) => &CSV_OPTIONS,
        Some(Format::Json) => &JSON_OPTIONS,
        Some(_) => &[],
    };
    let mut options = TextOptions::default();
    for (name, value) in &source.options {
        if !known.contains(&name.as_str()) {
            return Err(ConfigError::new(unknown_option(source.format, name, known)));
        }
        let wrong =
            |expected: &str| ConfigError::new(format!("option `{name}` is `{value}`, but it can be {expected}"));
        let byte = || one_byte(value).ok_or_else(|| wrong("one ASCII character, `tab` or `\\t`"));
        match name.as_str() {
            "has_header" => {
                options.has_header = match value.to_ascii_lowercase().as_str() {
                    "true" => true,
                    "false" => false,
                    _ => return Err(wrong("`true` or `false`")),
                }
            }
            "delimiter" => options.delimiter = Some(byte()?),
            "quote" => options.quote = byte()?,
            "escape" => options.escape = Some(byte()?),
            "comment" => options.comment = Some(byte()?),
            "null" => options.null = Some(value.clone()),
            "infer_records" => {
                options.infer_records =
                    value.parse().ok().filter(|&n| n > 0).ok_or_else(|| wrong("a whole number from 1 on"))?;
            }
            _ => {
                options.compression = Some(match value.to_ascii_lowercase().as_str() {
                    "none" | "uncompressed" => Compression::UNCOMPRESSED,
                    "gzip" | "gz" => Compression::GZIP,
                    "zstd" | "zst" => Compression::ZSTD,
                    "bz2" | "bzip2" => Compression::BZIP2,
                    "xz" => Compression::XZ,
                    _ => return Err(wrong("`none`, `gzip`, `zstd`, `bz2` or `xz`")),
                });
            }
        }
    }
    let special = [options.delimiter, Some(options.quote), options.comment];
    for (at, byte) in special.iter().enumerate() {
        if byte.is_some() && special[..at].contains(byte) {
            return Err(ConfigError::new("options `delimiter`, `quote` and `comment` need different characters"));
        }
    }
    Ok(options)
}

fn unknown_option(format: Option<Format>, name: &str, known: &[&str]) -> String {
    if let Some(format) = format
        && known.is_empty()
    {
        return format!("option `{name}` is unknown: the format `{}` has no options", format.as_str());
    }
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("option `{name}` is unknown; did you mean `{near}`?"),
        None => format!("option `{name}` is unknown; there are `{}`", known.join("`, `")),
    }
}

/// The most similar name, if one is similar at all.
pub(crate) fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    among
        .into_iter()
        .map(|other| (strsim::jaro_winkler(&lower, &other.to_lowercase()), other))
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other)
}

fn one_byte(value: &str) -> Option<u8> {
    match value {
        "tab" | "\\t" => Some(b'\t'),
        _ => match value.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | 0) => Some(*byte),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(build: impl Fn(Source) -> Source) -> String {
        match validate(&build(Source::new("t", "data/"))) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn good_options_pass() {
        assert_eq!(check(|s| s.with_option("delimiter", "\\t").with_option("has_header", "FALSE")), "");
        assert_eq!(check(|s| s.with_format(Format::Json).with_option("compression", "zst")), "");
        assert_eq!(check(|s| s.with_partition("year", "Int32").with_column("zip", "varchar")), "");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: [(String, &str); 9] = [
            (check(|s| s.with_option("delimeter", ";")), "did you mean `delimiter`"),
            (check(|s| s.with_option("delimiter", ";;")), "option `delimiter` is `;;`"),
            (check(|s| s.with_option("delimiter", "\"")), "different characters"),
            (check(|s| s.with_option("infer_records", "0")), "whole number"),
            (check(|s| s.with_format(Format::Parquet).with_option("quote", "'")), "`parquet` has no options"),
            (check(|s| s.with_format(Format::Json).with_option("quote", "'")), "`quote` is unknown"),
            (check(|s| s.with_column("a", "Int65")), "column `a`: `Int65` is no type"),
            (check(|s| s.with_column("a", "Int8").with_column("a", "Utf8")), "twice"),
            (check(|s| s.with_partition("y", "List(Int8)")), "partition `y`"),
        ];
        for (text, expected) in &cases {
            assert!(text.starts_with("source `t`: ") && text.contains(expected), "{text} / {expected}");
        }
        assert!(validate(&Source::new("", "x")).is_err());
        assert!(validate(&Source::new("t", "")).is_err());
    }
}
