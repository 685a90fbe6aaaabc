//! What the reader of OpenCL C promises. One binary for all, so that the crate is linked once.

mod cuda;
mod hostile;
mod kept;
mod kernels;
mod merge;
mod parse;
mod problems;
mod random;
mod read;
mod steps;
mod usage;
