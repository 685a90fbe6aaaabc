//! Making a certificate of what is proved.

use std::path::Path;

use indexmap::IndexMap;
use rayon::prelude::*;
use tickbound_expr::Expr;
use tickbound_model::Problem;

use super::format::{CLAIMS, FORMAT, ProofEntry, ProofKind, ProofMember, VERSION};
use super::format::{SafetyCertificate, file_name, only_files};
use crate::answer::{Judgement, Safety, SafetyClaim};
use crate::classes::Classes;
use crate::question_text::question_text;
use crate::work::{ProvedTogether, ReadObligation, cases};

/// Expressions with a name each.
struct Numbers<'p> {
    problem: &'p Problem,
    /// What no name of the problem begins with.
    prefix: String,
    names: IndexMap<String, String>,
}

impl<'p> Numbers<'p> {
    fn new(problem: &'p Problem) -> Numbers<'p> {
        let parameters = problem.parameters.iter().map(|p| &p.name);
        let definitions = problem.definitions.iter().map(|(name, _)| name);
        let taken: Vec<&String> =
            parameters.chain(definitions).chain(problem.inputs.keys()).collect();
        let mut prefix = "N".to_owned();
        while taken.iter().any(|name| name.starts_with(&prefix)) {
            prefix.push('_');
        }
        Numbers { problem, prefix, names: IndexMap::new() }
    }

    /// The name of an expression.
    fn name(&mut self, number: &Expr) -> String {
        let next = format!("{}{}", self.prefix, self.names.len());
        self.names.entry(self.problem.scope.show(number)).or_insert(next).clone()
    }
}

/// The certificate of proofs, for the texts that were read: values of what they depend on.
///
/// # Errors
/// What has no value, or too many combinations of values.
pub fn certificate(
    (classes, texts): (&Classes<'_>, Vec<Vec<i64>>),
    work: &[ReadObligation<'_>],
    proofs: &[ProvedTogether],
    safety: &Safety,
) -> Result<SafetyCertificate, String> {
    let problem = classes.problem();
    let mut numbers = Numbers::new(problem);
    let text = classes.structural().iter().map(|number| numbers.name(number)).collect();
    let mut entries = Vec::new();
    // What else is open may leave a judgement open that has a proof.
    let is_proved = |proof: &&ProvedTogether| {
        let ((claim, at, array), _) = work[proof.members[0]].judged_key();
        let mut all = safety.judged.iter();
        let judged = all.find(|j| j.claim == claim && j.at == at && j.array == array);
        judged.is_some_and(|judged| judged.judgement == Judgement::Proved)
    };
    let proofs: Vec<&ProvedTogether> = proofs.iter().filter(is_proved).collect();
    for proof in &proofs {
        entries.push(entry(proof, work, &texts, &mut numbers));
    }
    let questions: Vec<Option<String>> = proofs
        .par_iter()
        .zip(&entries)
        .map(|(proof, entry)| match entry.by {
            ProofKind::Questions => questions(proof, work, classes),
            _ => Ok(None),
        })
        .collect::<Result<_, String>>()?;
    for (entry, text) in entries.iter_mut().zip(&questions) {
        if entry.by == ProofKind::Questions && text.is_none() {
            entry.by = ProofKind::Cases;
        }
    }
    Ok(SafetyCertificate {
        format: FORMAT.to_owned(),
        version: VERSION,
        problem: problem.json(),
        text,
        texts,
        questions,
        proofs: entries,
        numbers: numbers.names.into_iter().map(|(number, name)| (name, number)).collect(),
    })
}

/// What the certificate states of a proof.
fn entry(
    proof: &ProvedTogether,
    work: &[ReadObligation<'_>],
    texts: &[Vec<i64>],
    numbers: &mut Numbers<'_>,
) -> ProofEntry {
    let mut of = Vec::new();
    for work in proof.members.iter().map(|i| &work[*i]) {
        let text = texts.iter().position(|known| *known == work.variant.values);
        let text = text.unwrap_or(texts.len());
        let own = work.numbers_of(&proof.proved.kinds).into_iter();
        of.push(ProofMember { text, numbers: own.map(|n| numbers.name(n)).collect() });
    }
    let ((claim, at, array), _) = work[proof.members[0]].judged_key();
    let by = match claim {
        SafetyClaim::Written => ProofKind::Trial,
        _ => ProofKind::Questions,
    };
    ProofEntry { claim, at, array, by, of }
}

/// The questions of a proof.
fn questions(
    proof: &ProvedTogether,
    work: &[ReadObligation<'_>],
    classes: &Classes<'_>,
) -> Result<Option<String>, String> {
    let members: Vec<&ReadObligation<'_>> = proof.members.iter().map(|i| &work[*i]).collect();
    let (obligation, kinds) = (&proof.proved.obligation, &proof.proved.kinds);
    let cases = cases(&members, kinds, classes)?;
    let cases: Vec<&Vec<i64>> = cases.values().collect();
    Ok(question_text(members[0].terms, obligation, kinds, &cases))
}

impl SafetyCertificate {
    /// Writes the files into a folder, which is made if it is not there; those of a certificate
    /// that was there go.
    ///
    /// # Errors
    /// Other files in the folder, or one that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        only_files(folder)?;
        let fault = |name: &Path, e: std::io::Error| format!("{}: {e}", name.display());
        std::fs::create_dir_all(folder).map_err(|e| fault(folder, e))?;
        let old = std::fs::read_dir(folder).map_err(|e| fault(folder, e))?;
        for entry in old.flatten() {
            std::fs::remove_file(entry.path()).map_err(|e| fault(&entry.path(), e))?;
        }
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|e| fault(&path, e))
        };
        for (proof, text) in self.questions.iter().enumerate() {
            text.iter().try_for_each(|text| write(&file_name(proof), text))?;
        }
        // It comes last: a folder with this file is complete.
        let claims = serde_json::to_string_pretty(self).map_err(|e| e.to_string())?;
        write(CLAIMS, &(claims + "\n"))
    }
}
