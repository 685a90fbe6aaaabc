//! How many different results of operations on real numbers an item computes at least.

use indexmap::IndexMap;
use tickbound_expr::Expr;

use super::around::{Around, GroupsAtStep, KernelLaunch};
use super::distinct::distinct;
use crate::steps::{Differs, Lanes, RealValue, Stride};
use crate::usage::Axis;
use crate::usage::number::max;

/// Results, by what computes them and by their number: results with one number may be equal.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub by_key: IndexMap<(Lanes, u32), Results>,
}

/// Results that have one number.
#[derive(Debug)]
pub(super) struct Results {
    /// The groups that compute them.
    pub at_step: GroupsAtStep,
    pub count: Expr,
    /// How many of them depend on each other.
    pub chain: Expr,
    /// For each loop around, outer ones first, whether they differ in its iterations, and whether
    /// that is as each depends on the one before.
    varies: Vec<(bool, bool)>,
}

impl Values {
    /// Adds others, which may be equal to these but where they are of other iterations of the loop
    /// at this depth and differ in them.
    pub fn take(&mut self, others: Values, of_loop: Option<usize>) {
        for (key, results) in others.by_key {
            match self.by_key.get_mut(&key) {
                None => drop(self.by_key.insert(key, results)),
                Some(own) if own.at_step == results.at_step => own.join(results, of_loop),
                // Of two kinds of groups those that are all.
                Some(own) if results.at_step.iter().all(Option::is_none) => *own = results,
                Some(_) => {}
            }
        }
    }
}

impl Results {
    fn join(&mut self, others: Results, of_loop: Option<usize>) {
        let varies = of_loop.map(|depth| {
            let at = |results: &Results| results.varies.get(depth).copied().unwrap_or_default();
            let (a, b) = (at(self), at(&others));
            (a.0 && b.0, a.1 && b.1)
        });
        let joined = |apart: bool, a: &Expr, b: Expr| if apart { a + b } else { max(a, b) };
        let (differ, in_turn) = varies.unwrap_or_default();
        self.count = joined(differ, &self.count, others.count);
        self.chain = joined(in_turn, &self.chain, others.chain);
    }
}

pub(super) fn value_count(value: &RealValue, around: &Around, launch: KernelLaunch<'_>) -> Values {
    let loops: Vec<&Expr> = around.loops.iter().rev().map(|l| &l.trips).collect();
    let width = value.width.min(value.needed.components);
    let mut count = &around.taken * i64::from(width);
    let mut chain = around.taken.clone();
    let mut left: Vec<bool> = Vec::new();
    for (k, trips) in loops.iter().enumerate() {
        let differs = value.differs.get(k).copied().unwrap_or(Differs::ByPlace);
        if differs != Differs::ByPlace {
            count = count * *trips;
        }
        if differs == Differs::InTurn {
            chain = chain * *trips;
        }
        left.push(differs == Differs::ByPlace);
    }
    let chained = value.differs.contains(&Differs::InTurn) && value.lanes == Lanes::Real;
    count = count * distinguished(&value.places, &loops, &mut left, launch);
    let chain = if chained { chain } else { Expr::Int(0) };
    let count = count.simplified();
    let in_turn = |k: usize| value.differs.get(k) == Some(&Differs::InTurn);
    let varies = (0..loops.len()).rev().map(|k| (!left[k], in_turn(k))).collect();
    let results = Results { at_step: around.at_step.clone(), count, chain, varies };
    Values { by_key: IndexMap::from([((value.lanes, value.key), results)]) }
}

/// Which of the loops around are distinguished by these places, and in how many ways at least.
pub(super) fn distinguished(
    places: &[Vec<Stride>],
    loops: &[&Expr],
    left: &mut [bool],
    launch: KernelLaunch<'_>,
) -> Expr {
    let mut count = Expr::Int(1);
    let axes = places.iter().map(|strides| axes(strides, loops, launch));
    let mut places: Vec<Vec<(usize, Axis)>> = axes.collect();
    // Places that one more loop moves distinguish its iterations; then others may.
    while let Some(place) = next(&mut places, left) {
        let own: Vec<Axis> = place.iter().map(|(_, axis)| axis.clone()).collect();
        count = count * distinct(&own, &launch.device.known);
        place.iter().for_each(|(k, _)| left[*k] = false);
    }
    count
}

/// The loops that move a place, as repetitions.
fn axes(strides: &[Stride], loops: &[&Expr], launch: KernelLaunch<'_>) -> Vec<(usize, Axis)> {
    let axis = |(k, stride): (usize, &Stride)| {
        let (Stride::Elements(distance) | Stride::Shifted(distance)) = stride else { return None };
        let distance = launch.put_in(distance)?;
        let extent = (*loops.get(k)?).clone();
        let distance = launch.unsigned(distance)?;
        (distance != Expr::Int(0)).then_some((k, Axis { distance: Some(distance), extent }))
    };
    strides.iter().enumerate().filter_map(axis).collect()
}

/// Of the places, without the loops that are distinguished, the one with the fewest.
fn next(places: &mut [Vec<(usize, Axis)>], left: &[bool]) -> Option<Vec<(usize, Axis)>> {
    for place in places.iter_mut() {
        place.retain(|(k, _)| left[*k]);
    }
    places.iter().filter(|place| !place.is_empty()).min_by_key(|place| place.len()).cloned()
}
