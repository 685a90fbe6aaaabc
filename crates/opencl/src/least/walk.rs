//! The walk over the steps of one variant: loops, branches, and which groups come to a step.

use indexmap::IndexMap;
use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::LeastCount;

use super::accesses::{self, Site};
use super::values::{Values, value_count};
use super::{Counts, Which};
use crate::ast::{AddressSpace, SourcePlace};
use crate::lower::Names;
use crate::steps::{KernelStep, KernelStepKind, KernelSteps, Lanes, SymbolExpr, mentions};
use crate::usage::Device;
use crate::usage::number::{all, ceil_div, choice, less, max, min, quotient};

/// For each dimension in which some groups do not come to a step, who does.
pub(super) type Coming = [Option<Present>; 3];

/// Groups of one dimension that come to a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Present {
    /// Those all of whose items come with all iterations.
    pub groups: Expr,
    /// With how many iterations the items along the dimension come, over all groups, and how many
    /// one of them has if it comes with all.
    pub iterations: (Expr, Expr),
}

/// What stands around a step.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// The loops around, outer ones first.
    pub loops: Vec<LoopAround>,
    /// 1 if the conditions around hold that all items have in common, else 0.
    pub taken: Expr,
    /// The groups all of whose items come here.
    pub coming: Coming,
}

/// A loop around a step.
#[derive(Debug, Clone)]
pub(super) struct LoopAround {
    /// Least iterations.
    pub trips: Expr,
    /// Whether there is a barrier in it.
    pub barrier: bool,
    /// Its number among the loops.
    pub number: usize,
}

/// The walk.
pub(super) struct Walk<'a> {
    pub names: &'a Names,
    pub device: &'a Device<'a>,
    pub at: SourcePlace,
    pub sites: Vec<Site>,
    loops: usize,
}

/// What a kernel with these steps does at least.
pub(super) fn counts(steps: &KernelSteps, names: &Names, device: &Device<'_>) -> Counts {
    let Some(first) = steps.body.first() else { return Counts::new() };
    let mut walk = Walk { names, device, at: first.at.clone(), sites: Vec::new(), loops: 0 };
    let around = Around { loops: Vec::new(), taken: Expr::Int(1), coming: [None, None, None] };
    let values = walk.steps(&steps.body, &around);
    let mut counts = Counts::new();
    walk.add_values(values, &mut counts);
    accesses::add(&walk, &mut counts);
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
                    self.sites.push(Site { access: access.clone(), around: around.clone() });
                }
                KernelStepKind::Value(value) => {
                    all.take(value_count(value, around, self), None);
                }
                KernelStepKind::Repeat { whole: Some(_), .. } => {
                    // The parts of a loop have different iterations.
                    let part = |next: &&KernelStep| {
                        let cut =
                            matches!(next.kind, KernelStepKind::Repeat { whole: Some(_), .. });
                        cut && next.at == step.at
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
                KernelStepKind::Repeat { .. } => {
                    let own = self.repeat(step, around);
                    all.take(own, None);
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

    fn repeat(&mut self, step: &KernelStep, around: &Around) -> Values {
        let KernelStepKind::Repeat { count, whole, body } = &step.kind else {
            return Values::default();
        };
        let mut inside = around.clone();
        let full = whole
            .as_ref()
            .and_then(|whole| Some((self.put_in(whole)?, self.present_in(count, whole)?)));
        let trips = match full {
            Some((trips, present)) => {
                self.come(&mut inside, present);
                Some(trips)
            }
            None => self.least_of(count),
        };
        let trips = self.device.known.narrowed(max(0, trips.unwrap_or(Expr::Int(0)).simplified()));
        let at_all = less(0, &trips);
        inside.taken = self.device.known.narrowed(choice(at_all, &inside.taken, 0));
        self.loops += 1;
        let (barrier, number) = (has_barrier(body), self.loops);
        inside.loops.push(LoopAround { trips, barrier, number });
        self.steps(body, &inside)
    }

    /// What stands around a side of a branch; `None` if nothing is known of who takes it.
    fn side(&self, condition: &SymbolExpr, holds: bool, around: &Around) -> Option<Around> {
        let mut inside = around.clone();
        if is_uniform(condition) {
            let condition = self.put_in(condition)?;
            inside.taken = match holds {
                true => choice(condition, &inside.taken, 0),
                false => choice(condition, 0, &inside.taken),
            };
            inside.taken = self.device.known.narrowed(inside.taken);
            return (inside.taken != Expr::Int(0)).then_some(inside);
        }
        let mut numbers = Vec::new();
        above(condition, holds, &mut numbers)?;
        for number in numbers {
            match !is_uniform(&number) {
                true => {
                    let present = self.present(&number, &number, &SymbolExpr::Int(1))?;
                    self.come(&mut inside, present);
                }
                false => {
                    let holds = less(0, self.put_in(&number)?);
                    inside.taken = choice(holds, &inside.taken, 0);
                }
            }
        }
        Some(inside)
    }

    /// A number over the problem's names that no item decides.
    pub fn put_in(&self, number: &SymbolExpr) -> Option<Expr> {
        if ["$lid_", "$group_", "$bound_", "$line_", "$asked_"].iter().any(|n| mentions(number, n))
        {
            return None;
        }
        self.names.put_in(number, &self.at).ok().map(|number| number.simplified())
    }

    /// A size of a group (`local`) or of the launch in groups (`groups`) in a dimension.
    pub fn size(&self, what: &str, d: usize) -> Expr {
        self.put_in(&SymbolExpr::Name(format!("${what}_{d}"))).unwrap_or(Expr::Int(0))
    }

    /// The same for an item: for each dimension whether it is the last one of its group, and the
    /// group.
    fn at_place(&self, number: &SymbolExpr, last: [bool; 3], group: [i64; 3]) -> Option<Expr> {
        let placed = number.replace(&mut |name: &String| {
            let digit = |start: &str| {
                name.strip_prefix(start).and_then(|d| d.parse::<usize>().ok()).filter(|d| *d < 3)
            };
            Ok::<_, std::convert::Infallible>(match (digit("$lid_"), digit("$group_")) {
                (Some(d), _) if last[d] => SymbolExpr::binary(
                    BinaryOp::Sub,
                    SymbolExpr::Name(format!("$local_{d}")),
                    SymbolExpr::Int(1),
                ),
                (Some(_), _) => SymbolExpr::Int(0),
                (_, Some(d)) if group[d] >= 0 => SymbolExpr::Int(group[d]),
                (_, Some(d)) => SymbolExpr::binary(
                    BinaryOp::Sub,
                    SymbolExpr::Name(format!("$groups_{d}")),
                    SymbolExpr::Int(1),
                ),
                _ => SymbolExpr::Name(name.clone()),
            })
        });
        self.put_in(&placed.ok()?)
    }

    /// In how many groups, counted along one dimension, a number that changes evenly is above 0 for
    /// all items; `None` if several dimensions decide it.
    fn groups_with(&self, above: &SymbolExpr) -> Option<(usize, Expr)> {
        let (d, first, falls) = self.falling(above)?;
        let rises = (0 - &falls).simplified();
        let all = self.size("groups", d);
        let falling = min(&all, ceil_div(max(0, &first), max(1, &falls)));
        let rising = max(0, &all - min(&all, ceil_div(max(0, 1 - &first), max(1, &rises))));
        let same = choice(less(0, &first), &all, 0);
        let groups = choice(less(0, &falls), falling, choice(less(0, rises), rising, same));
        Some((d, self.device.known.narrowed(groups)))
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
        let rises = self.put_in(&coefficient(number, &format!("$group_{d}")))?;
        Some((*d, first, (0 - rises).simplified()))
    }

    /// Who comes to a part of a loop with `count` iterations, where all `whole` would be others'.
    fn present_in(&self, count: &SymbolExpr, whole: &SymbolExpr) -> Option<(usize, Present)> {
        let inner = other(other(count, Function::Min, whole)?, Function::Max, &SymbolExpr::Int(0))?;
        let next = SymbolExpr::Name(TURN.to_owned());
        let next = SymbolExpr::binary(BinaryOp::Add, next, SymbolExpr::Int(1));
        self.present(&above_least(inner, &next)?, &above_least(inner, whole)?, whole)
    }

    /// Who comes where a number is above 0 in an iteration, and `at_last` in the last one of
    /// `whole`.
    fn present(
        &self,
        above: &SymbolExpr,
        at_last: &SymbolExpr,
        whole: &SymbolExpr,
    ) -> Option<(usize, Present)> {
        let (d, groups) = self.groups_with(at_last)?;
        let trips = self.put_in(whole)?;
        let falls = |name: &str| Some((0 - self.put_in(&coefficient(above, name))?).simplified());
        let (turn, item) = (falls(TURN)?, falls(&format!("$lid_{d}"))?);
        let group = falls(&format!("$group_{d}"))?;
        let items = self.size("local", d);
        let equal = |a: &Expr, b: Expr| Expr::binary(BinaryOp::Eq, a.clone(), b.simplified());
        // Places side by side: items, then iterations, then groups, or iterations before items.
        let one = || choice(equal(&trips, Expr::Int(1)), 1, equal(&turn, &item * &items));
        let by_item = all([one(), equal(&group, &item * &items * &trips), less(0, &item)]);
        let by_turn =
            all([equal(&item, &turn * &trips), equal(&group, &item * &items), less(0, &turn)]);
        let most = (self.size("groups", d) * &items * &trips).simplified();
        let first = self.at_place(&without(above, TURN), [false; 3], [0; 3])?;
        let up_to = |step: &Expr| min(&most, ceil_div(max(0, &first), max(1, step)));
        let full = &groups * &items * &trips;
        let known = &self.device.known;
        let iterations = choice(by_item, up_to(&item), choice(by_turn, up_to(&turn), full));
        let iterations = (known.narrowed(iterations), trips);
        Some((d, Present { groups, iterations }))
    }

    /// Only some groups of a dimension come: those that came before and these have at least so
    /// many in common.
    fn come(&self, around: &mut Around, (d, present): (usize, Present)) {
        let all = self.size("groups", d);
        around.coming[d] = Some(match around.coming[d].take() {
            Some(before) if before == present => before,
            Some(before) => {
                let groups = max(0, before.groups + present.groups - all);
                let items = self.size("local", d);
                Present { iterations: (&groups * items, Expr::Int(1)), groups }
            }
            None => present,
        });
    }

    /// The least value of a number for any item, if it changes in one direction with each place.
    fn least_of(&self, number: &SymbolExpr) -> Option<Expr> {
        if !is_monotone(number) {
            return None;
        }
        let of_items = mentions(number, "$lid_");
        let of_groups = mentions(number, "$group_");
        let mut least: Option<Expr> = None;
        for corner in 0..64u32 {
            let bit = |i: u32| corner >> i & 1 == 1;
            let lasts = [bit(0), bit(1), bit(2)];
            let groups = [bit(3), bit(4), bit(5)].map(|last| if last { -1 } else { 0 });
            let other = |d: usize, what: &str| !mentions(number, &format!("${what}_{d}"));
            let skipped = (0..3).any(|d| {
                lasts[d] && (!of_items || other(d, "lid"))
                    || groups[d] < 0 && (!of_groups || other(d, "group"))
            });
            if skipped {
                continue;
            }
            let value = self.at_place(number, lasts, groups)?;
            least = Some(least.map_or(value.clone(), |least| min(least, value)));
        }
        least
    }

    /// Adds results of operations.
    fn add_values(&self, values: Values, counts: &mut Counts) {
        let mut of_lanes: IndexMap<(Lanes, Coming), Expr> = IndexMap::new();
        let mut chain = Expr::Int(0);
        for ((lanes, _), results) in values.by_key {
            if results.coming.iter().all(Option::is_none) {
                chain = max(chain, results.chain);
            }
            *of_lanes.entry((lanes, results.coming)).or_default() += results.count;
        }
        for ((lanes, coming), count) in of_lanes {
            let what = match lanes {
                Lanes::Real => LeastCount::Real,
                Lanes::Special => LeastCount::Special,
                Lanes::Convert => LeastCount::Convert,
            };
            self.add(what, &coming, count, counts);
        }
        counts.insert((true, LeastCount::Chain), chain);
    }

    /// Adds what a warp, or a group, does in the groups that come.
    pub fn add(&self, what: LeastCount, coming: &Coming, count: Expr, counts: &mut Counts) {
        let mut add = |which: Which, more: Expr| *counts.entry(which).or_default() += more;
        if coming.iter().all(Option::is_none) {
            return add((true, what), count);
        }
        let mut every = Expr::Int(1);
        let (mut groups, mut iterations, mut of) = (Expr::Int(1), Expr::Int(1), Expr::Int(1));
        let items = (0..3).map(|d| self.size("local", d)).product::<Expr>();
        for (d, present) in coming.iter().enumerate() {
            let whole = self.size("groups", d);
            let Some(present) = present else {
                iterations = iterations * (&whole * self.size("local", d));
                groups = groups * whole;
                continue;
            };
            let own = Expr::binary(BinaryOp::Eq, present.groups.clone(), whole);
            every = choice(own, every, 0);
            groups = groups * &present.groups;
            iterations = iterations * &present.iterations.0;
            of = of * &present.iterations.1;
        }
        add((true, what), self.device.known.narrowed(choice(every, &count, 0)));
        let of_warps = !matches!(what, LeastCount::GlobalBytes | LeastCount::LocalBytes);
        let warps = if of_warps { ceil_div(items, self.device.warp) } else { Expr::Int(1) };
        let of_groups = &count * groups * warps;
        // Of results and requests each iteration counts: the first ones have no fewer than later
        // ones. Of bytes, which lanes have in common, whole groups do.
        let some = match of_warps {
            true => max(of_groups, quotient(count * iterations, max(1, of * self.device.warp))),
            false => of_groups,
        };
        add((false, what), some);
    }
}

fn has_barrier(steps: &[KernelStep]) -> bool {
    steps.iter().any(|step| step.kind == KernelStepKind::Barrier || step.bodies().any(has_barrier))
}

/// What is above 0 where a condition holds, or does not; `None` if it is no comparison.
fn above(condition: &SymbolExpr, holds: bool, found: &mut Vec<SymbolExpr>) -> Option<()> {
    use BinaryOp::{Add, And, Ge, Gt, Le, Lt, Or, Sub};
    let minus = |a: &SymbolExpr, b: &SymbolExpr| SymbolExpr::binary(Sub, a.clone(), b.clone());
    let or_equal = |n: SymbolExpr| SymbolExpr::binary(Add, n, SymbolExpr::Int(1));
    match condition {
        SymbolExpr::Not(inner) => above(inner, !holds, found),
        SymbolExpr::Binary(op @ (And | Or), a, b) if (*op == And) == holds => {
            above(a, holds, found)?;
            above(b, holds, found)
        }
        SymbolExpr::Binary(op @ (Lt | Gt | Le | Ge), a, b) => {
            let (a, b) = if matches!(op, Lt | Le) { (a, b) } else { (b, a) };
            let strict = matches!(op, Lt | Gt);
            // a < b; or a <= b; or what is not.
            found.push(match (strict, holds) {
                (true, true) => minus(b, a),
                (false, true) => or_equal(minus(b, a)),
                (true, false) => or_equal(minus(a, b)),
                (false, false) => minus(a, b),
            });
            Some(())
        }
        _ => None,
    }
}

/// The name of an iteration.
const TURN: &str = "$turn";

/// What a number that changes evenly grows by if a name grows by one.
fn coefficient(number: &SymbolExpr, name: &str) -> SymbolExpr {
    use BinaryOp::{Add, Mul, Sub};
    let of = |n: &SymbolExpr| coefficient(n, name);
    let folded = |op, a, b| SymbolExpr::folded(op, a, b);
    match number {
        SymbolExpr::Name(own) if own == name => SymbolExpr::Int(1),
        SymbolExpr::Neg(inner) => folded(Sub, SymbolExpr::Int(0), of(inner)),
        SymbolExpr::Binary(op @ (Add | Sub), a, b) => folded(*op, of(a), of(b)),
        SymbolExpr::Binary(Mul, a, b) => match (of(a), of(b)) {
            (SymbolExpr::Int(0), SymbolExpr::Int(0)) => SymbolExpr::Int(0),
            (SymbolExpr::Int(0), own) => folded(Mul, (**a).clone(), own),
            (own, _) => folded(Mul, own, (**b).clone()),
        },
        _ => SymbolExpr::Int(0),
    }
}

/// The number with 0 for a name.
fn without(number: &SymbolExpr, name: &str) -> SymbolExpr {
    let replaced = number.replace(&mut |own: &String| {
        Ok::<_, std::convert::Infallible>(match own == name {
            true => SymbolExpr::Int(0),
            false => SymbolExpr::Name(own.clone()),
        })
    });
    replaced.unwrap_or_else(|never| match never {})
}

/// What is above 0 where a number is at least `least`.
fn above_least(number: &SymbolExpr, least: &SymbolExpr) -> Option<SymbolExpr> {
    use BinaryOp::{Add, Div, FloorDiv, Mul, Sub};
    let binary = |op, a: &SymbolExpr, b: &SymbolExpr| SymbolExpr::binary(op, a.clone(), b.clone());
    let one = SymbolExpr::Int(1);
    match number {
        // ceil(a / b) >= n: a > b (n - 1).
        SymbolExpr::Call(Function::CeilDiv, parts) => match parts.as_slice() {
            [a, b] => Some(binary(Sub, a, &binary(Mul, b, &binary(Sub, least, &one)))),
            _ => None,
        },
        // floor(a / b) >= n: a >= b n.
        SymbolExpr::Binary(FloorDiv | Div, a, b) => {
            Some(binary(Add, &binary(Sub, a, &binary(Mul, b, least)), &one))
        }
        number if is_affine_in_place(number) => {
            Some(binary(Add, &binary(Sub, number, least), &one))
        }
        SymbolExpr::Binary(Sub, a, b) => above_least(a, &binary(Add, least, b)),
        SymbolExpr::Binary(Add, a, b) if is_affine_in_place(b) => {
            above_least(a, &binary(Sub, least, b))
        }
        SymbolExpr::Binary(Add, a, b) => above_least(b, &binary(Sub, least, a)),
        _ => None,
    }
}

/// Of the lesser or greater of two numbers the one that is not this one.
fn other<'n>(number: &'n SymbolExpr, of: Function, one: &SymbolExpr) -> Option<&'n SymbolExpr> {
    match number {
        SymbolExpr::Call(function, parts) if *function == of => match parts.as_slice() {
            [a, b] if b == one => Some(a),
            [a, b] if a == one => Some(b),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a number changes evenly with the places of the item and of its group.
fn is_affine_in_place(number: &SymbolExpr) -> bool {
    use BinaryOp::{Add, Mul, Sub};
    match number {
        number if is_uniform(number) => true,
        SymbolExpr::Name(_) => true,
        SymbolExpr::Neg(inner) => is_affine_in_place(inner),
        SymbolExpr::Binary(Add | Sub, a, b) => is_affine_in_place(a) && is_affine_in_place(b),
        SymbolExpr::Binary(Mul, a, b) => {
            is_affine_in_place(a) && is_affine_in_place(b) && (is_uniform(a) || is_uniform(b))
        }
        _ => false,
    }
}

/// Whether a number is the same for all items.
fn is_uniform(number: &SymbolExpr) -> bool {
    !mentions(number, "$lid_") && !mentions(number, "$group_")
}

/// How a number changes where a place grows by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Still,
    Up,
    Down,
    /// In one of both directions.
    One,
}

impl Direction {
    fn reversed(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
            other => other,
        }
    }

    /// Of a sum, or of the lesser or the greater of two.
    fn with(self, other: Direction) -> Option<Direction> {
        match (self, other) {
            (Direction::Still, one) | (one, Direction::Still) => Some(one),
            (a, b) => (a == b && a != Direction::One).then_some(a),
        }
    }
}

/// In which direction a number changes with a name; `None` if in no single one.
fn direction(number: &SymbolExpr, name: &str) -> Option<Direction> {
    use BinaryOp::{Add, Div, FloorDiv, Mul, Sub};
    let of = |n: &SymbolExpr| direction(n, name);
    let still = |n: &SymbolExpr| !mentions(n, name);
    match number {
        number if still(number) => Some(Direction::Still),
        SymbolExpr::Name(_) => Some(Direction::Up),
        SymbolExpr::Neg(inner) => Some(of(inner)?.reversed()),
        SymbolExpr::Binary(Add, a, b) => of(a)?.with(of(b)?),
        SymbolExpr::Binary(Sub, a, b) => of(a)?.with(of(b)?.reversed()),
        SymbolExpr::Binary(Mul, a, b) => {
            let (one, factor) = if still(b) { (a, b) } else { (b, a) };
            let direction = of(one).filter(|_| still(factor))?;
            // Sizes are not negative; of other factors the sign is not known.
            let size = matches!(&**factor, SymbolExpr::Int(0..))
                || matches!(&**factor, SymbolExpr::Name(size) if size.starts_with("$local_"));
            Some(if size { direction } else { Direction::One })
        }
        // What is divided by is above 0.
        SymbolExpr::Binary(Div | FloorDiv, a, b) if still(b) => of(a),
        SymbolExpr::Call(Function::CeilDiv, parts) => match parts.as_slice() {
            [a, b] if still(b) => of(a),
            _ => None,
        },
        SymbolExpr::Call(Function::Min | Function::Max, parts) => {
            parts.iter().try_fold(Direction::Still, |all, part| all.with(of(part)?))
        }
        _ => None,
    }
}

/// Whether a number changes in one direction with each place, so that it is least at an end of
/// each.
fn is_monotone(number: &SymbolExpr) -> bool {
    let places = (0..3).flat_map(|d| [format!("$lid_{d}"), format!("$group_{d}")]);
    places.into_iter().all(|place| direction(number, &place).is_some())
}
