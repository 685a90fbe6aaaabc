//! Files in the place of `#include` lines of CUDA sources; missing ones are taken as empty.
//!
//! The preprocessor would stop at a header of the vendor, of the C++ library or of a project that
//! is not at hand.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::lines::{include_name, is_library, quote};

/// Most files in the place of `#include` lines, those inside others counted again.
const MAX_FILES: usize = 1024;
/// Most bytes of the text.
const MAX_BYTES: usize = 16 << 20;
/// Headers that the declarations stand for, or that only hosts need, by how they begin.
const USUAL: &str = "\
    cuda hip/ hip_ device_ vector_ sm_ math mma.h cooperative_groups builtin_types driver_types \
    host_defines texture_ channel_ curand hiprand std cstd cmath cfloat climits cassert ctime \
    cctype cerrno complex chrono cub/ cublas cufft cusparse cusolver cudnn cutlass/ thrust/ \
    assert.h float.h limits.h time.h sys/ \
    iostream iomanip fstream sstream vector string algorithm numeric random memory map unordered_ \
    utility array functional limits type_traits tuple thread mutex atomic iterator exception \
    helper_cuda helper_functions helper_gl helper_image helper_multi helper_string helper_timer \
    nvtx getopt.h unistd.h omp.h";

/// The text with each file in the place of its `#include` line.
pub(super) fn inlined(name: &str, source: &str, folders: &[PathBuf]) -> String {
    flat(name, source, folders).0
}

/// The same with the names of the headers that no folder has.
pub(super) fn flat(name: &str, source: &str, folders: &[PathBuf]) -> (String, Vec<String>) {
    let mut all = Inlined { folders, ..Inlined::default() };
    let mut text = String::new();
    all.add(name, source, &mut text, 0);
    (text, all.missing)
}

/// Headers that a source includes, that are found in none of the folders, and that may matter.
pub fn missing(name: &str, source: &str, folders: &[PathBuf]) -> Vec<String> {
    let (_, mut missing) = flat(name, source, folders);
    let usual = |name: &String| USUAL.split_whitespace().any(|start| name.starts_with(start));
    missing.retain(|name| !usual(name));
    missing
}

/// The files that have been met.
#[derive(Default)]
struct Inlined<'f> {
    folders: &'f [PathBuf],
    /// Those that are to be included once.
    once: BTreeSet<PathBuf>,
    files: usize,
    missing: Vec<String>,
}

impl Inlined<'_> {
    fn add(&mut self, name: &str, source: &str, text: &mut String, depth: usize) {
        for (line, number) in source.lines().zip(2_u32..) {
            match include_name(line) {
                None => text.push_str(line),
                Some(wanted) => match self.file(name, wanted).filter(|_| !is_library(wanted)) {
                    Some(path) if self.files < MAX_FILES && text.len() < MAX_BYTES => {
                        self.put(&path, text, depth);
                        text.push_str(&format!("# {number} {}\n", quote(name)));
                        continue;
                    }
                    _ => {
                        if !self.missing.iter().any(|known| known == wanted) {
                            self.missing.push(wanted.to_owned());
                        }
                    }
                },
            }
            text.push('\n');
        }
    }

    /// The file that an `#include` line in the file `name` names.
    fn file(&self, name: &str, wanted: &str) -> Option<PathBuf> {
        let beside = Path::new(name).parent().filter(|_| Path::new(name).is_absolute());
        let folders = beside.into_iter().chain(self.folders.iter().map(PathBuf::as_path));
        folders.map(|folder| folder.join(wanted)).find(|path| path.is_file())
    }

    fn put(&mut self, path: &Path, text: &mut String, depth: usize) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let Ok(source) = tickbound_input::source(&path) else { return };
        // A file may be reached by several paths.
        let own = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if self.once.contains(&own) || depth > 64 {
            return;
        }
        if source.contains("#pragma once") {
            self.once.insert(own);
        }
        self.files += 1;
        let name = path.to_string_lossy();
        text.push_str(&format!("# 1 {}\n", quote(&name)));
        self.add(&name, &source, text, depth + 1);
    }
}
