//! Limits and catalog → the session that plans, and the workers that run.

mod spill;
mod workers;

use std::sync::{Arc, OnceLock};

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::optimizer::OptimizerRule;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::prelude::SessionConfig;

use self::spill::SpillDir;
pub(crate) use self::workers::Workers;
use crate::error::{ConfigError, Error, ErrorCode};
use crate::functions;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::redact::Secrets;
use crate::source::catalog::{Catalog, CatalogList};
use crate::source::{self, Source};
use crate::stop::StopRule;

/// What every call of a toolset shares.
#[derive(Debug)]
pub(crate) struct Session {
    /// The tables.
    pub(crate) catalog: Arc<Catalog>,
    /// What no text may show.
    pub(crate) secrets: Secrets,
    /// The threads that plan and execute.
    pub(crate) workers: Workers,
    limits: Limits,
    /// The functions and settings; made at build when there is something to check, else with `ready`.
    prepared: Option<SessionState>,
    /// What statements are planned with, made by the first call that needs it: listing tables starts no engine.
    ready: OnceLock<Result<Ready, String>>,
}

#[derive(Debug)]
struct Ready {
    state: SessionState,
    /// Lives as long as the session whose operators spill into it.
    _spill: Option<SpillDir>,
}

impl Session {
    /// Puts a session together. Does no I/O.
    ///
    /// # Errors
    /// If a source, a limit or the policy cannot be used.
    pub(crate) fn new(
        sources: Vec<Source>,
        base: Option<SessionState>,
        limits: &Limits,
        policy: &Policy,
    ) -> Result<Self, ConfigError> {
        limits.check()?;
        sources.iter().try_for_each(source::validate)?;
        let secrets = Secrets::new(sources.iter().flat_map(Source::secrets));
        let catalogs = base.as_ref().map(|base| Arc::clone(base.catalog_list()));
        let names = match &base {
            Some(base) => base.config_options().catalog.clone(),
            None => Default::default(),
        };
        let mut catalog = Catalog::new(sources, catalogs, names.default_catalog, names.default_schema)?;
        catalog.restrict(policy.rules())?;
        if let Some(tables) = policy.allowed_tables() {
            catalog.allow(tables)?;
        }
        let names_functions = policy.allowed_functions().is_some() || !policy.denied_functions().is_empty();
        let prepared =
            if base.is_some() || names_functions { Some(prepare(base, limits, Some(policy))?) } else { None };
        Ok(Self {
            catalog: Arc::new(catalog),
            secrets,
            workers: Workers::new(limits.max_concurrent_queries()),
            limits: limits.clone(),
            prepared,
            ready: OnceLock::new(),
        })
    }

    /// The state that statements are planned with.
    ///
    /// # Errors
    /// `internal` if DataFusion cannot make one.
    pub(crate) fn state(&self) -> Result<&SessionState, Error> {
        match self.ready.get_or_init(|| self.make_ready().map_err(|error| error.to_string())) {
            Ok(ready) => Ok(&ready.state),
            Err(why) => Err(Error::new(ErrorCode::Internal, why.clone())),
        }
    }

    fn make_ready(&self) -> Result<Ready, ConfigError> {
        let state = match &self.prepared {
            Some(state) => state.clone(),
            None => prepare(None, &self.limits, None)?,
        };
        let memory = usize::try_from(self.limits.memory()).unwrap_or(usize::MAX);
        let pool = TrackConsumersPool::new(FairSpillPool::new(memory), std::num::NonZeroUsize::MIN);
        // Without a place to write, operators fail at the memory limit instead of spilling.
        let spill = if self.limits.spill() == 0 { None } else { SpillDir::create().ok() };
        let mode = match &spill {
            Some(spill) => DiskManagerMode::Directories(vec![spill.path().to_owned()]),
            None => DiskManagerMode::Disabled,
        };
        let disk = DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(self.limits.spill());
        // A context that was brought along keeps its stores and caches; the pool and the spill directory are ours.
        let runtime = RuntimeEnvBuilder::from_runtime_env(state.runtime_env())
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(|error| ConfigError::new(format!("the session cannot be made: {}", error.strip_backtrace())))?;
        let mut state = SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime).build();
        #[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
        state.config_mut().set_extension(Arc::new(source::store::Patience(self.limits.timeout())));
        self.catalog.set_opener(Arc::new(state.clone()));
        state.register_catalog_list(Arc::new(CatalogList::new(Arc::clone(&self.catalog), self.secrets.clone())));
        Ok(Ready { state, _spill: spill })
    }
}

/// Settings and functions, without the places where memory and files come from. Does no I/O.
fn prepare(base: Option<SessionState>, limits: &Limits, policy: Option<&Policy>) -> Result<SessionState, ConfigError> {
    let mut state = match base {
        Some(base) => SessionStateBuilder::new_from_existing(base).build(),
        None => SessionStateBuilder::new_with_default_features().with_config(SessionConfig::new()).build(),
    };
    let config = state.config_mut().options_mut();
    // The catalog brings its own, which a source that cannot be opened does not break.
    config.catalog.information_schema = false;
    // INT96 in nanoseconds wraps outside 1677 to 2262.
    config.execution.parquet.coerce_int96 = Some("us".to_owned());
    config.execution.parquet.binary_as_string = false;
    functions::guard(&mut state, usize::try_from(limits.memory()).unwrap_or(usize::MAX))
        .map_err(|error| ConfigError::new(format!("the functions cannot be guarded: {}", error.strip_backtrace())))?;
    if let Some(policy) = policy {
        functions::apply_policy(&mut state, policy)?;
    }
    let mut rules = vec![Arc::new(StopRule) as Arc<dyn OptimizerRule + Send + Sync>];
    rules.extend_from_slice(state.optimizers());
    let mut physical = vec![Arc::new(StopRule) as Arc<dyn PhysicalOptimizerRule + Send + Sync>];
    physical.extend_from_slice(state.physical_optimizers());
    let state = SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules);
    Ok(state.with_physical_optimizer_rules(physical).build())
}
