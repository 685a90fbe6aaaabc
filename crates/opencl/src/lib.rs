//! Reads OpenCL C through libclang as kernel programs of tickbound.
//!
//! A problem names a source file, its kernel function, and the macros that a configuration gives to
//! the compiler. This crate makes of it the kernel program of the problem format: loops with their
//! symbolic bounds, loads and stores by address space, barriers, atomics, arithmetic, branches. The
//! values of tuning parameters stay open: one program represents all configurations.
//!
//! There are four stages. [`preprocess`] expands macros with the machine's C compiler. [`parse`]
//! makes a [syntax tree](ast) out of libclang's cursors. [`read`] walks it symbolically and yields
//! [`steps`]. [`lower`] turns these into a program. What cannot be bounded is an error with what to
//! write into the problem file; nothing is guessed.
//!
//! A source may be anybody's: the preprocessor runs with limits and reads regular files only, and
//! with a [`Child`] a crash of libclang is an error like any other.

pub mod ast;
mod attach;
mod child;
mod codec;
pub mod compiler_log;
pub mod cuda;
pub mod error;
mod exact;
pub mod extract;
pub mod inputs;
pub mod kept;
mod least;
mod libclang;
mod lines;
pub mod lower;
pub mod outline;
pub mod parse;
pub mod preprocess;
pub mod proof;
pub mod read;
pub mod reading;
pub mod request;
pub mod steps;
mod usage;
pub mod written;

pub use attach::{KernelReading, attach, attach_with, for_proofs, least};
pub use child::{Child, ReaderSetup, serve};
pub use error::ReadError;
pub use extract::{Extracted, Variant};
pub use inputs::inputs_as_macros;
pub use kept::Kept;
pub use lines::include_name;
pub use request::{Passed, ReadRequest, Symbol};
