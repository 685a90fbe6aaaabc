//! Parts of an expression as definitions of a problem.
//!
//! Repeated parts of an expression are evaluated once, and its texts can be read again.

use std::collections::HashMap;

use tickbound_expr::interval::Interval;
use tickbound_expr::parse::MAX_LENGTH;
use tickbound_expr::{Expr, Slot};

use crate::{ModelError, Problem};

/// Greatest size of an expression, in operators, numbers and names, that is not split: its text
/// fits [`MAX_LENGTH`] if names have 20 letters.
const MAX_SIZE: usize = MAX_LENGTH / 20;
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
        let mut of = self.parameter_intervals();
        of.truncate(self.first_definition());
        for (_, definition) in &self.definitions {
            let anything = Interval { low: i64::MIN, high: i64::MAX };
            of.push(definition.range(&of).values.unwrap_or(anything));
        }
        let mut parts = Parts { times: HashMap::new(), of, known: HashMap::new(), new: Vec::new() };
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
            *expr = short.with_shared_parts(expr).ok()?;
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
        let mut parts = expr.parts().map(|part| self.part(part)).collect::<Vec<_>>().into_iter();
        let Some(own) = expr.with_parts(|_| parts.next()) else { return expr.clone() };
        let size = own.size();
        let repeated = size > 2 && self.times.get(expr).is_some_and(|times| *times > 1);
        if !repeated && size <= MAX_SIZE && levels(&own) <= MAX_LEVELS {
            return own;
        }
        let range = own.range(&self.of);
        let (Some(values), false) = (range.values, range.may_fail) else { return own };
        let slot = self.of.len();
        self.of.push(values);
        self.known.insert(expr, slot);
        self.new.push(own);
        Expr::Name(slot)
    }
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
}
