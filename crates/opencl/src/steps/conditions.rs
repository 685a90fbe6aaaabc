//! Conditions: which depend on the item, which hold for one item of a group; names in numbers.

use std::convert::Infallible;

use tickbound_expr::BinaryOp;

use super::SymbolExpr;

/// Whether the side of a branch on which its condition holds, or does not, is for one item of a
/// group (in the dimensions that the condition names): its place is compared with `==`, or is below
/// 1, alone or beside other conditions.
pub fn picks_one(condition: &SymbolExpr, holds: bool) -> bool {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    let (op, a, b) = match condition {
        SymbolExpr::Not(inner) => return picks_one(inner, !holds),
        SymbolExpr::Binary(op, a, b) => (op, a, b),
        place => return !holds && is_place(place),
    };
    match (op, holds) {
        (Eq, true) | (Ne, false) => depends_on_item(a) || depends_on_item(b),
        (And, true) | (Or, false) => picks_one(a, holds) || picks_one(b, holds),
        (Lt, true) | (Ge, false) => is_place(a) && **b == SymbolExpr::Int(1),
        (Le, true) | (Gt, false) => is_place(a) && **b == SymbolExpr::Int(0),
        _ => false,
    }
}

/// The comparison that holds where another one does not.
pub(crate) fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let pairs = [(Eq, Ne), (Lt, Ge), (Le, Gt)];
    let both = pairs.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
    both.into_iter().find(|(own, _)| *own == op).map(|(_, other)| other)
}

/// The number that is above 0 where a comparison by order holds.
pub(crate) fn above_zero(op: BinaryOp, a: &SymbolExpr, b: &SymbolExpr) -> Option<SymbolExpr> {
    match op {
        BinaryOp::Lt => Some(b - a),
        BinaryOp::Gt => Some(a - b),
        BinaryOp::Le => Some(b - a + 1),
        BinaryOp::Ge => Some(a - b + 1),
        _ => None,
    }
}

/// Whether a number is the item's place in one dimension of its group.
fn is_place(number: &SymbolExpr) -> bool {
    matches!(number, SymbolExpr::Name(_)) && depends_on_item(number)
}

/// Whether a condition depends on the place of the item in its group.
pub fn depends_on_item(condition: &SymbolExpr) -> bool {
    mentions(condition, "$lid_")
}

/// Whether a number changes evenly with the names that parts of it depend on.
pub(crate) fn is_affine(number: &SymbolExpr, depends: &impl Fn(&SymbolExpr) -> bool) -> bool {
    use BinaryOp::{Add, Mul, Sub};
    match number {
        number if !depends(number) => true,
        SymbolExpr::Name(_) => true,
        SymbolExpr::Neg(inner) => is_affine(inner, depends),
        SymbolExpr::Binary(op @ (Add | Sub | Mul), a, b) => {
            let one = *op != Mul || !(depends(a) && depends(b));
            one && is_affine(a, depends) && is_affine(b, depends)
        }
        _ => false,
    }
}

pub(crate) fn mentions(number: &SymbolExpr, prefix: &str) -> bool {
    has_name(number, |name| name.starts_with(prefix))
}

/// Whether there is such a name in a number.
pub fn has_name(number: &SymbolExpr, is: impl Fn(&str) -> bool) -> bool {
    let mut found = false;
    number.names(&mut |name: &String| found |= is(name));
    found
}

/// The name of an iteration of the loop that a number is about.
pub(crate) const TURN: &str = "$turn";

/// A number with other numbers for some of its names.
pub(crate) fn with_names(
    number: &SymbolExpr,
    by: impl Fn(&str) -> Option<SymbolExpr>,
) -> SymbolExpr {
    let by = |name: &String| by(name).unwrap_or_else(|| SymbolExpr::Name(name.clone()));
    let replaced = number.replace(&mut |name| Ok::<_, Infallible>(by(name)));
    replaced.unwrap_or_else(|never| match never {})
}

/// A number for an item of a group: for each dimension the last one of it, or the first.
pub(crate) fn at_end_of_group(number: &SymbolExpr, last: [bool; 3]) -> SymbolExpr {
    with_names(number, |name| {
        let d = name.strip_prefix("$lid_")?.parse::<usize>().ok()?;
        Some(match last.get(d)? {
            true => SymbolExpr::Name(format!("$local_{d}")) - 1,
            false => SymbolExpr::Int(0),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(op: BinaryOp, name: &str) -> SymbolExpr {
        SymbolExpr::binary(op, SymbolExpr::Name(name.into()), SymbolExpr::Int(0))
    }

    #[test]
    fn one_item() {
        let (first, group) = (compare(BinaryOp::Eq, "$lid_0"), compare(BinaryOp::Eq, "$group_0"));
        let less = compare(BinaryOp::Lt, "$lid_0");
        let not = |number: SymbolExpr| SymbolExpr::Not(Box::new(number));
        let both = |a: &SymbolExpr, b: &SymbolExpr| {
            SymbolExpr::binary(BinaryOp::And, a.clone(), b.clone())
        };
        let either =
            |a: &SymbolExpr, b: &SymbolExpr| SymbolExpr::binary(BinaryOp::Or, a.clone(), b.clone());
        let place = SymbolExpr::Name("$lid_1".into());
        for (condition, holds, picks) in [
            (first.clone(), true, true),
            (first.clone(), false, false),
            (compare(BinaryOp::Ne, "$lid_0"), false, true),
            (compare(BinaryOp::Ne, "$lid_0"), true, false),
            (group.clone(), true, false),
            (less.clone(), true, false),
            (both(&group, &first), true, true),
            (both(&group, &less), true, false),
            (either(&first, &less), true, false),
            (not(either(&not(first.clone()), &less)), true, true),
            (not(place.clone()), true, true),
            (place.clone(), true, false),
            (SymbolExpr::binary(BinaryOp::Lt, place.clone(), SymbolExpr::Int(1)), true, true),
            (SymbolExpr::binary(BinaryOp::Lt, place.clone(), SymbolExpr::Int(2)), true, false),
            (compare(BinaryOp::Le, "$lid_0"), true, true),
            (compare(BinaryOp::Gt, "$lid_0"), false, true),
            (compare(BinaryOp::Gt, "$lid_0"), true, false),
            (place, false, true),
        ] {
            assert_eq!(picks_one(&condition, holds), picks, "{condition} {holds}");
        }
    }
}
