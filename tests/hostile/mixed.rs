//! A thousand calls on one toolset, good, hostile and abandoned ones, sixteen at a time.

use std::collections::HashMap;
use std::time::Duration;

use datafusion_toolset::{ErrorCode, Limits, Toolset};
use futures::StreamExt;
use serde_json::Value;

use super::context;
use super::harmless::HARMLESS;
use super::refused::REFUSED;
use crate::toolset::stopping::{alone, resident};

/// Pages that the allocator keeps, and what a debug build makes of them.
const SLACK_MIB: u64 = 48;

const ENDLESS: &[&str] = &[
    "SELECT count(*) FROM generate_series(1, 100000000000)",
    "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b WHERE sin(a.value + b.value) > 2",
    "WITH RECURSIVE q(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM q) SELECT count(*) FROM q",
    "SELECT value FROM generate_series(1, 100000000000) WHERE value < 0 ORDER BY value",
];

/// Whether the same statement gives the same rows, in whatever order.
fn is_repeatable(sql: &str) -> bool {
    !["EXPLAIN", "random", "now()", "current_date"].iter().any(|word| sql.contains(word))
}

/// The rows of a payload, sorted.
fn rows(payload: &str) -> Vec<String> {
    let payload: Value = serde_json::from_str(payload).expect("JSON");
    let mut rows: Vec<String> = payload["rows"].as_array().expect("rows").iter().map(Value::to_string).collect();
    rows.sort_unstable();
    rows
}

enum Call {
    Good(&'static str),
    Hostile(&'static str, ErrorCode),
    Abandoned(&'static str, Duration),
}

fn call(n: usize) -> Call {
    let refused: Vec<(&str, ErrorCode)> =
        REFUSED.iter().flat_map(|(code, statements)| statements.iter().map(|sql| (*sql, *code))).collect();
    match n % 3 {
        0 => Call::Good(HARMLESS[n / 3 % HARMLESS.len()]),
        1 => {
            let (sql, code) = refused[n / 3 % refused.len()];
            Call::Hostile(sql, code)
        }
        _ => Call::Abandoned(ENDLESS[n / 3 % ENDLESS.len()], Duration::from_millis(n as u64 % 40)),
    }
}

async fn answer(tools: &Toolset, n: usize, known: &HashMap<&str, Vec<String>>) {
    match call(n) {
        Call::Good(sql) => {
            let payload = tools.query(sql).await.unwrap_or_else(|error| panic!("{sql}: {}", error.json())).into_json();
            if is_repeatable(sql) {
                // Rows beyond the limit are any of them.
                let rows = rows(&payload);
                assert!(payload.contains("\"truncated\"") || rows == known[sql], "{sql}: {payload}");
            }
        }
        Call::Hostile(sql, code) => {
            let error = tools.query(sql).await.expect_err(sql);
            assert_eq!(error.code(), code, "{sql}: {error}");
        }
        Call::Abandoned(sql, after) => {
            assert!(tokio::time::timeout(after, tools.query(sql)).await.is_err(), "{sql}");
        }
    }
}

#[test]
fn a_thousand_calls_leave_nothing_behind() {
    if !alone("hostile::mixed::a_thousand_calls_leave_nothing_behind") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let limits = Limits::default().with_timeout(Duration::from_secs(120));
    let tools = Toolset::builder().session_context(&context()).limits(limits).build().expect("a toolset");
    runtime.block_on(async {
        let mut known = HashMap::new();
        for sql in HARMLESS {
            known.insert(*sql, rows(tools.query(*sql).await.expect(sql).json()));
        }
        let warm: Vec<()> =
            futures::stream::iter(0..150).map(|n| answer(&tools, n, &known)).buffer_unordered(16).collect().await;
        assert_eq!(warm.len(), 150);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let at_first = resident();
        let done = futures::stream::iter(0..1000).map(|n| answer(&tools, n, &known)).buffer_unordered(16).count();
        assert_eq!(tokio::time::timeout(Duration::from_secs(400), done).await.expect("no hang"), 1000);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let at_last = resident();
        crate::toolset::stopping::print_captured(&format!("{at_first} -> {at_last} MiB\n"));
        assert!(at_last <= at_first + at_first / 5 + SLACK_MIB, "{at_first} -> {at_last} MiB");
    });
}
