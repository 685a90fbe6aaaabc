//! Expressions without what only other values of their names would need.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use super::eval::{integer_binary, integer_call};
use super::expr::{BinaryOp, Expr, Function};

/// The values of an expression in some environments; `None`: it has no value there.
type Values = Rc<[Option<i64>]>;

impl Expr {
    /// The expression as far as these environments need it, each with the values of all
    /// slots: an operation that is one number in all of them is that number, and sides that
    /// none of them takes are left out.
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
    ///     let simple = read.unwrap().over(&envs).simplified();
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
    pub fn over(&self, envs: &[&[i64]]) -> Expr {
        if envs.is_empty() {
            return self.clone();
        }
        let mut shared = Shared::default();
        let root = shared.add(self);
        Over { shared: &shared, envs, known: HashMap::default() }.of(root).0
    }
}

/// An expression whose equal parts are one.
#[derive(Default)]
struct Shared {
    /// Each part once, with the numbers of its own parts as names, and these numbers.
    nodes: Vec<(Expr, Vec<usize>)>,
    numbers: HashMap<Expr, usize>,
}

impl Shared {
    fn add(&mut self, e: &Expr) -> usize {
        let parts: Vec<usize> = e.parts().map(|part| self.add(part)).collect();
        let mut names = parts.iter().map(|part| Expr::Name(*part));
        let node = e.with_parts(|_| names.next()).unwrap_or_else(|| e.clone());
        match self.numbers.get(&node) {
            Some(number) => *number,
            None => {
                self.numbers.insert(node.clone(), self.nodes.len());
                self.nodes.push((node, parts));
                self.nodes.len() - 1
            }
        }
    }

    /// A part as it was.
    fn whole(&self, node: usize) -> Expr {
        let (e, parts) = &self.nodes[node];
        let mut parts = parts.iter().map(|part| self.whole(*part));
        e.with_parts(|_| parts.next()).unwrap_or_else(|| e.clone())
    }
}

/// The parts of an expression over at least one environment, with their values.
struct Over<'s, 'e> {
    shared: &'s Shared,
    envs: &'s [&'e [i64]],
    known: HashMap<usize, (Expr, Values)>,
}

impl<'e> Over<'_, 'e> {
    fn of(&mut self, node: usize) -> (Expr, Values) {
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        let (e, parts) = &self.shared.nodes[node];
        let (whole, values) = match (e, parts.as_slice()) {
            (Expr::Int(n), _) => (e.clone(), self.envs.iter().map(|_| Some(*n)).collect()),
            (Expr::Name(slot), _) => {
                (e.clone(), self.envs.iter().map(|env| Some(env[*slot])).collect())
            }
            (Expr::Conditional(..), [a, c, b]) => self.of_sides(node, (*c, *a, *b)),
            (Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..), [a, b]) => {
                self.of_truths(node, *op, (*a, *b))
            }
            _ => self.of_parts(e, parts),
        };
        let is_one = |first: &i64| values.iter().all(|v| *v == Some(*first));
        let known = match values.first().copied().flatten().filter(is_one) {
            Some(one) if !parts.is_empty() => (Expr::Int(one), values),
            _ => (whole, values),
        };
        self.known.insert(node, known.clone());
        known
    }

    /// A part in some of the environments.
    fn within(&mut self, node: usize, envs: &[&'e [i64]]) -> (Expr, Values) {
        match envs.len() == self.envs.len() {
            true => self.of(node),
            false => Over { shared: self.shared, envs, known: HashMap::default() }.of(node),
        }
    }

    fn of_sides(&mut self, node: usize, (c, a, b): (usize, usize, usize)) -> (Expr, Values) {
        let (condition, holds) = self.of(c);
        if holds.contains(&None) {
            // There the whole has no value either; elsewhere it may have.
            return self.as_it_is(node);
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
        (Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)), values)
    }

    /// Both true, or one: the second is not examined where the first decides.
    fn of_truths(&mut self, node: usize, op: BinaryOp, (a, b): (usize, usize)) -> (Expr, Values) {
        let (first, holds) = self.of(a);
        if holds.contains(&None) {
            return self.as_it_is(node);
        }
        let decisive = i64::from(op == BinaryOp::Or);
        let open = self.those(op == BinaryOp::And, &holds);
        if open.is_empty() {
            return (Expr::Int(decisive), holds.iter().map(|_| Some(decisive)).collect());
        }
        let (second, values) = self.within(b, &open);
        let mut values = values.iter().map(|v| v.map(|v| i64::from(v != 0)));
        let decided = |v: &Option<i64>| i64::from(*v != Some(0)) == decisive;
        let value =
            |v: &Option<i64>| if decided(v) { Some(decisive) } else { values.next().flatten() };
        let values = holds.iter().map(value).collect();
        let alone = open.len() == holds.len() && is_truth(&second);
        (if alone { second } else { Expr::binary(op, first, second) }, values)
    }

    fn of_parts(&mut self, e: &Expr, parts: &[usize]) -> (Expr, Values) {
        let mut parts: Vec<(Expr, Values)> = parts.iter().map(|part| self.of(*part)).collect();
        let values: Values = match (e, parts.as_slice()) {
            (Expr::Binary(op, ..), [(_, left), (_, right)]) => {
                let at =
                    |(a, b): (&Option<i64>, &Option<i64>)| integer_binary(*op, (*a)?, (*b)?).ok();
                left.iter().zip(right.iter()).map(at).collect()
            }
            _ => {
                let row = |i: usize| parts.iter().map(|(_, values)| values[i]).collect();
                (0..self.envs.len()).map(|i| value(e, row(i))).collect()
            }
        };
        if let Expr::Call(Function::Min | Function::Max, _) = e
            && let Some(decides) = parts.iter().position(|(_, own)| *own == values)
        {
            return (parts.swap_remove(decides).0, values);
        }
        let mut own = parts.into_iter().map(|(part, _)| part);
        (e.with_parts(|_| own.next()).unwrap_or_else(|| e.clone()), values)
    }

    /// A part of which nothing is left out.
    fn as_it_is(&self, node: usize) -> (Expr, Values) {
        let e = self.shared.whole(node);
        let values = self.envs.iter().map(|env| e.eval(env).ok()).collect();
        (e, values)
    }

    /// The environments in which a condition with these values holds, or does not.
    fn those(&self, taken: bool, holds: &[Option<i64>]) -> Vec<&'e [i64]> {
        let those = self.envs.iter().zip(holds).filter(|(_, v)| (**v != Some(0)) == taken);
        those.map(|(env, _)| *env).collect()
    }
}

/// Whether it is 0 or 1 for any values.
fn is_truth(e: &Expr) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    match e {
        Expr::Not(_) => true,
        Expr::Binary(op, ..) => matches!(op, And | Or | Eq | Ne | Lt | Le | Gt | Ge),
        _ => false,
    }
}

/// The value of an operation on one part, or of a function, given those of its parts.
fn value(e: &Expr, parts: Option<Vec<i64>>) -> Option<i64> {
    match (e, parts?.as_slice()) {
        (Expr::Neg(_), [a]) => a.checked_neg(),
        (Expr::Not(_), [a]) => Some(i64::from(*a == 0)),
        (Expr::Call(f, _), parts) => integer_call(*f, parts).ok(),
        _ => None,
    }
}
