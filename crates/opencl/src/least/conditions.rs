//! Conditions and counts of iterations: where they hold, and how they change with places.

use tickbound_expr::{BinaryOp, Function};

use crate::steps::{SymbolExpr, TURN, above_zero, is_affine, mentions, opposite, with_names};

/// Adds the numbers that are above 0 where a condition holds or not; `None`: no comparison.
pub(super) fn above(
    condition: &SymbolExpr,
    holds: bool,
    found: &mut Vec<SymbolExpr>,
) -> Option<()> {
    use BinaryOp::{And, Eq, Ne, Or};
    match condition {
        SymbolExpr::Not(inner) => above(inner, !holds, found)?,
        SymbolExpr::Binary(op @ (And | Or), a, b) if (*op == And) == holds => {
            above(a, holds, found)?;
            above(b, holds, found)?;
        }
        SymbolExpr::Binary(op @ (Eq | Ne), a, b) if (*op == Eq) == holds => {
            found.extend([&**a - &**b + 1, &**b - &**a + 1]);
        }
        SymbolExpr::Binary(op, a, b) => {
            let op = if holds { *op } else { opposite(*op)? };
            found.push(above_zero(op, a, b)?);
        }
        _ => return None,
    }
    Some(())
}

/// What a number that changes evenly grows by if a name grows by one.
pub(super) fn coefficient(number: &SymbolExpr, name: &str) -> SymbolExpr {
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

/// The number in an iteration.
pub(super) fn at_turn(number: &SymbolExpr, turn: &SymbolExpr) -> SymbolExpr {
    with_names(number, |name| (name == TURN).then(|| turn.clone()))
}

/// What is above 0 where a number is at least `least`.
pub(super) fn above_least(number: &SymbolExpr, least: &SymbolExpr) -> Option<SymbolExpr> {
    use BinaryOp::{Add, Div, FloorDiv, Sub};
    match number {
        // ceil(a / b) >= n: a > b (n - 1).
        SymbolExpr::Call(Function::CeilDiv, parts) => match parts.as_slice() {
            [a, b] => Some(a - b * (least - 1)),
            _ => None,
        },
        // floor(a / b) >= n: a >= b n.
        SymbolExpr::Binary(FloorDiv | Div, a, b) => Some(&**a - &**b * least + 1),
        number if is_affine_in_place(number) => Some(number - least + 1),
        SymbolExpr::Binary(Sub, a, b) => above_least(a, &(least + &**b)),
        SymbolExpr::Binary(Add, a, b) if is_affine_in_place(b) => above_least(a, &(least - &**b)),
        SymbolExpr::Binary(Add, a, b) => above_least(b, &(least - &**a)),
        _ => None,
    }
}

/// Whether a number changes evenly with the places of the item and of its group.
pub(super) fn is_affine_in_place(number: &SymbolExpr) -> bool {
    is_affine(number, &|part| !is_uniform(part))
}

/// Whether a number is the same for all items.
pub(super) fn is_uniform(number: &SymbolExpr) -> bool {
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

/// Whether a number changes in one direction with each place: it is least at an end of each.
pub(super) fn is_monotone(number: &SymbolExpr) -> bool {
    let places = (0..3).flat_map(|d| [format!("$lid_{d}"), format!("$group_{d}")]);
    places.into_iter().all(|place| direction(number, &place).is_some())
}
