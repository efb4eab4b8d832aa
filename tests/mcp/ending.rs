//! How calls and the process end: cancelled, without input, without a client, without standard error.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::wire::{Wire, wait};
use super::{ENDLESS, TABLES, binary};

/// One query at a time: the next one is answered only when the one before has stopped.
fn one_at_a_time() -> Wire {
    let limits = ["--max-concurrent-queries", "1", "--timeout", "600s", "mcp"];
    Wire::initialized(binary(&[&TABLES[..], &limits].concat()))
}

fn endless() -> serde_json::Value {
    json!({"name": "query", "arguments": {"sql": ENDLESS}, "_meta": {"progressToken": 1}})
}

#[test]
fn cancelling_a_call_stops_its_query() {
    let mut wire = one_at_a_time();
    let id = wire.ask("tools/call", endless());
    assert_eq!(wire.next()["method"], "notifications/progress", "it runs");
    let params = json!({"requestId": id, "reason": "enough"});
    wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    assert!(wire.call("query", json!({"sql": "SELECT 1 AS one"})).contains("[[1]]"));
}

#[test]
fn the_end_of_input_ends_the_process() {
    let mut wire = Wire::initialized(binary(&[&TABLES[..], &["mcp"]].concat()));
    let start = Instant::now();
    let (status, rest) = wire.ended();
    assert_eq!((status.code(), rest.len()), (Some(0), 0));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    // And before anything was said.
    let mut wire = Wire::start(binary(&[&TABLES[..], &["mcp"]].concat()));
    assert_eq!(wire.ended().0.code(), Some(0));
}

#[test]
fn the_end_of_input_ends_a_query_that_runs() {
    let mut wire = one_at_a_time();
    wire.ask("tools/call", endless());
    assert_eq!(wire.next()["method"], "notifications/progress", "it runs");
    assert_eq!(wire.ended().0.code(), Some(0));
}

#[test]
fn a_dead_client_ends_its_work() {
    let mut child = binary(&[&TABLES[..], &["--timeout", "600s", "mcp"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": endless()}),
    ] {
        std::io::Write::write_all(&mut stdin, format!("{message}\n").as_bytes()).expect("it reads");
    }
    std::thread::sleep(Duration::from_millis(300));
    // As when the client is killed: both ends are gone.
    drop((stdin, child.stdout.take()));
    wait(&mut child);
}

/// A host may close standard error; what cannot be logged is lost, and nothing else.
#[test]
fn a_closed_standard_error_hurts_no_call() {
    let mut command = binary(&[&TABLES[..], &["-t", "gone=gone.parquet", "mcp"]].concat());
    command.env("RUST_LOG", "debug").stderr(Stdio::piped());
    let mut wire = Wire::start(command);
    drop(wire.child.stderr.take());
    wire.initialize("2025-06-18");
    for _ in 0..3 {
        assert!(wire.call("query", json!({"sql": "SELECT count(*) FROM orders"})).contains("[[500]]"));
        assert!(wire.call("query", json!({"sql": "SELECT * FROM gone"})).contains("source_unavailable"));
    }
    assert_eq!(wire.ended().0.code(), Some(0));
}
