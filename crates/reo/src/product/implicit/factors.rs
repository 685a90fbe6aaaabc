//! The factors, and what follows from them without a step of the product.

use itertools::Itertools;
use num_bigint::BigUint;
use thiserror::Error;

use super::count;
use crate::automaton::Automaton;
use crate::label::Map;
use crate::limits::{Limited, ProductLimits};
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
        count::algebraic(&self.factors, limits)
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
