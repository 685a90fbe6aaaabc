//! Networks in mCRL2: an interpreter of the text, written by the definitions of the language, has
//! the transitions of the product.
//!
//! A multi-action is a bag of actions. `p || q` does one of p, one of q, or both; `comm` replaces
//! each occurrence of a left side with equal data; `block` forbids a multi-action with one of its
//! actions; `hide` takes actions away.

use std::collections::{BTreeMap, BTreeSet};

use crate::connectors::{Disk, connector, example, request};
use crate::families::{family, textbook};
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::bisimulation::{BisimulationVerdict, Equivalence, compare};
use tickbound_reo::connector::{Connector, ConnectorPart};
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::export::{ExportError, ExportSubject, Format, mcrl2_network, write};
use tickbound_reo::hide::hide;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::symbol::{NameId, Symbols};

/// A process; data are constants or, within a definition, variables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Process {
    Call(String, Vec<String>),
    /// Alternatives: variables of a sum, conditions, actions with data, what follows.
    Choice(Vec<Summand>),
    Parallel(Box<Process>, Box<Process>),
    Communicate(Vec<(Vec<String>, String)>, Box<Process>),
    Block(BTreeSet<String>, Box<Process>),
    Hide(BTreeSet<String>, Box<Process>),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Summand {
    variables: Vec<String>,
    conditions: Vec<(String, bool, String)>,
    actions: Vec<Action>,
    next: Box<Process>,
}

type Action = (String, Option<String>);

/// A specification that was read.
#[derive(Debug, Default)]
struct Specification {
    data: Vec<String>,
    actions: BTreeSet<String>,
    processes: BTreeMap<String, (Vec<String>, Process)>,
    init: Option<Process>,
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
}

impl Reader {
    fn new(text: &str) -> Reader {
        let text: String =
            text.lines().filter(|line| !line.starts_with('%')).collect::<Vec<_>>().join(" ");
        let (mut tokens, mut rest) = (Vec::new(), text.trim());
        while let Some(c) = rest.chars().next() {
            let length = if c.is_alphanumeric() || c == '_' {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            } else {
                let double =
                    ["||", "->", "==", "!=", "&&"].iter().any(|sign| rest.starts_with(sign));
                if double { 2 } else { c.len_utf8() }
            };
            tokens.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
        Reader { tokens, at: 0 }
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn eat(&mut self, token: &str) -> bool {
        let is = self.peek() == token;
        self.at += usize::from(is);
        is
    }

    fn need(&mut self, token: &str) {
        assert!(self.eat(token), "`{}` where `{token}` should stand", self.peek());
    }

    fn list<T>(&mut self, sign: &str, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut all = vec![item(self)];
        while self.eat(sign) {
            all.push(item(self));
        }
        all
    }

    fn specification(mut self) -> Specification {
        let mut read = Specification::default();
        while self.at < self.tokens.len() {
            match self.take().as_str() {
                "sort" => {
                    ["Data", "=", "struct"].iter().for_each(|token| self.need(token));
                    read.data = self.list("|", Reader::take);
                }
                "act" => {
                    read.actions = self.list(",", Reader::take).into_iter().collect();
                    let sorted = self.eat(":");
                    assert_eq!(sorted, !read.data.is_empty());
                    assert!(!sorted || self.eat("Data"));
                }
                "proc" => {
                    let name = self.take();
                    let parameter = |reader: &mut Reader| {
                        let word = reader.take();
                        reader.need(":");
                        reader.need("Data");
                        word
                    };
                    let mut parameters = Vec::new();
                    if self.eat("(") {
                        parameters = self.list(",", parameter);
                        self.need(")");
                    }
                    self.need("=");
                    let body = self.process();
                    assert!(read.processes.insert(name, (parameters, body)).is_none(), "twice");
                }
                "init" => read.init = Some(self.process()),
                other => panic!("`{other}` begins nothing"),
            }
            self.need(";");
        }
        read
    }

    fn process(&mut self) -> Process {
        let mut all = self.list("||", Reader::operand).into_iter();
        let first = all.next().unwrap();
        all.fold(first, |left, right| Process::Parallel(left.into(), right.into()))
    }

    fn operand(&mut self) -> Process {
        let sign = self.peek().to_owned();
        if !["block", "comm", "hide"].contains(&sign.as_str()) {
            return self.choice();
        }
        self.take();
        self.need("(");
        self.need("{");
        let made: Box<dyn Fn(Box<Process>) -> Process> = if sign == "comm" {
            let pairs = self.list(",", |reader| {
                let left = reader.list("|", Reader::take);
                reader.need("->");
                (left, reader.take())
            });
            Box::new(move |inner| Process::Communicate(pairs.clone(), inner))
        } else {
            let set: BTreeSet<String> = self.list(",", Reader::take).into_iter().collect();
            let block = sign == "block";
            Box::new(move |inner| match block {
                true => Process::Block(set.clone(), inner),
                false => Process::Hide(set.clone(), inner),
            })
        };
        self.need("}");
        self.need(",");
        let inner = self.process();
        self.need(")");
        made(inner.into())
    }

    /// Summands; a lone call is what it calls.
    fn choice(&mut self) -> Process {
        let mut all = Vec::new();
        loop {
            if self.eat("delta") {
                return Process::Choice(all);
            }
            let (mut variables, mut conditions) = (Vec::new(), Vec::new());
            if self.eat("sum") {
                variables = self.list(",", Reader::take);
                [":", "Data", "."].iter().for_each(|token| self.need(token));
            }
            if self.eat("(") {
                if !self.eat("true") {
                    conditions = self.list("&&", |reader| {
                        let left = reader.take();
                        let sign = reader.take();
                        assert!(["==", "!="].contains(&sign.as_str()), "{sign}");
                        (left, sign == "==", reader.take())
                    });
                }
                self.need(")");
                self.need("->");
            }
            let mut actions = self.list("|", |reader| {
                let name = reader.take();
                let data = reader.arguments();
                (name, data)
            });
            if all.is_empty() && !self.eat(".") {
                let (name, arguments) = actions.remove(0);
                return Process::Call(name, arguments);
            }
            if !all.is_empty() {
                self.need(".");
            }
            let name = self.take();
            let next = Process::Call(name, self.arguments()).into();
            let one = |(name, mut data): (String, Vec<String>)| (name, data.pop());
            let actions = actions.into_iter().filter(|(name, _)| name != "tau").map(one).collect();
            all.push(Summand { variables, conditions, actions, next });
            if !self.eat("+") {
                return Process::Choice(all);
            }
        }
    }

    fn arguments(&mut self) -> Vec<String> {
        if !self.eat("(") {
            return Vec::new();
        }
        let all = self.list(",", Reader::take);
        self.need(")");
        all
    }
}

type Steps = Vec<(Vec<Action>, Process)>;

/// From and to where, by numbers of states, and what happens.
type Transitions = Vec<(usize, Vec<Action>, usize)>;

impl Specification {
    fn steps(&self, process: &Process) -> Steps {
        match process {
            Process::Call(name, arguments) => {
                let (parameters, body) = &self.processes[name];
                assert_eq!(parameters.len(), arguments.len(), "{name}");
                let values = parameters.iter().cloned().zip(arguments.iter().cloned()).collect();
                match body {
                    Process::Choice(all) => {
                        all.iter().flat_map(|s| self.summand(s, &values)).collect()
                    }
                    other => self.steps(other),
                }
            }
            Process::Choice(all) => {
                all.iter().flat_map(|s| self.summand(s, &BTreeMap::new())).collect()
            }
            Process::Parallel(left, right) => self.parallel(left, right),
            Process::Communicate(pairs, inner) => {
                let after = |(actions, next)| {
                    let next = Process::Communicate(pairs.clone(), Box::new(next));
                    (communicated(pairs, actions), next)
                };
                self.steps(inner).into_iter().map(after).collect()
            }
            Process::Block(set, inner) => {
                let free =
                    |(actions, _): &(Vec<Action>, _)| !actions.iter().any(|a| set.contains(&a.0));
                let after =
                    |(actions, next)| (actions, Process::Block(set.clone(), Box::new(next)));
                self.steps(inner).into_iter().filter(free).map(after).collect()
            }
            Process::Hide(set, inner) => {
                let after = |(mut actions, next): (Vec<Action>, _)| {
                    actions.retain(|action| !set.contains(&action.0));
                    (actions, Process::Hide(set.clone(), Box::new(next)))
                };
                self.steps(inner).into_iter().map(after).collect()
            }
        }
    }

    fn parallel(&self, left: &Process, right: &Process) -> Steps {
        let both = |a: &Process, b: &Process| Process::Parallel(a.clone().into(), b.clone().into());
        let (of_left, of_right) = (self.steps(left), self.steps(right));
        let mut all: Steps = Vec::new();
        all.extend(of_left.iter().map(|(actions, next)| (actions.clone(), both(next, right))));
        all.extend(of_right.iter().map(|(actions, next)| (actions.clone(), both(left, next))));
        for (one, next) in &of_left {
            for (other, then) in &of_right {
                let actions = one.iter().chain(other).cloned().collect();
                all.push((actions, both(next, then)));
            }
        }
        all
    }

    fn summand(&self, summand: &Summand, values: &BTreeMap<String, String>) -> Steps {
        let mut all = vec![values.clone()];
        for variable in &summand.variables {
            let with = |values: BTreeMap<String, String>| {
                self.data.iter().map(move |datum| {
                    let mut values = values.clone();
                    values.insert(variable.clone(), datum.clone());
                    values
                })
            };
            all = all.into_iter().flat_map(with).collect();
        }
        let step = |values: BTreeMap<String, String>| {
            let value = |word: &String| {
                let known = values.get(word).cloned();
                known.unwrap_or_else(|| {
                    assert!(self.data.contains(word), "{word} is no constant");
                    word.clone()
                })
            };
            let holds =
                summand.conditions.iter().all(|(a, same, b)| (value(a) == value(b)) == *same);
            let act = |(name, datum): &Action| {
                assert!(self.actions.contains(name), "{name} is not declared");
                (name.clone(), datum.as_ref().map(value))
            };
            let Process::Call(next, arguments) = &*summand.next else { panic!("no call") };
            let next = Process::Call(next.clone(), arguments.iter().map(value).collect());
            holds.then(|| (summand.actions.iter().map(act).collect(), next))
        };
        all.into_iter().filter_map(step).collect()
    }

    /// With the networks that it calls in their places, so that a state is written in one way.
    fn unfolded(&self, process: &Process) -> Process {
        let inner = |inner: &Process| Box::new(self.unfolded(inner));
        match process {
            Process::Call(name, _) => match &self.processes[name].1 {
                Process::Choice(_) => process.clone(),
                network => self.unfolded(network),
            },
            Process::Choice(_) => process.clone(),
            Process::Parallel(left, right) => Process::Parallel(inner(left), inner(right)),
            Process::Communicate(pairs, body) => Process::Communicate(pairs.clone(), inner(body)),
            Process::Block(set, body) => Process::Block(set.clone(), inner(body)),
            Process::Hide(set, body) => Process::Hide(set.clone(), inner(body)),
        }
    }

    /// The states that can be reached, and all transitions with sorted actions.
    fn explored(&self) -> (Vec<Process>, Transitions) {
        let mut states = vec![self.unfolded(self.init.as_ref().unwrap())];
        let mut numbers: BTreeMap<Process, usize> = [(states[0].clone(), 0)].into();
        let mut all = BTreeSet::new();
        let mut next = 0;
        while next < states.len() {
            for (mut actions, to) in self.steps(&states[next].clone()) {
                actions.sort();
                let new = numbers.len();
                let to = *numbers.entry(to.clone()).or_insert_with(|| {
                    states.push(to);
                    new
                });
                all.insert((next, actions, to));
            }
            next += 1;
        }
        (states, all.into_iter().collect())
    }

    /// As an automaton over actions with their data.
    fn automaton(&self, symbols: &mut Symbols) -> Automaton {
        let (states, steps) = self.explored();
        let text = |(name, datum): &Action| match datum {
            Some(datum) => format!("{name}({datum})"),
            None => name.clone(),
        };
        let names: Vec<Vec<NameId>> = steps
            .iter()
            .map(|(_, all, _)| all.iter().map(|a| symbols.name(&text(a))).collect())
            .collect();
        let mut builder = AutomatonBuilder::over(names.concat(), states.len(), vec![0]);
        for ((from, actions, to), names) in steps.iter().zip(&names) {
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), actions.len());
            builder.step(*from as u32, names, DataConstraint::default(), *to as u32);
        }
        builder.finish().unwrap()
    }
}

/// Occurrences of left sides with equal data become one action, until there are none.
fn communicated(pairs: &[(Vec<String>, String)], mut actions: Vec<Action>) -> Vec<Action> {
    for (left, right) in pairs {
        while let Some(datum) =
            actions.iter().filter(|a| a.0 == left[0]).map(|a| a.1.clone()).find(|datum| {
                left.iter().all(|name| actions.contains(&(name.clone(), datum.clone())))
            })
        {
            for name in left {
                let wanted = (name.clone(), datum.clone());
                let at = actions.iter().position(|action| *action == wanted).unwrap();
                actions.remove(at);
            }
            actions.push((right.clone(), datum));
        }
    }
    actions
}

/// The states of the parts in a state of a network, by the names of its processes.
fn tuple(process: &Process, all: &mut Vec<u32>) {
    match process {
        Process::Call(name, _) => all.push(name.rsplit('_').next().unwrap().parse().unwrap()),
        Process::Parallel(left, right) => {
            tuple(left, all);
            tuple(right, all);
        }
        Process::Communicate(_, inner) | Process::Block(_, inner) | Process::Hide(_, inner) => {
            tuple(inner, all);
        }
        Process::Choice(_) => panic!("a choice in a network"),
    }
}

type Joint = BTreeSet<(Vec<u32>, Vec<String>, Vec<u32>)>;

/// The transitions of the product by its definition, between tuples of states.
fn by_definition(connector: &Connector) -> Joint {
    let mut parts = connector.parts.iter().map(|part| &part.automaton);
    let first = parts.next().unwrap();
    let (mut product, old) = first.reachable();
    let mut tuples: Vec<Vec<u32>> = old.into_iter().map(|state| vec![state]).collect();
    for part in parts {
        let (next, old) = textbook::product(&product, part).reachable();
        let states = part.states() as u32;
        let whole =
            |state: u32| [&tuples[(state / states) as usize][..], &[state % states]].concat();
        tuples = old.into_iter().map(whole).collect();
        product = next;
    }
    let step = |step: tickbound_reo::automaton::Transition<'_>| {
        let mut names: Vec<String> =
            product.fires(&step).map(|n| connector.symbols.word(n.0).to_owned()).collect();
        names.sort();
        (tuples[step.from as usize].clone(), names, tuples[step.to as usize].clone())
    };
    product.all_steps().map(step).collect()
}

/// A connector without data, its names called `x1`, `x2` and so on, as identifiers keep them.
fn plain(mut connector: Connector) -> Connector {
    let mut symbols = Symbols::new();
    let count = (0..)
        .take_while(|k| connector.symbols.word(tickbound_reo::symbol::SymbolId(*k)) != "?")
        .count();
    (0..count).for_each(|k| _ = symbols.name(&format!("x{k}")));
    for part in &mut connector.parts {
        part.automaton = part.automaton.without_data();
    }
    connector.symbols = symbols;
    connector
}

fn read(connector: &Connector, hidden: &[NameId]) -> Specification {
    Reader::new(&mcrl2_network(connector, hidden).unwrap()).specification()
}

/// The network has exactly the transitions of the product.
fn same_steps(connector: Connector, what: &str) -> usize {
    let connector = plain(connector);
    let network = read(&connector, &[]);
    let (states, steps) = network.explored();
    let tuples = states.iter().map(|state| {
        let mut all = Vec::new();
        tuple(state, &mut all);
        all
    });
    let tuples: Vec<Vec<u32>> = tuples.collect();
    let names = |actions: &[Action]| actions.iter().map(|(name, _)| name.clone()).collect();
    let found: Joint = steps
        .iter()
        .map(|(from, actions, to)| (tuples[*from].clone(), names(actions), tuples[*to].clone()))
        .collect();
    assert_eq!(found.len(), steps.len(), "{what}");
    assert_eq!(found, by_definition(&connector), "{what}");
    found.len()
}

fn treo(file: &str, settings: &str) -> Connector {
    let made =
        tickbound_reo::treo::connector(&example(file), &Disk(Vec::new()), &request(settings));
    made.unwrap_or_else(|e| panic!("{file}: {e}"))
}

#[test]
fn examples_have_the_steps_of_their_products() {
    let examples = [
        ("alternator.treo", "n=3"),
        ("barrier.treo", "n=2"),
        ("buffers.treo", "n=3"),
        ("chain.treo", "n=4"),
        ("lossy_fifo.treo", ""),
        ("producer_consumer.treo", "k=2"),
        ("router.treo", "n=2"),
        ("sequencer.treo", "n=3 start=go"),
        ("token_ring.treo", "n=2 station=polite"),
        ("turnstile.treo", ""),
    ];
    let steps = examples.map(|(file, settings)| same_steps(treo(file, settings), file));
    assert_eq!(steps, [4, 1, 56, 42, 5, 10, 2, 3, 4, 3]);
}

/// With data, network and product are texts of one language; their meanings are bisimilar.
#[test]
fn data_are_those_of_the_product() {
    for (file, settings) in [
        ("lossy_fifo.treo", ""),
        ("chain.treo", "n=2"),
        ("buffers.treo", "n=2"),
        ("sequencer.treo", "n=2 start=go"),
    ] {
        let connector = treo(file, settings);
        let product = crate::connectors::composed(&connector);
        let hidden = connector.inner();
        let flat = hide(&product, &[]);
        let (symbols, interface) = (&connector.symbols, &connector.interface);
        let subject =
            ExportSubject { name: "f", automaton: &flat, symbols, inputs: &[], interface };
        let flat = Reader::new(&write(subject, Format::Mcrl2).unwrap()).specification();
        let network = read(&connector, &[]);
        assert_eq!(network.data, flat.data, "{file}");
        let mut symbols = Symbols::new();
        let (one, other) = (flat.automaton(&mut symbols), network.automaton(&mut symbols));
        assert_eq!(
            (one.states(), one.transitions()),
            (other.states(), other.transitions()),
            "{file}"
        );
        assert!(same(&one, &other, Equivalence::Strong), "{file}");
        // Hidden names tell them apart.
        let fewer = read(&connector, &hidden).automaton(&mut symbols);
        assert_eq!(same(&one, &fewer, Equivalence::Strong), hidden.is_empty(), "{file}");
    }
}

fn same(one: &Automaton, other: &Automaton, kind: Equivalence) -> bool {
    let verdict = compare(one, other, kind, &ProductLimits::memory(1 << 28)).unwrap();
    matches!(verdict, BisimulationVerdict::Same { .. })
}

/// Automata as a connector over names `0` to `4`.
fn together(family: Vec<Automaton>) -> Connector {
    let mut connector = connector("f(a, b) { sync(a, b) }", "").unwrap();
    connector.symbols = Symbols::new();
    (0..5).for_each(|n| _ = connector.symbols.name(&n.to_string()));
    let part = |automaton| ConnectorPart { kind: "part".into(), automaton };
    connector.parts = family.into_iter().map(part).collect();
    connector
}

#[test]
fn names_of_processes_and_several_beginnings() {
    let text = "f(P1, N2, P1_0, c) { sync(P1, N2) lossy(N2, P1_0) fifo1(P1_0, c) }";
    let connector = connector(text, "").unwrap();
    let network = read(&connector, &[]);
    assert!(network.processes.keys().all(|name| !network.actions.contains(name)));
    assert_eq!(network.processes.len(), 3 + 4);
    let mut several = connector;
    several.parts[0].automaton = AutomatonBuilder::over([], 2, vec![0, 1]).finish().unwrap();
    let refused = mcrl2_network(&several, &[]);
    assert_eq!(refused, Err(ExportError::Initial(2, "each part of a network")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn random_circuits(text in crate::draw::circuits(1..6)) {
        same_steps(connector(&text, "").unwrap(), &text);
    }

    #[test]
    fn random_parts(family in family(1..5, false)) {
        same_steps(together(family), "random parts");
    }

    /// Silent steps of parts, and hidden names: the same up to silent steps.
    #[test]
    fn silent_steps(family in family(1..4, true), hidden in 0..32_u32) {
        let connector = plain(together(family));
        let all = connector.parts.iter().flat_map(|part| part.automaton.alphabet());
        let names: BTreeSet<NameId> = all.copied().filter(|n| hidden >> n.0.0 & 1 == 1).collect();
        let names: Vec<NameId> = names.into_iter().collect();
        let mut symbols = connector.symbols.clone();
        let network = read(&connector, &names).automaton(&mut symbols);
        let product = crate::connectors::composed(&connector);
        let product = hide(&product, &names);
        prop_assert!(same(&product, &network, Equivalence::Weak));
    }
}
