//! A schedule that was found elsewhere, to be followed decision by decision.

use super::{Scripted, SimulateError, SimulateOptions, SimulatedRun, simulate, simulate_with};
use tickbound_model::{Bound, Problem};

/// The decisions of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Script {
    /// First come, first served.
    #[default]
    FirstCome,
    /// As a solver found them.
    Starts {
        /// Which warp of which group is started when: (tick, group, warp).
        starts: Vec<(i64, i64, i64)>,
        /// Which unit each group goes to.
        units: Vec<i64>,
    },
}

impl Script {
    /// Runs a configuration under this schedule; `None` if the simulator could not follow it.
    pub fn run(
        &self,
        problem: &Problem,
        bound: &Bound,
        options: &SimulateOptions,
    ) -> Result<Option<SimulatedRun>, SimulateError> {
        match self {
            Script::FirstCome => simulate(problem, bound, options).map(Some),
            Script::Starts { starts, units } => {
                let mut chooser = Scripted::new(starts.clone(), units.clone());
                let run = simulate_with(problem, bound, options, &mut chooser)?;
                Ok(chooser.followed().then_some(run))
            }
        }
    }
}
