//! Searching a space that is not listed.
//!
//! In go the valid configurations as a structure and the run time as an expression. A strategy
//! closes the bracket on them: elimination over a join tree, branch and bound over boxes, or Z3 on
//! the same conditions and costs. What comes out names who proved what ([`crate::Proof`]).
//!
//! 1. Where small tables hold the costs, the parameters are eliminated, so that the answer is known
//!    at once.
//! 2. If running all configurations in the simulator is cheap, that is done, and nothing else is
//!    needed.
//! 3. Where parameters share a budget, a maximum or a product, elimination with labels is next; it
//!    is first where the conditions are over too many parameters for tables of them.
//! 4. Otherwise the costs are tabulated and the parameters eliminated. Every configuration that a
//!    strategy proposes is simulated before it counts. Where tables would be large one drawn at
//!    random comes first, so that there is something to show.
//! 5. Configurations drawn at random are simulated too and compared with the cost, so that a fault
//!    in it shows outside the optimum as well.
//! 6. Where the time can be derived a second way, its parameters are eliminated too; the least must
//!    be the same.
//! 7. Z3 has to refute one tick less, if it answers within the time that 1 to 5 have taken.
//!
//! A configuration that is too large to simulate, or whose time leaves 63 bits, is excluded by its
//! bound, or it stays open and is named as what keeps the bracket from closing.

mod check;
mod rank;
mod second_derivation;

use std::time::Duration;

use tickbound_elimination::direct::DirectForm;
use tickbound_model::Problem;
use tickbound_model::space::{Condition, Configurations};
use tickbound_model::verdict::Status;
use tickbound_timing::{Cost, direct_form};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::options::SearchOptions;
use crate::proof::Proof;
use crate::result::{FormulaSize, TuneResult};
use crate::search::{INITIAL_ROWS, MAX_ROWS, Search};
use crate::strategy::{self, Strategy};
use crate::table_encoding::{self, TableEncoding};

/// Most rows of a join that is tried before everything else: some milliseconds.
const SMALL_ROWS: usize = 1 << 12;

/// Most rows of a join before labels are tried where parameters share something.
const MIDDLE_ROWS: usize = 1 << 14;

/// Searches with a cost.
pub fn tune(
    configurations: &Configurations<'_>,
    cost: &Cost,
    options: &SearchOptions,
    bracket: &Bracket<'_>,
) -> Result<TuneResult, SolveError> {
    let search = Search::new(configurations, cost, bracket);
    if let Some(known) = bracket.take_best() {
        search.offer(known, None)?;
    }
    tune_search(&search, options)
}

/// Combinations of parameters that share a condition, over all conditions, up to which the
/// conditions become relations first, unless parameters differ in many pairs.
const SMALL_CHOICES: u64 = 1 << 20;

/// Searches with labels before conditions over many parameters become relations, where that would
/// take long, or labels were chosen by name; `None` if not, or the bracket is left open.
pub fn at_first(
    problem: &Problem,
    cost: &Cost,
    options: &SearchOptions,
    bracket: &Bracket<'_>,
) -> Result<Option<TuneResult>, SolveError> {
    let named = options.strategy == Strategy::Labels;
    if !named && !options.strategy.leaves_choice() {
        return Ok(None);
    }
    let stop = || bracket.out_of_time();
    let configurations = problem.loose_configurations(&crate::search::limits(MAX_ROWS, &stop))?;
    if !named && !is_wide(&configurations) {
        return Ok(None);
    }
    let search = Search::new(&configurations, cost, bracket);
    match direct_form(&configurations, cost).filter(|form| named || !form.is_plain()) {
        Some(form) => labelled(&search, &form, options),
        None => Ok(None),
    }
}

/// True if tables of the conditions take long.
fn is_wide(configurations: &Configurations<'_>) -> bool {
    let problem = configurations.problem();
    let size = |p: &usize| configurations.values()[*p].len() as u64;
    let choices = |c: &Condition| c.parameters.iter().map(size).fold(1, u64::saturating_mul);
    let all = configurations.conditions().iter().map(choices).fold(0, u64::saturating_add);
    let pairs = configurations.conditions().iter().filter(|c| c.differ(problem).is_some()).count();
    all > SMALL_CHOICES || pairs > 2 * problem.parameters.len()
}

/// Searches with labels; `None` if the bracket is left open.
fn labelled(
    search: &Search<'_>,
    form: &DirectForm,
    options: &SearchOptions,
) -> Result<Option<TuneResult>, SolveError> {
    if search.bracket.out_of_time() {
        return Ok(None);
    }
    let Some(proof) = strategy::labels::on(search, form)? else { return Ok(None) };
    let bracket = search.bracket;
    if bracket.bounds().best.is_none() {
        return Ok(Some(TuneResult::infeasible(options, bracket)));
    }
    let checked = Some(check::sample(search, options.seed)?);
    let ranking = rank::by_labels(search, form, options.top)?;
    let status = Status::Optimal;
    let ended = TuneResult { status, proofs: vec![proof], checked, ..ranking };
    Ok(Some(result(search, options, ended)))
}

/// Searches on what a search knows already.
pub fn tune_search(search: &Search<'_>, options: &SearchOptions) -> Result<TuneResult, SolveError> {
    if options.strategy.leaves_choice() {
        at_once(search)?;
    }
    if let Some(result) = simulated(search, options)? {
        return Ok(result);
    }
    if options.strategy.leaves_choice()
        && !search.cost.is_chain()
        && let Some(result) = by_labels(search, options)?
    {
        return Ok(result);
    }
    let mut proofs = Vec::from_iter(closed(search, options)?);
    let finished = search.bracket.closed() && !proofs.is_empty();
    let checked = Some(check::sample(search, options.seed)?);
    if finished {
        proofs.extend(confirmed(search, options)?);
    }
    let (status, ranking) = match finished {
        true => (Status::Optimal, rank::ranking(search, options.top)?),
        false => (Status::Bounded, TuneResult::default()),
    };
    search.bracket.fault()?;
    Ok(result(search, options, TuneResult { status, proofs, checked, ..ranking }))
}

/// Most entries of a plain sum's tables for which labels are tried before large joins.
const MAX_PAIRED: usize = 1 << 15;

/// Searches with labels where tables of a middle size do not hold the costs; of a plain sum of
/// large tables, where those do not from which on other ways are tried.
fn by_labels(
    search: &Search<'_>,
    options: &SearchOptions,
) -> Result<Option<TuneResult>, SolveError> {
    search.limit_rows(MIDDLE_ROWS);
    if search.eliminated().is_some() || search.bracket.out_of_time() {
        return Ok(None);
    }
    let Some(form) = direct_form(search.configurations, search.cost) else { return Ok(None) };
    let entries: usize = form.tables.iter().map(|table| table.entries.len()).sum();
    let other = match form.is_plain() {
        true if entries <= MAX_PAIRED => false,
        true => {
            search.limit_rows(INITIAL_ROWS);
            search.eliminated().is_some()
        }
        // Where conditions are wide, labels were tried before.
        false => is_wide(search.configurations),
    };
    if other { Ok(None) } else { labelled(search, &form, options) }
}

/// Closes the bracket if small tables do.
fn at_once(search: &Search<'_>) -> Result<(), SolveError> {
    search.limit_rows(SMALL_ROWS);
    if search.eliminated().is_none() {
        return Ok(());
    }
    search.limit_rows(INITIAL_ROWS);
    match strategy::symbolic(search, Strategy::Eliminate) {
        // The problem is at fault; found again, in the order of the space, if all are simulated.
        Err(why) if !why.is_fault() => Ok(()),
        end => end.map(|_| ()),
    }
}

/// Simulates all configurations; `None` if that is not cheap, or another way was requested.
pub fn simulated(
    search: &Search<'_>,
    options: &SearchOptions,
) -> Result<Option<TuneResult>, SolveError> {
    if !options.strategy.leaves_choice() || !check::all(search)? {
        return Ok(None);
    }
    let proofs = vec![Proof::Simulation { configurations: search.simulated() }];
    let ranking = rank::ranking(search, options.top)?;
    search.bracket.fault()?;
    let ended = TuneResult { status: Status::Optimal, proofs, ..ranking };
    Ok(Some(result(search, options, ended)))
}

fn confirmed(search: &Search<'_>, options: &SearchOptions) -> Result<Vec<Proof>, SolveError> {
    let taken = Duration::from_secs_f64(search.bracket.seconds());
    let claimed = search.bracket.bounds().upper();
    let (cost, bracket) = (second_derivation::cost(search.problem()), search.bracket.reopened());
    let second = cost.as_ref().map(|cost| Search::new(search.configurations, cost, &bracket));
    let mut proofs = Vec::new();
    let tabulated = search.tabulated().is_some();
    if let Some(second) = &second {
        // What took other ways takes longer than a confirmation is worth.
        second.limit_rows(if tabulated { search.rows() } else { INITIAL_ROWS });
        proofs.extend(second_derivation::confirm(claimed, second)?);
    }
    if options.strategy.leaves_choice() && search.cost.is_exact() && tabulated {
        // Z3 gets the second cost, if there is one, and as much time as the search has taken.
        let told = second.as_ref().filter(|_| !proofs.is_empty()).unwrap_or(search);
        proofs.extend(table_encoding::confirm(search.bracket, told, taken)?);
    }
    Ok(proofs)
}

/// Closes the bracket with the strategy; returns the proof.
pub(crate) fn closed(
    search: &Search<'_>,
    options: &SearchOptions,
) -> Result<Option<Proof>, SolveError> {
    let choice = options.strategy.leaves_choice();
    search.limit_rows(if search.cost.is_chain() { SMALL_ROWS } else { INITIAL_ROWS });
    if choice && search.eliminated().is_some() {
        return strategy::symbolic(search, Strategy::Eliminate);
    }
    if choice && search.is_over_boxes() {
        // Bounds from tables of its steps are closer than those from tables of its end.
        return strategy::symbolic(search, Strategy::Branch);
    }
    search.limit_rows(MAX_ROWS);
    check::first(search, options.seed)?;
    strategy::symbolic(search, options.strategy)
}

/// The question that confirms a problem's least time, in SMT-LIB 2: whether something takes one
/// tick less. With it comes the least time. `None` if there is no configuration, the search was
/// stopped, or the costs are too large for tables.
pub fn confirming_question(
    problem: &Problem,
    bracket: &Bracket<'_>,
) -> Result<Option<(i64, String)>, SolveError> {
    let cost = Cost::new(problem)?;
    let stop = || bracket.out_of_time();
    let configurations = problem.configurations(&crate::search::limits(MAX_ROWS, &stop))?;
    let search = Search::new(&configurations, &cost, bracket);
    if strategy::symbolic(&search, Strategy::Eliminate)?.is_none() {
        return Ok(None);
    }
    bracket.fault()?;
    let least = bracket.bounds().upper();
    let question = TableEncoding::new(&search).filter(|_| least < i64::MAX);
    Ok(question.and_then(|statement| Some((least, statement.smt2(least.checked_sub(1)?)?))))
}

/// The result with what the space and the bracket know.
fn result(search: &Search<'_>, options: &SearchOptions, ended: TuneResult) -> TuneResult {
    let best = search.bracket.bounds().best.map(|(c, _)| search.found(c));
    TuneResult {
        upper: best.as_ref().map(|b| b.time),
        replayed: best.as_ref().is_some_and(|b| search.was_simulated(&b.configuration)),
        best: ended.optima.first().cloned().or(best),
        configurations: search.configurations.count(),
        confirmed_uncut: ended.proofs.iter().any(|p| matches!(p, Proof::Z3 { .. })),
        size: FormulaSize {
            configurations: listed(search.configurations),
            ..FormulaSize::default()
        },
        ..ended.searched(options, search.bracket)
    }
}

/// The number of configurations, at most `i64::MAX`.
fn listed(configurations: &Configurations<'_>) -> usize {
    let most = usize::try_from(i64::MAX).unwrap_or(usize::MAX);
    configurations.count().and_then(|n| usize::try_from(n).ok()).unwrap_or(most).min(most)
}
