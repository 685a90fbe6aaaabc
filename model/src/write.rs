//! A kernel program as JSON in the problem format, for people to see what was read.

use serde_json::{Value, json};

use super::expr::Expr;
use super::kernel::{Stmt, StmtKind};
use super::problem::Problem;

impl Problem {
    /// The kernel program in the problem format.
    #[must_use]
    pub fn kernel_json(&self) -> Value {
        self.program_json(&self.kernel)
    }

    fn program_json(&self, program: &[Stmt]) -> Value {
        program.iter().map(|stmt| self.stmt_json(stmt)).collect()
    }

    fn stmt_json(&self, stmt: &Stmt) -> Value {
        let number = |expr: &Expr| match expr {
            Expr::Int(n) => Value::from(*n),
            _ => self.scope.show(expr).into(),
        };
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
