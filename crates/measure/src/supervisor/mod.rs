//! A device and a worker process for it, which is started anew whenever it is lost.
//!
//! [`Supervisor::ask`] gives a [`Request`] to the worker and waits. A worker that takes too long is
//! killed with all that it has started, one that crashes is noted; either way the job has failed,
//! and the next one gets a new worker. A device is lost when no new worker can use it, or when
//! what answers to its number is another one.

mod process;
mod setup;

use std::time::{Duration, Instant};

use super::outcome::{FailureKind, Outcome, Stages};
use super::timing_run::Stage;
use super::worker::{Described, Reply, Request, WorkerAnswer};
pub use crate::error::SupervisorError;
use process::{Worker, WorkerMessage};
pub use setup::{COMPILES, Interrupts, SUBCOMMAND, SupervisorSetup};
use tickbound_device::DeviceKind;

/// How long a worker may take to open its device and to try it.
const OPENING: Duration = Duration::from_secs(60);
/// How long a worker may fill buffers.
const FILLING: Duration = Duration::from_secs(300);
/// How often a device that does not answer is tried, and how long to wait in between.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// A device with a worker.
#[derive(Debug)]
pub struct Supervisor<'a> {
    setup: SupervisorSetup,
    interrupts: Interrupts<'a>,
    worker: Option<Worker>,
    device: Described,
    kind: DeviceKind,
}

impl<'a> Supervisor<'a> {
    /// Starts a worker and waits until its device is ready.
    ///
    /// # Errors
    /// The device is missing, or a process cannot be started.
    pub fn open(
        setup: SupervisorSetup,
        interrupts: Interrupts<'a>,
    ) -> Result<Supervisor<'a>, SupervisorError> {
        let (worker, device, kind) = start(&setup, interrupts)?;
        Ok(Supervisor { setup, interrupts, worker: Some(worker), device, kind })
    }

    /// A lab for the same device that only compiles. Its worker starts with its first request.
    pub fn compiling(&self) -> Supervisor<'a> {
        let setup = SupervisorSetup { compiles: true, ..self.setup.clone() };
        let (interrupts, device, kind) = (self.interrupts, self.device.clone(), self.kind);
        Supervisor { setup, interrupts, worker: None, device, kind }
    }

    /// The device.
    pub fn device(&self) -> &Described {
        &self.device
    }

    /// What kind of device it is.
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Does what a request wants. `stage` is called with what it is at.
    ///
    /// # Errors
    /// The device is lost, the user interrupts, or the time is up; then nothing is known of the
    /// job.
    pub fn ask(
        &mut self,
        request: &Request,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<WorkerAnswer, SupervisorError> {
        let mut why = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            let worker = match self.worker.take() {
                Some(worker) => worker,
                None => self.renew()?,
            };
            match self.attend(worker, request, stage)? {
                Attended::Answer(answer) => return Ok(answer),
                Attended::Device(said) => why = said,
            }
        }
        Err(SupervisorError::Vanished(self.device.name.clone(), why))
    }

    /// A new worker for the same device.
    fn renew(&self) -> Result<Worker, SupervisorError> {
        let lost = |why| SupervisorError::Vanished(self.device.name.clone(), why);
        let mut why = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            match start(&self.setup, self.interrupts) {
                Ok((worker, device, _)) if device == self.device => return Ok(worker),
                Ok((_, device, _)) => why = format!("there is {} in its place", device.name),
                Err(SupervisorError::NoDevice(said) | SupervisorError::Choice(said)) => why = said,
                Err(e) => return Err(e),
            }
        }
        Err(lost(why))
    }

    /// How long a request may take after its buffers are filled.
    fn limit(&self, request: &Request) -> Duration {
        match request {
            Request::Compile(..) | Request::Run(_) | Request::Keep(..) => self.setup.limit,
            Request::Rounds(jobs, rule) => {
                let rounds = Duration::try_from_secs_f64(rule.seconds).unwrap_or_default();
                self.setup.limit.saturating_mul(jobs.len() as u32).saturating_add(rounds)
            }
        }
    }

    /// Waits for a worker; keeps it if it can go on.
    fn attend(
        &mut self,
        mut worker: Worker,
        request: &Request,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Attended, SupervisorError> {
        let began = Instant::now();
        let (mut at, mut since) = (Stage::Fill, Instant::now());
        let limit = self.limit(request);
        let failed = |kind, message: String| {
            let stages = Stages { other: began.elapsed().as_secs_f64(), ..Stages::default() };
            Ok(Attended::Answer(WorkerAnswer::Outcome(Outcome::failed(kind, message), stages)))
        };
        if worker.send(request).is_err() {
            return Ok(Attended::Device(worker.end()));
        }
        loop {
            let limit = if at == Stage::Fill { FILLING } else { limit };
            match worker.listen(Some(since + limit), &self.setup, self.interrupts)? {
                WorkerMessage::Reply(Reply::Stage(next)) => {
                    if at == Stage::Fill {
                        since = Instant::now();
                    }
                    at = next;
                    stage(next);
                }
                WorkerMessage::Reply(Reply::Done(answer)) => {
                    self.worker = Some(worker);
                    return Ok(Attended::Answer(answer));
                }
                WorkerMessage::Reply(Reply::Last(f)) => return failed(f.kind, f.message),
                WorkerMessage::Reply(Reply::Device(why)) => return Ok(Attended::Device(why)),
                WorkerMessage::Reply(other) => return Err(unexpected(other)),
                WorkerMessage::Late => return failed(FailureKind::Timeout, late(limit, at)),
                WorkerMessage::Ended => {
                    // Before the kernel runs a crash is the driver's or the device's.
                    if at == Stage::Fill {
                        return Ok(Attended::Device(worker.end()));
                    }
                    let message = format!("{} {}", worker.end(), at.words());
                    let kind = match at {
                        Stage::Compile => FailureKind::Compile,
                        _ => FailureKind::Runtime,
                    };
                    return failed(kind, message);
                }
            }
        }
    }
}

/// The error of a reply that ends a job without a result.
fn unexpected(reply: Reply) -> SupervisorError {
    match reply {
        Reply::Fault(why) => SupervisorError::Process(why),
        other => SupervisorError::Process(format!("says {other:?} out of turn")),
    }
}

/// That a job has been stopped at a stage.
fn late(limit: Duration, at: Stage) -> String {
    let seconds = limit.as_secs_f64();
    format!("stopped after {seconds} s {}; --limit gives it more time", at.words())
}

enum Attended {
    Answer(WorkerAnswer),
    Device(String),
}

fn start(
    setup: &SupervisorSetup,
    interrupts: Interrupts<'_>,
) -> Result<(Worker, Described, DeviceKind), SupervisorError> {
    let mut worker = Worker::spawn(setup).map_err(|e| {
        SupervisorError::Process(format!("{} cannot be started: {e}", setup.program.display()))
    })?;
    match worker.listen(Some(Instant::now() + OPENING), setup, interrupts)? {
        WorkerMessage::Reply(Reply::Ready(device, kind)) => Ok((worker, device, kind)),
        WorkerMessage::Reply(Reply::NoDevice(why)) => Err(SupervisorError::NoDevice(why)),
        WorkerMessage::Reply(Reply::BadChoice(why)) => Err(SupervisorError::Choice(why)),
        WorkerMessage::Reply(other) => {
            Err(SupervisorError::Process(format!("says {other:?} out of turn")))
        }
        WorkerMessage::Late => {
            let seconds = OPENING.as_secs();
            Err(SupervisorError::NoDevice(format!("the driver does not answer within {seconds} s")))
        }
        WorkerMessage::Ended => {
            Err(SupervisorError::NoDevice(format!("the driver does not start: {}", worker.end())))
        }
    }
}
