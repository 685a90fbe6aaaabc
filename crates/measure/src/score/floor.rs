//! Measured times beside floors, which no time can be below.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_model::{Floor, FloorTerm, Problem};

use super::Results;

/// How measured times lie above the floors of their configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FloorScore {
    /// Configurations that have a time and a floor.
    pub compared: usize,
    /// Times below the floor of their configuration, by the term that is contradicted.
    pub violations: IndexMap<String, usize>,
    /// The least measured time over its floor.
    pub least_ratio: f64,
    /// The least floor of these configurations, in milliseconds.
    pub floor_milliseconds: f64,
    /// The term that binds there.
    pub binds: String,
    /// The best measured time over that floor.
    pub gap: f64,
    /// The part of these configurations whose floor is above the best measured time.
    pub skipped: f64,
}

/// Compares the fastest repeat of each configuration with its floor; nothing where there is no
/// configuration of both.
pub fn floor_score(problem: &Problem, floor: &Floor, results: &Results) -> Option<FloorScore> {
    let mut violations: IndexMap<String, usize> = IndexMap::new();
    let mut all: Vec<(f64, f64, FloorTerm)> = Vec::new();
    for ((parameters, _), fastest) in results.entries.iter().zip(&results.fastest) {
        let Some((picoseconds, term)) =
            problem.bind(parameters).ok().and_then(|bound| floor.at(&bound.env))
        else {
            continue;
        };
        let milliseconds = picoseconds as f64 / 1e9;
        if *fastest < milliseconds {
            *violations.entry(term.name().to_owned()).or_default() += 1;
        }
        all.push((*fastest, milliseconds, term));
    }
    let best = all.iter().map(|(time, ..)| *time).fold(f64::INFINITY, f64::min);
    let (_, least, binds) = all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratios =
        all.iter().filter(|(_, floor, _)| *floor > 0.0).map(|(time, floor, _)| time / floor);
    Some(FloorScore {
        compared: all.len(),
        violations,
        least_ratio: ratios.fold(f64::INFINITY, f64::min),
        floor_milliseconds: *least,
        binds: binds.name().to_owned(),
        gap: best / least,
        skipped: all.iter().filter(|(_, floor, _)| *floor > best).count() as f64 / all.len() as f64,
    })
}
