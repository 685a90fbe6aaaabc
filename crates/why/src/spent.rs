//! Where the time of the best configuration goes.
//!
//! The configuration is simulated again with one thing left out, and what it takes less is what
//! that thing costs there. Under the profile `resources` the thing is a part of the profile. Under
//! the others it is all statements of one kind, or of one name, or the price of starting groups or
//! the kernel. Values of expressions stay as they are: an `until` that names the price of global
//! memory waits as long without any `global`. Without its `barrier` no warp waits.
//!
//! These savings add up to the time only where one thing comes after another. What is hidden behind
//! something else saves nothing alone.

use indexmap::IndexSet;
use tickbound_model::{Bound, ModelError, Part, Problem, Profile, Program, Stmt, StmtKind};
use tickbound_simulator::{SimulateOptions, simulate};

use super::search::WhyRequest;
use tickbound_report::answer::why::{Share, Spent, Why, percent};

/// Prices that no statement represents.
const STARTS: [(&str, &str); 2] =
    [("group_start", "group start"), ("kernel_launch", "kernel launch")];

const OPEN: &str =
    "warps compete for dispatchers, and a schedule without something is another schedule";

/// Leaves one thing after the other out of the best configuration, and notes in `why` what it then
/// takes.
pub(super) fn look(asked: &WhyRequest<'_>, why: &mut Why) {
    let problem = asked.problem;
    let at = why.configuration.clone().unwrap_or_default();
    let Some(time) = why.time else { return };
    let spent = match problem.bind(&at) {
        _ if problem.has_open_schedule() => Ok(unknown(OPEN)),
        bound => bound.and_then(|bound| parts(problem, &bound, time, asked)),
    };
    why.spent = Some(spent.unwrap_or_else(|e| unknown(&e.to_string())));
}

fn unknown(because: &str) -> Spent {
    Spent { because: Some(because.to_owned()), ..Spent::default() }
}

fn parts(
    problem: &Problem,
    bound: &Bound,
    time: i64,
    asked: &WhyRequest<'_>,
) -> Result<Spent, ModelError> {
    let share = |name: &str, changed: &Problem| taken(name, changed, bound, time, asked);
    let left = |out: &dyn Fn(&Stmt) -> bool| {
        let mut changed = problem.clone();
        changed.kernel = without(&problem.kernel, out);
        changed.finish = without(&problem.finish, out);
        changed
    };
    if problem.profile == Profile::Resources {
        // Rules of counting have done their work: the usage is there.
        let formulas = |part: &Part| !part.is_of_counting() && !problem.without.contains(part);
        let parts = Part::ALL.into_iter().filter(formulas);
        let parts = parts.map(|part| {
            let mut changed = problem.clone();
            changed.without.push(part);
            share(part.name(), &changed)
        });
        let named = named(leaves(&problem.finish));
        let steps = named.into_iter().map(|name| share(name, &left(&|stmt| stmt.label == name)));
        return Ok(Spent { parts: parts.collect(), steps: steps.collect(), because: None });
    }
    let statements = [&problem.kernel, &problem.finish].map(|program| leaves(program)).concat();
    let kinds: IndexSet<&str> = statements.iter().map(|stmt| stmt.kind.name()).collect();
    let names = named(statements);
    let mut parts: Vec<Share> = kinds
        .into_iter()
        .map(|kind| share(kind, &left(&|stmt| stmt.kind.name() == kind)))
        .collect();
    for (price, name) in STARTS {
        let is_paid = problem.platform.numbers().any(|(n, ticks)| n == price && ticks > 0);
        let mut changed = problem.clone();
        if is_paid && let Some(set) = changed.platform.set(price, 0) {
            set?;
            parts.push(share(name, &changed));
        }
    }
    let steps = names.into_iter().map(|name| share(name, &left(&|stmt| stmt.label == name)));
    Ok(Spent { steps: steps.collect(), parts, because: None })
}

/// The names that the problem gives to statements.
fn named(statements: Vec<&Stmt>) -> IndexSet<&str> {
    let named = statements.into_iter().filter(|stmt| stmt.label != stmt.kind.name());
    named.map(|stmt| stmt.label.as_str()).collect()
}

/// What a configuration takes on the changed problem, beside what it takes on the problem itself.
fn taken(name: &str, changed: &Problem, bound: &Bound, time: i64, asked: &WhyRequest<'_>) -> Share {
    let run = match asked.searches.is_over() {
        true => Err(None),
        false => {
            simulate(changed, bound, &SimulateOptions::default()).map_err(|e| Some(e.to_string()))
        }
    };
    let (without, because) = match run {
        Ok(run) => (Some(run.time), None),
        Err(because) => (None, because),
    };
    let saves = without.map(|without| time - without);
    let percent = saves.and_then(|saves| percent(saves, time));
    Share { name: name.to_owned(), time: without, saves, percent, because }
}

/// The statements that take time, at any depth.
fn leaves<'p>(program: &'p Program) -> Vec<&'p Stmt> {
    let under = |stmt: &'p Stmt| match &stmt.kind {
        StmtKind::Repeat { body, .. } => leaves(body),
        StmtKind::If { then, otherwise, .. } => [leaves(then), leaves(otherwise)].concat(),
        StmtKind::Mark => Vec::new(),
        _ => vec![stmt],
    };
    program.iter().flat_map(under).collect()
}

/// The program without the statements that take time for which `out` holds.
fn without(program: &Program, out: &dyn Fn(&Stmt) -> bool) -> Program {
    let kept = |stmt: &Stmt| {
        let kind = match &stmt.kind {
            StmtKind::Repeat { count, body } => {
                StmtKind::Repeat { count: count.clone(), body: without(body, out) }
            }
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: condition.clone(),
                then: without(then, out),
                otherwise: without(otherwise, out),
            },
            StmtKind::Mark => StmtKind::Mark,
            _ if out(stmt) => return None,
            kind => kind.clone(),
        };
        Some(Stmt { kind, ..stmt.clone() })
    };
    program.iter().filter_map(kept).collect()
}
