//! Floors beside measured times: none is contradicted, and faults are found by the times.
//!
//! The times are those of `docs/results/floors.md`: whole sets, or the fastest configurations of
//! large ones. Sets that are not in the project are left out where `../shared` is absent.

use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin_cmd;
use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::{Value, json};
use tempfile::TempDir;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_measure::score::{FloorScore, Results, floor_score};
use tickbound_model::{Caches, Floor, LeastCount, LeastUsage, Platform, Problem, platforms};
use tickbound_opencl::{attach, least};

/// All configurations of a set.
const ALL: usize = usize::MAX;
/// The fastest ones of a large set.
const FEW: usize = 4;

/// Times of an example kernel on a device.
struct Set {
    problem: Problem,
    least: LeastUsage,
    platform: Value,
    results: Results,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Set {
    /// The fastest configurations of `times`; `None` where these or libclang are absent.
    fn read(
        (kernel, size): (&str, &str),
        platform: Value,
        times: &str,
        most: usize,
    ) -> Option<Set> {
        let path = root().join(times);
        if !path.exists() {
            eprintln!("skipped: no {times}");
            return None;
        }
        let folder = root().join("examples/kernels");
        let text = std::fs::read_to_string(folder.join(format!("{kernel}.json"))).unwrap();
        let mut file: Value = serde_json::from_str(&text).unwrap();
        file["profile"] = json!("resources");
        file["platform"] = platform.clone();
        let names: Vec<String> = file["parameters"].as_object().unwrap().keys().cloned().collect();
        let results = fastest(Results::read(&path).unwrap(), &names, most);
        if most != ALL {
            restrict(&mut file, &results);
        }
        let of = |inputs: &IndexMap<String, i64>| {
            Problem::from_value(&file, inputs, &platforms::find).unwrap()
        };
        let inputs = of(&IndexMap::new()).sizes[size].inputs.clone();
        let mut problem = of(&inputs);
        let reading = match attach(&mut problem, &folder) {
            Ok(reading) => reading.unwrap(),
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "{error}");
                eprintln!("skipped: {error}");
                return None;
            }
        };
        let problem = problem.kernel_alone();
        let least = least(&problem, &reading).unwrap();
        Some(Set { problem, least, platform, results })
    }

    /// The times beside floors by these counts and this platform.
    fn score(&self, least: &LeastUsage, platform: &Value) -> FloorScore {
        let mut problem = self.problem.clone();
        problem.platform = Platform::from_json("p", platform).unwrap();
        let floor = Floor::new(&problem, least, Caches::Unknown).unwrap();
        floor_score(&problem, &floor, &self.results).unwrap()
    }
}

/// Leaves only these configurations in the space: few are read fast.
fn restrict(file: &mut Value, results: &Results) {
    let equal = |entry: &IndexMap<String, i64>| {
        let mut values = entry.iter().map(|(name, value)| format!("{name} == {value}"));
        format!("({})", values.join(" and "))
    };
    if file["definitions"].is_null() {
        file["definitions"] = json!({});
    }
    // Expressions have at most 2,000 characters.
    let mut names = Vec::new();
    for (i, some) in results.entries.chunks(8).enumerate() {
        names.push(format!("some_{i}"));
        let own = some.iter().map(|(entry, _)| equal(entry)).join(" or ");
        file["definitions"][&names[i]] = json!(own);
    }
    let constraints = file["constraints"].as_array_mut().unwrap();
    constraints.insert(0, json!(names.join(" or ")));
}

/// The results with the fastest runs.
fn fastest(mut results: Results, names: &[String], most: usize) -> Results {
    results.only(&names.iter().map(String::as_str).collect_vec()).unwrap();
    let pairs = results.entries.into_iter().zip(results.fastest);
    let best = pairs.sorted_by(|a, b| a.1.total_cmp(&b.1)).take(most);
    (results.entries, results.fastest) = best.unzip();
    results
}

/// A fault that measured times contradict.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// A count, scaled to this percentage.
    Percent(LeastCount, i64),
    /// A count of each warp is greater by this.
    More(LeastCount, i64),
    /// A number of the platform has this value.
    Number(&'static str, i64),
}

use Fault::{More, Number, Percent};
use LeastCount::{Convert, GlobalRequests, LocalRequests, ReadBytes, Real, Special};

impl Fault {
    fn score(self, set: &Set) -> FloorScore {
        let (mut least, mut platform) = (set.least.clone(), set.platform.clone());
        match self {
            Percent(what, percent) => {
                let count = least.each.entry(what).or_default();
                let times = count.clone() * percent;
                *count = Expr::binary(BinaryOp::FloorDiv, times, Expr::Int(100));
            }
            More(what, more) => *least.each.entry(what).or_default() += Expr::Int(more),
            Number(name, value) => platform["resources"][name]["value"] = json!(value),
        }
        set.score(&least, &platform)
    }
}

/// Checks that no time is below its floor, and that each fault makes floors above times.
fn holds(kernel: (&str, &str), platform: &str, times: &str, most: usize, faults: &[Fault]) {
    let shipped = platforms::find(platform).unwrap();
    let times = format!("../shared/data/{times}");
    let Some(set) = Set::read(kernel, shipped, &times, most) else { return };
    let score = set.score(&set.least, &set.platform);
    println!("{kernel:?}, {platform}: {} times, least {}", score.compared, score.least_ratio);
    assert!(score.compared >= FEW, "{score:?}");
    assert!(score.violations.is_empty(), "{kernel:?}, {platform}: {score:?}");
    for fault in faults {
        let found = fault.score(&set).violations;
        println!("{kernel:?}, {platform}: {fault:?}: {found:?}");
        assert!(!found.is_empty(), "{kernel:?}, {platform}: {fault:?} is not found");
    }
}

/// Groups start every 605 ps.
#[test]
fn minimum() {
    let faults = [
        Number("least_group_picoseconds", 606),
        More(GlobalRequests, 64),
        More(LocalRequests, 64),
        More(Special, 64),
        Percent(ReadBytes, 400),
    ];
    holds(("minimum", "medium"), "h200", "h200/minimum-medium.cache.json.gz", ALL, &faults);
}

#[test]
fn reduction() {
    let faults = [
        Number("least_group_picoseconds", 612),
        More(GlobalRequests, 64),
        More(Real, 256),
        More(Convert, 256),
        Percent(ReadBytes, 400),
    ];
    holds(("reduction", "medium"), "h200", "h200/reduction-medium.cache.json.gz", ALL, &faults);
}

#[test]
fn bodies() {
    let faults = [
        Percent(Real, 150),
        Percent(Special, 400),
        Number("issue_rate", 2),
        Number("real_lanes", 64),
        Number("greatest_mhz", 990),
    ];
    holds(("nbody", "medium"), "h200", "h200/nbody-medium.cache.json.gz", ALL, &faults);
}

#[test]
fn coulomb() {
    let faults = [
        Percent(Special, 125),
        More(Special, 256),
        Number("special_lanes", 8),
        Number("issue_rate", 2),
    ];
    holds(("coulomb", "medium"), "h200", "h200/coulomb-medium.cache.json.gz", ALL, &faults);
}

#[test]
fn coulomb_by_columns() {
    let faults = [Percent(Special, 200), More(Special, 256), Number("special_lanes", 8)];
    let times = "coulomb3d/coulomb_2080_full_search_space.json.gz";
    holds(("coulomb-column", "published"), "rtx-2080-ti", times, ALL, &faults);
}

#[test]
fn convolution() {
    let faults =
        [Percent(LocalRequests, 150), Percent(GlobalRequests, 150), Number("load_store_lanes", 16)];
    let times = "h200/convolution-published.cache.json.gz";
    holds(("convolution", "published"), "h200", times, ALL, &faults);
}

#[test]
fn convolution_on_other_devices() {
    // The clock of the data sheet is not the greatest one.
    let faults = [
        Number("greatest_mhz", 1560),
        More(GlobalRequests, 32),
        Percent(LocalRequests, 125),
        Percent(GlobalRequests, 125),
        Number("load_store_lanes", 8),
    ];
    holds(("convolution", "published"), "rtx-a4000", "convolution/A4000.json.gz", ALL, &faults);
    let faults = [Percent(Real, 200), Number("real_lanes", 64)];
    holds(("convolution", "published"), "radeon-w6600", "convolution/W6600.json.gz", FEW, &faults);
}

#[test]
fn dedispersion() {
    let faults = [Percent(Convert, 400), Percent(GlobalRequests, 400)];
    let times = "dedispersion/W7800.json.gz";
    holds(("dedispersion", "published"), "radeon-w7800", times, FEW, &faults);
}

#[test]
fn matrix_multiplication() {
    let faults = [Percent(Real, 150), Number("issue_rate", 2), Number("real_lanes", 64)];
    holds(("gemm", "published"), "h200", "h200/gemm-published.cache.json.gz", FEW, &faults);
    // The clock of the data sheet is not the greatest one.
    let faults = [Number("greatest_mhz", 1545), Percent(Real, 150), Number("real_lanes", 32)];
    holds(("gemm", "large"), "rtx-2080-ti", "gemm_opencl/RTX_2080_Ti.json.gz", FEW, &faults);
    let faults = [Percent(Real, 200), Number("issue_rate", 2)];
    holds(("gemm", "large"), "rtx-3090", "gemm_opencl/RTX_3090.json.gz", FEW, &faults);
}

/// A processor whose rates are above those of any with AVX-512 that is known here: two
/// multiply-adds and two additions of 16 numbers a clock, three loads and two stores, roots and
/// reciprocals of 32. An item is a warp, so that nothing is taken to be alike in several.
fn processor(name: &str, units: u32) -> Value {
    json!({
        "name": name, "units_per_device": units, "elements_per_unit": 16, "global_access": 1,
        "resources": {
            "warp_width": 1, "schedulers": 1, "issue_rate": 128, "real_lanes": 64,
            "special_lanes": 32, "load_store_lanes": 96, "l1_bytes_per_clock": 256,
            "local_bytes_per_clock": 256, "l2_port_bytes": 192, "greatest_mhz": MHZ,
            "dependent_clocks": 2, "line_bytes": 64, "banks": 1, "loads_unaligned": 1
        }
    })
}

/// More than processors reach.
const MHZ: i64 = 5000;

/// The times of PoCL in docs/results, on two processors each of an Intel Xeon and an AMD EPYC.
/// Rates of one number at a time are a fault: this driver makes vectors of several items.
#[test]
fn processors() {
    let mut one_at_a_time = platforms::find("pocl-xeon").unwrap();
    one_at_a_time["resources"]["greatest_mhz"] = json!(MHZ);
    for (kernel, faulty) in [
        ("minimum", false),
        ("reduction", false),
        ("transpose", false),
        ("gemm", true),
        ("convolution", false),
        ("nbody", false),
        ("coulomb", false),
        ("stencil", true),
    ] {
        for folder in ["docs/results/kernels", "docs/results/epyc/kernels"] {
            let times = format!("{folder}/{kernel}.T4.json.gz");
            let read = |platform| Set::read((kernel, "small"), platform, &times, FEW);
            let Some(set) = read(processor("processor", 2)) else { return };
            let score = set.score(&set.least, &set.platform);
            println!("{times}: least {}", score.least_ratio);
            assert!(score.violations.is_empty(), "{times}: {score:?}");
            if faulty {
                let Some(set) = read(one_at_a_time.clone()) else { return };
                let found = set.score(&set.least, &set.platform).violations;
                assert!(!found.is_empty(), "{times}: rates of one number are not found");
            }
        }
    }
}

/// What is measured here and now is not below its floor either.
#[test]
fn measured_on_processors() {
    let listing = tickbound_device::list();
    let device = listing.devices.first().filter(|device| device.name.starts_with("pthread"));
    let Some(device) = device else {
        eprintln!("skipped: the first device is not PoCL's");
        return;
    };
    let folder = TempDir::new().unwrap();
    let platform = folder.path().join("platform.json");
    std::fs::write(&platform, processor(&device.name, device.units).to_string()).unwrap();
    for kernel in ["nbody", "coulomb", "stencil"] {
        let mut program = cargo_bin_cmd!("tickbound");
        program.arg("measure").arg(root().join(format!("examples/kernels/{kernel}.json")));
        program.args(["--size", "small", "--json", "--sample", "3", "--seed", "5"]);
        program.arg("--cache").arg(folder.path().join(kernel)).arg("--platform").arg(&platform);
        let output = program.timeout(Duration::from_secs(600)).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        let result: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{kernel}: {e}: {error}"));
        let floor = &result["floor"];
        println!("{kernel}: {floor}");
        assert!(result["measured"].as_i64().is_some_and(|n| n > 0), "{kernel}: {result}");
        assert!(floor["seconds"].as_f64().is_some_and(|s| s > 0.0), "{kernel}: {floor}");
        assert_eq!(floor["contradicted"], json!({}), "{kernel}: {floor}");
    }
}
