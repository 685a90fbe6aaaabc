//! Lines of standard input, for a command that has to end while it waits for one.

use std::io::stdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::commands::exit::{CliError, input};
use crate::commands::stop;

/// How often the flag is read while no line comes.
const GLANCE: Duration = Duration::from_millis(50);

/// Lines of standard input, in order.
pub(super) struct Lines {
    read: Receiver<std::io::Result<String>>,
}

/// What comes next.
pub(super) enum Next {
    Line(String),
    /// There are no more.
    End,
    /// The command has to end.
    Stop,
}

impl Lines {
    /// Begins to read.
    pub(super) fn new() -> Result<Lines, CliError> {
        let (send, read) = sync_channel(1);
        let reader = move || {
            // The rest may not be needed.
            for line in stdin().lines() {
                if send.send(line).is_err() {
                    return;
                }
            }
        };
        let fault = |error| CliError::Input(format!("standard input cannot be read: {error}"));
        std::thread::Builder::new().spawn(reader).map_err(fault)?;
        Ok(Lines { read })
    }

    /// Waits for the next line.
    pub(super) fn next(&self) -> Result<Next, CliError> {
        loop {
            if stop::is_due() {
                return Ok(Next::Stop);
            }
            match self.read.recv_timeout(GLANCE) {
                Ok(Ok(line)) => return Ok(Next::Line(line)),
                Ok(Err(error)) => return Err(input(format!("standard input: {error}"))),
                Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
