//! The command line as a process: what it prints where, and how it ends.

mod answers;
mod bad_input;
mod configuration;
mod examples;
mod many_sources;
mod readme;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The binary, started where `testdata/` is.
fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_datafusion-toolset"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("RUST_LOG");
    command
}

/// What a command printed, and its exit status.
#[derive(Debug)]
struct Said {
    stdout: String,
    stderr: String,
    status: Option<i32>,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status.code() }
    }
}

fn run(arguments: &[&str]) -> Said {
    binary().args(arguments).stdin(Stdio::null()).output().expect("it starts").into()
}

fn run_with_input(arguments: &[&str], input: &[u8]) -> Said {
    let mut child = binary()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // It may stop reading: what is longer than it takes is refused unread.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("it ends").into()
}

/// `call TOOL ARGUMENTS` over one table.
fn call(source: &str, tool: &str, arguments: &str) -> Said {
    run(&["-t", source, "call", tool, arguments])
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A file in a folder, by its whole path.
fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, content).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}
