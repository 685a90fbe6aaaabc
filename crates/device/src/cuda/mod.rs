//! CUDA devices: NVIDIA's driver, and programs compiled by NVRTC.
//!
//! All commands go into the default stream, which works in order; a time is that between two
//! events around a command.

mod compile;
mod list;
mod session;

pub(crate) use compile::{Compiled, compile, compile_opencl};
pub use list::list_cuda;
pub(crate) use list::{L2, attribute};
pub(crate) use session::{CudaKernel, CudaMemory, CudaProgram, CudaSession};
