//! The questions that searches ask, and the runs that answer them.
//!
//! [`SearchState::over_time`] asks SPIN's verifier whether everything takes longer than a bound;
//! [`SearchState::simulate`] asks SPIN's simulator for any run. A run that is found is replayed
//! ([`SearchState::replay`]), and our simulator has to confirm it before it counts.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tickbound_os::process::{Ended, OutputLine, ProcessStop};

use crate::error::SpinError;
use crate::options::SpinEvent;
use crate::orders::{Build, Goal, Order, OrderClaim, Storage, VerifierRun};
use crate::output::VerifierVerdict;
use crate::result::{RunLog, SpinStop};
use crate::state::{SearchState, complaint, run_watched, write};
use crate::trail::{Lines, SpinTrail};
use crate::verifier::refused;
use crate::watch::Watch;

/// Steps of SPIN's simulator.
const SIMULATION_STEPS: u64 = 20_000_000;
/// How long replays may take after the search was stopped.
const REPLAYS: Duration = Duration::from_secs(3);

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub enum VerifierAnswer {
    /// It holds.
    Holds,
    /// A run that is faster; its ticks.
    Found(i64),
    /// The search was cut and says nothing.
    Cut(SpinStop),
}

impl SearchState<'_> {
    /// Asks whether everything takes more than `bound` ticks, and takes note of the answer.
    pub fn over_time(&self, bound: i64) -> Result<VerifierAnswer, SpinError> {
        self.first_error(OrderClaim::OverTime, bound)
    }

    /// Asks for any run that ends.
    pub fn any_end(&self) -> Result<VerifierAnswer, SpinError> {
        self.first_error(OrderClaim::NonTerm, 0)
    }

    fn first_error(&self, claim: OrderClaim, bound: i64) -> Result<VerifierAnswer, SpinError> {
        let Some(build) = self.build(Goal::Claims { bound }, Storage::Full)? else {
            return Ok(VerifierAnswer::Cut(self.stop_reason()));
        };
        let mut order = Order {
            claim: Some(claim),
            bound: (claim == OrderClaim::OverTime).then_some(bound),
            ..Order::first_error(claim.name(), self.depth(), self.watch)
        };
        let run = self.run_deep_enough(&build, &mut order)?;
        match run.verdict {
            VerifierVerdict::Holds => {
                if claim == OrderClaim::OverTime {
                    self.refuted(bound)?;
                }
                Ok(VerifierAnswer::Holds)
            }
            VerifierVerdict::Violated => self.first_trail(&build, &order, &run),
            verdict => Ok(VerifierAnswer::Cut(self.cut_by(&verdict, &order)?)),
        }
    }

    fn first_trail(
        &self,
        build: &Build,
        order: &Order<'_>,
        run: &VerifierRun,
    ) -> Result<VerifierAnswer, SpinError> {
        let Some(file) = run.trails.first() else {
            return Err(order.unreadable("it reports an error and has written no trail"));
        };
        match self.replay(build, order, file, run.run)? {
            Some(trail) => {
                let time = trail.found.time;
                self.offer(trail)?;
                Ok(VerifierAnswer::Found(time))
            }
            None => Ok(VerifierAnswer::Cut(self.stop_reason())),
        }
    }

    /// What has stopped a search between two runs.
    pub fn stop_reason(&self) -> SpinStop {
        self.reason(self.watch.stop().unwrap_or(ProcessStop::Interrupted))
    }

    /// Replays a trail and has our simulator confirm it; `None` if the search was stopped.
    pub fn replay(
        &self,
        build: &Build,
        order: &Order<'_>,
        file: &Path,
        run: usize,
    ) -> Result<Option<SpinTrail>, SpinError> {
        let folder = file.parent().unwrap_or(&build.folder);
        let mut command = Command::new(&build.program);
        command.current_dir(folder).arg("-r").arg(file.file_name().unwrap_or_default());
        command.args(["-n".to_owned(), format!("-m{}", order.depth)]);
        if let Some(claim) = order.claim {
            command.args(["-N", claim.name()]);
        }
        let watch = self.replay_watch();
        let done = run_watched(&mut command, watch, "replay.log", &mut |_| OutputLine::Keep)?;
        if let Ended::Stopped(_) = done.ended {
            return Ok(None);
        }
        let Some(trail) = self.confirm(&done.stdout, run)? else {
            // A verifier that is stopped while it writes a trail leaves a part of one.
            return match self.watch.stop() {
                Some(_) => Ok(None),
                None => Err(SpinError::Trail(format!(
                    "its replay does not come to an end: {}",
                    complaint(&done)
                ))),
            };
        };
        let bound = order.bound.filter(|_| order.claim == Some(OrderClaim::OverTime));
        match bound {
            Some(bound) if trail.found.time > bound => {
                let why = format!("it takes {} ticks where T is {bound}", trail.found.time);
                Err(SpinError::Trail(why))
            }
            _ => Ok(Some(trail)),
        }
    }

    /// The end of a swarm's round does not stop replays. When the whole search is stopped there is
    /// still a moment for them, so that what was found is kept.
    fn replay_watch(&self) -> Watch<'_> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        if self.watch.stop().is_none() {
            return self.watch;
        }
        *self.known().last_replays.get_or_insert_with(|| Watch::new(&NEVER, Some(REPLAYS), None))
    }

    fn confirm(&self, printed: &str, run: usize) -> Result<Option<SpinTrail>, SpinError> {
        let read = Lines::parse(&printed.lines().collect::<Vec<_>>())
            .map_err(|line| SpinError::Trail(format!("it prints `{line}`")))?;
        self.subject.confirm(&read, run)
    }

    /// One random run in SPIN's simulator: a first time. `None` if it does not end.
    pub fn simulate(&self, seed: u64) -> Result<Option<i64>, SpinError> {
        (self.observer)(&SpinEvent::Started { what: "simulation", bound: None });
        let folder = self.new_folder("simulation")?;
        write(&folder.join("model.pml"), &self.subject.model.text)?;
        let mut command = self.spin(&folder);
        command.args(["-DT=0".to_owned(), format!("-n{seed}"), format!("-u{SIMULATION_STEPS}")]);
        let done = self.run_logged(command.args(["-T", "model.pml"]), "simulation.log")?;
        let verdict = match done.ended {
            Ended::Stopped(why) => VerifierVerdict::Stopped(why),
            Ended::Exit(0) => VerifierVerdict::NothingFound,
            _ => return Err(refused(&done)),
        };
        let entry = RunLog {
            what: "simulation",
            seed: Some(seed),
            verdict,
            depth_limit: SIMULATION_STEPS,
            seconds: done.time.as_secs_f64(),
            ..RunLog::default()
        };
        let run = self.enter(entry);
        if let Ended::Stopped(_) = done.ended {
            return Ok(None);
        }
        let Some(trail) = self.confirm(&done.stdout, run)? else { return Ok(None) };
        let time = trail.found.time;
        self.offer(trail)?;
        Ok(Some(time))
    }
}
