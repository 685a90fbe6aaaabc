//! The worker process from outside: started, spoken to, heard, and never left behind.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{LabError, SUBCOMMAND, Setup};
use crate::device::Choice;
use crate::measure::job::Job;
use crate::measure::worker::Reply;

/// How often the interrupt is looked at.
const POLL: Duration = Duration::from_millis(20);
/// Lines of a worker's standard error that are kept.
const LAST_WORDS: usize = 5;

/// A worker process. It is killed when it is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    replies: Receiver<Reply>,
    last_words: Arc<Mutex<VecDeque<String>>>,
}

pub(super) enum Heard {
    Reply(Reply),
    /// The time is over.
    Late,
    /// Its output has ended.
    Ended,
}

impl Worker {
    pub(super) fn spawn(program: &Path, choice: Choice, folder: &Path) -> std::io::Result<Worker> {
        let mut command = Command::new(program);
        command.arg(SUBCOMMAND).arg(choice.to_string());
        if !folder.as_os_str().is_empty() {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        group::own(&mut command);
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (send, replies) = channel();
        std::thread::spawn(move || {
            let lines = stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines);
            for line in lines.map_while(Result::ok) {
                let Ok(reply) = serde_json::from_str(&line) else { continue };
                if send.send(reply).is_err() {
                    break;
                }
            }
        });
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let kept = last_words.clone();
        std::thread::spawn(move || stderr.map(|stderr| keep_last_words(stderr, &kept)));
        Ok(Worker { child, stdin, replies, last_words })
    }

    pub(super) fn send(&mut self, job: &Job) -> std::io::Result<()> {
        let line = serde_json::to_string(job).map_err(std::io::Error::other)? + "\n";
        let stdin = self.stdin.as_mut().ok_or_else(|| std::io::Error::other("no pipe"))?;
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush())
    }

    /// Waits for what it says next.
    pub(super) fn listen(
        &self,
        until: Option<Instant>,
        setup: &Setup,
        interrupt: &AtomicBool,
    ) -> Result<Heard, LabError> {
        let passed = |moment: Option<Instant>| moment.is_some_and(|m| Instant::now() >= m);
        loop {
            match self.replies.recv_timeout(POLL) {
                Ok(reply) => return Ok(Heard::Reply(reply)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Heard::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(LabError::Interrupted);
            }
            if passed(setup.deadline) {
                return Err(LabError::TimeUp);
            }
            if passed(until) {
                return Ok(Heard::Late);
            }
        }
    }

    /// Waits for its end, and says how it ended in one line.
    pub(super) fn end(&mut self) -> (Option<ExitStatus>, String) {
        self.stdin = None;
        let status = self.child.wait().ok();
        let mut text = status.map_or_else(|| "lost".to_owned(), how);
        // What is left in the pipe is there by now, but may not have been read.
        std::thread::sleep(POLL);
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = words.back() {
            text = format!("{text} ({last})");
        }
        (status, text)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        group::kill(&mut self.child);
        let _ = self.child.wait();
    }
}

fn keep_last_words(stderr: impl Read, kept: &Mutex<VecDeque<String>>) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    // A kernel may print without an end, and without a line's end.
    while lines.by_ref().take(1 << 12).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line).trim().chars().take(200).collect::<String>();
        if !text.is_empty() {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_back(text);
            if kept.len() > LAST_WORDS {
                kept.pop_front();
            }
        }
        line.clear();
    }
}

#[cfg(unix)]
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;

    let name = |signal| match signal {
        4 => " (illegal instruction)",
        6 => " (aborted)",
        7 => " (bus error)",
        8 => " (arithmetic error)",
        9 => " (killed)",
        11 => " (invalid memory)",
        _ => "",
    };
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(signal)) => format!("crashed with signal {signal}{}", name(signal)),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> String {
    status.to_string()
}

/// A worker is the leader of a process group, so that compilers that a driver starts end with it,
/// and a Ctrl-C at the terminal does not reach it.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub fn own(command: &mut Command) {
        command.process_group(0);
    }

    pub fn kill(child: &mut Child) {
        // One that has been waited for may have lost its number to another.
        if child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub fn own(_: &mut Command) {}

    pub fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}
