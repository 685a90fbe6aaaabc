//! Integer expressions: their operators, parts and names, and how they are printed.
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

use serde::{Deserialize, Serialize};

/// Index of a named value in the slice an expression is evaluated against.
pub type Slot = usize;

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
        let all = [Function::Min, Function::Max, Function::Abs, Function::CeilDiv];
        all.into_iter().find(|function| function.name() == name)
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

impl<N> Expr<N> {
    /// `a op b`.
    pub fn binary(op: BinaryOp, a: Expr<N>, b: Expr<N>) -> Expr<N> {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// `then if condition else otherwise`.
    pub fn conditional(condition: Expr<N>, then: Expr<N>, otherwise: Expr<N>) -> Expr<N> {
        Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))
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

    /// Whether `/`, or a power whose exponent may be negative, is in it: constraints evaluate these
    /// exactly. A name as exponent is not negative.
    // Called before every evaluation of a constraint: without [`Expr::parts`] it takes a quarter.
    pub fn divides(&self) -> bool {
        match self {
            Expr::Int(_) | Expr::Name(_) => false,
            Expr::Neg(a) | Expr::Not(a) => a.divides(),
            Expr::Binary(BinaryOp::Div, ..) => true,
            Expr::Binary(BinaryOp::Pow, _, b) if !matches!(**b, Expr::Int(0..) | Expr::Name(_)) => {
                true
            }
            Expr::Binary(_, a, b) => a.divides() || b.divides(),
            Expr::Conditional(c, a, b) => c.divides() || a.divides() || b.divides(),
            Expr::Call(_, args) => args.iter().any(Expr::divides),
        }
    }
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
