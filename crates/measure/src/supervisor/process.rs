//! The worker process from outside: started, spoken to, heard, and never left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tickbound_os::process::{Ended, Group};

use super::setup::{COMPILES, Interrupts, SUBCOMMAND, SupervisorSetup};
use crate::error::SupervisorError;
use crate::worker::{Reply, Request};

/// How often the interrupt is examined.
const POLL: Duration = Duration::from_millis(20);

/// A worker process. It is killed when it is dropped, with the compilers that a driver starts; a
/// Ctrl-C at the terminal does not reach it.
#[derive(Debug)]
pub(super) struct Worker {
    group: Group,
    stdin: Option<ChildStdin>,
    replies: Receiver<Reply>,
    /// The last line of its standard error.
    last_error: Arc<Mutex<String>>,
}

pub(super) enum WorkerMessage {
    Reply(Reply),
    /// The time is over.
    Late,
    /// Its output has ended.
    Ended,
}

impl Worker {
    pub(super) fn spawn(setup: &SupervisorSetup) -> std::io::Result<Worker> {
        let mut command = Command::new(&setup.program);
        command.arg(SUBCOMMAND).arg(setup.choice.to_string());
        command.args(setup.compiles.then_some(COMPILES));
        if !setup.folder.as_os_str().is_empty() {
            command.current_dir(&setup.folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::spawn(&mut command)?;
        let (stdin, stdout, stderr) = group.pipes();
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
        let last_error = Arc::new(Mutex::new(String::new()));
        let last = last_error.clone();
        std::thread::spawn(move || stderr.map(|stderr| keep_last_line(stderr, &last)));
        Ok(Worker { group, stdin, replies, last_error })
    }

    pub(super) fn send(&mut self, request: &Request) -> std::io::Result<()> {
        let line = serde_json::to_string(request).map_err(std::io::Error::other)? + "\n";
        let stdin = self.stdin.as_mut().ok_or_else(|| std::io::Error::other("no pipe"))?;
        stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush())
    }

    /// Waits for what it states next.
    pub(super) fn listen(
        &self,
        until: Option<Instant>,
        setup: &SupervisorSetup,
        interrupts: Interrupts<'_>,
    ) -> Result<WorkerMessage, SupervisorError> {
        let passed = |moment: Option<Instant>| moment.is_some_and(|m| Instant::now() >= m);
        loop {
            match self.replies.recv_timeout(POLL) {
                Ok(reply) => return Ok(WorkerMessage::Reply(reply)),
                Err(RecvTimeoutError::Disconnected) => return Ok(WorkerMessage::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // The clock first: it may also have set the flag.
            if passed(setup.deadline) {
                return Err(SupervisorError::TimeUp);
            }
            if interrupts.iter().any(|flag| flag.load(Ordering::Relaxed)) {
                return Err(SupervisorError::Interrupted);
            }
            if passed(until) {
                return Ok(WorkerMessage::Late);
            }
        }
    }

    /// Waits for its end, and states how it ended in one line.
    pub(super) fn end(&mut self) -> String {
        self.stdin = None;
        let how = match self.group.wait() {
            Ok((Ended::Exit(code), _)) => format!("ended with status {code}"),
            Ok((ended, _)) => format!("crashed with {ended}"),
            Err(error) => format!("is lost: {error}"),
        };
        // What is left in the pipe is there by now, but may not have been read.
        std::thread::sleep(POLL);
        let last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_empty() { how } else { format!("{how} ({last})") }
    }
}

fn keep_last_line(stderr: impl Read, last: &Mutex<String>) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    // A kernel may print without an end, and without a line's end.
    while lines.by_ref().take(1 << 12).read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line).trim().chars().take(200).collect::<String>();
        if !text.is_empty() {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
        line.clear();
    }
}
