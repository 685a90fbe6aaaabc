//! Conditions that pick out one item of a group: `get_local_id(0) == 0`.

use tickbound_expr::BinaryOp;

use super::Number;

/// Whether the side of a branch on which its condition holds, or does not, is for one item of a
/// group (in the dimensions that the condition names): its place is compared with `==`, alone or
/// beside other conditions.
pub fn picks_one(condition: &Number, holds: bool) -> bool {
    match condition {
        Number::Not(inner) => picks_one(inner, !holds),
        Number::Binary(BinaryOp::Eq, a, b) if holds => is_of_item(a) || is_of_item(b),
        Number::Binary(BinaryOp::Ne, a, b) if !holds => is_of_item(a) || is_of_item(b),
        Number::Binary(BinaryOp::And, a, b) if holds => picks_one(a, true) || picks_one(b, true),
        Number::Binary(BinaryOp::Or, a, b) if !holds => picks_one(a, false) || picks_one(b, false),
        place => !holds && matches!(place, Number::Name(_)) && is_of_item(place),
    }
}

fn is_of_item(number: &Number) -> bool {
    let mut of_item = false;
    number.names(&mut |name: &String| of_item |= name.starts_with("$lid_"));
    of_item
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(op: BinaryOp, name: &str) -> Number {
        Number::binary(op, Number::Name(name.into()), Number::Int(0))
    }

    #[test]
    fn one_item() {
        let (first, group) = (compare(BinaryOp::Eq, "$lid_0"), compare(BinaryOp::Eq, "$group_0"));
        let less = compare(BinaryOp::Lt, "$lid_0");
        let not = |number: Number| Number::Not(Box::new(number));
        let both = |a: &Number, b: &Number| Number::binary(BinaryOp::And, a.clone(), b.clone());
        let either = |a: &Number, b: &Number| Number::binary(BinaryOp::Or, a.clone(), b.clone());
        let place = Number::Name("$lid_1".into());
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
