//! Numbers of a platform, made of what was measured. docs/calibrate.md says why these formulas.

use super::run::Facts;
use super::sample::Sample;
use super::survey::{Busy, Survey, bytes_text, elements};

/// Ticks in a second: a tick is 0.01 ns. Fine enough that the cheapest price, a fraction of a
/// nanosecond, is a whole number with two digits or more; a day still has fewer than 2^63.
pub const TICKS: f64 = 1e11;
/// No number of a platform may be greater.
const MOST: f64 = (1u64 << 40) as f64;

/// A number of the platform file.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Its field.
    pub field: &'static str,
    /// The number.
    pub value: i64,
    /// What it counts: `ticks`, `items`.
    pub unit: &'static str,
    /// How it was measured, or who says so.
    pub how: String,
    /// What it was measured by; nothing for what the device says of itself.
    pub sample: Option<Sample>,
}

/// Something that was measured besides, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Aside {
    /// What.
    pub what: String,
    /// The number with its unit.
    pub value: String,
    /// How well it is known.
    pub sample: Sample,
}

/// What calibration has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The device.
    pub facts: Facts,
    /// The platform's numbers, in the order of the file.
    pub numbers: Vec<Number>,
    /// What else was measured.
    pub asides: Vec<Aside>,
    /// What one should know, a sentence each.
    pub notes: Vec<String>,
}

/// Whole ticks of some seconds.
fn ticks(seconds: f64) -> i64 {
    // What is no number becomes 0.
    (seconds * TICKS).round().clamp(0.0, MOST) as i64
}

/// The spread of a quotient or a product, from those of its parts.
fn worse(a: Sample, b: Sample) -> Sample {
    let spread = a.spread.zip(b.spread).map(|(a, b)| a + b);
    Sample { seconds: a.seconds, spread, steady: a.steady && b.steady, runs: a.runs.min(b.runs) }
}

/// Without what belongs to another price.
fn less(sample: Sample, seconds: f64) -> Sample {
    Sample { seconds: (sample.seconds - seconds).max(0.0), ..sample }
}

/// Makes the platform.
#[must_use]
pub fn prices(facts: &Facts, survey: &Survey) -> Calibration {
    let units = facts.units.max(1);
    let (elements, by) = elements(survey.single, &survey.full, units as usize);
    let group = by.map_or(1, |by| by.group);
    let units = f64::from(units);
    let mut numbers = vec![
        fact("units_per_device", i64::from(facts.units.max(1)), "units", "compute units"),
        Number {
            field: "elements_per_unit",
            value: elements as i64,
            unit: "elements",
            how: format!(
                "latency of fma over what all units need for one, times units; groups of {group}"
            ),
            sample: Some(by.map_or(survey.single, |by| worse(survey.single, by.sample))),
        },
    ];
    numbers.extend(accesses(survey, elements, units));
    numbers.extend(overheads(survey, units));
    let mut of_device = |field, value: u64, unit, what| {
        if let (1.., Ok(value)) = (value, i64::try_from(value)) {
            numbers.push(fact(field, value.min(MOST as i64), unit, what));
        }
    };
    of_device("local_memory", facts.local_memory, "bytes", "local memory of a group");
    of_device("max_group_size", facts.max_group as u64, "items", "largest group");
    of_device("clock_mhz", u64::from(facts.clock_mhz), "MHz", "greatest clock rate");
    Calibration {
        facts: facts.clone(),
        asides: asides(survey),
        notes: notes(facts, survey, &numbers),
        numbers,
    }
}

fn fact(field: &'static str, value: i64, unit: &'static str, what: &str) -> Number {
    Number { field, value, unit, how: format!("the device says so: {what}"), sample: None }
}

fn price(field: &'static str, sample: Sample, how: impl Into<String>) -> Number {
    let (value, how) = (ticks(sample.seconds), how.into());
    Number { field, value, unit: "ticks", how, sample: Some(sample) }
}

/// Prices on an element: those with which the model takes as long as the device did. In the model a
/// unit takes a group at a time, and its elements need so many iterations for one operation of each item.
fn accesses(survey: &Survey, elements: usize, units: f64) -> Vec<Number> {
    let busy = |busy: Busy| {
        let iterations = busy.group.div_ceil(elements.max(1)).max(1);
        busy.sample.times(units * busy.group as f64 / iterations as f64)
    };
    let loads = (8 * survey.stream.group) as f64;
    let stream = less(survey.stream.sample, survey.group.seconds / loads);
    let mut numbers = vec![
        price(
            "global_access",
            busy(Busy { sample: stream, ..survey.stream }),
            format!(
                "loads of 4 bytes, neighbours side by side, all units busy, over {}, less group_start",
                bytes_text(survey.footprint)
            ),
        ),
        price(
            "local_access",
            busy(survey.local),
            "loads of 4 bytes, neighbours side by side, all units busy",
        ),
        price(
            "constant_access",
            busy(survey.constant),
            "loads of 4 bytes, all items the same place, all units busy",
        ),
        price("compute_op", survey.single, "dependent fma of single numbers, one item alone"),
        price(
            "atomic_access",
            busy(survey.atomic),
            "additions to a counter of each item's own, all units busy",
        ),
        price(
            "local_atomic_access",
            busy(survey.local_atomic),
            "additions to a counter of each item's own in local memory, all units busy",
        ),
        price(
            "shared_atomic_access",
            busy(survey.atomic_shared),
            "additions to one counter of all items, all units busy",
        ),
        price(
            "shared_local_atomic_access",
            busy(survey.local_atomic_shared),
            "additions to one counter of each group in local memory, all units busy",
        ),
    ];
    if let Some((bytes, latency)) = survey.chases.last() {
        let how = format!("dependent loads in random order over {}, one item", bytes_text(*bytes));
        numbers.push(price("global_latency", *latency, how));
    }
    numbers
}

fn overheads(survey: &Survey, units: f64) -> Vec<Number> {
    let mut numbers = Vec::new();
    if let Some((group, barrier)) = survey.barriers.last() {
        let how =
            format!("a loop with barriers less the same loop without, one group of {group} items");
        numbers.push(price("barrier", *barrier, how));
    }
    let group = survey.group.times(units);
    numbers.push(price("group_start", group, "a group more of one item without work"));
    let launch = less(survey.launch, group.seconds);
    let how = "a launch of one item without work, less group_start";
    numbers.push(price("kernel_launch", launch, how));
    numbers
}

fn nanoseconds(sample: &Sample) -> String {
    match sample.seen() {
        true => format!("{:.2} ns", sample.seconds * 1e9),
        false => "too little".to_owned(),
    }
}

fn asides(survey: &Survey) -> Vec<Aside> {
    let time =
        |what: String, sample: &Sample| Aside { what, value: nanoseconds(sample), sample: *sample };
    let rate = |what: String, bytes: f64, sample: &Sample| {
        let rate = if sample.seen() { bytes / sample.seconds / 1e9 } else { 0.0 };
        let value = if rate > 0.0 { format!("{rate:.1} GB/s") } else { "too fast".into() };
        Aside { what, value, sample: *sample }
    };
    let mut asides: Vec<Aside> = survey
        .chases
        .iter()
        .map(|(bytes, s)| time(format!("load after load, global, {}", bytes_text(*bytes)), s))
        .collect();
    asides.push(time("load after load, local".into(), &survey.chase_local));
    asides.push(time("load after load, constant".into(), &survey.chase_constant));
    let over = bytes_text(survey.footprint);
    asides.push(rate(format!("reading global memory, {over}"), 4.0, &survey.stream.sample));
    asides.push(rate(format!("the driver's fill, {over}"), survey.footprint as f64, &survey.fill));
    asides.push(rate("reading local memory".into(), 4.0, &survey.local.sample));
    asides.extend(survey.full.iter().map(|Busy { group, sample: s }| {
        let rate = if s.seen() { 2e-9 / s.seconds } else { 0.0 };
        let value = if rate > 0.0 { format!("{rate:.1} Gflop/s") } else { "too fast".into() };
        Aside { what: format!("fma, groups of {group}"), value, sample: *s }
    }));
    asides.push(time("atomic addition, one counter".into(), &survey.atomic_shared.sample));
    for (group, sample) in &survey.barriers {
        asides.push(time(format!("barrier, {group} items"), sample));
    }
    asides.push(time("launch, from the queue to the end".into(), &survey.queued));
    asides
}

fn notes(facts: &Facts, survey: &Survey, numbers: &[Number]) -> Vec<String> {
    let mut notes = Vec::new();
    let unseen = numbers.iter().filter(|n| n.sample.is_some_and(|s| !s.seen()));
    let unseen: Vec<&str> = unseen.map(|n| n.field).collect();
    if !unseen.is_empty() {
        notes.push(format!("Less than can be measured, hence 0: {}.", unseen.join(", ")));
    }
    let unsteady = numbers.iter().filter(|n| n.sample.is_some_and(|s| s.seen() && !s.steady));
    let unsteady: Vec<&str> = unsteady.map(|n| n.field).collect();
    if !unsteady.is_empty() {
        notes.push(format!("Not steady, so look at the spread: {}.", unsteady.join(", ")));
    }
    let cache = usize::try_from(facts.cache).unwrap_or(usize::MAX);
    if cache > survey.footprint / 2 {
        notes.push(format!(
            "A cache of {} is said to hold half or more of the {} that were read: global_access may be \
             that of the cache.",
            bytes_text(cache),
            bytes_text(survey.footprint)
        ));
    }
    if let Some(width) = facts.lockstep {
        notes.push(format!(
            "{width} items move in lockstep. Add \"warps\" to model them; how many dispatchers a unit \
             has, OpenCL does not tell."
        ));
    }
    notes
}
