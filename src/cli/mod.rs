//! The command line, one noun per file. It knows the library's front door alone: no DataFusion and no Arrow.

mod args;
#[cfg(feature = "mcp")]
mod check;
mod grid;
mod interrupt;
mod logs;
#[cfg(feature = "mcp")]
mod mcp;
mod payload;
mod progress;
mod table;
mod text;

use std::future::Future;
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use datafusion_toolset::{Config, ConfigError, Error, Limits, QueryRequest, ResultFormat, Toolset};

use args::{Command, CommandLine, Format, QueryFormat, Shared};
use table::Renderer;

/// Wrong usage or configuration.
const WRONG_USAGE: u8 = 2;

/// Why there is no answer.
#[derive(Debug)]
enum Failure {
    /// The tool failed; its payload is the answer.
    Tool(Error),
    /// The command or the configuration cannot be used.
    Usage(String),
    /// The answer is a report of something that is wrong.
    #[cfg(feature = "mcp")]
    Report(String),
    /// A signal, with the exit status that says so.
    Interrupted(u8),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Tool(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// Does what the process was called for. Wrong usage, `--help` and `--version` end in clap.
pub(crate) fn run() -> ExitCode {
    let (command, shared) = CommandLine::parse().into_parts();
    let person = is_for_people(&command);
    let (status, output) = match answer(command, &shared) {
        Ok(output) => (ExitCode::SUCCESS, output),
        Err(Failure::Tool(error)) => {
            if person {
                complain(&table::failure(&error));
            }
            (ExitCode::FAILURE, error.json() + "\n")
        }
        Err(Failure::Usage(message)) => {
            complain(&(message + "\n"));
            return ExitCode::from(WRONG_USAGE);
        }
        #[cfg(feature = "mcp")]
        Err(Failure::Report(report)) => (ExitCode::FAILURE, report),
        Err(Failure::Interrupted(status)) => return ExitCode::from(status),
    };
    match write_out(&output) {
        Ok(()) => status,
        // Whoever read it has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
        Err(error) => {
            complain(&format!("standard output: {error}\n"));
            ExitCode::from(WRONG_USAGE)
        }
    }
}

fn answer(command: Command, shared: &Shared) -> Result<String, Failure> {
    if let Command::Completions(completions) = command {
        let mut script = Vec::new();
        clap_complete::generate(completions.shell, &mut CommandLine::command(), "datafusion-toolset", &mut script);
        return Ok(String::from_utf8_lossy(&script).into_owned());
    }
    logs::start(&command);
    let config = shared.config().map_or_else(|| Ok(Config::default()), Config::from_file)?;
    let limits = shared.limits(config.limits().clone());
    let config = config.with_limits(limits.clone()).with_sources(shared.sources()?);
    let toolset = config.into_builder().build()?;
    let renderer = Renderer { width: terminal_width(), limits: &limits };
    match command {
        Command::Call(call) => {
            let arguments = input(call.arguments, &limits)?;
            Ok(wait(toolset.call(&call.tool, &arguments))? + "\n")
        }
        Command::Query(query) => run_query(&toolset, &renderer, query),
        Command::Tables(tables) => {
            let result = wait(toolset.list_tables(tables.name_contains.as_deref()))?;
            let format = tables.format;
            Ok(if is_table(format) { renderer.tables(&result) } else { result.into_json() + "\n" })
        }
        Command::Schema(schema) => {
            let result = wait(toolset.get_schema(&schema.table, schema.name_contains.as_deref()))?;
            let format = schema.format;
            Ok(if is_table(format) { renderer.schema(&result) } else { result.into_json() + "\n" })
        }
        Command::Check(check) => {
            let sql = input(check.sql, &limits)?;
            let result = wait(toolset.check_query(&sql))?;
            let format = check.format;
            Ok(if is_table(format) { renderer.check(&result) } else { result.into_json() + "\n" })
        }
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) if mcp.check => check::report(&toolset),
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => mcp::serve(toolset, mcp),
        Command::Completions(_) => Ok(String::new()),
    }
}

fn run_query(toolset: &Toolset, renderer: &Renderer<'_>, query: args::QueryArgs) -> Result<String, Failure> {
    let format = query.format.unwrap_or_else(query_format);
    let request = QueryRequest::new(input(query.sql, renderer.limits)?);
    let request = match format {
        QueryFormat::Table | QueryFormat::Json => request,
        QueryFormat::Markdown => request.with_format(ResultFormat::Markdown),
        QueryFormat::Csv => request.with_format(ResultFormat::Csv),
    };
    let result = wait(toolset.query(request))?;
    if format == QueryFormat::Table {
        return Ok(renderer.query(&result));
    }
    let mut payload = result.into_json();
    if !payload.ends_with('\n') {
        payload.push('\n');
    }
    Ok(payload)
}

/// Runs a call to its end, or until Ctrl-C drops it. The toolset has workers of its own; this thread only waits.
fn wait<T>(call: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Usage(format!("the runtime does not start: {error}")))?;
    runtime.block_on(async {
        tokio::select! {
            biased;
            status = interrupt::interrupted() => Err(Failure::Interrupted(status)),
            done = progress::watched(call) => Ok(done?),
        }
    })
}

/// The text of an argument, or of standard input for `-`. No more is read than the tool can take: what is longer is
/// refused by the tool, as too long.
fn input(argument: String, limits: &Limits) -> Result<String, Failure> {
    if argument != "-" {
        return Ok(argument);
    }
    // Arguments hold escapes and other keys, so give them the room of a statement written in `\u` escapes and more.
    let most = limits.max_sql_bytes().saturating_mul(6).saturating_add(4096);
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(most as u64).read_to_end(&mut bytes);
    read.map_err(|error| Failure::Usage(format!("standard input: {error}")))?;
    let whole = bytes.len() < most;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // The cut went through a character.
        Err(error) if !whole && error.utf8_error().error_len().is_none() => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => Err(Failure::Usage("standard input is no UTF-8".to_owned())),
    }
}

fn is_table(format: Option<Format>) -> bool {
    format.map_or_else(|| io::stdout().is_terminal(), |format| format == Format::Table)
}

fn query_format() -> QueryFormat {
    if io::stdout().is_terminal() { QueryFormat::Table } else { QueryFormat::Json }
}

/// Whether a failure is to be told in words too.
fn is_for_people(command: &Command) -> bool {
    match command {
        Command::Query(query) => query.format.unwrap_or_else(query_format) == QueryFormat::Table,
        Command::Tables(tables) => is_table(tables.format),
        Command::Schema(schema) => is_table(schema.format),
        Command::Check(check) => is_table(check.format),
        #[cfg(feature = "mcp")]
        Command::Mcp(_) => false,
        Command::Call(_) | Command::Completions(_) => false,
    }
}

fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
    Some(usize::from(width.0))
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Tells a person something beside the answer, on standard error. If that is gone, there is nobody to tell.
#[cfg(feature = "mcp")]
fn notice(message: &str) {
    let _ = io::stderr().lock().write_all(message.as_bytes());
}

/// Says what is wrong on standard error. If that is gone too, there is nobody to tell.
fn complain(message: &str) {
    let _ = write!(io::stderr().lock(), "error: {message}");
}
