//! What is left of a call that was stopped: nothing. Measured on the process, so each test runs in one of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Float64Array, Int64Array, RecordBatch};
use datafusion::prelude::SessionContext;
use datafusion_toolset::{ErrorCode, Limits, Toolset};

use super::register;

/// Runs this test again, alone in a process, and says whether this is that process.
pub(crate) fn alone(test: &str) -> bool {
    const ALONE: &str = "TOOLSET_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let exe = std::env::current_exe().expect("this test");
    let output = Command::new(exe)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .output()
        .expect("the test in a process of its own");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    print_captured(&text);
    false
}

#[allow(clippy::print_stdout, reason = "the figures, for `--nocapture`")]
pub(crate) fn print_captured(text: &str) {
    print!("{text}");
}

/// Processor time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    // Fields 14 and 15 of the whole line, in hundredths of a second.
    let ticks: u64 = fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks");
    Duration::from_millis(ticks * 10)
}

/// Resident memory of this process, in MiB.
pub(crate) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).expect("kB").parse::<u64>().expect("kB") / 1024
}

/// `n(x, k, price)` with 400,000 rows; `k` is 1 in every row.
fn context() -> SessionContext {
    let ctx = SessionContext::new();
    let rows = 400_000;
    let batch = RecordBatch::try_from_iter([
        ("x", std::sync::Arc::new(Int64Array::from_iter_values(0..rows)) as datafusion::arrow::array::ArrayRef),
        ("k", std::sync::Arc::new(Int64Array::from_iter_values((0..rows).map(|_| 1)))),
        ("price", std::sync::Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64)))),
    ])
    .expect("a batch");
    register(&ctx, "n", batch);
    ctx
}

/// What a stopped call may leave: pages that the allocator keeps.
const SLACK_MIB: u64 = 128;

/// Statements that would run for hours, each by another operator.
const ENDLESS: &[&str] = &[
    "SELECT count(*) FROM generate_series(1, 100000000000)",
    "WITH RECURSIVE q(i) AS (SELECT 1 UNION ALL SELECT i FROM q) SELECT * FROM q a JOIN q b ON a.i = b.i",
    "WITH RECURSIVE q(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM q) SELECT count(*) FROM q",
    "SELECT count(*) FROM n l, n r WHERE sin(l.price + r.price) > 2",
    "SELECT count(*) FROM n l LEFT JOIN n r ON sin(l.price + r.price) > 2",
    "SELECT count(*) FROM n l FULL JOIN n r ON l.price < r.price AND sin(l.price + r.price) > 2",
    "SELECT count(*) FROM n l WHERE EXISTS (SELECT 1 FROM n r WHERE sin(l.price + r.price) > 2)",
    "SELECT count(*) FROM n l JOIN n r ON l.k = r.k AND sin(l.price + r.price) > 2",
    "SELECT max(sin(l.price + r.price)) FROM n l JOIN n r ON l.k = r.k",
    "SELECT max(s) FROM (SELECT median(x) OVER (ORDER BY x) AS s FROM n)",
    "SELECT sum(s) FROM (SELECT sum(value) OVER (ORDER BY value ROWS BETWEEN 100000 PRECEDING AND CURRENT ROW) AS s \
     FROM generate_series(1, 100000000000))",
    "SELECT count(*) FROM (SELECT unnest(range(1, 1000)) FROM generate_series(1, 100000000000))",
    "SELECT count(DISTINCT value % 1000) FROM generate_series(1, 100000000000)",
    "SELECT value FROM generate_series(1, 100000000000) WHERE value < 0 ORDER BY value DESC",
];

/// Processor time in half a second, and resident memory, a second from now.
fn afterwards() -> (Duration, u64) {
    std::thread::sleep(Duration::from_secs(1));
    let (resident, before) = (resident(), cpu());
    std::thread::sleep(Duration::from_millis(500));
    (cpu().saturating_sub(before), resident)
}

fn stopped_toolset(timeout: Duration) -> Toolset {
    let limits = Limits::default().with_timeout(timeout).with_memory(256 << 20);
    Toolset::builder().session_context(&context()).limits(limits).build().expect("a toolset")
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
}

/// sql-10: the answer comes at the deadline, and a second later nothing of the work is left.
#[test]
fn nothing_runs_on_after_the_deadline() {
    if !alone("toolset::stopping::nothing_runs_on_after_the_deadline") {
        return;
    }
    let (runtime, timeout) = (runtime(), Duration::from_secs(1));
    let tools = stopped_toolset(timeout);
    runtime.block_on(tools.query("SELECT count(*) FROM n")).expect("warm");
    let at_first = resident();
    for sql in ENDLESS {
        let start = Instant::now();
        let error = runtime.block_on(tools.query(*sql)).expect_err(sql);
        let took = start.elapsed();
        assert_eq!(error.code(), ErrorCode::Timeout, "{sql}: {error}");
        assert!(took < timeout + Duration::from_millis(500), "{sql} took {took:?}");
        let (used, resident) = afterwards();
        print_captured(&format!("{took:?}, then {used:?} of processor time, {at_first} -> {resident} MiB: {sql}\n"));
        assert!(used < Duration::from_millis(100), "{sql} still ran for {used:?}");
        assert!(resident < at_first + SLACK_MIB, "{sql} left {} MiB", resident - at_first);
        let next = runtime.block_on(tools.query("SELECT 1")).expect("the next call");
        assert_eq!(next.row_count(), 1);
    }
}

/// sql-10: the same when the caller goes away.
#[test]
fn nothing_runs_on_after_a_dropped_call() {
    if !alone("toolset::stopping::nothing_runs_on_after_a_dropped_call") {
        return;
    }
    let runtime = runtime();
    let tools = stopped_toolset(Duration::from_secs(600));
    runtime.block_on(tools.query("SELECT count(*) FROM n")).expect("warm");
    let at_first = resident();
    for sql in ENDLESS {
        let dropped =
            runtime.block_on(async { tokio::time::timeout(Duration::from_millis(400), tools.query(*sql)).await });
        assert!(dropped.is_err(), "{sql} gave {dropped:?}");
        let (used, resident) = afterwards();
        assert!(used < Duration::from_millis(100), "{sql} still ran for {used:?}");
        assert!(resident < at_first + SLACK_MIB, "{sql} left {} MiB", resident - at_first);
    }
    runtime.block_on(tools.query("SELECT 1")).expect("the next call");
}

/// sql-11: what is made outside of the memory pool keeps to the limit as well. Every statement here makes gigabytes
/// without a guard.
#[test]
fn memory_stays_within_the_limit() {
    if !alone("toolset::stopping::memory_stays_within_the_limit") {
        return;
    }
    let runtime = runtime();
    let limits = Limits::default().with_timeout(Duration::from_secs(2)).with_memory(64 << 20);
    let tools = Toolset::builder().session_context(&context()).limits(limits).build().expect("a toolset");
    runtime.block_on(tools.query("SELECT count(*) FROM n")).expect("warm");
    let at_first = resident();
    let doubled: Vec<String> = (1..=30).map(|i| format!("c{i} AS (SELECT s || s AS s FROM c{})", i - 1)).collect();
    let doubled = format!("WITH c0 AS (SELECT 'abcdefghij' AS s), {} SELECT length(s) FROM c30", doubled.join(", "));
    for sql in [
        "SELECT length(repeat('x', 300000000))",
        "SELECT rpad('a', 1073741824, 'a') FROM n",
        "SELECT repeat('ab', 400000000) || repeat('cd', 400000000)",
        "SELECT array_agg(x) FROM generate_series(1, 50000000) g(x)",
        "SELECT repeat(x, 9223372036854775807) FROM (VALUES ('abc')) v(x)",
        "SELECT max(cardinality(s)) FROM (SELECT array_agg(x) OVER (ORDER BY x) AS s FROM n)",
        "SELECT max(length(s)) FROM (SELECT string_agg(cast(x AS varchar), ',') OVER (ORDER BY x) AS s FROM n)",
        "SELECT count(*) FROM (SELECT unnest(range(1, 60000)) FROM n)",
        "SELECT count(*) FROM (SELECT unnest(range(1, x)) FROM n)",
        "SELECT max(length(repeat('x', 400000) || cast(x AS varchar))) FROM n",
        "SELECT count(DISTINCT repeat(cast(x AS varchar), 1000)) FROM n",
        "WITH RECURSIVE q(s) AS (SELECT 'abcdefghij' UNION ALL SELECT s || s FROM q) SELECT max(length(s)) FROM q",
        doubled.as_str(),
    ] {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let mut most = 0;
            while receiver.recv_timeout(Duration::from_millis(5)).is_err() {
                most = most.max(resident());
            }
            most
        });
        let error = runtime.block_on(tools.query(sql)).expect_err(sql);
        sender.send(()).expect("the watch");
        let most = watch.join().expect("the watch");
        print_captured(&format!("{at_first} -> {most} MiB, {}: {sql:.100}\n", error.code()));
        assert!(matches!(error.code(), ErrorCode::ResourceExhausted | ErrorCode::Timeout), "{sql}: {error}");
        // The limit, and 256 MiB.
        assert!(most < at_first + 64 + 256, "{sql}: {at_first} -> {most} MiB");
        // Planning alone makes nothing of it either.
        let checked = runtime.block_on(tools.check_query(sql));
        assert!(checked.is_ok() && resident() < at_first + 64 + 256, "{sql}: {checked:?}, {} MiB", resident());
    }
}
