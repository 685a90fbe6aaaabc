//! The answer of `tune`.

use indexmap::IndexMap;
use serde_json::json;
use tickbound_input::message::grouped;
use tickbound_model::verdict::Status;
use tickbound_model::{LeftOut, Problem};
use tickbound_simulator::WarpTicks;
use tickbound_solver::{Encoding, Objective, Proof, TuneResult};

use super::data::{Answer, Folded, Optimum, Tally, tenth_of_millisecond, values};
use super::resources::Resources;
use super::ties;
use super::words::{AnswerLine, PROVED, titled};

/// The result of a search with Z3 or by enumeration as an answer.
pub fn answer(problem: &Problem, r: &TuneResult) -> Answer {
    // In a ranking the time belongs to each entry.
    let ranking = r.optima.iter().any(|f| Some(f.time) != r.optima.first().map(|o| o.time));
    let optima = r.optima.iter().map(|f| match values(problem, &f.configuration) {
        configuration if ranking => Optimum::Ranked { time: f.time, configuration },
        configuration => Optimum::Tied(configuration),
    });
    let schedule = r.schedule.as_ref();
    let bounds = schedule.and_then(|s| s.bounds);
    let warps = schedule.and_then(|s| s.warps.as_ref());
    let programs: Vec<Folded> = r.programs.list.iter().map(|p| folded(problem, p)).collect();
    let some = !programs.is_empty();
    Answer {
        programs_whole: some.then_some(r.programs.whole),
        programs: Some(programs).filter(|_| some),
        upper: r.upper,
        optima: Some(optima.collect()),
        more_optima: Some(r.more_optima),
        encoding: Some(r.encoding.map_or("none", Encoding::name).to_owned()),
        strategy: Some(r.strategy),
        solver_calls: Some(r.solver_calls),
        seconds: Some(tenth_of_millisecond(r.seconds)),
        stopped_by: r.stopped_by.as_ref().map(ToString::to_string),
        objective: Some(r.objective),
        best_case: schedule.map_or(r.upper, |s| s.best_case),
        worst_case: schedule.map_or(r.upper, |s| s.worst_case),
        first_come: schedule.map_or(r.upper, |s| s.first_come),
        best_case_bounds: bounds.map(|[best, _]| bounded(best)),
        worst_case_bounds: bounds.map(|[_, worst]| bounded(worst)),
        best_case_warps: warps.and_then(|(best, _)| serde_json::from_value(json!(best)).ok()),
        worst_case_warps: warps.and_then(|(_, worst)| serde_json::from_value(json!(worst)).ok()),
        confirmed_uncut: Some(r.confirmed_uncut),
        replayed: Some(r.replayed),
        resources: r
            .best
            .as_ref()
            .and_then(|best| Resources::of(problem, &values(problem, &best.configuration))),
        size: serde_json::from_value(json!(r.size)).ok(),
        configurations: r.configurations.as_ref().map(Tally::of),
        optima_count: r.optima_count.as_ref().map(Tally::of),
        next: r.next,
        indifferent: Some(r.indifferent.clone()),
        left_out: r.left_out.as_ref().map(left_out),
        proved_by: Some(r.proofs.iter().map(|p| p.name().to_owned()).collect()),
        simulated_because: r.simulated_because.clone(),
        checked: r.checked,
        ..Answer::new(problem, r.status, r.lower, r.best.as_ref())
    }
}

/// Configurations that cannot be launched, by the name of the limit.
pub fn left_out(of: &LeftOut) -> IndexMap<String, Tally> {
    of.limits.iter().map(|(limit, n)| (limit.name().to_owned(), Tally::of(n))).collect()
}

fn folded(problem: &Problem, of: &tickbound_solver::ProgramClass) -> Folded {
    Folded {
        time: of.first.time,
        configuration: values(problem, &of.first.configuration),
        configurations: of.configurations,
        differ: of.differ.clone(),
    }
}

/// The answer for a user.
pub fn words(problem: &Problem, r: &TuneResult) -> String {
    let answer = answer(problem, r);
    let least = format!("{}:", sought(r));
    let resources = answer.resources.as_ref().map(Resources::lines).unwrap_or_default();
    answer.words(&heading(problem, r), &least, lines(problem, r, &answer, resources))
}

/// What was searched, and how many configurations it has.
pub fn heading(problem: &Problem, r: &TuneResult) -> String {
    format!("{}, {}", titled(&problem.name, &problem.inputs), counted(r))
}

/// What the time is that was searched for. The worst case is that of the configuration with the
/// best case, so the search is for that until it is known.
pub fn sought(r: &TuneResult) -> &'static str {
    match (&r.schedule, r.objective) {
        (Some(_), Objective::Worst) if is_worst_case_open(r) => "best case",
        (Some(_), Objective::Worst) => "worst case",
        (Some(_), Objective::Robust) => "least worst case",
        _ => "least time",
    }
}

/// Whether a worst case was requested and its configuration is not known yet.
fn is_worst_case_open(r: &TuneResult) -> bool {
    r.objective == Objective::Worst && r.schedule.is_some() && r.status != Status::Optimal
}

/// What is known beside the least time, without bars.
pub fn facts(problem: &Problem, r: &TuneResult, answer: &Answer) -> Vec<AnswerLine> {
    let resources = answer.resources.as_ref().map(Resources::facts).unwrap_or_default();
    lines(problem, r, answer, resources)
}

fn lines(
    problem: &Problem,
    r: &TuneResult,
    answer: &Answer,
    resources: Vec<AnswerLine>,
) -> Vec<AnswerLine> {
    let proof = if answer.proved() { proof(problem, r, answer) } else { Vec::new() };
    let later = "that of the configuration with the best case, once it is known";
    let later = is_worst_case_open(r).then(|| ("worst case:", later.to_owned()));
    let open = r.schedule.as_ref().filter(|_| !answer.proved()).and_then(|s| s.bounds);
    let open = open.map(|[best, worst]| {
        let text = format!("best case {}, worst case {}", between(best), between(worst));
        ("schedules:", text + " of the best so far")
    });
    let schedules = later.into_iter().chain(open);
    let left_out = r.left_out.as_ref().filter(|left_out| !left_out.limits.is_empty());
    let left_out = left_out.map(|left_out| ("left out:", left_out.to_string()));
    let schedules = schedules.chain(left_out);
    let simulated = r.simulated_because.iter().map(|why| ("simulated:", why.clone()));
    resources
        .into_iter()
        .chain(schedules)
        .chain(proof)
        .chain(simulated)
        .chain(answer.stop())
        .collect()
}

/// The same for programs; a most that nothing is known of is left out.
fn bounded((least, most): (i64, i64)) -> [Option<i64>; 2] {
    [Some(least), Some(most).filter(|most| *most != i64::MAX)]
}

fn between((least, most): (i64, i64)) -> String {
    match most {
        i64::MAX => format!("{} or more", grouped(least)),
        _ if least == most => grouped(least),
        _ => format!("{} to {}", grouped(least), grouped(most)),
    }
}

fn proof(problem: &Problem, r: &TuneResult, answer: &Answer) -> Vec<AnswerLine> {
    let schedules = r.schedule.as_ref().map(|s| {
        let case = |c: Option<i64>| c.map_or_else(|| "not asked for".into(), |t| t.to_string());
        let (best, worst) = (case(s.best_case), case(s.worst_case));
        let first_come = s.first_come.map_or_else(|| "too large".into(), |t| t.to_string());
        let text =
            format!("best case {best}, worst case {worst}, first come first served {first_come}");
        ("schedules:", text)
    });
    let proofs = r.proofs.iter().map(|proof| (PROVED, proved(r, proof)));
    let proofs = proofs.chain(r.schedule.as_ref().map(|_| (PROVED, EXPLORED.to_owned())));
    let checked = r.checked.filter(|n| *n > 0).map(|n| {
        (
            "checked:",
            format!(
                "{n} other configurations simulated, drawn at random; they take what was computed"
            ),
        )
    });
    let matters = Some(r.indifferent.join(", ")).filter(|p| !p.is_empty());
    let matters = matters.map(|p| ("no matter:", format!("{p} (no time depends on it)")));
    let next = r.next.zip(r.upper).map(|(next, least)| {
        (
            "next best:",
            format!(
                "{} ticks, {:.2} % more",
                grouped(next),
                100.0 * (next - least) as f64 / least.max(1) as f64
            ),
        )
    });
    let before = [ties::line(problem, r), next, matters, schedules];
    let before = before.into_iter().flatten().chain(waits(r));
    let after = [checked, answer.replay()];
    before.chain(proofs).chain(after.into_iter().flatten()).collect()
}

fn counted(r: &TuneResult) -> String {
    match &r.configurations {
        Some(n) => format!("{} configurations", grouped(n)),
        None => "configurations not counted".to_owned(),
    }
}

fn proved(r: &TuneResult, proof: &Proof) -> String {
    let below = grouped(r.upper.unwrap_or_default() - 1);
    match (proof, r.encoding) {
        (Proof::Simulation { configurations }, _) => {
            format!("the simulator has run all {} configurations", grouped(configurations))
        }
        (Proof::Bounds, _) => {
            format!(
                "all {} configurations simulated or bounded from below",
                grouped(r.size.configurations)
            )
        }
        (Proof::Elimination { rows, exact: true }, _) => {
            format!("exact elimination over a join tree of {} rows", grouped(rows))
        }
        (Proof::Elimination { rows, .. }, _) => format!(
            "bounds by elimination over a join tree of {} rows; what they left open was simulated",
            grouped(rows)
        ),
        (Proof::Labels { labels: 0 }, _) => {
            "a lower bound by prices for what parameters share is the least time".to_owned()
        }
        (Proof::Labels { labels }, _) => format!(
            "elimination with prices and {} labels for what parameters share",
            grouped(labels)
        ),
        (Proof::Branching { boxes }, _) => {
            format!("branch and bound over {} boxes", grouped(boxes))
        }
        (Proof::SecondDerivation { rows }, _) => format!(
            "a second derivation of the time has the same least (join tree of {} rows)",
            grouped(rows)
        ),
        (Proof::Z3 { .. }, Some(encoding)) => format!(
            "Z3 finds nothing within {below} ticks ({encoding} encoding, {} steps, {} calls){}",
            r.size.steps,
            r.solver_calls,
            if r.confirmed_uncut { ", confirmed over all configurations" } else { "" },
        ),
        (Proof::Z3 { .. }, None) => {
            format!("Z3 finds nothing within {below} ticks among all configurations")
        }
    }
}

/// What warps run and wait for under both ends of their schedules.
fn waits(r: &TuneResult) -> Vec<AnswerLine> {
    let Some((best, worst)) = r.schedule.as_ref().and_then(|s| s.warps.as_ref()) else {
        return Vec::new();
    };
    let line = |case: &str, warps: &WarpTicks| {
        let all = warps.waits().iter().map(|(_, ticks)| *ticks).sum::<i64>() + warps.running;
        let percent = |ticks: i64| format!("{:.1} %", 100.0 * ticks as f64 / all.max(1) as f64);
        let mut waits = warps.waits();
        waits.sort_by_key(|(_, ticks)| -ticks);
        let waits = waits.iter().filter(|(_, ticks)| *ticks > 0);
        let waits: Vec<String> =
            waits.map(|(what, ticks)| format!("{} {what}", percent(*ticks))).collect();
        let running = format!("{case}: they run {} of their time", percent(warps.running));
        let waits =
            if waits.is_empty() { waits.concat() } else { format!(", wait {}", waits.join(", ")) };
        ("warps:", running + &waits)
    };
    vec![line("best case", best), line("worst case", worst)]
}

/// What a proof over open schedules rests on.
const EXPLORED: &str = "every schedule of every configuration explored, or bounded from below";
