//! Whole searches, strategy by strategy, over growing sizes.
//!
//! `bisect-fresh` is the papers' repeated bisection: from 0 and the time of one configuration, a
//! new solver for every question. `optimize`, `descend`, `ascend` and `bisect` start from there
//! too, but keep their solver, so `bisect` and `bisect-fresh` differ in nothing else. `default` is
//! the race with lower bounds, probes and cuts; where the bounds meet, it only has to confirm.
//! `enumerate` simulates what the bounds leave over.

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{name, problem, search, two_halves, with};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode};
use criterion::{criterion_group, criterion_main};
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_solver::{Encoding, SearchOptions, Strategy};

/// Strategies from the papers' start, and their names.
const SAME_START: [(&str, Strategy); 5] = [
    ("optimize", Strategy::Optimize),
    ("descend", Strategy::Descend),
    ("ascend", Strategy::Ascend),
    ("bisect", Strategy::Bisect),
    ("bisect-fresh", Strategy::BisectFresh),
];

type Group<'c> = BenchmarkGroup<'c, WallTime>;

fn bench(group: &mut Group<'_>, name: &str, size: i64, problem: &Problem, options: &SearchOptions) {
    group.bench_function(BenchmarkId::new(name, size), |b| {
        b.iter(|| {
            let result = search(problem, options).expect("a result");
            assert_eq!(result.status, Status::Optimal);
            black_box(result)
        });
    });
}

/// `sizes` are solved by all strategies, `large` by those with bounds alone.
fn strategies(
    c: &mut Criterion,
    (kernel, encoding): (&str, Encoding),
    problem: impl Fn(i64) -> Problem,
    sizes: &[i64],
    large: &[i64],
) {
    let mut group = c.benchmark_group(format!("{kernel}-{}", name(encoding)));
    group.sampling_mode(SamplingMode::Flat);
    for size in sizes.iter().chain(large) {
        let problem = problem(*size);
        let mut run = |name, options| bench(&mut group, name, *size, &problem, &options);
        run("default", with(encoding, Strategy::Race));
        run("enumerate", with(encoding, Strategy::Enumerate));
        for (name, strategy) in SAME_START.into_iter().filter(|_| !large.contains(size)) {
            run(name, SearchOptions { bounds: false, ..with(encoding, strategy) });
        }
    }
    group.finish();
}

fn on_events(c: &mut Criterion) {
    let of = |kernel| (kernel, Encoding::Event);
    let abstract_kernel = |size| problem("abstract.json", &[("size", size)]);
    let minimum = |size| problem("minimum.json", &[("size", size)]);
    strategies(c, of("abstract"), abstract_kernel, &[8], &[16]);
    strategies(c, of("minimum"), minimum, &[16, 64], &[256]);
    strategies(c, of("two-halves"), two_halves, &[4], &[16]);
}

fn on_summaries(c: &mut Criterion) {
    let of = |kernel| (kernel, Encoding::Summary);
    let abstract_kernel = |size| problem("abstract.json", &[("size", size)]);
    let matmul = |n| problem("matmul.json", &[("n", n)]);
    strategies(c, of("abstract"), abstract_kernel, &[8, 1024], &[1 << 30]);
    strategies(c, of("two-halves"), two_halves, &[16, 1024], &[]);
    strategies(c, of("matmul"), matmul, &[64, 256], &[1024]);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    targets = on_events, on_summaries
}
criterion_main!(benches);
