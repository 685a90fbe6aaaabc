//! Finding a proof by branch and bound.
//!
//! The time is known, so there is nothing to search for: boxes are cut in halves until each is
//! closed. Nothing here need be right: [`crate::branches`] checks what comes out.

use tickbound_timing::ParameterBox;
use tickbound_timing::parameter_box::whole_box;

use crate::branches::{Boxes, Branches, halves};
use crate::refusal::Refusal;
use tickbound_timing::obligation::Obligation;

/// Most boxes of a proof: a file of a few megabytes.
const MAX_BOXES: usize = 1 << 18;

/// A proof that nothing takes fewer than `time` ticks.
///
/// # Errors
/// Too many boxes, a choice that is not closed by itself, or a stop.
pub fn branch(
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<Branches, Refusal> {
    let mut boxes = Vec::new();
    let of = Boxes::new(obligation);
    let mut open: Vec<ParameterBox> = whole_box(&obligation.values).into_iter().collect();
    while let Some(next) = open.pop() {
        if boxes.len() >= MAX_BOXES {
            return Err(Refusal::TooLarge("a tree of too many boxes"));
        }
        if stop() {
            return Err(Refusal::Stopped);
        }
        if of.is_closed(&next, time) {
            boxes.push(None);
            continue;
        }
        let Some(place) = of.widest(&next) else {
            return Err(Refusal::TooLarge("a choice that intervals do not decide"));
        };
        let (first, last) = next[place];
        let name = obligation.problem.parameters[place].name.clone();
        let value = obligation.values[place][(first + (last - first) / 2) as usize];
        let (lower, upper) = halves(obligation, &next, (&name, value))
            .ok_or_else(|| Refusal::wrong("a box that cannot be cut at its middle"))?;
        open.extend([upper, lower]);
        boxes.push(Some((name, value)));
    }
    Ok(Branches { boxes })
}
