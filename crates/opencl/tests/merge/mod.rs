//! One reading for all configurations against a reading for each.
//!
//! [`writer`] writes random sources in OpenCL C that use tuning parameters in every way: in bounds
//! and conditions, in `#if` around statements, declarations and functions, pasted into words, in
//! sizes of local arrays, in helper functions, in one to three dimensions. [`whole`] reads each of
//! them twice: once for the whole problem, and once for each configuration by itself, with macros
//! that are plain texts or whose domains have one value. Both programs must do the same, item by
//! item and between the same barriers ([`phases`]), count the same, and take the same simulated
//! time.
//!
//! [`forms`] does so for numbers that differ by structural values, [`settle`] for
//! `Problem::settle` and programs without a source.
//!
//! `SEED` is the first seed, `MANY` the number of random cases of each test.

mod forms;
mod hard;
mod many;
mod phases;
mod settle;
mod whole;
mod writer;

/// The seeds to be tried: `default` of them, or as many as `MANY` says, from `SEED` on.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let from = number("SEED").unwrap_or(1);
    from..from + number("MANY").unwrap_or(default)
}

/// Tries `oracle` on all seeds with two threads; each answers with what it tried (a number) or a
/// fault.
fn check_all(
    name: &str,
    default: u64,
    oracle: impl Fn(u64) -> Result<whole::Verdict, String> + Sync,
) -> whole::Verdict {
    let seeds = seeds(default);
    let (sum, faults) = std::thread::scope(|scope| {
        let oracle = &oracle;
        let part = |odd: u64| {
            let seeds = seeds.clone();
            scope.spawn(move || {
                let mut sum = whole::Verdict::default();
                let mut faults = Vec::new();
                for seed in seeds.filter(|s| s % 2 == odd) {
                    match oracle(seed) {
                        Ok(verdict) => sum.add(&verdict),
                        Err(fault) => faults.push(format!("seed {seed}: {fault}")),
                    }
                }
                (sum, faults)
            })
        };
        let threads = [part(0), part(1)];
        let mut all = (whole::Verdict::default(), Vec::new());
        for thread in threads {
            let (sum, faults) = thread.join().expect("an oracle panicked");
            all.0.add(&sum);
            all.1.extend(faults);
        }
        all
    });
    println!("{name}, seeds {seeds:?}: {sum:?}, {} faults", faults.len());
    assert!(faults.is_empty(), "{name}: {} faults\n{}", faults.len(), faults.join("\n\n"));
    sum
}
