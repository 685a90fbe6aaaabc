//! Random programs before and after `Problem::settle`.

use serde_json::{Value, json};
use tickbound_elimination::TableLimits;
use tickbound_model::kernel::expressions;

use super::whole::{Verdict, compare, problem};
use crate::random::Random;

struct Writer {
    random: Random,
    left: i64,
}

impl Writer {
    /// A whole number; `items` if items may differ in it.
    fn number(&mut self, depth: u32, items: bool) -> String {
        if depth == 0 || self.random.one_in(5) {
            let names = ["A", "B", "W", "K", "n", "d", "half"];
            return match self.random.below(if items { 7 } else { 3 }) {
                0 => (self.random.below(9) - 2).to_string(),
                1 | 2 => self.random.pick(&names).to_owned(),
                3 | 4 => "lid".into(),
                5 => "gid".into(),
                _ => "group".into(),
            };
        }
        let (a, b) = (self.number(depth - 1, items), self.number(depth - 1, items));
        match self.random.below(16) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("({a}) * ({b})"),
            4 | 5 => format!(
                "({a}) // {}",
                self.random.pick(&["W", "2", "A", "(W // A)", "(B + 5)", "half"])
            ),
            6 => format!("({a}) % {}", self.random.pick(&["W", "2", "A", "64", "half", "-3"])),
            7 => format!("ceil_div({a}, {})", self.random.pick(&["W", "A", "3", "(W // A)", "-2"])),
            8 => format!("({a} if {b} else {})", self.number(0, items)),
            9 => format!("({a}) {} ({b})", self.random.pick(&["<", "<=", "==", "!=", ">"])),
            10 => format!("min({a}, {b})"),
            11 => format!("max({a}, {b}, 0)"),
            12 => format!("abs({a})"),
            13 => format!("(not ({a}))"),
            14 => format!("(({a}) {} ({b}))", self.random.pick(&["and", "or"])),
            // What items tend to agree in.
            _ => self
                .random
                .pick(&[
                    "lid // W",
                    "gid // n",
                    "(lid < W)",
                    "(gid - lid) // W - group",
                    "lid % 1",
                    "(K - lid // A + W) // W",
                    "ceil_div(K * W - lid, W)",
                    "0 * gid",
                    "(group * W + lid >= n)",
                ])
                .to_owned(),
        }
    }

    fn program(&mut self, level: bool) -> Value {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.statement(level)).collect()
    }

    fn statement(&mut self, level: bool) -> Value {
        self.left -= 1;
        let deep = self.left < 0;
        match self.random.below(if deep { 4 } else { 9 }) {
            0 if level => json!("barrier"),
            0..=3 => {
                let kind =
                    self.random.pick(&["global", "local", "constant", "compute", "atomic", "work"]);
                json!({ kind: format!("abs({}) % 50", self.number(3, true)) })
            }
            4 => {
                json!({ "if": "lid < 0 or gid >= n", "then": self.program(false), "else": self.program(level) })
            }
            5 | 6 => {
                let items = !level || self.random.one_in(2);
                json!({ "repeat": format!("({}) % 7", self.number(3, items)), "body": self.program(level && !items) })
            }
            _ => {
                let items = !level || self.random.one_in(2);
                json!({ "if": self.number(3, items), "then": self.program(level && !items), "else": self.program(level && !items) })
            }
        }
    }
}

fn oracle(seed: u64) -> Result<Verdict, String> {
    let mut writer = Writer { random: Random(seed ^ 0x5E77), left: 14 };
    let kernel = writer.program(true);
    let r = &mut writer.random;
    let mut pick = |of: [[i64; 2]; 3]| json!(of[r.below(3) as usize]);
    let parameters = json!({
        "W": pick([[8, 16], [4, 6], [16, 3]]),
        "A": pick([[2, 4], [1, 3], [2, 2]]),
        "B": pick([[0, 1], [-1, 2], [0, 0]]),
        "K": pick([[16, 24], [0, -5], [7, 7]])
    });
    let constraint = r.pick(&["True", "K % (W // A + 1) != 1", "A < W and B <= K"]);
    let value = json!({
        "inputs": { "n": 48 },
        "platform": serde_json::from_str::<Value>(super::writer::PLATFORM).expect("JSON"),
        "parameters": parameters,
        "constraints": [constraint],
        "definitions": { "d": "K - B * 2", "half": "W / 2 + A" },
        "launch": { "global_size": "n", "local_size": "W" },
        "kernel": kernel
    });
    let before = problem(&value)?;
    let Ok(space) = before.space() else { return Ok(Verdict::default()) };
    let mut after = before.clone();
    after.settle(&before.configurations(&TableLimits::default()).expect("it has a space"));
    let shown = |fault: String| format!("{fault}\n{value}\nsettled: {}", after.kernel_json());
    let size = |kernel| {
        let mut all = 0;
        expressions(kernel, &mut |_, _| all += 1);
        all
    };
    let mut verdict = Verdict { problems: 1, ..Verdict::default() };
    // Here: programs in which something was settled.
    let same = size(&before.kernel) == size(&after.kernel) && before.kernel == after.kernel;
    verdict.structural += u32::from(!same);
    for bound in &space.bound {
        // Where an expression had no value before, it may have one now.
        if super::phases::of_all_items(&before, bound).is_err() {
            verdict.refused += 1;
            continue;
        }
        let simulated = compare((&before, bound), (&after, bound)).map_err(|fault| {
            shown(format!("{}: {fault}", before.name_values(&bound.configuration)))
        })?;
        verdict.configurations += 1;
        verdict.simulated += u32::from(simulated);
    }
    Ok(verdict)
}

#[test]
fn settled_programs_do_the_same() {
    let sum = super::check_all("settled", 300, oracle);
    assert!(sum.structural > sum.problems / 3, "most programs have something to settle");
    assert!(sum.configurations > sum.refused);
}
