//! What stands around a step, and how often that makes it happen.

use tickbound_expr::Expr;

use super::number::{add, ceil_div, choice, less, max, min, mul, sub};

/// What stands around a step.
#[derive(Debug, Clone)]
pub(super) struct Around {
    /// Loops, outer ones first.
    pub loops: Vec<Loop>,
    /// 1 if the item takes all branches around, else 0.
    pub taken: Expr,
    /// Whether one of them depends on the item.
    pub guarded: bool,
    /// Where one item of each group comes: 1 if it takes all other branches around, else 0.
    alone: Option<Expr>,
    /// Of all items, how many in how many come here.
    share: (Expr, Expr),
}

#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub trips: Expr,
    /// Whether it is unrolled as a whole.
    pub unrolled: bool,
    /// Iterations of one body, if not.
    pub body: Expr,
}

impl Loop {
    /// How often its body is executed.
    fn bodies(&self) -> Expr {
        ceil_div(self.trips.clone(), self.body.clone())
    }
}

/// Items that do something: so many in so many. A number that falls evenly from the first item of a
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
        let share = (Expr::Int(1), Expr::Int(1));
        Around { loops: Vec::new(), taken: Expr::Int(1), guarded: false, alone: None, share }
    }

    /// How often the steps are executed, on average over the items where that is known.
    pub fn executed(&self) -> Expr {
        self.shared(self.loops.iter().fold(self.taken.clone(), |all, l| mul(all, l.trips.clone())))
    }

    /// How often one item of each group executes the steps, where only one does.
    pub fn executed_alone(&self) -> Option<Expr> {
        let alone = self.alone.clone()?;
        Some(self.loops.iter().fold(alone, |all, l| mul(all, l.trips.clone())))
    }

    /// How often, if those in unrolled loops, with no other in them, are executed once; so are
    /// those in one body of a loop that is unrolled in part.
    pub fn rolled(&self) -> Expr {
        self.shared(self.rolled_for_one())
    }

    /// The same for an item that comes here, whatever the others do.
    pub fn rolled_for_one(&self) -> Expr {
        let Some((innermost, outer)) = self.loops[..self.rolled_loops()].split_last() else {
            return self.taken.clone();
        };
        let all = outer.iter().fold(self.taken.clone(), |all, l| mul(all, l.trips.clone()));
        mul(all, innermost.bodies())
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

    /// The share of the items that come here of so much.
    fn shared(&self, all: Expr) -> Expr {
        ceil_div(mul(all, self.share.0.clone()), self.share.1.clone())
    }

    /// Inside one more loop, unrolled as a whole.
    pub fn unrolled(&self, trips: Expr) -> Around {
        let mut inside = self.clone();
        inside.loops.push(Loop { trips, unrolled: true, body: Expr::Int(1) });
        inside
    }

    /// Inside one more loop that stays one, with so many iterations in one body.
    pub fn in_loop(&self, trips: Expr, body: Expr) -> Around {
        let mut inside = self.clone();
        inside.loops.push(Loop { trips, unrolled: false, body });
        inside
    }

    /// Where a condition holds (1) or does not (0).
    pub fn on_side(&self, condition: Expr, holds: bool) -> Around {
        let on_side = |taken: &Expr| match holds {
            true => choice(condition.clone(), taken.clone(), Expr::Int(0)),
            false => choice(condition.clone(), Expr::Int(0), taken.clone()),
        };
        let (taken, alone) = (on_side(&self.taken), self.alone.as_ref().map(on_side));
        Around { taken, alone, ..self.clone() }
    }

    /// Where one item of each group comes, which came from `before`.
    pub fn of_one(self, before: &Around) -> Around {
        let alone = before.alone.as_ref().unwrap_or(&before.taken);
        Around { alone: Some(alone.clone()), ..self }
    }

    /// The same, behind a condition on the item if there is one.
    pub fn guarded_if(self, guarded: bool) -> Around {
        Around { guarded: self.guarded || guarded, ..self }
    }

    /// Where only some items come.
    pub fn of_items(&self, Share { first, last, each, others }: Share) -> Around {
        let all = max(Expr::Int(1), add(sub(first.clone(), last), each));
        let some = max(Expr::Int(0), min(first, all.clone()));
        let some = if others { sub(all.clone(), some) } else { some };
        // Where all come, products stay small.
        let every = less(some.clone(), all.clone());
        let one = || Expr::Int(1);
        let share = (
            mul(self.share.0.clone(), choice(every.clone(), some, one())),
            mul(self.share.1.clone(), choice(every, all, one())),
        );
        Around { guarded: true, share, ..self.clone() }
    }
}
