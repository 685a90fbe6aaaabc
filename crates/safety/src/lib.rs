//! Proves bounds, races and barriers of a kernel for every configuration, or gives counterexamples.
//!
//! What a kernel does comes from [`tickbound_opencl::proof`]. Two items are compared, and all their
//! values are variables, so two stand for all. The steps: [barrier intervals](intervals) tell which
//! accesses meet, [mod@obligations] state what has to hold, [classes] bring the numbers of all
//! configurations, [work] decides equal obligations together, [ranges] and [quick] prove most cases
//! without a solver, [group] tries what a group writes to local memory, [smt] asks Z3 about the
//! rest, and [replay] evaluates what Z3 gives before it is shown. [keep] finds conditions that
//! leave out what is refuted.

pub mod answer;
pub mod cases;
pub mod certificate;
pub mod classes;
pub mod group;
pub mod intervals;
pub mod keep;
pub mod memo;
pub mod obligations;
pub mod options;
pub mod prove;
pub mod question_text;
pub mod quick;
pub mod ranges;
pub mod replay;
pub mod shapes;
pub mod smt;
pub mod tried;
pub mod work;
pub mod written;

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;
use itertools::Itertools;
use rayon::prelude::*;
use tickbound_model::{Configurations, KernelSource, Problem};
use tickbound_opencl::ast::SourcePlace;
use tickbound_opencl::proof::events::ProofKernel;
use tickbound_opencl::proof::terms::{MOST, TermId, Terms, VariableKind};
use tickbound_opencl::{Extracted, Variant};

use answer::{CodePlace, Judged, Judgement, Safety, SafetyClaim};
use certificate::format::SafetyCertificate;
use classes::{Classes, NamedNumbers, length_name, name_of, named_kinds};
use obligations::{SafetyObligation, obligations};
pub use options::VerifyOptions;
use prove::ProofOutcome;
use work::{JudgedKey, ReadObligation, outcomes};

/// What is taken for granted in every answer.
const ASSUMED: [&str; 4] = [
    "arguments of the kernel are different buffers, as long as the problem file has it",
    "signed arithmetic on values that data decide does not overflow",
    "launches have no offset, and only configurations that the platform can launch are meant",
    "what data decide may be either way, so a fault may need data that never occur",
];

/// What is known of a kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verification {
    /// The answer.
    pub safety: Safety,
    /// The certificate of what is proved, if it was wanted.
    pub certificate: Option<SafetyCertificate>,
}

/// Verifies a kernel that was read for proofs, for all configurations of its problem.
///
/// # Errors
/// What has no value, or too many combinations of values.
pub fn verify(
    problem: &Problem,
    configurations: &Configurations<'_>,
    extracted: &Extracted,
    options: &VerifyOptions<'_>,
) -> Result<Verification, String> {
    let Some(source) = &problem.source else { return Ok(Verification::default()) };
    if problem.grid.is_empty() {
        return Err(
            "the problem has no launch in dimensions; use the profile opencl or resources".into()
        );
    }
    let structural = classes::structural(source, &extracted.structural)?;
    let among = (options.stop, options.among);
    let classes = Classes::new(problem, configurations, structural, among);
    let read = extracted.variants.par_iter();
    let read: Vec<Read<'_>> = read.filter_map(|v| Read::new(v, source, &classes)).collect();
    let mut work = Vec::new();
    let mut judged = Found::default();
    for read in &read {
        judged.without_length(read);
        for obligation in &read.obligations {
            let Read { variant, kernel, terms, numbers, .. } = read;
            let obligation = obligation.clone();
            work.push(ReadObligation { variant, kernel, terms, numbers, obligation });
        }
    }
    let (found, proofs) = outcomes(&work, &classes, options);
    for (work, outcome) in work.iter().zip(&found) {
        judged.add(work, outcome.clone());
    }
    let unread = read.iter().flat_map(|read| &read.kernel.unread);
    let mut safety = judged.safety(unread, (options.stop)());
    let assumed = read.iter().flat_map(|read| &read.kernel.assumed);
    let assumed = assumed.map(|(at, what)| format!("{}:{}: {what}", at.file, at.line));
    safety.assumed.extend(assumed.unique());
    let texts = extracted.variants.iter().map(|variant| variant.values.clone()).collect();
    let certificate =
        || certificate::write::certificate((&classes, texts), &work, &proofs, &safety);
    let certificate = options.certificate.then(certificate).transpose()?;
    if options.all_refuted {
        match all_refuted(&mut safety, &work, &found, &classes, options) {
            Ok(conditions) => safety.kept = conditions,
            Err(reason) => safety.not_kept = Some(reason),
        }
    }
    Ok(Verification { safety, certificate })
}

/// Notes all configurations that are refuted, and gives conditions that leave them out.
fn all_refuted(
    safety: &mut Safety,
    work: &[ReadObligation<'_>],
    found: &[ProofOutcome],
    classes: &Classes<'_>,
    options: &VerifyOptions<'_>,
) -> Result<Vec<String>, String> {
    let mut groups = HashMap::new();
    for (work, outcome) in work.iter().zip(found) {
        groups.entry(work.judged_key().0).or_insert_with(Vec::new).push((work, outcome));
    }
    let mut rows = Vec::new();
    for (number, judged) in safety.judged.iter().enumerate() {
        let key = (judged.claim, judged.at.clone(), judged.array.clone());
        if judged.judgement == Judgement::Refuted
            && let Some(members) = groups.get(&key)
        {
            rows.push((number, keep::decided_rows(members, classes, options)?));
        }
    }
    let conditions = rows.iter().map(|(_, rows)| rows.conditions());
    let conditions: Result<Vec<_>, _> = conditions.collect();
    safety.refuted = rows.into_iter().map(|(number, rows)| (number, rows.refuted())).collect();
    Ok(conditions?.into_iter().flatten().unique().collect())
}

/// A reading with its obligations.
struct Read<'r> {
    variant: &'r Variant,
    kernel: &'r ProofKernel,
    terms: Terms,
    obligations: Vec<SafetyObligation>,
    numbers: NamedNumbers,
}

impl<'r> Read<'r> {
    fn new(variant: &'r Variant, source: &KernelSource, classes: &Classes<'_>) -> Option<Read<'r>> {
        let kernel = variant.proof.as_ref()?;
        let numbers = classes.numbers(source, variant);
        let mut own = kernel.clone();
        own.terms = own.terms.restored();
        let lengths: Vec<Option<TermId>> = own
            .arrays
            .iter()
            .map(|array| match array.parameter {
                Some(i) => {
                    let name = length_name(i);
                    let known = numbers.contains_key(&name);
                    known.then(|| own.terms.named(VariableKind::Name(name), (0, MOST)))
                }
                None => array.bytes,
            })
            .collect();
        let (terms, mut obligations) = obligations(&own, &lengths);
        // Arguments without a value may be too large.
        let is_known =
            |kind: VariableKind| name_of(&kind).is_some_and(|name| numbers.contains_key(&name));
        obligations.retain(|obligation| {
            let variables = terms.variables_in(&obligation.faults);
            obligation.claim != SafetyClaim::Overflow
                || named_kinds(&terms, &variables).into_iter().all(is_known)
        });
        Some(Read { variant, kernel, terms, obligations, numbers })
    }
}

/// Where items race for an array, what is read depends on their order.
fn depend_on_order(judged: &mut [Judged]) {
    let open = |one: &&Judged| one.claim == SafetyClaim::Race && one.judgement != Judgement::Proved;
    let raced: BTreeSet<Option<String>> =
        judged.iter().filter(open).map(|one| one.array.clone()).collect();
    for one in judged.iter_mut().filter(|one| one.claim == SafetyClaim::Written) {
        if one.judgement != Judgement::Undecided && raced.contains(&one.array) {
            one.judgement = Judgement::Undecided;
            one.witness = None;
            one.reason = Some("items may race for it, so their order decides it".to_owned());
        }
    }
}

/// Judgements by what they are about.
#[derive(Default)]
struct Found {
    all: IndexMap<JudgedKey, Judged>,
    cases: usize,
    questions: usize,
}

impl Found {
    fn entry(
        &mut self,
        claim: SafetyClaim,
        at: Vec<CodePlace>,
        array: Option<String>,
    ) -> &mut Judged {
        let key = (claim, at.clone(), array.clone());
        self.all.entry(key).or_insert_with(|| Judged {
            claim,
            at,
            array,
            judgement: Judgement::Proved,
            reason: None,
            witness: None,
            cases: 0,
        })
    }

    /// Bounds of arrays whose length the problem does not have.
    fn without_length(&mut self, read: &Read<'_>) {
        let mut terms = read.terms.clone();
        let mut seen = BTreeSet::new();
        for reached in intervals::accesses(&mut terms, &read.kernel.events) {
            let array = &read.kernel.arrays[reached.access.array];
            let unknown =
                array.parameter.is_some_and(|i| !read.numbers.contains_key(&length_name(i)));
            if unknown && array.element != 0 && seen.insert(reached.access.array) {
                let judged = self.entry(
                    SafetyClaim::Bounds,
                    vec![CodePlace::new(&reached.at)],
                    Some(array.name.clone()),
                );
                judged.judgement = Judgement::Undecided;
                judged.reason =
                    Some("the problem file gives no length for it in kernel.arguments".to_owned());
            }
        }
    }

    fn add(&mut self, work: &ReadObligation<'_>, outcome: ProofOutcome) {
        self.cases += outcome.cases;
        self.questions += outcome.questions;
        let ((claim, places, array), is_reversed) = work.judged_key();
        let mut outcome = outcome;
        if let Some(witness) = outcome.witness.as_mut().filter(|_| is_reversed) {
            witness.items.reverse();
            witness.bytes.reverse();
        }
        let judged = self.entry(claim, places, array);
        judged.cases += outcome.cases;
        if outcome.judgement > judged.judgement {
            judged.judgement = outcome.judgement;
            judged.reason = outcome.reason.filter(|_| outcome.judgement == Judgement::Undecided);
            judged.witness = outcome.witness;
        }
    }

    /// The answer. Nothing is proved beside what was not read, and races are judged by barriers
    /// that all items reach.
    fn safety<'u>(
        self,
        unread: impl Iterator<Item = &'u (SourcePlace, String)>,
        stopped: bool,
    ) -> Safety {
        let mut judged: Vec<Judged> = self.all.into_values().collect();
        judged.sort_by(|a, b| (&a.at, a.claim, &a.array).cmp(&(&b.at, b.claim, &b.array)));
        let unread: Vec<String> =
            unread.map(|(at, what)| format!("{}:{}: {what}", at.file, at.line)).collect();
        if let Some(first) = unread.first() {
            for one in &mut judged {
                one.judgement = Judgement::Undecided;
                one.witness = None;
                one.reason = Some(first.clone());
            }
        }
        depend_on_order(&mut judged);
        let lost = judged
            .iter()
            .find(|one| one.claim == SafetyClaim::Divergence && one.judgement != Judgement::Proved);
        if let Some(line) = lost.and_then(|one| one.at.first()).map(|at| at.line) {
            let ordered = [SafetyClaim::Race, SafetyClaim::Written];
            for one in judged.iter_mut().filter(|one| ordered.contains(&one.claim)) {
                if one.judgement == Judgement::Proved {
                    one.judgement = Judgement::Undecided;
                    let why = format!("all items may not reach the barriers of line {line}");
                    one.reason = Some(why);
                }
            }
        }
        let assumed = ASSUMED.iter().map(|text| (*text).to_owned()).collect();
        let (cases, questions) = (self.cases, self.questions);
        Safety { judged, assumed, cases, questions, unread, stopped, ..Safety::default() }
    }
}
