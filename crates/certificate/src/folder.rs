//! The folder of a certificate: which files it has, how they are written and read.
//!
//! | file | what it is |
//! |---|---|
//! | `claim.json` | the claim: the least time, a configuration that takes it, the kind of proof |
//! | `problem.json` | the problem, whole: platform, inputs and program are written out |
//! | `inequalities.json` | the proof by local inequalities, if it is one |
//! | `branches.json` | the proof by branch and bound, if it is one |
//! | `labels.json` | the proof by prices and labels, if it is one |
//! | [`Text`] | the same for other programs, where such a text exists |
//!
//! The names are these and no others, so no file can name one outside the folder. A link is not
//! followed.

use std::io::ErrorKind;
use std::path::Path;

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::branches::Branches;
use crate::inequalities::InequalityProof;
use crate::labels::LabelProof;
use crate::refusal::Refusal;

/// The version of the format that this crate writes and reads.
pub const VERSION: u32 = 1;

const FORMAT: &str = "tickbound-certificate";
const CLAIM: &str = "claim.json";
const PROBLEM: &str = "problem.json";
const INEQUALITIES: &str = "inequalities.json";
const BRANCHES: &str = "branches.json";
const LABELS: &str = "labels.json";

tickbound_input::named! {
    /// A text for programs of others, by the name of its file.
    pub enum Text {
        /// Whether anything is faster, in SMT-LIB 2 ([`crate::smt::question`]).
        Question = "question.smt2",
        /// The same, step by step ([`crate::smt::induction`]).
        Induction = "induction.smt2",
        /// The problem as a pseudo-Boolean formula ([`crate::pseudo_boolean::formula`]).
        Formula = "formula.opb",
        /// The proof of its least objective ([`crate::pseudo_boolean::proof`]).
        FormulaProof = "formula.pbp",
    }
}

/// The texts that there are.
pub type Texts = IndexMap<Text, String>;

/// All files that a certificate may have; the problem is the first to go and the last to come.
pub fn files() -> impl Iterator<Item = &'static str> {
    [PROBLEM, CLAIM, INEQUALITIES, BRANCHES, LABELS].into_iter().chain(Text::ALL.map(Text::name))
}

/// What is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `tickbound-certificate`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The program that wrote it, with its version.
    pub written_by: String,
    /// The least time, in ticks.
    pub time: i64,
    /// A configuration that takes this long, by the names of its parameters.
    pub configuration: IndexMap<String, i64>,
    /// Why nothing is faster.
    pub proof: CertificateKind,
}

tickbound_input::named! {
    /// Why nothing is faster.
    pub enum CertificateKind {
        /// Local inequalities, in their own file.
        Inequalities = "inequalities",
        /// A tree of boxes, in its own file.
        Branches = "branches",
        /// Prices and labels, in their own file.
        Labels = "labels",
        /// All configurations are simulated, again by the checker.
        Simulation = "simulation",
    }
}

impl Claim {
    /// A claim in the present format.
    pub fn new(
        written_by: &str,
        time: i64,
        configuration: IndexMap<String, i64>,
        proof: CertificateKind,
    ) -> Claim {
        let (format, written_by) = (FORMAT.to_owned(), written_by.to_owned());
        Claim { format, version: VERSION, written_by, time, configuration, proof }
    }
}

/// Why nothing is faster, with what there is to read of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Proved {
    /// Local inequalities.
    Inequalities(InequalityProof),
    /// A tree of boxes.
    Branches(Branches),
    /// Prices and labels.
    Labels(LabelProof),
    /// All configurations are to be simulated.
    Simulation,
}

impl Proved {
    /// Its kind.
    pub fn kind(&self) -> CertificateKind {
        match self {
            Proved::Inequalities(_) => CertificateKind::Inequalities,
            Proved::Branches(_) => CertificateKind::Branches,
            Proved::Labels(_) => CertificateKind::Labels,
            Proved::Simulation => CertificateKind::Simulation,
        }
    }
}

/// A certificate as it is in its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// The claim.
    pub claim: Claim,
    /// The problem in the problem format.
    pub problem: Value,
    /// The proof.
    pub proof: Proved,
    /// The texts for programs of others.
    pub texts: Texts,
}

impl Certificate {
    /// Writes the files into a folder, which is made if it is not there. Files of a certificate
    /// that was there before are replaced or removed; others are an error, and so is a problem
    /// without a claim, which may be the user's own.
    ///
    /// # Errors
    /// The folder has other files, or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Refusal> {
        writable(folder)?;
        let of = |name: &str, e: std::io::Error| Refusal::File(name.to_owned(), e.to_string());
        std::fs::create_dir_all(folder).map_err(|e| of(&folder.display().to_string(), e))?;
        // The problem comes last, also when this is killed: without it a folder is no certificate,
        // and with it alone it is not one of ours.
        for name in files() {
            match std::fs::remove_file(folder.join(name)) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(of(name, e)),
                _ => {}
            }
        }
        let write = |name: &str, text: String| {
            tickbound_os::output::write(folder.join(name), text.as_bytes()).map_err(|e| of(name, e))
        };
        match &self.proof {
            Proved::Inequalities(proof) => write(INEQUALITIES, json(proof)? + "\n")?,
            Proved::Branches(tree) => write(BRANCHES, on_a_line(tree)?)?,
            Proved::Labels(proof) => write(LABELS, on_a_line(proof)?)?,
            Proved::Simulation => {}
        }
        for (text, own) in &self.texts {
            write(text.name(), own.clone())?;
        }
        let claim = serde_json::to_value(&self.claim).map_err(|e| Refusal::wrong(e.to_string()))?;
        write(CLAIM, format!("{claim:#}\n"))?;
        write(PROBLEM, format!("{:#}\n", self.problem))
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// A file is missing, is none of a certificate, is no regular file, or does not have the form
    /// it must.
    pub fn read(folder: &Path) -> Result<Certificate, Refusal> {
        only_files(folder)?;
        let claim: Claim = read(folder, CLAIM)?;
        if claim.format != FORMAT || claim.version != VERSION {
            let what = format!(
                "says {} {}, but this program reads {FORMAT} {VERSION}",
                claim.format, claim.version
            );
            return Err(Refusal::File(CLAIM.into(), what));
        }
        let proof = match claim.proof {
            CertificateKind::Inequalities => Proved::Inequalities(read(folder, INEQUALITIES)?),
            CertificateKind::Branches => Proved::Branches(read(folder, BRANCHES)?),
            CertificateKind::Labels => Proved::Labels(read(folder, LABELS)?),
            CertificateKind::Simulation => Proved::Simulation,
        };
        for (file, kind) in [
            (INEQUALITIES, CertificateKind::Inequalities),
            (BRANCHES, CertificateKind::Branches),
            (LABELS, CertificateKind::Labels),
        ] {
            if folder.join(file).exists() && claim.proof != kind {
                let what = format!("is there, but the claim's proof is by {}", claim.proof.name());
                return Err(Refusal::File(file.into(), what));
            }
        }
        let mut texts = Texts::new();
        for text in Text::ALL {
            if folder.join(text.name()).exists() {
                texts.insert(text, content(folder, text.name())?);
            }
        }
        Ok(Certificate { claim, problem: read(folder, PROBLEM)?, proof, texts })
    }
}

/// Whether a certificate can be written there: a folder that is not there yet, or has only files of
/// a certificate, and a problem only with a claim.
///
/// # Errors
/// It cannot, and why.
pub fn writable(folder: &Path) -> Result<(), Refusal> {
    match std::fs::symlink_metadata(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(Refusal::File(folder.display().to_string(), e.to_string())),
        Ok(_) => only_files(folder)?,
    }
    if folder.join(PROBLEM).exists() && !folder.join(CLAIM).exists() {
        let what = format!(
            "is there without {CLAIM}, so it is no certificate's; move it, or write elsewhere"
        );
        return Err(Refusal::File(PROBLEM.into(), what));
    }
    Ok(())
}

/// That a folder has nothing but files of a certificate.
fn only_files(folder: &Path) -> Result<(), Refusal> {
    let shown = folder.display().to_string();
    let of = |e: std::io::Error| Refusal::File(shown.clone(), e.to_string());
    for entry in std::fs::read_dir(folder).map_err(of)? {
        let entry = entry.map_err(of)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let regular = entry.file_type().map_err(of)?.is_file();
        if !files().any(|file| file == name) {
            return Err(Refusal::File(name, "is no file of a certificate; remove it".into()));
        }
        if !regular {
            return Err(Refusal::File(name, "is no regular file".into()));
        }
    }
    Ok(())
}

fn content(folder: &Path, name: &str) -> Result<String, Refusal> {
    let of = |e: &dyn ToString| Refusal::File(name.to_owned(), e.to_string());
    let bytes = tickbound_input::bytes(folder.join(name)).map_err(|e| of(&e))?;
    if bytes.starts_with("\u{feff}".as_bytes()) {
        return Err(of(&"begins with a byte-order mark, which solvers do not read; remove it"));
    }
    tickbound_input::decoded(bytes).map_err(|e| of(&e))
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, Refusal> {
    let text = content(folder, name)?;
    tickbound_input::json(&text).map_err(|e| Refusal::File(name.to_owned(), e.to_string()))
}

fn on_a_line(proof: &impl Serialize) -> Result<String, Refusal> {
    serde_json::to_string(proof).map(|text| text + "\n").map_err(|e| Refusal::wrong(e.to_string()))
}

/// A proof, a cluster on a line.
fn json(proof: &InequalityProof) -> Result<String, Refusal> {
    let clusters = proof.clusters.iter().map(serde_json::to_string);
    let clusters: Vec<String> =
        clusters.collect::<Result<_, _>>().map_err(|e| Refusal::wrong(e.to_string()))?;
    let by_group = proof.by_group;
    Ok(format!("{{\"by_group\": {by_group}, \"clusters\": [\n{}\n]}}", clusters.join(",\n")))
}
