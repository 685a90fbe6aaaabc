//! The answer of `spin`.

use tickbound_input::message::grouped;
use tickbound_model::Problem;
use tickbound_simulator::Script;
use tickbound_spin::result::{RunLog, SpinProof, SpinResult};
use tickbound_spin::trail;

use super::data::{Answer, Run, Trail, tenth_of_millisecond, values};
use super::words::{AnswerLine, PROVED};

/// The result of a search with SPIN as an answer.
pub fn answer(problem: &Problem, r: &SpinResult) -> Answer {
    Answer {
        upper: r.upper,
        search: Some(r.search),
        style: Some(r.style),
        proof: r.proof,
        states: Some(r.states()),
        transitions: Some(r.transitions()),
        memory_bytes: Some(r.memory_bytes()),
        depth: Some(r.depth()),
        runs: Some(r.runs.iter().map(run).collect()),
        trails: Some(r.trails.iter().map(|t| trail(problem, t)).collect()),
        replayed: Some(r.replayed()),
        notes: Some(r.notes.clone()),
        tool: Some(format!("SPIN {}", r.spin)),
        spin: Some(r.spin.clone()),
        compiler: Some(r.compiler.clone()),
        seconds: Some(tenth_of_millisecond(r.seconds)),
        stopped_by: r.stopped_by.as_ref().map(ToString::to_string),
        ..Answer::new(problem, r.status, r.lower, r.best.as_ref())
    }
}

fn run(r: &RunLog) -> Run {
    Run {
        what: r.what.to_owned(),
        bound: r.bound,
        seed: r.seed,
        verdict: r.verdict.word().to_owned(),
        coverage: r.coverage,
        hash_factor: r.hash_factor,
        states: r.states,
        transitions: r.transitions,
        depth: r.depth,
        depth_limit: r.depth_limit,
        memory_bytes: r.memory_bytes,
        spin_seconds: tenth_of_millisecond(r.spin_seconds),
        compile_seconds: tenth_of_millisecond(r.compile_seconds),
        seconds: tenth_of_millisecond(r.seconds),
        trails: r.trails,
    }
}

fn trail(problem: &Problem, trail: &trail::SpinTrail) -> Trail {
    let (starts, units) = match &trail.script {
        Script::Starts { starts, units } => (Some(starts.clone()), Some(units.clone())),
        _ => (None, None),
    };
    Trail {
        time: trail.found.time,
        configuration: values(problem, &trail.found.configuration),
        steps: trail.steps,
        run: trail.run,
        confirmed: trail.confirmed,
        starts,
        units,
    }
}

/// The answer for a user.
pub fn words(problem: &Problem, r: &SpinResult) -> String {
    let answer = answer(problem, r);
    let heading = format!("{}, SPIN {}, {}", problem.name, r.spin, r.search.name());
    let notes = r.notes.iter().map(|note| ("note:", note.clone()));
    let lines = proof(r).into_iter().chain(answer.stop()).chain(notes).chain(basis(r));
    answer.words(&heading, "least time:", lines)
}

fn proof(r: &SpinResult) -> Option<AnswerLine> {
    let text = match r.proof? {
        SpinProof::OverTime if r.lower < 1 => "no run takes less than 0 ticks".to_owned(),
        SpinProof::OverTime => {
            format!("a complete run finds nothing that ends within {} ticks", grouped(r.lower - 1))
        }
        SpinProof::BranchAndBound => {
            "a complete branch-and-bound run finds nothing better".to_owned()
        }
    };
    Some((PROVED, text))
}

fn basis(r: &SpinResult) -> impl Iterator<Item = AnswerLine> {
    let confirmed = r.trails.iter().filter(|t| t.confirmed).count();
    let trails = (!r.trails.is_empty()).then(|| {
        ("trails:", format!("{}, of which the simulator confirms {confirmed}", r.trails.len()))
    });
    let runs = format!(
        "{}, with {} states, {} transitions, {:.1} MiB at most, {} steps deep",
        r.runs.len(),
        r.states(),
        r.transitions(),
        r.memory_bytes() as f64 / f64::from(1 << 20),
        r.depth(),
    );
    trails.into_iter().chain([("runs:", runs)])
}
