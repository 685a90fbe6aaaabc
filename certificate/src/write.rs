//! Writing a certificate for a problem and its least time.

use indexmap::IndexMap;
use tickbound_model::{Configuration, Problem};

use crate::check::problem as read_again;
use crate::folder::{Certificate, Claim, Kind, Texts};
use crate::inequalities::{Proof, check};
use crate::obligation::Obligation;
use crate::prove::prove;
use crate::refusal::Refusal;
use crate::texts::texts;

/// A certificate that no configuration takes fewer than `time` ticks, which one takes. It is a proof by inequalities where
/// the time is a sum over the parameters, otherwise one by simulation. Inequalities are checked here; simulation is what
/// whoever checks does. Where the time is a sum there are texts for programs of others, too.
///
/// # Errors
/// The problem cannot be written down, has more configurations than can be listed and no proof by inequalities, or
/// something is faster: [`Refusal::Wrong`].
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
    let (inequalities, texts) = match Obligation::new(&again) {
        Ok(obligation) => {
            let proof = proof(&obligation, time, stop);
            let proof = match proof {
                Err(Refusal::TooLarge(_) | Refusal::Obligation(_)) => None,
                other => Some(other?),
            };
            let texts = texts(&obligation, proof.as_ref(), (configuration, time), stop)?;
            (proof, texts)
        }
        Err(_) => (None, Texts::new()),
    };
    if inequalities.is_none() {
        // Too many to list is said here, not when somebody checks.
        again.space()?;
    }
    let names = problem.parameters.iter().map(|p| p.name.clone());
    let values: IndexMap<String, i64> = names.zip(configuration.0.iter().copied()).collect();
    let kind = if inequalities.is_some() { Kind::Inequalities } else { Kind::Simulation };
    let claim = Claim::new(written_by, time, values, kind);
    Ok(Certificate { claim, problem: value, inequalities, texts })
}

/// A proof by inequalities that holds.
fn proof(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<Proof, Refusal> {
    let of_form = |by_group| {
        let proof = prove(obligation, by_group, stop)?;
        check(obligation, &proof, time, stop).map(|_| proof)
    };
    // With the waves in front the parts are over fewer parameters, but more are left at the end.
    match of_form(true) {
        Err(Refusal::TooLarge(_)) => of_form(false),
        other => other,
    }
}
