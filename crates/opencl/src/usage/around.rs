//! How often a step is executed: the loops and branches around it.
//!
//! Some conditions hold for a part of the items of a launch, `place < n` where groups reach beyond
//! `n`.

use tickbound_expr::{BinaryOp, Expr, Function};

use super::active::{self, Active, Fraction};
use super::number::{ceil_div, choice, less, max, min, on_side};
use crate::ast::SourcePlace;
use crate::error::Read;
use crate::lower::{Item, Names};
use crate::steps::{SymbolExpr, above_zero, mentions};

/// What stands around a step.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// Loops, outer ones first.
    pub loops: Vec<Loop>,
    /// 1 if the item takes all branches around, else 0.
    pub taken: Expr,
    /// Whether one of them depends on the item.
    pub guarded: bool,
    /// The items and warps of a group that are active, by conditions on their place in it.
    pub active: Active,
    /// Of all items, how many in how many come here.
    pub share: Fraction,
}

#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub trips: Expr,
    /// Whether it is unrolled as a whole.
    pub unrolled: bool,
    /// Iterations of one body, if not.
    pub body: Expr,
}

/// Share of the items that do something. A number that falls evenly from the first item of a
/// launch to the last one is above 0 for as large a part of them.
#[derive(Debug, Clone)]
pub(super) struct Share {
    /// Above 0 where something is done, at the first item.
    pub first: Expr,
    /// The same at the last item.
    pub last: Expr,
    /// How often each of those items does it.
    pub each: Expr,
    /// Whether it is about the other items.
    pub others: bool,
}

impl Around {
    pub fn nothing() -> Around {
        let (taken, active, share) = (Expr::Int(1), Active::all(), active::whole());
        Around { loops: Vec::new(), taken, guarded: false, active, share }
    }

    /// How often the steps are executed, on average over the items where that is known.
    pub fn executed(&self) -> Expr {
        self.shared(self.loops.iter().fold(self.taken.clone(), |all, l| all * &l.trips))
    }

    /// How often, if those in unrolled loops, with no other in them, are executed once; so are
    /// those in one body of a loop that is unrolled in part.
    pub fn rolled(&self) -> Expr {
        self.shared(self.rolled_for_one())
    }

    /// The same for an item that comes here, independent of the others.
    pub fn rolled_for_one(&self) -> Expr {
        let Some((innermost, outer)) = self.loops[..self.rolled_loops()].split_last() else {
            return self.taken.clone();
        };
        let all = outer.iter().fold(self.taken.clone(), |all, l| all * &l.trips);
        all * ceil_div(&innermost.trips, &innermost.body)
    }

    /// Iterations of one body of the innermost loop that is not unrolled as a whole; 1 without one.
    pub fn body(&self) -> Expr {
        let innermost = self.rolled_loops().checked_sub(1).and_then(|i| self.loops.get(i));
        innermost.map_or(Expr::Int(1), |l| l.body.clone())
    }

    /// How many loops there are up to the innermost one that is not unrolled as a whole.
    pub fn rolled_loops(&self) -> usize {
        self.loops.iter().rposition(|l| !l.unrolled).map_or(0, |i| i + 1)
    }

    /// The part of `all` for the share of items that come here.
    fn shared(&self, all: Expr) -> Expr {
        ceil_div(all * &self.share.0, &self.share.1)
    }

    pub fn inside(&self, around: Loop) -> Around {
        let mut inside = self.clone();
        inside.loops.push(around);
        inside
    }

    /// Where a condition holds (1) or does not (0).
    pub fn on_side(&self, condition: Expr, holds: bool) -> Around {
        Around { taken: on_side(condition, holds, &self.taken), ..self.clone() }
    }

    /// Where only some items come.
    pub fn of_items(&self, Share { first, last, each, others }: Share) -> Around {
        let all = max(1, &first - last + each);
        let some = max(0, min(first, &all));
        let some = if others { &all - some } else { some };
        // Where all come, products stay small.
        let every = less(&some, &all);
        let one = || Expr::Int(1);
        let share = (
            &self.share.0 * choice(&every, some, one()),
            &self.share.1 * choice(every, all, one()),
        );
        Around { guarded: true, share, ..self.clone() }
    }
}

/// Names for the items at both ends of a launch.
#[derive(Debug)]
pub(super) struct Ends {
    first: Names,
    last: Names,
}

impl Ends {
    pub fn new(names: &Names) -> Ends {
        Ends { first: names.of_item(Item::First), last: names.of_item(Item::Last) }
    }

    /// Which items come into a part of `count` iterations of a loop of `whole`.
    pub fn of_loop(
        &self,
        count: &SymbolExpr,
        whole: &SymbolExpr,
        at: &SourcePlace,
    ) -> Read<Option<Share>> {
        let (part, others) = match count {
            SymbolExpr::Binary(BinaryOp::Sub, all, part) if **all == *whole => (&**part, true),
            count => (count, false),
        };
        unclamped(part, whole).map_or(Ok(None), |above| self.share(above, whole, others, at))
    }

    /// Which items take the side of a branch where its condition holds, or does not.
    pub fn of_side(
        &self,
        condition: &SymbolExpr,
        holds: bool,
        at: &SourcePlace,
    ) -> Read<Option<Vec<Share>>> {
        let SymbolExpr::Binary(op, a, b) = condition else { return Ok(None) };
        if *op == BinaryOp::And && holds {
            let both = (self.of_side(a, true, at)?, self.of_side(b, true, at)?);
            return Ok(both.0.zip(both.1).map(|(a, b)| [a, b].concat()));
        }
        let Some(above) = above_zero(*op, a, b) else { return Ok(None) };
        Ok(self.share(&above, &SymbolExpr::Int(1), !holds, at)?.map(|share| vec![share]))
    }

    fn share(
        &self,
        above: &SymbolExpr,
        each: &SymbolExpr,
        others: bool,
        at: &SourcePlace,
    ) -> Read<Option<Share>> {
        // Of the place of the group, and so of that of the item in the launch.
        if !mentions(above, "$group_") {
            return Ok(None);
        }
        let first = self.first.put_in(above, at)?.simplified();
        let last = self.last.put_in(above, at)?.simplified();
        let each = self.first.put_in(each, at)?.simplified();
        Ok(Some(Share { first, last, each, others }))
    }
}

/// The number `c` of `min(whole, max(0, c))`; `None` if `count` is none.
pub(crate) fn unclamped<'n>(count: &'n SymbolExpr, whole: &SymbolExpr) -> Option<&'n SymbolExpr> {
    let raised = other(count, Function::Min, whole)?;
    other(raised, Function::Max, &SymbolExpr::Int(0))
}

/// Of the lesser or greater of two numbers the one that is not this one.
fn other<'n>(
    number: &'n SymbolExpr,
    function: Function,
    one: &SymbolExpr,
) -> Option<&'n SymbolExpr> {
    let SymbolExpr::Call(f, parts) = number else { return None };
    match &parts[..] {
        [a, b] if *f == function && a == one => Some(b),
        [a, b] if *f == function && b == one => Some(a),
        _ => None,
    }
}
