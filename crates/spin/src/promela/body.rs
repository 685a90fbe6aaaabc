//! A kernel program as the body of a process.

use tickbound_model::Stmt;
use tickbound_model::kernel::has_until;

use super::amounts::Amounts;
use super::error::PromelaError;
use super::facts::{Facts, Value, Who};
use super::lines::{IndentedLines, comment};
use super::program::{Branch, Counters, Program, Written, call};

/// Writes programs, and notes which loop counters they need.
pub(crate) struct Body<'b, 'f, 'a> {
    amounts: &'b Amounts<'f, 'a>,
    /// Which inline represents an access.
    inline: fn(&Stmt) -> &'static str,
    /// The variable that holds the mark, and what the names of loop counters begin with.
    mark: &'static str,
    counter: &'static str,
    /// Something waits for the mark.
    marks: bool,
    counters: Counters,
    lines: IndentedLines,
}

impl<'b, 'f, 'a> Body<'b, 'f, 'a> {
    pub fn new(
        amounts: &'b Amounts<'f, 'a>,
        (mark, counter): (&'static str, &'static str),
        inline: fn(&Stmt) -> &'static str,
    ) -> Self {
        let (counters, lines) = <_>::default();
        Body { amounts, inline, mark, counter, marks: true, counters, lines }
    }

    pub fn write(mut self, program: &[Stmt]) -> Result<Written, PromelaError> {
        self.marks = has_until(program);
        self.program(program)?;
        Ok(Written { lines: self.lines.take(), counters: self.counters.widths })
    }

    fn push(&mut self, stmt: &Stmt, text: &str) {
        self.lines.push(format!("{text}{}", comment(stmt)));
    }
}

/// The program `finish` of one element; it begins with its mark, if something waits for it.
pub(crate) fn finish(
    facts: &Facts<'_>,
    (mark, counter): (&'static str, &'static str),
) -> Result<Written, PromelaError> {
    let program = &facts.problem.finish;
    if program.is_empty() {
        return Ok(Written::default());
    }
    let amounts = Amounts::new(facts, Who::Launch);
    let mut written = Body::new(&amounts, (mark, counter), |_| "work").write(program)?;
    if has_until(program) {
        written.lines.insert(0, format!("{mark} = time;"));
    }
    Ok(written)
}

impl Program for Body<'_, '_, '_> {
    fn amounts(&self) -> &Amounts<'_, '_> {
        self.amounts
    }

    fn program(&mut self, program: &[Stmt]) -> Result<(), PromelaError> {
        if program.is_empty() {
            self.lines.push("skip;");
        }
        program.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn access(&mut self, stmt: &Stmt) -> Result<(), PromelaError> {
        if let Some(ticks) = self.amounts.ticks(stmt)? {
            self.push(stmt, &(call((self.inline)(stmt), &ticks.text, "") + ";"));
        }
        Ok(())
    }

    fn mark(&mut self, stmt: &Stmt) {
        if self.marks {
            self.push(stmt, &format!("{} = time;", self.mark));
        } else {
            // Nothing waits for it.
            self.push(stmt, "skip;");
        }
    }

    fn until(&mut self, stmt: &Stmt, delay: &Value) {
        self.push(stmt, &(call("until_mark", &delay.text, "") + ";"));
    }

    fn barrier(&mut self, stmt: &Stmt) {
        self.push(stmt, "meet();");
    }

    fn repeat(&mut self, stmt: &Stmt, count: Value, body: &[Stmt]) -> Result<(), PromelaError> {
        if count.range.1 < 1 {
            // SPIN refuses a loop of which it sees that it is never run.
            return self.only(stmt, "never run", &[]);
        }
        // A `for` leaves its counter one above the bound.
        let (most, fix) = (count.range.1.saturating_add(1), self.amounts.facts.fix());
        let depth = self.counters.enter(most, &stmt.at, &fix)?;
        self.push(stmt, &format!("for ({}{depth} : 1 .. {}) {{", self.counter, count.text));
        self.lines.indent();
        self.program(body)?;
        self.lines.dedent();
        self.lines.push("}");
        self.counters.leave();
        Ok(())
    }

    fn only(&mut self, stmt: &Stmt, why: &str, program: &[Stmt]) -> Result<(), PromelaError> {
        if program.is_empty() {
            self.lines.push(format!("skip;  /* {why}: {} */", stmt.at));
            return Ok(());
        }
        self.lines.push(format!("/* {why}: {} */", stmt.at));
        self.program(program)
    }

    fn choose(&mut self, branch: Branch<'_>) -> Result<(), PromelaError> {
        self.push(branch.stmt, "if");
        let sides = [(branch.condition, branch.then), ("else", branch.otherwise)];
        for (condition, program) in sides {
            self.lines.push(format!(":: {condition} ->"));
            self.lines.indent();
            self.program(program)?;
            self.lines.dedent();
        }
        self.lines.push("fi;");
        Ok(())
    }
}
