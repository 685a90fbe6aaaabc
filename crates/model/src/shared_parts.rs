//! Parts of an expression as definitions of a problem.
//!
//! Repeated parts of an expression are evaluated once, and its texts can be read again.

use std::collections::{HashMap, HashSet};

use tickbound_expr::interval::Interval;
use tickbound_expr::parse::MAX_LENGTH;
use tickbound_expr::{BinaryOp, Expr, Slot};

use crate::{ModelError, Problem};

/// Greatest size of an expression, in operators, numbers and names, that is not split: its text
/// fits [`MAX_LENGTH`] if names have 20 letters.
const MAX_SIZE: usize = MAX_LENGTH / 20;
/// Greatest size of the conditions that lead to a part, before they are a definition.
const MAX_PATH: usize = 24;
/// Levels that a part nests, at most.
const MAX_LEVELS: usize = 24;

impl Problem {
    /// The expression over names of the problem, with definitions for what occurs several times or
    /// is large. No other expression of the problem may be over what differs between items.
    ///
    /// A part that may have no value stays where it is, as definitions are evaluated for all
    /// configurations.
    ///
    /// # Errors
    /// A name is refused.
    pub(crate) fn with_shared_parts(&mut self, expr: &Expr) -> Result<Expr, ModelError> {
        self.with_parts(expr, None)
    }

    /// The same for an expression that is evaluated where `path` holds, if that is given: a part
    /// that may have no value is then a definition under the conditions that lead to it, so that
    /// it has a value where the whole has one.
    fn with_parts(&mut self, expr: &Expr, path: Option<Expr>) -> Result<Expr, ModelError> {
        let mut of = self.parameter_intervals();
        of.truncate(self.first_definition());
        for (_, definition) in &self.definitions {
            let anything = Interval { low: i64::MIN, high: i64::MAX };
            of.push(definition.range(&of).values.unwrap_or(anything));
        }
        let mut parts = Parts {
            times: HashMap::new(),
            of,
            known: HashMap::new(),
            new: Vec::new(),
            guarded: HashSet::new(),
            path,
        };
        parts.count(expr);
        let whole = parts.part(expr);
        let first = self.first_item_slot();
        let mut names = (1..).map(|n| format!("part_{n}"));
        for (slot, part) in (first..).zip(parts.new) {
            let name = names.find(|name| self.scope.slot(name).is_none()).unwrap_or_default();
            self.scope.insert(slot, &name)?;
            self.definitions.push((name, part));
        }
        Ok(whole)
    }

    /// Its definitions and usage, with definitions for parts of a usage that is too long to be
    /// read again, without its program; `None` if no usage is.
    pub(crate) fn with_short_usage(&self) -> Option<Problem> {
        let is_long = |expr: &Expr| self.scope.show(expr).len() > MAX_LENGTH;
        if !self.usage.entries().any(|(_, expr)| is_long(expr)) {
            return None;
        }
        let mut short = Problem { kernel: Vec::new(), ..self.clone() }.kernel_alone();
        let mut usage = short.usage.clone();
        for (_, expr) in usage.entries_mut().filter(|(_, expr)| is_long(expr)) {
            *expr = short.with_parts(expr, Some(Expr::Int(1))).ok()?;
        }
        short.usage = usage;
        Some(short)
    }
}

struct Parts<'e> {
    times: HashMap<&'e Expr, usize>,
    /// Where the values of names lie, those of new definitions at the end.
    of: Vec<Interval>,
    /// The slots of parts that are definitions.
    known: HashMap<&'e Expr, Slot>,
    new: Vec<Expr>,
    /// Definitions that have the value of a part only where the path to it holds.
    guarded: HashSet<Slot>,
    /// What holds where the present part is evaluated, if that is known.
    path: Option<Expr>,
}

impl<'e> Parts<'e> {
    fn count(&mut self, expr: &'e Expr) {
        let times = self.times.entry(expr).or_default();
        *times += 1;
        if *times == 1 {
            expr.parts().for_each(|part| self.count(part));
        }
    }

    fn part(&mut self, expr: &'e Expr) -> Expr {
        if let Some(slot) = self.known.get(expr) {
            return Expr::Name(*slot);
        }
        let Some(own) = self.split(expr) else { return expr.clone() };
        let size = own.size();
        let repeated = size > 2 && self.times.get(expr).is_some_and(|times| *times > 1);
        if !repeated && size <= MAX_SIZE && levels(&own) <= MAX_LEVELS {
            return own;
        }
        let range = own.range(&self.of);
        let only_here = self.is_guarded(&own);
        match (range.values, &self.path) {
            (Some(values), _) if !range.may_fail => {
                let slot = self.define(own, values);
                if only_here {
                    self.guarded.insert(slot);
                } else {
                    self.known.insert(expr, slot);
                }
                Expr::Name(slot)
            }
            (Some(values), Some(path)) => {
                let zero = Interval { low: values.low.min(0), high: values.high.max(0) };
                let slot = self.define(conditional(path.clone(), own, Expr::Int(0)), zero);
                self.guarded.insert(slot);
                Expr::Name(slot)
            }
            _ => own,
        }
    }

    /// True if a part is a definition that has its value only where some path holds.
    fn is_guarded(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(slot) => self.guarded.contains(slot),
            _ => expr.parts().any(|part| self.is_guarded(part)),
        }
    }

    /// The same operation on definitions of its parts.
    fn split(&mut self, expr: &'e Expr) -> Option<Expr> {
        let path = self.path.clone();
        let own = match (expr, &path) {
            (Expr::Conditional(c, a, b), Some(path)) => {
                let c = self.part(c);
                self.path = Some(self.longer(path, c.clone()));
                let a = self.part(a);
                self.path = Some(self.longer(path, Expr::Not(Box::new(c.clone()))));
                let b = self.part(b);
                Some(conditional(c, a, b))
            }
            (Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b), Some(_)) => {
                let a = self.part(a);
                // Whether the second is evaluated is the first one's value.
                self.path = None;
                let mut both = [a, self.part(b)].into_iter();
                expr.with_parts(|_| both.next())
            }
            _ => {
                let parts: Vec<Expr> = expr.parts().map(|part| self.part(part)).collect();
                let mut parts = parts.into_iter();
                expr.with_parts(|_| parts.next())
            }
        };
        self.path = path;
        own
    }

    /// A path with one more condition.
    fn longer(&mut self, path: &Expr, condition: Expr) -> Expr {
        let longer = match path {
            Expr::Int(1) => condition,
            path => Expr::binary(BinaryOp::And, path.clone(), condition),
        };
        if longer.size() <= MAX_PATH {
            return longer;
        }
        let holds = conditional(longer, Expr::Int(1), Expr::Int(0));
        Expr::Name(self.define(holds, Interval { low: 0, high: 1 }))
    }

    /// The slot of a new definition.
    fn define(&mut self, expr: Expr, values: Interval) -> Slot {
        let slot = self.of.len();
        self.of.push(values);
        self.new.push(expr);
        slot
    }
}

fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))
}

fn levels(expr: &Expr) -> usize {
    1 + expr.parts().map(levels).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_that_occur_twice_or_are_large() {
        let value = json!({
            "inputs": { "n": 64 }, "definitions": { "part_1": "n + 1" },
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { "A": [0, 3], "B": [1, 2] },
            "launch": { "global_size": "n", "local_size": 8 }, "kernel": []
        });
        let mut problem =
            Problem::from_value(&value, &IndexMap::new(), &|_| unreachable!()).unwrap();
        let read = |text: &str| problem.scope.expression("here", text).unwrap();
        let twice = read("(A + B * 2) * (A + B * 2) + (n // A + n // A if A > 0 else part_1)");
        let mut long = read("A");
        for i in 0..300 {
            long += read("B") * i;
        }
        let texts = |problem: &Problem| -> Vec<String> {
            problem.definitions.iter().map(|(_, e)| problem.scope.show(e)).collect()
        };
        let shared = problem.with_shared_parts(&twice).unwrap();
        // A part that may divide by zero stays in place.
        assert_eq!(texts(&problem), ["n + 1", "A + B * 2"]);
        let shown = "part_2 * part_2 + (n // A + n // A if A > 0 else part_1)";
        assert_eq!(problem.scope.show(&shared), shown);
        assert_eq!(problem.scope.name(problem.first_item_slot()), "lid");
        let whole = problem.with_shared_parts(&long).unwrap();
        let texts = texts(&problem);
        assert!(texts.len() > 10 && texts.iter().all(|text| text.len() < MAX_LENGTH), "{texts:?}");
        // In the problem that is read again all values are as before.
        let again = problem.scope.show(&whole);
        let parameters = IndexMap::from([("A".into(), 3), ("B".into(), 2)]);
        let env = problem.bind(&parameters).unwrap().env;
        assert_eq!(whole.eval(&env).unwrap(), 3 + 2 * (0..300).sum::<i64>(), "{again}");
        assert_eq!(shared.eval(&env).unwrap(), 49 + 42);
    }

    #[test]
    fn a_long_usage_is_written_with_definitions() {
        let value = json!({
            "profile": "resources",
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4,
                "resources": { "warp_width": 32 } },
            "parameters": { "A": [0, 3], "B": [1, 2] },
            "launch": { "global_size": 64, "local_size": 8 },
            "kernel": [{ "compute": "lid + A" }], "usage": { "real": "B * 7" }
        });
        let read = |value: &serde_json::Value| {
            Problem::from_value(value, &IndexMap::new(), &|_| unreachable!()).unwrap()
        };
        let mut problem = read(&value);
        let before = problem.json();
        let product = problem.scope.expression("here", "B * A").unwrap();
        for i in 0..300 {
            problem.usage.real += product.clone() * i;
        }
        let written = problem.json();
        let again = read(&written);
        assert_eq!(again.json(), written);
        assert!(again.definitions.len() > 3 && problem.definitions.is_empty());
        assert_eq!(written["kernel"], before["kernel"]);
        let parameters = IndexMap::from([("A".into(), 3), ("B".into(), 2)]);
        let real = |problem: &Problem| {
            let env = problem.bind(&parameters).unwrap().env;
            problem.usage.real.eval(&env).unwrap()
        };
        assert_eq!([real(&problem), real(&again)], [14 + 6 * (0..300).sum::<i64>(); 2]);
    }

    /// Nested variants, each of which has a value only where it is chosen, and a part of them that
    /// occurs in two.
    #[test]
    fn variants_have_their_values_in_definitions() {
        let value = json!({
            "profile": "resources",
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4,
                "resources": { "warp_width": 32 } },
            "parameters": { "A": Vec::from_iter(0..90), "B": [0, 1, 2] },
            "launch": { "global_size": 64, "local_size": 8 }, "kernel": []
        });
        let read = |value: &serde_json::Value| {
            Problem::from_value(value, &IndexMap::new(), &|_| unreachable!()).unwrap()
        };
        let mut problem = read(&value);
        let term = |text: &str| problem.scope.expression("here", text).unwrap();
        let quotient = (1..30).fold(term("7"), |sum, i| sum + term("100 // B") * i);
        let mut real = term("B");
        for a in 0..90 {
            let chosen = if a % 7 == 0 { quotient.clone() } else { term("90 // A") * a };
            real = conditional(term(&format!("A == {a} and (B > 0 or A % 7 != 0)")), chosen, real);
        }
        problem.usage.real = real;
        let again = read(&problem.json());
        assert!(again.definitions.len() > 20, "{}", again.definitions.len());
        for (a, b) in (0..90).flat_map(|a| [(a, 0), (a, 1), (a, 2)]) {
            let parameters = IndexMap::from([("A".into(), a), ("B".into(), b)]);
            let real = |problem: &Problem| {
                let env = problem.bind(&parameters).unwrap().env;
                problem.usage.real.eval(&env).unwrap()
            };
            assert_eq!(real(&again), real(&problem), "A = {a}, B = {b}");
        }
    }
}
