//! `tickbound why`: every number that it claims, against the simulator run on every configuration
//! of the changed problem.

use std::cell::RefCell;
use std::path::PathBuf;

use assert_cmd::cargo::cargo_bin_cmd;
use indexmap::IndexMap;
use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use tickbound_model::{Problem, Profile, platforms};
use tickbound_simulator::{SimulateOptions, simulate};

use crate::common;

type Values = IndexMap<String, i64>;

/// Runs `tickbound why`: what it prints, what it complains about, and its exit status.
fn why(arguments: &[&str], input: &str) -> (String, String, i32) {
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("why").args(arguments);
    let output = command.write_stdin(input).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code().unwrap_or(-1))
}

fn answer(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "one object on one line: {text}");
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn shipped(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/problems").join(name);
    std::fs::read_to_string(path).expect("an example")
}

fn read(value: &Value) -> Problem {
    Problem::from_value(value, &IndexMap::new(), &platforms::find).expect("a problem")
}

fn named(problem: &Problem, values: &[i64]) -> Values {
    problem.parameters.iter().map(|p| p.name.clone()).zip(values.iter().copied()).collect()
}

/// Every configuration with its time; nothing where the problem has none.
fn all(problem: &Problem) -> Result<Vec<(Values, i64)>, String> {
    let space = problem.space().map_err(|e| e.to_string())?;
    let run = |bound: &_| match simulate(problem, bound, &SimulateOptions::default()) {
        Ok(run) => Ok((named(problem, &bound.configuration.0), run.time)),
        Err(e) => Err(e.to_string()),
    };
    space.bound.iter().map(run).collect()
}

/// The least time of every configuration run; `None` where none is valid.
fn least(problem: &Problem) -> Result<Option<i64>, String> {
    Ok(all(problem)?.into_iter().map(|(_, time)| time).min())
}

fn without(problem: &Problem, out: impl Fn(usize, &str) -> bool) -> Problem {
    let mut changed = problem.clone();
    let mut place = 0;
    changed.constraints.retain(|constraint| {
        place += 1;
        !out(place - 1, &constraint.text)
    });
    changed
}

fn with(problem: &Problem, name: &str, value: i64) -> Problem {
    let mut changed = problem.clone();
    changed.platform.set(name, value).expect("a number of the platform").expect("a value for it");
    changed
}

/// How often claims were made that are worth a check.
#[derive(Debug, Default)]
struct Seen {
    problems: usize,
    infeasible: usize,
    faster_without_one: usize,
    faster_without_several: usize,
    nothing_faster: usize,
    refused: usize,
    numbers_that_move: usize,
    numbers_that_do_not: usize,
    shares: usize,
}

/// What is found on a changed problem is what all its configurations come to.
fn check_finding(what: &str, found: &Value, changed: &Problem, base: Option<i64>) -> bool {
    let truth = least(changed);
    match found["status"].as_str() {
        Some("optimal" | "follows") => {
            let time = found["time"].as_i64();
            assert_eq!(truth, Ok(time), "{what}");
            assert_eq!(found["lower"].as_i64(), time, "{what}");
            assert_eq!(found["saves"].as_i64(), base.zip(time).map(|(a, b)| a - b), "{what}");
            let at: Values = serde_json::from_value(found["configuration"].clone()).expect(what);
            let bound = changed.bind(&at).unwrap_or_else(|e| panic!("{what}: {e}"));
            let run = simulate(changed, &bound, &SimulateOptions::default()).expect("a time");
            assert_eq!(Some(run.time), time, "{what}");
            true
        }
        Some("infeasible") => {
            assert_eq!(truth, Ok(None), "{what}");
            true
        }
        Some("refused") => {
            assert!(truth.is_err(), "{what}: {truth:?}");
            assert!(found["because"].is_string(), "{what}");
            false
        }
        other => panic!("{what}: {other:?}, though nothing was in the way"),
    }
}

fn check_constraints(problem: &Problem, answer: &Value, seen: &mut Seen) {
    let base = answer["time"].as_i64();
    let found = &answer["constraints"];
    let each = found["each"].as_array().expect("a list");
    assert_eq!(each.len(), problem.constraints.len());
    if each.is_empty() {
        assert_eq!((&found["all"], &found["together"]), (&Value::Null, &Value::Null));
        return;
    }
    let faster = |found: &Value| found["time"].as_i64().is_some_and(|t| base.is_none_or(|b| t < b));
    let mut known = check_finding("all", &found["all"], &without(problem, |_, _| true), base);
    for (place, one) in each.iter().enumerate() {
        assert_eq!(one["constraint"], problem.constraints[place].text);
        known &= check_finding("one", &one["found"], &without(problem, |i, _| i == place), base);
    }
    seen.refused += usize::from(!known);
    let alone = each.iter().any(|one| faster(&one["found"]));
    seen.faster_without_one += usize::from(alone);
    seen.nothing_faster += usize::from(known && !faster(&found["all"]));
    if !known || alone || !faster(&found["all"]) {
        assert!(!known || found["together"].is_null(), "{found}");
        return;
    }
    seen.faster_without_several += 1;
    let together = &found["together"];
    assert_eq!(together["smallest"], true);
    let out: Vec<&str> =
        together["constraints"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert!(out.len() > 1, "{together}");
    // Texts may be equal; then all of that text are meant.
    if problem.constraints.iter().filter(|c| out.contains(&c.text.as_str())).count() != out.len() {
        return;
    }
    check_finding("together", &together["found"], &without(problem, |_, c| out.contains(&c)), base);
    for back in &out {
        let fewer = without(problem, |_, c| c != *back && out.contains(&c));
        assert_eq!(least(&fewer), Ok(base), "{back} is needed");
    }
}

/// Prices and numbers that any kernel may use.
const PRICES: [&str; 11] = [
    "global_access",
    "local_access",
    "constant_access",
    "compute_op",
    "atomic_access",
    "local_atomic_access",
    "shared_atomic_access",
    "shared_local_atomic_access",
    "barrier",
    "group_start",
    "kernel_launch",
];
const UNITS: [&str; 3] = ["devices", "units_per_device", "elements_per_unit"];

fn check_numbers(problem: &Problem, answer: &Value, seen: &mut Seen) {
    let base = answer["time"].as_i64();
    let numbers: IndexMap<&str, i64> = problem.platform.numbers().collect();
    let asked = answer["platform"].as_array().expect("a list");
    for number in asked {
        let (name, to) = (number["name"].as_str().unwrap(), number["to"].as_i64().unwrap());
        assert_eq!(number["from"], numbers[name]);
        assert_eq!((to - numbers[name]).abs(), 1, "{number}");
        assert_eq!(
            to < numbers[name],
            PRICES.contains(&name)
                || name.contains("latency")
                || name.ends_with("issue")
                || name == "read_only_percent"
                || name == "launch_nanoseconds"
                || name == "shared_atomic_clocks"
        );
        if check_finding(name, &number["found"], &with(problem, name, to), base) {
            match number["found"]["saves"].as_i64() {
                Some(0) => seen.numbers_that_do_not += 1,
                _ => seen.numbers_that_move += 1,
            }
        } else {
            seen.refused += 1;
        }
    }
    // What is not asked about moves nothing.
    let unasked = |name: &&&str| !asked.iter().any(|number| number["name"] == **name);
    for name in PRICES.iter().filter(unasked).filter(|name| numbers[**name] > 0) {
        assert_eq!(least(&with(problem, name, numbers[name] - 1)), Ok(base), "{name}");
    }
    for name in UNITS.iter().filter(unasked) {
        assert_eq!(least(&with(problem, name, numbers[name] + 1)), Ok(base), "{name}");
    }
}

/// The program, as it is written, without statements of a kind or of a name.
fn trimmed(program: &Value, out: &dyn Fn(&str, &str) -> bool) -> Value {
    let mut kept = Vec::new();
    for stmt in program.as_array().expect("a program") {
        let mut stmt = stmt.clone();
        let kind = match stmt.as_str() {
            Some(word) => word.to_owned(),
            None => stmt
                .as_object()
                .unwrap()
                .keys()
                .find(|k| *k != "name" && !["body", "then", "else"].contains(&k.as_str()))
                .unwrap()
                .clone(),
        };
        let name = stmt.get("name").and_then(Value::as_str).unwrap_or(&kind).to_owned();
        if !["mark", "repeat", "if"].contains(&kind.as_str()) && out(&kind, &name) {
            continue;
        }
        for inner in ["body", "then", "else"] {
            if let Some(program) = stmt.get(inner) {
                stmt[inner] = trimmed(program, out);
            }
        }
        kept.push(stmt);
    }
    Value::Array(kept)
}

/// What the best configuration takes without something, from the written problem changed.
fn check_shares(written: &Value, problem: &Problem, answer: &Value, seen: &mut Seen) {
    let at: Values = serde_json::from_value(answer["configuration"].clone()).expect("values");
    let base = answer["time"].as_i64().expect("a time");
    let run = |changed: &Problem| {
        let bound = problem.bind(&at).expect("a configuration");
        simulate(changed, &bound, &SimulateOptions::default()).expect("a time").time
    };
    let check = |share: &Value, time: i64| {
        assert_eq!(share["time"], time, "{share}");
        assert_eq!(share["saves"], base - time, "{share}");
        let percent = share["percent"].as_f64();
        let truth = (base > 0).then(|| 100.0 * (base - time) as f64 / base as f64);
        assert_eq!(percent.is_some(), truth.is_some());
        assert!(percent.zip(truth).is_none_or(|(a, b)| (a - b).abs() < 0.0051), "{share}");
    };
    let without = |out: &dyn Fn(&str, &str) -> bool| {
        let mut changed = written.clone();
        for program in ["kernel", "finish"] {
            if let Some(of) = written.get(program) {
                changed[program] = trimmed(of, out);
            }
        }
        run(&read(&changed))
    };
    for share in answer["spent"]["parts"].as_array().unwrap() {
        seen.shares += 1;
        match share["name"].as_str().unwrap() {
            "group start" => check(share, run(&with(problem, "group_start", 0))),
            "kernel launch" => check(share, run(&with(problem, "kernel_launch", 0))),
            kind => check(share, without(&|k, _| k == kind)),
        }
    }
    for share in answer["spent"]["steps"].as_array().unwrap() {
        check(share, without(&|_, name| share["name"] == name));
    }
}

/// The same for parts of the profile `resources`, each left out in the written problem.
fn check_parts(written: &Value, answer: &Value, seen: &mut Seen) {
    let at: Values = serde_json::from_value(answer["configuration"].clone()).expect("values");
    for share in answer["spent"]["parts"].as_array().unwrap() {
        let mut changed = written.clone();
        changed["without"] = json!([share["name"]]);
        let changed = read(&changed);
        let run =
            simulate(&changed, &changed.bind(&at).unwrap(), &SimulateOptions::default()).unwrap();
        assert_eq!(share["time"], run.time, "{share}");
        assert_eq!(share["saves"], answer["time"].as_i64().unwrap() - run.time, "{share}");
        seen.shares += 1;
    }
}

/// The optimum itself, what else reaches it, and what comes next.
fn check_optimum(problem: &Problem, answer: &Value) {
    let all = all(problem).expect("times");
    let best = all.iter().map(|(_, time)| *time).min();
    assert_eq!(answer["time"].as_i64(), best);
    let next = all.iter().map(|(_, time)| *time).filter(|time| Some(*time) != best).min();
    assert_eq!(answer["next"].as_i64(), next);
    let more = next.zip(best).map(|(next, best)| next - best);
    assert_eq!(answer["next_more"].as_i64(), more);
    let optima: Vec<&Values> =
        all.iter().filter(|(_, time)| Some(*time) == best).map(|(at, _)| at).collect();
    let mut ties = serde_json::Map::new();
    for parameter in &problem.parameters {
        let values = optima.iter().map(|at| at[&parameter.name]);
        let values: std::collections::BTreeSet<i64> = values.collect();
        if values.len() > 1 {
            ties.insert(parameter.name.clone(), json!(values));
        }
    }
    assert_eq!(answer["ties"], Value::Object(ties));
    for name in answer["indifferent"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let rest = |at: &Values| at.iter().filter(|(n, _)| *n != name).map(|(_, v)| *v).collect();
        let mut times: IndexMap<Vec<i64>, i64> = IndexMap::new();
        for (at, time) in &all {
            assert_eq!(*times.entry(rest(at)).or_insert(*time), *time, "{name} matters");
        }
    }
}

/// All that is said of a problem is so.
fn check(written: &Value, seen: &mut Seen) {
    let (text, errors, status) = why(&["-", "--json"], &written.to_string());
    let problem = read(written);
    if status == 2 {
        assert!(all(&problem).is_err(), "{errors}");
        return;
    }
    let answer = answer(&text);
    assert_eq!((&answer["not_known"], &answer["stopped_by"]), (&json!([]), &Value::Null), "{text}");
    seen.problems += 1;
    if answer["status"] == "infeasible" {
        assert_eq!(status, 1, "{errors}");
        assert_eq!(least(&problem), Ok(None));
        assert_eq!(answer["time"], Value::Null);
        seen.infeasible += 1;
        check_constraints(&problem, &answer, seen);
        return;
    }
    assert_eq!((status, answer["status"].as_str()), (0, Some("optimal")), "{errors}");
    check_optimum(&problem, &answer);
    check_constraints(&problem, &answer, seen);
    check_numbers(&problem, &answer, seen);
    match problem.profile {
        Profile::Resources => check_parts(written, &answer, seen),
        _ => check_shares(written, &problem, &answer, seen),
    }
}

#[test]
fn shipped_problems_against_all_configurations() {
    let mut seen = Seen::default();
    let names = [
        "minimum.json",
        "abstract.json",
        "fermi.json",
        "matmul.json",
        "minimum-opencl.json",
        "coulomb-resources.json",
    ];
    for name in names {
        check(&serde_json::from_str(&shipped(name)).expect("JSON"), &mut seen);
    }
    assert_eq!(seen.problems, names.len());
    assert!(seen.numbers_that_move > 20 && seen.numbers_that_do_not > 10, "{seen:?}");
}

/// A part of the space of a matrix multiplication, in which constraints stand in the way one by one
/// and together.
#[test]
fn resources_against_all_configurations() {
    let mut gemm: Value = serde_json::from_str(&shipped("gemm-resources.json")).expect("JSON");
    for name in ["MDIMA", "NDIMB", "MDIMC", "NDIMC"] {
        gemm["parameters"][name] = json!([8, 16]);
    }
    for (name, value) in [("KWI", 8), ("STRM", 1), ("STRN", 1), ("SA", 1), ("SB", 1), ("KWG", 32)] {
        gemm["parameters"][name] = json!([value]);
    }
    let mut seen = Seen::default();
    check(&gemm, &mut seen);
    gemm["constraints"] = json!(["VWM * VWN < 4 or MWG == 128", "MWG < 128", "VWM == 1"]);
    check(&gemm, &mut seen);
    assert_eq!(seen.problems, 2);
    assert!(seen.faster_without_several + seen.faster_without_one > 1, "{seen:?}");
}

/// Problems with constraints that matter.
fn problems() -> BoxedStrategy<Value> {
    let texts =
        ["WG >= 3", "WG < 4", "WG % 2 == 0", "A != B", "WG != 2 or A > 0", "WG > A", "WG + B > 5"];
    let constraints = prop::collection::vec(prop::sample::select(texts.to_vec()), 0..4);
    let problem = prop_oneof![2 => common::of_opencl(), 1 => common::of_published()];
    (problem, constraints)
        .prop_map(|(common::Written(mut problem), texts)| {
            let written = problem["constraints"].as_array_mut().expect("a list");
            written.extend(texts.iter().map(|text| json!(text)));
            problem
        })
        .boxed()
}

#[test]
fn random_problems_against_all_configurations() {
    let mut config = Config { cases: 120, failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(2026);
    }
    eprintln!("{:?}; PROPTEST_RNG_SEED sets another", config.rng_seed);
    let seen = RefCell::new(Seen::default());
    let run = TestRunner::new(config).run(&problems(), |problem| {
        check(&problem, &mut seen.borrow_mut());
        Ok(())
    });
    if let Err(e) = run {
        panic!("{e}");
    }
    let seen = seen.into_inner();
    eprintln!("{seen:?}");
    assert!(seen.problems > 40 && seen.infeasible > 0, "{seen:?}");
    assert!(seen.faster_without_one > 0 && seen.faster_without_several > 0, "{seen:?}");
    assert!(seen.nothing_faster > 0 && seen.shares > 100, "{seen:?}");
    assert!(seen.numbers_that_move > 50 && seen.numbers_that_do_not > 50, "{seen:?}");
}

/// No one of three constraints is in the way, two of them are, and the third has nothing to do with
/// it.
#[test]
fn constraints_that_stand_in_the_way_together() {
    let problem = |constraints: Value| {
        json!({ "name": "chosen", "parameters": { "A": "range(1, 9)" }, "constraints": constraints,
            "platform": { "units_per_device": 1, "elements_per_unit": 4, "global_access": 7 },
            "launch": { "global_size": 4, "local_size": 4 },
            "kernel": [{ "global": "A" }, { "work": 2 }] })
    };
    let of = |constraints: Value| {
        let (text, _, status) = why(&["-", "--json"], &problem(constraints).to_string());
        (answer(&text), status)
    };
    let (found, status) = of(json!(["A > 4", "A < 9", "A >= 5"]));
    assert_eq!((status, &found["time"]), (0, &json!(37)));
    let together = &found["constraints"]["together"];
    assert_eq!(together["constraints"], json!(["A > 4", "A >= 5"]));
    assert_eq!((&together["smallest"], &together["found"]["time"]), (&json!(true), &json!(9)));
    // One alone.
    let (found, _) = of(json!(["A > 4", "A < 9"]));
    let each = &found["constraints"]["each"];
    assert_eq!((&each[0]["found"]["saves"], &each[1]["found"]["saves"]), (&json!(28), &json!(0)));
    assert_eq!(found["constraints"]["together"], Value::Null);
    // Nothing is valid.
    let (found, status) = of(json!(["A > 4", "A < 3"]));
    assert_eq!((status, &found["status"]), (1, &json!("infeasible")));
    let each = &found["constraints"]["each"];
    assert_eq!((&each[0]["found"]["time"], &each[1]["found"]["time"]), (&json!(9), &json!(37)));
}

/// What is fixed with `--set` is asked about no more than a domain is.
#[test]
fn fixed_parameters_stay() {
    let (text, _, status) = why(&["examples/problems/fermi.json", "--set", "TS=4", "--json"], "");
    let found = answer(&text);
    assert_eq!((status, found["configuration"]["TS"].as_i64()), (0, Some(4)));
    let each = found["constraints"]["each"].as_array().expect("a list");
    assert!(each.iter().all(|one| one["constraint"] != "TS == 4"), "{each:?}");
    assert_eq!(found["constraints"]["all"]["configuration"]["TS"], 4);
}

#[test]
fn in_words() {
    let (text, errors, status) = why(&["examples/problems/minimum.json"], "");
    assert_eq!((errors.as_str(), status), ("", 0));
    assert_snapshot!("minimum", text);
    let fixed = ["MDIMA", "NDIMB", "MDIMC", "NDIMC"].map(|name| format!("{name}=16"));
    let fixed = fixed.iter().flat_map(|set| ["--set", set.as_str()]);
    let arguments: Vec<&str> =
        ["examples/problems/gemm-resources.json", "--set", "KWI=8", "--set", "KWG=16"]
            .into_iter()
            .chain(fixed)
            .collect();
    let (text, errors, status) = why(&arguments, "");
    assert_eq!((errors.as_str(), status), ("", 0));
    assert_snapshot!("gemm_resources", text);
}

#[test]
fn the_keys_of_the_object() {
    let (text, ..) = why(&["examples/problems/fermi.json", "--json"], "");
    let found = answer(&text);
    let keys: Vec<&str> =
        found.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected = [
        "about",
        "status",
        "time",
        "lower",
        "configuration",
        "configurations",
        "optima_count",
        "ties",
        "more_ties",
        "indifferent",
        "next",
        "next_more",
        "next_percent",
        "resources",
        "spent",
        "constraints",
        "platform",
        "not_known",
        "stopped_by",
        "seconds",
    ];
    assert_eq!(keys, expected);
    assert_eq!(found["about"]["profile"], "published-2021");
    // With three dispatchers no group can be launched: that is an answer, too.
    let refused = found["platform"].as_array().expect("a list").iter();
    let refused: Vec<_> = refused.filter(|n| n["found"]["status"] == "refused").collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(
        (&refused[0]["name"], &refused[0]["found"]["time"]),
        (&json!("dispatchers"), &Value::Null)
    );
}

/// Where warps compete, the shares are not known, and that is said; searches are made all the same.
#[test]
fn open_schedules() {
    let problem = ["examples/problems/latency.json", "--input", "size=8"];
    let (text, _, status) = why(&problem, "");
    assert_eq!(status, 0, "{text}");
    let sentence = "time goes is not known: warps compete";
    assert!(text.contains(sentence), "{text}");
    let (text, ..) = why(&[&problem[..], &["--json"]].concat(), "");
    let found = answer(&text);
    assert_eq!(found["spent"]["parts"], json!([]));
    let tuned = |name: &str, value: i64| {
        let mut command = cargo_bin_cmd!("tickbound");
        command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("tune").args(problem);
        let output = command.args(["--json", "--input", &format!("{name}={value}")]).output();
        let text = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
        serde_json::from_str::<Value>(&text).expect("JSON")["time"].clone()
    };
    for number in found["platform"].as_array().expect("a list").iter().take(4) {
        let (name, to) = (number["name"].as_str().expect("a name"), number["to"].as_i64());
        assert_eq!(number["found"]["time"], tuned(name, to.expect("a value")), "{name}");
    }
}

/// What the time did not suffice for is named, and nothing stands in its place.
#[test]
fn stopped_early() {
    for seconds in ["0.0001", "0.5"] {
        let arguments = ["examples/problems/gemm-resources.json", "--timeout", seconds, "--json"];
        let (text, _, status) = why(&arguments, "");
        let found = answer(&text);
        assert_eq!(status, 1, "{text}");
        assert!(found["stopped_by"].as_str().is_some_and(|by| by.contains("time")), "{text}");
        let unknown = found["not_known"].as_array().expect("a list");
        assert!(!unknown.is_empty());
        for one in found["constraints"]["each"].as_array().expect("a list") {
            if one["found"]["status"] == "not_known" {
                let name = one["constraint"].as_str().expect("a text");
                assert!(unknown.iter().any(|u| u.as_str().unwrap().contains(name)), "{name}");
                assert_eq!(
                    (&one["found"]["time"], &one["found"]["saves"]),
                    (&Value::Null, &Value::Null)
                );
            }
        }
        let (text, ..) = why(&arguments[..3], "");
        assert!(text.contains("not known: ") && text.contains("stopped by: "), "{text}");
    }
}

#[test]
fn wrong_input() {
    let minimum = "examples/problems/minimum.json";
    for (arguments, complaint) in [
        (vec!["no.json"], "no.json: "),
        (
            vec![minimum, "--set", "NO=1"],
            "--set NO: no parameter has this name; known here: WG, TS",
        ),
        (vec![minimum, "--timeout=-1"], "--timeout -1: write a positive number of seconds"),
        (vec![minimum, "--input", "sise=8"], "--input sise: no input or platform number"),
        (vec![minimum, "--strategy", "guess"], "invalid value 'guess'"),
        (vec![minimum, "--encoding", "morse"], "invalid value 'morse'"),
    ] {
        let (text, errors, status) = why(&arguments, "");
        assert_eq!((text.as_str(), status), ("", 2), "{arguments:?}");
        assert!(errors.contains(complaint), "{errors}");
    }
    let (_, errors, status) = why(&["-"], "{ \"parameters\": {} }");
    assert_eq!((status, errors.lines().count()), (2, 1), "{errors}");
}

#[test]
fn as_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("why.html").to_string_lossy().into_owned();
    let fermi = "examples/problems/fermi.json";
    let (text, errors, status) = why(&[fermi, "--html", &path], "");
    assert_eq!(status, 0, "{errors}");
    assert!(errors.contains("why.html written"), "{errors}");
    let page = std::fs::read_to_string(&path).expect("a page");
    // The longest bar is that of the dearest kind of statement, as in the text.
    assert!(text.contains("98.10"), "{text}");
    let all = ["6728 ticks", "98.1 %", "TS * TS &lt;= size", "global_access: 99 instead of 100"];
    for shown in all {
        assert!(page.contains(shown), "{shown}");
    }
    let (text, errors, status) = why(&[fermi, "--html", fermi], "");
    assert_eq!((text.as_str(), status), ("", 2), "{errors}");
}

/// A kernel in OpenCL C is asked about as a program written by hand is; a number of the platform
/// changes what is read.
#[test]
fn a_kernel_in_opencl_c() {
    let arguments = [
        "examples/kernels/transpose.json",
        "--input",
        "elements_per_unit=64",
        "--profile",
        "resources",
        "--json",
    ];
    let (text, errors, status) = why(&arguments, "");
    if errors.contains("libclang") {
        assert!(std::env::var_os("CI").is_none(), "{errors}");
        eprintln!("skipped: {errors}");
        return;
    }
    assert_eq!(status, 0, "{errors}");
    let found = answer(&text);
    let number = found["platform"].as_array().expect("a list");
    let units = number.iter().find(|n| n["name"] == "units_per_device").expect("units");
    let mut command = cargo_bin_cmd!("tickbound");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("tune").args(arguments);
    let output = command.args(["--input", &format!("units_per_device={}", units["to"])]).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    assert_eq!(answer(&text)["time"], units["found"]["time"]);
    // Nothing prices a statement where none is run.
    assert!(number.iter().all(|n| n["name"] != "global_access"), "{number:?}");
}

#[test]
fn hints_by_line() {
    let minimum = "examples/kernels/minimum.json";
    let folder = tempfile::tempdir().unwrap();
    let sarif = folder.path().join("hints.sarif").display().to_string();
    let page = folder.path().join("why.html").display().to_string();
    let (text, error, status) = why(&[minimum, "--sarif", &sarif, "--html", &page], "");
    if error.contains("libclang") {
        return;
    }
    assert_eq!(status, 0, "{error}");
    let page = std::fs::read_to_string(page).unwrap();
    let line = "<dt>minimum.cl:14</dt><dd>100 % of what bounds the time (L1); 32 lines";
    assert!(page.contains(line), "{page}");
    let text = text.replace('\n', " ");
    assert!(text.contains("hint: minimum.cl:14: 32 lines of the cache for each request"), "{text}");
    let log: Value = serde_json::from_slice(&std::fs::read(&sarif).unwrap()).unwrap();
    let first = &log["runs"][0]["results"][0];
    assert_eq!((&first["level"], &first["ruleId"]), (&json!("note"), &json!("time")));
    let place = &first["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "examples/kernels/minimum.cl");
    assert_eq!(place["region"]["startLine"], 14);
    let said = first["message"]["text"].as_str().unwrap();
    assert!(said.starts_with("100 % of what bounds the time (L1); 32 lines"), "{said}");
}

#[test]
fn a_padded_array_has_no_hint() {
    let simulated = |pad: &str| {
        let set = ["TILE=32", "ROWS=8", pad].map(|value| ["--set", value]).concat();
        let mut command = cargo_bin_cmd!("tickbound");
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command.args(["simulate", "examples/kernels/transpose.json"]).args(set);
        let output = command.output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (text, error) = simulated("PAD=0");
    if error.contains("libclang") {
        return;
    }
    let said = "hint:       transpose.cl:22: 32.0 passes of local memory for each request: banks \
                conflict; pad the rows of the array by one element\n";
    assert!(text.contains(said), "{text}");
    assert!(!simulated("PAD=1").0.contains("hint:"));
}
