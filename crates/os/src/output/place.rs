//! Where a name leads.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Most links that are followed in sequence, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Where a name leads, once all links are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputPlace {
    /// A regular file, or none yet. The path has no links.
    File(PathBuf),
    /// This process's standard output.
    Output,
    /// This process's standard error.
    Error,
    /// A device, a pipe, or a file that a process has open.
    Stream(PathBuf),
}

impl OutputPlace {
    /// Follows a name.
    ///
    /// # Errors
    /// It is a folder's, its folder does not exist or may not be looked into, or links go in a
    /// circle.
    pub fn of(path: &Path) -> io::Result<OutputPlace> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let name =
                path.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/"));
            let Some(name) = name else { return Err(is_folder(&path)) };
            let folder = std::fs::canonicalize(folder(&path))?;
            let whole = folder.join(name);
            if let Some(own) = own(&folder, name.to_str()) {
                return Ok(own);
            }
            let found = match std::fs::symlink_metadata(&whole) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(OutputPlace::File(whole));
                }
                found => found?,
            };
            let kind = found.file_type();
            // Links of open files lead to the file itself, not where their text points.
            let open = folder.starts_with("/proc");
            match () {
                () if kind.is_dir() => return Err(is_folder(&whole)),
                () if kind.is_file() && !open => return Ok(OutputPlace::File(whole)),
                () if kind.is_symlink() && !open => path = folder.join(std::fs::read_link(&whole)?),
                () => return Ok(OutputPlace::Stream(whole)),
            }
        }
        Err(io::Error::other("links that lead to one another"))
    }

    /// Whether this is the same file or stream of this process as another. Of devices and pipes
    /// none is.
    pub fn is(&self, other: &OutputPlace) -> bool {
        match (self, other) {
            (OutputPlace::File(one), OutputPlace::File(other)) => {
                one == other || identity(one).is_some_and(|one| identity(other) == Some(one))
            }
            (OutputPlace::Output, OutputPlace::Output)
            | (OutputPlace::Error, OutputPlace::Error) => true,
            _ => false,
        }
    }
}

/// The folder of a path.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn is_folder(path: &Path) -> io::Error {
    match path.as_os_str().is_empty() {
        true => io::Error::new(ErrorKind::NotFound, "the name is empty"),
        false => io::Error::new(ErrorKind::IsADirectory, "this is a folder"),
    }
}

/// This process's own streams, behind names such as `/dev/stdout`.
fn own(folder: &Path, name: Option<&str>) -> Option<OutputPlace> {
    if *folder != *Path::new(&format!("/proc/{}/fd", std::process::id())) {
        return None;
    }
    match name {
        Some("1") => Some(OutputPlace::Output),
        Some("2") => Some(OutputPlace::Error),
        _ => None,
    }
}

/// The identity of a file: its device and its number there.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
