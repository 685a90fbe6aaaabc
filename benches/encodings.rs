//! The encodings over growing sizes of the published abstract kernel: how large the formulas are,
//! how long it takes to make them, and how long Z3 takes to refute one tick less than the least time.
//!
//! `summary-unshrunk` is the summary with its terms closed but not made smaller by egg.

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{ENCODINGS, Prepared, name, problem};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tickbound::report::Table;
use tickbound::solve::Encoding;
use tickbound_encodings::summary;
use tickbound_encodings::system::System;

const LARGEST: i64 = 1 << 30;

fn prepared(size: i64) -> Prepared {
    Prepared::new(&problem("abstract.json", &[("size", size)]))
}

fn unshrunk(prepared: &Prepared) -> System {
    summary::encode_with(&prepared.plan, summary::Options { shrink: false }).0
}

/// States, steps and size of every formula that is timed below.
fn print_sizes() {
    let mut table = Table::new(["encoding", "size", "states", "nodes", "steps", "variables"]);
    let mut push = |name: &str, size: i64, prepared: &Prepared, system: &System| {
        let steps = prepared.steps(system).expect("few steps");
        let (states, nodes) = (system.states.len(), system.live().len());
        let variables = prepared.variables(system, steps);
        let numbers = [states, nodes, steps, variables].map(|n| n.to_string());
        let [states, nodes, steps, variables] = numbers;
        table.push([name.to_owned(), size.to_string(), states, nodes, steps, variables]);
    };
    for encoding in ENCODINGS {
        for size in sizes(encoding) {
            let prepared = prepared(*size);
            push(name(encoding), *size, &prepared, &prepared.encode(encoding));
            if encoding == Encoding::Summary {
                push("summary-unshrunk", *size, &prepared, &unshrunk(&prepared));
            }
        }
    }
    println!("{table}\n");
}

/// Sizes that each encoding solves in a fraction of a second.
fn sizes(encoding: Encoding) -> &'static [i64] {
    match encoding {
        Encoding::Tick => &[8],
        Encoding::Event => &[8, 16],
        Encoding::Summary => &[8, 64, 1024, LARGEST],
    }
}

fn encode(c: &mut Criterion) {
    print_sizes();
    let mut group = c.benchmark_group("encode");
    for size in [8, 64, 1024] {
        let prepared = prepared(size);
        for encoding in ENCODINGS {
            let id = BenchmarkId::new(name(encoding), size);
            group.bench_function(id, |b| b.iter(|| black_box(prepared.encode(encoding))));
        }
        let id = BenchmarkId::new("summary-unshrunk", size);
        group.bench_function(id, |b| b.iter(|| black_box(unshrunk(&prepared))));
    }
    group.finish();
}

fn solve(c: &mut Criterion) {
    let mut group = c.benchmark_group("solve");
    for encoding in ENCODINGS {
        for size in sizes(encoding) {
            let prepared = prepared(*size);
            let mut bench = |name: &str, system: &System| {
                let steps = prepared.steps(system).expect("few steps");
                let id = BenchmarkId::new(name, size);
                group.bench_function(id, |b| b.iter(|| prepared.refute(system, steps)));
            };
            bench(name(encoding), &prepared.encode(encoding));
            if encoding == Encoding::Summary {
                bench("summary-unshrunk", &unshrunk(&prepared));
            }
        }
    }
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
