//! The files that a problem names: the kernel, what it includes, and the reference.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tickbound_model::{KernelSource, Problem};

use super::error::MeasureError;

/// A kernel's source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// The file as messages call it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The kernel function.
    pub entry: String,
    /// Options of the compiler.
    pub options: String,
}

/// The files that a problem names, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The folder that the problem's paths count from.
    pub folder: PathBuf,
    /// The kernel.
    pub code: Code,
    /// The host reference: its path, and its text.
    pub reference: Option<(PathBuf, String)>,
    /// Texts of the files that the source includes, by the names in quotes, as far as they are
    /// found; they belong to what is measured.
    pub included: Vec<(String, String)>,
}

impl Files {
    /// Reads the files of a problem in `folder`.
    ///
    /// # Errors
    /// The problem names no source, or a file cannot be read.
    pub fn read(problem: &Problem, folder: &Path) -> Result<Files, MeasureError> {
        let source = source_of(problem)?;
        let read = |path: &Path| {
            std::fs::read_to_string(path)
                .map_err(|error| MeasureError::Read { path: path.to_owned(), error })
        };
        let path = folder.join(&source.path);
        let text = read(&path)?;
        let reference = source.reference.as_ref().map(|reference| {
            let path = folder.join(reference);
            read(&path).map(|text| (path, text))
        });
        let beside = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut included = Vec::new();
        include(&text, &beside, &mut included);
        let options = format!("-cl-std={} -I .", source.standard.name());
        let entry = source.entry.clone();
        let code = Code { path: path.display().to_string(), text, entry, options };
        Ok(Files { folder: beside, code, reference: reference.transpose()?, included })
    }
}

/// Adds what a text includes, and what that includes.
fn include(text: &str, folder: &Path, included: &mut Vec<(String, String)>) {
    let names = text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        line.trim_start().strip_prefix('"')?.split_once('"').map(|(name, _)| name.to_owned())
    });
    for name in names {
        if included.iter().any(|(known, _)| *known == name) {
            continue;
        }
        if let Ok(text) = std::fs::read_to_string(folder.join(&name)) {
            included.push((name, text.clone()));
            include(&text, folder, included);
        }
    }
}

/// The source of a problem.
///
/// # Errors
/// It names none.
pub fn source_of(problem: &Problem) -> Result<&KernelSource, MeasureError> {
    problem.source.as_ref().ok_or(MeasureError::NoSource)
}
