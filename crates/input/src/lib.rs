//! What comes from a user: files read within limits, names and their nearest neighbours, safe text.
//!
//! * [`text`] and [`bytes`] read a file, [`json()`] a JSON text without repeated keys.
//! * [`message`] has what error messages are made of.
//! * [`names`] has the reserved words of the languages that names are written to.

mod file;
mod json;
pub mod message;
pub mod named;
pub mod names;

pub use file::{MOST, bytes, decoded, regular, text, within};
pub use json::json;
