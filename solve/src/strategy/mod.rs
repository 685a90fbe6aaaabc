//! Strategies close the bracket. One file each; all of them work on a [`Task`].
//!
//! A strategy may stop at any moment; what it has proved is in the bracket by then. Every
//! configuration a solver proposes is run in the simulator before it counts.

mod ascend;
mod bisect;
mod bisect_fresh;
mod descend;
mod entry;
mod enumerate;
mod optimize;
mod race;

use crate::error::SolveError;
use crate::instance::interruptible;
use crate::task::Task;
use entry::{Entry, OnFormula, Run};

tickbound_model::named! {
    /// A strategy's name.
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
        /// Several at once on one bracket.
        Race = "race" => race::ENTRY,
    }
}

impl Strategy {
    /// True if a transition system is needed.
    #[must_use]
    pub fn needs_encoding(self) -> bool {
        !matches!(self.entry().run, Run::OnSimulator(_))
    }

    /// True if it leaves to the program how the search is done.
    pub(crate) fn leaves_choice(self) -> bool {
        matches!(self.entry().run, Run::Together(_))
    }
}

/// Runs a strategy on a thread of its own, which gets a solver context of its own. Without a formula
/// configurations are simulated.
pub(crate) fn search(task: &Task<'_>, strategy: Strategy) -> Result<(), SolveError> {
    // The bounds alone may have closed the bracket; what is left then is the confirmation.
    if task.bracket.done() {
        return Ok(());
    }
    match (strategy.entry().run, task.formula) {
        (Run::OnFormula(run), Some(formula)) => std::thread::scope(|scope| {
            let work = || interruptible(task.bracket, || run(task, formula));
            scope.spawn(work).join().unwrap_or(Err(SolveError::Panicked))
        }),
        (Run::Together(run), Some(formula)) => run(task, formula, &racers()),
        (Run::OnSimulator(run), _) => run(task),
        (Run::OnFormula(_) | Run::Together(_), None) => enumerate::run(task),
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
