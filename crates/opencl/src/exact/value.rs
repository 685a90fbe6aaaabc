//! What variables hold while a kernel is walked for proofs.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::ast::{Type, VariableId};
use crate::proof::terms::{TermId, Terms};
use crate::read::Integer;

/// What an expression is worth.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Worth {
    /// A whole number, exactly.
    Int(TermId),
    Pointer(Pointees),
    /// Known whole numbers in a vector, a structure or an array, by the byte where they begin.
    Parts(Rc<BTreeMap<i64, (Integer, TermId)>>),
    /// Nothing is known.
    Other,
}

/// All places that a pointer may point to.
pub(super) type Pointees = Rc<Vec<Pointee>>;

impl Worth {
    /// The number that it is, or the offset of a pointer to one place.
    pub fn number(&self) -> Option<TermId> {
        match self {
            Worth::Int(term) => Some(*term),
            Worth::Pointer(all) if all.len() == 1 => Some(all[0].offset),
            _ => None,
        }
    }
}

/// One of the places that a pointer may point to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pointee {
    pub when: TermId,
    pub target: PointeeTarget,
    /// Bytes behind its beginning.
    pub offset: TermId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointeeTarget {
    /// An array, by its place.
    Array(usize),
    Private(VariableId),
    Null,
    Unread,
}

/// The values of all variables on a path, and whether the path is still walked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Now {
    pub values: BTreeMap<VariableId, Worth>,
    pub returned: TermId,
    /// Whether the loop or `switch` around was left.
    pub broken: TermId,
    pub continued: TermId,
    pub result: Option<Worth>,
}

pub(super) type Written = BTreeSet<VariableId>;

pub(super) fn chosen(terms: &mut Terms, c: TermId, a: &Worth, b: &Worth) -> Worth {
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
pub(super) fn merged(terms: &mut Terms, c: TermId, a: &Now, b: &Now) -> Now {
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

/// The integer type of a number; an event is one, too.
pub(super) fn whole_type(ty: &Type) -> Option<Integer> {
    match ty {
        Type::Other(name) if name == "event_t" => Some(Integer { bits: 64, signed: false }),
        ty => Integer::of(ty),
    }
}

/// Whether a variable has parts.
pub(super) fn is_aggregate(ty: &Type) -> bool {
    matches!(ty, Type::Vector(..) | Type::Array(..) | Type::Struct(..) | Type::Union(..))
}

/// The components that `xyz`, `s01` or `hi` name.
pub(super) fn lanes(member: &str, width: u8) -> Vec<u8> {
    let width = if width == 3 { 4 } else { width };
    match member {
        "lo" => (0..width / 2).collect(),
        "hi" => (width / 2..width).collect(),
        "even" => (0..width).step_by(2).collect(),
        "odd" => (1..width).step_by(2).collect(),
        _ => match member.strip_prefix(['s', 'S']) {
            Some(digits) => {
                let digit = |c: char| c.to_digit(16).and_then(|d| u8::try_from(d).ok());
                digits.chars().filter_map(digit).collect()
            }
            None => {
                let lane = |c: char| "xyzw".find(c).or("rgba".find(c)).map(|lane| lane as u8);
                member.chars().filter_map(lane).collect()
            }
        },
    }
}
