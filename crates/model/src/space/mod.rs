//! The space of configurations: every choice of parameters that satisfies the constraints.
//!
//! [`Problem::space`](crate::Problem::space) lists it;
//! [`Problem::configurations`](crate::Problem::configurations) is a structure that counts it, draws
//! from it and looks things up in it without a list.

mod conditions;
mod launchable;
mod list;
mod structure;
mod tabulate;

pub use conditions::{Condition, ConditionFault, Holds};
pub use launchable::LeftOut;
pub use list::{Bound, Configuration, LaunchSize, MAX_CHOICES, MAX_CONFIGURATIONS, Space};
pub use structure::Configurations;
