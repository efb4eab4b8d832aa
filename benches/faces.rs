//! What a face costs over the library: the same call with the same payload of 64 KiB, in this process and over MCP.
//!
//! `cargo bench --bench faces`; the difference of the two lines is the face: JSON-RPC, pipes and another process.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use datafusion_toolset::{Limits, Source, Toolset};
use serde_json::{Value, json};

/// More than fits, so that the payload takes the whole budget.
const SQL: &str = "SELECT a.*, b.note AS other FROM orders a JOIN orders b USING (id)";
const ROWS: usize = 500;

fn faces(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let builder = Toolset::builder().source(Source::new("orders", "testdata/orders.parquet"));
    let tools = builder.limits(Limits::default().with_max_rows(ROWS)).build().unwrap();
    let arguments = json!({ "sql": SQL }).to_string();
    let payload = runtime.block_on(tools.call("query", &arguments)).unwrap();

    let mut server = Command::new(env!("CARGO_BIN_EXE_datafusion-toolset"))
        .args(["-t", "orders=testdata/orders.parquet", "--max-rows", &ROWS.to_string(), "mcp"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let mut line = String::new();
    let mut request = |message: Value| -> usize {
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        line.clear();
        if message.get("id").is_some() { stdout.read_line(&mut line).unwrap() } else { 0 }
    };
    let client = json!({ "name": "bench", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    request(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
    request(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let params = json!({ "name": "query", "arguments": { "sql": SQL } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });

    let mut group = criterion.benchmark_group("faces");
    group.throughput(Throughput::Bytes(payload.len() as u64)).measurement_time(Duration::from_secs(5));
    group.bench_function("library", |bencher| {
        bencher.iter(|| runtime.block_on(tools.call("query", &arguments)).unwrap().len());
    });
    group.bench_function("mcp_stdio", |bencher| bencher.iter(|| request(call.clone())));
    group.finish();
    drop(stdin);
    server.wait().unwrap();
}

criterion_group!(benches, faces);
criterion_main!(benches);
