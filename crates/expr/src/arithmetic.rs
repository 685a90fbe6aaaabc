//! Rust's operators on expressions: constants fold and neutral operands vanish, as in
//! [`Expr::folded`].
//!
//! ```
//! use tickbound_expr::Expr;
//! let n = Expr::Name("n");
//! assert_eq!((2 * &n + 0 - (&n - 1) * 1).to_string(), "2 * n - (n - 1)");
//! assert_eq!([&n, &n].into_iter().product::<Expr<_>>().to_string(), "n * n");
//! ```

use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Mul, Sub};

use super::expr::{BinaryOp, Expr};

/// Zero.
impl<N> Default for Expr<N> {
    fn default() -> Expr<N> {
        Expr::Int(0)
    }
}

impl<N> From<i64> for Expr<N> {
    fn from(value: i64) -> Expr<N> {
        Expr::Int(value)
    }
}

impl<N: Clone> From<&Expr<N>> for Expr<N> {
    fn from(e: &Expr<N>) -> Expr<N> {
        e.clone()
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident),*) => {$(
        impl<N, E: Into<Expr<N>>> $operator<E> for Expr<N> {
            type Output = Expr<N>;

            fn $function(self, other: E) -> Expr<N> {
                Expr::folded(BinaryOp::$operator, self, other.into())
            }
        }

        impl<N: Clone, E: Into<Expr<N>>> $operator<E> for &Expr<N> {
            type Output = Expr<N>;

            fn $function(self, other: E) -> Expr<N> {
                self.clone().$function(other)
            }
        }

        impl<N> $operator<Expr<N>> for i64 {
            type Output = Expr<N>;

            fn $function(self, other: Expr<N>) -> Expr<N> {
                Expr::Int(self).$function(other)
            }
        }

        impl<N: Clone> $operator<&Expr<N>> for i64 {
            type Output = Expr<N>;

            fn $function(self, other: &Expr<N>) -> Expr<N> {
                Expr::Int(self).$function(other)
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul);

impl<N, E: Into<Expr<N>>> AddAssign<E> for Expr<N> {
    fn add_assign(&mut self, more: E) {
        *self = std::mem::take(self) + more;
    }
}

impl<N, E: Into<Expr<N>>> Sum<E> for Expr<N> {
    fn sum<I: Iterator<Item = E>>(all: I) -> Expr<N> {
        all.fold(Expr::Int(0), Add::add)
    }
}

impl<N, E: Into<Expr<N>>> Product<E> for Expr<N> {
    fn product<I: Iterator<Item = E>>(all: I) -> Expr<N> {
        all.fold(Expr::Int(1), Mul::mul)
    }
}
