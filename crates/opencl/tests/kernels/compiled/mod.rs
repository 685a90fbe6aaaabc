//! Counts of the reading beside those of compilers, without a device.

use tickbound_model::Bound;

use super::example::Kernel;
use super::usage::{read, used};

mod amd;
mod machine;
mod nvidia;

/// What a compiled kernel has of a quantity, where its loops have so many iterations.
type Count = Box<dyn Fn(&str, &[i64]) -> i64>;

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
    let Some(kernel) = read(kernel) else { return };
    for (values, rest) in cases {
        let pairs = values.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let pairs: Vec<_> = pairs.map(|(name, value)| (name, value.parse().unwrap())).collect();
        let bound = kernel.bind(&pairs);
        let (used, count) = (used(&kernel, &bound), compile(&kernel, &bound));
        let (loops, rows) = rest.split_once('\n').unwrap();
        for row in rows.lines() {
            let (what, columns) = row.trim().split_once(' ').unwrap();
            let [_, _, least, most] = numbers(columns)[..] else { panic!("{row}") };
            let here: i64 = what.split('+').map(|name| used[name]).sum();
            let there = count(what, &numbers(loops));
            let about = format!("{name}, {}: {row}: now {here} {there}", kernel.describe(&bound));
            println!("{about}");
            assert!(most < 2 * least, "bounds too wide: {about}");
            assert!((least * there..=most * there).contains(&(100 * here)), "{about}");
        }
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
