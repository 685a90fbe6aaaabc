//! Random problems with sources in OpenCL C.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::random::Random;

/// All prices differ, and none is zero.
pub const PLATFORM: &str = r#"{ "units_per_device": 2, "elements_per_unit": 2, "global_access": 1009,
    "local_access": 101, "constant_access": 211, "compute_op": 13, "atomic_access": 4001, "local_atomic_access": 5003,
    "barrier": 17, "group_start": 7, "kernel_launch": 3 }"#;

/// A problem file and its source, `k.cl`.
pub struct Case {
    pub source: String,
    pub problem: Value,
}

/// Writes cases.
pub struct Writer {
    random: Random,
    text: String,
    dimensions: usize,
    left: i64,
    names: u32,
    /// Whole numbers that the kernel may read, and those it may change.
    locals: Vec<String>,
    changeable: Vec<String>,
    in_loop: bool,
}

/// Parameters: `WG` and `WH` are sizes of groups, `VW` a vector's width, `F` and `G` flags, `K` and
/// `S` numbers of any sign, `P` and `Q` positive ones.
const PARAMETERS: [&str; 8] = ["WG", "WH", "VW", "F", "G", "K", "S", "P"];

impl Writer {
    pub fn new(seed: u64) -> Writer {
        let mut random = Random(seed.wrapping_mul(77) ^ 0x51ED);
        let dimensions = [1, 1, 2, 3][random.below(4) as usize];
        Writer {
            random,
            text: String::new(),
            dimensions,
            left: 16,
            names: 0,
            locals: Vec::new(),
            changeable: Vec::new(),
            in_loop: false,
        }
    }

    pub fn case(mut self) -> Case {
        let mut parameters = self.parameters();
        let mut defines: Map<String, Value> =
            PARAMETERS.iter().map(|p| ((*p).to_owned(), json!(p))).collect();
        // Macros that are no parameters themselves.
        if self.random.one_in(3) {
            defines["S"] = json!(self.random.pick(&["S * 2", "S + K", "-S", "S * S", "S - P"]));
        }
        if self.random.one_in(4) {
            defines["P"] = json!(self.random.pick(&["2 ** P", "P * VW", "P + F"]));
        }
        if self.random.one_in(3) {
            parameters.shift_remove("WH");
            parameters.insert("WH".into(), json!("[1, 2]"));
        }
        self.helpers();
        self.kernel();
        let source = self.text;
        let (mut global, mut local) = (vec![json!("WG * 2")], vec![json!("WG")]);
        if self.dimensions > 1 {
            global.push(json!(self.random.pick(&["WH", "WH * 2", "4"])));
            local.push(json!("WH"));
        }
        if self.dimensions > 2 {
            global.push(json!("2"));
            local.push(json!(self.random.pick(&["1", "2", "1 + F"])));
        }
        let n = self.random.pick(&["7", "K", "S + 5", "WG * 3", "P", "K * K"]);
        let constraint = self.random.pick(&["True", "True", "K < 8 or F == 0", "P <= WG * 4"]);
        let problem = json!({
            "platform": serde_json::from_str::<Value>(PLATFORM).expect("JSON"),
            "parameters": parameters,
            "constraints": [constraint],
            "launch": { "global_size": global, "local_size": local },
            "kernel": {
                "opencl": "k.cl", "entry": "k", "defines": defines,
                "arguments": [
                    { "name": "a", "type": "float", "length": 64 },
                    { "name": "b", "type": "float", "length": 64 },
                    { "name": "c", "type": "int", "length": 64 },
                    { "name": "l", "type": "float", "length": 64, "space": "local" },
                    { "name": "n", "type": "int", "value": n } ] }
        });
        Case { source, problem }
    }

    /// At most eight choices: two or three parameters have more than one value.
    fn parameters(&mut self) -> Map<String, Value> {
        let several: [&[i64]; 8] = [
            &[2, 4, 8],
            &[1, 2],
            &[1, 2, 4],
            &[0, 1],
            &[0, 1],
            &[-2, 0, 3, 7],
            &[-1, 0, 1, 2, 5],
            &[1, 2, 3, 6],
        ];
        let mut left = 8;
        let first = self.random.below(8) as usize;
        let mut parameters: Map<String, Value> = Map::new();
        let mut chosen: Vec<Vec<i64>> = several.iter().map(|v| v.to_vec()).collect();
        for i in (0..8).map(|i| (i * 3 + first) % 8) {
            let values = &mut chosen[i];
            while values.len() > left || (values.len() > 1 && self.random.one_in(4)) {
                let out = self.random.below(values.len() as u64) as usize;
                values.remove(out);
            }
            // Not always in order.
            if self.random.one_in(3) {
                values.reverse();
            }
            left = (left / values.len()).max(1);
        }
        for (name, values) in PARAMETERS.iter().zip(chosen) {
            parameters.insert((*name).to_owned(), json!(values));
        }
        parameters
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}");
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Macros and functions, some of them in `#if`.
    fn helpers(&mut self) {
        self.line("#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)");
        self.line("#if VW == 1\n#define VEC float\n#define LOAD(i, p) ((p)[i])\n#define STORE(v, i, p) ((p)[i] = (v))");
        self.line("#else\n#define VEC CAT(float, VW)\n#define LOAD(i, p) CAT(vload, VW)(i, p)\n#define STORE(v, i, p) CAT(vstore, VW)(v, i, p)\n#endif");
        let test = self.test();
        let (a, b) = (self.plain(1), self.plain(1));
        self.line(&format!("#if {test}\n#define LEN ({a})\n#else\n#define LEN ({b})\n#endif"));
        self.locals = vec!["m".into(), "n".into()];
        self.line(
            "int clip(int m, int n) { if (m > n) return n; if (m < 0) { return 0; } return m; }",
        );
        let test = self.test();
        self.line(&format!("#if {test}"));
        for _ in 0..2 {
            let (from, to, step) = (self.plain(1), self.plain(1), self.positive());
            let condition = self.uniform();
            self.line("float help(global float *p, int m, int n)\n{\nfloat s = 0.0f;");
            self.line(&format!(
                "for (int i = {from}; i < {to} + m; i += {step}) s += p[i];\nif ({condition}) s *= \
                 p[0];"
            ));
            if self.random.one_in(2) {
                self.line("#if F\ns += p[n];\n#endif");
            }
            self.line("return s;\n}");
            self.line(if self.names == 0 { "#else" } else { "#endif" });
            self.names += 1;
        }
        self.locals.clear();
    }

    fn kernel(&mut self) {
        self.line("kernel void k(global float *a, global float *b, constant int *c, local float *l, int n)\n{");
        let size = self.random.pick(&["WG", "WG * VW + 1", "P * 2", "WG * WH", "WG / VW + 1"]);
        self.line(&format!("local float t[{size}];"));
        self.line(
            "int lid = get_local_id(0);\nint gid = get_global_id(0);\nfloat f = 0.0f;\nint x = 0;",
        );
        self.line("VEC v = (VEC)(0.0f);");
        self.locals = vec!["n".into(), "x".into()];
        self.changeable = vec!["x".into()];
        if self.random.one_in(4) {
            let limit = self.positive();
            self.line(&format!("if (get_global_id(0) == {limit} + 90) return;"));
        }
        let count = 3 + self.random.below(5);
        for _ in 0..count {
            self.statement(true);
        }
        self.line("a[gid] = f + x;\n}");
    }

    fn block(&mut self, level: bool) {
        let (locals, changeable) = (self.locals.clone(), self.changeable.clone());
        let count = 1 + self.random.below(3);
        for _ in 0..count {
            self.statement(level);
        }
        (self.locals, self.changeable) = (locals, changeable);
    }

    /// A statement; `level` if all items of a group come here alike.
    fn statement(&mut self, level: bool) {
        self.left -= 1;
        match self.random.below(if self.left < 0 { 8 } else { 20 }) {
            0 => {
                let number = self.plain(1);
                self.line(&format!("a[gid] = b[gid] * {number};"));
            }
            1 => self.line("v += LOAD(lid, a);\nSTORE(v, gid, b);"),
            2 => {
                let number = self.plain(2);
                let text = self.random.pick(&[
                    "f += c[NUM];",
                    "t[lid] = f;\nl[lid] += t[NUM];",
                    "f += help(a, NUM, 3);",
                    "f += help(b, lid, NUM);",
                    "f += a[clip(NUM, n)];",
                    "x = clip(NUM, WG);",
                    "f = LEN > 2 ? a[0] : f;",
                ]);
                self.line(&text.replace("NUM", &number));
            }
            3 if level => self.line("barrier(CLK_LOCAL_MEM_FENCE);"),
            3 => self.line("atomic_add((local int *)l, 1);"),
            4 => self.assign(),
            5 => {
                let (condition, number) = (self.condition(), self.plain(1));
                self.line(&format!("if ({condition}) l[lid] += a[{number}];"));
            }
            6 => self.declare(),
            7 => self.chain_of_numbers(),
            8..=11 => self.structural(level),
            12..=15 => self.counted(level),
            16 if level => {
                let size = self.random.pick(&["WG", "WG / 2 * 2", "WG * WH", "16"]);
                self.line(&format!(
                    "for (int s = {size} / 2; s > 0; s >>= 1) {{\nif (lid < s) l[lid] += l[lid + \
                     s];"
                ));
                self.line("barrier(CLK_LOCAL_MEM_FENCE);\n}");
            }
            _ => {
                let uniform = level && self.random.one_in(2);
                let condition = if uniform { self.uniform() } else { self.condition() };
                self.line(&format!("if ({condition}) {{"));
                self.block(uniform);
                if self.random.one_in(2) {
                    self.line("} else {");
                    self.block(uniform);
                }
                self.line("}");
            }
        }
    }

    fn declare(&mut self) {
        let name = self.fresh("d");
        let number = self.plain(2);
        self.line(&format!("int {name} = {number};"));
        self.locals.push(name.clone());
        // Not changed in loops: the change would have to be followed through the rounds.
        if !self.in_loop {
            self.changeable.push(name);
        }
    }

    fn assign(&mut self) {
        if self.in_loop || self.changeable.is_empty() {
            return self.declare();
        }
        let at = self.random.below(self.changeable.len() as u64) as usize;
        let name = self.changeable[at].clone();
        let number = self.plain(2);
        let op = self.random.pick(&["=", "+=", "-="]);
        self.line(&format!("{name} {op} {number};"));
    }

    /// A number that has another text for each value of a macro.
    fn chain_of_numbers(&mut self) {
        let name = self.fresh("E");
        let (macro_name, values): (&str, &[i64]) = [
            ("VW", &[1, 2, 4][..]),
            ("S", &[-1, 0, 1, 2, 5][..]),
            ("F", &[0, 1][..]),
            ("K", &[-2, 0, 3, 7][..]),
        ][self.random.below(4) as usize];
        let rule = self.random.below(5);
        for (i, v) in values.iter().enumerate() {
            let word = if i == 0 { "#if" } else { "#elif" };
            let part = v.abs().max(1);
            let text = match rule {
                0 => format!("(2 * {v})"),
                1 => format!("(n / {part} * {v} + 1)"),
                2 => format!("(8 / {part})"),
                3 => format!("max(n, {v})"),
                _ if self.random.one_in(3) => self.plain(1),
                _ => format!("(P * {v} + 1)"),
            };
            self.line(&format!("{word} {macro_name} == {v}\n#define {name} {text}"));
        }
        let other = self.plain(1);
        self.line(&format!("#else\n#define {name} {other}\n#endif"));
        let text = self.random.pick(&[
            "for (int i = 0; i < EE; i++) f += a[i];",
            "for (int i = lid; i < EE; i += 2) f += l[i];",
            "if (lid < EE) a[lid] = f;",
        ]);
        self.line(&text.replace("EE", &name));
    }

    /// `#if` with statements in it, `#elif` and `#else`.
    fn structural(&mut self, level: bool) {
        let test = self.test();
        self.line(&format!("#if {test}"));
        self.block(level);
        if self.random.one_in(3) {
            let test = self.test();
            self.line(&format!("#elif {test}"));
            self.block(level);
        }
        if self.random.one_in(2) {
            self.line("#else");
            self.block(level);
        }
        self.line("#endif");
    }

    fn counted(&mut self, level: bool) {
        let name = self.fresh("i");
        let (to, step) = (self.plain(1), self.positive());
        let items = self.random.one_in(2);
        let from = match items {
            true => format!("lid / {}", self.positive()),
            false => self.plain(0),
        };
        match self.random.below(5) {
            0 => {
                self.line(&format!("for (int {name} = {to}; {name} > {from}; {name} -= {step}) {{"))
            }
            1 => self
                .line(&format!("for (int {name} = {from}; {name} <= {to}; {name} += {step}) {{")),
            2 => self.line(&format!("for (int {name} = 1; {name} < WG * {step}; {name} *= 2) {{")),
            _ => {
                self.line(&format!("for (int {name} = {from}; {name} < {to}; {name} += {step}) {{"))
            }
        }
        let before = std::mem::replace(&mut self.in_loop, true);
        // Items that go round equally often may still meet at barriers.
        self.block(level && !items);
        self.in_loop = before;
        if self.random.one_in(4) {
            self.line(&format!("f += c[{name}];"));
        }
        self.line("}");
    }

    /// A number that is the same for all items of a group.
    fn plain(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(4) {
                0 => self.random.below(9).to_string(),
                1 if !self.locals.is_empty() => {
                    let at = self.random.below(self.locals.len() as u64) as usize;
                    self.locals[at].clone()
                }
                _ => self.random.pick(&["WG", "WH", "VW", "F", "K", "S", "P", "WG"]).to_owned(),
            };
        }
        let (a, b) = (self.plain(depth - 1), self.plain(depth - 1));
        match self.random.below(8) {
            0..=2 => format!("({a} + {b})"),
            3 => format!("({a} - {b})"),
            4 => format!("({a} * {})", self.random.pick(&["2", "3", "F", "VW"])),
            5 => format!("({a} / {})", self.positive()),
            6 => format!("({a} % {})", self.positive()),
            _ => format!("({} ? {a} : {b})", self.uniform()),
        }
    }

    fn positive(&mut self) -> String {
        self.random.pick(&["WG", "VW", "P", "2", "3", "1", "(F + 1)", "(WG / VW + 1)"]).to_owned()
    }

    /// A condition on which all items of a group agree.
    fn uniform(&mut self) -> String {
        let (a, b) = (self.plain(0), self.plain(0));
        let op = self.random.pick(&["<", "<=", "==", "!=", ">"]);
        match self.random.below(6) {
            0 => "F".into(),
            1 => format!("{a} {op} {b} && !G"),
            2 => format!("(get_group_id(0) + {a}) % 2 == 0"),
            _ => format!("{a} {op} {b}"),
        }
    }

    /// A condition that items may differ in.
    fn condition(&mut self) -> String {
        let number = self.plain(1);
        let op = self.random.pick(&["<", "<=", "==", "!=", ">"]);
        match self.random.below(7) {
            0 => "lid == 0".into(),
            1 => format!("get_local_id(1) {op} {number}"),
            2 => format!("get_global_id(0) + get_global_id(1) * 3 {op} {number}"),
            3 => format!("lid % {} {op} {number}", self.positive()),
            4 => format!("get_group_id(1) == 0 || lid {op} {number}"),
            5 => self.uniform(),
            _ => format!("lid {op} {number}"),
        }
    }

    /// What `#if` asks.
    fn test(&mut self) -> String {
        let name = self.random.pick(&["VW", "F", "G", "K", "S", "P", "WG"]);
        let op = self.random.pick(&["<", "==", "!=", ">"]);
        match self.random.below(8) {
            0 => "F".into(),
            1 => "!G && VW > 1".into(),
            3 => format!("((WG * P) % 3 {op} VW) || !F"),
            4 => format!("{name} - S {op} K * {}", self.random.below(3)),
            5 => format!("{name} / 2 {op} S % 3 && (P + VW) % 2"),
            2 => format!("defined({name}) && {name} {op} {}", self.random.below(5)),
            _ => format!("{name} {op} {}", self.random.below(5)),
        }
    }
}
