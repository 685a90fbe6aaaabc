//! Integer expressions: what they are, and what they evaluate to.
//!
//! The language is the one auto-tuners write in: Python's operators over 64-bit integers.
//! `/` and `//` are floor division and `%` has the sign of its right operand; booleans are 0 and 1.
//! In a *constraint* `/` is exact, as in Python, so `size / WG == 2` is false for `size = 5, WG =
//! 2`: use [`Expr::eval_exact`] there.
//!
//! An expression is generic over its names: `Expr<String>` comes out of the parser, and a
//! scope turns it into an `Expr<Slot>` that evaluates against a slice of
//! values without any look-up by name.
//!
//! ```
//! use tickbound_expr::parse::parse;
//! let e = parse("size // 3 if size % 2 == 1 else -size").unwrap();
//! let value = e.resolve(&mut |name| (name == "size").then_some(0)).unwrap().eval(&[7]).unwrap();
//! assert_eq!(value, 2);
//! ```

use std::fmt;

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};
use thiserror::Error;

/// Index of a named value in the slice an expression is evaluated against.
pub type Slot = usize;

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// `/`: floor division; exact inside a constraint.
    Div,
    /// `//`: floor division.
    FloorDiv,
    /// `%`: remainder with the sign of the right operand.
    Rem,
    /// `**`: power with a non-negative exponent; with any whole one where division is exact.
    Pow,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `and`; the right operand is evaluated only if the left one is true.
    And,
    /// `or`; the right operand is evaluated only if the left one is false.
    Or,
}

impl BinaryOp {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Rem => "%",
            BinaryOp::Pow => "**",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }
}

/// A built-in function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `min(a, b, ...)`: the least of at least one argument.
    Min,
    /// `max(a, b, ...)`: the greatest of at least one argument.
    Max,
    /// `abs(a)`.
    Abs,
    /// `ceil_div(a, b)`: the quotient rounded up.
    CeilDiv,
}

impl Function {
    /// Looks a function up by name.
    pub fn by_name(name: &str) -> Option<Function> {
        Some(match name {
            "min" => Function::Min,
            "max" => Function::Max,
            "abs" => Function::Abs,
            "ceil_div" => Function::CeilDiv,
            _ => return None,
        })
    }

    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            Function::Min => "min",
            Function::Max => "max",
            Function::Abs => "abs",
            Function::CeilDiv => "ceil_div",
        }
    }

    /// Least and greatest number of arguments.
    pub fn arity(self) -> (usize, usize) {
        match self {
            Function::Min | Function::Max => (1, 64),
            Function::Abs => (1, 1),
            Function::CeilDiv => (2, 2),
        }
    }
}

/// An integer expression over names of type `N`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expr<N = Slot> {
    /// A constant.
    Int(i64),
    /// A named value.
    Name(N),
    /// Arithmetic negation.
    Neg(Box<Expr<N>>),
    /// Logical negation: 1 for 0, otherwise 0.
    Not(Box<Expr<N>>),
    /// A binary operation.
    Binary(BinaryOp, Box<Expr<N>>, Box<Expr<N>>),
    /// `Conditional(c, a, b)` is written `a if c else b`; only the chosen side is evaluated.
    Conditional(Box<Expr<N>>, Box<Expr<N>>, Box<Expr<N>>),
    /// A function call.
    Call(Function, Vec<Expr<N>>),
}

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

impl<N> Expr<N> {
    /// `a op b`.
    pub fn binary(op: BinaryOp, a: Expr<N>, b: Expr<N>) -> Expr<N> {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// The expressions that it is made of, in the order they are written.
    pub fn parts(&self) -> impl Iterator<Item = &Expr<N>> {
        let (operands, arguments): ([Option<&Expr<N>>; 3], &[Expr<N>]) = match self {
            Expr::Int(_) | Expr::Name(_) => ([None; 3], &[]),
            Expr::Neg(a) | Expr::Not(a) => ([Some(a), None, None], &[]),
            Expr::Binary(_, a, b) => ([Some(a), Some(b), None], &[]),
            Expr::Conditional(c, a, b) => ([Some(a), Some(c), Some(b)], &[]),
            Expr::Call(_, arguments) => ([None; 3], arguments),
        };
        operands.into_iter().flatten().chain(arguments)
    }

    /// The same operation on other parts: what `part` makes of each, in the order of
    /// [`Expr::parts`]. `None` if `part` gives up; constants and names stay.
    pub fn with_parts(&self, mut part: impl FnMut(&Expr<N>) -> Option<Expr<N>>) -> Option<Expr<N>>
    where
        N: Clone,
    {
        let mut of = |e: &Expr<N>| part(e).map(Box::new);
        Some(match self {
            Expr::Int(_) | Expr::Name(_) => self.clone(),
            Expr::Neg(a) => Expr::Neg(of(a)?),
            Expr::Not(a) => Expr::Not(of(a)?),
            Expr::Binary(op, a, b) => Expr::Binary(*op, of(a)?, of(b)?),
            Expr::Conditional(c, a, b) => {
                let (a, c) = (of(a)?, of(c)?);
                Expr::Conditional(c, a, of(b)?)
            }
            Expr::Call(f, args) => Expr::Call(*f, args.iter().map(part).collect::<Option<_>>()?),
        })
    }

    /// Number of operators, numbers and names.
    pub fn size(&self) -> usize {
        1 + self.parts().map(Expr::size).sum::<usize>()
    }

    /// Calls `visit` for every name, in the order they are written.
    pub fn names<'e>(&'e self, visit: &mut impl FnMut(&'e N)) {
        if let Expr::Name(n) = self {
            visit(n);
        }
        self.parts().for_each(|part| part.names(visit));
    }

    /// Replaces every name through `lookup`.
    ///
    /// # Errors
    /// The first name that `lookup` does not know.
    pub fn resolve<M>(&self, lookup: &mut impl FnMut(&N) -> Option<M>) -> Result<Expr<M>, N>
    where
        N: Clone,
    {
        self.replace(&mut |n| lookup(n).map(Expr::Name).ok_or_else(|| n.clone()))
    }

    /// Replaces every name by an expression.
    ///
    /// # Errors
    /// The first that `by` returns.
    pub fn replace<M, E>(
        &self,
        by: &mut impl FnMut(&N) -> Result<Expr<M>, E>,
    ) -> Result<Expr<M>, E> {
        let mut part = |part: &Expr<N>| part.replace(by).map(Box::new);
        Ok(match self {
            Expr::Int(v) => Expr::Int(*v),
            Expr::Name(n) => return by(n),
            Expr::Neg(a) => Expr::Neg(part(a)?),
            Expr::Not(a) => Expr::Not(part(a)?),
            Expr::Binary(op, a, b) => Expr::Binary(*op, part(a)?, part(b)?),
            Expr::Conditional(c, a, b) => Expr::Conditional(part(c)?, part(a)?, part(b)?),
            Expr::Call(f, args) => {
                Expr::Call(*f, args.iter().map(|a| a.replace(by)).collect::<Result<_, _>>()?)
            }
        })
    }
}

impl Expr<Slot> {
    /// True if the expression mentions any of the slots for which `is` holds.
    pub fn mentions(&self, mut is: impl FnMut(Slot) -> bool) -> bool {
        let mut found = false;
        self.names(&mut |slot| found |= is(*slot));
        found
    }

    /// The value over `env`, where slot `s` has the value `env[s]`; `/` is floor division.
    ///
    /// # Errors
    /// Division by zero, a negative exponent, or a result beyond 64 bits.
    ///
    /// # Panics
    /// Never for an expression resolved against the scope that made `env`.
    pub fn eval(&self, env: &[i64]) -> Result<i64, EvalError> {
        Ok(match self {
            Expr::Int(v) => *v,
            Expr::Name(slot) => env[*slot],
            Expr::Neg(a) => a.eval(env)?.checked_neg().ok_or(EvalError::Overflow)?,
            Expr::Not(a) => i64::from(a.eval(env)? == 0),
            Expr::Conditional(c, a, b) => {
                if c.eval(env)? != 0 {
                    a.eval(env)?
                } else {
                    b.eval(env)?
                }
            }
            Expr::Binary(BinaryOp::And, a, b) => i64::from(a.eval(env)? != 0 && b.eval(env)? != 0),
            Expr::Binary(BinaryOp::Or, a, b) => i64::from(a.eval(env)? != 0 || b.eval(env)? != 0),
            Expr::Binary(op, a, b) => integer_binary(*op, a.eval(env)?, b.eval(env)?)?,
            // Without a list: calls are what long expressions are made of.
            Expr::Call(f, args) => match args.as_slice() {
                [a] => integer_call(*f, &[a.eval(env)?])?,
                [a, b] => integer_call(*f, &[a.eval(env)?, b.eval(env)?])?,
                args => {
                    let values = args.iter().map(|a| a.eval(env)).collect::<Result<Vec<_>, _>>()?;
                    integer_call(*f, &values)?
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

    /// Whether `/` is in it, which constraints evaluate exactly.
    // Called before every evaluation of a constraint: without [`Expr::parts`] it takes a quarter.
    pub fn divides(&self) -> bool {
        match self {
            Expr::Int(_) | Expr::Name(_) => false,
            Expr::Neg(a) | Expr::Not(a) => a.divides(),
            Expr::Binary(op, a, b) => *op == BinaryOp::Div || a.divides() || b.divides(),
            Expr::Conditional(c, a, b) => c.divides() || a.divides() || b.divides(),
            Expr::Call(_, args) => args.iter().any(Expr::divides),
        }
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

/// How tightly an operator binds; a larger number binds tighter.
fn precedence<N>(e: &Expr<N>) -> u8 {
    match e {
        Expr::Conditional(..) => 0,
        Expr::Binary(BinaryOp::Or, ..) => 1,
        Expr::Binary(BinaryOp::And, ..) => 2,
        Expr::Not(_) => 3,
        Expr::Binary(
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            ..,
        ) => 4,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => 5,
        Expr::Binary(BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem, ..) => 6,
        Expr::Neg(_) => 7,
        Expr::Int(v) if *v < 0 => 7,
        Expr::Binary(BinaryOp::Pow, ..) => 8,
        Expr::Int(_) | Expr::Name(_) | Expr::Call(..) => 9,
    }
}

impl<N: fmt::Display> fmt::Display for Expr<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |e: &Expr<N>, least: u8, f: &mut fmt::Formatter<'_>| {
            if precedence(e) < least { write!(f, "({e})") } else { write!(f, "{e}") }
        };
        let own = precedence(self);
        match self {
            Expr::Int(v) => write!(f, "{v}"),
            Expr::Name(n) => write!(f, "{n}"),
            Expr::Neg(a) => {
                f.write_str("-")?;
                at(a, own + 1, f)
            }
            Expr::Not(a) => {
                f.write_str("not ")?;
                at(a, own, f)
            }
            Expr::Binary(op, a, b) => {
                // Only `**` groups to the right; a comparison inside a comparison needs brackets
                // on both sides, or it would be read as a chain.
                let (left, right) = match op {
                    BinaryOp::Pow => (own + 1, own - 1),
                    BinaryOp::Or | BinaryOp::And => (own, own + 1),
                    _ if own == 4 => (own + 1, own + 1),
                    _ => (own, own + 1),
                };
                at(a, left, f)?;
                write!(f, " {} ", op.symbol())?;
                at(b, right, f)
            }
            Expr::Conditional(c, a, b) => {
                at(a, 1, f)?;
                f.write_str(" if ")?;
                at(c, 1, f)?;
                f.write_str(" else ")?;
                at(b, 0, f)
            }
            Expr::Call(function, args) => {
                write!(f, "{}(", function.name())?;
                for (i, a) in args.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{a}")?;
                }
                f.write_str(")")
            }
        }
    }
}
