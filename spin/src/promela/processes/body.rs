//! A kernel program as the body of a process.

use crate::promela::amounts::{Amounts, Sides};
use crate::promela::comment;
use crate::promela::error::PromelaError;
use crate::promela::facts::Value;
use crate::promela::lines::Lines;
use crate::promela::width::Width;
use tickbound_model::kernel::has_until;
use tickbound_model::{Expr, Stmt, StmtKind};

/// Which inline stands for an access, and its ticks; `None` if nothing does.
pub(crate) type AccessCall<'b> =
    dyn Fn(&Stmt) -> Result<Option<(&'static str, Value)>, PromelaError> + 'b;

/// Writes programs, and notes which loop counters they need.
pub(crate) struct Body<'b, 'f, 'a> {
    amounts: &'b Amounts<'f, 'a>,
    fix: String,
    /// What accesses call, if not `work`.
    accesses: Option<&'b AccessCall<'b>>,
    /// The variable that holds the mark, and what the names of loop counters begin with.
    mark: &'static str,
    counter: &'static str,
    /// Something waits for the mark.
    marks: bool,
    /// The type of the counter of each depth of loops.
    pub counters: Vec<Width>,
    lines: Lines,
    depth: usize,
}

impl<'b, 'f, 'a> Body<'b, 'f, 'a> {
    pub fn new(
        amounts: &'b Amounts<'f, 'a>,
        fix: String,
        (mark, counter): (&'static str, &'static str),
    ) -> Self {
        Body {
            amounts,
            fix,
            accesses: None,
            mark,
            counter,
            counters: Vec::new(),
            lines: Lines::default(),
            depth: 0,
            marks: true,
        }
    }

    /// Accesses call something else than `work`.
    pub fn with_accesses(self, accesses: &'b AccessCall<'b>) -> Self {
        Body { accesses: Some(accesses), ..self }
    }

    /// The lines of `program`.
    ///
    /// # Errors
    /// A number that Promela cannot hold.
    pub fn write(mut self, program: &[Stmt]) -> Result<(Vec<String>, Vec<Width>), PromelaError> {
        self.marks = has_until(program);
        self.program(program)?;
        Ok((self.lines.take(), self.counters))
    }

    fn program(&mut self, program: &[Stmt]) -> Result<(), PromelaError> {
        for stmt in program {
            match &stmt.kind {
                StmtKind::Access { .. } => {
                    let call = match self.accesses {
                        Some(of) => of(stmt)?,
                        None => self.amounts.ticks(stmt)?.map(|ticks| ("work", ticks)),
                    };
                    if let Some((inline, ticks)) = call {
                        self.call(stmt, inline, &ticks.text);
                    }
                }
                StmtKind::Mark if self.marks => self.takes(stmt, &format!("{} = time;", self.mark)),
                // Nothing waits for it.
                StmtKind::Mark => self.lines.push(format!("skip;{}", comment(stmt))),
                StmtKind::Until(d) => {
                    let d = self.amounts.value(stmt, d)?;
                    self.call(stmt, "until_mark", &d.text);
                }
                StmtKind::Barrier => self.takes(stmt, "meet();"),
                StmtKind::Repeat { count, body } => self.repeat(stmt, count, body)?,
                StmtKind::If { condition, then, otherwise } => {
                    let sides = self.amounts.sides(stmt, condition)?;
                    self.branch(stmt, &sides, then, otherwise)?;
                }
            }
        }
        if program.is_empty() {
            self.lines.push("skip;");
        }
        Ok(())
    }

    /// SPIN 6.5.2 takes some conditional expressions apart wrongly when they are arguments of an inline,
    /// so these go through a variable.
    fn call(&mut self, stmt: &Stmt, inline: &str, argument: &str) {
        if argument.contains("->") {
            self.takes(stmt, &format!("delay = {argument}; {inline}(delay);"));
        } else {
            self.takes(stmt, &format!("{inline}({argument});"));
        }
    }

    fn takes(&mut self, stmt: &Stmt, text: &str) {
        self.lines.push(format!("{text}{}", comment(stmt)));
    }

    fn repeat(&mut self, stmt: &Stmt, count: &Expr, body: &[Stmt]) -> Result<(), PromelaError> {
        let count = self.amounts.value(stmt, count)?;
        if count.range.1 < 1 {
            // SPIN refuses a loop of which it sees that it is never run.
            return self.only(stmt, "never run", &[]);
        }
        // A `for` leaves its counter one above the bound.
        let range = (0, count.range.1.max(0).saturating_add(1));
        let width = Width::holding(range, &stmt.at, &self.fix)?;
        if self.counters.len() == self.depth {
            self.counters.push(width);
        }
        self.counters[self.depth] = self.counters[self.depth].max(width);
        self.depth += 1;
        self.takes(stmt, &format!("for ({}{} : 1 .. {}) {{", self.counter, self.depth, count.text));
        self.lines.indent();
        self.program(body)?;
        self.lines.dedent();
        self.lines.push("}");
        self.depth -= 1;
        Ok(())
    }

    fn branch(
        &mut self,
        stmt: &Stmt,
        sides: &Sides,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), PromelaError> {
        match sides {
            Sides::One(condition) => match condition.constant() {
                Some(0) => self.only(stmt, "never", otherwise),
                Some(_) => self.only(stmt, "always", then),
                None => self.choose(stmt, &condition.text, then, otherwise),
            },
            // Seed 001, Section 3: a warp runs both sides, one after the other.
            Sides::Each(..) if then.is_empty() && otherwise.is_empty() => {
                self.only(stmt, "nothing to do", &[])
            }
            Sides::Each(first, second) => {
                for (side, program) in [(first, then), (second, otherwise)] {
                    match side.constant() {
                        _ if program.is_empty() => {}
                        Some(0) => {
                            self.only(stmt, "no item of any warp takes this side of", &[])?
                        }
                        Some(_) => {
                            self.only(stmt, "some item of each warp takes this side of", program)?
                        }
                        None => self.choose(stmt, &format!("{} == 1", side.text), program, &[])?,
                    }
                }
                Ok(())
            }
        }
    }

    fn only(&mut self, stmt: &Stmt, why: &str, program: &[Stmt]) -> Result<(), PromelaError> {
        if program.is_empty() {
            self.lines.push(format!("skip;  /* {why}: {} */", stmt.at));
            return Ok(());
        }
        self.lines.push(format!("/* {why}: {} */", stmt.at));
        self.program(program)
    }

    fn choose(
        &mut self,
        stmt: &Stmt,
        condition: &str,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<(), PromelaError> {
        self.takes(stmt, "if");
        for (head, program) in
            [(format!(":: {condition} ->"), then), (":: else ->".into(), otherwise)]
        {
            self.lines.push(head);
            self.lines.indent();
            self.program(program)?;
            self.lines.dedent();
        }
        self.lines.push("fi;");
        Ok(())
    }
}
