//! Z3's own optimisation. It has reported wrong optima in the past, so its answer only proposes a
//! configuration; the proof is a plain solver's refusal of one tick less.

use std::cell::Cell;
use std::rc::Rc;

use z3::{Optimize, SatResult};

use super::entry::Entry;
use crate::error::SolveError;
use crate::instance::{choice, chosen, leave_ctrl_c, unrolled};
use crate::task::FormulaSearch;

pub(super) const ENTRY: Entry = Entry { rank: Some(4), ..Entry::on_formula(run) };

fn run(asked: &dyn FormulaSearch) -> Result<(), SolveError> {
    let Some((task, formula)) = asked.listed() else { return super::descend::run(asked) };
    let optimizer = Optimize::new();
    optimizer.set_params(&leave_ctrl_c());
    let (mut unrolled, goal, cost) = unrolled(formula.system, formula.steps)?;
    unrolled.facts().iter().for_each(|fact| optimizer.assert(fact));
    optimizer.assert(goal);
    for c in (0..formula.system.configurations.len()).filter(|c| (formula.pruned)(*c)) {
        optimizer.assert(choice(formula.system, &unrolled, c).not());
    }
    optimizer.minimize(&cost);
    // Models on the way give upper bounds even if the search is stopped.
    let best: Rc<Cell<Option<i64>>> = Rc::default();
    let (seen, shown) = (best.clone(), cost.clone());
    optimizer.set_model_handler(move |model| {
        seen.set(model.eval(&shown, true).and_then(|v| v.as_i64()));
    });
    task.bracket.count_call();
    let answer = optimizer.check(&[]);
    if answer == SatResult::Sat
        && let Some(model) = optimizer.get_model()
        && let Some(choice) = chosen(&model, unrolled.chosen())
        && let Some(c) = formula.system.configurations.iter().position(|k| *k == choice)
    {
        let claimed = model.eval(&cost, true).and_then(|v| v.as_i64());
        task.replay(c, claimed.or(best.get()))?;
    } else if answer == SatResult::Unknown && !task.bracket.done() {
        task.bracket.give_up(optimizer.get_reason_unknown().unwrap_or_default());
        return Ok(());
    }
    // The proof, and the true optimum if the optimiser was wrong.
    super::descend::run(asked)
}
