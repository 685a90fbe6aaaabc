//! libclang itself: found, loaded once, and lent to all threads.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clang::Clang;

use crate::error::{Read, ReadError};

/// The header that declares OpenCL's types and macros.
pub(crate) const HEADER: &str = "opencl-c-base.h";

/// The one `Clang` of this process, with its library and its headers.
struct Held {
    clang: Clang,
    library: Arc<clang_sys::SharedLibrary>,
    include: PathBuf,
}

// SAFETY: `Clang` is a token without content. It is neither `Send` nor `Sync` because the library's
// functions are found through a variable of the thread; `lend` sets that variable on every thread
// that gets the token. libclang itself may be called from many threads, each with an index of its
// own.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

/// Loaded at the first question; a failure is kept, as `Clang` cannot be made a second time.
static HELD: OnceLock<Read<Held>> = OnceLock::new();

/// Runs `work` with libclang and the folder of its headers.
pub(crate) fn lend<T>(work: impl FnOnce(&Clang, &Path) -> Read<T>) -> Read<T> {
    match HELD.get_or_init(load) {
        Ok(held) => {
            clang_sys::set_library(Some(Arc::clone(&held.library)));
            work(&held.clang, &held.include)
        }
        Err(error) => Err(error.clone()),
    }
}

pub(crate) fn version() -> Read<String> {
    lend(|_, _| Ok(clang::get_version()))
}

fn load() -> Read<Held> {
    let missing = || {
        ReadError::file(
            "libclang",
            "it is not on this machine",
            "install it (Debian and Ubuntu: libclang1 and libclang-common-*-dev), or set \
             LIBCLANG_PATH to its folder",
        )
    };
    let clang =
        Clang::new().map_err(|why| if is_present(&why) { unloadable(&why) } else { missing() })?;
    let library = clang_sys::get_library().ok_or_else(missing)?;
    let version = major(&clang::get_version());
    let include = headers(library.path(), version.as_deref()).ok_or_else(|| {
        let version = version.as_deref().unwrap_or("*");
        ReadError::file(
            "libclang",
            format!("its header {HEADER} is not on this machine"),
            format!("install it (Debian and Ubuntu: libclang-common-{version}-dev)"),
        )
    })?;
    Ok(Held { clang, library, include })
}

/// Whether the loader's message is about a library that is there.
fn is_present(why: &str) -> bool {
    why.contains("could not be opened") || why.contains("(invalid: [(")
}

/// The error for a library that is there and does not load.
fn unloadable(why: &str) -> ReadError {
    ReadError::file(
        "libclang",
        format!("it is on this machine, but does not load: {why}"),
        "install what the loader misses, or set LIBCLANG_PATH to the folder of another libclang",
    )
}

/// The major number of `Debian clang version 15.0.6`.
fn major(version: &str) -> Option<String> {
    let at = version.find("version ")? + "version ".len();
    let digits: String = version[at..].chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// Clang's own headers of that version: beside the library, or where distributions put them.
fn headers(library: &Path, version: Option<&str>) -> Option<PathBuf> {
    let mut roots = Vec::new();
    for path in [Some(library.to_owned()), library.canonicalize().ok()].into_iter().flatten() {
        for folder in path.ancestors().skip(1).take(3) {
            roots.extend([folder.join("clang"), folder.join("lib/clang")]);
        }
    }
    if let Some(version) = version {
        roots.push(format!("/usr/lib/llvm-{version}/lib/clang").into());
        roots.push(format!("/usr/lib/llvm/{version}/lib/clang").into());
    }
    roots.extend(["/usr/lib/clang", "/usr/lib64/clang", "/usr/local/lib/clang"].map(Into::into));
    roots.iter().find_map(|root| of_version(root, version))
}

fn of_version(root: &Path, version: Option<&str>) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            version.is_none_or(|v| name.split('.').next() == Some(v))
        })
        .map(|entry| entry.path().join("include"))
        .filter(|folder| folder.join(HEADER).is_file())
        .filter_map(|folder| folder.canonicalize().ok())
        .collect();
    found.sort();
    found.pop()
}

#[cfg(test)]
mod tests {
    use super::{is_present, major, unloadable};

    #[test]
    fn a_library_that_does_not_load_is_no_missing_one() {
        // As clang-sys 1.9 words it.
        let broken = "the `libclang` shared library at /l/libclang.so.1 could not be opened: \
                      libLLVM.so.1: cannot open shared object file";
        let other = "couldn't find any valid shared libraries matching: ['libclang.so'], set the \
                     `LIBCLANG_PATH` environment variable to a path where one of these files can \
                     be found (invalid: [(/l/libclang.so: invalid ELF header)])";
        let absent = other.replace("(/l/libclang.so: invalid ELF header)", "");
        assert_eq!([broken, other, &absent].map(is_present), [true, true, false]);
        assert!(unloadable(broken).to_string().contains("libLLVM.so.1: cannot open"));
    }

    #[test]
    fn versions() {
        assert_eq!(major("Debian clang version 15.0.6").as_deref(), Some("15"));
        assert_eq!(major("clang version 21.1.0 (abc)").as_deref(), Some("21"));
        assert_eq!(major("clang"), None);
    }
}
