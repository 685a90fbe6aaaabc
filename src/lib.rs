//! tickbound: the least run time of an OpenCL kernel, found and proved from its timing model.
//!
//! This crate is the program: arguments, commands, the terminal. The libraries do the work, and
//! each can be used alone:
//!
//! | crate | what it does |
//! | --- | --- |
//! | [`tickbound_model`] | problems and their space |
//! | [`tickbound_simulator`] | the reference semantics: what a run time is |
//! | [`tickbound_timing`] | the run time in closed form |
//! | [`tickbound_encodings`] | plans, transition systems, encodings, lower bounds |
//! | [`tickbound_solver`] | the search with Z3 and its proof |
//! | [`tickbound_rules`] | few configurations for many sizes, with a proved loss |
//! | [`tickbound_certificate`] | certificates of a least time, and their checker |
//! | [`tickbound_spin`] | the same problem for SPIN |
//! | [`tickbound_opencl`] | kernels in OpenCL C, read as kernel programs |
//! | [`tickbound_propose`] | a problem file for a kernel |
//! | [`tickbound_measure`] | kernels run and timed on OpenCL devices, calibration |
//! | [`tickbound_report`] | answers as JSON, text, pictures and pages |
//! | [`tickbound_why`], [`tickbound_compare`] | sensitivity of a least time; engines side by side |
//! | [`tickbound_reo`] | connectors as constraint automata |
//!
//! # From a problem to a proved answer
//!
//! A problem states what the kernel does, on which platform, and which parameters there are:
//!
//! ```
//! use indexmap::IndexMap;
//! use tickbound_model::{Problem, platforms};
//!
//! let text = r#"{ "name": "a group reads, then computes",
//!   "inputs": { "size": 64 },
//!   "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4,
//!                 "group_start": 3 },
//!   "parameters": { "WG": "powers_of_two(1, 32)" },
//!   "launch": { "global_size": "size", "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier", { "compute": "WG" } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &platforms::find)?;
//! let space = problem.space()?;
//! assert_eq!(space.bound.len(), 6);
//!
//! // The simulator states how long one configuration takes, in ticks.
//! use tickbound_simulator::{SimulateOptions, simulate};
//! let run = simulate(&problem, &space.bound[5], &SimulateOptions::default())?;
//! assert_eq!((space.bound[5].configuration.0[0], run.time), (32, 291));
//!
//! // The search finds the least time over all of them, and states who proved it.
//! use std::sync::atomic::AtomicBool;
//! use tickbound_model::verdict::Status;
//! use tickbound_solver::{SearchOptions, tune};
//! let result = tune(&problem, &SearchOptions::default(), &AtomicBool::new(false), &|known| {
//!     println!("at least {} ticks", known.bounds.lower);
//! })?;
//! assert_eq!((result.status, result.upper), (Status::Optimal, Some(88)));
//! let best = result.best.as_ref().expect("an optimum");
//! assert_eq!(problem.name_values(&best.configuration).to_string(), "WG=4");
//! // Six configurations are proved by running them all; in large spaces other proofs take over.
//! use tickbound_solver::Proof;
//! assert_eq!(result.proofs, [Proof::Simulation { configurations: 6 }]);
//!
//! // What `tickbound tune --json` prints.
//! let answer = tickbound_report::answer::tune::answer(&problem, &result);
//! assert!(answer.proved());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The search alone, without reports, is
//! `examples/tune_kernel.rs`; a search of one's own on a transition system is
//! `examples/custom_search.rs`.

pub mod commands;
