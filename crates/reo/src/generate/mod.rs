//! Connectors as programs: a module in Rust or C that depends on nothing.
//!
//! The names that the automaton still has are *ports*; the environment puts data at
//! [`ExportSubject::inputs`] and takes them at the others. A step fires when all its ports have an
//! offer and its constraint holds; where several are enabled, the caller chooses. Cells that no run
//! reads again are emptied.
//!
//! Data are of one type, which the user chooses with the meaning of functions, predicates and
//! constants (a trait in Rust, function pointers in C). They must be pure, and different constants
//! must differ: then the program does what [`crate::run`] does. A cell of unknown content at the
//! start is an argument of the constructor.
//!
//! Both writers write one `plan`: what each step compares and moves, class by class in the simplest
//! form of its constraint. **Nothing is invented**: where no equation determines a datum that is
//! taken, a cell that is read again or a value that is tested, [`GenerateError::Open`] names the
//! step.
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
//! let program = generate(&[subject], Language::Rust)?;
//! assert!(program.contains("pub fn put_a(&self, value: M::Value)"));
//! // Who takes from a drain would have to be given something.
//! let error = generate(&[ExportSubject { inputs: &[a], ..subject }], Language::C).unwrap_err();
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

/// The program of automata without silent steps ([`crate::hide::close`] takes them away): one for
/// each region of a connector. Regions share no name and no cell, and step one at a time; all have
/// the same name, words and interface.
///
/// # Errors
/// What cannot be a program, or would need values that nothing determines.
pub fn generate(regions: &[ExportSubject], language: Language) -> Result<String, GenerateError> {
    let plan = Plan::new(regions)?;
    Ok(match language {
        Language::Rust => rust::write(&plan),
        Language::C => c::write(&plan),
    })
}

/// A template in which `value` replaces each `@key@`.
fn filled(template: &str, value: impl Fn(&str) -> String) -> String {
    let part = |(at, part): (usize, &str)| if at % 2 == 0 { part.to_owned() } else { value(part) };
    template.split('@').enumerate().map(part).collect()
}

/// A line for each of `all`.
fn lines<T>(all: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) -> String {
    all.into_iter().map(|one| line(one) + "\n").collect()
}
