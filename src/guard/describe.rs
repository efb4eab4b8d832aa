//! Planning errors, with what only the session knows: near tables and functions.

use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;

use crate::error::{Error, ErrorCode, Missing, nearest};
use crate::ident::quote;

/// An error of planning as an [`Error`] with near names. Opens no table.
pub(crate) fn describe(error: DataFusionError, state: &SessionState) -> Error {
    let described = match Missing::of(&error) {
        Some(Missing::Table(name)) => Some(unknown_table(name, state)),
        Some(Missing::Function(name)) => Some(unknown_function(name, state)),
        Some(Missing::TableFunction(name)) => Some(unknown_table_function(name, state)),
        None => None,
    };
    described.unwrap_or_else(|| {
        let error = Error::from_datafusion(error);
        if error.code() != ErrorCode::Internal {
            return error;
        }
        // While planning, only the text can be the reason: another text can work.
        Error::new(
            ErrorCode::InvalidQuery,
            "The engine cannot plan this statement. Write it another way: simpler expressions, or steps in WITH.",
        )
        .with_cause(error)
    })
}

/// `name` as the engine resolved it: catalog and schema may stand before it.
pub(crate) fn unknown_table(name: &str, state: &SessionState) -> Error {
    let defaults = &state.config().options().catalog;
    let (catalog, schema) = (&defaults.default_catalog, &defaults.default_schema);
    let in_catalog = name.strip_prefix(catalog.as_str()).and_then(|rest| rest.strip_prefix('.'));
    let written = in_catalog
        .map(|rest| rest.strip_prefix(schema.as_str()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(rest))
        .unwrap_or(name);

    let tables = tables(state);
    let last = written.rsplit('.').next().unwrap_or(written);
    let mut near = nearest(written, tables.iter().map(|table| table.written.as_str()));
    near.extend(nearest(last, tables.iter().map(|table| table.name.as_str())));
    let mut suggestions: Vec<String> = Vec::new();
    for name in near {
        for table in tables.iter().filter(|table| table.name == name || table.written == name) {
            if !suggestions.contains(&table.sql) {
                suggestions.push(table.sql.clone());
            }
        }
    }

    let shown: String = written.chars().take(100).collect();
    let more = if shown.len() < written.len() { "…" } else { "" };
    let advice = if written.contains(['/', '\\', ':']) {
        "Tables go by the names that list_tables shows; files and addresses cannot be read."
    } else if tables.is_empty() {
        "There are no tables."
    } else {
        "Call list_tables for the names."
    };
    Error::new(ErrorCode::UnknownTable, format!("No table named {shown}{more}. {advice}")).with_suggestions(suggestions)
}

struct Table {
    name: String,
    /// With what of catalog and schema is not the default, unquoted.
    written: String,
    /// The same as SQL takes it.
    sql: String,
}

fn tables(state: &SessionState) -> Vec<Table> {
    let defaults = &state.config().options().catalog;
    let mut tables = Vec::new();
    let mut catalogs = state.catalog_list().catalog_names();
    catalogs.sort();
    for catalog_name in catalogs {
        let Some(catalog) = state.catalog_list().catalog(&catalog_name) else { continue };
        let mut schemas = catalog.schema_names();
        schemas.sort();
        for schema_name in schemas {
            if schema_name == "information_schema" {
                continue;
            }
            let Some(schema) = catalog.schema(&schema_name) else { continue };
            let mut names = schema.table_names();
            names.sort();
            for name in names {
                let parts = if catalog_name != defaults.default_catalog {
                    vec![catalog_name.as_str(), schema_name.as_str(), name.as_str()]
                } else if schema_name != defaults.default_schema {
                    vec![schema_name.as_str(), name.as_str()]
                } else {
                    vec![name.as_str()]
                };
                let written = parts.join(".");
                let sql = parts.iter().map(|part| quote(part)).collect::<Vec<_>>().join(".");
                tables.push(Table { written, sql, name });
            }
        }
    }
    tables
}

fn unknown_function(name: &str, state: &SessionState) -> Error {
    if state.window_functions().contains_key(&name.to_lowercase()) {
        let message = format!("{name} is a window function: write it as {name}(…) OVER (ORDER BY …).");
        return Error::new(ErrorCode::InvalidQuery, message);
    }
    let mut names: Vec<&str> = state
        .scalar_functions()
        .keys()
        .chain(state.aggregate_functions().keys())
        .chain(state.window_functions().keys())
        .chain(state.higher_order_functions().keys())
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    functions(name, nearest(name, names))
}

fn unknown_table_function(name: &str, state: &SessionState) -> Error {
    let mut names: Vec<&str> = state.table_functions().keys().map(String::as_str).collect();
    names.sort_unstable();
    functions(name, nearest(name, names))
}

fn functions(name: &str, near: Vec<&str>) -> Error {
    let shown: String = name.chars().take(100).collect();
    let more = if shown.len() < name.len() { "…" } else { "" };
    let advice =
        if near.is_empty() { "Use another function." } else { "Use one of the suggestions or another function." };
    Error::new(ErrorCode::UnknownFunction, format!("No function named {shown}{more}. {advice}"))
        .with_suggestions(near.into_iter().map(str::to_owned))
}
