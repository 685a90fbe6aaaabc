//! Imports among the files of a crate, followed through re-exports, and their cycles.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Kind, Names, Source};

/// A module. An inline module has the file of its parent.
#[derive(Default)]
struct Module {
    file: usize,
    items: BTreeSet<String>,
    /// Names that `use` brings into scope; none for a name from another crate.
    bindings: BTreeMap<String, Option<Names>>,
    /// Names of descendants that it re-exports.
    reexports: BTreeSet<String>,
    globs: Vec<Names>,
}

/// How certain it is that a file defines what a path names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Defined,
    /// No item that syn reads defines it: a macro may.
    Assumed,
    /// The path names a module, or the file has the name from another crate.
    Passed,
}

/// Imports: the importing file and the imported file, with the first line that imports.
pub type Edges = BTreeMap<(usize, usize), usize>;

/// The modules of a crate and their imports.
#[derive(Default)]
pub struct Imports<'s> {
    /// Path of the module, path of the file and facts.
    files: Vec<(Names, &'s str, &'s Source)>,
    modules: BTreeMap<Names, Module>,
    /// Exported macros and their files.
    macros: BTreeMap<String, usize>,
    /// Imports by `use`, `crate::`, `super::` and names that `use` brought into scope. What a
    /// parent re-exports, and its paths into children, are not among them.
    pub plain: Edges,
    /// What a parent uses of its children, by their names or by its own re-exports.
    downward: Edges,
    /// Imports of what an ancestor defines.
    upward: Edges,
}

/// Re-exports are followed no further than this.
const MAX_REEXPORTS: usize = 16;

impl<'s> Imports<'s> {
    /// Reads the imports of a crate: the path of the module, the path of the file, the facts.
    pub fn new(files: Vec<(Names, &'s str, &'s Source)>) -> Self {
        let mut imports = Imports { files, ..Imports::default() };
        imports.define();
        imports.bind();
        for file in 0..imports.files.len() {
            imports.connect(file);
        }
        imports
    }

    /// Enters the modules and what they define.
    fn define(&mut self) {
        for (file, (module, _, source)) in self.files.iter().enumerate() {
            self.modules.entry(module.clone()).or_default().file = file;
            for item in source.items.iter().filter(|item| item.at_module_level) {
                if item.kind == Kind::ExportedMacro {
                    self.macros.insert(item.name.clone(), file);
                }
                let path = [module.as_slice(), &item.scope].concat();
                let inline = self.modules.entry(path).or_default();
                inline.file = file;
                inline.items.insert(item.name.clone());
            }
        }
    }

    /// Enters the names that `use` statements bring into scope.
    fn bind(&mut self) {
        for (module, _, source) in &self.files {
            for import in &source.uses {
                let scope = [module.as_slice(), &import.scope].concat();
                let target = self.absolute(&scope, &import.path);
                let inside = target.as_ref().is_some_and(|path| path.starts_with(&scope));
                let Some(module) = self.modules.get_mut(&scope) else { continue };
                match (&import.name, target) {
                    (Some(name), target) => {
                        module.bindings.insert(name.clone(), target);
                        if import.reexport && inside {
                            module.reexports.insert(name.clone());
                        }
                    }
                    (None, Some(target)) => module.globs.push(target),
                    (None, None) => {}
                }
            }
        }
    }

    /// Enters the imports of a file.
    fn connect(&mut self, file: usize) {
        let (module, _, source) = self.files[file].clone();
        for import in &source.uses {
            let scope = [module.as_slice(), &import.scope].concat();
            let target = self.absolute(&scope, &import.path);
            let inside = target.is_some_and(|path| path.starts_with(&scope));
            if !(import.reexport && inside) {
                self.enter(file, &scope, &import.path, import.line, true);
            }
        }
        for path in &source.paths {
            let scope = [module.as_slice(), &path.scope].concat();
            let plain = !self.is_downward(&scope, &path.path[0]);
            self.enter(file, &scope, &path.path, path.line, plain);
        }
    }

    /// True if a name in a module is that of a child, or of something that it re-exports.
    fn is_downward(&self, scope: &[String], name: &String) -> bool {
        let module = self.modules.get(scope);
        module.is_some_and(|module| module.reexports.contains(name))
            || self.modules.contains_key(&[scope, std::slice::from_ref(name)].concat())
    }

    /// Enters one import, if the path stays in the crate and leaves the file.
    fn enter(&mut self, from: usize, scope: &[String], path: &[String], line: usize, plain: bool) {
        let path = self.absolute(scope, path);
        let target = path.and_then(|path| self.target(&path, MAX_REEXPORTS));
        let Some((to, certainty)) = target.filter(|(to, _)| *to != from) else { return };
        let keep_first = |edges: &mut Edges| {
            let first = edges.entry((from, to)).or_insert(line);
            *first = line.min(*first);
        };
        keep_first(if plain { &mut self.plain } else { &mut self.downward });
        let (child, parent) = (&self.files[from].0, &self.files[to].0);
        if child.starts_with(parent) && certainty != Certainty::Passed {
            keep_first(&mut self.upward);
        }
    }

    /// A path from the crate's root; none if it leaves the crate or is a local name.
    fn absolute(&self, scope: &[String], path: &[String]) -> Option<Names> {
        let first = path.first()?;
        let ups = path.iter().take_while(|name| *name == "super").count();
        if first == "crate" {
            return Some(path[1..].to_vec());
        }
        if first == "self" || ups > 0 {
            let base = &scope[..scope.len().checked_sub(ups)?];
            return Some([base, &path[ups.max(1)..]].concat());
        }
        let child = [scope, &path[..1]].concat();
        if self.modules.contains_key(&child) {
            return Some([scope, path].concat());
        }
        let module = self.modules.get(scope)?;
        match module.bindings.get(first) {
            Some(target) => Some([target.as_ref()?, &path[1..]].concat()),
            None => module.items.contains(first).then(|| [scope, path].concat()),
        }
    }

    /// The file that defines what a path names, or else the last one on the way to it.
    fn target(&self, path: &[String], depth: usize) -> Option<(usize, Certainty)> {
        let depth = depth.checked_sub(1)?;
        let known = (0..=path.len()).rev().find(|n| self.modules.contains_key(&path[..*n]))?;
        let module = &self.modules[&path[..known]];
        let Some(name) = path.get(known) else { return Some((module.file, Certainty::Passed)) };
        if module.items.contains(name) {
            return Some((module.file, Certainty::Defined));
        }
        if let (0, Some(file)) = (known, self.macros.get(name)) {
            return Some((*file, Certainty::Defined));
        }
        match module.bindings.get(name) {
            Some(None) => return Some((module.file, Certainty::Passed)),
            Some(Some(target)) => {
                return self.target(&[target, &path[known + 1..]].concat(), depth);
            }
            None => {}
        }
        let through = |glob: &Names| self.target(&[glob, &path[known..]].concat(), depth);
        let defined = |found: &(usize, Certainty)| found.1 == Certainty::Defined;
        let found = module.globs.iter().filter_map(through).find(defined);
        Some(found.unwrap_or((module.file, Certainty::Assumed)))
    }

    /// Edges from parents to children that import what the parent defines, with the line of that
    /// import.
    pub fn parents(&self) -> Edges {
        self.upward.iter().map(|(&(child, parent), &line)| ((parent, child), line)).collect()
    }

    /// All imports. A parent that defines what a child imports counts as importing the child.
    pub fn with_parents(&self) -> Edges {
        let mut edges: Edges = self.parents().into_keys().map(|ends| (ends, 1)).collect();
        edges.extend(&self.downward);
        edges.extend(&self.plain);
        edges
    }

    /// The plain imports between modules at the crate's root, each as its first file.
    pub fn between_root_modules(&self) -> Edges {
        let mut first: BTreeMap<&String, usize> = BTreeMap::new();
        for (file, (module, ..)) in self.files.iter().enumerate() {
            module.first().map(|name| first.entry(name).or_insert(file));
        }
        let root = |file: usize| self.files[file].0.first().map(|name| first[name]);
        let ends = self.plain.iter().filter_map(|(&(from, to), &line)| {
            let (from, to) = (root(from)?, root(to)?);
            (from != to).then_some(((from, to), line))
        });
        ends.collect()
    }

    /// The path of a file.
    pub fn path(&self, file: usize) -> &'s str {
        self.files[file].1
    }
}

/// The edges that are part of a cycle: both ends are in one strongly connected component.
pub fn in_cycles(edges: &Edges) -> Edges {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    edges.keys().for_each(|&(from, to)| next.entry(from).or_default().push(to));
    let mut reached: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for &start in next.keys() {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(at) = open.pop() {
            let unseen = next.get(&at).into_iter().flatten().filter(|to| seen.insert(**to));
            open.extend(unseen);
        }
        reached.insert(start, seen);
    }
    let returns = |from: &usize, to: &usize| reached.get(to).is_some_and(|all| all.contains(from));
    edges.iter().filter(|((from, to), _)| returns(from, to)).map(|(k, v)| (*k, *v)).collect()
}
