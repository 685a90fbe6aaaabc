//! Data for a step: values that fulfil its constraint.

use std::collections::BTreeMap;

use crate::constant::{LESS, integer, worked_out};
use crate::constraint::simplify::{Gone, conjunction};
use crate::constraint::{DataTerm, Literal};
use crate::symbol::{Cell, NameId, SymbolId, Symbols};

/// What a step has settled. All terms are made of constants alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// The data at names.
    pub data: BTreeMap<NameId, DataTerm>,
    /// The cells after the step that it writes.
    pub after: BTreeMap<Cell, DataTerm>,
    /// What is known of functions and predicates.
    pub facts: Vec<Literal>,
}

/// Values for everything in `literals` that has none, if there are some, functions and predicates
/// being what the literals demand. Cells before the step must have been replaced by what they
/// hold. What is left open gets constants from `fresh`; so do those of `names` of which no
/// literal speaks.
///
/// In simplest form the least term of a class represents it, so that a class with a constant gives
/// its value to the others. Of a class without any, one leaf gets a fresh constant: a model of the
/// rest with one value more.
pub fn settle(
    literals: &[Literal],
    names: &[NameId],
    symbols: &mut Symbols,
    fresh: &mut dyn FnMut(&mut Symbols) -> SymbolId,
) -> Option<Settled> {
    let mut settled = Settled::default();
    let mut all = literals.to_vec();
    loop {
        all = all.iter().map(|l| worked_out_in(l, symbols)).collect();
        all = conjunction(&all, &Gone::default())?.literals().to_vec();
        let mut found = BTreeMap::new();
        for literal in &all {
            let Literal::Equal(a, b) = literal else { continue };
            for (leaf, value) in [(a, b), (b, a)] {
                if is_open(leaf) && value.leaf(&is_open).is_none() {
                    found.entry(leaf.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        if found.is_empty() {
            let Some(open) = all.iter().find_map(|literal| literal.leaf(is_open)) else { break };
            found.insert(open.clone(), DataTerm::Constant(fresh(symbols)));
        }
        let replace = |leaf: &DataTerm| found.get(leaf).cloned().unwrap_or_else(|| leaf.clone());
        all = all.iter().map(|l| l.map(&mut { replace })).collect();
        for (leaf, value) in found {
            match leaf {
                DataTerm::Datum(name) => _ = settled.data.insert(name, value),
                DataTerm::After(cell) => _ = settled.after.insert(cell, value),
                _ => {}
            }
        }
    }
    for name in names {
        let entry = settled.data.entry(*name);
        entry.or_insert_with(|| DataTerm::Constant(fresh(symbols)));
    }
    settled.facts = all;
    Some(settled)
}

/// A leaf without a value.
fn is_open(term: &DataTerm) -> bool {
    matches!(
        term,
        DataTerm::Datum(_) | DataTerm::After(_) | DataTerm::Before(_) | DataTerm::Some(_)
    )
}

/// With arithmetic and order of integers replaced by their results.
fn worked_out_in(literal: &Literal, symbols: &mut Symbols) -> Literal {
    let literal = literal.with(&|p| p, |t| value_of(t, symbols));
    let Literal::Predicate(holds, p, terms) = &literal else { return literal };
    let [a, b] = &terms[..] else { return literal };
    match (known(a, symbols), known(b, symbols)) {
        // `a = a` holds always, `a != a` never.
        (Some(x), Some(y)) if symbols.word(*p) == LESS => match (x < y) == *holds {
            true => Literal::Equal(a.clone(), a.clone()),
            false => Literal::Different(a.clone(), a.clone()),
        },
        _ => literal,
    }
}

/// The integer that a term is, if it is one.
fn known(term: &DataTerm, symbols: &Symbols) -> Option<i64> {
    if let DataTerm::Constant(c) = term { integer(symbols.word(*c)) } else { None }
}

fn value_of(term: &DataTerm, symbols: &mut Symbols) -> DataTerm {
    let DataTerm::Call(f, terms) = term else { return term.clone() };
    let terms: Vec<DataTerm> = terms.iter().map(|t| value_of(t, symbols)).collect();
    let integers: Option<Vec<i64>> = terms.iter().map(|t| known(t, symbols)).collect();
    let result = integers.and_then(|all| worked_out(symbols.word(*f), &all));
    match result {
        Some(k) => DataTerm::Constant(symbols.intern(&k.to_string())),
        None => DataTerm::Call(*f, terms.into()),
    }
}
