//! How near the dense product comes to what memory can take: `cargo bench --bench dense`.
//!
//! A product and a plain parallel fill of as many bytes, in turns, both into memory that is fresh
//! and both into memory that was touched before; then the thesis's 1,000 small products in one
//! call. Medians; the ratios are what counts, as both sides ran on the same machine at one time.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::product::dense::{CellData, DensePlan, EMPTY, Matrix, fold};
use tickbound_reo::symbol::Symbols;
use tickbound_xtask::reo_bench::{self, BenchOptions};

const RUNS: usize = 7;

fn main() {
    let limits = ProductLimits::memory(4 << 30);
    let parts = buffers(13);
    let half = |range: std::ops::Range<usize>| fold(&parts[range], &limits).unwrap();
    println!("dense product beside a parallel fill of as many bytes, {} threads", threads());
    // 2^13 states, 512 MiB; the halves from even to as uneven as can be.
    for cut in [6, 3, 1, 10] {
        let plan = DensePlan::new(&half(0..cut), &half(cut..13)).unwrap();
        let name = format!("{} x {} states, 1 slot", 1 << cut, 1 << (13 - cut));
        against_fill(&name, &plan, &limits);
    }
    for (n, k) in [(64, 2), (48, 3), (27, 4)] {
        let several = complete(n, k);
        let plan = DensePlan::new(&several[0], &several[1]).unwrap();
        against_fill(&format!("{n} x {n} states, {k} x {k} slots"), &plan, &limits);
    }
    experiment(&limits);
}

fn threads() -> usize {
    rayon::current_num_threads()
}

fn buffers(n: usize) -> Vec<Matrix> {
    let mut symbols = Symbols::new();
    let mut buffer = |i: usize| {
        let (a, b) = (symbols.name(&format!("a{i}")), symbols.name(&format!("b{i}")));
        let automaton = fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty);
        matrix(&automaton)
    };
    (0..n).map(&mut buffer).collect()
}

fn matrix(automaton: &Automaton) -> Matrix {
    Matrix::new(automaton, CellData::Ignore, &ProductLimits::memory(1 << 30)).unwrap()
}

/// Two automata with `k` steps from each of `n` states to each, and one name in common.
fn complete(n: u32, k: usize) -> [Matrix; 2] {
    let mut symbols = Symbols::new();
    ["l", "r"].map(|side| {
        let words = (0..k).map(|i| format!("{side}{i}"));
        let mut names: Vec<_> = words.map(|word| symbols.name(&word)).collect();
        names[0] = symbols.name("both");
        let mut builder =
            tickbound_reo::automaton::AutomatonBuilder::over(names.clone(), n as usize, vec![0]);
        for (from, to) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
            // Idling takes one of the slots of a state's loops.
            for name in &names[usize::from(from == to)..] {
                builder.step(from, &[*name], Default::default(), to);
            }
        }
        matrix(&builder.finish().unwrap())
    })
}

fn seconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

/// What is left when nothing else ran beside it.
fn best(all: Vec<f64>) -> f64 {
    all.into_iter().fold(f64::INFINITY, f64::min)
}

fn fill(cells: &mut [u64]) {
    cells.par_chunks_mut(1 << 18).for_each(|block| block.fill(black_box(EMPTY)));
}

fn against_fill(name: &str, plan: &DensePlan, limits: &ProductLimits) {
    let bytes = plan.sizes.words() as f64 * 8.0;
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..RUNS {
        let mut cells = plan.allocate(limits).unwrap();
        times[0].push(seconds(|| fill(&mut cells)));
        times[1].push(seconds(|| fill(&mut cells)));
        drop(cells);
        let mut cells = plan.allocate(limits).unwrap();
        times[2].push(seconds(|| plan.fill(&mut cells, limits).unwrap()));
        times[3].push(seconds(|| plan.fill(&mut cells, limits).unwrap()));
    }
    let [fresh, touched, product, again] = times.map(best);
    println!("{name}: {:.0} MiB", bytes / 1048576.0);
    for (memory, fill, product) in [("fresh", fresh, product), ("touched", touched, again)] {
        println!(
            "  {memory:7} memory: fill {:6.2} GB/s, product {:6.2} GB/s, ratio {:.2}",
            bytes / fill / 1e9,
            bytes / product / 1e9,
            fill / product
        );
    }
}

/// The experiment of the thesis, chapter 4, as `tickbound reo bench` runs it.
fn experiment(limits: &ProductLimits) {
    let listing = tickbound_device::list();
    listing.absent().iter().for_each(|why| println!("{why}; using the CPU"));
    let report =
        reo_bench::run(&BenchOptions::default(), &listing.devices, limits, &|_| {}).unwrap();
    println!("\n{}", report.markdown());
}
