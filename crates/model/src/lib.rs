//! The tuning problem: platform, kernel program, launch, parameters and constraints.
//!
//! A problem comes in as JSON and goes out as a [`Problem`] whose names are resolved and whose
//! shape is checked; [`Problem::space`] lists its valid configurations, [`Problem::bind`] puts one
//! in. Nothing here knows how time passes: that is in the crate `tickbound-simulator` and
//! once by each encoding.
//!
//! ```
//! use indexmap::IndexMap;
//! use tickbound_model::Problem;
//!
//! let text = r#"{ "inputs": { "size": 64 },
//!   "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 },
//!   "parameters": { "WG": "powers_of_two(1, 8)" },
//!   "launch": { "global_size": "size", "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier", { "compute": "WG" } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &|_| unreachable!()).unwrap();
//! assert_eq!(problem.space().unwrap().bound.len(), 4);
//! ```

mod build;
pub mod count;
pub mod error;
mod fixed;
pub mod floor;
mod json;
pub mod kernel;
mod launch_rule;
pub mod least;
pub mod platform;
pub mod platforms;
pub mod problem;
pub mod quantity;
pub mod random;
mod read;
pub mod region;
pub mod resource_profile;
pub mod resources;
pub mod scope;
mod shared_parts;
pub mod source;
pub mod space;
mod special;
pub mod t1;
mod uniformity;
pub mod usage;
pub mod verdict;
mod write;

pub use build::MAX_BUILT_DEPTH;
pub use error::ModelError;
pub use floor::{Caches, Floor, FloorTerm};

pub use kernel::{Program, Stmt, StmtKind};
pub use launch_rule::{GroupNeeds, LaunchLimit};
pub use least::{LeastCount, LeastUsage};
pub use platform::{AccessKind, Platform, Warps};
pub use problem::{Dimension, Launch, NamedSize, Parameter, Problem, Profile};
pub use resources::{Part, Resources};
pub use source::KernelSource;
pub use space::{Bound, Configuration, Configurations, LaunchSize, LeftOut, Space};
pub use special::special;
pub use usage::{LineUsage, Usage};
