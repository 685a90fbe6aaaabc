//! Polynomials with integer coefficients over atoms, in canonical form.

use std::rc::Rc;

use itertools::{EitherOrBoth, Itertools};
use smallvec::SmallVec;

/// An atom, one of a table: [`Terms`](super::PolyTerms).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(pub(super) u32);

/// A product of atoms, each as often as its exponent, in ascending order; empty: 1.
pub type Monomial = SmallVec<[Atom; 4]>;

/// A polynomial: its monomials in ascending order with coefficients that are not zero. Two are the
/// same function of their atoms exactly if they are equal. Operations are `None` where the result
/// does not fit. Copies, which come with every branch, share the monomials.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Poly(Rc<[(Monomial, i64)]>);

/// Most monomials of a polynomial; more are not kept apart.
const MAX_TERMS: usize = 200;

impl Poly {
    pub fn int(value: i64) -> Poly {
        Poly::term(Monomial::new(), value)
    }

    pub fn atom(atom: Atom) -> Poly {
        Poly::term(Monomial::from_slice(&[atom]), 1)
    }

    pub fn term(monomial: Monomial, coefficient: i64) -> Poly {
        if coefficient == 0 { Poly::default() } else { Poly(Rc::new([(monomial, coefficient)])) }
    }

    pub fn terms(&self) -> &[(Monomial, i64)] {
        &self.0
    }

    pub fn constant(&self) -> Option<i64> {
        match &*self.0 {
            [] => Some(0),
            [(monomial, value)] if monomial.is_empty() => Some(*value),
            _ => None,
        }
    }

    pub fn as_atom(&self) -> Option<Atom> {
        match &*self.0 {
            [(monomial, 1)] if monomial.len() == 1 => Some(monomial[0]),
            _ => None,
        }
    }

    /// The monomial and its coefficient, if there is exactly one.
    pub fn as_term(&self) -> Option<(&Monomial, i64)> {
        match &*self.0 {
            [(monomial, coefficient)] => Some((monomial, *coefficient)),
            _ => None,
        }
    }

    pub fn constant_term(&self) -> i64 {
        self.0.first().filter(|(monomial, _)| monomial.is_empty()).map_or(0, |(_, value)| *value)
    }

    /// All atoms, some of them more than once.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        self.0.iter().flat_map(|(monomial, _)| monomial.iter().copied())
    }

    /// All atoms, each once, in order.
    pub fn distinct_atoms(&self) -> Vec<Atom> {
        self.atoms().sorted_unstable().dedup().collect()
    }

    pub fn add(&self, other: &Poly) -> Option<Poly> {
        let mut sum: Vec<(Monomial, i64)> = Vec::with_capacity(self.0.len() + other.0.len());
        for pair in self.0.iter().merge_join_by(other.0.iter(), |(a, _), (b, _)| a.cmp(b)) {
            match pair {
                EitherOrBoth::Left(term) | EitherOrBoth::Right(term) => sum.push(term.clone()),
                EitherOrBoth::Both((monomial, x), (_, y)) => {
                    let coefficient = x.checked_add(*y)?;
                    sum.extend((coefficient != 0).then(|| (monomial.clone(), coefficient)));
                }
            }
        }
        (sum.len() <= MAX_TERMS).then(|| Poly(sum.into()))
    }

    pub fn scale(&self, factor: i64) -> Option<Poly> {
        if factor == 0 {
            return Some(Poly::default());
        }
        let scaled = self.0.iter().map(|(m, c)| Some((m.clone(), c.checked_mul(factor)?)));
        scaled.collect::<Option<_>>().map(Poly)
    }

    pub fn sub(&self, other: &Poly) -> Option<Poly> {
        self.add(&other.scale(-1)?)
    }

    pub fn mul(&self, other: &Poly) -> Option<Poly> {
        if self.0.len().saturating_mul(other.0.len()) > MAX_TERMS {
            return None;
        }
        let mut product = Poly::default();
        for (m, c) in self.terms() {
            for (n, d) in other.terms() {
                let mut monomial = m.clone();
                monomial.extend_from_slice(n);
                monomial.sort_unstable();
                product = product.add(&Poly::term(monomial, c.checked_mul(*d)?))?;
            }
        }
        product.0.iter().all(|(monomial, _)| monomial.len() <= 12).then_some(product)
    }

    /// `(q, r)` with `self = q * divisor + r`, where the divisor, a term, divides no term of `r`.
    pub fn split(&self, divisor: (&Monomial, i64)) -> (Poly, Poly) {
        let (mut quotient, mut rest) = (Vec::new(), Vec::new());
        for (monomial, coefficient) in self.terms() {
            let whole = coefficient.checked_rem(divisor.1) == Some(0);
            match without(monomial, divisor.0).filter(|_| whole) {
                Some(left) => quotient.push((left, coefficient / divisor.1)),
                None => rest.push((monomial.clone(), *coefficient)),
            }
        }
        quotient.sort();
        (Poly(quotient.into()), Poly(rest.into()))
    }

    /// `(c, r)` with `self = c * atom + r`, if no power of the atom occurs.
    pub fn linear_in(&self, atom: Atom) -> Option<(Poly, Poly)> {
        let (factor, rest) = self.split((&Monomial::from_slice(&[atom]), 1));
        let again = factor.atoms().any(|a| a == atom);
        (!again).then_some((factor, rest))
    }

    /// The greatest common divisor of the coefficients of all terms with atoms; 0 if none has.
    pub fn content(&self) -> i64 {
        let coefficients = self.0.iter().filter(|(m, _)| !m.is_empty()).map(|(_, c)| *c);
        coefficients.fold(0, gcd)
    }
}

/// What is left of a product when the factors of another are taken out of it.
fn without(monomial: &Monomial, factors: &Monomial) -> Option<Monomial> {
    let mut left = monomial.clone();
    for factor in factors {
        left.remove(left.iter().position(|atom| atom == factor)?);
    }
    Some(left)
}

/// The greatest common divisor, not negative (0 and the least number: 0).
pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}
