//! What calibration has found of a device, put together.

use tickbound_model::{Platform, Resources};

use super::number::{CalibratedNumber, Origin};
use super::run::Facts;
use super::sample::Sample;
use super::sizes::{Busy, MIN_CACHES};
use super::survey::{Survey, bytes_text};
use super::{prices, resources};

/// Unmeasured limits of warps on graphics processors; of these a processor has registers alone.
const HELD: [&str; 6] = [
    "warp_width",
    "schedulers",
    "registers_per_unit",
    "registers_per_item",
    "groups_per_unit",
    "warps_per_unit",
];

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
    pub numbers: Vec<CalibratedNumber>,
    /// Those of the profile `resources`; none where the clock rate is not known.
    pub resources: Vec<CalibratedNumber>,
    /// What else was measured.
    pub asides: Vec<Aside>,
    /// What one should know, a sentence each.
    pub notes: Vec<String>,
}

impl Calibration {
    /// Makes numbers of what was measured.
    pub fn of(facts: &Facts, survey: &Survey) -> Calibration {
        let numbers = prices::prices(facts, survey);
        let resources = resources::resources(facts, survey);
        Calibration {
            facts: facts.clone(),
            asides: asides(survey),
            notes: notes(facts, survey, &numbers, &resources),
            numbers,
            resources,
        }
    }

    /// Takes the numbers of profile `resources` that were not measured from another platform,
    /// and a unit's local memory where only the limit of a group is known.
    pub fn like(&mut self, other: &Platform) {
        if let Some(limit) =
            self.numbers.iter_mut().find(|number| is_group_limit(&self.facts, number))
            && let Some(unit) = taken(other, limit.field, limit.unit)
        {
            *limit = unit;
        }
        if self.resources.is_empty() {
            return;
        }
        // The device may reach a greater clock than the one measured.
        let greatest = self.resources.iter_mut().find(|number| number.field == "greatest_mhz");
        if let Some((own, stated)) = greatest.zip(taken(other, "greatest_mhz", "MHz"))
            && stated.value > own.value
        {
            *own = stated;
        }
        for (field, _, _) in Resources::FIELDS {
            let known = self.resources.iter().any(|number| number.field == *field);
            self.resources.extend(taken(other, field, "").filter(|_| !known));
        }
    }

    /// What one should know of numbers that were not measured, a sentence each.
    pub fn missing(&self) -> Vec<String> {
        let limit = self.numbers.iter().any(|number| is_group_limit(&self.facts, number));
        let limit = limit.then(|| {
            "local_memory is the limit of a group, as it was not clear how many such groups run \
             side by side; a unit may have several times as much, which --like PLATFORM takes from \
             a platform of the same kind."
                .to_owned()
        });
        limit.into_iter().chain(self.missing_resources()).collect()
    }

    fn missing_resources(&self) -> Option<String> {
        if self.resources.is_empty() {
            return Some(
                "The device does not tell its clock rate, so there is nothing for the profile \
                 resources."
                    .to_owned(),
            );
        }
        let known = |field: &&str| self.resources.iter().any(|number| number.field == *field);
        let of_kind = |field: &&str| !self.facts.processor || *field == "registers_per_item";
        let missing: Vec<&str> = HELD.into_iter().filter(|f| of_kind(f) && !known(f)).collect();
        (!missing.is_empty()).then(|| {
            format!(
                "Not measured, so without a limit under the profile resources: {}; --like PLATFORM \
                 takes what is not measured from a platform of the same kind.",
                missing.join(", ")
            )
        })
    }
}

/// Whether a number is a group's local memory in place of a unit's; processors have it in caches.
fn is_group_limit(facts: &Facts, number: &CalibratedNumber) -> bool {
    number.field == "local_memory" && number.origin == Origin::Told && !facts.processor
}

/// A number that another platform gives.
fn taken(other: &Platform, field: &str, unit: &'static str) -> Option<CalibratedNumber> {
    let given = |(name, _): &(&str, i64)| *name == field && other.is_given(name);
    let (field, value) = other.numbers().find(given)?;
    let source = other.source(field).unwrap_or("it does not say from where");
    let how = format!("not measured, taken from {}: {source}", other.name);
    Some(CalibratedNumber { field, value, unit, how, origin: Origin::Taken })
}

fn nanoseconds(sample: &Sample) -> String {
    if sample.seen() { format!("{:.2} ns", sample.seconds * 1e9) } else { "too little".to_owned() }
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
    let bytes = survey.footprint as f64;
    asides.push(rate(format!("reading global memory, {over}"), bytes, &survey.pass));
    asides.push(rate(format!("the driver's fill, {over}"), bytes, &survey.fill));
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

fn notes(
    facts: &Facts,
    survey: &Survey,
    numbers: &[CalibratedNumber],
    resources: &[CalibratedNumber],
) -> Vec<String> {
    let mut notes = Vec::new();
    let numbers = || numbers.iter().chain(resources);
    let unseen = numbers().filter(|n| n.sample().is_some_and(|s| !s.seen()));
    let unseen: Vec<&str> = unseen.map(|n| n.field).collect();
    if !unseen.is_empty() {
        notes.push(format!("Less than can be measured, hence 0: {}.", unseen.join(", ")));
    }
    let unsteady = numbers().filter(|n| n.sample().is_some_and(|s| s.seen() && !s.steady));
    let unsteady: Vec<&str> = unsteady.map(|n| n.field).collect();
    if !unsteady.is_empty() {
        notes.push(format!("Not steady, so look at the spread: {}.", unsteady.join(", ")));
    }
    if facts.cache.saturating_mul(MIN_CACHES) > survey.footprint as u64 {
        notes.push(format!(
            "A cache of {} is said to hold more than a quarter of the {} that were read: \
             global_access and dram_megabytes_per_second may be those of the cache.",
            bytes_text(usize::try_from(facts.cache).unwrap_or(usize::MAX)),
            bytes_text(survey.footprint)
        ));
    }
    notes
}
