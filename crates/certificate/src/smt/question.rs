//! "Nothing finishes earlier" as one question in SMT-LIB 2.
//!
//! In goes an obligation and a time, out comes a text that asks for a valid configuration that
//! takes fewer ticks. It is made of the problem's own domains, constraints and expressions, over
//! the integers and linear ([`super::terms`]). A solver that answers `unsat` has proved that there
//! is none.

use std::fmt::Write;

use itertools::Itertools;
use tickbound_expr::Expr;
use tickbound_model::space::{Condition, Holds};

use super::terms::{SmtTerms, number, of_all};
use crate::refusal::Refusal;
use tickbound_timing::obligation::product::{Factor, TimeProduct, uncovered};
use tickbound_timing::obligation::{Obligation, TimePart};

/// Whether something takes fewer ticks than `time`.
///
/// # Errors
/// The text would be too long, or a stop.
pub fn question(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<String, Refusal> {
    let (problem, ticks) = space_and_ticks(obligation, stop)?;
    let time = number(i128::from(time));
    Ok(format!(
        "; Does a valid configuration take fewer ticks than claimed? The answer of a true claim is \
         unsat.\n(set-logic QF_LIA)\n{problem}(assert (< {ticks} {time}))\n(check-sat)\n"
    ))
}

/// The least time as the objective of a problem for `minimize`.
///
/// # Errors
/// The text would be too long, or a stop.
pub fn minimisation(
    obligation: &Obligation<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<String, Refusal> {
    let (problem, ticks) = space_and_ticks(obligation, stop)?;
    Ok(format!(
        "{problem}(declare-fun time () Int)\n(assert (= time {ticks}))\n(minimize time)\n\
         (check-sat)\n(get-objectives)\n(get-model)\n"
    ))
}

/// The parameters, conditions and definitions, and the run time as a term over these.
fn space_and_ticks(
    obligation: &Obligation<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<(String, String), Refusal> {
    let mut terms = SmtTerms::new(obligation, stop);
    let space = space(&mut terms, obligation)?;
    let ticks = ticks(&mut terms, obligation)?;
    Ok((format!("{space}; the time\n{}", terms.definitions()), ticks))
}

/// The parameters, and what a valid configuration satisfies.
pub fn space(terms: &mut SmtTerms<'_, '_>, obligation: &Obligation<'_>) -> Result<String, Refusal> {
    let mut text = String::new();
    for (place, values) in obligation.values.iter().enumerate() {
        let name = terms.parameter(place);
        let _ = writeln!(text, "(declare-fun {name} () Int)");
        let values = values.iter().map(|v| format!("(= {name} {})", number(i128::from(*v))));
        let _ = writeln!(text, "(assert {})", of_all("or", &values.collect_vec(), "false"));
    }
    for condition in &obligation.conditions {
        if let Some(holds) = holds(terms, obligation, condition)? {
            let _ = write!(text, "; {}\n{}(assert {holds})\n", condition.at, terms.definitions());
        }
    }
    Ok(text)
}

/// A condition as a term; `None` if it excludes nothing.
fn holds(
    terms: &mut SmtTerms<'_, '_>,
    obligation: &Obligation<'_>,
    condition: &Condition,
) -> Result<Option<String>, Refusal> {
    if let Some(e) = condition.truth() {
        return Ok(Some(terms.truth(e)?));
    }
    let mut over = condition.parameters.clone();
    over.sort_unstable();
    over.dedup();
    // The walk leaves out what this condition excludes, if it is over these parameters alone.
    let mut allowed = Vec::new();
    let mut some_excluded = false;
    let all: usize = over.iter().map(|p| obligation.values[*p].len()).product();
    terms.walk(&over, &mut |env, choice| match condition.outcome(obligation.problem, env)
        == Holds::No
    {
        true => some_excluded = true,
        false => allowed.push(choice),
    })?;
    some_excluded |= allowed.len() < all;
    Ok(some_excluded.then(|| of_all("or", &allowed, "false")))
}

/// The run time as a term.
fn ticks(terms: &mut SmtTerms<'_, '_>, obligation: &Obligation<'_>) -> Result<String, Refusal> {
    let time = &obligation.time;
    let mut group = vec![number(i128::from(time.start))];
    for part in &time.group {
        group.push(of_part(terms, part)?);
    }
    let group = terms.named(of_all("+", &group, "0"))?;
    let waves = terms.times(&time.waves, &group)?;
    let all = [number(i128::from(time.launch)), waves, of_part(terms, &time.finish)?];
    terms.named(of_all("+", &all, "0"))
}

fn of_part(terms: &mut SmtTerms<'_, '_>, part: &TimePart) -> Result<String, Refusal> {
    let products = part.products.iter().map(|p| of_product(terms, p));
    let products = products.collect::<Result<Vec<String>, Refusal>>()?;
    terms.named(of_all("+", &products, "0"))
}

/// A product as a term, the last factor first: each is there only if those before it are not 0.
pub fn of_product(terms: &mut SmtTerms<'_, '_>, product: &TimeProduct) -> Result<String, Refusal> {
    let constant = |f: &Factor| match f {
        Factor::Guard(..) | Factor::Phase(_) | Factor::Chain(_) => None,
        Factor::Count(e) | Factor::Amount(e) => terms.constant(e).filter(|n| *n >= 0),
    };
    let numbers: Vec<Option<i64>> = product.factors.iter().map(constant).collect();
    let number = numbers.iter().flatten().try_fold(1i128, |n, f| n.checked_mul(i128::from(*f)));
    let number = number.ok_or(Refusal::TooLarge("a number beyond 127 bits"))?;
    let mut term = number.to_string();
    let variable = product.factors.iter().zip(&numbers).filter(|(_, n)| n.is_none());
    for (factor, _) in variable.rev() {
        term = match factor {
            Factor::Guard(e, holds) => {
                let (yes, no) = if *holds { (term.as_str(), "0") } else { ("0", term.as_str()) };
                let guarded = format!("(ite {} {yes} {no})", terms.truth(e)?);
                terms.named(guarded)?
            }
            Factor::Count(e) | Factor::Amount(e) => times(terms, e, &term)?,
            Factor::Phase(_) => return uncovered(&product.at, "differs between items")?,
            Factor::Chain(_) => return uncovered(&product.at, "a chain of steps")?,
        };
    }
    Ok(term)
}

/// A factor times a term; if that is a number, the factor need not be taken apart.
fn times(terms: &mut SmtTerms<'_, '_>, e: &Expr, term: &str) -> Result<String, Refusal> {
    if term.starts_with('(') || !term.starts_with(|c: char| c.is_ascii_digit()) {
        return terms.times(e, term);
    }
    let own = terms.int(e)?;
    terms.named(format!("(* {term} (ite (>= {own} 0) {own} 0))"))
}
