//! What `tickbound measure` writes on standard error while it works.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::HumanDuration;
use tickbound_input::message::one_line;
use tickbound_measure::outcome::Outcome;
use tickbound_measure::{MeasureEvent, MeasureOptions, MeasurePlan, MeasureReport, measure};
use tickbound_model::Problem;

use crate::commands::exit::CliError;
use crate::commands::progress::Progress;
use crate::commands::stop;

/// Failures that have a line each.
const MAX_TOLD: usize = 20;
/// Results after which a line estimates the whole time.
const FIRST: usize = 3;
/// What takes less is not announced.
const SHORT: Duration = Duration::from_secs(5);

/// Measures, and shows it on standard error; `None` if it was stopped before anything ran.
///
/// # Errors
/// As for [`measure`].
pub(super) fn measured(
    (problem, folder): (&Problem, &Path),
    plan: MeasurePlan<'_>,
    options: &MeasureOptions,
    progress: &Progress,
) -> Result<Option<MeasureReport>, CliError> {
    let cache = options.cache.as_ref().map(|c| c.display().to_string());
    let mut seen = MeasureProgress::new(problem, progress, cache.as_deref());
    match measure(problem, folder, plan, options, stop::flag(), &mut |e| seen.tell(&e)) {
        Err(e) if e.is_only_stopped() => {
            seen.line(&e.to_string());
            Ok(None)
        }
        report => Ok(Some(report?)),
    }
}

/// Writes on standard error what happens.
struct MeasureProgress<'a> {
    problem: &'a Problem,
    progress: &'a Progress,
    cache: Option<&'a str>,
    /// Failures so far.
    failed: usize,
    /// Results that were measured and are in the cache.
    kept: usize,
    /// When the first of them began.
    began: Option<Instant>,
    /// The line with how long all take was written.
    estimated: bool,
}

impl<'a> MeasureProgress<'a> {
    fn new(
        problem: &'a Problem,
        progress: &'a Progress,
        cache: Option<&'a str>,
    ) -> MeasureProgress<'a> {
        MeasureProgress {
            problem,
            progress,
            cache,
            failed: 0,
            kept: 0,
            began: None,
            estimated: false,
        }
    }

    fn tell(&mut self, event: &MeasureEvent<'_>) {
        match event {
            MeasureEvent::Note(note) => self.line(note),
            MeasureEvent::Reference => {
                self.progress.say("the host computes what is right".to_owned())
            }
            MeasureEvent::Stage(bound, stage, done, of) => {
                // By now the result before is in the cache.
                self.on_forced_end();
                let named = self.problem.name_values(&bound.configuration);
                self.began.get_or_insert_with(Instant::now);
                let left = of.and_then(|of| self.left(of.saturating_sub(*done)));
                let is_due = self.kept == FIRST && !self.estimated;
                if let Some(left) = left.as_ref().filter(|left| is_due && left.0 > SHORT) {
                    self.line(&format!("{done} are measured; the others take about {left}"));
                    self.estimated = true;
                }
                let of = of.map_or_else(|| "measured".to_owned(), |of| format!("of {of}"));
                let left = left.map_or_else(String::new, |left| format!(", about {left} left"));
                self.progress.say(format!("{done} {of}{left}; {named}: {}", stage.progress()));
            }
            MeasureEvent::Finals(count) => {
                self.progress.say(format!("timing the {count} best in turns"));
            }
            MeasureEvent::Measured(bound, record) => {
                self.kept += 1;
                let Outcome::Failed(failure) = &record.outcome else { return };
                self.failed += 1;
                let named = self.problem.name_values(&bound.configuration);
                match self.failed {
                    ..=MAX_TOLD => self.line(&format!("{named}: {}", failure.message)),
                    failed if failed == MAX_TOLD + 1 => self.line("more failures are in the cache"),
                    _ => {}
                }
            }
        }
    }

    /// How long as many others take by those that were measured.
    fn left(&self, others: usize) -> Option<HumanDuration> {
        let each = self.began?.elapsed().checked_div(u32::try_from(self.kept).ok()?)?;
        (others > 0).then(|| HumanDuration(each.saturating_mul(others as u32)))
    }

    /// What is printed if the campaign does not come back: nothing of it is lost.
    fn on_forced_end(&self) {
        let (kept, cache) = (self.kept, self.cache.unwrap_or_default().to_owned());
        stop::on_forced_end(move || {
            let why = stop::reason().map_or_else(String::new, |why| format!("{why}; "));
            error!(
                "tickbound: {why}ended before it was finished; {kept} results are in {cache}, the \
                 same command goes on"
            );
        });
    }

    /// Leaves a line.
    fn line(&self, text: &str) {
        self.progress.aside(&format!("tickbound: {}", one_line(text)));
    }
}
