//! How a kernel is read: where, what is kept, and what stops it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::child::Child;
use crate::error::ReadError;
use crate::kept::Kept;

/// A flag that nobody sets.
static NEVER: AtomicBool = AtomicBool::new(false);

/// How a kernel is read. By default in this process, nothing is kept, and nothing stops it.
#[derive(Debug, Clone)]
pub struct ReaderSetup<'a> {
    /// Where readings are kept for the next time.
    pub kept: Kept,
    /// The process that calls libclang; `None`: this one.
    pub child: Option<Child>,
    /// Ends the reading when it becomes true.
    pub interrupt: &'a AtomicBool,
}

impl Default for ReaderSetup<'_> {
    fn default() -> Self {
        ReaderSetup { kept: Kept::off(), child: None, interrupt: &NEVER }
    }
}

impl ReaderSetup<'_> {
    /// An error if the reading is to end.
    pub(crate) fn go_on(&self, name: &str) -> Result<(), ReadError> {
        match self.interrupt.load(Ordering::Relaxed) {
            true => Err(ReadError::Stopped { name: name.to_owned() }),
            false => Ok(()),
        }
    }
}
