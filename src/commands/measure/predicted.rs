//! Times of the model beside measured ones.

use std::time::{Duration, Instant};

use tickbound_measure::MeasureReport;
use tickbound_model::{Bound, Problem};
use tickbound_simulator::simulate;

use crate::commands::stop;

/// How long the model's times may take after a stop, so that they stand beside what was measured.
const AFTER_STOP: Duration = Duration::from_millis(200);

/// What the model predicts for the configurations that were measured.
pub(super) fn predicted(problem: &Problem, report: &MeasureReport) -> Vec<Option<i64>> {
    let begun = Instant::now();
    let is_late = || stop::is_due() && begun.elapsed() > AFTER_STOP;
    report.results.iter().map(|m| ticks(problem, &m.bound, &is_late)).collect()
}

/// The model's time of a configuration, if there is a model that is not too large for it.
pub(super) fn ticks(problem: &Problem, bound: &Bound, is_late: &dyn Fn() -> bool) -> Option<i64> {
    if problem.kernel.is_empty() || is_late() {
        return None;
    }
    simulate(problem, bound, &Default::default()).ok().map(|run| run.time)
}
