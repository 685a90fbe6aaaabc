//! Sources for tests.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::source::Standard;
use tickbound_opencl::ast::Unit;
use tickbound_opencl::preprocess::{Expanded, Expander};
use tickbound_opencl::{ReadError, ReadRequest, Symbol, parse};

use crate::parse::print::{print, stmt};

/// A source in a folder of its own, with the macros that a problem would give it.
pub struct Source {
    folder: tempfile::TempDir,
    pub request: ReadRequest,
    pub structural: Vec<String>,
    pub values: IndexMap<String, i64>,
}

impl Source {
    /// A source in OpenCL C 1.2 without macros.
    pub fn new(text: impl AsRef<[u8]>) -> Source {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("k.cl");
        std::fs::write(&path, text).expect("a file");
        Source {
            request: request(path, "k.cl"),
            folder,
            structural: Vec::new(),
            values: IndexMap::new(),
        }
    }

    /// The same with another text.
    pub fn with(&self, text: &str) -> Source {
        let mut other = Source::new(text);
        let path = other.request.path;
        other.request = ReadRequest { path, ..self.request.clone() };
        other.structural.clone_from(&self.structural);
        other.values.clone_from(&self.values);
        other
    }

    /// With a macro that stays open.
    pub fn symbol(mut self, name: &str, value: i64) -> Source {
        self.request.symbols.insert(name.into(), Symbol { least: value, greatest: value });
        self.values.insert(name.into(), value);
        self
    }

    /// With a macro that has its value.
    pub fn structural(self, name: &str, value: i64) -> Source {
        let mut source = self.symbol(name, value);
        source.structural.push(name.into());
        source
    }

    /// With a macro that is text.
    pub fn text(mut self, name: &str, text: &str) -> Source {
        self.request.texts.insert(name.into(), text.into());
        self
    }

    /// In OpenCL C 3.0.
    pub fn version_3(mut self) -> Source {
        self.request.standard = Standard::Cl30;
        self
    }

    /// With another file beside it.
    pub fn beside(self, name: &str, text: &str) -> Source {
        std::fs::write(self.folder.path().join(name), text).expect("a file");
        self
    }

    pub fn expand(&self) -> Result<Expanded, ReadError> {
        Expander::new(&self.request, &self.structural)?.one(&self.values)
    }

    pub fn parse(&self) -> Result<Unit, ReadError> {
        let expanded = self.expand()?;
        assert!(expanded.asked.is_empty(), "asked: {:?}", expanded.asked);
        parse::parse(&self.request, &expanded)
    }

    /// The error's line.
    pub fn error(&self) -> String {
        match self.parse() {
            Ok(unit) => panic!("it is accepted:\n{}", print(&unit)),
            Err(error) => {
                let text = error.to_string();
                let folder = self.folder.path().to_string_lossy().into_owned();
                assert!(!text.contains(&folder), "a temporary file in: {text}");
                assert!(!text.contains("tickbound_symbol"), "a stand-in in: {text}");
                assert_eq!(text.lines().count(), 1, "{text}");
                text
            }
        }
    }
}

/// A request without macros.
pub fn request(path: PathBuf, name: &str) -> ReadRequest {
    ReadRequest {
        partial: false,
        path,
        name: name.into(),
        more: Vec::new(),
        include: Vec::new(),
        entry: "k".into(),
        standard: Standard::Cl12,
        symbols: IndexMap::new(),
        texts: IndexMap::new(),
        arguments: Vec::new(),
        launch: Vec::new(),
        warp: 0,
        dimensions: 1,
        local: Vec::new(),
        bounds: Vec::new(),
        branches: Vec::new(),
        for_proofs: false,
    }
}

/// Whether libclang is here. In CI it has to be.
pub fn ready() -> bool {
    let here = Source::new("").parse();
    if let Err(error) = &here {
        assert!(std::env::var_os("CI").is_none(), "CI needs libclang: {error}");
        eprintln!("skipped: {error}");
    }
    here.is_ok()
}

/// The statements of a kernel with this body, one a line.
pub fn body(text: &str) -> String {
    let text = format!("void k(int a, int b, int c, global int *p, float4 v) {{\n{text}\n}}");
    let unit = Source::new(text).symbol("TS", 16).parse().unwrap_or_else(|e| panic!("{e}"));
    unit.functions["k"].body.iter().map(|s| stmt(s, false)).join("\n")
}

/// The kernels of `examples/kernels`.
pub fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "cl"))
        .collect();
    found.sort();
    found
}

/// One of them with the macros of its problem, at their first or their last value.
pub fn example(path: &Path, last: bool) -> Source {
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap_or_default();
    let problem: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let mut source = Source::new(std::fs::read(path).expect("a file"));
    source.request.name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    with_macros(source, &problem, last)
}

/// A source with the macros of its problem: open, unless the preprocessor asks for them.
fn with_macros(mut source: Source, problem: &serde_json::Value, last: bool) -> Source {
    let kernel = &problem["kernel"];
    let macros = [problem["parameters"].as_object(), kernel["defines"].as_object()];
    for (name, value) in macros.into_iter().flatten().flatten() {
        source = match value["text"].as_str() {
            Some(text) => source.text(name, text),
            None => source.symbol(name, one_of(&problem["parameters"][name], last)),
        };
    }
    if kernel["standard"] == "CL3.0" {
        source = source.version_3();
    }
    loop {
        match source.expand() {
            Ok(expanded) if !expanded.asked.is_empty() => source.structural.extend(expanded.asked),
            _ => return source,
        }
    }
}

/// The first or the last value of a parameter: of `[1, 2]`, or of `powers_of_two(1, 2)`.
fn one_of(values: &serde_json::Value, last: bool) -> i64 {
    let text = values.to_string();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok());
    let chosen = if last { numbers.next_back() } else { numbers.next() };
    chosen.unwrap_or(4)
}
