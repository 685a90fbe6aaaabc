//! The questions that searches ask, and the runs that answer them.
//!
//! [`Session::over_time`] asks SPIN's verifier whether everything takes longer than a bound;
//! [`Session::simulate`] asks SPIN's simulator for any run. A run that is found is replayed
//! ([`Session::replay`]), and our simulator has to confirm it before it counts.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::output::Verdict;
use super::process::{Call, Ended, Line, Stop, Watch};
use super::result::{RunLog, StopReason};
use super::session::{Session, complaint, log, write};
use super::trail::{Lines, Oracle, Trail};
use super::verifier::{Build, Claim, Goal, Order, Outcome, Storage};
use super::{Event, SpinError, Subject};

/// Steps of SPIN's simulator.
const SIMULATION_STEPS: u64 = 20_000_000;
/// How long replays may take after the search was stopped.
const REPLAYS: Duration = Duration::from_secs(3);

/// The answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It holds.
    Holds,
    /// A run that is faster; its ticks.
    Found(i64),
    /// The search was cut and says nothing.
    Cut(StopReason),
}

impl Session<'_> {
    /// Asks whether everything takes more than `bound` ticks, and takes note of the answer.
    pub fn over_time(&self, bound: i64) -> Result<Answer, SpinError> {
        self.first_error(Claim::OverTime, bound)
    }

    /// Asks for any run that ends.
    pub fn any_end(&self) -> Result<Answer, SpinError> {
        self.first_error(Claim::NonTerm, 0)
    }

    fn first_error(&self, claim: Claim, bound: i64) -> Result<Answer, SpinError> {
        let Some(build) = self.build(Goal::Claims { bound }, Storage::Full)? else {
            return Ok(self.stopped());
        };
        let memory = self.memory_for(Storage::Full);
        let mut depth = self.depth();
        loop {
            let next = self.deeper(depth, memory);
            let order = Order {
                what: claim.name(),
                claim: Some(claim),
                bound: (claim == Claim::OverTime).then_some(bound),
                depth,
                stop_when_cut: next.is_some(),
                errors: Some(1),
                bits: None,
                watch: self.watch,
            };
            let outcome = self.run(&build, &order)?;
            return match outcome.verdict {
                Verdict::Holds => {
                    if claim == Claim::OverTime {
                        self.refuted(bound)?;
                    }
                    Ok(Answer::Holds)
                }
                Verdict::Violated => self.first_trail(&build, &order, &outcome),
                Verdict::DepthLimit => match next {
                    Some(next) => {
                        depth = next;
                        self.set_depth(next);
                        continue;
                    }
                    None => Ok(Answer::Cut(StopReason::Depth(depth))),
                },
                Verdict::OutOfMemory => Ok(Answer::Cut(StopReason::Memory(memory))),
                Verdict::Stopped(stop) => Ok(Answer::Cut(self.reason(stop))),
                other => Err(SpinError::Unreadable {
                    what: order.what.into(),
                    why: format!("`{}` is no answer here", other.word()),
                }),
            };
        }
    }

    fn first_trail(
        &self,
        build: &Build,
        order: &Order<'_>,
        outcome: &Outcome,
    ) -> Result<Answer, SpinError> {
        let Some(file) = outcome.trails.first() else {
            return Err(SpinError::Unreadable {
                what: order.what.into(),
                why: "it reports an error and has written no trail".into(),
            });
        };
        match self.replay(build, order, file, outcome.run)? {
            Some(trail) => {
                let time = trail.found.time;
                self.offer(trail)?;
                Ok(Answer::Found(time))
            }
            None => Ok(self.stopped()),
        }
    }

    /// The answer of a search that was stopped between two runs.
    pub fn stopped(&self) -> Answer {
        Answer::Cut(self.reason(self.watch.stop().unwrap_or(Stop::Interrupted)))
    }

    /// Replays a trail and has our simulator confirm it; `None` if the search was stopped
    /// meanwhile.
    pub fn replay(
        &self,
        build: &Build,
        order: &Order<'_>,
        file: &Path,
        run: usize,
    ) -> Result<Option<Trail>, SpinError> {
        let folder = file.parent().unwrap_or(&build.folder);
        let mut call =
            Call::new(&build.program, folder).arg("-r").arg(file.file_name().unwrap_or_default());
        call = call.arg("-n").arg(format!("-m{}", order.depth));
        if let Some(claim) = order.claim {
            call = call.arg("-N").arg(claim.name());
        }
        let done = self.start(&call, &self.replay_watch(), &mut |_| Line::Keep)?;
        log(folder, "replay.log", &call, &done)?;
        if let Ended::Stopped(_) = done.ended {
            return Ok(None);
        }
        let trail = self.confirm(&done.stdout, run)?.ok_or_else(|| SpinError::Trail {
            why: format!("its replay does not come to an end: {}", complaint(&done)),
        })?;
        let bound = order.bound.filter(|_| order.claim == Some(Claim::OverTime));
        match bound {
            Some(bound) if trail.found.time > bound => Err(SpinError::Trail {
                why: format!("it takes {} ticks where T is {bound}", trail.found.time),
            }),
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
        let deadline = *self.book().grace.get_or_insert_with(|| Instant::now() + REPLAYS);
        Watch { interrupt: &NEVER, deadline: Some(deadline), round: None, settled: None }
    }

    fn confirm(&self, lines: &[String], run: usize) -> Result<Option<Trail>, SpinError> {
        let read = Lines::parse(lines)
            .map_err(|line| SpinError::Trail { why: format!("it prints `{line}`") })?;
        let Subject { problem, space, model } = self.subject;
        let oracle =
            Oracle { problem, space, names: &model.parameters, open_schedule: model.open_schedule };
        oracle.confirm(&read, run)
    }

    /// One random run in SPIN's simulator: a first time. `None` if it does not come to an end.
    pub fn simulate(&self, seed: u64) -> Result<Option<i64>, SpinError> {
        (self.observer)(&Event::Started { what: "simulation", bound: None });
        let folder = self.new_folder("simulation")?;
        write(&folder.join("model.pml"), &self.subject.model.text)?;
        let call = self
            .spin(&folder)
            .arg("-DT=0")
            .arg(format!("-n{seed}"))
            .arg(format!("-u{SIMULATION_STEPS}"))
            .arg("-T")
            .arg("model.pml");
        let done = self.start(&call, &self.watch, &mut |_| Line::Keep)?;
        log(&folder, "simulation.log", &call, &done)?;
        let verdict = match done.ended {
            Ended::Stopped(stop) => Verdict::Stopped(stop),
            Ended::Exit(0) => Verdict::NothingFound,
            _ => return Err(SpinError::Refused { said: complaint(&done) }),
        };
        let entry = RunLog {
            what: "simulation",
            bound: None,
            seed: Some(seed),
            verdict,
            coverage: None,
            hash_factor: None,
            states: 0,
            transitions: 0,
            depth: 0,
            depth_limit: SIMULATION_STEPS,
            memory_bytes: 0,
            spin_seconds: 0.0,
            compile_seconds: 0.0,
            seconds: done.seconds,
            trails: 0,
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
