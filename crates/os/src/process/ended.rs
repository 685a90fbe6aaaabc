//! How a child process has ended.

use std::fmt;
use std::time::Duration;

/// Why a child was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStop {
    /// By the user.
    Interrupted,
    /// Its time was up; the limit.
    Time(Duration),
    /// It took more memory than this many bytes.
    Memory(u64),
    /// It printed more than this many bytes.
    Output(u64),
    /// Its answer was no longer needed, or it had printed enough.
    Unneeded,
}

impl fmt::Display for ProcessStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessStop::Interrupted => f.write_str("interrupt"),
            ProcessStop::Time(limit) => write!(f, "time limit of {} s", limit.as_secs_f64()),
            ProcessStop::Memory(bytes) => {
                write!(f, "memory limit of {} MB", bytes.div_ceil(1_000_000))
            }
            ProcessStop::Output(bytes) => {
                write!(f, "output limit of {} MB", bytes.div_ceil(1_000_000))
            }
            ProcessStop::Unneeded => f.write_str("no longer needed"),
        }
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit status.
    Exit(i32),
    /// By a signal that did not come from here.
    Signal(i32),
    /// It was stopped.
    Stopped(ProcessStop),
}

impl Ended {
    /// Why it was stopped, if it was.
    pub fn stopped(self) -> Option<ProcessStop> {
        match self {
            Ended::Stopped(why) => Some(why),
            Ended::Exit(_) | Ended::Signal(_) => None,
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exit(code) => write!(f, "exit status: {code}"),
            Ended::Signal(signal) => {
                let name = match signal {
                    4 => " (illegal instruction)",
                    6 => " (aborted)",
                    7 => " (bus error)",
                    8 => " (arithmetic error)",
                    9 => " (killed)",
                    11 => " (invalid memory)",
                    _ => "",
                };
                write!(f, "signal {signal}{name}")
            }
            Ended::Stopped(why) => why.fmt(f),
        }
    }
}
