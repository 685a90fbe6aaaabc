//! Generated programs against `run`'s engine, and their text.
//!
//! Many connectors become one Rust program and one C program. Both read the same schedules - what
//! is put and taken at the ports, and which of the enabled steps is taken - and print all enabled
//! steps with data, states and cells. Functions are free: `f(0)` is the text `f(0)`; predicates are
//! a hash of their text. `SEED` chooses connectors and schedules, `MANY` how many connectors there
//! are.

mod program;
mod schedule;

use std::fmt::Write;
use std::process::Command;

use crate::connectors::connector;
use crate::expand::machines::{NAMES, Part, Words, part};

use program::{compiled, ran};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::connector::{self, Connector};
use tickbound_reo::export::ExportSubject;
use tickbound_reo::generate::{GenerateError, Language, generate};
use tickbound_reo::hide::close;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::{regions, stepwise};
use tickbound_reo::run::Random;
use tickbound_reo::symbol::{NameId, Symbols};

/// A connector of a part for each region, and its programs.
struct Made {
    connector: Connector,
    inputs: Vec<NameId>,
    rust: String,
    c: String,
}

impl Made {
    /// The names of all parts, sorted.
    fn alphabet(&self) -> Vec<NameId> {
        let parts = self.connector.parts.iter();
        let mut names: Vec<NameId> =
            parts.flat_map(|part| part.automaton.alphabet()).copied().collect();
        names.sort_unstable();
        names
    }
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Parts as one automaton without silent steps, as the command line makes it.
fn whole(parts: &[&Automaton], hidden: Vec<NameId>) -> Option<Automaton> {
    let limits = ProductLimits::memory(1 << 22);
    let options = stepwise::StepwiseOptions { hidden, minimise: Some(Equivalence::Weak) };
    let composed = stepwise::compose(parts, &options, &limits).ok()?;
    close(&composed.automaton, &limits).ok()
}

/// Each region of the parts as [`whole`] makes it, as the command line does.
fn all_regions(parts: &[&Automaton], hidden: &[NameId]) -> Option<Vec<Automaton>> {
    let region = |places: Vec<usize>| {
        whole(&places.iter().map(|at| parts[*at]).collect::<Vec<_>>(), hidden.to_vec())
    };
    regions(parts).into_iter().map(region).collect()
}

/// The connector of one automaton for each region, if it has programs.
fn made(
    name: &str,
    automata: Vec<Automaton>,
    symbols: &Symbols,
    inputs: &[NameId],
) -> Result<Made, GenerateError> {
    let names = automata.iter().flat_map(|automaton| automaton.alphabet());
    let interface: Vec<NameId> = names.copied().collect();
    let subject =
        |automaton| ExportSubject { name, automaton, symbols, inputs, interface: &interface };
    let subjects: Vec<ExportSubject> = automata.iter().map(subject).collect();
    let (rust, c) = (generate(&subjects, Language::Rust)?, generate(&subjects, Language::C)?);
    let part = |automaton| connector::ConnectorPart { kind: "region".into(), automaton };
    let connector = Connector {
        name: name.into(),
        symbols: symbols.clone(),
        parts: automata.into_iter().map(part).collect(),
        interface,
        written: Vec::new(),
        notes: Vec::new(),
        circuit: Vec::new(),
    };
    Ok(Made { connector, inputs: inputs.to_vec(), rust, c })
}

/// A random connector over random ports, some of its names hidden; nothing if there is no program.
fn some(name: &str, recipes: &[Part], random: &mut Random) -> Option<Made> {
    let words = Words::new();
    let parts = recipes.iter().enumerate().map(|(k, p)| p.automaton(&words, k));
    let parts: Vec<Automaton> = parts.collect();
    let hidden = words.chosen(random.below(1 << NAMES) as u8 & random.below(1 << NAMES) as u8);
    let automata = all_regions(&parts.iter().collect::<Vec<_>>(), &hidden)?;
    let transitions: usize = automata.iter().map(Automaton::transitions).sum();
    if !(1..=60).contains(&transitions) {
        return None;
    }
    // As few inputs as the first try that succeeds has.
    let mut tries: Vec<u8> = (0..1 << NAMES).collect();
    tries.sort_by_key(|bits| (bits.count_ones(), random.below(1 << 20)));
    let mut found = None;
    for bits in tries {
        found = made(name, automata.clone(), &words.symbols, &words.chosen(bits)).ok();
        if found.is_some() {
            break;
        }
    }
    found
}

/// Connectors whose steps are known to matter: chains, whose silent steps are taken into others,
/// filters, functions, memory.
/// The last two have several regions.
const TEXTS: [&str; 8] = [
    "f(a?, b!) { fifo1(a, m) fifo1(m, n) fifo1(n, b) }",
    "f(a?, b!, c!) { filter<\"P\">(a, m) transformer<\"f\">(m, b) fifo1(m, c) }",
    "f(a?, b?, c!) { fifo1(a, m) fifo1(b, n) sync(m, c) sync(n, c) }",
    "f(a?, b?, c!) { syncdrain(a, b) fifofull<\"x\">(a, m) fifofull(m, c) }",
    "f(a?, b!) { #RBA $m = 0; {a} a = $m, $m' = 1 {a} a != $m, $m' = 0 {b} b = f($m) }",
    "f(a?, b!, c!) { router(a, m, n) variable(m, b) transformer<\"g\">(n, k) fifo1(k, c) }",
    "f(a?, b!, c?, d!) { fifo1(a, b) fifofull<\"x\">(c, m) filter<\"P\">(m, d) }",
    "f(d?, c!, a?, b!, e?) { sync(d, c) fifo1(a, m) fifo1(m, b) syncdrain(e, k) fifo1(e, n) }",
];

fn all(seed: u64, many: usize) -> Vec<Made> {
    let mut made = Vec::new();
    for text in TEXTS {
        let connector = connector(text, "").unwrap_or_else(|e| panic!("{text}: {e}"));
        let parts: Vec<&Automaton> = connector.parts.iter().map(|p| &p.automaton).collect();
        let automata = all_regions(&parts, &connector.inner()).unwrap_or_else(|| panic!("{text}"));
        let name = format!("k{}", made.len());
        let one = self::made(&name, automata, &connector.symbols, &connector.inputs());
        made.push(one.unwrap_or_else(|e| panic!("{text}: {e}")));
    }
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &key);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = vec(part(), 1..=3);
    let mut random = Random::new(seed);
    let mut tried = 0;
    while made.len() < many + TEXTS.len() {
        tried += 1;
        let recipes = strategy.new_tree(&mut runner).expect("some parts").current();
        made.extend(some(&format!("k{}", made.len()), &recipes, &mut random));
    }
    println!("{many} random connectors of {tried} have programs");
    made
}

#[test]
fn programs_do_what_runs_do() {
    let (seed, many) = (number("SEED", 1), number("MANY", 200));
    println!("SEED={seed} MANY={many}");
    let all = all(seed, many as usize);
    let mut random = Random::new(seed);
    let (mut schedule, mut expected) = (String::new(), String::new());
    let mut fired = 0;
    for made in (0..3).flat_map(|_| &all) {
        let (asked, answered, steps) = schedule::some(made, 16, &mut random);
        _ = write!(schedule, "{}\n{asked}.\n", made.connector.name);
        _ = write!(expected, "{}\n{answered}", made.connector.name);
        fired += steps;
    }
    println!("{fired} steps in schedules of {} lines", schedule.lines().count());
    assert!(fired > 10 * many, "{fired} steps are too few to tell much");
    for (what, program) in [("rust", program::rust(&all)), ("c", program::c(&all))] {
        let Some(path) = compiled(&program, what) else { continue };
        let printed = ran(Command::new(path).arg("play"), &schedule);
        schedule::compare(&all, &expected, &printed, what);
    }
}

/// What many threads put at one end of a chain, and at the two ends of a merger, comes out at the
/// other: all of it, once, and from each thread in its order.
#[test]
fn threads_put_and_take() {
    let seed = number("SEED", 1);
    println!("SEED={seed}");
    let all = all(seed, 0);
    let Some(path) = compiled(&program::threads(&all[0], &all[2], seed), "threads") else { return };
    assert_eq!(ran(&mut Command::new(path), ""), "chain 4000\nmerger 4000\n");
}

/// A filter behind a full buffer, and a name of C as the connector's.
fn sample(language: Language) -> String {
    let text = "plus(k?, b!) { #RBA {k, b} b = k + 1 } \
        double(in?, out[1]!) \
        { fifofull<\"x \\\\ */\">(in, m) filter<\"even\">(m, k) plus(k, out[1]) }";
    let connector = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
    let parts: Vec<&Automaton> = connector.parts.iter().map(|p| &p.automaton).collect();
    let automaton = whole(&parts, connector.inner()).expect("a small automaton");
    let subject = ExportSubject {
        name: &connector.name,
        automaton: &automaton,
        symbols: &connector.symbols,
        inputs: &connector.inputs(),
        interface: &connector.interface,
    };
    generate(&[subject], language).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn rust() {
    insta::assert_snapshot!(sample(Language::Rust));
}

#[test]
fn c() {
    insta::assert_snapshot!(sample(Language::C));
}

#[test]
fn refused() {
    let refusal = |text: &str| {
        let connector = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
        let parts: Vec<&Automaton> = connector.parts.iter().map(|p| &p.automaton).collect();
        let automaton = whole(&parts, connector.inner()).expect("a small automaton");
        let refused = made("f", vec![automaton], &connector.symbols, &connector.inputs());
        refused.map(|_| ()).map_err(|e| e.to_string())
    };
    let open = |step: &str, what: &str| {
        Err(format!(
            "step `{step}` leaves {what} open: no equation gives it a value; add one, such as `b = \
             a` or `b = f($m)`, or let the environment write to the name"
        ))
    };
    for (text, expected) in [
        ("f(a?, b!) { sync(a, b) }", Ok(())),
        ("f(a!, b!) { syncspout(a, b) }", open("0 {a, b} true -> 0", "a")),
        ("f(a?, b!) { #RBA {a, b} P(b) }", open("0 {a, b} P(b) -> 0", "P(b)")),
        ("f(a?, b!) { #RBA {a, b} a = f(b) }", open("0 {a, b} a = f(b) -> 0", "a = f(b)")),
        (
            "f(a?, b!) { #RBA {a, b} a = 1, f(a, a) != b }",
            open("0 {a, b} 1 = a & b != f(1, 1) -> 0", "b != f(1, 1)"),
        ),
        ("f(a) { sync(m, n) sync(a, k) }", Ok(())),
    ] {
        assert_eq!(refusal(text), expected, "{text}");
    }
}

#[test]
fn refused_shapes() {
    use tickbound_reo::automaton::AutomatonBuilder;
    use tickbound_reo::constraint::DataConstraint;
    let mut symbols = Symbols::new();
    let a = symbols.name("a");
    let mut two = AutomatonBuilder::over([a], 2, vec![0, 1]);
    two.step(0, &[a], DataConstraint::default(), 1);
    let mut silent = AutomatonBuilder::over([a], 2, vec![0]);
    silent.step(0, &[], DataConstraint::default(), 1);
    let mut large = AutomatonBuilder::over([a], 20_002, vec![0]);
    (0..20_001).for_each(|s| _ = large.step(s, &[a], DataConstraint::default(), s + 1));
    for (builder, error) in [
        (two, GenerateError::Initial(2)),
        (silent, GenerateError::Silent("0 {} true -> 1".into())),
        (large, GenerateError::Large(20_001)),
        (AutomatonBuilder::over([a], 1, vec![0]), GenerateError::Ports),
    ] {
        let automaton = builder.finish().expect("an automaton");
        assert_eq!(made("x", vec![automaton], &symbols, &[a]).err(), Some(error));
    }
}
