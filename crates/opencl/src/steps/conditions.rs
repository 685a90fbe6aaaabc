//! Conditions of branches: which depend on the item, and which hold for one item of a group.

use tickbound_expr::BinaryOp;

use super::SymbolExpr;

/// Whether the side of a branch on which its condition holds, or does not, is for one item of a
/// group (in the dimensions that the condition names): its place is compared with `==`, alone or
/// beside other conditions.
pub fn picks_one(condition: &SymbolExpr, holds: bool) -> bool {
    match condition {
        SymbolExpr::Not(inner) => picks_one(inner, !holds),
        SymbolExpr::Binary(BinaryOp::Eq, a, b) if holds => depends_on_item(a) || depends_on_item(b),
        SymbolExpr::Binary(BinaryOp::Ne, a, b) if !holds => {
            depends_on_item(a) || depends_on_item(b)
        }
        SymbolExpr::Binary(BinaryOp::And, a, b) if holds => {
            picks_one(a, true) || picks_one(b, true)
        }
        SymbolExpr::Binary(BinaryOp::Or, a, b) if !holds => {
            picks_one(a, false) || picks_one(b, false)
        }
        place => !holds && matches!(place, SymbolExpr::Name(_)) && depends_on_item(place),
    }
}

/// Whether a condition depends on the place of the item in its group.
pub fn depends_on_item(condition: &SymbolExpr) -> bool {
    mentions(condition, "$lid_")
}

/// Whether a name with this prefix is in a number.
pub(crate) fn mentions(number: &SymbolExpr, prefix: &str) -> bool {
    let mut found = false;
    number.names(&mut |name: &String| found |= name.starts_with(prefix));
    found
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
            (place, false, true),
        ] {
            assert_eq!(picks_one(&condition, holds), picks, "{condition} {holds}");
        }
    }
}
