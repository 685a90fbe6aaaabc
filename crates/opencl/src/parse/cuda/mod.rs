//! CUDA C++ and HIP C++: cursors of C++ to the same tree as OpenCL C.
//!
//! Names of CUDA are the functions of OpenCL C that do the same. Functions, methods and lambdas
//! that a kernel calls become functions of the unit, one for each way in which they are called:
//! with the arguments of a template, which stay open where they are tuning parameters, and with the
//! places that references and `this` are bound to. Structures that hold pointers become their
//! members.

mod calls;
mod classes;
mod cursors;
mod express;
mod functions;
mod groups;
mod kernels;
mod launch;
mod names;
mod state;

pub(super) use express::cuda_space;
pub(super) use kernels::{argument_texts, kernels, qualified, template_parameters, uses};
pub(super) use state::CudaTree;
