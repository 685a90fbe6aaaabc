//! What atoms come to: rules with cells, automata, primitives.

use crate::connectors;

use connectors::{connector, steps};

/// Rules, and the automaton they come to.
#[test]
fn rules_become_automata() {
    for (about, body, expected) in [
        (
            "a cell that data are put into: empty or full",
            "{a, ~b} $m = null, $m' = a  {~a, b} $m != null, b = $m, $m' = null",
            "0 {a} a = $m' -> 1\n1 {b} b = $m -> 0\n",
        ),
        (
            "full at the start",
            "$m = \"x\"; {a, ~b} $m = null, $m' = a  {~a, b} $m != null, b = $m, $m' = null",
            "0 {b} b = $m -> 1\n1 {a} a = $m' -> 0\n",
        ),
        (
            "a cell that only constants are put into: one state each",
            "$q = 0; {a, ~b} $q = 0, $q' = 1  {~a, b} $q = 1, $q' = 0, b = $q",
            "0 {a} true -> 1\n1 {b} 1 = b -> 0\n",
        ),
        (
            "a cell that is tested and not changed keeps what it holds",
            "{a, ~b} $m' = a  {~a, b} $m != null, b = $m",
            "0 {a} a = $m' -> 1\n1 {a} a = $m' -> 1\n1 {b} b = $m -> 1\n",
        ),
        ("an empty cell has no datum to give", "{~a, b} b = $m", ""),
        (
            "comparisons of data stay",
            "{a, ~b} $m != a, $m' = a, !P(a)  {~a, b} $m = \"x\", b = f($m, 3)",
            "0 {a} a = $m' & !P(a) -> 1\n1 {a} a = $m' & a != $m & !P(a) -> 1\n1 {b} \"x\" = $m & \
             b = f($m, 3) -> 1\n",
        ),
        (
            "the order of data; of integers it is known",
            "$q = 3; {a, ~b} a < $q  {~a, b} b >= 1, b > 2, 1 <= 1  {a, b} $q < 3",
            "0 {a} a < 3 -> 0\n0 {b} b >= 1 & 2 < b -> 0\n",
        ),
        (
            "a cell of which only is said that it is full holds anything",
            "{a, ~b} $m' != null  {~a, b} b = $m, $m' = null",
            "0 {a} $m' = _0 -> 1\n1 {a} $m' = _0 -> 1\n1 {b} b = $m -> 0\n",
        ),
        (
            "one cell goes into another",
            "{a, ~b} $m' = a, $n' = $m  {~a, b} b = $n",
            "0 {a} a = $m' -> 1\n1 {a} a = $m' & $m = $n' -> 2\n2 {a} a = $m' & $m = $n' -> 2\n2 \
             {b} b = $n -> 2\n",
        ),
        ("a datum is never null", "{a} a = null  {b} b != null", "0 {b} true -> 0\n"),
        (
            "names that a rule does not mention are free: rules fire together",
            "{a} P(a)  {b} Q(b)",
            "0 {a} P(a) -> 0\n0 {b} Q(b) -> 0\n0 {a, b} P(a) & Q(b) -> 0\n",
        ),
        (
            "what names no node is a silent step, taken alone",
            "{a} $m' = a  {} $m != null, $m' = null",
            "0 {a} a = $m' -> 1\n1 {} true -> 0\n1 {a} a = $m' -> 1\n",
        ),
        (
            "brackets, & and ! before a comparison",
            "{a, b} !(a = b) & (P(a) & true)",
            "0 {a, b} a != b & P(a) -> 0\n",
        ),
        ("no rules", "", ""),
    ] {
        let text = format!("f(a?, b!) {{ #RBA {body} }}");
        assert_eq!(steps(&text, ""), expected, "{about}");
    }
}

#[test]
fn parameters_are_constants_predicates_and_functions() {
    let text =
        "f<P:string, k, g>(a[1..n]?, b!) { #RBA {a[1..n], b} P(a[1], k), b = g(a[2], \"k\") }";
    let expected = "0 {a[1], a[2], b} b = pair(a[2], \"k\") & even(a[1], 7) -> 0\n";
    assert_eq!(steps(text, "n=2 P=even k=7 g=pair"), expected);
}

#[test]
fn contents_are_told_where_data_can_be() {
    let full = "f(a?, b!) { #RBA $m = \"x\"; {a, ~b} $m' = a {~a, b} b = $m }";
    let connector = connector(full, "").unwrap_or_else(|e| panic!("{e}"));
    let automaton = &connector.parts[0].automaton;
    let contents = automaton.contents().iter();
    let word = |s| connector.symbols.word(s);
    let contents: Vec<_> = contents.map(|(c, held)| (word(c.0), word(*held))).collect();
    assert_eq!(contents, [("m", "x")]);
}

#[test]
fn automata_and_primitives_are_read() {
    for (body, expected) in [
        ("#WA q0* -> q1 : {a}, true, {} q1 -> q0 : {b}", "0 {a} true -> 1\n1 {b} true -> 0\n"),
        ("#SCA q1 -> q0 : {b} q0 : initial q0 -> q1 : {a}", "0 {b} true -> 1\n1 {a} true -> 0\n"),
        ("#PR LossySync(a; b)", "0 {a} true -> 0\n0 {a, b} a = b -> 0\n"),
        ("#PR Sync[1](a; b)", "0 {a, b} a = b -> 0\n"),
        ("#PR FifoFull[\"x\"](a; b)", "0 {a} a = $m' -> 1\n1 {b} b = $m -> 0\n"),
        ("#PR Transformer[\"inc\"](a; b)", "0 {a, b} b = inc(a) -> 0\n"),
        ("#PROMELA \"x {\" { y } #JAVA z #RBA {a, b} #WA", "0 {a, b} true -> 0\n"),
    ] {
        let text = format!("f(a?, b!) {{ {body} }}");
        assert_eq!(steps(&text, ""), expected, "{body}");
    }
}

#[test]
fn timers_share_the_tick() {
    let text = "f(a, b, c) { timer<2>(a, b) timer<1>(b, c) }";
    let connector = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
    let seen = connector.interface.iter().map(|n| connector.symbols.word(n.0));
    assert_eq!(seen.collect::<Vec<_>>(), ["a", "b", "c", "tick"]);
    assert_eq!(connector.notes, ["timers share the node `tick`, which fires when time passes"]);
}

#[test]
fn sizes_follow_from_the_nodes() {
    let text = "
        f(a[1..n], b, c[2..m], d[1..m-1]) { { sync(a[i], b) | i : <1..n> } sync(c[2], d[1]) }
        main1(x[1..5]) { f(x[1..2], x[3], x[4..4], x[5]) }
        main2(x[1..4]) { g(x[1..4]) }
        g(p[1..k], q[1..k]) { { sync(p[i], q[i]) | i : <1..k> } }
        main3(x[1..2][1..2]) { g(x[1..2][1..2]) { sync(x[i][j], x[j][i]) | i : <1..2>, j : \
        <1..2>, i < j } }
        main4(x, y) { h<<sync, fifo1>>(x, y) }
        h<leg[1..n](?, !)>(a, b) { leg[1](a, m[1]) leg[n](m[1], b) }
        main5(x, y) { h<sync, fifo<2>>(x, y) }";
    for (component, kinds) in [
        ("main1", "sync sync merger sync"),
        ("main2", "sync sync"),
        ("main3", "sync sync sync merger"),
        ("main4", "sync fifo1"),
        ("main5", "sync fifo"),
    ] {
        let source = tickbound_reo::syntax::Source::new("t.treo", text);
        let request = connectors::request("").of(component);
        let read = tickbound_reo::treo::connector(&source, &connectors::Disk(Vec::new()), &request);
        let read = read.unwrap_or_else(|e| panic!("{e}"));
        let found: Vec<&str> = read.parts.iter().map(|p| p.kind.as_str()).collect();
        assert_eq!(found.join(" "), kinds, "{component}");
    }
}

/// What the writer of Treo writes of a composed connector is the same automaton again.
#[test]
fn written_automata_read_back() {
    use tickbound_reo::export::{ExportSubject, Format, write};
    for (text, settings) in [
        ("f(a?, b!) { fifo1(a, m) fifo1(m, n) fifo1(n, b) }", ""),
        (
            "f(p[1..n]?, b!) { { sync(p[i], b) syncdrain(p[i], t) | i : <1..n> } fifofull<0>(b, t) \
             }",
            "n=3",
        ),
        (
            "f(p[1..n]?, x[1]!) { sync(p[1], x[1]) \
             { syncdrain(p[i-1], p[i]) sync(p[i], x[i]) fifo1(x[i], x[i-1]) | i : <2..n> } }",
            "n=6",
        ),
        ("f(a?, b!, c!) { filter<\"even\">(a, m) router(m, b, c) }", ""),
    ] {
        let read = connector(text, settings).unwrap_or_else(|e| panic!("{e}"));
        let whole = connectors::composed(&read);
        let inputs = read.inputs();
        let subject = ExportSubject {
            name: "f",
            automaton: &whole,
            symbols: &read.symbols,
            inputs: &inputs,
            interface: whole.alphabet(),
        };
        let written = write(subject, Format::Treo).unwrap_or_else(|e| panic!("{e}"));
        let again = connector(&written, "").unwrap_or_else(|e| panic!("{e}\n{written}"));
        let automaton = &again.parts[0].automaton;
        assert_eq!(automaton.states(), whole.states(), "{written}");
        assert_eq!(automaton.transitions(), whole.transitions(), "{written}");
    }
}
