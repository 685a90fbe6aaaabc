//! One obligation, for all cases of it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use indexmap::IndexMap;
use tickbound_opencl::proof::events::ProofKernel;
use tickbound_opencl::proof::terms::{FunctionKind, Node, TermId, Terms, VariableKind};

use crate::answer::{Judgement, SafetyClaim, Witness, WitnessItem};
use crate::cases::{CaseMaker, folded, open_conditions, own_names, without_wraps};
use crate::classes::name_of;
use crate::intervals::Begun;
use crate::memo::TermMemo;
use crate::obligations::SafetyObligation;
use crate::options::StopCheck;
use crate::quick::KnownLimits;
use crate::ranges::RangeProof;
use crate::replay::ValueReplay;
use crate::smt::{SmtQuestion, SmtReply};
use crate::written::WrittenStep;

/// Most cases that iterations of a loop are split into.
const MAX_SPLIT: usize = 512;
/// Most steps to make a counterexample smaller.
const MAX_SMALLER: usize = 120;

/// How an obligation came out.
#[derive(Debug, Clone)]
pub struct ProofOutcome {
    /// Whether it holds.
    pub judgement: Judgement,
    /// Why it is not decided.
    pub reason: Option<String>,
    /// What shows that it does not hold.
    pub witness: Option<Witness>,
    /// Different cases.
    pub cases: usize,
    /// Questions to the solver.
    pub questions: usize,
}

impl Default for ProofOutcome {
    /// Proved, as long as no case is found that is not.
    fn default() -> ProofOutcome {
        let judgement = Judgement::Proved;
        ProofOutcome { judgement, reason: None, witness: None, cases: 0, questions: 0 }
    }
}

impl ProofOutcome {
    /// Not decided, for a reason.
    pub fn undecided(reason: String) -> ProofOutcome {
        let judgement = Judgement::Undecided;
        ProofOutcome { judgement, reason: Some(reason), witness: None, cases: 0, questions: 0 }
    }

    /// Not decided as it was stopped.
    pub fn stopped() -> ProofOutcome {
        ProofOutcome::undecided("it was stopped".to_owned())
    }
}

/// What all cases have in common.
pub struct Prover<'k> {
    /// The kernel.
    pub kernel: &'k ProofKernel,
    /// How long a question may take.
    pub time: Duration,
    /// Ends it when it becomes true.
    pub stop: StopCheck<'k>,
    /// Whether only a proof matters: it ends with the first case that is not proved.
    pub only_proofs: bool,
    /// Whether a counterexample is made smaller.
    pub smallest: bool,
}

/// An obligation for numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Case {
    given: Vec<TermId>,
    faults: Vec<TermId>,
    loops: Vec<TermId>,
    written: Vec<WrittenStep>,
}

impl Case {
    fn new(case: &SafetyObligation) -> Case {
        let (given, faults) = (case.given.clone(), case.faults.clone());
        let loops = case.loops.iter().flat_map(|l| [l.counter, l.goes_on]).collect();
        Case { given, faults, loops, written: case.written.clone() }
    }
}

/// How a case came out.
pub enum Found {
    /// It holds.
    Proved,
    /// It is not known, for a reason.
    Undecided(String),
    /// It does not hold, as values show.
    Refuted(Box<Witness>),
}

impl Prover<'_> {
    /// Proves an obligation for all cases: each the values of some names. A counterexample comes
    /// with the place of its case.
    pub fn prove<'c>(
        &self,
        terms: &mut Terms,
        obligation: &SafetyObligation,
        kinds: &[VariableKind],
        cases: impl Iterator<Item = &'c Vec<i64>>,
    ) -> (ProofOutcome, usize) {
        let mut outcome = ProofOutcome::default();
        let (mut known, mut memo) = (HashSet::new(), TermMemo::default());
        let mut maker = CaseMaker::new(terms, obligation, kinds);
        let mut ranges = RangeProof::new(terms, obligation, kinds);
        for (place, values) in cases.enumerate() {
            if (self.stop)() {
                let stopped = ProofOutcome::stopped();
                return (ProofOutcome { questions: outcome.questions, ..stopped }, 0);
            }
            if ranges.as_mut().is_some_and(|ranges| ranges.holds(values)) {
                outcome.cases += 1;
                continue;
            }
            let case = maker.case(terms, values);
            if !known.insert(Case::new(&case)) {
                continue;
            }
            outcome.cases += 1;
            let found = match case.claim {
                SafetyClaim::Written => self.tried(terms, &mut memo, &case),
                _ if maker.iterates => self.split(terms, &case, &mut outcome.questions),
                _ => self.decide(terms, &case, &mut outcome.questions),
            };
            match found {
                Found::Proved => {}
                Found::Undecided(reason) => {
                    outcome.judgement = Judgement::Undecided;
                    outcome.reason.get_or_insert(reason);
                    if self.only_proofs {
                        return (outcome, 0);
                    }
                }
                Found::Refuted(mut witness) => {
                    witness.numbers =
                        own_names(kinds, values).chain(witness.numbers.drain(..)).collect();
                    outcome.judgement = Judgement::Refuted;
                    outcome.witness = Some(*witness);
                    return (outcome, place);
                }
            }
        }
        (outcome, 0)
    }

    /// Takes iterations apart where a number follows from one to the next.
    fn split(&self, terms: &mut Terms, case: &SafetyObligation, questions: &mut usize) -> Found {
        let all = terms.inside(&case.roots());
        let follows = |terms: &Terms, term: TermId| match terms.node(term) {
            Node::Apply(f, parts) => {
                matches!(terms.functions[*f as usize].kind, FunctionKind::Iterated { .. })
                    .then(|| parts[0])
            }
            _ => None,
        };
        for term in all {
            let Some(counter) = follows(terms, term) else { continue };
            let Some(begun) = case.loops.iter().find(|l| l.counter == counter) else { continue };
            let Some(count) = self.count(terms, begun) else { continue };
            let mut worst = Found::Proved;
            for k in 0..=count {
                let by = HashMap::from([(counter, terms.int(k as i128))]);
                let one = folded(terms, case, by);
                match self.split(terms, &one, questions) {
                    Found::Proved => {}
                    Found::Refuted(witness) => return Found::Refuted(witness),
                    undecided => worst = undecided,
                }
            }
            return worst;
        }
        self.decide(terms, case, questions)
    }

    /// How many iterations a loop has whose test is known for each.
    fn count(&self, terms: &mut Terms, begun: &Begun) -> Option<usize> {
        let mut values = HashMap::new();
        let counter = match *terms.node(begun.counter) {
            Node::Variable(index) => index,
            _ => return None,
        };
        if terms.variables_in(&[begun.goes_on]) != [counter] {
            return None;
        }
        for k in 0..MAX_SPLIT {
            values.insert(begun.counter, k as i128);
            let mut replay = ValueReplay::new(terms, &values);
            let goes_on = replay.value(begun.goes_on)?;
            if replay.guessed || !replay.contents.is_empty() {
                return None;
            }
            if goes_on == 0 {
                return Some(k);
            }
        }
        None
    }

    fn decide(&self, terms: &mut Terms, case: &SafetyObligation, questions: &mut usize) -> Found {
        if case.given.iter().chain(&case.faults).any(|c| terms.constant(*c) == Some(0)) {
            return Found::Proved;
        }
        let case = &without_wraps(terms, case.clone(), !self.only_proofs);
        let given = open_conditions(terms, case);
        if self.is_quick(terms, case, &given) {
            return Found::Proved;
        }
        let conditions: Vec<TermId> = given.iter().chain(&case.faults).copied().collect();
        let mut question = SmtQuestion::new(terms, &conditions, self.time);
        let reply = question.ask();
        *questions += question.asked;
        match reply {
            SmtReply::Never => Found::Proved,
            SmtReply::Unknown => {
                Found::Undecided("the solver does not know in the time it has".to_owned())
            }
            SmtReply::Values(_) if self.only_proofs => {
                Found::Undecided("it is not proved from the conditions around the fault".to_owned())
            }
            SmtReply::Values(values) => self.found(terms, case, &conditions, values, questions),
        }
    }

    /// Whether the case is proved without the solver.
    fn is_quick(&self, terms: &mut Terms, case: &SafetyObligation, given: &[TermId]) -> bool {
        match (case.claim, case.touched.as_slice()) {
            (SafetyClaim::Bounds | SafetyClaim::Overflow, _) => {
                let [outside] = case.faults.as_slice() else { return false };
                let (before, behind) = match *terms.node(*outside) {
                    Node::Or(a, b) => (Some(a), Some(b)),
                    _ => (Some(*outside), None),
                };
                let mut known = KnownLimits::new(terms, given);
                [before, behind].into_iter().flatten().all(|side| known.never(side))
            }
            (SafetyClaim::Race | SafetyClaim::RaceOfGroups, [(i, m), (j, n)]) if m == n => {
                let own = |(a, b): &(TermId, TermId)| {
                    a != b && matches!(terms.node(*a), Node::Variable(_))
                };
                let other: HashMap<TermId, TermId> =
                    case.twins.iter().copied().filter(own).collect();
                let place = usize::from(case.claim == SafetyClaim::RaceOfGroups);
                let Some(ids) = case.items.first().map(|item| &item[place]) else { return false };
                let ids: Vec<TermId> =
                    ids.iter().copied().filter(|id| terms.constant(*id).is_none()).collect();
                let mut known = KnownLimits::new(terms, given);
                // Where no condition makes them differ, ids show nothing.
                case.differ && known.is_apart((*i, *j), i128::from(*m), &other, &ids)
            }
            _ => false,
        }
    }

    /// Values for all conditions: a counterexample if evaluation confirms it.
    fn found(
        &self,
        terms: &mut Terms,
        case: &SafetyObligation,
        conditions: &[TermId],
        values: HashMap<TermId, i128>,
        questions: &mut usize,
    ) -> Found {
        let first = match self.confirmed(terms, case, &values) {
            Ok(witness) => witness,
            Err(reason) => return Found::Undecided(reason),
        };
        let mut best = Box::new(first);
        let mut values = values;
        let order = case.items.iter().flat_map(|item| [item[1].clone(), item[0].clone()]);
        let order: Vec<TermId> =
            order.flatten().chain(case.loops.iter().map(|l| l.counter)).collect();
        let mut question =
            SmtQuestion::new(terms, conditions, self.time.min(Duration::from_secs(1)));
        let mut left = if self.smallest { MAX_SMALLER } else { 0 };
        for variable in order {
            let (mut low, mut high) = match values.get(&variable) {
                Some(value) => (question.terms().range(variable).0.max(0), *value),
                None => continue,
            };
            while low < high && left > 0 && !(self.stop)() {
                left -= 1;
                let middle = low + (high - low) / 2;
                let below = question.at_most(variable, middle);
                match question.try_with(below) {
                    SmtReply::Values(smaller) => {
                        high = smaller.get(&variable).copied().unwrap_or(middle).min(middle);
                        values = smaller;
                    }
                    _ => low = middle + 1,
                }
            }
            let fixed = question.at_most(variable, high);
            question.require(fixed);
        }
        *questions += question.asked;
        if let Ok(witness) = self.confirmed(terms, case, &values) {
            *best = witness;
        }
        Found::Refuted(best)
    }

    /// The counterexample that values are, or why they are none.
    fn confirmed(
        &self,
        terms: &Terms,
        case: &SafetyObligation,
        values: &HashMap<TermId, i128>,
    ) -> Result<Witness, String> {
        let unclear = || "values that data or earlier iterations decide were not read".to_owned();
        let mut replay = ValueReplay::new(terms, values);
        for condition in case.given.iter().chain(&case.faults) {
            match replay.value(*condition) {
                Some(0) | None => return Err(unclear()),
                Some(_) => {}
            }
        }
        if replay.reaches(&case.loops) != Some(true) || replay.guessed || case.loose {
            return Err(unclear());
        }
        let mut number = |term: TermId| replay.value(term).and_then(|v| i64::try_from(v).ok());
        let mut items = Vec::new();
        for [local, group] in &case.items {
            let mut all = |ids: &[TermId]| ids.iter().map(|id| number(*id)).collect::<Option<_>>();
            let (local, group) = (all(local), all(group));
            let (Some(local), Some(group)) = (local, group) else { return Err(unclear()) };
            items.push(WitnessItem { local, group });
        }
        let touched = case.touched.iter().map(|(offset, bytes)| Some((number(*offset)?, *bytes)));
        let bytes = touched.collect::<Option<Vec<_>>>().ok_or_else(unclear)?;
        let stored: Vec<Option<i64>> =
            case.values.iter().map(|value| value.and_then(&mut number)).collect();
        let same_value = matches!(stored.as_slice(), [Some(a), Some(b)] if a == b);
        Ok(Witness {
            configuration: IndexMap::new(),
            numbers: self.named(terms, case, values),
            items,
            bytes,
            length: None,
            same_value,
            contents: self.contents(terms, &replay),
        })
    }

    /// The values of names that no configuration decides.
    fn named(
        &self,
        terms: &Terms,
        case: &SafetyObligation,
        values: &HashMap<TermId, i128>,
    ) -> IndexMap<String, i64> {
        let mut named = IndexMap::new();
        for index in terms.variables_in(&case.roots()) {
            let kind = &terms.variables[index as usize].kind;
            let (Some(name), Some(term)) = (name_of(kind), terms.known(&Node::Variable(index)))
            else {
                continue;
            };
            if let Some(value) = values.get(&term).and_then(|v| i64::try_from(*v).ok()) {
                named.insert(name.replace('$', ""), value);
            }
        }
        named
    }

    fn contents(&self, terms: &Terms, replay: &ValueReplay<'_>) -> Vec<(String, i64, i64)> {
        let one = |((function, place), value): (&(u32, i128), &i128)| {
            let FunctionKind::Content(array) = terms.functions.get(*function as usize)?.kind else {
                return None;
            };
            let name = self.kernel.arrays.get(array as usize)?.name.clone();
            Some((name, i64::try_from(*place).ok()?, i64::try_from(*value).ok()?))
        };
        let mut all: Vec<_> = replay.contents.iter().filter_map(one).collect();
        all.sort();
        all
    }
}
