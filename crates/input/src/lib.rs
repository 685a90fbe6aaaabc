//! What comes from a user: files read within limits, names and their nearest neighbours, safe text.
//!
//! * [`text`] and [`bytes`] read a file, [`json()`] a JSON text without repeated keys.
//! * [`message`] has what error messages are made of.
//! * [`without_raw_quotes`] takes a kernel's source out of a raw string of C++.
//! * [`names`] has the reserved words of the languages that names are written to.

mod file;
mod json;
pub mod message;
pub mod named;
pub mod names;
mod quoted;

pub use file::{MOST, bytes, decoded, regular, source, text, within};
pub use json::json;
pub use quoted::without_raw_quotes;
