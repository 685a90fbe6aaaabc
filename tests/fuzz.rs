//! Nothing that a person may write makes tickbound panic, exhaust the stack or hang.
//!
//! `TICKBOUND_FUZZ_SECONDS` says for how long inputs are made up; `make fuzz` takes ten minutes. An
//! input that kills the whole test is left in a file, named at the start of the output, and
//! `TICKBOUND_FUZZ_INPUT=FILE cargo test --test fuzz input_of_a_file` tries it again.

use std::fmt::Display;
use std::fs::File;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arbtest::arbitrary::{Result as Made, Unstructured};
use arbtest::arbtest;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::run::run;
use tickbound_encodings::{Encoding, bounds};
use tickbound_model::kernel::expressions;
use tickbound_model::parse::{parse, parse_domain};
use tickbound_model::simulate::{Options, simulate};
use tickbound_model::{ModelError, Problem, Space};

/// The parsers are honest about nesting only on a stack of the usual size for a thread.
const STACK: usize = 2 << 20;
/// An input that takes longer than this is a fault.
const SLOW: Duration = Duration::from_secs(2);
/// An input that takes longer than this hangs.
const HANGS: Duration = Duration::from_secs(60);
/// Larger spaces are not listed here: a limit of the program, which takes longer, guards them.
const CHOICES: u32 = 20_000;
/// Configurations that are simulated.
const SIMULATED: usize = 6;
/// Spaces with more configurations, and more items to sort, are not planned.
const PLANNED: (usize, i64) = (64, 20_000);

/// How many inputs got as far as a plan.
static PLANS: AtomicU64 = AtomicU64::new(0);

// ---- one input --------------------------------------------------------------------------------------

/// An error is one line that says something.
fn one_line(error: &dyn Display) {
    let text = error.to_string();
    assert!(!text.trim().is_empty() && !text.contains(['\n', '\r']), "not one line: {text:?}");
}

/// Named platforms are looked up by the command line; here there is one.
fn platforms(name: &str) -> Result<Value, ModelError> {
    if name == "small" {
        return Ok(json!({ "units_per_device": 2, "elements_per_unit": 3, "global_access": 4 }));
    }
    Err(ModelError::new("platform", format!("no platform `{name}`"), "write small"))
}

/// True if the space has few choices; counts them as the walk through the space does.
fn is_small(problem: &Problem) -> bool {
    fn visit(problem: &Problem, env: &mut [i64], depth: usize, left: &mut u32) {
        let Some(parameter) = problem.parameters.get(depth) else { return };
        for value in parameter.domain.values(env).unwrap_or_default() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return;
            }
            env[problem.first_parameter() + depth] = value;
            visit(problem, env, depth + 1, left);
        }
    }
    let mut env: Vec<i64> = problem.inputs.values().copied().collect();
    env.extend(problem.platform.numbers().map(|(_, v)| v));
    env.resize(problem.scope.len(), 0);
    let mut left = CHOICES;
    visit(problem, &mut env, 0, &mut left);
    left > 0
}

/// All that the command line does to a problem but for the solver.
fn try_problem(text: &str) {
    let problem = match Problem::from_json(text, &IndexMap::new(), &platforms) {
        Ok(problem) => problem,
        Err(e) => return one_line(&e),
    };
    if !is_small(&problem) {
        return;
    }
    let space = match problem.space() {
        Ok(space) => space,
        Err(e) => return one_line(&e),
    };
    for bound in space.bound.iter().take(SIMULATED) {
        let options = Options { max_events: 20_000, ..Options::default() };
        if let Err(e) = simulate(&problem, bound, &options) {
            one_line(&e);
        }
    }
    try_encodings(&problem, &space);
}

fn try_encodings(problem: &Problem, space: &Space) {
    let mut differ = false;
    expressions(&problem.kernel, &mut |_, e| differ |= e.mentions(|s| problem.scope.is_item(s)));
    let items = space.bound.iter().fold(0, |sum: i64, b| sum.saturating_add(b.launch.local()));
    if space.bound.is_empty() || space.bound.len() > PLANNED.0 || (differ && items > PLANNED.1) {
        return;
    }
    let plan = match Plan::new(problem, space) {
        Ok(plan) => plan,
        Err(e) => return one_line(&e),
    };
    PLANS.fetch_add(1, Ordering::Relaxed);
    assert_eq!(bounds::lower_bounds(&plan).len(), space.bound.len());
    if plan.threads * plan.items > 16 {
        return;
    }
    for system in Encoding::ALL.map(|encoding| encoding.encode(&plan).unwrap().system) {
        if let Err(e) = run(&system, 0, 50) {
            one_line(&e);
        }
    }
}

/// An expression or a domain by itself: what is printed reads back.
fn try_text(text: &str) {
    match parse(text) {
        Err(e) => one_line(&ModelError::new("here", e.to_string(), "")),
        Ok(expr) => {
            if let Ok(again) = parse(&expr.to_string()) {
                assert_eq!(again.to_string(), expr.to_string(), "printed anew");
            }
            let Ok(resolved) = expr.resolve(&mut |name| Some(name.len() % 2)) else { return };
            let _ = resolved.eval(&[3, 0]);
            let _ = resolved.holds(&[7, 2]);
        }
    }
    match parse_domain(text) {
        Err(e) => one_line(&ModelError::new("here", e.to_string(), "")),
        Ok(domain) => {
            if let Ok(domain) = domain.resolve(&mut |name| Some(name.len() % 2))
                && let Err(e) = domain.values(&[3, 0])
            {
                one_line(&e);
            }
        }
    }
}

// ---- watching over inputs ---------------------------------------------------------------------------

/// The input that is tried now, and since when.
static PRESENT: Mutex<Option<(Instant, String)>> = Mutex::new(None);

fn last_input() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz-input")
}

/// Leaves the input in the file, for what cannot be caught: a stack overflow, an endless loop.
fn leave(text: &str) -> std::io::Result<()> {
    static FILE: Mutex<Option<File>> = Mutex::new(None);
    let mut file = FILE.lock().expect("not poisoned");
    // The file stays open: to truncate one on opening takes milliseconds.
    let file = match &mut *file {
        Some(file) => file,
        none => none.insert(File::create(last_input())?),
    };
    file.rewind()?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Tries one input; panics with the input if it panics or is slow.
fn watched(text: &str, what: fn(&str)) {
    leave(text).expect("the file can be written");
    let timed = || {
        let begin = Instant::now();
        *PRESENT.lock().expect("not poisoned") = Some((begin, text.to_owned()));
        let result = catch_unwind(AssertUnwindSafe(|| what(text)));
        *PRESENT.lock().expect("not poisoned") = None;
        assert!(result.is_ok(), "this input panics:\n{text}");
        begin.elapsed()
    };
    // A machine that does other things may be slow once.
    let slow = timed() > SLOW && timed() > SLOW;
    assert!(!slow, "this input takes longer than {SLOW:?}:\n{text}");
}

/// Runs `work` on a thread with a small stack, and stops the test if an input hangs.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    // One test at a time: there is one present input.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    while !worker.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        let present = PRESENT.lock().expect("not poisoned").clone();
        if let Some((_, text)) = present.filter(|(begin, _)| begin.elapsed() > HANGS) {
            eprintln!("this input hangs:\n{text}");
            std::process::abort();
        }
    }
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

// ---- making inputs up ---------------------------------------------------------------------------------

fn examples() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/problems");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|f| std::fs::read_to_string(f).expect("a text")).collect()
}

const WORDS: [&str; 44] = [
    "1",
    "0",
    "2",
    "7",
    "64",
    "1_000",
    "9223372036854775807",
    "9223372036854775808",
    "WG",
    "TS",
    "size",
    "lid",
    "gid",
    "group",
    "True",
    "global_access",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    ",",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<",
    "<=",
    "==",
    "!=",
    "if",
    "else",
    "and",
    "or",
    "not",
    "min(",
    "max(",
    "powers_of_two(",
    "range(",
    "divisors(",
];

/// Words of the grammar in any order.
fn words(u: &mut Unstructured<'_>) -> Made<String> {
    let mut text = String::new();
    for _ in 0..u.int_in_range(0..=40)? {
        text += u.choose(&WORDS)?;
        text += if u.ratio(3, 4)? { " " } else { "" };
    }
    Ok(text)
}

/// A sentence of the grammar, of which now and then a character is replaced.
fn sentence(u: &mut Unstructured<'_>) -> Made<String> {
    let depth = *u.choose(&[1, 2, 3, 5, 12, 47])?;
    let mut text = nested(u, depth)?;
    if u.ratio(1, 4)? {
        let list = ["range", "powers_of_two", "divisors"];
        text = format!("{}({text}, {})", u.choose(&list)?, nested(u, 1)?);
    }
    if u.ratio(1, 8)? {
        let at = u.choose_index(text.chars().count().max(1))?;
        let other = *u.choose(&['(', ')', '"', '~', '9', 'é', '\n', '*'])?;
        text = text.chars().enumerate().map(|(i, c)| if i == at { other } else { c }).collect();
    }
    Ok(text)
}

/// An expression of the given depth: one branch goes all the way down.
fn nested(u: &mut Unstructured<'_>, depth: usize) -> Made<String> {
    if depth == 0 || u.is_empty() {
        return Ok((*u.choose(&WORDS[..16])?).to_owned());
    }
    let deep = nested(u, depth - 1)?;
    let mut flat = || nested(u, depth.min(2) - 1);
    let (a, b) = (flat()?, flat()?);
    let operators = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "and", "or"];
    let (first, second) = (*u.choose(&operators)?, *u.choose(&operators)?);
    Ok(match u.int_in_range(0..=7)? {
        0 => format!("({deep}) {first} {a}"),
        1 => format!("{a} {first} ({deep}) {second} {b}"),
        2 => format!("min({a}, {deep}, {b})"),
        3 => format!("({a} if {deep} else {b})"),
        4 => format!("{deep} if {a} else {b}"),
        5 => format!("-{deep}"),
        6 => format!("not {deep}"),
        _ => format!("{deep} {first} {b}"),
    })
}

/// A text of either kind.
fn text(u: &mut Unstructured<'_>) -> Made<String> {
    if u.ratio(1, 3)? { words(u) } else { sentence(u) }
}

/// Every place of a JSON value.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(inner, format!("{at}/{key}"), all);
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                places(inner, format!("{at}/{i}"), all);
            }
        }
        _ => {}
    }
    all.push(at);
}

fn place(u: &mut Unstructured<'_>, value: &Value) -> Made<String> {
    let mut all = Vec::new();
    places(value, String::new(), &mut all);
    u.choose(&all).cloned()
}

/// A number that fits nowhere, or everywhere.
fn number(u: &mut Unstructured<'_>) -> Made<Value> {
    let some = [
        json!(0),
        json!(1),
        json!(3),
        json!(-1),
        json!(1_i64 << 20),
        json!(1_i64 << 40),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(0.5),
        json!(-1e300),
        json!(1e18),
    ];
    Ok(u.choose(&some)?.clone())
}

/// The statement, deep inside others.
fn buried(u: &mut Unstructured<'_>, mut value: Value) -> Made<Value> {
    let (levels, kind) = (*u.choose(&[1, 2, 5, 20, 40, 70])?, u.int_in_range(0..=3)?);
    for _ in 0..levels {
        value = match kind {
            0 => json!([value]),
            1 => json!({ "repeat": 2, "body": [value] }),
            2 => json!({ "if": "lid % 2", "then": [value], "else": [{ "work": 1 }] }),
            _ => json!({ "repeat": 2, "body": [{ "work": "lid" }, value, "barrier", "mark"] }),
        };
    }
    Ok(value)
}

/// Changes a problem in one place.
fn mutate(u: &mut Unstructured<'_>, root: &mut Value) -> Made<()> {
    let at = place(u, root)?;
    let other = place(u, root)?;
    let other = root.pointer(&other).cloned().unwrap_or_default();
    let Some(here) = root.pointer_mut(&at) else { return Ok(()) };
    match u.int_in_range(0..=8)? {
        0 | 1 => *here = number(u)?,
        2 | 3 => *here = json!(text(u)?),
        4 => *here = other,
        5 => *here = buried(u, here.take())?,
        6 => {
            let statements = ["barrier", "mark", "until", "work", "if", "repeat", "atomic"];
            let (word, amount) = (*u.choose(&statements)?, u.int_in_range(-2..=9)?);
            *here = if u.ratio(1, 2)? { json!(word) } else { json!({ word: amount }) };
        }
        _ => match here {
            Value::Object(map) => edit(u, map)?,
            Value::Array(items) if !items.is_empty() => {
                let item = items[u.choose_index(items.len())?].clone();
                let copies = *u.choose(&[0, 1, 3, 50])?;
                items.extend(std::iter::repeat_n(item, copies));
                items.swap_remove(u.choose_index(items.len())?);
            }
            _ => *here = Value::Null,
        },
    }
    Ok(())
}

/// Drops or renames a field, or adds one.
fn edit(u: &mut Unstructured<'_>, map: &mut Map<String, Value>) -> Made<()> {
    if map.is_empty() {
        map.insert("extra".into(), json!(1));
        return Ok(());
    }
    let keys: Vec<String> = map.keys().cloned().collect();
    let key = u.choose(&keys)?;
    let value = map.shift_remove(key).unwrap_or_default();
    let other = ["size", "lid", "x y", "", "WG", "barrier", "until", "é"];
    match u.int_in_range(0..=3)? {
        0 => {}
        1 => drop(map.insert((*u.choose(&other)?).to_owned(), value)),
        2 => drop(map.insert(key.to_uppercase(), value)),
        _ => drop(map.insert(u.choose(&keys)?.clone(), value)),
    }
    Ok(())
}

/// An example with a few faults.
fn spoilt(u: &mut Unstructured<'_>, examples: &[String]) -> Made<String> {
    let mut value: Value = serde_json::from_str(u.choose(examples)?).expect("JSON");
    for _ in 0..u.int_in_range(1..=4)? {
        mutate(u, &mut value)?;
    }
    let mut text = value.to_string();
    if u.ratio(1, 8)? {
        // A key that occurs twice.
        text = text.replacen('{', "{\"launch\":{\"local_size\":2},", u.int_in_range(1..=3)?);
    }
    if u.ratio(1, 4)? {
        let mut bytes = text.into_bytes();
        for _ in 0..u.int_in_range(1..=6)? {
            let at = u.choose_index(bytes.len())?;
            bytes[at] = u.arbitrary()?;
        }
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    Ok(text)
}

/// A small problem with the given text in one of the fields that hold an expression or a domain.
fn around(u: &mut Unstructured<'_>, text: &str) -> Made<String> {
    let mut value = json!({
        "inputs": { "size": 16 }, "platform": "small",
        "parameters": { "WG": "powers_of_two(1, 8)", "TS": [1, 2] },
        "constraints": ["TS <= WG"], "definitions": { "d": "size // WG" },
        "launch": { "global_size": "size", "local_size": "WG" },
        "kernel": [{ "global": "TS" }, "barrier", { "repeat": "d", "body": [{ "until": "lid" }] },
            { "if": "lid < TS", "then": [{ "work": 2 }], "else": [] }],
        "finish": [{ "atomic": 1 }] });
    let fields = [
        "/inputs/size",
        "/parameters/WG",
        "/parameters/TS",
        "/parameters/TS/0",
        "/constraints/0",
        "/definitions/d",
        "/launch/global_size",
        "/launch/local_size",
        "/kernel/0/global",
        "/kernel/2/repeat",
        "/kernel/2/body/0/until",
        "/kernel/3/if",
        "/finish/0/atomic",
        "/platform",
    ];
    if let Some(field) = value.pointer_mut(u.choose(&fields)?) {
        *field = json!(text);
    }
    Ok(value.to_string())
}

// ---- the tests ----------------------------------------------------------------------------------------

#[test]
fn fuzz() {
    let seconds = std::env::var("TICKBOUND_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    let share = Duration::from_secs_f64(seconds.unwrap_or(2.0) / 4.0);
    println!("the present input is in {}", last_input().display());
    let examples = examples();
    on_small_stack(move || {
        let tried = std::cell::Cell::new([0_u64; 4]);
        let count = |kind: usize| {
            let mut all = tried.get();
            all[kind] += 1;
            tried.set(all);
        };
        arbtest(|u| {
            count(0);
            watched(&String::from_utf8_lossy(u.bytes(u.len())?), try_problem);
            Ok(())
        })
        .budget(share / 2)
        .size_max(2_000)
        .run();
        arbtest(|u| {
            count(1);
            watched(&spoilt(u, &examples)?, try_problem);
            Ok(())
        })
        .budget(share * 2)
        .run();
        arbtest(|u| {
            count(2);
            watched(&text(u)?, try_text);
            Ok(())
        })
        .budget(share / 2)
        .size_max(4_000)
        .run();
        arbtest(|u| {
            count(3);
            let text = text(u)?;
            watched(&around(u, &text)?, try_problem);
            Ok(())
        })
        .budget(share)
        .size_max(4_000)
        .run();
        let plans = PLANS.load(Ordering::Relaxed);
        println!("bytes, examples, texts, texts in problems: {:?}; planned: {plans}", tried.get());
        assert!(plans > 0, "no input got as far as a plan");
    });
}

/// Tries one problem again: `TICKBOUND_FUZZ_INPUT` names its file.
#[test]
fn input_of_a_file() {
    let Ok(file) = std::env::var("TICKBOUND_FUZZ_INPUT") else { return };
    let text = std::fs::read_to_string(file).expect("a text");
    on_small_stack(move || watched(&text, try_problem));
}

/// A problem with this kernel.
fn with_kernel(kernel: &Value) -> String {
    json!({ "platform": "small", "parameters": { "WG": [6, 3] },
        "launch": { "global_size": "2 * WG", "local_size": "WG" }, "kernel": kernel })
    .to_string()
}

/// As often as it says.
fn times(text: &str, often: usize) -> String {
    text.repeat(often)
}

#[test]
fn long_and_deep_texts() {
    on_small_stack(|| {
        let texts = [
            // Once, a chain of comparisons copied its middle operands: 2^47 of the innermost.
            format!("{}1{}", times("1<(", 47), times(")<1", 47)),
            format!("{}1{}", times("(1<", 47), times("<1)", 47)),
            times("1+", 999) + "1",
            times("1<", 999) + "1",
            times("1 or ", 399) + "1",
            times("1**", 47) + "1",
            times("- ", 47) + "1",
            times("not ", 47) + "1",
            times("(", 1_000) + "1",
            times("[", 1_000),
            times("min(", 47) + "1" + &times(")", 47),
            times("1 if 1 else ", 47) + "1",
            times("(1 if ", 47) + "1" + &times(" else 1)", 47),
            format!("[{}1]", times("1,", 990)),
        ];
        for text in &texts {
            watched(text, try_text);
            for field in ["constraints", "definitions"] {
                let mut value: Value =
                    serde_json::from_str(&with_kernel(&json!([]))).expect("JSON");
                value[field] =
                    if field == "constraints" { json!([text]) } else { json!({ "d": text }) };
                watched(&value.to_string(), try_problem);
            }
        }
    });
}

#[test]
fn long_and_deep_kernels() {
    on_small_stack(|| {
        let bury = |levels: usize, around: &dyn Fn(Value) -> Value| {
            (0..levels).fold(json!({ "work": 1 }), |inner, _| around(inner))
        };
        let kernels = [
            bury(55, &|v| json!({ "repeat": 2, "body": [v] })),
            bury(55, &|v| json!({ "if": "lid % 2", "then": [v], "else": [{ "work": 2 }] })),
            bury(55, &|v| json!({ "repeat": 2, "body": [{ "work": "lid" }, v, "barrier"] })),
            bury(55, &|v| json!({ "repeat": 2, "body": [v, "barrier", { "work": "lid" }] })),
            bury(
                55,
                &|v| json!({ "repeat": 2, "body": ["barrier", v, { "until": "lid" }, "mark"] }),
            ),
            bury(500, &|v| json!({ "repeat": 2, "body": [v] })),
            // Once, the closed form was written out as a tree of 2^40 nodes.
            bury(40, &|v| json!({ "repeat": "WG - 2", "body": [v, { "until": "WG" }, "mark"] })),
        ];
        for kernel in kernels {
            watched(&with_kernel(&json!([kernel])), try_problem);
        }
        let many = [
            json!({ "if": "lid % 2", "then": [], "else": [] }),
            json!({ "if": "lid % 2", "then": ["mark"], "else": [] }),
            json!({ "if": "lid % 2", "then": [{ "until": 3 }], "else": ["mark"] }),
            json!({ "repeat": 2, "body": [] }),
            json!({ "repeat": "lid", "body": [{ "work": 1 }] }),
            json!({ "repeat": 2, "body": [{ "work": "lid" }, "barrier"] }),
            json!("mark"),
            json!("barrier"),
            json!({ "work": 1_i64 << 40 }),
            json!({ "until": i64::MAX }),
        ];
        for statement in many {
            let kernel: Vec<Value> = std::iter::repeat_n(statement, 60).collect();
            watched(&with_kernel(&json!(kernel)), try_problem);
        }
    });
}
