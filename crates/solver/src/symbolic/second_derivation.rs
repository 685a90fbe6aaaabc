//! The least time once more, by a time that was derived another way.
//!
//! What no draw meets and no table shows is a cost that is too great at the one configuration that
//! would be the best. So where the time is such a sum, it is taken from the
//! [obligation](tickbound_timing::obligation) as well, which shares no code with [`Cost::new`], and
//! its parameters are eliminated. Both must have the same least time; and what the second names
//! as the best is simulated, as everything is that a search names.

use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::kernel::{Program, Stmt, StmtKind};
use tickbound_model::{AccessKind, Problem, Profile};
use tickbound_timing::Cost;
use tickbound_timing::obligation::Time;
use tickbound_timing::obligation::product::{Factor, TimeProduct};
use tickbound_timing::term::{Class, Items, LocatedExpr, Term};

use crate::error::SolveError;
use crate::proof::Proof;
use crate::search::Search;
use crate::strategy::{self, Strategy};

/// The time as derived a second way, if that covers the problem: not the profile `resources`.
pub(super) fn cost(problem: &Problem) -> Option<Cost> {
    if problem.profile == Profile::Resources {
        return None;
    }
    Time::new(problem).ok().map(|time| Cost::of_term(term(&time), true))
}

/// Finds the least time by the second derivation, on a search with its own bracket; `None` if
/// it does not end.
///
/// # Errors
/// It is another one, or the simulator disagrees: a fault of this program.
pub(super) fn confirm(claimed: i64, second: &Search<'_>) -> Result<Option<Proof>, SolveError> {
    if second.eliminated().is_none() {
        return Ok(None);
    }
    let proof = match strategy::symbolic(second, Strategy::Eliminate) {
        Err(e) if !e.is_fault() => return Ok(None),
        proof => proof?,
    };
    let Some(Proof::Elimination { rows, .. }) = proof else { return Ok(None) };
    match second.bracket.bounds().upper() {
        found if found == claimed => Ok(Some(Proof::SecondDerivation { rows })),
        found => Err(SolveError::Disagreement(format!(
            "the least time is {claimed} ticks, and by a second derivation of the time {found}"
        ))),
    }
}

fn term(time: &Time) -> Term {
    let at = |expr: &Expr| LocatedExpr { at: "launch".into(), expr: expr.clone() };
    let products = |all: &[TimeProduct]| all.iter().map(product).collect::<Vec<Term>>();
    let parts = time.group.iter().flat_map(|part| products(&part.products));
    let group = Term::Sum(std::iter::once(Term::Number(time.start)).chain(parts).collect());
    let groups = Term::Product(vec![Term::Count(at(&time.waves)), group]);
    let finish = products(&time.finish.products);
    Term::Sum([vec![Term::Number(time.launch), groups], finish].concat())
}

fn product(product: &TimeProduct) -> Term {
    let at = |expr: &Expr| LocatedExpr { at: product.at.clone(), expr: expr.clone() };
    let factor = |factor: &Factor| match factor {
        Factor::Count(e) => Term::Count(at(e)),
        Factor::Guard(e, holds) => Term::Guard { condition: at(e), holds: *holds },
        Factor::Amount(e) => Term::Work(at(e)),
        Factor::Chain(chain) => Term::Chain(chain.clone()),
        Factor::Phase(phase) => Term::Items(Box::new(Items {
            program: priced(&phase.program, &phase.prices),
            local: at(&phase.local),
            elements: phase.elements,
            class: Class::All,
            first_item: phase.item,
        })),
    };
    Term::Product(product.factors.iter().map(factor).collect())
}

/// A program with its work in ticks.
fn priced(program: &[Stmt], prices: &[(AccessKind, i64)]) -> Program {
    let one = |stmt: &Stmt| {
        let kind = match &stmt.kind {
            StmtKind::Access { access, amount } => {
                let price = prices.iter().find(|(of, _)| of == access).map_or(1, |(_, n)| *n);
                let amount = Expr::binary(BinaryOp::Mul, Expr::Int(price), amount.clone());
                StmtKind::Access { access: AccessKind::Work, amount }
            }
            other => other.with_programs(|within| priced(within, prices)),
        };
        stmt.with(kind)
    };
    program.iter().map(one).collect()
}
