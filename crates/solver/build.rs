//! Makes every binary find, at run time, the `libz3` it was linked with. The packages
//! `tickbound-solver` and `tickbound` share this script.
//!
//! `scripts/setup-z3.sh` writes `.deps/z3/pkgconfig/z3.pc`, and `.cargo/config.toml` makes
//! pkg-config read it first, so `z3-sys` links that library; in a fresh clone the pkg-config of
//! `.cargo/config.toml` runs the set-up before it answers. What is left for this script:
//!
//! * an rpath for binaries, tests, examples and benches: first places that belong to an installed
//!   program, then one relative to the binary (the project can be moved), or absolute where the
//!   target directory is elsewhere;
//! * doc tests, which no `rustc-link-arg` reaches: cargo puts library folders that lie inside the
//!   target directory on their search path, so `OUT_DIR` gets a link to the library;
//! * a clear error, instead of a failing linker, when Z3 is missing or too old.

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::exit;

/// The oldest Z3 that the bindings support.
const OLDEST: (u32, u32, u32) = (4, 13, 3);

fn main() {
    println!("cargo::rerun-if-changed={}", project().join("crates/solver/build.rs").display());
    println!("cargo::rerun-if-changed={}", project().join(".deps/z3/stamp").display());
    if env::var_os("CARGO_FEATURE_VENDORED_Z3").is_some() {
        return; // linked statically
    }
    let library = match pkg_config::Config::new().cargo_metadata(false).probe("z3") {
        Ok(library) => library,
        Err(error) => fail(&format!("no libz3 found; {}{}", fix(), said(&error.to_string()))),
    };
    let found = parse_version(&library.version);
    if found < OLDEST {
        fail(&format!(
            "libz3 {} is too old, 4.13.3 is the oldest that works; {}",
            library.version,
            fix()
        ));
    }
    // What z3-sys saw can differ: cargo does not notice that a .pc file has changed.
    let bound = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let name = format!("DEP_Z3_VERSION_{part}");
        env::var(name).ok().and_then(|v| v.parse::<u32>().ok())
    });
    if let [Some(major), Some(minor), Some(patch)] = bound
        && (major, minor, patch) != found
    {
        fail(&format!(
            "crate z3-sys was built against libz3 {major}.{minor}.{patch}, now {} is found; \
             run `cargo clean -p z3-sys` and `cargo clean --release -p z3-sys`",
            library.version
        ));
    }
    // pkg-config leaves out the compiler's own folders: those need no help at run time.
    for folder in &library.link_paths {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        set_rpath(&folder);
        link_into_out_dir(&folder);
    }
}

/// What helps where there is no Z3 that is new enough.
fn fix() -> String {
    // Cargo reads `.cargo/config.toml` of the folder it is run in, which need not be the project's.
    let finder = project().join("scripts/pkg-config.sh");
    if env::var_os("PKG_CONFIG").is_none() && finder.exists() {
        return format!("set PKG_CONFIG={}, which finds or fetches one", finder.display());
    }
    let flags = fs::read_to_string(project().join(".deps/z3/cargo-flags")).unwrap_or_default();
    match flags.trim() {
        "" => "run `make setup`".to_owned(),
        flags => format!("give cargo `{flags}`: the set-up has found none to link with"),
    }
}

/// The last message of the set-up, if it was run and failed.
fn said(text: &str) -> String {
    let last = text.lines().rev().find_map(|line| line.trim().strip_prefix("setup-z3: "));
    last.map(|line| format!(" (it says: {line})")).unwrap_or_default()
}

/// `4.13.3`, `5.3.2.0`: the first three numbers; missing ones are 0.
fn parse_version(text: &str) -> (u32, u32, u32) {
    let mut numbers = text.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

fn set_rpath(folder: &Path) {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
        return;
    }
    // Of an installed program: beside it, where `make install` puts the library, and where the
    // set-up keeps one for `cargo install`. They come first: no other user can write there.
    let kept = pkg_config::get_variable("z3", "installed").unwrap_or_default();
    for place in ["$ORIGIN", "$ORIGIN/../lib/tickbound", &kept] {
        if !place.is_empty() {
            println!("cargo::rustc-link-arg=-Wl,-rpath,{place}");
        }
    }
    // OUT_DIR is <profile folder>/build/<package>/out. Binaries are in the profile folder, tests,
    // benches and examples one level below it.
    let out = out_dir();
    if let Some(profile) = out.ancestors().nth(3)
        && let Some(relative) = relative_path(profile, folder)
    {
        println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/{relative}");
        println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/../{relative}");
        return;
    }
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
}

/// The project's folder: of this package, or the one above it that has the lock file.
fn project() -> PathBuf {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let locked = package.ancestors().find(|folder| folder.join("Cargo.lock").exists());
    locked.unwrap_or(&package).to_owned()
}

/// The path from `from` to `to`, but only where both lie in this project: any other path would
/// break as soon as either is moved.
fn relative_path(from: &Path, to: &Path) -> Option<String> {
    let root = fs::canonicalize(project()).ok()?;
    let from = fs::canonicalize(from).ok()?;
    let down = to.strip_prefix(&root).ok()?;
    let up = from.strip_prefix(&root).ok()?.components();
    let mut parts = Vec::new();
    for component in up {
        match component {
            Component::Normal(_) => parts.push(".."),
            _ => return None,
        }
    }
    parts.push(down.to_str()?);
    Some(parts.join("/"))
}

/// Links every `libz3.so*` (`libz3.*.dylib`) of `folder` into `OUT_DIR`.
fn link_into_out_dir(folder: &Path) {
    let out = out_dir();
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if !(text.starts_with("libz3.so") || text.starts_with("libz3.") && text.ends_with(".dylib"))
        {
            continue;
        }
        let link = out.join(&name);
        let _ = fs::remove_file(&link);
        if let Err(error) = link_or_copy(&entry.path(), &link) {
            fail(&format!("cannot write {}: {error}", link.display()));
        }
    }
    println!("cargo::rustc-link-search=native={}", out.display());
}

#[cfg(unix)]
fn link_or_copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link_or_copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::copy(from, to).map(|_| ())
}

fn out_dir() -> PathBuf {
    PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default())
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}
