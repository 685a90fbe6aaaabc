//! What a certificate holds for programs of others: questions for solvers, and a formula with its
//! proof.
//!
//! Each text but the proof follows from the problem and the time, so the checker makes it anew
//! and compares.

use tickbound_model::{Configuration, Problem};

use crate::folder::{Proved, Text, Texts};
use crate::prove::{MAX_ROWS, prove};
use crate::pseudo_boolean::clusters::{ClusterTables, MAX_FORMULA_ROWS, shapes};
use crate::pseudo_boolean::formula::{PseudoBooleanFormula, clusters};
use crate::pseudo_boolean::proof::{is_one, proof};
use crate::refusal::Refusal;
use crate::smt::induction::induction;
use crate::smt::question::question;
use tickbound_timing::obligation::Obligation;

/// All texts that there are for a problem, the least time and a configuration that takes it. Where
/// one would be too long, or does not cover the problem, it is left out.
///
/// # Errors
/// A stop, or what cannot be.
pub fn texts(
    obligation: &Obligation<'_>,
    proved: &Proved,
    (configuration, time): (&Configuration, i64),
    stop: &dyn Fn() -> bool,
) -> Result<Texts, Refusal> {
    let mut texts = Texts::new();
    for text in [Text::Question, Text::Induction] {
        if let Some(own) = possible(asked(text, obligation, time, stop))? {
            texts.insert(text, own);
        }
    }
    let formula = || -> Result<(String, String), Refusal> {
        let proof_of_all = match proved {
            Proved::Inequalities(proof) if !proof.by_group => proof.clone(),
            Proved::Labels(_) => return Err(Refusal::TooLarge("tables of what parameters share")),
            // No larger relation can be a formula, and rows of a chain of steps take long.
            Proved::Branches(_) => prove(obligation, false, MAX_FORMULA_ROWS, stop)?,
            // The clusters of a group do not make up the launch.
            _ => prove(obligation, false, MAX_ROWS, stop)?,
        };
        let shapes = shapes(obligation, &proof_of_all)?;
        let tables = ClusterTables::new(obligation, shapes, MAX_FORMULA_ROWS, stop)?;
        let formula = PseudoBooleanFormula::new(obligation, &tables);
        let numbers = numbers(obligation, configuration)?;
        let proof = proof(&formula, &tables, (&numbers, time))?;
        Ok((formula.with_clusters(&tables.shapes)?, proof))
    };
    if let Some((formula, proof)) = possible(formula())? {
        texts.insert(Text::Formula, formula);
        texts.insert(Text::FormulaProof, proof);
    }
    Ok(texts)
}

/// That the texts of a certificate are those of its problem and time, but for the proof of the
/// formula.
///
/// # Errors
/// One is not, or a stop.
pub fn same(
    problem: &Problem,
    texts: &Texts,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    if texts.is_empty() {
        return Ok(());
    }
    let obligation = Obligation::new(problem)?;
    for (text, given) in texts {
        let own = match text {
            Text::Question | Text::Induction => asked(*text, &obligation, time, stop)?,
            Text::Formula => {
                let shapes = clusters(given)?;
                let tables = ClusterTables::new(&obligation, shapes, MAX_FORMULA_ROWS, stop)?;
                PseudoBooleanFormula::new(&obligation, &tables).with_clusters(&tables.shapes)?
            }
            Text::FormulaProof => {
                let wrong = |what: &str| Err(Refusal::File(text.name().into(), what.into()));
                match (texts.contains_key(&Text::Formula), is_one(given)) {
                    (true, true) => continue,
                    (false, _) => return wrong("is the proof of no formula"),
                    (_, false) => return wrong("has other lines than a sum of the formula's"),
                }
            }
        };
        if own != *given {
            let what = "is not what follows from the problem and the time claimed";
            return Err(Refusal::File(text.name().into(), what.into()));
        }
    }
    Ok(())
}

fn asked(
    text: Text,
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<String, Refusal> {
    match text {
        Text::Question => question(obligation, time, stop),
        _ => induction(obligation, time, stop),
    }
}

/// What can be made; `None` if it would be too large, or is not covered.
fn possible<T>(made: Result<T, Refusal>) -> Result<Option<T>, Refusal> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(Refusal::TooLarge(_) | Refusal::Obligation(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The numbers of a configuration's values.
fn numbers(obligation: &Obligation<'_>, of: &Configuration) -> Result<Vec<u32>, Refusal> {
    let number = |(p, v): (usize, &i64)| obligation.index(p, *v);
    let all = of.0.iter().enumerate().map(number).collect::<Option<Vec<u32>>>();
    all.ok_or_else(|| Refusal::wrong("the configuration has a value of no domain"))
}
