//! Silent steps with conditions on values that nothing names, taken into the steps behind them.

use tickbound_reo::automaton::Automaton;
use tickbound_reo::bisimulation::Equivalence;
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::{Limited, ProductLimits, Stopped};
use tickbound_reo::product::stepwise::{StepwiseOptions, compose};
use tickbound_reo::run::Random;

use crate::connectors::connector;

fn closed(connector: &Connector, minimise: Option<Equivalence>) -> Limited<Automaton> {
    let parts: Vec<&Automaton> = connector.parts.iter().map(|p| &p.automaton).collect();
    let options = StepwiseOptions { hidden: connector.inner(), minimise };
    compose(&parts, &options, &ProductLimits::memory(1 << 28)).map(|composed| composed.automaton)
}

fn lines(text: &str) -> Vec<String> {
    let made = connector(text, "").unwrap_or_else(|e| panic!("{text}: {e}"));
    let automaton = closed(&made, Some(Equivalence::Strong)).unwrap_or_else(|e| panic!("{e}"));
    automaton.text(&made.symbols).lines().map(str::to_owned).collect()
}

#[test]
fn conditions_that_concern_nothing_seen_add_no_steps() {
    // What a silent loop asks of its own value is asked once, and of no step that goes without it.
    let buffer = ["0 {a} a = $fifo1.1/m' -> 1", "1 {b} b = $fifo1.1/m -> 0"];
    assert_eq!(lines("f(a?, b!) { fifo1(a, b) transformer<\"g\">(x, x) }"), buffer);
    assert_eq!(lines("f(a?, b!) { fifo1(a, b) filter<\"P\">(x, y) sync(y, x) }"), buffer);
    // A value that goes round unchanged may be seen, and ends.
    let ring = "f(b!) { fifofull<\"0\">(z, x) fifo1(x, z) lossy(x, b) }";
    assert_eq!(lines(ring), ["0 {b} b = $fifofull.1/m -> 0"]);
}

#[test]
fn a_value_that_a_function_changes_without_end_is_refused() {
    let text = "f(b!) { fifofull<\"0\">(z, x) fifo1(x, y) transformer<\"g\">(y, z) lossy(x, b) }";
    let made = connector(text, "").unwrap_or_else(|e| panic!("{e}"));
    for minimise in [None, Some(Equivalence::Strong)] {
        let stopped = closed(&made, minimise).unwrap_err();
        assert_eq!(stopped, Stopped::Values(made.symbols.find("g")));
        assert!(stopped.text(&made.symbols).starts_with("function `g`: silent closure: "));
    }
}

/// Random circuits of channels with data, closed: each has an answer, or a refusal for its values.
#[test]
fn random_circuits_end() {
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(51);
    println!("SEED={seed}");
    const KINDS: [&str; 11] = [
        "sync",
        "lossy",
        "fifo1",
        "fifofull<\"x\">",
        "syncdrain",
        "asyncdrain",
        "filter<\"P\">",
        "filter<\"!P\">",
        "filter<\"Q\">",
        "transformer<\"f\">",
        "transformer<\"g\">",
    ];
    let mut random = Random::new(seed);
    let (mut answers, mut refused) = (0, 0);
    for case in 0..500 {
        let nodes = 3 + random.below(6);
        let mut parts: Vec<String> = (0..4 + random.below(6))
            .map(|_| {
                let [a, b] = [0; 2].map(|_| random.below(nodes));
                format!("{}(n{a}, n{b})", KINDS[random.below(KINDS.len())])
            })
            .collect();
        if random.below(2) == 0 {
            let [a, b, c] = [0; 3].map(|_| random.below(nodes));
            parts.push(format!("router(n{a}, n{b}, n{c})"));
        }
        parts.extend(["sync(a, n0)".into(), "lossy(n1, b)".into()]);
        let text = format!("f(a?, b!) {{ {} }}", parts.join(" "));
        let made = connector(&text, "").unwrap_or_else(|e| panic!("SEED={seed} {text}: {e}"));
        for minimise in [None, Some(Equivalence::Strong)] {
            match closed(&made, minimise) {
                Ok(_) => answers += 1,
                Err(Stopped::Values(_)) => refused += 1,
                Err(why) => panic!("SEED={seed} case {case} {text}: {why}"),
            }
        }
    }
    println!("{answers} answers, {refused} refused");
    assert!(answers > 900, "{answers} answers, {refused} refused");
}
