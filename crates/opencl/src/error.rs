//! What can go wrong while a kernel is read.

use serde::{Deserialize, Serialize};

use crate::ast::SourcePlace;
use crate::reading::MAX_VARIANTS;

/// What reading yields.
pub(crate) type Read<T> = Result<T, ReadError>;

/// Why a kernel cannot be read. It prints as one line: `file:line: what; fix`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ReadError {
    /// Something in the source.
    #[error("{}:{}: {what}; {fix}", at.file, at.line)]
    Source {
        /// Where.
        at: SourcePlace,
        /// What is wrong there.
        what: String,
        /// What to write or do instead.
        fix: String,
    },
    /// A loop whose iterations cannot be counted, and for which the problem file gives no bound.
    #[error(
        "{}:{}: the loop's {}; add \"bounds\": {{ {}: 1 }} to the kernel in the \
         problem file, with the most iterations instead of 1",
        at.file, at.line,
        if *on_data { "bound depends on data" } else { "iterations cannot be counted" }, quoted(key)
    )]
    Unbounded {
        /// Where the loop begins.
        at: SourcePlace,
        /// What the answer is called.
        key: String,
        /// Whether data decide how many there are.
        on_data: bool,
    },
    /// A function that is declared, not defined, and for which the problem file gives no price.
    #[error(
        "{}:{}: the function '{name}' is not known and has no body; define it in the file, or add \
         \"bounds\": {{ {}: 1 }} to the kernel in the problem file, with the operations of a call \
         instead of 1",
        at.file, at.line, quoted(name)
    )]
    Bodiless {
        /// Where it is called.
        at: SourcePlace,
        /// Its name.
        name: String,
    },
    /// Names without a meaning: macros of the compiler's command line, often.
    #[error(
        "{}:{}: {what}; declare it, add it to kernel.defines, or set kernel.standard to the \
         version that has it",
        at.file, at.line
    )]
    Undeclared {
        /// Where the first one is used.
        at: SourcePlace,
        /// The message of libclang for the first one.
        what: String,
        /// All of them that stand for values or functions.
        values: Vec<String>,
        /// All of them that stand for types.
        types: Vec<String>,
    },
    /// A branch that depends on data, for which the problem file does not say which side counts.
    #[error(
        "{}:{}: the branch depends on data and its sides access memory differently; add \
         \"branches\": {{ {}: \"both\" }} \
         to the kernel in the problem file, or \"then\" or \"else\" instead of \"both\"; {} \
         answers for all of its branches",
        at.file, at.line, quoted(key), quoted(function)
    )]
    Unsided {
        /// Where it stands.
        at: SourcePlace,
        /// What the answer is called.
        key: String,
        /// The function that it is in.
        function: String,
    },
    /// A loop whose iterations differ by something inside, where they may be too many to walk.
    #[error(
        "{}:{}: {} depends on the iteration of this loop, which may have more than {most} \
         iterations; \
         add {}", at.file, at.line, place_in(inner, at), differing_fix(key, *branch)
    )]
    Differing {
        /// Where the loop begins.
        at: SourcePlace,
        /// Where what depends on the iteration stands.
        inner: SourcePlace,
        /// What the answer is called.
        key: String,
        /// Whether that is a branch, and not a loop.
        branch: bool,
        /// How many iterations are walked one by one.
        most: i64,
    },
    /// Several of what the problem file has to answer, in order; the first is reported.
    #[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Questions(Vec<ReadError>),
    /// The source's text depends on too many combinations of macros.
    #[error(
        "{name}: its syntax depends on {}, with more than {MAX_VARIANTS} combinations; use `if` \
         instead of `#if` for \
         some of them, or narrow their domains",
        structural.join(", ")
    )]
    ManyReadings {
        /// The file.
        name: String,
        /// The macros.
        structural: Vec<String>,
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
    Model(
        #[from]
        #[serde(with = "crate::codec::ModelErrorFields")]
        tickbound_model::ModelError,
    ),
}

/// The answer that lifts a [`ReadError::Differing`].
fn differing_fix(key: &str, branch: bool) -> String {
    let key = quoted(key);
    match branch {
        true => format!("{key}: \"then\", \"else\" or \"both\" to kernel.branches"),
        false => format!("{key}: BOUND to kernel.bounds in the problem file"),
    }
}

/// A line, with its file if that is another one than that of a place before.
fn place_in(at: &SourcePlace, before: &SourcePlace) -> String {
    match at.file == before.file {
        true => format!("line {}", at.line),
        false => format!("{}:{}", at.file, at.line),
    }
}

/// A text as JSON writes it.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl ReadError {
    /// A fault at a place of the source.
    pub fn at(at: &SourcePlace, what: impl Into<String>, fix: impl Into<String>) -> ReadError {
        ReadError::Source { at: at.clone(), what: what.into(), fix: fix.into() }
    }

    /// The fault of a text that the source is only for these values of its macros.
    #[must_use]
    pub fn with_macros(mut self, names: &[String], values: &[i64]) -> ReadError {
        if let (ReadError::Source { what, .. } | ReadError::Undeclared { what, .. }, false) =
            (&mut self, names.is_empty())
        {
            let values = names.iter().zip(values).map(|(name, value)| format!("{name}={value}"));
            *what = format!("{what} (with {})", values.collect::<Vec<_>>().join(", "));
        }
        self
    }

    /// Whether an answer in the problem file lifts it.
    pub(crate) fn is_question(&self) -> bool {
        use ReadError::{Bodiless, Differing, Unbounded, Unsided};
        matches!(self, Unbounded { .. } | Unsided { .. } | Differing { .. } | Bodiless { .. })
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
