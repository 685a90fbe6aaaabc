//! Floors while measuring, and what comes of them.
//!
//! Configurations that cannot be the best are not run; no time may be below its floor.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use tickbound_model::{Bound, Floor, FloorTerm};

/// Searches for the floor of the space: seconds, and the binding term. It may take long.
pub type OfSpace = Arc<dyn Fn(&Floor) -> Option<(f64, FloorTerm)> + Send + Sync>;

/// The floors of the configurations of a space.
#[derive(Clone)]
pub struct Floors {
    /// The floor of each.
    pub floor: Floor,
    /// How that of the space is found.
    pub of_space: OfSpace,
    /// Measuring ends when the best takes at most this many times the floor of the space.
    pub gap: Option<f64>,
}

impl Floors {
    /// Whether a configuration takes longer than a time in seconds, in any case.
    pub fn is_above(&self, bound: &Bound, seconds: f64) -> bool {
        self.seconds(bound).is_some_and(|(floor, _)| floor > seconds)
    }

    /// The floor of a configuration in seconds, and the term that binds.
    pub fn seconds(&self, bound: &Bound) -> Option<(f64, FloorTerm)> {
        self.floor.at(&bound.env).map(|(picoseconds, term)| (picoseconds as f64 / 1e12, term))
    }
}

impl fmt::Debug for Floors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Floors").field("gap", &self.gap).finish_non_exhaustive()
    }
}

/// What came of floors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FloorReport {
    /// Seconds that each configuration of the space takes at least, and the term that binds.
    pub space: Option<(f64, FloorTerm)>,
    /// Configurations that were not run, as their floors are above the best time.
    pub skipped: usize,
    /// Configurations with a run below their floor, by the term that is contradicted.
    pub contradicted: IndexMap<FloorTerm, usize>,
}
