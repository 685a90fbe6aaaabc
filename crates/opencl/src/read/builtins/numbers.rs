//! Functions of numbers.
//!
//! Whole numbers get their results; of real numbers only the cost is read.

use super::super::formulas::FormulaId;
use super::super::results::is_half;
use super::super::symbolic::{AtomKind, Poly};
use super::super::types::{Integer, is_real, width};
use super::super::value::ReadValue;
use super::super::{Read, Reader};
use super::Call;
use crate::ast::CExpr;
use crate::lines::lists;
use crate::steps::{Arithmetic, Dependence};

/// Other functions of whole numbers; nothing is known of their results.
const OPAQUE: &str = "\
    abs_diff add_sat sub_sat hadd rhadd mad_hi mad_sat mul_hi rotate clz ctz popcount upsample \
    bitselect any all isequal vec_step bit_reverse";

/// Products of four pairs of bytes, summed: one multiplication.
const DOTS: &str = "\
    dot_4x8packed_uu_uint dot_4x8packed_ss_int dot_4x8packed_us_int dot_4x8packed_su_int \
    dot_acc_sat_4x8packed_uu_uint dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_us_int \
    dot_acc_sat_4x8packed_su_int dot_acc_sat arm_dot arm_dot_acc arm_dot_acc_sat qcom_dot8_acc";

/// Functions that cost as much as an addition.
const PLAIN: &str = "\
    fmin fmax fabs floor ceil trunc round rint copysign fdim maxmag minmag sign step degrees \
    radians ldexp ilogb logb nextafter nan isnan isinf isfinite isnormal signbit isnotequal \
    isgreater isgreaterequal isless islessequal islessgreater isordered isunordered";

/// Functions that cost more than arithmetic.
const SPECIAL: &str = "\
    sqrt rsqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinpi cospi tanpi asin \
    acos atan atan2 asinpi acospi atanpi atan2pi sinh cosh tanh asinh acosh atanh pow pown powr \
    rootn hypot erf erfc tgamma lgamma fmod remainder length distance normalize smoothstep cross";

/// Functions with a further result behind their last argument.
const TWO_RESULTS: &str = "sincos fract modf frexp remquo lgamma_r";

impl<'a> Reader<'a> {
    /// `min`, `clamp`, `mad24`, `select` and the like.
    pub fn integer_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, e } = call;
        let known = matches!(name, "min" | "max" | "clamp" | "abs" | "mul24" | "mad24" | "select");
        if !known && !lists(OPAQUE, name) && !lists(DOTS, name) {
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
            None => {
                let formula = self.function_formula((name, name), &values, width(&e.ty), &e.at);
                self.made(&e.ty, depends, formula)
            }
        }))
    }

    fn price_of(&mut self, name: &str, arguments: &[CExpr], e: &CExpr) {
        let real = arguments.first().is_some_and(|a| is_real(&a.ty));
        let kind = match name {
            _ if real => Arithmetic::Real,
            "mul24" | "mul_hi" => Arithmetic::IntegerMultiply,
            _ if lists(DOTS, name) => Arithmetic::IntegerMultiply,
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

    /// `sqrt`, `fma`, `dot` and the like.
    pub fn math_function(&mut self, call: Call<'a>) -> Read<Option<ReadValue>> {
        let Call { name, arguments, e } = call;
        let plain = plain(name);
        let Some(kind) = kind_of(plain) else { return Ok(None) };
        let values = self.all(arguments)?;
        let depends = self.joint(&values);
        let operands = arguments.iter().map(|a| width(&a.ty)).max().unwrap_or(1);
        self.compute(kind, operands.max(width(&e.ty)), &e.at);
        if lists(TWO_RESULTS, plain)
            && let (Some(pointer), Some(argument)) = (values.last(), arguments.last())
        {
            let place = self.pointee(pointer.clone(), &e.at)?;
            let ty = argument.ty.element().unwrap_or(&argument.ty);
            let value = self.unknown(ty, depends);
            self.store(&place, ty, value, &e.at)?;
        }
        let depends = if is_real(&e.ty) { depends } else { depends.max(Dependence::Uniform) };
        let width = operands.max(width(&e.ty));
        let formula = match is_half(&e.ty) {
            true => FormulaId::UNKNOWN,
            false => self.function_formula((plain, name), &values, width, &e.at),
        };
        Ok(Some(self.made(&e.ty, depends, formula)))
    }
}

/// A name without what states how exact the result is.
fn plain(name: &str) -> &str {
    let prefixes = ["native_", "half_", "fast_"];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// Whether a function is one of numbers.
pub(super) fn is_known(name: &str) -> bool {
    lists(OPAQUE, name) || lists(DOTS, name) || kind_of(plain(name)).is_some()
}

/// Whether a function has a further result behind its last argument.
pub(super) fn has_two_results(name: &str) -> bool {
    lists(TWO_RESULTS, plain(name))
}

fn kind_of(name: &str) -> Option<Arithmetic> {
    Some(match name {
        "fma" | "mad" | "dot" | "mix" => Arithmetic::RealMultiplyAdd,
        "divide" | "recip" => Arithmetic::RealDivide,
        _ if lists(PLAIN, name) => Arithmetic::Real,
        _ if lists(SPECIAL, name) || lists(TWO_RESULTS, name) => Arithmetic::Special,
        _ => return None,
    })
}
