//! What the source divides is a multiple of what it is divided by.

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_opencl::steps::{SymbolExpr, has_name};

use crate::domain;
use crate::draft::Draft;
use crate::found::{Found, in_problem};
use crate::share::{fit, in_brackets, product};

/// For a dividend and the names of its divisor the constants of the readings.
type Quotients<'v> = IndexMap<(String, Vec<String>), Vec<(&'v [i64], i64)>>;

/// Quotients of macros that count iterations or elements.
fn exact<'v>(draft: &Draft, all: &[(&'v [i64], &Found<'_>)]) -> Quotients<'v> {
    let mut exact = Quotients::new();
    for (values, found) in all {
        for count in &found.counts {
            quotients(count, &mut |a, b| {
                let parameter = |name: &str| draft.parameters.contains_key(name);
                let input =
                    |name: &str| draft.inputs.contains_key(name.strip_prefix('$').unwrap_or(name));
                let other = has_name(a, |name| !parameter(name) && !input(name))
                    || has_name(b, |name| !parameter(name));
                if !other && has_name(a, |_| true) && has_name(b, |_| true) {
                    // A quotient is a factor as a whole; in constraints `/` is exact.
                    let whole = || (1, vec![in_brackets(&b.to_string().replace("//", "/"))]);
                    let (constant, names) = factors(b).unwrap_or_else(whole);
                    let a = in_brackets(&a.to_string().replace("//", "/").replace('$', ""));
                    exact.entry((a, names)).or_default().push((values, constant));
                }
            });
        }
    }
    exact
}

/// Quotients of macros that count iterations or elements are to be exact.
pub(crate) fn divisions(draft: &mut Draft, structural: &[String], all: &[(&[i64], &Found<'_>)]) {
    let exact = exact(draft, all);
    let before = draft.constraints.len();
    let all = exact.keys().cloned().collect_vec();
    for ((a, mut names), constants) in exact {
        // A multiple of what is a multiple already.
        let less = a.trim_matches(['(', ')']).split_once(" * ");
        let implied = |(n, rest): (&str, &str)| {
            n.parse::<i64>().is_ok() && all.iter().any(|(other, by)| other == rest && *by == names)
        };
        if less.is_some_and(implied) {
            continue;
        }
        if let Some((constant, more)) = fit(structural, &constants) {
            names.extend(more);
            let text = format!("{a} % {} == 0", in_brackets(&product(constant, &names)));
            if !draft.constraints.contains(&text) {
                draft.constraints.push(text);
            }
        }
    }
    if draft.constraints.len() > before {
        draft.note("constraints: what the source divides by macros is a multiple of them");
    }
}

/// What the source divides by is no 0.
pub(crate) fn divisors(draft: &mut Draft, all: &[Found<'_>]) {
    let mut found = Vec::new();
    for number in all.iter().flat_map(|f| f.counts.iter().chain(&f.conditions)) {
        quotients(number, &mut |_, by| found.extend(in_problem(by, draft)));
    }
    for by in found.into_iter().unique_by(ToString::to_string) {
        let text = format!("{} > 0", in_brackets(&by.to_string()));
        if least(draft, &by).is_some_and(|least| least <= 0) && !draft.constraints.contains(&text) {
            draft.note(format!("constraints: {text}, as the source divides by it"));
            draft.constraints.push(text);
        }
    }
}

/// The least value over the proposed values of parameters, if it has no other names.
fn least(draft: &Draft, number: &SymbolExpr) -> Option<i64> {
    let mut names = Vec::new();
    number.names(&mut |name: &String| names.push(name.clone()));
    let names = names.into_iter().unique().collect_vec();
    let domains = names.iter().map(|name| Some(domain::values(draft.parameters.get(name)?)));
    let domains = domains.collect::<Option<Vec<_>>>().filter(|all| all.len() <= 2)?;
    let value = |values: Vec<i64>| {
        let places: Expr = number.resolve(&mut |n| names.iter().position(|m| m == n)).ok()?;
        places.eval(&values).ok()
    };
    domains.into_iter().multi_cartesian_product().filter_map(value).min()
}

/// A product of names and a number; `None` if it is none.
fn factors(number: &SymbolExpr) -> Option<(i64, Vec<String>)> {
    match number {
        Expr::Int(n) => Some((*n, Vec::new())),
        Expr::Name(name) => Some((1, vec![name.clone()])),
        Expr::Binary(BinaryOp::Mul, a, b) => {
            let ((a, mut names), (b, more)) = (factors(a)?, factors(b)?);
            names.extend(more);
            Some((a.checked_mul(b)?, names))
        }
        _ => None,
    }
}

fn quotients<'e>(number: &'e SymbolExpr, visit: &mut impl FnMut(&'e SymbolExpr, &'e SymbolExpr)) {
    match number {
        Expr::Binary(BinaryOp::FloorDiv | BinaryOp::Div, a, b) => visit(a, b),
        Expr::Call(tickbound_expr::Function::CeilDiv, parts) => {
            if let [a, b] = parts.as_slice() {
                visit(a, b);
            }
        }
        _ => {}
    }
    number.parts().for_each(|part| quotients(part, visit));
}
