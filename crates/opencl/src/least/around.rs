//! What stands around steps, numbers over the problem's names, and counts.

use indexmap::IndexMap;
use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::LeastCount;

use crate::ast::SourcePlace;
use crate::lower::Names;
use crate::steps::{MemoryAccess, SymbolExpr, mentions};
use crate::usage::Device;
use crate::usage::number::{ceil_div, choice, max, quotient};

/// What is counted: of all groups, or of some.
pub(super) type Which = (bool, LeastCount);

/// Counts of one variant, or of all.
pub(super) type Counts = IndexMap<Which, Expr>;

/// For each dimension in which some groups do not execute a step, those that do.
pub(super) type GroupsAtStep = [Option<GroupsOfDimension>; 3];

/// Groups of one dimension that execute a step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct GroupsOfDimension {
    /// Those all of whose items execute all iterations.
    pub groups: Expr,
    /// How many iterations the items along the dimension execute, over all groups, and how many
    /// one of them has if it executes all.
    pub iterations: (Expr, Expr),
}

/// What stands around a step.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// The loops around, outer ones first.
    pub loops: Vec<LoopAround>,
    /// 1 if the conditions around hold that all items have in common, else 0.
    pub taken: Expr,
    /// The groups all of whose items execute the step.
    pub at_step: GroupsAtStep,
}

#[derive(Debug, Clone)]
pub(super) struct LoopAround {
    /// Least iterations.
    pub trips: Expr,
    pub barrier: bool,
    /// Whether all items have as many iterations.
    pub alike: bool,
    /// Its number among the loops.
    pub number: usize,
}

/// An access, and what stands around it.
#[derive(Debug)]
pub(super) struct Site {
    pub access: MemoryAccess,
    pub around: Around,
}

/// The launch of a kernel on a device.
#[derive(Clone, Copy)]
pub(super) struct KernelLaunch<'a> {
    pub names: &'a Names,
    pub device: &'a Device<'a>,
    pub at: &'a SourcePlace,
}

impl KernelLaunch<'_> {
    /// A number over the problem's names that no item decides.
    pub fn put_in(&self, number: &SymbolExpr) -> Option<Expr> {
        if ["$lid_", "$group_", "$bound_", "$line_", "$asked_"].iter().any(|n| mentions(number, n))
        {
            return None;
        }
        self.names.put_in(number, self.at).ok().map(|number| number.simplified())
    }

    /// A size of a group (`local`) or of the launch in groups (`groups`) in a dimension.
    pub fn size(&self, what: &str, d: usize) -> Expr {
        self.put_in(&SymbolExpr::Name(format!("${what}_{d}"))).unwrap_or(Expr::Int(0))
    }

    /// The number without its sign, if that is known or can be asked.
    pub fn unsigned(&self, number: Expr) -> Option<Expr> {
        let range = self.device.known.range(&number);
        Some(match number {
            Expr::Int(n) => Expr::Int(n.checked_abs()?),
            number if range.is_some_and(|range| range.low >= 0) => number,
            number => Expr::Call(Function::Abs, vec![number]),
        })
    }

    /// Adds what a warp, or a group, does in the groups that execute it.
    pub fn add(&self, what: LeastCount, at_step: &GroupsAtStep, count: Expr, counts: &mut Counts) {
        let mut add = |which: Which, more: Expr| *counts.entry(which).or_default() += more;
        if at_step.iter().all(Option::is_none) {
            return add((true, what), count);
        }
        let mut every = Expr::Int(1);
        let (mut groups, mut iterations, mut of) = (Expr::Int(1), Expr::Int(1), Expr::Int(1));
        let items = (0..3).map(|d| self.size("local", d)).product::<Expr>();
        for (d, some_groups) in at_step.iter().enumerate() {
            let whole = self.size("groups", d);
            let Some(some_groups) = some_groups else {
                iterations = iterations * (&whole * self.size("local", d));
                groups = groups * whole;
                continue;
            };
            let own = Expr::binary(BinaryOp::Eq, some_groups.groups.clone(), whole);
            every = choice(own, every, 0);
            groups = groups * &some_groups.groups;
            iterations = iterations * &some_groups.iterations.0;
            of = of * &some_groups.iterations.1;
        }
        add((true, what), self.device.known.narrowed(choice(&every, &count, 0)));
        let of_warps = !matches!(what, LeastCount::GlobalBytes | LeastCount::LocalBytes);
        let warps = if of_warps { ceil_div(items, self.device.warp) } else { Expr::Int(1) };
        let of_groups = &count * groups * warps;
        // Of results and requests each iteration counts: the first ones have no fewer than later
        // ones. Of bytes, which lanes have in common, whole groups do.
        let some = match of_warps {
            true => max(of_groups, quotient(count * iterations, max(1, of * self.device.warp))),
            false => of_groups,
        };
        add((false, what), self.device.known.narrowed(choice(every, 0, some)));
    }
}
