//! Which joint steps data may forbid, and what is known of them.
//!
//! A choice of steps is impossible if its conjunction is. The search asks at each stage and caches
//! the answer by the numbers of the conditions. Parts of different groups share no name that fires:
//! they exclude each other only by claims on constants, such as `P("1")` and `!P("1")`, or on a
//! cell that both have. Where that may be ([`ground`]), whole conjunctions are checked at the end.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap as HashMap;

use crate::automaton::Automaton;
use crate::constraint::simplify::may_conflict;
use crate::constraint::{DataConstraint, DataTerm, Literal};

/// Answers that are cached in one place before all are dropped.
const REMEMBERED: usize = 1 << 14;

/// For each part its constraints, in the order of `used`; nothing if none can conflict.
pub(super) fn guards(parts: &[&Automaton], used: &[Vec<u32>]) -> Vec<Vec<DataConstraint>> {
    let of = |(part, used): (&&Automaton, &Vec<u32>)| -> Vec<DataConstraint> {
        used.iter().map(|number| part.constraints().get(*number).clone()).collect()
    };
    let all: Vec<Vec<DataConstraint>> = parts.iter().zip(used).map(of).collect();
    if may_conflict(all.iter().flatten()) { all } else { Vec::new() }
}

/// Whether parts that share no name may exclude each other: by claims on constants or one cell.
pub(super) fn ground(guards: &[Vec<DataConstraint>]) -> bool {
    let (mut constant, mut call) = (false, false);
    let mut owner = HashMap::default();
    let mut shared = false;
    for (part, constraint) in
        guards.iter().enumerate().flat_map(|(k, all)| all.iter().map(move |c| (k, c)))
    {
        for literal in constraint.literals() {
            call |= matches!(literal, Literal::Predicate(..));
            call |= literal.terms().any(|t| matches!(t, DataTerm::Call(..)));
            constant |= literal.terms().next().is_none() || literal.terms().any(has_nullary);
        }
        constraint.visit(|leaf| match leaf {
            DataTerm::Constant(_) => constant = true,
            DataTerm::Before(cell) | DataTerm::After(cell) => {
                shared |= *owner.entry(*cell).or_insert(part) != part;
            }
            DataTerm::Datum(_) | DataTerm::Some(_) | DataTerm::Call(..) => {}
        });
    }
    shared || constant && call
}

/// Whether a function of nothing is in a term: as good as a constant.
fn has_nullary(term: &DataTerm) -> bool {
    match term {
        DataTerm::Call(_, terms) => terms.is_empty() || terms.iter().any(has_nullary),
        _ => false,
    }
}

/// Cache, shared by all workers: whether conjunctions, by their packed numbers, can be fulfilled.
#[derive(Debug, Default)]
pub(super) struct Known([RwLock<HashMap<Box<[u64]>, bool>>; 16]);

impl Known {
    /// The cached answer for a key, or that of `decide`.
    pub fn find(&self, key: &[u64], decide: impl FnOnce() -> bool) -> bool {
        let shard = &self.0[key.iter().fold(0, |sum: u64, w| sum.wrapping_add(*w)) as usize % 16];
        if let Some(known) = shard.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return *known;
        }
        let possible = decide();
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        if shard.len() == REMEMBERED {
            shard.clear();
        }
        shard.insert(key.into(), possible);
        possible
    }
}
