//! What a caller may see. Data, no behaviour: the catalog and the session act on it.

/// The tables and functions that exist for a caller.
///
/// What is not allowed cannot be told from what does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    allowed_tables: Option<Vec<String>>,
    allowed_functions: Option<Vec<String>>,
    denied_functions: Vec<String>,
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
