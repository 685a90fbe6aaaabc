//! Other values in the place of atoms, and what a value grows by where an atom grows by one.

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

    /// `(step, start)` with `poly = step * atom + start`, both without the atom.
    pub fn linear(&self, poly: &Poly, atom: Atom) -> Option<(Poly, Poly)> {
        poly.linear_in(atom).filter(|(step, start)| !self.has(step, atom) && !self.has(start, atom))
    }

    /// What a value grows by if the atom grows by one.
    pub fn growth(&mut self, poly: &Poly, atom: Atom) -> Poly {
        let mut sum = Poly::int(0);
        for (monomial, coefficient) in poly.terms() {
            let mut moving = monomial.clone();
            moving.retain(|a| self.has(&Poly::atom(*a), atom));
            let term = Poly::term(monomial.clone(), *coefficient);
            let more = match moving.as_slice() {
                [] => continue,
                [one] => {
                    let step = self.atom_growth(*one, atom);
                    match term.linear_in(*one) {
                        Some((factor, _)) => self.mul(&factor, &step),
                        None => self.shifted(&term, atom),
                    }
                }
                _ => self.shifted(&term, atom),
            };
            sum = self.add(&sum, &more);
        }
        sum
    }

    fn atom_growth(&mut self, of: Atom, atom: Atom) -> Poly {
        match self.kind(of).clone() {
            AtomKind::Choice(c, a, b) if !self.has(&c, atom) => {
                let (a, b) = (self.growth(&a, atom), self.growth(&b, atom));
                self.choice(&c, &a, &b)
            }
            _ => self.shifted(&Poly::atom(of), atom),
        }
    }

    /// The value for an atom that is greater by one, less the value as it is.
    fn shifted(&mut self, poly: &Poly, atom: Atom) -> Poly {
        let next = self.add(&Poly::atom(atom), &Poly::int(1));
        let moved = self.substitute(poly, &HashMap::from([(atom, next)]));
        self.sub(&moved, poly)
    }

    /// Whether the atom, a name or a leaf, is in the value.
    pub fn has(&self, poly: &Poly, atom: Atom) -> bool {
        match self.kind(atom) {
            AtomKind::Leaf(leaf) => self.mentions(poly, *leaf),
            _ => self.names(poly).contains(&atom),
        }
    }
}
