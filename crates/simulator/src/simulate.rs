//! Runs one configuration to its end.

use tickbound_model::{Bound, Problem, Profile};

use crate::chooser::Chooser;
use crate::error::SimulateError;
use crate::resources::resource_time;
use crate::run::{SimulateOptions, SimulatedRun};
use crate::{engine, launch, schedule};

/// Runs one configuration. If its schedule is open, this is the schedule of
/// [`FirstCome`](crate::FirstCome).
///
/// # Errors
/// An expression without a value, a negative amount, items that do not meet at their barriers, a
/// time beyond 63 bits, or more events than allowed.
pub fn simulate(
    problem: &Problem,
    bound: &Bound,
    options: &SimulateOptions,
) -> Result<SimulatedRun, SimulateError> {
    let mut engine = engine::Engine::new(problem, bound, options)?;
    if problem.profile == Profile::Resources {
        return Ok(engine.run(resource_time(problem, bound)?.time));
    }
    let launch = launch::Launch::new(problem, bound)?;
    let end = if problem.has_open_schedule() {
        schedule::first_come(&mut engine, bound)?
    } else {
        launch.run_groups(&mut engine)?
    };
    let time = launch::finish(&mut engine, end)?;
    Ok(engine.run(time))
}

/// Runs one configuration, and asks `chooser` wherever its schedule is open. It is not asked where
/// there is one option only, and never if the problem leaves nothing open.
pub fn simulate_with(
    problem: &Problem,
    bound: &Bound,
    options: &SimulateOptions,
    chooser: &mut dyn Chooser,
) -> Result<SimulatedRun, SimulateError> {
    if !problem.has_open_schedule() {
        return simulate(problem, bound, options);
    }
    let mut engine = engine::Engine::new(problem, bound, options)?;
    let end = schedule::run(&mut engine, bound, chooser)?;
    let time = launch::finish(&mut engine, end)?;
    Ok(engine.run(time))
}
