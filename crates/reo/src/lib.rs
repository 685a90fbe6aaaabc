//! Reo connectors as constraint automata: read, composed, hidden, minimised, compared, written.
//!
//! Data flows one way: a text (Treo, `.cat`, `.aut`, JSON) or calls of [`primitive`] give a
//! [`connector::Connector`], its parts are [`automaton::Automaton`]s over shared names, `product`
//! puts them together, `hide` and `bisimulation` make the result small, `export` writes it for
//! other tools, `generate` as a program. This crate is pure: it opens no file and knows no device.

pub mod aut;
pub mod automaton;
pub mod bisimulation;
pub mod cat;
mod catalog;
pub mod check;
mod components;
pub mod connector;
mod constant;
pub mod constraint;
pub mod context;
pub mod draw;
pub mod ect;
pub mod export;
pub mod generate;
pub mod hide;
pub mod json;
mod label;
pub mod limits;
pub mod primitive;
pub mod product;
pub mod run;
pub mod symbol;
pub mod syntax;
pub mod treo;
