//! The obligations of all readings; those that say the same are decided together.
//!
//! A source is read once for each choice of the macros that its syntax depends on, and most
//! obligations do not depend on all of these. What matters to a fault is compared by the shapes of
//! its terms, so obligations that are equal but for the numbers of their variables are one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use indexmap::IndexMap;
use rayon::prelude::*;
use tickbound_expr::Expr;
use tickbound_opencl::Variant;
use tickbound_opencl::proof::events::ProofKernel;
use tickbound_opencl::proof::terms::{FunctionKind, Node, TermId, Terms, VariableKind};

use crate::Manner;
use crate::answer::Judgement;
use crate::classes::{Classes, NamedNumbers, name_of};
use crate::obligations::SafetyObligation;
use crate::prove::{ProofOutcome, Prover};
use crate::written::WrittenStep;

/// An obligation of a reading.
pub struct Work<'w> {
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

/// What matters to the fault of an obligation.
struct Relevant {
    obligation: SafetyObligation,
    /// What its numbers are called.
    kinds: Vec<VariableKind>,
}

/// Decides all obligations, in their order.
pub fn outcomes(
    work: &[Work<'_>],
    classes: &Classes<'_>,
    manner: &Manner<'_>,
) -> Vec<ProofOutcome> {
    let relevant: Vec<Relevant> = work.par_iter().map(Relevant::new).collect();
    let mut groups: IndexMap<Vec<usize>, Vec<usize>> = IndexMap::new();
    let mut shapes = Shapes::default();
    for (i, one) in relevant.iter().enumerate() {
        let said = shapes.said(work[i].terms, one).unwrap_or_else(|| vec![i]);
        groups.entry(said).or_default().push(i);
    }
    let done = AtomicUsize::new(0);
    let advance = |count: usize| {
        (manner.progress)(done.fetch_add(count, Ordering::Relaxed) + count, work.len());
    };
    let members: Vec<&Vec<usize>> = groups.values().collect();
    let together: Vec<ProofOutcome> = members
        .par_iter()
        .map(|members| {
            let all: Vec<&Work<'_>> = members.iter().map(|i| &work[*i]).collect();
            let outcome = decided(&all, &relevant[members[0]], classes, manner, true).0;
            if outcome.judgement == Judgement::Proved {
                advance(members.len());
            }
            outcome
        })
        .collect();
    let mut all = vec![None; work.len()];
    for (members, outcome) in members.iter().zip(together) {
        let mut spent = ProofOutcome { cases: 0, questions: 0, ..outcome.clone() };
        (spent.reason, spent.witness) = (None, None);
        for i in &members[1..] {
            all[*i] = Some(spent.clone());
        }
        all[members[0]] = Some(outcome);
    }
    let one = |(work, outcome): (&Work<'_>, Option<ProofOutcome>)| {
        let outcome = outcome.unwrap_or_else(ProofOutcome::stopped);
        if outcome.judgement == Judgement::Proved {
            return outcome;
        }
        let exact = in_full(work, outcome, classes, manner);
        advance(1);
        exact
    };
    work.par_iter().zip(all).map(one).collect()
}

/// Decides an obligation with all its conditions, where those around the fault were not enough.
fn in_full(
    work: &Work<'_>,
    before: ProofOutcome,
    classes: &Classes<'_>,
    manner: &Manner<'_>,
) -> ProofOutcome {
    if manner.stop.load(Ordering::Relaxed) {
        return ProofOutcome::stopped();
    }
    let whole =
        Relevant { kinds: kinds(work, &work.obligation), obligation: work.obligation.clone() };
    let (mut outcome, configuration) = decided(&[work], &whole, classes, manner, false);
    if let (Some(witness), Some(configuration)) = (&mut outcome.witness, configuration) {
        witness.configuration = configuration;
    }
    outcome.questions += before.questions;
    outcome
}

/// Decides what obligations of some readings have in common, with a configuration that refutes it.
fn decided(
    work: &[&Work<'_>],
    relevant: &Relevant,
    classes: &Classes<'_>,
    manner: &Manner<'_>,
    only_proofs: bool,
) -> (ProofOutcome, Option<IndexMap<String, i64>>) {
    let Relevant { obligation, kinds, .. } = relevant;
    let mut cases = IndexMap::new();
    for (member, work) in work.iter().enumerate() {
        let numbers = kinds.iter().filter_map(|kind| work.numbers.get(&name_of(kind)?));
        let numbers: Vec<&Expr> = numbers.collect();
        match classes.cases(work.variant, &numbers) {
            Ok(found) => {
                let found = found.into_iter().map(|(values, row)| (values, (member, row)));
                found.for_each(|(values, place)| _ = cases.entry(values).or_insert(place));
            }
            Err(reason) => return (ProofOutcome::undecided(reason), None),
        }
    }
    let first = work[0];
    let mut terms = first.terms.clone();
    let (kernel, time, stop) = (first.kernel, manner.question, manner.stop);
    let prover = Prover { kernel, time, stop, only_proofs, smallest: true };
    let (outcome, case) = prover.prove(&mut terms, obligation, kinds, cases.keys());
    let place = cases.get_index(case).filter(|_| outcome.witness.is_some());
    let configuration = place.map(|(_, (member, row))| {
        let numbers = kinds.iter().filter_map(|kind| work[*member].numbers.get(&name_of(kind)?));
        classes.configuration(work[*member].variant, &numbers.collect::<Vec<_>>(), *row)
    });
    (outcome, configuration)
}

/// What the numbers of an obligation are called, in the order of these names. Arguments without a
/// value are left out: they may have any.
pub fn kinds(work: &Work<'_>, obligation: &SafetyObligation) -> Vec<VariableKind> {
    let variables = work.terms.variables_in(&obligation.roots());
    let mut kinds = crate::classes::named_kinds(work.terms, &variables);
    kinds.retain(|kind| name_of(kind).is_some_and(|name| work.numbers.contains_key(&name)));
    kinds.sort_by_key(name_of);
    kinds
}

impl Relevant {
    fn new(work: &Work<'_>) -> Relevant {
        let obligation = work.obligation.relevant(work.terms);
        let kinds = kinds(work, &obligation);
        Relevant { obligation, kinds }
    }
}

/// The shapes of terms, numbered: terms of different readings that are equal but for the numbers
/// of their variables have one shape.
#[derive(Default)]
struct Shapes(HashMap<Shape, usize>);

/// What a term is: an operation, its numbers, and the shapes of its parts.
type Shape = (String, Vec<i128>, Vec<usize>);

impl Shapes {
    fn number(&mut self, shape: Shape) -> usize {
        let next = self.0.len();
        *self.0.entry(shape).or_insert(next)
    }

    /// What an obligation says, as numbers: the same for obligations that say the same; `None` if
    /// it has numbers that follow from iteration to iteration.
    fn said(&mut self, terms: &Terms, relevant: &Relevant) -> Option<Vec<usize>> {
        let obligation = &relevant.obligation;
        let all = terms.inside(&obligation.roots());
        let (mut shapes, mut ranks) = (HashMap::new(), HashMap::<String, i128>::new());
        for term in &all {
            let shape = Shapes::shape(terms, *term, &shapes, &mut ranks)?;
            shapes.insert(*term, self.number(shape));
        }
        let one = |term: &TermId| shapes.get(term).copied();
        let list = |terms: &[TermId]| terms.iter().map(one).collect::<Option<Vec<usize>>>();
        let SafetyObligation {
            claim, given, faults, touched, loops, twins, items, written, ..
        } = obligation;
        let mut given = list(given)?;
        given.sort_unstable();
        let mut twins: Vec<usize> = list(&twins.iter().map(|(a, _)| *a).collect::<Vec<_>>())?;
        twins.sort_unstable();
        let loops: Vec<TermId> = loops.iter().flat_map(|l| [l.counter, l.goes_on]).collect();
        let touched: Vec<TermId> = touched.iter().map(|(offset, _)| *offset).collect();
        let items: Vec<TermId> = items.iter().flatten().flatten().copied().collect();
        let written = list(&WrittenStep::terms(written))?;
        let (faults, touched, loops) = (list(faults)?, list(&touched)?, list(&loops)?);
        let parts = [given, faults, touched, loops, twins, list(&items)?, written];
        let outline = WrittenStep::outline(&obligation.written);
        let label = format!("{claim:?}{}{:?}{outline}", obligation.differ, relevant.kinds);
        let bytes = obligation.touched.iter().map(|(_, bytes)| i128::from(*bytes)).collect();
        let label = self.number((label, bytes, Vec::new()));
        let lengths = parts.iter().map(Vec::len);
        Some(std::iter::once(label).chain(lengths).chain(parts.concat()).collect())
    }

    /// The shape of a term whose parts have theirs. Variables of a kind differ by their order.
    fn shape(
        terms: &Terms,
        term: TermId,
        shapes: &HashMap<TermId, usize>,
        ranks: &mut HashMap<String, i128>,
    ) -> Option<Shape> {
        let parts = terms.parts(term);
        let mut parts: Vec<usize> =
            parts.iter().map(|p| shapes.get(p).copied()).collect::<Option<_>>()?;
        let mut ranked = |label: &str, number: u32| {
            let label = format!("{label} {number}");
            let next = ranks.len() as i128;
            *ranks.entry(label).or_insert(next)
        };
        let plain = |name: &str, numbers: Vec<i128>| (name.to_owned(), numbers);
        let (name, numbers) = match terms.node(term) {
            Node::Int(value) => plain("int", vec![*value]),
            Node::Variable(index) => {
                let variable = &terms.variables[*index as usize];
                let rank = match name_of(&variable.kind) {
                    Some(_) => 0,
                    None => ranked("variable", *index),
                };
                (format!("{variable:?}"), vec![rank])
            }
            Node::Apply(function, _) => {
                let known = &terms.functions[*function as usize];
                if matches!(known.kind, FunctionKind::Iterated { .. }) {
                    return None;
                }
                (format!("apply {:?}", known.range), vec![ranked("function", *function)])
            }
            Node::Sum(sum) => {
                let mut rest = parts.as_slice();
                let mut products = Vec::new();
                for (product, factor) in sum {
                    let (own, behind) = rest.split_at(product.len());
                    rest = behind;
                    let mut own = own.to_vec();
                    own.sort_unstable();
                    products.push((own, *factor));
                }
                products.sort_unstable();
                let numbers = products.iter().flat_map(|(own, f)| [own.len() as i128, *f]);
                let numbers = numbers.collect();
                parts = products.into_iter().flat_map(|(own, _)| own).collect();
                plain("sum", numbers)
            }
            Node::Wrap(bits, signed, _) => plain("wrap", vec![(*bits).into(), (*signed).into()]),
            Node::Bits(op, ..) => (format!("{op:?}"), Vec::new()),
            Node::Quotient(..) => plain("/", Vec::new()),
            Node::Remainder(..) => plain("%", Vec::new()),
            Node::Least(..) => plain("least", Vec::new()),
            Node::Negative(_) => plain("negative", Vec::new()),
            Node::Zero(_) => plain("zero", Vec::new()),
            Node::Not(_) => plain("not", Vec::new()),
            Node::And(..) => plain("and", Vec::new()),
            Node::Or(..) => plain("or", Vec::new()),
            Node::Choice(..) => plain("choice", Vec::new()),
        };
        if matches!(terms.node(term), Node::Least(..) | Node::And(..) | Node::Or(..)) {
            parts.sort_unstable();
        }
        Some((name, numbers, parts))
    }
}
