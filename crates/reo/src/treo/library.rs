//! Where imports are looked for; a [`Library`] reads the files.
//!
//! For `import x.y.z;` in the file F with `section s.t;`, in this order:
//!
//! 1. the root of F: its folder, less the words of its section where they match the end of it;
//! 2. the folder of F and every folder above it, the nearest first;
//! 3. `library` in each of those, in the same order;
//! 4. the folders of [`Library::folders`] (`--library`);
//! 5. for `reo.*`, the built-in components (`catalog.rs`).
//!
//! In each folder it is `x/y/z` with one of the ends [`ENDS`], in their order. The first file is
//! taken that defines the component `z` with parameters and nodes that fit the use.

use indexmap::IndexMap;
use itertools::Itertools;

/// Ends of file names, the preferred ones first.
pub const ENDS: [&str; 5] = [".rba.treo", ".treo", ".wa.treo", ".sca.treo", ".pr.treo"];

/// Most folders above a file that are looked into.
const MAX_ABOVE: usize = 64;

/// Files that can be imported.
pub trait Library {
    /// Folders that are looked into after those around the importing file.
    fn folders(&self) -> Vec<String>;

    /// The text of the file at `path`, or nothing if there is none.
    ///
    /// # Errors
    /// Why a file that is there cannot be read.
    fn read(&self, path: &str) -> Result<Option<String>, String>;
}

/// Files in memory: texts by path. Empty, it is a library with the built-in components alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shelf {
    /// The texts.
    pub files: IndexMap<String, String>,
    /// See [`Library::folders`].
    pub folders: Vec<String>,
}

impl Library for Shelf {
    fn folders(&self) -> Vec<String> {
        self.folders.clone()
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok(self.files.get(path).cloned())
    }
}

/// The folder of the file at `path`; empty for a file without one.
pub fn folder(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(end) => path[..end].trim_end_matches('/'),
        None => "",
    }
}

/// The word that a file's component is expected to have: its name up to the first point.
pub fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.split('.').next().unwrap_or_default()
}

/// The folder that the section of the file at `path` starts from: its folder, less the words of
/// `section` where they match the end of it.
pub fn root<'p>(path: &'p str, section: &[&str]) -> &'p str {
    let mut at = folder(path);
    for word in section.iter().rev() {
        match at.strip_suffix(word) {
            Some(above) if above.is_empty() || above.ends_with('/') => {
                at = if above == "/" { above } else { above.trim_end_matches('/') };
            }
            _ => break,
        }
    }
    at
}

/// The folders that imports of the file at `path` are looked for in, in order, none twice.
pub fn folders(path: &str, section: &[&str], extra: &[String]) -> Vec<String> {
    let mut around = vec![root(path, section).to_owned()];
    let mut at = folder(path);
    for _ in 0..MAX_ABOVE {
        around.push(at.to_owned());
        if at.is_empty() || at == "/" {
            break;
        }
        at = folder(at);
    }
    let libraries = around.clone().into_iter().map(|f| join(&f, "library"));
    around.extend(libraries);
    around.extend(extra.iter().map(|f| f.trim_end_matches('/').to_owned()));
    around.into_iter().unique().collect()
}

/// The files that may hold what `import` names, in the order of preference.
pub fn candidates<'a>(
    folders: &'a [String],
    import: &'a [String],
) -> impl Iterator<Item = String> + 'a {
    let file = import.join("/");
    folders.iter().flat_map(move |folder| {
        let path = join(folder, &file);
        ENDS.iter().map(move |end| format!("{path}{end}"))
    })
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') {
        format!("{folder}{name}")
    } else {
        format!("{folder}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_tried_from_the_nearest_on() {
        let extra = ["/more/".to_owned()];
        let found = folders("/w/examples/slides/main/m.treo", &["slides", "main"], &extra);
        let expected = "/w/examples /w/examples/slides/main /w/examples/slides /w / \
                        /w/examples/library /w/examples/slides/main/library \
                        /w/examples/slides/library /w/library /library /more";
        assert_eq!(found.join(" "), expected);
        assert_eq!(folders("m.treo", &[], &[]).join(" "), " library");
        assert_eq!(folders("a/m.treo", &["a"], &[]).join(" "), " a library a/library");
    }

    #[test]
    fn rules_are_preferred() {
        let folders = ["/l".to_owned(), String::new()];
        let import = ["reo".to_owned(), "sync".to_owned()];
        let first: Vec<String> = candidates(&folders, &import).take(6).collect();
        let expected = "/l/reo/sync.rba.treo /l/reo/sync.treo /l/reo/sync.wa.treo \
                        /l/reo/sync.sca.treo /l/reo/sync.pr.treo reo/sync.rba.treo";
        assert_eq!(first.join(" "), expected);
    }

    #[test]
    fn a_section_that_only_ends_alike_is_kept() {
        assert_eq!(root("/x/myreo/f.treo", &["reo"]), "/x/myreo");
        assert_eq!(root("/lib/reo/fifo.treo", &["reo"]), "/lib");
        assert_eq!(root("/lib/reo/fifo.treo", &["slides", "fifo"]), "/lib/reo");
        assert_eq!(root("/lib/slides/fifo/fifo.treo", &["slides", "fifo"]), "/lib");
        assert_eq!(root("reo/f.treo", &["reo"]), "");
        assert_eq!(root("/reo/f.treo", &["reo"]), "/");
        assert_eq!(root("f.treo", &["reo"]), "");
        assert_eq!(stem("/a/fifo1.rba.treo"), "fifo1");
    }
}
