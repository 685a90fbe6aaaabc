//! Lines and passes of a request, and bytes of a group, as the front end counts them, held against
//! a run that is traced.
//!
//! A request is what the items of a warp access at one place of the source, each for the same time.
//! Compilers leave requests out, which changes how many there are; how many lines and passes one
//! takes is compared, on average.

use rustc_hash::{FxHashMap, FxHashSet};
use tickbound_model::Bound;

use super::example::Kernel;
use super::instrumented::{Instrument, Touch};
use super::usage::{read, used};

/// Items of a warp, bytes of a line, banks of 4 bytes, as those that follow: those of the problems'
/// platforms.
const WARP: u32 = 32;
const LINE: u64 = 128;
const BANKS: u64 = 32;
/// Bytes of a line that caches move by themselves.
const SECTOR: u64 = 32;
/// Most bytes that one request moves for an item.
const WIDEST: u32 = 16;

/// Requests to one memory, what they take in all.
#[derive(Default, Clone, Copy, Debug)]
struct Taken {
    requests: u64,
    lines: u64,
    passes: u64,
}

/// What the requests of a trace take, of global and of local memory, in groups of so many items.
fn taken(trace: &[Touch], items: u32) -> [Taken; 2] {
    // By group, warp and place in the source, what each lane accesses: a request has the accesses
    // of one time. Sorting millions of accesses takes far longer.
    let mut warps: FxHashMap<(u32, u32, u32), Vec<Vec<Touch>>> = FxHashMap::default();
    for touch in trace.iter().filter(|touch| touch.space != 2) {
        let (group, lid) = (touch.item / items, touch.item % items);
        let lanes = warps.entry((group, lid / WARP, touch.site));
        let lanes = lanes.or_insert_with(|| vec![Vec::new(); WARP as usize]);
        lanes[(lid % WARP) as usize].push(*touch);
    }
    let mut all = [Taken::default(); 2];
    for lanes in warps.values() {
        for time in 0..lanes.iter().map(Vec::len).max().unwrap_or(0) {
            let request: Vec<&Touch> = lanes.iter().filter_map(|lane| lane.get(time)).collect();
            add(&mut all[usize::from(request[0].space == 3)], &request);
        }
    }
    all
}

/// Adds what one request takes.
fn add(taken: &mut Taken, request: &[&Touch]) {
    let bytes = request[0].bytes;
    for part in (0..bytes).step_by(WIDEST as usize) {
        let wide = u64::from(WIDEST.min(bytes - part));
        let places: Vec<u64> = request.iter().map(|lane| lane.at + u64::from(part)).collect();
        taken.requests += 1;
        let ends = |at: &u64| [at / LINE, (at + wide - 1) / LINE];
        taken.lines += different(places.iter().flat_map(ends)).len() as u64;
        taken.passes += passes(&places, wide);
    }
}

/// Each once, in order.
fn different<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Bytes of the sectors that a group touches in global memory, on average.
fn of_group(trace: &[Touch], items: u32) -> f64 {
    let touched = trace.iter().filter(|touch| touch.space == 1).flat_map(|touch| {
        let sectors = touch.at / SECTOR..=(touch.at + u64::from(touch.bytes) - 1) / SECTOR;
        sectors.map(move |sector| (touch.item / items, sector))
    });
    let sectors: FxHashSet<(u32, u64)> = touched.collect();
    let groups: FxHashSet<u32> = sectors.iter().map(|(group, _)| *group).collect();
    (sectors.len() as u64 * SECTOR) as f64 / groups.len().max(1) as f64
}

/// Phase by phase, the most different words in one bank.
fn passes(places: &[u64], bytes: u64) -> u64 {
    let words = bytes.div_ceil(4).next_power_of_two();
    let phase = |lanes: &[u64]| {
        let mut banks = [0; BANKS as usize];
        for word in different(lanes.iter().flat_map(|at| at / 4..at / 4 + words)) {
            banks[(word % BANKS) as usize] += 1;
        }
        banks.into_iter().max().unwrap_or(0)
    };
    // Where neighbours have one address in pairs, a phase has twice the lanes.
    let pairs = words > 1 && places.chunks(2).all(|pair| pair.len() == 2 && pair[0] == pair[1]);
    let lanes = BANKS / words * if pairs { 2 } else { 1 };
    places.chunks(lanes as usize).map(phase).sum()
}

/// How far a count is from what a run takes: the logarithm of their quotient.
fn off(counted: f64, taken: u64, requests: u64) -> f64 {
    match requests {
        0 => 0.0,
        requests => (counted / (taken as f64 / requests as f64)).ln().abs(),
    }
}

/// What is compared.
const WHAT: [&str; 4] = ["lines", "passes", "local passes", "bytes of a group"];

/// How far each is in one configuration.
fn offs(kernel: &Kernel, instrument: &mut Instrument, bound: &Bound) -> [f64; 4] {
    let grid = kernel.problem.grid_sizes(&bound.env).unwrap();
    let items: i64 = grid.iter().map(|[_, local]| local).product();
    let trace = kernel.trace(instrument, bound).unwrap();
    let [global, local] = taken(&trace, items as u32);
    let used = used(kernel, bound);
    let each = |what: &str, requests: &str| used[what] as f64 / used[requests].max(1) as f64;
    [
        off(each("global_lines", "global_requests"), global.lines, global.requests),
        off(each("global_wavefronts", "global_requests"), global.passes, global.requests),
        off(each("local_wavefronts", "local_requests"), local.passes, local.requests),
        (used["l2_bytes"] as f64 / of_group(&trace, items as u32)).ln().abs(),
    ]
}

#[test]
fn a_request_takes_what_it_takes_in_a_run() {
    let Some(mut instrument) = super::instrument() else { return };
    // How far each may be on average over the configurations; what is exact is 0. Means differ
    // where loads are left out that take more or less than others, where only some lanes take part
    // (stencil), and where what one item of a group does is counted for each warp (reduction). Of a
    // group's bytes those that it finds in L1 because of other groups are not counted, nor what
    // several accesses of an array have beside each other (stencil), and copies in loops of which
    // items have a part are taken for whole ones (convolution).
    for (name, most) in [
        ("transpose", [0.0, 0.0, 0.1, 0.0]),
        ("nbody", [0.01, 0.0, 0.0, 0.0]),
        ("coulomb", [0.0, 0.0, 0.0, 0.07]),
        ("gemm", [0.03, 0.0, 0.0, 0.0]),
        ("convolution", [0.08, 0.08, 0.02, 0.12]),
        ("dedispersion", [0.08, 0.1, 0.0, 0.2]),
        ("stencil", [0.12, 0.12, 0.05, 0.4]),
        ("reduction", [0.18, 0.18, 0.0, 0.0]),
        ("minimum", [0.05, 0.05, 0.0, 0.01]),
    ] {
        let Some(kernel) = read(Kernel::load(name, "small").unwrap()) else { return };
        let sample = kernel.sample(4);
        let mut mean = [0.0; 4];
        for bound in &sample {
            for (sum, off) in mean.iter_mut().zip(offs(&kernel, &mut instrument, bound)) {
                *sum += off / sample.len() as f64;
            }
        }
        for (what, (mean, most)) in WHAT.iter().zip(mean.iter().zip(most)) {
            println!("{name}: {what} {mean:.4} of {most}");
            assert!(*mean <= most + 0.002, "{name}: {what} {mean:.4}, at most {most}");
        }
    }
}
