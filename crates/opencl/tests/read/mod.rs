//! From sources to steps: what is printed, what is refused, and random kernels that are read and
//! run.

mod collective;
mod machine;
mod oracle;
mod printed;
mod programs;
mod refused;
pub mod support;
