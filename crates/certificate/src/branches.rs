//! The proof by branch and bound: its form in a file, and its checker.
//!
//! A proof is a tree of boxes. The root has every value of every parameter; a branch cuts a box in
//! two at a value of one parameter; and in each leaf either some condition fails for all its
//! choices, or the run time is at least the time claimed, by interval arithmetic on the sum, or on
//! tables of the steps of the profile `resources`.
//! Nothing else is in the file than where the boxes are cut.
//!
//! It is for spaces whose conditions are over too many parameters at once for
//! [`crate::inequalities`].

use serde::{Deserialize, Serialize};
use tickbound_expr::Expr;
use tickbound_expr::interval::Interval;
use tickbound_model::problem::Parameter;

use crate::refusal::Refusal;
use tickbound_timing::obligation::product::Factor;
use tickbound_timing::obligation::{Obligation, Time, TimePart};
use tickbound_timing::parameter_box::{set_box, whole_box};
use tickbound_timing::{ParameterBox, StepBounds};

/// How many boxes pass between two looks at whether to stop.
const PATIENCE: usize = 1 << 10;

/// A proof that no configuration takes fewer ticks than claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branches {
    /// The tree, a box before what it is cut into, and the lower side before the upper one. A
    /// branch is the name of a parameter and the greatest value of its lower side; a leaf is
    /// nothing.
    pub boxes: Vec<Option<(String, i64)>>,
}

/// Boxes of an obligation's choices.
pub(crate) struct Boxes<'o, 'p> {
    obligation: &'o Obligation<'p>,
    /// Bounds of the time under the profile `resources`.
    steps: Option<StepBounds>,
}

impl<'o, 'p> Boxes<'o, 'p> {
    pub fn new(obligation: &'o Obligation<'p>) -> Boxes<'o, 'p> {
        Boxes { obligation, steps: obligation.step_bounds() }
    }

    /// The parameter along which a box is cut best; `None` if it is a single choice.
    pub fn widest(&self, of: &ParameterBox) -> Option<usize> {
        let open = |p: &usize| of[*p].0 < of[*p].1;
        match &self.steps {
            Some(steps) => steps.order().iter().copied().find(open),
            None => {
                let width = |p: &usize| (of[*p].1 - of[*p].0, usize::MAX - p);
                (0..of.len()).filter(open).max_by_key(width)
            }
        }
    }

    /// True if no valid configuration in a box takes fewer than `time` ticks, by its bounds.
    pub fn is_closed(&self, of: &ParameterBox, time: i64) -> bool {
        let (obligation, problem) = (self.obligation, self.obligation.problem);
        let mut slots: Vec<Interval> =
            problem.base_env().into_iter().map(Interval::point).collect();
        set_box(&mut slots[problem.first_parameter()..], of, &obligation.values);
        if obligation.conditions.iter().any(|c| c.surely_fails(problem, &slots)) {
            return true;
        }
        let group = match self.steps.as_ref().map(|steps| steps.least(of)) {
            Some(None) => return true,
            Some(Some(i64::MIN)) => None,
            Some(Some(ticks)) => Some(i128::from(ticks)),
            None => group_least(&obligation.time, &slots),
        };
        let all = group.and_then(|group| least(&obligation.time, group, &slots));
        all.is_some_and(|ticks| ticks >= i128::from(time))
    }
}

/// The fewest ticks that a group may take; `None` if something in it may have no value.
fn group_least(time: &Time, of: &[Interval]) -> Option<i128> {
    time.group.iter().try_fold(0i128, |sum, part| sum.checked_add(of_part(part, of)?))
}

/// The fewest ticks of a launch, given those of a group; `None` if something in it may have no
/// value.
fn least(time: &Time, group: i128, of: &[Interval]) -> Option<i128> {
    let group = group.checked_add(i128::from(time.start))?;
    let waves = time.waves.range(of);
    let waves = waves.values.filter(|_| !waves.may_fail)?.low.max(0);
    let all = group.checked_mul(i128::from(waves))?.checked_add(i128::from(time.launch))?;
    all.checked_add(of_part(&time.finish, of)?)
}

fn of_part(part: &TimePart, of: &[Interval]) -> Option<i128> {
    let mut sum = 0i128;
    for product in &part.products {
        let mut least = 1i128;
        for factor in &product.factors {
            let (low, high) = bounds(factor, of)?;
            least = least.checked_mul(low)?;
            // What follows a 0 need not have a value.
            if high == 0 {
                break;
            }
        }
        sum = sum.checked_add(least)?;
    }
    Some(sum)
}

/// The least and the greatest value of a factor.
fn bounds(factor: &Factor, of: &[Interval]) -> Option<(i128, i128)> {
    let values = |e: &Expr| {
        let range = e.range(of);
        range.values.filter(|_| !range.may_fail)
    };
    Some(match factor {
        Factor::Guard(e, holds) => {
            let verdict = e.truth(of);
            let (yes, no) = (verdict.may_hold, verdict.may_not_hold);
            let (yes, no) = if *holds { (yes, no) } else { (no, yes) };
            (!verdict.may_fail).then_some((i128::from(!no), i128::from(yes)))?
        }
        Factor::Count(e) => values(e).map(|v| (v.low.max(0).into(), v.high.max(0).into()))?,
        Factor::Amount(e) => {
            values(e).filter(|v| v.low >= 0).map(|v| (v.low.into(), v.high.into()))?
        }
        // It has a value for a single choice of its parameters.
        Factor::Phase(phase) => {
            let open = |slot: &usize| *slot != phase.item && of[*slot].low != of[*slot].high;
            if phase.expressions().any(|e| e.mentions(|slot| open(&slot))) {
                return None;
            }
            let env: Vec<i64> = of.iter().map(|v| v.low).collect();
            phase.value(&env).ok().map(|value| (value, value))?
        }
        // It is bounded by tables of its steps, elsewhere.
        Factor::Chain(_) => return None,
    })
}

/// Checks that a proof proves: no valid configuration takes fewer than `time` ticks. Returns the
/// number of leaves.
///
/// # Errors
/// A leaf that is not closed, a cut where there is none, boxes that are missing or left over, a
/// stop.
pub fn check(
    obligation: &Obligation<'_>,
    proof: &Branches,
    time: i64,
    stop: &dyn Fn() -> bool,
) -> Result<usize, Refusal> {
    let wrong = |n: usize, what: String| Refusal::wrong(format!("boxes[{n}]: {what}"));
    let boxes = Boxes::new(obligation);
    let mut open: Vec<ParameterBox> = whole_box(&obligation.values).into_iter().collect();
    let mut leaves = 0;
    for (n, cut) in proof.boxes.iter().enumerate() {
        if n % PATIENCE == PATIENCE - 1 && stop() {
            return Err(Refusal::Stopped);
        }
        let Some(next) = open.pop() else { return Err(wrong(n, "belongs to no box".into())) };
        match cut {
            None if boxes.is_closed(&next, time) => leaves += 1,
            None => {
                let what =
                    format!("fewer than {time} ticks are not excluded{}", shown(obligation, &next));
                return Err(wrong(n, what));
            }
            Some((name, value)) => {
                let (lower, upper) = halves(obligation, &next, (name, *value))
                    .ok_or_else(|| wrong(n, format!("cannot be cut at {name} = {value}")))?;
                open.extend([upper, lower]);
            }
        }
    }
    match open.pop() {
        Some(left) => {
            Err(wrong(proof.boxes.len(), format!("is missing{}", shown(obligation, &left))))
        }
        None => Ok(leaves),
    }
}

/// A box cut above a value of a parameter; `None` if one side would be empty.
pub(crate) fn halves(
    obligation: &Obligation<'_>,
    of: &ParameterBox,
    (name, value): (&str, i64),
) -> Option<(ParameterBox, ParameterBox)> {
    let place = obligation.problem.parameters.iter().position(|p| p.name == name)?;
    let at = obligation.index(place, value)?;
    let (first, last) = of[place];
    let (mut lower, mut upper) = (of.clone(), of.clone());
    (lower[place], upper[place]) = ((first, at), (at + 1, last));
    (first <= at && at < last).then_some((lower, upper))
}

/// A box in words, for messages.
fn shown(obligation: &Obligation<'_>, of: &ParameterBox) -> String {
    let names = obligation.problem.parameters.iter().zip(of).zip(&obligation.values);
    let one = |((p, (first, last)), values): ((&Parameter, &(u32, u32)), &Vec<i64>)| {
        let (low, high) = (values[*first as usize], values[*last as usize]);
        match first == last {
            true => format!("{}={low}", p.name),
            false => format!("{}={low}..{high}", p.name),
        }
    };
    let all: Vec<String> = names.map(one).collect();
    if all.is_empty() { String::new() } else { format!(" for {}", all.join(", ")) }
}
