//! Problems whose parameters share something: a budget, a maximum, a penalty, an order.
//!
//! The kinds are those that occur in kernels: stages that share a memory, engines that run at
//! once, a pipeline's slowest stage, registers beyond which values spill. All numbers are drawn.

use itertools::Itertools;
use serde_json::{Value, json};

use crate::problems::{Family, Problem, Random, work};

/// A family for each kind that grows.
pub fn families() -> Vec<Family> {
    let budgets = [12, 30, 100, 200].map(|n| (format!("{n} parameters"), budget(n)));
    let sums = [(3, 12), (4, 16), (8, 100)]
        .map(|(sums, n)| (format!("{sums} sums, {n} parameters"), slowest_sum(sums, n)));
    let pipelines = [(15, 10), (40, 20), (80, 32)]
        .map(|(n, values)| (format!("{n} stages, {values} values"), pipeline(n, values)));
    let windows = [(16, 8), (20, 10), (60, 20)]
        .map(|(n, width)| (format!("{n} parameters, windows of {width}"), windows(n, width)));
    let penalties = [12, 20, 60].map(|n| (format!("{n} parameters"), spill(n)));
    let orders = [8, 11, 16].map(|n| (format!("{n} parameters"), order(n)));
    let ranges = [(4, 1024), (5, 4096), (12, 4096)]
        .map(|(n, values)| (format!("{n} parameters, {values} values"), ranges(n, values)));
    let counts = [3, 6].map(|n| (format!("{n} dimensions"), tile_counts(n)));
    let products = [3, 4].map(|n| (format!("{n} parameters"), product(n)));
    let pairs = [4, 6, 8].map(|n| (format!("{n} parameters"), pairs(n)));
    vec![
        family(
            "Budgets",
            "Stages of 10 values that share a memory: `ceil_div(a, S)` ticks, and \
            a weighted sum is at most half of the most that it can be.",
            budgets.into(),
        ),
        family(
            "Slowest sums",
            "The slowest of sums of `ceil_div(a, E)`, and a price for each \
            parameter of 10 values.",
            sums.into(),
        ),
        family(
            "Pipelines",
            "The slowest of stages that neighbours are tied by, 43 times, and a \
            price for each parameter.",
            pipelines.into(),
        ),
        family(
            "Windows",
            "Neighbours of 6 values must reach a sum; each has a price.",
            windows.into(),
        ),
        family(
            "Penalties",
            "Unrolling by 1 to 16: `ceil_div(a, U)`, and a global access for each \
            register beyond a limit.",
            penalties.into(),
        ),
        family(
            "Orders",
            "As many parameters as values, all different; each takes a \
            pseudo-random time.",
            orders.into(),
        ),
        family(
            "Ranges",
            "Wide ranges, falling times, and a sum that is at most the range.",
            ranges.into(),
        ),
        family(
            "Tile counts",
            "A product of tile counts times a sum of tile costs, 32 tiles in \
            each dimension.",
            counts.into(),
        ),
        family(
            "Products",
            "Ranges of 4096 values whose product is 720720, with a price for each.",
            products.into(),
        ),
        family(
            "Pairs",
            "A pseudo-random table for each pair of parameters of 32 values.",
            pairs.into(),
        ),
    ]
}

fn family(name: &'static str, about: &'static str, problems: Vec<(String, Value)>) -> Family {
    let made = |(label, value)| (label, Problem::Made(value));
    Family { name, about, problems: problems.into_iter().map(made).collect(), grows: true }
}

/// A problem of one work item with `n` parameters P0, P1, ... of one domain.
fn problem(n: usize, domain: &Value, constraints: Vec<String>, kernel: Vec<Value>) -> Value {
    with_definitions((n, domain), Definitions::default(), constraints, kernel)
}

fn with_definitions(
    (n, domain): (usize, &Value),
    Definitions(definitions): Definitions,
    constraints: Vec<String>,
    kernel: Vec<Value>,
) -> Value {
    let parameters = (0..n).map(|i| (format!("P{i}"), domain.clone()));
    json!({
        "definitions": definitions,
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 7,
            "local_access": 2, "compute_op": 1 },
        "parameters": parameters.collect::<serde_json::Map<_, _>>(),
        "constraints": constraints,
        "launch": { "global_size": 1, "local_size": 1 },
        "kernel": kernel,
    })
}

/// Parts of expressions by name, as an expression has at most 2,000 bytes.
#[derive(Default)]
struct Definitions(serde_json::Map<String, Value>);

impl Definitions {
    /// All parts in one expression, of which sixteen each have a name.
    fn folded(
        &mut self,
        parts: impl IntoIterator<Item = String>,
        fold: impl Fn(&[String]) -> String,
    ) -> String {
        let parts: Vec<String> = parts.into_iter().collect();
        let names = parts.chunks(16).map(|some| {
            let name = format!("D{}", self.0.len());
            self.0.insert(name.clone(), json!(fold(some)));
            name
        });
        fold(&names.collect::<Vec<_>>())
    }

    fn sum(&mut self, parts: impl IntoIterator<Item = String>) -> String {
        self.folded(parts, |some| some.join(" + "))
    }

    fn greatest(&mut self, parts: impl IntoIterator<Item = String>) -> String {
        self.folded(parts, |some| match some {
            [one] => one.clone(),
            some => format!("max({})", some.join(", ")),
        })
    }
}

fn range(values: i64) -> Value {
    json!(format!("range(1, {values})"))
}

/// `ceil_div(a, P)` with a drawn number.
fn share(random: &mut Random, i: usize) -> String {
    format!("ceil_div({}, P{i})", random.within(200, 4000))
}

/// A price of 1 to `most` for each parameter.
fn prices(random: &mut Random, n: usize, most: i64) -> Vec<Value> {
    (0..n).map(|i| work(&format!("{} * P{i}", random.within(1, most)))).collect()
}

fn budget(n: usize) -> Value {
    let mut random = Random(n as u64);
    let kernel = (0..n).map(|i| work(&share(&mut random, i))).collect();
    let weights: Vec<i64> = (0..n).map(|_| random.within(5, 40)).collect();
    let mut definitions = Definitions::default();
    let sum = definitions.sum(weights.iter().enumerate().map(|(i, w)| format!("{w} * P{i}")));
    let limit = 5 * weights.iter().sum::<i64>();
    with_definitions((n, &range(10)), definitions, vec![format!("{sum} <= {limit}")], kernel)
}

fn slowest_sum(sums: usize, n: usize) -> Value {
    let mut random = Random(n as u64);
    let shares: Vec<String> = (0..n).map(|i| share(&mut random, i)).collect();
    let mut definitions = Definitions::default();
    let of = |s: usize| definitions.sum(shares.iter().skip(s).step_by(sums).cloned());
    let mut kernel = vec![work(&format!("max({})", (0..sums).map(of).join(", ")))];
    kernel.extend(prices(&mut random, n, 28));
    with_definitions((n, &range(10)), definitions, Vec::new(), kernel)
}

fn pipeline(n: usize, values: i64) -> Value {
    let mut random = Random(n as u64);
    let stage =
        |i: usize| format!("ceil_div({}, P{i} * P{}) + P{i}", random.within(500, 5000), i + 1);
    let mut definitions = Definitions::default();
    let slowest = work(&definitions.greatest((0..n - 1).map(stage)));
    let mut kernel = vec![json!({ "repeat": "43", "body": [slowest] })];
    kernel.extend(prices(&mut random, n, 9));
    with_definitions((n, &range(values)), definitions, Vec::new(), kernel)
}

fn windows(n: usize, width: usize) -> Value {
    let mut random = Random(n as u64);
    let sum = |from: usize| (from..from + width).map(|i| format!("P{i}")).join(" + ");
    let reached = (0..=n - width).map(|i| format!("{} >= {}", sum(i), 5 * width / 2));
    let kernel = prices(&mut random, n, 40);
    problem(n, &json!("range(0, 5)"), reached.collect(), kernel)
}

fn spill(n: usize) -> Value {
    let mut random = Random(n as u64);
    let mut kernel: Vec<Value> = (0..n).map(|i| work(&share(&mut random, i))).collect();
    let registers = (0..n).map(|i| format!("{} * P{i}", random.within(1, 7))).join(" + ");
    kernel.push(json!({ "global": format!("max(0, {registers} - {})", 20 * n) }));
    problem(n, &json!("powers_of_two(1, 16)"), Vec::new(), kernel)
}

fn order(n: usize) -> Value {
    let mut random = Random(n as u64);
    let mut take = |i| {
        let [a, b, m] =
            [(3, 49), (1, 80), (50, 99)].map(|(least, most)| random.within(least, most));
        work(&format!("(P{i} * {a} + {b}) % {m}"))
    };
    let kernel = (0..n).map(&mut take).collect();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| format!("P{i} != P{j}")));
    problem(n, &range(n as i64), pairs.collect(), kernel)
}

fn ranges(n: usize, values: i64) -> Value {
    let mut random = Random(n as u64);
    let mut take = |i| work(&format!("ceil_div({}, P{i})", random.within(5_000, 50_000)));
    let kernel = (0..n).map(&mut take).collect();
    let sum = (0..n).map(|i| format!("P{i}")).join(" + ");
    problem(n, &range(values), vec![format!("{sum} <= {values}")], kernel)
}

fn tile_counts(n: usize) -> Value {
    let mut random = Random(n as u64);
    let counts = (0..n).map(|i| format!("ceil_div({}, P{i})", random.within(25, 50))).join(" * ");
    let costs = (0..n).map(|i| format!("{} * P{i}", random.within(1, 9))).join(" + ");
    let tiles = (0..n).map(|i| format!("P{i}")).join(" * ");
    let most = 32i64.pow(n as u32) / 20;
    let kernel = vec![json!({ "repeat": counts, "body": [work(&format!("{costs} + 12"))] })];
    problem(n, &range(32), vec![format!("{tiles} <= {most}")], kernel)
}

fn product(n: usize) -> Value {
    let kernel = prices(&mut Random(n as u64), n, 30);
    let product = (0..n).map(|i| format!("P{i}")).join(" * ");
    problem(n, &range(4096), vec![format!("{product} == 720720")], kernel)
}

fn pairs(n: usize) -> Value {
    let mut random = Random(n as u64);
    let mut table = |(i, j)| {
        let [a, b, c] = [(); 3].map(|()| random.within(1, 97));
        let modulus = random.within(100, 300);
        work(&format!("({a} * P{i} + {b} * P{j} + {c} * P{i} * P{j}) % {modulus}"))
    };
    let all = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let kernel = all.map(&mut table).collect();
    problem(n, &range(32), Vec::new(), kernel)
}
