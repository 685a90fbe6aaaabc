//! A problem as JSON in the problem format: its kernel program for people to see what was read, and
//! all of it, so that a file can be handed on that needs no other.

use serde_json::{Map, Value, json};

use super::kernel::{Stmt, StmtKind};
use super::platform::Platform;
use super::problem::{FORMAT_VERSION, Launch, Problem, Profile};
use super::resources::Resources;
use tickbound_expr::Expr;
use tickbound_expr::domain::Domain;

impl Problem {
    /// The whole problem in the problem format, its platform, inputs and program written out; the
    /// named sizes and the source of the kernel are left out; parts of a long usage are
    /// definitions. To be read again it must keep to the limits of a written problem.
    pub fn json(&self) -> Value {
        let short = self.with_short_usage();
        let short = short.as_ref().unwrap_or(self);
        let show = |expr: &Expr| short.number(expr);
        let named = |all: &mut dyn Iterator<Item = (String, Value)>| Value::Object(all.collect());
        let constraints = self.constraints.iter().map(|c| self.scope.show(&c.expr));
        let constraints: Vec<_> = constraints.collect();
        let mut json = json!({
            "version": FORMAT_VERSION,
            "name": self.name,
            "profile": self.profile.name(),
            "platform": self.platform.json(),
            "inputs": self.inputs,
            "parameters": named(
                &mut self.parameters.iter().map(|p| (p.name.clone(), self.domain_json(&p.domain)))
            ),
            "constraints": constraints,
            "definitions": named(&mut short.definitions.iter().map(|(n, e)| (n.clone(), show(e)))),
            "launch": self.launch_json(),
            "kernel": self.kernel_json(),
        });
        if !self.finish.is_empty() {
            json["finish"] = self.program_json(&self.finish);
        }
        if self.profile == Profile::Resources {
            let used = short.usage.entries().filter(|(_, e)| **e != Expr::Int(0));
            json["usage"] = named(&mut used.map(|(n, e)| (n.to_owned(), show(e))));
        }
        if !self.without.is_empty() {
            json["without"] = self.without.iter().map(|part| part.name()).collect();
        }
        json
    }

    fn number(&self, expr: &Expr) -> Value {
        match expr {
            Expr::Int(n) => Value::from(*n),
            _ => self.scope.show(expr).into(),
        }
    }

    fn domain_json(&self, domain: &Domain) -> Value {
        let show = |e: &Expr| self.scope.show(e);
        match domain {
            Domain::List(items) => items.iter().map(|e| self.number(e)).collect(),
            Domain::PowersOfTwo(a, b) => format!("powers_of_two({}, {})", show(a), show(b)).into(),
            Domain::Range { first, last, step } => {
                format!("range({}, {}, {})", show(first), show(last), show(step)).into()
            }
            Domain::Divisors(n) => format!("divisors({})", show(n)).into(),
        }
    }

    fn launch_json(&self) -> Value {
        match &self.launch {
            Launch::Activations { local_size, activations } => {
                json!({
                    "local_size": self.number(local_size), "activations": self.number(activations)
                })
            }
            Launch::Range { global_size, local_size } if self.grid.is_empty() => {
                json!({
                    "global_size": self.number(global_size), "local_size": self.number(local_size)
                })
            }
            Launch::Range { .. } => {
                let all = |of: fn(&super::problem::Dimension) -> &Expr| {
                    self.grid.iter().map(|d| self.number(of(d))).collect::<Value>()
                };
                json!({ "global_size": all(|d| &d.global), "local_size": all(|d| &d.local) })
            }
        }
    }

    /// The kernel program in the problem format.
    pub fn kernel_json(&self) -> Value {
        self.program_json(&self.kernel)
    }

    fn program_json(&self, program: &[Stmt]) -> Value {
        program.iter().map(|stmt| self.stmt_json(stmt)).collect()
    }

    fn stmt_json(&self, stmt: &Stmt) -> Value {
        let number = |expr: &Expr| self.number(expr);
        let mut json = match &stmt.kind {
            StmtKind::Access { access, amount } => json!({ access.name(): number(amount) }),
            StmtKind::Until(ticks) => json!({ "until": number(ticks) }),
            StmtKind::Mark => json!({ "mark": true }),
            StmtKind::Barrier => json!({ "barrier": true }),
            StmtKind::Repeat { count, body } => {
                json!({ "repeat": number(count), "body": self.program_json(body) })
            }
            StmtKind::If { condition, then, otherwise } => {
                let then = self.program_json(then);
                let mut json = json!({ "if": number(condition), "then": then });
                if !otherwise.is_empty() {
                    json["else"] = self.program_json(otherwise);
                }
                json
            }
        };
        if stmt.label != stmt.kind.name() {
            json["name"] = stmt.label.clone().into();
        }
        json
    }
}

impl Platform {
    /// The platform with all its numbers, for a file; where they come from is left out.
    pub fn json(&self) -> Value {
        let (mut plain, mut warps, mut resources) = (Map::new(), Map::new(), Map::new());
        if !self.name.is_empty() {
            plain.insert("name".into(), self.name.clone().into());
        }
        // Without dispatchers the width of a warp is one of the resources.
        let has_warps = self.warps().is_some();
        for (name, value) in self.numbers() {
            let (object, key) = match name {
                "warp_width" if has_warps => (&mut warps, "width"),
                "dispatchers" | "resident_groups" | "memory_slots" => (&mut warps, name),
                _ if Resources::FIELDS.iter().any(|(key, _, _)| *key == name) => {
                    (&mut resources, name)
                }
                _ => (&mut plain, name),
            };
            object.insert(key.into(), value.into());
        }
        for (key, object) in [("warps", warps), ("resources", resources)] {
            if !object.is_empty() {
                plain.insert(key.into(), object.into());
            }
        }
        plain.into()
    }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;

    use super::*;

    #[test]
    fn written_and_read_again() {
        let kernel = json!([
            { "mark": true }, { "barrier": true, "name": "b" }, { "until": "TS + 1" },
            { "repeat": "TS * 2", "body": [{ "global": "lid % TS", "name": "load" }] },
            { "if": "lid == 0", "then": [{ "work": 1 }], "else": [{ "constant": 2 }] },
            { "if": "TS > 2", "then": [{ "atomic": 1 }] }
        ]);
        let value = |kernel: &Value| {
            json!({
                "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
                "parameters": { "TS": [1, 2] },
                "launch": { "global_size": 8, "local_size": 4 }, "kernel": kernel
            })
        };
        let none = |_: &str| unreachable!();
        let read = |kernel| Problem::from_value(&value(kernel), &IndexMap::new(), &none).unwrap();
        let problem = read(&kernel);
        let written = problem.kernel_json();
        assert_eq!(written, kernel);
        assert_eq!(read(&written), problem);
    }
}
