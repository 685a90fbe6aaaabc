//! An obligation as a text in SMT-LIB 2: questions for each of its cases.
//!
//! The text defines the fault once, as a function of the numbers that configurations decide; each
//! question asks whether it can happen for the numbers of one case. So the cases are there to be
//! read, and a solver that finds every question unsatisfiable has proved the obligation without
//! the simplifications of this crate.
//!
//! Numbers that wrap around make such questions hard. Where ranges show that they fit their type
//! in all cases, `fault` has them as they are, and a second function, `wraps`, states that one of
//! them does not fit: where both are unsatisfiable, the obligation holds.
//!
//! Solvers do not see that two addresses are equal only if their digits are. So a question about a
//! race is cut: it cannot hold with different first digits; nor with equal first digits and
//! different second ones; and so on; nor with all of them equal. Any digits will do for that, in
//! any order; those of greater factors come first.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use tickbound_opencl::proof::terms::{MOST, Node, TermId, Terms, VariableKind, type_range};
use z3::ast::Bool;

use crate::answer::SafetyClaim;
use crate::classes::{name_of, number_kind};
use crate::obligations::SafetyObligation;
use crate::ranges::RangeProof;
use crate::smt::SmtQuestion;

/// Most cases for which questions with terms of which only bounds are known are tried.
const MAX_TRIED: usize = 5000;
/// Most time to try one.
const MAX_QUESTION: Duration = Duration::from_secs(1);

/// The questions of an obligation, for the values of its numbers in each case; `None` if some may
/// be satisfiable, as only bounds are known of operations on bits and of iterated numbers.
pub fn question_text(
    terms: &Terms,
    obligation: &SafetyObligation,
    kinds: &[VariableKind],
    cases: &[&Vec<i64>],
) -> Option<String> {
    let mut terms = terms.clone();
    let numbers: Vec<TermId> =
        kinds.iter().map(|kind| terms.named(kind.clone(), (-MOST, MOST))).collect();
    let below = ids_below(&mut terms, obligation, kinds, &numbers);
    let (mut fitting, mut outside) = (HashMap::new(), None);
    for (wrap, number, out) in wraps(&mut terms, obligation) {
        if never(&terms, obligation, out, kinds, cases) {
            // Numbers inside come before what wraps them.
            let number = terms.replaced_with(number, &mut fitting);
            fitting.insert(wrap, number);
            outside = Some(outside.map_or(out, |before| terms.or(before, out)));
        }
    }
    let fitted = obligation.replaced(&mut terms, fitting);
    let fault = [fitted.given.as_slice(), &fitted.faults, &below].concat();
    let wraps = outside.map(|outside| [obligation.given.clone(), below, vec![outside]].concat());
    let mut text = String::from("(set-logic QF_NIA)\n");
    let own = (numbers.as_slice(), kinds);
    let all = wraps.iter().map(|wraps| ("wraps", wraps)).chain([("fault", &fault)]);
    for (name, conditions) in all {
        if !define(&mut text, &mut terms, own, (name, conditions), cases) {
            return None;
        }
        for values in cases {
            let _ = writeln!(text, "(push 1)\n{}", call(name, values));
            if name == "fault" {
                for (first, second) in digits(&mut terms, &fitted, &numbers, values) {
                    let equal = format!("(= t{} t{})", first.0, second.0);
                    let _ = writeln!(text, "(push 1)\n(assert (not {equal}))\n(check-sat)");
                    let _ = writeln!(text, "(pop 1)\n(assert {equal})");
                }
            }
            text += "(check-sat)\n(pop 1)\n";
        }
    }
    Some(text)
}

/// The variables that the address of an access consists of, by the size of their factors in a
/// case, each with that of the other item.
fn digits(
    terms: &mut Terms,
    obligation: &SafetyObligation,
    numbers: &[TermId],
    values: &[i64],
) -> Vec<(TermId, TermId)> {
    let [(address, _), _] = obligation.touched.as_slice() else { return Vec::new() };
    let ints: Vec<TermId> = values.iter().map(|value| terms.int((*value).into())).collect();
    let mut by: HashMap<TermId, TermId> = numbers.iter().copied().zip(ints).collect();
    let address = terms.replaced_with(*address, &mut by);
    let twins: HashMap<TermId, TermId> = obligation.twins.iter().copied().collect();
    let digit = |(product, factor): (Vec<TermId>, i128)| {
        let [first] = product.as_slice() else { return None };
        Some((factor.unsigned_abs(), *first, *twins.get(first).filter(|twin| *twin != first)?))
    };
    let mut digits: Vec<_> = terms.sum_of(address).into_iter().filter_map(digit).collect();
    digits.sort_by(|a, b| b.cmp(a));
    digits.into_iter().map(|(_, first, second)| (first, second)).collect()
}

/// The line with which a question asks for a case.
pub fn call(function: &str, values: &[i64]) -> String {
    let number = |value: &i64| match value {
        0.. => format!(" {value}"),
        _ => format!(" (- {})", value.unsigned_abs()),
    };
    match values {
        [] => format!("(assert {function})"),
        _ => format!("(assert ({function}{}))", values.iter().map(number).collect::<String>()),
    }
}

/// That ids are below how many there are.
fn ids_below(
    terms: &mut Terms,
    obligation: &SafetyObligation,
    kinds: &[VariableKind],
    numbers: &[TermId],
) -> Vec<TermId> {
    let mut below = Vec::new();
    for variable in terms.inside(&obligation.roots()) {
        let Node::Variable(index) = terms.node(variable) else { continue };
        let kind = &terms.variables[*index as usize].kind;
        let number = number_kind(kind);
        if let Some(place) = kinds.iter().position(|known| *known == number && known != kind) {
            below.push(terms.less(variable, numbers[place]));
        }
    }
    below
}

/// The numbers that may wrap around: what they wrap, and that it does not fit.
fn wraps(terms: &mut Terms, obligation: &SafetyObligation) -> Vec<(TermId, TermId, TermId)> {
    let mut wraps = Vec::new();
    let conditions = [obligation.given.as_slice(), &obligation.faults].concat();
    for term in terms.inside(&conditions) {
        let Node::Wrap(bits, signed, number) = *terms.node(term) else { continue };
        let (low, high) = type_range(bits, signed);
        let (low, high) = (terms.int(low), terms.int(high));
        let (before, behind) = (terms.less(number, low), terms.less(high, number));
        wraps.push((term, number, terms.or(before, behind)));
    }
    wraps
}

/// Whether ranges show for all cases that a condition cannot hold.
fn never(
    terms: &Terms,
    obligation: &SafetyObligation,
    condition: TermId,
    kinds: &[VariableKind],
    cases: &[&Vec<i64>],
) -> bool {
    let claim = SafetyClaim::Overflow;
    let obligation = SafetyObligation { claim, faults: vec![condition], ..obligation.clone() };
    let mut ranges = RangeProof::new(terms, &obligation, kinds);
    cases.iter().all(|values| ranges.as_mut().is_some_and(|ranges| ranges.holds(values)))
}

/// Adds the definition of a function: whether conditions hold, by the numbers. False if they may
/// hold for some case.
fn define(
    text: &mut String,
    terms: &mut Terms,
    (numbers, kinds): (&[TermId], &[VariableKind]),
    (name, conditions): (&str, &[TermId]),
    cases: &[&Vec<i64>],
) -> bool {
    let mut question = SmtQuestion::new(terms, conditions, MAX_QUESTION);
    let names: Vec<String> = numbers.iter().map(|n| question.constant_name(*n)).collect();
    for (name, kind) in names.iter().zip(kinds) {
        let _ = writeln!(text, "; {name}: {}", name_of(kind).unwrap_or_default());
    }
    for leaf in question.leaf_names().filter(|leaf| !names.contains(leaf)) {
        let declared = format!("(declare-fun {leaf} () Int)\n");
        if !text.contains(&declared) {
            *text += &declared;
        }
    }
    let parameters: Vec<String> = names.iter().map(|name| format!("({name} Int)")).collect();
    let holds = Bool::and(&question.asserted());
    let _ = writeln!(text, "(define-fun {name} ({}) Bool\n{holds})", parameters.join(" "));
    let mut tried = cases.iter().take(MAX_TRIED);
    !question.is_loose()
        || cases.len() <= MAX_TRIED && tried.all(|values| question.never_with(numbers, values))
}
