//! Limits and catalog → the session that plans and the workers that run.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::{ConfigError, Error, ErrorCode};
use crate::functions;
use crate::guard;
use crate::limits::Limits;
use crate::policy::Policy;
use crate::redact::Secrets;
use crate::source::Source;
use crate::source::catalog::{Catalog, CatalogList};

/// What every call of a toolset shares.
#[derive(Debug)]
pub(crate) struct Session {
    /// The state that statements are planned with.
    pub(crate) state: SessionState,
    /// The tables.
    pub(crate) catalog: Arc<Catalog>,
    /// What no text may show.
    pub(crate) secrets: Secrets,
    /// The threads that plan and execute.
    pub(crate) workers: Workers,
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
        let memory = usize::try_from(limits.memory()).unwrap_or(usize::MAX);
        let consumers = std::num::NonZeroUsize::MIN;
        let pool = TrackConsumersPool::new(FairSpillPool::new(memory), consumers);
        let mode = if limits.spill() == 0 { DiskManagerMode::Disabled } else { DiskManagerMode::OsTmpDirectory };
        let disk = DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(limits.spill());
        // A context that was brought along keeps its stores and caches; the pool and the spill directory are ours.
        let runtime = match &base {
            Some(base) => RuntimeEnvBuilder::from_runtime_env(base.runtime_env()),
            None => RuntimeEnvBuilder::new(),
        }
        .with_memory_pool(Arc::new(pool))
        .with_disk_manager_builder(disk)
        .build_arc()
        .map_err(|error| ConfigError::new(format!("the session cannot be made: {}", error.strip_backtrace())))?;

        let catalogs = base.as_ref().map(|base| Arc::clone(base.catalog_list()));
        let builder = match base {
            Some(base) => SessionStateBuilder::new_from_existing(base),
            None => SessionStateBuilder::new_with_default_features().with_config(SessionConfig::new()),
        };
        let mut state = builder.with_runtime_env(runtime).build();
        let config = state.config_mut().options_mut();
        // The catalog brings its own, which a source that cannot be opened does not break.
        config.catalog.information_schema = false;
        // INT96 in nanoseconds wraps outside 1677 to 2262.
        config.execution.parquet.coerce_int96 = Some("us".to_owned());
        config.execution.parquet.binary_as_string = false;

        functions::guard(&mut state, memory).map_err(|error| {
            ConfigError::new(format!("the functions cannot be guarded: {}", error.strip_backtrace()))
        })?;
        functions::apply_policy(&mut state, policy)?;

        let secrets = Secrets::new(sources.iter().flat_map(Source::secrets));
        let opener = state.clone();
        let mut catalog = Catalog::new(sources, catalogs, Arc::new(opener))?;
        if let Some(tables) = policy.allowed_tables() {
            catalog.allow(tables)?;
        }
        let catalog = Arc::new(catalog);
        state.register_catalog_list(Arc::new(CatalogList::new(Arc::clone(&catalog))));
        Ok(Self { state, catalog, secrets, workers: Workers::default() })
    }
}

/// A runtime of our own, started by the first call that needs it.
///
/// It makes three things hold whatever program the toolset is embedded in: a caller that goes away, or whose deadline
/// passes, stops the work; a panic ends one call; and the stack is deep enough for every plan that the guard lets
/// through. Plans are made, run and dropped here.
#[derive(Debug, Default)]
pub(crate) struct Workers(OnceLock<Option<Runtime>>);

impl Workers {
    /// Runs `work` to its end, at most for `timeout`. Dropping the returned future stops the work.
    ///
    /// # Errors
    /// What `work` gives; `timeout`; `internal` for a panic.
    pub(crate) async fn run<T, F>(&self, timeout: Duration, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let runtime = self.0.get_or_init(start).as_ref();
        let Some(runtime) = runtime else {
            return Err(Error::new(ErrorCode::Internal, "the worker threads cannot be started"));
        };
        // Two tasks, so that the deadline is kept also while the work does not yield.
        let mut work = AbortOnDrop(runtime.spawn(work));
        let timed = AbortOnDrop(runtime.spawn(async move {
            match tokio::time::timeout(timeout, &mut work.0).await {
                Ok(Ok(result)) => result,
                Ok(Err(join)) if join.is_panic() => Err(Error::new(
                    ErrorCode::Internal,
                    "the query failed by a bug; other queries are not affected. Try a simpler statement.",
                )
                .with_cause(panic_text(join))),
                Ok(Err(_)) => Err(Error::new(ErrorCode::Cancelled, "the call was cancelled")),
                Err(_) => Err(Error::new(
                    ErrorCode::Timeout,
                    format!(
                        "the call took longer than {timeout:?} and was stopped; filter on fewer rows, aggregate less \
                         or select fewer columns"
                    ),
                )),
            }
        }));
        let mut timed = timed;
        (&mut timed.0).await.unwrap_or_else(|_| Err(Error::new(ErrorCode::Cancelled, "the call was cancelled")))
    }
}

impl Drop for Workers {
    /// A runtime must not be dropped where a caller's runtime runs; the threads end on their own.
    fn drop(&mut self) {
        if let Some(Some(runtime)) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn start() -> Option<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread()
        // One more than one, so that the clock runs while a worker does not yield.
        .worker_threads(cores.max(2))
        // Plans are built, walked and dropped by recursion. Pages that are not touched cost nothing.
        .thread_stack_size(guard::STACK_BYTES)
        .thread_name("datafusion-toolset")
        .enable_time()
        .build()
        .ok()
}

fn panic_text(join: tokio::task::JoinError) -> String {
    let payload = join.into_panic();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

/// Stops the task when its result is no longer awaited.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
