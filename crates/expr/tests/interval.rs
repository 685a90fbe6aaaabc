//! Bounds of expressions over boxes: nothing that a point of the box does is left out, a box of one
//! point says what the point does, and where hulls are promised to be exact, they are.
//!
//! `SEED` is the first seed, `MANY` the number of random expressions.

use tickbound_expr::interval::{Interval, Possible, Range};
use tickbound_expr::parse::parse;
use tickbound_expr::staged::Staged;
use tickbound_expr::{BinaryOp, Expr, Function, Slot};

use crate::random::Random;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn read(text: &str) -> Expr<Slot> {
    let parsed = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let slot = |name: &String| NAMES.iter().position(|n| n == name);
    parsed.resolve(&mut |name| slot(name)).unwrap_or_else(|name| panic!("{text}: {name}"))
}

fn named(e: &Expr<Slot>) -> Expr<String> {
    e.resolve(&mut |s| Some(NAMES[*s].to_owned())).expect("a name for every slot")
}

fn interval((low, high): (i64, i64)) -> Interval {
    Interval { low, high }
}

/// All points of a box.
fn points(of: &[Interval]) -> Vec<Vec<i64>> {
    of.iter().fold(vec![vec![]], |all, i| {
        let with = |p: &Vec<i64>, v| p.iter().copied().chain([v]).collect();
        all.iter().flat_map(|p| (i.low..=i.high).map(move |v| with(p, v))).collect()
    })
}

type Box3 = [(i64, i64); 3];
const ONE: (i64, i64) = (1, 1);
const BIG: i64 = 1 << 20;
const THREES: i64 = 3_i64.pow(25);
const MIN: i64 = i64::MIN;
const MAX: i64 = i64::MAX;

/// Expression, box, and its values and whether it may fail.
#[test]
fn table_of_ranges() {
    type Case = (&'static str, Box3, Option<(i64, i64)>, bool);
    let cases: &[Case] = &[
        ("a + b * c", [(1, 2), (-3, 4), (-5, 6)], Some((-19, 26)), false),
        ("a - b", [(1, 2), (-3, 4), ONE], Some((-3, 5)), false),
        ("a - a", [(1, 2), ONE, ONE], Some((-1, 1)), false),
        ("a + b", [(0, MAX), (0, 1), ONE], Some((0, MAX)), true),
        ("a + b", [(MAX, MAX), (1, 2), ONE], None, true),
        ("-a", [(MIN, 3), ONE, ONE], Some((-3, MAX)), true),
        ("abs(a)", [(MIN, MIN), ONE, ONE], None, true),
        ("abs(a)", [(-7, 3), ONE, ONE], Some((0, 7)), false),
        ("abs(a)", [(-7, -3), ONE, ONE], Some((3, 7)), false),
        ("a // b", [(-7, 9), (2, 4), ONE], Some((-4, 4)), false),
        ("a / b", [(-7, 9), (-2, 2), ONE], Some((-9, 9)), true),
        ("a / b", [(5, 9), (0, 2), ONE], Some((2, 9)), true),
        ("a / b", [(5, 9), (0, 0), ONE], None, true),
        ("a // b", [(MIN, MIN), (-1, 1), ONE], Some((MIN, MIN)), true),
        ("ceil_div(a, b)", [(-7, 9), (2, 4), ONE], Some((-3, 5)), false),
        ("ceil_div(a, b)", [(5, 9), (-1, 2), ONE], Some((-9, 9)), true),
        ("a % 8", [(17, 22), ONE, ONE], Some((1, 6)), false),
        ("a % 8", [(17, 24), ONE, ONE], Some((0, 7)), false),
        ("a % -8", [(17, 22), ONE, ONE], Some((-7, -2)), false),
        ("a % -8", [(16, 17), ONE, ONE], Some((-7, 0)), false),
        ("a % b", [(3, 5), (6, 9), ONE], Some((3, 5)), false),
        ("a % b", [(3, 6), (6, 9), ONE], Some((0, 6)), false),
        ("a % b", [(13, 15), (8, 9), ONE], Some((4, 7)), false),
        ("a % b", [(-5, -3), (-9, -6), ONE], Some((-5, -3)), false),
        ("a % b", [(-20, 20), (-3, 5), ONE], Some((-2, 4)), true),
        ("a % b", [(MIN, MIN), (3, 3), ONE], None, true),
        ("a % b", [(MIN, 0), (3, 3), ONE], Some((0, 2)), true),
        ("a % b", [(0, MAX), (-2, -2), ONE], Some((-1, 0)), true),
        ("a % b", [(MIN, MIN), (-2, -1), ONE], Some((-1, 0)), true),
        ("a ** b", [(2, 3), (0, 4), ONE], Some((1, 81)), false),
        ("a ** b", [(-3, 2), (2, 3), ONE], Some((-27, 9)), false),
        ("a ** b", [(-3, -2), (2, 2), ONE], Some((4, 9)), false),
        ("a ** b", [(-3, -2), (3, 3), ONE], Some((-27, -8)), false),
        ("a ** b", [(0, 0), (0, 2), ONE], Some((0, 1)), false),
        ("a ** b", [(0, 3), (0, 2), ONE], Some((0, 9)), false),
        ("a ** b", [(2, 3), (-4, 2), ONE], Some((1, 9)), true),
        ("a ** b", [(2, 3), (-4, -2), ONE], None, true),
        ("a ** b", [(-2, 1), (62, 63), ONE], Some((MIN, 1 << 62)), false),
        ("a ** b", [(2, 3), (64, MAX), ONE], None, true),
        ("a ** b", [(-1, 1), (4, MAX), ONE], Some((-1, 1)), false),
        ("min(a, b, 3)", [(1, 9), (2, 4), ONE], Some((1, 3)), false),
        ("max(a, b, 3)", [(1, 9), (2, 4), ONE], Some((3, 9)), false),
        ("max(a, 1 // b)", [(1, 9), (0, 0), ONE], None, true),
        ("a < b", [(1, 2), (3, 4), ONE], Some((1, 1)), false),
        ("a < b", [(1, 3), (3, 4), ONE], Some((0, 1)), false),
        ("a >= b", [(1, 2), (3, 4), ONE], Some((0, 0)), false),
        ("a == b", [(1, 2), (3, 4), ONE], Some((0, 0)), false),
        ("a % b == 0", [(64, 64), (8, 8), ONE], Some((1, 1)), false),
        ("a % b == 0", [(60, 64), (8, 8), ONE], Some((0, 1)), false),
        ("a % b == 0", [(1, 3), (4, 8), ONE], Some((0, 0)), false),
        ("a if c else b", [(1, 2), (8, 9), (0, 1)], Some((1, 9)), false),
        ("a if c else 1 // b", [(1, 2), (0, 0), (1, 4)], Some((1, 2)), false),
        ("a if c else 1 // b", [(1, 2), (0, 0), (0, 4)], Some((1, 2)), true),
        ("1 // b if c else 1 // b", [ONE, (0, 0), (0, 4)], None, true),
        ("b and 1 // b", [ONE, (0, 0), ONE], Some((0, 0)), false),
        ("b and 1 // b", [ONE, (0, 1), ONE], Some((0, 1)), true),
        ("b or 1 // b", [ONE, (1, 2), ONE], Some((1, 1)), false),
        ("a or 1 // b", [(0, 1), (0, 0), ONE], Some((1, 1)), true),
        ("a and 1 // b", [(0, 1), (0, 0), ONE], Some((0, 0)), true),
        ("not a", [(1, 3), ONE, ONE], Some((0, 0)), false),
    ];
    for &(text, of, values, may_fail) in cases {
        let wanted = Range { values: values.map(interval), may_fail };
        assert_eq!(read(text).range(&of.map(interval)), wanted, "{text} over {of:?}");
    }
}

/// Constraint, box, and whether it may hold, may not hold, may fail.
#[test]
fn table_of_verdicts() {
    let cases: &[(&str, Box3, [bool; 3])] = &[
        ("a / b == 2", [(5, 5), (2, 2), ONE], [false, true, false]),
        ("a / b == 2", [(6, 6), (3, 3), ONE], [true, false, false]),
        ("a / b == 2", [(6, 6), (2, 4), ONE], [true, true, false]),
        ("a / b == 2", [(6, 6), (4, 5), ONE], [false, true, false]),
        ("a / b > 2", [(6, 9), (1, 2), ONE], [true, false, false]),
        ("a / b >= 6", [(6, 9), (0, 1), ONE], [true, false, true]),
        // The divisor is no fraction below 1/6.
        ("1 / (a / b) <= 6", [(-1, 1), (5, 6), ONE], [true, false, true]),
        ("a / b % 2 < 2", [(-7, 9), (2, 4), ONE], [true, false, false]),
        ("a / 2 // b == 1", [(7, 9), (2, 3), ONE], [true, true, false]),
        ("a / 2 // b <= 2", [(7, 9), (2, 3), ONE], [true, false, false]),
        ("ceil_div(a / 2, b) >= 2", [(7, 9), (2, 3), ONE], [true, false, false]),
        ("abs(a / b) <= 7 / 2", [(-7, 3), (2, 3), ONE], [true, false, false]),
        ("abs(a / b) >= 0", [(-3, 3), (2, 2), ONE], [true, false, false]),
        ("min(a / b, 1) < max(a / b, 2)", [(1, 9), (2, 3), ONE], [true, false, false]),
        ("b == 0 or a / b > 0", [(1, 9), (1, 3), ONE], [true, false, false]),
        ("b == 0 or a / b > 0", [(1, 9), (0, 0), ONE], [true, false, false]),
        ("(a / b) ** 2 > 0", [(1, 1), (2, 2), ONE], [true, false, false]),
        ("(a / b) ** 2 == 9", [(6, 6), (2, 2), ONE], [true, false, false]),
        // Beyond 64 bits, and beyond 128.
        ("a * a / 1 > a", [(MAX - 1, MAX), ONE, ONE], [true, false, false]),
        ("a * a > a", [(MAX, MAX), ONE, ONE], [false, false, true]),
        ("a * a * a / 1 > a", [(MAX, MAX), ONE, ONE], [false, false, true]),
        ("a * a * a / 1 > a", [(1, MAX), ONE, ONE], [true, true, true]),
        // Nothing overflows at the ends, only between them: denominators, those of a quotient,
        // numerators.
        ("1 / a + 1 / b + 1 / c > 0", [(1, MAX), (1, MAX), (1, MAX)], [true, false, true]),
        (
            "c / a / b ** 2 / 1 > 0",
            [(1, 1 << 60), (3, 3), (1 << 60, 1 << 60)],
            [true, false, false],
        ),
        (
            "c / a / (b * b) > 0",
            [(1, 1 << 60), (THREES, THREES), (1 << 60, 1 << 60)],
            [true, false, true],
        ),
        (
            "c * c / a + c * c / b > 0",
            [(BIG, 2 * BIG), (BIG, 2 * BIG), (1 << 55, 1 << 55)],
            [true, false, true],
        ),
        // The number that has no opposite in 128 bits.
        ("-(a * a * -2) / 1 > 0", [(MIN, MIN), ONE, ONE], [false, false, true]),
        ("c / (a * a * -2) <= 0", [(MIN, MIN), ONE, (0, 1)], [true, true, true]),
    ];
    for &(text, of, [may_hold, may_not_hold, may_fail]) in cases {
        let wanted = Possible { may_hold, may_not_hold, may_fail };
        assert_eq!(read(text).verdict(&of.map(interval)), wanted, "{text} over {of:?}");
    }
}

/// Mostly small, now and then near an end of 64 bits; `tame` ones are always small.
fn number(r: &mut Random, tame: bool) -> i64 {
    let large = [MIN, MIN + 2, MAX - 3, -(1 << 32), (1 << 32) + 1, 1 << 62, 3_037_000_499];
    if tame || !r.one_in(12) { r.below(20) as i64 - 7 } else { r.pick(&large) }
}

fn random_interval(r: &mut Random, tame: bool) -> Interval {
    let low = number(r, tame).min(MAX - 3);
    Interval { low, high: low + r.below(4) as i64 }
}

use BinaryOp::{Add, And, Div, Eq, FloorDiv, Ge, Gt, Le, Lt, Mul, Ne, Or, Pow, Rem, Sub};
const OPERATORS: [BinaryOp; 20] = [
    Add, Sub, Mul, Div, Div, Div, FloorDiv, Rem, Rem, Pow, Eq, Ne, Lt, Le, Gt, Ge, And, Or, Mul,
    Add,
];

fn expression(r: &mut Random, depth: u32, tame: bool) -> Expr<Slot> {
    if depth == 0 || r.below(7) == 0 {
        return match r.below(3) {
            0 => Expr::Int(number(r, tame)),
            _ => Expr::Name(r.below(3)),
        };
    }
    let part = |r: &mut Random| expression(r, depth - 1, tame);
    match r.below(20) {
        0 => Expr::Neg(Box::new(part(r))),
        1 => Expr::Not(Box::new(part(r))),
        2 => Expr::conditional(part(r), part(r), part(r)),
        3 => Expr::Call(Function::Abs, vec![part(r)]),
        4 => Expr::Call(Function::CeilDiv, vec![part(r), part(r)]),
        5 => Expr::Call(Function::Min, (0..1 + r.below(3)).map(|_| part(r)).collect()),
        6 => Expr::Call(Function::Max, (0..1 + r.below(3)).map(|_| part(r)).collect()),
        _ => Expr::binary(r.pick(&OPERATORS), part(r), part(r)),
    }
}

/// What is said of a box: values, whether the expression holds as a constraint, and whether it is
/// other than 0.
type Evaluated = (Range, Possible, Possible);

fn said(e: &Expr<Slot>, of: &[Interval]) -> Evaluated {
    (e.range(of), e.verdict(of), e.truth(of))
}

/// What may be, and what is at a point.
fn covers((range, verdict, truth): Evaluated, e: &Expr<Slot>, point: &[i64]) -> bool {
    let value = e.eval(point);
    let range = match value {
        Ok(v) => range.values.is_some_and(|values| values.contains(v)),
        Err(_) => range.may_fail,
    };
    let may = |v: Possible, holds| match holds {
        Ok(true) => v.may_hold,
        Ok(false) => v.may_not_hold,
        Err(_) => v.may_fail,
    };
    range && may(verdict, e.holds(point)) && may(truth, value.map(|v| v != 0))
}

/// A range and verdicts that allow one thing each.
fn single((range, verdict, truth): Evaluated) -> bool {
    let of_range = range.values.map_or(range.may_fail, |v| v.is_point() && !range.may_fail);
    let one = |v: Possible| {
        [v.may_hold, v.may_not_hold, v.may_fail].iter().filter(|is| **is).count() == 1
    };
    of_range && one(verdict) && one(truth)
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|s| s.parse().ok()).unwrap_or(default)
}

#[test]
fn over_some_points() {
    let mut smaller = 0;
    let from = variable("SEED", 1);
    for seed in from..from + variable("MANY", 30_000) {
        let r = &mut Random(seed ^ 0x0EE5);
        let (tame, depth) = (r.below(4) != 0, 1 + r.below(5) as u32);
        let e = expression(r, depth, tame);
        let many = 1 + r.below(4);
        let mut points: Vec<[i64; 3]> =
            (0..many).map(|_| [0; 3].map(|_| number(r, tame))).collect();
        // The first values may be the same everywhere.
        let (shared, first) = (r.below(3), points[0]);
        points.iter_mut().for_each(|point| point[..shared].copy_from_slice(&first[..shared]));
        let envs: Vec<&[i64]> = points.iter().map(|point| &point[shared..]).collect();
        let over = e.over(&first[..shared], &envs);
        for point in &points {
            let (before, after) = (e.eval(point).ok(), over.eval(point).ok());
            assert_eq!(before, after, "seed {seed}: {} at {point:?}: {}", named(&e), named(&over));
        }
        assert!(over.size() <= e.size(), "seed {seed}: {}: {}", named(&e), named(&over));
        smaller += usize::from(over.size() < e.size());
    }
    assert!(smaller > 0);
}

/// Each value is that of a plain evaluation, also where later names change and earlier ones stay.
#[test]
fn in_stages() {
    let (mut valued, mut without) = (0, 0);
    let from = variable("SEED", 1);
    for seed in from..from + variable("MANY", 10_000) {
        let r = &mut Random(seed ^ 0x57A6);
        let (tame, depth) = (r.below(4) != 0, 1 + r.below(5) as u32);
        let e = expression(r, depth, tame);
        // The stage of each name; the first one has no name where all are later.
        let stages: [usize; 3] = [0; 3].map(|_| r.below(3));
        let mut staged = Staged::new(&e, 3, |slot| stages[slot]);
        let mut point = [0; 3].map(|_| number(r, tame));
        (0..3).for_each(|stage| staged.advance(stage, |slot| point[slot]));
        for _ in 0..6 {
            let first = r.below(3);
            for slot in (0..3).filter(|slot| stages[*slot] >= first) {
                point[slot] = number(r, tame);
            }
            (first..3).for_each(|stage| staged.advance(stage, |slot| point[slot]));
            let value = e.eval(&point).ok();
            assert_eq!(staged.value(), value, "seed {seed}: {} at {point:?}", named(&e));
            valued += u32::from(value.is_some());
            without += u32::from(value.is_none());
        }
    }
    assert!(valued > 10_000 && without > 1_000, "{valued}, {without}");
}

/// A number is nowhere below the least of it and others, nor the greatest of them below it.
#[test]
fn what_a_minimum_leaves() {
    let mut closer = 0;
    for seed in 0..20_000 {
        let r = &mut Random(seed ^ 0x0A11);
        let (a, b) = (expression(r, 2, true), expression(r, 2, true));
        let of = [random_interval(r, true), random_interval(r, true), random_interval(r, true)];
        let call = |f| Box::new(Expr::Call(f, vec![b.clone(), a.clone()]));
        let left = Expr::Binary(BinaryOp::Sub, Box::new(a.clone()), call(Function::Min));
        let more = Expr::Binary(BinaryOp::Sub, call(Function::Max), Box::new(a.clone()));
        for e in [left, more] {
            let Some(range) = e.range(&of).values else { continue };
            assert!(range.low >= 0, "seed {seed}: {}", named(&e));
            closer += usize::from(range.low == 0 && range.high > 0);
            for _ in 0..5 {
                let point = of.map(|i| i.low + r.below((i.high - i.low + 1) as u64) as i64);
                if let Ok(value) = e.eval(&point) {
                    assert!(range.contains(value), "seed {seed}: {} at {point:?}", named(&e));
                }
            }
        }
    }
    assert!(closer > 1000, "{closer}");
}

#[test]
fn random_boxes() {
    let (mut tried, mut decided, mut fine, mut nowhere) = (0, 0, 0, 0);
    let from = variable("SEED", 1);
    for seed in from..from + variable("MANY", 30_000) {
        let r = &mut Random(seed ^ 0x1A7E);
        let (tame, depth) = (r.below(2) == 0, 1 + r.below(4) as u32);
        let e = expression(r, depth, tame);
        let of = [random_interval(r, tame), random_interval(r, tame), random_interval(r, tame)];
        let whole = said(&e, &of);
        let (range, verdict, _) = whole;
        let shown = || format!("seed {seed}: {} over {of:?}", named(&e));
        for point in points(&of) {
            assert!(covers(whole, &e, &point), "{} at {point:?}", shown());
            let at: Vec<_> = point.iter().map(|v| Interval::point(*v)).collect();
            let only = said(&e, &at);
            assert!(covers(only, &e, &point), "{} only {point:?}", shown());
            assert!(single(only), "{} only {point:?}: {only:?}", shown());
        }
        tried += 1;
        decided += u32::from(verdict.may_hold != verdict.may_not_hold);
        fine += u32::from(!range.may_fail);
        nowhere += u32::from(range.values.is_none());
    }
    println!(
        "{tried} expressions, {decided} decided, {fine} without a fault, {nowhere} with no value"
    );
    assert!(decided > tried / 4 && fine > tried / 4 && nowhere > tried / 100);
}

/// One operation: its hull is the least there is, and it may fail only where it does.
#[test]
fn hulls_are_exact() {
    let hull = |e: &Expr<Slot>, of: &[Interval]| {
        let found: Vec<_> = points(of).iter().map(|p| e.eval(p)).collect();
        let values = || found.iter().filter_map(|v| v.as_ref().ok().copied());
        let values = values().min().zip(values().max()).map(interval);
        Range { values, may_fail: found.iter().any(Result::is_err) }
    };
    let texts = [
        "a + b",
        "a - b",
        "a * b",
        "a / b",
        "a // b",
        "ceil_div(a, b)",
        "a % 6",
        "a % -5",
        "a ** min(b, 9)",
        "-a",
        "abs(a)",
        "min(a, b)",
        "max(a, b)",
        "a < b",
        "a <= b",
        "a == b",
        "a != b",
        "a > b",
        "a >= b",
        "a and b",
        "a or b",
        "not a",
        "a if b else 1",
        "1 // a if b else 1",
    ];
    for text in texts {
        let e = read(text);
        for seed in 0..2_000 {
            let r = &mut Random(seed ^ 0x4A11);
            let mut side = || {
                let low = r.below(24) as i64 - 12;
                Interval { low, high: low + r.below(9) as i64 }
            };
            let of = [side(), side()];
            assert_eq!(e.range(&of), hull(&e, &of), "seed {seed}: {text} over {of:?}");
        }
    }
}

/// Boxes up to the ends of 64 bits, where nothing may panic.
#[test]
fn extreme_boxes_do_not_panic() {
    let ends = [MIN, MIN + 1, -2, -1, 0, 1, 2, MAX - 1, MAX];
    for seed in 0..variable("MANY", 30_000) {
        let r = &mut Random(seed ^ 0xE4D5);
        let depth = 1 + r.below(5) as u32;
        let e = expression(r, depth, false);
        let of = [0; 3].map(|_| {
            let (a, b) = (r.pick(&ends), r.pick(&ends));
            Interval { low: a.min(b), high: a.max(b) }
        });
        let whole = said(&e, &of);
        let corners =
            (0..8).map(|c| [0, 1, 2].map(|i| if c >> i & 1 == 0 { of[i].low } else { of[i].high }));
        for corner in corners {
            assert!(covers(whole, &e, &corner), "seed {seed}: {} over {of:?}", named(&e));
        }
    }
}

/// `Ratio` rounds with an overflow this far out.
#[test]
fn rounding_near_the_ends_of_128_bits() {
    let text = "(a * a * -2 + 1) / 5 // 1 < 0 and ceil_div((a * a - 1) * 2, 5) > 0";
    assert_eq!(read(text).holds(&[MIN]), Ok(true));
}
