//! The threads that plan and execute.

use std::future::Future;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::{Error, ErrorCode};
use crate::guard;

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
