//! Why the least time is what it is: what bounds it, and what would change it.
//!
//! The answer to a tuning problem is a number and a configuration. This module asks the questions
//! that come after it, each by a search or its own simulation on a problem that is changed in
//! one place:
//!
//! - [`spent`]: the best configuration again, with one kind of statement, or one part of the
//!   profile `resources`, left out;
//! - [`constraints`]: the search again, with constraints left out;
//! - [`numbers`]: the search again, with one number of the platform one unit better.
//!
//! Nothing is concluded from an unfinished search: its [`Finding`] states that. [`words`]
//! writes all of it as text, [`page`] as a page.

pub mod constraints;
pub mod numbers;
pub mod page;
pub mod search;
pub mod spent;
pub mod words;

pub use search::{SearchEvent, Searches, WhyObserver, WhyRequest};
pub use tickbound_report::answer::why::{Finding, Verdict, Why};

use tickbound_model::verdict::Status;
use tickbound_solver::SolveError;

/// Finds the least time and its reasons. Reports what is known after every step; when the time is
/// up or the user interrupts, unfinished parts stay [`Verdict::NotKnown`].
pub fn why(asked: &WhyRequest<'_>, observer: &WhyObserver<'_>) -> Result<Why, SolveError> {
    let result = asked.searches.first(asked.problem, observer)?;
    let mut why = Why::begun(asked.problem, asked.fixed, &result);
    if why.status == Status::Optimal {
        why.platform = numbers::asked(asked.problem);
    }
    (observer.why)(&why);
    match why.status {
        // Without a least time nothing can be explained.
        Status::Bounded => {}
        Status::Infeasible => constraints::leave_out(asked, observer, &mut why)?,
        Status::Optimal => {
            spent::look(asked, &mut why);
            (observer.why)(&why);
            constraints::leave_out(asked, observer, &mut why)?;
            numbers::change(asked, observer, &mut why)?;
        }
    }
    why.ended(asked.searches.since.elapsed().as_secs_f64());
    Ok(why)
}
