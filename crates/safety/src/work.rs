//! The obligations of all readings; those that say the same are decided together.
//!
//! A source is read once for each choice of the macros that its syntax depends on, and most
//! obligations do not depend on all of these. What matters to a fault is compared by the shapes of
//! its terms, so obligations that are equal but for the numbers of their variables are one.

use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;
use rayon::prelude::*;
use tickbound_expr::Expr;
use tickbound_opencl::Variant;
use tickbound_opencl::proof::events::ProofKernel;
use tickbound_opencl::proof::terms::{Terms, VariableKind};

use crate::answer::{CodePlace, Judgement, SafetyClaim};
use crate::classes::{Classes, NamedNumbers, SafetyCases, length_name, name_of};
use crate::obligations::SafetyObligation;
use crate::options::VerifyOptions;
use crate::prove::{ProofOutcome, Prover};
use crate::shapes::{Relevant, Shapes};

/// An obligation of a reading.
pub struct ReadObligation<'w> {
    /// The reading.
    pub variant: &'w Variant,
    /// What it does.
    pub kernel: &'w ProofKernel,
    /// The terms of the obligation.
    pub terms: &'w Terms,
    /// What names stand for.
    pub numbers: &'w NamedNumbers,
    /// What has to hold.
    pub obligation: SafetyObligation,
}

/// What a judgement is about.
pub type JudgedKey = (SafetyClaim, Vec<CodePlace>, Option<String>);

impl ReadObligation<'_> {
    /// The numbers of these kinds; kinds without one are left out.
    pub fn numbers_of(&self, kinds: &[VariableKind]) -> Vec<&Expr> {
        kinds.iter().filter_map(|kind| self.numbers.get(&name_of(kind)?)).collect()
    }

    /// What the obligation is about, and whether its two places are in the opposite order there.
    pub fn judged_key(&self) -> (JudgedKey, bool) {
        let SafetyObligation { claim, at, array, .. } = &self.obligation;
        let array = array.and_then(|array| self.kernel.arrays.get(array));
        let mut places: Vec<CodePlace> = at.iter().map(CodePlace::new).collect();
        let is_reversed = places.len() == 2 && places[1] < places[0];
        if is_reversed {
            places.reverse();
        }
        places.dedup();
        ((*claim, places, array.map(|array| array.name.clone())), is_reversed)
    }
}

/// Obligations of some readings that one proof is for.
pub struct ProvedTogether {
    /// Their places among all obligations.
    pub members: Vec<usize>,
    /// What was proved.
    pub proved: Relevant,
}

/// Decides all obligations: how each came out, in their order, and the proofs that there are.
pub fn outcomes(
    work: &[ReadObligation<'_>],
    classes: &Classes<'_>,
    options: &VerifyOptions<'_>,
) -> (Vec<ProofOutcome>, Vec<ProvedTogether>) {
    let relevant: Vec<Relevant> = work.par_iter().map(Relevant::new).collect();
    let members = equal(work, &relevant);
    let done = AtomicUsize::new(0);
    let add = |count| done.fetch_add(count, Ordering::Relaxed) + count;
    let advance = |count: usize| (options.progress)(add(count), work.len());
    let together: Vec<ProofOutcome> = members
        .par_iter()
        .map(|members| {
            let all: Vec<&ReadObligation<'_>> = members.iter().map(|i| &work[*i]).collect();
            let outcome = decided(&all, &relevant[members[0]], classes, options, true).0;
            if outcome.judgement == Judgement::Proved {
                advance(members.len());
            }
            outcome
        })
        .collect();
    let mut relevant: Vec<Option<Relevant>> = relevant.into_iter().map(Some).collect();
    let (mut all, mut proofs) = (vec![None; work.len()], Vec::new());
    for (members, outcome) in members.into_iter().zip(together) {
        let mut spent = ProofOutcome { cases: 0, questions: 0, ..outcome.clone() };
        (spent.reason, spent.witness) = (None, None);
        for i in &members[1..] {
            all[*i] = Some(spent.clone());
        }
        let proved = relevant[members[0]].take();
        let proved = proved.filter(|_| outcome.judgement == Judgement::Proved);
        all[members[0]] = Some(outcome);
        proofs.extend(proved.map(|proved| ProvedTogether { members, proved }));
    }
    let were_proved: Vec<bool> = all.iter().map(is_proved).collect();
    let one = |(work, outcome): (&ReadObligation<'_>, Option<ProofOutcome>)| {
        let outcome = outcome.unwrap_or_else(ProofOutcome::stopped);
        if outcome.judgement == Judgement::Proved {
            return outcome;
        }
        let exact = in_full(work, outcome, classes, options);
        advance(1);
        exact
    };
    let all: Vec<ProofOutcome> = work.par_iter().zip(all).map(one).collect();
    let later = |i: &usize| !were_proved[*i] && all[*i].judgement == Judgement::Proved;
    let whole = |i| ProvedTogether { members: vec![i], proved: Relevant::whole(&work[i]) };
    proofs.extend((0..work.len()).filter(later).map(whole));
    (all, proofs)
}

/// The places of obligations that are equal but for the numbers of their variables.
fn equal(work: &[ReadObligation<'_>], relevant: &[Relevant]) -> Vec<Vec<usize>> {
    let mut groups: IndexMap<Vec<usize>, Vec<usize>> = IndexMap::new();
    let mut shapes = Shapes::default();
    for (i, one) in relevant.iter().enumerate() {
        let said = shapes.said(work[i].terms, one).unwrap_or_else(|| vec![i]);
        groups.entry(said).or_default().push(i);
    }
    groups.into_values().collect()
}

fn is_proved(outcome: &Option<ProofOutcome>) -> bool {
    outcome.as_ref().is_some_and(|outcome| outcome.judgement == Judgement::Proved)
}

/// Decides an obligation with all its conditions, where those around the fault were not enough.
fn in_full(
    work: &ReadObligation<'_>,
    before: ProofOutcome,
    classes: &Classes<'_>,
    options: &VerifyOptions<'_>,
) -> ProofOutcome {
    let whole = Relevant::whole(work);
    let (mut outcome, configuration) = decided(&[work], &whole, classes, options, false);
    if let (Some(witness), Some(configuration)) = (&mut outcome.witness, configuration) {
        witness.configuration = configuration;
    }
    outcome.questions += before.questions;
    outcome
}

/// Decides what obligations of some readings have in common, with a configuration that refutes it.
fn decided(
    work: &[&ReadObligation<'_>],
    relevant: &Relevant,
    classes: &Classes<'_>,
    options: &VerifyOptions<'_>,
    only_proofs: bool,
) -> (ProofOutcome, Option<IndexMap<String, i64>>) {
    let Relevant { obligation, kinds, .. } = relevant;
    if (options.stop)() {
        return (ProofOutcome::stopped(), None);
    }
    let cases = match cases(work, kinds, classes) {
        Ok(cases) => cases,
        Err(reason) => return (ProofOutcome::undecided(reason), None),
    };
    let first = work[0];
    let mut terms = first.terms.clone();
    let (kernel, time, stop) = (first.kernel, options.question, options.stop);
    let prover = Prover { kernel, time, stop, only_proofs, smallest: true };
    let (mut outcome, case) = prover.prove(&mut terms, obligation, kinds, cases.values());
    let Some(witness) = &mut outcome.witness else { return (outcome, None) };
    if let Some(values) = cases.values().nth(case) {
        witness.length = array_length(first, kinds, values);
    }
    (outcome, Some(cases.configuration(classes.problem(), case)))
}

/// The bytes of an obligation's array, by the values of its numbers, if these decide it.
fn array_length(work: &ReadObligation<'_>, kinds: &[VariableKind], values: &[i64]) -> Option<i64> {
    let array = work.kernel.arrays.get(work.obligation.array?)?;
    match array.parameter {
        Some(parameter) => {
            let name = VariableKind::Name(length_name(parameter));
            values.get(kinds.iter().position(|kind| *kind == name)?).copied()
        }
        None => work.terms.constant(array.bytes?).and_then(|bytes| bytes.try_into().ok()),
    }
}

/// The values of some numbers in the configurations of some readings.
///
/// # Errors
/// What has no value, or too many combinations.
pub fn cases(
    work: &[&ReadObligation<'_>],
    kinds: &[VariableKind],
    classes: &Classes<'_>,
) -> Result<SafetyCases, String> {
    classes.cases(work.iter().map(|work| (work.numbers_of(kinds), work.variant.values.clone())))
}

/// What the numbers of an obligation are called, in the order of these names. Arguments without a
/// value are left out: they may have any.
pub fn kinds(work: &ReadObligation<'_>, obligation: &SafetyObligation) -> Vec<VariableKind> {
    let variables = work.terms.variables_in(&obligation.roots());
    let mut kinds = crate::classes::named_kinds(work.terms, &variables);
    kinds.retain(|kind| name_of(kind).is_some_and(|name| work.numbers.contains_key(&name)));
    kinds.sort_by_key(name_of);
    kinds
}

impl Relevant {
    /// An obligation with all its conditions.
    fn whole(work: &ReadObligation<'_>) -> Relevant {
        let obligation = work.obligation.clone();
        Relevant { kinds: kinds(work, &obligation), obligation }
    }

    fn new(work: &ReadObligation<'_>) -> Relevant {
        let obligation = work.obligation.relevant(work.terms);
        let kinds = kinds(work, &obligation);
        Relevant { obligation, kinds }
    }
}
