//! What is refused, and with which words.

use crate::connectors;

use std::time::{Duration, Instant};

use connectors::connector;
use tickbound_reo::syntax::Source;
use tickbound_reo::treo::{self, Shelf, TreoRequest};

#[test]
fn faults_say_where_what_and_the_mend() {
    for (text, error) in [
        ("", "1:1: no component to begin with; define one: `name(a?, b!) { ... }`"),
        ("sectoin a;", "1:1: `sectoin` begins no component; did you mean `section`?"),
        ("section a; Import a.b;", "1:12: `Import` begins no component; did you mean `import`?"),
        (
            "f(a) { sync(a, b) } import a.b;",
            "1:21: `import` begins no component; `section`, then `import` stand before components",
        ),
        (
            "composite f(a) { }",
            "1:1: `composite` begins no component; write `name(a?, b!) { ... }`",
        ),
        (
            "h(in, outt) { fifo1(in, x) sync(x, out) }",
            "1:1: nothing in `h` joins its nodes `outt`; leave them out, or join them (did you \
             mean `out`?)",
        ),
        ("section a", "1:10: the end of the text where `;` should stand"),
        ("import a..b;", "1:9: `..` where `;` should stand"),
        ("f(a) {\n  sync(a, b", "2:12: the end of the text where `,` or `)` should stand"),
        ("f(a) { sync(a b) }", "1:15: `b` where `,` or `)` should stand"),
        ("f(a) { sync[1 }", "1:15: `}` where `,` or `]` should stand"),
        ("f(a) { 1 }", "1:8: `1` where a component, `{`, `|` or `}` should stand"),
        ("f(a) { | i }", "1:12: `}` where `:`, `=` or a comparison should stand"),
        ("f(a) { | g(a?, }", "1:16: `}` where a node should stand"),
        ("f(a) { for i = 1 { } }", "1:18: `{` where `..` should stand"),
        (
            "f(a) { if i = 1 { sync(a, b) } }",
            "1:11: `i` without a value; make it a parameter of `f`, or add `| i = ...`",
        ),
        ("f(a) { | 1 : <1..2> }", "1:12: `:` where `=` or a comparison should stand"),
        ("f(?) { }", "1:1: a node without a name where `name?` or `name!` should stand"),
        ("f(a, a) { }", "1:1: `a` stands here a second time; rename one of them"),
        ("f(a) { }\nf(b) { }", "2:1: `f` stands here a second time; rename one of them"),
        (
            "f(a) { synk(a, b) }",
            "1:8: `synk` is no component; define or import it (did you mean `sync`?)",
        ),
        (
            "f(a) { sync(a) }",
            "1:8: `sync` has 2 ends, here are 1; see the list of built-in components",
        ),
        (
            "g(x, y) { } f(a) { g(a) }",
            "1:20: `g` has the nodes (`x`, `y`), here are 1; give each a node",
        ),
        (
            "g<k>(x) { } f(a) { g<1, 2>(a) }",
            "1:20: `g` has 1 parameter, here are 2; leave out what it does not take",
        ),
        (
            "g<k:int>(x) { } f(a) { g<\"x\">(a) }",
            "1:24: `\"x\"` for `k` of `g` where a whole number should stand",
        ),
        (
            "f(a) { sync(a, b[n]) }",
            "1:18: `n` without a value; make it a parameter of `f`, or add `| n = ...`",
        ),
        (
            "g<k>(x) { sync(x, y[k]) } f(a) { g(a) }",
            "1:21: `k` without a value; give it where `g` is used: `g<...>(...)`",
        ),
        (
            "f(a[1..n], b[1..m]) { }",
            "1:1: `n`, `m` without a value; give --set n=VALUE --set m=VALUE",
        ),
        (
            "f(a) { { sync(a, b[j]) | i : <1..2> } }",
            "1:20: `j` without a value; make it a parameter of `f`, or add `| j = ...` (known \
             here: i)",
        ),
        ("f(a) { sync(a, b) | i : 3 }", "1:21: `3` where a list `<1..n>` should stand"),
        (
            "f(a) { sync(a, b[1 / 0]) }",
            "1:8: `1 / 0` has no value that fits 64 bits; use smaller numbers",
        ),
        ("f(a) { sync(a, b[\"x\"]) }", "1:8: `\"x\"` where a whole number should stand"),
        (
            "f(a) { sync(a, b[99999999999999999999]) }",
            "1:18: 99999999999999999999 is too large; integers have at most 63 bits",
        ),
        (
            "f(a, b) { filter<Even>(a, b) }",
            "1:18: `Even` without a value; make it a parameter of `f`, or add `| Even = ...`",
        ),
        (
            "f(a, b) { filter(a, b) }",
            "1:11: `filter` takes 1 argument (its predicate), here are 0; see the list of built-in \
             components",
        ),
        (
            "f(a, b) { fifo<sync>(a, b) }",
            "1:11: the component `sync` where a number or a text in quotes should stand",
        ),
        ("f(a) { c(a) | c = 3 }", "1:8: `3` where a component should stand"),
        (
            "f(a) { | l[1..n] = <1, 2>, n = 3 }",
            "1:10: a list of 2 where a list of another length should stand",
        ),
        (
            "import x.y;\nf(a) { y(a) }",
            "1:8: `x.y` is in no file (10 tried); define it, or name its folder with --library",
        ),
        (
            "import a.y;\nimport b.y;\nf(a) { y(a) }",
            "2:8: `y` is imported from `a.y` and from `b.y`; keep one of them",
        ),
        ("f(a?) { #RBA {b} true }", "1:15: `b` is no node of the atom; known here: a"),
        (
            "f(a?) { #RBA {a} a = c }",
            "1:18: `c` is no node or parameter of the atom; known here: a",
        ),
        (
            "f(a?, b?) { #RBA {a} a = b }",
            "1:22: the datum of `b` in a rule in which it does not fire; name it in the braces of \
             the rule",
        ),
        ("f(a?) { #RBA {a, ~a} }", "1:14: `a` and `~a` in one rule never hold; keep one of them"),
        (
            "f(a?) { #RBA $m = a; {a} }",
            "1:14: a cell begins with something that is no constant; write `null`, a number, a \
             text in quotes or a parameter",
        ),
        ("f(a?) { #RBA {a} $m }", "1:21: `}` where `=`, `!=` or `<` should stand"),
        (
            "f(a?) { #RAB {a} true }",
            "1:10: `#RAB` is no section that is read here; did you mean `RBA`?",
        ),
        (
            "f(a?) { #JVA \"Some.Code\" }",
            "1:10: `#JVA` is no section that is read here; did you mean `JAVA`?",
        ),
        (
            "f(a?) { #CAM q* -> q : {a}, true }",
            "1:10: `#CAM` is no section that is read here; write the atom with #RBA",
        ),
        (
            "f(a?) { #RBA {a} true #SA }",
            "1:24: `#SA` is no section that is read here; write the atom with #RBA",
        ),
        ("f(a?) { #P x }", "1:10: `#P` is no section that is read here; write the atom with #RBA"),
        (
            "f(a?) { #WA q -> q : {a} }",
            "1:13: `f` has no initial state; mark one: `q*` in #WA, `q : initial` in #SCA",
        ),
        ("f(a?) { #WA q* -> q : {b} }", "1:24: `b` is no node of the atom; known here: a"),
        (
            "f(a?) { #WA q* -> q : {a}, x >= 1, {} }",
            "1:13: the guard `x >= 1` of #WA is outside what is read here; write the atom with \
             #RBA",
        ),
        (
            "f(a?) { #WA q* -> q : {a}, true, {x} }",
            "1:13: the jobs `{x}` of #WA is outside what is read here; write the atom with #RBA",
        ),
        (
            "f(a?, b!) { #PR Synk(a; b) }",
            "1:17: no built-in component is called `Synk`; did you mean `sync`?; see the list of \
             built-in components",
        ),
        ("f(a?, b!) { #PR Sync(a; c) }", "1:25: `c` is no node of the atom; known here: a, b"),
    ] {
        let found = connector(text, "").map(|_| ());
        assert_eq!(found, Err(format!("t.treo:{error}")), "{text}");
    }
}

#[test]
fn settings_are_checked() {
    let text = "f<k:int, leg[1..n](?, !)>(a[1..k]) { }";
    for (settings, error) in [
        ("k=x", "--set k:1:1: `\"x\"` for `k` of `f` where a whole number should stand"),
        ("k=1 m=2", "--set m:1:1: nothing called `m` can be set in `f`; known here: k, leg, n"),
        ("k=(", "--set k:1:2: the end of the text where a value should stand"),
        (
            "k=1 n=3 leg=<sync>",
            "--set leg:1:1: `leg` has the words `leg[1..n]`, here are 1; give a list of another \
             length",
        ),
        ("k=1", "t.treo:1:1: `n` without a value; give --set n=VALUE"),
        ("k=1 n=1", "t.treo:1:1: `leg[1]` without a value; give --set leg[1]=VALUE"),
    ] {
        assert_eq!(connector(text, settings).map(|_| ()), Err(error.into()), "{settings}");
    }
    assert!(connector(text, "k=1 leg=<sync,fifo<2>>").is_ok());
    assert!(connector(text, "k=1 n=1 leg[1]=sync").is_ok());
    let source = Source::new("t.treo", text);
    let error = treo::connector(&source, &Shelf::default(), &TreoRequest::default().of("g"));
    let error = error.map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(error, Err("t.treo:1:1: `g` is no component of this file; known here: f".into()));
}

#[test]
fn imported_files_have_faults_of_their_own() {
    let mut shelf = Shelf::default();
    shelf.files.insert("/l/x/y.treo".into(), "y(a) {\n  sync(a, }".into());
    shelf.files.insert("/l/x/z.treo".into(), "other(a) { }".into());
    shelf.folders.push("/l".into());
    for (word, error) in [
        ("y", "/l/x/y.treo:2:11: `}` where a name should stand"),
        (
            "z",
            "/w/m.treo:1:8: `x.z` is in no file (25 tried); define it, or name its folder with \
             --library",
        ),
    ] {
        let text = format!("import x.{word};\nm(a) {{ {word}(a) }}");
        let found =
            treo::connector(&Source::new("/w/m.treo", &text), &shelf, &TreoRequest::default());
        assert_eq!(found.map(|_| ()).map_err(|e| e.to_string()), Err(error.into()));
    }
}

/// Texts that ask for too much end soon, with the limit that they pass.
#[test]
fn hostile_texts_end_in_limits() {
    let nested =
        |open: &str, close: &str, k: usize| format!("{}{}", open.repeat(k), close.repeat(k));
    let doubling: String =
        (0..90).map(|k| format!("f{k}(a) {{ f{0}(a) f{0}(a) }} ", k + 1)).collect::<String>();
    let rules: String = (1..=13).map(|k| format!("{{a[{k}]}} ")).collect();
    let cells: String = (1..=13).map(|k| format!("{{a[{k}], ~b}} $m{k}' = a[{k}] ")).collect();
    let writers = "f(b) { { sync(a[i], b) | i : <1..5000> } }";
    let cases = [
        (
            "f(a) { { sync(a, a) | i : <1..1000000000> } }".to_owned(),
            "more than 100000 values in one range",
        ),
        ("f(a[1..9223372036854775807]) { }".into(), "more than 100000 values in one range"),
        ("f(a) { sync(a[1..1000][1..1000], b) }".into(), "more than 100000 values in one range"),
        (
            "f(a) { { { | i : <1..90000> } | j : <1..90000> } }".into(),
            "more than 2000000 pieces of work",
        ),
        (
            "f(a, b) { { { sync(a, x[i]) | i : <1..90000> } | j : <1..2> } }".into(),
            "more than 100000 parts",
        ),
        ("f(a) { f(a) }".into(), "more than 200 components in components"),
        ("f(a) { g(a) } g(a) { f(a) }".into(), "more than 200 components in components"),
        ("h<x>(a) { x<x>(a) } f(a) { h<f>(a) }".into(), "has 0 parameters, here are 1"),
        ("f<x>(a) { x<x>(a) } m(a) { f<f>(a) }".into(), "more than 200 components in components"),
        (format!("{doubling} f90(a) {{ }} m(a) {{ f0(a) }}"), "more than 2000000 pieces of work"),
        (format!("f(a) {{ {} }}", nested("{", "}", 70)), "nested deeper than 64"),
        (format!("f(a) {{ sync(a{}) }}", nested("[a", "]", 70)), "nested deeper than 64"),
        (format!("f(a) {{ sync(a[{}], b) }}", nested("(", ")", 70)), "nested deeper than 64"),
        (format!("f(a) {{ sync(a[{}1], b) }}", "-".repeat(300)), "nested deeper than 64"),
        (format!("f(a) {{ sync(a[1{}], b) }}", "+1".repeat(300)), "nested deeper than 64"),
        (
            format!("f(a) {{ | {} i = 1 }}", "i = 1, ".repeat(300)),
            "more than 200 components in components",
        ),
        (
            format!("f(a[1..13]?) {{ #RBA {rules} }}"),
            "more than 4096 ways in which rules fire together",
        ),
        (
            format!("f(a[1..13]?, b?) {{ #RBA {cells} }}"),
            "more than 4096 ways in which rules fire together",
        ),
        (writers.into(), "more than 4096 ends that write to one node"),
        ("f(a[1..5000]?) { #RBA {a[1]} }".into(), "more than 4096 nodes of one atom"),
        (
            "f(a, b) { { fifo<256>(a, b) | i : <1..90000> } }".into(),
            "more than 67108864 words of 64 bits",
        ),
        (
            "f(a, b) { { timer<100000>(a, b) | i : <1..90000> } }".into(),
            "more than 67108864 words of 64 bits",
        ),
        (
            "f(a, b) { timer<4000000000>(a, b) }".into(),
            "`timer` takes a whole number from 1 to 100000",
        ),
    ];
    for (text, part) in cases {
        let started = Instant::now();
        let error = connector(&text, "").map(|_| ()).expect_err("a limit");
        assert!(error.contains(part), "{error}\n{part}");
        assert!(started.elapsed() < Duration::from_secs(20), "{part}: {:?}", started.elapsed());
    }
}

#[test]
fn imports_in_a_cycle_are_no_fault() {
    let mut shelf = Shelf::default();
    shelf
        .files
        .insert("/l/a.treo".into(), "import b; a(x, y) { b(x, y) } c(x, y) { sync(x, y) }".into());
    shelf
        .files
        .insert("/l/b.treo".into(), "import a; b(x, y) { sync(x, y) } d(x, y) { a(x, y) }".into());
    let source = Source::new("/l/m.treo", "import a; m(x, y) { a(x, y) }");
    let found = treo::connector(&source, &shelf, &TreoRequest::default());
    assert_eq!(found.map(|c| c.parts.len()), Ok(1));
    shelf.files.insert("/l/b.treo".into(), "import a; b(x, y) { a(x, y) }".into());
    let found = treo::connector(&source, &shelf, &TreoRequest::default());
    let error = found.map(|_| ()).map_err(|e| e.to_string()).expect_err("endless");
    assert!(error.contains("more than 200 components in components"), "{error}");
}
