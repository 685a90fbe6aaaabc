//! `tickbound export --to btor2`.

use tickbound_encodings::btor2::{self, Btor2Survey, SurveyError};
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_model::{Problem, Space};
use tickbound_simulator::simulate;
use tickbound_solver::prepare::{no_run, no_system};
use tickbound_solver::{Encoding, SolveError};

use super::super::exit::CliError;
use super::super::stop;

/// Most steps of a run: those of `tick` go with the time.
const MAX_STEPS: usize = 1_000_000;

/// The transition system as text; the simulator has confirmed its fastest run.
pub(super) fn text(
    problem: &Problem,
    encoding: Encoding,
    faster_than: Option<i64>,
) -> Result<String, CliError> {
    let space = problem.space()?;
    let plan = Plan::new(problem, &space).map_err(without_steps)?;
    let encoded = encoding.encode(&plan);
    let system = encoded.map_err(|e| no_system(problem, &space, encoding, e))?.system;
    let survey = btor2::survey(&system, MAX_STEPS, &stop::is_due).map_err(|e| match e {
        SurveyError::Run(c, e) => no_run(problem, &space, encoding, c, e).into(),
        SurveyError::Empty | SurveyError::Stopped => CliError::Input(format!("--to btor2: {e}")),
    })?;
    simulated(problem, &space, &survey)?;
    let title = format!("{}, encoding {encoding}", problem.name);
    let bound = faster_than.unwrap_or(survey.least.1);
    Ok(btor2::write(&system, &survey, &title, bound).map_err(SolveError::from)?)
}

/// The simulator confirms the encoding's time of the fastest configuration.
fn simulated(problem: &Problem, space: &Space, survey: &Btor2Survey) -> Result<(), CliError> {
    let (c, ticks) = survey.least;
    let time = simulate(problem, &space.bound[c], &Default::default())?.time;
    if time == ticks {
        return Ok(());
    }
    let configuration = &space.bound[c].configuration;
    Err(SolveError::disagreement(problem, configuration, ticks, Some(time)).into())
}

/// Why the problem cannot be written as a transition system.
fn without_steps(error: PlanError) -> CliError {
    let what = match error {
        PlanError::OpenSchedule => "platform.warps: the schedule is open",
        PlanError::Resources => "profile resources: the time is one expression",
        other => return SolveError::from(other).into(),
    };
    CliError::not_written("btor2", &format!("{what}, and no encoding has steps for that"))
}
