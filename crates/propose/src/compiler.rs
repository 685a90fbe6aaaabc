//! A source that is compiled with the macros of drafts.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_opencl::outline::Outline;
use tickbound_opencl::reading::KernelSignature;
use tickbound_opencl::{ReadError, ReadRequest, ReaderSetup, Symbol, extract};

use crate::domain::one_of;
use crate::draft::Draft;

/// A source that is compiled with the macros of drafts.
pub(crate) struct Compiler<'c> {
    pub path: &'c Path,
    pub outline: &'c Outline,
    pub setup: &'c ReaderSetup<'c>,
}

impl Compiler<'_> {
    /// The kernels of a draft.
    ///
    /// # Errors
    /// It does not compile.
    pub fn kernels(&self, draft: &Draft) -> Result<Vec<KernelSignature>, ReadError> {
        self.kernels_for(draft, &IndexMap::new())
    }

    /// The same for these values of some macros.
    pub fn kernels_for(
        &self,
        draft: &Draft,
        own: &IndexMap<String, i64>,
    ) -> Result<Vec<KernelSignature>, ReadError> {
        let (asked, values) = request(draft, self.path, self.outline, own);
        let all = values.keys().cloned().collect();
        extract::kernels(&asked, all, &values, self.setup)
    }

    /// Whether it compiles, but for names without a meaning, for these values of some macros.
    pub fn compiles(&self, draft: &Draft, own: &IndexMap<String, i64>) -> bool {
        matches!(self.kernels_for(draft, own), Ok(_) | Err(ReadError::Undeclared { .. }))
    }

    /// Whether the kernel is among these.
    pub fn wanted(&self, draft: &Draft, kernels: &[KernelSignature]) -> bool {
        let entry = draft.request.entry.as_ref();
        kernels.iter().any(|kernel| entry.is_none_or(|entry| *entry == kernel.name))
    }
}

/// What compiles the source: each macro has one value.
pub(crate) fn request(
    draft: &Draft,
    path: &Path,
    outline: &Outline,
    own: &IndexMap<String, i64>,
) -> (ReadRequest, IndexMap<String, i64>) {
    let mut values = IndexMap::new();
    for (name, domain) in &draft.parameters {
        values.insert(name.clone(), own.get(name).copied().unwrap_or_else(|| one_of(domain)));
    }
    let is_macro = |name: &&String| outline.uses(name) && !outline.declares(name);
    for (name, value) in draft.inputs.iter().filter(|(name, _)| is_macro(name)) {
        values.insert(name.clone(), (*value).max(1));
    }
    let mut texts = IndexMap::new();
    for (name, value) in &draft.defines {
        match value.get("text").and_then(Value::as_str) {
            Some(text) => _ = texts.insert(name.clone(), text.to_owned()),
            None => _ = values.insert(name.clone(), value.as_i64().unwrap_or(1)),
        }
    }
    let symbols = values.iter().map(|(name, v)| (name.clone(), Symbol { least: *v, greatest: *v }));
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = draft.files();
    let (first, more) = files.split_first().unwrap_or((&draft.file, &[]));
    let includes = &draft.request.include;
    let request = ReadRequest {
        path: folder.join(first),
        name: first.clone(),
        more: more.iter().map(|name| (name.clone(), folder.join(name))).collect(),
        include: includes.iter().map(|name| (name.clone(), folder.join(name))).collect(),
        standard: draft.standard,
        // In CUDA the kernel alone is compiled.
        entry: match draft.standard.is_cuda() {
            true => draft.request.entry.clone().unwrap_or_default(),
            false => String::new(),
        },
        symbols: symbols.collect(),
        texts,
        dimensions: draft.dimensions,
        ..ReadRequest::default()
    };
    (request, values)
}
