//! From a text to its steps.

use std::io::Write as _;

use indexmap::IndexMap;
use tickbound_model::source::{QuestionKey, Side, Standard};
use tickbound_opencl::extract::extract_with;
use tickbound_opencl::steps::{KernelSteps, SymbolExpr};
use tickbound_opencl::{Passed, ReadError, ReadRequest, ReaderSetup, Symbol};

use crate::steps::print;

/// A source with what is known about it. The kernel is called `k`.
pub struct Case {
    pub text: String,
    pub symbols: Vec<(&'static str, i64, i64)>,
    pub arguments: Vec<Passed>,
    pub dimensions: usize,
    pub local: Vec<Option<SymbolExpr>>,
    pub bounds: Vec<(&'static str, i64)>,
    pub branches: Vec<(&'static str, Side)>,
    pub standard: Standard,
    pub warp: i64,
}

/// A case in one dimension with the macros `N` (1 to 1000) and `WG` (32 to 256).
pub fn case(text: &str) -> Case {
    Case {
        text: text.to_owned(),
        symbols: vec![("N", 1, 1000), ("WG", 32, 256)],
        arguments: Vec::new(),
        dimensions: 1,
        local: Vec::new(),
        bounds: Vec::new(),
        branches: Vec::new(),
        standard: Standard::Cl12,
        warp: 0,
    }
}

pub fn number(least: i64, greatest: i64) -> Passed {
    Passed::Number(Symbol { least, greatest })
}

impl Case {
    /// The steps.
    pub fn read(&self) -> Result<KernelSteps, ReadError> {
        let configuration: Vec<i64> = self.symbols.iter().map(|(_, least, _)| *least).collect();
        self.with_request(|request| {
            let only = |places: &[usize], _: &_| {
                let key = places.iter().map(|p| configuration[*p]).collect();
                Ok(IndexMap::from([(key, configuration.clone())]))
            };
            let mut extracted = extract_with(request, &only, &ReaderSetup::default())?;
            Ok(extracted.variants.remove(0).steps)
        })
    }

    /// Does something with the request for the source, which lies in a file meanwhile.
    pub fn with_request<T>(&self, act: impl FnOnce(&ReadRequest) -> T) -> T {
        let mut file = tempfile::Builder::new().suffix(".cl").tempfile().unwrap();
        file.write_all(self.text.as_bytes()).unwrap();
        let symbol = |least, greatest| Symbol { least, greatest };
        let symbols: IndexMap<String, Symbol> =
            self.symbols.iter().map(|(n, a, b)| ((*n).to_owned(), symbol(*a, *b))).collect();
        act(&ReadRequest {
            partial: false,
            path: file.path().to_owned(),
            name: "k.cl".to_owned(),
            more: Vec::new(),
            include: Vec::new(),
            entry: "k".to_owned(),
            standard: self.standard,
            symbols,
            texts: IndexMap::new(),
            arguments: self.arguments.clone(),
            dimensions: self.dimensions,
            launch: Vec::new(),
            local: self.local.clone(),
            warp: self.warp,
            bounds: (self.bounds.iter())
                .map(|(key, most)| (QuestionKey::read(key).unwrap(), symbol(0, *most)))
                .collect(),
            branches: (self.branches.iter())
                .map(|(key, side)| (QuestionKey::read(key).unwrap(), *side))
                .collect(),
            for_proofs: false,
        })
    }

    /// The steps as text, or the error.
    pub fn shown(&self) -> String {
        match self.read() {
            Ok(steps) => print(&steps),
            Err(error) => error.to_string(),
        }
    }
}

/// The steps of a text, or the error.
pub fn shown(text: &str) -> String {
    case(text).shown()
}
