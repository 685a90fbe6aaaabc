//! One number out of the numbers that different values of a symbol gave.
//!
//! The readings for the values of a symbol differ in numbers: `MWG // 2` for 2, `MWG // 4` for 4.
//! The general form `MWG // VWM` is found by laying the expressions beside each other: a constant
//! that is the same multiple of the value everywhere, or the same number divided by it, becomes
//! that. What was simplified away (`MWG` for 1) is checked by putting the value in.

use std::collections::HashMap;

use tickbound_expr::{BinaryOp, Expr, Function};

/// The numbers of a symbol's values, and which ones no general form covers.
pub(super) struct General {
    /// Holds for all values but the exceptions.
    pub form: Expr,
    /// Values with numbers of their own.
    pub exceptions: Vec<(i64, Expr)>,
}

/// Finds the form that covers the most values; there must be at least one number.
pub(super) fn general(symbol: &Expr, mut numbers: Vec<(i64, Expr)>) -> General {
    if numbers.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        let form = numbers.pop().map_or(Expr::Int(0), |(_, number)| number.simplified());
        return General { form, exceptions: Vec::new() };
    }
    let numbers: Vec<(i64, Expr)> = numbers.into_iter().map(|(v, e)| (v, e.simplified())).collect();
    let mut shapes: HashMap<Expr, Vec<usize>> = HashMap::new();
    for (i, (_, number)) in numbers.iter().enumerate() {
        shapes.entry(shape(number)).or_default().push(i);
    }
    let mut families: Vec<Vec<usize>> = shapes.into_values().collect();
    // The largest family first; among equals, the one with the latest value.
    families.sort_by_key(|family| std::cmp::Reverse((family.len(), family.last().copied())));
    let forms = families.iter().filter_map(|family| {
        let family = family.iter().map(|&i| (numbers[i].0, &numbers[i].1)).collect();
        unify(symbol, family)
    });
    let covered = |form: Expr| {
        let gives = |(v, number): &(i64, Expr)| gives(&form, symbol, *v, number);
        (numbers.iter().map(gives).collect::<Vec<bool>>(), form)
    };
    let many = |covered: &[bool]| covered.iter().filter(|covers| **covers).count();
    let best = forms.map(covered).reduce(|a, b| if many(&b.0) > many(&a.0) { b } else { a });
    let Some((covered, form)) = best.filter(|(covered, _)| many(covered) > 1) else {
        let form = numbers.last().map_or(Expr::Int(0), |(_, number)| number.clone());
        let exceptions = numbers.into_iter().filter(|(v, n)| !gives(&form, symbol, *v, n));
        return General { exceptions: exceptions.collect(), form };
    };
    let numbers = numbers.into_iter().zip(covered);
    let exceptions = numbers.filter(|(_, covers)| !covers).map(|(number, _)| number).collect();
    General { form, exceptions }
}

/// Whether a form is this number for this value of the symbol.
fn gives(form: &Expr, symbol: &Expr, value: i64, number: &Expr) -> bool {
    let gives_it = |put_in: Expr| !divides_by_zero(&put_in) && put_in.simplified() == *number;
    form == number || gives_it(put_in(form, symbol, value))
}

fn divides_by_zero(expr: &Expr) -> bool {
    let is_zero = |e: &Expr| match e {
        Expr::Int(n) => *n == 0,
        Expr::Name(_) => false,
        e => e.clone().simplified() == Expr::Int(0),
    };
    let divisor = match expr {
        Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem, _, b) => Some(&**b),
        Expr::Call(Function::CeilDiv, arguments) => arguments.get(1),
        _ => None,
    };
    divisor.is_some_and(is_zero) || expr.parts().any(divides_by_zero)
}

/// An expression with its constants left out.
fn shape(expr: &Expr) -> Expr {
    match expr {
        Expr::Int(_) => Expr::Int(0),
        _ => with_parts(expr, shape),
    }
}

fn with_parts(expr: &Expr, part: impl Fn(&Expr) -> Expr) -> Expr {
    expr.with_parts(|e| Some(part(e))).unwrap_or_else(|| expr.clone())
}

/// Expressions of one shape over the same names, each with the value that gave it.
type Family<'e> = Vec<(i64, &'e Expr)>;

/// The general form of a family.
fn unify(symbol: &Expr, family: Family<'_>) -> Option<Expr> {
    let (_, first) = *family.first()?;
    if family.iter().all(|(_, number)| *number == first) {
        return Some(first.clone());
    }
    match first {
        Expr::Int(_) => constant(symbol, &family),
        // Equal names are equal numbers; these differ.
        Expr::Name(_) => None,
        _ => {
            let mut which = 0..;
            first.with_parts(|_| {
                let which = which.next()?;
                let parts = family.iter().map(|(v, e)| Some((*v, e.parts().nth(which)?)));
                unify(symbol, parts.collect::<Option<_>>()?)
            })
        }
    }
}

/// Constants that differ: the same multiple of the value, or the same number divided by it.
fn constant(symbol: &Expr, family: &[(i64, &Expr)]) -> Option<Expr> {
    let pair = |(v, e): &(i64, &Expr)| match e {
        Expr::Int(n) => Some((*v, *n)),
        _ => None,
    };
    let pairs: Vec<(i64, i64)> = family.iter().map(pair).collect::<Option<_>>()?;
    let (value, number) = *pairs.first()?;
    if value == 0 {
        return None;
    }
    let factor = number / value;
    if pairs.iter().all(|(v, n)| v.checked_mul(factor) == Some(*n)) {
        let factor = Expr::Int(factor);
        return Some(Expr::binary(BinaryOp::Mul, factor, symbol.clone()).simplified());
    }
    let product = number.checked_mul(value)?;
    let divides = |(v, n): &(i64, i64)| *v > 0 && n.checked_mul(*v) == Some(product);
    pairs
        .iter()
        .all(divides)
        .then(|| Expr::binary(BinaryOp::FloorDiv, Expr::Int(product), symbol.clone()))
}

/// `form` with a value substituted for the symbol.
fn put_in(form: &Expr, symbol: &Expr, value: i64) -> Expr {
    if form == symbol {
        return Expr::Int(value);
    }
    with_parts(form, |e| put_in(e, symbol, value))
}

#[cfg(test)]
mod tests {
    use tickbound_expr::parse::parse;

    use super::*;

    const NAMES: [&str; 7] = ["S", "n", "d", "a", "b", "c", "w"];

    fn found(numbers: &[(i64, &str)]) -> String {
        let slot = |name: &String| NAMES.iter().position(|n| n == name);
        let read = |text: &str| parse(text).unwrap().resolve(&mut |n| slot(n)).unwrap();
        let shown = |e: &Expr| e.resolve(&mut |slot| NAMES.get(*slot)).unwrap().to_string();
        let numbers = numbers.iter().map(|(v, text)| (*v, read(text))).collect();
        let general = general(&Expr::Name(0), numbers);
        let exceptions = general.exceptions.iter().map(|(v, e)| format!("; {v}: {}", shown(e)));
        format!("{}{}", shown(&general.form), exceptions.collect::<String>())
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
