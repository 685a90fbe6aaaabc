//! Which groups of a state may change their names.
//!
//! A canonical state can have groups in the same situation, units in the same situation, or an
//! order of the dispatchers that makes the state the same again with other groups in each place.
//! Positions in the program that differ only by such names mean the same: one represents all.

use smallvec::SmallVec;

use crate::launch::WarpLaunch;
use crate::state::{Numbers, Positions, State, Unit};

/// The names that may be exchanged in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symmetry {
    units: Vec<InUnit>,
    /// How many units, in sequence, are in the same situation.
    alike: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct InUnit {
    /// Where each group may have come from; the first is where it is.
    turns: Vec<Numbers>,
    /// How many groups, in sequence, are in the same situation.
    alike: Vec<usize>,
}

impl Symmetry {
    /// The names that may be exchanged in a canonical state; `None` if there are none.
    pub fn of(launch: &WarpLaunch, state: &State) -> Option<Symmetry> {
        let units: Vec<InUnit> = state.units.iter().map(|unit| InUnit::of(launch, unit)).collect();
        let alike = state.units.chunk_by(|a, b| a == b).map(<[Unit]>::len).collect();
        let symmetry = Symmetry { units, alike };
        let nothing = symmetry.alike.iter().all(|n| *n == 1)
            && symmetry.units.iter().all(|u| u.turns.len() == 1 && u.alike.iter().all(|n| *n == 1));
        (!nothing).then_some(symmetry)
    }

    /// The least of the positions that mean the same, unit by unit.
    pub fn least(&self, positions: &[u32]) -> Positions {
        let mut left = positions;
        let mut units: SmallVec<[Positions; 1]> = SmallVec::new();
        for unit in &self.units {
            let groups = unit.alike.iter().sum::<usize>().min(left.len());
            let (here, others) = left.split_at(groups);
            left = others;
            units.push(unit.least(here));
        }
        sort_runs(&mut units, &self.alike);
        units.into_iter().flatten().collect()
    }
}

impl InUnit {
    fn of(launch: &WarpLaunch, unit: &Unit) -> InUnit {
        let mut turns: Vec<Numbers> = vec![(0..unit.groups.len()).collect()];
        for order in launch.orders.iter().skip(1) {
            let (turned, from) = unit.reordered(order);
            if turned == *unit && !turns.contains(&from) {
                turns.push(from);
            }
        }
        let alike = unit.groups.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        InUnit { turns, alike }
    }

    fn least(&self, positions: &[u32]) -> Positions {
        let turned = self.turns.iter().map(|from| {
            let mut turned: Positions = from.iter().map(|n| positions[*n]).collect();
            sort_runs(&mut turned, &self.alike);
            turned
        });
        turned.min().unwrap_or_default()
    }
}

/// Sorts each run of a list, given the lengths of the runs.
fn sort_runs<T: Ord>(list: &mut [T], runs: &[usize]) {
    let mut from = 0;
    for run in runs {
        list[from..from + run].sort_unstable();
        from += run;
    }
}
