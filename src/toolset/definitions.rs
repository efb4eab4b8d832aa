//! What a model is told about the tools.

use serde_json::{Value, json};

use crate::limits::Limits;

/// One tool, for the list that a model is given.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object with a scalar `type` per property; optional ones are not in
    /// `required`.
    pub input_schema: Value,
}

/// The four definitions. Strict clients drop tools whose schema has `$ref`, `anyOf`, null types or unsigned formats.
pub(crate) fn definitions(limits: &Limits) -> Vec<ToolDefinition> {
    vec![
        ToolDefinition {
            name: "list_tables",
            title: "List tables",
            description: "Names the tables, written as SQL takes them: {\"tables\":[…],\"table_count\":N}, with \
                          \"descriptions\" where there are some. A long list is cut and says so with \
                          \"truncated\":true; name_contains narrows it."
                .to_owned(),
            input_schema: object(json!({ "name_contains": name_contains("tables") }), &[]),
        },
        ToolDefinition {
            name: "get_schema",
            title: "Get the schema of a table",
            description: format!(
                "Columns of a table with their Arrow types: \
                 {{\"columns\":[{{\"name\":…,\"type\":…}}],\"column_count\":N}}. Where SQL needs a name quoted, \"sql\" \
                 has the form to write. A table of more than {} columns is summed up by type; then name_contains finds \
                 the columns of interest, fields inside structs included.",
                limits.max_columns()
            ),
            input_schema: object(
                json!({
                    "table_name": { "type": "string", "description": "A table as list_tables names it." },
                    "name_contains": name_contains("columns"),
                }),
                &["table_name"],
            ),
        },
        ToolDefinition {
            name: "query",
            title: "Run a read-only query",
            description: format!(
                "Runs one read-only SQL statement (DataFusion's dialect, close to PostgreSQL) and gives \
                 {{\"columns\":[…],\"rows\":[[…],…],\"row_count\":N}}: the names once, each row its values in that \
                 order. At most {} rows and {} bytes come back; a cut result says \"truncated\":true, by which limit, \
                 and a hint. Do not page through rows: aggregate, filter, or ORDER BY with LIMIT, and select only the \
                 columns you need. Unquoted names are folded to lower case; write \"userId\" in double quotes and text \
                 in single quotes. Integers beyond 2^53 and decimals come as strings.",
                limits.max_rows(),
                limits.max_result_bytes()
            ),
            input_schema: object(
                json!({
                    "sql": { "type": "string", "description": "One SELECT, WITH, EXPLAIN, DESCRIBE or SHOW statement." },
                    "max_rows": {
                        "type": "integer",
                        "minimum": 1,
                        "description": format!("Fewer rows than {}.", limits.max_rows()),
                    },
                    "format": {
                        "type": "string",
                        "enum": ["json", "markdown", "csv"],
                        "description": "The text of the result; json when left out.",
                    },
                }),
                &["sql"],
            ),
        },
        ToolDefinition {
            name: "check_query",
            title: "Check a query without running it",
            description: "Plans a statement without reading data: {\"valid\":true,\"columns\":[…]} or \
                          {\"valid\":false,\"error\":{…}} with near names. It refuses exactly what query refuses."
                .to_owned(),
            input_schema: object(
                json!({ "sql": { "type": "string", "description": "The statement to check." } }),
                &["sql"],
            ),
        },
    ]
}

fn name_contains(what: &str) -> Value {
    json!({ "type": "string", "description": format!("Only {what} whose name holds this text, in any case.") })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}
