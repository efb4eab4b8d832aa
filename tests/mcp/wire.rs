//! A client without a library: it writes lines and reads lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::LONG;

/// The server's process and the lines it writes.
pub(super) struct Wire {
    pub(super) child: Child,
    pub(super) stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    id: u64,
}

impl Wire {
    /// Starts the command. Standard error is whatever the command says.
    pub(super) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.expect("UTF-8")).is_err() {
                    break;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, id: 0 }
    }

    /// Starts the command and shakes hands.
    pub(super) fn initialized(command: Command) -> Self {
        let mut wire = Self::start(command);
        wire.initialize("2025-06-18");
        wire
    }

    /// What `initialize` gives.
    pub(super) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    pub(super) fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }

    /// Sends a request and gives its id.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }));
        self.id
    }

    /// Sends a request and gives its response; what comes before it is dropped.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The text that a tool answers.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Value {
        message(&self.lines.recv_timeout(LONG).expect("a line in time"))
    }

    /// Waits for the process to end, and gives what it wrote until then.
    pub(super) fn ended(&mut self) -> (ExitStatus, Vec<Value>) {
        self.stdin = None;
        let status = wait(&mut self.child);
        (status, self.lines.iter().map(|line| message(&line)).collect())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the process to end.
pub(super) fn wait(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        assert!(start.elapsed() < LONG, "it runs on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A line of standard output is one message of the protocol, whole.
fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    assert!(!line.contains('\u{1b}'), "{line}");
    message
}
