//! Other values in the place of atoms.

use std::collections::HashMap;

use super::terms::parts;
use super::{Atom, AtomKind, Poly, PolyTerms};

impl PolyTerms {
    /// The value with polynomials in the place of some atoms, wherever they occur.
    pub fn substitute(&mut self, poly: &Poly, by: &HashMap<Atom, Poly>) -> Poly {
        let mut done = by.clone();
        self.replace(poly, &mut done)
    }

    fn replace(&mut self, poly: &Poly, done: &mut HashMap<Atom, Poly>) -> Poly {
        let mut sum = Poly::int(0);
        for (monomial, coefficient) in poly.terms() {
            let mut product = Poly::int(*coefficient);
            for atom in monomial {
                let value = self.replace_atom(*atom, done);
                product = self.mul(&product, &value);
            }
            sum = self.add(&sum, &product);
        }
        sum
    }

    fn replace_atom(&mut self, atom: Atom, done: &mut HashMap<Atom, Poly>) -> Poly {
        if let Some(value) = done.get(&atom) {
            return value.clone();
        }
        let kind = self.kind(atom).clone();
        let parts: Vec<Poly> = parts(&kind).into_iter().map(|p| self.replace(p, done)).collect();
        let value = match (&kind, parts.as_slice()) {
            (AtomKind::Negative(_), [a]) => self.negative(a),
            (AtomKind::Zero(_), [a]) => self.zero(a),
            (AtomKind::Power(_), [a]) => self.power_of_two(a),
            (AtomKind::Quotient(..), [a, b]) => self.quotient(a, b),
            (AtomKind::Remainder(..), [a, b]) => self.remainder(a, b),
            (AtomKind::And(..), [a, b]) => self.and(a, b),
            (AtomKind::Or(..), [a, b]) => self.or(a, b),
            (AtomKind::Min(..), [a, b]) => self.min(a, b),
            (AtomKind::Max(..), [a, b]) => self.max(a, b),
            (AtomKind::Choice(..), [c, a, b]) => self.choice(c, a, b),
            // Names and leaves have no parts.
            _ => Poly::atom(atom),
        };
        done.insert(atom, value.clone());
        value
    }
}
