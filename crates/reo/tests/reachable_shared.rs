//! The reachable product that several ranks make together, against the one that is made alone.
//! Ranks are threads here.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use proptest::prelude::*;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::product::dense::CellTally;
use tickbound_reo::product::reachable::{
    Exchange, StepStream, StreamError, compose, compose_shared,
};
use tickbound_reo::symbol::Symbols;

use crate::families::{apart, chain, family};
use crate::reachable::{alternator, twins};

const LIMITS: fn() -> ProductLimits<'static> = || ProductLimits::memory(256 << 20);

/// One of several threads, with a channel from each to each.
struct Rank {
    rank: usize,
    to: Vec<Sender<Vec<u64>>>,
    from: Vec<Receiver<Vec<u64>>>,
}

impl Exchange for Rank {
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.to.len()
    }
    fn all_to_all(&mut self, words: Vec<Vec<u64>>) -> io::Result<Vec<Vec<u64>>> {
        assert_eq!(words.len(), self.to.len());
        let pairs = self.to.iter().zip(words);
        pairs.for_each(|(to, words)| drop(to.send(words)));
        (0..self.from.len()).map(|from| self.receive(from)).collect()
    }
    fn send(&mut self, to: usize, words: &[u64]) -> io::Result<()> {
        self.to[to].send(words.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
    fn receive(&mut self, from: usize) -> io::Result<Vec<u64>> {
        self.from[from].recv().map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// What `work` gives on each of so many ranks.
fn ranks<T: Send>(size: usize, work: impl Fn(&mut Rank) -> T + Sync) -> Vec<T> {
    let mut all: Vec<Rank> =
        (0..size).map(|rank| Rank { rank, to: Vec::new(), from: Vec::new() }).collect();
    for to in 0..size {
        for from in 0..size {
            let (sender, receiver) = channel();
            all[from].to.push(sender);
            all[to].from.push(receiver);
        }
    }
    std::thread::scope(|scope| {
        let work = &work;
        let begin = |mut rank: Rank| scope.spawn(move || work(&mut rank));
        let threads: Vec<_> = all.into_iter().map(begin).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// A rank's search runs on a pool, whose threads wait for other ranks: so each has its own.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread").install(work)
}

fn shared(
    parts: &[Automaton],
    size: usize,
    limits: &ProductLimits<'_>,
) -> Vec<Result<Option<Automaton>, StreamError>> {
    let refs: Vec<&Automaton> = parts.iter().collect();
    ranks(size, |rank| alone(|| compose_shared(&refs, limits, rank)))
}

/// The first rank has the whole product; what each rank makes of it comes to the same.
fn same(parts: &[Automaton], sizes: &[usize]) {
    let refs: Vec<&Automaton> = parts.iter().collect();
    let expected = compose(&refs, &LIMITS()).expect("fits");
    let stream = StepStream::new(&refs, &LIMITS()).ok();
    let tallied = |stream: &StepStream| {
        let mut tally = CellTally::default();
        let taken = stream.run(&LIMITS(), None, |steps| {
            tally = tally + steps.tally(None);
            Ok::<(), StreamError>(())
        });
        taken.map(|_| tally).expect("fits")
    };
    for size in sizes {
        let made = shared(parts, *size, &LIMITS());
        for (rank, made) in made.into_iter().enumerate() {
            assert!(
                made.expect("fits").as_ref() == (rank == 0).then_some(&expected),
                "{size}, {rank}"
            );
        }
        let Some(stream) = &stream else { continue };
        for first in [false, true] {
            let tallies = ranks(*size, |rank| {
                let (mut tally, mut next) = (CellTally::default(), 0);
                let count = alone(|| {
                    stream.share(&LIMITS(), rank, first, |steps| {
                        assert!(if first { steps.first == next } else { steps.first >= next });
                        next = steps.first + steps.ends.len();
                        tally = tally + steps.tally(None);
                        Ok::<(), StreamError>(())
                    })
                });
                let count = count.expect("fits");
                assert_eq!(count.states, expected.states() as u64);
                assert_eq!(count.transitions, u128::from(tally.checksum.steps));
                tally
            });
            assert!(!first || tallies[1..].iter().all(|tally| *tally == CellTally::default()));
            assert_eq!(
                tallies.into_iter().sum::<CellTally>(),
                tallied(stream),
                "{size} ranks, {first}"
            );
        }
    }
}

#[test]
fn any_number_of_ranks_gives_the_same() {
    let mut symbols = Symbols::new();
    let plain = |parts: Vec<Automaton>| parts.iter().map(Automaton::without_data).collect();
    let cases: [Vec<Automaton>; 5] = [
        plain(chain(&mut symbols, 12)),
        chain(&mut symbols, 9),
        apart(&mut symbols, 6),
        alternator(6),
        // Whether steps are alike is seen when all is put together.
        twins(),
    ];
    for parts in cases {
        same(&parts, &[1, 2, 3, 4, 7]);
    }
    same(&[], &[1, 3]);
}

#[test]
fn what_a_rank_has_no_room_for_is_an_error() {
    let parts = chain(&mut Symbols::new(), 14);
    let little = ProductLimits::memory(4 << 20);
    let made = shared(&parts, 2, &little);
    let memory =
        |made: &Result<_, _>| matches!(made, Err(StreamError::Stopped(Stopped::Memory { .. })));
    assert!(made.iter().any(memory), "{made:?}");
    let stopped =
        |made: &Result<_, _>| memory(made) || matches!(made, Err(StreamError::Exchange(_)));
    assert!(made.iter().all(stopped), "{made:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_product_is_the_one_that_is_made_alone(parts in family(1..6, true)) {
        same(&parts, &[2, 3]);
    }
}
