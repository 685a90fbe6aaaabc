//! Sources without a tree, and what is said of them.

use crate::parse::tree::{Source, ready};

/// What to do about a name that is not known.
const UNKNOWN: &str =
    "; declare it, add it to kernel.defines, or set kernel.standard to the version that has it";

/// Sources and the line about each, without [`UNKNOWN`].
fn table(rows: &[(&str, &str)]) {
    if !ready() {
        return;
    }
    for (source, expected) in rows {
        let error = Source::new(source).error();
        assert_eq!(error.strip_suffix(UNKNOWN).unwrap_or(&error), *expected, "{source}");
    }
}

#[test]
fn does_not_compile() {
    table(&[
        ("void k(void) {\n\n  x = 1;\n}", "k.cl:3: use of undeclared identifier 'x'"),
        ("kernel void k(global REAL *p) { }", "k.cl:1: unknown type name 'REAL'"),
        ("int k(int a) {\n return a +;\n}", "k.cl:2: expected expression; correct the source"),
        (
            "int k(int a) {\n return a",
            "k.cl:2: expected ';' after return statement; correct the source",
        ),
        (
            "kernel void k(int *p) { }",
            "k.cl:1: pointer arguments to kernel functions must reside in '__global', \
             '__constant' or '__local' address space; correct the source",
        ),
        (
            "kernel int k(void) { return 1; }",
            "k.cl:1: kernel must have void return type; correct the source",
        ),
        ("void k(void) { recur; }", "k.cl:1: use of undeclared identifier 'recur'"),
        (
            "#line 70 \"other.cl\"\nconstant int k = ;",
            "other.cl:70: expected expression; correct the source",
        ),
    ]);
}

#[test]
fn another_version() {
    if !ready() {
        return;
    }
    let text = "void k(void) {\n  work_group_barrier(1);\n}";
    let error = Source::new(text).error();
    assert!(error.contains("'work_group_barrier'") && error.ends_with(UNKNOWN), "{error}");
    assert_eq!(Source::new(text).version_3().parse().map(|unit| unit.functions.len()), Ok(1));
}

#[test]
fn macros_do_not_expand() {
    table(&[
        (
            "int a;\n#include \"no.h\"\n",
            "k.cl:2: cannot find no.h; put it beside the source, or name its folder with `init \
             --include` or kernel.include",
        ),
        (
            "int a;\n#error needs \"TS\"",
            "k.cl:2: #error needs \"TS\"; the source rejects these macros: check kernel.defines",
        ),
        ("\n#if 1\nint a;", "k.cl:2: unterminated #if; correct the source"),
        ("int a;\n/* text\n", "k.cl:2: unterminated comment; correct the source"),
        ("#if 1 / 0\n#endif", "k.cl:1: division by zero in #if; correct the source"),
        ("#endif", "k.cl:1: #endif without #if; correct the source"),
    ]);
}

#[test]
fn messages_have_names_of_symbols() {
    if !ready() {
        return;
    }
    let error = Source::new("#if 4 TS\n#endif").symbol("TS", 4).error();
    assert!(error.starts_with("k.cl:1: "), "{error}");
    let error = Source::new("int k(void) { return TS TS; }").symbol("TS", 4).error();
    assert_eq!(error, "k.cl:1: expected ';' after return statement; correct the source");
}

#[test]
fn faults_of_included_files() {
    if !ready() {
        return;
    }
    let source = Source::new("#include \"a.h\"\n").beside("a.h", "\n\nconstant int x = y;\n");
    let expected = "a.h:3: use of undeclared identifier 'y'";
    assert_eq!(source.error(), format!("{expected}{UNKNOWN}"));
    let mut source = source.beside("a.h", "\n#include \"b.h\"\n");
    source.request.name = "kernels/k.cl".into();
    let expected = "kernels/a.h:2: cannot find b.h; put it beside the source, or name its folder with `init --include` or kernel.include";
    assert_eq!(source.error(), expected);
}

#[test]
fn files_that_are_no_text() {
    if !ready() {
        return;
    }
    // Any bytes may be in comments.
    assert!(Source::new(b"// \xa9\n__kernel void k() {}\n").parse().is_ok());
    let error = Source::new(b"__kernel void k() {\n  int \xff;\n}\n").error();
    assert!(error.starts_with("k.cl:2: "), "{error}");
    assert_eq!(Source::new("int a;\0").error(), "k.cl: there is a NUL character in it; remove it");
    let mut source = Source::new("");
    source.request.path.set_file_name("none.cl");
    source.request.name = "none.cl".into();
    assert_eq!(source.error(), "none.cl: there is no such file; check kernel.opencl");
    source.request.path.pop();
    let folder = "none.cl: this is a folder; name a file in it; check kernel.opencl";
    assert_eq!(source.error(), folder);
}

#[test]
fn oddities_that_are_accepted() {
    if !ready() {
        return;
    }
    for text in [
        "",
        "\u{feff}int k(void) { return 1; }",
        "// \u{3b1}\r\nint k(void) { return 1; }\r\n",
        "#",
    ] {
        let mut source = Source::new(text);
        source.request.name = "a \"b\" \\ c.cl".into();
        assert_eq!(source.parse().map(|_| ()), Ok(()), "{text}");
    }
}
