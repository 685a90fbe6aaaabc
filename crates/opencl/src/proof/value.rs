//! What variables hold while a kernel is walked for proofs.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::terms::{Term, Terms};
use crate::ast::VariableId;
use crate::read::Integer;

/// What an expression is worth.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Worth {
    /// A whole number, exactly.
    Int(Term),
    /// A pointer: one of these.
    Pointer(Rc<Vec<Pointee>>),
    /// Known whole numbers in a vector, a structure or an array, by the byte where they begin.
    Parts(Rc<BTreeMap<i64, (Integer, Term)>>),
    /// Nothing is known.
    Other,
}

/// One of the places that a pointer may point to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pointee {
    /// When it does.
    pub when: Term,
    /// What it points to.
    pub target: PointeeTarget,
    /// Bytes behind its beginning.
    pub offset: Term,
}

/// What a pointer points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointeeTarget {
    /// An array, by its place.
    Array(usize),
    /// A private variable.
    Private(VariableId),
    /// Nothing: it is null.
    Null,
    /// What was not read.
    Unread,
}

/// The values of all variables on a path, and whether the path is still walked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Now {
    /// By variable.
    pub values: BTreeMap<VariableId, Worth>,
    /// Whether the function has returned.
    pub returned: Term,
    /// Whether the loop or `switch` around was left.
    pub broken: Term,
    /// Whether the iteration was ended.
    pub continued: Term,
    /// What the function returned.
    pub result: Option<Worth>,
}

/// Variables that are written.
pub(super) type Written = BTreeSet<VariableId>;

/// One or the other.
pub(super) fn chosen(terms: &mut Terms, c: Term, a: &Worth, b: &Worth) -> Worth {
    if a == b {
        return a.clone();
    }
    match (a, b) {
        (Worth::Int(a), Worth::Int(b)) => Worth::Int(terms.choice(c, *a, *b)),
        (Worth::Pointer(a), Worth::Pointer(b)) => {
            let mut all: Vec<Pointee> = Vec::new();
            let otherwise = terms.not(c);
            for (side, pointees) in [(c, a), (otherwise, b)] {
                for pointee in pointees.iter() {
                    let when = terms.and(side, pointee.when);
                    add_pointee(terms, &mut all, Pointee { when, ..pointee.clone() });
                }
            }
            Worth::Pointer(Rc::new(all))
        }
        (Worth::Parts(a), Worth::Parts(b)) => {
            let both = a.iter().filter_map(|(at, (ty, x))| {
                let (other, y) = b.get(at)?;
                (ty == other).then_some((*at, *ty, *x, *y))
            });
            let both: Vec<_> = both.collect();
            let parts = both.into_iter().map(|(at, ty, x, y)| (at, (ty, terms.choice(c, x, y))));
            Worth::Parts(Rc::new(parts.collect()))
        }
        _ => Worth::Other,
    }
}

/// Adds a place; the same target is kept once.
fn add_pointee(terms: &mut Terms, all: &mut Vec<Pointee>, new: Pointee) {
    if terms.constant(new.when) == Some(0) {
        return;
    }
    match all.iter_mut().find(|old| old.target == new.target) {
        Some(old) => {
            old.offset = terms.choice(old.when, old.offset, new.offset);
            old.when = terms.or(old.when, new.when);
        }
        None => all.push(new),
    }
}

/// What holds after two paths have come together.
pub(super) fn merged(terms: &mut Terms, c: Term, a: &Now, b: &Now) -> Now {
    let mut values = BTreeMap::new();
    for (id, x) in &a.values {
        if let Some(y) = b.values.get(id) {
            values.insert(*id, chosen(terms, c, x, y));
        }
    }
    let result = match (&a.result, &b.result) {
        (Some(x), Some(y)) => Some(chosen(terms, c, x, y)),
        (x, y) => x.clone().or_else(|| y.clone()),
    };
    Now {
        values,
        returned: terms.choice(c, a.returned, b.returned),
        broken: terms.choice(c, a.broken, b.broken),
        continued: terms.choice(c, a.continued, b.continued),
        result,
    }
}
