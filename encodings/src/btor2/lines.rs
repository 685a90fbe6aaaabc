//! Numbered lines, of which equal expressions are one.

use std::collections::HashMap;
use std::fmt::{self, Write};

/// The number of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Line(u32);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The sort of truth values, by its line.
pub(super) const TRUTH: Line = Line(1);
/// The sort of integers.
pub(super) const NUMBER: Line = Line(2);

/// The text so far.
pub(super) struct Lines {
    /// It.
    pub text: String,
    /// Bits of an integer.
    width: u32,
    last: u32,
    known: HashMap<String, Line>,
}

impl Lines {
    /// No line yet.
    pub fn new(width: u32) -> Lines {
        Lines { text: String::new(), width, last: 0, known: HashMap::new() }
    }

    /// A line that readers pass over.
    pub fn comment(&mut self, comment: &str) {
        let _ = writeln!(self.text, "; {comment}");
    }

    /// The sorts, which are the first lines.
    pub fn sorts(&mut self) {
        self.add("sort bitvec 1");
        self.add(&format!("sort bitvec {}", self.width));
    }

    /// A new line.
    pub fn add(&mut self, body: &str) -> Line {
        self.last += 1;
        let _ = writeln!(self.text, "{} {body}", self.last);
        Line(self.last)
    }

    /// The line of an expression; a new one if there is none yet.
    pub fn share(&mut self, body: &str) -> Line {
        if let Some(line) = self.known.get(body) {
            return *line;
        }
        let line = self.add(body);
        self.known.insert(body.to_owned(), line);
        line
    }

    /// A constant that fits the width, as an unsigned number of the same bits for every reader.
    pub fn number(&mut self, value: i64) -> Line {
        let mask = u64::MAX >> (u64::BITS - self.width);
        self.share(&format!("constd {} {}", NUMBER, value as u64 & mask))
    }

    /// A constant truth value.
    pub fn truth(&mut self, value: bool) -> Line {
        self.share(&format!("constd {} {}", TRUTH, u8::from(value)))
    }
}
