//! The workspace under test: packages from cargo, files from git.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::source::Source;

/// A package of the workspace. Paths are relative to the root and use `/`.
pub struct Package {
    pub name: String,
    pub manifest: String,
    /// Packages of the workspace that it depends on, in normal builds.
    pub arrows: BTreeSet<String>,
    pub targets: Vec<Target>,
}

/// A target of a package.
pub struct Target {
    pub kind: String,
    pub name: String,
    pub path: String,
    /// False where the manifest has `test = false`.
    pub tested: bool,
}

/// A Rust file. Files of tests, benches and examples have no facts.
pub struct File {
    pub path: String,
    pub text: String,
    pub source: Option<Source>,
}

/// All that the rules measure.
pub struct Workspace {
    pub packages: Vec<Package>,
    pub files: Vec<File>,
    /// Pages of documentation: path and text.
    pub pages: Vec<(String, String)>,
    /// Entries of the top level in git; folders end with `/`.
    pub entries: BTreeSet<String>,
    /// Files that differ from the last commit.
    pub changed: BTreeSet<String>,
}

/// The folder of the workspace.
pub fn root() -> PathBuf {
    std::env::var_os("LAYOUT_ROOT").map_or(env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

/// The workspace, read once.
pub fn workspace() -> &'static Workspace {
    static WORKSPACE: OnceLock<Workspace> = OnceLock::new();
    WORKSPACE.get_or_init(|| Workspace::read(&root()))
}

/// The output of a command that must succeed.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).current_dir(root()).args(arguments).output();
    let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Paths that git lists.
fn listed(arguments: &[&str]) -> BTreeSet<String> {
    let text = run("git", &[&["-c", "core.quotePath=off"], arguments].concat());
    text.lines().map(str::to_owned).collect()
}

/// True for a file of tests, benches, fuzz targets or examples.
pub fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| ["tests", "benches", "fuzz", "examples", "tests.rs"].contains(&part))
}

impl Workspace {
    /// Reads the workspace at a folder.
    fn read(root: &Path) -> Workspace {
        let tracked = listed(&["ls-files"]);
        let untracked = listed(&["ls-files", "--others", "--exclude-standard"]);
        let mut changed = listed(&["diff", "--name-only", "HEAD"]);
        changed.extend(untracked.iter().cloned());
        let read = |path: &String| {
            let text = std::fs::read_to_string(root.join(path));
            Some((path.clone(), text.ok()?))
        };
        let present = || tracked.union(&untracked).filter(|path| root.join(path).is_file());
        let rust: Vec<(String, String)> =
            present().filter(|path| path.ends_with(".rs")).filter_map(read).collect();
        let is_page = |path: &str| {
            let docs = path.starts_with("docs/") && !path.starts_with("docs/results/");
            path.ends_with(".md") && (docs || path == "README.md")
        };
        Workspace {
            packages: packages(root),
            files: files(rust),
            pages: present().filter(|path| is_page(path)).filter_map(read).collect(),
            entries: tracked
                .iter()
                .filter(|path| root.join(path).exists())
                .map(|path| entry(path))
                .collect(),
            changed,
        }
    }

    /// Files outside tests with their facts.
    pub fn sources(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files.iter().filter_map(|file| Some((file, file.source.as_ref()?)))
    }

    /// Files of a package's libraries and programs, by the path of their module. A package with
    /// a library has no entry for `main.rs`, which is a crate of its own.
    pub fn modules(&self, package: &Package) -> BTreeMap<Vec<String>, (&File, &Source)> {
        let roots = package.targets.iter().filter(|t| ["lib", "bin"].contains(&t.kind.as_str()));
        let Some(target) = roots.min_by_key(|t| t.kind != "lib") else { return BTreeMap::new() };
        let folder = target.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut modules = BTreeMap::new();
        for (file, source) in self.sources() {
            let inside = file.path.strip_prefix(folder).and_then(|path| path.strip_prefix('/'));
            let Some(inside) = inside.and_then(|path| path.strip_suffix(".rs")) else { continue };
            if file.path == target.path {
                modules.insert(Vec::new(), (file, source));
            } else if !["main", "lib", "build"].contains(&inside) {
                let inside = inside.strip_suffix("/mod").unwrap_or(inside);
                modules.insert(inside.split('/').map(str::to_owned).collect(), (file, source));
            }
        }
        modules
    }
}

/// The first component of a path; folders end with `/`.
fn entry(path: &str) -> String {
    path.split_once('/').map_or(path.to_owned(), |(folder, _)| format!("{folder}/"))
}

/// Parses the files outside tests, on all processors.
pub fn files(texts: Vec<(String, String)>) -> Vec<File> {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let share = texts.len().div_ceil(workers).max(1);
    let parse = |(path, text): &(String, String)| {
        let parsed = || Source::parse(text).unwrap_or_else(|fault| panic!("{path}:{fault}"));
        let source = (!is_test_path(path)).then(parsed);
        File { path: path.clone(), text: text.clone(), source }
    };
    let mut files: Vec<File> = std::thread::scope(|scope| {
        let shares = texts.chunks(share);
        let running: Vec<_> =
            shares.map(|s| scope.spawn(|| s.iter().map(parse).collect::<Vec<_>>())).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("files parse")).collect()
    });
    without_test_modules(&mut files);
    files
}

/// Drops the facts of files that a parent declares under `#[cfg(test)]`.
fn without_test_modules(files: &mut [File]) {
    let mut tests = BTreeSet::new();
    for file in &*files {
        let stem = file.path.trim_end_matches(".rs");
        let folder = match stem.rsplit_once('/') {
            Some((folder, "mod" | "lib" | "main")) => folder,
            _ => stem,
        };
        for module in file.source.iter().flat_map(|source| &source.test_modules) {
            tests.insert(format!("{folder}/{}", module.join("/")));
        }
    }
    for file in files {
        let stem = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        if tests.contains(stem) {
            file.source = None;
        }
    }
}

/// The packages of the workspace.
fn packages(root: &Path) -> Vec<Package> {
    let text = run(
        env!("CARGO"),
        &["metadata", "--offline", "--locked", "--no-deps", "--format-version", "1"],
    );
    let metadata: Value = serde_json::from_str(&text).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    packages.iter().map(|p| package(root, p, &names)).collect()
}

/// A package as `cargo metadata` states it.
fn package(root: &Path, value: &Value, names: &BTreeSet<&str>) -> Package {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let root = root.canonicalize().expect("the root");
    let relative = |value: &Value| {
        let path = PathBuf::from(text(value)).canonicalize().expect("a path");
        path.strip_prefix(&root).expect("a path in the workspace").to_string_lossy().into_owned()
    };
    let manifest = relative(&value["manifest_path"]);
    let dependencies = value["dependencies"].as_array().expect("dependencies");
    let normal = dependencies.iter().filter(|d| d["kind"].is_null());
    let targets = value["targets"].as_array().expect("targets").iter().map(|target| Target {
        kind: text(&target["kind"][0]),
        name: text(&target["name"]),
        path: relative(&target["src_path"]),
        tested: target["test"] == true,
    });
    Package {
        name: text(&value["name"]),
        arrows: normal.map(|d| text(&d["name"])).filter(|n| names.contains(n.as_str())).collect(),
        targets: targets.collect(),
        manifest,
    }
}
