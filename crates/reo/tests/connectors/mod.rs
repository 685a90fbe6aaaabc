//! Connector files on disk, and connectors as automata.

#![allow(dead_code)]

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::families::textbook;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::connector::Connector;
use tickbound_reo::syntax::Source;
use tickbound_reo::treo::{self, Library, TreoRequest};

/// The file system, and further folders.
pub struct Disk(pub Vec<String>);

impl Library for Disk {
    fn folders(&self) -> Vec<String> {
        self.0.clone()
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The folder of the Reo tools' files, where it is at hand.
pub fn shared() -> Option<PathBuf> {
    fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/connectors")).ok()
}

/// All files below `folder` with an ending, sorted.
pub fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path, end));
        } else if path.extension().is_some_and(|e| e == end) {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// A file, called by its name below `folder`.
pub fn source(folder: &Path, file: &Path) -> Source {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file:?}: {e}"));
    let name = file.strip_prefix(folder).unwrap_or(file);
    Source::new(&folder.join(file).to_string_lossy(), &text).named(&name.to_string_lossy())
}

/// One of our own examples.
pub fn example(file: &str) -> Source {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/connectors"));
    source(folder, Path::new(file))
}

/// A request with settings as the command line has them: `n=3 P=even`.
pub fn request(settings: &str) -> TreoRequest {
    settings
        .split_whitespace()
        .filter_map(|s| s.split_once('='))
        .fold(TreoRequest::default(), |request, (word, value)| request.set(word, value))
}

/// The connector of a text.
pub fn connector(text: &str, settings: &str) -> Result<Connector, String> {
    let source = Source::new("t.treo", text);
    treo::connector(&source, &Disk(Vec::new()), &request(settings)).map_err(|e| e.to_string())
}

/// The text of a component with those of `nodes` as its interface that its body joins.
pub fn joined(name: &str, nodes: &[&str], body: &str) -> String {
    let is_in =
        |node: &&&str| body.split(|c: char| !c.is_alphanumeric()).any(|word| word == **node);
    let nodes: Vec<&str> = nodes.iter().filter(is_in).copied().collect();
    format!("{name}({}) {{ {body} }}", nodes.join(", "))
}

/// The reachable product of a connector's parts.
pub fn composed(connector: &Connector) -> Automaton {
    let mut parts = connector.parts.iter().map(|p| &p.automaton);
    let first = parts.next().expect("a part").clone();
    parts.fold(first, |a, b| textbook::product(&a, b).reachable().0)
}

/// The steps of a connector's only part.
pub fn steps(text: &str, settings: &str) -> String {
    let connector = connector(text, settings).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(connector.parts.len(), 1, "{text}");
    connector.parts[0].automaton.text(&connector.symbols)
}
