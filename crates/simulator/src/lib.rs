//! The reference semantics: runs one configuration of a problem up to its end.
//!
//! This module is the oracle of every encoding, so it is literal. It knows nothing of max-plus
//! algebra or of closed forms; each rule stands beside its source in one of the papers
//! (`docs/semantics.md` has the same in prose, with a worked example per profile).
//!
//! - `launch`: what each profile launches, on how many units, and which group a unit takes next;
//! - `group`: the elements of one unit between two barriers, and the barriers;
//! - `strand`: one work item, or one warp in lockstep, from one barrier to the next;
//! - `schedule`: open schedules: warps that compete for dispatchers and memory slots;
//! - `chooser`: who decides what a schedule leaves open;
//! - `script`: a schedule found elsewhere, followed decision by decision;
//! - `explore`: the least and the greatest time over all schedules;
//! - `resources`: the profile that counts resources instead of running items;
//! - `engine`: values of expressions, the count of events, the trace.
//!
//! ```
//! use indexmap::IndexMap;
//! use tickbound_model::Problem;
//! use tickbound_simulator::{SimulateOptions, simulate};
//!
//! // 8 items on 2 units of 2 elements: with groups of 4 each element runs 2 items, one after the
//! // other, and the barrier waits for the last.
//! let text = r#"{
//!   "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 5 },
//!   "parameters": { "WG": [4] },
//!   "launch": { "global_size": 8, "local_size": "WG" },
//!   "kernel": [ { "global": 1 }, "barrier",
//!               { "if": "lid == 0", "then": [ { "compute": 3 } ] } ] }"#;
//! let problem = Problem::from_json(text, &IndexMap::new(), &|_| unreachable!()).unwrap();
//! let bound = problem.bind(&IndexMap::from([("WG".to_owned(), 4)])).unwrap();
//! let run = simulate(&problem, &bound, &SimulateOptions::default()).unwrap();
//! assert_eq!(run.time, 2 * 5 + 3);
//! ```
//!
//! # Why repetition may be skipped
//!
//! [`SimulateOptions::skip_repetition`] replaces iterations that are known to be alike by one
//! multiplication. Nothing else is ever skipped. The argument:
//!
//! 1. *Expressions are constant.* No name an expression can mention changes while an item runs:
//!    there is no loop variable. So each statement has one value per item, each condition always
//!    chooses the same side, and each loop, whenever it is entered, starts with the same count.
//! 2. *The system is time-invariant.* What happens next depends on where each item stands (its
//!    frames), on how many iterations its open loops still have to do, and on the *age* of its mark
//!    (now minus mark); never on the time itself.
//! 3. *A counter is examined only at the end of an iteration*, and only to see whether it is 0.
//!    The counters of an item, outermost first, decrease lexicographically. So if at two moments
//!    all of an item's frames are equal but for one counter that is one less, then in between
//!    exactly one iteration of that loop has passed: an outer loop would show in its own
//!    counter, and inner loops were left and entered again with the same count.
//! 4. Hence, if at two moments `s` and `s + D` all items that can influence each other stand at the
//!    same statements, the counter of the same loop is one less for each of them, and each mark
//!    is *in the same state*, then the `k` iterations that all of them still have to do in this
//!    loop take `k * D` ticks, and lead to the same frames with that counter less `k`.
//!
//! A mark is in the same state at both moments if its age is equal (then it moves on by `k * D`
//! with the time), or if since the first moment its item has neither executed `mark` nor waited in
//! an `until` (then no such `until` will wait in the next iteration either, when the mark is older
//! still; the mark stays where it is).
//!
//! The same mechanism serves at two places. Between barriers an item runs by itself, so the moments
//! are the ends of an iteration of one item (`strand`). At a barrier all items of the group stand
//! at the same statement, so the moments are the releases of the same barrier (`group`). Program
//! runs (`published-2023`) and rounds of warps (`published-2021`) are iterations of an outermost
//! loop that sets the mark first; a round of other warps counts as alike only if no expression of
//! the kernel mentions `lid` or `gid`. Groups and activations that mention neither `gid` nor
//! `group` start from equal states, hence each takes as long as the first.
//!
//! While a trace has room nothing that takes time is skipped. Under an open schedule warps
//! influence each other between barriers, too, so there only iterations without time are skipped.

mod chooser;
mod engine;
mod error;
mod explore;
mod group;
mod launch;
mod list_scheduler;
mod regions;
mod resources;
mod run;
mod schedule;
mod script;
mod simulate;
mod strand;
mod trace;
mod uniform_regions;

pub use chooser::{Chooser, Decision, FirstCome, Scripted};
pub use error::SimulateError;
pub use explore::{ExploreLimits, Explored, explore};
pub use resources::{
    Bottleneck, OccupancyLimit, PARTS, Resource, ResourceTime, of_lines, program, resource_time,
    used, used_of,
};
pub use run::{MAX_ITEMS, MAX_UNITS, SimulateOptions, SimulatedRun};
pub use script::Script;
pub use simulate::{simulate, simulate_with};
pub use trace::{MAX_SPANS, Span, SpanKind, Trace, WarpTicks};
