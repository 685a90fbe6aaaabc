//! Steps: what an element does, in sequence.

use tickbound_expr::{BinaryOp, Expr, Function};

use crate::chain::Chain;
use crate::obligation::phase::PhaseWork;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The statement, for messages.
    pub at: String,
    /// What it does.
    pub kind: PathStepKind,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStepKind {
    /// Takes `amount` ticks, times each of the others. An amount below 0 is a fault of the problem.
    Work {
        /// How much.
        amount: Expr,
        /// What it is multiplied by.
        times: Vec<Expr>,
    },
    /// What the slowest element does between two barriers.
    Phase(Box<PhaseWork>),
    /// What the launch takes under the profile `resources`.
    Chain(Box<Chain>),
    /// Remembers the present tick.
    Mark,
    /// Waits until more than this many ticks have passed since the mark.
    Until(Expr),
    /// The body so often; a count below 0 is not at all.
    Repeat {
        /// How often.
        count: Expr,
        /// What is repeated.
        body: Vec<PathStep>,
    },
    /// One of two sides.
    If {
        /// Not 0 for the first side.
        condition: Expr,
        /// The first side.
        then: Vec<PathStep>,
        /// The other side.
        otherwise: Vec<PathStep>,
    },
}

/// True if some step waits for a mark.
pub fn waits(steps: &[PathStep]) -> bool {
    steps.iter().any(|step| match &step.kind {
        PathStepKind::Until(_) => true,
        PathStepKind::Repeat { body, .. } => waits(body),
        PathStepKind::If { then, otherwise, .. } => waits(then) || waits(otherwise),
        PathStepKind::Work { .. }
        | PathStepKind::Phase(_)
        | PathStepKind::Chain(_)
        | PathStepKind::Mark => false,
    })
}

/// True if an expression has a value unless numbers overflow: no divisor that may be 0, no power.
pub(crate) fn always_has_a_value(e: &Expr) -> bool {
    let whole = match e {
        Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem, _, b) => {
            matches!(**b, Expr::Int(n) if n != 0)
        }
        Expr::Binary(BinaryOp::Pow, ..) | Expr::Call(Function::CeilDiv, _) => false,
        _ => true,
    };
    whole && e.parts().all(always_has_a_value)
}
