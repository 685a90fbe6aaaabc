//! One number out of the numbers that different values of a symbol gave.
//!
//! Where a symbol was put in as a number, the readings for its values differ in just these numbers:
//! `MWG // 2` for 2, `MWG // 4` for 4. The general form `MWG // VWM` is found by laying the expressions beside
//! each other: a constant that is the same multiple of the value everywhere, or the same
//! number divided by it, becomes that. What was simplified away (`MWG` for 1) is checked by putting the value in.

use std::collections::HashMap;

use tickbound_model::Expr;
use tickbound_model::expr::{BinaryOp, Function};

/// The numbers of a symbol's values, and which ones no general form covers.
pub(super) struct General {
    /// Holds for all values but the exceptions.
    pub form: Expr<String>,
    /// Values with numbers of their own.
    pub exceptions: Vec<(i64, Expr<String>)>,
}

/// Finds the form that covers the most values; there must be at least one number.
pub(super) fn general(symbol: &Expr<String>, numbers: Vec<(i64, Expr<String>)>) -> General {
    let numbers: Vec<(i64, Expr<String>)> =
        numbers.into_iter().map(|(v, e)| (v, e.simplified())).collect();
    let mut shapes: HashMap<Expr<String>, Vec<usize>> = HashMap::new();
    for (i, (_, number)) in numbers.iter().enumerate() {
        shapes.entry(shape(number)).or_default().push(i);
    }
    let mut families: Vec<Vec<usize>> = shapes.into_values().collect();
    // The largest family first; among equals, the one with the latest value.
    families.sort_by_key(|family| std::cmp::Reverse((family.len(), family.last().copied())));
    let forms = families.iter().filter_map(|family| {
        let family: Vec<&(i64, Expr<String>)> = family.iter().map(|&i| &numbers[i]).collect();
        unify(symbol, &family)
    });
    let covered = |form: &Expr<String>| {
        numbers.iter().filter(|(v, number)| gives(form, symbol, *v, number)).count()
    };
    let best =
        forms.map(|form| (covered(&form), form)).reduce(|a, b| if b.0 > a.0 { b } else { a });
    let last = numbers.last().map(|(_, number)| (1, number.clone()));
    let (_, form) = best.filter(|(n, _)| *n > 1).or(last).unwrap_or((0, Expr::Int(0)));
    let exceptions =
        numbers.into_iter().filter(|(v, number)| !gives(&form, symbol, *v, number)).collect();
    General { form, exceptions }
}

/// Whether a form is this number for this value of the symbol.
fn gives(form: &Expr<String>, symbol: &Expr<String>, value: i64, number: &Expr<String>) -> bool {
    let put_in = put_in(form, symbol, value);
    form == number || (!divides_by_zero(&put_in) && put_in.simplified() == *number)
}

/// Whether a divisor in it is zero.
fn divides_by_zero(expr: &Expr<String>) -> bool {
    let is_zero = |e: &Expr<String>| e.clone().simplified() == Expr::Int(0);
    match expr {
        Expr::Int(_) | Expr::Name(_) => false,
        Expr::Neg(a) | Expr::Not(a) => divides_by_zero(a),
        Expr::Binary(op, a, b) => {
            let divides = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem);
            divides && is_zero(b) || divides_by_zero(a) || divides_by_zero(b)
        }
        Expr::Conditional(c, a, b) => [c, a, b].into_iter().any(|e| divides_by_zero(e)),
        Expr::Call(function, args) => {
            *function == Function::CeilDiv && args.get(1).is_some_and(is_zero)
                || args.iter().any(divides_by_zero)
        }
    }
}

/// An expression with its constants left out.
fn shape(expr: &Expr<String>) -> Expr<String> {
    let mut shape = expr.clone();
    blank(&mut shape);
    shape
}

fn blank(expr: &mut Expr<String>) {
    match expr {
        Expr::Int(n) => *n = 0,
        Expr::Name(_) => {}
        Expr::Neg(a) | Expr::Not(a) => blank(a),
        Expr::Binary(_, a, b) => {
            blank(a);
            blank(b);
        }
        Expr::Conditional(c, a, b) => [c, a, b].into_iter().for_each(|e| blank(e)),
        Expr::Call(_, args) => args.iter_mut().for_each(blank),
    }
}

/// The general form of expressions of one shape over the same names.
fn unify(symbol: &Expr<String>, family: &[&(i64, Expr<String>)]) -> Option<Expr<String>> {
    let (_, first) = family.first()?;
    if family.iter().all(|(_, number)| number == first) {
        return Some(first.clone());
    }
    let part = |of: fn(&Expr<String>) -> Option<&Expr<String>>| {
        let parts: Option<Vec<(i64, Expr<String>)>> =
            family.iter().map(|(v, e)| Some((*v, of(e)?.clone()))).collect();
        let parts = parts?;
        unify(symbol, &parts.iter().collect::<Vec<_>>()).map(Box::new)
    };
    Some(match first {
        Expr::Int(_) => constant(symbol, family)?,
        // Equal names are equal numbers; these differ.
        Expr::Name(_) => return None,
        Expr::Neg(_) => Expr::Neg(part(operand)?),
        Expr::Not(_) => Expr::Not(part(operand)?),
        Expr::Binary(op, ..) => Expr::Binary(*op, part(left)?, part(right)?),
        Expr::Conditional(..) => Expr::Conditional(part(condition)?, part(left)?, part(right)?),
        Expr::Call(function, arguments) => {
            let arguments = (0..arguments.len()).map(|i| {
                let parts: Option<Vec<(i64, Expr<String>)>> = family
                    .iter()
                    .map(|(v, e)| match e {
                        Expr::Call(_, args) => Some((*v, args.get(i)?.clone())),
                        _ => None,
                    })
                    .collect();
                unify(symbol, &parts?.iter().collect::<Vec<_>>())
            });
            Expr::Call(*function, arguments.collect::<Option<_>>()?)
        }
    })
}

fn operand(e: &Expr<String>) -> Option<&Expr<String>> {
    match e {
        Expr::Neg(a) | Expr::Not(a) => Some(a),
        _ => None,
    }
}

fn left(e: &Expr<String>) -> Option<&Expr<String>> {
    match e {
        Expr::Binary(_, a, _) | Expr::Conditional(_, a, _) => Some(a),
        _ => None,
    }
}

fn right(e: &Expr<String>) -> Option<&Expr<String>> {
    match e {
        Expr::Binary(_, _, b) | Expr::Conditional(_, _, b) => Some(b),
        _ => None,
    }
}

fn condition(e: &Expr<String>) -> Option<&Expr<String>> {
    match e {
        Expr::Conditional(c, ..) => Some(c),
        _ => None,
    }
}

/// Constants that differ: the same multiple of the value, or the same number divided by it.
fn constant(symbol: &Expr<String>, family: &[&(i64, Expr<String>)]) -> Option<Expr<String>> {
    let pairs: Vec<(i64, i64)> = family
        .iter()
        .map(|(v, e)| match e {
            Expr::Int(n) => Some((*v, *n)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let (value, number) = *pairs.first()?;
    if value == 0 {
        return None;
    }
    let factor = number / value;
    if pairs.iter().all(|(v, n)| v.checked_mul(factor) == Some(*n)) {
        let factor = Expr::Int(factor);
        return Some(binary(BinaryOp::Mul, factor, symbol.clone()).simplified());
    }
    let product = number.checked_mul(value)?;
    let divides = |(v, n): &(i64, i64)| *v > 0 && n.checked_mul(*v) == Some(product);
    pairs
        .iter()
        .all(divides)
        .then(|| binary(BinaryOp::FloorDiv, Expr::Int(product), symbol.clone()))
}

fn binary(op: BinaryOp, a: Expr<String>, b: Expr<String>) -> Expr<String> {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

/// `form` with a value put in for the symbol.
fn put_in(form: &Expr<String>, symbol: &Expr<String>, value: i64) -> Expr<String> {
    if form == symbol {
        return Expr::Int(value);
    }
    let of = |e: &Expr<String>| Box::new(put_in(e, symbol, value));
    match form {
        Expr::Int(_) | Expr::Name(_) => form.clone(),
        Expr::Neg(a) => Expr::Neg(of(a)),
        Expr::Not(a) => Expr::Not(of(a)),
        Expr::Binary(op, a, b) => Expr::Binary(*op, of(a), of(b)),
        Expr::Conditional(c, a, b) => Expr::Conditional(of(c), of(a), of(b)),
        Expr::Call(f, args) => {
            Expr::Call(*f, args.iter().map(|a| put_in(a, symbol, value)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use tickbound_model::parse::parse;

    use super::*;

    fn found(numbers: &[(i64, &str)]) -> String {
        let numbers = numbers.iter().map(|(v, text)| (*v, parse(text).unwrap())).collect();
        let general = general(&Expr::Name("S".into()), numbers);
        let exceptions = general.exceptions.iter().map(|(v, e)| format!("; {v}: {e}"));
        format!("{}{}", general.form, exceptions.collect::<String>())
    }

    #[test]
    fn forms() {
        assert_eq!(found(&[(1, "n"), (2, "n"), (4, "n")]), "n");
        assert_eq!(found(&[(1, "1"), (2, "2"), (4, "4")]), "S");
        assert_eq!(found(&[(1, "3"), (2, "6"), (4, "12")]), "3 * S");
        assert_eq!(found(&[(1, "8"), (2, "4"), (4, "2")]), "8 // S");
        assert_eq!(found(&[(1, "n"), (2, "n // 2"), (4, "n // 4")]), "n // S");
        assert_eq!(
            found(&[(1, "n // d"), (2, "n // 2 // d * 2 + 1"), (4, "n // 4 // d * 4 + 1")]),
            "n // S // d * S + 1; 1: n // d"
        );
        assert_eq!(found(&[(1, "n"), (2, "n // 2 * 2"), (4, "n // 4 * 4")]), "n // S * S");
        assert_eq!(found(&[(0, "0"), (1, "n")]), "n; 0: 0");
        assert_eq!(found(&[(0, "0"), (1, "1")]), "1; 0: 0");
        assert_eq!(found(&[(1, "a"), (2, "b"), (4, "c")]), "c; 1: a; 2: b");
        assert_eq!(
            found(&[(0, "w"), (1, "2 * w"), (2, "w // 2 * 2 + w"), (4, "w // 4 * 4 + w")]),
            "w // S * S + w; 0: w; 1: 2 * w"
        );
        assert_eq!(found(&[(2, "max(a, 2)"), (4, "max(a, 4)")]), "max(a, S)");
    }
}
