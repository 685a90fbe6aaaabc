//! The factors, and what follows from them without a step of the product.
//!
//! How many steps the full product has is found by variable elimination. A joint step takes from
//! each factor a step or idling, such that all agree on each name. Of a factor a [`Table`] matters:
//! for each set of its shared names, how many of its steps fire exactly these. Tables join on equal
//! names, counts multiplied; a name that no other table has is eliminated, counts added.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use itertools::Itertools;
use num_bigint::BigUint;
use thiserror::Error;

use crate::automaton::Automaton;
use crate::label::{self, Map};
use crate::limits::{Limited, ProductLimits, ProductProgress};
use crate::symbol::{Cell, NameId, SymbolId};

/// A state that the product does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StateError {
    /// A list of another length than there are factors.
    #[error(
        "a product state of {found} factors' states was given; the product has {factors} factors"
    )]
    Length {
        /// States given.
        found: usize,
        /// Factors there are.
        factors: usize,
    },
    /// A factor has no such state.
    #[error("factor {factor} has no state {state}; it has {states} (numbered from 0)")]
    State {
        /// The factor, numbered from 0.
        factor: usize,
        /// The requested state.
        state: u32,
        /// How many it has.
        states: usize,
    },
}

/// The full product of any number of automata, not made.
#[derive(Debug, Clone)]
pub struct Implicit {
    pub(super) factors: Vec<Automaton>,
    pub(super) alphabet: Vec<NameId>,
    /// Where each factor's names stand in the alphabet.
    pub(super) maps: Vec<Map>,
    contents: Vec<(Cell, SymbolId)>,
}

impl Implicit {
    /// The product of `factors`; without any, one state that only idles.
    pub fn new(factors: Vec<Automaton>) -> Implicit {
        let alphabet: Vec<NameId> =
            factors.iter().flat_map(|f| f.alphabet()).copied().sorted_unstable().dedup().collect();
        let maps = factors.iter().map(|f| Map::new(f.alphabet(), &alphabet)).collect();
        let contents: Vec<(Cell, SymbolId)> =
            factors.iter().flat_map(|f| f.contents()).copied().sorted_unstable().dedup().collect();
        Implicit { factors, alphabet, maps, contents }
    }

    /// The automata that run together.
    pub fn factors(&self) -> &[Automaton] {
        &self.factors
    }

    /// The names of all factors, sorted; bit i of a label of the product is the i-th.
    pub fn alphabet(&self) -> &[NameId] {
        &self.alphabet
    }

    /// What is in cells at the start.
    pub fn contents(&self) -> &[(Cell, SymbolId)] {
        &self.contents
    }

    /// How many states the full product has.
    pub fn states(&self) -> BigUint {
        self.factors.iter().map(|f| BigUint::from(f.states())).product()
    }

    /// How many transitions the full product has in standard form, without data: steps in which no
    /// name fires and nothing changes are not counted.
    ///
    /// # Errors
    /// The tables of the names shared at one time need more memory than allowed, or it was stopped.
    pub fn transitions(&self, limits: &ProductLimits) -> Limited<BigUint> {
        Ok(self.algebraic(limits)? - self.states())
    }

    /// As [`Implicit::transitions`], with one idle loop for each state: the algebraic form.
    pub fn algebraic(&self, limits: &ProductLimits) -> Limited<BigUint> {
        algebraic(&self.factors, limits)
    }

    /// The initial states, each as the states of the factors, the last factor's changing fastest.
    pub fn initial(&self) -> impl Iterator<Item = Vec<u32>> {
        let sets = self.factors.iter().map(|f| f.initial().iter().copied());
        sets.multi_cartesian_product()
    }

    pub(super) fn check(&self, state: &[u32]) -> Result<(), StateError> {
        let factors = self.factors.len();
        if state.len() != factors {
            return Err(StateError::Length { found: state.len(), factors });
        }
        let outside = |(_, (s, f)): &(usize, (&u32, &Automaton))| **s as usize >= f.states();
        match state.iter().zip(&self.factors).enumerate().find(outside) {
            Some((factor, (s, f))) => {
                Err(StateError::State { factor, state: *s, states: f.states() })
            }
            None => Ok(()),
        }
    }
}

/// How often each set of names fires. Sets are sorted lists of the names' numbers.
#[derive(Debug, Default)]
struct Table {
    /// Names that it speaks of, sorted.
    scope: Vec<u32>,
    rows: HashMap<Vec<u32>, BigUint>,
}

/// What one row of a table takes beside its names and the digits of its count, in bytes, about.
const ROW_BYTES: u128 = 96;

/// All steps of the full product: joint ones and idling, and silent ones taken alone.
fn algebraic(factors: &[Automaton], limits: &ProductLimits) -> Limited<BigUint> {
    let plain: Vec<Automaton> = factors.iter().map(|f| f.without_data().without_idle()).collect();
    let joint = Elimination::new(&plain).run(limits)?;
    Ok(joint + silent(&plain))
}

/// Silent steps of each factor, in every state of the others.
fn silent(plain: &[Automaton]) -> BigUint {
    let count = |f: &Automaton| f.all_steps().filter(|s| label::is_silent(s.label)).count();
    // States and silent steps of the product of the factors so far.
    let start = (BigUint::from(1u32), BigUint::ZERO);
    let (_, silent) = plain.iter().fold(start, |(states, silent), factor| {
        let more = silent * factor.states() + &states * count(factor);
        (states * factor.states(), more)
    });
    silent
}

/// Tables that are still to be joined.
struct Elimination {
    /// By number; joined ones are gone.
    tables: Vec<Option<Table>>,
    /// For each shared name, the tables that speak of it.
    having: Vec<Vec<usize>>,
    /// The product of the counts of tables without names.
    total: BigUint,
}

impl Elimination {
    fn new(plain: &[Automaton]) -> Elimination {
        let shared = shared_names(plain);
        let mut all = Elimination {
            tables: Vec::new(),
            having: vec![Vec::new(); shared.len()],
            total: BigUint::from(1u32),
        };
        plain.iter().for_each(|factor| all.push(table(factor, &shared)));
        all
    }

    fn push(&mut self, table: Table) {
        if table.scope.is_empty() {
            self.total *= table.rows.values().sum::<BigUint>();
            return;
        }
        for name in &table.scope {
            self.having[*name as usize].push(self.tables.len());
        }
        self.tables.push(Some(table));
    }

    /// About what it costs to eliminate a name: combinations of rows of the tables that have it.
    fn cost(&self, name: usize) -> u128 {
        let rows = |at: &usize| self.tables[*at].as_ref().map_or(1, |t| t.rows.len() as u128);
        self.having[name].iter().map(rows).fold(1, u128::saturating_mul)
    }

    /// Eliminates all names, the cheapest first; of equals the first.
    fn run(mut self, limits: &ProductLimits) -> Limited<BigUint> {
        let all = 0..self.having.len();
        let mut queue: BinaryHeap<Reverse<(u128, usize)>> =
            all.map(|name| Reverse((self.cost(name), name))).collect();
        while let Some(Reverse((cost, name))) = queue.pop() {
            limits.go_on()?;
            if self.having[name].is_empty() {
                continue;
            }
            let now = self.cost(name);
            if now > cost {
                queue.push(Reverse((now, name)));
                continue;
            }
            let joined = self.eliminate(name, limits)?;
            let changed = joined.scope.clone();
            self.push(joined);
            queue.extend(changed.iter().map(|n| Reverse((self.cost(*n as usize), *n as usize))));
            (limits.progress)(ProductProgress::default());
        }
        Ok(self.total)
    }

    /// Joins the tables that have a name, smallest first, and forgets what only they have.
    fn eliminate(&mut self, name: usize, limits: &ProductLimits) -> Limited<Table> {
        let mut numbers = std::mem::take(&mut self.having[name]);
        numbers.sort_by_key(|at| self.tables[*at].as_ref().map_or(0, |t| t.rows.len()));
        let mut joined: Option<Table> = None;
        for at in numbers {
            let Some(next) = self.tables[at].take() else { continue };
            for other in &next.scope {
                self.having[*other as usize].retain(|table| *table != at);
            }
            joined = Some(match joined {
                Some(before) => join(&before, &next, limits)?,
                None => next,
            });
        }
        let mut table = joined.unwrap_or_default();
        let live = |n: &u32| !self.having[*n as usize].is_empty();
        if table.scope.iter().any(|n| !live(n)) {
            table.scope.retain(live);
            let mut rows: HashMap<Vec<u32>, BigUint> = HashMap::with_capacity(table.rows.len());
            for (mut names, count) in table.rows {
                names.retain(live);
                *rows.entry(names).or_default() += count;
            }
            table.rows = rows;
        }
        Ok(table)
    }
}

/// Names that more than one factor has, sorted.
fn shared_names(factors: &[Automaton]) -> Vec<NameId> {
    let mut all: Vec<NameId> = factors.iter().flat_map(|f| f.alphabet()).copied().collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| same[0]).collect()
}

/// The table of a factor without data and idle loops: each state may idle; silent steps are out.
fn table(factor: &Automaton, shared: &[NameId]) -> Table {
    let number = |name: &NameId| shared.binary_search(name).ok().map(|at| at as u32);
    let numbers: Vec<Option<u32>> = factor.alphabet().iter().map(number).collect();
    let mut table =
        Table { scope: numbers.iter().flatten().copied().collect(), rows: HashMap::new() };
    let mut add = |names: Vec<u32>, count: usize| *table.rows.entry(names).or_default() += count;
    add(Vec::new(), factor.states());
    for step in factor.all_steps().filter(|s| !label::is_silent(s.label)) {
        add(label::bits(step.label).filter_map(|bit| numbers[bit]).collect(), 1);
    }
    table
}

fn join(left: &Table, right: &Table, limits: &ProductLimits) -> Limited<Table> {
    let common: Vec<u32> =
        left.scope.iter().filter(|n| right.scope.binary_search(n).is_ok()).copied().collect();
    let part = |names: &[u32]| -> Vec<u32> {
        names.iter().filter(|n| common.binary_search(n).is_ok()).copied().collect()
    };
    let mut alike: HashMap<Vec<u32>, Vec<(&Vec<u32>, &BigUint)>> = HashMap::new();
    for (names, count) in &right.rows {
        alike.entry(part(names)).or_default().push((names, count));
    }
    let mut joined = Table { scope: union(&left.scope, &right.scope), rows: HashMap::new() };
    let mut bytes = 0;
    for (names, count) in &left.rows {
        limits.go_on()?;
        for (more, times) in alike.get(&part(names)).into_iter().flatten() {
            let (key, product) = (union(names, more), count * *times);
            bytes += ROW_BYTES + 4 * key.len() as u128 + u128::from(product.bits() / 8);
            limits.fits("counting the transitions", bytes)?;
            *joined.rows.entry(key).or_default() += product;
        }
    }
    Ok(joined)
}

/// Both sorted lists as one.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().merge(b).dedup().copied().collect()
}
