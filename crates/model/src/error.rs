//! What is wrong with a problem, where, and the fix.

use std::fmt;

use thiserror::Error;
use tickbound_input::message::one_line;

/// A fault in a problem or a platform: where it is, what it is and how to fix it.
///
/// It prints as one line, `where: what; fix`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ModelError {
    /// The field, as a path such as `kernel[0].body[1].until`.
    pub at: String,
    /// What is wrong there.
    pub what: String,
    /// What to write or do instead; may be empty.
    pub fix: String,
}

impl ModelError {
    /// A fault at `at`.
    pub fn new(at: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        ModelError { at: at.into(), what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", one_line(&self.at), one_line(&self.what))?;
        if !self.fix.is_empty() {
            write!(f, "; {}", one_line(&self.fix))?;
        }
        Ok(())
    }
}
