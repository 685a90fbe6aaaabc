//! Parameter domains: the finite set of values a tuning parameter ranges over.
//!
//! A domain may mention inputs, platform fields and the parameters declared before it, so that
//! `TS` can range over `powers_of_two(2, WG)`.

use super::eval::EvalError;
use super::expr::{BinaryOp, Expr, Slot};

/// Most values one domain may have.
pub const MAX_VALUES: usize = 1 << 16;

/// A parameter's domain over names of type `N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Domain<N = Slot> {
    /// The listed values.
    List(Vec<Expr<N>>),
    /// Every power of two from the first bound to the second, both included.
    PowersOfTwo(Expr<N>, Expr<N>),
    /// `first`, `first + step`, ... up to `last`, included if it is hit.
    Range {
        /// First value.
        first: Expr<N>,
        /// Greatest value that may appear.
        last: Expr<N>,
        /// Distance between values, at least 1.
        step: Expr<N>,
    },
    /// Every positive divisor.
    Divisors(Expr<N>),
}

/// Why a domain has no set of values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// A bound has no value.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The step of a range is below 1.
    #[error("step {0} is below 1")]
    Step(i64),
    /// The domain has more than [`MAX_VALUES`] values.
    #[error("more than {MAX_VALUES} values")]
    TooMany,
    /// Divisors of a number below 1, or too great to factor by trial.
    #[error("divisors of {0}, which is not between 1 and 2^40")]
    Divisors(i64),
}

impl<N> Domain<N> {
    /// The expressions the domain is made of, in order.
    pub fn expressions(&self) -> Vec<&Expr<N>> {
        match self {
            Domain::List(items) => items.iter().collect(),
            Domain::PowersOfTwo(a, b) => vec![a, b],
            Domain::Range { first, last, step } => vec![first, last, step],
            Domain::Divisors(n) => vec![n],
        }
    }

    /// Replaces every name through `lookup`.
    ///
    /// # Errors
    /// The first name that `lookup` does not know.
    pub fn resolve<M>(&self, lookup: &mut impl FnMut(&N) -> Option<M>) -> Result<Domain<M>, N>
    where
        N: Clone,
    {
        Ok(match self {
            Domain::List(items) => {
                Domain::List(items.iter().map(|e| e.resolve(lookup)).collect::<Result<_, _>>()?)
            }
            Domain::PowersOfTwo(a, b) => {
                Domain::PowersOfTwo(a.resolve(lookup)?, b.resolve(lookup)?)
            }
            Domain::Range { first, last, step } => Domain::Range {
                first: first.resolve(lookup)?,
                last: last.resolve(lookup)?,
                step: step.resolve(lookup)?,
            },
            Domain::Divisors(n) => Domain::Divisors(n.resolve(lookup)?),
        })
    }
}

impl Domain<Slot> {
    /// The values, without repetition; in increasing order but for a list, which keeps its own.
    ///
    /// # Errors
    /// A bound without a value, or more than [`MAX_VALUES`] values.
    pub fn values(&self, env: &[i64]) -> Result<Vec<i64>, DomainError> {
        let mut values = Vec::new();
        let mut push = |v: i64| {
            if values.len() == MAX_VALUES {
                return Err(DomainError::TooMany);
            }
            values.push(v);
            Ok(())
        };
        match self {
            Domain::List(items) => {
                let mut seen = std::collections::HashSet::new();
                for item in items {
                    let v = item.eval(env)?;
                    if seen.insert(v) {
                        push(v)?;
                    }
                }
            }
            Domain::PowersOfTwo(a, b) => {
                let (a, b) = (a.eval(env)?, b.eval(env)?);
                for power in (0..63).map(|e| 1i64 << e).filter(|p| (a..=b).contains(p)) {
                    push(power)?;
                }
            }
            Domain::Range { first, last, step } => {
                let (mut at, last, step) = (first.eval(env)?, last.eval(env)?, step.eval(env)?);
                if step < 1 {
                    return Err(DomainError::Step(step));
                }
                while at <= last {
                    push(at)?;
                    match at.checked_add(step) {
                        Some(next) => at = next,
                        None => break,
                    }
                }
            }
            Domain::Divisors(n) => {
                for d in divisors(n.eval(env)?)? {
                    push(d)?;
                }
            }
        }
        Ok(values)
    }
}

impl Domain<Slot> {
    /// An expression that is not 0 where `value` is one of the values.
    pub fn membership(&self, value: i64) -> Expr {
        let value = || Expr::Int(value);
        let compare = |op, a: &Expr, b: Expr| Expr::binary(op, a.clone(), b);
        let both = |a, b| Expr::binary(BinaryOp::And, a, b);
        match self {
            // Lists of numbers may be long: they leave no expression that would nest as deep.
            Domain::List(items) if items.contains(&value()) => Expr::Int(1),
            Domain::List(items) => items
                .iter()
                .filter(|item| !matches!(item, Expr::Int(_)))
                .map(|item| compare(BinaryOp::Eq, item, value()))
                .reduce(|a, b| Expr::binary(BinaryOp::Or, a, b))
                .unwrap_or(Expr::Int(0)),
            Domain::PowersOfTwo(..) if !matches!(value(), Expr::Int(n) if is_power(n)) => {
                Expr::Int(0)
            }
            Domain::PowersOfTwo(a, b) => {
                both(compare(BinaryOp::Le, a, value()), compare(BinaryOp::Ge, b, value()))
            }
            Domain::Range { first, last, step } => {
                let within = both(
                    compare(BinaryOp::Le, first, value()),
                    compare(BinaryOp::Ge, last, value()),
                );
                let from_first = Expr::binary(BinaryOp::Sub, value(), first.clone());
                let met = Expr::binary(BinaryOp::Rem, from_first, step.clone());
                both(within, Expr::binary(BinaryOp::Eq, met, Expr::Int(0)))
            }
            Domain::Divisors(n) => {
                let rest = Expr::binary(BinaryOp::Rem, n.clone(), value());
                let divides = Expr::binary(BinaryOp::Eq, rest, Expr::Int(0));
                both(Expr::binary(BinaryOp::Ge, value(), Expr::Int(1)), divides)
            }
        }
    }
}

/// Whether a number is a power of two.
fn is_power(n: i64) -> bool {
    n > 0 && n & (n - 1) == 0
}

/// The positive divisors of a number, in increasing order.
fn divisors(n: i64) -> Result<Vec<i64>, DomainError> {
    if !(1..=1 << 40).contains(&n) {
        return Err(DomainError::Divisors(n));
    }
    let small: Vec<i64> = (1..).take_while(|d| *d <= n / *d).filter(|d| n % d == 0).collect();
    let large: Vec<i64> =
        small.iter().rev().map(|d| n / d).filter(|l| !small.contains(l)).collect();
    Ok(small.into_iter().chain(large).collect())
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse_domain;
    use super::*;

    #[test]
    fn membership_is_what_is_listed() {
        for text in
            ["[1, n, n // 2]", "powers_of_two(n - 3, n)", "range(2, n, n // 3)", "divisors(n)"]
        {
            let domain = parse_domain(text).unwrap().resolve(&mut |_| Some(0)).unwrap();
            for (n, value) in (6..40).flat_map(|n| (-1..41).map(move |value| (n, value))) {
                let within = domain.membership(value).eval(&[n]).unwrap() != 0;
                let listed = domain.values(&[n]).unwrap().contains(&value);
                assert_eq!(within, listed, "{value} in {text} for n = {n}");
            }
        }
    }

    #[test]
    fn membership_in_a_long_list_is_a_number() {
        let domain = Domain::List((0..70_000).map(Expr::Int).collect());
        assert_eq!(
            (domain.membership(69_999), domain.membership(-1)),
            (Expr::Int(1), Expr::Int(0))
        );
    }

    fn values(text: &str) -> Result<Vec<i64>, DomainError> {
        let d = parse_domain(text).unwrap_or_else(|e| panic!("{e}"));
        d.resolve(&mut |n| (n == "x").then_some(0)).expect("only x").values(&[12])
    }

    #[test]
    fn values_of_each_kind() {
        assert_eq!(values("powers_of_two(3, 32)"), Ok(vec![4, 8, 16, 32]));
        assert_eq!(values("powers_of_two(-3, 2)"), Ok(vec![1, 2]));
        assert_eq!(values("range(1, x, 5)"), Ok(vec![1, 6, 11]));
        assert_eq!(values("range(1, 3)"), Ok(vec![1, 2, 3]));
        assert_eq!(values("divisors(x)"), Ok(vec![1, 2, 3, 4, 6, 12]));
        assert_eq!(values("divisors(36)"), Ok(vec![1, 2, 3, 4, 6, 9, 12, 18, 36]));
        assert_eq!(values("[3, 1, x, 3]"), Ok(vec![3, 1, 12]));
        assert_eq!(values("[]"), Ok(vec![]));
        assert_eq!(values("range(5, 4)"), Ok(vec![]));
    }

    #[test]
    fn refused_domains() {
        assert_eq!(values("range(1, 5, 0)"), Err(DomainError::Step(0)));
        assert_eq!(values("divisors(0)"), Err(DomainError::Divisors(0)));
        assert_eq!(values("range(0, 100000000)"), Err(DomainError::TooMany));
        assert_eq!(values("[1 // 0]"), Err(DomainError::Eval(EvalError::DivisionByZero)));
        assert!(parse_domain("powers(1, 2)").is_err());
        assert!(parse_domain("range(1)").is_err());
    }
}
