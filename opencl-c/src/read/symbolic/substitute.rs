//! Other values in the place of atoms.

use std::collections::HashMap;

use super::{Atom, Kind, Poly, Terms};

impl Terms {
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
        let mut of = |poly: &Poly| self.replace(poly, done);
        let value = match &kind {
            Kind::Name(_) | Kind::Leaf(_) => Poly::atom(atom),
            Kind::Negative(a) => {
                let a = of(a);
                self.negative(&a)
            }
            Kind::Zero(a) => {
                let a = of(a);
                self.zero(&a)
            }
            Kind::Power(a) => {
                let a = of(a);
                self.power_of_two(&a)
            }
            Kind::Choice(a, b, c) => {
                let (a, b, c) = (of(a), of(b), of(c));
                self.choice(&a, &b, &c)
            }
            Kind::Quotient(a, b)
            | Kind::Remainder(a, b)
            | Kind::And(a, b)
            | Kind::Or(a, b)
            | Kind::Min(a, b)
            | Kind::Max(a, b) => {
                let (a, b) = (of(a), of(b));
                self.rebuild(&kind, &a, &b)
            }
        };
        done.insert(atom, value.clone());
        value
    }

    fn rebuild(&mut self, kind: &Kind, a: &Poly, b: &Poly) -> Poly {
        match kind {
            Kind::Quotient(..) => self.quotient(a, b),
            Kind::Remainder(..) => self.remainder(a, b),
            Kind::And(..) => self.and(a, b),
            Kind::Or(..) => self.or(a, b),
            Kind::Min(..) => self.min(a, b),
            _ => self.max(a, b),
        }
    }
}
