//! [`super::simplify`] for equations of leaves only, which long chains of buffers are made of.
//!
//! Without calls and predicates the congruence is the equivalence that the equations generate:
//! sorted classes give the same constraint as the e-graph, faster. A test compares both.

use super::{DataConstraint, DataTerm, Literal};
use crate::symbol::{Cell, NameId};

/// The simplest form of the conjunction; `Some(None)` if nothing fulfils it, `None` if not flat.
pub(super) fn simplify(all: &[Literal], gone: &Gone) -> Option<Option<DataConstraint>> {
    let equations: Vec<(&DataTerm, &DataTerm)> = all.iter().map(sides).collect::<Option<_>>()?;
    let mut leaves: Vec<&DataTerm> = equations.iter().flat_map(|(a, b)| [*a, *b]).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let classes = classes(&leaves, &equations);
    let mut literals = Vec::with_capacity(equations.len());
    let mut alone = Vec::new();
    for class in classes {
        if let [DataTerm::Constant(_), DataTerm::Constant(_), ..] = class[..] {
            return Some(None);
        }
        let has_before = |cell| class.iter().any(|t| **t == DataTerm::Before(cell));
        let mut seen = class.iter().filter(|t| !gone.takes(t));
        let Some(least) = seen.next() else { continue };
        let said = literals.len();
        for term in seen {
            if !matches!(term, DataTerm::After(cell) if has_before(*cell)) {
                literals.push(Literal::Equal((*least).clone(), (*term).clone()));
            }
        }
        if matches!(least, DataTerm::After(_)) && literals.len() == said {
            alone.push((*least).clone());
        }
    }
    // A cell that is written must not seem to keep its old value. The values are numbered in the
    // order of the cells; classes may stand in another, that of leaves that are gone.
    alone.sort_unstable();
    let some = alone.into_iter().zip(0..).map(|(cell, k)| Literal::Equal(cell, DataTerm::Some(k)));
    literals.extend(some);
    Some(Some(DataConstraint::new(literals)))
}

/// The sides of a literal, if it is an equation of leaves.
pub(super) fn sides(literal: &Literal) -> Option<(&DataTerm, &DataTerm)> {
    let is_call = |term: &DataTerm| matches!(term, DataTerm::Call(..));
    match literal {
        Literal::Equal(a, b) if !is_call(a) && !is_call(b) => Some((a, b)),
        _ => None,
    }
}

/// The classes of `leaves`, each in order, in the order of their first leaves.
fn classes<'a>(
    leaves: &[&'a DataTerm],
    equations: &[(&DataTerm, &DataTerm)],
) -> Vec<Vec<&'a DataTerm>> {
    let mut parent: Vec<usize> = (0..leaves.len()).collect();
    let at = |term: &DataTerm| leaves.binary_search(&term).unwrap_or(0);
    for (a, b) in equations {
        let (a, b) = (root(&mut parent, at(a)), root(&mut parent, at(b)));
        // The smaller is the root, so that classes come in the order of their first leaves.
        parent[a.max(b)] = a.min(b);
    }
    let mut classes: Vec<Vec<&DataTerm>> = vec![Vec::new(); leaves.len()];
    for (k, leaf) in leaves.iter().enumerate() {
        classes[root(&mut parent, k)].push(leaf);
    }
    classes.retain(|class| !class.is_empty());
    classes
}

fn root(parent: &mut [usize], mut k: usize) -> usize {
    while parent[k] != k {
        parent[k] = parent[parent[k]];
        k = parent[k];
    }
    k
}

/// What is eliminated. Both lists are sorted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gone<'a> {
    /// Names whose datum is taken out.
    pub names: &'a [NameId],
    /// Cells whose value after the step is taken out: nothing reads it.
    pub cells: &'a [Cell],
}

impl Gone<'_> {
    /// Whether a constraint mentions anything of it.
    pub fn touches(&self, constraint: &DataConstraint) -> bool {
        let takes = |leaf: &DataTerm| !matches!(leaf, DataTerm::Some(_)) && self.takes(leaf);
        constraint.literals().iter().any(|literal| literal.has_leaf(takes))
    }

    pub(super) fn takes(&self, leaf: &DataTerm) -> bool {
        match leaf {
            DataTerm::Datum(name) => self.names.binary_search(name).is_ok(),
            DataTerm::After(cell) => self.cells.binary_search(cell).is_ok(),
            DataTerm::Some(_) => true,
            DataTerm::Constant(_) | DataTerm::Before(_) | DataTerm::Call(..) => false,
        }
    }
}
