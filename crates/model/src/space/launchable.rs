//! What keeps a configuration from being launched: sizes that do not fit, local memory, the group
//! that the source requires, and numbers without a value.
//!
//! A rule is an expression over the parameters that must be true. The rules of local memory and of
//! the required group are known once the source has been read ([`Problem::set_group_needs`]).

use std::fmt;

use num_bigint::BigUint;
use tickbound_elimination::TableLimits;

use crate::error::ModelError;
use crate::kernel::{Stmt, StmtKind};
use crate::launch_rule::{GroupNeeds, LaunchLimit, LaunchRule};
use crate::problem::Problem;
use crate::source::ArgumentKind;
use crate::space::Condition;
use tickbound_expr::interval::Interval;
use tickbound_expr::{BinaryOp, Expr, Function};

/// Most parameters of a divisor counted in a source: conditions on more make spaces hard to count.
const MAX_COUNTED: usize = 2;

/// How many configurations each limit removes that the limits before it leave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// The limits that remove some, in the order of [`LaunchLimit::ALL`].
    pub limits: Vec<(LaunchLimit, BigUint)>,
    /// One configuration without a value, and what has none.
    pub without_value: Option<String>,
}

impl LeftOut {
    /// What to do where it leaves no configuration.
    pub(super) fn fix(&self) -> &'static str {
        match self.limits.as_slice() {
            [(LaunchLimit::NoValue, _)] => "guard it with `if ... else`, or exclude these values",
            _ => "widen a domain or change the sizes",
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (limit, count)) in self.limits.iter().enumerate() {
            write!(f, "{}{count}: {limit}", if i == 0 { "" } else { "; " })?;
            if let (LaunchLimit::NoValue, Some(example)) = (limit, &self.without_value) {
                write!(f, ", such as {example}")?;
            }
        }
        Ok(())
    }
}

impl Problem {
    /// Puts in what a group needs, as it was read out of [`Problem::source`].
    ///
    /// # Errors
    /// An expression that becomes too large with its definitions substituted.
    pub fn set_group_needs(&mut self, needs: GroupNeeds) -> Result<(), ModelError> {
        self.group_needs = needs;
        self.find_limits()
    }

    /// Finds the rules that the kernel, its arguments and its source put on a launch.
    pub(crate) fn find_limits(&mut self) -> Result<(), ModelError> {
        let mut found = Vec::new();
        self.local_memory_rule(&mut found)?;
        self.required_group_rules(&mut found)?;
        self.value_rules(&mut found)?;
        self.launch_rules = found;
        Ok(())
    }

    /// A group's local arrays and arguments are at most what a unit has.
    fn local_memory_rule(&self, found: &mut Vec<LaunchRule>) -> Result<(), ModelError> {
        let slot = self.platform.local_memory().and_then(|_| self.scope.slot("local_memory"));
        let Some(most) = slot else { return Ok(()) };
        let arguments = self.source.iter().flat_map(|source| &source.arguments);
        let lengths = arguments.filter_map(|argument| match &argument.kind {
            ArgumentKind::Local { length } => {
                let bytes = Expr::Int(argument.element.bytes() as i64);
                Some(Expr::folded(BinaryOp::Mul, bytes, length.clone()))
            }
            _ => None,
        });
        let parts = lengths.chain(self.group_needs.local_bytes.clone());
        let Some(all) = parts.reduce(|a, b| Expr::folded(BinaryOp::Add, a, b)) else {
            return Ok(());
        };
        let all = self.inlined("local memory", &all)?;
        let fits = Expr::binary(BinaryOp::Le, all, Expr::Name(most));
        found.push(LaunchRule::new("local memory", LaunchLimit::LocalMemory, fits));
        Ok(())
    }

    /// Each dimension of a group is as the source requires.
    fn required_group_rules(&self, found: &mut Vec<LaunchRule>) -> Result<(), ModelError> {
        let Some(required) = &self.group_needs.required else { return Ok(()) };
        let sides: Vec<Expr> = match self.grid.is_empty() {
            true => vec![self.launch.local_size().clone()],
            false => self.grid.iter().map(|d| d.local.clone()).collect(),
        };
        for (d, required) in required.iter().enumerate() {
            let own = sides.get(d).cloned().unwrap_or(Expr::Int(1));
            let (own, required) =
                (self.inlined("launch", &own)?, self.inlined("kernel.opencl", required)?);
            if own != required {
                let same = Expr::binary(BinaryOp::Eq, own, required);
                let limit = LaunchLimit::RequiredGroup;
                found.push(LaunchRule::new("reqd_work_group_size", limit, same));
            }
        }
        Ok(())
    }

    /// What the first item divides by is not zero, nor a source's divisors of few parameters.
    fn value_rules(&self, found: &mut Vec<LaunchRule>) -> Result<(), ModelError> {
        let of = self.parameter_intervals();
        let (path, most) = (Vec::new(), usize::MAX);
        let mut rules = Divisors { problem: self, of, path, most, found };
        rules.program("kernel", &self.kernel)?;
        rules.program("finish", &self.finish)?;
        rules.most = MAX_COUNTED;
        for (name, expr) in self.usage.entries().filter(|(name, _)| self.counts_usage(name)) {
            // Of a large expression it is found out when it is evaluated.
            if rules.may_divide_by_zero(expr)
                && let Ok(expr) = self.inlined("usage", expr)
            {
                rules.divisors(&format!("usage.{name}"), &expr);
            }
        }
        Ok(())
    }

    /// Where the values of each slot lie, by the domains that depend on no parameter.
    pub fn parameter_intervals(&self) -> Vec<Interval> {
        let point = |v: &i64| Interval { low: *v, high: *v };
        let mut of: Vec<Interval> = self.base_env().iter().map(point).collect();
        let anything = Interval { low: i64::MIN, high: i64::MAX };
        of[self.first_definition()..].fill(anything);
        for place in 0..self.parameters.len() {
            let depends = self.parameters_of(self.parameters[place].domain.expressions());
            let values = self.independent_values(place).ok().filter(|_| depends.is_empty());
            let values = values.unwrap_or_default();
            of[self.first_parameter() + place] = match (values.iter().min(), values.iter().max()) {
                (Some(low), Some(high)) => Interval { low: *low, high: *high },
                _ => anything,
            };
        }
        of
    }

    /// How many configurations within the constraints cannot be launched, by reason, if counted.
    pub fn left_out(&self, limits: &TableLimits<'_>) -> Result<Option<LeftOut>, ModelError> {
        if self.all_launch()? {
            return Ok(Some(LeftOut::default()));
        }
        let count = |which: &dyn Fn(LaunchLimit) -> bool| -> Result<Option<BigUint>, ModelError> {
            let all = self.structure(limits, usize::MAX, |c| c.limited_by().is_none_or(which))?;
            Ok(all.count())
        };
        let (Some(mut left), Some(valid)) = (count(&|_| false)?, count(&|_| true)?) else {
            return Ok(None);
        };
        let mut out = LeftOut::default();
        for limit in LaunchLimit::ALL {
            if left == valid {
                break;
            }
            let Some(now) = count(&|other| other <= limit)? else { return Ok(None) };
            if now < left {
                out.limits.push((limit, left - &now));
            }
            left = now;
        }
        if out.limits.iter().any(|(limit, _)| *limit == LaunchLimit::NoValue) {
            let others = |c: &Condition| c.limited_by() != Some(LaunchLimit::NoValue);
            let before = self.structure(limits, usize::MAX, others)?;
            out.without_value = before.without_value();
        }
        Ok(Some(out))
    }
}

/// Looks for divisors that may be zero where the first item of the first group reaches them: such a
/// configuration has no value for certain. What only other items reach is left to the simulator.
struct Divisors<'p, 'f> {
    problem: &'p Problem,
    of: Vec<Interval>,
    /// The conditions of the branches and loops around, over parameters.
    path: Vec<Expr>,
    /// The most parameters of a divisor.
    most: usize,
    found: &'f mut Vec<LaunchRule>,
}

impl Divisors<'_, '_> {
    fn program(&mut self, at: &str, program: &[Stmt]) -> Result<(), ModelError> {
        for stmt in program {
            let at = if stmt.at.is_empty() { at } else { stmt.at.as_str() };
            match &stmt.kind {
                StmtKind::Access { amount, .. } => self.expression(at, amount)?,
                StmtKind::Until(ticks) => self.expression(at, ticks)?,
                StmtKind::Mark | StmtKind::Barrier => {}
                StmtKind::Repeat { count, body } => {
                    self.expression(at, count)?;
                    let enters = Expr::binary(BinaryOp::Gt, count.clone(), Expr::Int(0));
                    self.under(&enters, at, body)?;
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.expression(at, condition)?;
                    self.under(condition, at, then)?;
                    self.under(&Expr::Not(Box::new(condition.clone())), at, otherwise)?;
                }
            }
        }
        Ok(())
    }

    /// A part that runs only under a condition.
    fn under(&mut self, condition: &Expr, at: &str, body: &[Stmt]) -> Result<(), ModelError> {
        let condition = self.problem.inlined(at, condition)?;
        self.path.push(self.of_first_item(&condition));
        let result = self.program(at, body);
        self.path.pop();
        result
    }

    /// The expression as the first item of the first group has it.
    fn of_first_item(&self, e: &Expr) -> Expr {
        match e {
            Expr::Name(slot) if *slot >= self.problem.first_definition() => Expr::Int(0),
            Expr::Int(_) | Expr::Name(_) => e.clone(),
            _ => e.with_parts(|part| Some(self.of_first_item(part))).unwrap_or_else(|| e.clone()),
        }
    }

    fn expression(&mut self, at: &str, e: &Expr) -> Result<(), ModelError> {
        let e = self.problem.inlined(at, e)?;
        self.divisors(at, &e);
        Ok(())
    }

    fn divisors(&mut self, at: &str, e: &Expr) {
        match e {
            Expr::Conditional(condition, a, b) => {
                self.divisors(at, condition);
                self.divisors_under((**condition).clone(), at, a);
                self.divisors_under(Expr::Not(condition.clone()), at, b);
                return;
            }
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                self.divisors(at, a);
                let first = if *op == BinaryOp::And { (**a).clone() } else { Expr::Not(a.clone()) };
                self.divisors_under(first, at, b);
                return;
            }
            Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem, _, d) => {
                self.divisor(at, d);
            }
            Expr::Call(Function::CeilDiv, arguments) => {
                arguments.get(1).into_iter().for_each(|d| self.divisor(at, d));
            }
            _ => {}
        }
        e.parts().for_each(|part| self.divisors(at, part));
    }

    fn divisors_under(&mut self, condition: Expr, at: &str, e: &Expr) {
        self.path.push(self.of_first_item(&condition));
        self.divisors(at, e);
        self.path.pop();
    }

    /// Whether some divisor may be zero, by the values of parameters.
    fn may_divide_by_zero(&self, e: &Expr) -> bool {
        let by = match e {
            Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem, _, by) => Some(&**by),
            Expr::Call(Function::CeilDiv, arguments) => arguments.get(1),
            _ => None,
        };
        let is_zero = |by: &Expr| self.includes_zero(by);
        by.is_some_and(is_zero) || e.parts().any(|part| self.may_divide_by_zero(part))
    }

    fn includes_zero(&self, d: &Expr) -> bool {
        d.range(&self.of).values.is_none_or(|v| v.low <= 0 && v.high >= 0)
    }

    /// A divisor that may be zero becomes a rule, unless items decide it.
    fn divisor(&mut self, at: &str, d: &Expr) {
        if d.mentions(|slot| slot >= self.problem.first_definition()) {
            return;
        }
        if self.most < usize::MAX && self.problem.parameters_of([d]).len() > self.most {
            return;
        }
        if !self.includes_zero(d) {
            return;
        }
        let quotient = Expr::binary(BinaryOp::Rem, Expr::Int(1), d.clone());
        let under = self.path.iter().rev().fold(quotient, |e, condition| {
            let (condition, nothing) = (condition.clone(), Expr::Int(0));
            Expr::conditional(condition, e, nothing)
        });
        let rule = LaunchRule::new(at, LaunchLimit::NoValue, under);
        if !self.found.contains(&rule) {
            self.found.push(rule);
        }
    }
}
