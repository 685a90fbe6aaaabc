//! Finding programs.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The program of this name on `path`, which is as the variable `PATH`, or the file itself if the
/// name has a slash. What is found does not depend on the current folder: programs are started in
/// other ones.
pub fn program(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let found = if Path::new(name).components().count() > 1 {
        Some(PathBuf::from(name)).filter(|p| is_program(p))
    } else {
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|p| is_program(p))
    };
    found.and_then(|p| std::path::absolute(p).ok())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
