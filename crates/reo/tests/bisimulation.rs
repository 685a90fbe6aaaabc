//! Partitions, least automata and comparisons against the greatest fixpoint, pair by pair.

use crate::values;

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::bisimulation::{
    BisimulationVerdict, Difference, Equivalence, Told, compare, minimise, partition, without_inert,
};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::hide::close;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::run::Random;
use tickbound_reo::symbol::{NameId, Symbols};

const KINDS: [Equivalence; 2] = [Equivalence::Strong, Equivalence::Weak];

/// What is seen of a step; a silent one without a condition is `(vec![], true)`.
type Action = (Vec<NameId>, DataConstraint);

/// States with their steps, for the naive oracles.
#[derive(Debug, Clone)]
struct Plain {
    initial: Vec<usize>,
    steps: Vec<BTreeSet<(Action, usize)>>,
}

fn is_silent((names, constraint): &Action) -> bool {
    names.is_empty() && constraint.is_true()
}

impl Plain {
    fn of(automaton: &Automaton) -> Plain {
        let step = |state: u32| {
            let said = |s| (automaton.fires(&s).collect(), automaton.constraint(&s).clone());
            automaton.steps(state).map(|s| (said(s), s.to as usize)).collect()
        };
        Plain {
            initial: automaton.initial().iter().map(|s| *s as usize).collect(),
            steps: (0..automaton.states() as u32).map(step).collect(),
        }
    }

    /// Both, the states of the other behind those of this one.
    fn beside(&self, other: &Plain) -> Plain {
        let shift = self.steps.len();
        let moved = |row: &BTreeSet<(Action, usize)>| {
            row.iter().map(|(action, to)| (action.clone(), to + shift)).collect()
        };
        let steps = self.steps.iter().cloned().chain(other.steps.iter().map(moved)).collect();
        let initial = other.initial.iter().map(|s| s + shift);
        Plain { initial: self.initial.iter().copied().chain(initial).collect(), steps }
    }

    /// Where silent steps lead from a state, itself among them.
    fn silently(&self, state: usize) -> BTreeSet<usize> {
        let (mut found, mut next) = (BTreeSet::from([state]), vec![state]);
        while let Some(at) = next.pop() {
            for (_, to) in self.steps[at].iter().filter(|(a, _)| is_silent(a)) {
                if found.insert(*to) {
                    next.push(*to);
                }
            }
        }
        found
    }

    /// What a state can do, for weak bisimulation with silent steps before, after and instead.
    fn moves(&self, state: usize, kind: Equivalence) -> BTreeSet<(Action, usize)> {
        if kind == Equivalence::Strong {
            return self.steps[state].clone();
        }
        let mut moves = BTreeSet::new();
        for via in self.silently(state) {
            moves.insert(((Vec::new(), DataConstraint::default()), via));
            for (action, to) in self.steps[via].iter().filter(|(a, _)| !is_silent(a)) {
                moves.extend(self.silently(*to).into_iter().map(|end| (action.clone(), end)));
            }
        }
        moves
    }

    /// For each pair of states whether they are bisimilar: all pairs, less those that cannot answer
    /// each other, until nothing changes.
    fn alike(&self, kind: Equivalence) -> Vec<Vec<bool>> {
        let n = self.steps.len();
        let moves: Vec<_> = (0..n).map(|s| self.moves(s, kind)).collect();
        let mut alike = vec![vec![true; n]; n];
        loop {
            let answered = |p: usize, q: usize| {
                moves[p]
                    .iter()
                    .all(|(a, p2)| moves[q].iter().any(|(b, q2)| a == b && alike[*p2][*q2]))
            };
            let pairs = (0..n).flat_map(|p| (0..n).map(move |q| (p, q)));
            let failed: Vec<(usize, usize)> = pairs
                .filter(|(p, q)| alike[*p][*q] && !(answered(*p, *q) && answered(*q, *p)))
                .collect();
            if failed.is_empty() {
                return alike;
            }
            failed.into_iter().for_each(|(p, q)| alike[p][q] = false);
        }
    }

    /// For each pair of states whether they are branching bisimilar, by the definition: a step is
    /// answered by the same one after silent steps to a state like the first, or, if it is silent,
    /// by none where the pair is still alike after it.
    fn branching(&self) -> Vec<Vec<bool>> {
        let n = self.steps.len();
        let silently: Vec<BTreeSet<usize>> = (0..n).map(|s| self.silently(s)).collect();
        let mut alike = vec![vec![true; n]; n];
        loop {
            let answered = |p: usize, q: usize| {
                self.steps[p].iter().all(|(a, p2)| {
                    let same = |q1: &usize| {
                        let mut steps = self.steps[*q1].iter();
                        alike[p][*q1] && steps.any(|(b, q2)| a == b && alike[*p2][*q2])
                    };
                    is_silent(a) && alike[*p2][q] || silently[q].iter().any(same)
                })
            };
            let pairs = (0..n).flat_map(|p| (0..n).map(move |q| (p, q)));
            let failed: Vec<(usize, usize)> = pairs
                .filter(|(p, q)| alike[*p][*q] && !(answered(*p, *q) && answered(*q, *p)))
                .collect();
            if failed.is_empty() {
                return alike;
            }
            failed.into_iter().for_each(|(p, q)| alike[p][q] = false);
        }
    }

    /// How many classes an equivalence has.
    fn classes(alike: &[Vec<bool>]) -> usize {
        alike.iter().enumerate().filter(|(p, row)| !row[..*p].contains(&true)).count()
    }

    /// States that actions lead to, one after another.
    fn after(&self, trace: &[Action], kind: Equivalence) -> BTreeSet<usize> {
        let mut now: BTreeSet<usize> = self.initial.iter().copied().collect();
        for action in trace {
            let onward = |s: &usize| self.moves(*s, kind).into_iter().filter(|(a, _)| a == action);
            now = now.iter().flat_map(onward).map(|(_, to)| to).collect();
        }
        now
    }
}

/// Whether each initial state of one is bisimilar to one of the other.
fn equivalent(left: &Automaton, right: &Automaton, kind: Equivalence) -> bool {
    let both = Plain::of(left).beside(&Plain::of(right));
    let alike = both.alike(kind);
    let (of_left, of_right) = both.initial.split_at(left.initial().len());
    of_left.iter().all(|p| of_right.iter().any(|q| alike[*p][*q]))
        && of_right.iter().all(|q| of_left.iter().any(|p| alike[*p][*q]))
}

/// Most steps fire nothing or one name, some under a condition.
fn automaton(states: u32) -> impl Strategy<Value = Automaton> {
    (1..=states, 0..3u8).prop_flat_map(|(states, two)| {
        let fire = prop_oneof![3 => Just(0), 3 => Just(1), 1 => Just(2), 1 => Just(3)];
        let condition = prop_oneof![6 => Just(0), 1 => Just(1), 1 => Just(2)];
        vec((0..states, fire, condition, 0..states), 0..3 * states as usize).prop_map(
            move |steps| {
                let mut symbols = Symbols::new();
                let names = [symbols.name("a"), symbols.name("b")];
                let (cell, one) = (symbols.cell("m"), DataTerm::Constant(symbols.intern("1")));
                let conditions = [
                    DataConstraint::default(),
                    DataConstraint::new([Literal::Equal(DataTerm::Before(cell), one.clone())]),
                    DataConstraint::new([Literal::Equal(one, DataTerm::After(cell))]),
                ];
                let initial = if two == 0 && states > 1 { vec![0, 1] } else { vec![0] };
                let mut builder = AutomatonBuilder::over(names, states as usize, initial);
                for (from, fire, condition, to) in steps {
                    let fire: Vec<NameId> =
                        (0..2).filter(|k| fire >> k & 1 == 1).map(|k| names[k]).collect();
                    builder.step(from, &fire, conditions[condition as usize].clone(), to);
                }
                builder.finish().unwrap()
            },
        )
    })
}

fn plenty() -> ProductLimits<'static> {
    ProductLimits::memory(1 << 30)
}

/// The automaton without one of its steps.
fn without(automaton: &Automaton, leave: usize) -> Automaton {
    let names = automaton.alphabet().iter().copied();
    let mut builder =
        AutomatonBuilder::over(names, automaton.states(), automaton.initial().to_vec());
    for step in automaton.all_steps().enumerate().filter(|(k, _)| *k != leave).map(|(_, s)| s) {
        builder.push(step.from, step.label, automaton.constraint(&step).clone(), step.to);
    }
    builder.finish().unwrap()
}

/// Asserts that one side can take the whole trace and the other all but its last step, and what is
/// told of states that the same steps lead to.
fn replayed(left: &Automaton, right: &Automaton, difference: &Difference, kind: Equivalence) {
    let Difference { trace, left_only, told } = difference;
    let (can, cannot) = if *left_only { (left, right) } else { (right, left) };
    let (last, before) = trace.split_last().expect("something that only one side can do");
    let (can, cannot) = (Plain::of(can), Plain::of(cannot));
    assert!(!can.after(trace, kind).is_empty(), "{difference:?}");
    assert!(!cannot.after(before, kind).is_empty(), "{difference:?}");
    assert_eq!(cannot.after(trace, kind).is_empty(), *told == Told::Run, "{difference:?}");
    let refuses = |side: &Plain| {
        let quiet =
            |s| if kind == Equivalence::Weak { side.silently(s) } else { BTreeSet::from([s]) };
        let mut states = side.after(before, kind).into_iter().flat_map(quiet);
        states.any(|s| !side.moves(s, kind).iter().any(|(action, _)| action == last))
    };
    assert!(refuses(&cannot), "{difference:?}");
    assert!(*told == Told::Run || refuses(&can) == (*told == Told::Choice), "{difference:?}");
}

proptest! {
    #![proptest_config(values::cases(300))]

    #[test]
    fn blocks_are_the_greatest_fixpoint(automaton in automaton(7)) {
        for kind in KINDS {
            let found = partition(&automaton, kind, true, &plenty()).unwrap();
            let alike = Plain::of(&automaton).alike(kind);
            for (p, row) in alike.iter().enumerate() {
                for (q, alike) in row.iter().enumerate() {
                    prop_assert_eq!(found.block[p] == found.block[q], *alike, "{:?} {} {}", kind,
                        p, q);
                }
            }
            // Numbered in the order of their first states; iterations from one block on, each
            // finer.
            let mut next = 0;
            for block in &found.block {
                prop_assert!(*block <= next);
                next = next.max(block + 1);
            }
            prop_assert_eq!(next as usize, found.blocks);
            let iterations: Vec<_> = found.iterations.iter().chain([&found.block]).collect();
            prop_assert!(iterations[0].iter().all(|b| *b == 0));
            for pair in iterations.windows(2) {
                let together = |iteration: &[u32], p: usize, q: usize| iteration[p] == iteration[q];
                for (p, q) in (0..alike.len()).flat_map(|p| (0..p).map(move |q| (p, q))) {
                    prop_assert!(together(pair[0], p, q) || !together(pair[1], p, q));
                }
            }
        }
    }

    #[test]
    fn the_least_automaton_is_least(automaton in automaton(6)) {
        for kind in KINDS {
            let least = minimise(automaton.clone(), kind, &plenty()).unwrap();
            prop_assert!(equivalent(&automaton, &least, kind), "{kind:?} {least:?}");
            let verdict = compare(&automaton, &least, kind, &plenty()).unwrap();
            prop_assert!(matches!(verdict, BisimulationVerdict::Same { .. }), "{:?} {:?}", kind,
                verdict);
            let reachable = partition(&automaton.reachable().0, kind, false, &plenty()).unwrap();
            prop_assert_eq!(least.states(), reachable.blocks);
            let alike = Plain::of(&least).alike(kind);
            for (p, q) in (0..least.states()).flat_map(|p| (0..p).map(move |q| (p, q))) {
                prop_assert!(!alike[p][q], "{:?}: {} and {} are alike", kind, p, q);
            }
            for k in 0..least.transitions() {
                let fewer = without(&least, k);
                prop_assert!(!equivalent(&least, &fewer, kind), "{kind:?}: step {k} of {least:?}");
            }
            prop_assert_eq!(minimise(least.clone(), kind, &plenty()).unwrap(), least);
        }
    }

    #[test]
    fn inert_steps_go_and_nothing_else(automaton in automaton(8)) {
        let reachable = automaton.reachable().0;
        let fewer = without_inert(automaton.clone(), &plenty()).unwrap();
        let alike = Plain::of(&reachable).branching();
        prop_assert_eq!(fewer.states(), Plain::classes(&alike), "{:?}", fewer);
        let both = Plain::of(&reachable).beside(&Plain::of(&fewer));
        let alike = both.branching();
        let (before, after) = both.initial.split_at(reachable.initial().len());
        prop_assert!(before.iter().all(|p| after.iter().any(|q| alike[*p][*q])));
        prop_assert!(after.iter().all(|q| before.iter().any(|p| alike[*p][*q])));
        // What closing makes of silent steps is the same; tests of reductions have data.
        let plain = automaton.without_data();
        let fewer = without_inert(plain.clone(), &plenty()).unwrap();
        let [before, after] = [plain, fewer].map(|a| close(&a, &plenty()).unwrap());
        prop_assert!(equivalent(&before, &after, Equivalence::Strong), "{after:?}");
    }

    #[test]
    fn comparisons_are_right_and_replay(left in automaton(5), right in automaton(5)) {
        // Beside another automaton, what it is with one step less: often alike, and often not.
        let near = without(&left, 0);
        for (left, right) in [(&left, &right), (&left, &near), (&near, &left)] {
            for kind in KINDS {
                let same = equivalent(left, right, kind);
                match compare(left, right, kind, &plenty()).unwrap() {
                    BisimulationVerdict::Same { .. } => prop_assert!(same),
                    BisimulationVerdict::Different(difference) => {
                        prop_assert!(!same);
                        replayed(left, right, &difference, kind);
                    }
                }
            }
        }
    }
}

#[test]
fn contents_that_are_read_are_compared() {
    let mut symbols = Symbols::new();
    let (a, b, cell) = (symbols.name("a"), symbols.name("b"), symbols.cell("m"));
    let constants = ["1", "2"].map(|w| symbols.intern(w));
    let full = |content| fifo1(a, b, cell, content);
    let [one, two] = constants.map(|c| full(BufferContent::Constant(c)));
    let put = |at: usize| {
        let put = Literal::Equal(DataTerm::Constant(constants[at]), DataTerm::After(cell));
        vec![(Vec::new(), DataConstraint::new([put]))]
    };
    fn verdict(left: &Automaton, right: &Automaton) -> BisimulationVerdict {
        compare(left, right, Equivalence::Weak, &plenty()).unwrap()
    }
    assert_eq!(verdict(&one, &one), BisimulationVerdict::Same { blocks: 2 });
    let differ = |at, left_only| {
        BisimulationVerdict::Different(Difference { trace: put(at), left_only, told: Told::Run })
    };
    assert_eq!(verdict(&one, &two), differ(0, true));
    assert_eq!(verdict(&full(BufferContent::Unknown), &two), differ(1, false));
    // What nobody reads makes no difference.
    let [one, two] = [one, two].map(|full| {
        let mut builder = AutomatonBuilder::over([a, b], 1, vec![0]);
        builder.contents(full.contents().iter().copied());
        builder.step(0, &[a], DataConstraint::default(), 0);
        builder.finish().unwrap()
    });
    assert_eq!(verdict(&one, &two), BisimulationVerdict::Same { blocks: 1 });
}

/// Many random automata with many silent steps, minimised as [`minimise`] does it - inert steps
/// first, then by sketches - and by the saturated relation alone.
#[test]
fn the_ways_to_the_weak_quotient_agree() {
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(51);
    println!("SEED={seed}");
    let mut random = Random::new(seed);
    let mut symbols = Symbols::new();
    let names = [symbols.name("a"), symbols.name("b")];
    // Cases in which the weak quotient is smaller than the branching one, and in which it is the
    // given automaton.
    let (mut smaller, mut least) = (0, 0);
    for case in 0..1500 {
        let states = 2 + random.below(40);
        let mut builder = AutomatonBuilder::over(names, states, vec![0]);
        let density = 1 + random.below(4);
        for _ in 0..density * states {
            let (from, to) = (random.below(states) as u32, random.below(states) as u32);
            // Mostly acyclic silent steps, so that some decide something.
            let fire = random.below(6);
            let (from, to) =
                if fire < 4 && case % 3 > 0 { (from.min(to), from.max(to)) } else { (from, to) };
            let fire = if fire < 4 { &names[..0] } else { &names[fire - 4..fire - 3] };
            builder.step(from, fire, DataConstraint::default(), to);
        }
        let automaton = builder.finish().unwrap().reachable().0;
        let found = partition(&automaton, Equivalence::Weak, false, &plenty()).unwrap();
        let made = minimise(automaton.clone(), Equivalence::Weak, &plenty()).unwrap();
        assert_eq!(made.states(), found.blocks, "SEED={seed} case {case}");
        let verdict = compare(&automaton, &made, Equivalence::Weak, &plenty()).unwrap();
        assert_eq!(verdict, BisimulationVerdict::Same { blocks: found.blocks }, "case {case}");
        let fewer = without_inert(automaton.clone(), &plenty()).unwrap();
        assert!(fewer.states() >= made.states(), "SEED={seed} case {case}");
        smaller += usize::from(fewer.states() > made.states());
        least += usize::from(automaton.states() == made.states() && made.states() > 4);
    }
    println!("{smaller} cases in which weak is coarser than branching, {least} least ones");
    assert!(smaller > 50 && least > 10, "{smaller} {least}");
}
