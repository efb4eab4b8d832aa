//! Temporary files are gone afterwards, also after a kill.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn toolset(temporary: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_datafusion-toolset"));
    command.args(arguments).env("TMPDIR", temporary).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Files below a folder, however deep, but for the lock.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.ends_with("lock") {
            found.push(path);
        }
    }
    found
}

#[test]
fn what_a_killed_process_spilled_is_swept_at_the_next_start() {
    let temporary = tempfile::tempdir().expect("a folder");
    // Sorts more than fits into its memory, and takes its time.
    let sql = "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY value * 7919 % 1000003) AS r \
               FROM generate_series(1, 100000000))";
    let mut killed = toolset(temporary.path(), &["query", sql, "--memory", "64MiB", "--timeout", "300s"])
        .spawn()
        .expect("the command line");
    let start = Instant::now();
    while files(temporary.path()).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing was spilled");
        assert!(killed.try_wait().expect("its state").is_none(), "it ended without spilling");
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    assert!(!files(temporary.path()).is_empty());

    let next = toolset(temporary.path(), &["query", "SELECT 1"]).status().expect("the command line");
    assert!(next.success());
    let left: Vec<_> = std::fs::read_dir(temporary.path()).expect("the folder").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
