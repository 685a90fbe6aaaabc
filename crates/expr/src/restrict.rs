//! Expressions without what only other values of their names would need.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use super::eval::{integer_binary, integer_call};
use super::expr::{BinaryOp, Expr, Function, Slot};
use super::operations::{Operation, Operations, Part};

/// The values of an expression in some environments; `None`: it has no value there.
type Values = Arc<[Option<i64>]>;

impl Expr {
    /// The expression without what these environments do not need: an operation that is one number
    /// in all of them is that number, and sides that none of them takes are left out. The first
    /// slots have the values `common` in all of them, the others those of each.
    ///
    /// In each of them it has the same value, or none if the expression has none. Without an
    /// environment it stays as it is.
    ///
    /// ```
    /// use tickbound_expr::parse::parse;
    /// let names = ["a", "b"];
    /// let over = |text: &str, values: &[[i64; 2]]| {
    ///     let slot = |n: &String| names.iter().position(|m| m == n);
    ///     let read = parse(text).unwrap().resolve(&mut |n| slot(n));
    ///     let envs: Vec<&[i64]> = values.iter().map(|env| &env[..]).collect();
    ///     let simple = read.unwrap().over(&[], &envs).simplified();
    ///     let shown = simple.resolve(&mut |slot| names.get(*slot));
    ///     shown.unwrap().to_string()
    /// };
    /// let values = [[32, 2], [64, 2], [96, 4]];
    /// assert_eq!(over("a // b if a % 32 == 0 else b", &values), "a // b");
    /// assert_eq!(over("max(a, b) + b // 5", &values), "a");
    /// ```
    ///
    /// # Panics
    /// Never for an expression resolved against the scope that made the environments.
    pub fn over(&self, common: &[i64], envs: &[&[i64]]) -> Expr {
        let own = envs.iter().map(|env| env.to_vec()).collect();
        Restriction::new(common.to_vec(), own).apply(self)
    }
}

/// Environments, with what is known of the parts of expressions in them.
#[derive(Debug, Default)]
pub struct Restriction {
    common: Vec<i64>,
    envs: Vec<Vec<i64>>,
    operations: Operations,
    known: HashMap<Part, (Part, Values)>,
}

/// Most values of parts, of 16 bytes, that are kept from one expression to the next.
const MAX_KEPT: usize = 1 << 17;

impl Restriction {
    /// That the first slots have the values `common`, and the others those of each environment.
    pub fn new(common: Vec<i64>, envs: Vec<Vec<i64>>) -> Restriction {
        Restriction { common, envs, ..Restriction::default() }
    }

    /// As [`Expr::over`]: what expressions have in common is evaluated once.
    pub fn apply(&mut self, expr: &Expr) -> Expr {
        if self.envs.is_empty() {
            return expr.clone();
        }
        if self.operations.all.len().saturating_mul(self.envs.len()) > MAX_KEPT {
            (self.operations, self.known) = Default::default();
        }
        let root = self.operations.add_all(expr);
        let envs: Vec<&[i64]> = self.envs.iter().map(Vec::as_slice).collect();
        let known = std::mem::take(&mut self.known);
        let mut over =
            Over { operations: &mut self.operations, common: &self.common, envs: &envs, known };
        let (root, _) = over.of(root);
        self.known = over.known;
        self.operations.whole(root)
    }
}

/// The parts of an expression over at least one environment, with their values.
struct Over<'n, 'e> {
    operations: &'n mut Operations,
    common: &'n [i64],
    envs: &'n [&'e [i64]],
    known: HashMap<Part, (Part, Values)>,
}

impl<'e> Over<'_, 'e> {
    fn of(&mut self, part: Part) -> (Part, Values) {
        if let Some(known) = self.known.get(&part) {
            return known.clone();
        }
        let node = self.operations.all[part as usize].clone();
        let (whole, values) = match &node {
            Operation::Int(n) => (part, self.envs.iter().map(|_| Some(*n)).collect()),
            Operation::Name(slot) => (part, self.named(*slot)),
            Operation::Conditional(c, a, b) => self.of_sides(part, (*c, *a, *b)),
            Operation::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                self.of_truths(part, *op, (*a, *b))
            }
            Operation::Neg(a) => {
                let (a, of_a) = self.of(*a);
                let values = of_a.iter().map(|a| (*a)?.checked_neg()).collect();
                (self.operations.add(Operation::Neg(a)), values)
            }
            Operation::Not(a) => {
                let (a, of_a) = self.of(*a);
                let values = of_a.iter().map(|a| Some(i64::from((*a)? == 0))).collect();
                (self.operations.add(Operation::Not(a)), values)
            }
            Operation::Binary(op, a, b) => {
                let ((a, of_a), (b, of_b)) = (self.of(*a), self.of(*b));
                let both = of_a.iter().zip(of_b.iter());
                let values = both.map(|(a, b)| integer_binary(*op, (*a)?, (*b)?).ok()).collect();
                (self.operations.add(Operation::Binary(*op, a, b)), values)
            }
            Operation::Call(f, parts) => self.of_call(*f, parts),
        };
        let is_one = |first: &i64| values.iter().all(|v| *v == Some(*first));
        let constant = values.first().copied().flatten().filter(is_one);
        let known = match constant.filter(|_| !matches!(node, Operation::Name(_))) {
            Some(one) => (self.operations.add(Operation::Int(one)), values),
            None => (whole, values),
        };
        self.known.insert(part, known.clone());
        known
    }

    fn named(&self, slot: Slot) -> Values {
        let own = slot.checked_sub(self.common.len());
        let value = |env: &&[i64]| Some(own.map_or_else(|| self.common[slot], |own| env[own]));
        self.envs.iter().map(value).collect()
    }

    /// A part in some of the environments.
    fn within(&mut self, part: Part, envs: &[&'e [i64]]) -> (Part, Values) {
        match envs.len() == self.envs.len() {
            true => self.of(part),
            false => {
                let known = HashMap::default();
                Over { operations: self.operations, common: self.common, envs, known }.of(part)
            }
        }
    }

    fn of_sides(&mut self, part: Part, (c, a, b): (Part, Part, Part)) -> (Part, Values) {
        let (condition, holds) = self.of(c);
        if holds.contains(&None) {
            // There the whole has no value either; elsewhere it may have.
            return self.as_it_is(part);
        }
        let (taken, others) = (self.those(true, &holds), self.those(false, &holds));
        if others.is_empty() {
            return self.of(a);
        }
        if taken.is_empty() {
            return self.of(b);
        }
        let ((then, left), (otherwise, right)) = (self.within(a, &taken), self.within(b, &others));
        let (mut left, mut right) = (left.iter(), right.iter());
        let value = |v: &Option<i64>| if *v == Some(0) { right.next() } else { left.next() };
        let values = holds.iter().map(value).map(|v| v.copied().flatten()).collect();
        (self.operations.add(Operation::Conditional(condition, then, otherwise)), values)
    }

    /// Both true, or one: the second is not examined where the first decides.
    fn of_truths(&mut self, part: Part, op: BinaryOp, (a, b): (Part, Part)) -> (Part, Values) {
        let (first, holds) = self.of(a);
        if holds.contains(&None) {
            return self.as_it_is(part);
        }
        let decisive = i64::from(op == BinaryOp::Or);
        let open = self.those(op == BinaryOp::And, &holds);
        if open.is_empty() {
            let values = holds.iter().map(|_| Some(decisive)).collect();
            return (self.operations.add(Operation::Int(decisive)), values);
        }
        let (second, values) = self.within(b, &open);
        let mut values = values.iter().map(|v| v.map(|v| i64::from(v != 0)));
        let decided = |v: &Option<i64>| i64::from(*v != Some(0)) == decisive;
        let value =
            |v: &Option<i64>| if decided(v) { Some(decisive) } else { values.next().flatten() };
        let values = holds.iter().map(value).collect();
        match open.len() == holds.len() && self.operations.is_truth(second) {
            true => (second, values),
            false => (self.operations.add(Operation::Binary(op, first, second)), values),
        }
    }

    fn of_call(&mut self, f: Function, parts: &[Part]) -> (Part, Values) {
        let parts: Vec<(Part, Values)> = parts.iter().map(|part| self.of(*part)).collect();
        let mut row = Vec::with_capacity(parts.len());
        let at = |i: usize| {
            row.clear();
            row.extend(parts.iter().map_while(|(_, values)| values[i]));
            if row.len() == parts.len() { integer_call(f, &row).ok() } else { None }
        };
        let values: Values = (0..self.envs.len()).map(at).collect();
        if matches!(f, Function::Min | Function::Max)
            && let Some((decides, _)) = parts.iter().find(|(_, own)| *own == values)
        {
            return (*decides, values);
        }
        (
            self.operations.add(Operation::Call(f, parts.iter().map(|(part, _)| *part).collect())),
            values,
        )
    }

    /// A part of which nothing is left out.
    fn as_it_is(&self, part: Part) -> (Part, Values) {
        let e = self.operations.whole(part);
        let value = |env: &&[i64]| e.eval(&[self.common, env].concat()).ok();
        (part, self.envs.iter().map(value).collect())
    }

    /// The environments in which a condition with these values holds, or does not.
    fn those(&self, taken: bool, holds: &[Option<i64>]) -> Vec<&'e [i64]> {
        let those = self.envs.iter().zip(holds).filter(|(_, v)| (**v != Some(0)) == taken);
        those.map(|(env, _)| *env).collect()
    }
}
