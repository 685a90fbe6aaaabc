//! A new file beside the one that it is to replace.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::output::disk::Disk;
use crate::output::place::folder;

/// How the names of new files end.
const NEW: &str = ".new";
/// Characters of a new file's name that are drawn.
const DRAWN: usize = 6;
/// Most bytes of a file's own name in that of the new one: file systems allow 255.
const LONGEST: usize = 200;

/// What [`Draft::direct`] asks of memory: that it begins at a multiple of this many bytes, and has
/// a multiple of it. A page of most systems, and a multiple of what their disks ask for.
pub const PAGE: usize = 4096;

/// A new file. It is removed when it is dropped, unless it is kept.
#[derive(Debug)]
pub struct Draft {
    disk: Disk,
    new: NamedTempFile,
    target: PathBuf,
    /// Bytes that were written.
    length: u64,
    /// The system does not copy what is written.
    direct: bool,
}

impl Draft {
    /// An empty file beside `target`, which is that of a
    /// [`Place::File`](crate::output::OutputPlace::File): in its folder, as readable and writable
    /// as it is, or as the user's other new files are.
    ///
    /// # Errors
    /// The folder is missing or may not be written to.
    pub fn beside(disk: Disk, target: &Path) -> io::Result<Draft> {
        let prefix = prefix(target);
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(NEW).rand_bytes(DRAWN).append(true);
        as_other_files(&mut builder);
        let new = disk.create(|| builder.tempfile_in(folder(target)))?;
        match std::fs::metadata(target) {
            Ok(old) => like(new.as_file(), &old)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(Draft { disk, new, target: target.to_owned(), length: 0, direct: false })
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let whole = bytes.as_ptr().addr().is_multiple_of(PAGE) && bytes.len().is_multiple_of(PAGE);
        if self.direct && !whole {
            self.copied();
        }
        let mut written = self.disk.write(self.new.as_file_mut(), bytes);
        if self.direct && written.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::InvalidInput) {
            // This disk asks for something else.
            self.copied();
            self.new.as_file_mut().seek(SeekFrom::Start(self.length))?;
            written = self.disk.write(self.new.as_file_mut(), bytes);
        }
        self.length += bytes.len() as u64;
        written
    }

    /// From now on what is written goes to the disk without being copied by the system first, where
    /// the system can do that and as long as it comes in whole pages ([`PAGE`]). For large files:
    /// the system's copy of them in memory is not read soon.
    pub fn direct(&mut self) {
        self.direct = set_direct(self.new.as_file(), true);
    }

    /// What is written is copied again.
    fn copied(&mut self) {
        set_direct(self.new.as_file(), false);
        self.direct = false;
    }

    /// Puts it in the place of its target. The file comes back open, to be appended to.
    ///
    /// # Errors
    /// It cannot be synced or renamed; then the target is as it was. If only the folder cannot be
    /// synced, it is the new file.
    pub fn keep(self) -> io::Result<File> {
        self.disk.sync(self.new.as_file())?;
        let file = self.disk.persist(self.new, &self.target)?;
        self.disk.sync_folder(folder(&self.target))?;
        Ok(file)
    }
}

/// New files of `target` that processes have left behind which were killed; also those that one is
/// writing now.
///
/// # Errors
/// The folder cannot be read.
pub fn leftovers(target: &Path) -> io::Result<Vec<PathBuf>> {
    let prefix = prefix(target);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder(target))? {
        let entry = entry?;
        let name = entry.file_name();
        let drawn = (name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes()))
            .and_then(|rest| rest.strip_suffix(NEW.as_bytes()));
        let ours =
            drawn.is_some_and(|d| d.len() == DRAWN && d.iter().all(u8::is_ascii_alphanumeric));
        if ours && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Asks the system to copy nothing, or to copy again, and states whether it does what it was asked.
#[cfg(target_os = "linux")]
fn set_direct(file: &File, on: bool) -> bool {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    let set = |mut flags: OFlags| {
        flags.set(OFlags::DIRECT, on);
        fcntl_setfl(file, flags)
    };
    fcntl_getfl(file).and_then(set).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn set_direct(_: &File, _: bool) -> bool {
    false
}

fn prefix(target: &Path) -> OsString {
    let name = target.file_name().filter(|name| name.len() <= LONGEST);
    let mut prefix = name.map_or_else(|| OsString::from("tickbound"), OsString::from);
    prefix.push(".");
    prefix
}

/// A file's mode and owner.
#[cfg(unix)]
fn like(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let ours = new.metadata()?;
    if (ours.uid(), ours.gid()) != (old.uid(), old.gid()) {
        // Few may give files away; then it is the user's who wrote it.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(old.permissions())
}

#[cfg(not(unix))]
fn like(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Readable by others, if the user's mask allows it: temporary files are not.
#[cfg(unix)]
fn as_other_files(builder: &mut Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;

    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn as_other_files(_: &mut Builder<'_, '_>) {}
