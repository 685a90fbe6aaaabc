//! tickbound: the least run time of an OpenCL kernel, found and proved from its timing model.
//!
//! The pure part - problems, the reference simulator, the encodings - is the crate
//! [`tickbound_encodings`]; here are the engines that use them and the command line.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use indexmap::IndexMap;
//! use tickbound_solve::{Options, tune};
//! use tickbound_model::Problem;
//!
//! let text = r#"{ "inputs": { "size": 64 },
//!   "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4, "group_start": 3 },
//!   "parameters": { "WG": "powers_of_two(1, 32)" },
//!   "launch": { "global_size": "size", "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier", { "compute": "WG" } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &tickbound_model::platforms::find).unwrap();
//! let result = tune(&problem, &Options::default(), &AtomicBool::new(false), &|_| {}).unwrap();
//! assert_eq!(result.upper, Some(88));
//! assert_eq!(result.best.unwrap().configuration.0, [4]);
//! ```

pub mod answer;
pub mod calibrate;
pub mod cli;
pub mod compare;
pub mod cp_sat;
pub mod device;
pub mod machine;
pub mod measure;
pub mod reo;
pub mod report;
mod utc;
