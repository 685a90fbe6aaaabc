//! The encodings over growing sizes of the published abstract kernel, and the summary of an
//! unrolled reduction with many shapes: how large the formulas are, how long it takes to make them,
//! and how long Z3 takes to refute one tick less than the least time. Small spaces leave the
//! summary's terms as they are closed (`summary-unshrunk`), large ones have egg make them smaller
//! (`summary-shrunk`); both are measured at every size, which is what the limit in
//! `encodings/src/summary/mod.rs` rests on.

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{ENCODINGS, Prepared, name, problem};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tickbound_encodings::summary;
use tickbound_encodings::system::System;
use tickbound_report::Table;
use tickbound_solver::Encoding;

/// A file of examples/problems and its size.
type Case = (&'static str, i64);

fn prepared((kernel, size): Case) -> Prepared {
    Prepared::new(&problem(&format!("{kernel}.json"), &[("size", size)]))
}

fn summary(prepared: &Prepared, shrink: bool) -> System {
    summary::encode_with(&prepared.plan, summary::SummaryOptions { shrink }).unwrap().system
}

/// What each encoding solves in a fraction of a second.
fn cases(encoding: Encoding) -> &'static [Case] {
    match encoding {
        Encoding::Tick => &[("abstract", 8)],
        Encoding::Event => &[("abstract", 8), ("abstract", 16)],
        Encoding::Summary => &[
            ("abstract", 8),
            ("abstract", 64),
            ("abstract", 1024),
            ("abstract", 1 << 30),
            ("reduction-h200", 1 << 20),
        ],
    }
}

/// Calls `visit` with every case, what is prepared for it, and how its encodings are made.
fn each(mut visit: impl FnMut(Case, &str, &Prepared, &dyn Fn() -> System)) {
    for encoding in ENCODINGS {
        for case in cases(encoding) {
            let prepared = prepared(*case);
            if encoding == Encoding::Summary {
                visit(*case, "summary-shrunk", &prepared, &|| summary(&prepared, true));
                visit(*case, "summary-unshrunk", &prepared, &|| summary(&prepared, false));
            } else {
                visit(*case, name(encoding), &prepared, &|| prepared.encode(encoding));
            }
        }
    }
}

/// States, steps and size of every formula that is timed below.
fn print_sizes() {
    let header = ["encoding", "kernel", "size", "states", "nodes", "steps", "variables"];
    let mut table = Table::new(header);
    each(|(kernel, size), encoding, prepared, encode| {
        let system = encode();
        let steps = prepared.steps(&system).expect("few steps");
        let variables = prepared.variables(&system, steps);
        let numbers = [system.states.len(), system.live().len(), steps, variables];
        let names = [encoding.to_owned(), kernel.to_owned(), size.to_string()];
        table.push(names.into_iter().chain(numbers.map(|n| n.to_string())));
    });
    println!("{table}\n");
}

fn encode(c: &mut Criterion) {
    print_sizes();
    let mut group = c.benchmark_group("encode");
    each(|(kernel, size), encoding, _, encode| {
        let id = BenchmarkId::new(format!("{kernel}/{encoding}"), size);
        group.bench_function(id, |b| b.iter(|| black_box(encode())));
    });
    group.finish();
}

fn solve(c: &mut Criterion) {
    let mut group = c.benchmark_group("solve");
    each(|(kernel, size), encoding, prepared, encode| {
        let system = encode();
        let steps = prepared.steps(&system).expect("few steps");
        let id = BenchmarkId::new(format!("{kernel}/{encoding}"), size);
        group.bench_function(id, |b| b.iter(|| prepared.refute(&system, steps)));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = encode, solve
}
criterion_main!(benches);
