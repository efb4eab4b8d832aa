//! The only way from a `DataFusionError` to an [`Error`].
//!
//! The code is read from the error's type. Where the engine has no type but only a text (unknown tables and
//! functions), the text is matched whole, in [`Missing::of`] alone.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, Diagnostic, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;
use datafusion::sql::sqlparser::parser::ParserError;
use tokio::task::JoinError;

use super::engine_text::{self, cut};
use super::suggest::{differ_in_case, nearest};
use super::{Error, ErrorCode};
use crate::ident::quote;

/// With more columns in reach than this, the text says how to search them.
const MANY_COLUMNS: usize = 30;

impl Error {
    /// Reads the code from the error's type. An [`Error`] that travelled through DataFusion comes out as it went in.
    pub(crate) fn from_datafusion(error: DataFusionError) -> Self {
        let described = classify(&error);
        match described.code() {
            // The cause says what the text for the model leaves out. What is wrong with a statement is all in the text.
            ErrorCode::Execution
            | ErrorCode::ResourceExhausted
            | ErrorCode::SourceUnavailable
            | ErrorCode::Cancelled
            | ErrorCode::Internal => described.with_cause(error),
            _ => described,
        }
    }
}

/// What a planning error says does not exist.
pub(crate) enum Missing<'a> {
    Table(&'a str),
    Function(&'a str),
    TableFunction(&'a str),
}

impl<'a> Missing<'a> {
    /// DataFusion 55.2 has no types for these. The texts are those of `SessionContextProvider` (`session_state.rs`) and
    /// of `sql_function_to_expr` (datafusion-sql, `expr/function.rs`); a test asks the engine for each of them.
    pub(crate) fn of(error: &'a DataFusionError) -> Option<Self> {
        let (DataFusionError::Plan(text), _) = peel(error) else {
            return None;
        };
        let text = text.split(DataFusionError::BACK_TRACE_SEP).next().unwrap_or_default();
        let named = |before: &str, after: &str| text.strip_prefix(before)?.strip_suffix(after);
        if let Some(name) = named("table function '", "' not found") {
            return Some(Self::TableFunction(name));
        }
        if let Some(name) = named("table '", "' not found") {
            return Some(Self::Table(name));
        }
        if let Some((name, _)) = text.strip_prefix("Invalid function '").and_then(|rest| rest.split_once("'.\n")) {
            return Some(Self::Function(name));
        }
        named("There is no window function named ", "").map(Self::Function)
    }
}

/// Takes the wrappers off that only add context, and keeps the notes that the engine adds for people.
fn peel(mut error: &DataFusionError) -> (&DataFusionError, Option<&Diagnostic>) {
    let mut notes = None;
    loop {
        error = match error {
            DataFusionError::Context(_, inner) => inner,
            DataFusionError::Diagnostic(diagnostic, inner) => {
                notes = Some(diagnostic.as_ref());
                inner
            }
            DataFusionError::Shared(inner) => inner,
            DataFusionError::Collection(errors) => match errors.first() {
                Some(first) => first,
                None => return (error, notes),
            },
            _ => return (error, notes),
        };
    }
}

fn classify(error: &DataFusionError) -> Error {
    let (error, notes) = peel(error);
    match error {
        DataFusionError::ArrowError(error, _) => arrow(error),
        DataFusionError::ParquetError(error) => parquet(error),
        DataFusionError::ObjectStore(error) => store(error),
        DataFusionError::IoError(error) => input(error),
        DataFusionError::SQL(error, _) => syntax(error),
        DataFusionError::SchemaError(error, _) => schema(error, notes),
        DataFusionError::Plan(text) => match Missing::of(error) {
            Some(Missing::Table(name)) => {
                let message = format!("No table named {}. Call list_tables for the names.", cut(name, 200));
                Error::new(ErrorCode::UnknownTable, message)
            }
            Some(Missing::Function(name) | Missing::TableFunction(name)) => {
                Error::new(ErrorCode::UnknownFunction, format!("No function named {}.", cut(name, 200)))
            }
            None => Error::new(ErrorCode::InvalidQuery, engine_text::planning(text)),
        },
        DataFusionError::NotImplemented(text) if text.contains("OuterReferenceColumn") => Error::new(
            ErrorCode::InvalidQuery,
            "The engine does not support this: a subquery or UNNEST that uses a column of the query around it in this \
             way. Write it as a join, or unnest(…) in the SELECT list.",
        ),
        DataFusionError::NotImplemented(text) => Error::new(
            ErrorCode::InvalidQuery,
            format!("The engine does not support this: {} Write it another way.", engine_text::unsupported(text)),
        ),
        DataFusionError::Configuration(text) | DataFusionError::Substrait(text) => {
            Error::new(ErrorCode::InvalidQuery, engine_text::planning(text))
        }
        DataFusionError::Execution(text) | DataFusionError::Ffi(text) => execution(text),
        DataFusionError::ExecutionJoin(error) => join(error),
        DataFusionError::ResourcesExhausted(text) => exhausted(text),
        DataFusionError::External(error) => foreign(error.as_ref()),
        // An empty collection, which DataFusion never makes.
        _ => internal(),
    }
}

fn syntax(error: &ParserError) -> Error {
    match error {
        ParserError::RecursionLimitExceeded => Error::new(
            ErrorCode::TooComplex,
            "The statement is nested too deeply. Name the inner queries with WITH, or simplify the brackets.",
        ),
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            Error::new(ErrorCode::Syntax, engine_text::syntax(text))
        }
    }
}

fn schema(error: &SchemaError, notes: Option<&Diagnostic>) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => unknown_column(field, valid_fields),
        SchemaError::AmbiguousReference { field } => {
            let spellings: Vec<String> = notes
                .into_iter()
                .flat_map(|notes| &notes.notes)
                .filter_map(|note| note.message.strip_prefix("possible column "))
                .map(|name| Column::from_qualified_name(name).quoted_flat_name())
                .collect();
            let message = format!("Several tables have a column {}: write it with the table's name.", quoted(field));
            Error::new(ErrorCode::InvalidQuery, message).with_suggestions(spellings)
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            let message =
                format!("Two columns are named {}: give one of them an alias with AS.", cut(&quote(name), 200));
            Error::new(ErrorCode::InvalidQuery, message)
        }
    }
}

/// The engine's own text would list every column in reach: 81 KB for 3,000 of them. It is never asked for.
fn unknown_column(field: &Column, valid: &[Column]) -> Error {
    let near = nearest(field.name(), valid.iter().map(Column::name));
    let mut suggestions = Vec::new();
    for name in &near {
        let tables: Vec<_> = valid
            .iter()
            .filter(|column| column.name() == *name)
            .filter_map(|column| column.relation.as_ref())
            .collect();
        // The table that was named, else every table where the plain name would be ambiguous or was not wanted.
        match &field.relation {
            Some(table) if tables.contains(&table) => {
                suggestions.push(format!("{}.{}", table.to_quoted_string(), quote(name)))
            }
            None if tables.len() < 2 => suggestions.push(quote(name).into_owned()),
            _ => suggestions.extend(tables.iter().map(|table| format!("{}.{}", table.to_quoted_string(), quote(name)))),
        }
    }

    let mut message = format!("No column named {}.", quoted(field));
    let by_case = near.first().filter(|name| differ_in_case(name, field.name()));
    if by_case.is_some() {
        message.push_str(" Unquoted names are read in lower case: write the name in double quotes.");
    }
    if valid.is_empty() {
        message.push_str(" No table is in reach here: the query needs a FROM, and text values take single quotes.");
    } else if valid.len() > MANY_COLUMNS {
        message
            .push_str(&format!(" {} columns are in reach: search them by get_schema with name_contains.", valid.len()));
    } else if by_case.is_none() {
        message.push_str(" See get_schema for the names; text values take single quotes.");
    }
    Error::new(ErrorCode::UnknownColumn, message).with_suggestions(suggestions)
}

fn quoted(column: &Column) -> String {
    let name = match &column.relation {
        Some(table) => format!("{}.{}", table.to_quoted_string(), quote(column.name())),
        None => quote(column.name()).into_owned(),
    };
    cut(&name, 200).into_owned()
}

fn arrow(error: &ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(error) => foreign(error.as_ref()),
        ArrowError::IoError(_, error) => input(error),
        ArrowError::CsvError(text)
        | ArrowError::JsonError(text)
        | ArrowError::AvroError(text)
        | ArrowError::IpcError(text)
        | ArrowError::ParquetError(text) => unreadable(&engine_text::data(text)),
        ArrowError::MemoryError(_) | ArrowError::OffsetOverflowError(_) => too_large(),
        ArrowError::NotYetImplemented(text) => Error::new(
            ErrorCode::InvalidQuery,
            format!("The engine does not support this: {} Write it another way.", engine_text::unsupported(text)),
        ),
        ArrowError::CastError(text)
        | ArrowError::ParseError(text)
        | ArrowError::SchemaError(text)
        | ArrowError::ComputeError(text)
        | ArrowError::ArithmeticOverflow(text)
        | ArrowError::InvalidArgumentError(text)
        | ArrowError::CDataInterface(text) => execution(text),
        ArrowError::DivideByZero => execution("Divide by zero"),
        ArrowError::DictionaryKeyOverflowError | ArrowError::RunEndIndexOverflowError => execution("A key overflowed"),
    }
}

fn parquet(error: &ParquetError) -> Error {
    match error {
        ParquetError::External(error) => foreign(error.as_ref()),
        ParquetError::General(text)
        | ParquetError::NYI(text)
        | ParquetError::EOF(text)
        | ParquetError::ArrowError(text) => unreadable(&engine_text::data(text)),
        _ => unreadable("the Parquet file is damaged."),
    }
}

/// The text of a store's error can hold a whole response, tokens included: only the kind is shown.
fn store(error: &object_store::Error) -> Error {
    use object_store::Error as Store;
    match error {
        Store::NotFound { path, .. } => unreadable(&format!("{} is not there.", engine_text::file_name(path))),
        Store::PermissionDenied { path, .. } | Store::Unauthenticated { path, .. } => {
            unreadable(&format!("access to {} is denied.", engine_text::file_name(path)))
        }
        Store::Precondition { path, .. } | Store::NotModified { path, .. } => {
            unreadable(&format!("{} changed while it was read.", engine_text::file_name(path)))
        }
        Store::Generic { store, source } => match known(source.as_ref()) {
            Some(error) => error,
            None => unreadable(&format!("the {store} store failed{}.", engine_text::status(&source.to_string()))),
        },
        Store::JoinError { source } => join(source),
        _ => unreadable("the store refused the request."),
    }
}

fn input(error: &io::Error) -> Error {
    if let Some(error) = error.get_ref().and_then(|inner| known(inner)) {
        return error;
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => exhausted("disk"),
        kind => unreadable(&format!("{kind}.")),
    }
}

fn unreadable(what: &str) -> Error {
    Error::new(
        ErrorCode::SourceUnavailable,
        format!("The table's data cannot be read: {what} Try again later or use another table."),
    )
}

fn execution(text: &str) -> Error {
    Error::new(ErrorCode::Execution, engine_text::execution(text))
}

/// The engine's text names its operators and settings, which the model cannot change.
fn exhausted(text: &str) -> Error {
    let lower = text.to_ascii_lowercase();
    let limit = if ["disk", "spill file", "temp"].iter().any(|word| lower.contains(word)) {
        "temporary disk space than the limit allows"
    } else {
        "memory than the limit allows"
    };
    let message =
        format!("The query needs more {limit}. Filter earlier, select fewer columns, or group and sort fewer rows.");
    Error::new(ErrorCode::ResourceExhausted, message)
}

fn too_large() -> Error {
    Error::new(
        ErrorCode::ResourceExhausted,
        "A value of the query grew too large. Make shorter texts or lists, or fewer of them.",
    )
}

fn join(error: &JoinError) -> Error {
    if error.is_cancelled() {
        Error::new(ErrorCode::Cancelled, "The query was cancelled before it ended.")
    } else {
        internal()
    }
}

fn internal() -> Error {
    Error::new(
        ErrorCode::Internal,
        "The query failed inside the engine; there is no partial result. Write the query in another way.",
    )
}

/// An error from outside DataFusion's own code: from a store, a table of the embedding program, or ours on its way.
fn foreign(error: &(dyn StdError + 'static)) -> Error {
    known(error).unwrap_or_else(|| {
        let text = error.to_string();
        // The type is that of a library that the engine does not re-export.
        if text.starts_with("regex parse error") || text.starts_with("Compiled regex exceeds size limit") {
            return execution(&text);
        }
        unreadable(&engine_text::data(&text))
    })
}

/// The first error in the chain whose type says something.
fn known(error: &(dyn StdError + 'static)) -> Option<Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<Error>() {
            return Some(error.duplicate());
        } else if let Some(error) = error.downcast_ref::<DataFusionError>() {
            return Some(classify(error));
        } else if let Some(error) = error.downcast_ref::<Arc<DataFusionError>>() {
            return Some(classify(error));
        } else if let Some(error) = error.downcast_ref::<ArrowError>() {
            return Some(arrow(error));
        } else if let Some(error) = error.downcast_ref::<ParquetError>() {
            return Some(parquet(error));
        } else if let Some(error) = error.downcast_ref::<object_store::Error>() {
            return Some(store(error));
        } else if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(input(error));
        } else if let Some(error) = error.downcast_ref::<JoinError>() {
            return Some(join(error));
        }
        next = error.source();
    }
    None
}
