//! JSON text laid out for people: one member or item a line down to a depth; what is deeper, and
//! lists of words and numbers, on one line.

use std::io::{Result, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Levels with line breaks.
const DEPTH: usize = 3;

/// `value` as text, with line breaks in the outer levels.
pub(super) fn text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let lines = Lines { broken: Vec::new(), item: None };
    // Writing data without maps of other keys into memory does not fail.
    _ = value.serialize(&mut Serializer::with_formatter(&mut out, lines));
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

struct Lines {
    /// For each open bracket whether its items stand on lines of their own.
    broken: Vec<bool>,
    /// An item of a list begins, the first of it or another, and it is not yet known what it is.
    item: Option<bool>,
}

impl Lines {
    fn line<W: ?Sized + Write>(&self, w: &mut W) -> Result<()> {
        w.write_all(b"\n")?;
        self.broken.iter().try_for_each(|_| w.write_all(b"  "))
    }

    /// The gap before an item that is a word or number.
    fn small<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        if self.item.take() == Some(false) { w.write_all(b" ") } else { Ok(()) }
    }

    fn begin<W: ?Sized + Write>(&mut self, w: &mut W, bracket: &[u8]) -> Result<()> {
        if self.item.is_some() && self.broken.len() <= DEPTH {
            self.item = None;
            if let Some(broken) = self.broken.last_mut() {
                *broken = true;
            }
            self.line(w)?;
        }
        self.small(w)?;
        self.broken.push(false);
        w.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, w: &mut W, bracket: &[u8]) -> Result<()> {
        if self.broken.pop() == Some(true) {
            self.line(w)?;
        }
        w.write_all(bracket)
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        self.begin(w, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        self.end(w, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> Result<()> {
        self.item = Some(first);
        if first { Ok(()) } else { w.write_all(b",") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        self.begin(w, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        self.end(w, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> Result<()> {
        if !first {
            w.write_all(b",")?;
        }
        let deep = self.broken.len() > DEPTH;
        if let Some(broken) = self.broken.last_mut().filter(|_| !deep) {
            *broken = true;
            return self.line(w);
        }
        if first { Ok(()) } else { w.write_all(b" ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        w.write_all(b": ")
    }

    fn begin_string<W: ?Sized + Write>(&mut self, w: &mut W) -> Result<()> {
        self.small(w)?;
        w.write_all(b"\"")
    }

    fn write_u32<W: ?Sized + Write>(&mut self, w: &mut W, value: u32) -> Result<()> {
        self.small(w)?;
        write!(w, "{value}")
    }
}
