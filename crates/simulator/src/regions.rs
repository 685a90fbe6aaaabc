//! The pieces of a launch in which groups do the same.
//!
//! What goes in is a launch of many groups, and a way to run a single one on some of its elements.
//! What comes out is when the last group ends, or nothing where pieces are as many as groups.
//!
//! 1. The launch is cut into boxes of groups ([`tickbound_model::region`]) in which every item
//!    takes the same sides of all branches, and every amount is linear in the place of the group.
//!    Items need not be alike.
//! 2. In such a box the ticks of a group are a convex function of its place: sums and maxima of
//!    linear functions, repeated as often everywhere. A loop may run differently often if what it
//!    repeats is the same for all groups and nothing waits for a mark: after its first iteration
//!    each takes as long as the one before.
//! 3. A convex function that agrees with a linear one at the corners of a box and at one point
//!    inside is that linear function. So a few groups are simulated, and the rest is known. Where
//!    they do not agree the box is cut. Of elements that run the same items in the same order one
//!    is simulated.
//! 4. The groups are handed to the units in order, many at a time ([`super::list_scheduler`]).

use std::collections::HashMap;

use super::SimulateError;
use super::engine::Engine;
use super::list_scheduler::{Ramp, Units};
use super::uniform_regions::{Alike, Look};
use tickbound_model::kernel::expressions;
use tickbound_model::region::{Axes, IndexAxis};
use tickbound_model::{LaunchSize, special};

/// Most statements that are examined, each in each box of groups and items.
const MAX_LOOKS: usize = 1 << 20;
/// Most stretches of groups that are handed out.
const MAX_STRETCHES: usize = 1 << 22;
/// Most rows after which the units are remembered.
const MAX_SEEN: usize = 1 << 10;

/// Groups that lie in a box, and what they take: linear in their place.
#[derive(Debug, Clone)]
struct Piece {
    /// First and last number on each axis of groups.
    sides: Vec<(i64, i64)>,
    /// Ticks of the first of them.
    ticks: i64,
    /// What one more on each axis adds.
    slopes: Vec<i64>,
}

impl Piece {
    /// Ticks of the group at a place.
    fn at(&self, place: &[i64]) -> i128 {
        let steps = place.iter().zip(&self.sides).zip(&self.slopes);
        let more = steps.map(|((x, (first, _)), slope)| i128::from(x - first) * i128::from(*slope));
        i128::from(self.ticks) + more.sum::<i128>()
    }
}

/// Simulates one group on the elements that represent all others; returns its ticks.
pub(super) type One<'o, 'p> =
    dyn FnMut(&mut Engine<'p>, i64, Option<&[i64]>) -> Result<i64, SimulateError> + 'o;

/// When the last group ends; `None` if its pieces are too many, or some item may have a fault.
///
/// `elements` is how many a unit has, where element e runs items e, e + elements, and so on.
pub(super) fn run<'p>(
    engine: &mut Engine<'p>,
    units: Units,
    elements: Option<i64>,
    one: &mut One<'_, 'p>,
) -> Result<Option<i64>, SimulateError> {
    let (problem, bound) = (engine.problem, engine.bound);
    let LaunchSize::Range { global, local } = bound.launch else { return Ok(None) };
    let (first, mut all, mut groups_differ) = (problem.first_item_slot(), Vec::new(), false);
    let kernel = special(&problem.kernel, &bound.env, first);
    expressions(&kernel, &mut |_, e| {
        groups_differ |= e.mentions(|slot| slot > first);
        all.push(e);
    });
    // To look at items one by one is no better than to run them.
    let boxes = 8 + usize::try_from(local / 16).unwrap_or(0);
    let most = if groups_differ { MAX_LOOKS } else { boxes * (all.len() + 1) };
    let axes = Axes::new(first, &bound.env, [global, local], all);
    let Some(boxes) = Look::new(&kernel, bound, &axes, elements, most).boxes() else {
        return Ok(None);
    };
    let mut known = HashMap::new();
    let axes = &axes.all[..axes.of_groups];
    let mut pieces = Vec::new();
    for alike in boxes {
        let mut ticks = |serial| match known.get(&serial) {
            Some(ticks) => Ok(*ticks),
            None => {
                let ticks = one(engine, serial, alike.elements.as_deref())?;
                known.insert(serial, ticks);
                Ok(ticks)
            }
        };
        straight(axes, &alike, &mut ticks, &mut pieces)?;
    }
    let mut launch = Launch { axes, units, left: MAX_STRETCHES };
    match launch.play(0, &pieces.iter().collect::<Vec<_>>(), &mut Vec::new()) {
        Ok(()) => Ok(Some(launch.units.last())),
        Err(TooMany::Groups) => Ok(None),
        Err(TooMany::Ticks) => Err(engine.overflow("launch")),
    }
}

/// Cuts a box until the ticks of its groups are linear in their place.
fn straight(
    axes: &[IndexAxis],
    alike: &Alike,
    ticks: &mut dyn FnMut(i64) -> Result<i64, SimulateError>,
    pieces: &mut Vec<Piece>,
) -> Result<(), SimulateError> {
    let mut open = vec![alike.sides.clone()];
    while let Some(sides) = open.pop() {
        let length = |axis: &usize| sides[*axis].1 - sides[*axis].0;
        let differing: Vec<usize> =
            (0..sides.len()).filter(|a| alike.varies[*a] && length(a) > 0).collect();
        let longest = differing.iter().copied().max_by_key(length);
        match (linear(axes, &sides, &differing, ticks)?, longest) {
            (None, Some(axis)) => {
                let (first, last) = sides[axis];
                let (mut below, mut above) = (sides.clone(), sides);
                below[axis].1 = first + (last - first) / 2;
                above[axis].0 = below[axis].1 + 1;
                open.extend([above, below]);
            }
            (piece, _) => pieces.extend(piece),
        }
    }
    Ok(())
}

/// The groups of a box as one piece, if its corners and a point inside agree.
fn linear(
    axes: &[IndexAxis],
    sides: &[(i64, i64)],
    differing: &[usize],
    ticks: &mut dyn FnMut(i64) -> Result<i64, SimulateError>,
) -> Result<Option<Piece>, SimulateError> {
    let serial = |place: &[i64]| axes.iter().zip(place).map(|(a, x)| a.stride * x).sum::<i64>();
    let mut place: Vec<i64> = sides.iter().map(|(first, _)| *first).collect();
    let first = ticks(serial(&place))?;
    let mut piece = Piece { sides: sides.to_vec(), ticks: first, slopes: vec![0; sides.len()] };
    for axis in differing {
        let (low, high) = sides[*axis];
        // A box of which no point lies inside decides nothing, but for two groups.
        if high - low < 2 && differing.len() > 1 {
            return Ok(None);
        }
        place[*axis] = high;
        let more = ticks(serial(&place))? - first;
        place[*axis] = low;
        if more % (high - low) != 0 {
            return Ok(None);
        }
        piece.slopes[*axis] = more / (high - low);
    }
    // The other corners, and the point next to the first.
    let far = |chosen: usize, at: &dyn Fn((i64, i64)) -> i64| {
        let mut there = place.clone();
        let chosen = differing.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1);
        chosen.for_each(|(_, axis)| there[*axis] = at(sides[*axis]));
        there
    };
    let all = (1usize << differing.len()) - 1;
    let corners = (1..=all).filter(|c| c.count_ones() > 1).map(|c| far(c, &|(_, high)| high));
    for place in corners.chain([far(all, &|(low, _)| low + 1)]) {
        if i128::from(ticks(serial(&place))?) != piece.at(&place) {
            return Ok(None);
        }
    }
    Ok(Some(piece))
}

/// Hands groups to units.
struct Launch<'l> {
    axes: &'l [IndexAxis],
    units: Units,
    /// How many stretches of groups may still be handed out.
    left: usize,
}

/// Why groups are not handed out.
enum TooMany {
    /// Time leaves 63 bits.
    Ticks,
    /// They differ too often.
    Groups,
}

impl Launch<'_> {
    /// Plays the groups of pieces that are alike on axes from `axis` on; `place`: those before.
    fn play(
        &mut self,
        axis: usize,
        pieces: &[&Piece],
        place: &mut Vec<i64>,
    ) -> Result<(), TooMany> {
        let mut rest: Vec<&Piece> = pieces.to_vec();
        rest.sort_by_key(|p| std::cmp::Reverse(p.sides[axis].0));
        let mut at = rest.last().map_or(0, |p| p.sides[axis].0);
        let mut here: Vec<&Piece> = Vec::new();
        while !rest.is_empty() || here.iter().any(|p| p.sides[axis].1 >= at) {
            here.retain(|p| p.sides[axis].1 >= at);
            while rest.last().is_some_and(|p| p.sides[axis].0 <= at) {
                here.extend(rest.pop());
            }
            // Up to where the next piece begins or one of these ends.
            let begins = rest.last().map_or(i64::MAX, |p| p.sides[axis].0);
            let last = here.iter().map(|p| p.sides[axis].1).fold(begins - 1, i64::min);
            self.stretch(axis, &here, place, (at, last))?;
            at = last + 1;
        }
        Ok(())
    }

    /// Plays a stretch of one axis over which the pieces stay the same.
    fn stretch(
        &mut self,
        axis: usize,
        pieces: &[&Piece],
        place: &mut Vec<i64>,
        (first, last): (i64, i64),
    ) -> Result<(), TooMany> {
        self.left = self.left.checked_sub(1).ok_or(TooMany::Groups)?;
        if let (true, [piece]) = (axis + 1 == self.axes.len(), pieces) {
            place.push(first);
            let ticks = i64::try_from(piece.at(place)).map_err(|_| TooMany::Ticks)?;
            place.pop();
            let ramp = Ramp { groups: last - first + 1, ticks, slope: piece.slopes[axis] };
            return self.units.take(ramp).ok_or(TooMany::Ticks);
        }
        let same = pieces.iter().all(|p| p.slopes[axis] == 0);
        let mut seen = HashMap::new();
        let mut at = first;
        while at <= last {
            place.push(at);
            self.play(axis + 1, pieces, place)?;
            place.pop();
            at += 1;
            if !same || seen.len() > MAX_SEEN {
                continue;
            }
            // Rows that find the units as an earlier one did go on as that did.
            let now = (at, self.units.first());
            if let Some((before, since)) = seen.insert(self.units.ages(), now) {
                let rows = at - before;
                let times = (last + 1 - at) / rows;
                let ticks = (self.units.first() - since).checked_mul(times);
                ticks.and_then(|t| self.units.later(t)).ok_or(TooMany::Ticks)?;
                at += rows * times;
            }
        }
        Ok(())
    }
}
