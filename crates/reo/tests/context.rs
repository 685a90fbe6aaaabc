//! Context: the steps of connectors are those of their colourings with three colours, found by
//! trying all of them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::connector::Connector;
use tickbound_reo::context::in_context;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::symbol::NameId;

use crate::connectors::{connector, joined};
use crate::values;

/// A colour at the end of a channel: data flow; the channel gives a reason why not; the other side
/// has to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Flow,
    Gives,
    Asks,
}

use Colour::{Asks, Flow, Gives};

/// The colourings of a channel that holds something or not, and whether it does afterwards: the
/// tables of Clarke, Costa, Arbab 2006, without those that its flip rule adds.
fn table(kind: &str, ends: usize, full: bool) -> Vec<(Vec<Colour>, bool)> {
    let one = |at: usize, there: Colour, others: Colour| -> Vec<Colour> {
        (0..ends).map(|k| if k == at { there } else { others }).collect()
    };
    let rows: Vec<Vec<Colour>> = match kind {
        "lossy" => vec![vec![Flow, Flow], vec![Flow, Asks], vec![Asks, Gives]],
        "asyncdrain" | "asyncspout" => vec![vec![Flow, Gives], vec![Gives, Flow], vec![Asks, Asks]],
        "fifo1" | "fifofull" => {
            return if full {
                vec![(vec![Gives, Flow], false), (vec![Gives, Asks], true)]
            } else {
                vec![(vec![Flow, Gives], true), (vec![Asks, Gives], false)]
            };
        }
        "merger" | "router" => {
            let single = if kind == "merger" { ends - 1 } else { 0 };
            let passing = (0..ends).filter(|k| *k != single).map(|k| {
                let mut row = one(k, Flow, Gives);
                row[single] = Flow;
                row
            });
            passing.chain([one(single, Gives, Asks), one(single, Asks, Gives)]).collect()
        }
        // All ends at once.
        _ => {
            let waiting = (0..ends).map(|k| one(k, Asks, Gives));
            [vec![Flow; ends]].into_iter().chain(waiting).collect()
        }
    };
    rows.into_iter().map(|row| (row, full)).collect()
}

/// The channels of a connector with the names at their ends, those that its nodes stand for among
/// them.
fn channels(connector: &Connector) -> Vec<(String, Vec<NameId>)> {
    let word = |name: &NameId| connector.symbols.word(name.0);
    let mut all = Vec::new();
    let mut writers: BTreeMap<&str, Vec<NameId>> = BTreeMap::new();
    for channel in &connector.circuit {
        all.push((channel.kind.clone(), channel.names.clone()));
        for (end, name) in channel.ends.iter().zip(&channel.names).filter(|(end, _)| end.writes) {
            writers.entry(&end.node).or_default().push(*name);
        }
    }
    for channel in &connector.circuit {
        for (end, name) in channel.ends.iter().zip(&channel.names) {
            if word(name) != end.node && !(end.writes && writers[end.node.as_str()].len() > 1) {
                all.push((
                    "sync".into(),
                    vec![*name, NameId(connector.symbols.find(&end.node).unwrap())],
                ));
            }
        }
    }
    for (node, names) in writers.into_iter().filter(|(_, names)| names.len() > 1) {
        let node = NameId(connector.symbols.find(node).unwrap());
        all.push(("merger".into(), names.into_iter().chain([node]).collect()));
    }
    all
}

type Fired = BTreeSet<NameId>;

/// All steps from a state: what fires, and which channels are full afterwards.
fn steps(
    connector: &Connector,
    all: &[(String, Vec<NameId>)],
    full: &[bool],
) -> BTreeMap<Fired, Vec<bool>> {
    let mut found = BTreeMap::new();
    let mut chosen: Vec<(Vec<Colour>, bool)> = Vec::new();
    choose(connector, all, full, &mut chosen, &mut found);
    found
}

fn choose(
    connector: &Connector,
    all: &[(String, Vec<NameId>)],
    full: &[bool],
    chosen: &mut Vec<(Vec<Colour>, bool)>,
    found: &mut BTreeMap<Fired, Vec<bool>>,
) {
    let at = chosen.len();
    if at < all.len() {
        for row in table(&all[at].0, all[at].1.len(), full[at]) {
            chosen.push(row);
            choose(connector, all, full, chosen, found);
            chosen.pop();
        }
        return;
    }
    let mut colours: BTreeMap<NameId, Vec<Colour>> = BTreeMap::new();
    for ((_, names), (row, _)) in all.iter().zip(chosen.iter()) {
        names
            .iter()
            .zip(row)
            .for_each(|(name, colour)| colours.entry(*name).or_default().push(*colour));
    }
    let fits = |(name, colours): (&NameId, &Vec<Colour>)| {
        let flows = colours.iter().filter(|c| **c == Flow).count();
        let open = connector.interface.contains(name) || colours.len() == 1;
        flows == colours.len() || flows == 0 && (open || colours.contains(&Gives))
    };
    if colours.iter().all(fits) {
        let fired: Fired = colours.iter().filter(|(_, c)| c[0] == Flow).map(|(n, _)| *n).collect();
        if !fired.is_empty() {
            found.insert(fired, chosen.iter().map(|(_, full)| *full).collect());
        }
    }
}

fn context(connector: &Connector) -> Automaton {
    let made = in_context(connector, &ProductLimits::memory(1 << 30)).unwrap();
    assert_eq!((made.parts.len(), &made.interface), (1, &connector.interface));
    made.parts[0].automaton.clone()
}

/// Walks through both from the start; gives how many steps were compared.
fn compared(connector: &Connector) -> usize {
    let automaton = context(connector);
    let all = channels(connector);
    let begin: Vec<bool> = all.iter().map(|(kind, _)| kind == "fifofull").collect();
    let mut known: BTreeMap<u32, Vec<bool>> = BTreeMap::from([(automaton.initial()[0], begin)]);
    let mut open = vec![automaton.initial()[0]];
    let mut count = 0;
    while let Some(state) = open.pop() {
        let mut right = steps(connector, &all, &known[&state]);
        for step in automaton.steps(state) {
            let fired: Fired = automaton.fires(&step).collect();
            let next = right.remove(&fired);
            let next = next
                .unwrap_or_else(|| panic!("no colouring fires {fired:?} in {:?}", known[&state]));
            count += 1;
            if let Some(before) = known.insert(step.to, next.clone()) {
                assert_eq!(before, next);
            } else {
                open.push(step.to);
            }
        }
        assert!(right.is_empty(), "{right:?} is missing in {:?}", known[&state]);
    }
    assert_eq!(known.len(), automaton.states());
    count
}

fn circuits() -> impl Strategy<Value = String> {
    let channel = (0..11usize, 0..5usize, 0..5usize, 0..5usize).prop_map(|(kind, a, b, c)| {
        const KINDS: [&str; 11] = [
            "sync",
            "lossy",
            "lossy",
            "fifo1",
            "fifofull",
            "syncdrain",
            "asyncdrain",
            "syncspout",
            "merger",
            "replicator",
            "router",
        ];
        let third = if kind >= 8 { format!(", n{c}") } else { String::new() };
        format!("{}(n{a}, n{b}{third})", KINDS[kind])
    });
    proptest::collection::vec(channel, 1..6)
        .prop_map(|all| joined("some", &["n0", "n1"], &all.join(" ")))
}

proptest! {
    #![proptest_config(values::cases(200))]

    #[test]
    fn steps_are_those_of_the_colourings(text in circuits()) {
        let mut made = connector(&text, "").unwrap();
        for part in &mut made.parts {
            part.automaton = part.automaton.without_data();
        }
        compared(&made);
    }
}

/// The steps of a text in context, without those inside.
fn lines(text: &str) -> Vec<String> {
    let made = connector(text, "").unwrap();
    let automaton = context(&made);
    automaton.text(&made.symbols).lines().map(str::to_owned).collect()
}

#[test]
fn a_lossy_channel_loses_only_what_is_not_taken() {
    // What comes is lost only while the buffer is full.
    let overflow = "f(a, b) { lossy(a, m) fifo1(m, b) }";
    assert_eq!(compared(&connector(overflow, "").unwrap()), 4);
    assert_eq!(
        lines(overflow),
        [
            "0 {a, m} a = m & m = $fifo1.1/m' -> 1",
            "1 {a} true -> 1",
            "1 {b} b = $fifo1.1/m -> 0",
            "1 {a, b} b = $fifo1.1/m -> 0"
        ]
    );
    // At the border it may always be lost: the environment may not be ready.
    assert_eq!(lines("f(a, b) { lossy(a, b) }"), ["0 {a} true -> 0", "0 {a, b} a = b -> 0"]);
    // Two in a row: the first one never loses anything.
    assert_eq!(
        lines("f(a, b) { lossy(a, m) lossy(m, b) }"),
        ["0 {a, m} a = m -> 0", "0 {a, m, b} a = m & m = b -> 0"]
    );
}

#[test]
fn data_are_a_reason() {
    // A datum that does not pass is taken, and lost by the filter; where nobody reads at b, either
    // may lose it.
    assert_eq!(
        lines("f(a, b) { lossy(a, m) filter<\"P\">(m, b) }"),
        ["0 {a} true -> 0", "0 {a, m} a = m & !P(m) -> 0", "0 {a, m, b} a = m & m = b & P(m) -> 0"],
    );
    // Where somebody always reads there, it is the filter that loses.
    assert_eq!(
        lines("f(a) { lossy(a, m) filter<\"P\">(m, b) lossy(b, c) }"),
        lines("f(a) { sync(a, m) filter<\"P\">(m, b) lossy(b, c) }"),
    );
}

#[test]
fn too_many_reasons_are_refused() {
    // Each of 2^n joint steps adds ways in which the part may wait.
    let made = connector("f(a, b) { lossy(a, m) fifo1(m, b) }", "").unwrap();
    let error = in_context(&made, &ProductLimits::memory(64)).unwrap_err().to_string();
    assert!(error.contains("over the limit of 64"), "{error}");
}
