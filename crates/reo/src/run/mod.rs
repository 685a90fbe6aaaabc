//! Runs of a connector, step by step, with the data that flow.
//!
//! Steps are found when needed ([`crate::product::implicit`]). Data are constants and functions
//! of them; a datum that is not given is a new constant, `d1`, `d2` and so on. Functions and
//! predicates mean nothing until a step has a condition on them: once a datum has passed a filter,
//! it passes every time ([`settle`]). So a run shows what may happen for some meaning of them.
//!
//! ```
//! use tickbound_reo::run::{Player, Wanted};
//! use tickbound_reo::syntax::Source;
//! use tickbound_reo::treo::{TreoRequest, Shelf, connector};
//!
//! let source = Source::new("two.treo", "two(a, b) { fifo1(a, m) fifo1(m, b) }");
//! let two = connector(&source, &Shelf::default(), &TreoRequest::default())?;
//! let mut player = Player::new(&two)?;
//! for wanted in Wanted::all(&Source::new("steps", "{a = 7} 1 {m} {b}"))? {
//!     player.follow(&wanted)?;
//! }
//! assert_eq!(player.lines(), ["1 {a = 7}", "1 {m = 7}", "1 {b = 7}"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod player;
mod settle;
mod wanted;

pub use player::{Enabled, Player, Random, Taken};
pub use settle::{Settled, settle};
pub use wanted::Wanted;
