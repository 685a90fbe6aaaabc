//! From a problem to its cost.

use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::has_until;
use tickbound_model::{Launch, Problem, Profile, Program, StmtKind};

use super::phases::Phases;
use super::program::{inside, is_branch, mentions, priced, refuse, without};
use super::sums::{sum, work};
use super::term::{LocatedExpr, Rounds, Term};
use super::uncovered::{Uncovered, uncovered};

/// The run time under all profiles but `resources`, and whether it is exact.
pub(crate) fn derive(problem: &Problem) -> Result<(Term, bool), Uncovered> {
    // Items of a warp that take different sides run both.
    let merges = problem.platform.warps().is_none();
    let kernel = priced(problem, &problem.kernel, merges)?;
    let finish = finish(problem)?;
    let (body, exact) = match (problem.profile, problem.platform.warps()) {
        (Profile::OpenCl, None) => groups(problem, &kernel)?,
        (Profile::Published2023, None) => (activations(problem, kernel)?, true),
        (Profile::Published2021, Some(warps)) => {
            let at_once = warps.width.saturating_mul(warps.dispatchers);
            (warps_in_turn(problem, kernel, at_once)?, true)
        }
        _ => return uncovered("platform.warps", "what warps do is not one expression"),
    };
    let mut parts = vec![body, finish];
    if problem.profile == Profile::OpenCl && problem.platform.kernel_launch() > 0 {
        parts.insert(0, Term::Number(problem.platform.kernel_launch()));
    }
    Ok((sum(parts), exact))
}

/// What element 0 does after the launch, alone; `lid` and the rest are 0, as in bound values.
pub(crate) fn finish(problem: &Problem) -> Result<Term, Uncovered> {
    let finish = priced(problem, &problem.finish, true)?;
    refuse(&finish, problem.first_item_slot(), "work differs between items")?;
    Ok(match has_until(&finish) {
        true => Term::Run { program: Box::new(finish), barrier: 0 },
        false => work(&finish),
    })
}

/// A lower bound for what [`derive`] does not cover.
pub(crate) fn bound(problem: &Problem) -> Result<Term, Uncovered> {
    if (problem.profile, problem.platform.warps()) != (Profile::OpenCl, None) {
        return uncovered("profile", "has no bound without a list");
    }
    let kernel = priced(problem, &problem.kernel, true)?;
    let item = problem.first_item_slot();
    // What differs between groups is left out, but for branches, which say which groups count; then
    // what differs between items.
    let alike = without(&kernel, &|stmt| mentions(stmt, item + 1) && !is_branch(stmt));
    let simple = without(&alike, &|stmt| {
        let waits = matches!(stmt.kind, StmtKind::Until(_) | StmtKind::Mark);
        let of_items = mentions(stmt, item) && !(is_branch(stmt) && mentions(stmt, item + 1));
        waits || of_items
    });
    let (group, _) = groups(problem, &alike).or_else(|_| groups(problem, &simple))?;
    let launch = Term::Number(problem.platform.kernel_launch());
    Ok(sum(vec![launch, group]))
}

/// `opencl`: groups in sequence on each unit, all alike.
fn groups(problem: &Problem, kernel: &Program) -> Result<(Term, bool), Uncovered> {
    let Launch::Range { global_size, local_size } = &problem.launch else {
        return uncovered("launch", "activations belong to another profile");
    };
    let local = problem.inlined("launch.local_size", local_size)?;
    let global = problem.inlined("launch.global_size", global_size)?;
    let units = problem.platform.units();
    let first_item = problem.first_item_slot();
    let mut guards = Vec::new();
    let inner = inside(kernel, first_item + 1, &mut guards);
    refuse(&inner, first_item + 1, "work differs between groups")?;
    let alike = guards.is_empty();
    let waves = if alike {
        let count = Expr::binary(BinaryOp::FloorDiv, global, local.clone());
        let waves = Expr::Call(Function::CeilDiv, vec![count, Expr::Int(units)]);
        Term::Count(LocatedExpr { at: "launch".into(), expr: waves })
    } else {
        let size = |at: &str, expr: &Expr| LocatedExpr { at: at.into(), expr: expr.clone() };
        let global = size("launch.global_size", &global);
        let local = size("launch.local_size", &local);
        Term::Rounds(Box::new(Rounds { guards, global, local, units, first_item }))
    };
    let elements = problem.platform.elements_per_unit();
    let local = LocatedExpr { at: "launch.local_size".into(), expr: local };
    let phases = Phases { price: problem.platform.barrier(), elements, local, first_item };
    let (group, exact) = match has_until(&inner) {
        true => phases.marked(&inner)?,
        false => (phases.group(&inner)?, true),
    };
    let start = Term::Number(problem.platform.group_start());
    Ok((Term::Product(vec![waves, sum(vec![start, group])]), exact && alike))
}

/// `published-2023`: activations in sequence; in each, elements run the program some times.
fn activations(problem: &Problem, kernel: Program) -> Result<Term, Uncovered> {
    let Launch::Activations { local_size, activations } = &problem.launch else {
        return uncovered("launch", "a range belongs to another profile");
    };
    refuse(&kernel, problem.first_item_slot(), "work differs between items")?;
    let count = |at: &str, expr: Expr| Term::Count(LocatedExpr { at: at.into(), expr });
    let activations = problem.inlined("launch.activations", activations)?;
    let local = problem.inlined("launch.local_size", local_size)?;
    let elements = Expr::Int(problem.platform.elements_per_unit());
    let share = Expr::binary(BinaryOp::FloorDiv, local, elements);
    let runs = Expr::Call(Function::Max, vec![Expr::Int(1), share]);
    Ok(Term::Product(vec![
        count("launch.activations", activations),
        count("launch.local_size", runs),
        Term::Run { program: Box::new(kernel), barrier: 0 },
    ]))
}

/// `published-2021`: groups in sequence; in each, dispatchers run warps of `at_once` items.
fn warps_in_turn(problem: &Problem, kernel: Program, at_once: i64) -> Result<Term, Uncovered> {
    let Launch::Range { global_size, local_size } = &problem.launch else {
        return uncovered("launch", "activations belong to another profile");
    };
    refuse(&kernel, problem.first_item_slot(), "work differs between items")?;
    let count = |at: &str, expr: Expr| Term::Count(LocatedExpr { at: at.into(), expr });
    let local = problem.inlined("launch.local_size", local_size)?;
    let global = problem.inlined("launch.global_size", global_size)?;
    let groups = Expr::binary(BinaryOp::FloorDiv, global, local.clone());
    let units = Expr::Int(problem.platform.units());
    let waves = Expr::Call(Function::CeilDiv, vec![groups, units]);
    let warps = Expr::binary(BinaryOp::FloorDiv, local, Expr::Int(at_once));
    Ok(Term::Product(vec![
        count("launch", waves),
        count("launch.local_size", warps),
        Term::Run { program: Box::new(kernel), barrier: 0 },
    ]))
}
