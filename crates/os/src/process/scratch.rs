//! Folders for as long as a process lives.
//!
//! A folder is removed when it is dropped. A process that is killed cannot do that, so each folder
//! holds a file that its process keeps locked: what is not locked belongs to no process, and
//! [`sweep`] removes it at the next start. Locks are used rather than process numbers, which mean
//! nothing to another container that shares the temporary folder.

use std::fs::{DirEntry, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use tempfile::TempDir;

/// What their names begin with.
const PREFIX: &str = "tickbound-";
/// The file that is locked.
const LOCK: &str = "lock";
/// A folder without that file may be in the making; one that is older is not.
const MAKING: Duration = Duration::from_secs(600);
/// How often a folder is made again that a sweep has removed between its making and its lock.
const TRIES: usize = 8;

/// A folder in the system's temporary folder. Removed when it is dropped.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// An empty folder, but for the lock; `what` is a part of its name.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(what: &str) -> io::Result<Scratch> {
        Scratch::within(&std::env::temp_dir(), what)
    }

    /// The same in another folder than the system's.
    pub fn within(parent: &Path, what: &str) -> io::Result<Scratch> {
        for _ in 0..TRIES {
            let folder =
                tempfile::Builder::new().prefix(&format!("{PREFIX}{what}-")).tempdir_in(parent)?;
            let path = folder.path().join(LOCK);
            let made = OpenOptions::new().write(true).create_new(true).open(&path);
            match made {
                // Where there are no locks, a folder looks left behind to a sweep, which cannot
                // lock it either.
                Ok(lock) if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() => {}
                Ok(lock) if path.exists() => return Ok(Scratch { folder, _lock: lock }),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("the temporary folder cannot be locked"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes what processes that were killed have left in the system's temporary folder.
pub fn sweep() {
    sweep_in(&std::env::temp_dir());
}

/// The same in another folder.
pub fn sweep_in(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // The lock is held until the folder is gone: a process that has just made the folder would
        // take it meanwhile.
        if let Some(_lock) = left_behind(&entry) {
            // What cannot be removed is another user's.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The lock of a folder that no process holds, or `None` inside where it has none and is old;
/// nothing where a process may hold it.
fn left_behind(entry: &DirEntry) -> Option<Option<File>> {
    // Not of what a link points to.
    let data = entry.metadata().ok().filter(|data| data.is_dir())?;
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), nofollow);
    match options.open(entry.path().join(LOCK)) {
        Ok(lock) => {
            let held = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            held.then_some(Some(lock))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let age = data.modified().ok().and_then(|time| time.elapsed().ok());
            age.filter(|age| *age > MAKING).map(|_| None)
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_behind_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let live = Scratch::within(parent.path(), "live").unwrap();
        std::fs::write(live.path().join("model"), "x").unwrap();
        // As a process that is killed leaves it: the folder stays, the lock is gone.
        let Scratch { folder, _lock } = Scratch::within(parent.path(), "dead").unwrap();
        let dead = folder.keep();
        drop(_lock);
        std::fs::write(dead.join("model"), "x").unwrap();
        for other in ["other", "tickbound-new"] {
            std::fs::create_dir(parent.path().join(other)).unwrap();
        }
        std::os::unix::fs::symlink(live.path(), parent.path().join("tickbound-link")).unwrap();
        sweep_in(parent.path());
        let left = |name: &str| parent.path().join(name).exists();
        assert!(left("other") && left("tickbound-new") && left("tickbound-link"));
        assert!(live.path().join("model").exists() && !dead.exists());
        let path = live.path().to_owned();
        drop(live);
        assert!(!path.exists());
    }

    #[test]
    fn sweeps_do_not_take_what_is_being_made() {
        let parent = tempfile::tempdir().unwrap();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    sweep_in(parent.path());
                }
            });
            let made = (0..300).try_for_each(|_| {
                let scratch = Scratch::within(parent.path(), "busy")?;
                std::fs::write(scratch.path().join("model"), "x")
            });
            // Before it is asserted: the other thread ends in any case.
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            made.unwrap();
        });
    }
}
