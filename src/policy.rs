//! What a caller may see. Data, no behaviour: the catalog and the session act on it.

use std::collections::BTreeMap;

/// The tables, rows, columns and functions that exist for a caller.
///
/// What is not allowed cannot be told from what does not exist. The table that the planner sees is the filtered and
/// masked one, so joins, views, statistics, `EXPLAIN` and `information_schema` know no more than a query's rows:
///
/// - A *filter* is a predicate over the table's own columns, hidden and unmasked ones included. It still prunes files
///   and row groups.
/// - A *hidden* column does not exist for the caller.
/// - A *mask* is an expression that stands in a column's place, under its name; its type is the expression's.
///
/// The caller's own expressions run after the filter, on the rows and values that are left; only comparisons that
/// cannot fail (a column that is not masked with a literal of its type) go below it, where they prune too. What does not
/// plan, is not boolean, names no column of the table, calls a volatile or denied function or holds a subquery makes
/// the table `source_unavailable`: nothing is ever read without its rules. When a rule itself fails on a row, the error
/// names the table and no value.
///
/// What remains is time. How long a call takes, and whether it comes to the limit of memory or time, depends on how much
/// is read, and that on rows that the filter takes away: whoever may send any SQL can estimate how many there are,
/// roughly, and by comparisons that prune files whether a range of values occurs in the files at all. And a schema that
/// is guessed from text files is guessed from all their rows: state the columns' types. Where that is too much, give each
/// tenant files of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    allowed_tables: Option<Vec<String>>,
    allowed_functions: Option<Vec<String>>,
    denied_functions: Vec<String>,
    rules: BTreeMap<String, TableRules>,
}

/// What is taken from one table. All of it holds at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TableRules {
    /// Predicates in SQL.
    pub(crate) filter: Vec<String>,
    /// Columns that do not exist.
    pub(crate) hide: Vec<String>,
    /// Columns with the SQL that stands in their place.
    pub(crate) mask: Vec<(String, String)>,
}

impl TableRules {
    /// Whether nothing is taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter.is_empty() && self.hide.is_empty() && self.mask.is_empty()
    }

    /// Sets a column's mask in the place of an earlier one.
    pub(crate) fn set_mask(&mut self, column: String, expression: String) {
        self.mask.retain(|(masked, _)| *masked != column);
        self.mask.push((column, expression));
    }
}

impl Policy {
    /// Shows these tables alone: `table`, `schema.table` or `catalog.schema.table`, quoted and folded as the engine
    /// resolves names in SQL; a name that is written exactly as a source's is that source. Default: every table.
    /// An empty list, or a name that is no source's, is refused when the toolset is built.
    #[must_use]
    pub fn with_allowed_tables<S: Into<String>>(mut self, tables: impl IntoIterator<Item = S>) -> Self {
        self.allowed_tables = Some(tables.into_iter().map(Into::into).collect());
        self
    }

    /// Keeps these functions alone (scalar, aggregate, window and table functions, by name or alias). Default: every
    /// function that the session has. A name that the session does not know is refused when the toolset is built.
    #[must_use]
    pub fn with_allowed_functions<S: Into<String>>(mut self, functions: impl IntoIterator<Item = S>) -> Self {
        self.allowed_functions = Some(functions.into_iter().map(Into::into).collect());
        self
    }

    /// Takes these functions away. Default: none. A name that the session does not know is refused when the toolset
    /// is built.
    #[must_use]
    pub fn with_denied_functions<S: Into<String>>(mut self, functions: impl IntoIterator<Item = S>) -> Self {
        self.denied_functions = functions.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a predicate in SQL to every read of a table, named as in [`Policy::with_allowed_tables`]. Several hold at
    /// once. A name that is no table's is refused when the toolset is built.
    #[must_use]
    pub fn with_filter(mut self, table: impl Into<String>, predicate: impl Into<String>) -> Self {
        self.rules.entry(table.into()).or_default().filter.push(predicate.into());
        self
    }

    /// Takes columns of a table away, named exactly as the table has them. A column is hidden even where it is masked
    /// as well.
    #[must_use]
    pub fn with_hidden<S: Into<String>>(
        mut self,
        table: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        self.rules.entry(table.into()).or_default().hide.extend(columns.into_iter().map(Into::into));
        self
    }

    /// Puts an SQL expression in a column's place, such as `sha256(email)`; of two for one column the later holds. Where
    /// the source has rules of its own, it is written over what they leave: a mask there stays, and this one gets what
    /// it gives.
    #[must_use]
    pub fn with_mask(
        mut self,
        table: impl Into<String>,
        column: impl Into<String>,
        expression: impl Into<String>,
    ) -> Self {
        self.rules.entry(table.into()).or_default().set_mask(column.into(), expression.into());
        self
    }

    /// The rules of each table that has some, by its name as it was given.
    pub(crate) fn rules(&self) -> &BTreeMap<String, TableRules> {
        &self.rules
    }

    /// See [`Policy::with_allowed_tables`]; `None` shows every table.
    pub fn allowed_tables(&self) -> Option<&[String]> {
        self.allowed_tables.as_deref()
    }

    /// See [`Policy::with_allowed_functions`]; `None` keeps every function.
    pub fn allowed_functions(&self) -> Option<&[String]> {
        self.allowed_functions.as_deref()
    }

    /// See [`Policy::with_denied_functions`].
    pub fn denied_functions(&self) -> &[String] {
        &self.denied_functions
    }
}
