//! The files that a connector comes from, read when a component of theirs is used.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{BlockItem, Body, Definition, File, TermBlock};
use super::error::{MAX_FILES, TreoFault, TreoResult};
use super::library::{Library, candidates, folders};
use super::parse;
use crate::catalog::Primitive;
use crate::syntax::{Source, Spot, SyntaxFault};

#[derive(Debug)]
pub(super) struct Loaded {
    pub source: Source,
    pub file: File,
    /// All components: those of the file in the order of the text, then those that blocks define.
    pub all: Vec<Arc<Definition>>,
    /// Numbers in `all`, by the place of the text.
    numbers: HashMap<usize, usize>,
    folders: Vec<String>,
}

impl Loaded {
    fn new(source: Source, file: File, folders: Vec<String>) -> Loaded {
        let mut all = file.definitions.clone();
        let mut next = 0;
        while let Some(definition) = all.get(next).cloned() {
            if let Body::Block(block) = &definition.body {
                locals(block, &mut all);
            }
            next += 1;
        }
        let numbers = all.iter().enumerate().map(|(number, d)| (d.spot.0, number)).collect();
        Loaded { source, file, all, numbers, folders }
    }

    /// The number of one of its components.
    pub fn number(&self, definition: &Definition) -> Option<usize> {
        self.numbers.get(&definition.spot.0).copied()
    }
}

/// The components that a block and the blocks in it define.
fn locals(block: &TermBlock, into: &mut Vec<Arc<Definition>>) {
    into.extend(block.definitions.iter().cloned());
    for item in &block.items {
        if let BlockItem::Block(inner) = item {
            locals(inner, into);
        }
    }
}

/// A component, before its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// One of a file's definitions; if imported, the importing file and number of the import.
    Defined { file: usize, definition: usize, import: Option<(usize, usize)> },
    /// One of [`crate::catalog`].
    BuiltIn(Arc<str>),
}

pub(super) struct Files<'l> {
    library: &'l dyn Library,
    loaded: Vec<Arc<Loaded>>,
    by_path: HashMap<String, Option<usize>>,
    targets: HashMap<(usize, String), Option<Target>>,
}

impl<'l> Files<'l> {
    /// With the file to begin with, which has number 0.
    pub fn new(source: &Source, library: &'l dyn Library) -> TreoResult<Self> {
        let (by_path, targets) = <_>::default();
        let mut files = Files { library, loaded: Vec::new(), by_path, targets };
        files.load(source.clone(), Spot(0))?;
        Ok(files)
    }

    pub fn get(&self, file: usize) -> Arc<Loaded> {
        Arc::clone(&self.loaded[file])
    }

    fn load(&mut self, source: Source, spot: Spot) -> TreoResult<usize> {
        if self.loaded.len() >= MAX_FILES {
            return Err(source.fault(spot, TreoFault::limit("files", MAX_FILES)));
        }
        let file = parse::file(&source)?;
        let section: Vec<&str> = file.section.iter().map(String::as_str).collect();
        let folders = folders(&source.path, &section, &self.library.folders());
        let loaded = Loaded::new(source, file, folders);
        check(&loaded)?;
        self.by_path.insert(loaded.source.path.clone(), Some(self.loaded.len()));
        self.loaded.push(Arc::new(loaded));
        Ok(self.loaded.len() - 1)
    }

    /// What `word` means in a file: its own definition, an import, a built-in component.
    pub fn target(&mut self, file: usize, word: &str) -> TreoResult<Option<Target>> {
        let key = (file, word.to_owned());
        if let Some(known) = self.targets.get(&key) {
            return Ok(known.clone());
        }
        let target = self.find(file, word)?;
        self.targets.insert(key, target.clone());
        Ok(target)
    }

    fn find(&mut self, file: usize, word: &str) -> TreoResult<Option<Target>> {
        let here = self.get(file);
        if let Some(definition) = position(&here.file, word) {
            return Ok(Some(Target::Defined { file, definition, import: None }));
        }
        // `reo.sync` is what is imported under that name, or any `sync` that is.
        let last = word.rsplit('.').next().unwrap_or(word);
        let imports = here.file.imports.iter().enumerate();
        let mut imports = imports.filter(|(_, (_, path))| path.last().is_some_and(|w| w == last));
        let Some((number, (_, import))) = imports.next() else {
            let built_in = word.strip_prefix("reo.").unwrap_or(word);
            return Ok(Primitive::is_known(built_in).then(|| Target::BuiltIn(built_in.into())));
        };
        if let Some((_, (spot, other))) = imports.find(|(_, (_, other))| other != import) {
            let fault = TreoFault::Ambiguous(word.into(), import.join("."), other.join("."));
            return Err(here.source.fault(*spot, fault));
        }
        self.import((file, number), None).map(Some)
    }

    /// What else the import of `target` may mean: the next file that defines it, in the order in
    /// which imports are looked for, or the built-in component.
    pub fn next(&mut self, target: &Target) -> Option<Target> {
        let Target::Defined { file, import: Some(import), .. } = target else { return None };
        self.import(*import, Some(*file)).ok()
    }

    /// What an import of a file means, behind the file `after`.
    fn import(&mut self, of: (usize, usize), mut after: Option<usize>) -> TreoResult<Target> {
        let from = self.get(of.0);
        let (spot, import) = &from.file.imports[of.1];
        let word = import.last().map(String::as_str).unwrap_or_default();
        let mut tried = 0;
        for path in candidates(&from.folders, import) {
            tried += 1;
            let Some(file) = self.at(&path, &from, *spot)? else { continue };
            if after.is_some() {
                after = after.filter(|last| *last != file);
            } else if let Some(definition) = position(&self.get(file).file, word) {
                return Ok(Target::Defined { file, definition, import: Some(of) });
            }
        }
        if import[0] == "reo" && Primitive::is_known(word) {
            return Ok(Target::BuiltIn(word.into()));
        }
        Err(from.source.fault(*spot, TreoFault::Import { import: import.join("."), tried }))
    }

    fn at(&mut self, path: &str, from: &Loaded, spot: Spot) -> TreoResult<Option<usize>> {
        if let Some(known) = self.by_path.get(path) {
            return Ok(*known);
        }
        let fault = |why| from.source.fault(spot, TreoFault::Read { path: path.into(), why });
        let Some(text) = self.library.read(path).map_err(fault)? else {
            self.by_path.insert(path.to_owned(), None);
            return Ok(None);
        };
        self.load(Source::new(path, &text), Spot(0)).map(Some)
    }

    /// Words that mean a component in a file.
    pub fn words(&self, file: usize) -> Vec<String> {
        let file = &self.loaded[file].file;
        let own = file.definitions.iter().map(|d| d.name.clone());
        let imported = file.imports.iter().filter_map(|(_, path)| path.last().cloned());
        own.chain(imported).chain(Primitive::words().map(str::to_owned)).collect()
    }
}

fn position(file: &File, word: &str) -> Option<usize> {
    file.definitions.iter().position(|d| d.name == word)
}

fn check(Loaded { source, file, all, .. }: &Loaded) -> TreoResult<()> {
    let mut seen = std::collections::HashSet::new();
    if let Some(again) = file.definitions.iter().find(|d| !seen.insert(&d.name)) {
        return Err(source.fault(again.spot, TreoFault::Twice(again.name.clone())));
    }
    match all.iter().find(|d| d.nodes.iter().any(|n| n.name.is_none())) {
        Some(definition) => {
            let (found, expected) = ("a node without a name".into(), "`name?` or `name!`".into());
            Err(source.fault(definition.spot, SyntaxFault::Expected(expected, found).into()))
        }
        None => Ok(()),
    }
}
