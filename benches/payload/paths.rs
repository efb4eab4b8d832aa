//! The same questions by three ways, each in a process of its own: this crate; plain DataFusion with rows as JSON
//! objects (arrow-json's `ArrayWriter`); plain DataFusion with columns as `serde_json::Value`.

use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::json::ArrayWriter;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use datafusion_toolset::{Limits, Source, Toolset};
use serde_json::Value;

use crate::{chart, tables};

/// A question: its name, the table, the statement, and the budget of the payload in bytes.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    table: &'static str,
    sql: &'static str,
    max_bytes: usize,
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "100 columns, 64 KiB", table: "wide_100", sql: "SELECT * FROM t", max_bytes: 64 << 10 },
    Case { name: "1,200 columns, 64 KiB", table: "wide_1200", sql: "SELECT * FROM t", max_bytes: 64 << 10 },
    Case { name: "3,000 columns, 64 KiB", table: "wide_3000", sql: "SELECT * FROM t", max_bytes: 64 << 10 },
    Case { name: "3,000 columns, 256 KiB", table: "wide_3000", sql: "SELECT * FROM t", max_bytes: 256 << 10 },
    Case { name: "10,000 columns, 64 KiB", table: "wide_10000", sql: "SELECT * FROM t", max_bytes: 64 << 10 },
    Case {
        name: "10,000 columns, 5 named, filter",
        table: "wide_10000",
        sql: "SELECT customer_metric_0001, customer_ratio_0500, customer_label_1000, updated_at_1500, \
              customer_metric_2400 FROM t WHERE customer_ratio_0002 > 5000",
        max_bytes: 64 << 10,
    },
    Case { name: "5M rows, LIMIT 50", table: "narrow", sql: "SELECT * FROM t LIMIT 50", max_bytes: 64 << 10 },
    Case {
        name: "5M rows, aggregate",
        table: "narrow",
        sql: "SELECT region, count(*) AS n, sum(price) AS s, avg(qty) AS q FROM t GROUP BY region ORDER BY region",
        max_bytes: 64 << 10,
    },
    Case {
        name: "5M rows, filter",
        table: "narrow",
        sql: "SELECT * FROM t WHERE price = 999.99 AND qty = 99",
        max_bytes: 64 << 10,
    },
    Case {
        name: "5M rows, top 50",
        table: "narrow",
        sql: "SELECT * FROM t ORDER BY price DESC, id LIMIT 50",
        max_bytes: 64 << 10,
    },
];

/// The ways, as the table names them.
pub(crate) const PATHS: [&str; 3] = ["datafusion-toolset", "plain + row objects", "plain + columnar Value"];

/// What one way cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Best of the warm runs.
    pub(crate) time: Duration,
    /// Of the whole process, in bytes.
    pub(crate) peak: u64,
    /// By one warm run, footers that are not cached included.
    pub(crate) read: u64,
    pub(crate) payload: u64,
}

/// Runs every case by every way and prints the table.
#[allow(clippy::print_stdout, reason = "a bench prints what it measured")]
pub(crate) fn run() {
    for case in CASES {
        tables::table(case.table);
    }
    println!("| case | way | time | peak memory | read | payload |\n|---|---|---|---|---|---|");
    let program = std::env::current_exe().expect("this program");
    let mut costs = Vec::new();
    for case in CASES {
        let ways = PATHS.map(|path| {
            let output = std::process::Command::new(&program).args(["child", path, case.name]).output();
            let output = output.expect("a child process");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            let [time, peak, read, payload] = numbers[..] else {
                println!("| {} | {path} | failed: {} |", case.name, String::from_utf8_lossy(&output.stderr));
                return Cost::default();
            };
            let cost = Cost { time: Duration::from_micros(time), peak, read, payload };
            println!(
                "| {} | {path} | {:.1} ms | {:.0} MB | {:.2} MB | {:.1} kB |",
                case.name,
                cost.time.as_secs_f64() * 1e3,
                cost.peak as f64 / 1e6,
                cost.read as f64 / 1e6,
                cost.payload as f64 / 1e3,
            );
            cost
        });
        costs.push((case.name, ways));
    }
    chart::draw(&costs);
}

/// One case by one way: prints microseconds, peak bytes, bytes read and payload bytes.
#[allow(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn child(path: &str, case: &str) {
    let case = CASES.iter().find(|known| known.name == case).expect("a known case");
    let file = tables::table(case.table);
    let file = file.to_str().expect("a UTF-8 path");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (time, read, payload) = if path == PATHS[0] {
        let limits = Limits::default().with_max_result_bytes(case.max_bytes);
        let toolset = Toolset::builder().source(Source::new("t", file)).limits(limits).build().expect("a toolset");
        measure(|| runtime.block_on(async { toolset.query(case.sql).await.expect("a result").json().len() }))
    } else {
        let ctx = SessionContext::new();
        runtime.block_on(ctx.register_parquet("t", file, ParquetReadOptions::default())).expect("a table");
        let encode = if path == PATHS[1] { row_objects } else { columnar };
        measure(|| {
            runtime.block_on(async {
                let frame = ctx.sql(case.sql).await.expect("a plan").limit(0, Some(51)).expect("a limit");
                encode(&frame.collect().await.expect("rows"))
            })
        })
    };
    println!("{} {} {read} {payload}", time.as_micros(), status("VmHWM:") * 1024);
}

/// The best time of the warm runs, what the last one read, and what it gave.
fn measure(run: impl Fn() -> usize) -> (Duration, u64, u64) {
    run();
    let mut best = Duration::MAX;
    let (mut read, mut payload) = (0, 0);
    let started = Instant::now();
    let mut runs = 0;
    while runs < 3 || runs < 20 && started.elapsed() < Duration::from_secs(2) {
        let before = proc_number("/proc/self/io", "rchar:");
        let start = Instant::now();
        payload = run() as u64;
        best = best.min(start.elapsed());
        read = proc_number("/proc/self/io", "rchar:").saturating_sub(before);
        runs += 1;
    }
    (best, read, payload)
}

/// A number of Linux's process files; 0 elsewhere.
fn proc_number(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn status(key: &str) -> u64 {
    proc_number("/proc/self/status", key)
}

fn row_objects(batches: &[RecordBatch]) -> usize {
    let mut writer = ArrayWriter::new(Vec::new());
    batches.iter().for_each(|batch| writer.write(batch).expect("a type that arrow-json knows"));
    writer.finish().expect("an array");
    writer.into_inner().len()
}

fn columnar(batches: &[RecordBatch]) -> usize {
    let options = FormatOptions::default();
    let mut columns = serde_json::Map::new();
    for batch in batches {
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let formatter = ArrayFormatter::try_new(array.as_ref(), &options).expect("a type that can be shown");
            let values = columns.entry(field.name().clone()).or_insert_with(|| Value::Array(Vec::new()));
            let Value::Array(values) = values else { continue };
            values.extend((0..batch.num_rows()).map(|row| match array.is_null(row) {
                true => Value::Null,
                false => Value::String(formatter.value(row).to_string()),
            }));
        }
    }
    serde_json::to_vec(&columns).expect("JSON").len()
}
