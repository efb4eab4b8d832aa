//! The configuration file (TOML) → [`ToolsetBuilder`].

mod reader;

use std::collections::HashSet;
use std::path::Path;

use crate::error::ConfigError;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::{self, Source};
use crate::toolset::{Toolset, ToolsetBuilder};
use reader::{Entry, Reader};

/// A configuration file that was read and checked.
///
/// ```toml
/// [limits]
/// max_rows = 50
/// timeout = "30s"                   # or a number of seconds
/// memory = "1GiB"                   # or a number of bytes
///
/// [policy]
/// allowed_tables = ["sales"]        # absent: every source
///
/// [[source]]
/// name = "sales"                    # or "schema.table"
/// uri = "data/sales/"               # relative to the folder of this file
/// format = "csv"                    # left out: from the name
/// options = { delimiter = ";" }
/// ```
///
/// `${NAME}` in any string value reads an environment variable; `$${` stands for `${`. An unknown key, a value of the
/// wrong type, an unset variable are errors that name the key and its line, and never show a value. No file is opened
/// but the configuration itself.
///
/// ```
/// use datafusion_toolset::Config;
///
/// let config = Config::from_toml("[[source]]\nname = 'orders'\nuri = 'orders.parquet'")?;
/// assert_eq!(config.sources()[0].name(), "orders");
///
/// let error = Config::from_toml("[limits]\nmax_row = 5").unwrap_err();
/// assert_eq!(error.to_string(), "line 2: unknown key `max_row` in `limits`; did you mean `max_rows`?");
/// # Ok::<_, datafusion_toolset::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    limits: Limits,
    policy: Policy,
    sources: Vec<Source>,
}

impl Config {
    /// Reads a file. Messages name it, and relative paths in it are relative to its folder: a server is often started
    /// from a working directory that its user does not know.
    ///
    /// # Errors
    /// If the file cannot be read or [`Config::from_toml`] refuses its text.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::new(format!("configuration file {}: {error}", path.display())))?;
        Self::read(&Reader { file: Some(path), text: &text, environment: &variable })
    }

    /// Reads TOML text. Relative paths in it are relative to the working directory.
    ///
    /// # Errors
    /// Names the line and the key, and says what is expected there.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        Self::read(&Reader { file: None, text, environment: &variable })
    }

    /// The limits of the file; the defaults for those that it leaves out.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The tables of the file.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Puts other limits in the place of the file's.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds tables. One that the file names too takes the place of the file's.
    #[must_use]
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = Source>) -> Self {
        let added: Vec<_> = sources.into_iter().collect();
        let names: Vec<_> = added.iter().filter_map(|source| source.table_name().ok()).collect();
        self.sources.retain(|source| source.table_name().map_or(true, |name| !names.contains(&name)));
        self.sources.extend(added);
        self
    }

    /// Starts a toolset with all of this.
    pub fn into_builder(self) -> ToolsetBuilder {
        Toolset::builder().limits(self.limits).policy(self.policy).sources(self.sources)
    }

    fn read(reader: &Reader<'_>) -> Result<Self, ConfigError> {
        const SECTIONS: &[&str] = &["limits", "policy", "source", "run", "profile"];
        let document = reader.parse()?;
        let mut config = Self::default();
        for section in reader.entries("", document.get_ref()) {
            match section.key {
                "limits" => config.limits = limits(reader, &section)?,
                "policy" => config.policy = policy(reader, &section)?,
                "source" => config.sources = sources(reader, &section)?,
                "run" => return Err(reader.not_yet(&section, "nothing is answered without its budget")),
                "profile" => return Err(reader.not_yet(&section, "nothing is answered without its restrictions")),
                _ => return Err(reader.unknown(&section, SECTIONS)),
            }
        }
        Ok(config)
    }
}

/// The value of an environment variable; one that is no UTF-8 counts as unset.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn limits(reader: &Reader<'_>, section: &Entry<'_>) -> Result<Limits, ConfigError> {
    const KEYS: &[&str] = &[
        "max_rows",
        "max_result_bytes",
        "max_columns",
        "max_sql_bytes",
        "total_rows",
        "timeout",
        "memory",
        "spill",
        "max_concurrent_queries",
    ];
    let mut limits = Limits::default();
    for entry in reader.table(section)? {
        let size = |entry| reader.bytes(entry).map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        limits = match entry.key {
            "max_rows" => limits.with_max_rows(reader.count(&entry)?),
            "max_result_bytes" => limits.with_max_result_bytes(size(&entry)?),
            "max_columns" => limits.with_max_columns(reader.count(&entry)?),
            "max_sql_bytes" => limits.with_max_sql_bytes(size(&entry)?),
            "total_rows" => {
                let text = reader.string(&entry)?;
                let wrong = |_| reader.wrong(&entry, "expects \"free\", \"count\" or \"never\"");
                limits.with_total_rows(text.parse().map_err(wrong)?)
            }
            "timeout" => limits.with_timeout(reader.duration(&entry)?),
            "memory" => limits.with_memory(reader.bytes(&entry)?),
            "spill" => limits.with_spill(reader.bytes(&entry)?),
            "max_concurrent_queries" => limits.with_max_concurrent_queries(reader.count(&entry)?),
            _ => return Err(reader.unknown(&entry, KEYS)),
        };
        // What was set before has passed, so a refusal is about this entry.
        limits.check().map_err(|error| reader.error(entry.place(), error))?;
    }
    Ok(limits)
}

fn policy(reader: &Reader<'_>, section: &Entry<'_>) -> Result<Policy, ConfigError> {
    const KEYS: &[&str] = &["allowed_tables", "allowed_functions", "denied_functions"];
    let mut policy = Policy::default();
    for entry in reader.table(section)? {
        policy = match entry.key {
            "allowed_tables" => {
                let tables = reader.strings(&entry)?;
                if tables.is_empty() {
                    return Err(
                        reader.wrong(&entry, "is empty, which allows nothing; leave it out to allow every source")
                    );
                }
                policy.with_allowed_tables(tables)
            }
            "allowed_functions" => policy.with_allowed_functions(reader.strings(&entry)?),
            "denied_functions" => policy.with_denied_functions(reader.strings(&entry)?),
            _ => return Err(reader.unknown(&entry, KEYS)),
        };
    }
    Ok(policy)
}

fn sources(reader: &Reader<'_>, section: &Entry<'_>) -> Result<Vec<Source>, ConfigError> {
    let mut seen = HashSet::new();
    let mut sources = Vec::new();
    for (place, entries) in reader.tables(section)? {
        let (name_place, source) = source(reader, place, &entries)?;
        let name = source.table_name().map_err(|error| reader.error(name_place, error))?;
        if !seen.insert(name) {
            let message = format!("source name `{}` is there twice; each table needs its own", source.name());
            return Err(reader.error(name_place, message));
        }
        sources.push(source);
    }
    Ok(sources)
}

/// One `[[source]]` and where its name stands.
fn source(reader: &Reader<'_>, place: usize, entries: &[Entry<'_>]) -> Result<(usize, Source), ConfigError> {
    const KEYS: &[&str] = &[
        "name",
        "uri",
        "format",
        "description",
        "partitions",
        "columns",
        "options",
        "store",
        "filter",
        "hide",
        "mask",
    ];
    let required = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key);
        entry.ok_or_else(|| reader.error(place, format!("this `[[source]]` has no `{key}`")))
    };
    // Unknown keys first: a misspelt `name` is better called misspelt than missing.
    if let Some(entry) = entries.iter().find(|entry| !KEYS.contains(&entry.key)) {
        return Err(reader.unknown(entry, KEYS));
    }
    let name = required("name")?;
    let uri = required("uri")?;
    let uri_place = uri.place();
    let uri = reader.location(reader.string(uri)?);
    let mut source = Source::new(reader.string(name)?, uri);
    if let Some(entry) = entries.iter().find(|entry| entry.key == "format") {
        let wrong = |_| reader.wrong(entry, "expects \"parquet\", \"csv\", \"json\", \"avro\" or \"arrow\"");
        source = source.with_format(reader.string(entry)?.parse().map_err(wrong)?);
    }
    source.table_name().map_err(|error| reader.error(name.place(), error))?;
    source::validate(&source).map_err(|error| reader.error(uri_place, error))?;
    let lone = source.clone();
    // Each setting is checked by itself first, so that a wrong one is named with its own line.
    let checked = |setting: &Entry<'_>, add: &dyn Fn(Source) -> Source| {
        source::validate(&add(lone.clone())).map_err(|error| reader.error(setting.place(), error))
    };
    for entry in entries {
        match entry.key {
            "name" | "uri" | "format" => {}
            "description" => source = source.with_description(reader.string(entry)?),
            "partitions" => {
                for partition in reader.table(entry)? {
                    let text = reader.string(&partition)?;
                    checked(&partition, &|source| source.with_partition(partition.key, &text))?;
                    source = source.with_partition(partition.key, text);
                }
            }
            "columns" => {
                for column in reader.table(entry)? {
                    let text = reader.string(&column)?;
                    checked(&column, &|source| source.with_column(column.key, &text))?;
                    source = source.with_column(column.key, text);
                }
            }
            "options" => {
                for option in reader.table(entry)? {
                    let text = reader.text(&option)?;
                    checked(&option, &|source| source.with_option(option.key, &text))?;
                    source = source.with_option(option.key, text);
                }
            }
            "store" => {
                for setting in reader.table(entry)? {
                    let text = reader.text(&setting)?;
                    checked(&setting, &|source| source.with_store_option(setting.key, &text))?;
                    source = source.with_store_option(setting.key, text);
                }
            }
            "filter" => source = source.with_filter(reader.string(entry)?),
            "hide" => source = source.with_hidden(reader.strings(entry)?),
            "mask" => {
                for column in reader.table(entry)? {
                    source = source.with_mask(column.key, reader.string(&column)?);
                }
            }
            _ => return Err(reader.unknown(entry, KEYS)),
        }
    }
    source::validate(&source).map_err(|error| reader.error(place, error))?;
    Ok((name.place(), source))
}

#[cfg(test)]
mod tests;
