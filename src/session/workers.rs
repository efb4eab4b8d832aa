//! The threads that plan and execute, and the clock that watches them.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinError, JoinHandle};

use crate::error::{Error, ErrorCode};
use crate::guard;
use crate::stop::Stop;

/// How long stopped work has to end before the threads are given up on which it still runs.
const GRACE: Duration = Duration::from_secs(1);
/// How often the clock looks whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Threads of our own, started by the first call that needs them.
///
/// They make four things hold whatever program the toolset is embedded in: a caller that goes away, or whose deadline
/// passes, stops the work; the deadline is kept also while every worker is busy with something that cannot be
/// interrupted, and the next call finds new workers then; a panic ends one call; and the stack is deep enough for every
/// plan that the guard lets through. Plans are made, run and dropped here.
#[derive(Debug)]
pub(crate) struct Workers {
    /// One thread that does nothing but wait.
    clock: OnceLock<Option<Crew>>,
    crew: Arc<Current>,
    /// How many queries run at a time.
    queries: Arc<Semaphore>,
}

/// The crew that new work goes to.
type Current = Mutex<Option<Arc<Crew>>>;

impl Workers {
    /// Starts nothing.
    pub(crate) fn new(max_concurrent_queries: usize) -> Self {
        let queries = max_concurrent_queries.min(Semaphore::MAX_PERMITS);
        Self { clock: OnceLock::new(), crew: Arc::default(), queries: Arc::new(Semaphore::new(queries)) }
    }

    /// Runs `work` to its end, at most for `timeout`. Dropping the returned future stops the work.
    ///
    /// # Errors
    /// What `work` gives; `timeout`; `internal` for a panic.
    pub(crate) async fn run<T, W, F>(&self, timeout: Duration, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(Stop) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.start(timeout, None, work).await
    }

    /// [`run`](Self::run), when one of the places for queries is free; waiting for it counts towards `timeout`.
    ///
    /// # Errors
    /// As `run`.
    pub(crate) async fn query<T, W, F>(&self, timeout: Duration, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(Stop) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        self.start(timeout, Some(Arc::clone(&self.queries)), work).await
    }

    async fn start<T, W, F>(&self, timeout: Duration, places: Option<Arc<Semaphore>>, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: FnOnce(Stop) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let clock = self.clock.get_or_init(Crew::clock).as_ref().ok_or_else(no_threads)?;
        let current = Arc::clone(&self.crew);
        let handle = clock.handle().ok_or_else(no_threads)?.clone();
        let timed = async move {
            let place = match places {
                Some(places) => Some(places.acquire_owned().await.map_err(|_| cancelled())?),
                None => None,
            };
            let crew = current_crew(&current).ok_or_else(no_threads)?;
            let stop = Stop::default();
            let task = crew.handle().ok_or_else(no_threads)?.spawn(stop.clone().scope(work(stop.clone())));
            let abort = task.abort_handle();
            let _running = Running { abort, stop, place, crew: Some(crew), current, clock: handle };
            match task.await {
                Ok(result) => result,
                Err(join) if join.is_panic() => Err(Error::new(
                    ErrorCode::Internal,
                    "the query failed by a bug; other queries are not affected. Try a simpler statement.",
                )
                .with_cause(panic_text(join))),
                Err(_) => Err(cancelled()),
            }
        };
        let mut timed = AbortOnDrop(clock.handle().ok_or_else(no_threads)?.spawn(async move {
            tokio::time::timeout(timeout, timed).await.unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorCode::Timeout,
                    format!(
                        "the call took longer than {timeout:?} and was stopped; filter on fewer rows, aggregate less \
                         or select fewer columns"
                    ),
                ))
            })
        }));
        (&mut timed.0).await.unwrap_or_else(|_| Err(cancelled()))
    }
}

fn no_threads() -> Error {
    Error::new(ErrorCode::Internal, "the worker threads cannot be started")
}

fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the call was cancelled")
}

fn panic_text(join: JoinError) -> String {
    let payload = join.into_panic();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

fn current_crew(current: &Current) -> Option<Arc<Crew>> {
    let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
    if current.is_none() {
        *current = Crew::workers().map(Arc::new);
    }
    current.clone()
}

/// A runtime, which must not be dropped where a caller's runtime runs: its threads end on their own.
#[derive(Debug)]
struct Crew(Option<Runtime>);

impl Crew {
    fn clock() -> Option<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("datafusion-toolset-clock").enable_time().build();
        runtime.ok().map(|runtime| Self(Some(runtime)))
    }

    fn workers() -> Option<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Builder::new_multi_thread()
            .worker_threads(cores.max(2))
            // Plans are built, walked and dropped by recursion. Pages that are not touched cost nothing.
            .thread_stack_size(guard::STACK_BYTES)
            .thread_name("datafusion-toolset")
            .enable_all()
            .build()
            .ok()
            .map(|runtime| Self(Some(runtime)))
    }

    fn handle(&self) -> Option<&Handle> {
        self.0.as_ref().map(Runtime::handle)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A call's work while somebody waits for it. Dropping it stops what is still going on, and sees to it that it ends.
struct Running {
    abort: AbortHandle,
    stop: Stop,
    /// Held until the work has ended, or was given up.
    place: Option<OwnedSemaphorePermit>,
    crew: Option<Arc<Crew>>,
    current: Arc<Current>,
    clock: Handle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.set();
        self.abort.abort();
        let (abort, stop, place) = (self.abort.clone(), self.stop.clone(), self.place.take());
        let (Some(crew), current) = (self.crew.take(), Arc::clone(&self.current)) else { return };
        // Besides this clone and the one that is dropped now.
        let ended = move |stop: &Stop| abort.is_finished() && !stop.is_held();
        self.stop = Stop::default();
        if ended(&stop) {
            return;
        }
        self.clock.spawn(async move {
            let _place = place;
            let mut waited = Duration::ZERO;
            while waited < GRACE {
                tokio::time::sleep(LOOK).await;
                waited += LOOK;
                if ended(&stop) {
                    return;
                }
            }
            // Something does not yield. Its threads are lost until it ends; calls on the others of them go on.
            let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
            if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &crew)) {
                *current = None;
            }
        });
    }
}

/// Stops the task when its result is no longer awaited.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    use super::*;

    /// Keeps its thread, whatever it is told, until it is released or the test has failed.
    async fn stubborn(release: Arc<AtomicBool>) -> Result<(), Error> {
        let start = Instant::now();
        while !release.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn crew(workers: &Workers) -> Option<Arc<Crew>> {
        workers.crew.lock().expect("the lock").clone()
    }

    fn block_on<F: Future>(future: F) -> F::Output {
        futures::executor::block_on(future)
    }

    #[test]
    fn the_deadline_holds_and_calls_go_on_when_every_worker_is_taken() {
        let workers = Workers::new(1);
        let release = Arc::new(AtomicBool::new(false));
        let timeout = Duration::from_millis(50);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).max(2);
        // `run` has no places, so that every thread can be taken.
        let calls = (0..threads).map(|_| {
            let release = Arc::clone(&release);
            workers.run(timeout, move |_stop| stubborn(release))
        });
        for result in block_on(futures::future::join_all(calls)) {
            assert_eq!(result.expect_err("a timeout").code(), ErrorCode::Timeout);
        }
        assert!(!release.load(Ordering::Relaxed));
        // The place of a query that is stuck is free again after the time of grace, and a new thread is there for it.
        let stuck = workers.query(timeout, {
            let release = Arc::clone(&release);
            move |_stop| stubborn(release)
        });
        assert_eq!(block_on(stuck).expect_err("a timeout").code(), ErrorCode::Timeout);
        let next = workers.query(Duration::from_secs(30), |_stop| async { Ok(7) });
        assert_eq!(block_on(next).expect("an answer"), 7);
        release.store(true, Ordering::Relaxed);
    }

    #[test]
    fn a_dropped_call_is_told_to_stop() {
        let workers = Workers::new(1);
        let (tell, told) = std::sync::mpsc::channel();
        block_on(async {
            let call = workers.run(Duration::from_secs(60), move |stop| async move {
                let _ = tell.send("started");
                // Does not yield; the flag alone reaches it.
                while !stop.is_set() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let _ = tell.send("stopped");
                Ok(())
            });
            let mut call = std::pin::pin!(call);
            assert!(futures::poll!(&mut call).is_pending());
            assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok("started"));
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok("stopped"));
    }

    #[test]
    fn workers_that_answer_stay() {
        let workers = Workers::new(2);
        block_on(workers.run(Duration::from_secs(30), |_stop| async { Ok(()) })).expect("an answer");
        let first = crew(&workers).expect("a crew");
        // Ends by itself soon after it was told.
        let slow = workers.run(Duration::from_millis(20), |stop| async move {
            while !stop.is_set() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok(())
        });
        assert!(block_on(slow).is_err());
        std::thread::sleep(GRACE + 20 * LOOK);
        block_on(workers.run(Duration::from_secs(30), |_stop| async { Ok(()) })).expect("an answer");
        assert!(Arc::ptr_eq(&first, &crew(&workers).expect("a crew")));
    }

    #[test]
    fn a_panic_ends_one_call() {
        let workers = Workers::new(1);
        let broken = workers.query(Duration::from_secs(30), |_stop| async {
            assert!(std::hint::black_box(false), "a bug");
            Ok(())
        });
        assert_eq!(block_on(broken).expect_err("a panic").code(), ErrorCode::Internal);
        block_on(workers.query(Duration::from_secs(30), |_stop| async { Ok(()) })).expect("an answer");
    }
}
