//! Checking a certificate: by its files, the simulator, and programs of others where they are
//! there.
//!
//! In goes a [`Certificate`], out comes a [`CheckReport`] that states what was checked, what was
//! not, and what had to be trusted. Any fault is a [`Refusal`]; then nothing is proved.

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_elimination::TableLimits;
use tickbound_model::random::SplitMix64;
use tickbound_model::{Configuration, ModelError, Problem};
use tickbound_simulator::{SimulateError, SimulateOptions, simulate};

use crate::branches;
use crate::folder::{Certificate, Proved};
use crate::inequalities;
use crate::labels;
use crate::refusal::Refusal;
use crate::schedules::{Trusted, least};
use crate::texts;
use crate::tools::{self, ProofTools, ToolReport};
use tickbound_timing::obligation::Obligation;

/// Configurations in which the sum is compared with the simulator.
const SAMPLE: u64 = 64;

/// Who finds the times of launches that are too large for the simulator.
const COUNTED: &str = "the exploration by counted warps (docs/encodings.md)";

/// What a check has come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// What was checked, a sentence each.
    pub checked: Vec<String>,
    /// What was not, and why.
    pub not_checked: Vec<String>,
    /// What had to be trusted.
    pub trusted: Vec<String>,
}

/// Checks a certificate, with programs of others if there are `tools`; `stop` is asked now and
/// then. What has been checked is in the report also where something is wrong or stops it.
///
/// # Errors
/// The first thing that is wrong, or cannot be examined, or a stop.
pub fn check(
    certificate: &Certificate,
    tools: Option<&ProofTools<'_>>,
    stop: &dyn Fn() -> bool,
    report: &mut CheckReport,
) -> Result<(), Refusal> {
    let problem = problem(&certificate.problem)?;
    let claim = &certificate.claim;
    let bound = problem.bind(&claim.configuration);
    let bound = bound.map_err(|e| ModelError { at: format!("claim.json: {}", e.at), ..e })?;
    let mut trusted = Trusted::default();
    let time = least(&problem, &bound, i64::MAX, stop, &mut trusted)?;
    let who = if trusted.counted > 0 { COUNTED } else { "the simulator" };
    if time != claim.time {
        return Err(Refusal::wrong(format!(
            "claim.json: {} ticks are claimed, but {who} takes {time} with the configuration",
            claim.time
        )));
    }
    report.checked.push(format!(
        "{} is a valid configuration, and {who} takes {time} ticks",
        problem.name_values(&bound.configuration)
    ));
    report.trusted.push(format!("{who}, for the time of one configuration"));
    let whole = problem.with_whole_usage();
    let whole = whole.as_ref().unwrap_or(&problem);
    match &certificate.proof {
        Proved::Simulation => all(&problem, time, stop, report)?,
        proof => {
            let obligation = Obligation::new(whole)?;
            check_proof(proof, &obligation, time, stop, report)?;
            let wide = matches!(proof, Proved::Labels(_));
            sample((&problem, &obligation), wide, stop, report)?;
        }
    }
    texts::same(whole, &certificate.texts, time, stop)?;
    if let Some(tools) = tools {
        tools::ask(&certificate.texts, time, tools, &mut |said| match said {
            ToolReport::Checked(what) => report.checked.push(what),
            ToolReport::NotChecked(what) => report.not_checked.push(what),
        })?;
    }
    Ok(())
}

/// Checks a proof, other than by simulation, that no configuration takes less than `time`.
fn check_proof(
    proof: &Proved,
    obligation: &Obligation<'_>,
    time: i64,
    stop: &dyn Fn() -> bool,
    report: &mut CheckReport,
) -> Result<(), Refusal> {
    match proof {
        Proved::Simulation => {}
        Proved::Inequalities(proof) => {
            let found = inequalities::check(obligation, proof, time, stop)?;
            report.checked.push(format!(
                "nothing is faster: {} inequalities hold (clusters: {}, rows: {})",
                found.inequalities, found.clusters, found.rows
            ));
        }
        Proved::Labels(proof) => {
            let found = labels::check(obligation, proof, time, stop)?;
            report.checked.push(format!(
                "nothing is faster: {} labels cover what may be, each of {} successors is a label, \
                 invalid, or takes {time} ticks or more",
                found.labels, found.successors
            ));
            report.trusted.push("how expressions are taken apart into tables".into());
        }
        Proved::Branches(tree) => {
            let leaves = branches::check(obligation, tree, time, stop)?;
            report.checked.push(format!(
                "nothing is faster: in each of {leaves} boxes nothing is valid, or all takes \
                 {time} ticks or more"
            ));
            report
                .trusted
                .push("interval arithmetic, for the time and the conditions of a box".into());
        }
    }
    Ok(())
}

/// The problem of a certificate.
///
/// # Errors
/// It cannot be read, or its platform or kernel is in another file.
pub fn problem(value: &Value) -> Result<Problem, Refusal> {
    let elsewhere = |name: &str| {
        let fix = "a certificate's problem is whole: write the platform out";
        Err(ModelError::new("problem.json: platform", format!("names `{name}`"), fix))
    };
    let problem = Problem::as_written(value, &IndexMap::new(), &elsewhere)?;
    match problem.source {
        Some(_) => Err(Refusal::wrong("problem.json: the kernel is in another file")),
        None => Ok(problem),
    }
}

/// Simulates every configuration: none takes less than `time`.
fn all(
    problem: &Problem,
    time: i64,
    stop: &dyn Fn() -> bool,
    report: &mut CheckReport,
) -> Result<(), Refusal> {
    let space = problem.space()?;
    let mut trusted = Trusted::default();
    for bound in &space.bound {
        if stop() {
            return Err(Refusal::Stopped);
        }
        match least(problem, bound, time, stop, &mut trusted) {
            Ok(ticks) if ticks >= time => {}
            // Later than any time that there is.
            Err(Refusal::Simulate(SimulateError::Overflow { .. })) => {}
            Ok(ticks) => {
                let name = problem.name_values(&bound.configuration);
                let what = format!("{name} takes {ticks} ticks, but {time} are claimed");
                return Err(Refusal::wrong(what));
            }
            Err(e) => return Err(e),
        }
    }
    let Trusted { counted, bounded } = trusted;
    let count = space.bound.len();
    report.checked.push(match counted + bounded {
        0 => format!("nothing is faster: all {count} configurations are simulated"),
        _ => format!(
            "nothing is faster: all {count} configurations are explored or bounded from below"
        ),
    });
    report.trusted.push("the list of the valid configurations".into());
    if counted > 0 {
        report.trusted.push(format!("{COUNTED}, for the schedules of {counted} configurations"));
    }
    if bounded > 0 {
        let what = "bounds of what groups ask for (docs/encodings.md)";
        report.trusted.push(format!("{what}, for {bounded} configurations"));
    }
    Ok(())
}

/// What the time of an obligation is, for what is trusted.
fn closed_form(obligation: &Obligation<'_>) -> &'static str {
    match obligation.is_chain() {
        true => "the formulas of the profile resources, which the simulator has, too",
        false => "the time as a sum (docs/certificates.md)",
    }
}

/// Compares the sum of the obligation with what the simulator takes for the problem, in some
/// configurations: spread over the space, or drawn at random where that is not counted or `wide`.
fn sample(
    (problem, obligation): (&Problem, &Obligation<'_>),
    wide: bool,
    stop: &dyn Fn() -> bool,
    report: &mut CheckReport,
) -> Result<(), Refusal> {
    let limits = TableLimits { stop, ..TableLimits::default() };
    let configurations = match wide {
        true => obligation.problem.loose_configurations(&limits)?,
        false => obligation.problem.configurations(&limits)?,
    };
    report.trusted.push(closed_form(obligation).into());
    let count = configurations.count();
    let some: Vec<Configuration> = match &count {
        Some(count) => {
            let some = SAMPLE.min(u64::try_from(count).unwrap_or(SAMPLE));
            (0..some).filter_map(|n| configurations.nth(&(count * n / some))).collect()
        }
        None => {
            let mut random = SplitMix64(0);
            (0..SAMPLE).filter_map(|_| configurations.random(&mut || random.draw())).collect()
        }
    };
    let mut compared = 0;
    for configuration in some {
        let bound = problem.bind_configuration(&configuration)?;
        // Where there is an obligation no schedule is open.
        let ticks = match simulate(problem, &bound, &SimulateOptions::default()) {
            Ok(run) => i128::from(run.time),
            Err(e) if e.is_too_large() => continue,
            Err(SimulateError::Overflow { .. }) => continue,
            Err(e) => return Err(e.into()),
        };
        let sum = obligation.time.value(&bound.env)?;
        if sum != ticks {
            let name = problem.name_values(&configuration);
            let what =
                format!("the sum is {sum} for {name}, but the simulator takes {ticks} ticks");
            return Err(Refusal::wrong(what));
        }
        compared += 1;
    }
    let which = count.map_or("drawn at random".to_owned(), |n| format!("spread over all {n}"));
    report
        .checked
        .push(format!("the sum is what the simulator takes in {compared} configurations, {which}"));
    Ok(())
}
