//! How many different addresses something that repeats has.

use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr};

use super::known::{Inputs, Known};
use super::number::{choice, less, min};

/// Most conditions on which distances depend: each doubles what is counted.
pub(crate) const MAX_CONDITIONS: usize = 4;

/// One repetition: bytes between neighbours, if the same everywhere, and how many there are.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// Not negative; `None`: each has a separate address.
    pub distance: Option<Expr>,
    /// How many, at least 1.
    pub extent: Expr,
}

/// Different addresses.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    pub count: Expr,
    /// In how many pieces without gaps.
    pub pieces: Expr,
}

impl Addresses {
    fn times(self, other: Addresses) -> Addresses {
        Addresses { count: self.count * other.count, pieces: self.pieces * other.pieces }
    }
}

/// The different addresses, each of `bytes` bytes, that these repetitions have.
///
/// `n` at a distance of `s`, repeated `m` times at a distance of `k * s`, are `n + (m - 1) * min(n,
/// k)`. Where no distance is seen to be a multiple of another, pieces are taken not to overlap.
/// Fine distances are put together first as long as that leaves no gaps, which others may fill;
/// then coarse ones come first, so that rows are counted before what is in a row. Of several
/// multiples, those that inputs decide, or of which sums are part, come last: these are pitches of
/// rows.
///
/// Exact where each distance divides the next one and all are numbers.
pub(super) fn addresses(axes: &[Axis], bytes: i64, of: &Known<'_>) -> Addresses {
    let each = |axes: &[Axis]| of_products(axes, bytes, of);
    by_sides(axes, of, &each, &|condition, a, b| either(condition, a, b, of), MAX_CONDITIONS)
}

/// What `each` counts of repetitions. Where distances depend on conditions, each side is counted
/// for itself, and `either` chooses; of at most `left` conditions.
pub(crate) fn by_sides<T>(
    axes: &[Axis],
    of: &Known<'_>,
    each: &impl Fn(&[Axis]) -> T,
    either: &impl Fn(Expr, T, T) -> T,
    left: usize,
) -> T {
    let mut distances = axes.iter().filter_map(|axis| axis.distance.as_ref());
    let Some(condition) = distances.find_map(condition).filter(|_| left > 0) else {
        return each(axes);
    };
    let side = |holds: bool| {
        let settled = |distance: &Expr| settled(distance, condition, holds);
        let axis = |axis: &Axis| Axis {
            distance: axis.distance.as_ref().map(settled),
            extent: axis.extent.clone(),
        };
        by_sides(&axes.iter().map(axis).collect::<Vec<_>>(), of, each, either, left - 1)
    };
    match of.narrowed(condition.clone()) {
        Expr::Int(0) => side(false),
        Expr::Int(_) => side(true),
        condition => either(condition, side(true), side(false)),
    }
}

/// The first where a condition holds, else the second.
fn either(condition: Expr, then: Addresses, otherwise: Addresses, of: &Known<'_>) -> Addresses {
    let pieces = choice(&condition, then.pieces, otherwise.pieces);
    let count = choice(condition, then.count, otherwise.count);
    Addresses { count: of.narrowed(count), pieces: of.narrowed(pieces) }
}

/// The first condition that a factor of a product depends on.
fn condition(product: &Expr) -> Option<&Expr> {
    match product {
        Expr::Conditional(condition, ..) => Some(condition),
        Expr::Binary(BinaryOp::Mul, a, b) => condition(a).or_else(|| condition(b)),
        _ => None,
    }
}

/// A product in which a condition holds or does not.
fn settled(product: &Expr, condition: &Expr, holds: bool) -> Expr {
    let settle = |e: &Expr| settled(e, condition, holds);
    match product {
        Expr::Conditional(own, then, _) if holds && **own == *condition => settle(then),
        Expr::Conditional(own, _, otherwise) if !holds && **own == *condition => settle(otherwise),
        Expr::Binary(BinaryOp::Mul, a, b) => settle(a) * settle(b),
        other => other.clone(),
    }
}

fn of_products(axes: &[Axis], bytes: i64, of: &Known<'_>) -> Addresses {
    let mut apart = Addresses { count: Expr::Int(1), pieces: Expr::Int(1) };
    let mut known: Vec<(Expr, Addresses)> = Vec::new();
    for Axis { distance, extent } in axes {
        let count = extent.clone();
        match distance {
            None => apart = apart.times(Addresses { pieces: count.clone(), count }),
            Some(Expr::Int(0)) => {}
            Some(distance) => {
                let close = matches!(distance, Expr::Int(distance) if *distance <= bytes);
                let pieces = if close { Expr::Int(1) } else { count.clone() };
                known.push((distance.clone(), Addresses { count, pieces }));
            }
        }
    }
    joined(known, of).times(apart)
}

/// Runs put together from the finest on, as long as that leaves no gaps, else from the coarsest.
fn joined(mut known: Vec<(Expr, Addresses)>, of: &Known<'_>) -> Addresses {
    let Some((fine, coarse, times)) = finest_pair(&known, of) else {
        return from_coarse(known, of);
    };
    let gaps = match times {
        // There is at least one of each.
        Expr::Int(1) => Expr::Int(0),
        _ => of.narrowed(less(&known[fine].1.count, &times)),
    };
    let chain =
        (0..known.len()).all(|i| i == fine || multiple(&known[i].0, &known[coarse].0).is_some());
    if gaps == Expr::Int(1) && chain {
        let (_, own) = known.remove(fine);
        return joined(known, of).times(own);
    }
    if gaps == Expr::Int(0) {
        join(&mut known, (fine, coarse, times), of);
        return joined(known, of);
    }
    let with = from_coarse(known.clone(), of);
    join(&mut known, (fine, coarse, times), of);
    let without = joined(known, of);
    either(gaps, with, without, of)
}

/// Runs put together from the coarsest on.
fn from_coarse(mut known: Vec<(Expr, Addresses)>, of: &Known<'_>) -> Addresses {
    while let Some((fine, coarse, times)) = next_pair(&known, &of.inputs) {
        join(&mut known, (fine, coarse, times), of);
    }
    let one = Addresses { count: Expr::Int(1), pieces: Expr::Int(1) };
    known.into_iter().fold(one, |all, (_, own)| all.times(own))
}

/// Puts one of the runs into another, whose distance is `times` times less.
fn join(
    known: &mut Vec<(Expr, Addresses)>,
    (fine, coarse, times): (usize, usize, Expr),
    of: &Known<'_>,
) {
    let (_, repeated) = known[coarse].clone();
    let Addresses { count, pieces } = &mut known[fine].1;
    // Each address is a separate piece, and so is each that others add at the same distance.
    let single = pieces == count && *count != Expr::Int(1);
    let gaps = less(&*count, &times);
    let all = &*pieces * choice(gaps, &repeated.count, 1);
    let new = min(&*count, times);
    let whole = &*count + (repeated.count - 1) * new;
    *count = of.narrowed(whole);
    *pieces = if single { count.clone() } else { of.narrowed(all) };
    known.remove(coarse);
}

/// The finest of the runs, and the finest of others whose distance is a multiple of its distance.
fn finest_pair(known: &[(Expr, Addresses)], of: &Known<'_>) -> Option<(usize, usize, Expr)> {
    let divides = |a: usize, b: usize| multiple(&known[b].0, &known[a].0);
    let strictly = |a: usize, b: usize| known[a].0 != known[b].0 && divides(a, b).is_some();
    let finest = |a: &usize| !(0..known.len()).any(|b| strictly(b, *a));
    let pairs = (0..known.len()).filter(finest).cartesian_product(0..known.len());
    let pairs = pairs.filter(|(a, b)| a != b).filter_map(|(a, b)| Some((a, b, divides(a, b)?)));
    let pairs: Vec<_> = pairs.filter(|(.., times)| !of.inputs.decide(times)).collect();
    let between = |a: usize, b: usize| {
        (0..known.len()).any(|c| c != a && c != b && strictly(a, c) && strictly(c, b))
    };
    let nearest = pairs.into_iter().filter(|(a, b, _)| !between(*a, *b));
    // Of several, the one with the least maximum: a number of the source may be a pitch of rows.
    let most = |times: &Expr| of.range(times).map_or(i64::MAX, |range| range.high);
    nearest.min_by_key(|(a, b, times)| (*times != Expr::Int(1), most(times), is_sum(times), *a, *b))
}

/// Two repetitions of which the second's distance is a multiple of the first's, and that multiple.
fn next_pair(known: &[(Expr, Addresses)], inputs: &Inputs) -> Option<(usize, usize, Expr)> {
    let below = |i: usize| {
        let others = known.iter().enumerate().filter(|(j, _)| *j != i);
        others.filter(|(_, (d, _))| *d != known[i].0 && multiple(&known[i].0, d).is_some()).count()
    };
    let pairs = (0..known.len()).cartesian_product(0..known.len()).filter(|(a, b)| a != b);
    let pairs = pairs.filter_map(|(a, b)| Some((a, b, multiple(&known[b].0, &known[a].0)?)));
    // Runs at the same distance first: together they leave fewer gaps between coarser ones.
    let large = |times: &Expr| (*times != Expr::Int(1), inputs.decide(times), is_sum(times));
    pairs.min_by_key(|(a, b, times)| (usize::MAX - below(*a), large(times), *a, *b))
}

fn is_sum(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..)) || expr.parts().any(is_sum)
}

/// What `of` has to be multiplied by to give `whole`, if that can be seen from their factors. One
/// that a choice is part of may be greater or less than others, and so may not be ordered with
/// them: it counts as none.
pub(crate) fn multiple(whole: &Expr, of: &Expr) -> Option<Expr> {
    let ((number, mut left), (by, others)) = (factors(whole), factors(of));
    if by == 0 || number % by != 0 {
        return None;
    }
    for factor in others {
        left.remove(left.iter().position(|f| *f == factor)?);
    }
    let chosen = left.iter().any(|factor| matches!(factor, Expr::Conditional(..)));
    (!chosen).then(|| left.into_iter().fold(Expr::Int(number / by), |all, factor| all * factor))
}

/// The constant factor of a product, and the others.
fn factors(expr: &Expr) -> (i64, Vec<&Expr>) {
    match expr {
        Expr::Int(n) => (*n, Vec::new()),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let ((x, mut left), (y, right)) = (factors(a), factors(b));
            match x.checked_mul(y) {
                Some(number) => {
                    left.extend(right);
                    (number, left)
                }
                None => (1, vec![expr]),
            }
        }
        _ => (1, vec![expr]),
    }
}

#[cfg(test)]
mod tests {
    use itertools::iproduct;

    use std::collections::BTreeSet;

    use tickbound_expr::Slot;

    use super::*;

    /// Names 0, 1, ... of parameters with these values; axes as distances and extents over them.
    fn counted(values: &[i64], axes: &[(Expr, Expr)]) -> (i64, i64, i64) {
        let all: Vec<Axis> = (axes.iter().cloned())
            .map(|(distance, extent)| Axis { distance: Some(distance), extent })
            .collect();
        let known = Known::inputs(&[0]);
        let Addresses { count, pieces } = addresses(&all, 4, &known);
        let mut places = BTreeSet::from([0]);
        for (distance, extent) in axes {
            let (distance, extent) = (distance.eval(values).unwrap(), extent.eval(values).unwrap());
            let moved = |at: &i64| (0..extent).map(|i| at + i * distance).collect::<Vec<_>>();
            places = places.iter().flat_map(moved).collect();
        }
        (count.eval(values).unwrap(), pieces.eval(values).unwrap(), places.len() as i64)
    }

    fn name(slot: Slot) -> Expr {
        Expr::Name(slot)
    }

    fn times(a: Expr, b: Expr) -> Expr {
        Expr::binary(BinaryOp::Mul, a, b)
    }

    #[test]
    fn windows_overlap() {
        // A filter of w elements at places b apart, t of them.
        for (w, b, t) in iproduct!(1..6, 1..6, 1..6) {
            let axes = [(Expr::Int(4), name(1)), (times(Expr::Int(4), name(2)), name(3))];
            let (own, pieces, wanted) = counted(&[0, w, b, t], &axes);
            assert_eq!(own, wanted, "{w} {b} {t}");
            assert_eq!(pieces, if w < b { t } else { 1 }, "{w} {b} {t}");
        }
    }

    #[test]
    fn areas_of_rows() {
        // Items x of a row, tiles of x, rows y at a pitch, tiles of y; the window of a filter on
        // both.
        for (x, y, f, t) in iproduct!([4, 8], [1, 2, 4], [1, 3, 5], [1, 2, 3]) {
            let four = || Expr::Int(4);
            let pitch = || times(four(), name(0));
            let axes = [
                (four(), name(1)),
                (pitch(), name(2)),
                (times(four(), name(1)), name(4)),
                (times(pitch(), name(2)), name(4)),
                (four(), name(3)),
                (pitch(), name(3)),
            ];
            let (own, pieces, wanted) = counted(&[1000, x, y, f, t], &axes);
            assert_eq!(own, wanted, "{x} {y} {f} {t}");
            assert_eq!(pieces, y * t + f - 1, "{x} {y} {f} {t}");
        }
    }

    #[test]
    fn runs_at_one_distance_fill_gaps_together() {
        // Items and results of an item are neighbours; so are those that other items add.
        for (x, y, t, s) in iproduct!([2, 4], [3, 8], [2, 6], [1, 4, 7]) {
            let axes = [
                (Expr::Int(4), name(1)),
                (times(Expr::Int(4), name(3)), name(2)),
                (times(Expr::Int(4), name(1)), name(4)),
                (Expr::Int(4), name(3)),
            ];
            let (own, pieces, wanted) = counted(&[1000, x, y, t, s], &axes);
            assert_eq!((own, pieces), (wanted, 1), "{x} {y} {t} {s}");
        }
    }

    #[test]
    fn chains_of_multiples() {
        // Each distance divides the next one.
        for (n, q, r, s) in iproduct!(
            iproduct!([1, 3, 8, 32], [1, 2, 4], [1, 2, 5], [1, 3]),
            [1, 2, 4],
            [1, 3, 8],
            [1, 2]
        ) {
            let axes = [(4, n.0), (4 * q, n.1), (4 * q * r, n.2), (4 * q * r * s, n.3)];
            let axes = axes.map(|(d, n)| (Expr::Int(d), Expr::Int(n)));
            let (own, _, wanted) = counted(&[], &axes);
            assert_eq!(own, wanted, "{n:?} {q} {r} {s}");
        }
    }

    #[test]
    fn copies_of_a_tile() {
        // 16 items, 4 of them in a row of a tile that is copied in steps of 4 rows; then the next
        // tile.
        let row = || times(Expr::Int(4), name(0));
        let axes = [
            (Expr::Int(4), Expr::Int(4)),
            (row(), Expr::Int(4)),
            (times(row(), name(1)), Expr::Int(2)),
            (times(row(), name(2)), Expr::Int(3)),
        ];
        let (own, pieces, wanted) = counted(&[512, 4, 8], &axes);
        assert_eq!((own, pieces, wanted), (96, 24, 96));
    }
}
