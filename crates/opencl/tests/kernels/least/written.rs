//! Random kernels on real numbers.

use crate::random::{ProgramText, Random};

/// Writes kernels `k(a, v, index, out, n)` for groups of 8 items, 32 in all.
///
/// `a` has 4,096 numbers, `v` 512 vectors of four, `index` 64 whole numbers from 0 to 63, `out`
/// 1,024 numbers; `n` is 5, the macro T a tuning parameter from 1 to 3.
pub struct Writer {
    random: Random,
    out: ProgramText,
    /// Real variables in scope.
    reals: Vec<String>,
    /// Counters of the loops around.
    counters: Vec<String>,
    /// Statements left.
    left: i64,
    /// Whether all items of a group are here.
    together: bool,
}

const HELPERS: &str = "float square(float x) { return x * x; }
float blend(float x, float y, float w) { return x + w * (y - x); }
void add_to(float *sum, float x) { *sum += 2.0f * x; }
";

impl Writer {
    pub fn new(seed: u64) -> Writer {
        Writer {
            random: Random(seed),
            out: ProgramText::new(),
            reals: vec!["x".into()],
            counters: Vec::new(),
            left: 14,
            together: true,
        }
    }

    pub fn kernel(mut self) -> String {
        self.out.text.push_str(HELPERS);
        self.out.text.push_str(
            "kernel void k(global const float *restrict a, global const float4 *restrict v, \
             global const int *restrict index, global float *restrict out, int n)\n{\n",
        );
        for line in [
            "const int lid = get_local_id(0);",
            "const int gid = get_global_id(0);",
            "local float t[8];",
            "float r[3];",
            "for (int j = 0; j < 3; ++j) r[j] = a[gid + j];",
            "float q[3][2];",
            "for (int j = 0; j < 3; ++j) q[j][0] = q[j][1] = a[gid * 8 + j];",
            "float4 w[2];",
            "w[0] = v[gid]; w[1] = v[gid + 32];",
            "float x = 0.0f;",
        ] {
            self.out.line(line);
        }
        for _ in 0..2 + self.random.below(5) {
            self.statement();
        }
        let last = self.real(1);
        self.out.line(&format!("out[gid] = x + {last};"));
        self.out.text.push_str("}\n");
        self.out.text
    }

    fn block(&mut self) {
        self.out.depth += 1;
        let known = self.reals.len();
        for _ in 0..1 + self.random.below(3) {
            self.statement();
        }
        self.reals.truncate(known);
        self.out.depth -= 1;
    }

    fn statement(&mut self) {
        self.left -= 1;
        let simple = self.out.depth > 3 || self.left < 0;
        match self.random.below(if simple { 12 } else { 18 }) {
            0 | 1 => {
                let (name, value) = (self.out.fresh("y"), self.real(2));
                self.out.line(&format!("float {name} = {value};"));
                self.reals.push(name);
            }
            2..=4 => {
                let (name, value) = (self.variable(), self.real(2));
                let how = self.random.pick(&["+=", "+=", "+=", "*=", "=", "-="]);
                self.out.line(&format!("{name} {how} {value};"));
            }
            5 => {
                let value = self.real(2);
                let place =
                    self.random.pick(&["gid + 32", "gid + 64", "gid * 2 + 96", "512 + lid"]);
                self.out.line(&format!("out[{place}] = {value};"));
            }
            6 => {
                let place = self.counter();
                let value = self.real(1);
                self.out.line(&format!("out[gid * 8 + 128 + {place}] = {value};"));
            }
            7 => {
                let (place, value) = (self.random.pick(&["0", "1", "j"]).to_owned(), self.real(1));
                let whole = place == "j";
                let before = if whole { "for (int j = 0; j < 3; ++j) " } else { "" };
                self.out.line(&format!("{before}r[{place}] += {value};"));
            }
            8 => {
                let (name, value) = (self.variable(), self.real(1));
                self.out.line(&format!("add_to(&{name}, {value});"));
            }
            9..=11 => self.parts(),
            12..=14 => self.repeat(),
            15 | 16 => self.branch(),
            _ if self.together => self.tile(),
            _ => self.repeat(),
        }
    }

    /// Parts of rows and of vectors, by their own types and by others.
    fn parts(&mut self) {
        let (name, value) = (self.variable(), self.real(1));
        let text = self.random.pick(&[
            "for (int j = 0; j < 3; ++j) { q[j][0] += P; q[j][1] *= q[j][0]; }",
            "for (int j = 0; j < 3; ++j) { q[j][1] = P; }",
            "for (int j = 0; j < 3; ++j) X += q[j][1];",
            "for (int j = 0; j < 3; ++j) for (int c = 0; c < 2; ++c) X += q[j][c];",
            "q[2][0] += P;",
            "X = q[1][1] * P;",
            "w[0].y += P;",
            "w[1].zw = (float2)(P, X);",
            "for (int j = 0; j < 2; ++j) w[j] += v[gid * 2 + j] * P;",
            "for (int j = 0; j < 2; ++j) w[j].x = w[j].x * P + w[j].y;",
            "for (int c = 0; c < 4; ++c) X += ((float *)&w[1])[c];",
            "for (int j = 0; j < 2; ++j) for (int c = 0; c < 4; ++c) X += ((float *)&w[j])[c];",
            "for (int c = 0; c < 4; ++c) if (c < T) X += ((float *)w)[c];",
            "for (int j = 0; j < 2; ++j) if (j < T - 1) X += w[j].z;",
            "((float *)w)[5] = P;",
            "X += ((float *)w)[6] * P;",
            "for (int c = 0; c < 8; ++c) ((float *)w)[c] += P;",
            "*(float4 *)&q[0][1] = w[0];",
            "w[1] = (float4)(P, X, 1.0f, 0.0f);",
            "for (int j = 0; j < 2; ++j) X += w[j].y;",
        ]);
        self.out.line(&text.replace('P', &value).replace('X', &name));
    }

    fn repeat(&mut self) {
        let counter = self.out.fresh("i");
        let (first, last, step) = match self.random.below(14) {
            0 | 1 => ("0", "T", "++I"),
            2 => ("0", "4", "++I"),
            3 => ("0", "n", "++I"),
            4 => ("0", "2 * T", "I += 2"),
            5 => ("1", "T", "++I"),
            6 => ("lid", "8", "++I"),
            7 => ("0", "(index[lid] & 3)", "++I"),
            8 => ("0", "6", "I += T"),
            9 => ("0", "8", "I += 4"),
            10 => ("0", "n - 2", "++I"),
            _ => ("0", "3", "++I"),
        };
        let together = self.together && first != "lid" && !last.contains("index");
        let together = std::mem::replace(&mut self.together, together);
        if self.random.one_in(6) {
            self.out.line("#pragma unroll 2");
        }
        let step = step.replace('I', &counter);
        self.out.line(&format!("for (int {counter} = {first}; {counter} < {last}; {step}) {{"));
        self.counters.push(counter);
        self.block();
        self.counters.pop();
        self.out.line("}");
        self.together = together;
    }

    fn branch(&mut self) {
        let condition = match self.random.below(7) {
            0 => "lid < 4".to_owned(),
            1 => "gid < 5 * n".to_owned(),
            2 => "T > 1".to_owned(),
            3 => format!("{} > 0.5f", self.load()),
            4 => format!("({} & 1) == 0", self.counter()),
            5 => "lid == 0".to_owned(),
            _ => "get_group_id(0) > 0".to_owned(),
        };
        let alike = condition.starts_with("T") || condition.starts_with("get");
        let together = self.together && alike;
        let together = std::mem::replace(&mut self.together, together);
        self.out.line(&format!("if ({condition}) {{"));
        self.block();
        if self.random.one_in(2) {
            self.out.line("} else {");
            self.block();
        }
        self.out.line("}");
        self.together = together;
    }

    /// A tile that the group fills and reads.
    fn tile(&mut self) {
        let (value, name) = (self.real(1), self.variable());
        let read = match self.random.below(4) {
            0 => format!("{name} += t[lid ^ 1];"),
            1 => format!("for (int j = 0; j < 8; ++j) {name} += t[j];"),
            2 => format!("for (int j = 0; j < 8; j += T) {name} += t[j] * t[7 - lid];"),
            _ => format!("{name} = fmax({name}, t[(lid + T) & 7]);"),
        };
        self.out.line(&format!("t[lid] = {value};"));
        self.out.line("barrier(CLK_LOCAL_MEM_FENCE);");
        self.out.line(&read);
        self.out.line("barrier(CLK_LOCAL_MEM_FENCE);");
    }

    fn variable(&mut self) -> String {
        self.reals[self.random.below(self.reals.len() as u64) as usize].clone()
    }

    /// A counter of a loop around, or a number.
    fn counter(&mut self) -> String {
        match self.counters.len() {
            0 => self.random.pick(&["0", "1", "3"]).to_owned(),
            n => self.counters[self.random.below(n as u64) as usize].clone(),
        }
    }

    /// A load.
    fn load(&mut self) -> String {
        let counter = self.counter();
        let text = self.random.pick(&[
            "a[gid]",
            "a[gid + 32 * I]",
            "a[gid * 8 + I]",
            "a[I]",
            "a[lid + I]",
            "a[I * 16 + lid]",
            "a[index[lid] + I]",
            "a[index[I]]",
            "v[gid].x",
            "v[gid * 4 + I].w",
            "v[I].y",
            "a[gid * 4 + 1]",
            "a[n * I + 3]",
            "a[max(gid - 1, 0)]",
            "a[2 * gid + (I & 1)]",
            "a[get_group_id(0) * 8 + I]",
        ]);
        text.replace('I', &counter)
    }

    fn real(&mut self, deep: usize) -> String {
        if deep == 0 {
            return match self.random.below(6) {
                0 | 1 => self.variable(),
                2 | 3 => self.load(),
                4 => format!("r[{}]", self.random.pick(&["0", "1", "2"])),
                _ => self.random.pick(&["0.5f", "2.0f", "0.0f", "1.0f", "3.25f"]).to_owned(),
            };
        }
        let (p, q) = (self.real(deep - 1), self.real(deep - 1));
        let text = match self.random.below(22) {
            0..=3 => "P + Q",
            4..=7 => "P * Q",
            8 | 9 => "P - Q",
            10 => "P / (Q + 8.0f)",
            11 => "sqrt(fabs(P) + Q * Q)",
            12 => "native_exp(P)",
            13 => "rsqrt(P * P + 1.0f)",
            14 => "fma(P, Q, 1.5f)",
            15 => "mad(P, 2.0f, Q)",
            16 => "(P > Q ? P : Q)",
            17 => "fmin(P, Q)",
            18 => "square(P)",
            19 => "blend(P, Q, 0.25f)",
            20 => "(P + (float)index[lid])",
            _ => "(P * (float)I + Q)",
        };
        let counter = self.counter();
        let text: String = text
            .chars()
            .map(|c| match c {
                'P' => p.clone(),
                'Q' => q.clone(),
                'I' => counter.clone(),
                other => other.to_string(),
            })
            .collect();
        format!("({text})")
    }
}
