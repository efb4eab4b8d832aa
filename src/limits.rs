//! Every bound of a toolset, with its default, its least value and the reason for it.

use std::time::Duration;

use crate::error::ConfigError;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
const GIB: u64 = 1024 * MIB;

/// How far to go for `total_rows` in a cut result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TotalRows {
    /// From exact statistics, without running anything.
    #[default]
    Free,
    /// Count within what is left of the deadline, else leave it out.
    Count,
    /// Never say it.
    Never,
}

impl std::str::FromStr for TotalRows {
    type Err = ConfigError;

    /// Reads `free`, `count` or `never`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "free" => Ok(Self::Free),
            "count" => Ok(Self::Count),
            "never" => Ok(Self::Never),
            _ => Err(ConfigError::new(format!("total_rows is `{text}`; it can be `free`, `count` or `never`"))),
        }
    }
}

/// The bounds that no caller can raise.
///
/// Values are checked when the toolset is built: [`ToolsetBuilder::build`](crate::ToolsetBuilder::build) refuses one
/// below its least.
///
/// ```
/// use datafusion_toolset::Limits;
/// use std::time::Duration;
///
/// let limits = Limits::default().with_max_rows(20).with_timeout(Duration::from_secs(5));
/// assert_eq!(limits.max_rows(), 20);
/// assert_eq!(limits.max_result_bytes(), 65_536);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    max_rows: usize,
    max_result_bytes: usize,
    max_columns: usize,
    max_sql_bytes: usize,
    total_rows: TotalRows,
    timeout: Duration,
    memory: u64,
    spill: u64,
    max_concurrent_queries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_rows: 50,
            max_result_bytes: 64 * KIB as usize,
            max_columns: 100,
            max_sql_bytes: 64 * KIB as usize,
            total_rows: TotalRows::Free,
            timeout: Duration::from_secs(30),
            memory: GIB,
            spill: 10 * GIB,
            max_concurrent_queries: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl Limits {
    /// The most rows in one `query` result. Default 50, least 1: a model reads rows one by one, and a question that
    /// needs more of them wants an aggregate.
    #[must_use]
    pub fn with_max_rows(mut self, rows: usize) -> Self {
        self.max_rows = rows;
        self
    }

    /// The most UTF-8 bytes of a whole payload of any tool, errors included. Default 65,536, least 512: less does not
    /// hold an error with its text.
    #[must_use]
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }

    /// The most columns that `get_schema` lists in full; wider tables are summed up. Default 100, least 1.
    #[must_use]
    pub fn with_max_columns(mut self, columns: usize) -> Self {
        self.max_columns = columns;
        self
    }

    /// The most bytes of one statement. Default 65,536, least 1.
    #[must_use]
    pub fn with_max_sql_bytes(mut self, bytes: usize) -> Self {
        self.max_sql_bytes = bytes;
        self
    }

    /// How far to go for `total_rows` in a cut result. Default [`TotalRows::Free`].
    #[must_use]
    pub fn with_total_rows(mut self, total_rows: TotalRows) -> Self {
        self.total_rows = total_rows;
        self
    }

    /// The time of one call from arguments to payload: planning, listing, execution, encoding. Default 30 s, least
    /// 1 ms.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Bytes of DataFusion's memory pool, shared by the toolset's queries; operators spill before they fail. Default
    /// 1 GiB, least 16 MiB.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Bytes of temporary files on disk, removed when the query ends. Default 10 GiB; 0 forbids spilling.
    #[must_use]
    pub fn with_spill(mut self, bytes: u64) -> Self {
        self.spill = bytes;
        self
    }

    /// How many queries run at a time; further calls wait, within their timeout. Default the number of cores, least 1.
    #[must_use]
    pub fn with_max_concurrent_queries(mut self, queries: usize) -> Self {
        self.max_concurrent_queries = queries;
        self
    }

    /// See [`Limits::with_max_rows`].
    pub fn max_rows(&self) -> usize {
        self.max_rows
    }

    /// See [`Limits::with_max_result_bytes`].
    pub fn max_result_bytes(&self) -> usize {
        self.max_result_bytes
    }

    /// See [`Limits::with_max_columns`].
    pub fn max_columns(&self) -> usize {
        self.max_columns
    }

    /// See [`Limits::with_max_sql_bytes`].
    pub fn max_sql_bytes(&self) -> usize {
        self.max_sql_bytes
    }

    /// See [`Limits::with_total_rows`].
    pub fn total_rows(&self) -> TotalRows {
        self.total_rows
    }

    /// See [`Limits::with_timeout`].
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// See [`Limits::with_memory`].
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// See [`Limits::with_spill`].
    pub fn spill(&self) -> u64 {
        self.spill
    }

    /// See [`Limits::with_max_concurrent_queries`].
    pub fn max_concurrent_queries(&self) -> usize {
        self.max_concurrent_queries
    }

    /// Refuses the first value below its least, by name.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let least = |name: &str, value: u64, least: u64, unit: &str| {
            if value < least {
                return Err(ConfigError::new(format!("{name} is {value}{unit}; the least is {least}{unit}")));
            }
            Ok(())
        };
        least("max_rows", self.max_rows as u64, 1, "")?;
        least("max_result_bytes", self.max_result_bytes as u64, 512, "")?;
        least("max_columns", self.max_columns as u64, 1, "")?;
        least("max_sql_bytes", self.max_sql_bytes as u64, 1, "")?;
        if self.timeout < Duration::from_millis(1) {
            return Err(ConfigError::new(format!("timeout is {:?}; the least is 1ms", self.timeout)));
        }
        least("memory", self.memory, 16 * MIB, " bytes")?;
        least("max_concurrent_queries", self.max_concurrent_queries as u64, 1, "")
    }
}

/// Reads a number of bytes such as `65536`, `64KiB`, `1.5 GiB` or `10MB` (powers of 1,000 without the `i`).
///
/// # Errors
/// If there is no number, the unit is unknown, or the value does not fit 64 bits.
pub fn parse_bytes(text: &str) -> Result<u64, ConfigError> {
    let (number, unit) = split_unit(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" => KIB,
        "mib" => MIB,
        "gib" => GIB,
        "tib" => 1024 * GIB,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(ConfigError::new(format!("`{text}` is no size; write it like `64KiB` or `1GiB`"))),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| ConfigError::new(format!("`{text}` is too large a size")));
    }
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 && value * (factor as f64) < u64::MAX as f64 => {
            Ok((value * factor as f64) as u64)
        }
        _ => Err(ConfigError::new(format!("`{text}` is no size; write it like `64KiB` or `1GiB`"))),
    }
}

/// Reads a time such as `30s`, `500ms`, `1.5s`, `2m` or `1h`; a bare number is seconds.
///
/// # Errors
/// If there is no number, the unit is unknown, or the value is negative or out of range.
pub fn parse_duration(text: &str) -> Result<Duration, ConfigError> {
    let wrong = || ConfigError::new(format!("`{text}` is no time; write it like `30s` or `500ms`"));
    let (number, unit) = split_unit(text);
    let seconds = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let value: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(value * seconds).map_err(|_| wrong())
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse_bytes("65536"), Ok(65_536));
        assert_eq!(parse_bytes("64KiB"), Ok(65_536));
        assert_eq!(parse_bytes("1 GiB"), Ok(GIB));
        assert_eq!(parse_bytes("1.5mib"), Ok(3 * MIB / 2));
        assert_eq!(parse_bytes("10MB"), Ok(10_000_000));
        for bad in ["", "x", "1 parsec", "-1", "1..2", "99999999999999999999", "20000000TiB", "NaN"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(parse_duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        for bad in ["", "s", "1 day", "-1s", "1e400s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_below_its_least_is_refused_by_name() {
        for (limits, name) in [
            (Limits::default().with_max_rows(0), "max_rows"),
            (Limits::default().with_max_result_bytes(511), "max_result_bytes"),
            (Limits::default().with_max_columns(0), "max_columns"),
            (Limits::default().with_max_sql_bytes(0), "max_sql_bytes"),
            (Limits::default().with_timeout(Duration::from_micros(999)), "timeout"),
            (Limits::default().with_memory(16 * MIB - 1), "memory"),
            (Limits::default().with_max_concurrent_queries(0), "max_concurrent_queries"),
        ] {
            let error = limits.check().expect_err(name);
            assert!(error.to_string().starts_with(name), "{error}");
        }
        assert_eq!(Limits::default().check(), Ok(()));
    }
}
