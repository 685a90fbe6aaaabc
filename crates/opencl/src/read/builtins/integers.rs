//! Functions of whole numbers, and those that reals have in common with them.

use super::super::symbolic::{AtomKind, Poly};
use super::super::types::{Integer, is_real, width};
use super::super::value::ReadValue;
use super::super::{Read, Reader};
use super::lists;
use crate::ast::CExpr;
use crate::steps::Arithmetic;

/// Other functions of whole numbers; nothing is known of their results.
const OPAQUE: &str = "\
    abs_diff add_sat sub_sat hadd rhadd mad_hi mad_sat mul_hi rotate clz ctz popcount upsample \
    bitselect any all isequal vec_step bit_reverse";

impl<'a> Reader<'a> {
    /// `min`, `clamp`, `mad24`, `select` and the like.
    pub fn integer_function(
        &mut self,
        name: &str,
        arguments: &'a [CExpr],
        e: &'a CExpr,
    ) -> Read<Option<ReadValue>> {
        let known = matches!(name, "min" | "max" | "clamp" | "abs" | "mul24" | "mad24" | "select");
        if !known && !lists(OPAQUE, name) {
            return Ok(None);
        }
        let values = self.all(arguments)?;
        let depends = self.joint(&values);
        self.price_of(name, arguments, e);
        let exact: Option<Vec<Poly>> = values
            .iter()
            .zip(arguments)
            .map(|(value, argument)| match (value, Integer::of(&argument.ty)) {
                (ReadValue::Int(poly), Some(integer)) => Some(integer.exact(&mut self.terms, poly)),
                _ => None,
            })
            .collect();
        let result = match (exact, Integer::of(&e.ty)) {
            (Some(exact), Some(integer)) if known => self.known_function(name, &exact, integer),
            _ => None,
        };
        Ok(Some(match result {
            Some(poly) => ReadValue::Int(poly),
            None => self.unknown(&e.ty, depends),
        }))
    }

    fn price_of(&mut self, name: &str, arguments: &[CExpr], e: &CExpr) {
        let real = arguments.first().is_some_and(|a| is_real(&a.ty));
        let kind = match name {
            _ if real => Arithmetic::Real,
            "mul24" | "mul_hi" => Arithmetic::IntegerMultiply,
            "mad24" | "mad_hi" | "mad_sat" => {
                self.compute(Arithmetic::IntegerMultiply, width(&e.ty), &e.at);
                Arithmetic::Integer
            }
            _ => Arithmetic::Integer,
        };
        self.compute(kind, width(&e.ty), &e.at);
    }

    fn known_function(&mut self, name: &str, x: &[Poly], ty: Integer) -> Option<Poly> {
        let terms = &mut self.terms;
        Some(match (name, x) {
            ("min", [a, b]) => terms.min(a, b),
            ("max", [a, b]) => terms.max(a, b),
            ("clamp", [x, low, high]) => {
                let raised = terms.max(x, low);
                terms.min(&raised, high)
            }
            ("abs", [a]) => {
                let negated = terms.neg(a);
                terms.max(a, &negated)
            }
            ("mul24", [a, b]) => terms.mul(a, b),
            ("mad24", [a, b, c]) => {
                let product = terms.mul(a, b);
                terms.add(&product, c)
            }
            ("select", [a, b, c]) => {
                let chosen = terms.truth(c);
                // The vector form asks for the sign; scalars ask for any bit.
                if matches!(terms.kind_of(&chosen), Some(AtomKind::Leaf(_))) || ty.bits == 1 {
                    return None;
                }
                terms.choice(&chosen, b, a)
            }
            _ => return None,
        })
    }
}
