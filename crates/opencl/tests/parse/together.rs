//! Many expansions in one run of the preprocessor are those of one run each.

use indexmap::IndexMap;
use tickbound_opencl::preprocess::{Expanded, Expander};

use crate::parse::tree::{Source, ready};

/// Values of A and B, one after the other.
const VALUES: [(i64, i64); 5] = [(1, 4), (2, -3), (0, 0), (1, 7), (16, 4)];

/// The texts of a source for all values: together, and each alone.
fn both(source: &Source) -> (Option<Vec<Expanded>>, Vec<Expanded>) {
    let named = |(a, b): (i64, i64)| IndexMap::from([("A".to_owned(), a), ("B".to_owned(), b)]);
    let values: Vec<IndexMap<String, i64>> = VALUES.map(named).to_vec();
    let expander = Expander::new(&source.request, &source.structural).unwrap();
    let alone = values.iter().map(|v| expander.one(v).unwrap_or_else(|e| panic!("{e}")));
    let alone = alone.collect();
    (expander.together(&values), alone)
}

fn source(text: &str) -> Source {
    Source::new(text).symbol("TS", 16).structural("A", 1).structural("B", 4).text("REAL", "float")
}

/// Line markers aside, which are what they are by accident.
fn code(texts: &[Expanded]) -> Vec<(String, Vec<String>)> {
    let lines = |text: &str| text.lines().filter(|l| !l.is_empty()).map(str::to_owned).collect();
    texts.iter().map(|t| (t.asked.join(" "), lines(&t.text))).collect()
}

#[test]
fn macros_do_not_last_from_copy_to_copy() {
    if !ready() {
        return;
    }
    for text in [
        "#ifndef GUARD\n#define GUARD\nint a = A;\n#endif",
        "#ifndef A\n#define A 3\n#endif\n#if A == 1\n#define X B\n#endif\nint x = X + A;",
        "#if A == 2\n#define M_PI_F 3\n#undef REAL\n#define REAL double\n#endif\nREAL x = M_PI_F;",
        "#undef B\n#define B A\n#undef A\nint b = B;",
        "#define/* a comment\n that goes on */X A\n#if A > 1\n# undef /* one */ Y\n#else\n#define \
         Y 2\n#endif\nint y = Y;",
        "#if A == 1\n#def\\\nine LONG\\\nNAME 2\n#endif\nint x = LONGNAME;",
        "#define F(x) x\nint f = F(A) + F\n(B);\n#define G(x) x\nint g = G",
        "#include \"h.h\"\nint h = H;",
        "#if A == 2\n#include \"other.h\"\n#endif\nint o = O, a = A;",
        "int line = __LINE__;\nconstant char *f = __FILE__;",
        "%:if A == 1\n%:define DI 2\n%:endif\nint d = DI;",
        "int $a = 1;\n#if A == 1\n#define $b 2\n#endif\nint c = $b;",
    ] {
        let source = source(text)
            .beside("h.h", "#ifndef H\n#define H A\nint guarded;\n#endif\n#define H2 B\n")
            .beside("other.h", "#define O 5\n#define A 77\nint other = A;\n");
        let (together, alone) = both(&source);
        let together = together.unwrap_or_else(|| panic!("not together: {text}"));
        assert_eq!(code(&together), code(&alone), "{text}");
    }
}

/// What cannot be told apart is left to one run each.
#[test]
fn what_lasts_is_expanded_alone() {
    if !ready() {
        return;
    }
    for text in [
        "int c = __COUNTER__;",
        "#include \"once.h\"\nint a = A;",
        "#pragma push_macro(\"A\")\n#undef A\nint a = A;\n#pragma pop_macro(\"A\")\nint b = A;",
        "# 1 \"<end>\"\nint a;",
        "int x = TS;\n#define \\u00e4 2\n",
    ] {
        let source = source(text).beside("once.h", "#pragma once\nint once;\n");
        let (together, _) = both(&source);
        assert_eq!(together, None, "{text}");
    }
    // A rejected copy, one that asks for more, and a call that is left open.
    for text in
        ["#if A == 2\n#error two\n#endif", "#if A == 2 && TS\n#endif", "#define F(x) x\n) F("]
    {
        let source = source(text);
        let values = VALUES.map(|(a, b)| IndexMap::from([("A".into(), a), ("B".into(), b)]));
        let expander = Expander::new(&source.request, &source.structural).unwrap();
        assert_eq!(expander.together(&values), None, "{text}");
    }
}

/// A symbol may have the name of a macro that OpenCL's own header defines.
#[test]
fn names_of_the_header() {
    if !ready() {
        return;
    }
    let source = Source::new("int a = INT_MAX;").structural("INT_MAX", 1);
    let expander = Expander::new(&source.request, &source.structural).unwrap();
    let values = [1, 2].map(|n| IndexMap::from([("INT_MAX".to_owned(), n)]));
    assert_eq!(expander.together(&values), None);
}
