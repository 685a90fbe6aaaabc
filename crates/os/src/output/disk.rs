//! Where files are touched, so that tests can make each operation fail.

use std::fmt::{self, Debug};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// An operation on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// An existing file, or a lock's, is opened.
    Open,
    /// A lock is taken.
    Lock,
    /// A file is read.
    Read,
    /// A new file is made.
    Create,
    /// Bytes are written.
    Write,
    /// A file or a folder is synced.
    Sync,
    /// A file gets another name.
    Rename,
    /// A file is cut to a length.
    Cut,
    /// A file is removed.
    Remove,
}

/// Refuses operations.
type Gate = dyn Fn(Operation) -> io::Result<()> + Sync;

/// The operations on files. They are those of the system, as a rule.
#[derive(Clone, Copy)]
pub struct Disk(Option<&'static Gate>);

impl Disk {
    /// That of the system.
    pub fn real() -> Disk {
        Disk(None)
    }

    /// One that asks `gate` before each operation, and fails with its error. Of what it refuses to
    /// write half is written, as on a disk that is full. For tests.
    pub fn watched(gate: &'static Gate) -> Disk {
        Disk(Some(gate))
    }

    fn ask(self, operation: Operation) -> io::Result<()> {
        self.0.map_or(Ok(()), |gate| gate(operation))
    }

    /// Opens a file.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`].
    pub fn open(self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        self.ask(Operation::Open)?;
        options.open(path)
    }

    /// Takes the lock of a file. Whether it was free; `None` if the file
    /// system has no locks.
    pub(crate) fn lock(self, file: &File) -> io::Result<Option<bool>> {
        self.ask(Operation::Lock)?;
        lock(file)
    }

    /// All that `read` takes out of a file.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn read<T>(
        self,
        file: &mut File,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> io::Result<T> {
        self.ask(Operation::Read)?;
        read(file)
    }

    pub(crate) fn create(
        self,
        make: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<NamedTempFile> {
        self.ask(Operation::Create)?;
        make()
    }

    /// Writes bytes to a file.
    ///
    /// # Errors
    /// Those of [`Write::write_all`]; then some of them may be there.
    pub fn write(self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.ask(Operation::Write) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)
    }

    /// Brings a file's content to where it outlives a power cut.
    ///
    /// # Errors
    /// Those of [`File::sync_data`].
    pub fn sync(self, file: &File) -> io::Result<()> {
        self.ask(Operation::Sync)?;
        file.sync_data()
    }

    /// Does the same for the names in a folder.
    pub(crate) fn sync_folder(self, folder: &Path) -> io::Result<()> {
        self.ask(Operation::Sync)?;
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Some file systems cannot, and some folders may be written to and not read.
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::InvalidInput
                        | io::ErrorKind::Unsupported
                        | io::ErrorKind::PermissionDenied
                ) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }

    /// Gives a file another name, also one that another file has.
    ///
    /// # Errors
    /// Those of [`std::fs::rename`].
    pub fn rename(self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Operation::Rename)?;
        std::fs::rename(from, to)
    }

    pub(crate) fn persist(self, draft: NamedTempFile, to: &Path) -> io::Result<File> {
        self.ask(Operation::Rename)?;
        draft.persist(to).map_err(|failed| failed.error)
    }

    /// Cuts a file.
    ///
    /// # Errors
    /// Those of [`File::set_len`].
    pub fn cut(self, file: &File, length: u64) -> io::Result<()> {
        self.ask(Operation::Cut)?;
        file.set_len(length)
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Those of [`std::fs::remove_file`].
    pub fn remove(self, path: &Path) -> io::Result<()> {
        self.ask(Operation::Remove)?;
        std::fs::remove_file(path)
    }
}

impl Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Disk(watched)" } else { "Disk" })
    }
}

#[cfg(unix)]
fn lock(file: &File) -> io::Result<Option<bool>> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(true)),
        Err(Errno::WOULDBLOCK) => Ok(Some(false)),
        Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn lock(_: &File) -> io::Result<Option<bool>> {
    Ok(None)
}
