//! What a single item does between barriers.

use std::collections::BTreeMap;

use tickbound_model::{AccessKind, Bound, LaunchSize, Problem, Program, StmtKind};

/// Amounts by kind of access between two barriers; kinds that do not happen are absent.
type Phase = BTreeMap<&'static str, i64>;

/// What an item does: for each place between barriers its amounts. An error where an expression has
/// no value, or an amount is negative.
fn phases(problem: &Problem, env: &[i64]) -> Result<Vec<Phase>, String> {
    let mut all = vec![Phase::new()];
    run(&problem.kernel, env, &mut all)?;
    Ok(all)
}

fn run(program: &Program, env: &[i64], all: &mut Vec<Phase>) -> Result<(), String> {
    for stmt in program {
        let value = |e: &tickbound_expr::Expr| e.eval(env).map_err(|e| format!("{}: {e}", stmt.at));
        match &stmt.kind {
            StmtKind::Access { access, amount } => {
                let amount = value(amount)?;
                if amount < 0 {
                    return Err(format!("{}: {amount}", stmt.at));
                }
                if amount > 0 {
                    *all.last_mut().unwrap().entry(access.name()).or_default() += amount;
                }
            }
            StmtKind::Barrier => all.push(Phase::new()),
            StmtKind::Repeat { count, body } => {
                for _ in 0..value(count)? {
                    run(body, env, all)?;
                    if all.len() > 5_000 {
                        return Err("too many barriers".into());
                    }
                }
            }
            StmtKind::If { condition, then, otherwise } => {
                run(if value(condition)? != 0 { then } else { otherwise }, env, all)?;
            }
            StmtKind::Mark | StmtKind::Until(_) => {}
        }
    }
    Ok(())
}

/// The phases of every item of a launch; without arithmetic if the platform gives it no price.
pub fn of_all_items(problem: &Problem, bound: &Bound) -> Result<Vec<Vec<Phase>>, String> {
    let priced = problem.platform.price(AccessKind::Compute) > 0;
    let LaunchSize::Range { global, local } = bound.launch else { return Ok(Vec::new()) };
    let first = problem.first_item_slot();
    let mut env = bound.env.clone();
    let items = (0..global).map(|gid| {
        env[first] = gid % local;
        env[first + 1] = gid;
        env[first + 2] = gid / local;
        let mut all = phases(problem, &env).map_err(|e| format!("gid {gid}: {e}"))?;
        if !priced {
            for phase in &mut all {
                phase.remove(AccessKind::Compute.name());
            }
        }
        Ok(all)
    });
    items.collect()
}
