//! The walk over the steps of one variant: loops, branches, and which groups execute a step.

use indexmap::IndexMap;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::LeastCount;

use super::accesses;
use super::around::{
    Around, Counts, GroupsAtStep, GroupsOfDimension, KernelLaunch, LoopAround, Site,
};
use super::conditions::{
    above, above_least, at_turn, coefficient, is_affine_in_place, is_monotone, is_uniform,
};
use super::values::{Values, value_count};
use crate::ast::AddressSpace;
use crate::lower::Names;
use crate::steps::{
    KernelStep, KernelStepKind, KernelSteps, Lanes, MemoryAccess, Needed, NeededIterations, Stride,
    SymbolExpr, TURN, at_end_of_group, mentions, with_names,
};
use crate::usage::number::{all, ceil_div, choice, less, max, min, on_side};
use crate::usage::{Device, unclamped};

struct Walk<'a> {
    launch: KernelLaunch<'a>,
    sites: Vec<Site>,
    loops: usize,
}

/// What a kernel with these steps does at least.
pub(super) fn counts(steps: &KernelSteps, names: &Names, device: &Device<'_>) -> Counts {
    let Some(first) = steps.body.first() else { return Counts::new() };
    let launch = KernelLaunch { names, device, at: &first.at };
    let mut walk = Walk { launch, sites: Vec::new(), loops: 0 };
    let around = Around { loops: Vec::new(), taken: Expr::Int(1), at_step: [None, None, None] };
    let values = walk.steps(&steps.body, &around);
    let mut counts = Counts::new();
    walk.add_values(values, &mut counts);
    accesses::add(launch, &walk.sites, &mut counts);
    counts.retain(|_, count| *count != Expr::Int(0));
    counts
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[KernelStep], around: &Around) -> Values {
        let mut all = Values::default();
        let mut left = steps;
        while let [step, rest @ ..] = left {
            left = rest;
            match &step.kind {
                KernelStepKind::Access(access) if access.space != AddressSpace::Private => {
                    self.access(access, around);
                }
                KernelStepKind::Value(value) => {
                    if let Some(around) = self.needed(&value.needed, around) {
                        all.take(value_count(value, &around, self.launch), None);
                    }
                }
                KernelStepKind::Repeat { whole, .. } => {
                    // The parts of a loop have different iterations.
                    let part = |next: &&KernelStep| {
                        let cut =
                            matches!(next.kind, KernelStepKind::Repeat { whole: Some(_), .. });
                        whole.is_some() && cut && next.at == step.at
                    };
                    let more = rest.iter().take_while(part).count();
                    let mut parts = self.repeat(step, around);
                    for next in &rest[..more] {
                        let next = self.repeat(next, around);
                        parts.take(next, Some(around.loops.len()));
                    }
                    left = &rest[more..];
                    all.take(parts, None);
                }
                KernelStepKind::If { condition, then, otherwise, .. } => {
                    for (side, holds) in [(then, true), (otherwise, false)] {
                        if let Some(inside) = self.side(condition, holds, around) {
                            let own = self.steps(side, &inside);
                            all.take(own, None);
                        }
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn access(&mut self, access: &MemoryAccess, around: &Around) {
        let mut access = access.clone();
        let around = match access.store {
            true => Some(around.clone()),
            // The last iterations of different items may be of one place.
            false if ends_apart(&access, around) => None,
            false => {
                access.width = access.width.min(access.needed.components);
                self.needed(&access.needed, around)
            }
        };
        self.sites.extend(around.map(|around| Site { access, around }));
    }

    /// What stands around the executions of a step whose result is needed; `None`: not known.
    fn needed(&self, needed: &Needed, around: &Around) -> Option<Around> {
        let mut inside = around.clone();
        for (around, which) in inside.loops.iter_mut().rev().zip(&needed.iterations) {
            match which {
                NeededIterations::All => {}
                NeededIterations::ButLast => {
                    inside.taken = choice(less(1, &around.trips), &inside.taken, 0);
                    around.trips = max(1, &around.trips - 1);
                }
                NeededIterations::One => around.trips = Expr::Int(1),
                NeededIterations::OneOfTwo => {
                    inside.taken = choice(less(1, &around.trips), &inside.taken, 0);
                    around.trips = Expr::Int(1);
                }
                NeededIterations::None => return None,
            }
        }
        let start = (needed.components > 0).then_some(inside);
        needed.guards.iter().fold(start, |inside, guard| match &guard.iterations {
            None => self.side(&guard.holds, true, &inside?),
            Some(all) => {
                let mut numbers = Vec::new();
                above(&guard.holds, true, &mut numbers)?;
                self.where_above(numbers, all, inside?)
            }
        })
    }

    /// What stands around the iterations of a loop, of `all`, in which numbers are above 0.
    fn where_above(
        &self,
        numbers: Vec<SymbolExpr>,
        all: &SymbolExpr,
        mut inside: Around,
    ) -> Option<Around> {
        let last = all - 1;
        for number in numbers {
            if !mentions(&number, "$group_") {
                if let Some((d, some)) = self.items_above(&number) {
                    self.restrict(&mut inside, (d, some));
                    continue;
                }
                // The same in each group: that all items pass.
                let holds = less(0, self.least_for_items(&number)?);
                inside.taken = self.launch.device.known.narrowed(choice(holds, &inside.taken, 0));
                continue;
            }
            let (d, mut some) = self.groups_above(&number, &at_turn(&number, &last), all)?;
            if mentions(&number, TURN) {
                // The first iterations are those that it holds in, or all are.
                let rises = less(0, self.launch.put_in(&coefficient(&number, TURN))?);
                some.groups = choice(&rises, 0, some.groups);
                some.iterations.0 = choice(rises, 0, some.iterations.0);
            }
            self.restrict(&mut inside, (d, some));
        }
        Some(inside)
    }

    fn repeat(&mut self, step: &KernelStep, around: &Around) -> Values {
        let KernelStepKind::Repeat { count, whole, body } = &step.kind else {
            return Values::default();
        };
        let mut inside = around.clone();
        let full = |whole| Some((self.launch.put_in(whole)?, self.groups_in(count, whole)?));
        let (trips, alike) = match whole.as_ref().and_then(full) {
            Some((trips, some_groups)) => {
                self.restrict(&mut inside, some_groups);
                (trips, true)
            }
            None => (self.least_for_items(count).unwrap_or_default(), is_uniform(count)),
        };
        let trips = self.launch.device.known.narrowed(max(0, trips.simplified()));
        let at_all = less(0, &trips);
        inside.taken = self.launch.device.known.narrowed(choice(at_all, &inside.taken, 0));
        self.loops += 1;
        let (barrier, number) = (has_barrier(body), self.loops);
        inside.loops.push(LoopAround { trips, barrier, alike, number });
        self.steps(body, &inside)
    }

    /// What stands around a side of a branch; `None` if it is not known which groups take it.
    fn side(&self, condition: &SymbolExpr, holds: bool, around: &Around) -> Option<Around> {
        let mut inside = around.clone();
        if is_uniform(condition) {
            let condition = self.launch.put_in(condition)?;
            let taken = on_side(condition, holds, &inside.taken);
            inside.taken = self.launch.device.known.narrowed(taken);
            return (inside.taken != Expr::Int(0)).then_some(inside);
        }
        let mut numbers = Vec::new();
        above(condition, holds, &mut numbers)?;
        self.where_above(numbers, &SymbolExpr::Int(1), inside)
    }

    /// A number for an item: for each dimension whether it is the last of its group, and the group.
    fn at_place(&self, number: &SymbolExpr, last: [bool; 3], group: [i64; 3]) -> Option<Expr> {
        let placed = with_names(&at_end_of_group(number, last), |name| {
            let d = name.strip_prefix("$group_")?.parse::<usize>().ok()?;
            Some(match group.get(d)? {
                at @ 0.. => SymbolExpr::Int(*at),
                _ => SymbolExpr::Name(format!("$groups_{d}")) - 1,
            })
        });
        self.launch.put_in(&placed)
    }

    /// In how many groups, counted along one dimension, a number that changes evenly is above 0 for
    /// all items; `None` if several dimensions decide it.
    fn groups_with(&self, above: &SymbolExpr) -> Option<(usize, Expr)> {
        let (d, first, falls) = self.falling(above)?;
        Some((d, self.places_above(&first, &falls, &self.launch.size("groups", d))))
    }

    /// At how many of `all` places a number is above 0 that begins with `first` and falls evenly.
    fn places_above(&self, first: &Expr, falls: &Expr, all: &Expr) -> Expr {
        let rises = (0 - falls).simplified();
        let falling = min(all, ceil_div(max(0, first), max(1, falls)));
        let rising = max(0, all - min(all, ceil_div(max(0, 1 - first), max(1, &rises))));
        let same = choice(less(0, first), all, 0);
        let places = choice(less(0, falls), falling, choice(less(0, rises), rising, same));
        self.launch.device.known.narrowed(places)
    }

    /// The items of each group for which a number is above 0 that changes evenly with their places
    /// in one dimension, in all iterations.
    fn items_above(&self, number: &SymbolExpr) -> Option<(usize, GroupsOfDimension)> {
        let mut dimensions = (0..3).filter(|d| mentions(number, &format!("$lid_{d}")));
        let (Some(d), None) = (dimensions.next(), dimensions.next()) else { return None };
        if mentions(number, TURN) || !is_affine_in_place(number) {
            return None;
        }
        let first = self.at_place(number, [false; 3], [0; 3])?;
        let rises = self.launch.put_in(&coefficient(number, &format!("$lid_{d}")))?;
        let [items, groups] = ["local", "groups"].map(|what| self.launch.size(what, d));
        let some = self.places_above(&first, &(0 - rises).simplified(), &items);
        let all = Expr::binary(BinaryOp::Eq, some.clone(), items);
        let iterations = (&groups * some, Expr::Int(1));
        Some((d, GroupsOfDimension { groups: choice(all, groups, 0), iterations }))
    }

    /// Of a number that changes evenly with the groups of one dimension: the dimension, the least
    /// value in the first group, and by how much it falls from one group to the next.
    fn falling(&self, number: &SymbolExpr) -> Option<(usize, Expr, Expr)> {
        let dimensions = |what: &str| {
            (0..3).filter(|d| mentions(number, &format!("${what}_{d}"))).collect::<Vec<usize>>()
        };
        let (lids, groups) = (dimensions("lid"), dimensions("group"));
        let ([d], true) = (groups.as_slice(), lids.len() <= 1 && is_affine_in_place(number)) else {
            return None;
        };
        let value = |last: bool| self.at_place(number, [last; 3], [0; 3]);
        let first = min(value(false)?, value(true)?).simplified();
        let rises = self.launch.put_in(&coefficient(number, &format!("$group_{d}")))?;
        Some((*d, first, (0 - rises).simplified()))
    }

    /// The groups that execute a part of a loop with `count` iterations, of `whole` in all.
    fn groups_in(
        &self,
        count: &SymbolExpr,
        whole: &SymbolExpr,
    ) -> Option<(usize, GroupsOfDimension)> {
        let inner = unclamped(count, whole)?;
        let next = SymbolExpr::Name(TURN.to_owned()) + 1;
        self.groups_above(&above_least(inner, &next)?, &above_least(inner, whole)?, whole)
    }

    /// The groups in which a number is above 0 in an iteration, and `at_last` in the last one.
    fn groups_above(
        &self,
        above: &SymbolExpr,
        at_last: &SymbolExpr,
        whole: &SymbolExpr,
    ) -> Option<(usize, GroupsOfDimension)> {
        let (d, groups) = self.groups_with(at_last)?;
        let trips = self.launch.put_in(whole)?;
        let falls =
            |name: &str| Some((0 - self.launch.put_in(&coefficient(above, name))?).simplified());
        let (turn, item) = (falls(TURN)?, falls(&format!("$lid_{d}"))?);
        let group = falls(&format!("$group_{d}"))?;
        let items = self.launch.size("local", d);
        let equal = |a: &Expr, b: Expr| Expr::binary(BinaryOp::Eq, a.clone(), b.simplified());
        // Places side by side: items, then iterations, then groups, or iterations before items.
        let one = || choice(equal(&trips, Expr::Int(1)), 1, equal(&turn, &item * &items));
        let by_item = all([one(), equal(&group, &item * &items * &trips), less(0, &item)]);
        let by_turn =
            all([equal(&item, &turn * &trips), equal(&group, &item * &items), less(0, &turn)]);
        let most = (self.launch.size("groups", d) * &items * &trips).simplified();
        let first = self.at_place(&at_turn(above, &SymbolExpr::Int(0)), [false; 3], [0; 3])?;
        let up_to = |step: &Expr| min(&most, ceil_div(max(0, &first), max(1, step)));
        let full = &groups * &items * &trips;
        let known = &self.launch.device.known;
        let iterations = choice(by_item, up_to(&item), choice(by_turn, up_to(&turn), full));
        let iterations = (known.narrowed(iterations), trips);
        Some((d, GroupsOfDimension { groups, iterations }))
    }

    /// Restricts a dimension to the groups that it had before and these have in common, at least.
    fn restrict(&self, around: &mut Around, (d, some_groups): (usize, GroupsOfDimension)) {
        let all = self.launch.size("groups", d);
        around.at_step[d] = Some(match around.at_step[d].take() {
            Some(before) if before == some_groups => before,
            Some(before) => {
                let groups = max(0, before.groups + some_groups.groups - &all);
                let items = self.launch.size("local", d);
                let (own, others) = (before.iterations, some_groups.iterations);
                let both = match [&own.1, &others.1].iter().all(|of| **of == Expr::Int(1)) {
                    true => max(&groups * &items, own.0 + others.0 - all * items),
                    false => &groups * items,
                };
                GroupsOfDimension { iterations: (both, Expr::Int(1)), groups }
            }
            None => some_groups,
        });
    }

    /// The least value of a number for any item, if it changes in one direction with each place.
    fn least_for_items(&self, number: &SymbolExpr) -> Option<Expr> {
        if !is_monotone(number) {
            return None;
        }
        let mut least: Option<Expr> = None;
        for corner in 0..64u32 {
            let bit = |i: u32| corner >> i & 1 == 1;
            let lasts = [bit(0), bit(1), bit(2)];
            let groups = [bit(3), bit(4), bit(5)].map(|last| if last { -1 } else { 0 });
            let other = |d: usize, what: &str| !mentions(number, &format!("${what}_{d}"));
            let skipped =
                (0..3).any(|d| lasts[d] && other(d, "lid") || groups[d] < 0 && other(d, "group"));
            if skipped {
                continue;
            }
            let value = self.at_place(number, lasts, groups)?;
            least = Some(least.map_or(value.clone(), |least| min(least, value)));
        }
        least
    }

    fn add_values(&self, values: Values, counts: &mut Counts) {
        let mut of_lanes: IndexMap<(Lanes, GroupsAtStep), Expr> = IndexMap::new();
        let mut chain = Expr::Int(0);
        for ((lanes, _), results) in values.by_key {
            if results.at_step.iter().all(Option::is_none) {
                chain = max(chain, results.chain);
            }
            *of_lanes.entry((lanes, results.at_step)).or_default() += results.count;
        }
        for ((lanes, at_step), count) in of_lanes {
            let what = match lanes {
                Lanes::Real => LeastCount::Real,
                Lanes::Special => LeastCount::Special,
                Lanes::Convert => LeastCount::Convert,
            };
            self.launch.add(what, &at_step, count, counts);
        }
        counts.insert((true, LeastCount::Chain), chain);
    }
}

fn has_barrier(steps: &[KernelStep]) -> bool {
    steps.iter().any(|step| step.kind == KernelStepKind::Barrier || step.bodies().any(has_barrier))
}

/// Whether one iteration of a loop is needed that is not the same for all items, and loads from
/// another place in each.
fn ends_apart(access: &MemoryAccess, around: &Around) -> bool {
    let loops = around.loops.iter().rev().zip(&access.needed.iterations).zip(&access.iterations);
    loops.into_iter().any(|((around, which), stride)| {
        let one = matches!(which, NeededIterations::One | NeededIterations::OneOfTwo);
        one && !around.alike && *stride != Stride::Elements(SymbolExpr::Int(0))
    })
}
