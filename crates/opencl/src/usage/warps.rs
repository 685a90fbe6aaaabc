//! Which items and warps of a group come to one side of a branch on the item's place.

use tickbound_expr::{BinaryOp, Expr};

use super::number::{ceil_div, choice, less, max, min};
use crate::ast::SourcePlace;
use crate::error::Read;
use crate::lower::{Item, Names};
use crate::steps::SymbolExpr;

/// How many come, of how many.
pub(super) type Fraction = (Expr, Expr);

/// All of them.
pub(super) fn whole() -> Fraction {
    (Expr::Int(1), Expr::Int(1))
}

/// The items and warps of a group that come to a step.
#[derive(Debug, Clone)]
pub(super) struct Visitors {
    /// Items of a group.
    pub items: Fraction,
    /// Warps of a group: those with at least one of the items.
    pub warps: Fraction,
}

impl Visitors {
    /// All of the group.
    pub fn all() -> Visitors {
        Visitors { items: whole(), warps: whole() }
    }

    /// Of these the ones that are among others: those of one row of places are nested, others cross.
    pub fn and(&self, others: Visitors) -> Visitors {
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
        Visitors { items, warps }
    }
}

/// The group in the middle, which represents all.
#[derive(Debug)]
pub(super) struct MiddleGroup {
    first: Names,
    last: Names,
    warp: i64,
}

/// A number that tells which items fulfil a condition: those where it is above 0, or is 0.
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

    /// Who comes to the side of a branch on which its condition holds, or does not; `None` where
    /// the condition is not one on a place in the group that a number line divides.
    pub fn visitors(
        &self,
        condition: &SymbolExpr,
        holds: bool,
        at: &SourcePlace,
    ) -> Read<Option<Visitors>> {
        use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        let minus = |a: &SymbolExpr, b: &SymbolExpr| {
            SymbolExpr::binary(BinaryOp::Sub, a.clone(), b.clone())
        };
        let plus_one = |n| SymbolExpr::binary(BinaryOp::Add, n, SymbolExpr::Int(1));
        let (which, come) = match condition {
            SymbolExpr::Not(inner) => return self.visitors(inner, !holds, at),
            SymbolExpr::Binary(op @ (And | Or), a, b) if (*op == And) == holds => {
                let first = self.visitors(a, holds, at)?;
                return if first.is_some() { Ok(first) } else { self.visitors(b, holds, at) };
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
        let Some((row, inner)) = self.row(number, at)? else { return Ok(None) };
        let ends = [&self.first, &self.last].map(|names| names.put_in(number, at));
        let [first, last] = ends.map(|end| end.map(|end| end.simplified()));
        let some = match which {
            Fulfilled::Zero(_) => some_zero(first?, last?),
            Fulfilled::Above(_) => above_zero(first?, last?, &row),
        };
        let some = if come { some } else { &row - some };
        let part = ceil_div(&some * &inner, self.warp);
        let all = ceil_div(&row * &inner, self.warp);
        // A warp that has whole rows is visited in all of them.
        let long = less(self.warp, &row * &inner);
        let warps = (choice(&long, part, 1), choice(long, all, 1));
        Ok(Some(Visitors { items: (some, row), warps }))
    }

    /// The places that a number tells apart and how many neighbours share one: those of one
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
