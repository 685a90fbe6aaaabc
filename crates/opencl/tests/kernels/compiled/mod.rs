//! Counts of the reading beside those of compilers, without a device.

use indexmap::IndexMap;
use tickbound_model::{Bound, LeastCount, LeastUsage};

use super::example::Kernel;
use super::least::{of_all, read};
use super::usage::used;

mod amd;
mod machine;
mod nvidia;

/// A quantity, by name, of a compiled kernel whose loops have these iterations; `None` if it is not
/// compared.
type Count = Box<dyn Fn(&str, &[i64]) -> Option<i64>>;

/// Least counts of a warp, as the tables name them.
const LEAST: [(LeastCount, &str); 5] = [
    (LeastCount::Real, "least.real"),
    (LeastCount::Special, "least.special"),
    (LeastCount::Convert, "least.convert"),
    (LeastCount::GlobalRequests, "least.global_requests"),
    (LeastCount::LocalRequests, "least.local_requests"),
];

/// Configurations of a kernel that are compiled to find some whose code has no loops.
const SAMPLE: usize = 8;

/// Compares what is read of a kernel at size `small` with what a compiler makes of it.
///
/// The table has configurations, each with the iterations of the compiled kernel's loops. Then
/// quantities: the value of the reading and the compiler's when this was written, and the least and
/// the greatest value of the reading in percent of the compiler's. Bounds leave out all that is
/// wrong by a factor of 2.
fn compare(name: &str, platform: &str, table: &str, compile: impl Fn(&Kernel, &Bound) -> Count) {
    let cases: Vec<_> = table.split("\n\n").map(|case| case.split_once("loops").unwrap()).collect();
    let fixed: Vec<_> = cases.iter().map(|(values, _)| constraint(values)).collect();
    let kernel = Kernel::load_where(name, platform, &fixed.join(" or ")).unwrap();
    let Some((kernel, least)) = read(kernel) else { return };
    for (values, rest) in cases {
        let pairs = values.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let pairs: Vec<_> = pairs.map(|(name, value)| (name, value.parse().unwrap())).collect();
        let bound = kernel.bind(&pairs);
        let (used, count) = (with_least(&kernel, &least, &bound), compile(&kernel, &bound));
        let (loops, rows) = rest.split_once('\n').unwrap();
        for row in rows.lines() {
            let (what, columns) = row.trim().split_once(' ').unwrap();
            let [_, _, least, most] = numbers(columns)[..] else { panic!("{row}") };
            let here: i64 = what.split('+').map(|name| used[name]).sum();
            let there = count(what, &numbers(loops)).expect("a quantity");
            let about = format!("{name}, {}: {row}: now {here} {there}", kernel.describe(&bound));
            println!("{about}");
            assert!(most < 2 * least, "bounds too wide: {about}");
            assert!((least * there..=most * there).contains(&(100 * here)), "{about}");
        }
        let about = format!("{name}, {}", kernel.describe(&bound));
        assert_least(&about, &used, |what| count(what, &numbers(loops)));
    }
}

/// Compares least counts with the code of a sample of configurations, where that has no loops: it
/// is then what an item executes at most. `compile` gives nothing where it has some.
fn compare_straight(
    name: &str,
    platform: &str,
    compile: impl Fn(&Kernel, &Bound) -> Option<Count>,
) {
    let kernel = Kernel::load_where(name, platform, "True").unwrap();
    let Some((kernel, least)) = read(kernel) else { return };
    let compared = kernel.sample(SAMPLE).into_iter().filter(|bound| {
        let Some(count) = compile(&kernel, bound) else { return false };
        let about = format!("{name}, {platform}, {}", kernel.describe(bound));
        assert_least(&about, &with_least(&kernel, &least, bound), |what| count(what, &[]));
        true
    });
    let compared = compared.count();
    assert!(compared >= 2, "{name}, {platform}: only {compared} of {SAMPLE} have no loops");
}

/// The usage of a configuration, with least counts under their names.
fn with_least(kernel: &Kernel, least: &LeastUsage, bound: &Bound) -> IndexMap<&'static str, i64> {
    let mut used = used(kernel, bound);
    let least = of_all(&least.each, bound);
    used.extend(LEAST.map(|(what, name)| (name, least.get(&what).copied().unwrap_or(0))));
    used
}

/// Checks that no least count is above what compiled code executes.
fn assert_least(
    about: &str,
    used: &IndexMap<&'static str, i64>,
    executed: impl Fn(&str) -> Option<i64>,
) {
    for (_, name) in LEAST {
        let Some(executed) = executed(name) else { continue };
        println!("{about}: {name}: {} of {executed}", used[name]);
        assert!(used[name] <= executed, "{about}: {name}: {} above {executed}", used[name]);
    }
}

/// The constraint that parameters have these values.
fn constraint(values: &str) -> String {
    let equal: Vec<_> = values.split_whitespace().map(|v| v.replace('=', " == ")).collect();
    format!("({})", equal.join(" and "))
}

fn numbers(text: &str) -> Vec<i64> {
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}
