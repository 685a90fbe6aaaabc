//! Writing a certificate for a problem and its least time.

use indexmap::IndexMap;
use tickbound_model::{Configuration, Problem};

use crate::branch::branch;
use crate::branches;
use crate::check::problem as read_again;
use crate::folder::{Certificate, Claim, Proved, Texts};
use crate::inequalities::{self, parts};
use crate::labels;
use crate::prove::{MAX_ROWS, prove};
use crate::refusal::Refusal;
use crate::texts::texts;
use tickbound_timing::obligation::Obligation;

/// A certificate that no configuration takes fewer than `time` ticks, which one takes. It is a
/// proof by inequalities where the time is a sum over few parameters each, by labels where
/// parameters share something, or by branch and bound, otherwise by simulation. The first three are
/// checked here; simulation is done by the checker.
/// Where the time is a sum there are texts for programs of others, too.
///
/// # Errors
/// The problem cannot be written down, has more configurations than can be listed and no proof by
/// inequalities, or something is faster: [`Refusal::Wrong`].
pub fn certificate(
    written_by: &str,
    problem: &Problem,
    (configuration, time): (&Configuration, i64),
    stop: &dyn Fn() -> bool,
) -> Result<Certificate, Refusal> {
    let value = problem.json();
    // What is written is what is proved, so it must be the same problem.
    let again = read_again(&value)?;
    if again.json() != value {
        return Err(Refusal::wrong("the problem reads back as another one"));
    }
    let whole = again.with_whole_usage();
    let (proof, texts) = match Obligation::new(whole.as_ref().unwrap_or(&again)) {
        Ok(obligation) => {
            let proof = proof(&obligation, time, stop)?;
            let texts = texts(&obligation, &proof, (configuration, time), stop)?;
            (proof, texts)
        }
        Err(_) => (Proved::Simulation, Texts::new()),
    };
    if proof == Proved::Simulation {
        // A space that is too large to list is an error already here, not first in a check.
        again.space()?;
    }
    let names = problem.parameters.iter().map(|p| p.name.clone());
    let values: IndexMap<String, i64> = names.zip(configuration.0.iter().copied()).collect();
    let claim = Claim::new(written_by, time, values, proof.kind());
    Ok(Certificate { claim, problem: value, proof, texts })
}

/// Rows of tables up to which inequalities are tried before labels.
const SMALL_ROWS: usize = 1 << 16;
/// The same where each row is a chain of steps: for more, boxes are fewer.
const MAX_CHAIN_ROWS: usize = 1 << 10;
/// Choices of parameters that share a condition or a summand, from which on labels are first.
const MANY_CHOICES: usize = 1 << 20;

/// True if some condition or summand is over too many choices for a table.
fn is_wide(obligation: &Obligation<'_>) -> bool {
    let parts = parts(obligation, false);
    let of_parts = parts.iter().map(|part| &part.parameters);
    let mut all = of_parts.chain(obligation.conditions.iter().map(|c| &c.parameters));
    all.any(|parameters| {
        let sizes = parameters.iter().map(|p| obligation.values[*p].len());
        sizes.fold(1, usize::saturating_mul) > MANY_CHOICES
    })
}

/// A proof that holds, or that all is to be simulated.
fn proof(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<Proved, Refusal> {
    let of_form = |by_group, rows| {
        let proof = prove(obligation, by_group, rows, stop)?;
        inequalities::check(obligation, &proof, time, stop).map(|_| Proved::Inequalities(proof))
    };
    let by_branches = || {
        let tree = branch(obligation, time, stop)?;
        branches::check(obligation, &tree, time, stop).map(|_| Proved::Branches(tree))
    };
    let by_labels = || {
        let proof = labels::prove(obligation, time, stop)?;
        labels::check(obligation, &proof, time, stop).map(|_| Proved::Labels(proof))
    };
    // With the waves in front the parts are over fewer parameters, but more are left at the end.
    let ways: [&dyn Fn() -> Result<Proved, Refusal>; 6] = [
        &|| of_form(true, SMALL_ROWS),
        &|| of_form(false, SMALL_ROWS),
        &by_labels,
        &|| of_form(true, MAX_ROWS),
        &|| of_form(false, MAX_ROWS),
        &by_branches,
    ];
    let by_chain: [&dyn Fn() -> Result<Proved, Refusal>; 2] =
        [&|| of_form(true, MAX_CHAIN_ROWS), &by_branches];
    let ways = match obligation.is_chain() {
        true => &by_chain[..],
        false if is_wide(obligation) => &ways[2..],
        false => &ways[..],
    };
    for way in ways {
        match way() {
            Err(Refusal::TooLarge(_) | Refusal::Obligation(_)) => {}
            other => return other,
        }
    }
    Ok(Proved::Simulation)
}
