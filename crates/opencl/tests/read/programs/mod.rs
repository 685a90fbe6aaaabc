//! Random kernels.

mod expressions;

use crate::random::{ProgramText, Random};

/// Writes kernels.
pub struct Writer {
    pub random: Random,
    out: ProgramText,
    /// Whole-number variables that may be read, and whether they may be changed.
    variables: Vec<(String, bool)>,
    loops: usize,
    /// Statements left.
    left: i64,
}

/// Helper functions that any kernel may call.
const HELPERS: &str = "int twice(int x) { return x + x; }
int part(global int *p, int i) { return p[i] + p[i + 1]; }
int clip(int x, int high) { if (x > high) { return high; } if (x < 0) return 0; return x; }
void put(local int *l, int i, int v) { if (i < WG) { l[i] = v; } }
void count(int *c, global int *p) { *c += 2; *p = *c; }
int total(global const int *p, int n) { int s = 0; for (int i = 0; i < n; ++i) { s += p[i]; } return s; }
";

impl Writer {
    pub fn new(seed: u64) -> Writer {
        Writer {
            random: Random(seed),
            out: ProgramText::new(),
            variables: Vec::new(),
            loops: 0,
            left: 24,
        }
    }

    /// A kernel `k(global int *a, global int *b, global float4 *v, constant int *c, local int *l,
    /// int n, uint u)`.
    pub fn kernel(mut self) -> String {
        self.out.text.push_str("constant int K = 3;\n");
        self.out.text.push_str(HELPERS);
        self.out.text.push_str(
            "kernel void k(global int *a, global int *b, global float4 *v, constant int *c, \
             local int *l, int n, uint u)\n{\n",
        );
        for name in ["n", "N", "WG"] {
            self.variables.push((name.to_owned(), false));
        }
        self.out.line("int lid = get_local_id(0);");
        self.out.line("int gid = get_global_id(0);");
        self.out.line("int x = 0;");
        self.out.line("int z = 0;");
        self.out.line("float4 f = (float4)(0.0f);");
        self.out.line("local int t[WG];");
        self.out.line("int r[4];");
        self.variables.push(("lid".into(), false));
        self.variables.push(("gid".into(), false));
        self.variables.push(("x".into(), true));
        let count = 2 + self.random.below(5);
        for _ in 0..count {
            self.statement();
        }
        self.out.line("a[gid] = x + z;");
        self.out.text.push_str("}\n");
        self.out.text
    }

    fn block(&mut self) {
        self.out.depth += 1;
        let known = self.variables.len();
        let count = 1 + self.random.below(3);
        for _ in 0..count {
            self.statement();
        }
        self.variables.truncate(known);
        self.out.depth -= 1;
    }

    fn statement(&mut self) {
        self.left -= 1;
        let deep = self.out.depth > 4 || self.left < 0;
        match self.random.below(if deep { 12 } else { 24 }) {
            0 => self.declare(),
            1 => self.assign(),
            2 => {
                let (i, j) = (self.index(), self.index());
                self.out.line(&format!("a[{i}] = b[{j}];"));
            }
            3 => {
                let op = self.random.pick(&["+=", "-=", "*=", "^="]);
                let (i, e) = (self.index(), self.integer(2));
                self.out.line(&format!("a[{i}] {op} {e};"));
            }
            4 => {
                let i = self.index();
                let text = self.random.pick(&[
                    "t[lid]++;",
                    "--l[0];",
                    "t[lid] = l[I] + c[I];",
                    "x = x + 0 * K;",
                    "*b = K;",
                    "a[c[I]] = 1;",
                    "r[I & 3] = a[I];",
                    "x += r[I & 3] * 0;",
                ]);
                self.out.line(&text.replace('I', &i));
            }
            5 => {
                let i = self.index();
                let text = self.random.pick(&[
                    "f += v[I];",
                    "v[I].x = f.y;",
                    "v[I].s1 += 2.0f;",
                    "f.xy = v[I].zw;",
                    "v[I] = f * 2.0f;",
                    "f = vload4(I, (global float *)v);",
                    "vstore4(f, I, (global float *)v);",
                    "v[I] += f;",
                    "f.x = v[I].x + v[I].y;",
                ]);
                self.out.line(&text.replace('I', &i));
            }
            6 => self.out.line("barrier(CLK_LOCAL_MEM_FENCE);"),
            7 => {
                let i = self.index();
                let e = self.integer(1);
                let text = self.random.pick(&[
                    "a[I] = twice(E);",
                    "x = clip(E, N);",
                    "put(l, I, E);",
                    "put(t, I, b[I]);",
                    "count(&x, b + I);",
                    "a[0] = part(b + I, 2);",
                    "atomic_add(&a[I], E);",
                    "a[I] = total(b, clip(E, 9));",
                ]);
                self.out.line(&text.replace('I', &i).replace('E', &e));
            }
            8 => self.data_branch(),
            9 => {
                let (c, i, j) = (self.condition(), self.index(), self.index());
                let text = self.random.pick(&[
                    "z = C ? x : a[I];",
                    "a[I] = C ? b[I] : c[J];",
                    "if (C && a[I] > 0) { x += 0; }",
                    "z += (C || b[J] != 0);",
                    "*(C ? &a[I] : &b[J]) = 1;",
                ]);
                self.out.line(&text.replace('C', &c).replace('I', &i).replace('J', &j));
            }
            10 if self.loops > 0 && self.random.one_in(2) => {
                let c = self.condition();
                self.out.line(&format!("if ({c}) continue;"));
            }
            11 if self.loops == 0 && self.random.one_in(3) => {
                let c = self.condition();
                self.out.line(&format!("if ({c}) return;"));
            }
            10..=13 => self.branch(),
            14..=18 => self.counted(),
            19 => self.halving(),
            20 => self.pointer_walk(),
            21 => self.left_early(),
            22 if self.random.one_in(3) => self.switch(),
            23 if self.random.one_in(2) => self.tile(),
            _ => self.other_loop(),
        }
    }

    /// Two whole numbers as parts of something.
    fn declare_parts(&mut self) {
        let name = self.out.fresh("q");
        let (a, b) = (self.integer(1), self.integer(1));
        let (text, parts) = match self.random.below(3) {
            0 => (format!("int2 {name} = (int2)({a}, {b});"), [".x", ".s1"]),
            1 => (format!("int {name}[2] = {{{a}, {b}}};"), ["[0]", "[3 - 2]"]),
            _ => (
                format!("struct {{ char c; int m; long n; }} {name} = {{1, {a}, {b}}};"),
                [".m", ".n"],
            ),
        };
        self.out.line(&text);
        self.variables.extend(parts.map(|part| (format!("{name}{part}"), true)));
    }

    fn declare(&mut self) {
        if self.random.one_in(4) {
            return self.declare_parts();
        }
        let name = self.out.fresh("d");
        let e = self.integer(2);
        let ty = self.random.pick(&[
            "int",
            "int",
            "uint",
            "const int",
            "long",
            "size_t",
            "short",
            "uchar",
        ]);
        self.out.line(&format!("{ty} {name} = {e};"));
        self.variables.push((name, ty != "const int"));
    }

    fn assign(&mut self) {
        let Some(name) = self.changeable() else { return self.declare() };
        let e = self.integer(2);
        let text = match self.random.below(5) {
            0 => format!("{name} += {e};"),
            1 => format!("{name}++;"),
            2 => format!("{name} -= 2;"),
            _ => format!("{name} = {e};"),
        };
        self.out.line(&text);
    }

    fn changeable(&mut self) -> Option<String> {
        let names: Vec<String> =
            self.variables.iter().filter(|v| v.1).map(|v| v.0.clone()).collect();
        (!names.is_empty()).then(|| names[self.random.below(names.len() as u64) as usize].clone())
    }

    fn branch(&mut self) {
        let c = self.condition();
        self.out.line(&format!("if ({c}) {{"));
        self.block();
        if self.random.one_in(2) {
            self.out.line("} else {");
            self.block();
        }
        self.out.line("}");
    }

    /// Cases in any order, some without an end; what is left inside is that of the loop or the
    /// kernel around.
    fn switch(&mut self) {
        let value =
            self.random.pick(&["n", "N & 3", "lid % 3", "u", "(uchar)(n + 254)", "gid - 1", "K"]);
        self.out.line(&format!("switch ({value}) {{"));
        let mut labels = vec!["case 0:", "case 1:", "case 2: case 5:", "default:", "case -1:"];
        let count = 1 + self.random.below(3);
        for _ in 0..count {
            let label = labels.remove(self.random.below(labels.len() as u64) as usize);
            self.out.line(&format!("{label} {{"));
            self.block();
            let c = self.condition();
            let end = self.random.pick(&["break;", "break;", "if (C) break; x += 1;", ""]);
            self.out.line(&end.replace('C', &c));
            self.out.line("}");
        }
        self.out.line("}");
    }

    fn data_branch(&mut self) {
        let i = self.index();
        let text = self.random.pick(&[
            "if (a[I] > 0) { x += 0; }",
            "if (a[I] > b[0]) { l[0] = 1; } else { l[I] = 2; }",
            "if (v[I].x > 0.5f) { f *= 2.0f; } else { f = f + 1.0f; }",
        ]);
        self.out.line(&text.replace('I', &i));
    }

    fn counted(&mut self) {
        let name = self.out.fresh("i");
        let (from, to) = (self.bound(), self.bound());
        let ty = self.random.pick(&["int", "int", "int", "uint", "long", "size_t"]);
        let step = self.random.pick(&["1", "2", "3", "N", "WG"]);
        let ahead = match self.random.below(6) {
            0..=2 => {
                let op = self.random.pick(&["<", "<="]);
                let inc =
                    if step == "1" { format!("{name}++") } else { format!("{name} += {step}") };
                format!("for ({ty} {name} = {from}; {name} {op} {to}; {inc}) {{")
            }
            3 => {
                let op = self.random.pick(&[">", ">="]);
                format!("for (int {name} = {from}; {name} {op} {to}; {name} -= {step}) {{")
            }
            4 => format!("for (int {name} = 0; {name} != {to} * {to}; ++{name}) {{"),
            _ => {
                let other = self.bound();
                format!(
                    "for (int {name} = {from}; {name} < {to} && {name} <= {other}; {name} += \
                     {step}) {{"
                )
            }
        };
        self.out.line(&ahead);
        self.inside(name);
    }

    /// A loop that is left in the midst of an iteration, perhaps with the kernel.
    fn left_early(&mut self) {
        let name = self.out.fresh("i");
        let (from, to, last) = (self.bound(), self.bound(), self.bound());
        let step = self.random.pick(&["1", "2", "WG"]);
        let condition = self.random.pick(&["I == L", "I >= L", "I + lid > L", "N == 3 && I == L"]);
        let condition = condition.replace('I', &name).replace('L', &last);
        self.out.line(&format!("for (int {name} = {from}; {name} < {to}; {name} += {step}) {{"));
        self.out.line(&format!("    a[{name} & 7] += 1;"));
        let leave = if self.loops == 0 { self.random.pick(&["break", "return"]) } else { "break" };
        self.out.line(&format!("    if ({condition}) {{ l[0] = 1; {leave}; }}"));
        self.inside(name);
    }

    /// A loop with a barrier over tiles, of which the last ones reach over an end.
    fn tile(&mut self) {
        let name = self.out.fresh("i");
        let (to, end) = (self.random.pick(&["n", "N", "2 * N"]), self.bound());
        let step = self.random.pick(&["WG", "1", "2"]);
        let text = self.random.pick(&[
            "if (I + lid < E) l[lid] = b[I];",
            "l[lid] = I * WG + lid < E ? b[I + lid] : 0;",
            "if (I >= E + lid) a[0] = 1; else b[I] += 1;",
            "if (I < E && 2 * I - lid < n) a[I] = 1;",
            "if (I == lid) a[I] = 1;",
        ]);
        self.out.line(&format!("for (int {name} = 0; {name} < {to} + WG; {name} += {step}) {{"));
        self.out.line(&format!("    {}", text.replace('I', &name).replace('E', &end)));
        self.out.line("    barrier(CLK_LOCAL_MEM_FENCE);");
        self.inside(name);
    }

    fn inside(&mut self, counter: String) {
        let known = self.variables.len();
        self.variables.push((counter, false));
        self.loops += 1;
        self.block();
        self.loops -= 1;
        self.variables.truncate(known);
        self.out.line("}");
    }

    fn halving(&mut self) {
        let name = self.out.fresh("s");
        let text = self.random.pick(&[
            "for (int S = WG / 2; S > 0; S >>= 1) {",
            "for (int S = 1; S < WG; S *= 2) {",
            "for (uint S = WG; S > 2; S /= 2) {",
            "for (int S = N; S; S >>= 2) {",
            "for (int S = 1; S <= N; S <<= 1) {",
            "for (int S = WG; S != 1; S /= 2) {",
            "for (uint S = WG + 1; S != 1; S >>= 1) {",
        ]);
        self.out.line(&text.replace('S', &name));
        self.inside(name);
    }

    fn pointer_walk(&mut self) {
        let (name, count) = (self.out.fresh("p"), self.out.fresh("i"));
        let to = self.bound();
        self.out.line(&format!("global int *{name} = b + lid;"));
        self.out.line(&format!("for (int {count} = 0; {count} < {to}; {count}++) {{"));
        self.out.line(&format!("    *{name}++ = *(a + {count});"));
        self.inside(count);
    }

    fn other_loop(&mut self) {
        let name = self.out.fresh("w");
        let to = self.bound();
        match self.random.below(5) {
            0 => {
                self.out.line(&format!("int {name} = 0;"));
                self.out.line(&format!("while ({name} < {to}) {{"));
                self.out.line(&format!("    {name} += 2;"));
            }
            1 => {
                self.out.line(&format!("int {name} = N;"));
                self.out.line(&format!("while ({name}--) {{"));
            }
            2 => {
                self.out.line(&format!("int {name} = 0;"));
                self.out.line("do {");
                self.out.line(&format!("    {name} += 3;"));
                self.loops += 1;
                let known = self.variables.len();
                self.variables.push((name.clone(), false));
                self.block();
                self.variables.truncate(known);
                self.loops -= 1;
                self.out.line(&format!("}} while ({name} < {to});"));
                return;
            }
            3 => {
                self.out.line(&format!("for (int {name} = 0; ; {name}++) {{"));
                self.out.line(&format!("    if ({name} >= {to}) break;"));
            }
            _ => {
                self.out.line(&format!("int {name} = lid;"));
                self.out.line(&format!("while ({name} < n && {name} < {to} + WG) {{"));
                self.out.line(&format!("    {name} += WG;"));
            }
        }
        self.inside(name);
    }
}
