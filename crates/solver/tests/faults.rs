//! Faults put into what a search relies on. Each must be found out: the search ends in an error
//! that says that this program is at fault, not in a wrong optimum.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};
use tickbound_elimination::{Least, Network, Relation, TableLimits, Tree};
use tickbound_encodings::plan::{Op, Plan, Queue};
use tickbound_model::space::Configurations;
use tickbound_model::verdict::Status;
use tickbound_model::{Configuration, Problem};
use tickbound_simulator::simulate;
use tickbound_solver::bracket::Bracket;
use tickbound_solver::search::Search;
use tickbound_solver::{
    Encoding, SearchOptions, SolveError, Strategy, TuneResult, listed, symbolic,
};
use tickbound_timing::term::{Class, Term};
use tickbound_timing::{Cost, CostTables, FactoredSum};

use crate::symbolic::parsed;

/// Three groups sizes of which one leaves elements with an item less; 41 configurations.
fn problem() -> Value {
    json!({
        "platform": { "units_per_device": 2, "elements_per_unit": 4, "global_access": 4,
            "barrier": 2,
            "group_start": 3, "kernel_launch": 5 },
        "parameters": { "WG": [6, 2, 4, 12], "T": [1, 2, 3, 4], "U": [0, 1, 2] },
        "constraints": ["T <= WG", "T + U <= 5", "WG * U != 4"],
        "launch": { "global_size": 24, "local_size": "WG" },
        "kernel": [
            { "repeat": "12 / T", "body": [
                { "global": "T + 1" }, "barrier",
                { "if": "T > U + 1", "then": [{ "compute": "U + 1" }],
                    "else": [{ "compute": "2 * T" }] }] },
            "barrier",
            { "compute": "T" },
            { "work": "4 * (2 - U) if lid == 3 else 0" }],
        "finish": [{ "compute": "WG + U" }]
    })
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// A fault of this program was found.
    Caught,
    /// The right optimum was found nevertheless.
    Right,
    /// The fault was found to be the problem's.
    Blamed,
    /// The search did not end.
    Open,
    /// A wrong optimum.
    Wrong,
}

/// The least time, by running all configurations in the simulator, and a configuration that takes
/// it.
fn best(problem: &Problem) -> (i64, Configuration) {
    let space = problem.space().expect("a space");
    let timed = space.bound.into_iter().map(|b| {
        let run = simulate(problem, &b, &tickbound_simulator::SimulateOptions::default())
            .expect("a time");
        (run.time, b.configuration)
    });
    timed.min_by_key(|(time, _)| *time).expect("configurations")
}

fn end(result: Result<TuneResult, SolveError>, least: i64) -> End {
    match result {
        Err(e) if e.is_fault() => End::Caught,
        Err(_) => End::Blamed,
        Ok(result) if result.status != Status::Optimal => End::Open,
        Ok(result) if result.upper == Some(least) && result.lower == least => End::Right,
        Ok(_) => End::Wrong,
    }
}

/// Strategies that use the cost on a space of any size.
const UNLISTED: [Strategy; 3] = [Strategy::Eliminate, Strategy::Branch, Strategy::Descend];

fn on_cost(problem: &Problem, cost: &Cost, strategy: Strategy, least: i64) -> End {
    let all = problem.configurations(&TableLimits::default()).expect("a structure");
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    let options = SearchOptions { strategy, ..SearchOptions::default() };
    end(symbolic::tune(&all, cost, &options, &bracket), least)
}

/// The problem with a change.
fn changed(change: impl Fn(&mut Value)) -> Value {
    let mut value = problem();
    change(&mut value);
    value
}

/// The same with parameters on which nothing depends, so that not all configurations are simulated.
fn padded(mut value: Value) -> Value {
    value["parameters"]["PAD1"] = json!("range(1, 100)");
    value["parameters"]["PAD2"] = json!("range(1, 100)");
    value
}

/// A condition that only the best configuration satisfies, and one that only another does.
fn at_best(problem: &Problem) -> String {
    condition(problem, &best(problem).1)
}

fn condition(problem: &Problem, configuration: &Configuration) -> String {
    let named =
        problem.parameters.iter().zip(&configuration.0).filter(|(p, _)| !p.name.starts_with("PAD"));
    named.map(|(p, v)| format!("{} == {v}", p.name)).collect::<Vec<_>>().join(" and ")
}

const ELSEWHERE: &str = "WG == 2 and T == 2 and U == 1";

/// The cost of the problem with a change, for the problem without it: what a fault in deriving it
/// would give.
fn misderived(change: &dyn Fn(&mut Value), pad: bool) -> (Problem, Cost) {
    let pad = |value| if pad { padded(value) } else { value };
    let cost = Cost::new(&parsed(&pad(changed(change)))).expect("a cost");
    assert!(cost.is_exact());
    (parsed(&pad(problem())), cost)
}

/// The fault is found out by every strategy, whether the space is small or large.
fn caught(change: &dyn Fn(&mut Value)) {
    for pad in [false, true] {
        let (problem, cost) = misderived(change, pad);
        let least = best(&parsed(&self::problem())).0;
        let strategies: &[Strategy] =
            if pad { &[Strategy::Eliminate, Strategy::Descend, Strategy::Race] } else { &UNLISTED };
        for strategy in strategies {
            let end = on_cost(&problem, &cost, *strategy, least);
            assert_eq!(end, End::Caught, "{strategy:?}, large: {pad}");
        }
    }
}

/// An expression that is `much` more for one configuration.
fn more(e: &str, much: i64, condition: &str) -> Value {
    json!(format!("{e} + ({much} if {condition} else 0)"))
}

fn best_condition() -> String {
    at_best(&parsed(&problem()))
}

// ---- the cost -----------------------------------------------------------------------------------

#[test]
fn without_a_fault_every_strategy_is_right() {
    for pad in [false, true] {
        let (problem, cost) = misderived(&|_| {}, pad);
        let least = best(&parsed(&self::problem())).0;
        for strategy in [Strategy::Eliminate, Strategy::Descend, Strategy::Race] {
            assert_eq!(on_cost(&problem, &cost, strategy, least), End::Right, "{strategy:?}");
        }
    }
}

#[test]
fn waves_too_many_for_one_configuration() {
    let best = best_condition();
    for at in [best.as_str(), ELSEWHERE] {
        caught(&|v| v["launch"]["global_size"] = more("24", 24, at));
    }
}

#[test]
fn waves_too_few_for_one_configuration() {
    let best = best_condition();
    for at in [best.as_str(), ELSEWHERE] {
        // For the best that is none at all.
        let fewer = if at == ELSEWHERE { -4 } else { -24 };
        caught(&|v| v["launch"]["global_size"] = more("24", fewer, at));
    }
}

#[test]
fn an_amount_off_at_the_best_configuration() {
    let at = best_condition();
    for much in [-1, 1, 2, 1_000] {
        caught(&|v| v["kernel"][2]["compute"] = more("T", much, &at));
    }
}

#[test]
fn an_amount_off_away_from_the_best_configuration() {
    for much in [-1, 1, 1_000] {
        caught(&|v| v["kernel"][2]["compute"] = more("T", much, ELSEWHERE));
    }
}

#[test]
fn a_barrier_missing() {
    caught(&|v| drop(v["kernel"].as_array_mut().map(|all| all.remove(1))));
    caught(&|v| drop(v["kernel"][0]["body"].as_array_mut().map(|all| all.remove(1))));
    caught(&|v| v["platform"]["barrier"] = json!(1));
}

#[test]
fn a_count_off_by_one() {
    caught(&|v| v["kernel"][0]["repeat"] = json!("12 / T + 1"));
    caught(&|v| v["kernel"][0]["repeat"] = json!("12 / T - 1"));
    caught(&|v| v["kernel"][0]["repeat"] = json!("ceil_div(12, T + 1)"));
}

#[test]
fn the_sides_of_a_branch_swapped() {
    caught(&|v| {
        let branch = &mut v["kernel"][0]["body"][2];
        let then = branch["then"].take();
        branch["then"] = branch["else"].take();
        branch["else"] = then;
    });
    caught(&|v| v["kernel"][0]["body"][2]["if"] = json!("T >= U + 1"));
}

#[test]
fn an_overhead_missing() {
    caught(&|v| v["platform"]["kernel_launch"] = json!(0));
    caught(&|v| v["platform"]["group_start"] = json!(0));
    caught(&|v| v["finish"] = json!([]));
}

#[test]
fn another_number_of_units_or_elements() {
    caught(&|v| v["platform"]["units_per_device"] = json!(3));
    caught(&|v| v["platform"]["elements_per_unit"] = json!(3));
}

#[test]
fn the_work_of_one_item_given_to_another() {
    caught(&|v| v["kernel"][3]["work"] = json!("4 * (2 - U) if lid == 1 else 0"));
}

/// A term with each part replaced, from the leaves up.
fn replaced(term: &Term, with: &dyn Fn(Term) -> Term) -> Term {
    let all = |parts: &[Term]| parts.iter().map(|p| replaced(p, with)).collect();
    with(match term {
        Term::Sum(parts) => Term::Sum(all(parts)),
        Term::Product(parts) => Term::Product(all(parts)),
        Term::Max(parts) => Term::Max(all(parts)),
        other => other.clone(),
    })
}

fn on_term(with: &dyn Fn(Term) -> Term) {
    let problem = parsed(&problem());
    let right = Cost::new(&problem).expect("a cost");
    let term = replaced(right.term(), with);
    assert_ne!(&term, right.term(), "nothing was changed");
    let wrong = Cost::of_term(term, true);
    for strategy in UNLISTED {
        let end = on_cost(&problem, &wrong, strategy, best(&problem).0);
        assert_eq!(end, End::Caught, "{strategy:?}");
    }
}

#[test]
fn items_of_the_emptier_elements_counted_as_of_the_fuller_ones() {
    on_term(&|term| match term {
        Term::Max(parts) => {
            let Some(Term::Sum(fuller)) = parts.first() else { return Term::Max(parts) };
            // As many items with the same work as the fuller elements have, and their own beside
            // it.
            let emptier = parts.iter().find_map(|p| match p {
                Term::Sum(all) => {
                    all.iter().find(|t| matches!(t, Term::Items(i) if i.class == Class::Emptier))
                }
                _ => None,
            });
            let mut wrong = fuller.clone();
            wrong.retain(|t| !matches!(t, Term::Items(_)));
            wrong.extend(emptier.cloned());
            Term::Max(vec![parts[0].clone(), Term::Sum(wrong)])
        }
        other => other,
    });
}

#[test]
fn elements_of_one_kind_forgotten() {
    for kind in [0, 1] {
        on_term(&|term| match term {
            Term::Max(parts) if parts.len() == 2 => parts[1 - kind].clone(),
            other => other,
        });
    }
}

#[test]
fn a_bound_passed_as_the_time() {
    // Two items of an element wait for their marks at once, the bound adds up no wait at all.
    let value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 2,
        "global_access": 1 },
        "parameters": { "A": [1, 2, 3, 4], "B": [1, 5] },
        "launch": { "global_size": 4, "local_size": 4 },
        "kernel": ["mark", { "work": "A" }, { "until": "B" }] });
    let problem = parsed(&value);
    let cost = Cost::new(&problem).expect("a cost");
    assert!(!cost.is_exact());
    let claimed = Cost::of_term(cost.term().clone(), true);
    for strategy in UNLISTED {
        assert_eq!(
            on_cost(&problem, &claimed, strategy, best(&problem).0),
            End::Caught,
            "{strategy:?}"
        );
    }
}

#[test]
fn a_bound_that_is_above_the_time() {
    let problem = parsed(&problem());
    let right = Cost::new(&problem).expect("a cost");
    let wrong = Cost::of_term(Term::Sum(vec![right.term().clone(), Term::Number(1)]), false);
    for strategy in [Strategy::Eliminate, Strategy::Branch] {
        assert_eq!(
            on_cost(&problem, &wrong, strategy, best(&problem).0),
            End::Caught,
            "{strategy:?}"
        );
    }
}

#[test]
fn a_bound_that_is_too_weak_does_no_harm() {
    let problem = parsed(&problem());
    for weak in [Term::Number(0), Term::Number(100)] {
        let weak = Cost::of_term(weak, false);
        for strategy in [Strategy::Eliminate, Strategy::Branch] {
            assert_eq!(
                on_cost(&problem, &weak, strategy, best(&problem).0),
                End::Right,
                "{strategy:?}"
            );
        }
    }
}

/// One of some hundred thousand configurations, and the only optimum: no draw meets it.
#[test]
fn the_only_optimum_of_a_large_space_too_dear() {
    let only = format!("{} and PAD1 == 7 and PAD2 == 9", best_condition());
    let mut value = padded(problem());
    value["kernel"][2]["compute"] = more("T", -1, &only);
    let problem = parsed(&value);
    let least = best(&problem).0;
    value["kernel"][2]["compute"] = json!("T");
    let cost = Cost::new(&parsed(&value)).expect("a cost");
    for strategy in [Strategy::Eliminate, Strategy::Descend, Strategy::Race] {
        assert_eq!(on_cost(&problem, &cost, strategy, least), End::Caught, "{strategy:?}");
    }
}

// ---- tables and trees ---------------------------------------------------------------------------

/// What tables and trees are made wrong with.
struct Wrong<'w> {
    tables: &'w dyn Fn(&mut CostTables, &[u32]),
    tree: &'w dyn Fn(&mut Tree<Least>, &[u32]),
}

const NOTHING: Wrong<'static> = Wrong { tables: &|_, _| {}, tree: &|_, _| {} };

/// Searches with tables and a tree that are made wrong, given the indices of the best
/// configuration.
fn on_tables(value: &Value, pad: bool, strategy: Strategy, wrong: &Wrong<'_>) -> End {
    let (least, best) = best(&parsed(value));
    let problem = parsed(&if pad { padded(value.clone()) } else { value.clone() });
    let all = problem.configurations(&TableLimits::default()).expect("a structure");
    let cost = Cost::new(&problem).expect("a cost");
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    let mut indices = vec![0; all.values().len()];
    for (place, value) in best.0.iter().enumerate() {
        let index = all.values()[place].iter().position(|v| v == value).expect("a value");
        indices[place] = index as u32;
    }
    let limits = TableLimits::default();
    let mut tables = tables(&all, &cost);
    (wrong.tables)(&mut tables, &indices);
    let mut tree = tables.network.eliminated(&tables.kept, &limits).expect("small");
    (wrong.tree)(&mut tree, &indices);
    // Long enough for Z3 to be asked at the end.
    std::thread::sleep(Duration::from_millis(if strategy == Strategy::Race { 60 } else { 0 }));
    let search = Search::new(&all, &cost, &bracket).with_tables(tables, tree);
    end(
        symbolic::tune_search(&search, &SearchOptions { strategy, ..SearchOptions::default() }),
        least,
    )
}

fn tables(all: &Configurations<'_>, cost: &Cost) -> CostTables {
    let normals = FactoredSum::all(cost.term(), all.problem());
    let tables = normals
        .into_iter()
        .find_map(|n| CostTables::new(all, cost, n, &TableLimits::default()).ok());
    tables.expect("tables")
}

/// Replaces the relations of a network; `None` drops one.
fn rebuilt(network: &mut Network, change: &dyn Fn(usize, Relation) -> Option<Relation>) {
    let mut other = Network::new(network.sizes().to_vec());
    for (i, relation) in network.relations().iter().enumerate() {
        change(i, (**relation).clone()).into_iter().for_each(|r| other.add(r));
    }
    *network = other;
}

/// A relation with one row changed or, by `None`, without it.
fn with_row(relation: &Relation, key: u128, change: &dyn Fn(i64) -> Option<i64>) -> Relation {
    let mut other = Relation::new(relation.scope().clone());
    for (k, cost) in relation.rows() {
        if let Some(cost) = if k == key { change(*cost) } else { Some(*cost) } {
            other.insert(k, cost);
        }
    }
    other
}

/// Changes the best configuration's row of the first relation that carries costs.
fn cost_row(change: &'static dyn Fn(i64) -> Option<i64>) -> impl Fn(&mut CostTables, &[u32]) {
    move |tables, indices| {
        let first = tables.conditions;
        rebuilt(&mut tables.network, &|i, relation| {
            let key = relation.scope().key(indices);
            Some(if i == first { with_row(&relation, key, change) } else { relation })
        });
    }
}

const ON_TABLES: [Strategy; 2] = [Strategy::Eliminate, Strategy::Descend];

fn caught_on_tables(wrong: &Wrong<'_>, strategies: &[Strategy]) {
    for strategy in strategies {
        assert_eq!(on_tables(&problem(), false, *strategy, wrong), End::Caught, "{strategy:?}");
    }
}

#[test]
fn tables_and_trees_passed_on_unchanged_are_right() {
    for strategy in ON_TABLES {
        assert_eq!(on_tables(&problem(), false, strategy, &NOTHING), End::Right, "{strategy:?}");
    }
    assert_eq!(on_tables(&problem(), true, Strategy::Race, &NOTHING), End::Right);
}

#[test]
fn a_row_too_cheap() {
    let cheap = cost_row(&|cost| Some(cost - 1));
    caught_on_tables(&Wrong { tables: &cheap, ..NOTHING }, &ON_TABLES);
}

#[test]
fn a_row_too_dear() {
    let dear = cost_row(&|cost| Some(cost + 1));
    caught_on_tables(&Wrong { tables: &dear, ..NOTHING }, &ON_TABLES);
    let hidden = cost_row(&|cost| Some(cost + 1_000));
    caught_on_tables(&Wrong { tables: &hidden, ..NOTHING }, &ON_TABLES);
}

#[test]
fn a_row_missing() {
    // Z3 is then told too little, finds a choice that the tables do not know, and proves nothing.
    let missing = cost_row(&|_| None);
    caught_on_tables(&Wrong { tables: &missing, ..NOTHING }, &[Strategy::Eliminate]);
    let forbidden = |tables: &mut CostTables, indices: &[u32]| {
        rebuilt(&mut tables.network, &|i, relation| {
            let key = relation.scope().key(indices);
            Some(if i == 0 { with_row(&relation, key, &|_| None) } else { relation })
        });
    };
    caught_on_tables(&Wrong { tables: &forbidden, ..NOTHING }, &ON_TABLES);
}

/// What the constraint excludes is faster than everything else.
#[test]
fn a_condition_dropped() {
    let dropped = |tables: &mut CostTables, _: &[u32]| {
        let conditions = tables.conditions;
        rebuilt(&mut tables.network, &|i, r| (i >= conditions).then_some(r));
        tables.conditions = 0;
    };
    let value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 1,
        "global_access": 1 },
        "parameters": { "A": "range(1, 8)", "B": "range(1, 8)" }, "constraints": ["A + B <= 9"],
        "launch": { "global_size": 4, "local_size": 1 },
        "kernel": [{ "compute": "8 - A" }, { "compute": "9 - B" }] });
    for strategy in ON_TABLES {
        let wrong = Wrong { tables: &dropped, ..NOTHING };
        assert_eq!(on_tables(&value, false, strategy, &wrong), End::Caught, "{strategy:?}");
    }
}

/// Adds to every row of a tree's messages or, with `only_best`, to those that the best
/// configuration meets.
fn messages(much: i64, only_best: bool) -> impl Fn(&mut Tree<Least>, &[u32]) {
    move |tree, indices| {
        let mut changed = 0;
        for message in tree.messages_mut() {
            let key = message.scope().key(indices);
            let rows: Vec<(u128, Least)> = message.rows().map(|(k, w)| (k, *w)).collect();
            for (k, Least(cost)) in rows.into_iter().filter(|(k, _)| !only_best || *k == key) {
                message.insert(k, Least(cost + much));
                changed += 1;
            }
        }
        assert!(changed > 0, "no message was changed");
    }
}

#[test]
fn messages_too_high() {
    for (much, only_best) in [(1, false), (1_000, false), (1, true), (1_000, true)] {
        let high = messages(much, only_best);
        caught_on_tables(&Wrong { tree: &high, ..NOTHING }, &[Strategy::Eliminate]);
    }
}

#[test]
fn messages_too_high_in_a_large_space() {
    for (much, only_best) in [(1, false), (1_000, false), (1, true), (1_000, true)] {
        let high = messages(much, only_best);
        let wrong = Wrong { tree: &high, ..NOTHING };
        for strategy in [Strategy::Eliminate, Strategy::Race] {
            let end = on_tables(&problem(), true, strategy, &wrong);
            assert_eq!(end, End::Caught, "{strategy:?}, {much}, {only_best}");
        }
    }
}

/// What is expected of a message is taken off again when its variable is chosen.
#[test]
fn messages_too_low_do_no_harm() {
    for only_best in [false, true] {
        let low = messages(-1, only_best);
        let end =
            on_tables(&problem(), false, Strategy::Eliminate, &Wrong { tree: &low, ..NOTHING });
        assert!(matches!(end, End::Caught | End::Right), "{end:?}");
    }
}

// ---- bounds and claims --------------------------------------------------------------------------

#[test]
fn a_lower_bound_above_the_time_of_what_is_found_later() {
    let problem = parsed(&problem());
    let (least, _) = best(&problem);
    let all = problem.configurations(&TableLimits::default()).expect("a structure");
    let cost = Cost::new(&problem).expect("a cost");
    for strategy in UNLISTED.into_iter().chain([Strategy::Race]) {
        for lower in [least + 1, i64::MAX] {
            let never = AtomicBool::new(false);
            let bracket = Bracket::new(None, &never, &|_| {});
            bracket.raise(lower);
            let options = SearchOptions { strategy, ..SearchOptions::default() };
            let end = end(symbolic::tune(&all, &cost, &options, &bracket), least);
            assert_eq!(end, End::Caught, "{strategy:?}, {lower}");
        }
    }
}

#[test]
fn a_lower_bound_above_the_time_that_was_found() {
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    bracket.offer(0, &Configuration(vec![1]), 100);
    bracket.raise_rest(200);
    assert!(bracket.fault().is_ok());
    bracket.raise(101);
    assert!(bracket.fault().is_err());
}

#[test]
fn a_time_below_a_proved_bound() {
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    bracket.refute(99);
    bracket.offer(0, &Configuration(vec![1]), 100);
    assert!(bracket.check(100).is_ok());
    assert!(bracket.check(99).is_err());
    let bracket = Bracket::new(None, &never, &|_| {});
    bracket.refute(99);
    bracket.offer(0, &Configuration(vec![1]), 99);
    assert!(bracket.fault().is_err());
}

#[test]
fn a_time_that_a_solver_claims() {
    let problem = parsed(&problem());
    let (least, best) = best(&problem);
    let all = problem.configurations(&TableLimits::default()).expect("a structure");
    let cost = Cost::new(&problem).expect("a cost");
    let never = AtomicBool::new(false);
    for wrong in [least - 1, least + 1, 0] {
        let bracket = Bracket::new(None, &never, &|_| {});
        let search = Search::new(&all, &cost, &bracket);
        let claim = search.offer(best.clone(), Some(wrong));
        assert!(claim.is_err_and(|e| e.is_fault()), "{wrong}");
    }
    let bracket = Bracket::new(None, &never, &|_| {});
    let search = Search::new(&all, &cost, &bracket);
    // 2 * 2 = 4, which a constraint excludes; 5 is no value.
    for invalid in [vec![2, 1, 2], vec![5, 1, 0]] {
        let claim = search.offer(Configuration(invalid), Some(0));
        assert!(claim.is_err_and(|e| e.is_fault()));
    }
    assert_eq!(bracket.bounds().best, None);
}

#[test]
fn a_second_claim_about_the_same_configuration() {
    let problem = parsed(&problem());
    let (least, best) = best(&problem);
    let all = problem.configurations(&TableLimits::default()).expect("a structure");
    let cost = Cost::new(&problem).expect("a cost");
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    let search = Search::new(&all, &cost, &bracket);
    assert!(search.offer(best.clone(), Some(least)).is_ok());
    assert!(search.offer(best, Some(least - 1)).is_err_and(|e| e.is_fault()));
}

// ---- the plan of a list -------------------------------------------------------------------------

/// Searches a list with a plan that is made wrong, given the best configuration's place and
/// another's.
fn on_plan(strategy: Strategy, wrong: &dyn Fn(&mut Plan, usize, usize)) -> End {
    let problem = parsed(&problem());
    let space = problem.space().expect("a space");
    let (least, best) = best(&problem);
    let place =
        |c: &[i64]| space.bound.iter().position(|b| b.configuration.0 == c).expect("listed");
    let mut plan = Plan::new(&problem, &space).expect("a plan");
    wrong(&mut plan, place(&best.0), place(&[2, 2, 1]));
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    let options =
        SearchOptions { strategy, encoding: Some(Encoding::Summary), ..SearchOptions::default() };
    end(listed::tune_plan(&problem, &space, plan, &options, &bracket), least)
}

/// The same with groups that differ: every third does more.
fn on_queue(wrong: &dyn Fn(&mut Queue, usize)) -> End {
    let value = changed(|v| {
        v["kernel"][3] = json!({ "work": "4 * (2 - U) if group % 3 == 0 else 0" });
    });
    let problem = parsed(&value);
    let space = problem.space().expect("a space");
    let (least, best) = best(&problem);
    let place = space.bound.iter().position(|b| b.configuration == best).expect("listed");
    let mut plan = Plan::new(&problem, &space).expect("a plan");
    wrong(plan.queue.as_mut().expect("a queue"), place);
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    let options = SearchOptions { encoding: Some(Encoding::Summary), ..SearchOptions::default() };
    end(listed::tune_plan(&problem, &space, plan, &options, &bracket), least)
}

#[test]
fn faults_in_a_queue_of_groups() {
    assert_eq!(on_queue(&|_, _| {}), End::Right);
    assert_eq!(on_queue(&|queue, _| queue.units += 1), End::Caught);
    assert_eq!(on_queue(&|queue, _| queue.units -= 1), End::Caught);
    assert_eq!(on_queue(&|queue, best| queue.order[best].truncate(0)), End::Caught);
    assert_eq!(on_queue(&|queue, best| queue.order[best][0].1 += 1), End::Caught);
    let too_short = |queue: &mut Queue, best: usize| {
        let group = queue.order[best][0].0;
        assert!(queue.groups.change("kernel[2]", group, |v| v - 1) > 0);
    };
    assert_eq!(on_queue(&too_short), End::Caught);
}

fn caught_on_plan(wrong: &dyn Fn(&mut Plan, usize, usize)) {
    for strategy in [Strategy::Race, Strategy::Descend, Strategy::Ascend] {
        assert_eq!(on_plan(strategy, wrong), End::Caught, "{strategy:?}");
    }
}

fn change(plan: &mut Plan, name: &str, configuration: usize, much: i64) {
    let changed = plan.change(name, configuration, |v| v + much);
    let names: Vec<&str> = plan.amounts.iter().map(|a| a.name.as_str()).collect();
    assert!(changed > 0, "no {name} among {names:?}");
}

#[test]
fn a_plan_passed_on_unchanged_is_right() {
    assert_eq!(on_plan(Strategy::Race, &|_, _, _| {}), End::Right);
}

#[test]
fn an_amount_of_a_plan_too_small_at_the_best_configuration() {
    caught_on_plan(&|plan, best, _| change(plan, "kernel[2]", best, -1));
}

#[test]
fn an_amount_of_a_plan_so_small_that_another_configuration_seems_best() {
    caught_on_plan(&|plan, _, other| change(plan, "kernel[0]", other, -6));
}

#[test]
fn waves_of_a_plan_too_few() {
    caught_on_plan(&|plan, best, _| change(plan, "waves", best, -1));
    caught_on_plan(&|plan, _, other| change(plan, "waves", other, -5));
}

#[test]
fn a_barrier_of_a_plan_missing() {
    fn without(code: &[Op]) -> Vec<Op> {
        let kept = code.iter().filter(|op| !matches!(op, Op::Barrier { .. }));
        let one = |op: &Op| match op {
            Op::Repeat { count, body } => Op::Repeat { count: *count, body: without(body) },
            other => other.clone(),
        };
        kept.map(one).collect()
    }
    caught_on_plan(&|plan, _, _| plan.code = without(&plan.code));
}

#[test]
fn the_sides_of_a_branch_of_a_plan_swapped() {
    fn swapped(code: &[Op]) -> Vec<Op> {
        let one = |op: &Op| match op {
            Op::Repeat { count, body } => Op::Repeat { count: *count, body: swapped(body) },
            Op::If { condition, then, otherwise } => {
                Op::If { condition: *condition, then: otherwise.clone(), otherwise: then.clone() }
            }
            other => other.clone(),
        };
        code.iter().map(one).collect()
    }
    caught_on_plan(&|plan, _, _| plan.code = swapped(&plan.code));
}

#[test]
fn an_amount_of_a_plan_too_great_at_the_best_configuration() {
    caught_on_plan(&|plan, best, _| change(plan, "kernel[2]", best, 1_000));
}

#[test]
fn waves_of_a_plan_too_many_at_the_best_configuration() {
    caught_on_plan(&|plan, best, _| change(plan, "waves", best, 1));
}

/// Harmless for the optimum; another configuration's time would be wrong.
#[test]
fn an_amount_of_a_plan_off_away_from_the_best_configuration() {
    caught_on_plan(&|plan, _, other| change(plan, "kernel[2]", other, 1));
}
