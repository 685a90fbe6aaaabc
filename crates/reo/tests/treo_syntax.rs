//! The syntax of Treo beyond what its own library uses.

use crate::connectors::{Disk, connector, request};

use tickbound_reo::connector::Connector;
use tickbound_reo::syntax::Source;
use tickbound_reo::treo::{self, Shelf};

fn read(text: &str) -> Connector {
    connector(text, "").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The steps of the only part.
fn steps(text: &str) -> String {
    let read = read(text);
    let [part] = read.parts.as_slice() else { panic!("{} parts: {text}", read.parts.len()) };
    part.automaton.text(&read.symbols)
}

/// The kinds of the parts, and the nodes that the environment sees.
fn parts(text: &str) -> String {
    let read = read(text);
    let kinds: Vec<&str> = read.parts.iter().map(|p| p.kind.as_str()).collect();
    let seen: Vec<&str> = read.interface.iter().map(|n| read.symbols.word(n.0)).collect();
    format!("{} | {}", kinds.join(" "), seen.join(" "))
}

const FIFO: &str = "0 {a} a = $m' -> 1\n1 {b} b = $m -> 0\n";

#[test]
fn an_asterisk_is_null() {
    let rules = |text: &str| steps(&format!("f(a?, b!) {{ #RBA {text} }}")).replace("$f.1/", "$");
    assert_eq!(rules("$m=*; {a} $m = *, $m' = a {b} $m != *, b = $m, $m' = *"), FIFO);
    assert_eq!(rules("$m=null {a} $m = null, $m' = a {b} b = $m, $m' = null"), FIFO);
}

#[test]
fn nodes_that_are_null_do_not_fire() {
    let rules = |text: &str| steps(&format!("f(a?, b!) {{ #RBA {text} }}"));
    assert_eq!(rules("{} a != *, b = * "), "0 {a} true -> 0\n");
    assert_eq!(rules("{a} b = * {b} a = null"), "0 {a} true -> 0\n0 {b} true -> 0\n");
    assert_eq!(rules("{a} a = null"), "");
    assert_eq!(rules("{a, b} a = b {a} b = *"), "0 {a} true -> 0\n0 {a, b} a = b -> 0\n");
}

#[test]
fn the_datum_of_a_node_that_does_not_fire_is_null() {
    let rules = |text: &str| steps(&format!("f(a?, b!) {{ #RBA {text} }}"));
    for fifo in [
        "$m = null; b = *, a != *, $m = b, $m' = a  b != *, a = *, $m = b, $m' = a",
        "$m = null; $m = b, $m' = a, a != *, b = *  $m' = a, $m = b, a = *, b != *",
        "$m = null; {a, ~b} $m = b, $m' = a  {~a, b} $m = b, $m' = a",
        "$m = null; {a} b = $m, * = b, $m' = a  {b} a = null, $m = b, a = $m'",
        "$m = null; {a} !(b != *), $m = b, $m' = a  {b} a = *, $m = b, $m' = a",
    ] {
        assert_eq!(rules(fifo), FIFO, "{fifo}");
    }
    // One node tells of the next.
    let three = "f(a?, b!, c!) { #RBA a = *, b = a, c = b, $m = c, $m' = 1 }";
    assert_eq!(steps(three), "0 {} true -> 1\n");
    // A function needs the datum.
    assert_eq!(rules("P(b), b = *, a != *"), "");
    let never = read("f(a?, b!) {\n #RBA {a} true {b} a != b, b = *, a = *\n}");
    let note = "t.treo:2:16: the rule never holds: a node in it fires and is null";
    assert_eq!(never.notes, [note]);
}

#[test]
fn main_is_preferred_and_interfaces_are_what_bodies_join() {
    assert_eq!(parts("main(a) { fifo1(a, b) } row<n>(a, b) { fifo<n>(a, b) }"), "fifo1 | a");
    assert_eq!(parts("t(a) { sync(a, b) } last(a, b) { fifo1(a, b) }"), "sync | a");
    let notes = |text: &str| read(text).notes;
    assert!(notes("f(a?, b!) { sync(a, b) }").is_empty());
    let told = notes("f(a!, b?) { sync(a, b) }");
    assert_eq!(told.len(), 2);
    assert!(told[0].contains("`a!`, but nothing in it writes to `a`"), "{told:?}");
    assert!(told[1].contains("`b?`, but nothing in it reads from `b`"), "{told:?}");
    let inner = notes("g(x, y) { sync(x, z) } f(a, b) { g(a, b) sync(a, b) }");
    assert_eq!(inner, ["nothing in `g` joins its nodes `y`"]);
    // An exercise.
    assert_eq!(parts("f(a, b) { }"), " | a b");
}

#[test]
fn an_import_means_the_file_that_fits_its_use() {
    let shelf = |near: &str, far: &str| {
        let file = |at: &str, text: &str| (at.to_owned(), format!("section box; {text}"));
        let files = [file("box/held.pr.treo", near), file("far/box/held.treo", far)];
        Shelf { files: files.into_iter().collect(), folders: vec!["far".into()] }
    };
    let near = "held<v:int>(a?, b!) { #PR FifoFull[v](a; b) }";
    let kind = |text: &str, shelf: &Shelf| {
        let source = Source::new("t.treo", text);
        let read = treo::connector(&source, shelf, &request("")).map_err(|e| e.to_string());
        read.map(|c| c.parts.iter().map(|p| p.automaton.states()).sum::<usize>())
    };
    let held = |use_: &str| format!("import box.held; f(a, b) {{ {use_} }}");
    let far = shelf(near, "held<v:String>(a?, b!) { fifo1(a, x) fifofull<v>(x, b) }");
    assert_eq!(kind(&held("held<\"x\">(a, b)"), &far), Ok(4));
    assert_eq!(kind(&held("held<1>(a, b)"), &far), Ok(2));
    let nodes = shelf(near, "held(a?, b!, c!) { sync(a, b) sync(a, c) }");
    assert_eq!(kind(&held("held(a, b, c)"), &nodes), Ok(2));
    // As an argument, and where none fits: the first one's fault.
    let passed = "g<c(p?, q!)>(x, y) { c<\"x\">(x, y) } ";
    let both = format!("import box.held; {passed} f(a, b) {{ g<held>(a, b) }}");
    assert_eq!(kind(&both, &far), Ok(4));
    let none = kind(&held("held<\"x\">(a, b)"), &nodes).unwrap_err();
    assert!(
        none.ends_with("`\"x\"` for `v` of `held` where a whole number should stand"),
        "{none}"
    );
    // The built-in component stands behind all files.
    let file = "section reo; fifofull<k:int>(a?, b!) { #PR FifoFull[k](a; b) }".to_owned();
    let files = [("reo/fifofull.pr.treo".to_owned(), file)];
    let beside = Shelf { files: files.into_iter().collect(), folders: Vec::new() };
    let full = "import reo.fifofull; f(a, b) { fifofull<\"0\">(a, b) }";
    assert_eq!(kind(full, &beside), Ok(2));
}

#[test]
fn rules_need_no_braces() {
    let rules = |text: &str| steps(&format!("f(a?, b!) {{ #RBA {text} }}"));
    let fifo = "$m = *;
        $m = *, $m' = a, b = *
        b = $m, $m' = *, a = *";
    assert_eq!(rules(fifo), FIFO);
    let semicolons = "$m = *; $m = *, $m' = a, b = *; b = $m, $m' = *, a = *;";
    assert_eq!(rules(semicolons), FIFO);
    assert_eq!(rules("a = b"), "0 {a, b} a = b -> 0\n");
    assert_eq!(rules("P(a), b = *"), "0 {a} P(a) -> 0\n");
}

#[test]
fn rules_that_never_hold_are_gone_and_cases_are_steps() {
    let rules = |text: &str| steps(&format!("f(a?) {{ #RBA {text} }}"));
    assert_eq!(rules("{a} false"), "");
    assert_eq!(rules("{a} false | P(a)"), "0 {a} P(a) -> 0\n");
    assert_eq!(rules("{a} P(a) || Q(a)"), "0 {a} P(a) -> 0\n0 {a} Q(a) -> 0\n");
    assert_eq!(
        rules("{a} P(a) | Q(a), a != 1"),
        "0 {a} 1 != a & P(a) -> 0\n0 {a} 1 != a & Q(a) -> 0\n"
    );
    assert_eq!(rules("{a} !(P(a) & Q(a))"), "0 {a} !P(a) -> 0\n0 {a} !Q(a) -> 0\n");
}

#[test]
fn integers_are_worked_out_where_they_are_known() {
    let rules = |text: &str| steps(&format!("f(a?, b!) {{ #RBA {{a, b}} {text} }}"));
    assert_eq!(rules("b = 1 + 2 * 3"), "0 {a, b} 7 = b -> 0\n");
    assert_eq!(rules("b = a + 1 - (2 - 1)"), "0 {a, b} b = (a + 1) - 1 -> 0\n");
    assert_eq!(rules("b = -a % 3"), "0 {a, b} b = (-a) % 3 -> 0\n");
    let text = "g(a?, b!) { f<2>(a, b) } f<k:int>(a?, b!) { #RBA {a, b} b = k * k }";
    let read = connector(&format!("{text} main(a, b) {{ g(a, b) }}"), "");
    let read = read.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.parts[0].automaton.text(&read.symbols), "0 {a, b} 4 = b -> 0\n");
}

#[test]
fn numbers_and_texts_print_as_they_were_written() {
    let rules = |text: &str| steps(&format!("f(a?) {{ #RBA {{a}} {text} }}"));
    assert_eq!(rules("a = \"1\""), "0 {a} \"1\" = a -> 0\n");
    assert_eq!(rules("a = 1"), "0 {a} 1 = a -> 0\n");
    assert_eq!(rules("a = -1.5"), "0 {a} -1.5 = a -> 0\n");
    let held = |text: &str| {
        let read = read(text);
        let contents = read.parts[0].automaton.contents()[0].1;
        read.symbols.word(contents).to_owned()
    };
    assert_eq!(held("f(a, b) { fifofull<\"0\">(a, b) }"), "\"0\"");
    assert_eq!(held("f(a, b) { fifofull<0>(a, b) }"), "0");
}

#[test]
fn components_are_defined_where_they_are_used() {
    for text in [
        "main(a, b) { leg(a, m) leg(m, b) | leg(x?, y!) { fifo1(x, y) } }",
        "main(a, b) { leg(a, m) leg(m, b) | leg = (x?, y!) { fifo1(x, y) } }",
        "main(a, b) { leg(x?, y!) { fifo1(x, y) } leg(a, m) leg(m, b) }",
        "main(a, b) { leg = (x, y) { fifo1(x, y) } leg(a, m) leg(m, b) }",
        "main(a, b) { { leg(a, m) } leg(m, b) | leg(x, y) { fifo1(x, y) } }",
    ] {
        assert_eq!(parts(text), "fifo1 fifo1 | a b", "{text}");
    }
    let sized = "main(a, b) {
        run<k:int>(p[0]?, p[k]!) { { fifo1(p[i], p[i+1]) | i : <0..k-1> } }
        run<2>(a, m) run<3>(m, b)
    }";
    assert_eq!(parts(sized), "fifo1 fifo1 fifo1 fifo1 fifo1 | a b");
    let nested = "main(a, b) {
        outer(a, b)
      |
        inner(x?, y!) { sync(x, y) },
        outer(x?, y!) { inner(x, m) inner(m, y) }
    }";
    assert_eq!(parts(nested), "sync sync | a b");
    // Words of the block around are known, unless the signature has words of that name.
    let words = "main(a[1..2], b[1..2]) {
        { leg(a[i], b[i]) leg2<7>(b[i], c[i])
          | i : <1..2>, leg(x?, y!) { fifofull<i>(x, y) }, leg2<i>(x?, y!) { fifofull<i>(x, y) } }
    }";
    let read = read(words);
    let held = |part: &tickbound_reo::connector::ConnectorPart| {
        read.symbols.word(part.automaton.contents()[0].1).to_owned()
    };
    let full = read.parts.iter().filter(|p| p.kind == "fifofull").map(held);
    assert_eq!(full.collect::<Vec<_>>(), ["1", "7", "2", "7"]);
    // A block behind an instance is no definition.
    assert_eq!(parts("main(a, b) { sync(a, m) { sync(m, b) } }"), "sync sync | a b");
}

#[test]
fn operators_between_parts_say_nothing_here() {
    for sign in ["*", "+", ";"] {
        let text = format!("main(a, b) {{ sync(a, m) {sign} sync(m, n) {sign} sync(n, b) }}");
        assert_eq!(parts(&text), "sync sync sync | a b");
    }
}

#[test]
fn blocks_repeat_and_choose() {
    assert_eq!(
        parts("main(x[0], x[3]) { for i = 0 .. 2 { fifo1(x[i], x[i+1]) } }"),
        "fifo1 fifo1 fifo1 | x[0] x[3]"
    );
    let choice = |k: u32| {
        parts(&format!(
            "g<k:int>(a, b) {{ if k = 1 {{ sync(a, b) }} else k > 5 {{ fifo1(a, b) }} else {{ \
             lossy(a, b) }} }}
             main(a, b) {{ g<{k}>(a, b) }}"
        ))
    };
    assert_eq!([1, 3, 7].map(choice), ["sync | a b", "lossy | a b", "fifo1 | a b"]);
    let tests = |test: &str| {
        parts(&format!("main(a, b) {{ {{ sync(a, b) | i : <1..9>, {test} }} }}"))
            .matches("sync")
            .count()
    };
    assert_eq!(tests("i < 3 || i > 8"), 3);
    assert_eq!(tests("!(i < 3) && i != 4"), 6);
    assert_eq!(tests("(i > 2 -> i > 8)"), 3);
    assert_eq!(tests("true"), 9);
    assert_eq!(tests("false"), 0);
    assert_eq!(tests("(i + 1) * 2 = 6"), 1);
}

#[test]
fn types_are_passed_over() {
    let text = "main<k : $int>(a?int*(bool^int), b!String) { sync(a, b) }";
    let connector = connector(text, "k=1").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(connector.parts.len(), 1);
}

#[test]
fn names_tell_their_folders() {
    assert_eq!(parts("import reo.sync; main(a, b) { reo.sync(a, b) }"), "sync | a b");
    assert_eq!(parts("main(a, b) { reo.sync(a, b) }"), "sync | a b");
    let text = "main(a, b) { transformer<Function.parse>(a, b) }";
    assert_eq!(steps(text), "0 {a, b} b = Function.parse(a) -> 0\n");
    let mut shelf = Shelf::default();
    shelf.files.insert("/w/x/leg.treo".into(), "leg(a?, b!) { fifo1(a, b) }".into());
    let source = Source::new("/w/m.treo", "import x.leg; m(a, b) { x.leg(a, b) }");
    let found = treo::connector(&source, &shelf, &request(""));
    assert_eq!(found.map(|c| c.parts.len()), Ok(1));
}

#[test]
fn foreign_code_keeps_its_nodes_visible() {
    let rules = "{a} true";
    for text in [
        format!("red(a!) {{ #RBA {rules} #JAVA \"Red\" }}"),
        format!("red(a!) {{ #JAVA \"Red\" #RBA {rules} }}"),
        format!("red(a!) {{ #RBA {rules} | Java:\"Red\" }}"),
        format!("red(a!) {{ Java : \"Red\" #RBA {rules} }}"),
    ] {
        let text = format!("main() {{ red(x) sync(x, y) }} {text}");
        let source = Source::new("main.treo", &text);
        let read = treo::connector(&source, &Disk(Vec::new()), &request(""));
        let read = read.unwrap_or_else(|e| panic!("{e}\n{text}"));
        let kinds: Vec<&str> = read.parts.iter().map(|p| p.kind.as_str()).collect();
        assert_eq!(kinds, ["red", "sync"], "{text}");
        let seen: Vec<&str> = read.interface.iter().map(|n| read.symbols.word(n.0)).collect();
        assert_eq!(seen, ["x"], "{text}");
        let note =
            "`red` has foreign code (#JAVA); what it does more at `x` is left to the environment";
        assert_eq!(read.notes, [note], "{text}");
    }
    let two = "red(a!) { #RBA {a} true #JAVA \"Red\" } main() { red(x) red(x) }";
    assert_eq!(parts(two), "sync red sync merger red | red.1/a red.2/a");
    let alone = "red(a!) { C11:\"red\" } main() { red(x) sync(x, y) }";
    assert_eq!(parts(alone), "sync | x");
    let primitive = "g(a?, b!) { #PR Sync(a; b) #C \"g\" } main() { g(x, y) sync(y, z) }";
    assert_eq!(parts(primitive), "g sync | x y");
}

#[test]
fn all_kinds_of_bodies_are_read() {
    for text in [
        "f(a?, b!) { #RBA $m = null; {a, ~b} $m = null, $m' = a b = $m, $m' = null, a = null }",
        "f(a?) { #RBA {a} P(a) | Q(a) {a} a = (b + 1) * 2 }",
        "f(a?) { #RBA {a} true #JAVA \"x\" }",
        "f(a, b) { leg(x?, y!) { sync(x, y) } leg(a, b) | i : <1..2>, g = (z) { h(z) } }",
        "f(a, b) { for i = 1 .. 2 { sync(a, b) } if i = 1 || i > 3 { g(a) } else { h(a) } }",
        "f(a, b) { g(a) | !(a = 1 -> b < 2), true }",
        "f(a?int*x, b) { a.b.c<d.e>(a, b) }",
    ] {
        let source = Source::new("t.treo", text);
        treo::parse(&source).unwrap_or_else(|e| panic!("{e}"));
    }
}
