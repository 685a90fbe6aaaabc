//! The product kept as its factors: rows on demand, counts in closed form.
//!
//! The full product of n two-state buffers has 2^n states; what it says about them is in the n
//! factors already. [`Implicit`] keeps these, gives the steps of one product state when asked
//! ([`Implicit::row`]), and counts the whole exactly without visiting a state
//! ([`Implicit::transitions`]): how often each set of shared names fires in a factor, joined factor
//! by factor, a name forgotten once no other factor has it (variable elimination, as for the number
//! of solutions of constraints; Dechter, Bucket elimination, 1999). The work grows with the names
//! that are shared at one time, not with the states.
//!
//! What is counted is labels: steps that differ in their data constraints alone are one. So the
//! count is that of [`super::textbook`] without data. A silent step is taken alone.
//!
//! ```
//! use tickbound_reo::limits::Limits;
//! use tickbound_reo::primitive::{Content, fifo1};
//! use tickbound_reo::product::implicit::Implicit;
//! use tickbound_reo::symbol::Symbols;
//!
//! let mut symbols = Symbols::new();
//! // A chain: what leaves buffer i enters buffer i + 1 in the same step.
//! let chain = (0..100).map(|i| {
//!     let (a, b) = (symbols.name(&format!("n{i}")), symbols.name(&format!("n{}", i + 1)));
//!     fifo1(a, b, symbols.cell(&format!("m{i}")), Content::Empty)
//! });
//! let product = Implicit::new(chain.collect());
//! let limits = Limits::memory(1 << 20);
//! assert_eq!(product.states().to_string(), (1u128 << 100).to_string());
//! let row = product.row(&vec![0; 100]).unwrap();
//! assert_eq!(row.count(), 1); // when all are empty, only the first can take something
//! assert!(product.transitions(&limits).unwrap() > product.states());
//! ```

mod count;
mod row;

use num_bigint::BigUint;
use thiserror::Error;

pub use row::{Row, Step};

use crate::automaton::Automaton;
use crate::label::Map;
use crate::limits::{Limits, Stopped};
use crate::symbol::{Cell, Name, Symbol};

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
        /// The state asked for.
        state: u32,
        /// How many it has.
        states: usize,
    },
}

/// The full product of any number of automata, not made.
#[derive(Debug, Clone)]
pub struct Implicit {
    factors: Vec<Automaton>,
    alphabet: Vec<Name>,
    /// Where each factor's names stand in the alphabet.
    maps: Vec<Map>,
    contents: Vec<(Cell, Symbol)>,
}

impl Implicit {
    /// The product of `factors`; without any, one state that only idles.
    #[must_use]
    pub fn new(factors: Vec<Automaton>) -> Implicit {
        let mut alphabet: Vec<Name> = factors.iter().flat_map(|f| f.alphabet()).copied().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let maps = factors.iter().map(|f| Map::new(f.alphabet(), &alphabet)).collect();
        let mut contents: Vec<(Cell, Symbol)> =
            factors.iter().flat_map(|f| f.contents()).copied().collect();
        contents.sort_unstable();
        contents.dedup();
        Implicit { factors, alphabet, maps, contents }
    }

    /// The automata that run together.
    #[must_use]
    pub fn factors(&self) -> &[Automaton] {
        &self.factors
    }

    /// The names of all factors, sorted; bit i of a label of the product is the i-th.
    #[must_use]
    pub fn alphabet(&self) -> &[Name] {
        &self.alphabet
    }

    /// What is in cells at the start.
    #[must_use]
    pub fn contents(&self) -> &[(Cell, Symbol)] {
        &self.contents
    }

    /// How many states the full product has.
    #[must_use]
    pub fn states(&self) -> BigUint {
        self.factors.iter().map(|f| BigUint::from(f.states())).product()
    }

    /// How many transitions the full product has in standard form, without data: steps in which no
    /// name fires and nothing changes are not counted.
    ///
    /// # Errors
    /// The names shared at one time are so many that the tables need more memory than allowed, or
    /// it was stopped.
    pub fn transitions(&self, limits: &Limits) -> Result<BigUint, Stopped> {
        Ok(self.algebraic(limits)? - self.states())
    }

    /// As [`Implicit::transitions`], with one idle loop for each state: the algebraic form.
    ///
    /// # Errors
    /// As for [`Implicit::transitions`].
    pub fn algebraic(&self, limits: &Limits) -> Result<BigUint, Stopped> {
        count::algebraic(&self.factors, limits)
    }

    /// How many initial states there are.
    #[must_use]
    pub fn initial_states(&self) -> BigUint {
        self.factors.iter().map(|f| BigUint::from(f.initial().len())).product()
    }

    /// The initial states, each as the states of the factors, the last factor's changing fastest.
    pub fn initial(&self) -> impl Iterator<Item = Vec<u32>> {
        let sets: Vec<&[u32]> = self.factors.iter().map(Automaton::initial).collect();
        let mut next = sets.iter().all(|set| !set.is_empty()).then(|| vec![0; sets.len()]);
        std::iter::from_fn(move || {
            let now = next.take()?;
            let state = now.iter().zip(&sets).map(|(at, set)| set[*at]).collect();
            next = successor(now, &sets);
            Some(state)
        })
    }

    /// The number of a state in the full product: the last factor's state counts ones, as in
    /// [`super::textbook`] and [`super::dense`].
    ///
    /// # Errors
    /// The product has no such state.
    pub fn number(&self, state: &[u32]) -> Result<BigUint, StateError> {
        self.check(state)?;
        let digits = self.factors.iter().zip(state);
        Ok(digits.fold(BigUint::ZERO, |number, (factor, s)| number * factor.states() + *s))
    }

    /// The state with a number; none if there are not as many.
    #[must_use]
    pub fn state(&self, number: &BigUint) -> Option<Vec<u32>> {
        let mut rest = number.clone();
        let mut state = vec![0; self.factors.len()];
        for (digit, factor) in state.iter_mut().zip(&self.factors).rev() {
            let states = BigUint::from(factor.states());
            if states == BigUint::ZERO {
                return None;
            }
            *digit = u32::try_from(&rest % &states).ok()?;
            rest /= states;
        }
        (rest == BigUint::ZERO).then_some(state)
    }

    /// The steps that leave a state, one after another as they are asked for; there may be
    /// exponentially many. See [`Row`] for their order.
    ///
    /// # Errors
    /// The product has no such state.
    pub fn row(&self, state: &[u32]) -> Result<Row<'_>, StateError> {
        self.check(state)?;
        Ok(Row::new(self, state))
    }

    fn check(&self, state: &[u32]) -> Result<(), StateError> {
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

/// The next choice of one element of each set, the last changing fastest.
fn successor(mut choice: Vec<usize>, sets: &[&[u32]]) -> Option<Vec<usize>> {
    for at in (0..choice.len()).rev() {
        choice[at] += 1;
        if choice[at] < sets[at].len() {
            return Some(choice);
        }
        choice[at] = 0;
    }
    None
}
