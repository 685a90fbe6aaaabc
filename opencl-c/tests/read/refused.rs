//! What is refused, with its message: place, what is wrong, and what to write instead.

use tickbound_model::source::{Side, Standard};
use tickbound_opencl_c::Passed;

use super::support::{case, number, shown};

fn refuses(body: &str, message: &str) {
    let text = format!("kernel void k(global int *a, global int *b)\n{{\n{body}\n}}\n");
    assert_eq!(shown(&text), message, "{text}");
}

const BRANCH: &str = "the branch depends on data and its sides access memory differently";
const BOUND: &str = "the loop's bound depends on data";

#[test]
fn branches_on_data() {
    let table = [
        "if (a[0] > 0) b[0] = 1;",
        "b[0] = a[0] ? a[1] : 2;",
        "if (a[0] && a[1]) {}",
        "if (a[0] > 0) { barrier(CLK_LOCAL_MEM_FENCE); }",
        "if (a[0] > 0) return; b[0] = 1;",
        "float f = a[0]; if (f > 0.5f) b[0] = 1;",
        "int r[2]; r[0] = 1; if (r[0]) b[0] = 1;",
        "int s = 0; for (int i = 0; i < N; i++) s += s + a[i]; if (s) b[0] = 1;",
        "if (atomic_inc(&a[0]) == 3) b[0] = 1;",
    ];
    for body in table {
        let fix = "add \"line 3\": \"then\", \"else\" or \"both\" to kernel.branches";
        refuses(body, &format!("k.cl:3: {BRANCH}; {fix}"));
    }
}

#[test]
fn bounds_on_data() {
    let table = [
        "for (int i = 0; i < a[0]; i++) b[i] = 1;",
        "int i = 0; while (i < N) { b[i] = 1; i += a[i]; }",
        "for (int i = 0; i < N; i++) { if (a[i] == 0) break; }",
        "for (int i = 0; i < N; i++) { if (a[i] == 0) return; }",
        "int i = 0; do { i++; } while (a[i]);",
        "for (;;) { b[0]++; }",
        "for (int i = a[1]; i > 0; i >>= 1) b[i] = 1;",
    ];
    for body in table {
        let fix = "add \"line 3\": BOUND to kernel.bounds in the problem file";
        refuses(body, &format!("k.cl:3: {BOUND}; {fix}"));
    }
}

#[test]
fn iterations_that_differ() {
    refuses(
        "for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) b[j] = i;",
        "k.cl:3: line 3 depends on the iteration of this loop, which may have more than 64 iterations; \
         add \"line 3\": BOUND to kernel.bounds in the problem file",
    );
    refuses(
        "for (int i = 0; i < N; i++)\nif (i % 3)\nb[i] = i;",
        "k.cl:3: line 4 depends on the iteration of this loop, which may have more than 64 iterations; \
         add \"line 4\": \"then\", \"else\" or \"both\" to kernel.branches",
    );
}

#[test]
fn functions() {
    let table = [
        (
            "event_t e = async_work_group_copy((local int *)0, a, 4, 0);",
            "k.cl:3: an asynchronous copy (async_work_group_copy) is not read; copy in a loop over local ids",
        ),
        ("printf(\"%d\", 1);", "k.cl:3: printf (printf) is not read; leave it out"),
    ];
    for (body, message) in table {
        refuses(body, message);
    }
}

#[test]
fn recursion() {
    let text = "int f(int x);\nint g(int x) { return f(x - 1); }\n\
                int f(int x) { return g(x); }\nkernel void k(global int *a) { a[0] = f(3); }\n";
    assert_eq!(shown(text), "k.cl:2: functions call themselves: f -> g -> f; write a loop");
}

#[test]
fn the_entry_is_missing() {
    assert_eq!(
        shown("kernel void other(global int *a) { a[0] = 1; }\n"),
        "k.cl: there is no kernel 'k'; kernel.entry may be other"
    );
}

#[test]
fn hints_lift_refusals() {
    let mut c = case(
        "kernel void k(global int *a, global int *b) {\n\
           for (int i = 0; i < a[0]; i++) {\n\
             if (a[i] > 3)\n b[i] = 1;\n else\n a[i]++;\n\
             if (b[i]) break;\n\
         } }\n",
    );
    c.bounds = vec![(2, 10)];
    c.branches = vec![(3, Side::Else)];
    insta::assert_snapshot!(c.shown(), @r"
    2  repeat $line_2
    2    load global a 4 items [0] iterations [0]
    2    1 Index
    3    load global a 4 items [0] iterations [1]
    3    1 Integer
    6    load global a 4 items [0] iterations [1]
    6    1 Integer
    6    store global a 4 items [0] iterations [1]
    7    load global b 4 items [0] iterations [1]
    2    1 Index
    2  load global a 4 items data
    2  1 Index
    ");
    c.branches = vec![(3, Side::Both)];
    insta::assert_snapshot!(c.shown(), @r"
    2  repeat $line_2
    2    load global a 4 items [0] iterations [0]
    2    1 Index
    3    load global a 4 items [0] iterations [1]
    3    1 Integer
    4    store global b 4 items [0] iterations [1]
    6    load global a 4 items [0] iterations [1]
    6    1 Integer
    6    store global a 4 items [0] iterations [1]
    7    load global b 4 items [0] iterations [1]
    2    1 Index
    2  load global a 4 items data
    2  1 Index
    ");
}

#[test]
fn images() {
    assert_eq!(
        shown("kernel void k(read_only image2d_t i, global int *a) { a[0] = 1; }\n"),
        "k.cl:1: 'i' is a __read_only image2d_t; pass the data in a buffer"
    );
}

#[test]
fn arguments_of_both_versions() {
    let mut c =
        case("kernel void k(global int *a, int n) { for (int i = 0; i < n; i++) a[i] = 0; }");
    c.arguments = vec![Passed::Memory, number(0, 9)];
    c.standard = Standard::Cl30;
    insta::assert_snapshot!(c.shown(), @r"
    1  repeat $n
    1    1 Index
    1    store global a 4 items [0] iterations [1]
    1    1 Index
    ");
    c.arguments = vec![Passed::Memory];
    // One that is not listed keeps its name: lowering asks for its value.
    insta::assert_snapshot!(c.shown(), @r"
    1  repeat max(0, $n)
    1    1 Index
    1    store global a 4 items [0] iterations [1]
    1    1 Index
    ");
}
