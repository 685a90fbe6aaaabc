//! Kernel programs, and what they use, that were built instead of written.
//!
//! A program in a problem file is checked while it is read. One that other code builds, such as the
//! reader of OpenCL C, is checked here for the same faults: names that the problem does not have,
//! calls with too few or too many arguments, and nesting that could exhaust the stack.

use super::error::ModelError;
use super::json::join;
use super::kernel::{Program, Stmt, StmtKind};
use super::problem::{Problem, Profile};
use super::scope::{ITEM_NAMES, Scope};
use super::usage::{LineUsage, Usage, of_items};
use tickbound_expr::{BinaryOp, Expr, Function};

/// Deepest nesting of a built program: levels of statements and of the expression inside them.
///
/// Texts are held to [`MAX_DEPTH`](tickbound_expr::parse::MAX_DEPTH), which suits what people
/// write. Programs that were read from a source nest deeper. Expressions of 2,000 levels were
/// measured to fit the 2 MiB stack of a thread in all that is done with a program.
pub const MAX_BUILT_DEPTH: usize = 600;

impl Problem {
    /// Puts in the kernel program, which was read out of [`Problem::source`]. Statements that do
    /// not say where they stand ([`Stmt::at`] is empty) get a path that begins with `kernel`.
    ///
    /// # Errors
    /// A name that the problem does not have, a call with a wrong number of arguments, or nesting
    /// deeper than [`MAX_BUILT_DEPTH`]. The program is then left as it was.
    pub fn set_kernel(&mut self, mut program: Program) -> Result<(), ModelError> {
        check_program(&self.scope, &mut program, "kernel", MAX_BUILT_DEPTH)?;
        self.kernel = program;
        self.find_limits()
    }

    /// Puts in what the kernel uses, as it was counted, in all and by lines. What the problem file
    /// states of it stays.
    ///
    /// # Errors
    /// As for [`Problem::set_kernel`], or a name that differs between items. The usage is then left
    /// as it was.
    pub fn set_usage(&mut self, mut usage: Usage, lines: Vec<LineUsage>) -> Result<(), ModelError> {
        self.check_usage(&usage)?;
        lines.iter().try_for_each(|line| self.check_usage(&line.usage))?;
        self.usage_lines = lines;
        for ((name, counted), (_, stated)) in usage.entries_mut().zip(self.usage.entries()) {
            if self.stated_usage.contains(&name) {
                *counted = stated.clone();
            }
        }
        self.usage = usage;
        self.find_limits()
    }

    fn check_usage(&self, usage: &Usage) -> Result<(), ModelError> {
        let first_item = self.first_item_slot();
        let places = first_item..first_item + ITEM_NAMES.len();
        for (name, expr) in usage.entries() {
            let at = join("usage", name);
            let mut item = None;
            expr.names(&mut |slot| item = item.or(places.contains(slot).then_some(*slot)));
            if let Some(slot) = item {
                return Err(of_items(&at, self.scope.name(slot)));
            }
            check(&self.scope, expr, &at, MAX_BUILT_DEPTH)?;
        }
        Ok(())
    }

    /// Puts in the registers of an item where parameters, by their places, have these values;
    /// everywhere if there are none. What was substituted before holds elsewhere.
    ///
    /// # Errors
    /// The profile does not ask for registers, a value is in no domain, or there are too many cases
    /// to be written as one expression.
    pub fn set_registers(&mut self, at: &[(usize, i64)], registers: i64) -> Result<(), ModelError> {
        if self.profile != Profile::Resources {
            let what = format!("the profile {} does not ask for registers", self.profile.name());
            return Err(ModelError::new("usage.registers", what, "take the profile resources"));
        }
        let first = self.first_parameter();
        let equal = |(p, value): &(usize, i64)| {
            Expr::binary(BinaryOp::Eq, Expr::Name(first + p), Expr::Int(*value))
        };
        at.iter().try_for_each(|(p, value)| self.check_value(*p, *value))?;
        let condition = at.iter().map(equal).reduce(|a, b| Expr::binary(BinaryOp::And, a, b));
        let given = Expr::Int(registers);
        let given = match condition {
            None => given,
            Some(condition) => {
                let before = Box::new(self.usage.registers.clone());
                Expr::Conditional(Box::new(condition), Box::new(given), before)
            }
        };
        check(&self.scope, &given, "usage.registers", MAX_BUILT_DEPTH).map_err(|_| {
            let what = "registers are given for too many cases";
            ModelError::new("usage.registers", what, "give them for fewer configurations")
        })?;
        self.usage.registers = given;
        if !self.stated_usage.contains(&"registers") {
            self.stated_usage.push("registers");
        }
        Ok(())
    }
}

/// `left`: how many levels there may be.
fn check_program(
    scope: &Scope,
    program: &mut [Stmt],
    path: &str,
    left: usize,
) -> Result<(), ModelError> {
    for (i, Stmt { at: place, kind, .. }) in program.iter_mut().enumerate() {
        let at = &format!("{path}[{i}]");
        if place.is_empty() {
            place.clone_from(at);
        }
        let left = deeper(at, left)?;
        match kind {
            StmtKind::Access { amount: e, .. } | StmtKind::Until(e) => check(scope, e, at, left)?,
            StmtKind::Repeat { count, body } => {
                check(scope, count, at, left)?;
                check_program(scope, body, &join(at, "body"), left)?;
            }
            StmtKind::If { condition, then, otherwise } => {
                check(scope, condition, at, left)?;
                check_program(scope, then, &join(at, "then"), left)?;
                check_program(scope, otherwise, &join(at, "else"), left)?;
            }
            StmtKind::Mark | StmtKind::Barrier => {}
        }
    }
    Ok(())
}

fn deeper(at: &str, left: usize) -> Result<usize, ModelError> {
    left.checked_sub(1).ok_or_else(|| {
        ModelError::new(
            at,
            format!("the program nests deeper than {MAX_BUILT_DEPTH} levels"),
            "give intermediate results of the source as macros, with their values in \
             kernel.defines",
        )
    })
}

fn check(scope: &Scope, expr: &Expr, at: &str, left: usize) -> Result<(), ModelError> {
    let left = deeper(at, left)?;
    match expr {
        Expr::Name(slot) if *slot >= scope.len() => {
            let what = format!("there is no name in slot {slot}");
            return Err(ModelError::new(at, what, "use another slot"));
        }
        Expr::Call(function, arguments) => check_arity(*function, arguments.len(), at)?,
        _ => {}
    }
    expr.parts().try_for_each(|part| check(scope, part, at, left))
}

fn check_arity(function: Function, given: usize, at: &str) -> Result<(), ModelError> {
    let (least, most) = function.arity();
    if (least..=most).contains(&given) {
        return Ok(());
    }
    let what = format!("`{}` with {given} arguments", function.name());
    let fix = if least == most {
        format!("give it {least}")
    } else {
        format!("give it {least} to {most}")
    };
    Err(ModelError::new(at, what, fix))
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use serde_json::json;

    use super::*;
    use crate::AccessKind;
    use tickbound_expr::BinaryOp;

    fn problem() -> Problem {
        let value = json!({
            "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
            "parameters": { "TS": [1, 2] },
            "launch": { "global_size": 8, "local_size": 4 }, "kernel": ["barrier"]
        });
        let none = |_: &str| unreachable!();
        Problem::from_value(&value, &IndexMap::new(), &none).unwrap()
    }

    fn stmt(kind: StmtKind) -> Stmt {
        Stmt { at: String::new(), label: kind.name().to_owned(), kind }
    }

    fn access(amount: Expr) -> Stmt {
        stmt(StmtKind::Access { access: AccessKind::Global, amount })
    }

    fn refused(amount: Expr) -> String {
        let mut problem = problem();
        let before = problem.clone();
        let body = vec![stmt(StmtKind::Barrier), access(amount)];
        let program = vec![stmt(StmtKind::Repeat { count: Expr::Int(2), body })];
        let error = problem.set_kernel(program).unwrap_err();
        assert_eq!(problem, before);
        error.to_string()
    }

    #[test]
    fn paths_are_those_of_a_file() {
        let mut problem = problem();
        let (then, otherwise) = (vec![access(Expr::Int(1))], vec![access(Expr::Name(0))]);
        let branch = stmt(StmtKind::If { condition: Expr::Int(1), then, otherwise });
        problem.set_kernel(vec![stmt(StmtKind::Mark), branch]).unwrap();
        let written = problem.kernel_json();
        let mut paths = Vec::new();
        crate::kernel::expressions(&problem.kernel, &mut |stmt, _| paths.push(stmt.at.clone()));
        assert_eq!(paths, ["kernel[1]", "kernel[1].then[0]", "kernel[1].else[0]"]);
        assert_eq!(written.as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn faults_of_expressions() {
        assert_eq!(
            refused(Expr::Name(99)),
            "kernel[0].body[1]: there is no name in slot 99; use another slot"
        );
        assert_eq!(
            refused(Expr::Call(Function::Abs, vec![])),
            "kernel[0].body[1]: `abs` with 0 arguments; give it 1"
        );
        assert_eq!(
            refused(Expr::Neg(Box::new(Expr::Call(Function::Min, vec![])))),
            "kernel[0].body[1]: `min` with 0 arguments; give it 1 to 64"
        );
    }

    fn sum(terms: usize) -> Expr {
        (1..terms).fold(Expr::Name(0), |sum, _| Expr::binary(BinaryOp::Add, sum, Expr::Int(1)))
    }

    #[test]
    fn nesting_has_an_end() {
        problem().set_kernel(vec![access(sum(MAX_BUILT_DEPTH - 1))]).unwrap();
        let deep = "kernel[0].body[1]: the program nests deeper than 600 levels; give intermediate \
                    results of the source as macros, with their values in kernel.defines";
        assert_eq!(refused(sum(MAX_BUILT_DEPTH - 1)), deep);
        assert_eq!(refused(sum(10 * MAX_BUILT_DEPTH)), deep);
    }
}
