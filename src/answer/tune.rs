//! The answer of `tune`.

use serde_json::json;
use tickbound_model::Problem;
use tickbound_solve::{Encoding, Objective, TuneResult};

use super::data::{Answer, Optimum, tenth_of_millisecond, values};
use super::words::{Line, named};

/// Ties named in the words.
const NAMED: usize = 7;

/// The result of a search with Z3 or by enumeration as an answer.
#[must_use]
pub fn answer(problem: &Problem, r: &TuneResult) -> Answer {
    // In a ranking the time belongs to each entry.
    let ranking = r.optima.iter().any(|f| Some(f.time) != r.optima.first().map(|o| o.time));
    let optima = r.optima.iter().map(|f| match values(problem, &f.configuration) {
        configuration if ranking => Optimum::Ranked { time: f.time, configuration },
        configuration => Optimum::Tied(configuration),
    });
    let schedule = r.schedule.as_ref();
    Answer {
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
        first_come: schedule.map_or(r.upper, |s| Some(s.first_come)),
        confirmed_uncut: Some(r.confirmed_uncut),
        replayed: Some(r.replayed),
        size: serde_json::from_value(json!(r.size)).ok(),
        ..Answer::new(problem, r.status, r.lower, r.best.as_ref())
    }
}

/// The answer for a person.
#[must_use]
pub fn words(problem: &Problem, r: &TuneResult) -> String {
    let answer = answer(problem, r);
    let inputs: Vec<String> = problem.inputs.iter().map(|(n, v)| format!("{n} = {v}")).collect();
    let about = if inputs.is_empty() { String::new() } else { format!(" ({})", inputs.join(", ")) };
    let heading = format!("{}{about}, {} configurations", problem.name, r.size.configurations);
    let least = match (&r.schedule, r.objective) {
        (Some(_), Objective::Worst) => "worst case:",
        (Some(_), Objective::Robust) => "least worst case:",
        _ => "least time:",
    };
    let proof = if answer.proved() { proof(problem, r, &answer) } else { Vec::new() };
    answer.words(&heading, least, proof.into_iter().chain(answer.stop()))
}

/// The lines about a least time that is proved.
fn proof(problem: &Problem, r: &TuneResult, answer: &Answer) -> Vec<Line> {
    let schedules = r.schedule.as_ref().map(|s| {
        let case = |c: Option<i64>| c.map_or_else(|| "not asked for".into(), |t| t.to_string());
        let (best, worst, first_come) = (case(s.best_case), case(s.worst_case), s.first_come);
        let text =
            format!("best case {best}, worst case {worst}, first come first served {first_come}");
        ("schedules:", text)
    });
    let proof = match r.encoding {
        None if r.schedule.is_some() => {
            "every schedule of every configuration explored, or bounded from below".to_owned()
        }
        None => {
            format!("all {} configurations simulated or bounded from below", r.size.configurations)
        }
        Some(encoding) => format!(
            "Z3 finds nothing within {} ticks ({encoding} encoding, {} steps, {} calls){}",
            r.upper.unwrap_or_default() - 1,
            r.size.steps,
            r.solver_calls,
            if r.confirmed_uncut { ", confirmed over all configurations" } else { "" },
        ),
    };
    let lines = [ties(problem, r), schedules, Some(("proved:", proof)), answer.replay()];
    lines.into_iter().flatten().collect()
}

/// The other configurations that take the least time.
fn ties(problem: &Problem, r: &TuneResult) -> Option<Line> {
    let ties = r.optima.iter().skip(1).filter(|f| Some(f.time) == r.upper);
    let ties: Vec<String> = ties.map(|f| named(&values(problem, &f.configuration))).collect();
    let more = match ties.len().saturating_sub(NAMED) {
        _ if ties.is_empty() => return None,
        n if r.more_optima => format!("; and more than {n} others"),
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    Some(("ties:", format!("{}{more}", ties[..ties.len().min(NAMED)].join("; "))))
}
