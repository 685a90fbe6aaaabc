//! Numbers of a platform, made of what was measured. docs/calibrate.md states why these formulas.

use super::held::Held;
use super::number::{CalibratedNumber, MOST, Origin, fact, whole};
use super::resources;
use super::run::Facts;
use super::sample::Sample;
use super::sizes::Busy;
use super::survey::{Survey, bytes_text, elements};

/// Ticks in a second: a tick is 0.01 ns. Fine enough that the cheapest price, a fraction of a
/// nanosecond, is a whole number with two digits or more; a day still has fewer than 2^63.
pub const TICKS: f64 = 1e11;

fn ticks(seconds: f64) -> i64 {
    whole(seconds * TICKS)
}

/// The spread of a quotient or a product, from those of its parts.
fn worse(a: Sample, b: Sample) -> Sample {
    let spread = a.spread.zip(b.spread).map(|(a, b)| a + b);
    Sample { seconds: a.seconds, spread, steady: a.steady && b.steady, runs: a.runs.min(b.runs) }
}

/// Makes the platform.
pub fn prices(facts: &Facts, survey: &Survey) -> Vec<CalibratedNumber> {
    let units = facts.units.max(1);
    let (elements, by) = elements(survey.single, &survey.full, units as usize);
    let group = by.map_or(1, |by| by.group);
    let units = f64::from(units);
    let mut numbers = vec![
        fact("units_per_device", i64::from(facts.units.max(1)), "units", "compute units"),
        CalibratedNumber {
            field: "elements_per_unit",
            value: elements as i64,
            unit: "elements",
            how: format!(
                "latency of fma over what all units need for one, times units; groups of {group}"
            ),
            origin: Origin::Measured(
                by.map_or(survey.single, |by| worse(survey.single, by.sample)),
            ),
        },
    ];
    numbers.extend(accesses(survey, elements, units));
    numbers.extend(overheads(survey, units));
    let mut of_device = |field, value: u64, unit, what| {
        if let (1.., Ok(value)) = (value, i64::try_from(value)) {
            numbers.push(fact(field, value.min(MOST as i64), unit, what));
        }
    };
    if survey.held.is_none() {
        of_device("local_memory", facts.local_memory, "bytes", "local memory of a group");
    }
    of_device("max_group_size", facts.max_group as u64, "items", "largest group");
    numbers.extend(survey.held.map(local_memory));
    numbers.extend(clock(facts, survey));
    numbers
}

/// Bytes of a unit, by the groups that it runs side by side.
fn local_memory(held: Held) -> CalibratedNumber {
    let Held { groups, bytes, sample } = held;
    CalibratedNumber {
        field: "local_memory",
        value: whole((groups * bytes) as f64),
        unit: "bytes",
        how: format!("groups with {bytes} bytes each that run side by side on a unit: {groups}"),
        origin: Origin::Measured(sample),
    }
}

fn clock(facts: &Facts, survey: &Survey) -> Option<CalibratedNumber> {
    let (hertz, sample) = resources::clock(facts, survey)?;
    let (field, value, unit) = ("clock_mhz", (hertz / 1e6).round() as i64, "MHz");
    Some(match sample {
        None => fact(field, value, unit, "greatest clock rate"),
        Some(sample) => {
            let how = format!(
                "operations on whole numbers that wait for each other, one item, a clock each; the \
                 device says {}",
                facts.clock_mhz
            );
            CalibratedNumber { field, value, unit, how, origin: Origin::Measured(sample) }
        }
    })
}

fn price(field: &'static str, sample: Sample, how: impl Into<String>) -> CalibratedNumber {
    let (value, how) = (ticks(sample.seconds), how.into());
    CalibratedNumber { field, value, unit: "ticks", how, origin: Origin::Measured(sample) }
}

/// Prices on an element with which the model takes as long as the device. In the model a unit takes
/// a group at a time, and its elements need this many iterations for one operation of each item.
fn accesses(survey: &Survey, elements: usize, units: f64) -> Vec<CalibratedNumber> {
    let busy = |busy: Busy| {
        let iterations = busy.group.div_ceil(elements.max(1)).max(1);
        busy.sample.times(units * busy.group as f64 / iterations as f64)
    };
    let loads = (8 * survey.stream.group) as f64;
    let stream = survey.stream.sample.less(survey.group.seconds / loads);
    let mut numbers = vec![
        price(
            "global_access",
            busy(Busy { sample: stream, ..survey.stream }),
            format!(
                "loads of 4 bytes, neighbours side by side, all units busy, over {}, less \
                 group_start",
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
    ];
    numbers.extend(atomics(survey, busy));
    if let Some((bytes, latency)) = survey.chases.last() {
        let how = format!("dependent loads in random order over {}, one item", bytes_text(*bytes));
        numbers.push(price("global_latency", *latency, how));
    }
    numbers
}

/// Prices of atomic operations, each item with its own counter or all with one.
fn atomics(survey: &Survey, busy: impl Fn(Busy) -> Sample) -> [CalibratedNumber; 4] {
    [
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
    ]
}

fn overheads(survey: &Survey, units: f64) -> Vec<CalibratedNumber> {
    let mut numbers = Vec::new();
    if let Some((group, barrier)) = survey.barriers.last() {
        let how =
            format!("a loop with barriers less the same loop without, one group of {group} items");
        numbers.push(price("barrier", *barrier, how));
    }
    let group = survey.group.times(units);
    numbers.push(price("group_start", group, "a group more of one item without work"));
    let launch = survey.launch.less(group.seconds);
    let how = "a launch of one item without work, less group_start";
    numbers.push(price("kernel_launch", launch, how));
    numbers
}
