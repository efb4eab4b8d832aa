//! Values of the configuration file, each with its line. Messages name keys and lines and never quote a value, since
//! any value may be a secret.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::error::ConfigError;
use crate::limits::{parse_bytes, parse_duration};

/// The text of a configuration with what its messages and its `${NAME}` need.
pub(super) struct Reader<'a> {
    /// The file that messages name, if the text came from one.
    pub(super) file: Option<&'a Path>,
    /// The text that lines are counted in.
    pub(super) text: &'a str,
    /// Looks up an environment variable.
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
}

/// One `key = value` with the section that messages name.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    /// The key as it was written, without quotes.
    pub(super) key: &'a str,
    section: &'a str,
    place: usize,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Reader<'a> {
    /// Parses the text.
    ///
    /// # Errors
    /// If it is no TOML.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>, ConfigError> {
        // The error's own `Display` would quote the line, and the line may hold a secret.
        DeTable::parse(self.text).map_err(|error| {
            let place = error.span().map_or(self.text.len(), |span| span.start);
            self.error(place, format!("this is no TOML: {}", error.message()))
        })
    }

    /// A source's location; a relative path is taken from the configuration file's folder.
    pub(super) fn location(&self, uri: String) -> String {
        let is_relative =
            !uri.is_empty() && !uri.contains("://") && !uri.starts_with('~') && Path::new(&uri).is_relative();
        match self.file.and_then(Path::parent).map(|folder| folder.join(&uri).into_os_string().into_string()) {
            Some(Ok(path)) if is_relative => path,
            _ => uri,
        }
    }

    /// An error at a byte of the text.
    pub(super) fn error(&self, place: usize, message: impl std::fmt::Display) -> ConfigError {
        let place = place.min(self.text.len());
        let line = self.text.as_bytes()[..place].iter().filter(|byte| **byte == b'\n').count() + 1;
        match self.file {
            Some(file) => ConfigError::new(format!("{}, line {line}: {message}", file.display())),
            None => ConfigError::new(format!("line {line}: {message}")),
        }
    }

    /// An error about an entry.
    pub(super) fn wrong(&self, entry: &Entry<'_>, message: impl std::fmt::Display) -> ConfigError {
        self.error(entry.place, format!("`{}` {message}", entry.path()))
    }

    /// The refusal of a key that nobody reads, with the nearest of the keys that somebody does.
    pub(super) fn unknown(&self, entry: &Entry<'_>, known: &[&str]) -> ConfigError {
        let near = known
            .iter()
            .map(|known| (strsim::jaro_winkler(&entry.key.to_lowercase(), known), known))
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        let advice = match near {
            Some((likeness, key)) if likeness > 0.75 => format!("did you mean `{key}`?"),
            _ => format!("it can be {}", listed(known)),
        };
        let place = if entry.section.is_empty() { String::new() } else { format!(" in `{}`", entry.section) };
        self.error(entry.place, format!("unknown key `{}`{place}; {advice}", entry.key))
    }

    /// The refusal of a key that a later version reads. Going on without it would show more than was meant.
    pub(super) fn not_yet(&self, entry: &Entry<'_>, consequence: &str) -> ConfigError {
        self.error(entry.place, format!("`{}` is not available in this version; {consequence}", entry.key))
    }

    /// The entries of a table in the order of the file.
    pub(super) fn entries(&self, section: &'a str, table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
        let mut entries: Vec<_> = table.iter().map(|(key, value)| entry(section, key, value)).collect();
        entries.sort_by_key(|entry| entry.place);
        entries
    }

    /// The entries of a value that has to be a table.
    pub(super) fn table(&self, entry: &Entry<'a>) -> Result<Vec<Entry<'a>>, ConfigError> {
        match entry.value.get_ref() {
            DeValue::Table(table) => Ok(self.entries(entry.key, table)),
            _ => Err(self.mistyped(entry, "a table")),
        }
    }

    /// The tables of a value that has to be an array of tables, each with where it starts.
    pub(super) fn tables(&self, entry: &Entry<'a>) -> Result<Vec<(usize, Vec<Entry<'a>>)>, ConfigError> {
        let expected = format!("a list of tables: write `[[{}]]` before each", entry.key);
        let DeValue::Array(items) = entry.value.get_ref() else {
            return Err(self.mistyped(entry, &expected));
        };
        let table = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(table) => Ok((item.span().start, self.entries(entry.key, table))),
            _ => Err(self.mistyped(entry, &expected)),
        };
        items.iter().map(table).collect()
    }

    /// A string, with its `${NAME}` read.
    pub(super) fn string(&self, entry: &Entry<'_>) -> Result<String, ConfigError> {
        match entry.value.get_ref() {
            DeValue::String(text) => self.expand(entry, text),
            _ => Err(self.mistyped(entry, "a string")),
        }
    }

    /// A string, number or boolean, as text.
    pub(super) fn text(&self, entry: &Entry<'_>) -> Result<String, ConfigError> {
        match entry.value.get_ref() {
            DeValue::String(text) => self.expand(entry, text),
            DeValue::Integer(_) => self.integer(entry).map(|number| number.to_string()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(value) => Ok(value.to_string()),
            _ => Err(self.mistyped(entry, "a string, a number or `true` or `false`")),
        }
    }

    /// A list of strings.
    pub(super) fn strings(&self, entry: &Entry<'_>) -> Result<Vec<String>, ConfigError> {
        let DeValue::Array(items) = entry.value.get_ref() else {
            return Err(self.mistyped(entry, "a list of strings"));
        };
        let string = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::String(text) => self.expand(entry, text),
            other => Err(self.wrong(entry, format!("expects a list of strings; it holds {}", named(other)))),
        };
        items.iter().map(string).collect()
    }

    /// A whole number that is not negative.
    pub(super) fn count(&self, entry: &Entry<'_>) -> Result<usize, ConfigError> {
        const EXPECTED: &str = "a whole number that is not negative";
        let number = match entry.value.get_ref() {
            DeValue::Integer(_) => usize::try_from(self.integer(entry)?).ok(),
            DeValue::String(text) => self.expand(entry, text)?.trim().parse().ok(),
            _ => return Err(self.mistyped(entry, EXPECTED)),
        };
        number.ok_or_else(|| self.wrong(entry, format!("expects {EXPECTED}")))
    }

    /// A number of bytes, or a string such as `64KiB`.
    pub(super) fn bytes(&self, entry: &Entry<'_>) -> Result<u64, ConfigError> {
        const EXPECTED: &str = "a size that is not negative: a number of bytes, or a string such as \"64KiB\"";
        let number = match entry.value.get_ref() {
            DeValue::Integer(_) => u64::try_from(self.integer(entry)?).ok(),
            DeValue::String(text) => parse_bytes(&self.expand(entry, text)?).ok(),
            _ => return Err(self.mistyped(entry, EXPECTED)),
        };
        number.ok_or_else(|| self.wrong(entry, format!("expects {EXPECTED}")))
    }

    /// A number of seconds, or a string such as `30s`.
    pub(super) fn duration(&self, entry: &Entry<'_>) -> Result<Duration, ConfigError> {
        const EXPECTED: &str = "a time that is not negative: a number of seconds, or a string such as \"30s\"";
        let time = match entry.value.get_ref() {
            DeValue::Integer(_) => parse_duration(&self.integer(entry)?.to_string()).ok(),
            DeValue::Float(number) => parse_duration(number.as_str()).ok(),
            DeValue::String(text) => parse_duration(&self.expand(entry, text)?).ok(),
            _ => return Err(self.mistyped(entry, EXPECTED)),
        };
        time.ok_or_else(|| self.wrong(entry, format!("expects {EXPECTED}")))
    }

    fn integer(&self, entry: &Entry<'_>) -> Result<i64, ConfigError> {
        let number = entry.value.get_ref().as_integer();
        let number = number.and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
        number.ok_or_else(|| self.wrong(entry, "is too large a number"))
    }

    fn mistyped(&self, entry: &Entry<'_>, expected: &str) -> ConfigError {
        self.wrong(entry, format!("expects {expected}; this is {}", named(entry.value.get_ref())))
    }

    /// Reads `${NAME}` from the environment; `$${` stands for `${`. It works on the parsed string, so no value can
    /// add anything to the file.
    fn expand(&self, entry: &Entry<'_>, text: &str) -> Result<String, ConfigError> {
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            if let Some(before) = rest[..start].strip_suffix('$') {
                expanded.push_str(before);
                expanded.push_str("${");
                rest = &rest[start + 2..];
                continue;
            }
            expanded.push_str(&rest[..start]);
            let name = rest[start + 2..].split_once('}').map(|(name, _)| name).filter(|name| is_name(name));
            let Some(name) = name else {
                let message = "has a `${` without a variable's name and `}`; write `$${` for the characters themselves";
                return Err(self.wrong(entry, message));
            };
            let Some(value) = (self.environment)(name) else {
                return Err(self.wrong(entry, format!("needs the environment variable `{name}`, which is not set")));
            };
            expanded.push_str(&value);
            rest = &rest[start + 2 + name.len() + 1..];
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}

impl Entry<'_> {
    /// The key with its section, as messages name it.
    fn path(&self) -> String {
        if self.section.is_empty() { self.key.to_owned() } else { format!("{}.{}", self.section, self.key) }
    }

    /// Where the key stands.
    pub(super) fn place(&self) -> usize {
        self.place
    }
}

fn entry<'a>(section: &'a str, key: &'a Spanned<DeString<'a>>, value: &'a Spanned<DeValue<'a>>) -> Entry<'a> {
    let Range { start: place, .. } = key.span();
    Entry { key: key.get_ref(), section, place, value }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn named(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
