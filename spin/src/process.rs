//! Running a program: with limits, watched, and never left behind.
//!
//! In goes a command; out comes how it ended and what it printed. A program gets a process group of
//! its own, so that a compiler's or a preprocessor's children end with it, and so that a Ctrl-C at
//! the terminal reaches tickbound first. When the [`Watch`] says stop, the group is interrupted
//! (SPIN's verifier then still prints what it has done), and killed a moment later. In every case
//! the program has ended and has been waited for when [`run`] returns.
//!
//! If tickbound itself is killed, a verifier ends when it next prints its progress into the closed
//! pipe, after at most a million states.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the watch is asked.
const POLL: Duration = Duration::from_millis(10);
/// How long an interrupted program may take to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// How long a program that has said enough may take to end by itself, before it is interrupted.
const LAST_WORDS: Duration = Duration::from_millis(100);
/// Most lines of output that are kept; more are passed to the caller and then forgotten.
const MAX_LINES: usize = 200_000;
/// Most bytes of standard error that are kept.
const MAX_STDERR: u64 = 1 << 16;

/// Why a program was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The user interrupted.
    Interrupted,
    /// The time given to the whole search ran out.
    TimedOut,
    /// The time given to this round of a swarm ran out.
    RoundOver,
    /// Another worker of the swarm has found what was looked for.
    Settled,
}

/// When a program is to be stopped.
#[derive(Debug, Clone, Copy)]
pub struct Watch<'a> {
    /// Set by the user.
    pub interrupt: &'a AtomicBool,
    /// The end of the whole search.
    pub deadline: Option<Instant>,
    /// The end of this round.
    pub round: Option<Instant>,
    /// Set by whoever has found what is looked for.
    pub settled: Option<&'a AtomicBool>,
}

impl Watch<'_> {
    /// The reason to stop, if there is one.
    #[must_use]
    pub fn stop(&self) -> Option<Stop> {
        let passed = |moment: Option<Instant>| moment.is_some_and(|m| Instant::now() >= m);
        if self.interrupt.load(Ordering::Relaxed) {
            Some(Stop::Interrupted)
        } else if passed(self.deadline) {
            Some(Stop::TimedOut)
        } else if self.settled.is_some_and(|s| s.load(Ordering::Relaxed)) {
            Some(Stop::Settled)
        } else if passed(self.round) {
            Some(Stop::RoundOver)
        } else {
            None
        }
    }
}

/// A command.
#[derive(Debug, Clone)]
pub struct Call {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Most bytes of address space, set as a limit of the process.
    pub memory: Option<u64>,
}

impl Call {
    /// A command without a memory limit.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Call {
        Call { program: program.into(), args: Vec::new(), folder: folder.into(), memory: None }
    }

    /// With one more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Call {
        self.args.push(arg.into());
        self
    }

    /// As it would be typed.
    #[must_use]
    pub fn line(&self) -> String {
        let words = std::iter::once(self.program.as_os_str()).chain(self.args.iter().map(|a| &**a));
        let quoted = words.map(|word| {
            let word = word.to_string_lossy();
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./+,:".contains(c);
            match !word.is_empty() && word.chars().all(plain) {
                true => word.into_owned(),
                false => format!("'{}'", word.replace('\'', r"'\''")),
            }
        });
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// The command. A memory limit is set by the shell that then becomes the program.
    fn command(&self) -> Command {
        let mut command = match self.memory {
            None => Command::new(&self.program),
            Some(bytes) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(r#"ulimit -v "$0"; exec "$@""#);
                shell.arg((bytes / 1024).to_string()).arg(&self.program);
                shell
            }
        };
        command.args(&self.args).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::own(&mut command);
        command
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit status.
    Exit(i32),
    /// By a signal that did not come from here.
    Signal(i32),
    /// It was stopped.
    Stopped(Stop),
}

/// A program that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// How.
    pub ended: Ended,
    /// What it printed, line by line.
    pub stdout: Vec<String>,
    /// It printed more lines than are kept.
    pub truncated: bool,
    /// What it printed on standard error.
    pub stderr: String,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// It belongs to the output.
    Keep,
    /// It was for the moment only.
    Drop,
    /// It belongs to the output, and the program has said enough.
    Enough,
}

/// Runs a program to its end, or until the watch says stop. `on_line` sees each line of standard
/// output as it is printed; if it has enough, the program is stopped as [`Stop::Settled`].
///
/// # Errors
/// If the program cannot be started or waited for.
pub fn run(
    call: &Call,
    watch: &Watch<'_>,
    on_line: &mut dyn FnMut(&str) -> Line,
) -> io::Result<Finished> {
    let started = Instant::now();
    let mut child = call.command().spawn()?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        group::kill(&mut child);
        child.wait()?;
        return Err(io::Error::other("no pipe to the program"));
    };
    let (send, lines) = channel();
    let reader = std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        while stdout.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if send.send(text).is_err() {
                break;
            }
            line.clear();
        }
    });
    let errors = std::thread::spawn(move || {
        let (mut text, mut first) = (Vec::new(), stderr.take(MAX_STDERR));
        let _ = first.read_to_end(&mut text);
        // What is too much is read nonetheless, so that the program does not wait for us.
        let _ = io::copy(&mut first.into_inner(), &mut io::sink());
        String::from_utf8_lossy(&text).into_owned()
    });
    let (mut kept, mut truncated) = (Vec::new(), false);
    let mut keep = |line: String| {
        let wanted = on_line(&line);
        if wanted != Line::Drop {
            truncated |= kept.len() >= MAX_LINES;
            if !truncated {
                kept.push(line);
            }
        }
        wanted == Line::Enough
    };
    let ended = attend(&mut child, &lines, watch, &mut keep);
    // Whatever is left of the group goes, also if the program has ended by itself.
    group::kill(&mut child);
    let ended = match ended {
        Ok(ended) => ended,
        Err(e) => {
            let _ = child.wait();
            return Err(e);
        }
    };
    lines.iter().for_each(|line| {
        keep(line);
    });
    let _ = reader.join();
    let stderr = errors.join().unwrap_or_default();
    let seconds = started.elapsed().as_secs_f64();
    Ok(Finished { ended, stdout: kept, truncated, stderr, seconds })
}

/// Takes the program's lines until it has ended and been waited for.
fn attend(
    child: &mut Child,
    lines: &Receiver<String>,
    watch: &Watch<'_>,
    keep: &mut dyn FnMut(String) -> bool,
) -> io::Result<Ended> {
    let mut stopped: Option<(Stop, Instant)> = None;
    let mut enough: Option<Instant> = None;
    loop {
        match lines.recv_timeout(POLL) {
            Ok(line) => {
                if keep(line) {
                    enough = enough.or(Some(Instant::now()));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The pipe is closed: what is left is to wait.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
        }
        if let Some(status) = child.try_wait()? {
            return Ok(stopped.map_or_else(|| ended(status), |(stop, _)| Ended::Stopped(stop)));
        }
        match stopped {
            None => {
                // The line may be the first of its last words, which an interrupt would cut off.
                let settled = enough.is_some_and(|since| since.elapsed() >= LAST_WORDS);
                if let Some(stop) = watch.stop().or(settled.then_some(Stop::Settled)) {
                    group::interrupt(child);
                    stopped = Some((stop, Instant::now()));
                }
            }
            Some((_, since)) if since.elapsed() >= GRACE => group::kill(child),
            Some(_) => {}
        }
    }
}

#[cfg(unix)]
fn ended(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;

    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> Ended {
    Ended::Exit(status.code().unwrap_or(-1))
}

#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub fn own(command: &mut Command) {
        command.process_group(0);
    }

    pub fn interrupt(child: &mut Child) {
        signal(child, Signal::INT);
    }

    pub fn kill(child: &mut Child) {
        signal(child, Signal::KILL);
    }

    fn signal(child: &Child, signal: Signal) {
        // A group that has ended by now is no fault.
        let _ = kill_process_group(Pid::from_child(child), signal);
    }
}

/// Where there are no process groups, at least the program itself is stopped.
#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub fn own(_: &mut Command) {}

    pub fn interrupt(child: &mut Child) {
        kill(child);
    }

    pub fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Call {
        Call::new("/bin/sh", std::env::temp_dir()).arg("-c").arg(script)
    }

    fn watched(script: &str, seconds: f64) -> Finished {
        let interrupt = AtomicBool::new(false);
        let deadline = Some(Instant::now() + Duration::from_secs_f64(seconds));
        let watch = Watch { interrupt: &interrupt, deadline, round: None, settled: None };
        run(&shell(script), &watch, &mut |_| Line::Keep).unwrap()
    }

    #[test]
    fn output_and_ends_are_told_apart() {
        let done = watched("echo one; echo two; echo three >&2; exit 3", 60.0);
        assert_eq!(done.ended, Ended::Exit(3));
        assert_eq!(done.stdout, ["one", "two"]);
        assert_eq!(done.stderr, "three\n");
        assert_eq!(watched("kill -9 $$", 60.0).ended, Ended::Signal(9));
        let late = watched("echo first; sleep 60", 0.2);
        assert_eq!(late.ended, Ended::Stopped(Stop::TimedOut));
        assert_eq!(late.stdout, ["first"]);
        assert!(late.seconds < 10.0);
    }

    #[test]
    fn a_program_that_has_said_enough_is_stopped() {
        let interrupt = AtomicBool::new(false);
        let watch = Watch { interrupt: &interrupt, deadline: None, round: None, settled: None };
        let mut on_line = |line: &str| match line {
            "a" => Line::Drop,
            "c" => Line::Enough,
            _ => Line::Keep,
        };
        let call = shell("echo a; echo b; echo c; sleep 62");
        let done = run(&call, &watch, &mut on_line).unwrap();
        assert_eq!(done.ended, Ended::Stopped(Stop::Settled));
        assert_eq!(done.stdout, ["b", "c"]);
    }

    #[test]
    fn what_ignores_the_interrupt_is_killed_with_its_children() {
        let late = watched("trap '' INT; sleep 61 & sleep 61 & echo $$; wait", 0.2);
        assert_eq!(late.ended, Ended::Stopped(Stop::TimedOut));
        assert!(late.seconds < 10.0);
        assert_eq!(alive_in(&late.stdout[0]), [""; 0]);
    }

    /// The processes of a group that run; what has ended may wait for its new parent to notice.
    fn alive_in(group: &str) -> Vec<String> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let stats = processes.filter_map(|p| std::fs::read_to_string(p.path().join("stat")).ok());
        // `pid (name) state parent group ...`
        let alive = |stat: &String| {
            let mut words = stat.rsplit(')').next().unwrap_or("").split_whitespace();
            let (state, _, of_group) = (words.next(), words.next(), words.next());
            of_group == Some(group) && state != Some("Z")
        };
        stats.filter(alive).collect()
    }

    #[test]
    fn memory_is_limited() {
        let interrupt = AtomicBool::new(false);
        let watch = Watch { interrupt: &interrupt, deadline: None, round: None, settled: None };
        let call = Call { memory: Some(64 << 20), ..shell("ulimit -v") };
        let done = run(&call, &watch, &mut |_| Line::Keep).unwrap();
        assert_eq!(done.stdout, ["65536"]);
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let call = Call::new("/bin/cc", "/").arg("-DT=4").arg("a b").arg("it's");
        assert_eq!(call.line(), r"/bin/cc -DT=4 'a b' 'it'\''s'");
    }
}
