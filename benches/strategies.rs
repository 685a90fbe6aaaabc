//! Whole searches, strategy by strategy, over growing sizes.
//!
//! `bisect-fresh` is the papers' repeated bisection: from 0 and the time of one configuration, a new
//! solver for every question. `bisect-same-start` starts from there too but keeps its solver, so the
//! two differ in nothing else; all the others use lower bounds, probes and cuts.

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::{name, problem, search, with};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use tickbound::solve::result::Status;
use tickbound::solve::{Encoding, Options, Strategy};

const STRATEGIES: [(&str, Strategy); 6] = [
    ("optimize", Strategy::Optimize),
    ("descend", Strategy::Descend),
    ("ascend", Strategy::Ascend),
    ("bisect", Strategy::Bisect),
    ("enumerate", Strategy::Enumerate),
    ("race", Strategy::Race),
];

/// File, name and value of the input, encoding, and whether searches without bounds end soon.
const PROBLEMS: [(&str, &str, i64, Encoding, bool); 12] = [
    ("abstract.json", "size", 8, Encoding::Event, true),
    ("abstract.json", "size", 16, Encoding::Event, false),
    ("minimum.json", "size", 16, Encoding::Event, true),
    ("minimum.json", "size", 64, Encoding::Event, true),
    ("minimum.json", "size", 256, Encoding::Event, false),
    ("abstract.json", "size", 8, Encoding::Summary, true),
    ("abstract.json", "size", 128, Encoding::Summary, true),
    ("abstract.json", "size", 1024, Encoding::Summary, true),
    ("minimum.json", "size", 16, Encoding::Summary, true),
    ("minimum.json", "size", 1024, Encoding::Summary, true),
    ("matmul.json", "n", 256, Encoding::Summary, true),
    ("matmul.json", "n", 1024, Encoding::Summary, true),
];

fn strategies(c: &mut Criterion) {
    for (file, input, value, encoding, blind) in PROBLEMS {
        let problem = problem(file, &[(input, value)]);
        let kernel = file.trim_end_matches(".json");
        let mut group = c.benchmark_group(format!("{kernel}-{}", name(encoding)));
        let bench = |group: &mut BenchmarkGroup<'_, WallTime>, name: &str, options: Options| {
            group.bench_function(BenchmarkId::new(name, value), |b| {
                b.iter(|| {
                    let result = search(&problem, &options).expect("a result");
                    assert_eq!(result.status, Status::Optimal);
                    black_box(result)
                });
            });
        };
        for (name, strategy) in STRATEGIES {
            bench(&mut group, name, with(encoding, strategy));
        }
        if blind {
            bench(&mut group, "bisect-fresh", with(encoding, Strategy::BisectFresh));
            let same_start = Options { bounds: false, ..with(encoding, Strategy::Bisect) };
            bench(&mut group, "bisect-same-start", same_start);
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500));
    targets = strategies
}
criterion_main!(benches);
