//! What the program and the crates promise together. One binary for all, so that the crate is
//! linked once.

mod btor2;
mod calibrate;
mod capture;
mod certificate;
mod cli;
#[path = "../encodings/tests/common/mod.rs"]
mod common;
mod compare;
mod cuda;
mod datasets;
mod explain;
#[path = "../crates/reo/tests/families/mod.rs"]
mod families;
mod floors;
mod fuzz;
mod init;
mod kernels;
#[path = "../benches/spaces/mapping.rs"]
mod mapping;
mod mappings;
mod measure;
mod measure_cuda;
mod opencl;
mod outputs;
mod pages;
mod platforms;
mod promela;
mod python;
mod readers;
mod reo;
mod reo_spin;
mod report;
mod right_answers;
mod rules;
mod safety;
mod safety_certificate;
mod schema;
mod smt2;
mod spin;
mod why;
mod with_spin;
