//! Runs a job on a device that is open: builds, checks, warms up, repeats.
//!
//! The device's buffers are kept between jobs that have the same ones, and are given their first
//! content again for each job; those with results are given it again before every run, outside
//! what is timed, because a kernel may read what it writes. Outputs are compared after the first
//! run and again after the last, so that a race that goes well once has a second chance to show.
//! The guard zones around buffers are examined when the outputs are: a kernel that writes past its
//! arguments has no time.
//!
//! A job can have a [cutoff](Job::cutoff): where the first run takes longer, its time is the job's.
//! The best jobs run once more [in turns](TimingRun::rounds), so that what changes with time, such
//! as a clock rate, is the same for all of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::buffers::Buffers;
use super::expected::{DeviceCompare, Expected};
use super::flush::Flush;
use super::guarded::Round;
use super::job::{Job, JobArgument};
use super::job_error::{JobError, explain, not_launched, of_memory, unusable};
use super::outcome::{FailureKind, Outcome, Stages, Timed};
use super::sample::SampleRule;
use tickbound_device::{
    Arg, DeviceError, DeviceKernel, DeviceKind, DeviceProgram, ImageSampler, Session,
};
use tickbound_model::random::SplitMix64;
use tickbound_opencl::cuda::instance;

/// A device that has been idle for longer may have lowered its clock rate.
const IDLE: Duration = Duration::from_millis(100);
/// Seconds of a run below which what happens once may be a large part of it.
const SHORT: f64 = 0.01;
/// How often such a run is made again.
const AGAIN: usize = 3;

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
pub struct TimingRun<'s> {
    session: &'s Session,
    buffers: Buffers<'s>,
    expected: Option<Expected<'s>>,
    compare: DeviceCompare<'s>,
    /// Made for the first job that wants it.
    flush: Option<Flush<'s>>,
    /// Since when the device has had work, and when the last of it ended.
    busy: Option<(Instant, Instant)>,
}

impl<'s> TimingRun<'s> {
    /// A bench without buffers.
    pub fn new(session: &'s Session) -> TimingRun<'s> {
        let (buffers, compare) = (Buffers::new(session), DeviceCompare::new(session));
        TimingRun { session, buffers, expected: None, compare, flush: None, busy: None }
    }

    /// Runs a job. `stage` is called with what is at work.
    ///
    /// # Errors
    /// See [`JobError`].
    ///
    /// # Safety
    /// The kernel is run with the arguments and sizes of the job. If it touches memory
    /// outside of these, and the device is this machine's processor, that may be any memory of this
    /// process.
    pub unsafe fn run(
        &mut self,
        job: &Job,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<(Outcome, Stages), JobError> {
        let began = Instant::now();
        stage(Stage::Fill);
        self.buffers.prepare(&[job])?;
        self.read_expected(job)?;
        let filled = Instant::now();
        stage(Stage::Compile);
        let program = self.built(job)?;
        let kernel = kernel(&program, job)?;
        let compiled = Instant::now();
        stage(Stage::Verify);
        // SAFETY: the caller answers for the kernel.
        let first = unsafe { self.once(job, &kernel)? };
        self.buffers.check_zones(Round::First)?;
        self.buffers.collect(job)?;
        self.check(job)?;
        self.buffers.arm(Round::Last).map_err(unusable)?;
        let verified = Instant::now();
        stage(Stage::Run);
        // SAFETY: as above.
        let runs = match unsafe { self.cut(job, &kernel, first)? } {
            Some(least) => vec![least],
            // SAFETY: as above.
            None => unsafe { self.repeat(job, &kernel, filled)? },
        };
        self.buffers.check_zones(Round::Last)?;
        self.buffers.collect(job)?;
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
        let (steady, checked) = (job.rule.steady(&runs), job.expected.is_some());
        Ok((Outcome::Timed(Timed { runs, rounds: Vec::new(), steady, checked }), stages))
    }

    /// Writes the outputs of a job that has run to a file, in sequence.
    ///
    /// # Errors
    /// They cannot be read or written.
    pub fn keep_outputs(&self, job: &Job, into: &Path) -> Result<(), JobError> {
        let mut all = Vec::new();
        for output in job.outputs() {
            let mut bytes = vec![0; output.bytes()];
            self.session.read(self.buffers.data(output)?, 0, &mut bytes).map_err(unusable)?;
            all.extend(bytes);
        }
        let unwritten = |e| JobError::Expected(format!("{}: {e}", into.display()));
        std::fs::write(into, all).map_err(unwritten)
    }

    /// Runs jobs in turns, each once a round, until the median of each is known as well as `rule`
    /// wants, and returns the seconds of each run of each job. The first round does not count; each
    /// round begins with a job drawn at random.
    ///
    /// # Errors
    /// See [`JobError`].
    ///
    /// # Safety
    /// As [`TimingRun::run`].
    pub unsafe fn rounds(
        &mut self,
        jobs: &[Job],
        rule: &SampleRule,
        stage: &mut dyn FnMut(Stage),
    ) -> Result<Vec<Vec<f64>>, JobError> {
        stage(Stage::Fill);
        self.buffers.prepare(&jobs.iter().collect::<Vec<_>>())?;
        stage(Stage::Compile);
        let programs = jobs.iter().map(|job| self.built(job)).collect::<Result<Vec<_>, _>>()?;
        let kernels = programs.iter().zip(jobs).map(|(program, job)| kernel(program, job));
        let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
        stage(Stage::Run);
        let (began, mut runs) = (Instant::now(), vec![Vec::new(); jobs.len()]);
        let mut random = SplitMix64(0);
        for round in 0..=rule.most {
            let first = random.draw() as usize;
            for turn in 0..jobs.len() {
                let number = (first % jobs.len() + turn) % jobs.len();
                // SAFETY: the caller answers for the kernels.
                let seconds = unsafe { self.once(&jobs[number], &kernels[number])? };
                if round > 0 {
                    runs[number].push(seconds);
                }
            }
            let late = round >= rule.least && began.elapsed().as_secs_f64() > rule.seconds;
            if late || runs.iter().all(|runs| rule.enough(runs)) {
                break;
            }
        }
        Ok(runs)
    }

    /// The time of a job whose first run takes longer than the cutoff, if it is cut. One that is
    /// short, or on a device that was idle, is made again: what happens once, such as filling
    /// caches, may take longer than the kernel.
    ///
    /// # Safety
    /// As [`TimingRun::run`].
    unsafe fn cut(
        &mut self,
        job: &Job,
        kernel: &DeviceKernel,
        first: f64,
    ) -> Result<Option<f64>, JobError> {
        let Some(cutoff) = job.cutoff else { return Ok(None) };
        let warm = self.busy.is_some_and(|(since, last)| last - since > job.rule.warming());
        let more = if first < SHORT { AGAIN } else { usize::from(!warm) };
        let mut least = first;
        for _ in 0..more {
            if least <= cutoff {
                break;
            }
            // SAFETY: the caller answers for the kernel.
            least = least.min(unsafe { self.once(job, kernel)? });
        }
        Ok(Some(least).filter(|least| *least > cutoff))
    }

    /// The program of a job: its binary, or its compiled source if there is none or it is refused.
    fn built(&self, job: &Job) -> Result<DeviceProgram<'s>, JobError> {
        // Binaries have no types of parameters, which images are made by.
        let binary = job.binary.as_ref().filter(|_| !job.has_images());
        let binary = binary.and_then(|path| std::fs::read(path).ok());
        let load = |binary: Vec<u8>| DeviceProgram::load(self.session, &binary, &job.code.options);
        match binary.and_then(|binary| load(binary).ok()) {
            Some(program) => Ok(program),
            None => compiled(self.session, job),
        }
    }

    /// Empties the caches, if the job wants that.
    fn flush(&mut self, job: &Job) -> Result<(), JobError> {
        let Some(bytes) = job.flush else { return Ok(()) };
        if self.flush.is_none() {
            self.flush = Flush::new(self.session, bytes).map_err(of_memory)?;
        }
        let Some(flush) = &self.flush else {
            let why = "--flush-cache: neither the device nor the platform states how large caches \
                       are; add resources.l2_size to the platform";
            return Err(JobError::job(FailureKind::Launch, why));
        };
        flush.flush().map_err(JobError::Device)
    }

    /// A sampler for each argument that is one, of the bits that the problem gives.
    fn samplers(
        &self,
        job: &Job,
        kernel: &DeviceKernel,
    ) -> Result<Vec<Option<ImageSampler>>, JobError> {
        let samplers = job.arguments.iter().enumerate().map(|(place, argument)| match argument {
            JobArgument::Value(bytes)
                if job.has_images()
                    && kernel.argument_type(place).as_deref() == Some("sampler_t") =>
            {
                let bits = bytes.first_chunk().map_or(0, |bits| u32::from_ne_bytes(*bits));
                self.session.sampler(bits).map(Some)
            }
            _ => Ok(None),
        });
        samplers.collect::<Result<_, _>>().map_err(JobError::Device)
    }

    /// Runs the kernel once on the first contents; seconds by the device's clock.
    ///
    /// # Safety
    /// As [`TimingRun::run`].
    unsafe fn once(&mut self, job: &Job, kernel: &DeviceKernel) -> Result<f64, JobError> {
        self.buffers.restore(job)?;
        self.flush(job)?;
        self.buffers.make_images(job, kernel)?;
        let samplers = self.samplers(job, kernel)?;
        let arguments = job.arguments.iter().zip(&samplers).map(|(argument, sampler)| {
            Ok(match (argument, sampler) {
                (JobArgument::Buffer(buffer), _) => self.buffers.passed(buffer)?,
                (JobArgument::Local(bytes), _) => Arg::Local(*bytes),
                (JobArgument::Value(_), Some(sampler)) => Arg::sampler(sampler),
                (JobArgument::Value(bytes), None) => Arg::Bytes(bytes),
            })
        });
        let arguments = arguments.collect::<Result<Vec<_>, JobError>>()?;
        let (global, local): (Vec<usize>, Vec<usize>) =
            job.grid.iter().map(|d| (d[0], d[1])).unzip();
        // SAFETY: the caller answers for the kernel; the launch is waited for at once.
        let launch = unsafe { self.session.enqueue(kernel, &arguments, &global, Some(&local)) };
        let launch = launch.map_err(|e| not_launched(job, e))?;
        let before = Instant::now();
        let seconds = launch.wait().map(|timing| timing.seconds()).map_err(unusable)?;
        let since = self.busy.filter(|(_, last)| before - *last < IDLE).map(|(since, _)| since);
        self.busy = Some((since.unwrap_or(before), Instant::now()));
        Ok(seconds)
    }

    /// # Safety
    /// As [`TimingRun::run`].
    unsafe fn repeat(
        &mut self,
        job: &Job,
        kernel: &DeviceKernel,
        began: Instant,
    ) -> Result<Vec<f64>, JobError> {
        let mut longest = 0.0f64;
        let mut runs = Vec::new();
        // One run has been made by now.
        let mut warm = 1;
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
            let warmed = self.busy.map_or(Duration::ZERO, |(since, last)| last - since);
            let cold = warm < job.rule.warm_up || warmed < job.rule.warming();
            if runs.is_empty() && cold && !last_chance {
                warm += 1;
            } else {
                runs.push(seconds);
            }
        }
        Ok(runs)
    }

    fn read_expected(&mut self, job: &Job) -> Result<(), JobError> {
        let known = self.expected.as_ref();
        if job.expected.as_ref().is_none_or(|path| known.is_none_or(|k| k.path != *path)) {
            let read = |path: &PathBuf| Expected::read(self.session, path);
            self.expected = job.expected.as_ref().map(read).transpose()?;
        }
        Ok(())
    }

    fn check(&mut self, job: &Job) -> Result<(), JobError> {
        let Some(expected) = &mut self.expected else { return Ok(()) };
        expected.check(job, &self.buffers, &mut self.compare)
    }
}

/// Compiles a job's program into a file for [`Job::binary`], and returns the seconds that the
/// compiler took and whether the driver gives a binary.
///
/// # Errors
/// The program does not compile, or has no such kernel.
pub fn compile(session: &Session, job: &Job, into: &Path) -> Result<(f64, bool), JobError> {
    let began = Instant::now();
    let program = compiled(session, job)?;
    kernel(&program, job)?;
    // A graphics processor's binary may be in a language between source and machine (NVIDIA's is
    // PTX). It is loaded once here, so that the driver translates it in this process and keeps the
    // result on the disk.
    let binary = program.binary().ok().flatten().filter(|binary| {
        session.device().kind == DeviceKind::Cpu
            || DeviceProgram::load(session, binary, &job.code.options)
                .and_then(|program| program.kernel(&job.code.entry))
                .is_ok()
    });
    let kept = binary.is_some_and(|binary| std::fs::write(into, binary).is_ok());
    Ok((began.elapsed().as_secs_f64(), kept))
}

fn compiled<'s>(session: &'s Session, job: &Job) -> Result<DeviceProgram<'s>, JobError> {
    let built = match job.code.cuda {
        false => DeviceProgram::build(session, &job.program(), &job.options()),
        true => {
            let (text, kernel) =
                instance(&job.code.text, &job.code.entry, &job.defines).map_err(|e| {
                    JobError::job(FailureKind::Compile, format!("{}: {e}", job.code.path))
                })?;
            DeviceProgram::build_cuda(session, &text, &job.code.options, &kernel)
        }
    };
    built.map_err(|e| match e {
        DeviceError::Build { log, .. } => JobError::job(FailureKind::Compile, explain(job, &log)),
        DeviceError::Zero(what) => JobError::job(
            FailureKind::Compile,
            format!("{}: the {what} contains a zero byte", job.code.path),
        ),
        e => JobError::Device(e),
    })
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
    let passed = |a: &&JobArgument| !job.code.cuda || !matches!(a, JobArgument::Local(_));
    let (takes, given) = (kernel.arguments(), job.arguments.iter().filter(passed).count());
    if takes != given {
        let hint =
            if job.code.cuda { "; structures among its arguments are not launched" } else { "" };
        return Err(JobError::job(
            FailureKind::Launch,
            format!(
                "{path}: kernel `{entry}` takes {takes} arguments, the problem gives {given}{hint}"
            ),
        ));
    }
    Ok(kernel)
}
