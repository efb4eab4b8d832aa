//! What the four tools answer: the payload, and its facts for the program that called.
//!
//! Each payload is one line of compact JSON in UTF-8 with its keys in the order shown, and never longer than
//! `max_result_bytes`.

pub use crate::encode::{ResultFormat, TruncatedBy};

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name, as results show it.
    pub name: String,
    /// Its Arrow type, such as `Int64` or `Timestamp(µs, "UTC")`.
    pub data_type: String,
}

/// What `query` answers.
///
/// ```json
/// {"columns":["id","name"],"rows":[[1,"Alice"],[2,"Bob"]],"row_count":2}
/// {"columns":["id"],"rows":[[1]],"row_count":1,"total_rows":9,"truncated":true,"truncated_by":"max_rows","hint":"…"}
/// {"column_count":1200,"rows":[],"row_count":0,"truncated":true,"truncated_by":"max_result_bytes","hint":"…"}
/// ```
///
/// Rows are positional: two columns may share a name. `truncated` and what follows it are there only when something
/// was left out. The second form leaves the names out because they alone do not fit, or no row fits beside them.
#[derive(Debug, Clone)]
pub struct QueryResult {
    pub(crate) payload: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) row_count: usize,
    pub(crate) truncated_by: Option<TruncatedBy>,
    pub(crate) total_rows: Option<u64>,
}

impl QueryResult {
    /// The payload; with [`ResultFormat::Markdown`] or [`ResultFormat::Csv`] that text instead of JSON.
    pub fn json(&self) -> &str {
        &self.payload
    }

    /// The payload, by value.
    pub fn into_json(self) -> String {
        self.payload
    }

    /// The columns of the query, also when the payload leaves them out.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Rows in the payload.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// What cut the result, if something was left out.
    pub fn truncated_by(&self) -> Option<TruncatedBy> {
        self.truncated_by
    }

    /// The exact number of rows of the whole result: known for a whole result, and for a cut one when it says so.
    pub fn total_rows(&self) -> Option<u64> {
        self.total_rows
    }
}

/// What `get_schema` answers.
///
/// ```json
/// {"columns":[{"name":"userId","type":"Utf8","sql":"\"userId\""}],"column_count":1,"inferred_from":1000}
/// {"columns":[{"name":"address['city']","type":"Utf8"}],"column_count":1,"name_contains":"city","total_columns":9}
/// {"column_count":3200,"truncated":true,"truncated_by":"max_columns","hint":"…","type_histogram":{"Int64":3200},
///  "sample_columns":["a","b"]}
/// ```
///
/// An entry may also carry `"nullable":false`, `"partition":true` and `"description":"…"`.
#[derive(Debug, Clone)]
pub struct SchemaResult {
    pub(crate) payload: String,
    pub(crate) column_count: usize,
    pub(crate) truncated_by: Option<TruncatedBy>,
}

impl SchemaResult {
    /// The payload.
    pub fn json(&self) -> &str {
        &self.payload
    }

    /// The payload, by value.
    pub fn into_json(self) -> String {
        self.payload
    }

    /// Columns of the table, or those that match `name_contains`.
    pub fn column_count(&self) -> usize {
        self.column_count
    }

    /// What cut the list, if it was.
    pub fn truncated_by(&self) -> Option<TruncatedBy> {
        self.truncated_by
    }
}

/// What `list_tables` answers.
///
/// ```json
/// {"tables":["orders","sales.returns"],"table_count":2,"descriptions":{"orders":"One row per order"}}
/// {"tables":["a","b"],"table_count":5000,"truncated":true,"truncated_by":"max_result_bytes","hint":"…"}
/// ```
#[derive(Debug, Clone)]
pub struct TablesResult {
    pub(crate) payload: String,
    pub(crate) tables: Vec<String>,
    pub(crate) truncated_by: Option<TruncatedBy>,
}

impl TablesResult {
    /// The payload.
    pub fn json(&self) -> &str {
        &self.payload
    }

    /// The payload, by value.
    pub fn into_json(self) -> String {
        self.payload
    }

    /// Every table, as SQL takes its name, also those that the payload leaves out.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// What cut the list, if it was.
    pub fn truncated_by(&self) -> Option<TruncatedBy> {
        self.truncated_by
    }
}

/// What `check_query` answers.
///
/// ```json
/// {"valid":true,"columns":[{"name":"n","type":"Int64"}]}
/// {"valid":false,"error":{"code":"unknown_column","message":"…","suggestions":["\"userId\""],"retry":"changed"}}
/// ```
///
/// Columns that do not fit are left out: `{"valid":true,"column_count":3000,"truncated":true,
/// "truncated_by":"max_result_bytes","hint":"…"}`.
#[derive(Debug)]
pub struct CheckResult {
    pub(crate) payload: String,
    pub(crate) outcome: Result<Vec<Column>, crate::Error>,
}

impl CheckResult {
    /// The payload.
    pub fn json(&self) -> &str {
        &self.payload
    }

    /// The payload, by value.
    pub fn into_json(self) -> String {
        self.payload
    }

    /// Whether `query` would take the statement.
    pub fn is_valid(&self) -> bool {
        self.outcome.is_ok()
    }

    /// The columns that the statement gives, or why it would be refused.
    pub fn outcome(&self) -> Result<&[Column], &crate::Error> {
        self.outcome.as_deref()
    }
}
