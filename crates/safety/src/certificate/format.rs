//! What the files of a certificate have.

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{CodePlace, SafetyClaim};

/// The version of the format.
pub const VERSION: u32 = 1;
/// What the format is called.
pub const FORMAT: &str = "tickbound-safety-certificate";
/// The file that is not of a solver.
pub const CLAIMS: &str = "safety.json";

/// What `safety.json` has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SafetyCertificate {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The problem, whole but for its kernel.
    pub problem: Value,
    /// Numbers that configurations decide: expressions over the names of the problem.
    pub numbers: IndexMap<String, String>,
    /// The numbers that the kernel's text depends on, by their names.
    pub text: Vec<String>,
    /// The texts that were read: values of these numbers.
    pub texts: Vec<Vec<i64>>,
    /// What is proved.
    pub proofs: Vec<ProofEntry>,
    /// The questions of each proof that has some.
    #[serde(skip)]
    pub questions: Vec<Option<String>>,
}

/// A proof of a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofEntry {
    /// What is claimed.
    pub claim: SafetyClaim,
    /// The places in the source that it is about.
    pub at: Vec<CodePlace>,
    /// The array.
    pub array: Option<String>,
    /// How it is proved.
    pub by: ProofKind,
    /// The texts that it is for, each with the numbers of its cases.
    pub of: Vec<ProofMember>,
}

/// How something is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofKind {
    /// By the questions in a file.
    Questions,
    /// By trying one group, for each case.
    Trial,
    /// With the numbers of each case, where solvers do not know enough without.
    Cases,
}

/// A text that a proof is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofMember {
    /// Its place among the texts.
    pub text: usize,
    /// What the numbers of a question are there, by their names.
    pub numbers: Vec<String>,
}

/// The file of a proof's questions, by its place.
pub fn file_name(proof: usize) -> String {
    format!("{proof:03}.smt2")
}

/// That a folder has nothing but files of a certificate, if it is there.
///
/// # Errors
/// The file that is none, or a folder that cannot be read.
pub fn only_files(folder: &Path) -> Result<(), String> {
    let fault = |e: std::io::Error| format!("{}: {e}", folder.display());
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(fault)?,
    };
    for entry in entries {
        let entry = entry.map_err(fault)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let number = name.strip_suffix(".smt2").filter(|n| n.len() >= 3);
        let is_own = name == CLAIMS
            || number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
        if !is_own || !entry.file_type().map_err(fault)?.is_file() {
            return Err(format!("{name}: is no file of a certificate; remove it"));
        }
    }
    Ok(())
}
