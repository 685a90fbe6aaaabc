//! Schedules, and what `run`'s engine says to them.

use std::fmt::Write;

use super::{Made, program::holds};
use tickbound_reo::connector::ConnectorPart;
use tickbound_reo::run::{Enabled, Player, Random, Wanted};
use tickbound_reo::symbol::NameId;
use tickbound_reo::syntax::Source;

/// Data that are put: constants of the connectors and others.
const DATA: [&str; 5] = ["0", "1", "\"x\"", "2", "f(0)"];

/// A schedule of so many moments as the programs read it, what they are to print, and how many
/// steps are taken.
pub fn some(made: &Made, moments: usize, random: &mut Random) -> (String, String, u64) {
    let mut player = Player::new(&made.connector).expect("an initial state");
    let (mut asked, mut answered, mut steps) = (String::new(), String::new(), 0);
    for _ in 0..moments {
        let number = random.below(64);
        let offers: Vec<Option<&str>> = made
            .alphabet()
            .iter()
            .map(|name| {
                let offered = random.below(5) > 0;
                let datum = DATA[random.below(DATA.len())];
                offered.then_some(if made.inputs.contains(name) { datum } else { "!" })
            })
            .collect();
        let words: Vec<&str> = offers.iter().map(|o| o.unwrap_or("-")).collect();
        _ = writeln!(asked, "{number}\t{}", words.join("\t"));
        let all = outcomes(made, &mut player, &offers);
        all.iter().for_each(|(text, _)| _ = writeln!(answered, "{text}"));
        if all.is_empty() {
            answered.push_str("-> none\n");
        } else {
            let chosen = number % all.len();
            player.follow(&all[chosen].1).expect("it was possible before");
            _ = writeln!(answered, "-> {chosen}");
            steps += 1;
        }
    }
    (asked, answered, steps)
}

/// Every step that these offers allow, as text and as the step, in the order of the texts.
fn outcomes(made: &Made, player: &mut Player, offers: &[Option<&str>]) -> Vec<(String, Wanted)> {
    let (choices, more) = player.choices();
    assert!(!more);
    let mut all = Vec::new();
    for (number, choice) in choices.iter().enumerate() {
        // Regions step one at a time.
        let fires = |part: &&ConnectorPart| {
            let has = |name| part.automaton.alphabet().binary_search(name).is_ok();
            choice.names.iter().any(has)
        };
        if made.connector.parts.iter().filter(fires).count() > 1 {
            continue;
        }
        let Some(wanted) = wanted(made, number + 1, choice, offers) else { continue };
        if player.follow(&wanted).is_err() {
            continue;
        }
        if player.facts().iter().all(|fact| is_so(fact)) {
            let line = player.lines().last().cloned().unwrap_or_default();
            let (_, fired) = line.split_once(' ').unwrap_or_default();
            let cells: String =
                player.cells().iter().map(|(c, held)| format!(" {c}={held}")).collect();
            let mut begin = 0;
            let states = player.states().iter().zip(&made.connector.parts).map(|(state, part)| {
                begin += part.automaton.states();
                (begin - part.automaton.states() + *state as usize).to_string()
            });
            let states: Vec<String> = states.collect();
            all.push((format!("{} {fired}{cells}", states.join(",")), wanted));
        }
        assert!(player.undo());
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|a, b| a.0 == b.0);
    all
}

/// The step with the data that are put, if something waits at each of its ports.
fn wanted(made: &Made, number: usize, choice: &Enabled, offers: &[Option<&str>]) -> Option<Wanted> {
    let alphabet = made.alphabet();
    let datum = |name: &NameId| {
        let word = made.connector.symbols.word(name.0);
        let offer = offers[alphabet.binary_search(name).ok()?]?;
        Some(if offer == "!" { word.to_owned() } else { format!("{word} = {offer}") })
    };
    let data: Option<Vec<String>> = choice.names.iter().map(datum).collect();
    let text = format!("{number} {{{}}}", data?.join(", "));
    Wanted::all(&Source::new("step", &text)).ok()?.pop()
}

/// Whether functions that are free and predicates that are hashes agree with a fact.
fn is_so(fact: &str) -> bool {
    if fact.contains(" != ") {
        return true;
    }
    // In simplest form the sides of an equation are different terms.
    !fact.contains(" = ") && fact.strip_prefix('!').map_or_else(|| holds(fact), |f| !holds(f))
}

/// Compares what a program has printed, and shows the connector of the first difference.
pub fn compare(all: &[Made], expected: &str, printed: &str, what: &str) {
    let mut name = "";
    let mut printed_lines = printed.lines();
    for (at, wanted) in expected.lines().enumerate() {
        if wanted.starts_with('k') {
            name = wanted;
        }
        let got = printed_lines.next();
        if got != Some(wanted) {
            let made = all.iter().find(|m| m.connector.name == name).expect("a known name");
            let text: String = made
                .connector
                .parts
                .iter()
                .map(|p| p.automaton.text(&made.connector.symbols))
                .collect();
            panic!("{what}, line {at}, {name}: `{wanted}` is expected, here is {got:?}\n{text}");
        }
    }
    assert_eq!(printed_lines.next(), None, "{what} prints more");
}
