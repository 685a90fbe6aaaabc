//! `tickbound verify --run`: accesses out of bounds, seen on a device.

use std::path::Path;
use std::time::Duration;

use tickbound_measure::outcome::Outcome;
use tickbound_measure::{MeasureOptions, MeasurePlan, measure};
use tickbound_model::Problem;
use tickbound_safety::answer::{Judged, Judgement, Safety, SafetyClaim, Witness};

use super::text::fault_at;
use crate::commands::exit::CliError;
use crate::commands::measure::choice;
use crate::commands::progress::Progress;
use crate::commands::reader::own_program;
use crate::commands::stop;

/// Most time for compiling a configuration, and for running it.
const MAX_RUN: Duration = Duration::from_secs(60);

/// Runs the counterexamples of accesses out of bounds between guard zones, and gives a line for
/// each.
///
/// # Errors
/// The device is not found, or nothing can be run on it.
pub fn lines(
    (problem, folder): (&Problem, &Path),
    safety: &Safety,
    device: &str,
    progress: &Progress,
) -> Result<Vec<String>, CliError> {
    let mut problem = problem.clone();
    // Only what is written past a buffer counts.
    problem.source.iter_mut().for_each(|source| source.reference = None);
    let options = MeasureOptions {
        choices: vec![choice(device)?],
        limit: MAX_RUN,
        compilers: Some(0),
        cutoff: 1.0,
        flush_cache: false,
        budget: None,
        baseline: None,
        reference_limit: MAX_RUN,
        reference_memory: 0,
        timeout: None,
        since: None,
        floors: None,
        cache: None,
        program: own_program()?,
    };
    let mut lines = Vec::new();
    for (judged, witness) in safety.judged.iter().filter_map(out_of_bounds) {
        if stop::is_due() {
            break;
        }
        progress.say(format!("running {}", fault_at(judged)));
        let bound = [problem.bind(&witness.configuration)?];
        let plan = MeasurePlan::Listed(&bound);
        let run = measure(&problem, folder, plan, &options, stop::flag(), &mut |_| {})?;
        let seen = match run.results.first().map(|measured| &measured.record.outcome) {
            Some(Outcome::Failed(failure)) => failure.message.clone(),
            Some(Outcome::Timed(_)) => "nothing is written next to a buffer".to_owned(),
            None => "it was stopped".to_owned(),
        };
        lines.push(format!("{}: on {}: {seen}", fault_at(judged), run.device.name));
    }
    Ok(lines)
}

/// A counterexample in which an access is out of bounds.
fn out_of_bounds(judged: &Judged) -> Option<(&Judged, &Witness)> {
    let is_out = judged.claim == SafetyClaim::Bounds && judged.judgement == Judgement::Refuted;
    Some((judged, judged.witness.as_ref().filter(|_| is_out)?))
}
