//! The reachable product that is not kept, against the same one held whole: with states in memory
//! and on disk.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::constraint::{DataConstraint, DataTerm, Literal};
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::dense::{CellTally, Checksum};
use tickbound_reo::product::reachable::{StepStream, Store, Stored, StreamError, compose};
use tickbound_reo::symbol::{NameId, Symbols};

use crate::families::{apart, chain, family};

const MIB: u64 = 1 << 20;

/// Files in memory, counted; the one after `most` bytes in all have been written fails.
#[derive(Default)]
struct Files {
    made: AtomicUsize,
    full: bool,
}

impl Store for Files {
    fn create(&self) -> io::Result<Box<dyn Stored>> {
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(if self.full { Box::new(Full) } else { Box::new(Cursor::new(Vec::new())) })
    }
}

/// A file on a disk that is full.
struct Full;

impl Read for Full {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }
}

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

/// All that a stream gives: where rows end, targets, labels, and what they come to.
#[derive(Debug, Default, PartialEq)]
struct Whole {
    ends: Vec<usize>,
    targets: Vec<u32>,
    labels: Vec<u64>,
    tally: CellTally,
}

fn streamed(parts: &[Automaton], memory: u64, files: Option<&Files>) -> Result<Whole, StreamError> {
    let limits = ProductLimits::memory(memory);
    let refs: Vec<&Automaton> = parts.iter().collect();
    let stream = StepStream::new(&refs, &limits)?;
    let mut whole = Whole::default();
    let count = stream.run(&limits, files.map(|files| files as &dyn Store), |steps| {
        assert_eq!(steps.first, whole.ends.len());
        let before = whole.targets.len();
        whole.ends.extend(steps.ends.iter().map(|end| before + end));
        whole.targets.extend_from_slice(steps.targets);
        whole.labels.extend_from_slice(steps.labels);
        whole.tally = whole.tally + steps.tally(Some(&|label| label[0] & 1 == 0));
        Ok::<(), StreamError>(())
    })?;
    assert_eq!(count.states as usize, whole.ends.len());
    assert_eq!(count.transitions as usize, whole.targets.len());
    Ok(whole)
}

/// SplitMix64, in words of its own.
fn split_mix(seed: u64, number: u64) -> u64 {
    let modulo = |n: u128| n & u128::from(u64::MAX);
    let number = modulo((u128::from(number) + 1) * 0x9e37_79b9_7f4a_7c15);
    let mut z = modulo(u128::from(seed) + number);
    z = modulo((z ^ z >> 30) * 0xbf58_476d_1ce4_e5b9);
    z = modulo((z ^ z >> 27) * 0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as u64
}

/// The same from the product as a whole.
fn whole(parts: &[Automaton]) -> Whole {
    let refs: Vec<&Automaton> = parts.iter().collect();
    let product = compose(&refs, &ProductLimits::memory(1024 * MIB)).expect("fits");
    let mut tally = CellTally { states: product.states() as u64, ..CellTally::default() };
    for state in 0..product.states() as u32 {
        if product.steps(state).len() == 0 {
            tally.stuck += 1;
            tally.first_stuck = tally.first_stuck.or(Some(state));
        }
        for (place, step) in product.steps(state).enumerate() {
            let cell = (u64::from(state) << 32) + u64::from(step.to);
            let digest = step.label.iter().fold(cell, |cell, word| split_mix(*word, cell));
            tally.digest = tally.digest.wrapping_add(digest);
            let number = step.label.iter().fold(0_u128, |number, word| {
                (number * ((1 << 61) - 1) + u128::from(*word)) & u128::from(u64::MAX)
            });
            let place = (u128::from(state) << 32) + place as u128 + 1;
            let part = ((number + 1) & u128::from(u64::MAX)) * place;
            tally.checksum = tally.checksum + Checksum { steps: 1, sum: part as u64 };
            if step.label[0] & 1 == 1 {
                let broken = (state, step.to, step.label[0]);
                tally.broken += 1;
                tally.first_broken = Some(tally.first_broken.map_or(broken, |f| f.min(broken)));
            }
        }
    }
    Whole {
        ends: product.rows()[1..].to_vec(),
        targets: product.targets().to_vec(),
        labels: product.labels().to_vec(),
        tally,
    }
}

fn plain(parts: Vec<Automaton>) -> Vec<Automaton> {
    parts.iter().map(Automaton::without_data).collect()
}

/// Buffers that nobody empties beside some parts: their states take more words, and change nothing.
fn beside(symbols: &mut Symbols, mut parts: Vec<Automaton>) -> Vec<Automaton> {
    for i in 0..70 {
        let (a, b) = (symbols.name(&format!("f{i}")), symbols.name(&format!("g{i}")));
        parts.push(primitive::fifo1(
            a,
            b,
            symbols.cell(&format!("full{i}")),
            BufferContent::Unknown,
        ));
        parts.push(AutomatonBuilder::over([b], 1, vec![0]).finish().expect("fits together"));
    }
    parts
}

/// In memory, then with the least memory that does: then most states are on disk.
#[test]
fn it_is_the_whole_product_with_states_on_disk() {
    let mut symbols = Symbols::new();
    let long = chain(&mut symbols, 12);
    let short = chain(&mut symbols, 11);
    let wide = beside(&mut symbols, short);
    for parts in [plain(long.clone()), long, wide] {
        let expected = whole(&parts);
        let files = Files::default();
        assert!(streamed(&parts, 64 * MIB, Some(&files)).expect("fits") == expected);
        assert_eq!(files.made.into_inner(), 0);
        let mut memory = 4..80;
        let made = memory.find_map(|memory| {
            let files = Files::default();
            match streamed(&parts, memory * (MIB / 16), Some(&files)) {
                Err(StreamError::Stopped(Stopped::Memory { .. })) => None,
                found => Some((found.expect("fits"), files.made.into_inner())),
            }
        });
        let (found, files) = made.expect("5 MiB suffice");
        assert!(found == expected, "{:?}, {:?}", found.tally, expected.tally);
        // The queue, some runs, and those that two of them became.
        assert!(files > 4, "{files} files, {memory:?}");
    }
}

#[test]
fn without_a_store_states_must_fit() {
    let parts = plain(chain(&mut Symbols::new(), 12));
    match streamed(&parts, 3 * MIB / 2, None) {
        Err(StreamError::Stopped(Stopped::Memory { what, .. })) => {
            assert_eq!(what, "the states of the product");
        }
        other => panic!("{other:?}"),
    }
    assert!(streamed(&parts, 64 * MIB, None).is_ok());
}

#[test]
fn the_steps_of_one_state_must_fit() {
    let parts = plain(apart(&mut Symbols::new(), 14));
    match streamed(&parts, 3 * MIB / 2, Some(&Files::default())) {
        Err(StreamError::Stopped(Stopped::Memory { what, needed, limit })) => {
            assert_eq!(what, "the steps of one state of the product");
            assert!(limit == 3 * MIB / 2 && needed > u128::from(limit));
        }
        other => panic!("{other:?}"),
    }
    for memory in [0, 1000, MIB / 2] {
        let none = streamed(&parts, memory, Some(&Files::default()));
        assert!(matches!(none, Err(StreamError::Stopped(Stopped::Memory { .. }))), "{none:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let parts = plain(chain(&mut Symbols::new(), 12));
    let files = Files { full: true, ..Files::default() };
    let error = streamed(&parts, 3 * MIB / 2, Some(&files)).expect_err("no room");
    assert_eq!(
        error.to_string(),
        "temporary files of the product: no storage space; make room, or set TMPDIR to a folder \
         with more"
    );
}

#[test]
fn it_stops_when_told() {
    let (stop, parts) = (AtomicBool::new(false), plain(chain(&mut Symbols::new(), 12)));
    let limits = ProductLimits { memory: 64 * MIB, stop: &stop, progress: &|_| {} };
    let refs: Vec<&Automaton> = parts.iter().collect();
    let stream = StepStream::new(&refs, &limits).expect("fits");
    let mut taken = 0;
    let ended = stream.run(&limits, None, |steps| {
        taken += steps.targets.len();
        stop.store(true, Ordering::Relaxed);
        Ok::<(), StreamError>(())
    });
    assert!(matches!(ended, Err(StreamError::Stopped(Stopped::Interrupted))), "{ended:?}");
    assert!(0 < taken && taken < 151_666, "{taken}");
}

#[test]
fn steps_that_data_alone_tell_apart_are_refused() {
    let mut symbols = Symbols::new();
    let [a, p, q] = ["a", "p", "q"].map(|word| symbols.name(word));
    let is = |p: NameId| {
        DataConstraint::new([Literal::Predicate(true, p.0, [DataTerm::Datum(a)].into())])
    };
    let mut part = AutomatonBuilder::over([a], 2, vec![0]);
    part.step(0, &[a], is(p), 1).step(0, &[a], is(q), 1);
    let part = part.finish().expect("fits together");
    let refused =
        StepStream::new(&[&part], &ProductLimits::memory(MIB)).expect_err("two steps, or one");
    assert!(matches!(refused, StreamError::Data), "{refused}");
    assert!(streamed(&plain(vec![part]), 64 * MIB, None).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_product_is_the_whole_one(parts in family(1..6, true)) {
        let expected = whole(&parts);
        prop_assert_eq!(&streamed(&parts, 64 * MIB, None).expect("fits"), &expected);
        let files = Files::default();
        prop_assert_eq!(&streamed(&parts, 3 * MIB / 2, Some(&files)).expect("fits"), &expected);
    }
}
