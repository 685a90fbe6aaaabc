//! A cache's files on the disk.
//!
//! Beside the cache `FILE` lie, if the name is a link beside the file that it leads to:
//!
//! - `FILE.lock`, on which the process that writes holds a lock. The cache itself is renamed into
//!   place, so a lock on it would be one on a file that is gone. It is removed with the lock; one
//!   that a killed process left does no harm.
//! - `FILE.xxxxxx.new` and `FILE.old.xxxxxx.new`, whole new files that are being written. What a
//!   killed process left is removed when the cache is next opened, under the lock, so that it is
//!   unused.
//! - `FILE.old`, the cache as it was before entries were last left out of it, byte for byte. An
//!   earlier one becomes `FILE.old.1`, `FILE.old.2` and so on, so that nothing that was measured is
//!   ever written over.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use tickbound_os::output::{Disk, Draft, Lock, OutputPlace, leftovers};

use super::error::{CacheError, at};

/// A cache's file, which this process alone writes to.
#[derive(Debug)]
pub(super) struct Held {
    disk: Disk,
    /// As messages call it.
    pub(super) shown: PathBuf,
    target: PathBuf,
    _lock: Lock,
}

impl Held {
    /// Takes the lock, and removes what a killed process left; remarks for users go to `notes`.
    pub(super) fn take(
        disk: Disk,
        path: &Path,
        notes: &mut Vec<String>,
    ) -> Result<Held, CacheError> {
        let target = match OutputPlace::of(path).map_err(at(path))? {
            OutputPlace::File(target) => target,
            _ => return Err(CacheError::NoCache(path.to_owned())),
        };
        let shown = if path.is_symlink() { target.clone() } else { path.to_owned() };
        let name = beside(&target, ".lock");
        let lock = Lock::take(disk, &name).map_err(at(&beside(&shown, ".lock")))?;
        let lock = lock.ok_or_else(|| CacheError::Locked(path.to_owned()))?;
        if !lock.is_real() {
            notes.push(format!(
                "{}: this file system has no locks; let no other process measure into the same \
                 file",
                path.display()
            ));
        }
        for of in [&target, &beside(&target, ".old")] {
            for left in leftovers(of).map_err(at(path))? {
                if let Err(error) = disk.remove(&left) {
                    notes.push(format!("{}: left by a killed process: {error}", left.display()));
                }
            }
        }
        Ok(Held { disk, shown, target, _lock: lock })
    }

    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, CacheError> {
        // It is replaced, not written to; one that is not writable is not replaced either.
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let mut file = match self.disk.open(&options, &self.target) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(at(&self.shown))?,
        };
        let data = file.metadata().map_err(at(&self.shown))?;
        tickbound_input::regular(&data).map_err(at(&self.shown))?;
        let whole =
            |file: &mut dyn std::io::Read| tickbound_input::within(tickbound_input::MOST, file);
        self.disk.read(&mut file, whole).map(Some).map_err(at(&self.shown))
    }

    /// Where the file as it was is kept.
    pub(super) fn old(&self) -> PathBuf {
        beside(&self.shown, ".old")
    }

    pub(super) fn keep_old(&self, bytes: &[u8]) -> Result<(), CacheError> {
        let (old, shown) = (beside(&self.target, ".old"), self.old());
        // The same once more, after a failure: that is kept.
        if tickbound_input::bytes(&old).is_ok_and(|kept| kept == bytes) {
            return Ok(());
        }
        if std::fs::symlink_metadata(&old).is_ok() {
            let numbered = (1..).map(|number: u64| beside(&old, &format!(".{number}")));
            let free = numbered.into_iter().find(|name| std::fs::symlink_metadata(name).is_err());
            let earlier = free.unwrap_or_else(|| beside(&old, ".earlier"));
            self.disk.rename(&old, &earlier).map_err(at(&shown))?;
        }
        let write = || {
            let mut draft = Draft::beside(self.disk, &old)?;
            draft.write(bytes)?;
            draft.keep().map(drop)
        };
        write().map_err(at(&shown))
    }

    /// Puts a whole new file in its place, to be added to.
    pub(super) fn replace(self, text: &str) -> Result<Log, CacheError> {
        let write = || {
            let mut draft = Draft::beside(self.disk, &self.target)?;
            draft.write(text.as_bytes())?;
            draft.keep()
        };
        let file = write().map_err(at(&self.shown))?;
        Ok(Log { held: self, file, length: text.len() as u64, torn: false })
    }
}

/// A cache's file, to which lines are added.
#[derive(Debug)]
pub(super) struct Log {
    held: Held,
    file: File,
    /// Bytes that are known to be whole.
    length: u64,
    /// Something is behind them that could not be taken back.
    torn: bool,
}

impl Log {
    /// Adds a text, which is on the disk when this returns; if it cannot be, nothing of it stays.
    pub(super) fn add(&mut self, text: &str) -> Result<(), CacheError> {
        self.put(0, text).map_err(at(&self.held.shown))
    }

    /// The file, to be replaced.
    pub(super) fn held(self) -> Held {
        self.held
    }

    /// Replaces the last `bytes` by a text, unless an earlier failure left something behind them.
    pub(super) fn end(mut self, bytes: u64, text: &str) -> Result<(), CacheError> {
        if self.torn {
            return Ok(());
        }
        self.put(bytes, text).map_err(at(&self.held.shown))
    }

    fn put(&mut self, less: u64, text: &str) -> std::io::Result<()> {
        let (disk, from) = (self.held.disk, self.length - less);
        if less > 0 || self.torn {
            disk.cut(&self.file, from)?;
        }
        // One write, so that a kill leaves all of it or nothing, as a rule.
        let written = disk.write(&mut self.file, text.as_bytes());
        if let Err(error) = written.and_then(|()| disk.sync(&self.file)) {
            self.torn = disk.cut(&self.file, from).is_err();
            self.length = from;
            return Err(error);
        }
        (self.length, self.torn) = (from + text.len() as u64, false);
        Ok(())
    }
}

/// Files beside a cache that belong to it.
pub fn kept_beside(cache: &Path) -> [PathBuf; 2] {
    [beside(cache, ".old"), beside(cache, ".lock")]
}

fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(extension);
    PathBuf::from(name)
}
