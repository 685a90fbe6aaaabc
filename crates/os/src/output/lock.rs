//! A lock that one process at a time holds.
//!
//! It lies on its own file, which is never renamed, in contrast to the file that it is for: a
//! lock on that one would be on what it was before, as soon as another is renamed into its place.
//! The file is removed when the lock is given back. Another process may have opened it just before
//! that; so the holder of a lock checks that its file still has this name, and begins
//! again if not. A process that is killed leaves the file behind, without the lock: it does no
//! harm, and the next one takes and removes it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::output::disk::Disk;

/// How often a lock is tried whose file somebody removes.
const ATTEMPTS: usize = 100;

/// A lock. It is given back when it is dropped.
#[derive(Debug)]
pub struct Lock {
    /// Removed while the lock is held, which `file` does.
    path: PathBuf,
    _file: File,
    real: bool,
}

impl Lock {
    /// Takes the lock on `path`, a file that exists for that alone; nothing if another process
    /// holds it.
    ///
    /// # Errors
    /// The file cannot be made or opened, or it is a link.
    pub fn take(disk: Disk, path: &Path) -> io::Result<Option<Lock>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        not_through_links(&mut options);
        for _ in 0..ATTEMPTS {
            let file = disk.open(&options, path)?;
            let real = match disk.lock(&file)? {
                Some(false) => return Ok(None),
                locked => locked.is_some(),
            };
            if is_at(&file, path)? {
                return Ok(Some(Lock { path: path.to_owned(), _file: file, real }));
            }
        }
        Ok(None)
    }

    /// Whether the file system has locks. If not, nothing keeps others away.
    pub fn is_real(&self) -> bool {
        self.real
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // What stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn not_through_links(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;

    // A pipe that lies there would be waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
}

/// Whether this is the file of that name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let ours = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn not_through_links(_: &mut OpenOptions) {}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
