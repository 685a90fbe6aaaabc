//! Whole sources and their trees.

use insta::assert_snapshot;

use crate::parse::print::print;
use crate::parse::tree::{Source, example, examples, ready};

fn read(source: Source) -> String {
    print(&source.parse().unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_reduction() {
    if !ready() {
        return;
    }
    let source = Source::new(
        r"
// Sums of groups.
__kernel void k(__global const float *input, __global float *sums, uint n, __local float *scratch)
{
    const uint lid = get_local_id(0);
    float sum = 0.0f;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += input[i];
    scratch[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    #pragma unroll
    for (uint half_ = WG / 2; half_ > 0; half_ >>= 1) {
        if (lid < half_) scratch[lid] += scratch[lid + half_];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[get_group_id(0)] = scratch[0];
    else
        return;
}",
    );
    assert_snapshot!(read(source.symbol("WG", 64)), @r"
    3: kernel void k(input#0: *global float, sums#1: *global float, n#2: uint, scratch#3: *local float)
      5: let lid#4: uint = get_local_id(0);
      6: let sum#5: float = 0.0f;
      7: for (let i#6: uint = get_global_id(0); | (i < n) | (i += get_global_size(0))) {8: (sum += input[i]);}
      9: (scratch[lid] = sum);
      10: barrier((1 | 2));
      12: for (let half_#7: uint = ($WG / 2); | (half_ > 0) | (half_ >>= 1)) {13: if (lid < half_) {13: (scratch[lid] += scratch[(lid + half_)]);} 14: barrier(1);}
      16: if (lid == 0) {17: (sums[get_group_id(0)] = scratch[0]);} else {19: return;}
    ");
}

#[test]
fn arrays_keep_their_lengths() {
    if !ready() {
        return;
    }
    let source = Source::new(
        "typedef float row[TS];
         typedef struct { int used; float values[2 * TS]; } Bag;
         kernel void k(global row *rows, global const Bag *bags, local float (*tiles)[TS])
         {
             local float tile[TS][TS + 1];
             row one, two[3], *three[4];
             int given[] = { 1, 2, 3 }, tables[][TS] = { { 1 }, { 2 } };
             local float (*line)[TS + 1] = tile + 1;
             one[0] = (*line)[1] + line[1][2] + tile[1][2] + rows[1][2] + bags->values[3];
             one[sizeof(tile)] = sizeof(row) + sizeof(two) + sizeof(*three) + sizeof given;
         }",
    );
    assert_snapshot!(read(source.symbol("TS", 16)), @r"
    3: kernel void k(rows#0: *global [$TS]float, bags#1: *global Bag{used: int, values: [(2 * $TS)]float}, tiles#2: *local [$TS]float)
      5: let local tile#3: [$TS][($TS + 1)]float;
      6: let one#4: [$TS]float, two#5: [3][$TS]float, three#6: [4]*private [$TS]float;
      7: let given#7: [3]int = [3]int{1, 2, 3}, tables#8: [2][$TS]int = [2][$TS]int{[]int{1}, []int{2}};
      8: let line#9: *local [($TS + 1)]float = (tile + 1);
      9: (one[0] = (((((*line)[1] + line[1][2]) + tile[1][2]) + rows[1][2]) + bags->values[3]));
      10: (one[($TS * (($TS + 1) * sizeof:4))] = (((($TS * sizeof:4) + (3 * ($TS * sizeof:4))) + sizeof:8) + sizeof:12));
    ");
}

#[test]
fn types_and_spaces() {
    if !ready() {
        return;
    }
    let source = Source::new(
        "constant int table[2] = { 1, 2 };
         __constant sampler_t nearest = CLK_FILTER_NEAREST;
         struct S { struct S *next; union { int i; float f; }; uchar4 c; };
         static void touch(private int *a, __local uint2 *b, volatile global ulong *c,
                           const constant char *restrict d, float e[4], size_t f, struct S g) { }
         kernel __attribute__((reqd_work_group_size(16, 1, 1)))
         void k(read_only image2d_t image, global half *h, global double3 *d)
         {
             constant short *s; local long l; local bool *b; local int *global *q;
         }",
    );
    assert_snapshot!(read(source), @r"
    1: constant table#0: [2]int = [2]int{1, 2}
    2: constant nearest#1: other sampler_t = 16
    12: constant tickbound_required_group#16: [3]long = [3]long{16, 1, 1}
    4: void touch(a#2: *private int, b#3: *local uint2, c#4: *global ulong, d#5: *constant char, e#6: *private float, f#7: ulong, g#8: S{next: *private S{}, : anonymous{i: int, f: float}, c: uchar4})
    7: kernel void k(image#9: other __read_only image2d_t, h#10: *global half, d#11: *global double3)
      9: let s#12: *constant short;
      9: let local l#13: long;
      9: let b#14: *local bool;
      9: let q#15: *global *local int;
    ");
}

#[test]
fn statements() {
    if !ready() {
        return;
    }
    let source = Source::new(
        "int f(int c);
         int k(int a, int b) {
             for (;;) break;
             for (int i = 0, j = 1; ; ) { continue; }
             for (; a < b; ) ;
             for (a = 0; ; a++, b--) ;
             for (
                 a = f(';');
             ; ) ;
             while (a) { b--; }
             do a--; while (a > b);
             if (a) if (b) a = 1; else a = 2;
             if (a) ; else if (b) { } else { { a = 1; } }
             int x, y = 3;
             enum { FIVE = 5, SIX };
             __attribute__((opencl_unroll_hint(2))) for (int i = 0; i < SIX; i++) a++;
             (void) a;
             switch (a) { case 1: break; default: ; }
             goto end;
             end: ;
             ;
             return a;
         }",
    );
    assert_snapshot!(read(source), @r"
    2: int k(a#0: int, b#1: int)
      3: for ( |  | ) {3: break;}
      4: for (let i#2: int = 0, j#3: int = 1; |  | ) {4: continue;}
      5: for ( | (a < b) | ) {5: ;}
      6: for ((a = 0); |  | ((a++) , (b--))) {6: ;}
      7: for ((a = f(59)); |  | ) {9: ;}
      10: while a {10: (b--);}
      11: do {11: (a--);} while (a > b)
      12: if a {12: if b {12: (a = 1);} else {12: (a = 2);}}
      13: if a {13: ;} else {13: if b {} else {13: {13: (a = 1);}}}
      14: let x#4: int, y#5: int = 3;
      15: ;
      16: for (let i#6: int = 0; | (i < 6) | (i++)) {16: (a++);}
      17: (a as void);
      18: switch a [1: 0, default: 1] {18: break; 18: ;}
      19: <goto>
      20: <a label>
      21: ;
      22: return a;
    ");
}

#[test]
fn names_are_told_apart() {
    if !ready() {
        return;
    }
    let source = Source::new(
        "int __attribute__((overloadable)) f(int x) { return x; }
         float __attribute__((overloadable)) f(float4 x) { return x.x; }
         int g(int x);
         int g(int y) { return y; }
         void k(int x, float4 v) {
             { int x = 1; x = f(x); { float x = f(v); } }
             for (int x = 0; x < 2; x++) x = g(x);
             int y = x;
         }",
    );
    assert_snapshot!(read(source), @r"
    1: int f(int)(x#0: int)
      1: return x;
    2: float f(float4)(x#1: float4)
      2: return x.x;
    4: int g(y#2: int)
      4: return y;
    5: void k(x#3: int, v#4: float4)
      6: {6: let x#5: int = 1; 6: (x = f(int)(x)); 6: {6: let x#6: float = f(float4)(v);}}
      7: for (let x#7: int = 0; | (x < 2) | (x++)) {7: (x = g(x));}
      8: let y#8: int = x;
    ");
}

#[test]
fn version_3() {
    if !ready() {
        return;
    }
    let source = Source::new(
        "#if __OPENCL_C_VERSION__ < 300
         #error old
         #endif
         global atomic_int total;
         int load(int *p) { return *p; }
         kernel void k(global int *g, local int *l) {
             int x = load(g) + load(l) + load(&x);
             work_group_barrier(CLK_LOCAL_MEM_FENCE);
             atomic_fetch_add_explicit(&total, x, memory_order_relaxed, memory_scope_device);
         }",
    );
    assert_snapshot!(read(source.version_3()), @r"
    4: global total#0: int
    5: int load(p#1: *generic int)
      5: return (*p);
    6: kernel void k(g#2: *global int, l#3: *local int)
      7: let x#4: int = ((load(g) + load(l)) + load((&x)));
      8: work_group_barrier(1);
      9: atomic_fetch_add_explicit((&total), x, 0, 2);
    ");
}

#[test]
fn what_is_not_read_is_said() {
    if !ready() {
        return;
    }
    let source = Source::new(
        "struct S { int a, b; };
         struct T { float x[TS]; };
         int f(int a) { return a; }
         void k(int a) {
             struct S s = { .b = 1 };
             int list[4] = { [2] = 1 };
             a = ({ int b = a; b; });
             a = a ?: 1;
             a = sizeof(struct T);
             a = _Generic(a, int: 1, default: 2);
             a = __alignof__(int);
         }",
    );
    assert_snapshot!(read(source.symbol("TS", 4)), @r"
    3: int f(a#0: int)
      3: return a;
    4: void k(a#1: int)
      5: let s#2: S{a: int, b: int} = S{a: int, b: int}{<a designated initial value>};
      6: let list#3: [4]int = [4]int{<a designated initial value>};
      7: (a = <a statement within an expression>);
      8: (a = <a conditional expression without its second part>);
      9: (a = <the size in sizeof(struct T)>);
      10: (a = <_Generic>);
      11: (a = <__alignof__>);
    ");
}

#[test]
fn deep_nesting_ends() {
    if !ready() {
        return;
    }
    let sum = vec!["a"; 2000].join(" + ");
    let chain = "if (a) ; else ".repeat(2000);
    let source = Source::new(format!("int k(int a) {{ {chain} ; return {sum}; }}"));
    let text = read(source);
    assert!(text.contains("<an expression that nests 256 levels deep>"), "{text}");
    assert!(text.contains("<a statement that nests 256 levels deep>"), "{text}");
}

#[test]
fn examples_parse() {
    if !ready() {
        return;
    }
    for path in examples() {
        for last in [false, true] {
            let source = example(&path, last);
            let unit = source.parse().unwrap_or_else(|error| panic!("{error}"));
            assert!(unit.functions.values().any(|function| function.kernel), "{path:?}");
            assert!(!print(&unit).contains("<a"), "{path:?} is not read:\n{}", print(&unit));
        }
    }
}
