//! Which items and warps of a group are active on one side of a branch on the item's place.

use tickbound_expr::{BinaryOp, Expr};

use super::number::{ceil_div, choice, less, max, min, sizes};
use crate::ast::SourcePlace;
use crate::error::Read;
use crate::lower::{Item, Names};
use crate::steps::{SymbolExpr, above_zero, depends_on_item, is_affine, mentions};

/// How many are active, of how many.
pub(super) type Fraction = (Expr, Expr);

pub(super) fn whole() -> Fraction {
    (Expr::Int(1), Expr::Int(1))
}

/// The items and warps of a group that are active at a step.
#[derive(Debug, Clone)]
pub(super) struct Active {
    pub items: Fraction,
    /// Warps of a group: those with an active item.
    pub warps: Fraction,
}

impl Active {
    pub fn all() -> Active {
        Active { items: whole(), warps: whole() }
    }

    /// Active under both conditions: those on one row of places are nested, others independent.
    pub fn and(&self, others: Active) -> Active {
        let nested = self.items.1 == others.items.1;
        let items = match nested {
            true => (min(&self.items.0, others.items.0), others.items.1),
            false => (&self.items.0 * others.items.0, &self.items.1 * others.items.1),
        };
        let warps = match self.warps.1 == others.warps.1 {
            true => (min(&self.warps.0, others.warps.0), others.warps.1),
            false if others.warps == whole() => self.warps.clone(),
            false => others.warps,
        };
        Active { items, warps }
    }
}

/// The group in the middle, which represents all.
#[derive(Debug)]
pub(super) struct MiddleGroup {
    first: Names,
    last: Names,
    warp: i64,
}

impl MiddleGroup {
    /// Of a launch with these names, in warps of `warp` items.
    pub fn new(names: &Names, warp: i64) -> MiddleGroup {
        let of = |item| names.of_item(item);
        MiddleGroup { first: of(Item::Middle), last: of(Item::MiddleLast), warp }
    }

    /// The items and warps that are active where a condition holds, or does not; `None` unless it
    /// compares a number that changes evenly with the place in the group.
    pub fn active(
        &self,
        condition: &SymbolExpr,
        holds: bool,
        at: &SourcePlace,
    ) -> Read<Option<Active>> {
        use BinaryOp::{And, Eq, Ne, Or};
        if let Some(condition) = undivided(condition) {
            return self.active(&condition, holds, at);
        }
        // A number that is above 0, or is 0, for the items that fulfil the condition.
        let (number, zero, fulfilled) = match condition {
            SymbolExpr::Not(inner) => return self.active(inner, !holds, at),
            SymbolExpr::Binary(op @ (And | Or), a, b) if (*op == And) == holds => {
                let first = self.active(a, holds, at)?;
                return if first.is_some() { Ok(first) } else { self.active(b, holds, at) };
            }
            // What is not 0 is true.
            SymbolExpr::Name(_) => (condition.clone(), true, !holds),
            SymbolExpr::Binary(op @ (Eq | Ne), a, b) => (&**a - &**b, true, (*op == Eq) == holds),
            SymbolExpr::Binary(op, a, b) => match above_zero(*op, a, b) {
                Some(number) => (number, false, holds),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let number = &number;
        let row = if is_affine(number, &depends_on_item) { self.row(number, at)? } else { None };
        let Some((row, inner)) = row else { return Ok(None) };
        let ends = [&self.first, &self.last].map(|names| names.put_in(number, at));
        let [first, last] = ends.map(|end| end.map(|end| end.simplified()));
        let some = match zero {
            true => some_zero(first?, last?),
            false => some_above_zero(first?, last?, &row),
        };
        let some = if fulfilled { some } else { &row - some };
        let part = ceil_div(&some * &inner, self.warp);
        let all = ceil_div(&row * &inner, self.warp);
        // A warp of whole rows has active items wherever they are in a row.
        let long = less(self.warp, &row * &inner);
        let warps = (choice(&long, part, 1), choice(long, all, 1));
        Ok(Some(Active { items: (some, row), warps }))
    }

    /// How many places a number distinguishes and how many neighbours share one: those of one
    /// dimension, or of all items. `None` where it names none, or the group.
    fn row(&self, number: &SymbolExpr, at: &SourcePlace) -> Read<Option<(Expr, Expr)>> {
        let dimensions: Vec<usize> =
            (0..3).filter(|d| mentions(number, &format!("$lid_{d}"))).collect();
        let sizes = sizes(&self.first, "local", at)?;
        Ok(match dimensions[..] {
            _ if mentions(number, "$group_") => None,
            [] => None,
            [d] => Some((sizes[d].clone(), sizes[..d].iter().product())),
            _ => Some((sizes.iter().product(), Expr::Int(1))),
        })
    }
}

/// The same condition on `a` where it compares `a / n` for a whole number `n`. One of equality is
/// that of 0: each quotient has as many places.
fn undivided(condition: &SymbolExpr) -> Option<SymbolExpr> {
    use BinaryOp::{Div, Eq, FloorDiv, Ge, Gt, Le, Lt, Ne};
    let SymbolExpr::Binary(op, quotient, m) = condition else { return None };
    let SymbolExpr::Binary(Div | FloorDiv, a, n) = &**quotient else { return None };
    if !matches!(**n, SymbolExpr::Int(1..)) || !depends_on_item(a) || depends_on_item(m) {
        return None;
    }
    let times = |more: i64| (&**m + more) * &**n;
    let (op, bound) = match op {
        Eq => (Lt, (**n).clone()),
        Ne => (Ge, (**n).clone()),
        Lt | Ge => (*op, times(0)),
        Le => (Lt, times(1)),
        Gt => (Ge, times(1)),
        _ => return None,
    };
    Some(SymbolExpr::binary(op, (**a).clone(), bound))
}

/// For how many of `row` places a number is above 0 that changes evenly from `first` to `last`.
fn some_above_zero(first: Expr, last: Expr, row: &Expr) -> Expr {
    let (most, least) = (max(&first, &last), min(&first, &last));
    let steps = (row - 1).simplified();
    let some = match ((&first - &last).simplified(), (&last - &first).simplified()) {
        (falls, _) if falls == steps => first,
        (_, rises) if rises == steps => last,
        _ => ceil_div(&most * steps, max(1, &most - &least)),
    };
    choice(less(0, least), row, max(0, min(some, row)))
}

/// 1 if such a number may be 0 somewhere, else 0.
fn some_zero(first: Expr, last: Expr) -> Expr {
    let (most, least) = (max(&first, &last), min(first, last));
    choice(less(most, 0), 0, choice(less(0, least), 0, 1))
}
