//! Boxes of work items that do the same.
//!
//! In go the expressions of a kernel and one configuration. The items of its launch are the points
//! of a box: its [`Axes`] are those of groups and those of items, in as many dimensions as the
//! expressions take `group` and `lid` apart. Over a part of this box, a [`Region`], an expression
//! is a linear [`LinearForm`] of the place, or the result is where the region has to be
//! [cut](Stop::Cut) so that both sides come closer to one.
//!
//! What it promises: the form has the expression's value at every item of the region, and no item
//! has a fault there. So a guard is decided by the corners of a region, and what a launch of 2^30
//! items does is known from a few regions.

mod axes;
mod bounds;
mod count;
mod form;
mod known;
mod value;

pub use axes::{Axes, IndexAxis, Region};
pub use count::groups_where;
pub use form::{LinearForm, MAX_AXES};
pub use known::Stop;
pub use value::{truth, value};
