//! Names in other languages: the words that each keeps for itself, and how long a name may be.
//!
//! ```
//! use tickbound_input::names::{c, promela, short};
//!
//! assert!(c().any(|word| word == "register") && promela().any(|word| word == "chan"));
//! assert_eq!(short(&"W".repeat(600)).len(), tickbound_input::names::MAX_NAME);
//! ```

/// Longest name that is written. SPIN 6.5.2 copies each into 512 bytes, behind the name of what it
/// is part of.
pub const MAX_NAME: usize = 200;

/// The words of a text, without its comments.
fn words(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// Words that C, its compiler and its headers keep for themselves.
pub fn c() -> impl Iterator<Item = &'static str> {
    words(include_str!("c.txt"))
}

/// Words that Promela, and the verifier in C that SPIN makes of it, keep for themselves.
pub fn promela() -> impl Iterator<Item = &'static str> {
    words(include_str!("promela.txt")).chain(c()).chain(words(include_str!("verifier.txt")))
}

/// The beginning of `name` that is short enough.
pub fn short(name: &str) -> &str {
    let end = name.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_NAME).last();
    if name.len() <= MAX_NAME { name } else { &name[..end.unwrap_or_default()] }
}
