//! Bytes that one access moves between caches, for a group and for the launch.

use tickbound_expr::Expr;

use super::Device;
use super::footprint::{Addresses, Axis, addresses};
use super::number::{SHARES, ceil_div, choice, less, max, min, part_of, quotient};

/// Warps of a unit where the platform does not say how many there are at most.
const MAX_WARPS: i64 = 32;

/// An access, and the repetitions of its address.
#[derive(Debug)]
pub(super) struct Traffic<'a> {
    pub device: &'a Device<'a>,
    /// Bytes of each address.
    pub bytes: i64,
    /// Bytes that a piece without gaps takes more, where it begins and ends.
    pub margin: Expr,
    /// The accesses in a sweep, where they may be fewer than its repetitions say.
    pub most: Option<Expr>,
    /// Of the items of a group, and of the loops up to the innermost one that is not unrolled.
    pub sweep: Vec<Axis>,
    /// Of the other loops, inner ones first.
    pub outer: Vec<Axis>,
    /// Of the groups, dimension 0 first.
    pub groups: Vec<Axis>,
}

/// What an access moves, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Moved {
    /// Into L1, by one group.
    pub group: Expr,
    /// Bytes of the launch that differ.
    pub launch: Expr,
    /// By the launch, what L2 does not have any more when it is needed again.
    pub beyond_l2: Expr,
    /// Into L2, by the launch, for that.
    pub l3: Expr,
}

impl Traffic<'_> {
    /// What is moved, with `at_work` groups at work at once, `held` of them in a unit.
    pub fn moved(&self, at_work: &Expr, held: &Expr) -> Moved {
        let (group, mut axes) = self.of_group();
        let neighbours = self.of_neighbours(at_work);
        let together = self.touched(&neighbours);
        let group = match self.device.l1 {
            Some(_) if *held != Expr::Int(1) => {
                let part = part_of(group, self.of_unit(together.clone(), held));
                self.device.known.narrowed(part)
            }
            _ => group,
        };
        axes.extend(self.groups.iter().cloned());
        let launch = self.of_launch(&axes);
        let (beyond_l2, l3) = match self.device.l2 {
            Some(l2) => self.beyond(l2, together, &group, at_work),
            None => (Expr::Int(0), Expr::Int(0)),
        };
        Moved { group, launch, beyond_l2, l3 }
    }

    /// Bytes that a launch moves: those of the sectors in which its pieces lie. Neighbouring groups
    /// share the sectors at their margins.
    fn of_launch(&self, axes: &[Axis]) -> Expr {
        let Addresses { count, pieces } = addresses(axes, self.bytes, &self.device.known);
        let bytes = self.bytes * count;
        let piece = ceil_div(&bytes, &pieces);
        let rest = max(0, self.device.sector - &piece);
        let more = min(gap(axes, &piece, self.device), rest);
        self.device.known.narrowed(bytes + pieces * more)
    }

    /// Bytes of the lines that these repetitions touch.
    fn touched(&self, axes: &[Axis]) -> Expr {
        let mut all = addresses(axes, self.bytes, &self.device.known);
        if let Some(most) = &self.most {
            let others = axes.iter().skip(self.sweep.len()).map(|axis| axis.extent.clone());
            all.count = min(all.count, others.fold(most.clone(), |all, extent| all * extent));
        }
        let margin = self.margin.clone();
        let pieces = self.bytes * all.count + all.pieces * &margin;
        self.device.known.narrowed(min(pieces, self.rows(axes, margin)))
    }

    /// Bytes of rows without gaps, from first to last. Distances by inputs are those of rows, and
    /// so are numbers beyond the length of a row.
    fn rows(&self, axes: &[Axis], margin: Expr) -> Expr {
        let known = &self.device.known;
        let (mut rows, mut length) = (Expr::Int(1), self.bytes + margin);
        let mut numbers = Vec::new();
        for Axis { distance, extent } in axes {
            match distance {
                Some(Expr::Int(distance)) => numbers.push((*distance, extent)),
                Some(distance) if !known.inputs.decide(distance) => {
                    let last = (extent - 1) * distance;
                    length += last;
                }
                _ => rows = rows * extent,
            }
        }
        numbers.sort_by_key(|(distance, _)| *distance);
        for (distance, extent) in numbers {
            let beyond = match distance <= self.bytes {
                true => Expr::Int(0),
                false => known.narrowed(less(&length, distance)),
            };
            rows = rows * choice(&beyond, extent, 1);
            length += choice(beyond, 0, (extent - 1) * distance);
        }
        rows * length
    }

    /// What a group moves, and all repetitions in it. An outer loop that reaches the same lines
    /// again finds them in L1 if what the loops inside touch fits.
    fn of_group(&self) -> (Expr, Vec<Axis>) {
        let mut axes = self.sweep.clone();
        let mut touched = self.touched(&axes);
        let mut moved = touched.clone();
        for axis in &self.outer {
            axes.push(axis.clone());
            let all = self.touched(&axes);
            // A distance that depends on an input is one of rows, which have nothing in common.
            let rows = |d: &Expr| self.device.known.inputs.decide(d);
            let apart = axis.distance.as_ref().is_none_or(rows);
            let again = match self.device.l1 {
                Some(l1) if !apart => {
                    let fits = less(touched, l1.saturating_add(1));
                    choice(fits, &all, &axis.extent * moved)
                }
                Some(_) if moved != touched => &axis.extent * moved,
                _ => all.clone(),
            };
            (touched, moved) = (all, self.device.known.narrowed(again));
        }
        (moved, axes)
    }

    /// The repetitions in a sweep of `groups` groups side by side.
    fn of_neighbours(&self, groups: &Expr) -> Vec<Axis> {
        let mut left = groups.clone();
        let mut axes = self.sweep.clone();
        for Axis { distance, extent } in &self.groups {
            let some = self.device.known.narrowed(min(&left, extent));
            left = self.device.known.narrowed(ceil_div(left, extent));
            axes.push(Axis { distance: distance.clone(), extent: some });
        }
        axes
    }

    /// The part, in 64ths, of what each group of a unit would move alone, as they find in L1 what
    /// others of that unit have loaded. Which groups a unit has is open, and they are in step: all
    /// at work may touch less than those of one unit with nothing in common.
    fn of_unit(&self, together: Expr, held: &Expr) -> Expr {
        let apart = held * self.touched(&self.sweep);
        let together = min(together, &apart);
        quotient(SHARES * together, max(1, apart))
    }

    /// If what all groups at work touch in one sweep does not fit L2: all that groups move, and
    /// what is moved into L2 for it, once a sweep for all of them, as they are in step.
    fn beyond(&self, l2: i64, touched: Expr, of_group: &Expr, at_work: &Expr) -> (Expr, Expr) {
        let extents = |axes: &[Axis]| axes.iter().map(|axis| &axis.extent).product::<Expr>();
        let groups = extents(&self.groups);
        let waves = ceil_div(&groups, at_work);
        let all = of_group * groups;
        let once = min(&all, &touched * (extents(&self.outer) * waves));
        let fits = less(touched, l2.saturating_add(1));
        let if_not = |bytes| choice(&fits, 0, bytes);
        (if_not(all), if_not(once))
    }
}

/// The least number of bytes between pieces that repetitions set apart, at most a sector.
pub(super) fn gap(axes: &[Axis], piece: &Expr, device: &Device<'_>) -> Expr {
    let sector = Expr::Int(device.sector);
    let apart = |Axis { distance, extent }: &Axis| {
        let Some(distance) = distance else { return sector.clone() };
        let none = choice(less(extent, 2), 1, less(distance, piece));
        choice(none, &sector, distance - piece)
    };
    let least = axes.iter().fold(sector.clone(), |least, axis| min(least, apart(axis)));
    device.known.narrowed(least)
}

/// Of `groups` groups of `items` items those at work at once, by the warps, and those of a unit.
pub(super) fn at_work(device: &Device<'_>, items: Expr, groups: Expr) -> [Expr; 2] {
    let share = ceil_div(&groups, device.units);
    let most = most_held(device, ceil_div(items, device.warp));
    let held = device.known.narrowed(max(1, min(most, share)));
    [device.known.narrowed(min(groups, device.units * &held)), held]
}

/// Most groups of `warps` warps that a unit has places for.
pub(super) fn most_held(device: &Device<'_>, warps: Expr) -> Expr {
    let most = quotient(device.warps_per_unit.unwrap_or(MAX_WARPS), warps);
    device.groups_per_unit.map_or(most.clone(), |groups| min(most, groups))
}

/// The part of bytes, in 64ths, that exceeds the room.
pub(super) fn part_beyond(bytes: Expr, room: Expr) -> Expr {
    let missing = max(0, &bytes - room);
    quotient(SHARES * missing, max(1, bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn axis(distance: i64, extent: i64) -> Axis {
        Axis { distance: Some(Expr::Int(distance)), extent: Expr::Int(extent) }
    }

    fn traffic<'a>(
        device: &'a Device<'a>,
        sweep: &[Axis],
        outer: &[Axis],
        groups: &[Axis],
    ) -> Traffic<'a> {
        let (sweep, outer, groups) = (sweep.to_vec(), outer.to_vec(), groups.to_vec());
        Traffic { device, bytes: 4, margin: Expr::Int(0), most: None, sweep, outer, groups }
    }

    fn device(l1: i64, l2: i64) -> Device<'static> {
        Device {
            warp: 32,
            banks: 32,
            line: 128,
            units: 2,
            l1: Some(l1),
            l2: Some(l2),
            ..Device::default()
        }
    }

    fn moved(traffic: &Traffic<'_>, at_work: i64) -> [i64; 3] {
        let Moved { group, launch, beyond_l2, .. } =
            traffic.moved(&Expr::Int(at_work), &Expr::Int(1));
        [group, launch, beyond_l2].map(|number| number.eval(&[]).unwrap())
    }

    #[test]
    fn what_fits_is_moved_once() {
        // 32 items read 16 rows of 32 words, three times; four groups side by side.
        let sweep = [axis(4, 32), axis(128, 16)];
        let (again, groups) = ([axis(0, 3)], [axis(2048, 4)]);
        let once = 4 * 32 * 16;
        let small = device(2048, 1 << 20);
        assert_eq!(moved(&traffic(&small, &sweep, &again, &groups), 4), [once, 4 * once, 0]);
        let none = device(2047, 1 << 20);
        assert_eq!(moved(&traffic(&none, &sweep, &again, &groups), 4), [3 * once, 4 * once, 0]);
        // What four groups touch in a sweep does not fit L2.
        let half = device(2047, 4096);
        assert_eq!(moved(&traffic(&half, &sweep, &again, &groups), 4)[2], 4 * 3 * once);
    }

    #[test]
    fn groups_of_a_unit_find_what_others_have_loaded() {
        // 32 items read a line; neighbours in a dimension read the same, or the next one.
        let device = device(1 << 15, 1 << 20);
        for (groups, held, wanted) in [
            // All the same: the four groups of a unit move it once.
            ([axis(0, 64), axis(0, 1)], 4, 128 / 4),
            // Two lines in all, four groups.
            ([axis(0, 32), axis(128, 2)], 4, 128 / 2),
            // As many lines as groups, of which a unit has some.
            ([axis(128, 64), axis(0, 1)], 4, 128),
            ([axis(0, 64), axis(0, 1)], 1, 128),
        ] {
            let sweep = [axis(4, 32)];
            let traffic = traffic(&device, &sweep, &[], &groups);
            let moved = traffic.moved(&Expr::Int(64), &Expr::Int(held));
            assert_eq!(moved.group.eval(&[]).unwrap(), wanted, "{groups:?} {held}");
        }
    }

    #[test]
    fn touched_bytes_are_those_of_the_lines_or_of_the_rows() {
        let device = device(1 << 15, 1 << 20);
        // Every other word; every 64th; a row and its neighbour.
        for axes in [vec![(8, 32)], vec![(256, 16)], vec![(4, 32), (8, 4)], vec![(16, 8), (24, 8)]]
        {
            let all: Vec<Axis> = axes.iter().map(|(d, n)| axis(*d, *n)).collect();
            let own = traffic(&device, &all, &[], &[]).touched(&all).eval(&[]).unwrap();
            let mut places = BTreeSet::from([0]);
            for (distance, extent) in axes {
                let moved = |at: &i64| (0..extent).map(|i| at + i * distance).collect::<Vec<_>>();
                places = places.iter().flat_map(moved).collect();
            }
            let words = 4 * places.len() as i64;
            let span = places.last().unwrap() + 4;
            assert!((words..=span).contains(&own), "{own}: {words} to {span}");
        }
    }

    #[test]
    fn numbers_beyond_a_row_are_those_of_rows() {
        // Every other byte of 16 pairs in 100 rows that are 25650 bytes apart, and margins of 31.
        let device = device(1 << 15, 1 << 20);
        for rows in [[axis(2, 16), axis(25_650, 100)], [axis(25_650, 100), axis(2, 16)]] {
            let own =
                Traffic { bytes: 1, margin: Expr::Int(31), ..traffic(&device, &[], &[], &[]) };
            assert_eq!(own.touched(&rows).eval(&[]), Ok(100 * (1 + 31 + 15 * 2)));
        }
    }

    #[test]
    fn groups_at_work_are_those_that_warps_allow() {
        let device = Device { warps_per_unit: Some(8), groups_per_unit: Some(3), ..device(1, 1) };
        let of = |items: i64, groups: i64| {
            at_work(&device, Expr::Int(items), Expr::Int(groups))[0].eval(&[]).unwrap()
        };
        assert_eq!([of(128, 100), of(32, 100), of(512, 100), of(32, 3)], [4, 6, 2, 3]);
    }
}
