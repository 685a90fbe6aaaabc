//! From sources to steps: what is printed, what is refused, and random kernels that are read and run.

mod judge;
mod machine;
mod printed;
mod programs;
mod random;
mod refused;
mod support;
