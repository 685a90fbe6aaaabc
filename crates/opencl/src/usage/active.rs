//! Which items and warps of a group are active on one side of a branch on the item's place.

use tickbound_expr::{BinaryOp, Expr};

use super::number::{ceil_div, choice, less, max, min};
use crate::ast::SourcePlace;
use crate::error::Read;
use crate::lower::{Item, Names};
use crate::steps::{SymbolExpr, depends_on_item, is_affine};

/// How many are active, of how many.
pub(super) type Fraction = (Expr, Expr);

/// All of them.
pub(super) fn whole() -> Fraction {
    (Expr::Int(1), Expr::Int(1))
}

/// The items and warps of a group that are active at a step.
#[derive(Debug, Clone)]
pub(super) struct Active {
    /// Items of a group.
    pub items: Fraction,
    /// Warps of a group: those with an active item.
    pub warps: Fraction,
}

impl Active {
    /// All of the group.
    pub fn all() -> Active {
        Active { items: whole(), warps: whole() }
    }

    /// Those that are active under both conditions: conditions on one row of places are nested,
    /// others are independent.
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

/// A number that decides which items fulfil a condition: those where it is above 0, or is 0.
enum Fulfilled {
    Above(SymbolExpr),
    Zero(SymbolExpr),
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
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        let minus = |a: &SymbolExpr, b: &SymbolExpr| {
            SymbolExpr::binary(BinaryOp::Sub, a.clone(), b.clone())
        };
        let plus_one = |n| SymbolExpr::binary(BinaryOp::Add, n, SymbolExpr::Int(1));
        if let Some(condition) = undivided(condition) {
            return self.active(&condition, holds, at);
        }
        let (which, fulfilled) = match condition {
            SymbolExpr::Not(inner) => return self.active(inner, !holds, at),
            SymbolExpr::Binary(op @ (And | Or), a, b) if (*op == And) == holds => {
                let first = self.active(a, holds, at)?;
                return if first.is_some() { Ok(first) } else { self.active(b, holds, at) };
            }
            // What is not 0 is true.
            SymbolExpr::Name(_) => (Fulfilled::Zero(condition.clone()), !holds),
            SymbolExpr::Binary(Eq, a, b) => (Fulfilled::Zero(minus(a, b)), holds),
            SymbolExpr::Binary(Ne, a, b) => (Fulfilled::Zero(minus(a, b)), !holds),
            SymbolExpr::Binary(Lt, a, b) => (Fulfilled::Above(minus(b, a)), holds),
            SymbolExpr::Binary(Gt, a, b) => (Fulfilled::Above(minus(a, b)), holds),
            SymbolExpr::Binary(Le, a, b) => (Fulfilled::Above(plus_one(minus(b, a))), holds),
            SymbolExpr::Binary(Ge, a, b) => (Fulfilled::Above(plus_one(minus(a, b))), holds),
            _ => return Ok(None),
        };
        let (Fulfilled::Above(number) | Fulfilled::Zero(number)) = &which;
        let row = if is_affine(number, &depends_on_item) { self.row(number, at)? } else { None };
        let Some((row, inner)) = row else { return Ok(None) };
        let ends = [&self.first, &self.last].map(|names| names.put_in(number, at));
        let [first, last] = ends.map(|end| end.map(|end| end.simplified()));
        let some = match which {
            Fulfilled::Zero(_) => some_zero(first?, last?),
            Fulfilled::Above(_) => above_zero(first?, last?, &row),
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
        let mut dimensions = Vec::new();
        let mut of_group = false;
        number.names(&mut |name: &String| {
            of_group |= name.starts_with("$group_");
            dimensions.extend((0..3).filter(|d| *name == format!("$lid_{d}")));
        });
        dimensions.sort_unstable();
        dimensions.dedup();
        let size = |d: usize| self.first.put_in(&SymbolExpr::Name(format!("$local_{d}")), at);
        let sizes = (0..3).map(|d| Ok(size(d)?.simplified())).collect::<Read<Vec<Expr>>>()?;
        Ok(match dimensions[..] {
            _ if of_group => None,
            [] => None,
            [d] => Some((sizes[d].clone(), sizes[..d].iter().product())),
            _ => Some((sizes.iter().product(), Expr::Int(1))),
        })
    }
}

/// The same condition on `a` where it compares `a / n` for a whole number `n`. One of equality is
/// that of 0: each quotient has as many places.
fn undivided(condition: &SymbolExpr) -> Option<SymbolExpr> {
    use BinaryOp::{Add, Div, Eq, FloorDiv, Ge, Gt, Le, Lt, Mul, Ne};
    let SymbolExpr::Binary(op, quotient, m) = condition else { return None };
    let SymbolExpr::Binary(Div | FloorDiv, a, n) = &**quotient else { return None };
    if !matches!(**n, SymbolExpr::Int(1..)) || !depends_on_item(a) || depends_on_item(m) {
        return None;
    }
    let times = |more| {
        let m = SymbolExpr::binary(Add, (**m).clone(), SymbolExpr::Int(more));
        SymbolExpr::binary(Mul, m, (**n).clone())
    };
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
fn above_zero(first: Expr, last: Expr, row: &Expr) -> Expr {
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
