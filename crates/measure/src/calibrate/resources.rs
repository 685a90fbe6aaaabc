//! Numbers of the profile `resources`, made of what was measured. Reasons: docs/calibrate.md.
//!
//! Times become clocks of a unit: at the rate that the device reports, or on a processor at the
//! measured rate. Rates are whole numbers and at least 1, the least value in the profile.

use super::levels::{Level, levels};
use super::number::{CalibratedNumber, Origin, fact, whole};
use super::run::Facts;
use super::sample::Sample;
use super::sizes::Busy;
use super::survey::{Survey, bytes_text};

/// How much longer a load takes at least where neighbours meet in more banks: then twice as long.
const CONFLICT: f64 = 1.4;

/// How much longer requests to L1 take where they share a pipe with local memory
/// (docs/semantics.md, profile `resources`, 9): what is measured on a processor has that in it.
const ONE_PIPE: f64 = 1.1;

/// Hertz of a unit's clock, with the sample where it was measured; nothing where it is unknown.
pub(super) fn clock(facts: &Facts, survey: &Survey) -> Option<(f64, Option<Sample>)> {
    match survey.rates.clock.filter(Sample::seen) {
        Some(sample) => Some((1.0 / sample.seconds, Some(sample))),
        None if facts.clock_mhz > 0 => Some((f64::from(facts.clock_mhz) * 1e6, None)),
        None => None,
    }
}

/// The numbers, in the order of the file: none if the clock rate is not known.
pub fn resources(facts: &Facts, survey: &Survey) -> Vec<CalibratedNumber> {
    let Some((hertz, _)) = clock(facts, survey) else { return Vec::new() };
    let units = f64::from(facts.units.max(1));
    let (caches, memory) = levels(&survey.chases);
    let made = Making { facts, survey, hertz, units, caches, memory };
    let mut numbers = made.arithmetic();
    numbers.extend(made.memory());
    numbers.extend(made.caches());
    numbers.extend(made.latencies());
    numbers
}

struct Making<'a> {
    facts: &'a Facts,
    survey: &'a Survey,
    hertz: f64,
    units: f64,
    caches: Vec<Level>,
    /// A load that no cache serves.
    memory: Option<Sample>,
}

impl Making<'_> {
    /// Items of a warp, where that is known.
    fn width(&self) -> Option<i64> {
        if self.facts.processor { Some(1) } else { self.facts.lockstep.map(i64::from) }
    }

    /// Operations of a unit's items in a clock.
    fn rate(&self, sample: &Sample) -> f64 {
        1.0 / (sample.seconds * self.hertz * self.units)
    }

    /// This many times an operation's rate; nothing where it was too fast to be seen.
    fn rated(
        &self,
        field: &'static str,
        unit: &'static str,
        busy: &Busy,
        each: f64,
        how: &str,
    ) -> Option<CalibratedNumber> {
        let sample = Some(busy.sample).filter(Sample::seen)?;
        let exact = self.rate(&sample) * each;
        let how = format!("{how}, all units busy: {exact:.2} a clock");
        Some(CalibratedNumber {
            field,
            value: at_least_1(exact),
            unit,
            how,
            origin: Origin::Measured(sample),
        })
    }

    fn clocks(&self, field: &'static str, sample: &Sample, how: String) -> CalibratedNumber {
        let value = whole(sample.seconds * self.hertz);
        CalibratedNumber { field, value, unit: "clocks", how, origin: Origin::Measured(*sample) }
    }

    fn arithmetic(&self) -> Vec<CalibratedNumber> {
        let rates = &self.survey.rates;
        let width = self.width();
        let warps = match (self.facts.processor, width) {
            (true, _) => Some(processor("warp_width", 1, "items", "runs one item after another")),
            (false, Some(width)) => {
                Some(fact("warp_width", width, "items", "items that move in lockstep"))
            }
            (false, None) => None,
        };
        let schedulers = self
            .facts
            .processor
            .then(|| processor("schedulers", 1, "schedulers", "runs one thread"));
        // What any of them issues, the device can.
        let busiest = [rates.mixed, rates.real, rates.integer]
            .into_iter()
            .filter(|busy| busy.sample.seen())
            .min_by(|a, b| a.sample.seconds.total_cmp(&b.sample.seconds));
        let issue = width.zip(busiest).and_then(|(width, busiest)| {
            let how =
                "the fastest of multiply-adds, operations on whole numbers, and both by turns";
            let unit = "instructions a clock";
            self.rated("issue_rate", unit, &busiest, 1.0 / width as f64, how)
        });
        let lanes = |field, busy, what: &str| {
            self.rated(
                field,
                "lanes",
                busy,
                1.0,
                &format!("{what} that do not wait for each other"),
            )
        };
        let all = [
            warps,
            schedulers,
            issue,
            lanes("real_lanes", &rates.real, "multiply-adds"),
            lanes("integer_lanes", &rates.integer, "additions and ands"),
            lanes("special_lanes", &rates.special, "square roots"),
        ];
        all.into_iter().flatten().chain(self.greatest_clock()).collect()
    }

    /// The greatest clock that was seen or is stated, for floors. No chain of multiply-adds takes
    /// fewer than 4 clocks for each on a graphics processor (NVIDIA since Volta, AMD since GCN), so
    /// that the clock while it ran was no less. A processor has no floors.
    fn greatest_clock(&self) -> Option<CalibratedNumber> {
        const DEPENDENT_CLOCKS: f64 = 4.0;
        let single = self.survey.single;
        if self.facts.processor || !single.seen() {
            return None;
        }
        let seen = DEPENDENT_CLOCKS / single.seconds / 1e6;
        let stated = i64::from(self.facts.clock_mhz);
        let how = format!(
            "the greater of {stated}, which the device states, and {seen:.0}, which multiply-adds \
             that wait for each other show, 4 clocks each"
        );
        let (value, origin) = (whole(seen).max(stated), Origin::Measured(single));
        Some(CalibratedNumber { field: "greatest_mhz", value, unit: "MHz", how, origin })
    }

    fn memory(&self) -> Vec<CalibratedNumber> {
        let (rates, local) = (&self.survey.rates, &self.survey.local);
        let l1 = if self.facts.processor { ONE_PIPE } else { 1.0 };
        let near = "loads from 8 KiB of global memory";
        // A processor's local memory is memory like any other.
        let (local, how) = if self.facts.processor {
            (&rates.near, near)
        } else {
            (local, "loads from local memory")
        };
        let faster =
            if local.sample.seconds < rates.near.sample.seconds { local } else { &rates.near };
        let (lines, apart) = match &rates.lines {
            Some(lines) => (lines, "loads 132 bytes apart, each from another line"),
            None => (&rates.near, near),
        };
        let all = [
            self.rated(
                "load_store_lanes",
                "lanes",
                faster,
                l1,
                "the faster of loads from local memory and L1",
            ),
            self.rated("local_bytes_per_clock", "bytes a clock", local, 4.0 * l1, how),
            self.rated("l1_bytes_per_clock", "bytes a clock", &rates.near, 4.0 * l1, near),
            self.rated("l1_lines_per_clock", "lines a clock", lines, l1, apart),
        ];
        all.into_iter().flatten().chain(self.organisation()).collect()
    }

    fn organisation(&self) -> Vec<CalibratedNumber> {
        let processor_has = |field, value, unit, what| {
            self.facts.processor.then(|| processor(field, value, unit, what))
        };
        let all = [
            processor_has(
                "one_pipe",
                1,
                "yes (1) or no (0)",
                "has local memory in the same caches",
            ),
            self.banks(),
            processor_has(
                "vector_bytes",
                4 * self.facts.vector as i64,
                "bytes",
                "works on vectors: native vectors of single precision, as the device says",
            ),
            (self.facts.line > 0).then(|| {
                fact(
                    "line_bytes",
                    i64::from(self.facts.line),
                    "bytes",
                    "line of the global memory's cache",
                )
            }),
            self.facts.registers.map(|n| {
                fact("registers_per_unit", i64::from(n), "registers", "registers of a group")
            }),
            processor_has("groups_per_unit", 1, "groups", "runs one group after another"),
        ];
        all.into_iter().flatten().collect()
    }

    /// The least distance between neighbours from which on they meet no more often.
    fn banks(&self) -> Option<CalibratedNumber> {
        if self.facts.processor {
            return Some(processor("banks", 1, "banks", "makes a pass of each item's request"));
        }
        let times = &self.survey.rates.banks;
        let meets_no_more = |pair: &&[(usize, Busy)]| {
            pair.iter().all(|(_, busy)| busy.sample.seen())
                && pair[1].1.sample.seconds < CONFLICT * pair[0].1.sample.seconds
        };
        let [(apart, busy), _] = times.windows(2).find(meets_no_more)? else { return None };
        Some(CalibratedNumber {
            field: "banks",
            value: *apart as i64,
            unit: "banks",
            how: "cells between neighbours from which on loads from local memory become no slower"
                .into(),
            origin: Origin::Measured(busy.sample),
        })
    }

    fn caches(&self) -> Vec<CalibratedNumber> {
        let sweeps = &self.survey.rates.sweeps;
        let mut numbers = Vec::new();
        let Some(((footprint, dram), behind)) = sweeps.split_last() else { return numbers };
        for (field, (bytes, sample)) in
            ["l2_bytes_per_clock", "l3_bytes_per_clock"].into_iter().zip(behind)
        {
            if sample.seen() {
                let how = format!("all units read {} over and over", bytes_text(*bytes));
                let value = at_least_1(1.0 / (sample.seconds * self.hertz));
                let unit = "bytes a clock";
                numbers.push(CalibratedNumber {
                    field,
                    value,
                    unit,
                    how,
                    origin: Origin::Measured(*sample),
                });
            }
        }
        if dram.seen() {
            numbers.push(self.dram(*footprint, *dram));
        }
        let fields = ["l1_size", "l2_size", "l3_size"].into_iter();
        numbers.extend(fields.zip(&self.caches).enumerate().map(|(i, (field, cache))| {
            if i == 1 { self.second(field, cache) } else { size(field, cache, 1, "") }
        }));
        numbers
    }

    /// A byte of the device's memory: of a walk through it over and over, or of a launch that reads
    /// all of it once if that is slower, as caches may have part of the walk. On a processor only
    /// the walk counts: the launch works on single numbers, which takes longer than its reads.
    fn dram(&self, footprint: usize, walk: Sample) -> CalibratedNumber {
        let Survey { pass, launch, .. } = self.survey;
        let pass = pass.less(launch.seconds).times(1.0 / footprint as f64);
        let over = bytes_text(footprint);
        let (sample, how) = match pass.seconds > walk.seconds && !self.facts.processor {
            false => (walk, format!("all units read {over} over and over")),
            true => (pass, format!("a launch that reads {over} once")),
        };
        CalibratedNumber {
            field: "dram_megabytes_per_second",
            value: at_least_1(1e-6 / sample.seconds),
            unit: "MB/s",
            how,
            origin: Origin::Measured(sample),
        }
    }

    /// A processor's second cache is its own; the number is of all. That of another device, if it
    /// is the last one, is as large as the device states: one unit sees its own partition of it,
    /// and longer times where the tables of translated addresses end.
    fn second(&self, field: &'static str, cache: &Level) -> CalibratedNumber {
        if self.facts.processor {
            return size(field, cache, i64::from(self.facts.units.max(1)), ", of each unit");
        }
        let told = i64::try_from(self.facts.cache).unwrap_or(i64::MAX);
        if self.caches.len() > 2 || told <= cache.bytes as i64 {
            return size(field, cache, 1, "");
        }
        let seen = bytes_text(cache.bytes);
        let what = format!(
            "cache of global memory; loads of one unit that wait for each other show {seen}, its \
             partition or what its tables of translated addresses reach"
        );
        fact(field, told, "bytes", &what)
    }

    fn latencies(&self) -> Vec<CalibratedNumber> {
        let survey = self.survey;
        let mut numbers = Vec::new();
        for (field, cache) in
            ["l1_latency", "l2_latency", "l3_latency"].into_iter().zip(&self.caches)
        {
            let how =
                "loads that wait for each other, one item, in the least footprint of this cache";
            numbers.push(self.clocks(field, &cache.latency, how.to_owned()));
        }
        if let (Some(sample), Some((bytes, _))) = (self.memory, survey.chases.last()) {
            let how =
                format!("loads that wait for each other, one item, over {}", bytes_text(*bytes));
            numbers.push(self.clocks("dram_latency", &sample, how));
        }
        let how = "loads that wait for each other, one item".to_owned();
        numbers.push(self.clocks("local_latency", &survey.chase_local, how));
        if let Some((group, sample)) = survey.barriers.first() {
            let how = format!(
                "a loop with barriers less the same loop without, one group of {group} items"
            );
            numbers.push(self.clocks("barrier_latency", sample, how));
        }
        let how = "additions to one counter of all items, all units busy".to_owned();
        numbers.push(self.clocks("shared_atomic_clocks", &survey.atomic_shared.sample, how));
        let launch = survey.launch.less(survey.group.seconds);
        let how = "a launch of one item without work, less group_picoseconds";
        let starts = [
            ("launch_nanoseconds", "ns", launch, 1e9, how),
            (
                "group_picoseconds",
                "ps",
                survey.group,
                1e12,
                "a group more of one item without work",
            ),
        ];
        let seen = starts.into_iter().filter(|(_, _, sample, ..)| sample.seen());
        numbers.extend(seen.map(|(field, unit, sample, in_second, how)| CalibratedNumber {
            field,
            value: whole(sample.seconds * in_second),
            unit,
            how: how.into(),
            origin: Origin::Measured(sample),
        }));
        numbers
    }
}

/// The size of a cache of which there are this many.
fn size(field: &'static str, cache: &Level, caches: i64, of: &str) -> CalibratedNumber {
    let how = "interpolated between latencies of footprints that double: ".to_owned();
    CalibratedNumber {
        field,
        value: cache.bytes as i64 * caches,
        unit: "bytes",
        how: how + &bytes_text(cache.bytes) + of,
        origin: Origin::Measured(cache.latency),
    }
}

/// What is so on every processor.
fn processor(field: &'static str, value: i64, unit: &'static str, what: &str) -> CalibratedNumber {
    CalibratedNumber {
        field,
        value,
        unit,
        how: format!("a processor {what}"),
        origin: Origin::Taken,
    }
}

fn at_least_1(x: f64) -> i64 {
    whole(x).max(1)
}
