//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use datafusion_toolset::{ConfigError, Limits, Source, TotalRows, parse_bytes, parse_duration};

const LONG_ABOUT: &str = "\
Bounded query tools for analytics agents, over files that DataFusion reads.

Gives names to Parquet, CSV, NDJSON, Avro and Arrow files and answers four tools over them: list_tables, get_schema, \
query and check_query. Every answer is bounded in rows, bytes and time, and says when something was left out. Nothing \
can be written, and nothing but the named tables can be read.";

const EXAMPLES: &str = "\
Examples:
  A table over a file, and a question:
    datafusion-toolset -t orders=orders.parquet query 'SELECT region, sum(price) FROM orders GROUP BY 1'
  Several tables; folders, globs and compressed files are tables too:
    datafusion-toolset -t sales=data/sales/ -t 'logs=logs/*.ndjson.gz' tables
  What an agent gets, byte for byte:
    datafusion-toolset -t orders=orders.parquet call query '{\"sql\":\"SELECT * FROM orders\"}'
  Tables and limits from a file, one limit lowered:
    datafusion-toolset --config toolset.toml --max-rows 10 query 'SELECT * FROM sales'
  SQL from standard input, as CSV:
    datafusion-toolset -t orders=orders.parquet query --format csv - < question.sql
  For an agent, over MCP:
    datafusion-toolset --config toolset.toml mcp

Exit status:
  0  a result
  1  a tool error; its payload is on standard output all the same
  2  wrong usage or configuration; a message is on standard error and nothing on standard output
  130  interrupted by Ctrl-C, which stops the query

Answers go to standard output, everything else to standard error.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "datafusion-toolset",
    version,
    about = "Bounded query tools for analytics agents, over files that DataFusion reads",
    long_about = LONG_ABOUT,
    after_long_help = EXAMPLES,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub(super) struct CommandLine {
    #[command(flatten)]
    shared: Shared,
    #[command(subcommand)]
    command: Command,
}

impl CommandLine {
    /// The command, and the flags before and after it in one.
    pub(super) fn into_parts(self) -> (Command, Shared) {
        let Self { shared, mut command } = self;
        let after = match &mut command {
            Command::Call(call) => std::mem::take(&mut call.shared),
            Command::Query(query) => std::mem::take(&mut query.shared),
            Command::Tables(tables) => std::mem::take(&mut tables.shared),
            Command::Schema(schema) => std::mem::take(&mut schema.shared),
            Command::Check(check) => std::mem::take(&mut check.shared),
            #[cfg(feature = "mcp")]
            Command::Mcp(mcp) => std::mem::take(&mut mcp.shared),
            Command::Completions(_) => Shared::default(),
        };
        (command, shared.then(after))
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Call(CallArgs),
    Query(QueryArgs),
    Tables(TablesArgs),
    Schema(SchemaArgs),
    Check(CheckArgs),
    #[cfg(feature = "mcp")]
    Mcp(McpArgs),
    Completions(CompletionsArgs),
}

/// Call a tool as an agent does, and print its payload exactly as the agent gets it
#[derive(Debug, Args)]
pub(super) struct CallArgs {
    /// list_tables, get_schema, query or check_query
    pub(super) tool: String,
    /// The tool's arguments, a JSON object; `-` reads it from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(super) arguments: String,
    #[command(flatten)]
    shared: Shared,
}

/// Run one read-only statement
#[derive(Debug, Args)]
pub(super) struct QueryArgs {
    /// A SELECT, WITH, VALUES, EXPLAIN, DESCRIBE or SHOW; `-` reads it from standard input
    #[arg(value_parser = sql, allow_hyphen_values = true)]
    pub(super) sql: String,
    /// How to print the result [default: table on a terminal, json elsewhere]
    ///
    /// All but `table` are what an agent gets.
    #[arg(long, short, value_enum, hide_possible_values = false)]
    pub(super) format: Option<QueryFormat>,
    #[command(flatten)]
    shared: Shared,
}

/// List the tables, without opening any
#[derive(Debug, Args)]
pub(super) struct TablesArgs {
    /// Only names that contain this, in any case
    #[arg(value_name = "SUBSTRING")]
    pub(super) name_contains: Option<String>,
    /// How to print the list [default: table on a terminal, json elsewhere]
    #[arg(long, short, value_enum)]
    pub(super) format: Option<Format>,
    #[command(flatten)]
    shared: Shared,
}

/// Show the columns of a table
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// The table's name as SQL takes it
    pub(super) table: String,
    /// Only columns, and fields within columns, whose names contain this, in any case
    #[arg(value_name = "SUBSTRING")]
    pub(super) name_contains: Option<String>,
    /// How to print the columns [default: table on a terminal, json elsewhere]
    #[arg(long, short, value_enum)]
    pub(super) format: Option<Format>,
    #[command(flatten)]
    shared: Shared,
}

/// Plan a statement without running it: its columns, or what is wrong with it
///
/// A statement that `query` would refuse is an answer too: the exit status is 0.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The statement; `-` reads it from standard input
    #[arg(value_parser = sql, allow_hyphen_values = true)]
    pub(super) sql: String,
    /// How to print the answer [default: table on a terminal, json elsewhere]
    #[arg(long, short, value_enum)]
    pub(super) format: Option<Format>,
    #[command(flatten)]
    shared: Shared,
}

/// Serve MCP to an agent, on standard input and output or over HTTP
///
/// Logs go to standard error; RUST_LOG says how much, such as `info` (one line a call) or `datafusion_toolset=debug`
/// [default: warn].
#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Serve streamable HTTP instead, at HOST:PORT, or at 127.0.0.1 when it is a port alone
    ///
    /// The server is at http://HOST:PORT/mcp, and GET /healthz says whether it runs.
    #[arg(long, value_name = "ADDR", help_heading = "HTTP")]
    pub(super) http: Option<String>,
    /// Let in only callers with the bearer token that this environment variable holds
    ///
    /// Needed on any address that other machines can reach.
    #[arg(long, value_name = "NAME", requires = "http", help_heading = "HTTP")]
    pub(super) token_env: Option<String>,
    /// Answer requests for this host too: a name, or name:port, that clients know this machine by
    ///
    /// May be given many times. The loopback names and the host of --http are answered anyway; others are refused, so
    /// that no web page reaches the server by a name of its own.
    #[arg(long, value_name = "HOST", requires = "http", help_heading = "HTTP")]
    pub(super) allow_host: Vec<String>,
    /// Answer requests from web pages of this origin too, such as https://app.example.com:443
    #[arg(long, value_name = "ORIGIN", requires = "http", help_heading = "HTTP")]
    pub(super) allow_origin: Vec<String>,
    /// Do not serve: open every source, and report what an agent would see and how many bytes each answer takes
    ///
    /// The exit status is 1 when a source cannot be read, 2 when the configuration is wrong.
    #[arg(long, conflicts_with = "http")]
    pub(super) check: bool,
    #[command(flatten)]
    shared: Shared,
}

/// Print a completion script for a shell
///
/// For bash: datafusion-toolset completions bash > ~/.local/share/bash-completion/completions/datafusion-toolset
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

/// How `query` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum QueryFormat {
    /// A table for people, as wide as the terminal
    Table,
    /// One line of JSON, columns once and rows positional
    Json,
    /// A table in pipe syntax
    Markdown,
    /// RFC 4180 with a header line
    Csv,
}

/// How the other commands print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for people, as wide as the terminal
    Table,
    /// One line of JSON, as an agent gets it
    Json,
}

/// Flags that may stand before and after the command. They are declared in both places, not as clap's global
/// arguments: of those, the tables after the command would replace the ones before it.
#[derive(Debug, Default, Args)]
pub(super) struct Shared {
    /// Read tables, limits and policy from a TOML file
    ///
    /// Flags override it: a limit flag the file's limit, a `-t` the file's table of the same name.
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    config: Option<PathBuf>,
    /// Add a table: a name, and the file, folder or glob that holds its rows
    ///
    /// May be given many times. NAME is `table` or `schema.table`. The format comes from the file names: .parquet, .csv,
    /// .tsv, .ndjson, .jsonl, .json, .avro, .arrow, and .gz, .zst, .bz2, .xz after the text formats. A folder is read
    /// with the folders in it; folders like year=2024 are columns. Relative paths are relative to the working directory.
    #[arg(short, long = "table", value_name = "NAME=URI", help_heading = "Tables")]
    tables: Vec<String>,
    #[command(flatten)]
    limits: LimitFlags,
}

/// One flag for each limit, named as the limit.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
struct LimitFlags {
    /// The most rows of one result [default: 50]
    #[arg(long, value_name = "ROWS")]
    max_rows: Option<usize>,
    /// The most bytes of one answer, errors included; 64KiB and the like are fine [default: 65536, least: 512]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_result_bytes: Option<u64>,
    /// The most columns that a schema lists in full; wider tables are summed up [default: 100]
    #[arg(long, value_name = "COLUMNS")]
    max_columns: Option<usize>,
    /// The longest statement [default: 65536]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    max_sql_bytes: Option<u64>,
    /// How far to go to tell the rows of a cut result: from statistics (free), by counting, or never [default: free]
    #[arg(long, value_name = "free|count|never", value_parser = |text: &str| text.parse::<TotalRows>())]
    total_rows: Option<TotalRows>,
    /// The time of one call: 5s, 500ms, 2m [default: 30s, least: 1ms]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// The memory of the queries; what needs more spills to disk [default: 1GiB, least: 16MiB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// The temporary files of the queries; 0 forbids them [default: 10GiB]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    spill: Option<u64>,
    /// How many queries run at a time [default: the number of cores]
    #[arg(long, value_name = "QUERIES")]
    max_concurrent_queries: Option<usize>,
}

impl Shared {
    /// The configuration file, if one was named.
    pub(super) fn config(&self) -> Option<&std::path::Path> {
        self.config.as_deref()
    }

    /// The tables of the `-t` flags.
    ///
    /// # Errors
    /// If one is not `NAME=URI`.
    pub(super) fn sources(&self) -> Result<Vec<Source>, ConfigError> {
        self.tables.iter().map(|spec| source(spec)).collect()
    }

    /// The limits with the flags' in their place.
    pub(super) fn limits(&self, mut limits: Limits) -> Limits {
        let size = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        let flags = &self.limits;
        if let Some(rows) = flags.max_rows {
            limits = limits.with_max_rows(rows);
        }
        if let Some(bytes) = flags.max_result_bytes {
            limits = limits.with_max_result_bytes(size(bytes));
        }
        if let Some(columns) = flags.max_columns {
            limits = limits.with_max_columns(columns);
        }
        if let Some(bytes) = flags.max_sql_bytes {
            limits = limits.with_max_sql_bytes(size(bytes));
        }
        if let Some(total_rows) = flags.total_rows {
            limits = limits.with_total_rows(total_rows);
        }
        if let Some(timeout) = flags.timeout {
            limits = limits.with_timeout(timeout);
        }
        if let Some(bytes) = flags.memory {
            limits = limits.with_memory(bytes);
        }
        if let Some(bytes) = flags.spill {
            limits = limits.with_spill(bytes);
        }
        if let Some(queries) = flags.max_concurrent_queries {
            limits = limits.with_max_concurrent_queries(queries);
        }
        limits
    }

    /// These flags, overridden by `after`.
    fn then(self, after: Self) -> Self {
        let (before, limits) = (self.limits, after.limits);
        Self {
            config: after.config.or(self.config),
            tables: self.tables.into_iter().chain(after.tables).collect(),
            limits: LimitFlags {
                max_rows: limits.max_rows.or(before.max_rows),
                max_result_bytes: limits.max_result_bytes.or(before.max_result_bytes),
                max_columns: limits.max_columns.or(before.max_columns),
                max_sql_bytes: limits.max_sql_bytes.or(before.max_sql_bytes),
                total_rows: limits.total_rows.or(before.total_rows),
                timeout: limits.timeout.or(before.timeout),
                memory: limits.memory.or(before.memory),
                spill: limits.spill.or(before.spill),
                max_concurrent_queries: limits.max_concurrent_queries.or(before.max_concurrent_queries),
            },
        }
    }
}

/// Reads `NAME=URI`. The URI may hold further `=`, as in `year=2024/`.
fn source(spec: &str) -> Result<Source, ConfigError> {
    match spec.split_once('=') {
        // A location alone, whose query string or partition folder has the `=`.
        Some((name, _)) if name.contains(['/', '\\']) => None,
        Some((name, uri)) if !name.is_empty() && !uri.is_empty() => Some(Source::new(name, uri)),
        _ => None,
    }
    .ok_or_else(|| ConfigError::new(format!("-t {spec}: write NAME=URI, such as -t orders=data/orders.parquet")))
}

/// Takes SQL that starts with a comment, `-- like this`, but not a misspelt flag.
fn sql(text: &str) -> Result<String, &'static str> {
    if text.len() > 1 && text.starts_with('-') && !text.contains(char::is_whitespace) {
        return Err("there is no such flag, and this is no SQL");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(line: &[&str]) -> (Command, Shared) {
        let line = std::iter::once("datafusion-toolset").chain(line.iter().copied());
        CommandLine::try_parse_from(line).unwrap_or_else(|error| unreachable!("{error}")).into_parts()
    }

    #[test]
    fn the_declaration_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn flags_stand_before_and_after_the_command() {
        let line =
            ["-t", "a=1", "--max-rows", "5", "--timeout", "1s", "query", "-t", "b=2", "--max-rows=6", "SELECT 1"];
        let (_, shared) = parsed(&line);
        assert_eq!(shared.sources(), Ok(vec![Source::new("a", "1"), Source::new("b", "2")]));
        let limits = Limits::default().with_max_rows(6).with_timeout(Duration::from_secs(1));
        assert_eq!(shared.limits(Limits::default().with_max_rows(7)), limits);
    }

    #[test]
    fn a_table_is_split_at_its_first_equals_sign() {
        assert_eq!(source("sales=data/year=2024/"), Ok(Source::new("sales", "data/year=2024/")));
        assert_eq!(source("my table=x"), Ok(Source::new("my table", "x")));
        for wrong in ["", "sales", "=x", "sales=", "data/year=2024/", "s3://b/k?sig=x"] {
            assert!(source(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sql_may_start_with_a_comment_and_flags_may_follow_it() {
        let (command, _) = parsed(&["query", "-- all\nSELECT 1", "--format", "csv"]);
        let Command::Query(query) = command else { unreachable!("{command:?}") };
        assert_eq!((query.sql.as_str(), query.format), ("-- all\nSELECT 1", Some(QueryFormat::Csv)));
        assert!(CommandLine::try_parse_from(["datafusion-toolset", "query", "--formt"]).is_err());
        assert!(CommandLine::try_parse_from(["datafusion-toolset", "query", "-"]).is_ok());
    }
}
