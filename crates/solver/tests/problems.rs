//! Random tuning problems with few configurations, as the JSON a person would write.
//!
//! The first parameter is never 0. Barriers stand only where all items of a group take them.

use serde_json::{Value, json};

/// Numbers that depend on the seed alone (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }
}

const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// Most values of a domain, for so many parameters.
const MAX_VALUES: [i64; 6] = [12, 8, 6, 4, 3, 3];

/// What a problem is made of, as far as it is known.
struct Writer {
    r: Random,
    /// Parameters so far.
    names: Vec<&'static str>,
    /// Those that are never 0.
    positive: Vec<&'static str>,
    local: String,
    /// Items differ.
    items: bool,
    marks: bool,
    /// Some expressions have no value, or a negative one, for some configurations.
    careless: bool,
}

/// The problem with this seed.
pub fn problem(seed: u64) -> Value {
    let mut r = Random(seed);
    let (items, marks, careless) = (r.percent(50), r.percent(25), r.percent(12));
    let (names, positive, local) = (Vec::new(), Vec::new(), String::new());
    Writer { r, names, positive, local, items, marks, careless }.problem(seed)
}

impl Writer {
    fn problem(&mut self, seed: u64) -> Value {
        let parameters = 1 + self.r.below(6) as usize;
        let mut problem = json!({ "name": format!("seed {seed}"), "inputs": { "size": 12 } });
        for name in &NAMES[..parameters] {
            problem["parameters"][name] = self.domain(MAX_VALUES[parameters - 1]);
            self.names.push(name);
        }
        let published = self.r.percent(20);
        problem["platform"] = self.platform(published);
        problem["definitions"] = json!({ "d": self.amount(), "e": self.amount() });
        problem["launch"] = if published { self.activations() } else { self.range() };
        if published {
            problem["profile"] = json!("published-2023");
            self.items = false;
        }
        let constraints = self.r.below(6) * self.r.below(2);
        let mut constraints: Vec<String> = (0..constraints).map(|_| self.constraint()).collect();
        if self.careless && self.r.percent(60) {
            // Without a value where Y is 0, which the second one excludes.
            let may_be_0 = self.names.iter().find(|n| !self.positive.contains(n)).copied();
            let (x, y) = (self.any(), may_be_0.unwrap_or(self.names[0]));
            constraints.push(format!("{x} % {y} == 0"));
            constraints.extend(self.r.percent(70).then(|| format!("{x} * {y} > 0")));
        }
        problem["constraints"] = json!(constraints);
        let kernel = if self.r.percent(25) { self.chain() } else { self.block(3, true) };
        problem["kernel"] = json!(kernel);
        if self.r.percent(40) {
            let items = std::mem::replace(&mut self.items, false);
            problem["finish"] = json!(self.block(1, false));
            self.items = items;
        }
        problem
    }

    fn platform(&mut self, published: bool) -> Value {
        let r = &mut self.r;
        let mut platform = json!({ "units_per_device": r.between(1, 3),
            "elements_per_unit": r.one_of(&[1, 2, 2, 3, 4, 5, 8]),
            "global_access": r.between(0, 5), "local_access": r.between(0, 2) });
        if !published {
            for price in ["barrier", "group_start", "kernel_launch"] {
                platform[price] = json!(r.one_of(&[0, 0, 1, 2, 7]));
            }
            if r.percent(30) {
                platform["max_group_size"] = json!(r.between(2, 8));
            }
        }
        platform
    }

    fn domain(&mut self, most: i64) -> Value {
        let first = self.names.is_empty();
        let r = &mut self.r;
        let name = NAMES[self.names.len()];
        let few = |r: &mut Random| r.between(1, most.min(5));
        let (domain, positive) = match r.below(if first { 7 } else { 11 }) {
            0..=2 => {
                let low = i64::from(first || r.percent(70));
                let n = few(r);
                let values: Vec<i64> = (0..n).map(|_| r.between(low, 8)).collect();
                (json!(values), low > 0)
            }
            3 => (json!(format!("powers_of_two(1, {})", 1 << (most.min(4) - 1))), true),
            4 => {
                let (low, step) = (r.between(i64::from(first), 2), r.between(1, 3));
                let n = few(r);
                (json!(format!("range({low}, {}, {step})", low + (n - 1) * step)), low > 0)
            }
            5 => (json!(format!("divisors({})", r.one_of(&[4, 6, 8, 9]))), true),
            6 => (json!([8, 2, 4]), true),
            _ => {
                let x = r.one_of(&self.positive);
                let texts = [
                    "range(1, min(X, 4))",
                    "powers_of_two(1, X)",
                    "range(X, X + 1)",
                    "divisors(X)",
                ];
                let odd = [
                    "range(3, min(X, 5))",
                    "range(X % 3, 2)",
                    "[X, 1, X % 3 + 4]",
                    "powers_of_two(2, X)",
                ];
                let text = if r.percent(60) { r.one_of(&texts) } else { r.one_of(&odd) };
                (json!(text.replace('X', x)), !text.starts_with("range(X %"))
            }
        };
        if positive {
            self.positive.push(name);
        }
        domain
    }

    fn positive(&mut self) -> &'static str {
        self.r.one_of(&self.positive)
    }

    fn any(&mut self) -> &'static str {
        self.r.one_of(&self.names)
    }

    /// A text with `X` and `P` replaced by parameters, `Q` and `R` by some that are not 0, and `K`
    /// by a number.
    fn filled(&mut self, text: &str) -> String {
        let mut out = String::new();
        let [x, y] = [self.any(), self.any()];
        let [p, q] = [self.positive(), self.positive()];
        for c in text.chars() {
            match c {
                'X' => out.push_str(x),
                'Y' => out.push_str(y),
                'P' => out.push_str(p),
                'Q' => out.push_str(q),
                'K' => out.push_str(&self.r.below(5).to_string()),
                'L' => out.push_str(&format!("({})", self.local)),
                c => out.push(c),
            }
        }
        out
    }

    fn range(&mut self) -> Value {
        let dimensions = self.r.one_of(&[1, 1, 1, 2, 2, 3]);
        if dimensions == 1 {
            let local = self.r.one_of(&["P", "P", "P", "P * Q", "min(P * Q, 6)", "3", "P + 1"]);
            self.local = self.filled(local);
            let global = self.r.one_of(&[
                "12",
                "24",
                "8",
                "36",
                "2 * size",
                "L * K + L",
                "L * P",
                "L * (X + 1)",
            ]);
            let global = self.filled(global);
            return json!({ "global_size": global, "local_size": self.local.clone() });
        }
        let (mut global, mut local) = (Vec::new(), Vec::new());
        for _ in 0..dimensions {
            let own = self.r.one_of(&["P", "P", "2", "1", "min(P, Q)"]);
            let own = self.filled(own);
            let all = self.r.one_of(&["4", "8", "6", "size", "2 * P"]);
            global.push(match self.r.percent(30) {
                true => format!("2 * ({own})"),
                false => self.filled(all),
            });
            local.push(own);
        }
        self.local = local.iter().map(|l| format!("({l})")).collect::<Vec<_>>().join(" * ");
        json!({ "global_size": global, "local_size": local })
    }

    fn activations(&mut self) -> Value {
        let local = self.r.one_of(&["P", "2 * P", "P * Q", "8"]);
        self.local = self.filled(local);
        let activations = self.r.one_of(&["P", "ceil_div(size, P)", "1 if P == 1 else P + 1", "2"]);
        json!({ "local_size": self.local.clone(), "activations": self.filled(activations) })
    }

    fn constraint(&mut self) -> String {
        let atom = |w: &mut Writer| {
            let texts = [
                "X % P == 0",
                "size % P == 0",
                "X / P == 2",
                "X / P >= 1",
                "size / P == 12 / P",
                "X * Y <= 12",
                "X * Y % 3 != 1",
                "X + Y < 9",
                "X <= Y",
                "X != K",
                "1 < X <= 6",
                "d != 3",
                "e + X < 12",
                "d <= e",
                "not X == Y",
                "max(X, Y) > 1",
                "L <= 8",
                "L % 2 == 0",
            ];
            let text = w.r.one_of(&texts);
            w.filled(text)
        };
        let [a, b] = [atom(self), atom(self)];
        match self.r.below(6) {
            0 => format!("{a} and {b}"),
            1 => format!("{a} or {b}"),
            2 => format!("not ({a}) or {b}"),
            3 => format!("{b} if {a} else True"),
            _ => a,
        }
    }

    // Programs.

    /// The same for all items, and seldom large.
    fn amount(&mut self) -> String {
        if self.careless && self.r.percent(30) {
            let text = self.r.one_of(&["X - 2", "X - Y", "8 / X", "X % Y"]);
            return self.filled(text);
        }
        let plain = ["K", "X", "X", "P"];
        let texts = [
            "X + Y",
            "X * Y",
            "(3 * X + Y) % 5",
            "max(X - Y, 0)",
            "abs(X - Y)",
            "X // P",
            "ceil_div(X, P)",
            "8 // P",
            "X if Y > 2 else K",
            "X % P",
            "size / P",
            "2 * X",
        ];
        let mut text =
            if self.r.percent(40) { self.r.one_of(&plain) } else { self.r.one_of(&texts) };
        if !self.local.is_empty() && self.r.percent(15) {
            text = self.r.one_of(&["d", "e", "max(d - e, 0)"]);
        }
        self.filled(text)
    }

    fn of_item(&mut self) -> String {
        let texts = [
            "lid",
            "lid % 2",
            "lid % P",
            "(lid * X) % 5",
            "max(0, X - lid)",
            "lid // P",
            "X if lid == 0 else 1",
            "L - 1 - lid",
            "(lid + X) % 4",
            "7 if lid == L - 1 else Y",
        ];
        let text = self.r.one_of(&texts);
        self.filled(text)
    }

    fn any_amount(&mut self) -> String {
        if self.items && self.r.percent(50) { self.of_item() } else { self.amount() }
    }

    fn count(&mut self) -> String {
        let text = self.r.one_of(&[
            "K",
            "X",
            "X - 2",
            "3 - X",
            "min(X, Y) - 1",
            "size / P",
            "X // P",
            "d - 1",
        ]);
        format!("min({}, 5)", self.filled(text))
    }

    fn condition(&mut self) -> String {
        let texts = [
            "X > 2",
            "X == Y",
            "X % 2 == 0",
            "X * Y > 6 or P == 1",
            "d % 2",
            "X < Y and Y > 1",
            "L > 2",
        ];
        let text = self.r.one_of(&texts);
        self.filled(text)
    }

    fn item_condition(&mut self) -> String {
        let texts = [
            "lid % 2 == 0",
            "lid == 0",
            "lid < X",
            "lid % P == 1",
            "lid // 2 == X",
            "lid == L - 1",
        ];
        let text = self.r.one_of(&texts);
        self.filled(text)
    }

    /// Work over neighbouring parameters.
    fn chain(&mut self) -> Vec<Value> {
        let names = self.names.clone();
        let barrier = self.r.percent(40);
        let mut all = Vec::new();
        for i in 0..names.len() {
            let (x, y) = (names[i], names[(i + 1).min(names.len() - 1)]);
            let text = self.r.one_of(&[
                "abs(X - Y)",
                "X * Y",
                "(5 * X + 3 * Y) % 7",
                "max(X - Y, 0)",
                "X",
            ]);
            all.push(json!({ "compute": text.replace('X', x).replace('Y', y) }));
            if barrier {
                all.push(json!("barrier"));
            }
        }
        if self.items {
            all.push(json!({ "work": self.of_item() }));
        }
        if self.r.percent(30) {
            all = vec![json!({ "repeat": self.count(), "body": all }), json!({ "local": 1 })];
        }
        all
    }

    /// Up to four statements.
    fn block(&mut self, depth: u32, barriers: bool) -> Vec<Value> {
        let count = 1 + self.r.below(if depth == 3 { 4 } else { 3 });
        (0..count).map(|_| self.statement(depth, barriers)).collect()
    }

    fn statement(&mut self, depth: u32, barriers: bool) -> Value {
        let simple = depth == 0 || self.r.percent(60);
        match self.r.below(if simple { 9 } else { 4 }) {
            0 | 1 if !simple => {
                // Items that take a loop differently meet no barrier in it.
                let differ = self.items && self.r.percent(25);
                let count = if differ { self.of_item() } else { self.count() };
                json!({ "repeat": count, "body": self.block(depth - 1, barriers && !differ) })
            }
            _ if !simple => {
                let differ = self.items && self.r.percent(40);
                let condition = if differ { self.item_condition() } else { self.condition() };
                let barriers = barriers && !differ;
                let then = self.block(depth - 1, barriers);
                let otherwise =
                    if self.r.percent(60) { self.block(depth - 1, barriers) } else { Vec::new() };
                json!({ "if": condition, "then": then, "else": otherwise })
            }
            0 | 1 if barriers => json!("barrier"),
            2 if self.marks => json!("mark"),
            3 if self.marks => {
                let ticks = self.amount();
                json!({ "until": format!("2 * ({ticks})") })
            }
            _ => {
                let access = self.r.one_of(&["work", "global", "local", "compute", "atomic"]);
                json!({ access: self.any_amount() })
            }
        }
    }
}
