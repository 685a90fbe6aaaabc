//! A formula on a live solver, asked again and again under assumptions.

use tickbound_encodings::system::{InternalError, System};
use z3::ast::{Bool, Int};
use z3::{Context, Params, SatResult, Solver, Tactic};

use crate::bracket::Bracket;
use crate::formula::SmtFormula;
use crate::unroll::Unrolled;

/// The answer of a solver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SolverReply {
    /// Some configuration takes at most as many ticks; its index in the space and its ticks.
    Yes(usize, i64),
    /// No configuration does.
    No,
    /// The search was stopped, or the solver gave up; the bracket knows which.
    Nothing,
}

/// A formula on a live solver.
pub struct SmtInstance<'a> {
    solver: Solver,
    unrolled: Unrolled<'a>,
    cost: Int,
    system: &'a System,
    bracket: &'a Bracket<'a>,
}

impl<'a> SmtInstance<'a> {
    /// Unrolls a formula; configurations that are pruned may not be chosen.
    ///
    /// # Errors
    /// The system is not one.
    pub fn new(
        formula: SmtFormula<'a>,
        bracket: &'a Bracket<'a>,
    ) -> Result<SmtInstance<'a>, InternalError> {
        SmtInstance::on(Solver::new(), formula, bracket)
    }

    /// As [`SmtInstance::new`], for [`SmtInstance::at_most_for_good`] alone. A plain solver hands
    /// its assertions to two solvers, one for a first question without assumptions and one for all
    /// others; this is the first of them by itself.
    pub(crate) fn for_one_question(
        formula: SmtFormula<'a>,
        bracket: &'a Bracket<'a>,
    ) -> Result<SmtInstance<'a>, InternalError> {
        SmtInstance::on(Tactic::new("default").solver(), formula, bracket)
    }

    /// Unrolls and asserts on a solver that knows nothing yet.
    fn on(
        solver: Solver,
        formula: SmtFormula<'a>,
        bracket: &'a Bracket<'a>,
    ) -> Result<SmtInstance<'a>, InternalError> {
        let SmtFormula { system, steps, pruned, .. } = formula;
        solver.set_params(&leave_ctrl_c());
        let (mut unrolled, goal, cost) = unrolled(system, steps)?;
        unrolled.facts().iter().for_each(|fact| solver.assert(fact));
        solver.assert(goal);
        for c in (0..system.configurations.len()).filter(|c| pruned(*c)) {
            solver.assert(choice(system, &unrolled, c).not());
        }
        Ok(SmtInstance { solver, unrolled, cost, system, bracket })
    }

    /// Constants and assertions of the formula.
    pub fn size(&self) -> usize {
        self.unrolled.size()
    }

    /// Asks a last time: whether some configuration takes at most `ticks`. As a fact, not an
    /// assumption, the bound takes part in Z3's simplification, which is several times faster.
    pub fn at_most_for_good(self, ticks: i64) -> SolverReply {
        self.solver.assert(self.cost.le(ticks));
        self.bracket.count_call();
        self.answer(self.solver.check())
    }

    fn answer(&self, result: SatResult) -> SolverReply {
        match result {
            SatResult::Unsat => SolverReply::No,
            SatResult::Sat => self.model(),
            SatResult::Unknown => {
                if !self.bracket.done() {
                    let why = self.solver.get_reason_unknown().unwrap_or_default();
                    self.bracket.give_up(why);
                }
                SolverReply::Nothing
            }
        }
    }

    fn model(&self) -> SolverReply {
        let found = self.solver.get_model().and_then(|m| {
            let choice = chosen(&m, self.unrolled.chosen())?;
            let cost = m.eval(&self.cost, true)?.as_i64()?;
            let index = self.system.configurations.iter().position(|c| *c == choice)?;
            Some(SolverReply::Yes(index, cost))
        });
        found.unwrap_or_else(|| {
            self.bracket.give_up("a model without a valid configuration".into());
            SolverReply::Nothing
        })
    }

    /// Asks whether some configuration takes at most `ticks`.
    pub fn at_most(&self, ticks: i64) -> SolverReply {
        let assumption = self.cost.le(ticks);
        self.bracket.count_call();
        self.answer(self.solver.check_assumptions(&[assumption]))
    }

    /// Asserts the bounds of the bracket.
    pub fn learn(&self) {
        let bounds = self.bracket.bounds();
        self.solver.assert(self.cost.ge(bounds.lower));
        if bounds.best.is_some() {
            self.solver.assert(self.cost.le(bounds.upper()));
        }
    }
}

/// A system unrolled for some steps, with the goal and the cost at the end.
pub(crate) fn unrolled(
    system: &System,
    steps: usize,
) -> Result<(Unrolled<'_>, Bool, Int), InternalError> {
    let mut unrolled = Unrolled::new(system)?;
    (0..steps).try_for_each(|_| unrolled.extend())?;
    let (goal, cost) = unrolled.end()?;
    Ok((unrolled, goal, cost))
}

/// Keeps Z3 from catching Ctrl-C while it searches: it would give up without a word to the others,
/// and the program's own handler would not hear of it.
pub(crate) fn leave_ctrl_c() -> Params {
    let mut params = Params::new();
    params.set_bool("ctrl_c", false);
    params
}

/// The value of each parameter in a model.
pub(crate) fn chosen(model: &z3::Model, choices: &[Vec<Bool>]) -> Option<Vec<u32>> {
    let value = |values: &Vec<Bool>| {
        let is_true = |b: &Bool| model.eval(b, true).and_then(|v| v.as_bool()) == Some(true);
        values.iter().position(is_true).map(|v| v as u32)
    };
    choices.iter().map(value).collect()
}

/// The fact that configuration `c` is chosen.
pub(crate) fn choice(system: &System, unrolled: &Unrolled<'_>, c: usize) -> Bool {
    let values = system.configurations[c].iter().zip(unrolled.chosen());
    Bool::and(&values.map(|(v, chosen)| chosen[*v as usize].clone()).collect::<Vec<_>>())
}

/// Runs `work` on this thread while another interrupts its solver once the bracket is done.
pub fn interruptible<T>(bracket: &Bracket<'_>, work: impl FnOnce() -> T) -> T {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// How soon a stop reaches the solver.
    const PERIOD: Duration = Duration::from_millis(4);
    let finished = AtomicBool::new(false);
    let context = Context::thread_local();
    let handle = context.handle();
    let finished = &finished;
    std::thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            while !finished.load(Ordering::Acquire) {
                if bracket.done() {
                    handle.interrupt();
                }
                std::thread::park_timeout(PERIOD);
            }
        });
        let result = work();
        finished.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    })
}
