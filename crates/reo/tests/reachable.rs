//! The reachable product against the textbook one, against known sizes, and at its limits.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::families::textbook;
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder, Transition};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::limits::{ProductLimits, ProductProgress, Stopped};
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::reachable::compose;
use tickbound_reo::symbol::{Cell, NameId, SymbolId, Symbols};

const MIB: u64 = 1 << 20;

fn made(parts: &[Automaton]) -> Automaton {
    let parts: Vec<&Automaton> = parts.iter().collect();
    compose(&parts, &ProductLimits::memory(1024 * MIB)).expect("fits")
}

fn size(parts: &[Automaton]) -> (usize, usize) {
    let product = made(parts);
    (product.states(), product.transitions())
}

fn names(symbols: &mut Symbols, word: &str, many: usize) -> Vec<NameId> {
    (0..many).map(|i| symbols.name(&format!("{word}{i}"))).collect()
}

fn buffer(symbols: &mut Symbols, a: NameId, b: NameId) -> Automaton {
    let cell = symbols.fresh_cell("m");
    primitive::fifo1(a, b, cell, BufferContent::Empty)
}

fn independent(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let (a, b) = (names(&mut symbols, "a", n), names(&mut symbols, "b", n));
    (0..n).map(|i| buffer(&mut symbols, a[i], b[i])).collect()
}

fn chain(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let x = names(&mut symbols, "x", n + 1);
    (0..n).map(|i| buffer(&mut symbols, x[i], x[i + 1])).collect()
}

pub fn alternator(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let [p, s, x, f] = ["p", "s", "x", "f"].map(|word| names(&mut symbols, word, n));
    let mut parts = vec![primitive::sync(p[0], s[0])];
    for i in 1..n {
        parts.push(primitive::sync_drain(p[i - 1], p[i]));
        parts.push(primitive::sync(p[i], s[i]));
        parts.push(buffer(&mut symbols, x[i], f[i]));
    }
    for i in 0..n {
        let inputs = if i + 1 < n { vec![s[i], f[i + 1]] } else { vec![s[i]] };
        parts.push(primitive::merger(&inputs, x[i]));
    }
    parts
}

fn plain(parts: Vec<Automaton>) -> Vec<Automaton> {
    parts.iter().map(Automaton::without_data).collect()
}

// Known sizes.

#[test]
fn buffers_that_share_nothing_take_every_combination_of_steps() {
    for n in 1..=6 {
        let expected = (1 << n, (1 << (2 * n)) - (1 << n));
        assert_eq!(size(&independent(n)), expected, "{n} buffers");
        assert_eq!(size(&reversed(independent(n))), expected, "{n} buffers, reversed");
    }
}

fn reversed(mut parts: Vec<Automaton>) -> Vec<Automaton> {
    parts.reverse();
    parts
}

#[test]
fn an_open_chain_of_buffers_has_the_known_sizes() {
    let known = [6, 16, 42, 108, 274, 688, 1714, 4244, 10_458, 25_672, 62_826];
    for (n, transitions) in (2..).zip(known) {
        assert_eq!(size(&chain(n)), (1 << n, transitions), "{n} buffers");
        assert_eq!(size(&plain(chain(n))), (1 << n, transitions), "{n} buffers without data");
    }
}

#[test]
fn the_alternator_has_the_known_sizes() {
    for (n, transitions) in (2..).zip([2, 4, 10, 26, 68]) {
        assert_eq!(size(&plain(alternator(n))), (1 << (n - 1), transitions), "{n} producers");
    }
}

#[test]
fn of_no_part_at_all_it_is_one_state() {
    let product = made(&[]);
    assert_eq!((product.states(), product.transitions()), (1, 0));
    assert_eq!((product.alphabet(), product.initial()), (&[][..], &[0][..]));
}

#[test]
fn a_part_without_initial_states_leaves_nothing() {
    let mut symbols = Symbols::new();
    let a = symbols.name("a");
    let mut builder = AutomatonBuilder::over([a], 1, vec![]);
    builder.step(0, &[a], DataConstraint::default(), 0);
    let never = builder.finish().expect("fits together");
    assert_eq!(size(&[never, independent(1).remove(0)]), (0, 0));
    assert_eq!(
        size(&[AutomatonBuilder::over([], 0, vec![]).finish().expect("fits together")]),
        (0, 0)
    );
}

#[test]
fn a_merger_of_many_inputs_does_not_try_them_all() {
    // Buffers that are full at first into one merger: were they all asked before the merger, each
    // state would cost up to 2^16 attempts.
    let mut symbols = Symbols::new();
    let n = 16;
    let [a, b, c] = ["a", "b", "c"].map(|word| names(&mut symbols, word, n));
    let out = symbols.name("out");
    let mut parts: Vec<Automaton> = (0..n).map(|i| primitive::sync(b[i], c[i])).collect();
    parts.extend((0..n).map(|i| {
        let cell = symbols.fresh_cell("m");
        primitive::fifo1(a[i], b[i], cell, BufferContent::Unknown)
    }));
    // What would fill a buffer never comes.
    parts
        .extend(a.iter().map(|a| AutomatonBuilder::over([*a], 1, vec![0]).finish().expect("fits")));
    parts.push(primitive::merger(&c, out));
    let mut limited = parts.clone();
    limited.push(primitive::sync(out, symbols.name("d")));
    let parts: Vec<&Automaton> = limited.iter().collect();
    let product = compose(&parts, &ProductLimits::memory(256 * MIB)).expect("fits");
    assert_eq!((product.states(), product.transitions()), (1 << n, n << (n - 1)));
}

#[test]
fn of_three_hundred_parts_one_is_enabled() {
    let mut symbols = Symbols::new();
    let n = 300;
    let x = names(&mut symbols, "x", n);
    let content = |i| if i == 0 { BufferContent::Unknown } else { BufferContent::Empty };
    let cell = |symbols: &mut Symbols| symbols.fresh_cell("m");
    let ring = |i: usize| {
        let cell = cell(&mut symbols);
        primitive::fifo1(x[i], x[(i + 1) % n], cell, content(i))
    };
    let parts: Vec<Automaton> = (0..n).map(ring).collect();
    let product = made(&parts);
    assert_eq!((product.states(), product.transitions()), (n, n));
    assert_eq!(product.words(), 5);
    assert_eq!(product.cells().len(), n);
    assert!(product.all_steps().all(|s| !product.constraint(&s).is_true()));
}

/// A part that lets one of many move at a time: more stages than a word has bits. Each name wakes a
/// part, which may wake another one, and every third of these refuses.
#[test]
fn one_of_a_hundred_moves_and_wakes_the_others() {
    let mut symbols = Symbols::new();
    let (a, b) = (names(&mut symbols, "a", 100), names(&mut symbols, "b", 100));
    let mut hub = AutomatonBuilder::over(a.clone(), 1, vec![0]);
    for name in &a {
        hub.step(0, &[*name], DataConstraint::default(), 0);
    }
    let mut parts = vec![hub.finish().expect("fits together")];
    for (at, (a, b)) in a.iter().zip(&b).enumerate() {
        let states = if at < 3 { 2 } else { 1 };
        let mut moves = AutomatonBuilder::over([*a, *b], states, vec![0]);
        moves.step(0, &[*a, *b], DataConstraint::default(), states as u32 - 1);
        moves.step(states as u32 - 1, &[*a], DataConstraint::default(), 0);
        let mut wakes = AutomatonBuilder::over([*b], 1, vec![0]);
        if at % 3 > 0 {
            wakes.step(0, &[*b], DataConstraint::default(), 0);
        }
        parts.extend([moves, wakes].map(|part| part.finish().expect("fits together")));
    }
    same(&parts);
    // The first is stuck, the next two go round; of the others 33 have one step and 64 two.
    assert_eq!(size(&parts), (4, 4 * (2 + 33 + 2 * 64)));
}

#[test]
fn parts_that_never_move_change_nothing() {
    // Seventy full buffers that nobody empties: keys of two words, looked up by their hashes.
    let mut symbols = Symbols::new();
    let x = names(&mut symbols, "x", 10);
    let [a, b] = ["a", "b"].map(|word| names(&mut symbols, word, 70));
    let chain: Vec<Automaton> = (0..9).map(|i| buffer(&mut symbols, x[i], x[i + 1])).collect();
    let mut parts = chain.clone();
    for i in 0..70 {
        let cell = symbols.fresh_cell("m");
        parts.push(primitive::fifo1(a[i], b[i], cell, BufferContent::Unknown));
        parts.push(AutomatonBuilder::over([b[i]], 1, vec![0]).finish().expect("fits together"));
    }
    let (alone, beside) = (made(&chain), made(&parts));
    assert_eq!(size(&parts), (alone.states(), alone.transitions()));
    assert_eq!(alone.targets(), beside.targets());
    let fires =
        |a: &Automaton| a.all_steps().map(|s| a.fires(&s).collect()).collect::<Vec<Vec<_>>>();
    assert_eq!(fires(&alone), fires(&beside));
}

#[test]
fn what_no_machine_could_hold_is_still_counted() {
    let mut symbols = Symbols::new();
    let a = names(&mut symbols, "a", 100);
    let parts: Vec<Automaton> = a.iter().map(|a| primitive::merger(&[*a], *a)).collect();
    let refs: Vec<&Automaton> = parts.iter().collect();
    let needed = match compose(&refs, &ProductLimits::memory(MIB)) {
        Err(Stopped::Memory { needed, limit, .. }) if limit == MIB => needed,
        other => panic!("{other:?}"),
    };
    assert!(needed > 1 << 100);
}

#[test]
fn a_group_with_very_many_steps_is_written_as_it_is_found() {
    // One part with 70,000 steps, beside a buffer.
    let mut symbols = Symbols::new();
    let (a, parts) = (symbols.name("a"), independent(1));
    let n = 70_000;
    let mut builder = AutomatonBuilder::over([NameId(SymbolId(a.0.0 + 1000))], n, vec![0]);
    for to in 0..n as u32 {
        builder.step(0, &[NameId(SymbolId(a.0.0 + 1000))], DataConstraint::default(), to);
    }
    let star = builder.finish().expect("fits together");
    assert_eq!(size(&[star, parts[0].clone()]), (2 * n, 2 * (2 * n + 1) + 2 * (n - 1)));
}

// Limits.

#[test]
fn memory_is_asked_for_before_it_is_taken() {
    let parts = independent(10);
    let refs: Vec<&Automaton> = parts.iter().collect();
    for limit in [0, 1000, 100_000, MIB, 4 * MIB] {
        match compose(&refs, &ProductLimits::memory(limit)) {
            Err(Stopped::Memory { needed, limit: told, .. }) => {
                assert!(told == limit && needed > u128::from(limit), "{needed} of {limit}");
            }
            other => panic!("{limit}: {:?}", other.map(|product| product.transitions())),
        }
    }
    // 1,047,552 steps of 16 bytes, and 59,049 constraints.
    assert!(compose(&refs, &ProductLimits::memory(256 * MIB)).is_ok());
}

#[test]
fn it_stops_when_told_and_tells_how_far_it_is() {
    let (stop, states) = (AtomicBool::new(false), AtomicU64::new(0));
    let progress = |progress: ProductProgress| {
        states.fetch_max(progress.states, Ordering::Relaxed);
        stop.store(true, Ordering::Relaxed);
    };
    let limits = ProductLimits { memory: 1024 * MIB, stop: &stop, progress: &progress };
    let parts = independent(12);
    let refs: Vec<&Automaton> = parts.iter().collect();
    assert_eq!(compose(&refs, &limits), Err(Stopped::Interrupted));
    assert!(states.load(Ordering::Relaxed) > 1);
}

// One result.

#[test]
fn any_number_of_threads_gives_the_same() {
    for parts in [chain(11), independent(8), alternator(7), twins()] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| made(&parts))
        };
        let one = with(1);
        assert!([2, 3, 8].into_iter().all(|threads| with(threads) == one));
    }
}

#[test]
fn states_are_numbered_breadth_first() {
    for parts in [chain(9), alternator(6)] {
        let product = made(&parts);
        let order = product.reachable().1;
        assert!(order.iter().enumerate().all(|(n, state)| n as u32 == *state));
    }
}

/// Parts whose steps differ in conditions that come out alike, and silent loops.
pub fn twins() -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let [a, b, p, q] = ["a", "b", "p", "q"].map(|word| symbols.name(word));
    let is = |p: NameId| {
        DataConstraint::new([Literal::Predicate(true, p.0, [DataTerm::Datum(a)].into())])
    };
    let mut one = AutomatonBuilder::over([a, b], 2, vec![0]);
    one.step(0, &[a], is(p), 1).step(0, &[a], is(q), 1).step(0, &[a], is(p).and(&is(q)), 1);
    one.step(1, &[], is(p), 1).step(1, &[b], DataConstraint::default(), 0);
    let mut two = AutomatonBuilder::over([a], 1, vec![0]);
    two.step(0, &[a], is(p), 0).step(0, &[a], is(q), 0).step(0, &[], is(p), 0);
    [one, two].map(|builder| builder.finish().expect("fits together")).to_vec()
}

#[test]
fn steps_that_come_out_alike_are_one() {
    let parts = twins();
    // With p: p, p & q, p & q; with q: p & q, q, p & q; and the silent loops of both.
    assert_eq!(size(&parts), (2, 3 + 1 + 1 + 1));
    same(&parts);
}

// Against the textbook.

fn folded(parts: &[Automaton]) -> Automaton {
    let parts: Vec<Automaton> = parts.iter().map(Automaton::without_idle).collect();
    let fold = |whole: Automaton, part: &Automaton| textbook::product(&whole, part);
    parts[1..].iter().fold(parts[0].clone(), fold).reachable().0
}

/// A step as a state sees it: whether it leaves, its label and constraint, the other's colour.
type Seen = (bool, Vec<u64>, DataConstraint, u32);

/// The states' colours: equal ones cannot be told apart by steps, forward and back, and by the
/// order of initial states. The table is common to all automata that are compared.
fn colours(automata: &[&Automaton]) -> Vec<Vec<u32>> {
    let start = |automaton: &&Automaton| {
        let place = |s: u32| automaton.initial().iter().position(|i| *i == s).map_or(0, |p| p + 1);
        (0..automaton.states() as u32).map(|s| place(s) as u32).collect()
    };
    let mut colours: Vec<Vec<u32>> = automata.iter().map(start).collect();
    let mut many = 0;
    loop {
        let mut table = HashMap::new();
        let mut next = Vec::new();
        for (automaton, colour) in automata.iter().zip(&colours) {
            let mut seen: Vec<Vec<Seen>> = vec![Vec::new(); colour.len()];
            for s in automaton.all_steps() {
                let seen_as = |forward, other: u32| {
                    let constraint = automaton.constraint(&s).clone();
                    (forward, s.label.to_vec(), constraint, colour[other as usize])
                };
                seen[s.from as usize].push(seen_as(true, s.to));
                seen[s.to as usize].push(seen_as(false, s.from));
            }
            let number = |(own, mut seen): (&u32, Vec<_>)| {
                seen.sort();
                let new = table.len() as u32;
                *table.entry((*own, seen)).or_insert(new)
            };
            next.push(colour.iter().zip(seen).map(number).collect());
        }
        colours = next;
        if table.len() == many {
            return colours;
        }
        many = table.len();
    }
}

/// Checks that the engine and the textbook give the same but for the numbers of states.
fn same(parts: &[Automaton]) {
    let ours = made(parts);
    alike(&ours, &folded(parts));
    let all: Vec<Transition<'_>> = ours.all_steps().collect();
    assert!(all.iter().all(|step| !ours.is_idle(step)));
}

/// Checks that two automata are the same but for the numbers of states.
pub fn alike(ours: &Automaton, theirs: &Automaton) {
    assert_eq!(ours.alphabet(), theirs.alphabet());
    assert_eq!(ours.cells(), theirs.cells());
    assert_eq!(ours.contents(), theirs.contents());
    assert_eq!(ours.initial(), theirs.initial());
    assert_eq!((ours.states(), ours.transitions()), (theirs.states(), theirs.transitions()));
    let colours = colours(&[ours, theirs]);
    let steps = |automaton: &Automaton, colour: &[u32]| {
        let mut all: BTreeMap<_, usize> = BTreeMap::new();
        let of = |s: u32| colour[s as usize];
        for s in automaton.all_steps() {
            let constraint = automaton.constraint(&s).clone();
            *all.entry((of(s.from), s.label.to_vec(), constraint, of(s.to))).or_default() += 1;
        }
        all
    };
    assert_eq!(steps(ours, &colours[0]), steps(theirs, &colours[1]));
}

/// How a random part is made: its names, its states, and steps as indices into both.
#[derive(Debug, Clone)]
struct Recipe {
    names: Vec<u32>,
    states: u32,
    initial: Vec<u32>,
    steps: Vec<(u32, u32, u32, u32)>,
}

fn recipe(names: u32, states: u32, steps: usize) -> impl Strategy<Value = Recipe> {
    let names = prop::collection::vec(0..names, 0..4);
    (names, 1..=states).prop_flat_map(move |(names, states)| {
        let initial = prop::collection::vec(0..states, 1..=2);
        let step = (0..states, 0..16_u32, 0..5_u32, 0..states);
        let steps = prop::collection::vec(step, 0..=steps);
        (Just(names), Just(states), initial, steps)
            .prop_map(|(names, states, initial, steps)| Recipe { names, states, initial, steps })
    })
}

impl Recipe {
    /// `spread` is put between the numbers of names, so that labels get long.
    fn part(&self, number: u32, spread: u32) -> Automaton {
        let name = |n: &u32| NameId(SymbolId(n * spread));
        let mut names: Vec<NameId> = self.names.iter().map(name).collect();
        names.dedup();
        // Names that only fill the alphabet.
        let filler =
            (0..spread.saturating_sub(1)).map(|k| NameId(SymbolId(10_000 + number * 100 + k)));
        let all: Vec<NameId> = names.iter().copied().chain(filler).collect();
        let mut builder = AutomatonBuilder::over(all, self.states as usize, self.initial.clone());
        for (from, fire, condition, to) in &self.steps {
            let fire: Vec<NameId> =
                (0..).zip(&names).filter(|(i, _)| fire >> i & 1 == 1).map(|n| *n.1).collect();
            builder.step(*from, &fire, condition_of(number, *condition, &names), *to);
        }
        builder.contents([(Cell(SymbolId(20_000 + number)), SymbolId(30_000))]);
        builder.finish().expect("fits together")
    }
}

fn condition_of(part: u32, kind: u32, names: &[NameId]) -> DataConstraint {
    let common = Literal::Predicate(true, SymbolId(40_000), [].into());
    let cell = DataTerm::Before(Cell(SymbolId(20_000 + part)));
    match (kind, names.first()) {
        (1, _) => DataConstraint::new([common]),
        (2, Some(name)) => DataConstraint::new([Literal::Equal(DataTerm::Datum(*name), cell)]),
        (3, Some(name)) => {
            DataConstraint::new([common, Literal::Equal(DataTerm::Datum(*name), cell)])
        }
        _ => DataConstraint::default(),
    }
}

fn parts(recipes: &[Recipe], spread: u32) -> Vec<Automaton> {
    (0..).zip(recipes).map(|(number, recipe)| recipe.part(number, spread)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn it_is_the_textbook_product(recipes in prop::collection::vec(recipe(6, 3, 6), 1..=4)) {
        same(&parts(&recipes, 1));
    }

    #[test]
    fn it_is_the_textbook_product_of_many_parts_with_few_steps(
        recipes in prop::collection::vec(recipe(8, 2, 3), 4..=7),
    ) {
        same(&parts(&recipes, 1));
    }

    #[test]
    fn it_is_the_textbook_product_over_more_than_64_names(
        recipes in prop::collection::vec(recipe(6, 3, 5), 2..=4),
    ) {
        let parts = parts(&recipes, 40);
        prop_assume!(made(&parts).words() > 1);
        same(&parts);
    }

    #[test]
    fn it_is_the_textbook_product_without_data(
        recipes in prop::collection::vec(recipe(6, 3, 6), 2..=4),
    ) {
        same(&plain(parts(&recipes, 1)));
    }

    #[test]
    fn idle_loops_do_not_matter(recipes in prop::collection::vec(recipe(6, 3, 5), 1..=4)) {
        let parts = parts(&recipes, 1);
        let idle: Vec<Automaton> = parts.iter().map(Automaton::with_idle).collect();
        let bare: Vec<Automaton> = parts.iter().map(Automaton::without_idle).collect();
        prop_assert_eq!(made(&idle), made(&bare));
    }
}
