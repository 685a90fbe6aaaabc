//! Two kernels that compute the same, timed in turns on one device.
//!
//! Each pair runs both, in random order, so that what changes with time, such as a clock rate, is
//! the same for both. Of the ratios within pairs the median and an order-statistic interval are
//! taken ([`sample`]); one kernel timed after the other raises 9 to 52 % false alarms where clocks
//! drift by 3 %, pairs at most 0.2 % (simulated, `docs/measuring.md`).

use std::path::Path;

use tickbound_input::named::Named;
use tickbound_model::{Bound, Problem};
use tickbound_os::process::Scratch;

use crate::error::MeasureError;
use crate::files::SourceFiles;
use crate::job::{BufferArgument, Job};
use crate::outcome::Outcome;
use crate::sample::{self, SampleRule};
use crate::supervisor::{Interrupts, Supervisor, SupervisorSetup};
use crate::worker::{Described, Request, WorkerAnswer};

/// Probability that the interval misses the median, at most.
const MISS: f64 = 0.01;

/// A kernel in a race: a configuration of a problem that was read from a folder.
#[derive(Debug, Clone, Copy)]
pub struct Racer<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The folder that its paths count from.
    pub folder: &'a Path,
    /// The configuration.
    pub bound: &'a Bound,
}

/// Times of two kernels in turns.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceTimes {
    /// The device.
    pub device: Described,
    /// Seconds of each run of each kernel; those with the same number are a pair.
    pub seconds: [Vec<f64>; 2],
    /// The median of the second kernel's time over the first one's, within pairs.
    pub ratio: f64,
    /// The interval that has it with at least 99 %; `None` for fewer than 8 pairs.
    pub interval: Option<(f64, f64)>,
}

/// Runs two kernels in `pairs` pairs, after their outputs were compared.
///
/// # Errors
/// A kernel fails, or their outputs differ: [`MeasureError::Race`]; else as for
/// [`measure`](crate::measure).
pub fn race(
    racers: [Racer<'_>; 2],
    pairs: usize,
    setup: SupervisorSetup,
    interrupts: Interrupts<'_>,
) -> Result<RaceTimes, MeasureError> {
    let job = |racer: &Racer<'_>| {
        let files = SourceFiles::read(racer.problem, racer.folder)?;
        files.code.check_device(setup.choice)?;
        Job::new(racer.problem, &files, racer.bound)
    };
    let [first, mut second] = [job(&racers[0])?, job(&racers[1])?];
    let kinds = |job: &Job| -> Vec<_> {
        job.outputs().map(|output: &BufferArgument| (output.element, output.length)).collect()
    };
    if kinds(&first) != kinds(&second) {
        let why = "the kernels have outputs of other types or lengths; race kernels that compute \
                   the same";
        return Err(MeasureError::Race(why.to_owned()));
    }
    let seconds = setup.limit.as_secs_f64();
    let mut lab = Supervisor::open(setup, interrupts)?;
    let scratch = Scratch::new("race").map_err(|e| MeasureError::Race(e.to_string()))?;
    let outputs = scratch.path().join("outputs");
    let keep = Request::Keep(Box::new(first.clone()), outputs.clone());
    finished("the first kernel", lab.ask(&keep, &mut |_| {})?)?;
    second.expected = Some(outputs);
    second.tolerance = second.tolerance.max(first.tolerance);
    let run = Request::Run(Box::new(second.clone()));
    finished("the second kernel", lab.ask(&run, &mut |_| {})?)?;
    let (least, most, spread) = (pairs, pairs, 0.0);
    let rule = SampleRule { warm_up: 1, warm_seconds: 0.0, least, most, spread, seconds };
    let runs = match lab.ask(&Request::Rounds(vec![first, second], rule), &mut |_| {})? {
        WorkerAnswer::Rounds(runs) => <[Vec<f64>; 2]>::try_from(runs).ok(),
        answer => {
            finished("in turns a kernel", answer)?;
            None
        }
    };
    let nothing = || MeasureError::Race("the kernels have no times in turns".to_owned());
    let seconds = runs.ok_or_else(nothing)?;
    let ratios: Vec<f64> = seconds[0].iter().zip(&seconds[1]).map(|(a, b)| b / a).collect();
    Ok(RaceTimes {
        device: lab.device().clone(),
        ratio: sample::median(&ratios).ok_or_else(nothing)?,
        interval: sample::interval_missing(&ratios, MISS),
        seconds,
    })
}

/// Refuses a run that failed.
fn finished(which: &str, answer: WorkerAnswer) -> Result<(), MeasureError> {
    match answer {
        WorkerAnswer::Outcome(Outcome::Failed(failure), _) => Err(MeasureError::Race(format!(
            "{which} {}: {}",
            failure.kind.about().trim_end_matches('.'),
            failure.message
        ))),
        _ => Ok(()),
    }
}
