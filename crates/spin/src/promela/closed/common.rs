//! What both styles need of a problem with closed schedules.

use tickbound_expr::{Expr, Function};
use tickbound_model::Problem;
use tickbound_model::kernel::{has_barrier, has_until};

use crate::promela::amounts::Amounts;
use crate::promela::declarations::Quantity;
use crate::promela::error::PromelaError;
use crate::promela::facts::{Facts, Value, Who};
use crate::promela::layout::{Layout, Sharing};
use crate::promela::width::Width;

/// The launch's numbers in Promela.
pub(super) struct Common<'f, 'a> {
    pub facts: &'f Facts<'a>,
    pub barriers: bool,
    /// Something in the kernel waits for the mark.
    pub marks: bool,
    /// Workers of a unit.
    pub workers: Value,
    /// Groups, or activations, that are run.
    pub rounds: Value,
    /// Items, runs or warps of a worker in a group.
    pub runs: Value,
    /// Items of a group.
    pub local: Value,
    /// The type of times.
    pub time: Width,
}

impl<'f, 'a> Common<'f, 'a> {
    pub fn new(facts: &'f Facts<'a>) -> Result<Self, PromelaError> {
        let (problem, layout, at) = (facts.problem, &facts.layout, "launch.local_size");
        let plain = |at: &str, expr: &Expr| facts.plain(at, expr, Who::Launch);
        Ok(Common {
            facts,
            barriers: has_barrier(&problem.kernel),
            marks: has_until(&problem.kernel),
            workers: plain(at, &layout.workers_expr)?,
            rounds: plain("launch", &layout.rounds_expr)?,
            runs: plain(at, &layout.runs_expr)?,
            local: facts.value(at, problem.launch.local_size(), Who::Launch)?,
            time: facts.time_width()?,
        })
    }

    pub fn problem(&self) -> &'a Problem {
        self.facts.problem
    }

    pub fn layout(&self) -> &Layout {
        &self.facts.layout
    }

    /// True if every item is a process or its own row.
    pub fn items(&self) -> bool {
        self.layout().sharing == Sharing::Items
    }

    /// True if dispatchers run warps.
    pub fn warps(&self) -> bool {
        self.layout().sharing == Sharing::Warps
    }

    pub fn groups_differ(&self) -> bool {
        !self.layout().groups_alike
    }

    /// True if a worker runs its program more than once in a group, and counts that.
    pub fn counts_runs(&self) -> bool {
        matches!(self.layout().sharing, Sharing::Runs | Sharing::Warps)
            && self.runs.constant() != Some(1)
    }

    pub fn amounts(&self) -> Result<Amounts<'f, 'a>, PromelaError> {
        match self.problem().platform.warps() {
            Some(warps) if self.warps() => Amounts::of_warps(self.facts, warps.width),
            _ => Ok(Amounts::new(self.facts, Who::Item)),
        }
    }

    /// Elements of a unit, where the text needs them.
    pub fn elements(&self) -> Result<String, PromelaError> {
        if !self.items() {
            return Ok(String::new());
        }
        let slot = self.problem().scope.slot("elements_per_unit");
        let elements = slot.map_or(Expr::Int(1), Expr::Name);
        Ok(self.facts.value("platform.elements_per_unit", &elements, Who::Launch)?.text)
    }

    /// Most items that elements of all units run at once.
    pub fn places(&self) -> i64 {
        let per_unit = self.problem().platform.elements_per_unit().min(self.layout().slots());
        self.layout().units.saturating_mul(per_unit)
    }

    pub fn barrier_price(&self) -> Result<Option<String>, PromelaError> {
        if self.barriers { self.facts.price("barrier") } else { Ok(None) }
    }

    /// NWE, NWU, and how often a unit and an element run, with what people call these.
    pub fn derived(&self, rounds: &str, runs: &str) -> Result<Vec<Quantity>, PromelaError> {
        let layout = self.layout();
        let mut all = vec![
            Quantity::new("NWE", self.workers.clone(), "working elements of a unit"),
            Quantity::new("rounds", self.rounds.clone(), rounds),
        ];
        if layout.units > 1 {
            let all_units = vec![layout.rounds_expr.clone(), Expr::Int(layout.units)];
            let working = Expr::Call(Function::Min, all_units);
            let working = self.facts.plain("launch", &working, Who::Launch)?;
            all.push(Quantity::new("NWU", working, "working units"));
        }
        if self.counts_runs() {
            all.push(Quantity::new("runs", self.runs.clone(), runs));
        }
        Ok(all)
    }
}
