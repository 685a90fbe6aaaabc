//! What is known to hold: facts of the path, bounds of atoms, and what follows from them.

use super::{Atom, Kind, Poly, Terms};

/// How many bounds of atoms are tried one inside the other.
const DEPTH: usize = 4;

impl Terms {
    /// How many facts there are; for [`Terms::forget`].
    pub fn facts(&self) -> usize {
        self.facts.len()
    }

    /// Takes a truth value for granted from here on.
    pub fn assume(&mut self, condition: &Poly) {
        match self.kind_of(condition).cloned() {
            Some(Kind::Negative(poly)) => self.facts.push(poly),
            Some(Kind::And(a, b)) => {
                self.assume(&a);
                self.assume(&b);
            }
            Some(Kind::Zero(poly)) => {
                // poly - 1 < 0 and -poly - 1 < 0
                let below = poly.sub(&Poly::int(1));
                let above = poly.scale(-1).and_then(|p| p.sub(&Poly::int(1)));
                self.facts.extend(below);
                self.facts.extend(above);
            }
            Some(_) => {}
            None => self.assume_not_all(condition),
        }
    }

    /// `1 - atom`: neither of the sides of an `or`, and a number that is not zero next to zero.
    fn assume_not_all(&mut self, condition: &Poly) {
        let negated = Poly::int(1).sub(condition);
        match negated.and_then(|n| self.kind_of(&n).cloned()) {
            Some(Kind::Or(a, b)) => {
                let (a, b) = (self.not(&a), self.not(&b));
                self.assume(&a);
                self.assume(&b);
            }
            Some(Kind::Zero(poly)) => {
                let negative = poly.scale(-1);
                if self.never_negative(&poly) {
                    self.facts.extend(negative); // poly > 0
                } else if negative.as_ref().is_some_and(|n| self.never_negative(n)) {
                    self.facts.push(poly);
                }
            }
            _ => {}
        }
    }

    /// Forgets all but the first so many facts.
    pub fn forget(&mut self, keep: usize) {
        self.facts.truncate(keep);
    }

    /// Whether the value is certainly less than zero.
    pub fn negative_always(&self, poly: &Poly) -> bool {
        if self.below_zero(poly, DEPTH) {
            return true;
        }
        // From p < 0 follows q < 0 if q - p <= 0.
        self.facts.iter().any(|fact| {
            let rest = poly.sub(fact).and_then(|d| d.sub(&Poly::int(1)));
            rest.is_some_and(|rest| self.below_zero(&rest, 2))
        })
    }

    /// Whether the value is certainly not less than zero.
    pub fn never_negative(&self, poly: &Poly) -> bool {
        let complement = poly.scale(-1).and_then(|p| p.sub(&Poly::int(1)));
        complement.is_some_and(|p| self.negative_always(&p))
    }

    /// Whether `a < b` certainly.
    pub fn less_always(&self, a: &Poly, b: &Poly) -> bool {
        a.sub(b).is_some_and(|d| self.negative_always(&d))
    }

    /// By intervals, and by putting bounds in the place of atoms.
    fn below_zero(&self, poly: &Poly, depth: usize) -> bool {
        if self.interval(poly).greatest < 0 {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let mut atoms: Vec<Atom> = poly.atoms().collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms.iter().rev().any(|atom| {
            let Some((factor, rest)) = poly.linear_in(*atom) else { return false };
            if self.interval(&factor).least < 0 {
                return false;
            }
            self.info(*atom).uppers.iter().any(|upper| {
                let bound = factor.mul(upper).and_then(|p| p.add(&rest));
                bound.is_some_and(|bound| self.below_zero(&bound, depth - 1))
            })
        })
    }
}
