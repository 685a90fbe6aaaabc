//! How many different addresses repetitions have at least.
//!
//! Distances are ordered by their values in one configuration. Those that are multiples of a
//! finer one make a run, in which each next repetition either lies beyond all before it, and
//! multiplies them, or continues a run without gaps; otherwise the greater of both counts. Of runs
//! that are no multiples of each other the coarser multiplies if it lies beyond the finer. Each
//! step is a lower bound by itself, so an order that is wrong makes the count less, never more.

use tickbound_expr::{BinaryOp, Expr};

use crate::usage::known::Known;
use crate::usage::number::{choice, is_zero, less, max};
use crate::usage::{Axis, MAX_CONDITIONS, by_sides, multiple};

/// Different places, and how far the last is behind the first.
struct Run {
    unit: Expr,
    count: Expr,
    /// In units.
    span: Expr,
}

/// The least number of different addresses of these repetitions. Where distances depend on
/// conditions, each side is counted for itself.
pub(super) fn distinct(axes: &[Axis], of: &Known<'_>) -> Expr {
    let each = |axes: &[Axis]| by_products(axes, of);
    by_sides(axes, of, &each, &|is, a, b| choice(is, a, b), MAX_CONDITIONS)
}

fn by_products(axes: &[Axis], of: &Known<'_>) -> Expr {
    let known = axes.iter().filter_map(|axis| Some((axis.distance.clone()?, axis.extent.clone())));
    let mut known: Vec<(Expr, Expr)> =
        known.filter(|(d, n)| *d != Expr::Int(0) && *n != Expr::Int(1)).collect();
    let high = |distance: &Expr| of.range(distance).map_or(i64::MAX, |range| range.high);
    let value = |distance: &Expr| of.at_typical(distance).unwrap_or_else(|| high(distance));
    // Of equal ones those of inner loops come first, or those that are never as great.
    known.sort_by_cached_key(|(distance, _)| (of.inputs.decide(distance), value(distance)));
    let count = in_order(&known, of);
    let mut other = known.clone();
    other.sort_by_cached_key(|(d, _)| (of.inputs.decide(d), value(d), high(d)));
    if other == known { count } else { max(count, in_order(&other, of)) }
}

/// The least number of addresses of repetitions from the finest to the coarsest.
fn in_order(known: &[(Expr, Expr)], of: &Known<'_>) -> Expr {
    let mut runs: Vec<Run> = Vec::new();
    for (distance, extent) in known {
        let fits = |run: &Run| {
            let times = multiple(distance, &run.unit)?;
            (!of.inputs.decide(&times)).then_some(times)
        };
        match runs.iter().rposition(|run| fits(run).is_some()) {
            Some(i) => {
                let times = fits(&runs[i]).unwrap_or(Expr::Int(1));
                let still = of.narrowed(is_zero(&times));
                let longer = longer(&runs[i], times, extent, of);
                let run = &mut runs[i];
                run.count = of.narrowed(choice(&still, &run.count, longer.0));
                run.span = of.narrowed(choice(still, &run.span, longer.1));
            }
            None => {
                let still = of.narrowed(is_zero(distance.clone()));
                let count = choice(&still, 1, extent);
                let span = choice(still, 0, extent - 1);
                runs.push(Run { unit: distance.clone(), count, span });
            }
        }
    }
    let first = (Expr::Int(1), Expr::Int(0));
    let (count, _) = runs.into_iter().fold(first, |(count, span), run| {
        let beyond = of.narrowed(less(&span, &run.unit));
        let both = choice(beyond, &count * &run.count, max(&count, &run.count));
        (of.narrowed(both), of.narrowed(span + run.unit * run.span))
    });
    count.simplified()
}

/// A run, repeated `extent` times at `times` units: places and span.
fn longer(run: &Run, times: Expr, extent: &Expr, of: &Known<'_>) -> (Expr, Expr) {
    let span = &run.span + (extent - 1) * &times;
    let whole = of.narrowed(Expr::binary(BinaryOp::Eq, run.count.clone(), &run.span + 1));
    let overlapping = choice(whole, &span + 1, max(&run.count, extent));
    let beyond = of.narrowed(less(&run.span, times));
    let count = choice(beyond, &run.count * extent, overlapping);
    (count, span)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Never more than there are, and all of them where each distance divides the next one and
        /// leaves no gap, or lies beyond all before it.
        #[test]
        fn at_most_all(axes in prop::collection::vec((0i64..40, 1i64..6), 1..5)) {
            let all: Vec<Axis> = (axes.iter())
                .map(|(d, n)| Axis { distance: Some(Expr::Int(*d)), extent: Expr::Int(*n) })
                .collect();
            let count = distinct(&all, &Known::inputs(&[])).eval(&[]).unwrap();
            let mut places = BTreeSet::from([0]);
            for (d, n) in &axes {
                let moved = |at: &i64| (0..*n).map(|i| at + i * d).collect::<Vec<_>>();
                places = places.iter().flat_map(moved).collect();
            }
            prop_assert!(count <= places.len() as i64, "{} > {}", count, places.len());
        }
    }

    #[test]
    fn windows_and_rows() {
        let count = |axes: &[(i64, i64)]| {
            let axis =
                |(d, n): &(i64, i64)| Axis { distance: Some(Expr::Int(*d)), extent: Expr::Int(*n) };
            let axes: Vec<Axis> = axes.iter().map(axis).collect();
            distinct(&axes, &Known::inputs(&[])).eval(&[]).unwrap()
        };
        assert_eq!(count(&[(4, 15), (64, 2)]), 30);
        assert_eq!(count(&[(4, 15), (32, 2)]), 23);
        assert_eq!(count(&[(4, 32), (128, 16), (0, 9)]), 512);
        // 3 rows of 20 words.
        assert_eq!(count(&[(4, 20), (1000, 3)]), 60);
    }
}
