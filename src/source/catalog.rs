//! The catalog the planner sees: opens a source at first use, shows only what the policy allows.
//!
//! Own sources lie over the catalogs of a context that the program brought along, if there is one. What the policy
//! does not allow is not in the catalog, so views, aliases and `information_schema` need no special case.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use datafusion::catalog::information_schema::{INFORMATION_SCHEMA, InformationSchemaProvider};
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, Session, TableProvider};
use datafusion::common::{ResolvedTableReference, TableReference};
use datafusion::error::{DataFusionError, Result as DataFusionResult};
use datafusion::execution::SessionState;
use datafusion::logical_expr::TableType;
use tokio::sync::OnceCell;

use super::files::{self, OpenTable};
use super::{Source, TableName, view};
use crate::error::{ConfigError, Error, ErrorCode};
use crate::policy::TableRules;
use crate::redact::Secrets;
use crate::{ident, redacted};

/// A source and, once a statement has named it, its open table.
struct Entry {
    source: Source,
    /// Opened at most once at a time; a failure is not kept, so the next call tries again.
    table: OnceCell<OpenTable>,
}

/// The tables of a toolset.
pub(crate) struct Catalog {
    /// Opens the files: a session without any catalog, there before a statement is planned.
    opener: OnceLock<Arc<dyn Session>>,
    own: BTreeMap<TableName, Entry>,
    base: Option<Arc<dyn CatalogProviderList>>,
    default_catalog: String,
    default_schema: String,
    allowed: Option<HashSet<ResolvedTableReference>>,
    /// What the policy takes from tables, beside what their sources say themselves.
    rules: HashMap<ResolvedTableReference, TableRules>,
}

/// A table of the catalog, by its parts and as SQL takes its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    /// The name as SQL takes it, shortened by the default catalog and schema, quoted where needed.
    pub(crate) sql: String,
    pub(crate) catalog: String,
    pub(crate) schema: String,
    pub(crate) table: String,
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("sources", &self.own.values().map(|entry| &entry.source).collect::<Vec<_>>())
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

impl Catalog {
    /// Lays the sources over `base`, in its default catalog and schema.
    ///
    /// # Errors
    /// If two sources have one name, or a source cannot be.
    pub(crate) fn new(
        sources: Vec<Source>,
        base: Option<Arc<dyn CatalogProviderList>>,
        default_catalog: String,
        default_schema: String,
    ) -> Result<Self, ConfigError> {
        let mut own = BTreeMap::new();
        for source in sources {
            let mut name = source.table_name()?;
            if name.schema == super::DEFAULT_SCHEMA {
                name.schema.clone_from(&default_schema);
            }
            let text = source.name().to_owned();
            if own.insert(name, Entry { source, table: OnceCell::new() }).is_some() {
                return Err(ConfigError::new(format!("the source name `{text}` is given twice")));
            }
        }
        Ok(Self {
            opener: OnceLock::new(),
            own,
            base,
            default_catalog,
            default_schema,
            allowed: None,
            rules: HashMap::new(),
        })
    }

    /// Gives the session that opens files; the first one stays.
    pub(crate) fn set_opener(&self, opener: Arc<dyn Session>) {
        let _ = self.opener.set(opener);
    }

    /// Hides every table but these. Names are resolved as the engine does; one that is written exactly as a source's
    /// name is that source.
    ///
    /// # Errors
    /// If the list is empty or names no table.
    pub(crate) fn allow(&mut self, names: &[String]) -> Result<(), ConfigError> {
        if names.is_empty() {
            return Err(ConfigError::new(
                "allowed_tables is empty, so no table could be seen; leave it out to allow every source",
            ));
        }
        let mut allowed = HashSet::new();
        for name in names {
            let Some(listed) = self.find(name) else {
                return Err(ConfigError::new(format!("allowed_tables names `{name}`, which is no table here")));
            };
            allowed.insert(listed.resolved());
        }
        self.allowed = Some(allowed);
        Ok(())
    }

    /// Takes rows and columns from tables, by their names as [`allow`](Self::allow) reads them.
    ///
    /// # Errors
    /// If a name is no table's.
    pub(crate) fn restrict(&mut self, rules: &BTreeMap<String, TableRules>) -> Result<(), ConfigError> {
        for (name, rules) in rules {
            let Some(listed) = self.find(name) else {
                return Err(ConfigError::new(format!("the policy has rules for `{name}`, which is no table here")));
            };
            let all = self.rules.entry(listed.resolved()).or_default();
            all.filter.extend_from_slice(&rules.filter);
            all.hide.extend_from_slice(&rules.hide);
            rules.mask.iter().for_each(|(column, mask)| all.set_mask(column.clone(), mask.clone()));
        }
        Ok(())
    }

    fn is_allowed(&self, catalog: &str, schema: &str, table: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| {
            allowed.contains(&ResolvedTableReference {
                catalog: catalog.into(),
                schema: schema.into(),
                table: table.into(),
            })
        })
    }

    fn entry(&self, catalog: &str, schema: &str, table: &str) -> Option<&Entry> {
        if catalog != self.default_catalog {
            return None;
        }
        self.own.get(&TableName { schema: schema.to_owned(), table: table.to_owned() })
    }

    fn base_schema(&self, catalog: &str, schema: &str) -> Option<Arc<dyn SchemaProvider>> {
        self.base.as_ref()?.catalog(catalog)?.schema(schema)
    }

    fn catalog_names(&self) -> Vec<String> {
        let mut names = BTreeSet::from([self.default_catalog.clone()]);
        names.extend(self.base.iter().flat_map(|base| base.catalog_names()));
        names.into_iter().collect()
    }

    fn schema_names(&self, catalog: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        if catalog == self.default_catalog {
            names.extend(self.own.keys().map(|name| name.schema.clone()));
        }
        if let Some(base) = self.base.as_ref().and_then(|base| base.catalog(catalog)) {
            names.extend(base.schema_names().into_iter().filter(|name| name != INFORMATION_SCHEMA));
        }
        // A schema without a table that may be seen is not there either.
        names.retain(|schema| self.allowed.is_none() || !self.table_names(catalog, schema).is_empty());
        names.into_iter().collect()
    }

    fn table_names(&self, catalog: &str, schema: &str) -> Vec<String> {
        let mut names = BTreeSet::new();
        if catalog == self.default_catalog {
            names.extend(self.own.keys().filter(|name| name.schema == schema).map(|name| name.table.clone()));
        }
        if let Some(base) = self.base_schema(catalog, schema) {
            names.extend(base.table_names());
        }
        names.retain(|table| self.is_allowed(catalog, schema, table));
        names.into_iter().collect()
    }

    /// Every table that may be seen, sorted by name. Opens nothing.
    pub(crate) fn tables(&self) -> Vec<Listed> {
        let mut tables = Vec::new();
        for catalog in self.catalog_names() {
            for schema in self.schema_names(&catalog) {
                for table in self.table_names(&catalog, &schema) {
                    tables.push(self.listed(catalog.clone(), schema.clone(), table));
                }
            }
        }
        tables.sort();
        tables
    }

    fn listed(&self, catalog: String, schema: String, table: String) -> Listed {
        let mut sql = String::new();
        if catalog != self.default_catalog {
            sql = format!("{}.{}.", ident::quote(&catalog), ident::quote(&schema));
        } else if schema != self.default_schema {
            sql = format!("{}.", ident::quote(&schema));
        }
        sql.push_str(&ident::quote(&table));
        Listed { sql, catalog, schema, table }
    }

    /// The table that `name` means: as SQL resolves it, or written exactly as a source's name.
    pub(crate) fn find(&self, name: &str) -> Option<Listed> {
        let exists = |catalog: &str, schema: &str, table: &str| {
            self.is_allowed(catalog, schema, table)
                && (self.entry(catalog, schema, table).is_some()
                    || self.base_schema(catalog, schema).is_some_and(|base| base.table_exist(table)))
        };
        if let Some((key, _)) = self.own.iter().find(|(_, entry)| entry.source.name() == name)
            && exists(&self.default_catalog, &key.schema, &key.table)
        {
            return Some(self.listed(self.default_catalog.clone(), key.schema.clone(), key.table.clone()));
        }
        let resolve = |name: TableReference| name.resolve(&self.default_catalog, &self.default_schema);
        [resolve(TableReference::parse_str(name)), resolve(TableReference::bare(name))]
            .into_iter()
            .find(|name| exists(&name.catalog, &name.schema, &name.table))
            .map(|name| self.listed(name.catalog.to_string(), name.schema.to_string(), name.table.to_string()))
    }

    /// The description of a table's source.
    pub(crate) fn description(&self, table: &Listed) -> Option<&str> {
        self.entry(&table.catalog, &table.schema, &table.table)?.source.description()
    }

    /// Opens a table. Tables of a context that was brought along have nothing to add to their provider.
    ///
    /// # Errors
    /// If a file or store cannot be read, or the table is not there.
    pub(crate) async fn open(&self, table: &Listed) -> Result<Option<OpenTable>, Error> {
        self.open_parts(&table.catalog, &table.schema, &table.table).await.map_err(Error::from_datafusion)
    }

    async fn open_parts(&self, catalog: &str, schema: &str, table: &str) -> DataFusionResult<Option<OpenTable>> {
        if !self.is_allowed(catalog, schema, table) {
            return Ok(None);
        }
        if let Some(entry) = self.entry(catalog, schema, table) {
            let Some(opener) = self.opener.get() else {
                return datafusion::common::internal_err!("no session to open {table} with");
            };
            let open = || async {
                let open = files::open(&entry.source, opener.as_ref()).await?;
                self.under_rules(open, catalog, schema, table, Some(&entry.source.rules))
            };
            let open = entry.table.get_or_try_init(open).await;
            return open.map(|open| Some(open.clone())).map_err(|error| DataFusionError::External(Box::new(error)));
        }
        let Some(base) = self.base_schema(catalog, schema) else { return Ok(None) };
        let provider = base.table(table).await?;
        let open = |provider| OpenTable { provider, inferred_from: None, partition_columns: Vec::new() };
        let open = provider.map(|provider| self.under_rules(open(provider), catalog, schema, table, None));
        open.transpose().map_err(|error| DataFusionError::External(Box::new(error)))
    }

    /// The table as it may be seen.
    fn under_rules(
        &self,
        open: OpenTable,
        catalog: &str,
        schema: &str,
        table: &str,
        own: Option<&TableRules>,
    ) -> Result<OpenTable, Error> {
        let listed = self.listed(catalog.to_owned(), schema.to_owned(), table.to_owned());
        let layers: Vec<&TableRules> = own.into_iter().chain(self.rules.get(&listed.resolved())).collect();
        if layers.iter().all(|rules| rules.is_empty()) {
            return Ok(open);
        }
        match self.opener.get().and_then(|opener| opener.as_any().downcast_ref::<SessionState>()) {
            Some(state) => view::lay(open, &listed.sql, &layers, state),
            None => Err(Error::new(ErrorCode::Internal, "there is no session to plan a table's rules with")),
        }
    }
}

impl Listed {
    fn resolved(&self) -> ResolvedTableReference {
        ResolvedTableReference {
            catalog: self.catalog.as_str().into(),
            schema: self.schema.as_str().into(),
            table: self.table.as_str().into(),
        }
    }
}

/// The catalog as DataFusion asks for it.
#[derive(Debug, Clone)]
pub(crate) struct CatalogList {
    catalog: Arc<Catalog>,
    /// Leaves out the tables that cannot be opened: `SHOW COLUMNS` of one table must not fail by another.
    lenient: bool,
    /// What `information_schema` must not show.
    secrets: Secrets,
}

impl CatalogList {
    /// The list to register with a session whose own `information_schema` is off: this one brings it.
    pub(crate) fn new(catalog: Arc<Catalog>, secrets: Secrets) -> Self {
        Self { catalog, lenient: false, secrets }
    }
}

impl CatalogProviderList for CatalogList {
    fn register_catalog(&self, _: String, _: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        None
    }

    fn catalog_names(&self) -> Vec<String> {
        self.catalog.catalog_names()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let known = self.catalog.catalog_names().iter().any(|known| known == name);
        known.then(|| Arc::new(CatalogView { list: self.clone(), name: name.to_owned() }) as _)
    }
}

#[derive(Debug)]
struct CatalogView {
    list: CatalogList,
    name: String,
}

impl CatalogProvider for CatalogView {
    fn schema_names(&self) -> Vec<String> {
        self.list.catalog.schema_names(&self.name)
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == INFORMATION_SCHEMA {
            let lenient = CatalogList { lenient: true, ..self.list.clone() };
            let shown = InformationSchemaProvider::new(Arc::new(lenient));
            return Some(redacted::schema(Arc::new(shown), &self.list.secrets));
        }
        let known = self.schema_names().iter().any(|known| known == name);
        known.then(|| {
            Arc::new(SchemaView { list: self.list.clone(), catalog: self.name.clone(), name: name.to_owned() }) as _
        })
    }
}

#[derive(Debug)]
struct SchemaView {
    list: CatalogList,
    catalog: String,
    name: String,
}

#[async_trait]
impl SchemaProvider for SchemaView {
    fn table_names(&self) -> Vec<String> {
        self.list.catalog.table_names(&self.catalog, &self.name)
    }

    async fn table(&self, name: &str) -> DataFusionResult<Option<Arc<dyn TableProvider>>> {
        match self.list.catalog.open_parts(&self.catalog, &self.name, name).await {
            Ok(open) => Ok(open.map(|open| open.provider)),
            Err(_) if self.list.lenient => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Without opening: every source is a base table.
    async fn table_type(&self, name: &str) -> DataFusionResult<Option<TableType>> {
        let catalog = &self.list.catalog;
        if !catalog.is_allowed(&self.catalog, &self.name, name) {
            return Ok(None);
        }
        if catalog.entry(&self.catalog, &self.name, name).is_some() {
            return Ok(Some(TableType::Base));
        }
        match catalog.base_schema(&self.catalog, &self.name) {
            Some(base) => base.table_type(name).await,
            None => Ok(None),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        let catalog = &self.list.catalog;
        catalog.is_allowed(&self.catalog, &self.name, name)
            && (catalog.entry(&self.catalog, &self.name, name).is_some()
                || catalog.base_schema(&self.catalog, &self.name).is_some_and(|base| base.table_exist(name)))
    }
}
