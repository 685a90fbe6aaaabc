//! A comparison as words and tables.

use std::fmt::Write;

use super::table::Table;
use crate::answer::comparison::{Case, Comparison, Row, RowStatus};
use crate::answer::titled;
use tickbound_input::message::grouped;

/// One word for how an engine ended.
pub fn status(row: &Row) -> &'static str {
    match row.status {
        RowStatus::Optimal => "proved",
        RowStatus::Bounded if row.time.is_some() => "found",
        RowStatus::Bounded => "open",
        RowStatus::Infeasible => "infeasible",
        RowStatus::Refused => "refused",
        RowStatus::NotInstalled => "not installed",
        RowStatus::Failed => "failed",
        RowStatus::NotRun => "not run",
    }
}

/// Seconds with as many digits as are worth reading.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        ..0.01 => format!("{seconds:.4}"),
        0.01..10.0 => format!("{seconds:.3}"),
        _ => format!("{seconds:.1}"),
    }
}

/// Bytes as whole megabytes (10^6).
pub fn megabytes(bytes: u64) -> String {
    (bytes as f64 / 1e6).round().to_string()
}

/// A remark on a row: the bracket, if it is open, and the reason.
pub fn note(row: &Row) -> String {
    let bracket = row.lower.filter(|lower| row.status == RowStatus::Bounded && *lower > 0);
    let parts = [bracket.map(|lower| format!("at least {lower}")), row.reason.clone()];
    let verifier = row.search_memory.map(|b| format!("verifier {} MB", megabytes(b)));
    let unchecked = (row.replayed == Some(false)).then(|| "not simulated".to_owned());
    parts.into_iter().chain([verifier, unchecked]).flatten().collect::<Vec<_>>().join("; ")
}

/// The columns of a table of engines, and what is in them: names, numbers or text.
pub const COLUMNS: [(&str, &str); 10] = [
    ("engine", "name"),
    ("time", "number"),
    ("at", "at"),
    ("status", "name status"),
    ("seconds", "number"),
    ("process", "number"),
    ("MB", "number"),
    ("states", "number"),
    ("calls", "number"),
    ("note", "note"),
];

/// What a row states in [`COLUMNS`]; empty where nothing is known.
pub fn cells(row: &Row) -> [String; 10] {
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let time = |s: Option<f64>| s.map(seconds).unwrap_or_default();
    [
        row.engine.clone(),
        row.time.map(|t| t.to_string()).unwrap_or_default(),
        row.named(),
        status(row).to_owned(),
        time(row.seconds),
        time(row.process_seconds),
        row.memory.map(megabytes).unwrap_or_default(),
        number(row.states),
        number(row.solver_calls),
        note(row),
    ]
}

/// The engines of one problem.
pub fn table(case: &Case) -> Table {
    let mut table = Table::new(COLUMNS.map(|(name, _)| name));
    for row in &case.rows {
        let cells = cells(row).into_iter().zip(COLUMNS);
        table.push(cells.map(|(cell, (_, kind))| match kind {
            "number" if cell.is_empty() => "-".to_owned(),
            _ => cell,
        }));
    }
    table
}

/// The problem, its inputs and how many configurations it has, on one line.
pub fn heading(case: &Case) -> String {
    let count = case.configurations.map_or_else(String::new, |n| format!(", {n} configurations"));
    titled(&case.problem, &case.inputs) + &count
}

/// The line that names the model, where the comparison states it.
pub fn model(case: &Case) -> Option<String> {
    let (label, model) = case.about.as_ref()?.model();
    Some(format!("{label} {model}"))
}

/// What the engines say together: the least time if it is proved, and by whom.
pub fn verdict(case: &Case) -> String {
    if let Some(first) = case.disagreements.first() {
        return format!("THE ENGINES DISAGREE: {first}");
    }
    let proofs = match case.rows.iter().filter(|r| r.proved()).count() {
        1 => "one engine".to_owned(),
        n => format!("{n} engines"),
    };
    let in_ticks = |ticks| format!("{} ticks", grouped(ticks));
    let time = |t| case.about.as_ref().map_or_else(|| in_ticks(t), |about| about.units.time(t));
    match (case.least(), case.rows.iter().filter_map(|r| r.time).min()) {
        (Some(least), _) => {
            format!("least time: {}, proved in the model by {proofs}", time(least))
        }
        (None, Some(best)) => format!("not proved; best time found: {}", time(best)),
        (None, None) if case.rows.iter().any(|r| r.status == RowStatus::Infeasible) => {
            "there is no valid configuration".to_owned()
        }
        (None, None) => "no engine has found anything".to_owned(),
    }
}

/// The comparison for a user.
pub fn words(comparison: &Comparison) -> String {
    let mut out = String::new();
    for case in &comparison.cases {
        let model = model(case).map_or_else(String::new, |model| model + "\n");
        let _ = writeln!(out, "{}\n{model}{}\n\n{}", heading(case), verdict(case), table(case));
        for disagreement in case.disagreements.iter().skip(1) {
            let _ = writeln!(out, "and: {disagreement}");
        }
    }
    let machine = &comparison.machine;
    let _ = writeln!(
        out,
        "seconds: by the engine's own clock; process: until its process had ended; MB: most memory \
         at once.\n{} s for each engine{}; {}, {} cores.",
        comparison.timeout,
        comparison.memory_limit.map_or_else(String::new, |b| format!(", {} MB", megabytes(b))),
        machine.processor,
        machine.cores,
    );
    if comparison.interrupted {
        out.push_str("Interrupted: the rest was not run.\n");
    }
    out
}
