//! Runs a program under limits, and measures what a user of it would: wall-clock time until it has
//! ended, and memory.
//!
//! The program gets a process group of its own, so that whatever it starts ends with it. At a limit
//! it is asked to stop as Ctrl-C asks (`tune` and its like then report what they have reached), and
//! killed with all that it has started if it has not done so after some grace.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};
use wait4::Wait4;

/// How often limits are looked at.
const PERIOD: Duration = Duration::from_millis(50);
/// Most bytes kept of what a program prints on each stream.
const MAX_OUTPUT: u64 = 64 << 20;

/// What a program may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Bytes of resident memory, summed over its processes.
    pub memory: Option<u64>,
    /// Stops it when true.
    pub interrupt: &'a AtomicBool,
    /// How long it may take to stop once it has been asked to.
    pub grace: Duration,
}

/// Why a program was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was up.
    Time(Duration),
    /// It used more than this many bytes.
    Memory(u64),
    /// The user wanted no more.
    Interrupted,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::Time(t) => write!(f, "time limit of {} s", t.as_secs_f64()),
            Stopped::Memory(bytes) => write!(f, "memory limit of {} MB", bytes.div_ceil(1_000_000)),
            Stopped::Interrupted => f.write_str("interrupt"),
        }
    }
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it printed on standard output.
    pub output: String,
    /// What it printed on standard error.
    pub errors: String,
    /// Wall-clock time from start to end.
    pub time: Duration,
    /// Most bytes resident at once: the kernel's figure for its largest process, or the sum over
    /// its processes where samples (every 50 ms) found that to be more. Pages that processes share
    /// count once for each.
    pub memory: u64,
    /// Why it was stopped, if it was.
    pub stopped: Option<Stopped>,
}

/// Runs `command` with `input` on its standard input.
///
/// # Errors
/// If it cannot be started or waited for.
pub fn run(command: &mut Command, input: &str, limits: Limits<'_>) -> std::io::Result<Ended> {
    let started = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return Err(std::io::Error::other("the process has no valid id"));
    };
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program that does not read its input says why on its own.
            let _ = stdin.map(|mut s| s.write_all(input.as_bytes()));
        });
        let output = scope.spawn(move || text(stdout));
        let errors = scope.spawn(move || text(stderr));
        let (sender, ended) = channel();
        scope.spawn(move || {
            // Leaves the process as it is, so that its id stays taken until it is waited for below.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
            let _ = sender.send(Instant::now());
        });
        let (end, sampled, stopped) = watch(pid, started, limits, &ended);
        // Whatever the program has started and left behind would keep its output open.
        let _ = kill_process_group(pid, Signal::KILL);
        let used = reap(&mut child)?;
        Ok(Ended {
            status: used.status,
            output: output.join().unwrap_or_default(),
            errors: errors.join().unwrap_or_default(),
            time: end - started,
            memory: used.rusage.maxrss.max(sampled),
            stopped,
        })
    })
}

fn reap(child: &mut Child) -> std::io::Result<wait4::ResUse> {
    loop {
        match child.wait4() {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn text(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes);
        // The rest is read and dropped: a full pipe would hold the program up.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits until the process has ended, and stops it at a limit. Returns when it ended, the most
/// memory seen, and why it was stopped.
fn watch(
    pid: Pid,
    started: Instant,
    limits: Limits<'_>,
    ended: &Receiver<Instant>,
) -> (Instant, u64, Option<Stopped>) {
    let mut most = 0;
    let mut stopped: Option<(Stopped, Instant)> = None;
    loop {
        match ended.recv_timeout(PERIOD) {
            Ok(end) => return (end, most, stopped.map(|(why, _)| why)),
            Err(RecvTimeoutError::Disconnected) => {
                return (Instant::now(), most, stopped.map(|(why, _)| why));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let family = family(pid);
        let memory = family.iter().filter_map(|p| resident(*p)).sum();
        most = most.max(memory);
        match stopped {
            None => {
                if let Some(why) = exceeded(started, memory, limits) {
                    let _ = kill_process(pid, Signal::INT);
                    stopped = Some((why, Instant::now()));
                }
            }
            Some((_, at)) if at.elapsed() > limits.grace => {
                // What it has started may be in groups of their own.
                for pid in family {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            Some(_) => {}
        }
    }
}

fn exceeded(started: Instant, memory: u64, limits: Limits<'_>) -> Option<Stopped> {
    if limits.interrupt.load(Ordering::Relaxed) {
        return Some(Stopped::Interrupted);
    }
    if let Some(limit) = limits.memory.filter(|limit| memory > *limit) {
        return Some(Stopped::Memory(limit));
    }
    limits.time.filter(|limit| started.elapsed() > *limit).map(Stopped::Time)
}

/// A process and all that it has started; it alone where there is no `/proc`.
fn family(pid: Pid) -> Vec<Pid> {
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(pid) = family.get(next) {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
        let children = tasks.into_iter().flatten().flatten().filter_map(|task| {
            // Each thread lists the processes that it has started.
            std::fs::read_to_string(task.path().join("children")).ok()
        });
        for children in children.collect::<Vec<_>>() {
            let ids = children.split_whitespace().filter_map(|id| id.parse().ok());
            family.extend(ids.filter_map(Pid::from_raw));
        }
        next += 1;
    }
    family
}

/// Bytes resident in a process; none if it has ended.
fn resident(pid: Pid) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/statm", pid.as_raw_nonzero())).ok()?;
    let pages: u64 = status.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    static NEVER: AtomicBool = AtomicBool::new(false);
    const FREE: Limits<'_> =
        Limits { time: None, memory: None, interrupt: &NEVER, grace: Duration::from_secs(3) };

    #[test]
    fn output_errors_and_status() {
        let ended = run(&mut shell("cat; echo oh >&2; exit 3"), "in\n", FREE).unwrap();
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("in\n", "oh\n"));
        assert_eq!((ended.status.code(), ended.stopped), (Some(3), None));
        assert!(ended.memory > 0);
    }

    #[test]
    fn a_limit_asks_first() {
        let limit = Duration::from_millis(100);
        let script = "trap 'echo reached; exit 0' INT; while :; do sleep 0.02; done";
        let ended = run(&mut shell(script), "", Limits { time: Some(limit), ..FREE }).unwrap();
        assert_eq!(ended.output, "reached\n");
        assert_eq!(ended.stopped, Some(Stopped::Time(limit)));
    }

    #[test]
    fn who_does_not_listen_is_killed_with_all_that_it_has_started() {
        let limit = Duration::from_millis(100);
        // The inner process is in a session of its own, and holds the output open for a minute.
        let script = "trap '' INT; setsid sleep 60 & wait; sleep 60";
        let limits = Limits { time: Some(limit), grace: Duration::from_millis(100), ..FREE };
        let ended = run(&mut shell(script), "", limits).unwrap();
        assert_eq!((ended.status.code(), ended.stopped), (None, Some(Stopped::Time(limit))));
    }

    #[test]
    fn what_a_program_leaves_behind_ends_with_it() {
        let ended = run(&mut shell("sleep 60 & echo done"), "", FREE).unwrap();
        assert_eq!(ended.output, "done\n");
    }

    #[test]
    fn memory_is_limited_and_an_interrupt_heard() {
        let grace = Duration::from_millis(100);
        let limits = Limits { memory: Some(1), grace, ..FREE };
        assert_eq!(
            run(&mut shell("sleep 60"), "", limits).unwrap().stopped,
            Some(Stopped::Memory(1))
        );
        let interrupt = AtomicBool::new(true);
        let limits = Limits { interrupt: &interrupt, grace, ..FREE };
        assert_eq!(
            run(&mut shell("sleep 60"), "", limits).unwrap().stopped,
            Some(Stopped::Interrupted)
        );
    }

    #[test]
    fn a_program_that_is_not_there() {
        assert!(run(&mut Command::new("no-such-program-here"), "", FREE).is_err());
    }
}
