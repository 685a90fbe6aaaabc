//! Proofs by ranges alone: the numbers of a case, ids and counters each in their range.
//!
//! Most accesses are in bounds as each part of their address is. Such a case needs no terms with
//! its numbers: the ranges of the obligation's terms are computed from those of its variables, and
//! conditions such as `factor * counter < end` narrow these. What ranges do not show is left to
//! the other proofs.

use std::collections::HashMap;

use tickbound_opencl::proof::terms::{BitOp, Node, TermId, Terms, VariableKind, type_range};

use crate::answer::SafetyClaim;
use crate::classes::number_kind;
use crate::obligations::SafetyObligation;

/// Most times that conditions narrow ranges.
const MAX_ROUNDS: usize = 4;

/// The least and the greatest value; `None` if they are too large to be computed.
type Spread = Option<(i128, i128)>;

/// A product of terms, by their places, with its factor.
type PlacedProduct = (Vec<usize>, i128);

/// The terms of an obligation, by their places in a list in which parts come first.
pub struct RangeProof {
    nodes: Vec<Node>,
    parts: Vec<Vec<usize>>,
    /// What terms are as sums of products.
    sums: Vec<Vec<PlacedProduct>>,
    /// Where the number of a variable comes from: its kind, and whether it is the number itself or
    /// one above the greatest id.
    sources: Vec<Option<(usize, bool)>>,
    /// The ranges of variables.
    declared: Vec<Spread>,
    given: Vec<usize>,
    faults: Vec<usize>,
    found: Vec<Spread>,
}

impl RangeProof {
    /// Gets ready for the cases of an obligation, with the kinds of their numbers; `None` for
    /// claims that ranges do not prove.
    pub fn new(
        terms: &Terms,
        obligation: &SafetyObligation,
        kinds: &[VariableKind],
    ) -> Option<RangeProof> {
        if !matches!(
            obligation.claim,
            SafetyClaim::Bounds | SafetyClaim::Overflow | SafetyClaim::Division
        ) {
            return None;
        }
        let roots = [obligation.given.as_slice(), &obligation.faults].concat();
        let all = terms.inside(&roots);
        let places: HashMap<TermId, usize> = all.iter().enumerate().map(|(i, t)| (*t, i)).collect();
        let place = |term: &TermId| places[term];
        let source = |term: &TermId| {
            let Node::Variable(v) = terms.node(*term) else { return None };
            let kind = &terms.variables[*v as usize].kind;
            let number = number_kind(kind);
            Some((kinds.iter().position(|known| *known == number)?, number != *kind))
        };
        let sum = |term: &TermId| {
            let products = terms.sum_of(*term).into_iter();
            let placed = products.filter(|_| matches!(terms.node(*term), Node::Sum(_)));
            placed.map(|(product, factor)| (product.iter().map(place).collect(), factor)).collect()
        };
        Some(RangeProof {
            nodes: all.iter().map(|term| terms.node(*term).clone()).collect(),
            parts: all.iter().map(|term| terms.parts(*term).iter().map(place).collect()).collect(),
            sums: all.iter().map(sum).collect(),
            sources: all.iter().map(source).collect(),
            declared: all.iter().map(|term| Some(terms.range(*term))).collect(),
            given: obligation.given.iter().map(place).collect(),
            faults: obligation.faults.iter().map(place).collect(),
            found: vec![None; all.len()],
        })
    }

    /// Whether a case holds, by the values of its numbers. `false` means nothing.
    pub fn holds(&mut self, values: &[i64]) -> bool {
        for i in 0..self.nodes.len() {
            self.found[i] = match self.sources[i] {
                Some((kind, false)) => values.get(kind).map(|v| (i128::from(*v), i128::from(*v))),
                Some((kind, true)) => values.get(kind).map(|v| (0, i128::from(*v) - 1)),
                None => self.declared[i],
            };
        }
        for _ in 0..MAX_ROUNDS {
            for i in 0..self.nodes.len() {
                if !matches!(self.nodes[i], Node::Variable(_)) {
                    self.found[i] = self.spread(i);
                }
            }
            if self.faults.iter().chain(&self.given).any(|c| self.found[*c] == Some((0, 0))) {
                return true;
            }
            let before = self.found.clone();
            for c in 0..self.given.len() {
                if !self.narrow(self.given[c]) {
                    return true;
                }
            }
            if self.found == before {
                break;
            }
        }
        false
    }

    fn range(&self, i: usize, part: usize) -> Spread {
        self.found[self.parts[i][part]]
    }

    /// The range of a term from those of its parts.
    fn spread(&self, i: usize) -> Spread {
        match &self.nodes[i] {
            Node::Int(value) => Some((*value, *value)),
            Node::Sum(_) => self.sums[i].iter().try_fold((0, 0), |all, product| {
                let (low, high) = self.product(product)?;
                Some((i128::checked_add(all.0, low)?, i128::checked_add(all.1, high)?))
            }),
            Node::Quotient(..) => {
                let (a, b) = (self.range(i, 0)?, self.range(i, 1)?);
                (a.0 >= 0 && b.0 >= 1).then(|| (a.0 / b.1, a.1 / b.0))
            }
            Node::Remainder(..) => {
                let (a, b) = (self.range(i, 0)?, self.range(i, 1)?);
                let whole = a.0 >= 0 && b.0 >= 1;
                whole.then(|| if a.1 < b.0 { a } else { (0, a.1.min(b.1 - 1)) })
            }
            Node::Least(..) => {
                let (a, b) = (self.range(i, 0)?, self.range(i, 1)?);
                Some((a.0.min(b.0), a.1.min(b.1)))
            }
            Node::Negative(_) | Node::Zero(_) | Node::Not(_) | Node::And(..) | Node::Or(..) => {
                Some(self.condition(i).map_or((0, 1), |known| (known.into(), known.into())))
            }
            Node::Choice(..) => match (self.truth(i, 0), self.range(i, 1), self.range(i, 2)) {
                (Some(true), a, _) => a,
                (Some(false), _, b) => b,
                (None, a, b) => a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))),
            },
            Node::Wrap(bits, signed, _) => {
                let (low, high) = type_range(*bits, *signed);
                let inside = self.range(i, 0).filter(|range| low <= range.0 && range.1 <= high);
                Some(inside.unwrap_or((low, high)))
            }
            Node::Bits(op, ..) => {
                let (a, b) = (self.range(i, 0)?, self.range(i, 1)?);
                let whole = a.0 >= 0 && b.0 >= 0;
                let high = if *op == BitOp::And { a.1.min(b.1) } else { a.1 };
                (whole && matches!(op, BitOp::And | BitOp::Right)).then_some((0, high))
            }
            Node::Variable(_) | Node::Apply(..) => self.declared[i],
        }
    }

    /// Whether a condition holds.
    fn condition(&self, i: usize) -> Option<bool> {
        match &self.nodes[i] {
            Node::Negative(_) => match self.range(i, 0)? {
                (_, high) if high < 0 => Some(true),
                (low, _) if low >= 0 => Some(false),
                _ => None,
            },
            Node::Zero(_) => match self.range(i, 0)? {
                (0, 0) => Some(true),
                (low, high) if low > 0 || high < 0 => Some(false),
                _ => None,
            },
            Node::Not(_) => self.truth(i, 0).map(|known| !known),
            Node::And(..) => match (self.truth(i, 0), self.truth(i, 1)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), other) | (other, Some(true)) => other,
                _ => None,
            },
            Node::Or(..) => match (self.truth(i, 0), self.truth(i, 1)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), other) | (other, Some(false)) => other,
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a part, a truth value, is known.
    fn truth(&self, i: usize, part: usize) -> Option<bool> {
        match self.range(i, part)? {
            (0, 0) => Some(false),
            (low, high) if low > 0 || high < 0 => Some(true),
            _ => None,
        }
    }

    fn product(&self, (product, factor): &PlacedProduct) -> Spread {
        product.iter().try_fold((*factor, *factor), |range, part| {
            let (low, high) = self.found[*part]?;
            let ends = [range.0.checked_mul(low)?, range.0.checked_mul(high)?];
            let others = [range.1.checked_mul(low)?, range.1.checked_mul(high)?];
            let least = |[a, b]: [i128; 2]| a.min(b);
            let most = |[a, b]: [i128; 2]| a.max(b);
            Some((least(ends).min(least(others)), most(ends).max(most(others))))
        })
    }

    /// Narrows the ranges of variables by a condition; `false` if it cannot hold.
    fn narrow(&mut self, condition: usize) -> bool {
        match self.nodes[condition] {
            Node::And(..) => {
                let [a, b] = [self.parts[condition][0], self.parts[condition][1]];
                self.narrow(a) && self.narrow(b)
            }
            // At most -1.
            Node::Negative(_) => self.at_most(self.parts[condition][0], -1, 1),
            Node::Zero(_) => {
                let sum = self.parts[condition][0];
                self.at_most(sum, 0, 1) && self.at_most(sum, 0, -1)
            }
            _ => true,
        }
    }

    /// Narrows variables so that `sign` times a sum is at most `most`.
    fn at_most(&mut self, sum: usize, most: i128, sign: i128) -> bool {
        let alone = [(vec![sum], 1)];
        let products = match self.nodes[sum] {
            Node::Sum(_) => self.sums[sum].clone(),
            _ => alone.to_vec(),
        };
        for (place, (product, factor)) in products.iter().enumerate() {
            // What the others add at least.
            let others = products.iter().enumerate().filter(|(other, _)| *other != place);
            let rest =
                others.map(|(_, product)| self.product(product)).try_fold(0, |all, range| {
                    let (low, high) = range?;
                    i128::checked_add(all, if sign > 0 { low } else { -high })
                });
            let Some(left) = rest.and_then(|rest| i128::checked_sub(most, rest)) else { continue };
            let mut open = product.iter().filter(|part| match self.found[**part] {
                Some((low, high)) => low != high,
                None => true,
            });
            let (Some(variable), None) = (open.next(), open.next()) else { continue };
            let mut own = factor * sign;
            for part in product.iter().filter(|part| *part != variable) {
                let value = self.found[*part].map_or(0, |(low, _)| low);
                own = own.checked_mul(value).unwrap_or(0);
            }
            if own == 0 || product.iter().filter(|part| *part == variable).count() > 1 {
                continue;
            }
            if !self.bound(*variable, own, left) {
                return false;
            }
        }
        true
    }

    /// Narrows a variable so that `factor` times it is at most `most`; `false` if none is left.
    fn bound(&mut self, variable: usize, factor: i128, most: i128) -> bool {
        if !matches!(self.nodes[variable], Node::Variable(_)) {
            return true;
        }
        let Some((low, high)) = self.found[variable] else { return true };
        let range = match factor > 0 {
            true => (low, high.min(most.div_euclid(factor))),
            // Rounded up: `most / factor` is a lower bound.
            false => (low.max(-(most.div_euclid(-factor))), high),
        };
        self.found[variable] = Some(range);
        range.0 <= range.1
    }
}
