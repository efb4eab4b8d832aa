//! What is left of a call that was stopped: nothing. Measured on the process, so each test runs in one of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Float64Array, Int64Array, RecordBatch};
use datafusion::prelude::SessionContext;
use datafusion_toolset::{ErrorCode, Limits, Toolset};

use super::register;

/// Runs this test again, alone in a process, and says whether this is that process.
pub(super) fn alone(test: &str) -> bool {
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
fn print_captured(text: &str) {
    print!("{text}");
}

/// Processor time of this process.
pub(super) fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    // Fields 14 and 15 of the whole line, in hundredths of a second.
    let ticks: u64 = fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks");
    Duration::from_millis(ticks * 10)
}

/// Resident memory of this process, in MiB.
pub(super) fn resident() -> u64 {
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

#[test]
fn probe() {
    if !alone("toolset::stopping::probe") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let limits = Limits::default().with_timeout(Duration::from_secs(2)).with_memory(256 << 20);
    let tools = Toolset::builder().session_context(&context()).limits(limits).build().expect("a toolset");
    let file = std::env::var("PROBE").expect("file");
    for sql in std::fs::read_to_string(file).expect("file").lines() {
        let before = resident();
        let start = Instant::now();
        let answer = runtime.block_on(tools.query(sql));
        let took = start.elapsed();
        let text = match &answer {
            Ok(answer) => answer.json().to_owned(),
            Err(error) => error.json(),
        };
        let at = resident();
        std::thread::sleep(Duration::from_secs(1));
        let after = resident();
        let used = cpu();
        std::thread::sleep(Duration::from_millis(500));
        let used = cpu() - used;
        print_captured(&format!(
            "took {took:?} cpu {used:?} rss {before}->{at}->{after} {:.90}\n   {:.160}\n",
            sql, text
        ));
        let start = Instant::now();
        let next = runtime.block_on(tools.query("SELECT 1"));
        print_captured(&format!("   next {:?} {}\n", start.elapsed(), next.is_ok()));
    }
}
