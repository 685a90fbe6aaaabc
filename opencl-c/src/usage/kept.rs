//! Values that a compiler keeps in registers between loads and uses.
//!
//! In unrolled loops an element that is needed in several iterations is loaded once. A compiler that moves loads to
//! where they are used, and loads again, needs few registers for it. One that leaves loads in the order of the source
//! keeps each from its first use to its last.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_model::Expr;

use super::footprint::{Axis, multiple};
use super::number::{add, choice, less, max, min, mul, quotient, sub};

/// What is kept in the unrolled loops at one place of the source.
#[derive(Debug, Clone)]
struct Nest {
    /// Registers for elements that are used again.
    window: Expr,
    /// How often these are used.
    uses: Expr,
    /// Registers for elements that were all loaded before a condition.
    early: Expr,
    /// How often.
    times: Expr,
}

/// What is kept, by the line of the outermost unrolled loop.
#[derive(Debug, Default)]
pub(super) struct Kept {
    nests: IndexMap<u32, Nest>,
}

impl Kept {
    /// Elements that are kept from the first use to the last: so many registers, used so often.
    pub fn window(&mut self, line: u32, window: Expr, uses: Expr) {
        let nest = self.nest(line);
        nest.window = add(nest.window.clone(), window);
        nest.uses = add(nest.uses.clone(), uses);
    }

    /// Elements that are all loaded before what uses them, so often.
    pub fn early(&mut self, line: u32, registers: Expr, times: Expr) {
        let nest = self.nest(line);
        nest.times = max(nest.times.clone(), times);
        nest.early = add(nest.early.clone(), registers);
    }

    fn nest(&mut self, line: u32) -> &mut Nest {
        let zero = || Expr::Int(0);
        self.nests.entry(line).or_insert(Nest {
            window: zero(),
            uses: zero(),
            early: zero(),
            times: zero(),
        })
    }

    /// Registers of the place that needs most.
    pub fn registers(&self) -> Expr {
        let of = |nest: &Nest| add(nest.window.clone(), nest.early.clone());
        self.nests.values().map(of).reduce(max).unwrap_or(Expr::Int(0))
    }

    /// Memory operations for each register that is missing, if elements are kept, else `otherwise`: one that was loaded early is
    /// stored and loaded once; one that is used again is loaded at each use.
    pub fn spill_uses(&self, otherwise: Expr) -> Expr {
        let sum =
            |of: fn(&Nest) -> &Expr| self.nests.values().map(of).cloned().fold(Expr::Int(0), add);
        let (window, uses, early) = (sum(|n| &n.window), sum(|n| &n.uses), sum(|n| &n.early));
        let times =
            self.nests.values().map(|n| n.times.clone()).reduce(max).unwrap_or(Expr::Int(0));
        let two = || Expr::Int(2);
        let rounded = add(mul(two(), uses), window.clone());
        let again = quotient(rounded, mul(two(), max(Expr::Int(1), window.clone())));
        let some = |registers: Expr| less(Expr::Int(0), registers);
        choice(some(early), mul(two(), times), choice(some(window), again, otherwise))
    }
}

/// Elements that are kept at once for later iterations of these loops, inner ones first.
///
/// Of two loops with the distances s and k s, of n and m iterations, the same elements come again where k is less than n.
/// With the first one outside, an element comes for the last time k (m - 1) of its iterations after the first time, and in each
/// of them the other loops inside bring as many. With the second one outside, the next iteration wants what this one has brought.
pub(super) fn window(loops: &[Axis]) -> Expr {
    let pairs = (0..loops.len()).array_combinations().filter_map(|[inner, outer]| {
        let (fine, coarse) = (distance(&loops[outer])?, distance(&loops[inner])?);
        let (outside, within) = (loops[outer].extent.clone(), loops[inner].extent.clone());
        let inside = |without: Option<usize>| {
            let others = (0..outer).filter(|i| Some(*i) != without);
            let others = others.filter(|i| distance(&loops[*i]) != Some(&Expr::Int(0)));
            others.fold(Expr::Int(1), |all, i| mul(all, loops[i].extent.clone()))
        };
        let one = || Expr::Int(1);
        if *fine == Expr::Int(0) {
            return Some(choice(less(one(), outside), inside(None), Expr::Int(0)));
        }
        if let Some(times) = multiple(coarse, fine).filter(|_| *coarse != Expr::Int(0)) {
            let apart = mul(times.clone(), sub(within.clone(), one()));
            let rows = add(one(), min(apart, mul(outside.clone(), within.clone())));
            let kept = mul(rows, inside(Some(inner)));
            let kept = choice(less(times, outside), kept, Expr::Int(0));
            return Some(choice(less(one(), within), kept, Expr::Int(0)));
        }
        let times = multiple(fine, coarse).filter(|_| *coarse != Expr::Int(0))?;
        let kept = choice(less(times, within), inside(None), Expr::Int(0));
        Some(choice(less(one(), outside), kept, Expr::Int(0)))
    });
    pairs.reduce(max).unwrap_or(Expr::Int(0))
}

fn distance(axis: &Axis) -> Option<&Expr> {
    axis.distance.as_ref()
}
