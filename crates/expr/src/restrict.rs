//! Expressions without what only other values of their names would need.

use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

use super::eval::{EvalError, integer_binary, integer_call};
use super::expr::{BinaryOp, Expr, Function, Slot};
use super::operations::{Operation, Operations, Part};

/// The values of an expression in some environments.
#[derive(Debug, Clone)]
enum Values {
    /// It has this one in all of them.
    Same(i64),
    /// It has one in each.
    Each(Arc<Vec<i64>>),
    /// It has none in some.
    Partial(Arc<[Option<i64>]>),
}

impl Values {
    /// Those in this many environments, at least one.
    fn new(count: usize, mut at: impl FnMut(usize) -> Option<i64>) -> Values {
        let mut each = Vec::with_capacity(count);
        for i in 0..count {
            match at(i) {
                Some(value) => each.push(value),
                None => {
                    let before = each.into_iter().map(Some).chain([None]);
                    return Values::Partial(before.chain((i + 1..count).map(at)).collect());
                }
            }
        }
        match each.windows(2).all(|pair| pair[0] == pair[1]) {
            true => Values::Same(each[0]),
            false => Values::Each(Arc::new(each)),
        }
    }

    fn at(&self, environment: usize) -> Option<i64> {
        match self {
            Values::Same(value) => Some(*value),
            Values::Each(all) => Some(all[environment]),
            Values::Partial(all) => all[environment],
        }
    }

    /// How many values are stored.
    fn len(&self) -> usize {
        match self {
            Values::Same(_) => 1,
            Values::Each(all) => all.len(),
            Values::Partial(all) => 2 * all.len(),
        }
    }
}

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
        let slots = envs.first().map_or(0, |env| env.len());
        let column = |i: usize| (common.len() + i, envs.iter().map(|env| env[i]).collect());
        Restriction::new(common.to_vec(), envs.len(), (0..slots).map(column)).apply(self)
    }
}

/// Environments, with what is known of the parts of expressions in them.
#[derive(Debug, Default)]
pub struct Restriction {
    common: Vec<i64>,
    /// How many there are.
    count: usize,
    /// The values of the names that differ.
    columns: HashMap<Slot, Values>,
    operations: Operations,
    known: Known,
    /// How many values are in `known`.
    kept: usize,
}

/// Parts restricted, and their values.
type Known = HashMap<Part, (Part, Values)>;

/// Most values of parts that are kept from one expression to the next.
const MAX_KEPT: usize = 1 << 16;

impl Restriction {
    /// That the first slots have the values `common` in all of `count` environments, and others
    /// these values, one for each.
    pub fn new(
        common: Vec<i64>,
        count: usize,
        columns: impl IntoIterator<Item = (Slot, Vec<i64>)>,
    ) -> Restriction {
        let column = |(slot, values): (Slot, Vec<i64>)| {
            (slot, Values::new(count, |i| values.get(i).copied()))
        };
        let columns = match count {
            0 => HashMap::default(),
            _ => columns.into_iter().map(column).collect(),
        };
        Restriction { common, count, columns, ..Restriction::default() }
    }

    /// As [`Expr::over`]: what expressions have in common is evaluated once. An expression with a
    /// name that has no values here stays as it is.
    pub fn apply(&mut self, expr: &Expr) -> Expr {
        let is_open = |slot| slot >= self.common.len() && !self.columns.contains_key(&slot);
        if self.count == 0 || expr.mentions(is_open) {
            return expr.clone();
        }
        if self.kept > MAX_KEPT {
            (self.operations, self.known, self.kept) = Default::default();
        }
        let root = self.operations.add_all(expr);
        let mut over = Over {
            operations: &mut self.operations,
            common: &self.common,
            columns: &self.columns,
            envs: &Vec::from_iter(0..self.count),
            known: std::mem::take(&mut self.known),
            kept: self.kept,
        };
        let (root, _) = over.of(root);
        (self.known, self.kept) = (over.known, over.kept);
        self.operations.whole(root)
    }
}

/// The parts of an expression over at least one environment, with their values.
struct Over<'n> {
    operations: &'n mut Operations,
    common: &'n [i64],
    columns: &'n HashMap<Slot, Values>,
    /// The environments, by their places in the columns.
    envs: &'n [usize],
    known: Known,
    kept: usize,
}

impl Over<'_> {
    fn of(&mut self, part: Part) -> (Part, Values) {
        if let Some(known) = self.known.get(&part) {
            return known.clone();
        }
        let operation = self.operations.all[part as usize].clone();
        let is_name = matches!(operation, Operation::Name(_));
        let (whole, values) = match operation {
            Operation::Int(n) => (part, Values::Same(n)),
            Operation::Name(slot) => (part, self.named(slot)),
            Operation::Conditional(c, a, b) => self.of_sides(part, (c, a, b)),
            Operation::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                self.of_truths(part, op, (a, b))
            }
            Operation::Neg(a) => {
                let (a, of_a) = self.of(a);
                let values = self.values(|i| of_a.at(i)?.checked_neg());
                (self.operations.add(Operation::Neg(a)), values)
            }
            Operation::Not(a) => {
                let (a, of_a) = self.of(a);
                let values = self.values(|i| Some(i64::from(of_a.at(i)? == 0)));
                (self.operations.add(Operation::Not(a)), values)
            }
            Operation::Binary(op, a, b) => {
                let ((a, of_a), (b, of_b)) = (self.of(a), self.of(b));
                let values = self.values(|i| integer_binary(op, of_a.at(i)?, of_b.at(i)?).ok());
                (self.operations.add(Operation::Binary(op, a, b)), values)
            }
            Operation::Call(f, parts) => self.of_call(f, &parts),
        };
        let known = match values {
            Values::Same(one) if !is_name => (self.operations.add(Operation::Int(one)), values),
            values => (whole, values),
        };
        self.kept += known.1.len();
        self.known.insert(part, known.clone());
        known
    }

    fn values(&self, at: impl FnMut(usize) -> Option<i64>) -> Values {
        Values::new(self.envs.len(), at)
    }

    /// The value of a name in an environment.
    fn at(&self, slot: Slot, env: usize) -> Option<i64> {
        match self.common.get(slot) {
            Some(value) => Some(*value),
            None => self.columns.get(&slot)?.at(env),
        }
    }

    fn named(&self, slot: Slot) -> Values {
        match self.columns.get(&slot) {
            Some(Values::Each(all)) if all.len() == self.envs.len() => Values::Each(all.clone()),
            _ => self.values(|i| self.at(slot, self.envs[i])),
        }
    }

    /// A part in some of the environments.
    fn within(&mut self, part: Part, envs: &[usize]) -> (Part, Values) {
        if envs.len() == self.envs.len() {
            return self.of(part);
        }
        let (common, columns) = (self.common, self.columns);
        let (operations, known) = (&mut *self.operations, Known::default());
        Over { operations, common, columns, envs, known, kept: 0 }.of(part)
    }

    fn of_sides(&mut self, part: Part, (c, a, b): (Part, Part, Part)) -> (Part, Values) {
        let (condition, holds) = self.of(c);
        if matches!(holds, Values::Partial(_)) {
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
        let (mut left, mut right) = ((0..).map(|i| left.at(i)), (0..).map(|i| right.at(i)));
        let values = self.values(|i| match holds.at(i) {
            Some(0) => right.next()?,
            _ => left.next()?,
        });
        (self.operations.add(Operation::Conditional(condition, then, otherwise)), values)
    }

    /// Both true, or one: the second is not examined where the first decides.
    fn of_truths(&mut self, part: Part, op: BinaryOp, (a, b): (Part, Part)) -> (Part, Values) {
        let (first, holds) = self.of(a);
        if matches!(holds, Values::Partial(_)) {
            return self.as_it_is(part);
        }
        let decisive = i64::from(op == BinaryOp::Or);
        let open = self.those(op == BinaryOp::And, &holds);
        if open.is_empty() {
            return (self.operations.add(Operation::Int(decisive)), Values::Same(decisive));
        }
        let (second, values) = self.within(b, &open);
        let mut second_values = (0..).map(|i| Some(i64::from(values.at(i)? != 0)));
        let decided = |i: usize| i64::from(holds.at(i) != Some(0)) == decisive;
        let values = self
            .values(|i| if decided(i) { Some(decisive) } else { second_values.next().flatten() });
        match open.len() == self.envs.len() && self.operations.is_truth(second) {
            true => (second, values),
            false => (self.operations.add(Operation::Binary(op, first, second)), values),
        }
    }

    fn of_call(&mut self, f: Function, parts: &[Part]) -> (Part, Values) {
        let parts: Vec<(Part, Values)> = parts.iter().map(|part| self.of(*part)).collect();
        let values = self.values(|i| match &parts[..] {
            [(_, a), (_, b)] => integer_call(f, &[a.at(i)?, b.at(i)?]).ok(),
            parts => {
                let row = parts.iter().map(|(_, values)| values.at(i));
                integer_call(f, &row.collect::<Option<Vec<_>>>()?).ok()
            }
        });
        let is_whole = |own: &Values| (0..self.envs.len()).all(|i| own.at(i) == values.at(i));
        if matches!(f, Function::Min | Function::Max)
            && let Some((decides, _)) = parts.iter().find(|(_, own)| is_whole(own))
        {
            return (*decides, values);
        }
        let parts = parts.iter().map(|(part, _)| *part).collect();
        (self.operations.add(Operation::Call(f, parts)), values)
    }

    /// A part of which nothing is left out.
    fn as_it_is(&self, part: Part) -> (Part, Values) {
        let e = self.operations.whole(part);
        let values = self.values(|i| {
            let value = |slot| self.at(slot, self.envs[i]).ok_or(EvalError::Overflow);
            e.eval_with(&mut { value }).ok()
        });
        (part, values)
    }

    /// The environments in which a condition with these values holds, or does not.
    fn those(&self, taken: bool, holds: &Values) -> Vec<usize> {
        let those =
            self.envs.iter().enumerate().filter(|(i, _)| (holds.at(*i) != Some(0)) == taken);
        those.map(|(_, env)| *env).collect()
    }
}
