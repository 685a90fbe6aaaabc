//! Parts of an expression as definitions of a problem.
//!
//! Repeated parts of an expression are evaluated once, and its texts can be read again.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use tickbound_expr::interval::Interval;
use tickbound_expr::parse::MAX_LENGTH;
use tickbound_expr::{BinaryOp, Expr, Slot};

use crate::kernel::{Program, Stmt, expressions};
use crate::{Launch, MAX_BUILT_DEPTH, ModelError, Problem, Profile};

/// Greatest size of an expression, in operators, numbers and names, that is not split: its text
/// fits [`MAX_LENGTH`] if names have 20 letters.
const MAX_SIZE: usize = MAX_LENGTH / 20;
/// Greatest size of the conditions that lead to a part, before they are a definition.
const MAX_PATH: usize = 24;
/// Greatest size of all expressions of a usage that parts are put into.
const MAX_WHOLE: usize = 1 << 22;
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

    /// The opposite, under the profile `resources`: with the last definitions that are named as
    /// parts are put into its usage. `None` if there are none, anything else mentions one, or it
    /// becomes too large.
    ///
    /// A configuration has the same usage, and more may be valid: those in which such a definition
    /// has no value, although the usage has one.
    pub fn with_whole_usage(&self) -> Option<Problem> {
        let first = self.first_definition();
        let is_part = |(name, _): &&(String, Expr)| name.starts_with("part_");
        let count = self.definitions.iter().rev().take_while(is_part).count();
        let (kept, end) = (self.definitions.len() - count, self.first_item_slot());
        if count == 0 || self.profile != Profile::Resources || self.source.is_some() {
            return None;
        }
        let parts = first + kept..end;
        let mut is_used = false;
        let mut mention = |expr: &Expr| is_used |= expr.mentions(|slot| parts.contains(&slot));
        self.constraints.iter().for_each(|constraint| mention(&constraint.expr));
        let (Launch::Range { global_size: a, local_size: b }
        | Launch::Activations { local_size: a, activations: b }) = &self.launch;
        let sides = self.grid.iter().flat_map(|side| [&side.global, &side.local]);
        sides.chain([a, b]).for_each(&mut mention);
        for program in [&self.kernel, &self.finish] {
            expressions(program, &mut |_, expr| mention(expr));
        }
        if is_used {
            return None;
        }
        let mut whole = self.clone();
        let own = &self.definitions[kept..];
        let mut put_in = PutIn {
            parts: (parts.start, own),
            known: HashMap::new(),
            learned: Vec::new(),
            left: MAX_WHOLE,
            levels: MAX_BUILT_DEPTH,
        };
        for (_, expr) in whole.usage.entries_mut() {
            *expr = put_in.whole(expr)?;
        }
        whole.definitions.truncate(kept);
        whole.scope.remove(parts);
        for program in [&mut whole.kernel, &mut whole.finish] {
            *program = renamed(program, &|slot| if slot < end { slot } else { slot - count });
        }
        Some(whole)
    }
}

/// A program with other slots.
fn renamed(program: &[Stmt], slot: &impl Fn(Slot) -> Slot) -> Program {
    let expr = |e: &Expr| e.replace(&mut |own| Ok::<_, Infallible>(Expr::Name(slot(*own))));
    let renamed = |stmt: &Stmt| {
        let Ok(kind) = stmt.kind.rebuilt(expr, |within| Ok(renamed(within, slot)));
        stmt.with(kind)
    };
    program.iter().map(renamed).collect()
}

/// Puts definitions into expressions, without the sides of conditionals that are not taken where
/// they are put.
struct PutIn<'p> {
    /// The slot of the first definition, and all of them.
    parts: (Slot, &'p [(String, Expr)]),
    /// What conditions are where the present part is evaluated, and in which order that came.
    known: HashMap<Expr, bool>,
    learned: Vec<Expr>,
    /// How many operations, numbers and names may follow, and how many levels.
    left: usize,
    levels: usize,
}

impl PutIn<'_> {
    /// `None` if it becomes too large.
    fn whole(&mut self, expr: &Expr) -> Option<Expr> {
        self.left = self.left.checked_sub(1)?;
        self.levels = self.levels.checked_sub(1)?;
        let whole = self.whole_below(expr);
        self.levels += 1;
        whole
    }

    fn whole_below(&mut self, expr: &Expr) -> Option<Expr> {
        let (first, parts) = self.parts;
        match expr {
            Expr::Name(slot) => match slot.checked_sub(first).and_then(|part| parts.get(part)) {
                Some((_, part)) => self.part(part),
                None => Some(expr.clone()),
            },
            Expr::Conditional(c, a, b) => {
                let c = self.whole(c)?;
                let a = self.where_is(&c, true, a)?;
                let b = self.where_is(&c, false, b)?;
                Some(Expr::conditional(c, a, b))
            }
            _ => expr.with_parts(|part| self.whole(part)),
        }
    }

    /// A definition, without the condition that it is evaluated if that is known to hold.
    fn part(&mut self, part: &Expr) -> Option<Expr> {
        if let Expr::Conditional(path, own, other) = part
            && **other == Expr::Int(0)
        {
            let path = self.whole(path)?;
            if self.truth(&path) == Some(true) {
                return self.whole(own);
            }
            let own = self.where_is(&path, true, own)?;
            return Some(Expr::conditional(path, own, Expr::Int(0)));
        }
        self.whole(part)
    }

    /// An expression where a condition comes out so.
    fn where_is(&mut self, condition: &Expr, holds: bool, expr: &Expr) -> Option<Expr> {
        let before = self.learned.len();
        self.learn(condition, holds);
        let whole = self.whole(expr);
        self.learned.drain(before..).for_each(|condition| _ = self.known.remove(&condition));
        whole
    }

    fn learn(&mut self, condition: &Expr, holds: bool) {
        match (condition, holds) {
            (Expr::Not(a), _) => self.learn(a, !holds),
            (Expr::Binary(BinaryOp::And, a, b), true)
            | (Expr::Binary(BinaryOp::Or, a, b), false) => {
                self.learn(a, holds);
                self.learn(b, holds);
            }
            _ if self.known.contains_key(condition) => {}
            _ => {
                self.known.insert(condition.clone(), holds);
                self.learned.push(condition.clone());
            }
        }
    }

    fn truth(&self, condition: &Expr) -> Option<bool> {
        if let Some(known) = self.known.get(condition) {
            return Some(*known);
        }
        match condition {
            Expr::Int(value) => Some(*value != 0),
            Expr::Not(a) => self.truth(a).map(|holds| !holds),
            Expr::Binary(BinaryOp::And, a, b) => Some(self.truth(a)? && self.truth(b)?),
            _ => None,
        }
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
                let slot = self.define(Expr::conditional(path.clone(), own, Expr::Int(0)), zero);
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
                Some(Expr::conditional(c, a, b))
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
        let holds = Expr::conditional(longer, Expr::Int(1), Expr::Int(0));
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
        assert!(written["definitions"].as_object().unwrap().len() > 3);
        assert!(again.usage == problem.usage && again.definitions.is_empty());
        assert_eq!(again.kernel_json(), problem.kernel_json());
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
            real = Expr::conditional(
                term(&format!("A == {a} and (B > 0 or A % 7 != 0)")),
                chosen,
                real,
            );
        }
        problem.usage.real = real;
        let written = problem.json();
        let definitions = written["definitions"].as_object().unwrap();
        assert!(definitions.len() > 20, "{}", definitions.len());
        let again = read(&written);
        assert!(again.usage == problem.usage && again.definitions.is_empty());
        // What something else mentions stays.
        let mut used = written.clone();
        used["constraints"] = json!([format!("{} >= 0", definitions.keys().next().unwrap())]);
        let again = read(&used);
        assert_eq!(again.definitions.len(), definitions.len());
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
