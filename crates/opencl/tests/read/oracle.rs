//! Random kernels, read and run: both must count the same.

use std::collections::HashMap;

use indexmap::IndexMap;
use tickbound_opencl::ast::Unit;
use tickbound_opencl::steps::SymbolExpr;
use tickbound_opencl::{parse, preprocess};

use super::machine::{Item, Machine};
use super::programs::Writer;
use super::support::{Case, case, number};
use crate::random::Random;
use crate::steps::{count, print};

/// What became of a kernel.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Verdict {
    Agreed(u32),
    Refused,
}

pub fn program(seed: u64) -> Case {
    let mut case = case(&Writer::new(seed).kernel());
    case.symbols = vec![("N", 0, 6), ("WG", 2, 8)];
    // Half of the launches say how large their groups are.
    case.local = seed
        .is_multiple_of(2)
        .then(|| SymbolExpr::Name("WG".to_owned()))
        .into_iter()
        .map(Some)
        .collect();
    case.arguments = vec![tickbound_opencl::Passed::Memory; 5];
    case.arguments.extend([number(-2, 9), number(0, 5)]);
    case
}

/// Reads and runs the kernel of a seed.
pub fn oracle(seed: u64) -> Result<Verdict, String> {
    compare(&program(seed), seed)
}

/// Reads a kernel and runs it for a number of items.
pub fn compare(case: &Case, seed: u64) -> Result<Verdict, String> {
    let (steps, unit) = match case.read_with_unit() {
        Ok(both) => both,
        Err(error) => {
            if std::env::var("SHOW").is_ok() {
                let place = error.to_string();
                let line =
                    place.split(':').nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(1);
                println!("refused {seed} {error} @@@ {}", case.text.lines().nth(line - 1).unwrap());
            }
            return Ok(Verdict::Refused);
        }
    };
    let mut random = Random(seed ^ 0xABCD);
    let mut compared = 0;
    for _ in 0..12 {
        let wg = [2, 4, 8][random.below(3) as usize];
        let symbols = HashMap::from([("N".to_owned(), random.below(7)), ("WG".to_owned(), wg)]);
        let mut arguments = HashMap::from([
            ("n".to_owned(), random.below(12) - 2),
            ("u".to_owned(), random.below(6)),
            ("m".to_owned(), random.below(6)),
        ]);
        if case.arguments.contains(&tickbound_opencl::Passed::Null) {
            arguments.insert("none".to_owned(), 0);
        }
        let groups = 1 + random.below(3);
        let item = Item {
            lid: [random.below(wg as u64), 0, 0],
            group: [random.below(groups as u64), 0, 0],
            local: [wg, 1, 1],
            groups: [groups, 1, 1],
        };
        let mut machine = Machine::new(&unit, &symbols, item, Random(random.next()));
        machine.warp = case.warp;
        if machine.kernel(&arguments).is_err() {
            continue;
        }
        compared += 1;
        let value = |name: &str| match name {
            "$lid_0" => Some(item.lid[0]),
            "$group_0" => Some(item.group[0]),
            "$local_0" => Some(wg),
            "$groups_0" => Some(groups),
            "$global_0" => Some(groups * wg),
            name => match name.strip_prefix('$') {
                Some(argument) => arguments.get(argument).copied(),
                None => symbols.get(name).copied(),
            },
        };
        let counted = count(&steps, &mut |name| value(name));
        if counted.as_ref().ok() != Some(&machine.counts) {
            return Err(format!(
                "seed {seed}\n{}\n{}\n{symbols:?} {arguments:?} {item:?}\nread: {counted:?}\nrun: \
                 {:?}",
                case.text,
                print(&steps),
                machine.counts
            ));
        }
    }
    Ok(Verdict::Agreed(compared))
}

/// Bodies that try what is easy to get wrong.
const BODIES: [&str; 65] = [
    "int2 r = (int2)(2, n); for (int i = r.x; i < r.y; i++) a[i] = 0; for (int i = 0; i < r.s0; \
     i++) b[i] = 1;",
    "struct S { char c; int n; float f; int m; } s; s.n = n; s.m = N; s.c = 300; \
     for (int i = s.c; i < s.n + s.m + 40; i++) a[i] = 0;",
    "int r[4] = {0, n, N}; for (int i = r[0]; i < r[1]; i++) a[i] = b[i]; if (r[1 + 1] > 2) b[0] = \
     1;",
    "int4 r = (int4)(n); r.y = 2; r.s3 = r.x + 1; int4 q = r; r = (int4)(0); if (q.x == n) a[0] = \
     1; \
     for (int i = 0; i < q.w; i++) b[i] = r.x; if (q.y == 2) a[1] = 1; if (r.z) b[0] = 1;",
    "struct S { int n; int m; } s = {n, 3}, t; t = s; s.n = 100; if (u > 2) t.m = N; \
     for (int i = 0; i < t.n + t.m; i++) a[i] = 1;",
    "int r[3]; for (int i = 0; i < 3; i++) r[i] = N; r[0] = n; r[1] = 2; for (int i = 0; i < r[0] \
     * r[1]; i++) a[i] = 0;",
    "int2 r = (int2)(n, 1); if (lid > 1) r.x = 3; else r = (int2)(4, 1); for (int i = 0; i < r.x; \
     i++) a[i] = 0; \
     if (r.y == 1) b[0] = 1;",
    "struct P { int from; int to; } p; struct P *q = &p; q->from = 1; q->to = n; int i = p.from; \
     while (i < p.to) { a[i] = 0; i++; }",
    "uchar4 r = (uchar4)(n, 255, 256 + 3, 1); r.x++; if (r.x < 5) a[0] = 1; for (int i = 0; i < \
     r.z; i++) b[i] = 1;",
    "struct S { int2 v; int r[2]; } s; s.r[0] = n; s.r[1] = 2; if (s.r[0] > s.r[1]) a[0] = 1;",
    "struct S { int r[2]; int n; } s = {1, 2, n}; s.n = 3; if (s.n > n) a[0] = 1;",
    "short r[2] = {70000, n}; long s[2]; s[0] = r[0]; s[1] = r[1]; for (int i = 0; i < s[1]; i++) \
     a[i] = 0; \
     if (s[0] == 4464) b[0] = 1;",
    "int2 r = (int2)(0, n); for (int i = 0; i < N; i++) { if (r.y > i) a[i] = 1; }",
    "int r[2]; r[0] = 1; r[1] = n; int *p = r; for (int i = p[0]; i < *(p + 1); i++) a[i] = 0; \
     p[1] = 2; \
     if (r[1] == 2) b[0] = 1;",
    "switch (n) { case 1: a[0] = 1; case 2: a[1] = 1; break; default: b[0]++; case 3: b[1] = 2; }",
    "switch (n) { b[0] = 1; case 4: a[0] = 1; }",
    "for (int i = 0; i < 8; i++) { switch (i % 3) { case 0: continue; case 1: a[i] = 1; break; } \
     b[i] = 1; }",
    "for (int i = 0; i < N; i++) { switch (n) \
     { case 1: if (lid) break; a[i] = 2; case 2: if (u > 2) continue; \
     b[i]++; } l[i] = 1; }",
    "switch (lid & 3) \
     { case 0: if (n > 2) return; a[0] = 1; break; case 1: for (int i = 0; i < 3; i++) \
     { if (i == 1) break; } b[0] = 1; \
     default: return; } b[1] = 3;",
    "switch ((uchar)(n - 1)) \
     { case 255: a[0] = 1; break; case 1: a[0]++; break; case -1: b[0] = b[1] + 1; }",
    "switch (u) { case 3 - 1: switch (n) { case 2: break; default: a[0] = 1; } b[0] = 1; break; \
     case 1 ? 4 : 0: \
     a[1] = c[0]; }",
    "int x = 0; switch (n & 3) { case 1: x = 2; break; case 2: x = 3; default: x++; } \
     for (int i = 0; i < x; i++) a[i] = 0;",
    "enum { A = 2, B }; switch (N) { default: case A: a[0] = 1; break; case B: b[0] = b[1]; }",
    "int i = 0; while (i < 6) { switch (i) { case 2: i += 2; a[0] = 1; break; case 3: b[0] = 2; } \
     i++; }",
    "global int *p = a; global int *q = b; for (int i = 0; i < N; i++) { *p = q[1]; \
     global int *s = p; p = q; q = s; }",
    "int i = 0; do { i++; if (i % 2) continue; a[i] = 1; } while (i < n);",
    "for (uint i = N; i-- > 0;) a[i] = 0; ",
    "uint i = N; while (i--) a[i]++; if (i == 4294967295u) b[0] = 1;",
    "for (short i = 0; i < n; i++) a[i] = 0;",
    "for (uchar i = 250; i != 2; i++) a[i] = 0;",
    "int i = 0; while (++i < n) a[i] = 0; b[0] = i; if (i > 4) b[1] = 2;",
    "for (int i = 0; i < 20; i++) { for (int j = 0; j < N; j++) i += 2; a[i] = 1; }",
    "for (int i = 0, j = n; i < j; i++, j--) a[i] = b[j];",
    "while (1) { if (u >= 5) break; a[u] = 1; u++; }",
    "int s = 1; for (int i = 0; i < N; i++) s *= 2; for (int i = 0; i < 5; i++) a[i] = s;",
    "int x = n; if (x < 0) x = -x; for (int i = 0; i < x; i++) a[i] = 0;",
    "for (int i = n; i < N; i++) if (i < 0) a[0] = 1; else b[0]++;",
    "for (int i = 10; i > n; i -= N + 1) a[i] = 0;",
    "for (int i = n / 2; i <= n % 3; ++i) a[0] = i;",
    "for (int i = -7; i < 8; ++i) { if (i / 2 == 0) a[0] = 1; if (i % 3 < 0) b[0] = 2; }",
    "for (int i = -8; i < 8; ++i) { if ((i >> 1) & 1) a[0] = 1; if ((i & ~3) == -4) b[0] = 2; }",
    "size_t m = u; m -= 3; if (m < 9) a[m] = 0; if ((int)m < 2) b[0] = 0;",
    "int t1 = 0; int *p = &t1; for (int i = 0; i < N; i++) (*p)++; if (t1 == 3) a[0] = 1;",
    "int2 w = (int2)(1, 2); w.x = n; if (lid < 1) a[0] = w.y; struct { int m; } s; s.m = 3; ",
    "for (int i = 0; i < N; i++) { int k1 = i; while (k1 > 0) { k1 /= 2; a[k1] = 1; } }",
    "for (int i = lid; i < 20; i += 4) { if (i >= n + 5) return; a[i] = 0; } b[0] = 1;",
    "for (int i = 0; i < N; i++) { a[i] = 1; if (i == n) { b[0] = 1; return; } if (i == u) break; \
     l[0] = 1; } b[1] = 2;",
    "for (int i = 0; ; i++) { if (i >= n) return; a[i] = 0; } b[0] = 1;",
    "if (lid > 1) { for (int i = 0; i < N; i++) { if (i > n) return; a[i] = 0; } b[0] = 1; } b[1] \
     = b[2];",
    "int i = 0; while (i < N) { if (i + lid >= n) return; a[i] = 1; i++; } b[0] = i; if (i == 3) \
     b[1] = 1;",
    "for (int i = 0; i < N; i++) { if (i == u) return; a[i] = 1; } for (int i = 0; i < 4; i++) \
     { if (i == n) return; b[i]++; } l[0] = 1;",
    "for (int j = 0; j < 3; j++) a[j] = 1; switch (N) { case 1: for (int i = 0; i < 5; i++) \
     { if (i == n) return; a[i] = 0; } \
     default: b[0] = 1; } l[0] = 1;",
    "if (n > 3 || (lid > 1 && (a[0] = 1, u > 2))) b[0] = 3; else b[1] = c[1];",
    "int s = WG; while (s != 1) \
     { s /= 2; if (lid < s) l[lid] += l[lid + s]; barrier(CLK_LOCAL_MEM_FENCE); } b[0] = s;",
    "uint s = N + 5; while (1 != s) { s >>= 1; a[s] = 0; if (s == 3) b[0] = 1; } if (s == 1) b[1] \
     = 1;",
    "int s = N + n + 3; while (s > 1) { s = (s + 1) / 2; a[s] = 0; if (lid < s) b[0] = 1; } if (s \
     == 1) b[1] = 1;",
    "for (uint s = N; s > 1; s = (s + 1) >> 1) \
     { if (lid + s < u) l[lid] = 1; barrier(CLK_LOCAL_MEM_FENCE); } b[0] = 1;",
    "int s = WG; while (s > 1) { s = (s + 2) / 3; a[s]++; } b[0] = s;",
    "global int *p[2]; p[0] = a; p[1] = b; for (int i = 0; i < n; i++) p[i & 1][lid] = i; *p[0] += \
     1;",
    "global int *p[3]; p[0] = a; p[1] = b + 1; if (n > 2) p[2] = a + n; for (int i = 0; i < N; \
     i++) p[i % 2][i]++;",
    "local int *p[2]; p[1] = l + lid; p[0] = p[1] + n; for (int i = 0; i < N; i++) \
     { p[1] = l + i; p[1][0] = *p[0]; }",
    "for (int i = 0; i < 9; i += WG) \
     { l[lid] = i + lid < n ? a[i + lid] : 0; barrier(CLK_LOCAL_MEM_FENCE); b[0] += l[0]; \
     barrier(CLK_LOCAL_MEM_FENCE); }",
    "for (int i = 0; i < n + WG; i++) \
     { if (i * WG + lid >= n + 3) a[0] = 1; else b[i]++; barrier(CLK_LOCAL_MEM_FENCE); }",
    "for (int i = 8; i > -3; i--) \
     { barrier(CLK_LOCAL_MEM_FENCE); if (2 * i - lid < n) a[0] = 1; if (i == lid) b[0] = 1; }",
    "for (int i = 0; i < n + 2; i++) \
     { if (i * 3 - lid < N && i + lid != 4) b[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); \
     if (WG * i > n * lid) a[i] = 2; }",
];

#[test]
fn kernels_that_are_easy_to_get_wrong() {
    let mut faults = Vec::new();
    for (i, body) in BODIES.iter().enumerate() {
        let mut case = program(0);
        case.text = format!(
            "kernel void k(global int *a, global int *b, global float4 *v, constant int *c, \
             local int *l, int n, uint u)\n{{ int lid = get_local_id(0);\n{body}\n}}\n"
        );
        let verdict = compare(&case, 77 + i as u64);
        match verdict {
            Ok(Verdict::Agreed(runs)) if runs > 0 => {}
            Ok(Verdict::Agreed(_)) => faults.push(format!("never run: {body}")),
            Ok(Verdict::Refused) => faults.push(format!("refused: {body}\n{}", case.shown())),
            Err(difference) => faults.push(difference),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn check_all(seeds: std::ops::Range<u64>) {
    let (mut refused, mut compared, mut kernels, mut failed) = (0, 0, 0, 0);
    for seed in seeds.clone() {
        match oracle(seed) {
            Ok(Verdict::Refused) => refused += 1,
            Ok(Verdict::Agreed(runs)) => {
                kernels += u32::from(runs > 0);
                compared += runs;
            }
            Err(difference) => {
                println!("{difference}");
                failed += 1;
            }
        }
    }
    println!("seeds {seeds:?}: {refused} refused, {kernels} kernels agree in {compared} runs");
    assert_eq!(failed, 0);
    assert!(2 * kernels > seeds.count() as u32, "most kernels have to be readable");
}

#[test]
fn random_kernels_count_as_they_run() {
    let from = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let many = std::env::var("MANY").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    check_all(from..from + many);
}

/// Loops in loops whose counts depend on the counters around, with something to do here and there.
fn nest(random: &mut Random, depth: usize, around: &[&str], out: &mut String) {
    const COUNTERS: [&str; 3] = ["i", "j", "k"];
    let counter = COUNTERS[depth];
    let mut ends = vec!["n", "u", "n - 2", "N + n", "lid + n"];
    let grown: Vec<String> = around
        .iter()
        .flat_map(|c| [(*c).to_owned(), format!("{c} + 1"), format!("n - {c}")])
        .collect();
    ends.extend(grown.iter().map(String::as_str));
    ends.extend(grown.iter().map(String::as_str));
    let (from, to) = (
        random.pick(&["0", "1", "u", ends[ends.len() - 1], ends[ends.len() / 2]]),
        random.pick(&ends),
    );
    *out += &match random.below(3) {
        0 => format!("for (int {counter} = {to}; {counter} > {from}; {counter}--) {{ "),
        1 => format!("for (int {counter} = {from}; {counter} <= {to}; {counter}++) {{ "),
        _ => format!("for (int {counter} = {from}; {counter} < {to}; {counter}++) {{ "),
    };
    let around: Vec<&str> = around.iter().copied().chain([counter]).collect();
    for _ in 0..1 + random.below(2) {
        match random.below(6) {
            0 => *out += "a[lid] += 1; ",
            1 => *out += &format!("b[{counter}] = c[lid]; "),
            2 => *out += &format!("if (lid < {}) l[0] = 2; ", random.pick(&["1", "n", "3"])),
            3 if depth == 0 => *out += "barrier(CLK_LOCAL_MEM_FENCE); ",
            _ if depth < 2 => nest(random, depth + 1, &around, out),
            _ => *out += "l[lid]++; ",
        }
    }
    *out += "} ";
}

/// Loops of which there may be too many iterations to walk them are summed: as many steps as they
/// really do.
#[test]
fn nests_count_as_they_run() {
    let (mut read, mut runs) = (0, 0);
    for seed in 1..=600 {
        let mut case = program(seed);
        // Far more than are run.
        case.arguments[5] = number(-2, 2000);
        case.arguments[6] = number(0, 300);
        let mut body = String::new();
        nest(&mut Random(seed), 0, &[], &mut body);
        case.text = format!(
            "kernel void k(global int *a, global int *b, global float4 *v, constant int *c, \
             local int *l, int n, uint m)\n{{ int lid = get_local_id(0), u = (int)m;\n{body}\n}}\n"
        );
        match compare(&case, seed).unwrap_or_else(|difference| panic!("{difference}")) {
            Verdict::Refused => {}
            Verdict::Agreed(compared) => {
                read += 1;
                runs += compared;
            }
        }
    }
    println!("{read} of 600 nests are read and agree in {runs} runs");
    assert!(read > 300, "{read} of 600 nests are read");
}

impl Case {
    fn read_with_unit(
        &self,
    ) -> Result<(tickbound_opencl::steps::KernelSteps, Unit), tickbound_opencl::ReadError> {
        self.with_request(|request| {
            let expanded = preprocess::Expander::new(request, &[])?.one(&IndexMap::new())?;
            let unit = parse::parse(request, &expanded)?;
            Ok((tickbound_opencl::read::read(request, &expanded.open, &unit)?, unit))
        })
    }
}
