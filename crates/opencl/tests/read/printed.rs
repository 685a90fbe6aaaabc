//! Sources and the steps that are read out of them.

use super::support::{case, number, shown};
use tickbound_opencl::Passed;
use tickbound_opencl::steps::SymbolExpr;

fn body(body: &str) -> String {
    shown(&format!(
        "kernel void k(global int *a, global float4 *v, constant int *c, local int *l) \
         {{\n{body}\n}}\n"
    ))
}

#[test]
fn accesses() {
    insta::assert_snapshot!(body("a[get_global_id(0)] += c[2] + l[0];"), @r"
    2  load constant c 4 items [0]
    2  load local l 4 items [0]
    2  1 Integer
    2  load global a 4 items [1]
    2  1 Integer
    2  store global a 4 items [1]
    ");
    insta::assert_snapshot!(body("int *p = 0; a[1]++; a[0] = sizeof(a[2]); global int *q = &a[3]; q[1];"), @r"
    2  load global a 4 items [0]
    2  1 Integer
    2  store global a 4 items [0]
    2  store global a 4 items [0]
    2  load global a 4 items [0]
    ");
    insta::assert_snapshot!(body("v[0].x = 1; v[1].xy += v[2].zw; float z = v[3].s3;"), @r"
    2  load global v 4x4 items [0]
    2  store global v 4x4 items [0]
    2  load global v 4x4 items [0]
    2  load global v 4x4 items [0]
    2  1 Real of 2
    2  load global v 4x4 items [0]
    2  store global v 4x4 items [0]
    2  load global v 4x4 items [0]
    ");
    insta::assert_snapshot!(body("float4 f = vload4(2, (global float *)v); vstore2(f.xy, 1, (global float *)v);"), @r"
    2  load global v 4x4 items [0]
    2  store global v 4x2 items [0]
    ");
    // A structure is loaded and stored by its members, each where it lies.
    insta::assert_snapshot!(body(
        "struct S { char c; union { float f; short s[2]; } u; int2 v; }; \
         global struct S *s = (global struct S *)a; s[get_global_id(0)] = s[1];"
    ), @r"
    2  load global a 1 items [0]
    2  load global a 2 items [0]
    2  load global a 2 items [0]
    2  load global a 4x2 items [0]
    2  store global a 1 items [16]
    2  store global a 2 items [8]
    2  store global a 2 items [8]
    2  store global a 4x2 items [4]
    ");
    insta::assert_snapshot!(body("atomic_add(&a[0], 1); atomic_max(l, 2);"), @r"
    2  atomic global shared
    2  atomic local shared
    ");
}

#[test]
fn guarded_tiles_with_a_barrier() {
    let tiles = |condition: &str| {
        let mut case = case(&format!(
            "kernel void k(global int *a, local int *l, int n) {{\nint lid = get_local_id(0);\n\
             for (int i = 0; i < n; i += WG) {{\nif ({condition}) l[lid] = a[i];\n\
             barrier(CLK_LOCAL_MEM_FENCE);\n}} }}"
        ));
        case.local = vec![Some(SymbolExpr::Name("WG".to_owned()))];
        case.arguments = vec![Passed::Memory, Passed::Memory, number(1, 1_000_000)];
        case.shown()
    };
    insta::assert_snapshot!(tiles("i + lid < n"), @r"
    3  repeat min(ceil_div($n, WG), $n // WG)
    3    1 Index
    4    2 Integer
    4    load global a 4 items [0] iterations [WG]
    4    store local l 4 items [1] iterations [0]
    5    barrier
    3    1 Index
    3  if min(ceil_div($n, WG), $n // WG) <= ($n - 1) // WG
    3    1 Index
    4    2 Integer
    4    if WG * min(ceil_div($n, WG), $n // WG) + $lid_0 < $n (item)
    4      load global a 4 items [0]
    4      store local l 4 items [1]
    5    barrier
    3    1 Index
    ");
    // Items of a group change sides in iterations that lie far apart.
    insta::assert_snapshot!(tiles("i < n * lid"), @r#"k.cl:3: line 4 depends on the iteration of this loop, which may have more than 64 iterations; add "line 4": "then", "else" or "both" to kernel.branches"#);
}

#[test]
fn arrays_of_pointers() {
    insta::assert_snapshot!(body("global int *p[2] = {a, a + 8}; p[1][2] = *p[0];"), @r"
    2  1 Index
    2  load global a 4 items data
    2  store global a 4 items data
    ");
    insta::assert_snapshot!(body("local int *p[2][2] = {{l, l + 1}, {l, l}}; *p[1][0] = 1;"), @r"
    2  1 Index
    2  store local l 4 items data
    ");
    // A loop that fills an array puts in a function of the element's number.
    let filled = |fill: &str, used: &str| {
        body(&format!("global int *p[4]; for (int r = 0; r < 4; r++) {{ {fill} }} {used}"))
    };
    insta::assert_snapshot!(filled("p[r] = a + r * 100;", "p[2][get_local_id(0)] = 0;"), @r"
    2  repeat 4
    2    4 Index
    2  store global a 4 items [1]
    ");
    insta::assert_snapshot!(
        filled(
            "ulong far = r * 100; p[r] = a + far;",
            "for (short i = 1; i < 4; i++) p[i][get_local_id(0)] = 0;"
        ),
        @r"
    2  repeat 4
    2    4 Index
    2  repeat 3
    2    1 Index
    2    store global a 4 items [1] iterations [100]
    2    1 Index
    ");
    // Other elements hold something else, or anything.
    insta::assert_snapshot!(filled("p[3 - r] = a + r * 100;", "p[2][get_local_id(0)] = 0;"), @r"
    2  repeat 4
    2    5 Index
    2  store global a 4 items data
    ");
    insta::assert_snapshot!(filled("p[r] = a + a[r];", "p[2][get_local_id(0)] = 0;"), @r"
    2  repeat 4
    2    1 Index
    2    load global a 4 items [0] iterations [1]
    2    2 Index
    2  store global a 4 items data
    ");
    insta::assert_snapshot!(filled("p[r] = a + r; p[0] = a + 7;", "p[2][get_local_id(0)] = 0;"), @r"
    2  repeat 4
    2    4 Index
    2  store global a 4 items data
    ");
    insta::assert_snapshot!(
        body("global int *p[2]; for (int k = 0; k < 3; k++) \
              for (int r = 0; r < 2; r++) p[r] = a + r + 9 * k; p[1][get_local_id(0)] = 0;"),
        @r"
    2  repeat 3
    2    1 Index
    2    repeat 2
    2      5 Index
    2    1 Index
    2  store global a 4 items data
    ");
    // Nothing is known of what has not been put in.
    insta::assert_snapshot!(body("global int *p[2]; *p[0] = 1;"), @"k.cl:2: where this pointer points to cannot be read; index the array or the parameter itself");
}

/// Addresses wrap around as unsigned numbers of 64 bits do.
#[test]
fn unsigned_distances() {
    insta::assert_snapshot!(body("a[(ulong)get_local_id(0) - 1ul] = 0;"), @r"
    2  1 Index
    2  store global a 4 items [1]
    ");
    insta::assert_snapshot!(body("a[(uint)get_local_id(0) - 1u] = 0;"), @r"
    2  1 Index
    2  store global a 4 items [1]
    ");
}

#[test]
fn bounds_that_are_unsigned() {
    // A rest of a batch: an unsigned difference is either as it is or too large to be less.
    let mut case = case(
        "kernel void k(global int *a, ulong n) {\nulong from = get_global_id(0) * 4;\n\
         ulong most = (n - from) < 4 ? (n - from) : 4;\n\
         for (ulong i = 0; i < most; i++)\nfor (ulong j = 0; j < most; j++) a[i] = 0;\n}",
    );
    case.arguments = vec![Passed::Memory, number(1, 1_000_000)];
    insta::assert_snapshot!(case.shown(), @r"
    2  1 Index
    3  2 Index
    3  if 4 * ($group_0 * $local_0 + $lid_0) <= $n and $n < 4 * ($group_0 * $local_0 + $lid_0 + 1) (item)
    3    1 Index
    4  repeat max(0, $n - 4 * $group_0 * $local_0 - 4 * $lid_0 if 4 * ($group_0 * $local_0 + $lid_0) <= $n and $n < 4 * ($group_0 * $local_0 + $lid_0 + 1) else 4)
    4    1 Index
    5    repeat max(0, $n - 4 * $group_0 * $local_0 - 4 * $lid_0 if 4 * ($group_0 * $local_0 + $lid_0) <= $n and $n < 4 * ($group_0 * $local_0 + $lid_0 + 1) else 4)
    5      1 Index
    5      store global a 4 items [0] iterations [0]
    5      1 Index
    4    1 Index
    ");
}

#[test]
fn what_is_expected_of_a_value() {
    insta::assert_snapshot!(shown(
        "kernel void k(global int *a) \
         {\nif (__builtin_expect(get_global_id(0) < N, 1)) a[0] = 1;\n}"
    ), @r"
    2  1 Integer
    2  if $group_0 * $local_0 + $lid_0 < N (item)
    2    store global a 4 items [0]
    ");
}

#[test]
fn loops() {
    insta::assert_snapshot!(body("for (int i = get_local_id(0); i < N; i += WG) a[i] = 0;"), @r"
    2  repeat max(0, ceil_div(N - $lid_0, WG))
    2    1 Index
    2    store global a 4 items [1] iterations [WG]
    2    1 Index
    ");
    insta::assert_snapshot!(body("for (int i = N; i--;) a[i * WG] = 0;"), @r"
    2  repeat N
    2    2 Index
    2    store global a 4 items [0] iterations [-WG]
    ");
    insta::assert_snapshot!(body("global int *p = a; for (int i = 0; i < N; i++) { *p = 0; p += WG; }\n*p = 1;"), @r"
    2  repeat N
    2    1 Index
    2    store global a 4 items [0] iterations [WG]
    2    2 Index
    3  store global a 4 items [0]
    ");
    insta::assert_snapshot!(body("for (int i = 0; i < 3; i++) for (int j = 0; j <= i; j++) a[j] = i;"), @r"
    2  2 Index
    2  store global a 4 items [0]
    2  4 Index
    2  repeat 2
    2    1 Index
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    2  2 Index
    2  repeat 3
    2    1 Index
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    2  2 Index
    ");
    insta::assert_snapshot!(body("for (uint s = WG / 2; s > 0; s >>= 1) { if (get_local_id(0) < s) l[0]++; }"), @r"
    2  1 Index
    2  1 Integer
    2  if $lid_0 < WG // 2 (item)
    2    load local l 4 items [0]
    2    1 Integer
    2    store local l 4 items [0]
    2  2 Index
    2  1 Integer
    2  if $lid_0 < WG // 4 (item)
    2    load local l 4 items [0]
    2    1 Integer
    2    store local l 4 items [0]
    2  2 Index
    2  1 Integer
    2  if $lid_0 < WG // 8 (item)
    2    load local l 4 items [0]
    2    1 Integer
    2    store local l 4 items [0]
    2  2 Index
    2  1 Integer
    2  if $lid_0 < WG // 16 (item)
    2    load local l 4 items [0]
    2    1 Integer
    2    store local l 4 items [0]
    2  2 Index
    2  1 Integer
    2  if $lid_0 < WG // 32 (item)
    2    load local l 4 items [0]
    2    1 Integer
    2    store local l 4 items [0]
    2  2 Index
    2  if WG // 64 > 0
    2    1 Integer
    2    if $lid_0 < WG // 64 (item)
    2      load local l 4 items [0]
    2      1 Integer
    2      store local l 4 items [0]
    2    1 Index
    2    1 Index
    2  if WG // 128 > 0
    2    1 Integer
    2    if $lid_0 < WG // 128 (item)
    2      load local l 4 items [0]
    2      1 Integer
    2      store local l 4 items [0]
    2    1 Index
    2    1 Index
    2  if WG // 256 > 0
    2    1 Integer
    2    if $lid_0 < WG // 256 (item)
    2      load local l 4 items [0]
    2      1 Integer
    2      store local l 4 items [0]
    2    1 Index
    2    1 Index
    ");
    insta::assert_snapshot!(body("int i = 0; do { a[i] = 0; i += 2; } while (i < N);"), @r"
    2  repeat ceil_div(N, 2)
    2    store global a 4 items [0] iterations [2]
    2    2 Index
    ");
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (i * 2 >= WG) break; a[i] = c[i]; }"), @r"
    2  repeat min(N, (WG + 1) // 2)
    2    3 Index
    2    load constant c 4 items [0] iterations [1]
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    ");
}

#[test]
fn loops_over_pointers() {
    let below = "global int *e = a + N; for (global int *p = a; p < e; p++) *p = 0;";
    insta::assert_snapshot!(body(below), @r"
    2  1 Index
    2  repeat N
    2    1 Index
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    ");
    let until = "for (global int *p = a + N; p != a; --p) *p = 0;";
    insta::assert_snapshot!(body(until), @r"
    2  1 Index
    2  repeat N
    2    1 Index
    2    store global a 4 items [0] iterations [-1]
    2    1 Index
    ");
}

#[test]
fn branches() {
    insta::assert_snapshot!(body("if (get_global_id(0) >= N) return;\na[0] = 1;"), @r"
    2  1 Integer
    2  if $group_0 * $local_0 + $lid_0 < N (item)
    3    store global a 4 items [0]
    ");
    insta::assert_snapshot!(body("if (N > 0 && WG < 1000) a[0] = 1; else a[1] = c[2];"), @r"
       2  store global a 4 items [0]
    ");
    insta::assert_snapshot!(body("if (a[0] > 1) l[3] = 1; else l[2] = 2;"), @r"
    2  load global a 4 items [0]
    2  1 Integer
    2  store local l 4 items irregular
    ");
    insta::assert_snapshot!(body("a[0] = get_local_id(0) == 0 ? c[0] : 5;"), @r"
    2  1 Integer
    2  if $lid_0 == 0 (item)
    2    load constant c 4 items [0]
    2  store global a 4 items [0]
    ");
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (get_group_id(0) & 1) continue; a[i] = 0; }"), @r"
    2  repeat N
    2    1 Index
    2    1 Integer
    2    if 1 - $group_0 % 2
    2      store global a 4 items [0] iterations [1]
    2    1 Index
    ");
}

#[test]
fn arithmetic() {
    insta::assert_snapshot!(body("float4 f = v[0]; f = f * 2.0f + f / sqrt(f);\nint x = N * 4;\nint y = a[0] * 3 / 5;\nv[0] = mad(f, f, convert_float4((int4)(x, y, 1, 2)));"), @r"
    2  load global v 4x4 items [0]
    2  1 RealMultiply of 4
    2  1 Special of 4
    2  1 RealDivide of 4
    2  1 Real of 4
    4  load global a 4 items [0]
    4  1 IntegerMultiply
    4  1 IntegerDivide
    5  1 Convert of 4
    5  1 RealMultiplyAdd of 4
    5  store global v 4x4 items [0]
    ");
}

#[test]
fn helpers() {
    let text = "int low(int x) { if (x < 0) return 0; return x; }\n\
                void put(local int *to, int at, int *count) { to[at] = 1; *count += 1; }\n\
                kernel void k(global int *a, int n) {\n local int t[WG]; int c = 0;\n\
                put(t, low(n), &c);\nput(t + 1, 2, &c);\nfor (int i = 0; i < c; i++) a[i] = \
                t[i];\n}\n";
    let mut c = case(text);
    c.arguments = vec![Passed::Memory, number(-5, 100)];
    insta::assert_snapshot!(c.shown(), @r"
    4  local t: 4 * WG bytes
    1  1 Index
    2  store local t 4 items [0]
    2  1 Integer
    6  1 Index
    2  store local t 4 items [0]
    2  1 Integer
    7  repeat 2
    7    1 Index
    7    load local t 4 items [0] iterations [1]
    7    store global a 4 items [0] iterations [1]
    7    1 Index
    ");
}

#[test]
fn unsigned_numbers_wrap_around() {
    insta::assert_snapshot!(body("uint i = get_local_id(0) - 1; if (i < N) a[i] = 0;"), @r"
    2  1 Index
    2  1 Integer
    2  if ($lid_0 - 1) % 4294967296 < N (item)
    2    store global a 4 items [1]
    ");
    insta::assert_snapshot!(body("if (get_local_id(0) - 1 < N) a[0] = 0;"), @r"
    2  2 Integer
    2  if $lid_0 > 0 and $lid_0 <= N (item)
    2    store global a 4 items [0]
    ");
    insta::assert_snapshot!(body("int i = get_local_id(0) - 1; if (i >= 0 && i < N) a[i] = 0;"), @r"
    2  1 Index
    2  1 Integer
    2  if $lid_0 > 0 (item)
    2    1 Integer
    2  1 Integer
    2  if $lid_0 > 0 and $lid_0 <= N (item)
    2    store global a 4 items [1]
    ");
    insta::assert_snapshot!(body("uint h = get_local_id(0) * 2654435761u; if (h >> 30) a[0] = 0;"), @r"
    2  1 IntegerMultiply
    2  1 Integer
    2  if 2654435761 * $lid_0 % 4294967296 // 1073741824 != 0 (item)
    2    store global a 4 items [0]
    ");
}

#[test]
fn dimensions() {
    let mut c = case(
        "kernel void k(global float *a) \
         { a[get_global_id(1) * get_global_size(0) + get_global_id(0)] = \
         get_global_size(2); }",
    );
    c.dimensions = 2;
    insta::assert_snapshot!(c.shown(), @r"
    1  1 Convert
    1  2 Index
    1  store global a 4 items [1]
    ");
    assert_eq!(c.read().unwrap().dimensions, 2);
}

#[test]
fn loops_with_guards() {
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (get_local_id(0) + i * WG < 1000) l[i] = 1; }"), @r"
    2  repeat min(N, max(0, (999 - $lid_0) // WG + 1))
    2    1 Index
    2    1 IntegerMultiply
    2    2 Integer
    2    store local l 4 items [0] iterations [1]
    2    1 Index
    2  repeat N - min(N, max(0, (999 - $lid_0) // WG + 1))
    2    1 Index
    2    1 IntegerMultiply
    2    2 Integer
    2    1 Index
    ");
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (i == WG) l[i] = 1; else a[i] = 1; }"), @r"
    2  repeat min(N, WG)
    2    1 Index
    2    1 Integer
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    2  repeat min(WG + 1, N) - min(N, WG)
    2    1 Index
    2    1 Integer
    2    store local l 4 items [0] iterations [1]
    2    1 Index
    2  repeat N - min(WG + 1, N)
    2    1 Index
    2    1 Integer
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    ");
    insta::assert_snapshot!(body("int x = 0; for (int i = 0; i < N; i++) { x = i * 2; if (i >= 2 && i < WG) l[i] = 1; }\nfor (int i = 0; i < x; i++) a[i] = 0;"), @r"
    2  repeat min(2, N)
    2    2 Index
    2    3 Integer
    2    1 Index
    2  repeat min(N, WG) - min(2, N)
    2    2 Index
    2    3 Integer
    2    store local l 4 items [0] iterations [1]
    2    1 Index
    2  repeat N - min(N, WG)
    2    2 Index
    2    3 Integer
    2    1 Index
    3  repeat 2 * (N - 1)
    3    1 Index
    3    store global a 4 items [0] iterations [1]
    3    1 Index
    ");
    // Items that leave a loop at different times still meet at its barriers.
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (get_local_id(0) + i < WG) l[i] = 1; barrier(1); }"), @r#"k.cl:2: line 2 depends on the iteration of this loop, which may have more than 64 iterations; add "line 2": "then", "else" or "both" to kernel.branches"#);
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (get_group_id(0) + i < WG) l[i] = 1; barrier(1); }"), @r"
    2  repeat min(N, max(0, WG - $group_0))
    2    1 Index
    2    2 Integer
    2    store local l 4 items [0] iterations [1]
    2    barrier
    2    1 Index
    2  repeat N - min(N, max(0, WG - $group_0))
    2    1 Index
    2    2 Integer
    2    barrier
    2    1 Index
    ");
}

#[test]
fn loops_that_are_left_early() {
    insta::assert_snapshot!(body("for (int i = 0; i < 10; i++) { if (i == N) break; a[i] = 0; }"), @r"
    2  repeat min(10, N)
    2    2 Index
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    ");
    insta::assert_snapshot!(body("for (int i = N; i < 100; i += 2) { if (i == WG) break; a[i] = 0; }"), @r"
    2  repeat min((WG - N) // 2, max(0, (101 - N) // 2)) if N <= WG and 1 - (WG - N) % 2 else max(0, (101 - N) // 2)
    2    2 Index
    2    store global a 4 items [0] iterations [2]
    2    1 Index
    ");
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { a[i] = 1; if (i == 3) { l[0] = 1; break; } l[i] = 0; }"), @r"
    2  repeat min(3, N)
    2    1 Index
    2    store global a 4 items [0] iterations [1]
    2    1 Integer
    2    store local l 4 items [0] iterations [1]
    2    1 Index
    2  1 Index
    2  if min(3, N) < N
    2    store global a 4 items [0]
    2    1 Integer
    2    store local l 4 items [0]
    ");
    insta::assert_snapshot!(body("for (int i = 0; ; i++) { a[i] = 1; if (i >= N) break; }"), @r"
    2  repeat N
    2    store global a 4 items [0] iterations [1]
    2    1 Integer
    2    1 Index
    2  store global a 4 items [0]
    2  1 Integer
    ");
    let nested = "for (int i = 0; i < 4; i++) for (int j = 0; j < N; j++) { if (i == 3 && j == N - 1) break; a[j] = 0; }";
    insta::assert_snapshot!(body(nested), @r"
    2  repeat 3
    2    1 Index
    2    repeat N
    2      4 Index
    2      store global a 4 items [0] iterations [1]
    2      1 Index
    2    1 Index
    2  1 Index
    2  repeat N - 1
    2    4 Index
    2    store global a 4 items [0] iterations [1]
    2    1 Index
    2  1 Index
    ");
    insta::assert_snapshot!(body("for (int i = 0; i < N; i++) { if (a[i] == 3) break; l[i] = 0; }"), @r#"k.cl:2: the loop's bound depends on data; add "bounds": { "k: i < N": 1 } to the kernel in the problem file, with the most iterations instead of 1"#);
}

#[test]
fn known_real_arguments() {
    let text = "kernel void k(global float *a, float alpha, float beta) {\n\
                if (beta == 0) a[0] = alpha; else a[0] = alpha * a[0];\n\
                if (!(alpha != 0.1f)) a[1] = 1;\nif (alpha < -beta) a[2] = 1;\n}\n";
    let mut c = case(text);
    c.arguments = vec![Passed::Memory, Passed::Real(Some(0.1)), Passed::Real(Some(0.0))];
    insta::assert_snapshot!(c.shown(), @r"
    2  1 Real
    2  store global a 4 items [0]
    3  1 Real
    3  1 Integer
    3  store global a 4 items [0]
    4  2 Real
    ");
    c.arguments = vec![Passed::Memory, Passed::Real(Some(0.1)), Passed::Real(None)];
    insta::assert_snapshot!(c.shown(), @r#"k.cl:2: the branch depends on data and its sides access memory differently; add "branches": { "k: beta == 0": "both" } to the kernel in the problem file, or "then" or "else" instead of "both"; "k" answers for all of its branches"#);
}

#[test]
fn loops_that_try_again() {
    let text = "void add(global uint *to, uint by) {\n uint old;\n\
                do { old = *to; } while (atomic_cmpxchg(to, old, old + by) != old);\n}\n\
                kernel void k(global uint *a) { add(a, 3); }\n";
    let mut c = case(text);
    insta::assert_snapshot!(c.shown(), @r"
    3  taken to run once: add: atomic_cmpxchg(to, old, old + by) != old
    3  repeat 1
    3    load global a 4 items [0] iterations [0]
    3    1 Index
    3    atomic global shared
    3    1 Index
    ");
    c.bounds = vec![("add: atomic_cmpxchg(to, old, old + by) != old", 5)];
    insta::assert_snapshot!(c.shown(), @r"
    3  repeat $bound_0
    3    load global a 4 items [0] iterations [0]
    3    1 Index
    3    atomic global shared
    3    1 Index
    ");
}

#[test]
fn what_is_printed_costs_nothing() {
    let text = "kernel void k(global int *a, int n) {\n int i = get_global_id(0);\n\
                if (n > 3) printf(\"%d %s\\n\", a[i], \"more\");\n}\n";
    let mut c = case(text);
    c.arguments = vec![Passed::Memory, number(0, 9)];
    insta::assert_snapshot!(c.shown(), @r"
    3  printf costs nothing
    3  1 Integer
    3  if $n > 3
    3    load global a 4 items [1]
    ");
}

#[test]
fn group_sizes_that_macros_give() {
    let text = "kernel void k(global int *a) {\nlocal int t[WG];\n\
                if (get_local_id(0) < WG) t[get_local_id(0)] = 1;\n\
                for (int i = get_global_id(0); i < N; i += get_global_size(0)) a[i] = 1;\n}\n";
    let mut c = case(text);
    c.local = vec![Some(tickbound_expr::Expr::Name("WG".to_owned()))];
    insta::assert_snapshot!(c.shown(), @r"
    2  local t: 4 * WG bytes
    3  1 Integer
    3  store local t 4 items [1]
    4  repeat max(0, ceil_div(N - WG * $group_0 - $lid_0, $global_0))
    4    1 Index
    4    store global a 4 items [1] iterations [$global_0]
    4    1 Index
    ");
}

#[test]
fn arithmetic_that_leads_to_addresses() {
    let text = "int place(int row, int column) { int up = row * WG; return up + column; }\n\
                int get(global int *a, int at) { return a[at + 1]; }\n\
                kernel void k(global int *a, int n) {\n\
                int row = n * 3 + 1;\nint column = n - 2;\nint at = place(row, min(column, 5));\n\
                a[at] = 1;\nint kg = n + 4;\na[0] = get(a, kg);\nint data = n + 7;\na[1] = \
                data;\n}\n";
    insta::assert_snapshot!(shown(text), @r"
     4  2 Index
     5  1 Index
     6  1 Index
     1  2 Index
     7  store global a 4 items [0]
     8  1 Index
     2  1 Index
     2  load global a 4 items [0]
     9  store global a 4 items [0]
    10  1 Integer
    11  store global a 4 items [0]
    ");
}

#[test]
fn parameters_that_are_written_as_arrays() {
    let text = "void f(local float b[WG], float c[4], global float *g) { b[1] = g[0]; c[0] = b[2]; g[1] = c[0]; }\n\
                kernel void k(global float *a) \
                {\nlocal float t[2][WG];\nfloat p[2][4];\nf(t[1], p[0], a);\n}\n";
    insta::assert_snapshot!(shown(text), @r"
    3  local t: 8 * WG bytes
    1  load global a 4 items [0]
    1  store local t 4 items [0]
    1  load local t 4 items [0]
    1  store global a 4 items [0]
    ");
}

#[test]
fn signed_counters_up_to_unsigned_bounds() {
    let text = "kernel void k(global int *a, uint n, local int *l) {\n\
                for (int p = get_local_id(0); p < n; p += WG) a[p] = 0;\n\
                int q = 0;\nwhile (q < n) { l[q] = 1; q++; }\n\
                for (int p = -1; p < n; p++) a[p] = 1;\n}\n";
    let mut c = case(text);
    c.arguments = vec![Passed::Memory, number(0, 1000), Passed::Memory];
    c.bounds = vec![("k: p < n", 7)];
    insta::assert_snapshot!(c.shown(), @r"
    2  repeat max(0, ceil_div($n - $lid_0, WG))
    2    1 Index
    2    store global a 4 items [1] iterations [WG]
    2    1 Index
    4  repeat $n
    4    1 Index
    4    store local l 4 items [0] iterations [1]
    4    1 Index
    5  1 Index
    ");
}

/// Where members lie: in unions, in structures without a name, and in those of a named field.
#[test]
fn members_lie_where_the_language_puts_them() {
    let source = |fields: &str, member: &str| {
        shown(&format!(
            "struct S {{ {fields} }};\nkernel void k(global struct S *s) {{\n\
             s[get_global_id(0)].{member} = 1;\n}}\n"
        ))
    };
    let lies = |fields: &str, member: &str, store: &str| {
        assert_eq!(source(fields, member).trim(), format!("3  store global s {store}"), "{fields}");
    };
    lies("char c; union { float f; short h[2]; } u; long v;", "v", "8 items [2]");
    lies("char c; union { float f; short h[2]; } u; long v;", "u.h[1]", "2 items [8]");
    lies("char c; union { float f; short h[6]; }; int n;", "n", "4 items [5]");
    lies("char c; union { float f; short h[6]; }; int n;", "h[1]", "2 items [10]");
    lies("char c; struct { char d; long e; }; char g;", "g", "1 items [32]");
    lies("char c; struct { char d; long e; } t; char g;", "t.e", "8 items [4]");
}
