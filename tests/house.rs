//! What keeps the house in order: no cycle of imports, libraries that stay light, and one line for a
//! new encoding or strategy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const CRATES: [&str; 19] = [
    "message",
    "names",
    "input",
    "output",
    "process",
    "elimination",
    "model",
    "obligation",
    "certificate",
    "schedules",
    "encodings",
    "solve",
    "spin",
    "opencl-c",
    "propose",
    "reo",
    "dataset",
    "mpi",
    ".",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A path of module names from the crate's root.
type Module = Vec<String>;

/// The modules of a crate that are files, with their texts.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut modules = BTreeMap::new();
    let mut folders = vec![(source.to_owned(), Module::new())];
    while let Some((folder, path)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|e| e.expect("an entry")) {
            let (file, name) = (entry.path(), entry.file_name().into_string().expect("UTF-8"));
            let mut module = path.clone();
            if file.is_dir() {
                module.push(name);
                folders.push((file, module));
            } else if let Some(name) = name.strip_suffix(".rs").filter(|name| *name != "tests") {
                if !["lib", "main", "mod"].contains(&name) {
                    module.push(name.to_owned());
                }
                modules.insert(module, code(&std::fs::read_to_string(&file).expect("a text")));
            }
        }
    }
    modules
}

/// A file's text without comments, and without its own tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that the text at `start` writes, with the braces of a `use` multiplied out.
fn paths(start: &str) -> Vec<Module> {
    let word: String = start.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let rest = &start[word.len()..];
    let begun = |mut tail: Vec<Module>| {
        if !word.is_empty() {
            tail.iter_mut().for_each(|path| path.insert(0, word.clone()));
        }
        tail
    };
    match rest.strip_prefix("::") {
        None => vec![if word.is_empty() { vec![] } else { vec![word] }],
        Some(after) => match after.trim_start().strip_prefix('{') {
            None => begun(paths(after)),
            Some(inside) => begun(items(inside).iter().flat_map(|i| paths(i.trim())).collect()),
        },
    }
}

/// The items of a brace that has been opened.
fn items(inside: &str) -> Vec<String> {
    let (mut depth, mut all) = (0, vec![String::new()]);
    for c in inside.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => all.push(String::new()),
            c => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                all.last_mut().expect("an item").push(c);
            }
        }
    }
    all
}

/// Paths in a module's text that begin at the crate's root, from there.
fn named(modules: &BTreeMap<Module, String>, module: &Module, text: &str) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("crate::").chain(text.match_indices("super::")) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
            continue;
        }
        for path in paths(&text[at..]) {
            let ups = path.iter().take_while(|p| *p == "super").count();
            let base = if ups > 0 { &module[..module.len().saturating_sub(ups)] } else { &[] };
            let tail = path.iter().skip(ups.max(1)).cloned();
            found.insert(base.iter().cloned().chain(tail).collect());
        }
    }
    // A child's name alone, as in `use child::Item` of its parent.
    let is_child = |name: &str| modules.contains_key(&[module.as_slice(), &[name.into()]].concat());
    for (at, _) in text.match_indices("use ") {
        for path in paths(text[at + 4..].trim_start()) {
            if path.first().is_some_and(|name| is_child(name)) {
                found.insert([module.as_slice(), &path].concat());
            }
        }
    }
    found
}

/// Where the thing at a path is defined: through the re-exports of parents, down to a file.
fn defined(
    modules: &BTreeMap<Module, String>,
    reexports: &BTreeMap<Module, BTreeMap<String, Module>>,
    path: &Module,
) -> Module {
    let known = (0..=path.len()).rev().find(|n| modules.contains_key(&path[..*n])).unwrap_or(0);
    let (module, name) = (path[..known].to_vec(), path.get(known));
    match name.and_then(|name| reexports.get(&module)?.get(name)) {
        Some(target) if *target != module => defined(modules, reexports, target),
        _ => module,
    }
}

/// The imports of a crate: which file takes something from which. What a parent hands on from its
/// children ties it to nobody.
fn imports(source: &Path) -> BTreeSet<(Module, Module)> {
    let modules = modules(source);
    let mut reexports: BTreeMap<Module, BTreeMap<String, Module>> = BTreeMap::new();
    for (module, text) in &modules {
        let handed_on: String =
            statements(text, "pub use ").chain(statements(text, "use ")).collect();
        for path in named(&modules, module, &handed_on) {
            if path.len() > module.len() + 1 && path.starts_with(module) {
                let name = path.last().expect("a name").clone();
                reexports.entry(module.clone()).or_default().insert(name, path);
            }
        }
    }
    let mut edges = BTreeSet::new();
    for (module, text) in &modules {
        let own = statements(text, "pub use ").fold(text.clone(), |text, re| text.replace(re, ""));
        for path in named(&modules, module, &own) {
            edges.insert((module.clone(), defined(&modules, &reexports, &path)));
        }
    }
    edges.retain(|(from, to)| from != to);
    edges
}

/// The statements that begin a line with `start`, up to their semicolons.
fn statements<'t>(text: &'t str, start: &'static str) -> impl Iterator<Item = &'t str> {
    let begins =
        text.match_indices(start).filter(|(at, _)| text[..*at].ends_with('\n') || *at == 0);
    begins.map(|(at, _)| text[at..].split_inclusive(';').next().unwrap_or_default())
}

/// The same imports, between the modules at the crate's root.
fn rooms(edges: &BTreeSet<(Module, Module)>) -> BTreeSet<(Module, Module)> {
    let room = |module: &Module| module[..1].to_vec();
    let inside = edges.iter().filter(|(from, to)| !from.is_empty() && !to.is_empty());
    inside.map(|(from, to)| (room(from), room(to))).filter(|(from, to)| from != to).collect()
}

/// A cycle of imports.
fn cycle(edges: &BTreeSet<(Module, Module)>) -> Option<Vec<Module>> {
    let mut next: BTreeMap<&Module, Vec<&Module>> = BTreeMap::new();
    edges.iter().for_each(|(from, to)| next.entry(from).or_default().push(to));
    let back = |start: &Module| {
        let mut open = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        while let Some(path) = open.pop() {
            for to in next.get(path.last().expect("a path")).into_iter().flatten() {
                let longer = [path.as_slice(), std::slice::from_ref(*to)].concat();
                if *to == start {
                    return Some(longer);
                }
                if seen.insert(*to) {
                    open.push(longer);
                }
            }
        }
        None
    };
    next.keys().copied().find_map(back)
}

#[test]
fn no_modules_import_each_other_in_a_cycle() {
    let mut faults = Vec::new();
    for name in CRATES {
        let edges = imports(&root().join(name).join("src"));
        assert!(
            edges.len() > 3
                || ["message", "names", "input", "output", "process", "mpi"].contains(&name),
            "{name}: {edges:?}"
        );
        for cycle in [cycle(&edges), cycle(&rooms(&edges))].into_iter().flatten() {
            let cycle: Vec<String> = cycle.iter().map(|m| m.join("::")).collect();
            faults.push(format!("{name}: {}", cycle.join(" -> ")));
        }
    }
    assert!(faults.is_empty(), "cycles of imports:\n{}", faults.join("\n"));
}

#[test]
fn a_cycle_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Thing;\n");
    write("a.rs", "use crate::b::{self, x::{Y, Z}};\n");
    write("b.rs", "// use crate::a::No;\nfn f() -> crate::Thing { todo!() }\n");
    write("c.rs", "pub struct Thing;\n");
    assert_eq!(cycle(&imports(folder.path())), None);
    write("c.rs", "use super::a::A;\npub struct Thing;\n");
    let found = cycle(&imports(folder.path())).expect("a -> b -> c -> a");
    assert_eq!(found.iter().map(|m| m.join("::")).collect::<Vec<_>>(), ["a", "b", "c", "a"]);
}

/// What each package is built with, by name.
fn dependencies(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--package", package])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn libraries_stay_light() {
    let heavy = [
        "clap",
        "plotters",
        "opencl3",
        "signal-hook",
        "indicatif",
        "minijinja",
        "clang",
        "tempfile",
        "parquet",
    ];
    for (package, allowed) in [
        ("tickbound-elimination", &[][..]),
        ("tickbound-model", &[]),
        ("tickbound-encodings", &[]),
        ("tickbound-solve", &[]),
        ("tickbound-spin", &["minijinja", "tempfile"]),
        ("tickbound-opencl-c", &["clang", "tempfile"]),
        ("tickbound-reo", &[]),
    ] {
        let built_with = dependencies(package);
        assert!(built_with.contains(package), "{package}: {built_with:?}");
        let unwanted: Vec<_> = heavy
            .iter()
            .filter(|name| built_with.contains(**name) && !allowed.contains(*name))
            .collect();
        assert!(unwanted.is_empty(), "{package} is built with {unwanted:?}");
    }
    // The model knows nobody, and only the solver knows Z3.
    assert!(!dependencies("tickbound-model").contains("tickbound-encodings"));
    for package in ["tickbound-encodings", "tickbound-spin", "tickbound-opencl-c", "tickbound-reo"]
    {
        assert!(!dependencies(package).contains("z3"), "{package}");
    }
}

/// What cargo says of the packages.
fn packages() -> Vec<Value> {
    let metadata = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--offline", "--locked", "--no-deps", "--format-version", "1"])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

/// True if a file in a folder has a test.
fn has_tests(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    entries.into_iter().any(|path| match path.is_dir() {
        true => has_tests(&path),
        false => std::fs::read_to_string(&path).expect("a text").contains("#[test]"),
    })
}

/// A library is compiled once more for its own tests, so those without any say `test = false`, and no others do.
#[test]
fn libraries_with_tests_of_their_own_run_them() {
    let (mut tested, mut untested) = (0, 0);
    for package in packages() {
        for target in package["targets"].as_array().expect("targets") {
            if target["kind"][0] == "lib" {
                let source = Path::new(target["src_path"].as_str().expect("a path"));
                let tests = has_tests(source.parent().expect("a folder"));
                assert_eq!(target["test"], tests, "{}", package["name"]);
                *(if tests { &mut tested } else { &mut untested }) += 1;
            }
        }
    }
    assert_eq!((tested, untested), (10, 8));
}

#[test]
fn the_examples_need_the_solver_alone() {
    let packages = packages();
    let mut examples: Vec<(&str, &str)> = Vec::new();
    for package in &packages {
        for target in package["targets"].as_array().expect("targets") {
            if target["kind"][0] == "example" {
                examples.push((
                    package["name"].as_str().expect("a name"),
                    target["name"].as_str().expect("a name"),
                ));
            }
        }
    }
    examples.sort_unstable();
    let solve = "tickbound-solve";
    // The first is what `make test-mpi` starts.
    let expected = [("tickbound-mpi", "ranks"), (solve, "custom_search"), (solve, "tune_kernel")];
    assert_eq!(examples, expected);
}

/// Files of the crates' sources that contain `text`, from the project's root.
fn files_with(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for name in CRATES {
        let source = root().join(name).join("src");
        for (module, code) in modules(&source) {
            if code.contains(text) {
                files.push(format!("{name}/{}", module.join("/")));
            }
        }
    }
    files
}

/// An encoding is a module and a line in `encodings/src/encoding.rs`, a strategy a file and a line in
/// `solve/src/strategy/mod.rs`: nothing else knows one by name.
#[test]
fn nobody_knows_an_encoding_or_a_strategy_by_name() {
    for name in ["Tick", "Summary"] {
        assert_eq!(files_with(&format!("Encoding::{name}")), [""; 0], "Encoding::{name}");
    }
    for name in ["Optimize", "Descend", "Ascend", "Bisect"] {
        // `BisectFresh` is the papers' own and has a name among the engines.
        let others = files_with(&format!("Strategy::{name}"));
        let fresh = files_with("Strategy::BisectFresh");
        let left: Vec<_> = others.into_iter().filter(|f| !fresh.contains(f)).collect();
        assert_eq!(left, [""; 0], "Strategy::{name}");
    }
    assert_eq!(files_with("=> Entry {"), ["encodings/encoding"]);
    assert_eq!(files_with("::ENTRY,"), ["solve/strategy"]);
}
