//! `.reo` files of the Extensible Coordination Tools.

use tickbound_reo::connector::Connector;
use tickbound_reo::ect;
use tickbound_reo::syntax::Source;

use crate::connectors::composed;

fn read(text: &str) -> Result<Connector, String> {
    ect::connector(&Source::new("f.reo", text), None).map_err(|e| e.to_string())
}

/// A module with these nodes (name and type) and channels: type with attributes, nodes that it
/// reads, nodes that it writes.
fn module(nodes: &[(&str, &str)], channels: &[(&str, &[usize], &[usize])]) -> String {
    let node = |(name, kind): &(&str, &str)| format!("<nodes name=\"{name}\" {kind}/>");
    let end = |what: &str, at: &usize| {
        format!("<{what} xsi:type=\"reo:End\" node=\"//@connectors.0/@nodes.{at}\"/>")
    };
    let channel = |(kind, reads, writes): &(&str, &[usize], &[usize])| {
        let reads: String = reads.iter().map(|at| end("sourceEnds", at)).collect();
        let writes: String = writes.iter().map(|at| end("sinkEnds", at)).collect();
        let (class, rest) = kind.split_once(' ').unwrap_or((kind, ""));
        format!("<primitives xsi:type=\"channels:{class}\" {rest}>{reads}{writes}</primitives>\n")
    };
    format!(
        "<?xml version=\"1.0\"?>\n<reo:Module xmlns:reo=\"http://www.cwi.nl/reo\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><connectors \
         name=\"c\">\n{}\n{}</connectors></reo:Module>\n",
        nodes.iter().map(node).collect::<String>(),
        channels.iter().map(channel).collect::<String>()
    )
}

/// The steps of a module's connector as a whole.
fn steps(text: &str) -> Vec<String> {
    let connector = read(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    composed(&connector).text(&connector.symbols).lines().map(str::to_owned).collect()
}

const AB: [(&str, &str); 2] = [("a", ""), ("b", "")];

#[test]
fn every_channel() {
    let one = |kind: &str, reads: &[usize], writes: &[usize]| {
        steps(&module(&AB, &[(kind, reads, writes)]))
    };
    assert_eq!(one("Sync", &[0], &[1]), ["0 {a, b} a = b -> 0"]);
    assert_eq!(one("LossySync", &[0], &[1]).len(), 2);
    assert_eq!(one("SyncDrain", &[0, 1], &[]), ["0 {a, b} true -> 0"]);
    assert_eq!(one("AsyncDrain", &[0, 1], &[]), ["0 {a} true -> 0", "0 {b} true -> 0"]);
    assert_eq!(one("SyncSpout", &[], &[0, 1]), ["0 {a, b} true -> 0"]);
    assert_eq!(one("AsyncSpout", &[], &[0, 1]).len(), 2);
    assert_eq!(
        one("FIFO", &[0], &[1]),
        ["0 {a} a = $fifo1.1/m' -> 1", "1 {b} b = $fifo1.1/m -> 0"]
    );
    let filter = one("Filter expression=\"cheap\"", &[0], &[1]);
    assert_eq!(filter, ["0 {a} !cheap(a) -> 0", "0 {a, b} a = b & cheap(a) -> 0"]);
    assert_eq!(one("Transform expression=\"f\"", &[0], &[1]), ["0 {a, b} b = f(a) -> 0"]);
    assert_eq!(one("LossyFIFO", &[0], &[1]).len(), 3);
    assert!(one("LossyFIFO shift=\"true\"", &[0], &[1])[1].contains("$shiftlossyfifo1.1/m'"));
    assert_eq!(one("Timer timeout=\"2\"", &[0], &[1]).len(), 5);
}

#[test]
fn contents_of_full_buffers() {
    let held = |text: &str| {
        let connector = read(&module(&AB, &[(text, &[0], &[1])])).unwrap();
        let automaton = &connector.parts[0].automaton;
        let held =
            automaton.contents().iter().map(|(_, held)| connector.symbols.word(*held).to_owned());
        (automaton.initial().to_vec(), held.collect::<Vec<_>>())
    };
    assert_eq!(
        held("FIFO full=\"true\" initialValue=\"x &lt; &#121;\""),
        (vec![1], vec!["x < y".to_owned()])
    );
    assert_eq!(held("FIFO full=\"true\""), (vec![1], vec![]));
    assert_eq!(held("FIFO full=\"false\" initialValue=\"x\""), (vec![0], vec![]));
}

#[test]
fn nodes_merge_route_and_join() {
    let channels: [(&str, &[usize], &[usize]); 4] =
        [("Sync", &[0], &[2]), ("Sync", &[1], &[2]), ("Sync", &[2], &[3]), ("Sync", &[2], &[4])];
    let seen = |kind: &str| {
        let connector =
            read(&module(&[("a", ""), ("b", ""), ("m", kind), ("c", ""), ("d", "")], &channels))
                .unwrap();
        let words = |names: &[tickbound_reo::symbol::NameId]| {
            names.iter().map(|n| connector.symbols.word(n.0).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words(&connector.interface), ["a", "b", "c", "d"]);
        let whole = composed(&connector);
        let outer = |step: tickbound_reo::automaton::Transition<'_>| {
            let fired: Vec<_> =
                whole.fires(&step).filter(|n| connector.interface.contains(n)).collect();
            words(&fired).concat()
        };
        let mut steps: Vec<String> = whole.all_steps().map(outer).collect();
        steps.sort();
        steps
    };
    assert_eq!(seen(""), ["acd", "bcd"]);
    assert_eq!(seen("type=\"REPLICATE\""), ["acd", "bcd"]);
    assert_eq!(seen("type=\"ROUTE\""), ["ac", "ad", "bc", "bd"]);
    assert_eq!(seen("type=\"JOIN\""), ["abcd"]);
}

#[test]
fn references_by_marks_and_components() {
    let text = include_str!("../../../tests/corpus/reo/marked.reo");
    let two = read(text).unwrap();
    let seen: Vec<&str> = two.interface.iter().map(|n| two.symbols.word(n.0)).collect();
    // What a component reads the environment sees, and the timer's clock.
    assert_eq!((two.name.as_str(), seen), ("two", vec!["n0", "n1", "tick"]));
    let kinds: Vec<&str> = two.parts.iter().map(|p| p.kind.as_str()).collect();
    assert_eq!(kinds, ["sync", "timer", "join"]);
    assert_eq!(two.circuit.len(), 4);
    let text = include_str!("../../../tests/corpus/reo/paths.reo");
    assert_eq!(composed(&read(text).unwrap()).states(), 4);
}

#[test]
fn refused() {
    let module =
        |kind: &str, reads: &[usize], writes: &[usize]| module(&AB, &[(kind, reads, writes)]);
    let cases: [(String, &str); 16] = [
        (String::new(), "1:1: the document does not have a root node"),
        ("<a><b></a>".into(), "1:7: expected 'b' tag, not 'a'"),
        ("<a>".into(), "the root node was opened but never closed"),
        ("<a/\r>".into(), r"1:4: expected '>' not '\u{d}'"),
        ("<a/\n>".into(), r"1:4: expected '>' not '\n'"),
        ("<a x=\"1\" x=\"2\"/>".into(), "1:10: attribute 'x' is already defined"),
        ("<a x=\"&nbsp;\"/>".into(), "1:7: unknown entity reference 'nbsp'"),
        (
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>".into(),
            "a document type is not read; leave it out",
        ),
        ("<a/>".into(), "the file has no `connectors`"),
        (
            "<a><connectors name=\"x\"/><connectors name=\"y\"/></a>".into(),
            "the connectors `x`, `y`; give --component",
        ),
        (module("PrioritySync", &[0], &[1]), "`PrioritySync` is no channel that is read here"),
        (
            module("Sync", &[0], &[7]),
            "an end joins `//@connectors.0/@nodes.7`, which is no node here",
        ),
        (module("Sync", &[0, 1], &[]), "its ends point in other directions"),
        (module("Sync", &[0], &[]), "`sync` has 2 ends, here are 1"),
        (module("Filter", &[0], &[1]), "it has no `expression`"),
        (module("LossyFIFO full=\"true\"", &[0], &[1]), "a lossy FIFO that is full at the start"),
    ];
    for (text, error) in cases {
        let found = read(&text).unwrap_err();
        assert!(found.contains(error), "{found}: {error}");
        assert!(found.starts_with("f.reo:"), "{found}");
    }
    let deep = format!("{}{}", "<a>".repeat(70), "</a>".repeat(70));
    assert!(read(&deep).unwrap_err().contains("nested deeper than 64"));
}

/// Ends without a node are those that a node lists.
#[test]
fn ends_that_only_nodes_list() {
    let text = r#"<reo:Module xmlns:reo="http://www.cwi.nl/reo" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
      <connectors name="one">
      <nodes name="a" sourceEnds="//@connectors.0/@primitives.0/@sourceEnds.0"/>
      <nodes name="b" sinkEnds="//@connectors.0/@primitives.0/@sinkEnds.0"/>
      <primitives xmlns:c="http://www.cwi.nl/reo/channels" xsi:type="c:FIFO"><sourceEnds/><sinkEnds/></primitives>
      </connectors></reo:Module>"#;
    let one = ect::connector(&Source::new("one.reo", text), None).unwrap();
    assert_eq!(one.parts[0].kind, "fifo1");
    assert_eq!(one.interface.len(), 2);
}

/// Without a name, `main` is taken of several connectors.
#[test]
fn main_is_preferred() {
    let text =
        "<a><connectors name=\"x\"/><connectors name=\"main\"><nodes name=\"b\"/></connectors></a>";
    assert_eq!(ect::connector(&Source::new("two.reo", text), None).unwrap().name, "main");
    assert_eq!(ect::connector(&Source::new("two.reo", text), Some("x")).unwrap().name, "x");
}

#[test]
fn one_of_several_is_asked_for_by_name() {
    let both =
        "<a><connectors name=\"x\"/><connectors name=\"y\"><nodes name=\"b\"/></connectors></a>";
    let source = Source::new("f.reo", both);
    let y = ect::connector(&source, Some("y")).unwrap();
    assert_eq!((y.name.as_str(), y.interface.len()), ("y", 1));
    assert!(ect::connector(&source, Some("z")).is_err());
    // Of one name, or without any, the number tells.
    for (name, second) in [("name=\"x\"", "x.2"), ("", "connector.2")] {
        let same = both.replace("name=\"x\"", name).replace("name=\"y\"", name);
        let source = Source::new("f.reo", &same);
        let told = ect::connector(&source, None).unwrap_err().to_string();
        assert!(told.contains(&format!("`{second}`")), "{told}");
        let found =
            |name: &str| ect::connector(&source, Some(name)).map(|c| c.interface.len()).ok();
        assert_eq!(found(second), Some(1));
        assert_eq!(found(&second.replace('2', "1")), Some(0));
        assert_eq!(found(&second.replace('2', "3")), None);
    }
}

/// A FIFO from `a` to `b` and a sync to `d`, with `inside` in the connector and `beside` in the
/// module.
fn shop(inside: &str, beside: &str) -> String {
    let end = |way: &str, at: usize| format!("<{way} node=\"//@connectors.0/@nodes.{at}\"/>");
    let channel = |kind: &str, from, to| {
        let (from, to) = (end("sourceEnds", from), end("sinkEnds", to));
        format!("<primitives xsi:type=\"channels:{kind}\">{from}{to}</primitives>")
    };
    format!(
        "<reo:Module xmlns:reo=\"http://www.cwi.nl/reo\" \
         xmlns:channels=\"http://www.cwi.nl/reo/channels\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><connectors name=\"shop\">\
         <nodes name=\"a\"/><nodes name=\"b\"/><nodes \
         name=\"d\"/>{}{}{inside}</connectors>{beside}</reo:Module>",
        channel("FIFO", 0, 1),
        channel("Sync", 1, 2)
    )
}

fn seen(connector: &Connector) -> Vec<&str> {
    connector.interface.iter().map(|n| connector.symbols.word(n.0)).collect()
}

#[test]
fn channels_are_what_their_namespace_says() {
    let text = shop("", "");
    let expected = steps(&text);
    assert_eq!(expected, ["0 {a} a = $fifo1.1/m' -> 1", "1 {b, d} b = d & b = $fifo1.1/m -> 0"]);
    // Another prefix; the default namespace; declared at the primitive alone; not declared.
    let declared = " xmlns:channels=\"http://www.cwi.nl/reo/channels\"";
    let default = "<primitives xmlns=\"http://www.cwi.nl/reo/channels\" ";
    for same in [
        text.replace("channels:", "a.b:").replace("xmlns:channels", "xmlns:a.b"),
        text.replace("=\"channels:", "=\"").replace("<primitives ", default),
        text.replace(declared, "").replace("<primitives ", &format!("<primitives{declared} ")),
        text.replace(declared, ""),
    ] {
        assert_eq!(steps(&same), expected, "{same}");
    }
    let other = text.replace("http://www.cwi.nl/reo/channels", "http://example.org/channel");
    let told = read(&other).unwrap_err();
    assert!(told.contains("`FIFO` is of the namespace `http://example.org/channel`"), "{told}");
}

#[test]
fn components_are_left_to_the_environment_where_they_join() {
    let clerk = |tag: &str, ends: &[(&str, usize)]| {
        let node = |at: &usize| format!("node=\"//@connectors.0/@nodes.{at}\"");
        let ends: String = ends.iter().map(|(way, at)| format!("<{way} {}/>", node(at))).collect();
        format!("<{tag} xsi:type=\"reo:Component\" name=\"Clerk\">{ends}</{tag}>")
    };
    let writes = clerk("components", &[("sinkEnds", 1)]);
    let group = format!("<components name=\"Group\">{writes}</components>");
    for text in [
        shop(&clerk("primitives", &[("sinkEnds", 1)]), ""),
        shop(&writes, ""),
        shop("", &writes),
        shop("", &group),
    ] {
        let shop = read(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(seen(&shop), ["a", "d", "Clerk.3/b"], "{text}");
        // The buffer and the component compete for b.
        let whole = composed(&shop);
        assert_eq!((whole.states(), whole.transitions()), (2, 5));
        assert_eq!(shop.notes.len(), 1);
    }
    let reads = read(&shop("", &clerk("components", &[("sourceEnds", 1)]))).unwrap();
    assert_eq!(seen(&reads), ["a", "b", "d"]);
    // What joins nothing of the connector says nothing of it; what joins no node at all is refused.
    assert_eq!(read(&shop("", &clerk("components", &[]))).unwrap().notes.len(), 0);
    assert!(read(&shop("", &clerk("components", &[("sinkEnds", 7)]))).is_err());
}

/// A module of the automata editor: two buffers in a row, and one that keeps less than it could.
fn automata(conditions: &str) -> String {
    let ports = |names: &str| {
        let values: String = names.split(' ').map(|n| format!("<values>{n}</values>")).collect();
        format!(
            "<extensions xsi:type=\"portNames:AutomatonPortNames\" \
             id=\"org.ect.ea.extensions.automatonPortNames\">{values}</extensions>"
        )
    };
    let state = |name: &str, start: bool, cells: &str| {
        format!(
            "<states name=\"{name}\"><extensions id=\"e.startStates\" \
             value=\"{start}\"/><extensions id=\"e.stateMemory\">{cells}</extensions></states>"
        )
    };
    let step = |at: usize, from: usize, to: usize, names: &str, condition: &str| {
        let values: String = names.split(' ').map(|n| format!("<values>{n}</values>")).collect();
        let end = |state: usize| format!("/0/@automata.{at}/@states.{state}");
        format!(
            "<transitions source=\"{}\" target=\"{}\"><extensions \
             id=\"e.transitionPortNames\">{values}</extensions>{condition}</transitions>",
            end(from),
            end(to)
        )
    };
    let equation = |left: &str, right: &str| {
        format!(
            "<extensions xsi:type=\"constraints:Equation\" id=\"e.constraints\"><left \
             xsi:type=\"constraints:Element\" {left}/><right xsi:type=\"constraints:Element\" \
             {right}/></extensions>"
        )
    };
    let buffer = |at: usize, a: &str, b: &str| {
        let put = equation("value=\"m\" type=\"TARGET_MEMORY\"", &format!("value=\"{a}\""));
        let take = equation("value=\"m\" type=\"SOURCE_MEMORY\"", &format!("value=\"{b}\""));
        format!(
            "<automata name=\"FIFO\">{}{}{}{}{}</automata>",
            ports(&format!("{a} {b}")),
            state("q", true, ""),
            state("q", false, "<values>m</values>"),
            step(at, 0, 1, a, &put),
            step(at, 1, 0, b, &take)
        )
    };
    let third = format!(
        "<automata name=\"Third\">{}{}{}</automata>",
        ports("A C"),
        state("q", true, "<values>k</values><initializations key=\"k\" value=\"&quot;1&quot;\"/>"),
        step(2, 0, 0, "A C", conditions)
    );
    format!(
        "<?xml version=\"1.0\"?><xmi:XMI xmlns:xmi=\"http://www.omg.org/XMI\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:org.ect.ea.automata=\"http://www.cwi.nl/ea/automata\">\n<org.ect.ea.automata:Module>{}{}{third}</org.ect.ea.automata:Module>\n<diagram/></xmi:XMI>",
        buffer(0, "A", "B"),
        buffer(1, "B", "C")
    )
}

fn ea(text: &str, name: Option<&str>) -> Result<Connector, String> {
    ect::automata(&Source::new("f.ea", text), name).map_err(|e| e.to_string())
}

#[test]
fn automata_of_the_editor() {
    let text = automata("");
    let two = ea(&text, Some("FIFO")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((two.parts.len(), two.interface.len()), (2, 3));
    // Of several names one has to be given.
    assert!(ea(&text, None).unwrap_err().contains("give --component"));
    let same = text.replace("\"Third\"", "\"FIFO\"");
    assert_eq!(ea(&same, None).unwrap_or_else(|e| panic!("{e}")).parts.len(), 3);
    let whole = composed(&two);
    assert_eq!((whole.states(), whole.transitions()), (4, 6));
    assert_eq!(
        two.parts[1].automaton.text(&two.symbols),
        "0 {B} B = $FIFO.2/m' -> 1\n1 {C} C = $FIFO.2/m -> 0\n"
    );
    let condition = "<extensions xsi:type=\"constraints:Disjunction\" id=\"e.constraints\">\
        <members xsi:type=\"constraints:Conjunction\">\
        <members xsi:type=\"constraints:Predicate\" type=\"&lt;=\"><left \
        xsi:type=\"constraints:Element\" value=\"A\"/>\
        <right xsi:type=\"constraints:Element\" value=\"3\" type=\"INTEGER\"/></members>\
        <members xsi:type=\"constraints:Equation\"><left xsi:type=\"constraints:Element\" \
        value=\"C\"/>\
        <right xsi:type=\"constraints:Function\" value=\"f\"><parameters \
        xsi:type=\"constraints:Element\" value=\"A\"/>\
        <parameters xsi:type=\"constraints:Element\" value=\"1\" \
        type=\"STRING\"/></right></members></members>\
        <members xsi:type=\"constraints:Equation\"><left xsi:type=\"constraints:Element\" \
        value=\"C\"/>\
        <right xsi:type=\"constraints:Element\" value=\"?\" type=\"ARBITRARY\"/></members>\
        <members xsi:type=\"constraints:Literal\"/></extensions>\
        <extensions id=\"e.costValues\"/>";
    let third = ea(&automata(condition), Some("Third")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        third.parts[0].automaton.text(&third.symbols),
        "0 {A, C} C = _0 -> 0\n0 {A, C} C = f(A, \"1\") & 3 >= A -> 0\n"
    );
    assert_eq!(third.parts[0].automaton.contents().len(), 1);
    assert!(third.notes[0].ends_with("costs are left out"), "{:?}", third.notes);
}

#[test]
fn automata_that_are_refused() {
    for (from, to, error) in [
        ("", "", "the file has the automata `FIFO`, `Third`; give --component"),
        ("\"true\"", "\"false\"", "has no start state; mark one in the editor"),
        ("e.stateMemory", "e.colours", "the extension `colours` is not read here"),
        ("e.stateMemory", "e.clocks.guards", "about time: clocks are not read; say what waits"),
        ("constraints:Equation", "constraints:Maybe", "`Maybe` in a constraint is not read here"),
        ("@states.1", "@states.9", "which is no state of its automaton"),
        ("<values>B</values></extensions><states", "</extensions><states", "`B` is no name"),
        ("<right", "<wrong", "f.ea:"),
        ("<automata", "<automaton", "f.ea:"),
    ] {
        let name = (!from.is_empty()).then_some("FIFO");
        let read = ea(&automata("").replace(from, to), name);
        let fault = read.err().unwrap_or_default();
        assert!(fault.contains(error) && !fault.contains('\n'), "{from}: {fault}");
    }
    assert!(
        ea(&automata(""), Some("Fourth")).is_err_and(|e| e.contains("`Third`; give --component"))
    );
}
