//! Units that take groups in order: each group goes to the unit that is free first.
//!
//! As units are alike, all that counts is how many of them are free when. Many groups are handed
//! out at once where it is known how that ends:
//!
//! - Groups of equal length: every unit goes on from when it is free in steps of that length, so
//!   the groups are the earliest of all these beginnings. Units that are free later join in step by
//!   step.
//! - Groups whose lengths rise or fall by the same from one to the next: if every unit takes one
//!   group and then another, the next pair of rounds does the same as long as the units are free in
//!   the same order. Each pair changes the distance between two units by the same amount, which
//!   is for how long.

use std::collections::BTreeMap;

/// Most units for which rounds are examined together.
const MAX_UNITS: usize = 1 << 12;

/// Groups in sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ramp {
    /// How many.
    pub groups: i64,
    /// Ticks of the first; at least 0, as are those of all others.
    pub ticks: i64,
    /// By how many ticks each is longer than the one before.
    pub slope: i64,
}

/// When units are free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Units {
    /// How many units are free from which tick on.
    free: BTreeMap<i64, i64>,
}

impl Units {
    /// Units that are all free from `start` on.
    pub fn new(count: i64, start: i64) -> Units {
        Units { free: BTreeMap::from([(start, count)]) }
    }

    /// When the first unit is free.
    pub fn first(&self) -> i64 {
        self.free.first_key_value().map_or(0, |(at, _)| *at)
    }

    /// When the last unit is free.
    pub fn last(&self) -> i64 {
        self.free.last_key_value().map_or(0, |(at, _)| *at)
    }

    /// How long after the first the units are free, and how many each.
    pub fn ages(&self) -> Vec<(i64, i64)> {
        let first = self.first();
        self.free.iter().map(|(at, units)| (at - first, *units)).collect()
    }

    /// Moves all units on; `None` beyond 63 bits.
    pub fn later(&mut self, ticks: i64) -> Option<()> {
        let moved = self.free.iter().map(|(at, units)| Some((at.checked_add(ticks)?, *units)));
        self.free = moved.collect::<Option<_>>()?;
        Some(())
    }

    /// Hands groups out; `None` beyond 63 bits.
    pub fn take(&mut self, ramp: Ramp) -> Option<()> {
        match ramp.slope {
            0 => self.take_equal(ramp.groups, ramp.ticks),
            _ => self.take_ramp(ramp),
        }
    }

    fn put(&mut self, at: i64, units: i64) {
        if units > 0 {
            *self.free.entry(at).or_insert(0) += units;
        }
    }

    fn take_equal(&mut self, groups: i64, ticks: i64) -> Option<()> {
        if ticks == 0 || groups == 0 {
            return Some(());
        }
        // A unit begins groups in steps of `ticks` from when it is free: whole steps behind the
        // first unit, and a rest.
        let first = self.first();
        let mut steps = Vec::with_capacity(self.free.len());
        for (free, units) in &self.free {
            let behind = free.checked_sub(first)?;
            steps.push((behind / ticks, behind % ticks, *units));
        }
        let (level, busy, mut rest) = level(&steps, groups)?;
        // Those that are left begin in this step, and in the order of their rests.
        let base = level.checked_mul(ticks).and_then(|n| n.checked_add(first))?;
        let mut begun: Vec<(i64, i64)> = steps[..busy].iter().map(|(_, r, n)| (*r, *n)).collect();
        begun.sort_unstable();
        let idle: Vec<(i64, i64)> = self.free.iter().skip(busy).map(|(at, n)| (*at, *n)).collect();
        self.free = BTreeMap::from_iter(idle);
        for (behind, units) in begun {
            let now = rest.min(units);
            rest -= now;
            let at = base.checked_add(behind)?;
            self.put(at, units - now);
            if now > 0 {
                self.put(at.checked_add(ticks)?, now);
            }
        }
        Some(())
    }

    fn take_ramp(&mut self, mut ramp: Ramp) -> Option<()> {
        let count: i64 = self.free.values().sum();
        while ramp.groups > 0 {
            let singly = match self.two_rounds(&ramp, count) {
                Some(taken) => {
                    ramp = ramp.after(taken)?;
                    0
                }
                None => ramp.groups.min(count),
            };
            for _ in 0..singly {
                let (at, units) = self.free.pop_first()?;
                self.put(at, units - 1);
                self.put(at.checked_add(ramp.ticks)?, 1);
                ramp = ramp.after(1)?;
            }
        }
        Some(())
    }

    /// Hands out two groups to each unit, as often as possible, if all of them take one and then
    /// another; how many groups that were.
    ///
    /// Unit i, by its place in the order in which units are free, takes group i of the first round,
    /// and as the w-th that is free again group w of the second. So each pair of rounds moves it on
    /// by i + w slopes more than a unit with place and w 0, and all distances change linearly from
    /// pair to pair.
    fn two_rounds(&mut self, ramp: &Ramp, count: i64) -> Option<i64> {
        let units = usize::try_from(count).ok().filter(|n| (1..=MAX_UNITS).contains(n))?;
        if ramp.groups < 2 * count {
            return None;
        }
        let (n, a, s) = (i128::from(count), i128::from(ramp.ticks), i128::from(ramp.slope));
        let begin: Vec<i128> = self
            .free
            .iter()
            .flat_map(|(at, n)| std::iter::repeat_n(i128::from(*at), *n as usize))
            .collect();
        let between: Vec<i128> = (0..).zip(&begin).map(|(i, at)| at + a + i * s).collect();
        let mut order: Vec<usize> = (0..units).collect();
        order.sort_by_key(|i| between[*i]);
        let mut moved: Vec<i128> = (0..n).collect();
        (0..).zip(&order).for_each(|(place, i)| moved[*i] += place);
        let mut pairs = i128::from(ramp.groups) / (2 * n);
        // A distance that must stay at least 0, and what a pair of rounds adds to it.
        let mut holds = |distance: i128, more: i128| {
            if more < 0 {
                pairs = pairs.min(distance.div_euclid(-more) + 1);
            }
            distance >= 0
        };
        let rounds = [(&begin, (0..units).collect::<Vec<_>>(), 0), (&between, order, n)];
        for (at, order, from) in rounds {
            let last = order[units - 1];
            for (k, pair) in (0..).zip(order.windows(2)) {
                let (i, j) = (pair[0], pair[1]);
                // The order stays, and none is free again before the last has taken a group.
                let again = at[i] + a + (from + k) * s - at[last];
                if !holds(at[j] - at[i], (moved[j] - moved[i]) * s)
                    || !holds(again, (moved[i] - moved[last] + 2 * n) * s)
                {
                    return None;
                }
            }
        }
        let all = 2 * a * pairs + (pairs + 2 * pairs * (pairs - 1)) * n * s;
        self.free.clear();
        for (at, moved) in begin.iter().zip(&moved) {
            self.put(i64::try_from(at + all + pairs * moved * s).ok()?, 1);
        }
        i64::try_from(2 * n * pairs).ok()
    }
}

/// Up to which step all units that have begun by then have begun a group in each; how many of the
/// entries these are, and how many groups are left, fewer than they have units. Steps rise from
/// entry to entry, the first is 0.
fn level(steps: &[(i64, i64, i64)], groups: i64) -> Option<(i64, usize, i64)> {
    let (mut level, mut busy, mut units, mut left) = (0, 0, 0_i64, groups);
    loop {
        while let Some((_, _, n)) = steps.get(busy).filter(|(at, ..)| *at == level) {
            units = units.checked_add(*n)?;
            busy += 1;
        }
        let room = left.checked_div(units)?;
        let next = steps.get(busy).map(|(at, ..)| at - level).filter(|more| *more <= room);
        let more = next.unwrap_or(room);
        level = level.checked_add(more)?;
        left -= more * units;
        if next.is_none() {
            return Some((level, busy, left));
        }
    }
}

impl Ramp {
    /// What is left after some groups.
    fn after(self, groups: i64) -> Option<Ramp> {
        let ticks = i128::from(self.ticks) + i128::from(self.slope) * i128::from(groups);
        let groups = self.groups - groups;
        // Behind the last group there is none whose ticks have to fit.
        let ticks = if groups == 0 { 0 } else { i64::try_from(ticks).ok()? };
        Some(Ramp { groups, ticks, ..self })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One group after another.
    fn singly(units: &Units, ramp: Ramp) -> Units {
        let mut units = units.clone();
        for i in 0..ramp.groups {
            let (at, n) = units.free.pop_first().unwrap();
            units.put(at, n - 1);
            units.put(at + ramp.ticks + i * ramp.slope, 1);
        }
        units
    }

    fn start() -> impl Strategy<Value = Units> {
        prop::collection::vec((0..60_i64, 1..4_i64), 1..5).prop_map(|free| {
            let mut units = Units { free: BTreeMap::new() };
            free.into_iter().for_each(|(at, n)| units.put(at, n));
            units
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

        #[test]
        fn many_groups_at_once(
            units in start(), groups in 0..200_i64, ticks in 0..90_i64, slope in -5..6_i64
        ) {
            let last = ticks + slope * (groups - 1).max(0);
            let ramp = Ramp { groups, ticks: ticks - last.min(0), slope };
            let mut quick = units.clone();
            prop_assert_eq!(quick.take(ramp), Some(()));
            prop_assert_eq!(quick, singly(&units, ramp));
        }
    }

    #[test]
    fn the_last_group_may_end_at_the_end_of_time() {
        let half = 1i64 << 62;
        let mut units = Units::new(1, half - 1);
        assert_eq!(units.take(Ramp { groups: 1, ticks: half, slope: 0 }), Some(()));
        assert_eq!(units.last(), i64::MAX);
        assert_eq!(units.take(Ramp { groups: 1, ticks: 1, slope: 0 }), None);
    }

    #[test]
    fn a_long_ramp_takes_no_time() {
        let mut units = Units::new(132, 0);
        let ramp = Ramp { groups: 1 << 24, ticks: 1 << 26, slope: -3 };
        assert_eq!(units.take(ramp), Some(()));
        let work: i64 = units.free.iter().map(|(at, n)| at * n).sum();
        let groups = ramp.groups;
        assert_eq!(work, groups * ramp.ticks - 3 * groups * (groups - 1) / 2);
        assert!(units.last() - units.first() <= ramp.ticks, "{units:?}");
    }
}
