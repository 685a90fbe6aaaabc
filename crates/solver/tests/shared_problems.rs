//! Random problems whose parameters share something, with few configurations.

use serde_json::{Map, Value, json};

use crate::problems::Random;

/// What the parameters share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Budgets,
    Windows,
    SlowestSum,
    Pipeline,
    PipelineOfABudget,
    Waves,
    Clique,
    Spill,
    Product,
    Order,
    Tiles,
    Bounds,
}

pub const KINDS: [Kind; 12] = [
    Kind::Budgets,
    Kind::Windows,
    Kind::SlowestSum,
    Kind::Pipeline,
    Kind::PipelineOfABudget,
    Kind::Waves,
    Kind::Clique,
    Kind::Spill,
    Kind::Product,
    Kind::Order,
    Kind::Tiles,
    Kind::Bounds,
];

struct Writer {
    r: Random,
    names: Vec<String>,
    constraints: Vec<String>,
    kernel: Vec<Value>,
}

impl Writer {
    fn number(&mut self, low: i64, high: i64) -> i64 {
        self.r.between(low, high)
    }

    /// A sum over some names, a term for each.
    fn sum(&mut self, names: &[String], term: impl Fn(&mut Writer, &str) -> String) -> String {
        names.iter().map(|n| term(self, n)).collect::<Vec<_>>().join(" + ")
    }

    fn weighted(&mut self, names: &[String], most: i64) -> String {
        self.sum(names, |w, n| format!("{} * {n}", w.number(1, most)))
    }

    /// A statement for each parameter, whose work rises or falls with it.
    fn prices(&mut self, falling: bool) {
        for n in self.names.clone() {
            let most = self.number(5, 40);
            let work = match falling {
                true => format!("ceil_div({}, {n})", most * 3),
                false => format!("{most} * {n}"),
            };
            self.kernel.push(json!({ "work": work }));
        }
    }

    fn stages(&mut self) -> String {
        let pairs: Vec<[String; 2]> =
            self.names.windows(2).map(|w| [w[0].clone(), w[1].clone()]).collect();
        let stage = |w: &mut Writer, [a, b]: [String; 2]| {
            format!("ceil_div({}, {a} * {b}) + {a}", w.number(20, 90))
        };
        let stages: Vec<String> = pairs.into_iter().map(|pair| stage(self, pair)).collect();
        format!("max({})", stages.join(", "))
    }

    fn kind(&mut self, kind: Kind) {
        let names = self.names.clone();
        let n = names.len() as i64;
        match kind {
            Kind::Budgets => {
                for _ in 0..self.number(1, 2) {
                    let (sum, bound) = (self.weighted(&names, 9), self.number(4 * n, 12 * n));
                    self.constraints.push(format!("{sum} <= {bound}"));
                }
                self.prices(true);
            }
            Kind::Windows => {
                for window in names.windows(names.len() - 1) {
                    let bound = self.number(n, 2 * n + 1);
                    self.constraints.push(format!("{} >= {bound}", window.join(" + ")));
                }
                self.prices(false);
            }
            Kind::SlowestSum => {
                let (a, b) = names.split_at(names.len() / 2);
                let fall = |w: &mut Writer, n: &str| format!("ceil_div({}, {n})", w.number(20, 90));
                let (a, b) = (self.sum(a, fall), self.sum(b, fall));
                let more = self.weighted(&names, 5);
                self.kernel.push(json!({ "work": format!("max({a}, {b}, {more} + 2)") }));
                self.prices(false);
            }
            Kind::Pipeline | Kind::PipelineOfABudget => {
                let (repeat, stages) = (self.number(1, 9), self.stages());
                self.kernel.push(json!({ "repeat": repeat, "body": [{ "work": stages }] }));
                self.prices(false);
                if kind == Kind::PipelineOfABudget {
                    let pairs: Vec<String> = names.chunks(2).map(|pair| pair.join(" * ")).collect();
                    let bound = self.number(n, 4 * n);
                    self.constraints.push(format!("{} <= {bound}", pairs.join(" + ")));
                }
            }
            Kind::Waves => {
                let count =
                    |w: &mut Writer, n: &String| format!("ceil_div({}, {n})", w.number(3, 20));
                let counts: Vec<String> = names.iter().map(|n| count(self, n)).collect();
                let body = self.weighted(&names, 9);
                let body = json!([{ "compute": format!("{body} + 3") }]);
                self.kernel.push(json!({ "repeat": counts.join(" * "), "body": body }));
                let bound = self.number(2, 60);
                self.constraints.push(format!("2 * {} <= {bound}", names.join(" * ")));
            }
            Kind::Clique => {
                for (i, a) in names.iter().enumerate() {
                    for b in &names[..i] {
                        let [x, y, z] = [9, 9, 23].map(|most| self.number(2, most));
                        self.kernel.push(
                            json!({ "work": format!("({x} * {a} + {y} * {a} * {b}) % {z}") }),
                        );
                    }
                }
            }
            Kind::Spill => {
                self.prices(true);
                let (sum, most) = (self.weighted(&names, 7), self.number(3 * n, 9 * n));
                self.kernel.push(json!({ "global": format!("max(0, {sum} - {most})") }));
            }
            Kind::Product => {
                let bound = self.r.one_of(&[6, 8, 12, 24]);
                self.constraints.push(format!("{} == {bound}", names.join(" * ")));
                self.prices(self.r.0.is_multiple_of(2));
            }
            Kind::Order => {
                for (i, a) in names.iter().enumerate() {
                    self.constraints.extend(names[..i].iter().map(|b| format!("{a} != {b}")));
                    let [x, y, z] = [19, 19, 41].map(|most| self.number(3, most));
                    self.kernel.push(json!({ "work": format!("({x} * {a} + {y}) % {z}") }));
                }
            }
            Kind::Tiles => {
                let pairs: Vec<String> = names.chunks(2).map(|pair| pair.join(" * ")).collect();
                let (bound, least) = (self.number(n, 5 * n), self.number(1, n));
                self.constraints.push(format!("4 * ({}) < {}", pairs.join(" + "), 4 * bound));
                self.constraints.push(format!("{} > {least}", names.join(" + ")));
                self.prices(true);
            }
            Kind::Bounds => {
                let (a, b) = (self.weighted(&names, 3), self.weighted(&names[1..], 4));
                let bound = self.number(4 * n, 9 * n);
                self.constraints.push(format!("max({a}, {b} - 2) <= {bound}"));
                self.constraints.push(format!("{} <= {b}", names.join(" + ")));
                self.prices(true);
            }
        }
    }
}

/// The problem with this seed, and what its parameters share.
pub fn problem(seed: u64) -> (Kind, Value) {
    let mut r = Random(seed);
    let kind = KINDS[seed as usize % KINDS.len()];
    let count = r.between(4, 5);
    let mut names: Vec<String> = (0..count).map(|i| format!("P{i}")).collect();
    let mut writer =
        Writer { r, names: names.clone(), constraints: Vec::new(), kernel: Vec::new() };
    writer.kind(kind);
    let Writer { mut r, constraints, kernel, .. } = writer;
    // The order of the file is another one.
    (0..names.len()).for_each(|i| names.swap(i, r.below(i as u64 + 1) as usize));
    let low = if kind == Kind::Windows { 0 } else { 1 };
    let domains: Map<String, Value> = names
        .iter()
        .map(|n| (n.clone(), format!("range({low}, {})", r.between(3, 5)).into()))
        .collect();
    let platform = json!({ "units_per_device": r.between(1, 3), "elements_per_unit": 2,
        "global_access": r.between(1, 9), "kernel_launch": r.between(0, 5) });
    let local = r.one_of(&[1, 2, 4]);
    let problem = json!({ "platform": platform, "parameters": domains, "constraints": constraints,
        "launch": { "global_size": 8, "local_size": local }, "kernel": kernel });
    (kind, problem)
}
