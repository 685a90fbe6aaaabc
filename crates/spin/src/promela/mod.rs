//! A tuning problem written out in Promela, for SPIN.
//!
//! In goes a [`Problem`] with its [`Space`], out comes a [`Model`]: a text whose runs are the runs
//! of the problem. It chooses a configuration, lets time pass in a global `time`, and sets `FIN`
//! when everything has ended; then `time` is the run time that [`tickbound_simulator`] computes.
//! The text has the two properties of Garanina, Staroletov and Gorlatch 2023: `NonTerm`, `[] !FIN`,
//! and `OverTime`, `[] (FIN -> time > T)`. SPIN refutes `OverTime` exactly if some configuration,
//! under some schedule, ends within `T` ticks. So SPIN can confirm a least time, and the way there
//! does not touch any of the encodings.
//!
//! There are two [`Style`]s. `processes` has the processes of the paper. `lockstep` has one
//! process, whose steps lead from one moment at which something happens to the next.
//!
//! Promela is small, and silent about what it cannot hold. Types are chosen from the values that
//! occur, every expression is compared with what C computes for every configuration and work item,
//! and what does not fit is an error that states what to shrink ([`PromelaError`]).
//!
//! The rooms: `layout` lays a launch out over units and elements; `facts`, `expression`, `table`
//! and `amounts` carry numbers over; `names` and `width` choose names and types; `declarations`
//! chooses the parameters; `program` walks kernel programs, which become a `graph` of places or the
//! `body` of a process; `closed` and `open` put the models together, and `model` fills their
//! templates. `docs/promela.md` has the arguments.

mod amounts;
mod body;
mod closed;
mod declarations;
mod error;
mod expression;
mod facts;
mod graph;
mod layout;
mod lines;
mod model;
mod names;
mod open;
mod program;
mod table;
mod width;

use tickbound_model::{Problem, Space};
use tickbound_simulator::{SimulateOptions, simulate};

pub use error::PromelaError;
use facts::Facts;
pub use model::{Model, PromelaName, PromelaOptions, Style};

/// Writes `problem` over `space` in Promela.
///
/// Every configuration is simulated once, for the width of `time`.
///
/// # Errors
/// A fault of the problem that shows in a configuration, or something that Promela cannot hold.
pub fn export(
    problem: &Problem,
    space: &Space,
    options: &PromelaOptions,
) -> Result<Model, PromelaError> {
    if space.bound.is_empty() {
        return Err(PromelaError::EmptySpace);
    }
    let (open, mut first, mut most) = (problem.has_open_schedule(), None, 0);
    for bound in &space.bound {
        let time = simulate(problem, bound, &SimulateOptions::default())?.time;
        first.get_or_insert(time);
        most = most.max(if open { open::longest(problem, bound)? } else { time });
    }
    let facts = Facts::new(problem, space, (first.unwrap_or(0), most))?;
    if open { open::write(&facts, options.style) } else { closed::write(&facts, options.style) }
}
