//! Connectors as pictures: the circuit in the usual signs, the automaton beside it, and runs.
//!
//! A [`Connector`](crate::connector::Connector) (its circuit as the text has it) or an automaton
//! becomes a [`GraphPicture`], shapes with places, which [`svg`] writes. Both are laid out in
//! columns (`columns`): no label lies on a line or another label or leaves the picture, and a line
//! ends at the border of what it joins. A long circuit goes on in rows (`rows`).
//!
//! | sign | channel |
//! |---|---|
//! | line with a head | sync; dashed: lossy |
//! | box | buffer, with a dot if full; divided: several places |
//! | two heads that face each other, or part | drain, spout; with bars between: asynchronous |
//! | zigzag, triangle | filter, transformer |
//! | dot | node; hollow: the environment sees it |
//! | ring | merger and replicator; with a cross: router |
//! | box with a word | any other component |
//!
//! ```
//! use tickbound_reo::draw::{circuit, svg};
//! use tickbound_reo::syntax::Source;
//! use tickbound_reo::treo::{TreoRequest, Shelf, connector};
//!
//! let source = Source::new("two.treo", "two(a, b) { fifo1(a, m) lossy(m, b) }");
//! let two = connector(&source, &Shelf::default(), &TreoRequest::default())?;
//! let picture = circuit(&two, None)?;
//! assert!(svg("two", &[(vec![&picture], None)]).starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod automaton;
mod circuit;
mod columns;
mod fold;
mod frames;
mod picture;
mod rows;
mod sign;
mod svg;
mod words;

pub use automaton::automaton;
pub use circuit::{MAX_CHANNELS, circuit};
pub use fold::folded;
pub use frames::{Frame, frames};
pub use picture::{GraphPicture, PicturePoint, Piece, Shape};
pub use rows::stacked;
pub use svg::{content, svg};
pub use words::size;
