//! Whether two automata do the same, and if not, a run that shows it.

use std::collections::BTreeSet;

use super::actions::{Actions, Equivalence, SILENT};
use super::partition::{Partition, partition};
use crate::automaton::{Automaton, AutomatonBuilder};
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::hide::live;
use crate::limits::{Limited, ProductLimits};
use crate::symbol::{Cell, NameId};

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BisimulationVerdict {
    /// They do the same.
    Same {
        /// Blocks of states that do the same, over both.
        blocks: usize,
    },
    /// They do not.
    Different(Difference),
}

/// A play that distinguishes two automata: after all steps of `trace` but the last, which both can
/// take, only one side is in a state in which it can take the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Names that fire in each step, and under which constraint.
    pub trace: Vec<(Vec<NameId>, DataConstraint)>,
    /// Whether it is the left side that can take the last step of `trace` in its state.
    pub left_only: bool,
    /// What holds for all states that the steps may lead to.
    pub told: Told,
}

/// What distinguishes two automata, for all states that the same steps lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Only one side can take all steps.
    Run,
    /// Both can; only the other side may come to where it cannot take the last one.
    Refusal,
    /// Both can, and both may come to where they cannot take the last one.
    Choice,
}

/// Compares two automata over one table of words, from their initial states.
///
/// Names that only one of them has count as never firing in the other. Contents that are read
/// belong to what is compared: where they differ, the trace is one step in which nothing fires and
/// that puts them into the cells.
pub fn compare(
    left: &Automaton,
    right: &Automaton,
    kind: Equivalence,
    limits: &ProductLimits,
) -> Limited<BisimulationVerdict> {
    let begin = [contents(left), contents(right)];
    if begin[0] != begin[1] {
        let [left, right] = begin;
        let left_only = !left.is_true();
        let trace = vec![(Vec::new(), if left_only { left } else { right })];
        let told = Told::Run;
        return Ok(BisimulationVerdict::Different(Difference { trace, left_only, told }));
    }
    let both = beside(left, right);
    let found = partition(&both, kind, true, limits)?;
    let shift = left.states() as u32;
    let of_left = left.initial();
    let of_right: Vec<u32> = right.initial().iter().map(|s| s + shift).collect();
    let block = |s: &u32| found.block[*s as usize];
    let lacks = |s: &u32, others: &[u32]| !others.iter().any(|o| block(o) == block(s));
    let missing = of_left.iter().find(|s| lacks(s, &of_right)).map(|s| (*s, &of_right[..], true));
    let missing = missing
        .or_else(|| of_right.iter().find(|s| lacks(s, of_left)).map(|s| (*s, of_left, false)));
    Ok(match missing {
        None => BisimulationVerdict::Same { blocks: found.blocks },
        Some((state, others, left)) => {
            let play = Play { automaton: &both, actions: Actions::new(&both), kind, found: &found };
            let (steps, left_only) = match others.first() {
                Some(other) => play.difference(state, *other, left),
                None => (Vec::new(), left),
            };
            let (winner, loser) =
                if left_only { (of_left, &of_right[..]) } else { (&of_right[..], of_left) };
            let told = play.told(&steps, winner, loser);
            let trace = steps.into_iter().map(|action| play.said(action)).collect();
            BisimulationVerdict::Different(Difference { trace, left_only, told })
        }
    })
}

/// What is in cells at the start that some run reads.
fn contents(automaton: &Automaton) -> DataConstraint {
    let live = live::cells(automaton);
    let is_read = |cell: Cell| automaton.initial().iter().any(|s| live.is_live(cell, *s));
    let read = automaton.contents().iter().filter(|(cell, _)| is_read(*cell));
    DataConstraint::new(
        read.map(|(c, datum)| Literal::Equal(DataTerm::Constant(*datum), DataTerm::After(*c))),
    )
}

/// Both automata in one, the right one's states behind the left one's.
fn beside(left: &Automaton, right: &Automaton) -> Automaton {
    let names = left.alphabet().iter().chain(right.alphabet()).copied();
    let shift = left.states() as u32;
    let initial = left.initial().iter().copied();
    let initial = initial.chain(right.initial().iter().map(|s| s + shift)).collect();
    let mut builder = AutomatonBuilder::over(names, left.states() + right.states(), initial);
    for (automaton, shift) in [(left, 0), (right, shift)] {
        for step in automaton.all_steps() {
            let fire: Vec<NameId> = automaton.fires(&step).collect();
            let constraint = automaton.constraint(&step).clone();
            builder.step(step.from + shift, &fire, constraint, step.to + shift);
        }
    }
    builder.done()
}

struct Play<'a> {
    automaton: &'a Automaton,
    actions: Actions,
    kind: Equivalence,
    found: &'a Partition,
}

impl Play<'_> {
    /// Plays from two states that are not bisimilar; `left` if the first is the left side's. The
    /// actions, and whether the left side can take the last of them.
    fn difference(&self, mut one: u32, mut other: u32, mut left: bool) -> (Vec<u32>, bool) {
        let mut trace = Vec::new();
        loop {
            let Some((action, to, answers)) = self.attack(one, other).or_else(|| {
                (one, other, left) = (other, one, !left);
                self.attack(one, other)
            }) else {
                // Unreachable for states that differ: some iteration has split them.
                return (trace, left);
            };
            // That nothing happens for a while is no step of a weak play.
            if action != SILENT || self.kind == Equivalence::Strong {
                trace.push(action);
            }
            match answers.first() {
                Some(answer) => (one, other) = (to, *answer),
                None => return (trace, left),
            }
        }
    }

    /// What the actions of a play say of all states that the same actions lead to.
    fn told(&self, trace: &[u32], winner: &[u32], loser: &[u32]) -> Told {
        let Some((last, before)) = trace.split_last() else { return Told::Run };
        let can = |state: &u32| self.moves(*state).iter().any(|(action, _)| action == last);
        if !self.after(loser, before).iter().any(can) {
            Told::Run
        } else if self.after(winner, before).iter().all(can) {
            Told::Refusal
        } else {
            Told::Choice
        }
    }

    /// The states that actions may lead to.
    fn after(&self, begin: &[u32], trace: &[u32]) -> BTreeSet<u32> {
        let quiet = |states: BTreeSet<u32>| match self.kind {
            Equivalence::Strong => states,
            Equivalence::Weak => states.iter().flat_map(|state| self.silently(*state)).collect(),
        };
        trace.iter().fold(quiet(begin.iter().copied().collect()), |states, wanted| {
            let moves = states.iter().flat_map(|state| self.moves(*state));
            moves.filter(|(action, _)| action == wanted).map(|(_, to)| to).collect()
        })
    }

    /// A move of `one` that `other` cannot match in the iteration before the one that splits them,
    /// and the moves with the same action that `other` has.
    fn attack(&self, one: u32, other: u32) -> Option<(u32, u32, Vec<u32>)> {
        let iterations = self.found.iterations.iter().chain([&self.found.block]);
        let split = iterations.into_iter().position(|r| r[one as usize] != r[other as usize])?;
        let before = self.found.iterations.get(split.checked_sub(1)?)?;
        let answers = self.moves(other);
        for (action, to) in self.moves(one) {
            let same = |(a, _): &&(u32, u32)| *a == action;
            let matches = |(_, t): &(u32, u32)| before[*t as usize] == before[to as usize];
            if !answers.iter().filter(same).any(matches) {
                let answers = answers.iter().filter(same).map(|(_, t)| *t).collect();
                return Some((action, to, answers));
            }
        }
        None
    }

    /// What a state can do: steps, for weak bisimulation with silent ones before and after.
    fn moves(&self, state: u32) -> Vec<(u32, u32)> {
        if self.kind == Equivalence::Strong {
            return self.actions.of(self.automaton, state).collect();
        }
        let mut moves: Vec<(u32, u32)> = Vec::new();
        for via in self.silently(state) {
            moves.push((SILENT, via));
            for (action, to) in self.actions.of(self.automaton, via).filter(|(a, _)| *a != SILENT) {
                moves.extend(self.silently(to).into_iter().map(|end| (action, end)));
            }
        }
        moves.sort_unstable();
        moves.dedup();
        moves
    }

    fn silently(&self, state: u32) -> Vec<u32> {
        let mut all = vec![state];
        let mut next = 0;
        while let Some(at) = all.get(next).copied() {
            for (action, to) in self.actions.of(self.automaton, at) {
                if action == SILENT && !all.contains(&to) {
                    all.push(to);
                }
            }
            next += 1;
        }
        all
    }

    fn said(&self, action: u32) -> (Vec<NameId>, DataConstraint) {
        let mut steps = self.automaton.all_steps().zip(&self.actions.of_step);
        let sample = steps.find(|(_, a)| **a == action).map(|(step, _)| step);
        let all = self.automaton;
        let said = |step| (all.fires(&step).collect(), all.constraint(&step).clone());
        sample.map(said).unwrap_or_default()
    }
}
