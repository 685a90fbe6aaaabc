//! A child's pipes, served by threads.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::Group;

/// Most bytes kept of each stream.
const MAX_OUTPUT: usize = 64 << 20;
/// Most bytes of a line that are read at once.
const MAX_LINE: u64 = 1 << 20;
/// Lines that may wait to be taken, and most that are taken at once.
const WAITING: usize = 1024;
/// How long the output may stay open after the child's end: a process that has left the group may
/// hold it.
const LEFT_OPEN: Duration = Duration::from_secs(5);

/// What becomes of a line of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputLine {
    /// It belongs to the output.
    Keep,
    /// It was for the moment only.
    Drop,
    /// It belongs to the output, and the child has printed enough: it is stopped.
    Enough,
}

/// A line of one of the streams.
enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

/// What a child prints.
pub(crate) struct Output<'c> {
    pieces: Receiver<Piece>,
    on_line: &'c mut dyn FnMut(&str) -> OutputLine,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    printed: u64,
    truncated: bool,
    enough: Option<Instant>,
}

impl<'c> Output<'c> {
    /// Starts threads that write `input` and read what `group` prints.
    pub fn of(
        group: &mut Group,
        input: Vec<u8>,
        on_line: &'c mut dyn FnMut(&str) -> OutputLine,
    ) -> Output<'c> {
        let (stdin, stdout, stderr) = group.pipes();
        let (send, pieces) = sync_channel(WAITING);
        if let Some(mut stdin) = stdin {
            // A child that does not read its input states why on its own.
            thread::spawn(move || stdin.write_all(&input));
        }
        if let Some(stdout) = stdout {
            let send = send.clone();
            thread::spawn(move || forward(stdout, Piece::Out, &send));
        }
        if let Some(stderr) = stderr {
            thread::spawn(move || forward(stderr, Piece::Err, &send));
        }
        let (stdout, stderr) = (Vec::new(), Vec::new());
        Output { pieces, on_line, stdout, stderr, printed: 0, truncated: false, enough: None }
    }

    /// Takes what is there; waits for it at most this long.
    pub fn take(&mut self, wait: Duration) {
        match self.pieces.recv_timeout(wait) {
            Ok(piece) => {
                self.keep(piece);
                for _ in 1..WAITING {
                    let Ok(piece) = self.pieces.try_recv() else { break };
                    self.keep(piece);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The pipes are closed, and the child's end is near.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(1)),
        }
    }

    /// When the caller first had enough.
    pub fn enough(&self) -> Option<Instant> {
        self.enough
    }

    /// Bytes of standard output so far, but for lines that the caller dropped.
    pub fn printed(&self) -> u64 {
        self.printed
    }

    /// Takes what is left. Standard output, standard error, and whether the first is cut.
    pub fn finish(mut self) -> (String, String, bool) {
        let since = Instant::now();
        while let Ok(piece) = self.pieces.recv_timeout(LEFT_OPEN.saturating_sub(since.elapsed())) {
            self.keep(piece);
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (text(self.stdout), text(self.stderr), self.truncated)
    }

    fn keep(&mut self, piece: Piece) {
        match piece {
            Piece::Err(line) if self.stderr.len() + line.len() <= MAX_OUTPUT => {
                self.stderr.extend(line);
            }
            Piece::Err(_) => {}
            Piece::Out(line) => {
                let wanted = (self.on_line)(String::from_utf8_lossy(&line).trim_end());
                if wanted == OutputLine::Enough {
                    self.enough.get_or_insert_with(Instant::now);
                }
                if wanted != OutputLine::Drop {
                    self.printed += line.len() as u64;
                    self.truncated |= self.stdout.len() + line.len() > MAX_OUTPUT;
                    if !self.truncated {
                        self.stdout.extend(line);
                    }
                }
            }
        }
    }
}

/// Forwards a stream, line by line, until it ends or the receiver is gone.
fn forward(stream: impl Read, piece: fn(Vec<u8>) -> Piece, send: &SyncSender<Piece>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        let read = stream.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if !read.is_ok_and(|n| n > 0) || send.send(piece(line)).is_err() {
            return;
        }
    }
}
