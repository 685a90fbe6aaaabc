//! Evaluation of expressions, over 64-bit integers and exactly.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};
use thiserror::Error;

use super::expr::{BinaryOp, Expr, Function, Slot};

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EvalError {
    /// Division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The result does not fit into 64 bits (128 in an exact constraint).
    #[error("overflow beyond 64 bits")]
    Overflow,
    /// A negative exponent where all numbers are whole.
    #[error("negative exponent")]
    NegativeExponent,
    /// An exponent that is not a whole number.
    #[error("an exponent that is no whole number; compare powers instead, such as a < b ** 2")]
    FractionalExponent,
}

impl Expr<Slot> {
    /// The value over `env`, where slot `s` has the value `env[s]`; `/` is floor division.
    ///
    /// # Errors
    /// Division by zero, a negative exponent, or a result beyond 64 bits.
    ///
    /// # Panics
    /// Never for an expression resolved against the scope that made `env`.
    pub fn eval(&self, env: &[i64]) -> Result<i64, EvalError> {
        self.eval_with(&mut |slot| Ok(env[slot]))
    }

    /// The value where each name that the evaluation meets has the value that `value` gives it; of
    /// the sides of a conditional only the one that holds is evaluated.
    ///
    /// # Errors
    /// As for [`Expr::eval`], and those of `value`.
    pub fn eval_with<E: From<EvalError>>(
        &self,
        value: &mut impl FnMut(Slot) -> Result<i64, E>,
    ) -> Result<i64, E> {
        Ok(match self {
            Expr::Int(v) => *v,
            Expr::Name(slot) => value(*slot)?,
            Expr::Neg(a) => a.eval_with(value)?.checked_neg().ok_or(EvalError::Overflow)?,
            Expr::Not(a) => i64::from(a.eval_with(value)? == 0),
            Expr::Conditional(c, a, b) => match c.eval_with(value)? {
                0 => b.eval_with(value)?,
                _ => a.eval_with(value)?,
            },
            Expr::Binary(BinaryOp::And, a, b) => {
                i64::from(a.eval_with(value)? != 0 && b.eval_with(value)? != 0)
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                i64::from(a.eval_with(value)? != 0 || b.eval_with(value)? != 0)
            }
            Expr::Binary(op, a, b) => {
                integer_binary(*op, a.eval_with(value)?, b.eval_with(value)?)?
            }
            // Without a list: calls are what long expressions are made of.
            Expr::Call(f, args) => match args.as_slice() {
                [a] => integer_call(*f, &[a.eval_with(value)?])?,
                [a, b] => integer_call(*f, &[a.eval_with(value)?, b.eval_with(value)?])?,
                args => {
                    let values = args.iter().map(|a| a.eval_with(value));
                    integer_call(*f, &values.collect::<Result<Vec<_>, _>>()?)?
                }
            },
        })
    }

    /// True if the expression, read as a constraint with exact division, holds over `env`.
    pub fn holds(&self, env: &[i64]) -> Result<bool, EvalError> {
        if self.divides() {
            Ok(*self.eval_exact(env)?.numer() != 0)
        } else {
            Ok(self.eval(env)? != 0)
        }
    }

    /// The exact rational value over `env`.
    pub fn eval_exact(&self, env: &[i64]) -> Result<Ratio<i128>, EvalError> {
        let truth = |b: bool| Ratio::from_integer(i128::from(b));
        let is_true = |r: Ratio<i128>| *r.numer() != 0;
        Ok(match self {
            Expr::Int(v) => Ratio::from_integer(i128::from(*v)),
            Expr::Name(slot) => Ratio::from_integer(i128::from(env[*slot])),
            Expr::Neg(a) => Ratio::from_integer(0)
                .checked_sub(&a.eval_exact(env)?)
                .ok_or(EvalError::Overflow)?,
            Expr::Not(a) => truth(!is_true(a.eval_exact(env)?)),
            Expr::Conditional(c, a, b) => {
                if is_true(c.eval_exact(env)?) {
                    a.eval_exact(env)?
                } else {
                    b.eval_exact(env)?
                }
            }
            Expr::Binary(BinaryOp::And, a, b) => {
                truth(is_true(a.eval_exact(env)?) && is_true(b.eval_exact(env)?))
            }
            Expr::Binary(BinaryOp::Or, a, b) => {
                truth(is_true(a.eval_exact(env)?) || is_true(b.eval_exact(env)?))
            }
            Expr::Binary(op, a, b) => exact_binary(*op, a.eval_exact(env)?, b.eval_exact(env)?)?,
            Expr::Call(f, args) => {
                let values =
                    args.iter().map(|a| a.eval_exact(env)).collect::<Result<Vec<_>, _>>()?;
                exact_call(*f, &values)?
            }
        })
    }
}

/// Quotient rounded towards minus infinity.
fn floor_div(a: i64, b: i64) -> Result<i64, EvalError> {
    let quotient = checked_quotient(a, b)?;
    Ok(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn checked_quotient(a: i64, b: i64) -> Result<i64, EvalError> {
    if b == 0 {
        return Err(EvalError::DivisionByZero);
    }
    a.checked_div(b).ok_or(EvalError::Overflow)
}

pub(crate) fn integer_binary(op: BinaryOp, a: i64, b: i64) -> Result<i64, EvalError> {
    let checked = |v: Option<i64>| v.ok_or(EvalError::Overflow);
    match op {
        BinaryOp::Add => checked(a.checked_add(b)),
        BinaryOp::Sub => checked(a.checked_sub(b)),
        BinaryOp::Mul => checked(a.checked_mul(b)),
        BinaryOp::Div | BinaryOp::FloorDiv => floor_div(a, b),
        BinaryOp::Rem => {
            let quotient = floor_div(a, b)?;
            checked(quotient.checked_mul(b).and_then(|p| a.checked_sub(p)))
        }
        BinaryOp::Pow => {
            if b < 0 {
                return Err(EvalError::NegativeExponent);
            }
            match a {
                0 | 1 => Ok(if b == 0 { 1 } else { a }),
                -1 => Ok(if b % 2 == 0 { 1 } else { -1 }),
                _ => checked(u32::try_from(b).ok().and_then(|b| a.checked_pow(b))),
            }
        }
        BinaryOp::Eq => Ok(i64::from(a == b)),
        BinaryOp::Ne => Ok(i64::from(a != b)),
        BinaryOp::Lt => Ok(i64::from(a < b)),
        BinaryOp::Le => Ok(i64::from(a <= b)),
        BinaryOp::Gt => Ok(i64::from(a > b)),
        BinaryOp::Ge => Ok(i64::from(a >= b)),
        BinaryOp::And => Ok(i64::from(a != 0 && b != 0)),
        BinaryOp::Or => Ok(i64::from(a != 0 || b != 0)),
    }
}

pub(crate) fn integer_call(f: Function, values: &[i64]) -> Result<i64, EvalError> {
    match f {
        Function::Min => Ok(values.iter().copied().min().unwrap_or(0)),
        Function::Max => Ok(values.iter().copied().max().unwrap_or(0)),
        Function::Abs => values[0].checked_abs().ok_or(EvalError::Overflow),
        Function::CeilDiv => {
            let (a, b) = (values[0], values[1]);
            let quotient = checked_quotient(a, b)?;
            Ok(if a % b != 0 && (a < 0) == (b < 0) { quotient + 1 } else { quotient })
        }
    }
}

pub(crate) fn exact_binary(
    op: BinaryOp,
    a: Ratio<i128>,
    b: Ratio<i128>,
) -> Result<Ratio<i128>, EvalError> {
    let checked = |v: Option<Ratio<i128>>| v.ok_or(EvalError::Overflow);
    let truth = |b: bool| Ok(Ratio::from_integer(i128::from(b)));
    let zero = *b.numer() == 0;
    match op {
        BinaryOp::Add => checked(a.checked_add(&b)),
        BinaryOp::Sub => checked(a.checked_sub(&b)),
        BinaryOp::Mul => checked(a.checked_mul(&b)),
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem if zero => {
            Err(EvalError::DivisionByZero)
        }
        BinaryOp::Div => checked(a.checked_div(&b)),
        BinaryOp::FloorDiv => checked(a.checked_div(&b).map(floor)),
        BinaryOp::Rem => {
            let quotient = floor(checked(a.checked_div(&b))?);
            checked(quotient.checked_mul(&b).and_then(|p| a.checked_sub(&p)))
        }
        BinaryOp::Pow if !b.is_integer() => Err(EvalError::FractionalExponent),
        BinaryOp::Pow => exact_power(a, b.to_integer()),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::And => truth(*a.numer() != 0 && !zero),
        BinaryOp::Or => truth(*a.numer() != 0 || !zero),
    }
}

/// A power of a fraction; a negative exponent inverts the base.
fn exact_power(base: Ratio<i128>, exponent: i128) -> Result<Ratio<i128>, EvalError> {
    let (mut above, mut below) = (*base.numer(), *base.denom());
    if exponent < 0 {
        if above == 0 {
            return Err(EvalError::DivisionByZero);
        }
        let sign = above.signum();
        (above, below) = (below * sign, above.checked_abs().ok_or(EvalError::Overflow)?);
    }
    let raised = |n: i128| match n {
        0 if exponent != 0 => Some(0),
        1 => Some(1),
        -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        n => n.checked_pow(u32::try_from(exponent.unsigned_abs()).ok()?),
    };
    let (above, below) = (raised(above), raised(below));
    // Still in lowest terms.
    above.zip(below).map(|(a, b)| Ratio::new_raw(a, b)).ok_or(EvalError::Overflow)
}

fn exact_call(f: Function, values: &[Ratio<i128>]) -> Result<Ratio<i128>, EvalError> {
    let zero = Ratio::from_integer(0);
    match f {
        Function::Min => Ok(values.iter().copied().min().unwrap_or(zero)),
        Function::Max => Ok(values.iter().copied().max().unwrap_or(zero)),
        Function::Abs if values[0] < zero => {
            zero.checked_sub(&values[0]).ok_or(EvalError::Overflow)
        }
        Function::Abs => Ok(values[0]),
        Function::CeilDiv => exact_binary(BinaryOp::Div, values[0], values[1]).map(ceil),
    }
}

/// The greatest whole number that is not above `q`. `Ratio::floor` overflows near the ends of 128
/// bits.
pub(crate) fn floor(q: Ratio<i128>) -> Ratio<i128> {
    let (n, d) = (*q.numer(), *q.denom());
    Ratio::from_integer(n / d - i128::from(n % d < 0))
}

/// The least whole number that is not below `q`.
pub(crate) fn ceil(q: Ratio<i128>) -> Ratio<i128> {
    let (n, d) = (*q.numer(), *q.denom());
    Ratio::from_integer(n / d + i128::from(n % d > 0))
}
