//! Proofs without a solver: bounds of polynomials, and sums that differ for different items.
//!
//! *Bounds.* Conditions are sums that are at most 0. Adding a multiple of one to a polynomial never
//! makes it less, so an upper bound of the result is one of the polynomial. Few additions, chosen
//! so that variables vanish, lead to a number.
//!
//! *Injective sums.* A sum `c1 * v1 + c2 * v2 + ...` names one combination of digits if each `c` is
//! greater than what all lower digits can add up to (mixed radix). A part that a condition bounds
//! as a whole, as `lid + R * k < T`, is one digit; where digits are equal, so are their parts. A
//! number whose quotient and remainder are equal is equal.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tickbound_opencl::proof::gcd;
use tickbound_opencl::proof::terms::{MOST, Node, Product, TermId, Terms, type_range};

/// A sum of products.
type Sum = BTreeMap<Product, i128>;

/// Most additions of conditions in a row.
const MAX_DEPTH: usize = 6;
/// Most sums that are tried for one bound.
const MAX_WORK: usize = 600;

/// What is known of the variables of an obligation.
pub struct KnownLimits<'t> {
    terms: &'t mut Terms,
    /// Sums that are at most 0.
    limits: Vec<Sum>,
    /// Variables that are one number, or the same for both items.
    fixed: BTreeSet<TermId>,
    /// Extents of sums, by how many limits there were.
    extents: HashMap<(usize, Vec<(TermId, i128)>), i128>,
    work: usize,
}

impl<'t> KnownLimits<'t> {
    /// What conditions tell.
    pub fn new(terms: &'t mut Terms, given: &[TermId]) -> KnownLimits<'t> {
        let (limits, fixed, extents) = (Vec::new(), BTreeSet::new(), HashMap::new());
        let mut known = KnownLimits { terms, limits, fixed, extents, work: 0 };
        for condition in given {
            known.learn(*condition);
        }
        let roots: Vec<TermId> = given.to_vec();
        known.learn_parts(&roots);
        known
    }

    fn learn(&mut self, condition: TermId) {
        match *self.terms.node(condition) {
            Node::And(a, b) => {
                self.learn(a);
                self.learn(b);
            }
            Node::Negative(a) => {
                let mut sum = self.terms.sum_of(a);
                *sum.entry(Vec::new()).or_default() += 1;
                self.limit(sum);
            }
            Node::Zero(a) => {
                let sum = self.terms.sum_of(a);
                let opposite = sum.iter().map(|(p, c)| (p.clone(), -c)).collect();
                let mut own = sum.keys().filter(|product| !product.is_empty());
                if let (Some([variable]), None) = (own.next().map(Vec::as_slice), own.next()) {
                    self.fixed.insert(*variable);
                }
                self.limit(sum);
                self.limit(opposite);
            }
            _ => {}
        }
    }

    /// What quotients, remainders and lesser numbers are between.
    fn learn_parts(&mut self, roots: &[TermId]) {
        for part in self.terms.inside(roots) {
            match *self.terms.node(part) {
                Node::Quotient(a, b) if self.terms.range(a).0 >= 0 => {
                    let Some(by) = self.terms.constant(b).filter(|by| *by > 0) else { continue };
                    // by * part <= a <= by * part + by - 1
                    let low = self.terms.scaled(part, by);
                    let low = self.terms.sub(low, a);
                    let high = self.terms.scaled(low, -1);
                    let high = self.terms.shifted(high, 1 - by);
                    for sum in [low, high] {
                        let sum = self.terms.sum_of(sum);
                        self.limit(sum);
                    }
                }
                Node::Remainder(a, b) if self.terms.range(a).0 >= 0 => {
                    let quotient = self.terms.quotient(a, b);
                    let whole = self.terms.mul(quotient, b);
                    let rest = self.terms.sub(a, whole);
                    let low = self.terms.sub(part, rest);
                    let high = self.terms.scaled(low, -1);
                    let less = self.terms.sub(part, a);
                    for sum in [low, high, less] {
                        let sum = self.terms.sum_of(sum);
                        self.limit(sum);
                    }
                }
                Node::Least(a, b) => {
                    for other in [a, b] {
                        let sum = self.terms.sub(part, other);
                        let sum = self.terms.sum_of(sum);
                        self.limit(sum);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes that a sum is at most 0, its factors without a common divisor.
    fn limit(&mut self, mut sum: Sum) {
        sum.retain(|_, factor| *factor != 0);
        let divisor = sum.iter().filter(|(p, _)| !p.is_empty()).fold(0, |all, (_, c)| gcd(all, *c));
        if divisor == 0 {
            return;
        }
        for (product, factor) in &mut sum {
            *factor = match product.is_empty() {
                // Rounded up: the rest is a whole number.
                true => factor.div_euclid(divisor) + i128::from(factor.rem_euclid(divisor) != 0),
                false => *factor / divisor,
            };
        }
        if !self.limits.contains(&sum) {
            self.limits.push(sum);
        }
    }

    /// The wraps inside some terms, those without wraps in them, whose numbers fit the type; each
    /// with the number.
    pub fn idle_wraps(&mut self, roots: &[TermId]) -> BTreeMap<TermId, TermId> {
        let mut idle = BTreeMap::new();
        for wrap in self.terms.inside(roots) {
            let Node::Wrap(bits, signed, inner) = *self.terms.node(wrap) else { continue };
            let parts = self.terms.inside(&[inner]);
            if parts.iter().any(|part| matches!(self.terms.node(*part), Node::Wrap(..))) {
                continue;
            }
            let (low, high) = type_range(bits, signed);
            let opposite = self.terms.scaled(inner, -1);
            if self.is_at_most(inner, high) && self.is_at_most(opposite, -low) {
                idle.insert(wrap, inner);
            }
        }
        idle
    }

    /// Whether a condition cannot hold.
    pub fn never(&mut self, condition: TermId) -> bool {
        match *self.terms.node(condition) {
            Node::Negative(a) => {
                let opposite = self.terms.scaled(a, -1);
                self.is_at_most(opposite, 0)
            }
            Node::Int(value) => value == 0,
            _ => false,
        }
    }

    /// Whether a term is at most a number.
    fn is_at_most(&mut self, term: TermId, number: i128) -> bool {
        self.learn_parts(&[term]);
        self.work = 0;
        let sum = self.terms.sum_of(term);
        self.upper(&sum, number, MAX_DEPTH) <= number
    }

    /// An upper bound of a sum; one that is at most `enough` will do.
    fn upper(&mut self, sum: &Sum, enough: i128, depth: usize) -> i128 {
        let plain = self.range(sum).1;
        self.work += 1;
        if plain <= enough || depth == 0 || self.work > MAX_WORK {
            return plain;
        }
        let mut best = plain;
        for i in 0..self.limits.len() {
            let limit = self.limits[i].clone();
            for (product, factor) in &limit {
                let Some(own) = sum.get(product).filter(|_| !product.is_empty()) else { continue };
                if own.signum() != factor.signum() {
                    continue;
                }
                if own % factor != 0 {
                    let scale = factor.abs() / gcd(*own, *factor);
                    let scaled: Option<Sum> =
                        sum.iter().map(|(p, c)| Some((p.clone(), c.checked_mul(scale)?))).collect();
                    if let (Some(scaled), Some(enough)) = (scaled, enough.checked_mul(scale)) {
                        let bound = self.upper(&scaled, enough, depth - 1);
                        best = best.min(bound.div_euclid(scale));
                    }
                    if best <= enough {
                        return best;
                    }
                    continue;
                }
                let times = own / factor;
                let mut next = sum.clone();
                for (product, factor) in &limit {
                    *next.entry(product.clone()).or_default() -= times * factor;
                }
                next.retain(|_, factor| *factor != 0);
                best = best.min(self.upper(&next, enough, depth - 1));
                if best <= enough {
                    return best;
                }
            }
        }
        best
    }

    fn range(&mut self, sum: &Sum) -> (i128, i128) {
        let mut all = (0_i128, 0_i128);
        for (product, factor) in sum {
            let (mut low, mut high) = (*factor, *factor);
            for part in product {
                let (a, b) = self.terms.range(*part);
                let ends = [(low, a), (low, b), (high, a), (high, b)];
                let ends = ends.map(|(x, y)| match x.checked_mul(y) {
                    Some(value) => value.clamp(-MOST, MOST),
                    None if (x < 0) == (y < 0) => MOST,
                    None => -MOST,
                });
                low = ends.into_iter().min().unwrap_or(-MOST);
                high = ends.into_iter().max().unwrap_or(MOST);
            }
            all = ((all.0 + low).max(-MOST), (all.1 + high).min(MOST));
        }
        all
    }

    /// Whether two accesses of `bytes` do not overlap unless the ids are equal. `other` has for
    /// each variable of the first item that of the second.
    pub fn is_apart(
        &mut self,
        (first, second): (TermId, TermId),
        bytes: i128,
        other: &HashMap<TermId, TermId>,
        ids: &[TermId],
    ) -> bool {
        if self.terms.replaced(first, other) != second {
            return false;
        }
        self.keep_common(other);
        let (mut work, mut equal) = (vec![(first, bytes)], BTreeSet::new());
        equal.extend(self.same_number(other));
        let (mut seen, mut inner) = (BTreeSet::new(), BTreeSet::new());
        while let Some((term, bytes)) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            self.learn_parts(&[term]);
            let Some(digits) = self.digits(term, other, &equal) else { continue };
            // Parts of a digit are digits by themselves.
            let ways = [!inner.contains(&term), false];
            let named = ways.into_iter().find_map(|way| self.named(digits.clone(), bytes, way));
            for digit in named.into_iter().flatten() {
                match digit.as_slice() {
                    [(variable, _)] => {
                        equal.insert(*variable);
                    }
                    parts => {
                        let sum = self.sum(parts);
                        inner.insert(sum);
                        work.push((sum, 1));
                    }
                }
            }
            for variable in equal.clone() {
                if let Node::Quotient(a, b) = *self.terms.node(variable)
                    && self.terms.constant(b).is_some()
                    && let rest = self.terms.remainder(a, b)
                    && (equal.contains(&rest) || self.terms.constant(rest).is_some())
                {
                    inner.insert(a);
                    work.push((a, 1));
                }
            }
        }
        ids.iter().all(|id| equal.contains(id) || !other.contains_key(id))
    }

    fn sum(&mut self, parts: &[(TermId, i128)]) -> TermId {
        let zero = self.terms.int(0);
        parts.iter().fold(zero, |sum, (part, factor)| self.terms.plus(sum, *factor, *part))
    }

    /// Keeps the limits that hold for the second item as they do for the first.
    fn keep_common(&mut self, other: &HashMap<TermId, TermId>) {
        let all = self.limits.clone();
        let mut kept = Vec::new();
        for limit in &all {
            let mut image = Sum::new();
            for (product, factor) in limit {
                let mut product: Product =
                    product.iter().map(|part| self.terms.replaced(*part, other)).collect();
                product.sort();
                *image.entry(product).or_default() += factor;
            }
            if all.contains(&image) {
                kept.push(limit.clone());
                kept.push(image);
            }
        }
        self.limits = kept;
        self.extents.clear();
    }

    /// Variables that one number fixes for both items.
    fn same_number(&self, other: &HashMap<TermId, TermId>) -> Vec<TermId> {
        let second = |v: &TermId| other.get(v).is_some_and(|second| self.fixed.contains(second));
        let alike = self.fixed.iter().copied().filter(second);
        let value = |variable: TermId| {
            self.limits.iter().find_map(|limit| {
                let one = limit.get(&vec![variable])? == &1 && limit.len() <= 2;
                let rest = limit.get(&Vec::new()).copied().unwrap_or(0);
                let opposite: Sum = limit.iter().map(|(p, c)| (p.clone(), -c)).collect();
                let fits = limit.len() == 1 || limit.contains_key(&Vec::new());
                (one && fits && self.limits.contains(&opposite)).then_some(-rest)
            })
        };
        let same = |v: &TermId| {
            let (a, b) = (value(*v), other.get(v).and_then(|second| value(*second)));
            a.is_some() && a == b
        };
        alike.filter(same).collect()
    }

    /// The variables of a sum that items do not share, with their factors.
    fn digits(
        &mut self,
        term: TermId,
        other: &HashMap<TermId, TermId>,
        equal: &BTreeSet<TermId>,
    ) -> Option<Vec<(TermId, i128)>> {
        let mut digits = Vec::new();
        for (product, factor) in self.terms.sum_of(term) {
            let own = product.iter().any(|part| self.terms.replaced(*part, other) != *part);
            match product.as_slice() {
                _ if !own => {}
                [variable] if equal.contains(variable) => {}
                [variable] => digits.push((*variable, factor)),
                _ => return None,
            }
        }
        Some(digits)
    }

    /// The digits that a sum names: each a variable, or variables that are bounded together, the
    /// latter first if `together`.
    fn named(
        &mut self,
        mut digits: Vec<(TermId, i128)>,
        bytes: i128,
        together: bool,
    ) -> Option<Vec<Vec<(TermId, i128)>>> {
        let (mut reach, mut named) = (bytes - 1, Vec::new());
        // A digit has two values or more.
        let extents: Vec<i128> =
            digits.iter().map(|(variable, _)| self.extent(&[(*variable, 1)])).collect();
        let single = digits.iter().zip(&extents).filter(|(_, extent)| **extent == 0);
        named.extend(single.map(|((variable, _), _)| vec![(*variable, 1)]));
        let mut extents = extents.into_iter();
        digits.retain(|_| extents.next() != Some(0));
        while !digits.is_empty() {
            digits.sort_by_key(|(variable, factor)| (factor.abs(), *variable));
            let least = digits[0].1.abs();
            if least <= reach {
                return None;
            }
            let next = digits.get(1).map(|(_, factor)| factor.abs());
            let alone = self.extent(&[(digits[0].0, 1)]);
            let fits = |extent: i128| {
                extent < MOST / least.max(1)
                    && next.is_none_or(|next| next > reach + least * extent)
            };
            let group = if together { self.group(&digits) } else { None };
            if group.is_none() && fits(alone) {
                reach += least * alone;
                named.push(vec![(digits[0].0, 1)]);
                digits.remove(0);
                continue;
            }
            // Some that a condition bounds together.
            let (group, extent) = group.or_else(|| self.group(&digits))?;
            let kept = |(variable, _): &(TermId, i128)| group.iter().all(|(v, _)| v != variable);
            digits.retain(kept);
            if digits.iter().any(|(_, factor)| factor.abs() <= reach + least * extent) {
                return None;
            }
            reach += least * extent;
            named.push(group);
        }
        Some(named)
    }

    /// The greatest difference of a sum, computed once while no more is known.
    fn extent(&mut self, parts: &[(TermId, i128)]) -> i128 {
        let key = (self.limits.len(), parts.to_vec());
        if let Some(extent) = self.extents.get(&key) {
            return *extent;
        }
        let extent = self.new_extent(parts);
        self.extents.insert(key, extent);
        extent
    }

    fn new_extent(&mut self, parts: &[(TermId, i128)]) -> i128 {
        let sum: Sum = parts.iter().map(|(variable, factor)| (vec![*variable], *factor)).collect();
        self.work = 0;
        let high = self.upper(&sum, -MOST, 2);
        let opposite: Sum =
            sum.iter().map(|(product, factor)| (product.clone(), -factor)).collect();
        self.work = 0;
        let low = -self.upper(&opposite, -MOST, 2);
        if high >= MOST || low <= -MOST { MOST } else { (high - low).max(0) }
    }

    /// The lowest digit with others that a condition bounds together with it.
    fn group(&mut self, digits: &[(TermId, i128)]) -> Option<(Vec<(TermId, i128)>, i128)> {
        let (lowest, unit) = digits[0];
        let mut best: Option<(Vec<(TermId, i128)>, i128)> = None;
        for limit in self.limits.clone() {
            let Some(own) = limit.get(&vec![lowest]).copied() else { continue };
            if own.abs() != 1 {
                continue;
            }
            let of_limit = digits.iter().filter_map(|(variable, factor)| {
                let in_limit = limit.get(&vec![*variable])?;
                (in_limit * own * unit == *factor).then_some((*variable, factor / unit))
            });
            let group: Vec<(TermId, i128)> = of_limit.collect();
            let extent = self.extent(&group);
            if group.len() > 1 && extent < MOST && best.as_ref().is_none_or(|b| extent < b.1) {
                best = Some((group, extent));
            }
        }
        best
    }
}
