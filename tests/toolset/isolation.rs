//! Deadlines, dropped calls and runtimes that are not ours.

use std::time::{Duration, Instant};

use datafusion_toolset::{ErrorCode, Limits, Toolset};

use super::{query, toolset};

/// A statement that would run for hours.
const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 1000000000000)";

#[test]
fn a_toolset_is_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<Toolset>();
}

/// sql-10: the deadline is kept and the next call is answered, on a runtime with one thread.
#[tokio::test(flavor = "current_thread")]
async fn a_deadline_stops_the_work() {
    let tools = toolset(2, Limits::default().with_timeout(Duration::from_millis(300)).with_max_concurrent_queries(1));
    let start = Instant::now();
    let error = tools.query(ENDLESS).await.expect_err("a timeout");
    assert_eq!(error.code(), ErrorCode::Timeout);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(query(&tools, "SELECT 1 AS x").await["rows"], serde_json::json!([[1]]));
}

#[tokio::test]
async fn a_dropped_call_frees_its_place() {
    let tools = toolset(2, Limits::default().with_max_concurrent_queries(1));
    let running = tools.query(ENDLESS);
    assert!(tokio::time::timeout(Duration::from_millis(200), running).await.is_err());
    let next = tokio::time::timeout(Duration::from_secs(10), tools.query("SELECT 1 AS x")).await;
    assert_eq!(next.expect("answered").expect("a result").row_count(), 1);
}

#[tokio::test]
async fn waiting_for_a_place_counts_towards_the_deadline() {
    let tools = toolset(2, Limits::default().with_max_concurrent_queries(1).with_timeout(Duration::from_millis(400)));
    let (first, second) = tokio::join!(tools.query(ENDLESS), tools.query("SELECT 1 AS x"));
    assert_eq!(first.expect_err("a timeout").code(), ErrorCode::Timeout);
    // The second waits for as long; whether it then still runs is a matter of microseconds.
    if let Err(error) = second {
        assert_eq!(error.code(), ErrorCode::Timeout);
    }
}

/// No runtime at all on the caller's side.
#[test]
fn a_call_needs_no_runtime_of_the_caller() {
    let tools = toolset(2, Limits::default());
    let result = futures::executor::block_on(tools.query("SELECT count(*) AS n FROM t")).expect("a result");
    assert_eq!(result.json(), r#"{"columns":["n"],"rows":[[2]],"row_count":1}"#);
}
