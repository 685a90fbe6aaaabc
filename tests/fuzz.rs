//! Nothing that a person may write makes tickbound panic, exhaust the stack or hang.
//!
//! `TICKBOUND_FUZZ_SECONDS` says for how long inputs are made up; `cargo xtask run fuzz` takes ten
//! minutes, half of them for problems, half for the files in `tests/corpus` with random changes. An
//! input that kills the whole test is left in a file, named at the start of the output, and
//! `TICKBOUND_FUZZ_INPUT=FILE TICKBOUND_FUZZ_READER=problem cargo test --test tests
//! input_of_a_file` tries it again. An input that once failed belongs in `tests/corpus/READER`,
//! under a name that begins with `bad` if it cannot be read.

use std::fs::File;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use arbtest::arbitrary::{Result as Made, Unstructured};
use arbtest::arbtest;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use tickbound_expr::parse::{parse, parse_domain};
use tickbound_model::ModelError;

use crate::readers::{self, PLANS, READERS, Reader, is_missing, one_line};

/// The parsers are honest about nesting only on a stack of the usual size for a thread.
const STACK: usize = 2 << 20;
/// An input that takes longer than this is a fault.
const SLOW: Duration = Duration::from_secs(2);
/// An input that takes longer than this hangs.
const HANGS: Duration = Duration::from_secs(120);
/// The same for a kernel, for which the preprocessor and libclang are started.
const SLOW_KERNEL: Duration = Duration::from_secs(40);
// ---- one input
// --------------------------------------------------------------------------------------

/// A problem file.
fn try_problem(text: &str) {
    readers::check("problem", text.as_bytes());
}

/// An expression or a domain by itself: what is printed reads back.
fn try_text(text: &str) {
    match parse(text) {
        Err(e) => one_line(&ModelError::new("here", e.to_string(), "").to_string()),
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
        Err(e) => one_line(&ModelError::new("here", e.to_string(), "").to_string()),
        Ok(domain) => {
            if let Ok(domain) = domain.resolve(&mut |name| Some(name.len() % 2))
                && let Err(e) = domain.values(&[3, 0])
            {
                one_line(&e.to_string());
            }
        }
    }
}

// ---- watching over inputs
// ---------------------------------------------------------------------------

/// The input that is tried now, and since when.
static PRESENT: Mutex<Option<(Instant, Vec<u8>)>> = Mutex::new(None);

fn last_input() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fuzz-input")
}

/// Leaves the input in the file, for what cannot be caught: a stack overflow, an endless loop.
fn leave(bytes: &[u8]) -> std::io::Result<()> {
    static FILE: Mutex<Option<File>> = Mutex::new(None);
    let mut file = FILE.lock().expect("not poisoned");
    // The file stays open: to truncate one on opening takes milliseconds.
    let file = match &mut *file {
        Some(file) => file,
        none => none.insert(File::create(last_input())?),
    };
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Tries one text; panics with it if it panics or is slow.
fn watched(text: &str, what: fn(&str)) {
    watched_bytes(text.as_bytes(), SLOW, &|| what(text));
}

/// Tries one input; panics with the input if `what` panics or is slow.
fn watched_bytes(bytes: &[u8], slow: Duration, what: &dyn Fn()) {
    leave(bytes).expect("the file can be written");
    let input = || bytes.escape_ascii();
    let timed = || {
        let (begin, worked) = (Instant::now(), processor_time());
        *PRESENT.lock().expect("not poisoned") = Some((begin, bytes.to_owned()));
        let result = catch_unwind(AssertUnwindSafe(what));
        *PRESENT.lock().expect("not poisoned") = None;
        assert!(result.is_ok(), "this input panics: {}", input());
        // A machine that does other things makes the clock run, not this process work. Of a kernel
        // the work is done in other processes.
        let worked = processor_time() - worked;
        if slow == SLOW { begin.elapsed().min(worked) } else { begin.elapsed() }
    };
    assert!(timed() <= slow || timed() <= slow, "longer than {slow:?}: {}", input());
}

/// For how long processors have worked for this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("a time after the start")
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
        if let Some((_, bytes)) = present.filter(|(begin, _)| begin.elapsed() > HANGS) {
            eprintln!("this input hangs: {}", bytes.escape_ascii());
            std::process::abort();
        }
    }
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

// ---- making inputs up
// ---------------------------------------------------------------------------------

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

// ---- the tests
// ----------------------------------------------------------------------------------------

/// For how long inputs are made up.
fn seconds() -> Duration {
    let given = std::env::var("TICKBOUND_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs_f64(given.unwrap_or(4.0))
}

#[test]
fn fuzz() {
    let share = seconds() / 8;
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

fn tried(reader: Reader, bytes: &[u8]) {
    let slow = if ["opencl", "safety"].contains(&reader.name) { SLOW_KERNEL } else { SLOW };
    watched_bytes(bytes, slow, &|| readers::check(reader.name, bytes));
}

/// The kept files of a reader, by name.
fn corpus(reader: Reader) -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(reader.name);
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file"));
    let mut files: Vec<_> = entries
        .map(|e| {
            (e.file_name().into_string().expect("UTF-8"), std::fs::read(e.path()).expect("bytes"))
        })
        .collect();
    files.sort();
    files
}

/// Kept files can be read, but for those called `bad`.
#[test]
fn kept_files() {
    on_small_stack(|| {
        for reader in READERS {
            let files = corpus(reader);
            assert!(files.iter().any(|(name, _)| !name.starts_with("bad")), "{}", reader.name);
            for (name, bytes) in files {
                tried(reader, &bytes);
                match (reader.read)(&bytes) {
                    Err(e) if is_missing(&e) && std::env::var_os("CI").is_none() => {}
                    found => {
                        assert_eq!(found.is_err(), name.starts_with("bad"), "{name}: {found:?}")
                    }
                }
            }
        }
    });
}

/// What is put into kept files.
const PIECES: [&[u8]; 26] = [
    b"99999999999999999999",
    b"9223372036854775807",
    b"-1",
    b"0",
    b"1e999",
    b"((((((((((((((((",
    b"[[[[[[[[[[[[[[[[",
    b"{\"a\":{\"a\":{\"a\":",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"null",
    b"true",
    b"\"\"",
    b"/",
    b"%",
    b"\r\n",
    b"*",
    b"- - - - - - - - ",
    b"#define A A A\nA\n",
    b"while(1);",
    b";",
    b"}",
    b")",
];

/// A kept file with one to eight changes, as `scripts/reliability.py` makes them.
fn changed(u: &mut Unstructured<'_>, kept: &[u8]) -> Made<Vec<u8>> {
    let mut data = kept.to_vec();
    for _ in 0..*u.choose(&[1, 1, 2, 3, 8])? {
        let (a, b) = (u.int_in_range(0..=data.len())?, u.int_in_range(0..=data.len())?);
        let (low, high) = (a.min(b), a.max(b));
        match u.int_in_range(0..=6)? {
            0 if a < data.len() => data[a] = u.arbitrary()?,
            1 => drop(data.splice(a..a, u.choose(&PIECES)?.iter().copied())),
            2 => drop(data.drain(low..high.min(low + 40))),
            3 => {
                let line = data[low..].split(|c| *c == b'\n').next().unwrap_or_default().to_vec();
                data.splice(high..high, line);
            }
            4 => {
                let piece = data[b..data.len().min(b + 20)].to_vec();
                data.splice(a..data.len().min(a + 20), piece);
            }
            5 => {
                if let Some(digit) = (a..data.len()).find(|i| data[*i].is_ascii_digit()) {
                    let numbers: [&[u8]; 5] = [b"0", b"-7", b"4096", &[b'9'; 25], b"1.5"];
                    data.splice(digit..=digit, u.choose(&numbers)?.iter().copied());
                }
            }
            _ if u.ratio(1, 8)? => data.truncate(a),
            _ => {}
        }
    }
    Ok(data)
}

/// Kept files with changes.
#[test]
fn changed_files() {
    let share = seconds() / 2 / u32::try_from(READERS.len()).expect("few");
    on_small_stack(move || {
        for reader in READERS {
            let (files, inputs) = (corpus(reader), std::cell::Cell::new(0_u64));
            println!("{}", reader.name);
            arbtest(|u| {
                inputs.set(inputs.get() + 1);
                let (_, kept) = u.choose(&files)?;
                tried(reader, &changed(u, kept)?);
                Ok(())
            })
            .budget(share)
            .run();
            println!("{}: {} inputs", reader.name, inputs.get());
        }
    });
}

/// Tries one input again: `TICKBOUND_FUZZ_INPUT` names its file, `TICKBOUND_FUZZ_READER` its kind.
#[test]
fn input_of_a_file() {
    let Ok(file) = std::env::var("TICKBOUND_FUZZ_INPUT") else { return };
    let bytes = std::fs::read(file).expect("a file");
    let name = std::env::var("TICKBOUND_FUZZ_READER").unwrap_or_else(|_| "problem".to_owned());
    let reader = READERS.into_iter().find(|reader| reader.name == name).expect("a reader's name");
    on_small_stack(move || tried(reader, &bytes));
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
