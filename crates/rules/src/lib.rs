//! Few configurations for many sizes of a problem, and a rule that picks one for each size.
//!
//! The loss of a rule at a size is the time of the configuration that it picks, divided by the
//! least time of all configurations at that size, minus 1. The least time is proved at each size,
//! so the greatest loss is proved as well.
//!
//! - [`RuleSizes`]: the sizes, which become the first parameters of the problem;
//! - [`Rule`]: the configurations and what is proved of them, found by [`rule`];
//! - [`ClosedForm`]: the time of one configuration as an expression over the sizes, which emitted
//!   code evaluates to pick the configuration that takes least;
//! - [`DecisionTree`]: comparisons of sizes with numbers that pick one instead;
//! - [`Mix`]: one configuration for several sizes that are launched with known frequencies;
//! - [`emit`]: a configuration or a rule as code.

mod closed_form;
mod cover;
pub mod emit;
mod mix;
mod request;
mod search;
mod sizes;
mod times;
mod tree;

pub use closed_form::{ClosedForm, SizeExpr};
pub use mix::{Mix, MixRequest, mix};
pub use request::{RuleError, RuleRequest};
pub use search::{Rule, Worst, rule};
pub use sizes::{MAX_SIZES, RuleSizes, SizesError};
pub use tree::{DecisionTree, Feature};
