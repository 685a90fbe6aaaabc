use std::collections::HashMap;

use proptest::prelude::*;

use super::{AtomKind, Poly, PolyTerms, WideInterval};
use crate::read::trips::trips;
use crate::steps::Dependence;

/// An expression over four variables, as it is written.
#[derive(Debug, Clone)]
enum Written {
    Int(i64),
    Name(usize),
    Two(Op, Box<Written>, Box<Written>),
    Choice(Box<Written>, Box<Written>, Box<Written>),
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Less,
    Equal,
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    Left,
    Right,
}

const OPS: [Op; 16] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::Rem,
    Op::Min,
    Op::Max,
    Op::Less,
    Op::Equal,
    Op::And,
    Op::Or,
    Op::BitAnd,
    Op::BitOr,
    Op::BitXor,
    Op::Left,
    Op::Right,
];

/// What the four variables may be: names of the launch, a macro, and something of either sign.
const RANGES: [(&str, i64, i64); 4] =
    [("$lid_0", 0, 7), ("$local_0", 1, 8), ("N", 1, 20), ("z", -9, 9)];

fn written() -> impl Strategy<Value = Written> {
    let leaf = prop_oneof![(-9i64..17).prop_map(Written::Int), (0usize..4).prop_map(Written::Name)];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            6 => (0usize..OPS.len(), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Written::Two(OPS[op], Box::new(a), Box::new(b))),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(c, a, b)| Written::Choice(Box::new(c), Box::new(a), Box::new(b))),
        ]
    })
}

/// Values of the four variables; the item's id is below the group's size.
fn values() -> impl Strategy<Value = [i64; 4]> {
    (0i64..8, 1i64..=8, 1i64..=20, -9i64..=9)
        .prop_map(|(lid, local, n, z)| [lid % local, local, n, z])
}

/// C's value, in 64 bits; `None` where it has none.
fn run(e: &Written, values: &[i64; 4]) -> Option<i64> {
    Some(match e {
        Written::Int(v) => *v,
        Written::Name(i) => values[*i],
        Written::Choice(c, a, b) => {
            // Both have to have a value: the walk computes both.
            let (a, b) = (run(a, values)?, run(b, values)?);
            if run(c, values)? != 0 { a } else { b }
        }
        Written::Two(op, a, b) => {
            let (a, b) = (run(a, values)?, run(b, values)?);
            match op {
                Op::Add => a.checked_add(b)?,
                Op::Sub => a.checked_sub(b)?,
                Op::Mul => a.checked_mul(b)?,
                Op::Div => a.checked_div(b)?,
                Op::Rem => a.checked_rem(b)?,
                Op::Min => a.min(b),
                Op::Max => a.max(b),
                Op::Less => i64::from(a < b),
                Op::Equal => i64::from(a == b),
                Op::And => i64::from(a != 0 && b != 0),
                Op::Or => i64::from(a != 0 || b != 0),
                Op::BitAnd => a & b,
                Op::BitOr => a | b,
                Op::BitXor => a ^ b,
                Op::Left if (0..8).contains(&b) => a.checked_mul(1 << b)?,
                Op::Right if (0..8).contains(&b) => a >> b,
                Op::Left | Op::Right => return None,
            }
        }
    })
}

/// The names, as the reader makes them.
fn names(terms: &mut PolyTerms) -> [Poly; 4] {
    let range = |i: usize| WideInterval::new(RANGES[i].1, RANGES[i].2);
    let local = terms.name(RANGES[1].0, range(1), Dependence::Uniform, Vec::new());
    let below = local.sub(&Poly::int(1)).unwrap();
    let lid = terms.name(RANGES[0].0, range(0), Dependence::Item, vec![below]);
    let n = terms.name(RANGES[2].0, range(2), Dependence::Uniform, Vec::new());
    let z = terms.name(RANGES[3].0, range(3), Dependence::Uniform, Vec::new());
    [lid, local, n, z]
}

fn symbolic(terms: &mut PolyTerms, e: &Written, names: &[Poly; 4]) -> Poly {
    match e {
        Written::Int(v) => Poly::int(*v),
        Written::Name(i) => names[*i].clone(),
        Written::Choice(c, a, b) => {
            let c = symbolic(terms, c, names);
            let c = terms.truth(&c);
            let (a, b) = (symbolic(terms, a, names), symbolic(terms, b, names));
            terms.choice(&c, &a, &b)
        }
        Written::Two(op, a, b) => {
            let (a, b) = (symbolic(terms, a, names), symbolic(terms, b, names));
            match op {
                Op::Add => terms.add(&a, &b),
                Op::Sub => terms.sub(&a, &b),
                Op::Mul => terms.mul(&a, &b),
                Op::Div => terms.truncated_quotient(&a, &b),
                Op::Rem => terms.truncated_remainder(&a, &b),
                Op::Min => terms.min(&a, &b),
                Op::Max => terms.max(&a, &b),
                Op::Less => terms.less(&a, &b),
                Op::Equal => terms.equal(&a, &b),
                Op::And | Op::Or => {
                    let (a, b) = (terms.truth(&a), terms.truth(&b));
                    if matches!(op, Op::And) { terms.and(&a, &b) } else { terms.or(&a, &b) }
                }
                Op::BitAnd => terms.bit_and(&a, &b),
                Op::BitOr => terms.bit_or(&a, &b),
                Op::BitXor => terms.bit_xor(&a, &b),
                Op::Left => terms.shift_left(&a, &b),
                Op::Right => terms.shift_right(&a, &b),
            }
        }
    }
}

/// The value of what is printed, if it can be.
fn printed(terms: &PolyTerms, poly: &Poly, values: &[i64; 4]) -> Option<i64> {
    let number = terms.number(poly)?;
    // Through the text, so that printing is tested as well.
    let text = number.to_string().replace('$', "");
    let parsed = tickbound_expr::parse::parse(&text).unwrap();
    let at = |name: &String| RANGES.iter().position(|r| r.0.trim_start_matches('$') == *name);
    Some(parsed.resolve(&mut |name| at(name)).unwrap().eval(values).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn canonical_forms_have_the_value_of_what_was_written(e in written(), values in values()) {
        let Some(expected) = run(&e, &values) else { return Ok(()) };
        let mut terms = PolyTerms::new();
        let names = names(&mut terms);
        let poly = symbolic(&mut terms, &e, &names);
        if let Some(value) = printed(&terms, &poly, &values) {
            prop_assert_eq!(value, expected, "{:?}", terms.number(&poly).map(|n| n.to_string()));
        }
        let range = terms.interval(&poly);
        prop_assert!(range.contains(expected), "{range:?} {expected}");
        if terms.never_negative(&poly) {
            prop_assert!(expected >= 0);
        }
        if terms.negative_always(&poly) {
            prop_assert!(expected < 0);
        }
    }

    #[test]
    fn facts_decide_only_what_follows(
        fact in written(), e in written(), values in values(),
    ) {
        let (Some(holds), Some(expected)) = (run(&fact, &values), run(&e, &values)) else {
            return Ok(());
        };
        if holds == 0 {
            return Ok(());
        }
        let mut terms = PolyTerms::new();
        let names = names(&mut terms);
        let fact = symbolic(&mut terms, &fact, &names);
        let fact = terms.truth(&fact);
        terms.assume(&fact);
        let poly = symbolic(&mut terms, &e, &names);
        if let Some(value) = printed(&terms, &poly, &values) {
            prop_assert_eq!(value, expected);
        }
    }

    #[test]
    fn substitution_is_evaluation_elsewhere(e in written(), by in written(), values in values()) {
        let Some(moved) = run(&by, &values) else { return Ok(()) };
        let mut other = values;
        other[3] = moved;
        if !(-9..=9).contains(&moved) {
            return Ok(());
        }
        let Some(expected) = run(&e, &other) else { return Ok(()) };
        let mut terms = PolyTerms::new();
        let names = names(&mut terms);
        let poly = symbolic(&mut terms, &e, &names);
        let by = symbolic(&mut terms, &by, &names);
        let atom = names[3].as_atom().unwrap();
        let poly = terms.substitute(&poly, &HashMap::from([(atom, by)]));
        if let Some(value) = printed(&terms, &poly, &values) {
            prop_assert_eq!(value, expected);
        }
    }

    #[test]
    fn iterations_are_those_of_the_loop(
        start in written(), end in written(), step in 1i64..5, up: bool, op in 0usize..5,
        values in values(),
    ) {
        let (Some(from), Some(to)) = (run(&start, &values), run(&end, &values)) else {
            return Ok(());
        };
        if from.abs() > 500 || to.abs() > 500 {
            return Ok(());
        }
        let step = if up { step } else { -step };
        let holds = |v: i64| match op {
            0 => v < to,
            1 => v <= to,
            2 => v > to,
            3 => v >= to,
            _ => v != to,
        };
        let (mut v, mut iterations) = (from, 0);
        while holds(v) && iterations < 2000 {
            v += step;
            iterations += 1;
        }
        if iterations >= 2000 {
            return Ok(()); // a loop without end
        }
        let mut terms = PolyTerms::new();
        let names = names(&mut terms);
        let (a, b) = (symbolic(&mut terms, &start, &names), symbolic(&mut terms, &end, &names));
        let iteration = terms.counter(WideInterval::new(0, i64::MAX), WideInterval::new(0, 9), Vec::new());
        let distance = terms.mul(&iteration, &Poly::int(step));
        let v = terms.add(&a, &distance);
        let condition = match op {
            0 => terms.less(&v, &b),
            1 => { let c = terms.less(&b, &v); terms.not(&c) }
            2 => terms.less(&b, &v),
            3 => { let c = terms.less(&v, &b); terms.not(&c) }
            _ => { let c = terms.equal(&v, &b); terms.not(&c) }
        };
        if let Some(count) = trips(&mut terms, &condition, iteration.as_atom().unwrap())
            && let Some(value) = printed(&terms, &count, &values)
        {
            prop_assert_eq!(value, iterations);
        }
    }
}

#[test]
fn equal_values_have_equal_forms() {
    let mut terms = PolyTerms::new();
    let [lid, local, n, z] = names(&mut terms);
    let same = |a: Poly, b: Poly| assert_eq!(a, b);
    // (lid + local * n) / local = n, and the remainder is lid
    let product = terms.mul(&local, &n);
    let sum = terms.add(&lid, &product);
    same(terms.quotient(&sum, &local), n.clone());
    same(terms.remainder(&sum, &local), lid.clone());
    // n / 2 / 2 = n / 4
    let half = terms.quotient(&n, &Poly::int(2));
    same(terms.quotient(&half, &Poly::int(2)), terms.quotient(&n, &Poly::int(4)));
    // z & 7 = z % 8
    same(terms.bit_and(&z, &Poly::int(7)), terms.remainder(&z, &Poly::int(8)));
    // min(z + 1, n + 1) = min(n, z) + 1
    let (a, b) = (terms.add(&z, &Poly::int(1)), terms.add(&n, &Poly::int(1)));
    let least = terms.min(&n, &z);
    same(terms.min(&a, &b), terms.add(&least, &Poly::int(1)));
    // lid < local always
    same(terms.less(&lid, &local), Poly::int(1));
    // 3 n < 9 exactly if n < 3
    let triple = terms.mul(&n, &Poly::int(3));
    same(terms.less(&triple, &Poly::int(9)), terms.less(&n, &Poly::int(3)));
    // (n << 3) | (lid & 7) = 8 n + lid
    let shifted = terms.shift_left(&n, &Poly::int(3));
    let low = terms.bit_and(&lid, &Poly::int(7));
    same(terms.bit_or(&shifted, &low), terms.add(&shifted, &low));
}

#[test]
fn what_does_not_fit_is_a_leaf() {
    let mut terms = PolyTerms::new();
    let [_, _, n, _] = names(&mut terms);
    let large = terms.mul(&n, &Poly::int(i64::MAX));
    let larger = terms.add(&large, &large);
    assert!(matches!(terms.kind_of(&larger), Some(AtomKind::Leaf(_))));
    assert!(terms.number(&larger).is_none());
}
