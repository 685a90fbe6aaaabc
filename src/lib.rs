//! tickbound: the least run time of an OpenCL kernel, found and proved from its timing model.
//!
//! The libraries do the work, and each can be used alone:
//!
//! | crate | what it does |
//! | --- | --- |
//! | [`tickbound_model`] | problems, their space, and the simulator that says what a run time is |
//! | [`tickbound_encodings`] | plans, transition systems, encodings, lower bounds |
//! | [`tickbound_solver`] | the search with Z3 and its proof |
//! | [`tickbound_spin`] | the same problem for SPIN |
//! | [`tickbound_opencl`] | kernels in OpenCL C, read as kernel programs |
//! | [`tickbound_reo`] | connectors as constraint automata |
//!
//! Here is what needs a command line, files, devices or plots: [`answer`] is the JSON contract,
//! [`measure`] and [`calibrate`] run kernels, [`compare`] puts engines side by side, [`why`] asks what a least time hangs on, [`report`] draws.
//! The features `cli`, `device` and `plots` bring them; with `default-features = false` there is [`answer`]
//! and what needs neither devices nor fonts.
//!
//! # From a problem to a proved answer
//!
//! A problem says what the kernel does, on which platform, and which parameters there are:
//!
//! ```
//! use indexmap::IndexMap;
//! use tickbound_model::{Problem, platforms};
//!
//! let text = r#"{ "name": "a group reads, then computes",
//!   "inputs": { "size": 64 },
//!   "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4, "group_start": 3 },
//!   "parameters": { "WG": "powers_of_two(1, 32)" },
//!   "launch": { "global_size": "size", "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier", { "compute": "WG" } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &platforms::find)?;
//! let space = problem.space()?;
//! assert_eq!(space.bound.len(), 6);
//!
//! // The simulator says how long one configuration takes, in ticks.
//! use tickbound_simulator::simulate;
//! let run = simulate(&problem, &space.bound[5], &tickbound_simulator::Options::default())?;
//! assert_eq!((space.bound[5].configuration.0[0], run.time), (32, 291));
//!
//! // The search finds the least time over all of them, and says who proved that nothing is faster.
//! use std::sync::atomic::AtomicBool;
//! use tickbound_model::verdict::Status;
//! use tickbound_solver::{Options, tune};
//! let result = tune(&problem, &Options::default(), &AtomicBool::new(false), &|known| {
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
//! let answer = tickbound::answer::tune::answer(&problem, &result);
//! assert!(answer.proved());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same without this crate, and so without a command line, plots and devices, is
//! `examples/tune_kernel.rs`; a search of one's own on a transition system is
//! `examples/custom_search.rs`.

pub mod answer;
#[cfg(all(feature = "device", feature = "plots"))]
pub mod calibrate;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "plots")]
pub mod compare;
#[cfg(feature = "cli")]
mod compiler;
pub mod cp_sat;
#[cfg(feature = "device")]
pub mod device;
pub mod machine;
#[cfg(feature = "device")]
pub mod measure;
#[cfg(all(feature = "device", feature = "plots"))]
pub mod reo;
#[cfg(feature = "plots")]
pub mod report;
#[cfg(all(test, feature = "device", feature = "plots"))]
mod schema;
#[cfg(feature = "device")]
mod utc;
#[cfg(feature = "plots")]
pub mod why;
