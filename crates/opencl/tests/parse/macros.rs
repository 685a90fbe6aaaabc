//! Macros: expanded, kept open, asked for.

use crate::parse::print::print;
use crate::parse::tree::{Source, ready};

/// The body of `k` with open symbols TS and WG.
fn read(text: &str) -> String {
    let source = Source::new(text).symbol("TS", 16).symbol("WG", 64);
    print(&source.parse().unwrap_or_else(|error| panic!("{error}")))
}

fn asked(text: &str) -> Vec<String> {
    let source = Source::new(text).symbol("TS", 16).symbol("WG", 64);
    source.expand().unwrap_or_else(|error| panic!("{error}")).asked
}

#[test]
fn operators_inside_macros() {
    if !ready() {
        return;
    }
    let text = read(
        "#define SUM(x, y) x + y
#define TWICE(x) SUM(x, x)
#define ADD +
#define GET(p, i) p[(i) * TS]
#define MAX(a, b) \\
    ((a) > (b) \\
        ? (a) : (b))
void k(global int *p, int a, int b) {
    a = SUM(a, b) * 2;
    a = TWICE(b - 1);
    a = a ADD b;
    a = GET(p, a + 1) - GET(p, TS);
    a = MAX(a, b
            - 1);
    b = __LINE__;
}",
    );
    assert_eq!(
        text,
        "8: void k(p#0: *global int, a#1: int, b#2: int)
  9: (a = (a + (b * 2)));
  10: (a = (((b - 1) + b) - 1));
  11: (a = (a + b));
  12: (a = (p[((a + 1) * $TS)] - p[($TS * $TS)]));
  13: (a = ((a > (b - 1)) ? a : (b - 1)));
  15: (b = 15);
"
    );
}

#[test]
fn constants_over_symbols() {
    if !ready() {
        return;
    }
    let text = read(
        "#define TILE (TS * 2)
enum { ONE = 1, TILES = TILE, NEXT, AFTER, PLAIN = 7 };
int k(void) {
    return ONE + TILES + NEXT + AFTER + PLAIN;
}",
    );
    assert_eq!(
        text,
        "3: int k()
  4: return ((((1 + ($TS * 2)) + (($TS * 2) + 1)) + ((($TS * 2) + 1) + 1)) + 7);
"
    );
}

#[test]
fn extreme_values() {
    if !ready() {
        return;
    }
    let source = Source::new("long k(void) { return A + B + C + D; }")
        .symbol("A", i64::MIN)
        .symbol("B", i64::MAX)
        .symbol("C", -3)
        .structural("D", -4);
    assert_eq!(
        print(&source.parse().unwrap()),
        "1: long k()\n  1: return ((($A + $B) + $C) + (-4));\n"
    );
}

#[test]
fn symbols_that_conditions_need() {
    if !ready() {
        return;
    }
    for (text, expected) in [
        ("int a = TS;", vec![]),
        ("#ifdef TS\nint a;\n#endif", vec![]),
        ("#if defined(TS) && defined WG\nint a;\n#endif", vec![]),
        ("#if TS > 4\n#endif", vec!["TS"]),
        ("#if 0\n#elif WG\n#endif", vec!["WG"]),
        ("#if 0 && TS\n#endif", vec![]),
        ("#define X TS\n#define Y (X + WG)\n#if Y == 4\n#endif", vec!["TS", "WG"]),
        ("#if 16 / TS\n#endif", vec!["TS"]),
        ("#if TS == 0\n#error zero\n#endif", vec!["TS"]),
        ("#define C_(a, b) a ## b\n#define C(a, b) C_(a, b)\nC(float, WG) x;", vec!["WG"]),
        ("#define C_(a, b) a ## b\n#define C(a, b) C_(a, b)\nint C(C(x, TS), _y);", vec!["TS"]),
        ("#define C_(a, b) a ## b\n#define C(a, b) C_(a, b)\nint x = C(TS, u);", vec!["TS"]),
        ("#define C(a, b) a ## b\nint C(T, S) = 1, C(x, TS) = 2;", vec![]),
        ("typedef float vec __attribute__((ext_vector_type(TS)));", vec!["TS"]),
        ("struct S { int TS; };\nint f(struct S s) { return s.TS+s . TS; }", vec![]),
        ("constant char *t = \"TS\"; // TS", vec![]),
        ("#undef TS\n#if TS\n#endif", vec![]),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
}

#[test]
fn structural_symbols_have_their_value() {
    if !ready() {
        return;
    }
    let text = "#define C_(a, b) a ## b
#define C(a, b) C_(a, b)
#if WIDTH > 1
C(float, WIDTH) k(global C(float, WIDTH) *p) { return p[TS]; }
#else
float k(global float *p) { return p[WIDTH]; }
#endif";
    let read = |width| {
        let source = Source::new(text).symbol("TS", 16).structural("WIDTH", width);
        print(&source.parse().unwrap())
    };
    assert_eq!(read(4), "4: float4 k(p#0: *global float4)\n  4: return p[$TS];\n");
    assert_eq!(read(1), "6: float k(p#0: *global float)\n  6: return p[1];\n");
}

#[test]
fn text_macros_and_includes() {
    if !ready() {
        return;
    }
    let source = Source::new("#include \"lib/first.h\"\nREAL k(REAL x) { return twice(x); }")
        .text("REAL", "float")
        .beside("second.h", "#define TWO 2")
        .symbol("TS", 16);
    std::fs::create_dir(source.request.path.with_file_name("lib")).unwrap();
    let source = source.beside(
        "lib/first.h",
        "#include \"second.h\"\nREAL twice(REAL x)\n{\n    return TWO * x * TS;\n}",
    );
    let unit = source.parse().unwrap();
    assert_eq!(
        print(&unit),
        "2: float twice(x#0: float)
  4: return ((2 * x) * $TS);
2: float k(x#1: float)
  2: return twice(x);
"
    );
    assert_eq!(&*unit.functions["twice"].at.file, "lib/first.h");
    assert_eq!(&*unit.functions["k"].at.file, "k.cl");
}

#[test]
fn pragmas_need_no_values() {
    if !ready() {
        return;
    }
    let text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable
void k(int a) {
    #pragma unroll TS
    for (int i = 0; i < TS; i++) a++;
    _Pragma(\"unroll\") for (int i = 0; i < WG; i++) a++;
}";
    let source = Source::new(text).symbol("TS", 16).structural("WG", 8);
    assert_eq!(
        print(&source.parse().unwrap()),
        "2: void k(a#0: int)
  4: for (let i#1: int = 0; | (i < $TS) | (i++)) {4: (a++);}
  5: for (let i#2: int = 0; | (i < 8) | (i++)) {5: (a++);}
"
    );
}

#[test]
fn predefined_macros() {
    if !ready() {
        return;
    }
    let text = "#if __OPENCL_C_VERSION__ == VERSION && defined(__OPENCL_VERSION__) \\
    && CL_VERSION_1_2 == 120 && defined(__ENDIAN_LITTLE__) && defined(cl_khr_fp64) \\
    && defined(CLK_LOCAL_MEM_FENCE) && INT_MAX > 0 \\
    && !defined(__x86_64__) && !defined(__linux__) \
    && defined(__has_extension) && !__has_extension(cl_khr_fp16) && !__has_feature(cl_khr_fp64)
int k(void) { return 1; }
#endif";
    for (source, version) in [(Source::new(text), "120"), (Source::new(text).version_3(), "300")] {
        assert_eq!(source.text("VERSION", version).parse().unwrap().functions.len(), 1);
    }
}
