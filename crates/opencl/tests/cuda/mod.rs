//! CUDA and HIP: eight sources with a feature or two each, read, launched and refused.

mod features;
mod fixtures;
mod matrix;
mod twins;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::source::Standard;
use tickbound_opencl::extract::{extract_with, kernels};
use tickbound_opencl::reading::{KernelSignature, SourceLaunch};
use tickbound_opencl::steps::SymbolExpr;
use tickbound_opencl::{ReadError, ReadRequest, ReaderSetup, Symbol};

use crate::steps::print;

/// A source in CUDA or HIP.
pub struct CudaCase {
    folder: Option<tempfile::TempDir>,
    request: ReadRequest,
    values: IndexMap<String, i64>,
}

impl CudaCase {
    /// A file beside this one.
    pub fn file(name: &str) -> CudaCase {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda").join(name);
        CudaCase::at(path, name)
    }

    /// A text in CUDA.
    pub fn text(text: &str) -> CudaCase {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.cu");
        std::fs::write(&path, text).unwrap();
        CudaCase { folder: Some(folder), ..CudaCase::at(path, "k.cu") }.entry("k")
    }

    fn at(path: PathBuf, name: &str) -> CudaCase {
        let hip = name.ends_with(".hip");
        let standard = if hip { Standard::Hip } else { Standard::Cuda };
        let name = name.to_owned();
        let request = ReadRequest { path, name, standard, dimensions: 1, ..ReadRequest::default() };
        CudaCase { folder: None, request, values: IndexMap::new() }
    }

    pub fn entry(mut self, name: &str) -> CudaCase {
        self.request.entry = name.to_owned();
        self
    }

    /// The same text in HIP.
    pub fn hip(mut self) -> CudaCase {
        self.request.standard = Standard::Hip;
        self
    }

    pub fn dimensions(mut self, dimensions: usize) -> CudaCase {
        self.request.dimensions = dimensions;
        self
    }

    /// With a name that stays open.
    pub fn symbol(mut self, name: &str, value: i64) -> CudaCase {
        self.request.symbols.insert(name.to_owned(), Symbol { least: 1, greatest: 1024 });
        self.values.insert(name.to_owned(), value);
        self
    }

    /// With a name that is text.
    pub fn define(mut self, name: &str, text: &str) -> CudaCase {
        self.request.texts.insert(name.to_owned(), text.to_owned());
        self
    }

    /// The steps, or the error.
    pub fn shown(&self) -> String {
        let all: Vec<i64> = self.values.values().copied().collect();
        let only = |places: &[usize], _: &_| {
            let key = places.iter().map(|p| all[*p]).collect();
            Ok(IndexMap::from([(key, all.clone())]))
        };
        match extract_with(&self.request, &only, &ReaderSetup::default()) {
            Ok(mut extracted) => {
                let variant = extracted.variants.remove(0);
                let parameters = variant.parameters.join(", ");
                format!("{parameters}\n{}", print(&variant.steps))
            }
            Err(error) => {
                assert!(self.folder.is_none() || self.folder.as_ref().unwrap().path().exists());
                error.to_string()
            }
        }
    }

    /// Its buffers that are never written.
    pub fn read_only(&self) -> Vec<String> {
        let only = |_: &[usize], _: &_| Ok(IndexMap::from([(Vec::new(), Vec::new())]));
        let extracted = extract_with(&self.request, &only, &ReaderSetup::default()).unwrap();
        extracted.variants[0].steps.read_only.clone()
    }

    /// The kernels.
    pub fn kernels(&self) -> Result<Vec<KernelSignature>, ReadError> {
        kernels(&self.request, Vec::new(), &self.values, &ReaderSetup::default())
    }

    /// The launches of all kernels, a line each.
    pub fn launches(&self) -> String {
        let all = self.kernels().unwrap();
        all.iter().flat_map(|kernel| &kernel.launches).map(launch).join("\n")
    }
}

fn size(size: &Option<SymbolExpr>) -> String {
    size.as_ref().map_or("?".to_owned(), ToString::to_string)
}

fn launch(launch: &SourceLaunch) -> String {
    let all = |sizes: &[Option<SymbolExpr>]| sizes.iter().map(size).join(", ");
    let SourceLaunch { kernel, line, grid, block, shared, arguments, template, instance } = launch;
    let instance = match instance.is_empty() {
        true => String::new(),
        false => format!("<{}> of [{}]", instance.join(", "), all(template)),
    };
    let (grid, block, shared) = (all(grid), all(block), size(shared));
    let arguments = all(arguments);
    format!(
        "{line} {kernel}{instance}({arguments})\n  {grid} groups\n  {block} items, {shared} bytes"
    )
}
