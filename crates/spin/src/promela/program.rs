//! Walking a kernel program: what every form that it takes in a text shares.

use tickbound_expr::Expr;
use tickbound_model::{Stmt, StmtKind};

use super::amounts::{Amounts, Sides};
use super::error::PromelaError;
use super::facts::Value;
use super::lines::mentions;
use super::width::Width;

/// What a program has become.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub lines: Vec<String>,
    /// The type of the loop counter of each depth.
    pub counters: Vec<Width>,
}

impl Written {
    /// True if `word` occurs in it as a whole word.
    pub fn mentions(&self, word: &str) -> bool {
        self.lines.iter().any(|line| mentions(line, word))
    }

    /// Declarations of the loop counters, whose names begin with `name`.
    pub fn declarations(&self, name: &str) -> Vec<String> {
        let counters = self.counters.iter().zip(1..);
        counters.map(|(width, depth)| format!("{} {name}{depth};", width.name())).collect()
    }

    /// Declarations of the loop counters `k1`, `k2`, ... of this many rows.
    pub fn counter_rows(&self, rows: impl std::fmt::Display) -> Vec<String> {
        let array = format!("[{rows}];  /* how often a loop has still to be run */");
        self.declarations("k").iter().map(|line| line.replace(';', &array)).collect()
    }
}

/// The counters of loops within loops.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The type of each depth.
    pub widths: Vec<Width>,
    depth: usize,
}

impl Counters {
    /// Enters a loop at `at` whose counter is at most `most`; its depth, from 1 on.
    pub fn enter(&mut self, most: i64, at: &str, fix: &str) -> Result<usize, PromelaError> {
        let width = Width::holding((0, most), at, fix)?;
        match self.widths.get_mut(self.depth) {
            Some(known) => *known = width.max(*known),
            None => self.widths.push(width),
        }
        self.depth += 1;
        Ok(self.depth)
    }

    /// Leaves the loop that was entered last.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// A statement that runs one of two programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Branch<'s> {
    pub stmt: &'s Stmt,
    /// Which of them, in Promela.
    pub condition: &'s str,
    pub then: &'s [Stmt],
    pub otherwise: &'s [Stmt],
}

/// Writes a program, statement by statement.
pub(crate) trait Program {
    fn amounts(&self) -> &Amounts<'_, '_>;

    fn access(&mut self, stmt: &Stmt) -> Result<(), PromelaError>;

    /// Takes note of the time.
    fn mark(&mut self, stmt: &Stmt);

    /// Waits until this long after the mark, and a tick.
    fn until(&mut self, stmt: &Stmt, delay: &Value);

    /// Waits for the others.
    fn barrier(&mut self, stmt: &Stmt);

    /// Runs `body` this many times.
    fn repeat(&mut self, stmt: &Stmt, count: Value, body: &[Stmt]) -> Result<(), PromelaError>;

    /// Runs one of two programs, by a condition.
    fn choose(&mut self, branch: Branch<'_>) -> Result<(), PromelaError>;

    /// Runs `program` in any case, for the reason `why`.
    fn only(&mut self, _stmt: &Stmt, _why: &str, program: &[Stmt]) -> Result<(), PromelaError> {
        self.program(program)
    }

    fn program(&mut self, program: &[Stmt]) -> Result<(), PromelaError> {
        program.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), PromelaError> {
        match &stmt.kind {
            StmtKind::Access { .. } => self.access(stmt)?,
            StmtKind::Mark => self.mark(stmt),
            StmtKind::Until(delay) => {
                let delay = self.amounts().value(stmt, delay)?;
                self.until(stmt, &delay);
            }
            StmtKind::Barrier => self.barrier(stmt),
            StmtKind::Repeat { count, body } => {
                let count = self.amounts().value(stmt, count)?;
                self.repeat(stmt, count, body)?;
            }
            StmtKind::If { condition, then, otherwise } => {
                self.branch(stmt, condition, then, otherwise)?;
            }
        }
        Ok(())
    }

    /// A branch: only the sides that somebody takes.
    fn branch(
        &mut self,
        stmt: &Stmt,
        condition: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), PromelaError> {
        let (first, second) = match self.amounts().sides(stmt, condition)? {
            Sides::One(condition) => {
                return match condition.constant() {
                    Some(0) => self.only(stmt, "never", otherwise),
                    Some(_) => self.only(stmt, "always", then),
                    None => {
                        self.choose(Branch { stmt, condition: &condition.text, then, otherwise })
                    }
                };
            }
            Sides::Each(first, second) => (first, second),
        };
        if then.is_empty() && otherwise.is_empty() {
            return self.only(stmt, "nothing to do", &[]);
        }
        // Seed 001, Section 3: a warp runs both sides, in sequence.
        for (side, program) in [(first, then), (second, otherwise)] {
            match side.constant() {
                _ if program.is_empty() => {}
                Some(0) => self.only(stmt, "no item of any warp takes this side of", &[])?,
                Some(_) => self.only(stmt, "some item of each warp takes this side of", program)?,
                None => {
                    let condition = &format!("{} == 1", side.text);
                    self.choose(Branch { stmt, condition, then: program, otherwise: &[] })?;
                }
            }
        }
        Ok(())
    }
}

/// Calls an inline. SPIN 6.5.2 takes some conditional expressions apart wrongly when they are
/// arguments of an inline, so these go through a variable.
pub(crate) fn call(inline: &str, argument: &str, more: &str) -> String {
    if argument.contains("->") {
        format!("delay = {argument}; {inline}(delay{more})")
    } else {
        format!("{inline}({argument}{more})")
    }
}
