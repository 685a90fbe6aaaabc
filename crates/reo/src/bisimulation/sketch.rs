//! Colours for weak bisimulation from sketches of saturated steps, without saturating.
//!
//! A sketch of a set has, for each of a few hash functions, the least hash of a member (Broder, *On
//! the resemblance and containment of documents*, 1997). That of a union is the least of both, so
//! that what silent steps lead to is found with one look at each silent step. Weakly bisimilar
//! states have equal sets and so equal colours; different states may too, which
//! [`super::partition`] finds.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::actions::{Actions, SILENT};
use super::partition::Silent;
use crate::automaton::Automaton;
use crate::limits::{Limited, ProductLimits};

/// The least hash of each function.
type Sketch = [u64; 4];

/// Sketches of the states after each visible action, sorted by the action.
type Row = Vec<(u32, Sketch)>;

/// The block of each state, numbered in the order of their first states, and how many there are: no
/// two weakly bisimilar states are in different ones.
pub(super) fn colours(
    automaton: &Automaton,
    actions: &Actions,
    limits: &ProductLimits,
) -> Limited<(Vec<u32>, usize)> {
    let silent = Silent::new(automaton, actions);
    let mut colour = vec![0; automaton.states()];
    let (mut block, mut blocks) = (vec![0; automaton.states()], automaton.states().min(1));
    loop {
        limits.go_on_from(Some(blocks as u64), automaton.states() as u64, 0)?;
        colour = next(automaton, actions, &silent, &colour, limits)?;
        let mut numbers: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        for (colour, block) in colour.iter().zip(&mut block) {
            let fresh = numbers.len() as u32;
            *block = *numbers.entry(*colour).or_insert(fresh);
        }
        if numbers.len() <= blocks || numbers.len() == colour.len() {
            return Ok((block, numbers.len()));
        }
        blocks = numbers.len();
    }
}

/// The colours of the next iteration.
fn next(
    automaton: &Automaton,
    actions: &Actions,
    silent: &Silent,
    colour: &[u64],
    limits: &ProductLimits,
) -> Limited<Vec<u64>> {
    let mut quiet: Vec<Sketch> = Vec::with_capacity(silent.members.len());
    let cycle_of = |state: u32| silent.cycle[state as usize] as usize;
    // Successors come first.
    for (cycle, members) in silent.members.iter().enumerate() {
        let mut all = [u64::MAX; 4];
        for state in members {
            least(&mut all, &sketch(colour[*state as usize]));
            for (action, to) in actions.of(automaton, *state) {
                if action == SILENT && cycle_of(to) != cycle {
                    least(&mut all, &quiet[cycle_of(to)]);
                }
            }
        }
        quiet.push(all);
    }
    let rows = rows(automaton, actions, silent, &quiet, limits)?;
    let made = |(state, colour): (usize, &u64)| {
        let cycle = silent.cycle[state] as usize;
        let all = quiet[cycle].iter().fold(*colour, |hash, word| mixed(hash, *word));
        rows[cycle].iter().fold(all, |hash, (action, sketch)| {
            sketch.iter().fold(mixed(hash, u64::from(*action)), |hash, word| mixed(hash, *word))
        })
    };
    Ok(colour.iter().enumerate().map(made).collect())
}

/// The row of each cycle, from the sketches of what silent steps lead to.
fn rows(
    automaton: &Automaton,
    actions: &Actions,
    silent: &Silent,
    quiet: &[Sketch],
    limits: &ProductLimits,
) -> Limited<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::with_capacity(silent.members.len());
    let mut stored = 0;
    for (cycle, members) in silent.members.iter().enumerate() {
        let mut row = Row::new();
        for (action, to) in members.iter().flat_map(|state| actions.of(automaton, *state)) {
            let to = silent.cycle[to as usize] as usize;
            if action != SILENT {
                row.push((action, quiet[to]));
            } else if to != cycle {
                row.extend_from_slice(&rows[to]);
            }
        }
        row.sort_unstable_by_key(|(action, _)| *action);
        row.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                least(&mut first.1, &later.1);
            }
            same
        });
        stored += row.len() as u128 * 40 + 24;
        limits.fits("sketches of weak bisimulation", stored)?;
        limits.go_on()?;
        rows.push(row);
    }
    Ok(rows)
}

fn least(sum: &mut Sketch, other: &Sketch) {
    sum.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).min(*b));
}

fn sketch(colour: u64) -> Sketch {
    [1, 2, 3, 4].map(|function| mixed(function, colour))
}

/// A hash of two words: the finalizer of splitmix64.
fn mixed(hash: u64, word: u64) -> u64 {
    let z = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
