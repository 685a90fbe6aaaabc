//! What can go wrong while a kernel is read.

use crate::ast::At;

/// Why a kernel cannot be read. It prints as one line: `file:line: what; fix`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Something in the source.
    #[error("{}:{}: {what}; {fix}", at.file, at.line)]
    Source {
        /// Where.
        at: At,
        /// What is wrong there.
        what: String,
        /// What to write or do instead.
        fix: String,
    },
    /// A loop whose iterations cannot be counted, and for which the problem file gives no bound.
    #[error(
        "{}:{}: the loop's bound depends on data; add \"bounds\": {{ {}: 1 }} to the kernel in the \
         problem file, with the most iterations instead of 1", at.file, at.line, quoted(key)
    )]
    Unbounded {
        /// Where the loop begins.
        at: At,
        /// What the answer is called.
        key: String,
    },
    /// Something about the file as a whole, or about this machine.
    #[error("{name}: {what}; {fix}")]
    File {
        /// The file, or the tool that is missing.
        name: String,
        /// What is wrong.
        what: String,
        /// What to do.
        fix: String,
    },
    /// The user or the clock ended it.
    #[error("{name}: stopped before it was read")]
    Stopped {
        /// The file.
        name: String,
    },
    /// The program that was read does not fit the problem.
    #[error(transparent)]
    Model(#[from] tickbound_model::ModelError),
}

/// A text as JSON writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl ReadError {
    /// A fault at a place of the source.
    pub fn at(at: &At, what: impl Into<String>, fix: impl Into<String>) -> ReadError {
        ReadError::Source { at: at.clone(), what: what.into(), fix: fix.into() }
    }

    /// The fault of a text that the source is only for these values of its macros.
    #[must_use]
    pub fn with_macros(mut self, names: &[String], values: &[i64]) -> ReadError {
        if let (ReadError::Source { what, .. }, false) = (&mut self, names.is_empty()) {
            let values = names.iter().zip(values).map(|(name, value)| format!("{name}={value}"));
            *what = format!("{what} (with {})", values.collect::<Vec<_>>().join(", "));
        }
        self
    }

    /// A fault of a file or of this machine.
    pub fn file(
        name: impl Into<String>,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> ReadError {
        ReadError::File { name: name.into(), what: what.into(), fix: fix.into() }
    }
}
