//! `#RBA`: rules and cells as an automaton.
//!
//! The states know of each cell whether it is empty and, if only constants are ever put into it,
//! which. Claims that this decides vanish; the others, never about `null`, are data constraints. A
//! cell whose after form a step does not mention keeps its content.
//!
//! A node that a condition equates with `null` does not fire, one that differs from it fires; the
//! datum of a node that does not fire is `null`. In a rule without braces the other nodes of which
//! it speaks fire. A note reports a rule that never holds.
//!
//! A rule leaves nodes free that it does not name. So a step is a set of rules, at least one, that
//! agree on their nodes, each of which fires a node that no other does. Rules that name every node
//! are therefore taken alone.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use tickbound_input::message::suggest;

use super::search::{Domain, Joint, Search};
use super::template::{Template, Words};
use crate::constant::predicate_word;
use crate::syntax::Spot;
use crate::syntax::condition::{ClaimValue, GuardClaim};
use crate::treo::ast::{Rules, TreoRule};
use crate::treo::error::{MAX_RULE_SETS, TreoFault, TreoResult};

/// A rule over the atom's own words.
struct Known {
    positive: BTreeSet<usize>,
    negative: BTreeSet<usize>,
    claims: Vec<GuardClaim>,
    /// Cells whose after form is mentioned.
    touched: BTreeSet<usize>,
}

/// The template of rules over `ports`. States are numbered as they are found.
pub(crate) fn of_rules(
    rules: &Rules,
    ports: &[String],
    words: &mut dyn Words,
) -> TreoResult<Template> {
    let spot = rules.rules.first().map_or(Spot(0), |r| r.spot);
    let mut reader = Reader { ports, words, cells: IndexSet::new(), nameless: HashMap::new() };
    let mut initial = IndexMap::new();
    for (spot, cell, value) in &rules.initial {
        let held = reader.initial(*spot, value)?;
        initial.insert(reader.cells.insert_full(cell.clone()).0, held);
    }
    let known = rules.rules.iter().map(|r| reader.rule(r)).collect::<Result<Vec<_>, _>>()?;
    let (cells, nameless, words) = (reader.cells, reader.nameless.len() as u32, reader.words);
    let held = rules.rules.iter().zip(&known).filter(|(_, known)| known.is_some());
    let holds: HashSet<usize> = held.map(|(rule, _)| rule.spot.0).collect();
    for never in rules.rules.iter().filter(|r| !holds.contains(&r.spot.0)) {
        let place = words.source().place(never.spot);
        words.note(format!("{place}: the rule never holds: a node in it fires and is null"));
    }
    let known: Vec<Known> = known.into_iter().flatten().collect();
    let domains = domains(&cells, &known, &initial);
    let limit = |what, limit| words.source().fault(spot, TreoFault::limit(what, limit));
    let joints = joints(&known, ports.len())
        .ok_or_else(|| limit("ways in which rules fire together", MAX_RULE_SETS))?;
    let search = Search::new(&cells, &domains, &joints, nameless);
    let (states, steps) = search.run(start(&domains, &initial)).map_err(|(w, l)| limit(w, l))?;
    let full = |at: &usize| matches!(domains[*at], Domain::Full);
    let contents = initial.into_iter().filter(|(at, _)| full(at));
    let contents = contents.filter_map(|(at, held)| Some((cells[at].clone(), held?)));
    Ok(Template {
        ports: ports.to_vec(),
        contents: contents.collect(),
        states,
        initial: vec![0],
        steps,
        cells: cells.into_iter().collect(),
    })
}

/// The abstract contents at the start.
fn start(domains: &[Domain], initial: &IndexMap<usize, Option<String>>) -> Vec<u32> {
    let of = |(at, domain): (usize, &Domain)| match (initial.get(&at), domain) {
        (Some(Some(held)), Domain::Constants(all)) => {
            all.get_index_of(held).map_or(0, |k| k as u32 + 1)
        }
        (Some(Some(_)), Domain::Full) => 1,
        _ => 0,
    };
    domains.iter().enumerate().map(of).collect()
}

/// Puts the atom's words in place of those of the text.
struct Reader<'a> {
    ports: &'a [String],
    words: &'a mut dyn Words,
    cells: IndexSet<String>,
    /// Values without a name are the same within one rule only.
    nameless: HashMap<(usize, u32), u32>,
}

impl Reader<'_> {
    fn fault<T>(&self, spot: Spot, fault: TreoFault) -> TreoResult<T> {
        Err(self.words.source().fault(spot, fault))
    }

    fn initial(&mut self, spot: Spot, value: &ClaimValue) -> TreoResult<Option<String>> {
        let constant = match value {
            ClaimValue::Word(word) => self.words.parameter(word)?.map(ClaimValue::Constant),
            other => Some(other.clone()),
        };
        match constant {
            Some(ClaimValue::Constant(held)) => Ok(Some(held)),
            Some(ClaimValue::Null) => Ok(None),
            _ => {
                let what = "a cell begins with something that is no constant".to_owned();
                let fix = "write `null`, a number, a text in quotes or a parameter";
                self.fault(spot, TreoFault::Rule { what, fix })
            }
        }
    }

    /// A rule, unless it never holds.
    fn rule(&mut self, rule: &TreoRule) -> TreoResult<Option<Known>> {
        let [mut positive, mut negative] = self.named(rule)?;
        if let Some(both) = positive.intersection(&negative).next() {
            let what = format!("`{0}` and `~{0}` in one rule never hold", self.ports[*both]);
            return self.fault(rule.spot, TreoFault::Rule { what, fix: "keep one of them" });
        }
        let claims = rule.condition.iter();
        let claims = claims.map(|(spot, claim)| Ok((*spot, self.claim(rule, *spot, claim)?)));
        let mut claims = claims.collect::<TreoResult<Vec<_>>>()?;
        // Each node that is found not to fire may tell more.
        loop {
            let before = claims.len();
            claims.retain(|(_, claim)| match self.presence(claim, &negative) {
                Some((at, fires)) => {
                    if fires { &mut positive } else { &mut negative }.insert(at);
                    false
                }
                None => true,
            });
            if claims.len() == before {
                break;
            }
        }
        claims.iter_mut().for_each(|(_, claim)| self.without_datum(claim, &negative));
        if rule.nodes.is_none() {
            let spoken = claims.iter().flat_map(|(_, claim)| claim.words());
            positive.extend(spoken.filter_map(|word| self.at(word)));
        }
        if !positive.is_disjoint(&negative) {
            return Ok(None);
        }
        for (spot, claim) in &claims {
            for word in claim.words() {
                if self.at(word).is_none_or(|at| !positive.contains(&at)) {
                    let what = format!("the datum of `{word}` in a rule in which it does not fire");
                    let fix = "name it in the braces of the rule";
                    return self.fault(*spot, TreoFault::Rule { what, fix });
                }
            }
        }
        let claims: Vec<GuardClaim> = claims.into_iter().map(|(_, claim)| claim).collect();
        let touched = claims
            .iter()
            .flat_map(GuardClaim::after_cells)
            .filter_map(|c| self.cells.get_index_of(c));
        Ok(Some(Known { touched: touched.collect(), positive, negative, claims }))
    }

    /// The nodes in the braces of a rule: those that fire, those that do not.
    fn named(&mut self, rule: &TreoRule) -> TreoResult<[BTreeSet<usize>; 2]> {
        let mut named = [BTreeSet::new(), BTreeSet::new()];
        for (spot, variable, fires) in rule.nodes.iter().flatten() {
            for name in self.words.names(variable)? {
                let Some(at) = self.at(&name) else {
                    return self.unknown(*spot, &name, "node of the atom");
                };
                named[usize::from(!fires)].insert(at);
            }
        }
        Ok(named)
    }

    /// The node of which a claim means only whether it fires (and whether), given `negative`.
    fn presence(&self, claim: &GuardClaim, negative: &BTreeSet<usize>) -> Option<(usize, bool)> {
        let (a, b, fires) = match claim {
            GuardClaim::Equal(a, b) => (a, b, false),
            GuardClaim::Different(a, b) => (a, b, true),
            GuardClaim::Predicate(..) => return None,
        };
        let null = |v: &ClaimValue| match v {
            ClaimValue::Null => true,
            _ => self.port(v).is_some_and(|at| negative.contains(&at)),
        };
        match (self.port(a), self.port(b)) {
            (Some(at), _) if null(b) => Some((at, fires)),
            (_, Some(at)) if null(a) => Some((at, fires)),
            _ => None,
        }
    }

    /// The port whose datum a value is.
    fn port(&self, value: &ClaimValue) -> Option<usize> {
        if let ClaimValue::Word(word) = value { self.at(word) } else { None }
    }

    /// The number of a port.
    fn at(&self, word: &str) -> Option<usize> {
        self.ports.iter().position(|p| p == word)
    }

    /// Puts `null` for the data of nodes that do not fire, but not within functions and predicates.
    fn without_datum(&self, claim: &mut GuardClaim, negative: &BTreeSet<usize>) {
        let (GuardClaim::Equal(a, b) | GuardClaim::Different(a, b)) = claim else { return };
        for side in [a, b] {
            if self.port(side).is_some_and(|at| negative.contains(&at)) {
                *side = ClaimValue::Null;
            }
        }
    }

    fn unknown<T>(&self, spot: Spot, word: &str, what: &'static str) -> TreoResult<T> {
        let fix = suggest(word, self.ports.iter().map(String::as_str));
        self.fault(spot, TreoFault::Unknown { word: word.into(), what, fix })
    }

    fn claim(&mut self, rule: &TreoRule, spot: Spot, claim: &GuardClaim) -> TreoResult<GuardClaim> {
        let claim = claim.map(|v| self.value(rule, spot, v))?;
        let GuardClaim::Predicate(holds, p, values) = claim else { return Ok(claim) };
        let p = self.function(&p)?;
        let (passes, p) = predicate_word(&p);
        Ok(GuardClaim::Predicate(holds == passes, p.to_owned(), values).decided())
    }

    fn value(&mut self, rule: &TreoRule, spot: Spot, value: &ClaimValue) -> TreoResult<ClaimValue> {
        Ok(match value {
            ClaimValue::Word(word) if self.ports.contains(word) => value.clone(),
            ClaimValue::Word(word) => match self.words.parameter(word)? {
                Some(constant) => ClaimValue::Constant(constant),
                None => return self.unknown(spot, word, "node or parameter of the atom"),
            },
            ClaimValue::Before(cell) | ClaimValue::After(cell) => {
                self.cells.insert(cell.clone());
                value.clone()
            }
            ClaimValue::Some(k) => {
                let next = self.nameless.len() as u32;
                ClaimValue::Some(*self.nameless.entry((rule.spot.0, *k)).or_insert(next))
            }
            ClaimValue::Call(f, values) => {
                let values = values.iter().map(|v| self.value(rule, spot, v));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                ClaimValue::of_sign(&self.function(f)?, values)
            }
            ClaimValue::Constant(_) | ClaimValue::Null => value.clone(),
        })
    }

    /// The name of a function or predicate: a parameter's value, or the word itself.
    fn function(&mut self, word: &str) -> TreoResult<String> {
        Ok(self.words.parameter(word)?.unwrap_or_else(|| word.to_owned()))
    }
}

fn domains(
    cells: &IndexSet<String>,
    rules: &[Known],
    initial: &IndexMap<usize, Option<String>>,
) -> Vec<Domain> {
    let domain = |(at, cell): (usize, &String)| {
        let held = initial.get(&at).into_iter().flatten().cloned();
        let mut constants: IndexSet<String> = held.collect();
        let mut claims = rules.iter().flat_map(|r| &r.claims);
        let known = claims.all(|claim| puts_constant(claim, cell, &mut constants));
        if known { Domain::Constants(constants) } else { Domain::Full }
    };
    cells.iter().enumerate().map(domain).collect()
}

/// Whether a claim puts at most a constant into `cell`; and the constants it compares it with.
fn puts_constant(claim: &GuardClaim, cell: &str, constants: &mut IndexSet<String>) -> bool {
    let is = |v: &ClaimValue, after: bool| match v {
        ClaimValue::Before(c) => !after && c == cell,
        ClaimValue::After(c) => after && c == cell,
        _ => false,
    };
    if let GuardClaim::Equal(a, b) | GuardClaim::Different(a, b) = claim {
        let equal = matches!(claim, GuardClaim::Equal(..));
        for (one, other) in [(a, b), (b, a)] {
            match other {
                ClaimValue::Constant(held) if is(one, false) || (equal && is(one, true)) => {
                    constants.insert(held.clone());
                    return true;
                }
                ClaimValue::Null if is(one, false) || (equal && is(one, true)) => return true,
                _ if equal && is(one, true) && is(other, false) => return true,
                _ => {}
            }
        }
    }
    !claim.after_cells().contains(&cell)
}

/// All sets of rules that can fire together; nothing if there are too many.
fn joints(rules: &[Known], ports: usize) -> Option<Vec<Joint>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    // Rules in which no node fires, or that name every node, are taken alone.
    let free = |rule: &Known| {
        !rule.positive.is_empty() && rule.positive.len() + rule.negative.len() < ports
    };
    for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| free(rule)) {
        let agree = |other: &usize| {
            let other = &rules[*other];
            rule.positive.is_disjoint(&other.negative) && rule.negative.is_disjoint(&other.positive)
        };
        for set in 0..sets.len() {
            let longer: Vec<usize> = sets[set].iter().copied().chain([at]).collect();
            if sets[set].iter().all(agree) && !longer.iter().any(|r| is_spare(rules, &longer, *r)) {
                sets.push(longer);
            }
            if sets.len() > MAX_RULE_SETS {
                return None;
            }
        }
        sets.push(vec![at]);
    }
    let alone = (0..rules.len()).filter(|at| !free(&rules[*at])).map(|at| vec![at]);
    sets.extend(alone);
    sets.sort_unstable();
    Some(sets.iter().map(|set| Joint::new(rules, set)).collect())
}

/// Whether others of a set fire all nodes that a rule of it fires, as in every larger set.
fn is_spare(rules: &[Known], set: &[usize], rule: usize) -> bool {
    let others = || set.iter().filter(|other| **other != rule);
    rules[rule].positive.iter().all(|port| others().any(|o| rules[*o].positive.contains(port)))
}

impl Joint {
    fn new(rules: &[Known], set: &[usize]) -> Joint {
        let union = |of: fn(&Known) -> &BTreeSet<usize>| {
            let all: BTreeSet<usize> = set.iter().flat_map(|r| of(&rules[*r])).copied().collect();
            all.into_iter().collect()
        };
        Joint {
            fire: union(|k| &k.positive),
            touched: union(|k| &k.touched),
            claims: set.iter().flat_map(|r| rules[*r].claims.iter().cloned()).collect(),
        }
    }
}
