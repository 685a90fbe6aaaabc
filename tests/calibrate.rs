//! Calibration: the formulas, on devices that follow the model, and the command, on a real one.
//!
//! The command needs a device, such as PoCL. Where there is none these tests say so and do nothing,
//! except on CI, where that is a failure.

use std::path::Path;
use std::process::{Command as Process, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use indexmap::IndexMap;
use serde_json::{Value, json};
use tempfile::TempDir;
use tickbound_device::{self, Session};
use tickbound_measure::calibrate::{
    CalibrateError, CalibrateOptions, Calibration, CalibrationRun, Effort, Facts, OpenCl, RunTimes,
    Runner, Work, calibrate,
};
use tickbound_measure::sample::SampleRule;
use tickbound_model::{Platform, Problem, platforms};
use tickbound_simulator::simulate;

/// A device that takes as long as the model says.
struct Model {
    platform: Value,
    max_group: usize,
    /// Added to the n-th launch, in seconds.
    noise: fn(usize) -> f64,
    launches: usize,
    verified: Vec<Work>,
    /// A kernel that computes something wrong.
    wrong: Option<Work>,
}

fn program(run: &CalibrationRun) -> Value {
    let repeated = |body: Value| json!([{ "repeat": run.iterations, "body": body }]);
    match run.work {
        Work::Chain | Work::Hold { .. } => repeated(json!([{ "compute": 64 }])),
        Work::OneBarrier => repeated(json!([{ "compute": 8 }, "barrier"])),
        Work::Barriers => {
            let each = [json!({ "compute": 1 }), json!("barrier")];
            repeated(json!(each.iter().cycle().take(16).collect::<Vec<_>>()))
        }
        Work::Chase { .. } => repeated(json!([{ "global": 16 }])),
        Work::ChaseLocal | Work::LoadLocal => repeated(json!([{ "local": 16 }])),
        Work::ChaseConstant | Work::LoadConstant => repeated(json!([{ "constant": 16 }])),
        Work::Atomic => repeated(json!([{ "atomic": 4 }])),
        Work::AtomicShared => repeated(json!([{ "shared_atomic": 4 }])),
        Work::LocalAtomic => repeated(json!([{ "local_atomic": 4 }])),
        Work::LocalAtomicShared => repeated(json!([{ "shared_local_atomic": 4 }])),
        Work::Stream { .. } => json!([{ "global": 8 }]),
        Work::Reals | Work::Integers | Work::Mixed | Work::Specials | Work::Clock => {
            repeated(json!([{ "compute": run.work.operations() }]))
        }
        Work::LoadNear { .. } | Work::Sweep { .. } => {
            repeated(json!([{ "global": run.work.operations() }]))
        }
        Work::LoadBanks { .. } => repeated(json!([{ "local": 16 }])),
        Work::Start | Work::Fill { .. } => json!([{ "compute": 0 }]),
    }
}

impl Model {
    fn new(numbers: Value) -> Model {
        Model {
            platform: numbers,
            max_group: 1024,
            noise: |_| 0.0,
            launches: 0,
            verified: Vec::new(),
            wrong: None,
        }
    }

    fn number(&self, field: &str) -> i64 {
        self.platform[field].as_i64().unwrap()
    }

    fn facts(&self) -> Facts {
        Facts {
            name: "model".into(),
            driver: "the simulator".into(),
            units: u32::try_from(self.number("units_per_device")).unwrap(),
            max_group: self.max_group,
            local_memory: 1 << 16,
            max_alloc: 1 << 40,
            memory: 1 << 42,
            cache: 0,
            vector: 1,
            ..Facts::default()
        }
    }

    fn ticks(&self, run: &CalibrationRun) -> i64 {
        let problem = json!({
            "platform": self.platform,
            "launch": { "global_size": run.items(), "local_size": run.group },
            "kernel": program(run)
        });
        let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
        let space = problem.space().unwrap();
        simulate(&problem, &space.bound[0], &tickbound_simulator::SimulateOptions::default())
            .unwrap()
            .time
    }

    fn calibrate(&mut self, options: &CalibrateOptions) -> Result<Calibration, CalibrateError> {
        let (facts, never) = (self.facts(), AtomicBool::new(false));
        calibrate(self, &facts, options, &never, &mut |_| {})
    }
}

impl Runner for Model {
    fn most_items(&mut self, _: Work) -> Result<usize, CalibrateError> {
        Ok(self.max_group)
    }

    fn run(&mut self, run: &CalibrationRun) -> Result<RunTimes, CalibrateError> {
        self.launches += 1;
        let busy = self.ticks(run) as f64 * 1e-11 + (self.noise)(self.launches);
        Ok(RunTimes { busy, queued: busy + 1e-6 })
    }

    fn verify(&mut self, run: &CalibrationRun) -> Result<(), CalibrateError> {
        self.verified.push(run.work);
        if self.wrong.is_some_and(|wrong| wrong.kernel() == run.work.kernel()) {
            let (device, kernel) = ("model".to_owned(), run.work.kernel());
            return Err(CalibrateError::Wrong { device, kernel, index: 3, got: 1, expected: 2 });
        }
        Ok(())
    }
}

/// As few launches as have an interval, of one iteration and of four.
fn short() -> CalibrateOptions {
    let rule = SampleRule {
        warm_up: 0,
        warm_seconds: 0.0,
        least: 6,
        most: 10,
        spread: 0.01,
        seconds: 60.0,
    };
    CalibrateOptions { effort: Effort { rule, launch: 0.0 }, footprint: 1 << 20 }
}

fn numbers(units: i64, elements: i64) -> Value {
    json!({
        "units_per_device": units, "elements_per_unit": elements,
        "global_access": 8231, "local_access": 941, "constant_access": 317, "compute_op": 229,
        "atomic_access": 12007, "local_atomic_access": 5003, "shared_atomic_access": 91009,
        "shared_local_atomic_access": 7013, "barrier": 3511, "group_start": 17341,
        "kernel_launch": 412_345
    })
}

fn value(found: &Calibration, field: &str) -> i64 {
    found.numbers.iter().find(|n| n.field == field).unwrap_or_else(|| panic!("{field}")).value
}

// The formulas.

#[test]
fn the_model_calibrated_gives_its_platform_back() {
    for (units, elements) in [(1, 1), (2, 8), (4, 32), (8, 64), (2, 512)] {
        let mut model = Model::new(numbers(units, elements));
        let found = model.calibrate(&short()).unwrap();
        for (field, expected) in model.platform.as_object().unwrap() {
            let at = format!("{units} units of {elements}: {field}");
            assert_eq!(value(&found, field), expected.as_i64().unwrap(), "{at}");
        }
        assert_eq!(value(&found, "global_latency"), model.number("global_access"));
        assert_eq!(value(&found, "max_group_size"), 1024);
        assert_eq!(found.notes, [""; 0]);
        let every = found.numbers.iter().filter_map(|n| n.sample());
        assert!(every.into_iter().all(|s| s.steady && s.spread == Some(0.0)));
    }
}

#[test]
fn groups_that_do_not_fill_the_elements_are_seen() {
    // 1024 items are 21.3 iterations of 48 elements, so a twenty-second of them is idle in part.
    let found = Model::new(numbers(2, 48)).calibrate(&short()).unwrap();
    assert_eq!(value(&found, "elements_per_unit"), 47);
    assert_eq!(value(&found, "local_access"), 941);
    // A small group is never full.
    let mut model = Model::new(numbers(2, 512));
    model.max_group = 128;
    let found = model.calibrate(&short()).unwrap();
    assert_eq!(value(&found, "elements_per_unit"), 128);
    assert_eq!((value(&found, "global_access"), value(&found, "atomic_access")), (8231, 12007));
}

#[test]
fn every_kernel_is_verified() {
    let mut model = Model::new(numbers(2, 8));
    model.calibrate(&short()).unwrap();
    let verified: Vec<&str> = model.verified.iter().map(|w| w.kernel()).collect();
    for kernel in [
        "chain",
        "hold",
        "one_barrier",
        "barriers",
        "chase",
        "chase_local",
        "chase_constant",
        "stream",
        "load_local",
        "load_constant",
        "atomics",
        "local_atomics",
        "start",
        "fill",
    ] {
        assert!(verified.contains(&kernel), "{kernel}");
    }
    model.wrong = Some(Work::LoadLocal);
    let fault = model.calibrate(&short()).unwrap_err().to_string();
    assert_eq!(
        fault,
        "model: kernel `load_local` has computed 1 at 3, expected 2: the driver or the device is \
         at \
         fault; nothing was written"
    );
}

#[test]
fn outliers_do_not_count_and_noise_is_told() {
    // Every eleventh launch is interrupted for 10 ms.
    let mut model = Model::new(numbers(2, 8));
    model.noise = |n| if n % 11 == 0 { 0.01 } else { 0.0 };
    let mut options = short();
    options.effort.rule.most = 60;
    let found = model.calibrate(&options).unwrap();
    assert_eq!(value(&found, "compute_op"), 229);
    assert_eq!(value(&found, "barrier"), 3511);
    // Launches take up to a microsecond more or less.
    model.noise = |n| (n * 7919 % 101) as f64 * 1e-8;
    let found = model.calibrate(&short()).unwrap();
    let launch = found.numbers.iter().find(|n| n.field == "kernel_launch").unwrap();
    assert!(!launch.sample().unwrap().steady);
    assert!(found.notes.iter().any(|n| n.starts_with("Not steady") && n.contains("kernel_launch")));
    let file = found.platform("noisy", "2026-01-01");
    let source = file["kernel_launch"]["source"].as_str().unwrap();
    assert!(source.contains("unsteady, spread "), "{source}");
    assert!(tickbound_report::calibrated::words(&found).contains("% unsteady"));
}

#[test]
fn what_takes_no_time_is_0_and_said_to_be() {
    let mut model = Model::new(numbers(2, 8));
    for (_, price) in model.platform.as_object_mut().unwrap().iter_mut().skip(2) {
        *price = json!(0);
    }
    let found = model.calibrate(&short()).unwrap();
    assert_eq!(value(&found, "elements_per_unit"), 1);
    assert_eq!((value(&found, "global_access"), value(&found, "barrier")), (0, 0));
    assert!(
        found.notes[0].starts_with("Less than can be measured, hence 0: "),
        "{:?}",
        found.notes
    );
    let file = found.platform("nothing", "2026-01-01");
    assert!(file["barrier"]["source"].as_str().unwrap().contains("below what can be measured"));
    check(&file);
}

#[test]
fn launches_grow_until_they_are_long_enough() {
    let mut model = Model::new(numbers(2, 8));
    let mut options = short();
    // A launch of four iterations of `chain` takes 4.7 us.
    options.effort.launch = 1e-4;
    assert_eq!(value(&model.calibrate(&options).unwrap(), "compute_op"), 229);
}

#[test]
fn an_interrupt_ends_it() {
    struct Late<'a>(Model, &'a AtomicBool);
    impl Runner for Late<'_> {
        fn most_items(&mut self, work: Work) -> Result<usize, CalibrateError> {
            self.0.most_items(work)
        }
        fn run(&mut self, run: &CalibrationRun) -> Result<RunTimes, CalibrateError> {
            self.1.store(self.0.launches >= 20, Ordering::Relaxed);
            self.0.run(run)
        }
        fn verify(&mut self, run: &CalibrationRun) -> Result<(), CalibrateError> {
            self.0.verify(run)
        }
    }
    let interrupt = AtomicBool::new(false);
    let mut late = Late(Model::new(numbers(2, 8)), &interrupt);
    let facts = late.0.facts();
    let result = calibrate(&mut late, &facts, &short(), &interrupt, &mut |_| {});
    assert_eq!(result, Err(CalibrateError::Interrupted));
    assert_eq!(late.0.launches, 21);
}

#[test]
fn the_device_is_asked_for_no_more_than_it_has() {
    let mut model = Model::new(numbers(2, 8));
    let mut facts = model.facts();
    (facts.max_alloc, facts.memory, facts.lockstep) = (1 << 19, 5 << 17, Some(32));
    facts.cache = 1 << 30;
    let never = AtomicBool::new(false);
    let found = calibrate(&mut model, &facts, &short(), &never, &mut |_| {}).unwrap();
    let footprint = |w: &Work| match *w {
        Work::Chase { bytes } | Work::Stream { bytes } | Work::Fill { bytes } => bytes,
        _ => 0,
    };
    // A quarter of the memory, 160 KiB, rounded down to a power of two.
    assert_eq!(model.verified.iter().map(footprint).max(), Some(128 << 10));
    assert!(found.notes.iter().any(|n| n.starts_with("A cache of 1024 MiB")), "{:?}", found.notes);
    assert!(found.resources.is_empty(), "{:?}", found.resources);
    assert!(tickbound_report::calibrated::words(&found).contains("does not tell its clock rate"));
}

// The profile `resources`.

/// A device that takes as long as the profile `resources` says.
struct Resourceful {
    platform: Value,
    facts: Facts,
    traits: Traits,
}

/// What a device does besides.
#[derive(Default)]
struct Traits {
    /// Parts of L2, of which one unit alone uses one; 0 as 1.
    partitions: i64,
    /// A footprint up to twice a cache is served by it in part.
    shares: bool,
    /// Neighbours in L1 meet in the banks of local memory.
    banks_in_l1: bool,
    /// Requests for what a neighbouring group has just read are served in half the time.
    merges: bool,
    /// L2 has half of what is read over and over, however much that is.
    remembers: bool,
    /// Groups on a unit slow each other down.
    crowds: bool,
}

/// A graphics processor with two caches.
fn graphics() -> Resourceful {
    let platform = json!({
        "units_per_device": 4, "elements_per_unit": 64, "global_access": 1, "clock_mhz": 1500,
        "resources": {
            "warp_width": 32, "issue_rate": 3, "real_lanes": 64, "integer_lanes": 48,
            "special_lanes": 16,
            "load_store_lanes": 32, "local_bytes_per_clock": 96, "l1_bytes_per_clock": 128,
            "l1_lines_per_clock": 4,
            "banks": 16, "line_bytes": 128, "registers_per_unit": 65536, "l2_bytes_per_clock": 256,
            "dram_megabytes_per_second": 96_000, "l1_size": 16384, "l2_size": 262_144,
            "l1_latency": 31,
            "l2_latency": 207, "dram_latency": 555, "local_latency": 23, "barrier_latency": 14,
            "shared_atomic_clocks": 3, "launch_nanoseconds": 5000, "greatest_mhz": 1500
        }
    });
    let facts = Facts {
        lockstep: Some(32),
        vector: 1,
        line: 128,
        registers: Some(65536),
        ..Facts::default()
    };
    Resourceful::new(platform, facts)
}

/// A graphics processor such as an H200, under its name.
fn hopper() -> Resourceful {
    let platform = json!({
        "units_per_device": 4, "elements_per_unit": 64, "global_access": 1, "clock_mhz": 2048,
        // Five times 45.5 KiB, so four groups with the most that OpenCL gives one.
        "local_memory": 232_960,
        "resources": {
            "warp_width": 32, "issue_rate": 4, "real_lanes": 128, "integer_lanes": 64,
            "special_lanes": 16, "load_store_lanes": 32, "local_bytes_per_clock": 128,
            "l1_bytes_per_clock": 128, "l1_lines_per_clock": 4, "banks": 32, "line_bytes": 128,
            "registers_per_unit": 65536, "l2_bytes_per_clock": 256,
            "dram_megabytes_per_second": 262_144, "l1_size": 147_456, "l2_size": 52_428_800,
            "l1_latency": 39, "l2_latency": 287, "dram_latency": 645, "local_latency": 29,
            "barrier_latency": 13, "shared_atomic_clocks": 2, "launch_nanoseconds": 5000,
            "group_picoseconds": 605, "greatest_mhz": 2048
        }
    });
    let facts = Facts {
        lockstep: Some(32),
        vector: 1,
        line: 128,
        registers: Some(65536),
        cache: 52_428_800,
        local_memory: 49_152,
        clock_mhz: 2048,
        ..Facts::default()
    };
    let traits = Traits {
        partitions: 2,
        shares: true,
        banks_in_l1: true,
        merges: true,
        ..Traits::default()
    };
    let device = Resourceful::new(platform, facts);
    Resourceful { traits, facts: Facts { name: "NVIDIA H200".into(), ..device.facts }, ..device }
}

/// A processor with vectors of 8 numbers and three caches, whose clock rate is told wrongly.
fn processor() -> Resourceful {
    let platform = json!({
        "units_per_device": 2, "elements_per_unit": 1, "global_access": 1, "clock_mhz": 3000,
        "resources": {
            "warp_width": 1, "schedulers": 1, "issue_rate": 4, "real_lanes": 2,
            "integer_lanes": 3, "special_lanes": 1,
            "load_store_lanes": 2, "local_bytes_per_clock": 8, "l1_bytes_per_clock": 8,
            "l1_lines_per_clock": 2,
            "one_pipe": 1, "banks": 1, "vector_bytes": 32, "line_bytes": 64, "groups_per_unit": 1,
            "l2_bytes_per_clock": 64, "dram_megabytes_per_second": 24_000, "l1_size": 16384,
            "l2_size": 262_144,
            "l1_latency": 5, "l2_latency": 14, "dram_latency": 300, "local_latency": 6,
            "barrier_latency": 1,
            "shared_atomic_clocks": 20, "launch_nanoseconds": 400
        }
    });
    let facts = Facts { processor: true, clock_mhz: 2000, vector: 8, line: 64, ..Facts::default() };
    Resourceful::new(platform, facts)
}

impl Resourceful {
    fn new(platform: Value, facts: Facts) -> Resourceful {
        let units = u32::try_from(platform["units_per_device"].as_i64().unwrap()).unwrap();
        let facts = Facts {
            name: "device".into(),
            driver: "the simulator".into(),
            units,
            max_group: 1024,
            local_memory: if facts.local_memory > 0 { facts.local_memory } else { 1 << 16 },
            max_alloc: 1 << 40,
            memory: 1 << 42,
            clock_mhz: if facts.clock_mhz > 0 { facts.clock_mhz } else { 1500 },
            ..facts
        };
        Resourceful { platform, facts, traits: Traits::default() }
    }

    fn number(&self, field: &str) -> i64 {
        self.platform["resources"][field].as_i64().unwrap_or_else(|| panic!("{field}"))
    }

    /// What a launch uses: of a warp, of a group or of the launch.
    fn usage(&self, run: &CalibrationRun) -> Value {
        let n = i64::from(run.iterations) * i64::try_from(run.work.operations()).unwrap();
        let moved = |n: i64| n * run.group as i64 * 4 * self.facts.vector as i64;
        let requests = |passes: i64, lines: i64| {
            let [passes, lines] = [n * passes, n * lines];
            json!({ "global_requests": n, "global_wavefronts": passes, "global_lines": lines })
        };
        let local = |passes: i64| json!({ "local_requests": n, "local_wavefronts": n * passes });
        match run.work {
            Work::Reals => json!({ "real": n }),
            Work::Integers => json!({ "integer": n }),
            Work::Mixed => json!({ "real": n / 2, "integer": n / 2 }),
            Work::Specials => json!({ "special": n, "real": n }),
            Work::LoadNear { apart: 1 } => requests(1, 1),
            Work::LoadNear { apart } => {
                let banks = if self.traits.banks_in_l1 { self.number("banks") } else { 1 };
                requests(1 << apart.trailing_zeros().min(banks.ilog2()), 32)
            }
            Work::LoadLocal => local(1),
            Work::LoadBanks { apart } => local((apart as i64).min(self.number("banks"))),
            Work::Sweep { bytes, apart } => {
                let near = apart.min(bytes - apart) < 1 << 16 && self.traits.merges;
                let moved = moved(n) / if near { 2 } else { 1 };
                let all = moved * run.groups as i64 / if self.traits.remembers { 2 } else { 1 };
                json!({ "l2_bytes": moved, "dram_bytes": self.behind(bytes as i64, all) })
            }
            Work::Stream { bytes } => {
                let behind = self.behind(bytes as i64, 32 * run.items() as i64);
                json!({ "l2_bytes": 32 * run.group, "dram_bytes": behind })
            }
            Work::Chase { bytes } => self.chase(bytes as i64, n),
            // Groups that a unit has no room for wait for a round of others.
            Work::Hold { local } => {
                let unit = self.platform["local_memory"].as_u64();
                let unit = unit.unwrap_or(self.facts.local_memory) as usize;
                let groups = run.groups.div_ceil(self.facts.units as usize);
                let rounds = groups.div_ceil(unit / local) as i64;
                let slower = if self.traits.crowds { n * (groups as i64 - 1) / 2 } else { 0 };
                json!({ "barriers": n * rounds + slower })
            }
            Work::ChaseLocal => json!({ "local_steps": n }),
            Work::Barriers => json!({ "barriers": 8 * run.iterations }),
            Work::OneBarrier => json!({ "barriers": run.iterations }),
            // Four clocks each.
            Work::Chain if !self.facts.processor => {
                json!({ "integer": n * 4 * self.number("integer_lanes") / 32 })
            }
            // A clock each.
            Work::Clock => json!({ "barriers": n }),
            Work::AtomicShared => json!({ "shared_atomics": n * run.items() as i64 }),
            Work::Start | Work::Fill { .. } => json!({ "local_bytes": 4 }),
            _ => json!({ "integer": n }),
        }
    }

    /// What of `all` bytes, read again and again from a footprint, L2 does not have.
    fn behind(&self, footprint: i64, all: i64) -> i64 {
        let l2 = self.number("l2_size");
        match (footprint <= l2, self.traits.shares && footprint < 4 * l2) {
            (true, _) => 0,
            (false, true) => (all as f64 * (1.0 - l2 as f64 / footprint as f64)) as i64,
            (false, false) => all,
        }
    }

    /// Loads that wait for each other, by one item.
    fn chase(&self, bytes: i64, n: i64) -> Value {
        let held = |size: i64| match (self.traits.shares && bytes < 2 * size, bytes <= size) {
            (_, true) => n,
            (true, false) => (n as f64 * size as f64 / bytes as f64).round() as i64,
            (false, false) => 0,
        };
        let near = held(self.number("l1_size"));
        let behind = n - held(self.number("l2_size") / self.traits.partitions.max(1)).max(near);
        let [moved, behind] = [n - near, behind].map(|n| n * 64);
        let mut usage = json!({ "near_steps": near, "far_steps": n - near });
        (usage["l2_bytes"], usage["beyond_l2_bytes"]) = (json!(moved), json!(behind));
        usage
    }

    fn calibrate(&mut self) -> Calibration {
        self.calibrate_over(short().footprint)
    }

    fn calibrate_over(&mut self, footprint: usize) -> Calibration {
        let (facts, never) = (self.facts.clone(), AtomicBool::new(false));
        let options = CalibrateOptions { footprint, ..short() };
        calibrate(self, &facts, &options, &never, &mut |_| {}).unwrap()
    }
}

impl Runner for Resourceful {
    fn most_items(&mut self, _: Work) -> Result<usize, CalibrateError> {
        Ok(self.facts.max_group)
    }

    fn run(&mut self, run: &CalibrationRun) -> Result<RunTimes, CalibrateError> {
        // The start of groups overlaps with their work, and is not in the model.
        let mut platform = self.platform.clone();
        let start = platform["resources"].as_object_mut().unwrap().remove("group_picoseconds");
        let start = start.map_or(0.0, |start| start.as_f64().unwrap() * 1e-12 * run.groups as f64);
        let launch = self.number("launch_nanoseconds") as f64 * 1e-9;
        let problem = json!({
            "profile": "resources", "without": ["mixing"], "platform": platform,
            "usage": self.usage(run),
            "launch": { "global_size": run.items(), "local_size": run.group }, "kernel": []
        });
        let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
        let space = problem.space().unwrap();
        let ticks =
            simulate(&problem, &space.bound[0], &tickbound_simulator::SimulateOptions::default())
                .unwrap()
                .time;
        let busy = ticks as f64 / (self.platform["clock_mhz"].as_f64().unwrap() * 1e6);
        let busy = busy.max(launch + start);
        Ok(RunTimes { busy, queued: busy })
    }

    fn verify(&mut self, _: &CalibrationRun) -> Result<(), CalibrateError> {
        Ok(())
    }
}

#[test]
fn the_profile_resources_calibrated_gives_its_platform_back() {
    for mut device in [graphics(), hopper(), processor()] {
        let found = device.calibrate();
        if let Some(local_memory) = device.platform["local_memory"].as_i64() {
            assert_eq!(value(&found, "local_memory"), local_memory);
        }
        let mut numbers: IndexMap<&str, i64> =
            found.resources.iter().map(|n| (n.field, n.value)).collect();
        if device.facts.processor {
            // Each unit has its own.
            assert_eq!(numbers.insert("l2_size", 262_144), Some(2 * 262_144));
        }
        for (field, expected) in device.platform["resources"].as_object().unwrap() {
            assert_eq!(
                numbers.get(field.as_str()).copied(),
                expected.as_i64(),
                "{field}: {}",
                device.platform
            );
        }
        assert_eq!(numbers.len(), device.platform["resources"].as_object().unwrap().len());
        assert_eq!(value(&found, "clock_mhz"), device.platform["clock_mhz"].as_i64().unwrap());
        check(&found.platform("mine", "2026-01-01"));
    }
}

#[test]
fn the_greatest_clock_is_no_less_than_any_that_is_known() {
    let mut device = graphics();
    // Less than what the device runs at.
    device.facts.clock_mhz = 1000;
    let mut found = device.calibrate();
    let (value, how) = resource(&found, "greatest_mhz");
    assert_eq!(value, 1500, "{how}");
    let like = |name: &str| Platform::from_json(name, &platforms::find(name).unwrap()).unwrap();
    found.like(&like("a100"));
    assert_eq!(resource(&found, "greatest_mhz").0, 1500);
    found.like(&like("h200"));
    assert_eq!(resource(&found, "greatest_mhz").0, 1980);
}

/// A number of the profile `resources` and how it was measured.
fn resource(found: &Calibration, field: &str) -> (i64, String) {
    let number = found.resources.iter().find(|n| n.field == field);
    number.map(|n| (n.value, n.how.clone())).unwrap_or_else(|| panic!("{field}"))
}

#[test]
fn memory_is_no_faster_than_one_pass_over_it() {
    let mut device = hopper();
    device.traits.remembers = true;
    let (value, how) = resource(&device.calibrate(), "dram_megabytes_per_second");
    assert_eq!((value, how.as_str()), (262_144, "a launch that reads 256 MiB once"));
}

#[test]
fn memory_is_measured_over_four_times_the_caches_that_are_found() {
    let mut device = graphics();
    device.platform["resources"]["l2_size"] = json!(1 << 19);
    let found = device.calibrate();
    assert_eq!(resource(&found, "l2_size").0, 1 << 19);
    assert!(found.asides.iter().any(|a| a.what == "reading global memory, 2 MiB"));
    // Whatever the device says, a processor's buffer is not much larger than the least.
    let mut device = processor();
    device.facts.cache = 1 << 30;
    let found = device.calibrate();
    assert!(found.asides.iter().any(|a| a.what == "reading global memory, 4 MiB"));
    assert!(found.notes.iter().any(|n| n.starts_with("A cache of 1024 MiB")), "{:?}", found.notes);
}

#[test]
fn the_source_of_the_size_of_l2_says_who_states_it() {
    let (_, how) = resource(&hopper().calibrate(), "l2_size");
    let says = "the device says so: cache of global memory; loads of one unit that wait for each \
                other show 24 MiB, its partition";
    assert!(how.starts_with(says), "{how}");
    // Without a statement, and with one of less, what is seen counts: 25 MiB, but for 25/32 of
    // 16 loads, which are no whole number.
    for cache in [0, 1 << 20] {
        let mut device = hopper();
        device.facts.cache = cache;
        let (value, how) = resource(&device.calibrate_over(128 << 20), "l2_size");
        assert!(how.starts_with("interpolated between latencies"), "{value}: {how}");
        assert_eq!(value >> 20, 24, "{value}");
    }
}

#[test]
fn a_unit_whose_groups_are_not_clearly_side_by_side_has_the_limit_of_a_group() {
    let h200 = Platform::from_json("h200", &platforms::find("h200").unwrap()).unwrap();
    let mut device = hopper();
    device.traits.crowds = true;
    let mut found = device.calibrate();
    assert_eq!(value(&found, "local_memory"), 49_152);
    let limit = |found: &Calibration| {
        let file = found.platform("mine", "2026-01-01");
        file["notes"].as_str().unwrap().contains("local_memory is the limit of a group")
    };
    assert!(limit(&found));
    found.like(&h200);
    assert_eq!(value(&found, "local_memory"), 233_472);
    assert!(!limit(&found));
    // What is clear stays, and a processor's is in its caches.
    let mut found = hopper().calibrate();
    assert!(!limit(&found));
    found.like(&h200);
    assert_eq!(value(&found, "local_memory"), 232_960);
    let mut found = processor().calibrate();
    assert!(!limit(&found));
    found.like(&h200);
    assert_eq!(value(&found, "local_memory"), 1 << 16);
}

#[test]
fn the_shipped_platform_of_a_device_is_beside_what_was_found() {
    let words = tickbound_report::calibrated::words(&hopper().calibrate());
    let row = |field: &str| {
        let mut rows = words.lines().map(|line| Vec::from_iter(line.split_whitespace()));
        rows.find(|row| row.first() == Some(&field)).unwrap_or_else(|| panic!("{field}: {words}"))
    };
    assert_eq!(row("number")[1..3], ["value", "h200"]);
    assert_eq!(row("l1_size")[1..4], ["147456", "28672", "bytes"]);
    assert_eq!(row("l2_size")[1..4], ["52428800", "52428800", "bytes"]);
    // 4 clocks at 1980 MHz.
    assert_eq!(row("compute_op")[2..4], ["202", "ticks"]);
    // The shipped file has no such number.
    assert_eq!(row("barrier")[2..4], ["-", "ticks"]);
    let warning = words.lines().find(|line| line.starts_with("Warning: ")).unwrap();
    let begins = "Warning: more than 25 % from the shipped platform h200: units_per_device 4, \
                  shipped 132; ";
    assert!(warning.starts_with(begins), "{warning}");
    assert!(warning.contains("; l1_size 147456, shipped 28672; "), "{warning}");
    // Less than a quarter, and prices.
    assert!(!warning.contains("local_memory") && !warning.contains("_access"), "{warning}");
    let words = tickbound_report::calibrated::words(&graphics().calibrate());
    assert!(!words.contains("Warning") && !words.contains("h200"), "{words}");
}

#[test]
fn what_is_not_measured_is_taken_from_another_platform() {
    let h100 = Platform::from_json("h100", &platforms::find("h100").unwrap()).unwrap();
    let mut found = graphics().calibrate();
    let file = found.platform("mine", "2026-01-01");
    let notes = file["notes"].as_str().unwrap();
    let missing = "Not measured, so without a limit under the profile resources: schedulers, \
                   registers_per_item, groups_per_unit, warps_per_unit; --like PLATFORM";
    assert!(notes.contains(missing), "{notes}");
    found.like(&h100);
    let file = found.platform("mine", "2026-01-01");
    assert!(!file["notes"].as_str().unwrap().contains("Not measured"));
    let resources = &file["resources"];
    assert_eq!(
        (&resources["schedulers"]["value"], &resources["warps_per_unit"]["value"]),
        (&json!(4), &json!(64))
    );
    let source = resources["schedulers"]["source"].as_str().unwrap();
    assert!(source.starts_with("not measured, taken from h100: "), "{source}");
    // What was measured stays.
    assert_eq!(resources["real_lanes"]["value"], 64);
    let platform = check(&file);
    assert_eq!(platform.resources().registers_per_item, h100.resources().registers_per_item);
    // Without a clock there is nothing to add to.
    let mut found = Model::new(numbers(2, 8)).calibrate(&short()).unwrap();
    found.like(&h100);
    assert!(found.resources.is_empty());
}

// A device.

/// The best device; says so if there is none.
fn best() -> Option<tickbound_device::Device> {
    let listing = tickbound_device::list();
    match listing.absent() {
        Some(why) if std::env::var_os("CI").is_none() => eprintln!("skipped: {why}"),
        Some(why) => panic!("{why}"),
        None => {}
    }
    listing.devices.into_iter().next()
}

#[test]
fn a_device_computes_what_the_host_does() {
    let Some(device) = best() else { return };
    let session = Session::open(&device).unwrap();
    let mut runner = OpenCl::new(&session).unwrap();
    let bytes = 1 << 20;
    let ones = [
        Work::Chase { bytes: 4 << 10 },
        Work::Chase { bytes },
        Work::ChaseLocal,
        Work::ChaseConstant,
        Work::Clock,
    ];
    // Another order than calibration's: nothing may depend on what ran before.
    for iterations in [3, 100, 1] {
        for work in [Work::Fill { bytes }, ones[1], ones[2], ones[0], ones[3], ones[4], ones[1]] {
            let run = CalibrationRun::new(work, 1, 1).iterations(iterations);
            runner.verify(&run).unwrap_or_else(|e| panic!("{run:?}: {e}"));
            assert!(runner.run(&run).unwrap().busy >= 0.0);
            runner.run(&run).unwrap();
        }
        for (groups, group) in [(1, 1), (3, 7), (16, 64), (5, 48)] {
            for work in [
                Work::Chain,
                Work::Hold { local: 4096 },
                Work::OneBarrier,
                Work::Barriers,
                Work::Stream { bytes },
                Work::LoadLocal,
                Work::LoadConstant,
                Work::Atomic,
                Work::AtomicShared,
                Work::LocalAtomic,
                Work::LocalAtomicShared,
                Work::Reals,
                Work::Integers,
                Work::Mixed,
                Work::Specials,
                Work::LoadNear { apart: 1 },
                Work::LoadNear { apart: 33 },
                Work::LoadBanks { apart: 1 },
                Work::LoadBanks { apart: 32 },
                Work::Sweep { bytes: 1 << 16, apart: 0 },
                Work::Sweep { bytes, apart: 9 << 12 },
                Work::Start,
            ] {
                let run = CalibrationRun::new(work, groups, group).iterations(iterations);
                let group = run.group.min(runner.most_items(work).unwrap());
                let run = CalibrationRun { group, ..run };
                runner.run(&run).unwrap();
                runner.verify(&run).unwrap_or_else(|e| panic!("{run:?}: {e}"));
            }
        }
    }
}

#[test]
fn launches_that_would_leave_their_buffers_are_refused() {
    let Some(device) = best() else { return };
    let session = Session::open(&device).unwrap();
    let mut runner = OpenCl::new(&session).unwrap();
    for run in [
        CalibrationRun::new(Work::Stream { bytes: 1 << 16 }, 33, 64),
        CalibrationRun::new(Work::ChaseLocal, 1, 2),
        CalibrationRun::new(Work::Chain, 0, 1),
        CalibrationRun::new(Work::Chain, usize::MAX, 2),
        CalibrationRun::new(Work::Chase { bytes: 0 }, 1, 1),
        CalibrationRun::new(Work::Sweep { bytes: 3 << 12, apart: 4096 }, 1, 1),
        CalibrationRun::new(Work::Sweep { bytes: 1 << 10, apart: 4096 }, 1, 1),
        CalibrationRun::new(Work::LoadBanks { apart: 0 }, 1, 1),
        CalibrationRun::new(Work::LoadNear { apart: 0 }, 1, 1),
        CalibrationRun::new(Work::LoadNear { apart: 34 }, 1, 1),
        CalibrationRun::new(Work::Hold { local: 252 }, 1, 64),
        CalibrationRun::new(Work::Chase { bytes: 1 << 40 }, 1, 1),
    ] {
        assert!(matches!(runner.run(&run), Err(CalibrateError::Refused { .. })), "{run:?}");
        assert!(matches!(runner.verify(&run), Err(CalibrateError::Refused { .. })), "{run:?}");
    }
}

// The command.

fn command(folder: &Path, arguments: &[&str]) -> Process {
    let mut command = Process::new(cargo_bin("tickbound"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Reads the file as tune does, and validates it.
fn check(file: &Value) -> Platform {
    let mut schema: Value =
        serde_json::from_str(include_str!("../docs/reference/problem.schema.json")).unwrap();
    let defs = schema["$defs"].take();
    let reference = json!({ "$ref": "#/$defs/platform" });
    let schema = json!({ "$schema": schema["$schema"], "$defs": defs, "allOf": [reference] });
    let validator = jsonschema::validator_for(&schema).unwrap();
    let complaints: Vec<String> = validator.iter_errors(file).map(|e| e.to_string()).collect();
    assert_eq!(complaints, [""; 0]);
    Platform::from_json("platform", file).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_file_is_a_platform_that_can_be_tuned_for() {
    let Some(device) = best() else { return };
    let folder = TempDir::new().unwrap();
    let arguments = [
        "calibrate",
        "--quick",
        "--name",
        "mine",
        "--like",
        "pocl-xeon",
        "-o",
        "mine.json",
        "--json",
    ];
    let said = command(folder.path(), &arguments).output().unwrap();
    assert!(said.status.success(), "{}", text(&said.stderr));
    let written = std::fs::read_to_string(folder.path().join("mine.json")).unwrap();
    assert_eq!(text(&said.stdout), written);
    let file: Value = serde_json::from_str(&written).unwrap();
    let platform = check(&file);
    assert_eq!((platform.name.as_str(), &file["tick"]), ("mine", &json!("0.01 ns")));
    // Not measured: that it is one device.
    for (number, value) in platform.numbers().filter(|(number, _)| *number != "devices") {
        let source = platform.source(number).unwrap_or_else(|| panic!("{number} has no source"));
        let taken = ["a processor ", "not measured, taken from pocl-xeon: "];
        let known =
            source.contains(&device.name) || taken.iter().any(|taken| source.starts_with(taken));
        assert!(known, "{number}: {source}");
        assert!(file[number]["unit"].is_string() || file["resources"][number]["unit"].is_string());
        assert!(value >= 0);
    }
    for number in ["real_lanes", "l1_latency", "dram_megabytes_per_second", "registers_per_item"] {
        assert!(file["resources"][number]["value"].as_i64().unwrap() > 0, "{number}");
    }
    // What takes time on every device.
    for number in ["global_access", "compute_op", "global_latency"] {
        assert!(file[number]["value"].as_i64().unwrap() > 0, "{number}");
    }
    let problem =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/problems/reduction-h200.json");
    let problem = problem.to_str().unwrap();
    let tuned = command(folder.path(), &["tune", problem, "--platform", "mine.json", "--json"]);
    let tuned = { tuned }.output().unwrap();
    assert!(tuned.status.success(), "{}", text(&tuned.stderr));
    let tuned: Value = serde_json::from_slice(&tuned.stdout).unwrap();
    assert!(tuned["configuration"].is_object(), "{tuned}");
    // By what a kernel uses of the device.
    let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels/transpose.json");
    let kernel = kernel.to_str().unwrap();
    let arguments = ["tune", kernel, "--platform", "mine.json", "--profile", "resources", "--json"];
    let tuned = command(folder.path(), &arguments).output().unwrap();
    assert!(tuned.status.success(), "{}", text(&tuned.stderr));
    let tuned: Value = serde_json::from_slice(&tuned.stdout).unwrap();
    assert!(tuned["time"].as_i64().unwrap() > 0, "{tuned}");
}

#[test]
fn a_table_for_people() {
    if best().is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let said = command(folder.path(), &["calibrate", "--quick", "-o", "mine"]).output().unwrap();
    let out = text(&said.stdout);
    assert!(said.status.success(), "{}", text(&said.stderr));
    for word in
        ["a tick is 0.01 ns", "elements_per_unit", "GB/s", "load after load, global, 16 KiB"]
    {
        assert!(out.contains(word), "{word}: {out}");
    }
    assert!(
        out.ends_with("written: mine; next: `tickbound tune PROBLEM --platform ./mine`\n"),
        "{out}"
    );
}

/// The only line on standard error.
fn line(output: &Output) -> String {
    let err = text(&output.stderr);
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(output.stdout.is_empty());
    err.trim_end().to_owned()
}

#[test]
fn wrong_arguments_give_one_line() {
    let folder = TempDir::new().unwrap();
    let table: [(&[&str], &str); 6] = [
        (&["--device", "gpu"], "tickbound: --device: `gpu` is no device; "),
        (&["--device", "cpu"], "tickbound: --device cpu: prices are measured through OpenCL; "),
        (&["-o", "missing/x.json"], "tickbound: missing/x.json: cannot be written: "),
        (&["--like", "h10"], "tickbound: --like: platform: no platform is called `h10`"),
        (&["--like", "fermi-2021"], "tickbound: --like: fermi-2021 has no `resources`, "),
        (&["-o", "."], "tickbound: .: cannot be written: this is a folder"),
    ];
    for (arguments, says) in table {
        let said = command(folder.path(), &[&["calibrate"], arguments].concat()).output().unwrap();
        assert_eq!(said.status.code(), Some(2), "{arguments:?}");
        assert!(line(&said).starts_with(says), "{}", line(&said));
    }
    if best().is_some() {
        let said =
            command(folder.path(), &["calibrate", "--device", "opencl:99"]).output().unwrap();
        assert!(line(&said).starts_with("tickbound: there is no OpenCL device 99; "));
    }
}

#[test]
fn without_a_driver_one_line_says_so() {
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), &["calibrate"]);
    let said = command.env("OCL_ICD_VENDORS", folder.path()).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(line(&said).starts_with("tickbound: no OpenCL device ("), "{}", line(&said));
}

#[cfg(unix)]
#[test]
fn ctrl_c_writes_nothing() {
    if best().is_none() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path(), &["calibrate", "-o", "x.json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let said = child.wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(1));
    assert_eq!(line(&said), "tickbound: interrupt; nothing was written");
    assert!(!folder.path().join("x.json").exists());
}
