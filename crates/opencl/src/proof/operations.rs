//! Operations on terms, each simplified by what is known of its operands.

use std::collections::{BTreeMap, HashMap};

use super::terms::{BitOp, MOST, Node, Product, TermId, Terms, type_range};

/// Most products in a sum; a longer one becomes a value of which only the range is known.
const MAX_PRODUCTS: usize = 400;

impl Terms {
    /// `a + factor * b`
    pub fn plus(&mut self, a: TermId, factor: i128, b: TermId) -> TermId {
        let (mut sum, other) = (self.sum_of(a), self.sum_of(b));
        for (product, value) in other {
            let Some(value) = value.checked_mul(factor).filter(|v| v.abs() < MOST) else {
                return self.unknown((-MOST, MOST));
            };
            *sum.entry(product).or_default() += value;
        }
        self.checked(sum)
    }

    /// `a + b`
    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.plus(a, 1, b)
    }

    /// `a - b`
    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.plus(a, -1, b)
    }

    /// `a + number`
    pub fn shifted(&mut self, a: TermId, number: i128) -> TermId {
        let number = self.int(number);
        self.add(a, number)
    }

    /// `a * number`
    pub fn scaled(&mut self, a: TermId, number: i128) -> TermId {
        let zero = self.int(0);
        self.plus(zero, number, a)
    }

    fn checked(&mut self, sum: BTreeMap<Product, i128>) -> TermId {
        let wide = sum.len() > MAX_PRODUCTS || sum.keys().any(|product| product.len() > 8);
        if wide || sum.values().any(|value| value.abs() >= MOST) {
            return self.unknown((-MOST, MOST));
        }
        self.from_sum(sum)
    }

    /// `a * b`
    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = (self.sum_of(a), self.sum_of(b));
        let mut sum = BTreeMap::<Product, i128>::new();
        for (p, x) in &a {
            for (q, y) in &b {
                let mut product = [p.as_slice(), q].concat();
                product.sort();
                let Some(value) = x.checked_mul(*y).filter(|v| v.abs() < MOST) else {
                    return self.unknown((-MOST, MOST));
                };
                *sum.entry(product).or_default() += value;
            }
        }
        self.checked(sum)
    }

    /// The part of a sum whose factors a number divides, divided, and the rest.
    fn split(&mut self, a: TermId, by: i128) -> (TermId, TermId) {
        let sum = self.sum_of(a);
        let (mut whole, mut rest) = (BTreeMap::new(), BTreeMap::new());
        for (product, value) in sum {
            let quotient = value.div_euclid(by);
            if product.is_empty() || value % by == 0 {
                whole.insert(product.clone(), quotient);
                rest.insert(product, value - quotient * by);
            } else {
                rest.insert(product, value);
            }
        }
        (self.from_sum(whole), self.from_sum(rest))
    }

    /// `a / b`, rounded toward zero.
    pub fn quotient(&mut self, a: TermId, b: TermId) -> TermId {
        let divided = match (self.constant(a), self.constant(b)) {
            (_, Some(1)) => return a,
            (Some(x), Some(y)) if y != 0 => return self.int(x / y),
            (_, Some(y)) if y > 1 => Some(y),
            _ => None,
        };
        if let Some(by) = divided {
            let (whole, rest) = self.split(a, by);
            let inside = self.range(rest).0 >= 0 && self.range(rest).1 < by;
            if self.constant(rest) == Some(0) || inside && self.range(a).0 >= 0 {
                return whole;
            }
            if self.range(a).0 >= 0 && self.range(rest).0 >= 0 && self.constant(whole) != Some(0) {
                let by = self.int(by);
                let rest = self.quotient(rest, by);
                return self.add(whole, rest);
            }
            if let Node::Quotient(x, y) = *self.node(a)
                && let Some(inner) = self.constant(y).filter(|y| *y > 0)
            {
                let both = self.int(inner * by);
                return self.quotient(x, both);
            }
        }
        self.term(Node::Quotient(a, b))
    }

    /// `a % b`, with the sign of `a`.
    pub fn remainder(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) if y != 0 => return self.int(x % y),
            (_, Some(1)) => return self.int(0),
            (_, Some(by)) if by > 1 => {
                let (whole, rest) = self.split(a, by);
                let inside = self.range(rest).0 >= 0 && self.range(rest).1 < by;
                if self.constant(rest) == Some(0) || inside && self.range(a).0 >= 0 {
                    return rest;
                }
                if self.range(a).0 >= 0
                    && self.range(rest).0 >= 0
                    && self.constant(whole) != Some(0)
                {
                    return self.remainder(rest, b);
                }
            }
            _ => {}
        }
        self.term(Node::Remainder(a, b))
    }

    /// The lesser of two.
    pub fn least(&mut self, a: TermId, b: TermId) -> TermId {
        let difference = self.sub(a, b);
        match self.range(difference) {
            (_, hi) if hi <= 0 => a,
            (lo, _) if lo >= 0 => b,
            _ => self.term(Node::Least(a.min(b), a.max(b))),
        }
    }

    /// The greater of two.
    pub fn greatest(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = (self.scaled(a, -1), self.scaled(b, -1));
        let least = self.least(a, b);
        self.scaled(least, -1)
    }

    /// Whether a number is below 0.
    pub fn negative(&mut self, a: TermId) -> TermId {
        match self.range(a) {
            (_, hi) if hi < 0 => self.int(1),
            (lo, _) if lo >= 0 => self.int(0),
            _ => self.term(Node::Negative(a)),
        }
    }

    /// `a < b`
    pub fn less(&mut self, a: TermId, b: TermId) -> TermId {
        let difference = self.sub(a, b);
        self.negative(difference)
    }

    /// Whether a number is 0.
    pub fn zero(&mut self, a: TermId) -> TermId {
        match self.range(a) {
            (0, 0) => return self.int(1),
            (lo, hi) if lo > 0 || hi < 0 => return self.int(0),
            (0, 1) => return self.not(a),
            _ => {}
        }
        let sum = self.sum_of(a);
        let divisor = sum.values().fold(0, |all, value| gcd(all, *value));
        // Of a number and its opposite one is kept.
        let sign =
            sum.iter().rfind(|(product, _)| !product.is_empty()).map_or(1, |(_, v)| v.signum());
        let by = divisor * sign;
        let own: i128 = sum.iter().filter(|(p, _)| !p.is_empty()).fold(0, |g, (_, v)| gcd(g, *v));
        let constant = sum.get(&Vec::new()).copied().unwrap_or(0);
        if own > 1 && constant % own != 0 && sum.keys().all(|p| p.len() <= 1) {
            return self.int(0);
        }
        let reduced = sum.into_iter().map(|(product, value)| (product, value / by)).collect();
        let reduced = self.from_sum(reduced);
        self.term(Node::Zero(reduced))
    }

    /// `a == b`
    pub fn equal(&mut self, a: TermId, b: TermId) -> TermId {
        let difference = self.sub(a, b);
        self.zero(difference)
    }

    /// Whether a number is not 0.
    pub fn truth(&mut self, a: TermId) -> TermId {
        if self.range(a).0 >= 0 && self.range(a).1 <= 1 {
            return a;
        }
        let zero = self.zero(a);
        self.not(zero)
    }

    /// The opposite of a truth value.
    pub fn not(&mut self, a: TermId) -> TermId {
        match *self.node(a) {
            Node::Int(value) => self.int(i128::from(value == 0)),
            Node::Not(inner) => inner,
            Node::Negative(inner) => {
                let opposite = self.scaled(inner, -1);
                let opposite = self.shifted(opposite, -1);
                self.negative(opposite)
            }
            Node::And(x, y) => {
                let (x, y) = (self.not(x), self.not(y));
                self.or(x, y)
            }
            Node::Or(x, y) => {
                let (x, y) = (self.not(x), self.not(y));
                self.and(x, y)
            }
            _ => self.term(Node::Not(a)),
        }
    }

    /// Both of two truth values.
    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.constant(a), self.constant(b)) {
            (Some(0), _) | (_, Some(0)) => self.int(0),
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ if a == b => a,
            _ if self.not(a) == b => self.int(0),
            _ => self.term(Node::And(a.min(b), a.max(b))),
        }
    }

    /// One of two truth values, or both.
    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.constant(a), self.constant(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(_), _) | (_, Some(_)) => self.int(1),
            _ if a == b => a,
            _ if matches!(self.node(a), Node::Not(x) if *x == b) => self.int(1),
            _ if matches!(self.node(b), Node::Not(x) if *x == a) => self.int(1),
            _ => self.term(Node::Or(a.min(b), a.max(b))),
        }
    }

    /// `c ? a : b`
    pub fn choice(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        match self.constant(c) {
            Some(0) => return b,
            Some(_) => return a,
            None if a == b => return a,
            None => {}
        }
        match (self.constant(a), self.constant(b)) {
            (Some(1), Some(0)) => return c,
            (Some(0), Some(1)) => return self.not(c),
            _ => {}
        }
        match *self.node(c) {
            Node::Not(opposite) => self.term(Node::Choice(opposite, b, a)),
            _ => self.term(Node::Choice(c, a, b)),
        }
    }

    /// The number of an integer type that leaves the same remainder.
    pub fn wrap(&mut self, bits: u32, signed: bool, a: TermId) -> TermId {
        let (lo, hi) = type_range(bits, signed);
        let inside = |range: (i128, i128)| lo <= range.0 && range.1 <= hi;
        if inside(self.range(a)) {
            return a;
        }
        let modulus = 1_i128 << bits;
        if let Some(value) = self.constant(a) {
            return self.int((value - lo).rem_euclid(modulus) + lo);
        }
        // Factors and wraps inside make no difference beyond the modulus.
        let mut flat = self.int(0);
        for (product, value) in self.sum_of(a) {
            let value = (value + modulus / 2).rem_euclid(modulus) - modulus / 2;
            let inner = match product.as_slice() {
                [one] => match *self.node(*one) {
                    Node::Wrap(inner, _, x) if inner >= bits => Some(x),
                    _ => None,
                },
                _ => None,
            };
            let part = match inner {
                Some(inner) => inner,
                None => self.from_sum(BTreeMap::from([(product, 1)])),
            };
            flat = self.plus(flat, value, part);
        }
        if inside(self.range(flat)) { flat } else { self.term(Node::Wrap(bits, signed, flat)) }
    }

    /// An operation on bits.
    pub fn bits(&mut self, op: BitOp, a: TermId, b: TermId) -> TermId {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b))
            && let Some(value) = bits_of(op, x, y)
        {
            return self.int(value);
        }
        let (a, b) = match (op, self.constant(a)) {
            (BitOp::And | BitOp::Or | BitOp::Xor, Some(_)) => (b, a),
            _ => (a, b),
        };
        let nonnegative = self.range(a).0 >= 0;
        match (op, self.constant(b)) {
            (BitOp::Or | BitOp::Xor | BitOp::Left | BitOp::Right, Some(0)) => a,
            (BitOp::And, Some(0)) => self.int(0),
            (BitOp::And, Some(mask)) if mask > 0 && (mask + 1) & mask == 0 => {
                self.wrap(mask.count_ones(), false, a)
            }
            (BitOp::And, Some(mask))
                if mask < 0 && mask != i128::MIN && (-mask) & (-mask - 1) == 0 =>
            {
                // All bits but the lowest.
                let low = self.wrap((-mask).trailing_zeros(), false, a);
                self.sub(a, low)
            }
            (BitOp::Left, Some(by @ 0..=63)) => self.scaled(a, 1 << by),
            (BitOp::Right, Some(by @ 0..=63)) if nonnegative => {
                let by = self.int(1 << by);
                self.quotient(a, by)
            }
            (BitOp::Or | BitOp::Xor, Some(mask)) if nonnegative && mask > 0 => {
                // Where no bit is in both, they add up.
                let low = self.int(1 << (128 - mask.leading_zeros()).min(100));
                match self.remainder(a, low) {
                    rest if self.constant(rest) == Some(0) => self.add(a, b),
                    _ => self.term(Node::Bits(op, a, b)),
                }
            }
            _ => self.term(Node::Bits(op, a, b)),
        }
    }

    /// A term with other terms in the place of some.
    pub fn replaced(&mut self, term: TermId, by: &HashMap<TermId, TermId>) -> TermId {
        let mut done = by.clone();
        self.replaced_with(term, &mut done)
    }

    /// The same; `done` has what was replaced so far.
    pub fn replaced_with(&mut self, term: TermId, done: &mut HashMap<TermId, TermId>) -> TermId {
        if let Some(known) = done.get(&term) {
            return *known;
        }
        let node = self.node(term).clone();
        let result = match node {
            Node::Int(_) | Node::Variable(_) => term,
            Node::Sum(sum) => self.replaced_sum(&sum, done),
            Node::Apply(f, parts) => {
                let parts = parts.iter().map(|part| self.replaced_with(*part, done)).collect();
                self.term(Node::Apply(f, parts))
            }
            node => {
                let parts: Vec<TermId> = self.parts(term);
                let parts: Vec<TermId> =
                    parts.iter().map(|part| self.replaced_with(*part, done)).collect();
                self.rebuilt(&node, &parts)
            }
        };
        done.insert(term, result);
        result
    }

    fn replaced_sum(
        &mut self,
        sum: &[(Product, i128)],
        done: &mut HashMap<TermId, TermId>,
    ) -> TermId {
        let mut all = BTreeMap::<Product, i128>::new();
        for (product, value) in sum {
            let mut whole = self.int(*value);
            for part in product {
                let part = self.replaced_with(*part, done);
                whole = self.mul(whole, part);
            }
            for (product, value) in self.sum_of(whole) {
                *all.entry(product).or_default() += value;
            }
        }
        self.checked(all)
    }

    fn rebuilt(&mut self, node: &Node, parts: &[TermId]) -> TermId {
        match (node, parts) {
            (Node::Quotient(..), [a, b]) => self.quotient(*a, *b),
            (Node::Remainder(..), [a, b]) => self.remainder(*a, *b),
            (Node::Least(..), [a, b]) => self.least(*a, *b),
            (Node::And(..), [a, b]) => self.and(*a, *b),
            (Node::Or(..), [a, b]) => self.or(*a, *b),
            (Node::Bits(op, ..), [a, b]) => self.bits(*op, *a, *b),
            (Node::Negative(_), [a]) => self.negative(*a),
            (Node::Zero(_), [a]) => self.zero(*a),
            (Node::Not(_), [a]) => self.not(*a),
            (Node::Wrap(bits, signed, _), [a]) => self.wrap(*bits, *signed, *a),
            (Node::Choice(..), [c, a, b]) => self.choice(*c, *a, *b),
            (node, _) => self.term(node.clone()),
        }
    }

    /// `term` as `a * variable + b`, if the variable stands nowhere else.
    pub fn linear(&mut self, term: TermId, variable: TermId) -> Option<(TermId, TermId)> {
        let (mut factor, mut rest) = (BTreeMap::new(), BTreeMap::new());
        for (mut product, value) in self.sum_of(term) {
            match product.iter().position(|part| *part == variable) {
                Some(place) => {
                    product.remove(place);
                    factor.insert(product, value);
                }
                None => {
                    rest.insert(product, value);
                }
            }
        }
        let (factor, rest) = (self.from_sum(factor), self.from_sum(rest));
        let free = |terms: &Terms, t: TermId| !terms.inside(&[t]).contains(&variable);
        (free(self, factor) && free(self, rest)).then_some((factor, rest))
    }
}

/// An operation on bits of constants.
pub fn bits_of(op: BitOp, x: i128, y: i128) -> Option<i128> {
    Some(match op {
        BitOp::And => x & y,
        BitOp::Or => x | y,
        BitOp::Xor => x ^ y,
        BitOp::Left if (0..64).contains(&y) && x.abs() < 1 << 62 => x << y,
        BitOp::Right if (0..64).contains(&y) => x >> y,
        _ => return None,
    })
}

/// The greatest common divisor; that of 0 and 0 is 0.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
