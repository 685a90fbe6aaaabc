//! Random problems as T1 files, and files that are broken.
//!
//! A random problem - dependent domains, definitions, exact divisions, functions, conditionals,
//! several dimensions, limits of the platform - is written as T1 and read again: both have the same
//! configurations. Python, which the conditions of T1 are written in, evaluates those of some
//! problems on all combinations of values and finds the same configurations, too. And whatever is
//! done to a valid problem file or T1 file, reading it gives a problem or one line, never a panic.
//!
//! `SEED` is the first seed, `MANY` the number of random cases of each test.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use tickbound_model::{ModelError, Problem, t1};

use crate::random::Random;

fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let from = number("SEED").unwrap_or(1);
    from..from + number("MANY").unwrap_or(default)
}

fn problem(value: &Value) -> Result<Problem, ModelError> {
    let none = |name: &str| {
        Err(ModelError::new("platform", format!("no platform `{name}`"), "write it out"))
    };
    Problem::from_value(value, &IndexMap::new(), &none)
}

type Configurations = BTreeSet<Vec<i64>>;

fn configurations(problem: &Problem) -> Result<Configurations, ModelError> {
    Ok(problem.space()?.bound.into_iter().map(|b| b.configuration.0).collect())
}

/// A number over `names`, which are positive but for `Z`.
fn number(r: &mut Random, names: &[&str], depth: u32) -> String {
    if depth == 0 || r.one_in(4) {
        return match r.one_in(4) {
            true => (r.below(12) as i64 - 2).to_string(),
            false => r.pick(names).to_owned(),
        };
    }
    let (a, b) = (number(r, names, depth - 1), number(r, names, depth - 1));
    match r.below(14) {
        0 | 1 => format!("{a} + {b}"),
        2 => format!("({a}) - ({b})"),
        3 => format!("({a}) * ({b})"),
        4 | 5 => format!("({a}) / {}", r.pick(&["2", "3", "A", "B", "(A * B)"])),
        6 => format!("({a}) // {}", r.pick(&["2", "A", "B", "-3"])),
        7 => format!("({a}) % {}", r.pick(&["2", "A", "B", "5", "-3"])),
        8 => format!("ceil_div({a}, {})", r.pick(&["2", "A", "B", "7"])),
        9 => format!("min({a}, {b})"),
        10 => format!("max({a}, {b}, 1)"),
        11 => format!("abs({a})"),
        12 => format!("({a} if {} else {b})", condition(r, names, 0)),
        _ => format!("(-({a})) ** 2"),
    }
}

fn condition(r: &mut Random, names: &[&str], depth: u32) -> String {
    let op = r.pick(&["<", "<=", "==", "!=", ">", ">="]);
    let (a, b) = (number(r, names, 1 + depth), number(r, names, depth));
    match r.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => format!("({a}) {op} ({b})"),
        2 => format!("({a}) % 2 == 0"),
        3 => format!("1 <= ({a}) <= {}", r.below(90)),
        4 => format!("{} and {}", condition(r, names, 0), condition(r, names, 0)),
        5 => format!("({} or {})", condition(r, names, 0), condition(r, names, 0)),
        6 => format!("not ({})", condition(r, names, 0)),
        _ => format!("({} if {} else {})", condition(r, names, 0), a, condition(r, names, 0)),
    }
}

/// A problem without a kernel.
fn random_problem(seed: u64) -> Value {
    let r = &mut Random(seed ^ 0x7100);
    let mut parameters = Map::new();
    let domains = |r: &mut Random, later: bool| -> Value {
        match r.below(if later { 11 } else { 5 }) {
            0 => json!([1, 2, 4]),
            1 => json!("powers_of_two(1, 16)"),
            2 => json!("range(1, 9, 2)"),
            3 => json!("divisors(n)"),
            4 => json!([3, 1, 8]),
            5 => json!("powers_of_two(1, A)"),
            6 => json!("range(1, A + 2)"),
            7 => json!("divisors(A * 2)"),
            8 => json!([1, "A", "A + 1", "n if A > 2 else 2"]),
            9 => json!("range(A, n, 3)"),
            _ => json!("powers_of_two(A - 1, n // A)"),
        }
    };
    parameters.insert("A".into(), domains(r, false));
    let later = r.one_in(2);
    parameters.insert("B".into(), domains(r, later));
    let c = domains(r, true);
    parameters.insert("C".into(), c);
    let z = [json!([0, 1]), json!([-2, 0, 3]), json!(["-A", "A % 2"])];
    parameters.insert("Z".into(), z[r.below(3)].clone());
    let mut names = vec!["n", "A", "B", "C", "Z", "limit"];
    let mut definitions = Map::new();
    for name in ["d", "e"] {
        let text = number(r, &names, 2);
        definitions.insert(name.into(), json!(text));
        names.push(name);
    }
    let mut constraints: Vec<String> = vec![];
    for _ in 0..1 + r.below(2) {
        let depth = r.below(3) as u32;
        constraints.push(condition(r, &names, depth));
    }
    let mut platform = json!({ "units_per_device": 2, "elements_per_unit": 4, "global_access": 4 });
    if r.one_in(2) {
        platform["max_group_size"] = json!(8 + r.below(60));
    }
    let sizes = ["A", "B", "A * B", "n // A", "C", "A if Z else B", "max(A, B)", "abs(Z) + 1"];
    let dimensions = 1 + r.below(3);
    let local: Vec<&str> = (0..dimensions).map(|_| r.pick(&sizes)).collect();
    let global: Vec<String> = (0..dimensions)
        .map(|d| match r.below(3) {
            0 => format!("({}) * 3", local[d]),
            1 => "n * 4".into(),
            _ => format!("ceil_div(n, {0}) * ({0})", local[d].replace("A if Z else B", "A")),
        })
        .collect();
    json!({
        "name": "random", "inputs": { "n": 12 + r.below(30), "limit": 16 }, "platform": platform,
        "parameters": parameters, "definitions": definitions, "constraints": constraints,
        "launch": { "global_size": global, "local_size": local }, "kernel": []
    })
}

/// Random problems that have configurations, with their T1 files.
fn written() -> impl Iterator<Item = (u64, Value, Problem, Configurations, Value)> {
    seeds(300).filter_map(|seed| {
        let value = random_problem(seed);
        let read = problem(&value).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{value}"));
        let before = configurations(&read).ok()?;
        let file = t1::write(&read).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{value}"));
        Some((seed, value, read, before, file))
    })
}

#[test]
fn read_again() {
    let (mut tried, mut all) = (0, 0);
    let mut faults = String::new();
    for (seed, value, _, before, file) in written() {
        let again = t1::read(&file).and_then(|v| problem(&v)).and_then(|p| configurations(&p));
        // A space that became empty says so in an error.
        if before.is_empty() {
            continue;
        }
        (tried, all) = (tried + 1, all + before.len());
        match again {
            Ok(again) if again == before => {}
            Ok(again) => {
                let more: Vec<_> = again.symmetric_difference(&before).take(3).collect();
                let (n, m) = (before.len(), again.len());
                let _ = writeln!(faults, "seed {seed}: {n}, then {m}: {more:?}\n{value}\n{file}");
            }
            Err(e) => {
                let _ =
                    writeln!(faults, "seed {seed}: {e}\n{value}\n{}", file["ConfigurationSpace"]);
            }
        }
    }
    println!("{tried} problems with {all} configurations");
    assert!(faults.is_empty(), "{faults}");
    assert!(tried > 0);
}

/// Reads T1 files, a line each, and prints the configurations of each, or the exception's name.
const ORACLE: &str = r#"
import sys, json, itertools
def ceil_div(a, b): raise NameError("ceil_div")
for line in sys.stdin:
    space = json.loads(line)["ConfigurationSpace"]
    names = [p["Name"] for p in space["TuningParameters"]]
    conditions = [compile(c["Expression"], "c", "eval") for c in space["Conditions"]]
    found = []
    try:
        values = [eval(p["Values"]) for p in space["TuningParameters"]]
        for choice in itertools.product(*values):
            env = dict(zip(names, choice))
            known = {"min": min, "max": max, "abs": abs, "__builtins__": {}}
            if all(eval(c, known, env) for c in conditions):
                found.append(list(choice))
        print(json.dumps(found))
    except Exception as e:
        print(json.dumps(repr(e)))
"#;

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// What Python finds for each T1 file; `None` without a python3.
fn python(files: &[&Value]) -> Option<Vec<Value>> {
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let name = format!("tickbound-t1-{}-{number}.jsonl", std::process::id());
    let input = std::env::temp_dir().join(name);
    let lines: String = files.iter().map(|file| format!("{file}\n")).collect();
    std::fs::write(&input, lines).ok()?;
    let stdin = std::fs::File::open(&input).ok()?;
    let output = Command::new("python3").args(["-c", ORACLE]).stdin(stdin).output();
    let _ = std::fs::remove_file(&input);
    let Ok(output) = output else {
        eprintln!("skipped: no python3");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).ok()?;
    assert_eq!(text.lines().count(), files.len());
    text.lines().map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn python_agrees() {
    let cases: Vec<_> = written().filter(|c| !c.3.is_empty()).take(120).collect();
    let files: Vec<&Value> = cases.iter().map(|c| &c.4).collect();
    let Some(answers) = python(&files) else { return };
    let mut faults = String::new();
    for ((seed, value, _, before, file), said) in cases.iter().zip(answers) {
        let found = serde_json::from_value::<Configurations>(said.clone());
        if found.as_ref().ok() != Some(before) {
            let what = match found {
                Ok(found) => {
                    let more: Vec<_> = found.symmetric_difference(before).take(3).collect();
                    format!("{} not {}: {more:?}", found.len(), before.len())
                }
                Err(_) => said.to_string(),
            };
            let space = &file["ConfigurationSpace"];
            let _ = writeln!(faults, "seed {seed}: Python says {what}\n{value}\n{space}");
        }
    }
    println!("{} problems compared with Python", cases.len());
    assert!(faults.is_empty(), "{faults}");
}

/// An expression of a list, over the names that are bound there.
fn element(r: &mut Random, names: &[&str]) -> String {
    let constants = ["1", "2", "3", "8", "-2"];
    let a = if names.is_empty() { r.pick(&constants) } else { r.pick(names) };
    match r.below(9) {
        0 => format!("{a} + {}", r.pick(&constants)),
        1 => format!("2 ** ({a} % 4)"),
        2 => format!("{a} // {}", r.pick(&constants)),
        3 => format!("{a} % 3"),
        4 => format!("({a} if {a} > 2 else -{a})"),
        5 => format!("max({a}, 2) * {}", r.pick(&constants)),
        6 => format!("({a} or 7)"),
        _ => a.to_owned(),
    }
}

/// The text of a list in Python.
fn list(r: &mut Random, names: &[&str], depth: u32) -> String {
    let bounds = |r: &mut Random| -> Vec<String> {
        (0..1 + r.below(3)).map(|_| element(r, names)).collect()
    };
    match r.below(if depth == 0 { 3 } else { 8 }) {
        0 | 1 => format!("[{}]", bounds(r).join(", ")),
        2 => format!("list(range({}))", bounds(r).join(", ")),
        3 | 4 => format!("{} + {}", list(r, names, depth - 1), list(r, names, depth - 1)),
        5 => format!("list({})", list(r, names, depth - 1)),
        _ => {
            let mut bound = names.to_vec();
            let mut clauses = String::new();
            for _ in 0..1 + r.below(2) {
                let name = r.pick(&["i", "j", "forms"]);
                clauses += &format!(" for {name} in {}", list(r, &bound, depth - 1));
                bound.push(name);
                if r.one_in(2) {
                    clauses += &format!(" if {} / 2 != {}", element(r, &bound), element(r, &bound));
                }
            }
            format!("[{}{clauses}]", element(r, &bound))
        }
    }
}

/// Lists, comprehensions and sums of them have the values that Python finds, or are refused where
/// it fails.
#[test]
fn python_reads_the_same_lists() {
    let space = |values: &str| {
        json!({ "ConfigurationSpace": { "Conditions": [],
            "TuningParameters": [ { "Name": "P", "Values": values } ] } })
    };
    let texts: Vec<(u64, String)> =
        seeds(1_500).map(|seed| (seed, list(&mut Random(seed ^ 0x715), &[], 3))).collect();
    let files: Vec<Value> = texts.iter().map(|(_, text)| space(text)).collect();
    let Some(answers) = python(&files.iter().collect::<Vec<_>>()) else { return };
    let (mut faults, mut compared, mut refused) = (String::new(), 0, 0);
    for ((seed, text), (file, said)) in texts.iter().zip(files.iter().zip(answers)) {
        let ours = t1::read(file).and_then(|v| problem(&v)).and_then(|p| configurations(&p));
        match (serde_json::from_value::<Configurations>(said.clone()), ours) {
            // A space without values says so in an error.
            (Ok(theirs), Err(_)) if theirs.is_empty() => {}
            (Ok(theirs), Ok(ours)) if theirs == ours => compared += 1,
            (Err(_), Err(_)) => refused += 1,
            // A name that a later `for` binds again hides the one around from an earlier clause,
            // too; not so here.
            (Err(_), _) if said.to_string().contains("UnboundLocalError") => {}
            (_, ours) => drop(writeln!(faults, "seed {seed}: {text}\n  {said}\n  {ours:?}")),
        }
    }
    println!("{compared} lists have the same values, {refused} are refused by both");
    assert!(faults.is_empty(), "{faults}");
    assert!(compared > texts.len() / 2 && refused > texts.len() / 200);
}

/// Problems that are hard to write, each under what is hard about it.
fn hard() -> Vec<(&'static str, Value)> {
    let base = |parameters: Value, constraints: Value, definitions: Value, local: Value| {
        json!({ "inputs": { "n": 48 },
            "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1,
                          "max_group_size": 8 },
            "parameters": parameters, "definitions": definitions, "constraints": constraints,
            "launch": { "global_size": "n * n", "local_size": local }, "kernel": [] })
    };
    let three = || json!({ "A": [1, 2, 16], "B": [1, 16, 3], "C": [0, 1, 4] });
    let doubled: Map<String, Value> = (0..12)
        .map(|i| match i {
            0 => ("d0".into(), json!("A + B - 1")),
            i => (format!("d{i}"), json!(format!("max(d{0}, d{0})", i - 1))),
        })
        .collect();
    let with = |mut problem: Value, profile: &str| {
        problem["profile"] = profile.into();
        problem["platform"]["warps"] = json!({ "width": 2, "dispatchers": 1 });
        problem
    };
    let mut activations = with(base(three(), json!([]), json!({}), json!("A")), "published-2023");
    activations["launch"] = json!({ "activations": 2, "local_size": "A" });
    vec![
        ("a limit", base(three(), json!([]), json!({}), json!("A if C else B"))),
        ("a limit, or", base(three(), json!([]), json!({}), json!("(C or A) * B"))),
        (
            "a guard before a definition",
            base(
                json!({ "A": [0, 1, 2, 4] }),
                json!(["d <= 4", "A > 0"]),
                json!({ "d": "8 // A" }),
                json!(1),
            ),
        ),
        (
            "a guard on a size",
            base(
                json!({ "A": [0, 1, 2], "B": [0, 1, 2] }),
                json!(["A * B > 0"]),
                json!({}),
                json!("A"),
            ),
        ),
        (
            "a guard by a domain",
            base(
                json!({ "A": [1, 2, 3], "B": "range(1, A)" }),
                json!(["12 % (A - B + 1) == 0"]),
                json!({}),
                json!(1),
            ),
        ),
        (
            "many values",
            base(
                json!({ "A": "range(1, 1200)", "B": [1] }),
                json!(["A % 8 == 0"]),
                json!({}),
                json!(1),
            ),
        ),
        ("one argument", base(three(), json!(["min(A) + max(B) > 2"]), json!({}), json!(1))),
        ("values of or", base(three(), json!(["(A or B) + (B and A) == 2"]), json!({}), json!(1))),
        ("values of not", base(three(), json!(["(not C) + (A < B) == 1"]), json!({}), json!(1))),
        (
            "a power",
            base(
                three(),
                json!(["(-A) ** 2 - A ** 2 == 0 and -2 ** 2 == -4"]),
                json!({}),
                json!(1),
            ),
        ),
        ("a long limit", base(three(), json!([]), Value::Object(doubled.clone()), json!("d11"))),
        (
            "a long constraint",
            base(three(), json!(["d11 < 5"]), Value::Object(doubled), json!("1")),
        ),
        (
            "an exact quotient",
            base(
                json!({ "A": "range(1, 120)" }),
                json!(["1 / A * A == 1", "A / 49 * 49 == A"]),
                json!({}),
                json!(1),
            ),
        ),
        (
            "a taken name",
            base(
                json!({ "problem_size_0": [1, 2], "A": [1, 2] }),
                json!([]),
                json!({}),
                json!("A"),
            ),
        ),
        ("warps", with(base(three(), json!([]), json!({}), json!("A * B")), "published-2021")),
        ("activations", activations),
    ]
}

#[test]
fn hard_ones() {
    let mut faults = String::new();
    let mut files = Vec::new();
    for (name, value) in hard() {
        let read = problem(&value).unwrap_or_else(|e| panic!("{name}: {e}"));
        let before = configurations(&read).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!before.is_empty(), "{name}");
        let file = match t1::write(&read) {
            Ok(file) => file,
            // What has no expression of a length that can be read may be refused.
            Err(_) if name.starts_with("a long") => continue,
            Err(e) => panic!("{name}: {e}"),
        };
        let again = t1::read(&file).and_then(|v| problem(&v)).and_then(|p| configurations(&p));
        match again {
            Ok(again) if again == before => {}
            Ok(again) => {
                let _ = writeln!(
                    faults,
                    "{name}: {} configurations, then {}",
                    before.len(),
                    again.len()
                );
            }
            Err(e) => {
                let text: String = e.to_string().chars().take(300).collect();
                let _ = writeln!(faults, "{name}: {text}");
            }
        }
        // Quotients are floating-point numbers in Python: 3 / 49 * 49 is not 3 there.
        if name != "an exact quotient" {
            files.push((name, file, before));
        }
    }
    let all: Vec<&Value> = files.iter().map(|(_, file, _)| file).collect();
    for ((name, _, before), said) in files.iter().zip(python(&all).unwrap_or_default()) {
        let found = serde_json::from_value::<Configurations>(said.clone());
        if found.as_ref().ok() != Some(before) {
            let said: String = said.to_string().chars().take(100).collect();
            let n = found.map(|f| f.len().to_string()).unwrap_or(said);
            let _ = writeln!(faults, "{name}: Python says {n}, not {}", before.len());
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// A problem file in which everything occurs.
fn rich_problem() -> Value {
    json!({
        "version": 1, "name": "rich", "profile": "opencl", "inputs": { "n": 64 },
        "sizes": { "small": { "n": 8 } },
        "platform": { "units_per_device": 2, "elements_per_unit": { "value": 4, "unit": "x" },
            "global_access": 4, "max_group_size": 64,
            "warps": { "width": 2, "dispatchers": 1, "memory_slots": 3 } },
        "parameters": { "W": "powers_of_two(1, 8)", "T": [1, "W", 3], "R": "range(1, 4, 2)" },
        "constraints": ["n / W == 8 or T < 3", "1 <= W <= 8"],
        "definitions": { "steps": "ceil_div(n, T)" },
        "launch": { "global_size": ["n", "W"], "local_size": ["W", 1] },
        "kernel": [ { "repeat": "steps", "body": [ { "global": "lid % T" }, "barrier", "mark" ] },
            { "if": "lid == 0", "then": [ { "until": 3 } ],
                "else": [ { "work": "abs(W - 9)" } ] } ],
        "finish": [ { "atomic": 1 } ]
    })
}

fn rich_source() -> Value {
    let mut problem = rich_problem();
    problem["kernel"] = json!({
        "opencl": "k.cl", "entry": "k", "standard": "CL3.0",
        "defines": { "W": "W", "V": "n * 2", "T": { "text": "float" } },
        "arguments": [ { "name": "a", "type": "float", "length": "n",
            "fill": { "random": [0, "n"] }, "output": true },
            { "name": "b", "type": "int", "length": "n", "fill": "index" },
            { "name": "l", "type": "double", "length": 4, "space": "local" },
            { "name": "s", "type": "int", "value": "n - 1" },
            { "name": "r", "type": "float", "real": 0.5 } ],
        "reference": "k.c", "tolerance": 1e-3, "bytes": "4 * n", "bounds": { "line 3": "W" },
        "branches": { "line 7": "both" }
    });
    problem
}

fn rich_t1() -> Value {
    json!({
        "General": { "BenchmarkName": "b" },
        "ConfigurationSpace": {
            "TuningParameters": [ { "Name": "W", "Type": "int", "Values": "[32, 64, 128]" },
                { "Name": "T", "Type": "int", "Values": [1, 2, 4] },
                { "Name": "R", "Values": "range(1, 9, 3)" },
                { "Name": "S", "Values": "[0] + [2 ** i for i in range(0, 3) if i != 1]" } ],
            "Conditions": [ { "Expression": "W * T <= 128", "Parameters": ["W", "T"] }, "R < W" ] },
        "KernelSpecification": { "Language": "OpenCL", "KernelName": "k", "KernelFile": "k.cl",
            "ProblemSize": [1024, 8], "GlobalSizeType": "CUDA", "GridDivX": ["W", "T"],
            "GridDivY": [2],
            "LocalSize": { "X": "W", "Y": 1 }, "GlobalSize": { "X": "ProblemSize[0]" },
            "Arguments": [ { "Name": "o", "Type": "float4", "MemoryType": "Vector",
                "FillType": "Constant",
                  "Size": "ProblemSize[0]", "FillValue": 0.0, "Output": 1 },
                { "Name": "i", "Type": "float", "MemoryType": "Local", "Size": 4 },
                { "Type": "uint", "MemoryType": "Vector", "Size": 4, "FillType": "Generator",
                    "DataSource": "i" },
                { "Name": "n", "Type": "int", "MemoryType": "Scalar", "FillValue": 4096 } ] }
    })
}

/// The paths of all values.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    let escaped = |k: &str| k.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| places(v, &format!("{at}/{i}"), all));
        }
        Value::Object(map) => {
            map.iter().for_each(|(k, v)| places(v, &format!("{at}/{}", escaped(k)), all));
        }
        _ => {}
    }
}

/// Breaks a text: a character is left out, doubled or replaced.
fn broken_text(r: &mut Random, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = r.below(chars.len() as u64 + 1);
    let with =
        ['(', ')', '-', '/', '*', '%', '[', ',', '9', 'x', ' ', '\n', 'é', '"', '.', '\u{0}'];
    match r.below(3) {
        0 if at < chars.len() => drop(chars.remove(at)),
        1 if at < chars.len() => chars[at] = with[r.below(with.len() as u64)],
        _ => chars.insert(at, with[r.below(with.len() as u64)]),
    }
    chars.into_iter().collect()
}

fn mutate(r: &mut Random, value: &mut Value) {
    let mut all = Vec::new();
    places(value, "", &mut all);
    let at = all[r.below(all.len() as u64)].clone();
    let other = value.pointer(&all[r.below(all.len() as u64)]).cloned().unwrap_or_default();
    let Some(target) = value.pointer_mut(&at) else { return };
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1.5),
        json!(1e300),
        json!(""),
        json!("0"),
        json!([]),
        json!({}),
        json!("n // 0"),
        json!("2 ** 70"),
        json!("-9223372036854775807 - 1"),
        json!("range(0, 9223372036854775807)"),
        json!("divisors(0)"),
        json!("range(1, 5, 0)"),
        json!("range(-9223372036854775808)"),
        json!("[2 ** i for i in range(0, 70)]"),
        json!("[i for i in range(0, 9223372036854775807) if 0]"),
        json!("[1 // i for i in [0]]"),
        json!("list(range(5)) + ((((["),
        json!([[]]),
        json!("(-9223372036854775807 - 1) // -1"),
        json!("abs(-9223372036854775807 - 1)"),
        json!("ceil_div(W, 0)"),
        json!("-(-9223372036854775807 - 1)"),
        json!("W % (-1)"),
        json!("(-9223372036854775807 - 1) % -1"),
        json!("ceil_div(-9223372036854775807 - 1, -1)"),
        json!("3 / (1 - 1)"),
        json!("-9223372036854775808"),
    ];
    match r.below(6) {
        0 | 1 => *target = odd[r.below(odd.len() as u64)].clone(),
        2 => *target = other,
        3 => match target {
            Value::Object(map) if !map.is_empty() => {
                let key = map.keys().nth(r.below(map.len() as u64)).cloned().unwrap_or_default();
                let taken = map.shift_remove(&key).unwrap_or_default();
                if r.one_in(2) {
                    map.insert(broken_text(r, &key), taken);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let at = r.below(items.len() as u64);
                match r.one_in(2) {
                    true => drop(items.remove(at)),
                    false => items.push(items[at].clone()),
                }
            }
            _ => *target = json!([target.clone()]),
        },
        _ => match target {
            Value::String(text) => *text = broken_text(r, text),
            _ => *target = odd[r.below(odd.len() as u64)].clone(),
        },
    }
}

/// What becomes of a file: how many times something was refused, or a fault.
fn digest(value: &Value) -> Result<u32, String> {
    let line = |e: ModelError| match e.to_string() {
        text if text.lines().count() == 1 && !text.trim().is_empty() => Ok(1),
        text => Err(format!("not one line: {text:?}")),
    };
    let value = match t1::is_t1(value) {
        true => match t1::read(value) {
            Ok(value) => value,
            Err(e) => return line(e),
        },
        false => value.clone(),
    };
    let mut refused = 0;
    match problem(&value) {
        Ok(problem) => {
            match problem.choices() {
                Ok(choices) if choices < 100_000 => match problem.space() {
                    Ok(_) => {}
                    Err(e) => refused += line(e)?,
                },
                Ok(_) => {}
                Err(e) => refused += line(e)?,
            }
            if problem.choices().is_ok_and(|c| c < 100_000) {
                match t1::write(&problem) {
                    Ok(_) => {}
                    Err(e) => refused += line(e)?,
                }
            }
        }
        Err(e) => refused += line(e)?,
    }
    Ok(refused)
}

#[test]
fn broken_files() {
    let bases = [rich_problem(), rich_source(), rich_t1()];
    for base in &bases {
        assert_eq!(digest(base), Ok(0), "{base}");
    }
    let (mut refused, mut tried) = (0, 0);
    let mut faults = String::new();
    for seed in seeds(4_000) {
        let r = &mut Random(seed ^ 0xB0);
        let mut value = bases[r.below(3)].clone();
        for _ in 0..1 + r.below(3) {
            mutate(r, &mut value);
        }
        tried += 1;
        match catch_unwind(AssertUnwindSafe(|| digest(&value))) {
            Ok(Ok(n)) => refused += u32::from(n > 0),
            Ok(Err(fault)) => drop(writeln!(faults, "seed {seed}: {fault}\n{value}")),
            Err(_) => drop(writeln!(faults, "seed {seed}: a panic\n{value}")),
        }
    }
    println!("{tried} broken files, {refused} refused");
    assert!(faults.is_empty(), "{faults}");
    assert!(refused > tried / 3);
}
