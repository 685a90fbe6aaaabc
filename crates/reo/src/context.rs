//! Context: a connector in which nothing waits, and no datum is lost, without a reason.
//!
//! This is the semantics of Clarke, Costa, Arbab, *Connector colouring I: synchronisation and
//! context dependency*, 2006: at each place where two ends meet data flow, or do not for a reason
//! that one side gives. As automata know two colours, each end gets a second name that fires when
//! the end gives a reason (Jongmans, Krause, Arbab, *Encoding context-sensitivity in Reo into
//! non-context-sensitive semantic models*, 2011).
//!
//! *Which reasons a part gives.* Its step that fires N is right with the ends E ready if N lies in
//! E and no step of the state that fires more than N, and only ends of E, agrees with the data; it
//! gives a reason at the ready ends that do not fire. For the channels of the paper these are its
//! tables, closed under its flip rule, so that only the largest sets E count. Where another step
//! would do more for some data only, negated literals are added to the constraint. Data that do not
//! flow are not known: a filter whose output waits may be the reason why its input waits.
//!
//! *Which colours fit.* At a name that does not fire one of its parts gives a reason, or the
//! environment does, which may always be not ready.

mod join;

use std::collections::BTreeSet;

use itertools::Itertools;
use thiserror::Error;

use crate::automaton::Automaton;
use crate::connector::{Connector, ConnectorPart};
use crate::constraint::simplify::{Gone, is_possible, simplify, written};
use crate::constraint::{ConstraintStore, DataConstraint, DataTerm, Literal};
use crate::label;
use crate::limits::{ProductLimits, Stopped};
use crate::product::order::order;
use crate::symbol::NameId;
use join::{Joins, Joint, Names, Reasoned};

/// Most ways to give reasons in one step of one part.
const MAX_WAYS: usize = 4_096;

/// Why a connector has no context.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ContextError {
    /// The work was stopped, or needs more memory than allowed.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A part with too many ways to wait.
    #[error(
        "a step of `{0}` can wait for more than {MAX_WAYS} combinations of reasons; split it into \
         channels"
    )]
    Ways(String),
}

/// The connector as one part, its reachable product in context. Names inside stay.
pub fn in_context(
    connector: &Connector,
    limits: &ProductLimits,
) -> Result<Connector, ContextError> {
    let parts: Vec<Automaton> =
        connector.parts.iter().map(|part| part.automaton.possible()).collect();
    let owned = parts.iter().flat_map(|part| part.alphabet()).copied();
    let names: Vec<NameId> = owned.clone().sorted_unstable().dedup().collect();
    let all: Vec<&Automaton> = parts.iter().collect();
    let mut constraints = ConstraintStore::default();
    let mut reasoned = Vec::new();
    for at in order(&all, &names) {
        let automaton = &parts[at];
        let kind = &connector.parts[at].kind;
        let rows = (0..automaton.states() as u32).map(|state| {
            row(automaton, state, &names, &mut constraints)
                .ok_or_else(|| ContextError::Ways(kind.clone()))
        });
        let rows = rows.collect::<Result<_, _>>()?;
        let has = |name: &NameId| automaton.alphabet().binary_search(name).is_ok();
        reasoned.push(Reasoned { automaton, names: set(&names, &has), rows });
    }
    let owners = owned.counts();
    let outer = set(&names, &|name| connector.interface.contains(name) || owners[name] == 1);
    let joins = Joins { parts: reasoned, outer, constraints, limits };
    let automaton = joins.product(&names)?;
    let part = ConnectorPart { kind: "in context".into(), automaton };
    Ok(Connector { parts: vec![part], ..connector.clone() })
}

/// The names that are wanted, as a set of places.
fn set(names: &[NameId], wanted: &dyn Fn(&NameId) -> bool) -> Names {
    let mut set = vec![0; label::words_for(names.len())];
    let wanted = names.iter().enumerate().filter(|(_, name)| wanted(name));
    wanted.for_each(|(bit, _)| label::set(&mut set, bit));
    set.into()
}

/// A part's steps in a state at a moment, with reasons, and silent ones; none if too many ways.
fn row(
    automaton: &Automaton,
    state: u32,
    names: &[NameId],
    constraints: &mut ConstraintStore,
) -> Option<Vec<Joint>> {
    let steps = automaton.steps(state);
    let steps = steps.map(|s| (automaton.fires(&s).collect(), automaton.constraint(&s), s.to));
    let steps: Vec<(BTreeSet<NameId>, &DataConstraint, u32)> = steps.collect();
    let (none, free) = (BTreeSet::new(), DataConstraint::default());
    let idle = (none, &free, state);
    let mut row = Vec::new();
    for (fire, constraint, to) in steps.iter().chain([&idle]) {
        let alone = fire.is_empty() && !(constraint.is_true() && *to == state);
        let mut push = |fires, given, constraint: DataConstraint| {
            let condition = constraints.intern(constraint);
            row.push(Joint { fires, given, alone, condition, to: *to });
        };
        if alone {
            // A part's own silent step waits for nothing.
            push(set(names, &|_| false), set(names, &|_| false), (*constraint).clone());
            continue;
        }
        for Way { waits, more, .. } in ways(fire, constraint, &steps)? {
            let constraint = constraint.and(&DataConstraint::new(more));
            if is_possible(&constraint) {
                let has = |name: &NameId| automaton.alphabet().binary_search(name).is_ok();
                let given = |n: &NameId| has(n) && !fire.contains(n) && !waits.contains(n);
                push(set(names, &|name| fire.contains(name)), set(names, &given), constraint);
            }
        }
    }
    Some(row)
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    /// Names at which the reason comes from the other side.
    waits: BTreeSet<NameId>,
    /// What has to hold besides, so that no larger step agrees with the data.
    more: Vec<Literal>,
    /// What may hold of data that do not flow, so that no larger step agrees with them.
    doubts: Vec<Literal>,
}

/// A step that fires more than another one.
struct Larger {
    besides: Vec<NameId>,
    /// Literals over data that flow in the smaller one too: each may fail.
    asked: Vec<Literal>,
    /// The same over data that do not.
    open: Vec<Literal>,
}

/// All least ways: for each larger step one of its other names waits, or a literal of it fails.
fn ways(
    fire: &BTreeSet<NameId>,
    constraint: &DataConstraint,
    steps: &[(BTreeSet<NameId>, &DataConstraint, u32)],
) -> Option<Vec<Way>> {
    let mut ways = vec![Way { waits: BTreeSet::new(), more: Vec::new(), doubts: Vec::new() }];
    for larger in all_larger(fire, constraint, steps) {
        let mut next: Vec<Way> = Vec::new();
        for way in ways {
            let fails = |l: &Literal| way.more.contains(&l.clone().negated());
            let may_fail = |l: &Literal| way.doubts.contains(&l.clone().negated());
            let waits = larger.besides.iter().any(|name| way.waits.contains(name));
            if waits || larger.asked.iter().any(fails) || larger.open.iter().any(may_fail) {
                next.push(way);
                continue;
            }
            let with = |more: &dyn Fn(&mut Way)| {
                let mut way = way.clone();
                more(&mut way);
                way
            };
            let waiting = |name: &NameId| with(&|way| _ = way.waits.insert(*name));
            next.extend(larger.besides.iter().map(waiting));
            next.extend(
                larger.asked.iter().map(|l| with(&|way| way.more.push(l.clone().negated()))),
            );
            next.extend(larger.open.iter().filter_map(|literal| {
                let doubting = with(&|way| way.doubts.push(literal.clone().negated()));
                let all = doubting.more.iter().chain(&doubting.doubts).cloned();
                is_possible(&constraint.and(&DataConstraint::new(all))).then_some(doubting)
            }));
        }
        ways = least(next);
        if ways.len() > MAX_WAYS {
            return None;
        }
    }
    Some(ways)
}

/// The steps that fire more, and agree with the data of the smaller one.
fn all_larger(
    fire: &BTreeSet<NameId>,
    constraint: &DataConstraint,
    steps: &[(BTreeSet<NameId>, &DataConstraint, u32)],
) -> Vec<Larger> {
    let larger = steps.iter().filter(|(all, ..)| all.is_superset(fire) && all.len() > fire.len());
    let besides = |all: &BTreeSet<NameId>| all.difference(fire).copied().collect::<Vec<NameId>>();
    let rests: Vec<(Vec<NameId>, &DataConstraint, DataConstraint)> = larger
        .filter_map(|(all, other, _)| {
            let rest = asked(other, &besides(all))?;
            is_possible(&constraint.and(&rest)).then(|| (besides(all), *other, rest))
        })
        .collect();
    let is_open = |rest: &DataConstraint| rest.literals().iter().any(is_open);
    // Data at which all steps in doubt look are the same for them.
    let in_doubt = rests.iter().filter(|(.., rest)| is_open(rest)).map(|(besides, ..)| besides);
    let common: Vec<NameId> = match in_doubt.clone().next() {
        Some(first) => {
            first.iter().filter(|n| in_doubt.clone().all(|all| all.contains(n))).copied().collect()
        }
        None => Vec::new(),
    };
    let made = |(besides, other, rest): (Vec<NameId>, &DataConstraint, DataConstraint)| {
        let own: Vec<NameId> = besides.iter().filter(|n| !common.contains(n)).copied().collect();
        let kept = if is_open(&rest) { asked(other, &own) } else { None }.unwrap_or_default();
        // An equation with a datum that the step gives can be fulfilled.
        let seen = |leaf: &DataTerm| matches!(leaf, DataTerm::Datum(n) if common.contains(n));
        let open = kept.literals().iter();
        let open = open.filter(|l| l.has_leaf(seen) && !matches!(l, Literal::Equal(..)));
        let asked = rest.literals().iter().filter(|l| !self::is_open(l)).cloned().collect();
        Larger { open: open.cloned().collect(), asked, besides }
    };
    rests.into_iter().map(made).collect()
}

/// What a step asks of data but those at `besides` and what it stores, which are free.
fn asked(step: &DataConstraint, besides: &[NameId]) -> Option<DataConstraint> {
    simplify(step, &Gone { names: besides, cells: &written(step) })
}

/// Whether a literal is about a value that nothing names.
fn is_open(literal: &Literal) -> bool {
    literal.has_leaf(|leaf| matches!(leaf, DataTerm::Some(_)))
}

/// Without ways that ask for all that another one asks for, and more.
fn least(ways: Vec<Way>) -> Vec<Way> {
    let mut kept: Vec<Way> = Vec::new();
    let within = |a: &Way, b: &Way| {
        let all = |a: &[Literal], b: &[Literal]| a.iter().all(|literal| b.contains(literal));
        a.waits.is_subset(&b.waits) && all(&a.more, &b.more) && all(&a.doubts, &b.doubts)
    };
    for way in ways {
        if !kept.iter().any(|other| within(other, &way)) {
            kept.retain(|other| !within(&way, other));
            kept.push(way);
        }
    }
    kept
}
