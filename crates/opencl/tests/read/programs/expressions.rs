//! Random expressions.

use super::Writer;

impl Writer {
    pub(super) fn bound(&mut self) -> String {
        match self.random.below(6) {
            0 => self.random.below(6).to_string(),
            1 => self.random.pick(&["N", "WG / 2", "n", "WG", "N * 2", "n - 2"]).to_owned(),
            2 => self.random.pick(&["lid", "N - lid", "lid + 2", "gid % 4"]).to_owned(),
            3 => self.variable(),
            _ => format!("{} + {}", self.variable(), self.random.below(3)),
        }
    }

    pub(super) fn variable(&mut self) -> String {
        let at = self.random.below(self.variables.len() as u64) as usize;
        self.variables[at].0.clone()
    }

    pub(super) fn index(&mut self) -> String {
        let e = self.integer(1);
        if self.random.one_in(2) { "lid".into() } else { format!("({e})") }
    }

    pub(super) fn integer(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(4) {
            return match self.random.below(6) {
                0 => self.random.below(9).to_string(),
                1 => self
                    .random
                    .pick(&[
                        "get_local_id(0)",
                        "u",
                        "K",
                        "get_num_groups(0)",
                        "get_local_id(1)",
                        "get_global_size(0)",
                    ])
                    .to_owned(),
                _ => self.variable(),
            };
        }
        let (a, b) = (self.integer(depth - 1), self.integer(depth - 1));
        match self.random.below(14) {
            0..=3 => format!("({a} + {b})"),
            4 | 5 => format!("({a} - {b})"),
            6 => format!("({a} * 3)"),
            7 => format!("({a} / {})", 1 + self.random.below(5)),
            8 => format!("({a} % {})", 1 + self.random.below(7)),
            9 => format!("({a} & {})", self.random.pick(&["1", "3", "7", "12", "-4", "WG"])),
            10 => format!("({a} {} {})", self.random.pick(&["<<", ">>"]), self.random.below(3)),
            11 => format!("({} ? {a} : {b})", self.condition()),
            12 => format!("{}((int)({a}), (int)({b}))", self.random.pick(&["min", "max"])),
            _ => format!(
                "({})({a})",
                self.random.pick(&["int", "uint", "uchar", "short", "long", "ulong"])
            ),
        }
    }

    pub(super) fn condition(&mut self) -> String {
        let (a, b) = (self.integer(1), self.integer(1));
        let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.random.below(8) {
            0 => format!("{} {op} {} && {a} != 2", self.variable(), self.variable()),
            1 => format!("({a} {op} {b} || lid == 0)"),
            2 => format!("!({a} {op} {b})"),
            3 => "lid == 0".to_owned(),
            _ => format!("({a} {op} {b})"),
        }
    }
}
