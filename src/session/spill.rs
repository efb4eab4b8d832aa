//! The directory that operators spill into.
//!
//! It is removed with the session. A process that is killed removes nothing, so the next one sweeps: every directory is
//! held by a file lock, which the system gives up when its process ends, however it ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = "datafusion-toolset-spill-";
const LOCK: &str = "lock";

/// Directories without a lock file that are younger than this are being made.
const YOUNG: Duration = Duration::from_secs(60);

/// A directory of our own that nobody else sweeps.
#[derive(Debug)]
pub(super) struct SpillDir {
    dir: TempDir,
    /// Locked until it is closed.
    _lock: File,
}

impl SpillDir {
    /// Makes a directory in the system's place for temporary files, and removes what killed processes left there.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub(super) fn create() -> io::Result<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    fn create_in(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // Locked before it has the name that a sweeper looks for.
        let unnamed = dir.path().join("lock.new");
        let lock = File::create(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, dir.path().join(LOCK))?;
        Ok(Self { dir, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes the directories whose process is gone. What cannot be removed is left to the next sweep.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_abandoned(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_abandoned(dir: &Path) -> bool {
    match File::open(dir.join(LOCK)) {
        Ok(lock) => !matches!(lock.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(_) => {
            let age = fs::metadata(dir).and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
            age.is_some_and(|age| age > YOUNG)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_swept_and_what_lives_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let living = SpillDir::create_in(parent.path()).unwrap();
        fs::write(living.path().join("spill"), "x").unwrap();
        // As a killed process leaves it: a lock file that nobody holds.
        let dead = parent.path().join(format!("{PREFIX}dead"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join("spill"), "x").unwrap();
        let other = parent.path().join("somebody-elses");
        fs::create_dir(&other).unwrap();

        let next = SpillDir::create_in(parent.path()).unwrap();
        assert!(!dead.exists() && other.exists() && living.path().join("spill").exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists() && next.path().exists());
    }
}
