//! What is still to come of a run, by its work: potentials.
//!
//! In goes the [paths](crate::paths) of a launch, out comes for every state the least number of
//! ticks with which a run goes on to its end, or the greatest, if the work is known that is left.
//!
//! 1. *Work.* The end of a phase counts as much as the ticks that the phase takes when its group is
//!    alone, and a little more, so that no cycle is without work. All phases of the launch end
//!    once, so the work of a run is known, though not where it is done; while `k` groups are left,
//!    it is at most that of the `k` longest.
//! 2. *Potentials.* Let `r` be the least [ratio](crate::ratio) of ticks and work over all cycles of
//!    the main part, and `s_k` over those of the rest with `k` groups in their places, or that of
//!    `k + 1` groups if it is less. With `ticks - r * work` for a step of the main part and `ticks
//!    - s_k * work` for one of the rest, no cycle is negative, so from each state there is a
//!    shortest path to an end; its length `c` is the state's potential. What goes on from there
//!    with work `w` in its main part and `v_k` in the rest takes at least `r * w + sum of s_k * v_k
//!    + c` ticks. As `s_k` falls with `k`, that is least where as much work as can be is done late.
//! 3. The greatest time is the same with negative ticks.

use crate::launch::WarpLaunch;
use crate::paths::{Paths, Step};
use crate::ratio::{MOST, Ratio, least_ratio};
use crate::record::{End, Range};

/// Most ticks of a launch, and most work, in units: sums of some of them stay within 127 bits.
const MAX_UNITS: i128 = 1 << 120;

/// How many times finer units are than what the ratio of the main part divides ticks by, as a power
/// of 2: other ratios are rounded down to them.
const FINE: u32 = 24;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Here {
    pub node: u32,
    /// Whether groups are left that have no place.
    pub main: bool,
    /// The work that is left.
    pub work: i128,
}

/// What is to come for one end. Numbers of the worst end are negative. In *units* all are whole.
pub(crate) struct Ahead {
    pub end: End,
    /// One tick.
    unit: i128,
    /// What work takes in the main part.
    main: i128,
    /// The same in the rest, by the number of groups left; not above what more groups take.
    rest: Vec<i128>,
    /// The most work of a group.
    longest: i128,
    /// The work of the whole launch.
    all: i128,
    /// Potentials in the main part and in the rest; `None` where no path leads to an end.
    to_end: [Vec<Option<i128>>; 2],
    /// By position: the work that a group has left.
    pub work: Vec<i128>,
}

impl Ahead {
    /// `None` if numbers grow too large, or `stop` returns true.
    pub fn new(
        launch: &WarpLaunch,
        paths: &Paths,
        end: End,
        stop: &dyn Fn() -> bool,
    ) -> Option<Ahead> {
        let signed = |steps: &[Step]| -> Vec<Step> {
            let sign = end.sign();
            steps.iter().map(|s| Step { ticks: sign * s.ticks, ..*s }).collect()
        };
        let (main, last) = (signed(&paths.main), signed(&paths.last));
        let rest: Vec<Vec<Step>> = paths.rest.iter().map(|steps| signed(steps)).collect();
        let nothing = Ratio { ticks: 0, work: 1 };
        let of_main = least_ratio(&main, paths.states, stop)?.unwrap_or(nothing);
        let unit = of_main.work << FINE;
        let mut of_rest = vec![of_main.ticks << FINE; rest.len()];
        for groups in (0..rest.len()).rev() {
            let more = *of_rest.get(groups + 1).unwrap_or(&of_rest[groups]);
            let own = least_ratio(&rest[groups], paths.states, stop)?;
            of_rest[groups] = own.map_or(more, |own| more.min(own.in_units(unit)));
        }
        let mut ahead = Ahead {
            end,
            unit,
            main: of_main.ticks << FINE,
            rest: of_rest,
            longest: 0,
            all: 0,
            to_end: [vec![None; paths.states as usize], vec![None; paths.states as usize]],
            work: work(launch)?,
        };
        ahead.count(launch)?;
        let [in_main, in_rest] = &mut ahead.to_end;
        for node in &paths.empty {
            in_rest[*node as usize] = Some(0);
        }
        // Groups only become fewer.
        for (steps, per_work) in rest.iter().zip(&ahead.rest) {
            settle(steps, (unit, *per_work), in_rest, stop)?;
        }
        for step in &last {
            let after = in_rest[step.to as usize];
            let length = i128::from(step.ticks) * unit;
            let before = &mut in_main[step.from as usize];
            *before = [*before, after.map(|t| t + length)].into_iter().flatten().min();
        }
        settle(&main, (unit, ahead.main), in_main, stop)?;
        Some(ahead)
    }

    /// The work of the launch, and of a group.
    fn count(&mut self, launch: &WarpLaunch) -> Option<()> {
        for (count, first) in &launch.queue {
            let group = self.work[*first as usize];
            self.all = self.all.checked_add(group.checked_mul(i128::from(*count))?)?;
            self.longest = self.longest.max(group);
        }
        let fits = |a: i128, b: i128| a.checked_mul(b).is_some_and(|ab| ab.abs() < MAX_UNITS);
        let work = fits(self.main, self.all) && self.rest.iter().all(|r| fits(*r, self.all));
        (work && fits(launch.most().into(), self.unit)).then_some(())
    }

    /// The tick at which the last group ends: no run undercuts it, or for the worst end exceeds it.
    pub fn bound(&self, launch: &WarpLaunch, root: u32) -> Option<i64> {
        let to_end = self.from(Here { node: root, main: true, work: self.all })?;
        let whole = to_end.div_euclid(self.unit) + i128::from(to_end.rem_euclid(self.unit) > 0);
        i64::try_from(i128::from(launch.begins) + i128::from(self.end.sign()) * whole).ok()
    }

    /// What a run takes to its end from here, at least, in units; `None` if that is not known.
    fn from(&self, here: Here) -> Option<i128> {
        let Here { node, main, work } = here;
        let [in_main, in_rest] = &self.to_end;
        let potentials = if main { in_main } else { in_rest };
        let mut to_end = (*potentials.get(node as usize)?)?;
        // Of the work that was not counted, as much as can be is done by this many groups.
        let mut left = work;
        for per_work in self.rest.iter().skip(1) {
            let here = left.min(self.longest);
            to_end += per_work * here;
            left -= here;
        }
        Some(to_end + self.main * left)
    }

    /// Whether work in the main part takes at least its share of these ticks, so that who has done
    /// it later has no more of them left.
    pub fn is_covered(&self, ticks: i64, work: i128) -> bool {
        let ticks = i128::from(self.end.sign()) * i128::from(ticks) * self.unit;
        self.main.checked_mul(work).is_some_and(|share| ticks >= share)
    }
}

/// What a sweep drops: what cannot end in time.
#[derive(Clone, Copy)]
pub(crate) struct Goal<'a> {
    pub ahead: &'a Ahead,
    /// The tick by which the last group is to end, or not before which for the worst end.
    pub tick: i64,
}

impl Goal<'_> {
    /// What a range has of this end.
    pub fn of(&self, range: Range) -> Range {
        Range::at(self.ahead.end.of(range))
    }

    /// Whether a run here with these ticks may end by the goal; for the worst end, not before.
    pub fn may_reach(&self, range: Range, here: Here) -> bool {
        let Ahead { end, unit, .. } = self.ahead;
        let left = i128::from(self.tick) - i128::from(end.of(range));
        let left = i128::from(end.sign()) * left * unit;
        self.ahead.from(here).is_none_or(|to_end| to_end <= left)
    }

    /// Whether an end that was found is the best of all.
    pub fn is_met(&self, found: i64) -> bool {
        let sign = self.ahead.end.sign();
        sign * found <= sign * self.tick
    }
}

/// By position: the work that a group has left; `None` if a phase has too much.
fn work(launch: &WarpLaunch) -> Option<Vec<i128>> {
    let mut work: Vec<i128> = vec![0; launch.positions.len()];
    let mut order: Vec<usize> = (0..launch.positions.len()).collect();
    order.sort_by_key(|n| launch.positions[*n].left);
    for n in order {
        let position = launch.positions[n];
        let own = Some(i128::from(launch.work(position.phase))).filter(|work| *work <= MOST)?;
        work[n] = own + position.next.map_or(0, |next| work[next as usize]);
    }
    Some(work)
}

/// The least lengths of paths to an end, without negative cycles; `None` if `stop` returns true.
fn settle(
    steps: &[Step],
    (unit, per_work): (i128, i128),
    to_end: &mut [Option<i128>],
    stop: &dyn Fn() -> bool,
) -> Option<()> {
    loop {
        let mut changed = false;
        for step in steps.iter().rev() {
            let Some(after) = to_end[step.to as usize] else { continue };
            let length = i128::from(step.ticks) * unit - i128::from(step.work) * per_work;
            let before = &mut to_end[step.from as usize];
            if before.is_none_or(|known| after + length < known) {
                *before = Some(after + length);
                changed = true;
            }
        }
        if !changed {
            return Some(());
        }
        if stop() {
            return None;
        }
    }
}
