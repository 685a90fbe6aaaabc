//! Parts of a cost or of a condition, and what they are made of.

use tickbound_expr::interval::Interval;
use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::Problem;

use crate::at::LocatedExpr;
use crate::obligation::product::Factor;
use crate::term::Term;

/// A part of a cost or of a condition.
#[derive(Debug, Clone, Copy)]
pub(super) enum Node<'n> {
    Term(&'n Term),
    Factor(&'n Factor),
    Expr(&'n Expr),
    Number(i64),
}

/// A factor, and what it is multiplied by.
pub(super) type Summand<'n> = (i64, Node<'n>);

/// What a node is made of.
pub(super) enum View<'n> {
    /// The sum, each times a factor.
    Sum(Vec<Summand<'n>>),
    Product(Vec<Node<'n>>),
    Max(Vec<Node<'n>>),
    /// Something else.
    Whole,
}

impl<'n> Node<'n> {
    pub fn parameters(self, problem: &Problem) -> Vec<usize> {
        match self {
            Node::Term(term) => term.parameters(problem),
            Node::Factor(factor) => problem.parameters_of(factor.expressions()),
            Node::Expr(expr) => problem.parameters_of([expr]),
            Node::Number(_) => Vec::new(),
        }
    }

    pub fn value(self, env: &[i64]) -> Option<i64> {
        match self {
            Node::Term(term) => term.value(env).ok(),
            Node::Factor(factor) => i64::try_from(factor.value(env).ok()?).ok(),
            Node::Expr(expr) => expr.eval(env).ok(),
            Node::Number(n) => Some(n),
        }
    }

    pub fn view(self, of: &[Interval]) -> View<'n> {
        let is_natural = |e: &Expr| e.range(of).values.is_some_and(|v| v.low >= 0);
        match self {
            Node::Term(Term::Work(LocatedExpr { expr, .. }))
            | Node::Factor(Factor::Amount(expr))
                if is_natural(expr) =>
            {
                Node::Expr(expr).view(of)
            }
            Node::Term(Term::Count(LocatedExpr { expr, .. }))
            | Node::Factor(Factor::Count(expr)) => match is_natural(expr) {
                true => Node::Expr(expr).view(of),
                false => View::Max(vec![Node::Expr(expr), Node::Number(0)]),
            },
            Node::Term(Term::Sum(parts)) => {
                View::Sum(parts.iter().map(|part| (1, Node::Term(part))).collect())
            }
            Node::Term(Term::Product(parts)) => {
                View::Product(parts.iter().map(Node::Term).collect())
            }
            Node::Term(Term::Max(parts)) => View::Max(parts.iter().map(Node::Term).collect()),
            Node::Expr(Expr::Neg(a)) => View::Sum(vec![(-1, Node::Expr(a))]),
            Node::Expr(Expr::Binary(BinaryOp::Add, a, b)) => {
                View::Sum(vec![(1, Node::Expr(a)), (1, Node::Expr(b))])
            }
            Node::Expr(Expr::Binary(BinaryOp::Sub, a, b)) => {
                View::Sum(vec![(1, Node::Expr(a)), (-1, Node::Expr(b))])
            }
            Node::Expr(Expr::Binary(BinaryOp::Mul, a, b)) => {
                View::Product(vec![Node::Expr(a), Node::Expr(b)])
            }
            Node::Expr(Expr::Call(Function::Max, all)) => {
                View::Max(all.iter().map(Node::Expr).collect())
            }
            _ => View::Whole,
        }
    }
}
