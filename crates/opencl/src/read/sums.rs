//! Loops inside of loops whose iterations rise or fall evenly with the counter around them.
//!
//! `for (i = 0; i < n; i++) { A; for (j = 0; j < i; j++) B; }` does `A` n times and `B` `0 + 1 +
//! ... + n - 1` times. What goes in: the steps of any iteration of a loop, whose counts are linear
//! in it and not negative. What comes out: the steps that each iteration has alike, and beside them
//! the loops with sums over all iterations (Faulhaber's formula; Knuth, *Johann Faulhaber and sums
//! of powers*, 1993). How often each step is done is exact; that `A` and `B` take turns is lost.
//!
//! With a barrier in the loop this is done only if all items of a group do the same: then the sum
//! of the longest is the longest of the sums.

use super::nodes::{KernelNode, NodeKind, Nodes, has_barrier, numbers};
use super::symbolic::{Atom, Leaf, Monomial, Poly, PolyTerms};
use crate::steps::Dependence;

/// How often something is done, as a polynomial of a loop's counter.
#[derive(Clone)]
struct Times {
    /// The coefficients of 1, the counter, its square, ..., times `divisor`.
    coefficients: Vec<Poly>,
    /// Divides each value without a rest.
    divisor: i64,
}

/// A loop over the numbers from `from` to before `to`.
pub struct Over<'p> {
    /// The counter as a value.
    pub atom: Atom,
    pub iteration: Leaf,
    /// The first number.
    pub from: &'p Poly,
    /// The number after the last one.
    pub to: &'p Poly,
}

/// What a loop does, taken apart.
#[derive(Default)]
pub struct Apart {
    /// What each iteration does.
    pub alike: Nodes,
    /// What all iterations do beside that, in all.
    pub summed: Nodes,
}

impl Over<'_> {
    /// Takes the steps of an iteration apart; `None` if they differ otherwise. It must be known of
    /// the counter that it is one of the numbers.
    pub fn apart(&self, terms: &mut PolyTerms, nodes: &[KernelNode]) -> Option<Apart> {
        let differs = |poly: &Poly| terms.depends(poly) != Dependence::Uniform;
        if has_barrier(nodes) && numbers(nodes).into_iter().any(differs) {
            return None;
        }
        self.steps(terms, nodes)
    }

    fn steps(&self, terms: &mut PolyTerms, nodes: &[KernelNode]) -> Option<Apart> {
        let mut all = Apart::default();
        for node in nodes {
            let with = |kind| KernelNode { kind, at: node.at.clone() };
            match &node.kind {
                NodeKind::Repeat { count, body, .. } if terms.mentions(count, self.iteration) => {
                    let count = self.times(terms, count)?;
                    all.summed.extend(self.summed(terms, node, body, count)?);
                }
                // A part of a loop whose length differs.
                NodeKind::Repeat { whole: Some(whole), .. }
                    if terms.mentions(whole, self.iteration) =>
                {
                    return None;
                }
                NodeKind::Repeat { count, whole, body } => {
                    let inside = self.steps(terms, body)?;
                    for (body, to) in
                        [(inside.alike, &mut all.alike), (inside.summed, &mut all.summed)]
                    {
                        if !body.is_empty() {
                            let (count, whole) = (count.clone(), whole.clone());
                            to.push(with(NodeKind::Repeat { count, whole, body }));
                        }
                    }
                }
                NodeKind::If { condition, .. } if terms.mentions(condition, self.iteration) => {
                    return None;
                }
                NodeKind::If { condition, then, otherwise } => {
                    let (a, b) = (self.steps(terms, then)?, self.steps(terms, otherwise)?);
                    for (then, otherwise, to) in
                        [(a.alike, b.alike, &mut all.alike), (a.summed, b.summed, &mut all.summed)]
                    {
                        if !then.is_empty() || !otherwise.is_empty() {
                            let condition = condition.clone();
                            to.push(with(NodeKind::If { condition, then, otherwise }));
                        }
                    }
                }
                _ => all.alike.push(node.clone()),
            }
        }
        Some(all)
    }

    /// A loop with its body done so often; loops inside that depend on the counter stand beside it.
    fn summed(
        &self,
        terms: &mut PolyTerms,
        node: &KernelNode,
        body: &[KernelNode],
        times: Times,
    ) -> Option<Nodes> {
        let mut inside = Vec::new();
        let mut alike = Vec::new();
        for inner in body {
            match &inner.kind {
                NodeKind::Repeat { count, body, .. } if terms.mentions(count, self.iteration) => {
                    let count = self.times(terms, count)?;
                    let product = times.product(terms, &count)?;
                    inside.extend(self.summed(terms, inner, body, product)?);
                }
                _ => {
                    let mut numbers = numbers(std::slice::from_ref(inner)).into_iter();
                    let depends = numbers.any(|poly| terms.mentions(poly, self.iteration));
                    (!depends).then(|| alike.push(inner.clone()))?;
                }
            }
        }
        let mut all = Vec::new();
        if !alike.is_empty() {
            let count = self.sum(terms, &times)?;
            let kind = NodeKind::Repeat { count, whole: None, body: alike };
            all.push(KernelNode { kind, at: node.at.clone() });
        }
        all.extend(inside);
        Some(all)
    }

    /// A count that is never negative.
    fn times(&self, terms: &mut PolyTerms, count: &Poly) -> Option<Times> {
        let (number, divisor) = match terms.sums.get(count) {
            Some((number, divisor)) => (number.clone(), *divisor),
            None => {
                count.linear_in(self.atom)?;
                terms.never_negative(count).then(|| (count.clone(), 1))?
            }
        };
        let (mut coefficients, mut left) = (Vec::new(), number);
        while left != Poly::int(0) {
            let (factor, rest) = left.split((&Monomial::from_slice(&[self.atom]), 1));
            (!terms.mentions(&rest, self.iteration)).then(|| coefficients.push(rest))?;
            left = factor;
        }
        Some(Times { coefficients, divisor })
    }

    fn sum(&self, terms: &mut PolyTerms, times: &Times) -> Option<Poly> {
        let mut sum = Poly::int(0);
        for (power, coefficient) in times.coefficients.iter().enumerate() {
            let (to, from) = (powers(terms, self.to, power)?, powers(terms, self.from, power)?);
            let between = terms.sub(&to, &from);
            let part = terms.mul(coefficient, &between);
            sum = terms.add(&sum, &part);
        }
        // Numbers too large to be kept are unknown.
        let known = |leaf: &Leaf| {
            let of = |poly: &Poly| terms.leaves(poly).contains(leaf);
            of(self.from) || of(self.to) || times.coefficients.iter().any(of)
        };
        if !terms.leaves(&sum).iter().all(known) {
            return None;
        }
        let divisor = times.divisor.checked_mul(FOLD)?;
        let count = terms.quotient(&sum, &Poly::int(divisor));
        terms.sums.insert(count.clone(), (sum, divisor));
        Some(count)
    }
}

impl Times {
    fn product(&self, terms: &mut PolyTerms, other: &Times) -> Option<Times> {
        let (a, b) = (&self.coefficients, &other.coefficients);
        let mut coefficients = vec![Poly::int(0); (a.len() + b.len()).saturating_sub(1)];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let part = terms.mul(x, y);
                coefficients[i + j] = terms.add(&coefficients[i + j], &part);
            }
        }
        Some(Times { coefficients, divisor: self.divisor.checked_mul(other.divisor)? })
    }
}

/// What the sums of powers below are multiplied by, so that all coefficients are whole.
const FOLD: i64 = 12;

/// [`FOLD`] times `0^power + 1^power + ... + (end - 1)^power`, for powers up to 3.
fn powers(terms: &mut PolyTerms, end: &Poly, power: usize) -> Option<Poly> {
    // The coefficients of end, end^2, ..., by Faulhaber's formula.
    let coefficients: &[i64] = match power {
        0 => &[12],
        1 => &[-6, 6],
        2 => &[2, -6, 4],
        3 => &[0, 3, -6, 3],
        _ => return None,
    };
    let mut sum = Poly::int(0);
    for coefficient in coefficients.iter().rev() {
        let raised = terms.add(&sum, &Poly::int(*coefficient));
        sum = terms.mul(&raised, end);
    }
    Some(sum)
}
