//! Runs a child process with limits, and leaves nothing of it behind. For Unix.
//!
//! In goes a [`Command`], what it reads on its standard input, and [`ProcessLimits`] of time and
//! memory with flags that stop it. Out comes [`Finished`]: how it ended, what it printed, and the
//! time and the memory that it took. [`run`] collects the output; [`run_lines`] also shows each
//! line of standard output as it is printed.
//!
//! What is promised:
//!
//! - When a call returns, the child has ended and been waited for, and nothing is left of its
//!   process group. A call returns soon after the child has ended, even if a process that has left
//!   the group still holds its output open.
//! - The child leads its own group, so that what it starts ends with it, and a Ctrl-C at the
//!   terminal does not reach it before the caller has decided what to do.
//! - At a limit the group is sent SIGINT, as Ctrl-C does, so that the child can still print what it
//!   has. After [`ProcessLimits::grace`] the group, and every process that descends from the child
//!   in any group, is killed.
//! - The child never waits for the caller to take its output. What exceeds 64 MiB of a stream is
//!   read and dropped, and [`Finished::truncated`] is set for standard output.
//!
//! - If the caller itself is killed, so is the child's group at once.
//!
//! Flags and limits are examined every 10 ms, memory every 50 ms.
//!
//! [`Scratch`] is a folder for as long as this process lives, also if it is killed.
//!
//! [`program`] finds a program by its name. [`Group`] is the child alone, for callers that talk to
//! it; [`quoted`] and [`command_line`] show commands as they would be typed.
//!
//! ```
//! use std::process::Command;
//! use tickbound_os::process::{Ended, ProcessLimits, run};
//!
//! let mut command = Command::new("sh");
//! let finished = run(command.args(["-c", "cat; exit 3"]), "in", ProcessLimits::default())?;
//! assert_eq!((finished.stdout.as_str(), finished.ended), ("in", Ended::Exit(3)));
//! # Ok::<(), std::io::Error>(())
//! ```

mod ended;
mod group;
mod memory;
mod output;
mod programs;
mod scratch;
mod shell;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use ended::{Ended, ProcessStop};
pub use group::Group;
use output::Output;
pub use output::OutputLine;
pub use programs::program;
use rustix::process::{Pid, Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
pub use scratch::{Scratch, sweep, sweep_in};
pub use shell::{command_line, quoted};

/// Environment variable: the milliseconds that a `tickbound` has to end by itself once
/// it is stopped, where who runs it gives less than it would take: after [`ProcessLimits::grace`]
/// it could not print what it has found.
pub const GRACE_VARIABLE: &str = "TICKBOUND_GRACE";

/// How often flags and limits are examined.
const POLL: Duration = Duration::from_millis(10);
/// How often memory is examined: each time reads several files of `/proc`.
const SAMPLE: Duration = Duration::from_millis(50);
/// How long a child that has printed enough may take to end by itself: what it prints last would be
/// cut off by an interrupt.
const LAST_LINES: Duration = Duration::from_millis(100);
/// A flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What a child may use, and what stops it.
#[derive(Debug, Clone, Copy)]
pub struct ProcessLimits<'a> {
    /// Wall-clock time from its start.
    pub time: Option<Duration>,
    /// Bytes of resident memory, summed over the child and all that it has started.
    pub memory: Option<u64>,
    /// Bytes of standard output, but for lines that the caller drops.
    pub output: Option<u64>,
    /// Set by the user: stops it when true.
    pub interrupt: &'a AtomicBool,
    /// Stops it when true.
    pub unneeded: Option<&'a AtomicBool>,
    /// How long it may take to end once it has been interrupted.
    pub grace: Duration,
}

impl Default for ProcessLimits<'_> {
    /// No limits, and half a second of grace.
    fn default() -> Self {
        let grace = Duration::from_millis(500);
        ProcessLimits {
            time: None,
            memory: None,
            output: None,
            interrupt: &NEVER,
            unneeded: None,
            grace,
        }
    }
}

/// A child that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How.
    pub ended: Ended,
    /// What it printed on standard output, but for lines that the caller dropped; what is no UTF-8
    /// is replaced.
    pub stdout: String,
    /// It printed more on standard output than is kept.
    pub truncated: bool,
    /// What it printed on standard error.
    pub stderr: String,
    /// Wall-clock time from start to end.
    pub time: Duration,
    /// Most bytes resident at once: the kernel's figure for its largest process, or the sum over
    /// its processes where a sample found that to be more. Pages that processes share count once
    /// for each.
    pub memory: u64,
}

impl Finished {
    /// The last line of standard error that is not empty.
    pub fn last_error(&self) -> Option<&str> {
        self.stderr.lines().rev().map(str::trim).find(|line| !line.is_empty())
    }
}

/// Bytes resident in this process and all that it has started; 0 where the system does not say.
pub fn memory() -> u64 {
    memory::resident(getpid())
}

/// This process, and what it starts from now on, leaves no core files when it crashes.
pub fn no_core_files() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // Where that is not allowed, a core file is no harm.
    let _ = setrlimit(Resource::Core, none);
}

/// Runs `command` with `input` on its standard input.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run(
    command: &mut Command,
    input: impl Into<Vec<u8>>,
    limits: ProcessLimits<'_>,
) -> io::Result<Finished> {
    run_with(command, input.into(), limits, &mut |_| OutputLine::Keep)
}

/// Runs `command` without input. `on_line` sees each line of standard output as it is printed,
/// without the white space at its end; a line longer than 1 MiB comes in pieces.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run_lines(
    command: &mut Command,
    limits: ProcessLimits<'_>,
    on_line: &mut dyn FnMut(&str) -> OutputLine,
) -> io::Result<Finished> {
    run_with(command, Vec::new(), limits, on_line)
}

fn run_with(
    command: &mut Command,
    input: Vec<u8>,
    limits: ProcessLimits<'_>,
    on_line: &mut dyn FnMut(&str) -> OutputLine,
) -> io::Result<Finished> {
    let started = Instant::now();
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::spawn(command)?;
    let mut output = Output::of(&mut group, input, on_line);
    let (end, sampled, stopped) = attend(&group, started, limits, &mut output)?;
    // What is left of the group would keep the output open.
    group.kill();
    let (ended, largest) = group.wait()?;
    let (stdout, stderr, truncated) = output.finish();
    let ended = stopped.map_or(ended, Ended::Stopped);
    let memory = largest.max(sampled);
    Ok(Finished { ended, stdout, truncated, stderr, time: end - started, memory })
}

/// Takes the child's output until it has ended, and stops it at a limit. Returns when it ended, the
/// most memory seen, in bytes, and why it was stopped.
fn attend(
    group: &Group,
    started: Instant,
    limits: ProcessLimits<'_>,
    output: &mut Output<'_>,
) -> io::Result<(Instant, u64, Option<ProcessStop>)> {
    let (mut most, mut memory, mut sampled) = (0, 0, started);
    let mut stopped: Option<(ProcessStop, Instant)> = None;
    loop {
        output.take(POLL);
        if group.has_ended()? {
            return Ok((Instant::now(), most, stopped.map(|(why, _)| why)));
        }
        if sampled.elapsed() >= SAMPLE {
            (memory, sampled) = (memory::resident(group.pid()), Instant::now());
            most = most.max(memory);
        }
        match stopped {
            None => {
                let enough = output.enough().is_some_and(|since| since.elapsed() >= LAST_LINES);
                let enough = enough.then_some(ProcessStop::Unneeded);
                let used = (memory, output.printed());
                if let Some(why) = exceeded(started, used, limits).or(enough) {
                    group.interrupt();
                    stopped = Some((why, Instant::now()));
                }
            }
            Some((_, since)) if since.elapsed() >= limits.grace => group.kill(),
            Some(_) => {}
        }
    }
}

/// The limit that has been reached.
fn exceeded(
    started: Instant,
    (memory, output): (u64, u64),
    limits: ProcessLimits<'_>,
) -> Option<ProcessStop> {
    let set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    // The clock first: it may also have set the flag.
    if let Some(limit) = limits.time.filter(|limit| started.elapsed() >= *limit) {
        return Some(ProcessStop::Time(limit));
    }
    if set(limits.interrupt) {
        return Some(ProcessStop::Interrupted);
    }
    if let Some(limit) = limits.memory.filter(|limit| memory > *limit) {
        return Some(ProcessStop::Memory(limit));
    }
    if let Some(limit) = limits.output.filter(|limit| output > *limit) {
        return Some(ProcessStop::Output(limit));
    }
    limits.unneeded.is_some_and(set).then_some(ProcessStop::Unneeded)
}

#[cfg(test)]
mod tests;

/// Runs a child with this process's own input and output, in its group, and waits for it. A signal
/// whose flag is set is sent on. Returns the exit status as a shell has it: 128 and the signal for
/// a child that one has ended.
///
/// # Errors
/// The child cannot be started, or the system cannot say how it ended.
pub fn run_in_front(command: &mut Command, signals: &[(i32, &AtomicBool)]) -> io::Result<i32> {
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        for (number, flag) in signals {
            if let (true, Some(signal)) =
                (flag.swap(false, Ordering::SeqCst), Signal::from_named_raw(*number))
            {
                // It may have ended by now.
                let _ = kill_process(Pid::from_child(&child), signal);
            }
        }
        std::thread::sleep(POLL);
    }
}
