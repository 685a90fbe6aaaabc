//! Conditions that some items of the launch fulfil: `place < n`, where groups reach beyond `n`.

use tickbound_expr::{BinaryOp, Function};

use super::around::Share;
use crate::ast::SourcePlace;
use crate::error::ReadError;
use crate::lower::{Item, Names};
use crate::steps::SymbolExpr;

/// Names for the items at both ends of a launch.
#[derive(Debug)]
pub(super) struct Ends {
    first: Names,
    last: Names,
}

impl Ends {
    /// Of a launch with these names.
    pub fn new(names: &Names) -> Ends {
        Ends { first: names.of_item(Item::First), last: names.of_item(Item::Last) }
    }

    /// Which items come into a part of a loop of `whole` iterations that has `count` of them for
    /// one item.
    ///
    /// # Errors
    /// A name is not known.
    pub fn of_loop(
        &self,
        count: &SymbolExpr,
        whole: &SymbolExpr,
        at: &SourcePlace,
    ) -> Result<Option<Share>, ReadError> {
        let (part, others) = match count {
            SymbolExpr::Binary(BinaryOp::Sub, all, part) if **all == *whole => (&**part, true),
            count => (count, false),
        };
        match unclamped(part, whole) {
            Some(above) => self.share(above, whole, others, at),
            None => Ok(None),
        }
    }

    /// Which items come to the side of a branch where its condition holds, or does not.
    ///
    /// # Errors
    /// A name is not known.
    pub fn of_side(
        &self,
        condition: &SymbolExpr,
        holds: bool,
        at: &SourcePlace,
    ) -> Result<Option<Vec<Share>>, ReadError> {
        let SymbolExpr::Binary(op, a, b) = condition else { return Ok(None) };
        let difference = |a: &SymbolExpr, b: &SymbolExpr| {
            SymbolExpr::binary(BinaryOp::Sub, a.clone(), b.clone())
        };
        let above = match op {
            BinaryOp::Lt => difference(b, a),
            BinaryOp::Gt => difference(a, b),
            BinaryOp::Le => SymbolExpr::binary(BinaryOp::Add, difference(b, a), SymbolExpr::Int(1)),
            BinaryOp::Ge => SymbolExpr::binary(BinaryOp::Add, difference(a, b), SymbolExpr::Int(1)),
            BinaryOp::And if holds => {
                let both = (self.of_side(a, true, at)?, self.of_side(b, true, at)?);
                return Ok(both.0.zip(both.1).map(|(a, b)| [a, b].concat()));
            }
            _ => return Ok(None),
        };
        Ok(self.share(&above, &SymbolExpr::Int(1), !holds, at)?.map(|share| vec![share]))
    }

    fn share(
        &self,
        above: &SymbolExpr,
        each: &SymbolExpr,
        others: bool,
        at: &SourcePlace,
    ) -> Result<Option<Share>, ReadError> {
        if !of_the_launch(above) {
            return Ok(None);
        }
        let first = self.first.put_in(above, at)?.simplified();
        let last = self.last.put_in(above, at)?.simplified();
        let each = self.first.put_in(each, at)?.simplified();
        Ok(Some(Share { first, last, each, others }))
    }
}

/// The number `c` of `min(whole, max(0, c))`.
fn unclamped<'n>(count: &'n SymbolExpr, whole: &SymbolExpr) -> Option<&'n SymbolExpr> {
    let raised = other(count, Function::Min, whole)?;
    other(raised, Function::Max, &SymbolExpr::Int(0))
}

/// Of the lesser or greater of two numbers the one that is not this one.
fn other<'n>(
    number: &'n SymbolExpr,
    function: Function,
    one: &SymbolExpr,
) -> Option<&'n SymbolExpr> {
    match number {
        SymbolExpr::Call(f, parts) if *f == function => match &parts[..] {
            [a, b] if a == one => Some(b),
            [a, b] if b == one => Some(a),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a number depends on the place of the group, and so on that of the item in the launch.
fn of_the_launch(number: &SymbolExpr) -> bool {
    let mut depends = false;
    number.names(&mut |name: &String| depends |= name.starts_with("$group_"));
    depends
}
