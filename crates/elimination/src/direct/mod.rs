//! Least costs where variables share something: a budget, a maximum, a product, an order.
//!
//! A [`DirectForm`] is a sum of tables over a few variables each, with *accumulators* beside the
//! cost: sums, products and maxima of tables of their own. An accumulator is
//! [limited](AccumulatorLimit), or enters the cost through a monotone [`CostPart`], a price times a
//! product times a maximum of sums.
//! Elimination alone would need tables over all variables that share an accumulator. Here it is
//! done in four steps, of which each uses those before:
//!
//! 1. `path`: the variables in a sequence, the form as a layered graph. A path through the graph
//!    is an assignment.
//! 2. `relax`: each limit has a price, each maximum is divided among its sums. What remains is a
//!    sum along a path, whose least value is a lower bound of all costs. `prices` finds good prices
//!    by subgradients (M. Held, P. Wolfe, H. P. Crowder, *Validation of subgradient optimization*,
//!    Mathematical Programming 6, 1974), and arcs are removed that no better path has.
//! 3. `descend`: coordinate descent with penalties, from where the relaxation is least.
//! 4. `labels`: elimination in the sequence, but a message has a Pareto front of costs and
//!    accumulators for each row instead of one cost. A label goes if another is no worse in
//!    everything, or if its lower bound reaches the best cost. (M. Desrochers and F. Soumis, *A
//!    generalized permanent labelling algorithm for the shortest path problem with time windows*,
//!    INFOR 26, 1988.)
//!
//! Where tables of pairs have a pathwidth that is too large, and there are no other accumulators,
//! `pairs` moves costs between them until their least values add up to the least cost.

mod answer;
mod descend;
mod form;
mod labels;
mod pairs;
mod path;
mod prices;
mod relax;
mod solve;

pub use answer::{Known, LabelCover, Near, Solved};
pub use form::{
    Accumulator, AccumulatorLimit, AccumulatorOp, CostPart, DirectForm, FORBIDDEN, FormTable, Sense,
};
