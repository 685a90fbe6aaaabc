//! What is refused, with its message: place, what is wrong, and what to write instead.

use tickbound_model::source::{Side, Standard};
use tickbound_opencl::{Passed, ReadError};

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
        ("if (a[0] > 0) b[0] = 1;", "a[0] > 0"),
        ("b[0] = a[0] ? a[1] : 2;", "a[0]"),
        ("if ((a[0]) && a[1]) {}", "a[0]"),
        ("if (a[0] > 0) { barrier(CLK_LOCAL_MEM_FENCE); }", "a[0] > 0"),
        ("if (a[0] > 0) return; b[0] = 1;", "a[0] > 0"),
        ("float f = a[0]; if ((f  +  1) * 2 > 0.5f) b[0] = 1;", "(f + 1) * 2 > 0.5f"),
        ("int r[2]; r[a[1]] = 1; if (r[0]) b[0] = 1;", "r[0]"),
        ("int s = 0; for (int i = 0; i < N; i++) s += s + a[i]; if (s) b[0] = 1;", "s"),
        ("if (atomic_inc(&a[0]) == 3) b[0] = 1;", "atomic_inc(&a[0]) == 3"),
        ("switch (a[0]) { case 1: b[0] = 1; case 2: b[1] = 1; }", "a[0]"),
    ];
    for (body, condition) in table {
        let fix = format!(
            "add \"branches\": {{ \"k: {condition}\": \"both\" }} to the kernel in the problem \
             file, or \
             \"then\" or \"else\" instead of \"both\"; \"k\" answers for all of its branches"
        );
        refuses(body, &format!("k.cl:3: {BRANCH}; {fix}"));
    }
}

#[test]
fn switches() {
    refuses(
        "switch (N) { case 1 ... 3: b[0] = 1; }",
        "k.cl:3: a range of cases is not read; write it in another way",
    );
    refuses(
        "switch (N) { case 1: { b[0] = 1; case 2: b[1] = 2; } }",
        "k.cl:3: a case inside another statement is not read; write it in another way",
    );
}

#[test]
fn bounds_on_data() {
    let table = [
        ("for (int i = 0; i < a[0]; i++) b[i] = 1;", "i < a[0]"),
        ("int i = 0; while (i < N) { b[i] = 1; i += a[i]; }", "i < N"),
        ("for (int i = 0; i < N; i++) { if (a[i] == 0) break; }", "i < N"),
        ("for (int i = 0; i < N; i++) { if (a[i] == 0) return; }", "i < N"),
        ("int i = 0; do { i++; } while (a[i]);", "a[i]"),
        ("for (int i = a[1]; i > 0; i >>= 1) b[i] = 1;", "i > 0"),
    ];
    for (body, condition) in table {
        let fix = format!(
            "add \"bounds\": {{ \"k: {condition}\": 1 }} to the kernel in the problem file, with \
             the most \
             iterations instead of 1"
        );
        refuses(body, &format!("k.cl:3: {BOUND}; {fix}"));
    }
    // No data decide how often this one runs.
    let endless = "the loop's iterations cannot be counted; add \"bounds\": { \"k: true\": 1 } to the \
                   kernel in the problem file, with the most iterations instead of 1";
    refuses("for (;;) { b[0]++; }", &format!("k.cl:3: {endless}"));
}

/// Parts of private variables that may have been changed are not known.
#[test]
fn parts_that_are_not_known() {
    for body in [
        "int2 r = (int2)(0, N); r.xy = (int2)(a[0]); if (r.y) b[0] = 1;",
        "int r[2] = {0, N}; r[a[0]] = 1; if (r[1]) b[0] = 1;",
        "int r[2] = {0, N}; for (int i = 0; i < N; i++) r[i & 1]++; if (r[1]) b[0] = 1;",
        "int2 r = (int2)(1, N); int *p = (int *)&r; p[a[0]] = 0; if (r.y) b[0] = 1;",
        "union U { int n; float f; } r; r.n = N; r.f = 1.0f; if (r.n) b[0] = 1;",
        "struct S { union { int n; float f; }; } r; r.n = N; r.f = 1.0f; if (r.n) b[0] = 1;",
        "int r[2] = {0, N}; ((char *)r)[5] = 1; if (r[1]) b[0] = 1;",
        "int r[2]; r[0] = N; if (((uint *)r)[0]) b[0] = 1;",
        "int r[2]; for (int i = 0; i < 2; i++) { int s[2]; if (i == 0) s[0] = N; r[i] = s[0]; } if \
         (r[1]) b[0] = 1;",
        "int r[2] = {N, 1}; vstore2((int2)(a[0]), 0, r); if (r[1]) b[0] = 1;",
        "int2 r = (int2)(N, 1); float2 f = convert_float2(r); if (f.y > 0) b[0] = 1;",
        "int r[2] = {N, 1}; atomic_add((volatile global int *)a, 1); float x = fract(0.5f, (float \
         *)&r[1]); if (r[1]) b[0] = x;",
    ] {
        let text = format!("kernel void k(global int *a, global int *b)\n{{\n{body}\n}}\n");
        assert!(shown(&text).contains(BRANCH), "{text}{}", shown(&text));
    }
}

#[test]
fn iterations_that_differ() {
    refuses(
        "for (int i = 0; i < N; i++) for (int j = 0; j < i % 7; j++) b[j] = i;",
        "k.cl:3: line 3 depends on the iteration of this loop, which may have more than 64 \
         iterations; \
         add \"line 3\": BOUND to kernel.bounds in the problem file",
    );
    refuses(
        "for (int i = 0; i < N; i++)\nif (i % 3)\nb[i] = i;",
        "k.cl:3: line 4 depends on the iteration of this loop, which may have more than 64 \
         iterations; \
         add \"line 4\": \"then\", \"else\" or \"both\" to kernel.branches",
    );
    // Items wait for each other in each iteration, and the longest is not the same one in all of
    // them.
    refuses(
        "for (int i = 0; i < N; i++) { for (int j = 0; j < i; j++) b[j] = i; \
         if (get_local_id(0) < 2) a[i] = 1; barrier(CLK_GLOBAL_MEM_FENCE); }",
        "k.cl:3: line 3 depends on the iteration of this loop, which may have more than 64 \
         iterations; \
         add \"line 3\": BOUND to kernel.bounds in the problem file",
    );
    // A loop that grows, cut for the branch in line 4.
    refuses(
        "for (int i = 0; i < N; i++) for (int j = 0; j < i; j++)\nif (j < 4) b[j] = i; else a[0] = \
         a[1];",
        "k.cl:3: line 4 depends on the iteration of this loop, which may have more than 64 \
         iterations; \
         add \"line 4\": \"then\", \"else\" or \"both\" to kernel.branches",
    );
    // The loop in line 4 differs by the branch in line 5 alone.
    refuses(
        "for (int i = 0; i < N; i++) \
         {\nfor (int j = 0; j < N; j++)\nif (i * 3 + j < get_local_id(0)) b[j] = i;\n\
         barrier(CLK_GLOBAL_MEM_FENCE); }",
        "k.cl:3: line 5 depends on the iteration of this loop, which may have more than 64 \
         iterations; \
         add \"line 5\": \"then\", \"else\" or \"both\" to kernel.branches",
    );
}

#[test]
fn functions() {
    let table = [(
        "event_t e = async_work_group_copy((local int *)0, a, 4, 0);",
        "k.cl:3: this pointer is null; give its buffer a length in kernel.arguments",
    )];
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
    c.bounds = vec![("line 2", 10)];
    c.branches = vec![("line 3", Side::Else)];
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
    c.branches = vec![("line 3", Side::Both)];
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

/// A kernel that asks for a loop and for two branches alike.
const ASKS: &str = "void f(global int *a, int i) { if (a[i] > 3) a[0] = 1; }\n\
    kernel void k(global int *a, global int *b) {\n\
      for (int i = 0; i < a[0]; i++) {\n\
        if (a[i]  >  3) b[i] = 1;\n\
        if (a[i] > 3) b[0]++;\n\
        f(b, i);\n} }\n";

#[test]
fn answers_name_functions_and_conditions() {
    let mut c = case(ASKS);
    insta::assert_snapshot!(c.shown(), @r#"k.cl:3: the loop's bound depends on data; add "bounds": { "k: i < a[0]": 1 } to the kernel in the problem file, with the most iterations instead of 1"#);
    c.bounds = vec![("k: i < a[0]", 10)];
    insta::assert_snapshot!(c.shown(), @r#"k.cl:4: the branch depends on data and its sides access memory differently; add "branches": { "k: a[i] > 3": "both" } to the kernel in the problem file, or "then" or "else" instead of "both"; "k" answers for all of its branches"#);
    c.branches = vec![("k: a[i]>3", Side::Then), ("f", Side::Else)];
    insta::assert_snapshot!(c.shown(), @r"
    3  repeat $bound_0
    3    load global a 4 items [0] iterations [0]
    3    1 Index
    4    load global a 4 items [0] iterations [1]
    4    1 Integer
    4    store global b 4 items [0] iterations [1]
    5    load global a 4 items [0] iterations [1]
    5    1 Integer
    5    load global b 4 items [0] iterations [0]
    5    1 Integer
    5    store global b 4 items [0] iterations [0]
    1    load global b 4 items [0] iterations [1]
    1    1 Integer
    3    1 Index
    3  load global a 4 items [0]
    3  1 Index
    ");
    c.branches =
        vec![("k: a[i] > 3 #2", Side::Then), ("k", Side::Else), ("f: a[i] > 3", Side::Then)];
    insta::assert_snapshot!(c.shown(), @r"
    3  repeat $bound_0
    3    load global a 4 items [0] iterations [0]
    3    1 Index
    4    load global a 4 items [0] iterations [1]
    4    1 Integer
    5    load global a 4 items [0] iterations [1]
    5    1 Integer
    5    load global b 4 items [0] iterations [0]
    5    1 Integer
    5    store global b 4 items [0] iterations [0]
    1    load global b 4 items [0] iterations [1]
    1    1 Integer
    1    store global b 4 items [0] iterations [0]
    3    1 Index
    3  load global a 4 items [0]
    3  1 Index
    ");
}

#[test]
fn answers_for_nothing() {
    let mut c = case("kernel void k(global int *a) {\n for (int i = 0; i < N; i++) a[i] = 1;\n}\n");
    // The loop is there, though nothing is asked.
    c.bounds = vec![("line 2", 4)];
    assert!(c.read().is_ok());
    c.bounds = vec![("k: i < M", 4)];
    insta::assert_snapshot!(c.shown(), @"kernel.bounds.k: i < M: there is no such loop in k.cl; remove it: what is asked for is said again");
    c.bounds = Vec::new();
    c.branches = vec![("line 2", Side::Then)];
    insta::assert_snapshot!(c.shown(), @"kernel.branches.line 2: there is no such branch in k.cl; remove it: what is asked for is said again");
}

/// One reading finds all questions; the first of them is told.
#[test]
fn questions_are_asked_together() {
    let text = "kernel void k(global int *a) { int i = get_global_id(0);\n\
                while (a[i] > 0) a[i] -= 1;\n\
                if (a[i] > 3) a[i] = a[i + 1];\nif (a[i] > 4) a[i] = a[i + 2]; }";
    let Err(ReadError::Questions(all)) = case(text).read() else { panic!("no questions") };
    let keys: Vec<&str> = all
        .iter()
        .map(|question| match question {
            ReadError::Unbounded { key, .. } | ReadError::Unsided { key, .. } => key.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(keys, ["k: a[i] > 0", "k: a[i] > 3", "k: a[i] > 4"]);
    let told = ReadError::Questions(all).to_string();
    assert!(told.starts_with("k.cl:2: the loop's bound depends on data"), "{told}");
}
