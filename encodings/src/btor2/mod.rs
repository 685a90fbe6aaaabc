//! A transition system as BTOR2, for word-level model checkers.
//!
//! BTOR2 (Niemetz, Preiner, Wolf, Biere, "Btor2, BtorMC and Boolector 3.0", CAV 2018) is a text of
//! numbered lines over bit-vectors: states with first and next values, constraints that hold at
//! every step, and *bad* states. [`write`](fn@write) states there that a run ends after fewer than
//! `T` ticks. So "nothing is faster than `T`" is: no bad state can be reached.
//!
//! In go a [`System`] without choices and what [`survey`] finds in it; out comes the text.
//!
//! **Parameters are states that keep their value.** BTOR2 gives a state without `next` a new value
//! at every step, like an input; so each parameter has `next` = itself. It has no `init`: the
//! checker picks it, and one constraint leaves the valid configurations.
//!
//! **Nothing overflows.** Every integer has the same width `w`. [`survey`] runs each configuration
//! to its goal in the [interpreter](super::system::run) and notes the least and the greatest number
//! that any node had in any step; `w` holds these, the values of the parameters and `T` as two's
//! complement. By induction over steps and nodes, each node that has a value in the interpreter has
//! the same one in the text: the operands of a sum, a product, a maximum or a comparison are the
//! same, and the result, as an integer, fits `w` bits, so computing modulo 2^w gives it. A run does
//! not change after its goal ([`System::goal`]), so this covers steps of any number, for the valid
//! configurations, and the constraint excludes the others. The interpreter refuses what leaves 64
//! bits, so `w` is at most 64.
//!
//! **What is never read** is unknown to the interpreter, and some number here, perhaps wrapped. A
//! node that the interpreter knows although an operand is unknown is an `if` of a known condition,
//! or a junction that another operand settles: its value does not depend on the unknown one. Goal
//! and cost are known at the end of every run, or [`survey`] is a fault; the goal before, too.
//!
//! **Size.** Tables and the set of valid configurations are decision diagrams (`diagram.rs`) over
//! the parameters, whose equal parts are one line, as are all equal expressions.
//!
//! Lines keep to what all readers take: operands before what is made of them, first values before
//! the state that has them, no negative operands, no operations that test for overflow.

mod diagram;
mod lines;

use std::collections::HashSet;

use thiserror::Error;

use crate::system::evaluate::{Algebra, SystemValue, SystemValues, evaluate};
use crate::system::run::{SystemRunError, SystemRunner};
use crate::system::{ChoiceId, InternalError, Sort, System, TableId};
use diagram::{Parameters, Row};
use lines::{Line, Lines, NUMBER, TRUTH};

/// What the runs of all configurations say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Btor2Survey {
    /// The first configuration that takes the fewest ticks, and these.
    pub least: (usize, i64),
    /// Steps after which every configuration has reached its goal.
    pub steps: usize,
    /// The least and the greatest number of any node in any step; 0 lies between them.
    pub range: (i64, i64),
}

/// Why a system has no survey.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SurveyError {
    /// There is nothing to run.
    #[error("there is no valid configuration")]
    Empty,
    /// The caller asked to stop.
    #[error("stopped before all configurations were run")]
    Stopped,
    /// A configuration cannot be run to its end.
    #[error("configuration {0}: {1}")]
    Run(usize, SystemRunError),
}

/// Runs every configuration of a system without choices, each for at most `limit` steps. `stop` is
/// asked before each.
///
/// # Errors
/// The problem has no valid configuration, `stop` returns true, or a run has no result.
pub fn survey(
    system: &System,
    limit: usize,
    stop: &dyn Fn() -> bool,
) -> Result<Btor2Survey, SurveyError> {
    let mut runner = SystemRunner::new(system);
    let (mut least, mut steps) = (None::<(usize, i64)>, 0);
    for c in 0..system.configurations.len() {
        if stop() {
            return Err(SurveyError::Stopped);
        }
        let run = runner.run(c, limit).map_err(|e| SurveyError::Run(c, e))?;
        steps = steps.max(run.steps);
        if least.is_none_or(|(_, cost)| run.cost < cost) {
            least = Some((c, run.cost));
        }
    }
    Ok(Btor2Survey { least: least.ok_or(SurveyError::Empty)?, steps, range: runner.range() })
}

/// The system as BTOR2 text, whose bad states are ends of runs after fewer than `bound` ticks.
/// `title` goes into a comment.
///
/// # Errors
/// A system with choices, or one that is none.
pub fn write(
    system: &System,
    survey: &Btor2Survey,
    title: &str,
    bound: i64,
) -> Result<String, InternalError> {
    let width = width(system, survey, bound);
    let mut writer = Writer::new(system, width, bound);
    writer.head(survey, title);
    writer.parameters();
    let mut values = SystemValues::none(system);
    evaluate(system, &system.first(), &[], &mut writer, &mut values)?;
    let states = writer.states(&values)?;
    writer.lines.comment("one step");
    evaluate(system, &system.live(), &states, &mut writer, &mut values)?;
    writer.end(&states, &values)?;
    Ok(writer.lines.text)
}

/// Bits of every integer.
fn width(system: &System, survey: &Btor2Survey, bound: i64) -> u32 {
    let parameters = system.parameters.iter().flat_map(|p| p.values.iter().copied());
    let all = parameters.chain([survey.range.0, survey.range.1, bound]);
    // As two's complement; the sort of one bit is that of truth values.
    all.map(|v| i64::BITS - (v ^ (v >> 63)).leading_zeros() + 1).fold(2, u32::max)
}

/// The text of a system in the making. Integers and truth values are the lines that have them.
struct Writer<'s> {
    system: &'s System,
    bound: i64,
    lines: Lines,
    parameters: Parameters<'s>,
    tables: Vec<Option<Line>>,
    names: HashSet<String>,
}

impl<'s> Writer<'s> {
    fn new(system: &'s System, width: u32, bound: i64) -> Writer<'s> {
        Writer {
            system,
            bound,
            lines: Lines::new(width),
            parameters: Parameters { declared: &system.parameters, lines: Vec::new() },
            tables: vec![None; system.tables.len()],
            names: HashSet::new(),
        }
    }

    /// The content of the text, and its sorts.
    fn head(&mut self, survey: &Btor2Survey, title: &str) {
        let Btor2Survey { least: (_, least), steps, .. } = survey;
        let bound = self.bound;
        let reached = match bound <= *least {
            true => "no bad state can be reached".to_owned(),
            false => format!("a bad state is reached within {steps} steps"),
        };
        self.lines.comment(&title.replace(['\n', '\r'], " "));
        self.lines.comment(&format!("bad: a run has ended after fewer than {bound} ticks"));
        self.lines.comment(&format!("the least time is {least} ticks: {reached}"));
        self.lines
            .comment(&format!("all runs have ended after {steps} steps; nothing changes then"));
        self.lines.sorts();
    }

    /// The parameters, each of which keeps its value, and the valid configurations.
    fn parameters(&mut self) {
        self.lines.comment("parameters: chosen once, for all steps");
        for p in &self.system.parameters {
            let name = self.unique(&p.name);
            let line = self.lines.add(&format!("state {NUMBER} {name}"));
            self.lines.add(&format!("next {NUMBER} {line} {line}"));
            self.parameters.lines.push(line);
        }
        if self.system.parameters.is_empty() {
            return;
        }
        self.lines.comment("the valid configurations");
        let domains = self.parameters.domains(&mut self.lines);
        let valid = self.parameters.valid(&self.system.configurations, &mut self.lines);
        let both = self.lines.share(&format!("and {TRUTH} {domains} {valid}"));
        self.lines.add(&format!("constraint {both}"));
    }

    fn states(
        &mut self,
        first: &SystemValues<Line, Line>,
    ) -> Result<Vec<SystemValue<Line, Line>>, InternalError> {
        self.lines.comment("states");
        let mut states = Vec::new();
        for state in &self.system.states {
            let (sort, init) = match first.get(state.init)? {
                SystemValue::Int(init) => (NUMBER, *init),
                SystemValue::Bool(init) => (TRUTH, *init),
            };
            let name = self.unique(&state.name);
            let line = self.lines.add(&format!("state {sort} {name}"));
            self.lines.add(&format!("init {sort} {line} {init}"));
            states.push(match state.sort {
                Sort::Int => SystemValue::Int(line),
                Sort::Bool => SystemValue::Bool(line),
            });
        }
        Ok(states)
    }

    /// The next values, and what is bad.
    fn end(
        &mut self,
        states: &[SystemValue<Line, Line>],
        values: &SystemValues<Line, Line>,
    ) -> Result<(), InternalError> {
        self.lines.comment("what the states are next");
        for (declared, state) in self.system.states.iter().zip(states) {
            let (sort, line, next) = match state {
                SystemValue::Int(line) => (NUMBER, line, values.int(declared.next)?),
                SystemValue::Bool(line) => (TRUTH, line, values.bool(declared.next)?),
            };
            self.lines.add(&format!("next {sort} {line} {next}"));
        }
        let (goal, cost) = (values.bool(self.system.goal)?, values.int(self.system.cost)?);
        let [ended, ticks] = ["ended", "ticks"].map(|name| self.unique(name));
        self.lines.add(&format!("output {goal} {ended}"));
        self.lines.add(&format!("output {cost} {ticks}"));
        self.lines.comment(&format!("the run has ended, after fewer than {} ticks", self.bound));
        let bound = self.lines.number(self.bound);
        let fewer = self.lines.share(&format!("slt {TRUTH} {cost} {bound}"));
        let bad = self.lines.share(&format!("and {TRUTH} {goal} {fewer}"));
        self.lines.add(&format!("bad {bad}"));
        Ok(())
    }

    /// A name as a symbol of BTOR2, which has no blanks and no `;`, and that no other line has.
    fn unique(&mut self, name: &str) -> String {
        let mut symbol: String =
            name.chars().map(|c| if c.is_whitespace() || c == ';' { '_' } else { c }).collect();
        while !self.names.insert(symbol.clone()) {
            symbol.push('_');
        }
        symbol
    }

    fn op(&mut self, name: &str, sort: Line, a: &Line, b: &Line) -> Line {
        self.lines.share(&format!("{name} {sort} {a} {b}"))
    }
}

impl Algebra for Writer<'_> {
    type Int = Line;
    type Bool = Line;
    type Error = InternalError;

    fn int(&mut self, value: i64) -> Line {
        self.lines.number(value)
    }

    fn bool(&mut self, value: bool) -> Line {
        self.lines.truth(value)
    }

    fn unread(&mut self) -> Line {
        self.lines.number(0)
    }

    fn table(&mut self, table: TableId) -> Result<Line, InternalError> {
        if let Some(line) = self.tables[table.index()] {
            return Ok(line);
        }
        let table_of = &self.system.tables[table.index()];
        self.lines.comment(&format!("table {}", table_of.name.replace(['\n', '\r'], " ")));
        let rows: Vec<Row<'_>> =
            table_of.rows.iter().map(|(key, v)| (key.as_slice(), self.lines.number(*v))).collect();
        let line = self.parameters.choose(&table_of.support, &rows, &mut self.lines)?;
        self.tables[table.index()] = Some(line);
        Ok(line)
    }

    fn choice(&mut self, _: ChoiceId) -> Result<Line, InternalError> {
        Err(InternalError("a system with choices is written as BTOR2".into()))
    }

    fn add(&mut self, a: &Line, b: &Line) -> Result<Line, InternalError> {
        Ok(self.op("add", NUMBER, a, b))
    }

    fn mul(&mut self, a: &Line, b: &Line) -> Result<Line, InternalError> {
        Ok(self.op("mul", NUMBER, a, b))
    }

    fn max(&mut self, a: &Line, b: &Line) -> Line {
        let less = self.at_most(a, b);
        self.ite_int(&less, b, a)
    }

    fn equal(&mut self, a: &Line, b: &Line) -> Line {
        self.op("eq", TRUTH, a, b)
    }

    fn at_most(&mut self, a: &Line, b: &Line) -> Line {
        self.op("slte", TRUTH, a, b)
    }

    fn not(&mut self, a: &Line) -> Line {
        self.lines.share(&format!("not {TRUTH} {a}"))
    }

    fn junction(
        &mut self,
        items: impl Iterator<Item = Result<Line, InternalError>>,
        conjunction: bool,
    ) -> Result<Line, InternalError> {
        // Two at a time.
        let name = if conjunction { "and" } else { "or" };
        let mut all: Option<Line> = None;
        for item in items {
            let item = item?;
            all = Some(all.map_or(item, |all| self.op(name, TRUTH, &all, &item)));
        }
        all.ok_or_else(|| InternalError("a junction of nothing".into()))
    }

    fn ite_int(&mut self, c: &Line, a: &Line, b: &Line) -> Line {
        self.lines.share(&format!("ite {NUMBER} {c} {a} {b}"))
    }

    fn ite_bool(&mut self, c: &Line, a: &Line, b: &Line) -> Line {
        self.lines.share(&format!("ite {TRUTH} {c} {a} {b}"))
    }
}
