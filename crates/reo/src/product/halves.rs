//! A product as two factors, whose joint steps another engine finds state by state.
//!
//! The parts are divided where the products of the states on both sides are nearest to each other,
//! and each side is [composed](super::reachable). Rows are sorted by the shared names that fire,
//! so that the partners of a step lie side by side.

use thiserror::Error;

use super::reachable;
use crate::automaton::Automaton;
use crate::label;
use crate::limits::{ProductLimits, Stopped};
use crate::symbol::NameId;

/// Most names of a product that is explored: a label is one word.
pub const MAX_NAMES: usize = 64;

/// Why a product has no halves.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HalvesError {
    /// A part has steps that depend on data.
    #[error("steps depend on data, which processors decide; add --no-data, or leave --device out")]
    Data,
    /// Labels do not fit.
    #[error("{0} names; at most {MAX_NAMES} are possible on a device")]
    Names(usize),
    /// States do not fit.
    #[error("halves of {0} and {1} states; the states of their product must have 63 bits")]
    States(usize, usize),
    /// The halves were not made.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// A factor: for each state its steps, those with equal shared names side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HalfRows {
    /// Where the steps of each state begin, and the end of the last.
    pub rows: Vec<u32>,
    /// The names that fire in each step, as bits over the product's alphabet; 0: a silent step.
    pub labels: Vec<u64>,
    /// The state that each step leads to.
    pub targets: Vec<u32>,
}

/// Two factors over one alphabet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Halves {
    /// The names.
    pub alphabet: Vec<NameId>,
    /// The names that both factors have, as bits.
    pub shared: u64,
    /// The factor whose states change slowest in keys.
    pub left: HalfRows,
    /// The other one.
    pub right: HalfRows,
    /// The initial states, each `left * right.states() + right`.
    pub initial: Vec<u64>,
}

impl HalfRows {
    fn new(half: &Automaton, alphabet: &[NameId], shared: u64) -> Result<HalfRows, HalvesError> {
        let map = label::Map::new(half.alphabet(), alphabet);
        let mut made = HalfRows { rows: vec![0], ..HalfRows::default() };
        for state in 0..half.states() as u32 {
            let steps = half.steps(state).filter(|step| !half.is_idle(step));
            let mut steps: Vec<(u64, u32)> =
                steps.map(|step| (map.apply(step.label)[0], step.to)).collect();
            steps.sort_unstable_by_key(|(label, to)| (label & shared, *label, *to));
            made.labels.extend(steps.iter().map(|(label, _)| *label));
            made.targets.extend(steps.iter().map(|(_, to)| *to));
            let end = u32::try_from(made.labels.len());
            made.rows.push(end.map_err(|_| Stopped::States(made.labels.len() as u128))?);
        }
        Ok(made)
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.rows.len().saturating_sub(1)
    }

    /// The steps that leave `state`: the label, and the state that each leads to.
    fn from(&self, state: u32) -> Vec<(u64, u32)> {
        let steps = self.rows[state as usize] as usize..self.rows[state as usize + 1] as usize;
        steps.map(|step| (self.labels[step], self.targets[step])).collect()
    }

    /// The steps that lead to `state`: the label, and the state that each leaves.
    fn to(&self, state: u32) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for (from, ends) in (0..).zip(self.rows.windows(2)) {
            let steps = (ends[0]..ends[1]).filter(|step| self.targets[*step as usize] == state);
            found.extend(steps.map(|step| (self.labels[step as usize], from)));
        }
        found
    }
}

impl Halves {
    /// The halves of the product of these parts.
    ///
    /// # Errors
    /// Steps that depend on data, too many names or states, or a limit.
    pub fn new(parts: &[&Automaton], limits: &ProductLimits) -> Result<Halves, HalvesError> {
        if !parts.iter().all(|part| part.is_plain()) {
            return Err(HalvesError::Data);
        }
        let (left, right) = parts.split_at(cut(parts));
        let left = reachable::compose(left, limits)?;
        let right = reachable::compose(right, limits)?;
        let mut alphabet = [left.alphabet(), right.alphabet()].concat();
        alphabet.sort_unstable();
        alphabet.dedup();
        if alphabet.len() > MAX_NAMES {
            return Err(HalvesError::Names(alphabet.len()));
        }
        let has = |half: &Automaton, name: &NameId| half.alphabet().binary_search(name).is_ok();
        let both = |name: &NameId| has(&left, name) && has(&right, name);
        let bit = |(bit, name): (usize, &NameId)| u64::from(both(name)) << bit;
        let shared = alphabet.iter().enumerate().map(bit).sum();
        let (states, others) = (left.states(), right.states());
        let keys = states as u128 * others as u128;
        if keys > i64::MAX as u128 {
            return Err(HalvesError::States(states, others));
        }
        let key = |l: &u32, r: &u32| u64::from(*l) * others as u64 + u64::from(*r);
        let initial = left.initial().iter();
        let initial = initial.flat_map(|l| right.initial().iter().map(move |r| key(l, r)));
        Ok(Halves {
            shared,
            left: HalfRows::new(&left, &alphabet, shared)?,
            right: HalfRows::new(&right, &alphabet, shared)?,
            initial: initial.collect(),
            alphabet,
        })
    }
}

/// A step of the product as seen from one of its states: the key of the other one, and the label.
pub type KeyedStep = (u64, u64);

impl Halves {
    /// The steps that leave the state `key`, sorted.
    pub fn steps_from(&self, key: u64) -> Vec<KeyedStep> {
        let (l, r) = self.states_of(key);
        self.joined((l, r), &self.left.from(l), &self.right.from(r))
    }

    /// The steps that lead to the state `key`, sorted.
    pub fn steps_to(&self, key: u64) -> Vec<KeyedStep> {
        let (l, r) = self.states_of(key);
        self.joined((l, r), &self.left.to(l), &self.right.to(r))
    }

    fn states_of(&self, key: u64) -> (u32, u32) {
        let others = self.right.states() as u64;
        ((key / others) as u32, (key % others) as u32)
    }

    /// Steps of the factors as steps of the product: alone without shared names, else together.
    fn joined(
        &self,
        (l, r): (u32, u32),
        left: &[(u64, u32)],
        right: &[(u64, u32)],
    ) -> Vec<KeyedStep> {
        let key = |l: u32, r: u32| u64::from(l) * self.right.states() as u64 + u64::from(r);
        let is_alone = |(label, _): &&(u64, u32)| label & self.shared == 0;
        let mut steps: Vec<KeyedStep> =
            left.iter().filter(is_alone).map(|(label, l)| (key(*l, r), *label)).collect();
        steps.extend(right.iter().filter(is_alone).map(|(label, r)| (key(l, *r), *label)));
        // A silent step is taken alone.
        for (a, l) in left.iter().filter(|(label, _)| *label != 0) {
            let agrees = |b: &u64| *b != 0 && (a ^ b) & self.shared == 0;
            let others = right.iter().filter(|(b, _)| agrees(b));
            steps.extend(others.map(|(b, r)| (key(*l, *r), a | b)));
        }
        steps.sort_unstable();
        steps
    }
}

/// How many parts the left half has.
fn cut(parts: &[&Automaton]) -> usize {
    let bits = |parts: &[&Automaton]| -> f64 {
        parts.iter().map(|part| (part.states().max(1) as f64).log2()).sum()
    };
    let apart = |at: &usize| (bits(&parts[..*at]) - bits(&parts[*at..])).abs();
    (0..=parts.len()).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(0)
}
