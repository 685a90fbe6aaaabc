//! Files of results, whole or absent.
//!
//! What goes in: a path that a user names, and bytes. What is promised:
//!
//! - **Whole or absent.** A new file is made beside the old one, under a name that cannot be
//!   foreseen, and neither through a link nor over another file; it is synced, and renamed into
//!   place ([`Draft`]). If anything fails before that, the old file stays, and the new one is
//!   removed. A process that is killed leaves it behind as `FILE.xxxxxx.new`, which does no harm;
//!   [`leftovers`] finds such files.
//! - **The name stays what it was.** An existing file keeps its mode, and its owner where the
//!   user may give files away. Of a link the target is replaced. One that may not be written to is
//!   not replaced either. A file with several names (hard links) gets its new content under this
//!   one.
//! - **What is no file is written to directly**: devices, pipes, and what a process has open
//!   (`/dev/stdout`); nothing is promised of these but that a failure is an error.
//! - **Two names of one file are known** for that ([`OutputPlace::is`]), also while the file is not
//!   there yet.
//!
//! [`Lock`] is for a file that one process at a time writes to. [`Disk`] is where all of this
//! touches files, so that tests can make each operation fail.
//!
//! ```
//! let folder = std::env::temp_dir();
//! let path = folder.join(format!("tickbound-output-{}", std::process::id()));
//! tickbound_os::output::write(&path, b"results\n")?;
//! assert_eq!(std::fs::read(&path)?, b"results\n");
//! let error = tickbound_os::output::write(&folder, b"").unwrap_err();
//! assert!(error.to_string().contains("a folder"));
//! # std::fs::remove_file(path)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod disk;
mod draft;
mod lock;
mod place;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

pub use disk::{Disk, Operation};
pub use draft::{Draft, PAGE, leftovers};
pub use lock::Lock;
pub use place::OutputPlace;

/// Writes a file, whole or not at all.
///
/// # Errors
/// The place cannot be written to; then an existing file is as it was.
pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    write_on(Disk::real(), path.as_ref(), bytes)
}

/// Whether a file can probably be written there. What is there is not
/// touched.
///
/// # Errors
/// It cannot: the folder is missing or may not be written to, the name is a folder's, or the file
/// may not be written to.
pub fn writable(place: &OutputPlace) -> io::Result<()> {
    let OutputPlace::File(target) = place else { return Ok(()) };
    permitted(target)?;
    // Has no name, so that nothing is left behind in any case.
    tempfile::tempfile_in(place::folder(target)).map(drop)
}

fn write_on(disk: Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    match OutputPlace::of(path)? {
        OutputPlace::File(target) => {
            permitted(&target)?;
            let mut draft = Draft::beside(disk, &target)?;
            draft.write(bytes)?;
            draft.keep().map(drop)
        }
        OutputPlace::Output => all(io::stdout().lock(), bytes),
        OutputPlace::Error => all(io::stderr().lock(), bytes),
        // Neither cut nor written from the start: it may be a file that another program has open.
        OutputPlace::Stream(path) => all(OpenOptions::new().append(true).open(path)?, bytes),
    }
}

fn all(mut stream: impl Write, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes)?;
    stream.flush()
}

/// Whether an existing file may be written to: renaming would not ask.
fn permitted(target: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests;
