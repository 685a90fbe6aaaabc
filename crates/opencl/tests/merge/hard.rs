//! Sources that are hard to read as a whole, written by hand.

use serde_json::{Value, json};

use super::whole::{oracle, without_arithmetic};
use super::writer::{Case, PLATFORM};

/// A kernel with parameters V (0, 1, 2, 4), S (-1, 3) and WG (2, 4), and macros of these names.
fn case(source: &str, defines: Value, arguments: Value) -> Case {
    let problem = json!({
        "platform": serde_json::from_str::<Value>(PLATFORM).expect("JSON"),
        "parameters": { "V": [0, 1, 2, 4], "S": [-1, 3], "WG": [2, 4] },
        "launch": { "global_size": ["WG * 2", 2], "local_size": ["WG", 1] },
        "kernel": { "opencl": "k.cl", "entry": "k", "defines": defines, "arguments": arguments }
    });
    Case { source: source.to_owned(), problem }
}

fn plain(source: &str) -> Case {
    case(
        source,
        json!({ "V": "V", "S": "S", "WG": "WG" }),
        json!([ { "name": "a", "type": "int", "length": 9 }, { "name": "n", "type": "int", "value": 6 } ]),
    )
}

/// Bodies of `kernel void k(global int *a, int n)`.
const BODIES: [&str; 20] = [
    "#if V == 0\n#define R WG\n#else\n#define R (WG / V * V + WG)\n#endif\nfor (int i = 0; i < R; \
     i++) a[i] = 1;",
    // A form such as `n // V * V + 1` has no value for V = 0.
    "#if V > 0\n#define R (n / V * V + 1)\n#else\n#define R 1\n#endif\nint lid = get_local_id(0); \
     for (int i = lid; i < R + WG; i++) a[i] = 1;",
    "#if V == 0\n#define R WG\n#elif V == 1\n#define R (WG * S + WG)\n#else\n#define R (WG / V * V \
     * S + WG)\n#endif\nfor (int i = 0; i < R; i++) a[i] = 1;",
    "#ifndef V\n#define V 3\n#endif\n#ifdef Q\na[0] = 1;\n#endif\nfor (int i = 0; i < V; i++) a[i] \
     = 1;",
    "#undef V\n#define V 3\nfor (int i = 0; i < V + S; i++) a[i] = 1;",
    "#define HALF(x) ((x) / 2)\n#if HALF(V) > 0 && S\n#undef HALF\n#define HALF(x) 1\n#endif\nfor \
     (int i = 0; i < HALF(WG); i++) a[i] = 1;",
    "for (int i = 0; i < 4-S; i++) a[i] = -S; for (int i = -S; i < !S; i++) a[i]++; for (int i = \
     0; i < ~S + 3; i++) a[i]++;",
    "for (int i = 0; i < S * S - S % 2; i++) a[i] = 1; for (int i = 0; i < 7 / (S + 2) + 7; i++) \
     a[i]++; for (int i = 0; i < S >> 1; i++) a[i] = 2;",
    "enum { X = V * 2 + 1 }; local int t[X]; t[0] = 1; for (int i = 0; i < (int)(sizeof(t) / \
     sizeof(t[0])); i++) a[i] = t[i];",
    "uint u = S; if (u > 5u) a[0] = 1; for (uint i = 0; i < (uint)(V - 1) % 7u; i++) a[i] = 1;",
    "if (S - 1u > 5u) a[0] = 1; if (S < sizeof(int)) a[1] = 2; if (V - 2ul < 9ul) a[3] = 4;",
    "char c = 250 + V * 3; for (int i = 0; i < c + 4; i++) a[i] = 1; uchar d = S * 85; for (int i \
     = 0; i < d / 50; i++) a[i]++;",
    "int x = 0;\n#if V > 1\nx = WG;\n#elif V == 1\nx = S;\n#endif\nif (x) \
     { a[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); } while (x > 0) { a[x] = 2; x -= 2; }",
    "int lid = get_local_id(0);\n#if V\nif (lid < V)\n#endif\nfor (int i = 0; i < 3; i++)\n#if S > \
     0\nif (lid > i)\n#endif\na[i]++;",
    "#if V == 4\nfor (int i = 0; i < 4; i++)\n#else\nfor (int i = 0; i < 8; i += \
     2)\n#endif\n{ a[i] = 1; barrier(CLK_GLOBAL_MEM_FENCE); a[i]++; }",
    "for (int s = WG; s > 0; s >>= 1) \
     {\n#if V == 2\nif (get_local_id(0) < s)\n#endif\na[s] += 1;\n#if S == 3\nbarrier(CLK_LOCAL_MEM_FENCE);\n#endif\n}",
    "#if V == 1\na[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[0] = 2;\n#elif V == 2\na[0] = 1; a[1] = \
     1; barrier(CLK_LOCAL_MEM_FENCE);\n#else\nbarrier(CLK_LOCAL_MEM_FENCE); a[0] = \
     1;\n#endif\na[3]++;",
    "#if V == 1\n#define W a[0] = 1; barrier(CLK_LOCAL_MEM_FENCE);\n#elif V == 2\n#define W \
     barrier(CLK_LOCAL_MEM_FENCE); a[0] = a[1];\n#else\n#define W a[0] = 1; \
     barrier(CLK_LOCAL_MEM_FENCE); a[1]++; barrier(CLK_LOCAL_MEM_FENCE);\n#endif\nW W if (S > 0) \
     { W }",
    "#if V == 1\n#define W if (S > 0) a[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[0] = 3;\n#elif V \
     == 2\n#define W a[0]++; if (WG > 2) a[0] = a[1]; a[2] = 1; \
     barrier(CLK_LOCAL_MEM_FENCE);\n#else\n#define W for (int i = 0; i < V + S; i++) a[0] = 1; if \
     (n > WG) a[0]++;\n#endif\nW",
    "#if V == 0\n#define V2 1\n#else\n#define V2 V\n#endif\n#define P_(a, b) a##b\n#define P(a, b) \
     P_(a, b)\n#if V2 == 1\nint t = a[0];\n#else\nP(int, V2) t = P(vload, V2)(0, a); t += (P(int, \
     V2))(1); t.x += S;\n#endif",
];

#[test]
fn bodies() {
    let mut faults = Vec::new();
    for body in BODIES {
        let source = format!("kernel void k(global int *a, int n)\n{{\n{body}\n}}\n");
        match oracle(&without_arithmetic(plain(&source)), true) {
            Ok(verdict) if verdict.refused + verdict.refused_alone == 0 => {}
            Ok(verdict) => faults.push(format!("{verdict:?} {body}")),
            Err(fault) => faults.push(fault),
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
}

/// Parameters of the kernel that change their places or names with a macro.
#[test]
fn parameters_in_conditions() {
    let arguments = json!([
        { "name": "a", "type": "int", "length": 9 }, { "name": "p", "type": "int", "value": 3 },
        { "name": "q", "type": "int", "value": "WG + 4" } ]);
    let defines = json!({ "V": "V", "S": "S", "WG": "WG" });
    let heads = ["int n, int m", "int m, int n"];
    let source = format!(
        "#if V == 1\n#define HEAD {}\n#else\n#define HEAD {}\n#endif\n\
         kernel void k(global int *a, HEAD)\n{{\nfor (int i = 0; i < n; i++) a[i] = m;\n}}\n",
        heads[0], heads[1]
    );
    oracle(&without_arithmetic(case(&source, defines, arguments)), true)
        .unwrap_or_else(|e| panic!("{e}"));
}

/// A macro that is an expression over parameters, and one that is a number.
#[test]
fn macros_that_are_no_parameters() {
    let arguments = json!([
        { "name": "a", "type": "int", "length": 9 }, { "name": "n", "type": "int", "value": "-S" } ]);
    let defines = json!({ "V": "2 ** V", "S": "4", "WG": "V * S if WG > 2 else V - S" });
    let source = "#if V == 1\n#define E n\n#elif V == 2\n#define E (n / 2 + 4)\n#elif V == 4\n#define E (n / 4 + S)\n#else\n#define E (n / 16 + 4)\n#endif\n\
        kernel void k(global int *a, int \
        n)\n{\nfor (int i = -4; i < E + WG; i++) a[i] = 1;\n#if WG < 0 && S == 4\na[0]++;\n#endif\nif (WG == 3) a[0] = 1;\n}\n";
    for as_text in [true, false] {
        oracle(&without_arithmetic(case(source, defines.clone(), arguments.clone())), as_text)
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

/// As a whole `lid % V` is an operation; where V is 1 by itself it is 0, and constants are free.
#[test]
fn arithmetic_that_is_constant_for_some() {
    let source = "kernel void k(global int *a, int n)\n{\n\
        if ((int)get_local_id(0) % (V + 1) < 1) a[0] = 1;\n}\n";
    oracle(&plain(source), true).unwrap_or_else(|e| panic!("{e}"));
}
