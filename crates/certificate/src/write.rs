//! Writing a certificate for a problem and its least time.

use indexmap::IndexMap;
use tickbound_model::{Configuration, Problem};

use crate::branch::branch;
use crate::branches;
use crate::check::problem as read_again;
use crate::folder::{Certificate, Claim, Proved, Texts};
use crate::inequalities;
use crate::labels;
use crate::prove::prove;
use crate::refusal::Refusal;
use crate::texts::texts;
use tickbound_timing::obligation::Obligation;

/// A certificate that no configuration takes fewer than `time` ticks, which one takes. It is a
/// proof by labels where parameters share something, by inequalities where the time is a sum over
/// the parameters, or by branch and bound, otherwise by simulation. The first three are checked here; simulation is done by the checker.
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
    let (proof, texts) = match Obligation::new(&again) {
        Ok(obligation) => {
            let proof = proof(&obligation, time, stop)?;
            let inequalities = match &proof {
                Proved::Inequalities(proof) => Some(proof),
                _ => None,
            };
            let texts = texts(&obligation, inequalities, (configuration, time), stop)?;
            (proof, texts)
        }
        Err(_) => (Proved::Simulation, Texts::new()),
    };
    if proof == Proved::Simulation {
        // Too many to list is said here, not when somebody checks.
        again.space()?;
    }
    let names = problem.parameters.iter().map(|p| p.name.clone());
    let values: IndexMap<String, i64> = names.zip(configuration.0.iter().copied()).collect();
    let claim = Claim::new(written_by, time, values, proof.kind());
    Ok(Certificate { claim, problem: value, proof, texts })
}

/// A proof that holds, or that all is to be simulated.
fn proof(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<Proved, Refusal> {
    let of_form = |by_group| {
        let proof = prove(obligation, by_group, stop)?;
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
    // Where parameters share something, and only there, labels are a proof.
    // With the waves in front the parts are over fewer parameters, but more are left at the end.
    let ways: [&dyn Fn() -> Result<Proved, Refusal>; 4] =
        [&by_labels, &|| of_form(true), &|| of_form(false), &by_branches];
    for way in ways {
        match way() {
            Err(Refusal::TooLarge(_) | Refusal::Obligation(_)) => {}
            other => return other,
        }
    }
    Ok(Proved::Simulation)
}
