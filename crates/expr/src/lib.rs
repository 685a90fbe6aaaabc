//! Integer expressions: parsed, evaluated, simplified, restricted, bounded.
//!
//! [`Expr`] is the type of all numbers in a problem. Names are of any type; in a problem they are
//! [`Slot`]s, places in an environment.
//!
//! ```
//! use tickbound_expr::parse::parse;
//!
//! let names = ["n", "WG"];
//! let e = parse("ceil_div(n, WG) * WG").unwrap();
//! let e = e.resolve(&mut |name| names.iter().position(|n| n == name)).unwrap();
//! assert_eq!(e.eval(&[100, 32]), Ok(128));
//! ```

mod arithmetic;
pub mod domain;
mod eval;
mod expr;
mod hint;
pub mod interval;
mod operations;
pub mod parse;
mod partial_eval;
mod python;
pub mod restrict;
mod simplify;
pub mod staged;

pub use eval::EvalError;
pub use expr::{BinaryOp, Expr, Function, Slot};
