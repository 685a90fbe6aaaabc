//! Values that a compiler keeps in registers between loads and uses.
//!
//! In unrolled loops an element that is needed in several iterations is loaded once. A compiler
//! that moves loads to where they are used, and loads again, needs few registers for it. One that
//! leaves loads in the order of the source keeps each from its first use to its last.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_expr::Expr;

use super::footprint::{Axis, multiple};
use super::number::{choice, less, max, min, quotient};

/// What is kept of the loads at one line of the source.
#[derive(Debug, Clone, Default)]
struct Loads {
    /// Registers for elements that are used again.
    window: Expr,
    /// How often these are used.
    uses: Expr,
    /// Registers for elements that were all loaded before a condition.
    early: Expr,
    /// How often.
    times: Expr,
}

/// What is kept, by the line of the load.
#[derive(Debug, Default)]
pub(super) struct Kept {
    lines: IndexMap<u32, Loads>,
}

impl Kept {
    /// Elements kept from the first use to the last: `window` registers, used `uses` times.
    pub fn window(&mut self, line: u32, window: Expr, uses: Expr) {
        let loads = self.lines.entry(line).or_default();
        loads.window += window;
        loads.uses += uses;
    }

    /// Elements that are all loaded before what uses them, so often.
    pub fn early(&mut self, line: u32, registers: Expr, times: Expr) {
        let loads = self.lines.entry(line).or_default();
        loads.times = max(&loads.times, times);
        loads.early += registers;
    }

    /// Registers of the line that needs most.
    pub fn registers(&self) -> Expr {
        let registers = self.lines.values().map(|loads| &loads.window + &loads.early);
        registers.reduce(max).unwrap_or_default()
    }

    /// Memory operations for each register that is missing, if elements are kept, else `otherwise`:
    /// one that was loaded early is stored and loaded once; one that is used again is loaded each
    /// time.
    pub fn spill_uses(&self, otherwise: Expr) -> Expr {
        let sum = |of: fn(&Loads) -> &Expr| self.lines.values().map(of).sum::<Expr>();
        let (window, uses, early) = (sum(|n| &n.window), sum(|n| &n.uses), sum(|n| &n.early));
        let times = self.lines.values().map(|n| n.times.clone()).reduce(max);
        let again = quotient(2 * uses + &window, 2 * max(1, &window));
        let late = choice(less(0, window), again, otherwise);
        choice(less(0, early), 2 * times.unwrap_or_default(), late)
    }
}

/// Elements that are kept at once for later iterations of these loops, inner ones first.
///
/// Of two loops with the distances s and k s, of n and m iterations, the same elements come again
/// where k is less than n. With the first one outside, an element comes again k of its iterations
/// later, up to m - 1 times, each time with what the other loops inside bring. With the second one
/// outside, the next iteration wants what this one has brought.
pub(super) fn window(loops: &[Axis]) -> Expr {
    let pairs = (0..loops.len()).array_combinations().filter_map(|[inner, outer]| {
        let (fine, coarse) = (distance(&loops[outer])?, distance(&loops[inner])?);
        let (outside, within) = (loops[outer].extent.clone(), loops[inner].extent.clone());
        let inside = |without: Option<usize>| {
            let others = (0..outer).filter(|i| Some(*i) != without);
            let others = others.filter(|i| distance(&loops[*i]) != Some(&Expr::Int(0)));
            others.map(|i| &loops[i].extent).product::<Expr>()
        };
        let one = || Expr::Int(1);
        if *fine == Expr::Int(0) {
            return Some(choice(less(one(), outside), inside(None), 0));
        }
        if let Some(times) = multiple(coarse, fine).filter(|_| *coarse != Expr::Int(0)) {
            let again = min(&times, &outside - &times);
            let rows = one() + again * (&within - one());
            let kept = rows * inside(Some(inner));
            let kept = choice(less(times, outside), kept, 0);
            return Some(choice(less(one(), within), kept, 0));
        }
        let times = multiple(fine, coarse).filter(|_| *coarse != Expr::Int(0))?;
        let kept = choice(less(times, within), inside(None), 0);
        Some(choice(less(one(), outside), kept, 0))
    });
    pairs.reduce(max).unwrap_or_default()
}

fn distance(axis: &Axis) -> Option<&Expr> {
    axis.distance.as_ref()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use itertools::iproduct;

    use super::*;

    fn axis(distance: i64, extent: i64) -> Axis {
        Axis { distance: Some(Expr::Int(distance)), extent: Expr::Int(extent) }
    }

    /// The most elements that are live at once if each is from its first use to its last, loops
    /// from the outermost one.
    fn live(loops: &[(i64, i64)]) -> i64 {
        let counters = loops.iter().map(|(_, extent)| 0..*extent).multi_cartesian_product();
        let places = counters.map(|at| at.iter().zip(loops).map(|(i, (d, _))| i * d).sum::<i64>());
        let mut uses: BTreeMap<i64, (usize, usize)> = BTreeMap::new();
        for (time, place) in places.enumerate() {
            uses.entry(place).or_insert((time, time)).1 = time;
        }
        let end = loops.iter().map(|(_, extent)| extent).product::<i64>() as usize;
        let at = |time: usize| uses.values().filter(|(a, b)| *a <= time && time <= *b).count();
        (0..end).map(at).max().unwrap_or(0) as i64
    }

    #[test]
    fn rows_of_a_window_are_kept() {
        // A filter of `rows` x `columns` over `tiles` rows of results, `block` rows apart, and two
        // elements beside each other.
        let mut kept = 0;
        for (rows, columns, block, tiles) in iproduct!([3, 5, 9], [1, 3], [1, 2, 4], [1, 2, 3]) {
            let pitch = 1000;
            let loops = [(pitch, rows), (1, columns), (block * pitch, tiles), (100, 2)];
            let inner: Vec<Axis> = loops.iter().rev().map(|(d, n)| axis(*d, *n)).collect();
            let own = window(&inner).eval(&[]).unwrap();
            if tiles == 1 || block >= rows {
                assert_eq!(own, 0, "{rows} {columns} {block} {tiles}");
                continue;
            }
            // Whole rows of the window, of which the first and the last are there in part.
            let wanted = live(&loops);
            let row = columns * 2;
            assert!((wanted - row..=wanted + row).contains(&own), "{own}, {wanted}: {loops:?}");
            kept += 1;
        }
        assert_eq!(kept, 32);
    }

    #[test]
    fn what_the_next_iteration_wants_is_kept() {
        // The same elements in each iteration of the outer loop.
        assert_eq!(window(&[axis(4, 8), axis(0, 3)]).eval(&[]).unwrap(), 8);
        assert_eq!(window(&[axis(4, 8), axis(0, 1)]).eval(&[]).unwrap(), 0);
        assert_eq!(window(&[axis(4, 8), axis(4 * 8, 3)]).eval(&[]).unwrap(), 0);
    }

    #[test]
    fn spills_of_what_is_kept() {
        let value = |kept: &Kept| kept.spill_uses(Expr::Int(7)).eval(&[]).unwrap();
        let mut kept = Kept::default();
        assert_eq!((value(&kept), kept.registers().eval(&[]).unwrap()), (7, 0));
        kept.window(1, Expr::Int(10), Expr::Int(45));
        assert_eq!((value(&kept), kept.registers().eval(&[]).unwrap()), (5, 10));
        kept.early(2, Expr::Int(30), Expr::Int(4));
        assert_eq!((value(&kept), kept.registers().eval(&[]).unwrap()), (8, 30));
    }
}
