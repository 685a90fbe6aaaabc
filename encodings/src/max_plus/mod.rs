//! Closing pieces of a program in max-plus arithmetic, with egg.
//!
//! A program without open choices maps the pair (now, mark) to a new pair by additions and maxima
//! only: it is linear in the max-plus algebra (Baccelli, Cohen, Olsder, Quadrat, *Synchronization
//! and Linearity*, Wiley 1992, chapter 3). Two shapes are closed under everything a program does,
//! and a [`Jump`](crate::plan::Jump) is one of them:
//!
//! * no mark inside: `now' = max(now + a, mark + b)`, `mark' = mark`;
//! * a mark inside: `mark' = max(now + c, mark + d)`, `now' = mark' + e`.
//!
//! [`close`] hands a [`MaxPlusTerm`] to egg with the rules of [`rules`] and reads the jump off the
//! extracted term; loops become powers of the map, closed by their cycle time, with the number of
//! iterations still symbolic. What comes out is arithmetic over the plan's amounts.

pub mod rules;
mod term;

pub use term::{Closed, MaxPlusTerm, Rewriting, close, explain};
