//! How fast the reachable product is made: transitions a second, kept as a whole automaton.
//!
//! `cargo bench -p tickbound-reo --bench reachable [-- NAME [RUNS]]`. Each product is made several
//! times (5 unless told) on all cores, or as many as `RAYON_NUM_THREADS` says; the shortest time
//! counts, and the longest is shown beside it. The textbook product, folded over the parts and
//! then cut to what is reachable, is measured in the same run on smaller sizes.
//!
//! What is compared with a bar is measured in seconds of all processors and in turns, so that other
//! work on the machine and its clock rate concern both sides alike: a part with many steps beside a
//! chain, by their steps a second (`-- "many steps"`), and minimising where no two states do the
//! same beside composing (`-- least`). Of the turns' ratios the median counts.

use std::time::{Duration, Instant};

use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::bisimulation::{self, Equivalence};
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::hide::simplified;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::reachable;
use tickbound_reo::symbol::{NameId, Symbols};

#[path = "../tests/families/textbook.rs"]
mod textbook;

const GIB: u64 = 1 << 30;

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let only = arguments.first().map_or("", String::as_str);
    let runs = arguments.get(1).and_then(|runs| runs.parse().ok()).unwrap_or(5);
    println!("{} threads, best of {runs}", rayon::current_num_threads());
    println!(
        "{:<28} {:>9} {:>11} {:>9} {:>9} {:>12}",
        "product", "states", "transitions", "best ms", "worst ms", "million T/s"
    );
    for (name, parts) in cases() {
        if name.contains(only) {
            whole(name, &parts, runs);
        }
    }
    for (name, parts, beside) in [
        ("many steps, plain", plain(interleaved(18)), plain(chain(18))),
        ("many steps, data", interleaved(18), chain(18)),
    ] {
        if !only.is_empty() && name.contains(only) {
            many_steps(name, &parts, &beside, runs);
        }
    }
    for (name, parts) in [("least, plain", plain(chain(18))), ("least, data", chain(18))] {
        if !only.is_empty() && name.contains(only) {
            minimising(name, &parts, runs);
        }
    }
    for (name, parts) in small() {
        if name.contains(only) {
            ratio(name, &parts, runs);
        }
    }
}

type Case = (&'static str, Vec<Automaton>);

fn cases() -> Vec<Case> {
    vec![
        ("independent 12, plain", plain(independent(12))),
        ("independent 12, data", independent(12)),
        ("chain 18, plain", plain(chain(18))),
        ("chain 18, data", chain(18)),
        ("chain 22, plain", plain(chain(22))),
        ("alternator 16, plain", plain(alternator(16))),
        ("alternator 16, data", alternator(16)),
        ("ring of 1000, plain", plain(ring(1000))),
        ("interleaved 18, plain", plain(interleaved(18))),
        ("interleaved 18, data", interleaved(18)),
    ]
}

fn plain(parts: Vec<Automaton>) -> Vec<Automaton> {
    parts.iter().map(Automaton::without_data).collect()
}

/// Steps a second of all processors: of a part with many steps, and of a chain.
fn many_steps(name: &str, parts: &[Automaton], beside: &[Automaton], runs: usize) {
    let rate = |parts: &[Automaton]| {
        let parts: Vec<&Automaton> = parts.iter().collect();
        let (used, product) =
            used(|| reachable::compose(&parts, &ProductLimits::memory(16 * GIB)).expect("fits"));
        product.transitions() as f64 / used.seconds / 1e6
    };
    let turn = |_| (rate(parts), rate(beside));
    let turns: Vec<(f64, f64)> = (0..runs.max(1)).map(turn).collect();
    println!(
        "{name:<28} {:.1} million T/s of CPU time, chain 18 {:.1}: the chain is {:.2} times as \
         fast",
        median(turns.iter().map(|t| t.0)),
        median(turns.iter().map(|t| t.1)),
        median(turns.iter().map(|t| t.1 / t.0))
    );
}

/// Composing, and minimising what was composed, where no two states do the same.
fn minimising(name: &str, parts: &[Automaton], runs: usize) {
    let (parts, limits): (Vec<&Automaton>, _) =
        (parts.iter().collect(), ProductLimits::memory(16 * GIB));
    let turn = |_| {
        let (composing, whole) = used(|| reachable::compose(&parts, &limits).expect("fits"));
        let states = whole.states();
        let (minimising, least) = used(|| {
            bisimulation::minimise(simplified(whole), Equivalence::Weak, &limits).expect("fits")
        });
        assert_eq!(least.states(), states);
        (composing, minimising)
    };
    let turns: Vec<(Used, Used)> = (0..runs.max(1)).map(turn).collect();
    let of = |part: fn(&(Used, Used)) -> f64| median(turns.iter().map(part));
    println!(
        "{name:<28} composed in {:.2} s of CPU time, up to {:.0} MB; minimised in {:.2} s, {:.2} \
         times that, up to {:.0} MB",
        of(|t| t.0.seconds),
        of(|t| t.0.megabytes),
        of(|t| t.1.seconds),
        of(|t| t.1.seconds / t.0.seconds),
        of(|t| t.1.megabytes)
    );
}

/// What some work has used: seconds of all processors, and memory at its height.
#[derive(Debug, Clone, Copy)]
struct Used {
    seconds: f64,
    megabytes: f64,
}

fn used<T>(work: impl FnOnce() -> T) -> (Used, T) {
    // The height of memory is measured anew.
    _ = std::fs::write("/proc/self/clear_refs", "5");
    let (begin, wall) = (cpu_seconds(), Instant::now());
    let made = work();
    let wall = wall.elapsed().as_secs_f64() * rayon::current_num_threads() as f64;
    let seconds = begin.zip(cpu_seconds()).map_or(wall, |(begin, end)| end - begin);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let height = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = height.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    (Used { seconds, megabytes: kilobytes.unwrap_or(f64::NAN) / 1e3 }, made)
}

/// Seconds that the threads of this process have run, where Linux tells.
fn cpu_seconds() -> Option<f64> {
    let mut sum = 0.0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        sum += text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9;
    }
    Some(sum)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn small() -> Vec<Case> {
    vec![("independent 7, data", independent(7)), ("chain 8, data", chain(8))]
}

/// Buffers of which one moves at a time: a part with a step for each of their names.
fn interleaved(n: usize) -> Vec<Automaton> {
    let parts = independent(n);
    let names: Vec<NameId> = parts.iter().flat_map(|p| p.alphabet()).copied().collect();
    let mut one = AutomatonBuilder::over(names.iter().copied(), 1, vec![0]);
    for name in names {
        one.step(0, &[name], DataConstraint::default(), 0);
    }
    std::iter::once(one.finish().expect("fits together")).chain(parts).collect()
}

fn whole(name: &str, parts: &[Automaton], runs: usize) {
    let parts: Vec<&Automaton> = parts.iter().collect();
    let mut size = (0, 0);
    let times = timed(runs, || {
        let product = reachable::compose(&parts, &ProductLimits::memory(16 * GIB)).expect("fits");
        size = (product.states(), product.transitions());
        product
    });
    let (best, worst) = (times[0], times[times.len() - 1]);
    println!(
        "{name:<28} {:>9} {:>11} {:>9.1} {:>9.1} {:>12.1}",
        size.0,
        size.1,
        best.as_secs_f64() * 1e3,
        worst.as_secs_f64() * 1e3,
        size.1 as f64 / best.as_secs_f64() / 1e6
    );
}

fn ratio(name: &str, parts: &[Automaton], runs: usize) {
    let refs: Vec<&Automaton> = parts.iter().collect();
    let ours =
        timed(runs, || reachable::compose(&refs, &ProductLimits::memory(GIB)).expect("fits"))[0];
    let theirs = timed(runs, || {
        let fold = |whole: Automaton, part: &Automaton| textbook::product(&whole, part);
        parts[1..].iter().fold(parts[0].clone(), fold).reachable().0
    })[0];
    println!(
        "{name:<28} textbook {:.2} ms, reachable {:.2} ms: {:.0} times as fast",
        theirs.as_secs_f64() * 1e3,
        ours.as_secs_f64() * 1e3,
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}

/// The times of some runs, shortest first. What a run makes is thrown away outside of its time.
fn timed<T>(runs: usize, mut work: impl FnMut() -> T) -> Vec<Duration> {
    let run = |_| {
        let begin = Instant::now();
        let made = work();
        let time = begin.elapsed();
        drop(made);
        time
    };
    let mut times: Vec<Duration> = (0..runs.max(1)).map(run).collect();
    times.sort_unstable();
    times
}

fn names(symbols: &mut Symbols, word: &str, many: usize) -> Vec<NameId> {
    (0..many).map(|i| symbols.name(&format!("{word}{i}"))).collect()
}

/// FIFO1 buffers that share nothing.
fn independent(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let (a, b) = (names(&mut symbols, "a", n), names(&mut symbols, "b", n));
    (0..n).map(|i| fifo(&mut symbols, a[i], b[i], i)).collect()
}

/// FIFO1 buffers, each of which gives to the next.
fn chain(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let x = names(&mut symbols, "x", n + 1);
    (0..n).map(|i| fifo(&mut symbols, x[i], x[i + 1], i)).collect()
}

/// FIFO1 buffers in a ring, one of them full.
fn ring(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let x = names(&mut symbols, "x", n);
    let content = |i| if i == 0 { BufferContent::Unknown } else { BufferContent::Empty };
    let buffer = |i| {
        let cell = symbols.cell(&format!("m{i}"));
        primitive::fifo1(x[i], x[(i + 1) % n], cell, content(i))
    };
    (0..n).map(buffer).collect()
}

/// Producers that are read in turn: all at once into buffers, which are emptied one by one.
fn alternator(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let [p, s, x, f] = ["p", "s", "x", "f"].map(|word| names(&mut symbols, word, n + 1));
    let mut parts = vec![primitive::sync(p[0], s[0])];
    for i in 1..n {
        parts.push(primitive::sync_drain(p[i - 1], p[i]));
        parts.push(primitive::sync(p[i], s[i]));
        parts.push(fifo(&mut symbols, x[i], f[i], i));
    }
    for i in 0..n {
        let inputs = if i + 1 < n { vec![s[i], f[i + 1]] } else { vec![s[i]] };
        parts.push(primitive::merger(&inputs, x[i]));
    }
    parts
}

fn fifo(symbols: &mut Symbols, a: NameId, b: NameId, number: usize) -> Automaton {
    let cell = symbols.cell(&format!("m{number}"));
    primitive::fifo1(a, b, cell, BufferContent::Empty)
}
