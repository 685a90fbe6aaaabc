//! Values in the expression language of problem files.

use tickbound_expr::{BinaryOp, Expr, Function};

use super::poly::gcd;
use super::{AtomKind, Monomial, Poly, PolyTerms};
use crate::steps::{SymbolExpr, opposite};

impl PolyTerms {
    /// The value as an expression; `None` if it has leaves.
    pub fn number(&self, poly: &Poly) -> Option<SymbolExpr> {
        let (factor, rest) = self.factors(poly);
        match factor.as_term() {
            Some((monomial, coefficient)) if rest.terms().len() > 1 && coefficient > 0 => {
                let sum = self.sum(&rest)?;
                if factor == Poly::int(1) {
                    return Some(sum);
                }
                let mut factors = self.product(monomial, coefficient)?;
                factors.push(sum);
                Some(multiplied(factors))
            }
            _ => self.sum(poly),
        }
    }

    /// What all terms have in common, and what is left.
    fn factors(&self, poly: &Poly) -> (Poly, Poly) {
        let Some((first, _)) = poly.terms().first() else { return (Poly::int(1), Poly::int(0)) };
        let whole = gcd(poly.content(), poly.constant_term()).max(1);
        let mut rest = poly.split((&Monomial::new(), whole)).0;
        let mut common = Monomial::new();
        for atom in first {
            let (quotient, left) = rest.split((&Monomial::from_slice(&[*atom]), 1));
            if left == Poly::int(0) {
                rest = quotient;
                common.push(*atom);
            }
        }
        (Poly::term(common, whole), rest)
    }

    fn sum(&self, poly: &Poly) -> Option<SymbolExpr> {
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        let (rounded, poly) = self.take_rounded_up(poly)?;
        plus.extend(rounded);
        let mut terms: Vec<&(Monomial, i64)> = poly.terms().iter().collect();
        // Products before what stands alone, constants last.
        terms.sort_by_key(|(monomial, _)| std::cmp::Reverse(monomial.len()));
        for (monomial, coefficient) in terms {
            let size = i64::try_from(coefficient.unsigned_abs()).ok();
            match size {
                Some(size) if *coefficient < 0 => {
                    minus.push(multiplied(self.product(monomial, size)?))
                }
                _ => plus.push(multiplied(self.product(monomial, *coefficient)?)),
            }
        }
        Some(difference(plus, minus))
    }

    /// `(p - 1) // d + 1` is `ceil_div(p, d)`.
    fn take_rounded_up(&self, poly: &Poly) -> Option<(Option<SymbolExpr>, Poly)> {
        if poly.constant_term() < 1 {
            return Some((None, poly.clone()));
        }
        for (monomial, coefficient) in poly.terms() {
            let ([atom], 1) = (monomial.as_slice(), *coefficient) else { continue };
            let AtomKind::Quotient(a, d) = self.kind(*atom) else { continue };
            if a.constant_term() >= 0 {
                continue;
            }
            let arguments = vec![self.number(&a.add(&Poly::int(1))?)?, self.number(d)?];
            let rest = poly.sub(&Poly::atom(*atom))?.sub(&Poly::int(1))?;
            return Some((Some(Expr::Call(Function::CeilDiv, arguments)), rest));
        }
        Some((None, poly.clone()))
    }

    /// The factors of a term.
    fn product(&self, monomial: &Monomial, coefficient: i64) -> Option<Vec<SymbolExpr>> {
        let mut left = monomial.clone();
        let mut factors = Vec::new();
        if coefficient != 1 || monomial.is_empty() {
            factors.push(Expr::Int(coefficient));
        }
        for d in 0..3 {
            self.global_size(d, &mut left, &mut factors);
        }
        for atom in left {
            factors.push(self.atom_number(self.kind(atom))?);
        }
        Some(factors)
    }

    /// `$groups_d * $local_d` is `$global_d`, also where the size of a group has another name.
    fn global_size(&self, d: usize, left: &mut Monomial, factors: &mut Vec<SymbolExpr>) {
        let (Some(groups), Some(size)) = (self.find("groups", d), self.local_size(d)) else {
            return;
        };
        let Some((size, 1)) = size.as_term() else { return };
        let mut rest = left.clone();
        for atom in size.iter().chain([&groups]) {
            let Some(place) = rest.iter().position(|a| a == atom) else { return };
            rest.remove(place);
        }
        *left = rest;
        factors.push(Expr::Name(format!("$global_{d}")));
    }

    fn atom_number(&self, kind: &AtomKind) -> Option<SymbolExpr> {
        let two = |op, a: &Poly, b: &Poly| Some(Expr::binary(op, self.number(a)?, self.number(b)?));
        let call =
            |f, a: &Poly, b: &Poly| Some(Expr::Call(f, vec![self.number(a)?, self.number(b)?]));
        Some(match kind {
            AtomKind::Name(name) => Expr::Name(name.to_string()),
            AtomKind::Leaf(_) => return None,
            AtomKind::Quotient(a, d) => two(BinaryOp::FloorDiv, a, d)?,
            AtomKind::Remainder(a, d) => two(BinaryOp::Rem, a, d)?,
            AtomKind::And(a, b) => two(BinaryOp::And, a, b)?,
            AtomKind::Or(a, b) => two(BinaryOp::Or, a, b)?,
            AtomKind::Negative(a) => self.comparison(BinaryOp::Lt, a)?,
            AtomKind::Zero(a) => self.comparison(BinaryOp::Eq, a)?,
            AtomKind::Choice(c, a, b) => {
                let (c, a, b) = (self.number(c)?, self.number(a)?, self.number(b)?);
                Expr::conditional(c, a, b)
            }
            AtomKind::Min(a, b) => call(Function::Min, a, b)?,
            AtomKind::Max(a, b) => call(Function::Max, a, b)?,
            AtomKind::Power(a) => Expr::binary(BinaryOp::Pow, Expr::Int(2), self.number(a)?),
        })
    }

    /// `left op right` for `left - right op 0`, without minus signs.
    fn comparison(&self, op: BinaryOp, difference: &Poly) -> Option<SymbolExpr> {
        let (mut left, mut right) = (Poly::int(0), Poly::int(0));
        for (monomial, coefficient) in difference.terms() {
            let term = Poly::term(monomial.clone(), *coefficient);
            if *coefficient > 0 {
                left = left.add(&term)?;
            } else {
                right = right.sub(&term)?;
            }
        }
        let (op, left, right) = match (left.constant(), right.constant()) {
            // 1 < x is x > 1; x + ... never on the right alone
            (Some(0), _) if op == BinaryOp::Lt => (BinaryOp::Gt, right, left),
            (Some(c), None) if op == BinaryOp::Lt => (BinaryOp::Gt, right, Poly::int(c)),
            (Some(c), None) => (op, right, Poly::int(c)),
            // x < y + 1 is x <= y
            (None, None) if op == BinaryOp::Lt && right.constant_term() == 1 => {
                (BinaryOp::Le, left, right.sub(&Poly::int(1))?)
            }
            _ => (op, left, right),
        };
        Some(Expr::binary(op, self.number(&left)?, self.number(&right)?))
    }
}

fn multiplied(factors: Vec<SymbolExpr>) -> SymbolExpr {
    factors.into_iter().reduce(|a, b| Expr::binary(BinaryOp::Mul, a, b)).unwrap_or(Expr::Int(1))
}

/// The sum of some less the sum of others; `1 - c` for a truth value `c` is `not c`.
fn difference(plus: Vec<SymbolExpr>, minus: Vec<SymbolExpr>) -> SymbolExpr {
    if let ([Expr::Int(1)], [condition]) = (plus.as_slice(), minus.as_slice())
        && let Some(negated) = negated(condition)
    {
        return negated;
    }
    let mut plus = plus.into_iter();
    let mut minus = minus.into_iter();
    let first = match plus.next() {
        Some(first) => first,
        None => match minus.next() {
            Some(Expr::Int(value)) => Expr::Int(-value),
            Some(first) => Expr::Neg(Box::new(first)),
            None => Expr::Int(0),
        },
    };
    let sum = plus.fold(first, |a, b| Expr::binary(BinaryOp::Add, a, b));
    minus.fold(sum, |a, b| Expr::binary(BinaryOp::Sub, a, b))
}

fn negated(condition: &SymbolExpr) -> Option<SymbolExpr> {
    match condition {
        Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) => {
            Some(Expr::Not(Box::new(condition.clone())))
        }
        Expr::Binary(op, a, b) => Some(Expr::Binary(opposite(*op)?, a.clone(), b.clone())),
        _ => None,
    }
}
