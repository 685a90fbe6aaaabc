//! The process that compiles and runs kernels: requests in, replies out, as lines of JSON.
//!
//! A kernel may write where it should not, may never end, and may take its device with it. On a
//! processor (PoCL) it does the first in the memory of the process that launched it, and OpenCL has
//! no way to stop the second. So kernels run in their own process, which may crash and be
//! killed ([`super::supervisor`] does that). It ends when its input does: also when the process
//! that started it was killed, and even while a kernel hangs.
//!
//! Before it states that it is ready, it runs its own kernel and checks the result, so that a
//! device that has vanished, or that answers and does nothing, is not mistaken for a wrong kernel.
//! One that compiles only runs nothing, so that it disturbs no kernel that is being timed.

use std::fs::File;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::Job;
use super::job_error::JobError;
use super::outcome::{Failure, Outcome, Stages};
use super::sample::SampleRule;
use super::timing_run::{Stage, TimingRun, compile};
use tickbound_device::{
    self, Arg, Device, DeviceChoice, DeviceError, DeviceKind, DeviceProgram, Picked, Session,
};

/// How long a worker whose input has ended may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// A device, as its worker describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Described {
    /// Its number.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its platform's name.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The version of OpenCL that it has, or its architecture for CUDA.
    pub version: String,
    /// Compute units.
    pub units: u32,
}

impl From<&Device> for Described {
    fn from(device: &Device) -> Self {
        let device = device.clone();
        Described {
            index: device.index,
            name: device.name,
            platform: device.platform,
            driver: device.driver,
            version: device.version,
            units: device.units,
        }
    }
}

/// What a worker does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Compiles a job's program into this file, for [`Job::binary`].
    Compile(Box<Job>, PathBuf),
    /// Runs a job.
    Run(Box<Job>),
    /// Runs a job and writes its outputs to this file, for [`Job::expected`].
    Keep(Box<Job>, PathBuf),
    /// Runs jobs in turns until the times of all are known.
    Rounds(Vec<Job>, SampleRule),
}

/// What comes of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerAnswer {
    /// What came of a job: also of compiling it, if it does not compile.
    Outcome(Outcome, Stages),
    /// Seconds that compiling took, and whether the file is there: not every driver gives binaries.
    Compiled(f64, bool),
    /// Seconds of each run of each job.
    Rounds(Vec<Vec<f64>>),
}

/// A message of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// It has this device, and kernels run on it.
    Ready(Described, DeviceKind),
    /// It has no device; why. It ends.
    NoDevice(String),
    /// The device does not exist; retries cannot help.
    BadChoice(String),
    /// What the job is at.
    Stage(Stage),
    /// What came of the request.
    Done(WorkerAnswer),
    /// What came of the job, after which the worker ends.
    Last(Failure),
    /// The device failed before the job's kernel was run; why. The worker ends.
    Device(String),
    /// The job cannot be run, for a reason outside the kernel.
    Fault(String),
}

/// Serves requests from standard input until it ends; `compiles`: such as run nothing.
///
/// # Errors
/// The pipes fail.
pub fn serve(choice: DeviceChoice, compiles: bool) -> std::io::Result<()> {
    tickbound_os::process::no_core_files();
    let mut out = own_output()?;
    let mut reply = move |reply: &Reply| {
        let line = serde_json::to_string(reply).map_err(std::io::Error::other)?;
        out.write_all(format!("{line}\n").as_bytes())
    };
    let listing = choice.listing();
    let device = match listing.pick(choice) {
        Ok(Picked::Device(device)) => device,
        Ok(Picked::Absent(why)) => return reply(&Reply::NoDevice(why)),
        Ok(Picked::Cpu) => {
            let why = "kernels need a device; give --device opencl, opencl:N, cuda or cuda:N";
            return reply(&Reply::BadChoice(why.to_owned()));
        }
        Err(e) => return reply(&Reply::BadChoice(e.to_string())),
    };
    let tried = |session: &Session| if compiles { Ok(()) } else { probe(session) };
    let session = match Session::open(device).and_then(|s| tried(&s).map(|()| s)) {
        Ok(session) => session,
        Err(e) => return reply(&Reply::NoDevice(e.to_string())),
    };
    reply(&Reply::Ready(device.into(), device.kind))?;
    let mut bench = TimingRun::new(&session);
    for line in requests() {
        let request: Request = serde_json::from_str(&line).map_err(std::io::Error::other)?;
        // A stage that is lost shows when the result is lost, too.
        let mut stage = |stage| {
            let _ = reply(&Reply::Stage(stage));
        };
        let (answer, ends) = match answer(&session, &mut bench, &request, &mut stage) {
            Ok(answer) => (Reply::Done(answer), false),
            Err(JobError::Job(f)) => {
                (Reply::Done(WorkerAnswer::Outcome(Outcome::Failed(f), Stages::default())), false)
            }
            Err(JobError::Kernel(failure)) => (Reply::Last(failure), true),
            Err(JobError::Device(e)) => (Reply::Device(e.to_string()), true),
            Err(JobError::Expected(why)) => (Reply::Fault(why), false),
        };
        reply(&answer)?;
        if ends {
            break;
        }
    }
    Ok(())
}

fn answer<'s>(
    session: &'s Session,
    bench: &mut TimingRun<'s>,
    request: &Request,
    stage: &mut dyn FnMut(Stage),
) -> Result<WorkerAnswer, JobError> {
    // SAFETY (of all calls): a kernel can damage only the memory of this process, which
    // exists for that alone: it holds nothing of the user's but copies, its results count only if
    // the output is right, and it is ended by the process that started it.
    match request {
        Request::Compile(job, into) => {
            stage(Stage::Compile);
            compile(session, job, into).map(|(seconds, kept)| WorkerAnswer::Compiled(seconds, kept))
        }
        Request::Run(job) => {
            // SAFETY: as above.
            let (outcome, stages) = unsafe { bench.run(job, stage)? };
            Ok(WorkerAnswer::Outcome(outcome, stages))
        }
        Request::Keep(job, into) => {
            // SAFETY: as above.
            let (outcome, stages) = unsafe { bench.run(job, stage)? };
            bench.keep_outputs(job, into)?;
            Ok(WorkerAnswer::Outcome(outcome, stages))
        }
        Request::Rounds(jobs, rule) => {
            // SAFETY: as above.
            unsafe { bench.rounds(jobs, rule, stage) }.map(WorkerAnswer::Rounds)
        }
    }
}

/// Runs a kernel that is known to be right.
fn probe(session: &Session) -> Result<(), DeviceError> {
    let source = "kernel void probe(global int *x) { x[get_global_id(0)] += 41; }";
    let program = DeviceProgram::build(session, source, "")?;
    let kernel = program.kernel("probe")?;
    let buffer = session.upload(&[1, 2, 3, 4])?;
    // SAFETY: four items, each of which touches its own of four elements.
    let launch = unsafe { session.enqueue(&kernel, &[Arg::buffer(&buffer)], &[4], None)? };
    launch.wait()?;
    let mut x = [0; 4];
    session.read(&buffer, 0, &mut x)?;
    match x == [42, 43, 44, 45] {
        true => Ok(()),
        false => Err(DeviceError::Call {
            device: session.device().name.clone(),
            call: "a kernel that adds two numbers",
            // CL_DEVICE_NOT_AVAILABLE
            code: -2,
        }),
    }
}

/// The lines of standard input. When it ends and the work does not, neither does what is left of
/// this process's time.
fn requests() -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if send.send(line).is_err() {
                break;
            }
        }
        drop(send);
        std::thread::sleep(GRACE);
        end_at_once();
    });
    receive
}

/// Standard output for the protocol alone: what kernels print goes to standard error.
#[cfg(unix)]
fn own_output() -> std::io::Result<File> {
    use std::os::fd::AsFd;

    let own = std::io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(std::io::stderr().as_fd())?;
    Ok(File::from(own))
}

/// Ends this process even if a driver's threads are busy.
#[cfg(unix)]
fn end_at_once() {
    use rustix::process::{Signal, getpid, kill_process};

    let _ = kill_process(getpid(), Signal::KILL);
}

#[cfg(not(unix))]
fn own_output() -> std::io::Result<File> {
    Err(std::io::Error::other("kernels are measured on Unix only"))
}

#[cfg(not(unix))]
fn end_at_once() {
    std::process::abort()
}
