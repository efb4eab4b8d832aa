//! A sign of life for a query that takes long.

use std::future::Future;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A query that is done within this shows nothing.
const QUIET: Duration = Duration::from_secs(1);

/// Runs `work`; on a terminal, standard error shows the time that it takes. Nothing of that is left when it is done or
/// dropped.
pub(super) async fn watched<T>(work: impl Future<Output = T>) -> T {
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    tokio::select! {
        biased;
        done = work => done,
        never = spin() => match never {},
    }
}

async fn spin() -> std::convert::Infallible {
    tokio::time::sleep(QUIET).await;
    let spinner = ProgressBar::new_spinner().with_elapsed(QUIET);
    if let Ok(style) = ProgressStyle::with_template("{spinner} running for {elapsed}, Ctrl-C stops it") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    let _cleared = Cleared(spinner);
    std::future::pending().await
}

/// Takes the spinner off the terminal.
struct Cleared(ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
