//! Connectors as programs: a module in Rust or C that depends on nothing.
//!
//! The names that the automaton still has are *ports*. At a port into which the environment writes
//! ([`ExportSubject::inputs`]) it puts data, at any other it takes them. A step fires when a datum
//! waits at each put port of it, somebody waits at each take port of it, and its constraint holds;
//! all its ports fire together, what waits elsewhere goes on waiting. Where several steps are
//! enabled, the caller chooses. Cells that no run reads again are emptied.
//!
//! Data are of one type, which the user chooses; functions, predicates and constants are what the
//! user says (a trait in Rust, a struct of function pointers in C). They must be pure, and
//! different constants must differ: then the program does what [`crate::run`] does with the same
//! data. A cell whose content is not known at the start is an argument of the constructor.
//!
//! Both writers write one `plan`: for each step what is compared and what is moved, found class by
//! class in the simplest form of its constraint, as [`crate::run::settle`] finds values. **Nothing
//! is invented**: where no equation determines a datum that is taken or a cell that is read again,
//! or a test speaks of such a value, [`GenerateError::Open`] tells the step.
//!
//! ```
//! use tickbound_reo::export::ExportSubject;
//! use tickbound_reo::generate::{Language, generate};
//! use tickbound_reo::primitive::sync_drain;
//! use tickbound_reo::symbol::Symbols;
//!
//! let mut symbols = Symbols::new();
//! let (a, b) = (symbols.name("a"), symbols.name("b"));
//! let drain = sync_drain(a, b);
//! let (automaton, symbols, interface) = (&drain, &symbols, &[a, b]);
//! let subject = ExportSubject { name: "drain", automaton, symbols, inputs: interface, interface };
//! assert!(generate(subject, Language::Rust)?.contains("pub fn put_a(&self, value: M::Value)"));
//! // Who takes from a drain would have to be given something.
//! let error = generate(ExportSubject { inputs: &[a], ..subject }, Language::C).unwrap_err();
//! assert!(error.to_string().starts_with("step `0 {a, b} true -> 0` leaves b open"));
//! # Ok::<(), tickbound_reo::generate::GenerateError>(())
//! ```

mod c;
mod error;
mod plan;
mod rust;

pub use error::GenerateError;

use crate::export::ExportSubject;
use plan::Plan;

tickbound_input::named! {
    /// A programming language.
    pub enum Language {
        /// A module in Rust: steps one by one, and a driver for threads
        Rust = "rust",
        /// A file in C11 to be included: steps one by one
        C = "c",
    }
}

/// The program of an automaton without silent steps ([`crate::hide::close`] takes them away).
///
/// # Errors
/// What cannot be a program, or would need values that nothing determines.
pub fn generate(subject: ExportSubject<'_>, language: Language) -> Result<String, GenerateError> {
    let plan = Plan::new(subject)?;
    Ok(match language {
        Language::Rust => rust::write(&plan),
        Language::C => c::write(&plan),
    })
}

/// A template in which `value` gives what stands for each `@key@`.
fn filled(template: &str, value: impl Fn(&str) -> String) -> String {
    let part = |(at, part): (usize, &str)| if at % 2 == 0 { part.to_owned() } else { value(part) };
    template.split('@').enumerate().map(part).collect()
}

/// A line for each of `all`.
fn lines<T>(all: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) -> String {
    all.into_iter().map(|one| line(one) + "\n").collect()
}
