//! Strategies close the bracket. One file each; all of them work on a [`Task`].
//!
//! A strategy may stop at any moment; what it has proved is in the bracket by then. Every
//! configuration a solver proposes is run in the simulator before it counts.

mod ascend;
mod bisect;
mod bisect_fresh;
mod branch;
mod descend;
mod eliminate;
mod entry;
mod enumerate;
pub(crate) mod labels;
mod optimize;
mod race;

use crate::error::SolveError;
use crate::instance::interruptible;
use crate::proof::Proof;
use crate::search::Search;
use crate::table_encoding;
use crate::task::{FormulaSearch, Task};

pub(crate) use branch::{ascending, best};
use entry::{Entry, OnFormula, Run};

tickbound_input::named! {
    /// A strategy's name.
    #[derive(Default)]
    pub enum Strategy: Entry {
        /// Z3's own optimisation, confirmed by a plain solver.
        Optimize = "optimize" => optimize::ENTRY,
        /// From the best known time downwards until nothing is faster.
        Descend = "descend" => descend::ENTRY,
        /// From the lower bound upwards until something is found.
        Ascend = "ascend" => ascend::ENTRY,
        /// Halving the bracket on one live solver.
        Bisect = "bisect" => bisect::ENTRY,
        /// Halving with a new solver for every question, as the papers do; for comparison.
        BisectFresh = "bisect-fresh" => bisect_fresh::ENTRY,
        /// Simulating every configuration that the lower bounds leave over.
        Enumerate = "enumerate" => enumerate::ENTRY,
        /// Eliminating the parameters one by one over a join tree, without listing the space.
        Eliminate = "eliminate" => eliminate::ENTRY,
        /// Elimination with prices and labels: parameters share a budget, a maximum, a product.
        Labels = "labels" => labels::ENTRY,
        /// Branch and bound over boxes of values, without listing the space.
        Branch = "branch" => branch::ENTRY,
        /// What is cheapest first: all configurations simulated, elimination, then several at once.
        #[default]
        Race = "race" => race::ENTRY,
    }
}

impl Strategy {
    /// True if a transition system is needed.
    pub fn needs_encoding(self) -> bool {
        matches!(self.entry().run, Run::OnFormula(_) | Run::Together(_))
    }

    /// True if it works without a list of the configurations, and only so.
    pub(crate) fn is_symbolic(self) -> bool {
        matches!(self.entry().run, Run::Symbolic(_))
    }

    /// True if it leaves to the program how the search is done.
    pub(crate) fn leaves_choice(self) -> bool {
        matches!(self.entry().run, Run::Together(_))
    }
}

/// Runs a strategy on its own thread, which gets its own solver context. Without a
/// formula configurations are simulated.
pub(crate) fn search(task: &Task<'_>, strategy: Strategy) -> Result<(), SolveError> {
    // The bounds alone may have closed the bracket; what is left then is the confirmation.
    if task.bracket.done() {
        return Ok(());
    }
    match (strategy.entry().run, task.formula) {
        (Run::OnFormula(run), Some(_)) => ask(task, run),
        (Run::Together(run), Some(formula)) => run(task, formula, &racers()),
        (Run::OnSimulator(run), _) => run(task),
        (Run::OnFormula(_) | Run::Together(_) | Run::Symbolic(_), _) => enumerate::run(task),
    }
}

/// Runs a strategy that asks a solver on a new thread with another solver context.
fn ask(asked: &dyn FormulaSearch, run: OnFormula) -> Result<(), SolveError> {
    std::thread::scope(|scope| {
        let work = || interruptible(asked.bracket(), || run(asked));
        scope.spawn(work).join().unwrap_or(Err(SolveError::Panicked))
    })
}

/// Runs a strategy on a space without a list; returns the proof of a closed bracket.
pub(crate) fn symbolic(
    search: &Search<'_>,
    strategy: Strategy,
) -> Result<Option<Proof>, SolveError> {
    match strategy.entry().run {
        Run::Symbolic(run) => run(search),
        Run::OnFormula(run) => table_encoding::closed(search, |statement| ask(statement, run)),
        Run::Together(_) => race::symbolic(search),
        Run::OnSimulator(_) => branch::run(search),
    }
}

/// Who takes part in a race, the most promising first.
fn racers() -> Vec<OnFormula> {
    let mut ranked: Vec<(u8, OnFormula)> = Vec::new();
    for Entry { run, rank, .. } in Strategy::ALL.map(Strategy::entry) {
        if let (Run::OnFormula(run), Some(rank)) = (run, rank) {
            ranked.push((rank, run));
        }
    }
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, run)| run).collect()
}
