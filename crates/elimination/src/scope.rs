//! Which variables a relation is about, and how their values make a key.

use crate::TooWide;

/// A few variables, in increasing order. The index of each one's value takes as many bits of a key
/// as its number of values needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableScope {
    variables: Vec<usize>,
    sizes: Vec<u32>,
    /// For each variable the place of its lowest bit, then the number of all bits.
    places: Vec<u32>,
}

impl VariableScope {
    /// The scope of no variables.
    pub(crate) fn empty() -> VariableScope {
        VariableScope { variables: Vec::new(), sizes: Vec::new(), places: vec![0] }
    }

    /// The scope of `variables`, of which there are `sizes` values each.
    ///
    /// # Errors
    /// [`TooWide::Key`].
    pub(crate) fn new(sizes: &[u32], mut variables: Vec<usize>) -> Result<VariableScope, TooWide> {
        variables.sort_unstable();
        variables.dedup();
        let mut places = vec![0];
        for v in &variables {
            let bits = u32::BITS - sizes[*v].saturating_sub(1).leading_zeros();
            places.push(places[places.len() - 1] + bits);
        }
        if places[variables.len()] > u128::BITS {
            return Err(TooWide::Key(variables.len()));
        }
        let sizes = variables.iter().map(|v| sizes[*v]).collect();
        Ok(VariableScope { variables, sizes, places })
    }

    /// How many values each of them has.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The variables, in increasing order.
    pub fn variables(&self) -> &[usize] {
        &self.variables
    }

    /// True if all variables of `other` are here.
    pub fn covers(&self, other: &VariableScope) -> bool {
        other.variables.iter().all(|v| self.has(*v))
    }

    /// True if the variable is one of these.
    pub fn has(&self, variable: usize) -> bool {
        self.variables.binary_search(&variable).is_ok()
    }

    /// The key of the values that `assignment` has for these variables.
    pub fn key(&self, assignment: &[u32]) -> u128 {
        let parts = self.variables.iter().zip(&self.places);
        parts.fold(0, |key, (v, place)| key | u128::from(assignment[*v]) << place)
    }

    /// Writes the values in `key` into `assignment`.
    pub fn unpack(&self, key: u128, assignment: &mut [u32]) {
        for (i, v) in self.variables.iter().enumerate() {
            assignment[*v] = self.value(key, i);
        }
    }

    /// The value of the variable in place `i`.
    pub(crate) fn value(&self, key: u128, i: usize) -> u32 {
        let width = self.places[i + 1] - self.places[i];
        // At most 32 bits, so nothing is lost.
        (shifted(key, self.places[i]) & mask(width)) as u32
    }

    /// How keys of this scope become keys of `to`, for the variables that both have.
    pub(crate) fn moves(&self, to: &VariableScope) -> Moves {
        let mut moves: Vec<Move> = Vec::new();
        for (i, v) in self.variables.iter().enumerate() {
            let Ok(j) = to.variables.binary_search(v) else { continue };
            let (from, place) = (self.places[i], to.places[j]);
            let width = self.places[i + 1] - from;
            match moves.last_mut() {
                // Neighbours in both are moved together.
                Some(m) if m.from + m.width == from && m.to + m.width == place => m.width += width,
                _ => moves.push(Move { from, width, to: place }),
            }
        }
        Moves(moves)
    }
}

/// Some bits of a key that move together.
#[derive(Debug, Clone, Copy)]
struct Move {
    from: u32,
    width: u32,
    to: u32,
}

/// How the key of one scope becomes that of another.
#[derive(Debug, Clone)]
pub(crate) struct Moves(Vec<Move>);

impl Moves {
    pub fn apply(&self, key: u128) -> u128 {
        self.0.iter().fold(0, |out, m| {
            let bits = shifted(key, m.from) & mask(m.width);
            out | bits.checked_shl(m.to).unwrap_or(0)
        })
    }
}

/// A variable with one value has no bits, which may lie beyond the last.
fn shifted(key: u128, by: u32) -> u128 {
    key.checked_shr(by).unwrap_or(0)
}

fn mask(width: u32) -> u128 {
    1u128.checked_shl(width).map_or(u128::MAX, |bit| bit - 1)
}
