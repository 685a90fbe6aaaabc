//! Headers that lie in another folder of the source's project.
//!
//! The project is the nearest folder around the source with a `.git`, or else the folders up to two
//! levels above it. Folders near the source are searched first, each level in the order of names.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use tickbound_opencl::cuda::missing;

use crate::init_request::InitRequest;

/// Endings of sources that may include others.
const SOURCES: [&str; 5] = [".cl", ".cu", ".hip", ".cuh", ".cpp"];
/// Levels above a source that no repository is around.
const ABOVE: usize = 2;
/// Levels below a folder that are searched.
const BELOW: usize = 4;
/// Most folders that are searched.
const MAX_FOLDERS: usize = 4_000;

/// Adds the folders of headers that the source's own folder and those of the request do not have. A
/// note of each.
pub(crate) fn add(path: &Path, text: &str, request: &mut InitRequest) -> Vec<String> {
    let own = path.parent().unwrap_or(Path::new(""));
    let folders = std::iter::once(own.to_owned());
    let folders: Vec<PathBuf> =
        folders.chain(request.include.iter().map(|name| own.join(name))).collect();
    let mut notes = Vec::new();
    for name in missing(&path.to_string_lossy(), text, &folders) {
        // One that was added for another may have it.
        let has = |folder: &String| own.join(folder).join(&name).is_file();
        if request.include.iter().any(has) {
            continue;
        }
        if let Some(folder) = folder_of(path, &name) {
            notes.push(format!("include: {folder}, which has {name}"));
            request.include.push(folder);
        }
    }
    notes
}

/// The source in the same folder that includes this one, the first by its name.
pub(crate) fn including(path: &Path) -> Option<PathBuf> {
    let own = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let entries = fs::read_dir(if folder == Path::new("") { Path::new(".") } else { folder });
    let names = entries.ok()?.flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name != own && SOURCES.iter().any(|ending| name.ends_with(ending)));
    names.sort_unstable();
    let includes = |name: &String| {
        let text = tickbound_input::text(folder.join(name)).unwrap_or_default();
        let mut files = text.lines().filter_map(tickbound_opencl::include_name);
        files.any(|file| file.trim_start_matches("./") == own)
    };
    names.into_iter().find(includes).map(|name| folder.join(name))
}

/// The folder in which a file of this name lies, from that of the source: what `kernel.include`
/// takes. `None` if none is found.
fn folder_of(source: &Path, name: &str) -> Option<String> {
    let own = fs::canonicalize(source).ok()?.parent()?.to_owned();
    let repository = own.ancestors().position(|folder| folder.join(".git").exists());
    let home = std::env::home_dir();
    let around = own.ancestors().take(1 + repository.unwrap_or(ABOVE));
    // The home directory and /tmp contain more than one project.
    let around = around.take_while(|folder| {
        folder.parent().is_some() && home.as_deref() != Some(folder) && Path::new("/tmp") != *folder
    });
    let mut left = MAX_FOLDERS;
    for (up, base) in around.enumerate() {
        if let Some(below) = below(base, name, &mut left) {
            let up: PathBuf = std::iter::repeat_n("..", up).collect();
            return Some(up.join(below).display().to_string());
        }
    }
    None
}

/// The folder below another in which a file of this name lies.
fn below(base: &Path, name: &str, left: &mut usize) -> Option<PathBuf> {
    let mut waiting = VecDeque::from([(PathBuf::new(), 0)]);
    while let Some((folder, depth)) = waiting.pop_front() {
        let here = base.join(&folder);
        if !Path::new(name).is_absolute() && here.join(name).is_file() {
            return Some(folder);
        }
        *left = left.checked_sub(1)?;
        if depth == BELOW {
            continue;
        }
        let entries = fs::read_dir(here).into_iter().flatten().flatten();
        let folders = entries.filter(|e| e.file_type().is_ok_and(|ty| ty.is_dir()));
        let mut names: Vec<_> = folders.map(|entry| entry.file_name()).collect();
        names.retain(|name| !name.to_string_lossy().starts_with('.'));
        names.sort_unstable();
        waiting.extend(names.into_iter().map(|name| (folder.join(name), depth + 1)));
    }
    None
}
