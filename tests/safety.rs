//! `tickbound verify`: random kernels against an interpreter of all items, faults in the examples,
//! and the mixed radix against brute force.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_elimination::TableLimits;
use tickbound_expr::Expr;
use tickbound_model::{Configuration, Problem, platforms};
use tickbound_opencl::proof::terms::{Terms, VariableKind};
use tickbound_opencl::{ReaderSetup, for_proofs};
use tickbound_safety::answer::{Judged, Judgement, Safety, SafetyClaim};
use tickbound_safety::classes::Classes;
use tickbound_safety::quick::KnownLimits;
use tickbound_safety::{Verification, VerifyOptions, verify};

/// A generator of numbers that no later version changes: xorshift.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % n as u64) as i64
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as i64) as usize]
    }
}

/// Reads a kernel from a folder of its own, and verifies it.
fn verified(source: &str, launch: (&[i64], &[i64]), lengths: &[(&str, i64)]) -> Safety {
    verification(source, launch, lengths).safety
}

fn verification(source: &str, launch: (&[i64], &[i64]), lengths: &[(&str, i64)]) -> Verification {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let argument = |(name, length): &(&str, i64)| {
        let length = *length;
        json!({ "name": name, "type": "int", "length": length, "fill": 0 })
    };
    let arguments: Vec<_> = lengths.iter().map(argument).collect();
    let problem = json!({
        "version": 1, "name": "k", "inputs": {}, "platform": "h200", "parameters": {},
        "launch": { "global_size": launch.0, "local_size": launch.1 },
        "kernel": { "opencl": "k.cl", "entry": "k", "arguments": arguments },
    });
    let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
    answer(&problem, folder.path())
}

fn answer(problem: &Problem, folder: &std::path::Path) -> Verification {
    let configurations = problem.configurations(&TableLimits::default()).unwrap();
    let read = for_proofs(problem, &configurations, folder, &ReaderSetup::default());
    let options = VerifyOptions {
        question: Duration::from_secs(2),
        stop: &|| false,
        progress: &|_, _| {},
        among: None,
        all_refuted: true,
        certificate: true,
    };
    verify(problem, &configurations, &read.unwrap().unwrap(), &options).unwrap()
}

/// A number of a random kernel.
#[derive(Debug, Clone)]
enum Number {
    Int(i64),
    Name(String),
    /// Operator, and two parts; all of them are `int`, or `uint` if they begin with `u`.
    Op(&'static str, Box<Number>, Box<Number>),
    Chosen(Box<Number>, Box<Number>, Box<Number>),
}

/// A statement of a random kernel.
#[derive(Debug, Clone)]
enum Act {
    /// Array, index, whether it is stored to, and its line.
    Access(&'static str, Number, bool, usize),
    Barrier(bool, bool, usize),
    If(Number, Vec<Act>, Vec<Act>),
    /// Name, first value, test, step; what is done.
    For(String, Number, Number, &'static str, i64, Vec<Act>),
    Leave(&'static str, Number),
}

struct Maker {
    random: Random,
    names: Vec<String>,
    /// Whether barriers may stand where the walk is.
    uniform: bool,
    lines: usize,
    loops: usize,
}

impl Maker {
    fn number(&mut self, depth: i64) -> Number {
        let simple = depth == 0 || self.random.below(4) == 0;
        if simple {
            return match self.random.below(3) {
                0 => Number::Int(self.random.of(&[0, 1, 2, 3, 4, 5, 7, 8])),
                _ => {
                    let place = self.random.below(self.names.len() as i64);
                    Number::Name(self.names[place as usize].clone())
                }
            };
        }
        let op = self.random.of(&["+", "+", "+", "-", "*", "%", "/", "^", "&", "u-", "u+", "?"]);
        let first = Box::new(self.number(depth - 1));
        let second = match op {
            "%" | "/" => Number::Int(self.random.of(&[2, 3, 4, 8])),
            "*" => Number::Int(self.random.of(&[2, 4, 6])),
            "&" => Number::Int(self.random.of(&[1, 3, 7, 6])),
            "^" => Number::Int(self.random.of(&[1, 2, 3])),
            _ => self.number(depth - 1),
        };
        match op {
            "?" => Number::Chosen(Box::new(self.condition(1)), first, Box::new(second)),
            op => Number::Op(op, first, Box::new(second)),
        }
    }

    fn condition(&mut self, depth: i64) -> Number {
        let op = self.random.of(&["<", "<=", "==", "!=", ">", "u<"]);
        let first = Box::new(self.number(depth));
        let second = Box::new(self.number(depth - 1));
        Number::Op(op, first, second)
    }

    fn index(&mut self, length: i64) -> Number {
        let mut number = self.number(2);
        if self.random.below(3) == 0 {
            number = Number::Op("u%", Box::new(number), Box::new(Number::Int(length)));
        }
        number
    }

    fn line(&mut self) -> usize {
        self.lines += 1;
        self.lines
    }

    fn acts(&mut self, depth: i64) -> Vec<Act> {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.act(depth)).collect()
    }

    fn act(&mut self, depth: i64) -> Act {
        match self.random.below(if depth == 0 { 6 } else { 10 }) {
            0..=3 => {
                let (array, length) = self.random.of(&[("l", 16), ("l", 16), ("g", 40)]);
                let index = self.index(length);
                let store = self.random.below(2) == 0;
                Act::Access(array, index, store, self.line())
            }
            4 | 5 if self.uniform || self.random.below(12) == 0 => {
                let flags = self.random.of(&[(true, false), (true, true), (true, true)]);
                Act::Barrier(flags.0, flags.1, self.line())
            }
            6 | 7 => {
                let outer = self.uniform;
                self.uniform = false;
                let condition = self.condition(1);
                let then = self.acts(depth - 1);
                let otherwise =
                    if self.random.below(2) == 0 { self.acts(depth - 1) } else { Vec::new() };
                self.uniform = outer;
                Act::If(condition, then, otherwise)
            }
            8 if self.loops > 0 || self.random.below(4) == 0 => {
                let what = match self.loops {
                    0 => "return",
                    _ => self.random.of(&["break", "continue", "return"]),
                };
                Act::Leave(what, self.condition(1))
            }
            _ => self.repeat(depth),
        }
    }

    fn repeat(&mut self, depth: i64) -> Act {
        let outer = self.uniform;
        let name = format!("i{}", self.names.len());
        let item = self.random.below(3) == 0;
        let own = Number::Name("a".to_owned());
        let first = if item { own } else { Number::Int(self.random.of(&[0, 1, 2])) };
        self.uniform = outer && !item;
        let (update, by, end) = self.random.of(&[
            ("+=", 1, 3),
            ("+=", 1, 4),
            ("+=", 2, 5),
            ("+=", 4, 8),
            ("*=", 2, 8),
            (">>=", 1, 0),
            ("-=", 1, 0),
        ]);
        let first = match (update, item) {
            ("*=", _) => Number::Int(1),
            (">>=" | "-=", _) => Number::Int(self.random.of(&[3, 4])),
            _ => first,
        };
        let variable = Box::new(Number::Name(name.clone()));
        let ends = if update == ">>=" || update == "-=" { ">" } else { "<" };
        let test = Number::Op(ends, variable, Box::new(Number::Int(end)));
        self.names.push(name.clone());
        self.loops += 1;
        let body = self.acts(depth.max(1) - 1);
        self.loops -= 1;
        self.names.pop();
        self.uniform = outer;
        Act::For(name, first, test, update, by, body)
    }
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Name(name) => name.clone(),
        Number::Chosen(c, a, b) => {
            format!("({} ? {} : {})", number_text(c), number_text(a), number_text(b))
        }
        Number::Op(op, a, b) => {
            let (a, b) = (number_text(a), number_text(b));
            match op.strip_prefix('u') {
                Some("<") => format!("((uint)({a}) < (uint)({b}))"),
                Some(op) => format!("(int)((uint)({a}) {op} (uint)({b}))"),
                None => format!("(({a}) {op} ({b}))"),
            }
        }
    }
}

fn text(acts: &[Act], lines: &mut BTreeMap<usize, u32>, source: &mut String) {
    for act in acts {
        let here = source.matches('\n').count() as u32 + 1;
        match act {
            Act::Access(array, index, store, line) => {
                lines.insert(*line, here);
                let index = number_text(index);
                let _ = match store {
                    true => writeln!(source, "{array}[{index}] = a;"),
                    false => writeln!(source, "x += {array}[{index}];"),
                };
            }
            Act::Barrier(local, global, line) => {
                lines.insert(*line, here);
                let flags = [(local, "CLK_LOCAL_MEM_FENCE"), (global, "CLK_GLOBAL_MEM_FENCE")];
                let flags: Vec<&str> = flags.iter().filter(|f| *f.0).map(|f| f.1).collect();
                let _ = writeln!(source, "barrier({});", flags.join(" | "));
            }
            Act::If(condition, then, otherwise) => {
                let _ = writeln!(source, "if ({}) {{", number_text(condition));
                text(then, lines, source);
                source.push_str("} else {\n");
                text(otherwise, lines, source);
                source.push_str("}\n");
            }
            Act::For(name, first, test, update, by, body) => {
                let (first, test) = (number_text(first), number_text(test));
                let _ =
                    writeln!(source, "for (int {name} = {first}; {test}; {name} {update} {by}) {{");
                text(body, lines, source);
                source.push_str("}\n");
            }
            Act::Leave(what, condition) => {
                let _ = writeln!(source, "if ({}) {what};", number_text(condition));
            }
        }
    }
}

/// What an item has done: accesses with the barriers before them, local and global, and barriers.
#[derive(Default)]
struct Trace {
    accesses: Vec<(&'static str, i64, bool, usize, [usize; 2])>,
    barriers: Vec<(usize, Vec<i64>)>,
    passed: [usize; 2],
}

/// One item, interpreted.
struct Item {
    values: HashMap<String, i64>,
    counters: Vec<i64>,
    trace: Trace,
    /// A division by a number that is negative, or a value beyond `int`: not compared.
    strange: bool,
}

impl Item {
    fn value(&mut self, number: &Number) -> i64 {
        match number {
            Number::Int(value) => *value,
            Number::Name(name) => self.values[name],
            Number::Chosen(c, a, b) => {
                if self.value(c) != 0 {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
            Number::Op(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let (x, y) = (a as i32, b as i32);
                let (u, v) = (x as u32, y as u32);
                let exact = match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "%" => i64::from(x % y),
                    "/" => i64::from(x / y),
                    "^" => i64::from(x ^ y),
                    "&" => i64::from(x & y),
                    "<" => i64::from(x < y),
                    "<=" => i64::from(x <= y),
                    ">" => i64::from(x > y),
                    "==" => i64::from(x == y),
                    "!=" => i64::from(x != y),
                    "u<" => i64::from(u < v),
                    "u-" => i64::from(u.wrapping_sub(v) as i32),
                    "u+" => i64::from(u.wrapping_add(v) as i32),
                    "u%" => i64::from((u % v) as i32),
                    other => panic!("{other}"),
                };
                self.strange |= i32::try_from(exact).is_err();
                exact
            }
        }
    }

    /// Whether and how the statements were left.
    fn run(&mut self, acts: &[Act]) -> Option<&'static str> {
        for act in acts {
            match act {
                Act::Access(array, index, store, line) => {
                    let index = self.value(index);
                    let passed = self.trace.passed;
                    self.trace.accesses.push((array, index, *store, *line, passed));
                }
                Act::Barrier(local, global, line) => {
                    self.trace.barriers.push((*line, self.counters.clone()));
                    self.trace.passed[0] += usize::from(*local);
                    self.trace.passed[1] += usize::from(*global);
                }
                Act::If(condition, then, otherwise) => {
                    let side = if self.value(condition) != 0 { then } else { otherwise };
                    if let Some(left) = self.run(side) {
                        return Some(left);
                    }
                }
                Act::For(name, first, test, update, by, body) => {
                    let first = self.value(first);
                    self.values.insert(name.clone(), first);
                    self.counters.push(0);
                    let mut left = None;
                    while left.is_none() && self.value(test) != 0 {
                        left = self.run(body).filter(|left| *left != "continue");
                        let value = self.values[name];
                        let next = match *update {
                            "+=" => value + by,
                            "-=" => value - by,
                            "*=" => value * by,
                            _ => value >> by,
                        };
                        self.values.insert(name.clone(), next);
                        *self.counters.last_mut().unwrap() += 1;
                    }
                    self.counters.pop();
                    if left == Some("return") {
                        return left;
                    }
                }
                Act::Leave(what, condition) => {
                    if self.value(condition) != 0 {
                        return Some(what);
                    }
                }
            }
        }
        None
    }
}

/// The faults that trying all items finds: what, and the lines.
fn faults(
    acts: &[Act],
    groups: i64,
    local: i64,
) -> Option<BTreeSet<(SafetyClaim, BTreeSet<usize>)>> {
    let mut found = BTreeSet::new();
    let mut all = Vec::new();
    for group in 0..groups {
        for item in 0..local {
            let values = HashMap::from([
                ("a".to_owned(), item),
                ("b".to_owned(), group),
                ("c".to_owned(), group * local + item),
            ]);
            let mut one =
                Item { values, counters: Vec::new(), trace: Trace::default(), strange: false };
            one.run(acts);
            if one.strange {
                return None;
            }
            all.push((group, one.trace));
        }
    }
    // Pairs of more take long.
    if all.iter().any(|(_, trace)| trace.accesses.len() > 500) {
        return None;
    }
    for (i, (group, trace)) in all.iter().enumerate() {
        for (array, index, _, line, _) in &trace.accesses {
            let length = if *array == "l" { 16 } else { 40 };
            if !(0..length).contains(index) {
                found.insert((SafetyClaim::Bounds, BTreeSet::from([*line])));
            }
        }
        for place in unwritten(&all, i) {
            found.insert((SafetyClaim::Written, BTreeSet::from([place])));
        }
        for (other, second) in &all[i + 1..] {
            if group == other && trace.barriers != second.barriers {
                found.insert((SafetyClaim::Divergence, BTreeSet::new()));
            }
            for x in &trace.accesses {
                for y in &second.accesses {
                    let space = usize::from(x.0 == "g");
                    let meet = x.0 == y.0 && x.1 == y.1 && (x.2 || y.2);
                    let lines = BTreeSet::from([x.3, y.3]);
                    if meet && group == other && x.4[space] == y.4[space] {
                        found.insert((SafetyClaim::Race, lines));
                    } else if meet && group != other && space == 1 {
                        found.insert((SafetyClaim::RaceOfGroups, lines));
                    }
                }
            }
        }
    }
    Some(found)
}

/// The lines at which an item reads local memory that neither it nor, before a barrier, another
/// item of its group has written.
fn unwritten(all: &[(i64, Trace)], item: usize) -> Vec<usize> {
    let (group, trace) = &all[item];
    let mut lines = Vec::new();
    for (k, (array, index, store, line, passed)) in trace.accesses.iter().enumerate() {
        if *array != "l" || *store {
            continue;
        }
        let own = trace.accesses[..k].iter().any(|x| x.0 == "l" && x.1 == *index && x.2);
        let others = all.iter().filter(|(other, _)| other == group);
        let before = |x: &(&str, i64, bool, usize, [usize; 2])| {
            x.0 == "l" && x.1 == *index && x.2 && x.4[0] < passed[0]
        };
        if !own && !others.into_iter().any(|(_, other)| other.accesses.iter().any(before)) {
            lines.push(*line);
        }
    }
    lines
}

/// How many judgements of a random kernel were right, and how many were no decision: of all claims,
/// and of those about what is written.
pub fn compared(seed: u64) -> ([[usize; 2]; 2], Option<Verification>) {
    let mut maker = Maker {
        random: Random::new(seed),
        names: ["a", "b", "c"].map(str::to_owned).to_vec(),
        uniform: true,
        lines: 0,
        loops: 0,
    };
    let mut acts = maker.acts(2);
    acts.extend(maker.acts(2));
    // The pairs of larger ones take long, and show no more.
    if maker.lines > 12 {
        return ([[0; 2]; 2], None);
    }
    let (groups, local) = (2, maker.random.of(&[4, 5, 8]));
    let mut source = "kernel void k(global int *g)\n{\nlocal int l[16];\nint x = 0;\n\
                      const int a = get_local_id(0);\nconst int b = get_group_id(0);\n\
                      const int c = get_global_id(0);\n"
        .to_owned();
    let mut lines = BTreeMap::new();
    text(&acts, &mut lines, &mut source);
    source.push_str("}\n");
    let Some(faults) = faults(&acts, groups, local) else { return ([[0; 2]; 2], None) };
    let found = verification(&source, (&[groups * local], &[local]), &[("g", 40)]);
    let safety = &found.safety;
    assert!(safety.unread.is_empty(), "seed {seed}: {:?}\n{source}", safety.unread);
    let has = |wanted| faults.iter().any(|(claim, _)| *claim == wanted);
    let diverges = has(SafetyClaim::Divergence);
    // What is read where items race, no order of theirs tells.
    let races = has(SafetyClaim::Race);
    let places = |judged: &Judged| -> BTreeSet<usize> {
        let line = |at: u32| lines.iter().find(|(_, l)| **l == at).map(|(line, _)| *line);
        judged.at.iter().filter_map(|at| line(at.line)).collect()
    };
    let mut counts = [[0; 2]; 2];
    for judged in &safety.judged {
        if judged.claim == SafetyClaim::Division || races && judged.claim == SafetyClaim::Written {
            continue;
        }
        // Where items meet at different barriers, what follows has no meaning.
        if diverges
            && judged.claim != SafetyClaim::Bounds
            && judged.claim != SafetyClaim::Divergence
        {
            let race = judged.claim == SafetyClaim::Race && judged.judgement == Judgement::Proved;
            assert!(!race, "seed {seed}: {judged:?}\n{source}");
            continue;
        }
        let is_fault = match judged.claim {
            SafetyClaim::Divergence => continue,
            claim => faults.contains(&(claim, places(judged))),
        };
        let wrong = match judged.judgement {
            Judgement::Proved => is_fault,
            Judgement::Refuted => !is_fault,
            Judgement::Undecided => false,
        };
        assert!(!wrong, "seed {seed}: fault {is_fault}, {judged:?}\n{source}");
        let own = usize::from(judged.claim == SafetyClaim::Written);
        counts[own][usize::from(judged.judgement == Judgement::Undecided)] += 1;
    }
    // Each fault was judged, and not as absent.
    for (claim, lines) in &faults {
        let about = safety.judged.iter().filter(|judged| judged.claim == *claim);
        let mut about = about.filter(|j| *claim == SafetyClaim::Divergence || places(j) == *lines);
        let seen = about.any(|judged| judged.judgement != Judgement::Proved);
        let other = diverges && *claim != SafetyClaim::Divergence
            || races && *claim == SafetyClaim::Written;
        assert!(seen || other, "seed {seed}: {claim:?} {lines:?} is missed\n{source}");
    }
    (counts, Some(found))
}

/// Faults in the examples: what is replaced in the source, and what is found then.
const FAULTS: [(&str, &str, &str, SafetyClaim); 9] = [
    ("transpose", "    barrier(CLK_LOCAL_MEM_FENCE);\n", "", SafetyClaim::Race),
    ("transpose", "(left + row) * height", "(left + row) * width", SafetyClaim::Bounds),
    ("reduction", "if (item < s)", "if (item <= s)", SafetyClaim::Race),
    (
        "reduction",
        "        }\n        barrier(CLK_LOCAL_MEM_FENCE);\n",
        "        }\n",
        SafetyClaim::Race,
    ),
    ("reduction", "if (item < s) {", "if (item >= s) break; else {", SafetyClaim::Divergence),
    ("minimum", "    barrier(CLK_LOCAL_MEM_FENCE);\n", "", SafetyClaim::Race),
    ("stencil", "            tile[ly][0] = input[at - 1];\n", "", SafetyClaim::Written),
    ("reduction", "s = WG / 2", "s = WG", SafetyClaim::Written),
    ("transpose", "row < TILE; row += ROWS", "row < TILE - 1; row += ROWS", SafetyClaim::Written),
];

/// Each fault is found with a counterexample; without it, the examples are safe.
#[test]
fn faults_in_examples() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels");
    for name in ["transpose", "reduction", "minimum", "nbody"] {
        assert!(example(&examples, name, ("", "")).safety.is_proved(), "{name}");
    }
    for (name, from, to, claim) in FAULTS {
        let safety = example(&examples, name, (from, to)).safety;
        let refuted = |judged: &Judged| judged.judgement == Judgement::Refuted;
        let about = safety.judged.iter().find(|judged| judged.claim == claim && refuted(judged));
        let witness = about.and_then(|judged| judged.witness.as_ref());
        assert!(witness.is_some_and(|w| !w.configuration.is_empty()), "{name} {to}: {safety:?}");
    }
}

/// Without one rule, some configurations of the matrix multiplication read local memory that no
/// item has written; none races, and none accesses memory out of bounds.
#[test]
fn a_forgotten_rule() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels");
    let text = std::fs::read_to_string(examples.join("gemm.json")).unwrap();
    let mut problem: serde_json::Value = serde_json::from_str(&text).unwrap();
    let few = [("NWG", [16, 32]), ("KWI", [2, 8]), ("MDIMC", [8, 16])];
    for (name, values) in few {
        problem["parameters"][name] = json!(values);
    }
    for name in ["VWN", "STRM", "STRN", "SB", "KWG", "NDIMC"] {
        let first = problem["parameters"][name][0].clone();
        problem["parameters"][name] = json!([first]);
    }
    let made = |problem: &serde_json::Value| {
        let problem = Problem::from_value(problem, &IndexMap::new(), &platforms::find).unwrap();
        answer(&problem, &examples).safety
    };
    assert!(made(&problem).is_proved());
    let rules = problem["constraints"].as_array_mut().unwrap();
    rules.retain(|rule| rule != "MWG % (MDIMA * VWM) == 0");
    let safety = made(&problem);
    let refuted = safety.judged.iter().filter(|judged| judged.judgement == Judgement::Refuted);
    let claims: BTreeSet<SafetyClaim> = refuted.map(|judged| judged.claim).collect();
    assert_eq!(claims, BTreeSet::from([SafetyClaim::Written]), "{safety:?}");
    assert_eq!(safety.kept, ["MWG % (MDIMA * VWM) == 0"]);
}

/// Where no rule of a simple form says which configurations are safe, they are listed.
#[test]
fn combinations_without_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let source = "kernel void k(global int *g) { g[A == 4 && B == 2 || A == 1 && B == 4 ? 64 : \
                  get_global_id(0)] = C; }";
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let problem = json!({
        "version": 1, "name": "k", "inputs": {}, "platform": "h200",
        "parameters": { "A": [1, 2, 4], "B": [2, 4, 8], "C": [1, 2] },
        "launch": { "global_size": [16], "local_size": [4] },
        "kernel": { "opencl": "k.cl", "entry": "k", "defines": { "A": "A", "B": "B", "C": "C" },
            "arguments": [{ "name": "g", "type": "int", "length": 64, "fill": 0 }] },
    });
    let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
    let safety = answer(&problem, folder.path()).safety;
    assert_eq!(safety.kept, ["A != 1 or B != 4", "A != 4 or B != 2"], "{safety:?}");
}

/// All refuted configurations are known, and those alone.
#[test]
fn each_refuted_configuration_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        "kernel void k(global int *g) { g[get_global_id(0) + (A * B == 8 ? 61 : 0)] = 1; }";
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let problem = json!({
        "version": 1, "name": "k", "inputs": {}, "platform": "h200",
        "parameters": { "A": [1, 2, 4], "B": [2, 4, 8], "C": [1, 2] },
        "launch": { "global_size": [4], "local_size": [4] },
        "kernel": { "opencl": "k.cl", "entry": "k", "defines": { "A": "A", "B": "B" },
            "arguments": [{ "name": "g", "type": "int", "length": 64, "fill": 0 }] },
    });
    let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
    let safety = answer(&problem, folder.path()).safety;
    for bound in problem.space().unwrap().bound {
        let [a, b, _] = bound.configuration.0[..] else { panic!("three parameters") };
        assert_eq!(safety.refutes(&bound.configuration).is_some(), a * b == 8, "{a} {b}");
    }
}

/// An example with a part of its source replaced.
pub fn example(examples: &std::path::Path, name: &str, (from, to): (&str, &str)) -> Verification {
    let folder = tempfile::tempdir().unwrap();
    let source = std::fs::read_to_string(examples.join(format!("{name}.cl"))).unwrap();
    assert!(source.contains(from), "{name}: {from}");
    let source = if from.is_empty() { source } else { source.replacen(from, to, 1) };
    std::fs::write(folder.path().join(format!("{name}.cl")), source).unwrap();
    let problem = std::fs::read_to_string(examples.join(format!("{name}.json"))).unwrap();
    let problem = serde_json::from_str(&problem).unwrap();
    let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
    answer(&problem, folder.path())
}

/// What is not known is not called proved: no lengths, pointers from memory, recursion.
/// Which numbers occur with some texts, against the list of all configurations or of some. Not all
/// of the texts occur in these, and at times none.
#[test]
fn cases_of_texts_against_the_list() {
    let names = ["A", "B", "C", "D"];
    let mut nothing = 0;
    for seed in 1..=200 {
        let mut r = Random::new(seed);
        let domains = names.map(|name| (name.to_owned(), json!([1, 2, 3, 4, 6])));
        let parameters: serde_json::Map<String, Value> = domains.into_iter().collect();
        let rule = |r: &mut Random| {
            let [a, b, c] = [r.of(&names), r.of(&names), r.of(&names)];
            format!("({a} + {}) * {b} % {} <= {c}", r.below(3), 2 + r.below(4))
        };
        let constraints = [rule(&mut r), rule(&mut r)];
        let problem = json!({
            "version": 1, "name": "k", "platform": "h200", "parameters": parameters,
            "constraints": constraints,
            "definitions": { "T0": "A", "T1": "B * C", "N0": "C + D", "N1": "B % 3" },
            "launch": { "global_size": "A * B", "local_size": "B" },
            "kernel": [{ "compute": 1 }],
        });
        let problem = Problem::from_value(&problem, &IndexMap::new(), &platforms::find).unwrap();
        let number = |place: usize| {
            let (name, number) = &problem.definitions[place];
            problem.inlined(name, number).unwrap()
        };
        let (structural, numbers) = (vec![number(0), number(1)], [number(2), number(3)]);
        let mut all = problem.space().unwrap().bound;
        let value = |e: &Expr, env: &[i64]| e.eval(env).unwrap();
        let text = |env: &[i64]| structural.iter().map(|e| value(e, env)).collect::<Vec<_>>();
        let occurring: BTreeSet<Vec<i64>> = all.iter().map(|b| text(&b.env)).collect();
        let own = r.below(3);
        let texts: BTreeSet<Vec<i64>> = occurring
            .into_iter()
            .filter(|text| text[1] % 3 == own && (seed % 3 == 0 || text[0] == own + 2))
            .collect();
        let is_listed = seed % 2 == 0;
        if is_listed {
            all.retain(|_| r.below(20) == 0);
        }
        let among: Vec<Configuration> = all.iter().map(|b| b.configuration.clone()).collect();
        let found = all.iter().filter(|b| texts.contains(&text(&b.env)));
        let expected: BTreeSet<Vec<i64>> =
            found.map(|b| numbers.iter().map(|e| value(e, &b.env)).collect()).collect();
        let configurations = problem.configurations(&TableLimits::default()).unwrap();
        let among = is_listed.then_some(among.as_slice());
        let classes =
            Classes::new(&problem, &configurations, structural.clone(), (&|| false, among));
        let numbers: Vec<&Expr> = numbers.iter().collect();
        let readings = texts.iter().map(|text| (numbers.clone(), text.clone()));
        let cases = classes.cases(readings).unwrap();
        for (place, values) in cases.values().enumerate() {
            let shown = cases.configuration(&problem, place);
            let own = all.iter().find(|b| b.configuration.0.iter().eq(shown.values()));
            let env = &own.unwrap_or_else(|| panic!("seed {seed}: {shown:?}")).env;
            let of: Vec<i64> = numbers.iter().map(|e| value(e, env)).collect();
            assert!(of == *values && texts.contains(&text(env)), "seed {seed}: {shown:?}");
        }
        let found: BTreeSet<Vec<i64>> = cases.values().cloned().collect();
        assert_eq!(found, expected, "seed {seed}");
        nothing += usize::from(found.is_empty());
    }
    assert_eq!(nothing, 16, "of texts that do not occur");
}

#[test]
fn what_is_not_read_is_not_decided() {
    let undecided = [
        "kernel void k(global int *g) { g[get_global_id(0) + g[0]] = 1; }",
        "void f(global int *p); kernel void k(global int *g) { f(g); }",
        "kernel void k(global int *g) { global int *p = (global int *)(size_t)g[0]; *p = 1; }",
        "kernel void k(global int *g) { if (g[0]) barrier(CLK_LOCAL_MEM_FENCE); \
         g[get_global_id(0) + 1] = 0; }",
        "kernel void k(global int *g) { for (int i = g[0]; i != g[1]; i = g[i]) g[i] = 0; }",
    ];
    for source in undecided {
        let safety = verified(source, (&[16], &[4]), &[("g", 40)]);
        assert!(
            !safety.is_proved() && safety.count(Judgement::Refuted) == 0,
            "{source}: {safety:?}"
        );
    }
    let safety =
        verified("kernel void k(global int *g) { g[get_global_id(0)] = 0; }", (&[16], &[4]), &[]);
    assert_eq!(safety.count(Judgement::Undecided), 1, "{safety:?}");
}

/// An access through null is out of bounds, and none is where it is not reached.
#[test]
fn null_pointers() {
    let store = "kernel void k(global int *g) { global int *p = 0; p[get_local_id(0)] = 1; }";
    let safety = verified(store, (&[8], &[8]), &[("g", 40)]);
    assert_eq!(safety.count(Judgement::Refuted), 1, "{safety:?}");
    let guarded = "kernel void k(global int *g) { global int *p = 0; if (p) p[1] = 1; }";
    assert!(verified(guarded, (&[8], &[8]), &[("g", 40)]).is_proved());
}

/// At several sizes: those at which an index overflows are found, and left out.
#[test]
fn several_sizes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["stencil.json", "stencil.cl", "stencil.ref.c"] {
        let example = std::path::Path::new("examples/kernels").join(name);
        std::fs::copy(example, folder.path().join(name)).unwrap();
    }
    let over = ["--over", "width=height=depth=256,2048", "--keep-safe", "kept.json"];
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_tickbound"))
        .args(["verify", "stencil.json"].iter().chain(&over))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let counts = "not safe: 1176 configurations at 2 sizes; 41 proved, 12 refuted, 0 not decided\n";
    assert!(text.starts_with(counts), "{text}");
    assert!(text.contains("  configuration: width=2048, height=2048, depth=2048, BLOCK_X=16, "));
    let kept = std::fs::read_to_string(folder.path().join("kept.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["constraints"].as_array().unwrap().last().unwrap(), "width <= 256");
}

/// A condition stays where it keeps a remainder from changing its number.
#[test]
fn a_condition_on_a_remainder_is_kept() {
    let source = "kernel void k(global int *g) { int a = get_local_id(0); \
                  if (!((uint)(a & 3) < (uint)a)) g[a > 3 ? 40 : a] = a; }";
    let safety = verified(source, (&[8], &[8]), &[("g", 40)]);
    assert!(safety.is_proved(), "{safety:?}");
}

/// No judgement of random kernels contradicts an interpreter that tries all items.
#[test]
fn random_kernels_against_all_items() {
    let count: u64 = std::env::var("SAFETY_KERNELS").map_or(150, |n| n.parse().unwrap());
    let first: u64 = std::env::var("SAFETY_SEED").map_or(1, |n| n.parse().unwrap());
    let mut all = [[0; 2]; 2];
    for seed in first..first + count {
        let counts = compared(seed).0;
        for (all, counts) in all.iter_mut().zip(counts) {
            *all = [all[0] + counts[0], all[1] + counts[1]];
        }
    }
    eprintln!("decided and not: {:?}; reads of local memory: {:?}", all[0], all[1]);
    assert!(all.iter().all(|[decided, not]| not * 4 < *decided), "{all:?}");
}

/// Sums of ids and counters that are called injective name each combination once.
#[test]
fn random_sums_against_all_values() {
    let (mut proved, mut injective) = (0, 0);
    for seed in 0..60_000 {
        let mut random = Random::new(seed + 1);
        let mut terms = Terms::default();
        let count = 2 + random.below(3);
        let sizes: Vec<i64> = (0..count).map(|_| 1 + random.below(5)).collect();
        let factors: Vec<i64> = (0..count).map(|_| random.below(13) - 3).collect();
        let bytes = random.of(&[1, 1, 2, 4]);
        let mut sides = Vec::new();
        for _ in 0..2 {
            let kind = || VariableKind::Unknown;
            let ids = sizes.iter().map(|n| terms.variable(kind(), (0, i128::from(n - 1))));
            let ids: Vec<_> = ids.collect();
            let mut sum = terms.int(random.below(1).into());
            for (id, factor) in ids.iter().zip(&factors) {
                sum = terms.plus(sum, (*factor).into(), *id);
            }
            sides.push((ids, sum));
        }
        // A condition on both: a part of the sum is bounded.
        let limit = random.below(8);
        let mut given = Vec::new();
        if random.below(2) == 0 && count > 2 {
            for (ids, _) in &sides {
                let scaled = terms.plus(ids[0], 2, ids[1]);
                let limit = terms.int(limit.into());
                given.push(terms.less(scaled, limit));
            }
        }
        let other: HashMap<_, _> =
            sides[0].0.iter().copied().zip(sides[1].0.iter().copied()).collect();
        let ids: Vec<_> =
            sides[0].0.iter().copied().filter(|id| terms.constant(*id).is_none()).collect();
        let pair = (sides[0].1, sides[1].1);
        let conditioned = !given.is_empty();
        let apart = KnownLimits::new(&mut terms, &given).is_apart(pair, bytes.into(), &other, &ids);
        let all = combinations(&sizes);
        let all: Vec<_> =
            all.into_iter().filter(|v| !conditioned || v[0] + 2 * v[1] < limit).collect();
        let sum = |v: &[i64]| -> i64 { v.iter().zip(&factors).map(|(v, f)| v * f).sum() };
        let mut sums: Vec<i64> = all.iter().map(|v| sum(v)).collect();
        sums.sort_unstable();
        let truly = sums.windows(2).all(|pair| pair[1] - pair[0] >= bytes);
        assert!(truly || !apart, "seed {seed}: {factors:?} {sizes:?} {bytes} {conditioned}");
        proved += usize::from(apart);
        injective += usize::from(truly);
    }
    eprintln!("{proved} of {injective} injective sums proved");
    assert!(proved * 2 > injective, "{proved} of {injective}");
}

fn combinations(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |all, size| {
        let longer = |v: &Vec<i64>| -> Vec<Vec<i64>> {
            (0..*size).map(|k| v.iter().copied().chain([k]).collect()).collect()
        };
        all.iter().flat_map(longer).collect()
    })
}
