//! Functions of real numbers: only what they cost.

use super::super::types::{is_real, width};
use super::super::value::ReadValue;
use super::super::{Read, Reader};
use super::lists;
use crate::ast::CExpr;
use crate::steps::{Arithmetic, Dependence};

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
    /// `sqrt`, `fma`, `dot` and the like.
    pub fn math_function(
        &mut self,
        name: &str,
        arguments: &'a [CExpr],
        e: &'a CExpr,
    ) -> Read<Option<ReadValue>> {
        let plain = ["native_", "half_", "fast_"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))
            .unwrap_or(name);
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
        Ok(Some(self.unknown(&e.ty, depends)))
    }
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
