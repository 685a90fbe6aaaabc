//! Runs a job on a device that is open: builds, checks, warms up, repeats.
//!
//! The device's buffers are kept between jobs that have the same ones, and are given their first
//! content again for each job; those with results are given it again before every run, outside what
//! is timed, because a kernel may read what it writes. Outputs are compared after the first run and
//! again after the last, so that a race that goes well once has a second chance to show.
//!
//! Each buffer lies between [`guarded`](super::guarded) zones, which are examined when the outputs
//! are: a kernel that writes past its arguments has no time.

use std::time::Instant;

use super::check;
use super::guarded::{Guarded, Round, Side};
use super::job::{BufferArgument, Job, JobArgument};
use super::job_error::{JobError, explain, not_launched, of_memory, unusable};
use super::outcome::{Failure, FailureKind, Outcome, Stages, Timed};
use tickbound_device::{Arg, DeviceError, DeviceKernel, DeviceProgram, Session};

/// What a job is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// First contents are computed and copied; the kernel has nothing to do with it.
    Fill,
    /// The compiler is at work.
    Compile,
    /// The first run and its check.
    Verify,
    /// Runs that count.
    Run,
}

impl Stage {
    /// What happens, in two words.
    pub fn progress(self) -> &'static str {
        match self {
            Stage::Fill => "filling buffers",
            Stage::Compile => "compiling",
            Stage::Verify => "first run",
            Stage::Run => "timing",
        }
    }

    /// What happened then, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Stage::Fill => "while its buffers were filled",
            Stage::Compile => "while it was compiled",
            Stage::Verify => "in its first run",
            Stage::Run => "while it was timed",
        }
    }
}

/// A device with what it needs to run jobs.
#[derive(Debug)]
pub struct Bench<'s> {
    session: &'s Session,
    buffers: Vec<Kept>,
    /// The outputs as they should be, by the file that they were read from.
    expected: Option<(std::path::PathBuf, Vec<u8>)>,
}

/// A buffer with its first content.
#[derive(Debug)]
struct Kept {
    argument: BufferArgument,
    content: Vec<u8>,
    buffer: Guarded,
}

impl<'s> Bench<'s> {
    /// A bench without buffers.
    pub fn new(session: &'s Session) -> Bench<'s> {
        Bench { session, buffers: Vec::new(), expected: None }
    }

    /// Runs a job. `stage` is called with what is at work.
    ///
    /// # Errors
    /// See [`JobError`].
    ///
    /// # Safety
    /// The kernel is run with the arguments and sizes that the job says. If it touches memory
    /// outside of these, and the device is this machine's processor, that may be any memory of this
    /// process.
    pub unsafe fn run(
        &mut self,
        job: &Job,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<(Outcome, Stages), JobError> {
        let began = Instant::now();
        stage(Stage::Fill);
        self.prepare(job)?;
        self.read_expected(job)?;
        let filled = Instant::now();
        stage(Stage::Compile);
        let program = self.build(job)?;
        let kernel = kernel(&program, job)?;
        let compiled = Instant::now();
        stage(Stage::Verify);
        // SAFETY: the caller answers for the kernel.
        unsafe { self.once(job, &kernel)? };
        self.check_zones(Round::First)?;
        self.check(job)?;
        self.arm(Round::Last).map_err(unusable)?;
        let verified = Instant::now();
        stage(Stage::Run);
        // SAFETY: as above.
        let runs = unsafe { self.repeat(job, &kernel, filled)? };
        self.check_zones(Round::Last)?;
        self.check(job)?;
        if !runs.iter().all(|seconds| *seconds > 0.0) {
            let why =
                "the device's clock shows no time from its start to its end; give it more to do";
            return Err(JobError::job(FailureKind::Runtime, why));
        }
        let seconds = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64();
        let stages = Stages {
            compile: seconds(filled, compiled),
            verify: seconds(compiled, verified),
            run: verified.elapsed().as_secs_f64(),
            other: seconds(began, filled),
        };
        let steady = job.rule.steady(&runs);
        Ok((Outcome::Timed(Timed { runs, steady, checked: job.expected.is_some() }), stages))
    }

    fn build(&self, job: &Job) -> Result<DeviceProgram<'s>, JobError> {
        DeviceProgram::build(self.session, &job.program(), &job.code.options).map_err(|e| match e {
            DeviceError::Build { log, .. } => {
                JobError::job(FailureKind::Compile, explain(job, &log))
            }
            DeviceError::Zero(what) => JobError::job(
                FailureKind::Compile,
                format!("{}: the {what} contains a zero byte", job.code.path),
            ),
            e => JobError::Device(e),
        })
    }

    /// Makes the job's buffers, and gives all of them their first content.
    fn prepare(&mut self, job: &Job) -> Result<(), JobError> {
        self.buffers.retain(|kept| job.buffers().any(|argument| *argument == kept.argument));
        for argument in job.buffers() {
            if self.buffers.iter().any(|kept| kept.argument == *argument) {
                continue;
            }
            let buffer = Guarded::new(self.session, argument.bytes()).map_err(of_memory)?;
            // Zeros are written by the device and need no memory here.
            let content = match argument.content.is_zero() {
                true => Vec::new(),
                false => argument
                    .content
                    .bytes(&argument.name, argument.element, argument.length)
                    .map_err(|e| {
                        JobError::job(FailureKind::Launch, format!("cannot be launched: {e}"))
                    })?,
            };
            self.buffers.push(Kept { argument: argument.clone(), content, buffer });
        }
        self.buffers.iter().try_for_each(|kept| self.fill(kept)).map_err(of_memory)?;
        self.arm(Round::First).map_err(of_memory)
    }

    /// Fills all guard zones.
    fn arm(&self, round: Round) -> Result<(), DeviceError> {
        self.buffers.iter().try_for_each(|kept| kept.buffer.arm(self.session, round))
    }

    /// Looks whether the kernel has written past one of its buffers.
    fn check_zones(&self, round: Round) -> Result<(), JobError> {
        for kept in &self.buffers {
            let Some(breach) = kept.buffer.breach(self.session, round).map_err(unusable)? else {
                continue;
            };
            let BufferArgument { name, length, element, .. } = &kept.argument;
            let side = match breach.side {
                Side::Before => "before the start",
                Side::Behind => "behind the end",
            };
            let index = breach.index(*length, element.bytes());
            // What else it has written over nobody knows: the process ends.
            return Err(JobError::Kernel(Failure {
                kind: FailureKind::Wrong,
                message: format!(
                    "writes {side} of argument `{name}`: at `{name}[{index}]` of {length} elements"
                ),
            }));
        }
        Ok(())
    }

    fn fill(&self, kept: &Kept) -> Result<(), DeviceError> {
        match kept.content.is_empty() {
            true => self.session.fill(kept.buffer.data(), 0)?,
            false => self.session.write(kept.buffer.data(), 0, &kept.content)?,
        };
        Ok(())
    }

    fn kept(&self, argument: &BufferArgument) -> Result<&Kept, JobError> {
        let kept = self.buffers.iter().find(|kept| kept.argument == *argument);
        kept.ok_or_else(|| JobError::job(FailureKind::Launch, "one of its buffers was not made"))
    }

    /// Runs the kernel once on the first contents; seconds by the device's clock.
    ///
    /// # Safety
    /// As [`Bench::run`].
    unsafe fn once(&self, job: &Job, kernel: &DeviceKernel) -> Result<f64, JobError> {
        for output in job.outputs() {
            self.fill(self.kept(output)?).map_err(unusable)?;
        }
        let arguments = job.arguments.iter().map(|argument| {
            Ok(match argument {
                JobArgument::Buffer(buffer) => Arg::buffer(self.kept(buffer)?.buffer.data()),
                JobArgument::Local(bytes) => Arg::Local(*bytes),
                JobArgument::Value(bytes) => Arg::Bytes(bytes),
            })
        });
        let arguments = arguments.collect::<Result<Vec<_>, JobError>>()?;
        let (global, local): (Vec<usize>, Vec<usize>) =
            job.grid.iter().map(|d| (d[0], d[1])).unzip();
        // SAFETY: the caller answers for the kernel; the launch is waited for at once.
        let launch = unsafe { self.session.enqueue(kernel, &arguments, &global, Some(&local)) };
        let launch = launch.map_err(|e| not_launched(job, e))?;
        launch.wait().map(|timing| timing.seconds()).map_err(unusable)
    }

    /// # Safety
    /// As [`Bench::run`].
    unsafe fn repeat(
        &self,
        job: &Job,
        kernel: &DeviceKernel,
        began: Instant,
    ) -> Result<Vec<f64>, JobError> {
        let mut longest = 0.0f64;
        let mut runs = Vec::new();
        // One run has been made by now.
        let (mut warm, warming) = (1, Instant::now());
        while !job.rule.enough(&runs) {
            let used = began.elapsed().as_secs_f64();
            if !runs.is_empty() && used + longest > job.rule.seconds {
                break;
            }
            let start = Instant::now();
            // SAFETY: the caller answers for the kernel.
            let seconds = unsafe { self.once(job, kernel)? };
            longest = longest.max(start.elapsed().as_secs_f64());
            // Where time is short, the first run has to do as a warm-up.
            let last_chance = used + 2.0 * longest > job.rule.seconds;
            let cold =
                warm < job.rule.warm_up || warming.elapsed().as_secs_f64() < job.rule.warm_seconds;
            if runs.is_empty() && cold && !last_chance {
                warm += 1;
            } else {
                runs.push(seconds);
            }
        }
        Ok(runs)
    }

    fn read_expected(&mut self, job: &Job) -> Result<(), JobError> {
        let known = self.expected.as_ref().map(|(path, _)| path);
        if job.expected.as_ref() == known {
            return Ok(());
        }
        self.expected = match &job.expected {
            None => None,
            Some(path) => {
                let bytes = std::fs::read(path)
                    .map_err(|e| JobError::Expected(format!("{}: {e}", path.display())))?;
                Some((path.clone(), bytes))
            }
        };
        Ok(())
    }

    /// Compares the outputs with what they should be.
    fn check(&self, job: &Job) -> Result<(), JobError> {
        let Some((path, expected)) = &self.expected else { return Ok(()) };
        let mut rest = &expected[..];
        for output in job.outputs() {
            let bytes = output.bytes();
            let Some((expected, others)) = rest.split_at_checked(bytes) else {
                return Err(JobError::Expected(format!("{}: too short", path.display())));
            };
            rest = others;
            let mut got = vec![0; bytes];
            self.session.read(self.kept(output)?.buffer.data(), 0, &mut got).map_err(unusable)?;
            if let Some(wrong) = check::compare(output.element, job.tolerance, &got, expected) {
                let check::Wrong { index, got, expected, count } = wrong;
                let others = match count - 1 {
                    0 => String::new(),
                    others => format!(" ({others} more are wrong)"),
                };
                let name = &output.name;
                let message =
                    format!("output `{name}[{index}]` is {got}, expected {expected}{others}");
                return Err(JobError::job(FailureKind::Wrong, message));
            }
        }
        Ok(())
    }
}

/// The kernel, if it exists and takes as many arguments. How large its groups may be is left to
/// the launch: `CL_KERNEL_WORK_GROUP_SIZE` is 256 for every kernel on NVIDIA's OpenCL (driver
/// 580.159.04), which launches groups of 1,024.
fn kernel(program: &DeviceProgram<'_>, job: &Job) -> Result<DeviceKernel, JobError> {
    let (path, entry) = (&job.code.path, &job.code.entry);
    let kernel = program.kernel(entry).map_err(|e| match e {
        // CL_INVALID_KERNEL_NAME
        DeviceError::Call { code: -46, .. } => {
            JobError::job(FailureKind::Compile, format!("{path}: there is no kernel `{entry}`"))
        }
        e => JobError::job(FailureKind::Compile, format!("{path}: {e}")),
    })?;
    let (takes, given) = (kernel.arguments(), job.arguments.len());
    if takes != given {
        return Err(JobError::job(
            FailureKind::Launch,
            format!("{path}: kernel `{entry}` takes {takes} arguments, the problem gives {given}"),
        ));
    }
    Ok(kernel)
}
