//! Encodings of tuning problems as bounded transition systems.
//!
//! A [`Problem`](tickbound_model::Problem) becomes a [`plan::Plan`], one program for a few threads
//! that represent all processing elements, and the plan becomes a [`system::System`] by one of the
//! encodings of [`Encoding`]. This crate is pure: it starts no solver, opens no file and knows no
//! device. The soundness arguments are in `docs/encodings.md`.
//!
//! ```
//! use indexmap::IndexMap;
//! use tickbound_encodings::{Encoding, plan::Plan, system::run::run};
//! use tickbound_model::Problem;
//!
//! let text = r#"{
//!   "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 4 },
//!   "parameters": { "WG": [4, 8] },
//!   "launch": { "global_size": 64, "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier", { "compute": "WG" } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &|_| unreachable!())?;
//! let plan = Plan::new(&problem, &problem.space()?)?;
//! for encoding in Encoding::ALL {
//!     let system = encoding.encode(&plan)?.system;
//!     assert_eq!(run(&system, 0, 10_000)?.cost, 16 * (4 + 4), "{encoding}, WG=4");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounds;
pub mod btor2;
mod encoded;
mod encoding;
pub mod event;
mod machine;
pub mod max_plus;
pub mod plan;
mod queue;
#[cfg(feature = "oracle")]
#[path = "../tests/schedule/mod.rs"]
pub mod schedule;
pub mod summary;
pub mod system;
pub mod tick;

pub use encoded::{CLOSED_STEPS, EncodeError, Encoded, EncodingReport};
pub use encoding::Encoding;
