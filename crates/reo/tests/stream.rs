//! Products that are made block by block, against the same ones held whole.

use crate::families;

use std::sync::atomic::{AtomicBool, Ordering};

use families::{apart, chain, family};
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::product::dense::{
    BlockColumns, CellCondition, CellData, CellTally, Checksum, DenseError, DensePlan, DenseStream,
    EMPTY, Matrix, RowBlock, fold, in_turn,
};
use tickbound_reo::symbol::Symbols;

const MEMORY: ProductLimits<'static> =
    ProductLimits { memory: 1 << 30, stop: &NEVER, progress: &|_| {} };
static NEVER: AtomicBool = AtomicBool::new(false);

/// The product of the halves, not yet made.
fn plan(parts: &[Automaton]) -> DensePlan {
    let matrix = |part| Matrix::new(part, CellData::Ignore, &MEMORY).unwrap();
    let parts: Vec<Matrix> = parts.iter().map(matrix).collect();
    let (left, right) = parts.split_at(parts.len().div_ceil(2));
    DensePlan::new(&fold(left, &MEMORY).unwrap(), &fold(right, &MEMORY).unwrap()).unwrap()
}

/// What `mixed` is to be, in words of its own.
fn split_mix(seed: u64, number: u128) -> u64 {
    let modulo = |n: u128| n & u128::from(u64::MAX);
    let mut z = modulo(u128::from(seed) + modulo((number + 1) * 0x9e37_79b9_7f4a_7c15));
    z = modulo((z ^ z >> 30) * 0xbf58_476d_1ce4_e5b9);
    z = modulo((z ^ z >> 27) * 0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as u64
}

/// What a whole matrix comes to, and its steps.
fn expected(whole: &Matrix) -> (CellTally, BlockColumns) {
    let (mut tally, mut columns) = (CellTally::default(), BlockColumns::default());
    let (states, slots) = (whole.states(), whole.slots());
    tally.states = states as u64;
    tally.checksum = Checksum::of(whole.cells(), 0);
    let mut left = vec![false; states];
    for (at, label) in whole.cells().iter().enumerate().filter(|(_, label)| **label != EMPTY) {
        let (from, to) = (at / slots / states, at / slots % states);
        tally.digest = tally.digest.wrapping_add(split_mix(*label, (at / slots) as u128));
        left[from] |= *label != 0;
        columns.from.push(from as u32);
        columns.to.push(to as u32);
        columns.labels.push(*label);
    }
    let stuck = || (0..states as u32).filter(|state| !left[*state as usize]);
    (tally.stuck, tally.first_stuck) = (stuck().count() as u64, stuck().next());
    (tally, columns)
}

/// The same from blocks of so many bytes, both as threads make them and as they come from
/// elsewhere.
fn streamed(
    plan: &DensePlan,
    bytes: u64,
    condition: Option<&CellCondition>,
) -> (CellTally, BlockColumns) {
    let stream = DenseStream::new(plan, bytes);
    assert_eq!(stream.blocks().map(|b| b.rows).sum::<usize>(), plan.sizes.states());
    assert_eq!(stream.blocks().count(), stream.len());
    let cells = plan.run(&MEMORY).unwrap().cells().to_vec();
    let (mut tally, mut columns) = (CellTally::default(), BlockColumns::default());
    for block in stream.blocks() {
        let made =
            stream.each(block, &MEMORY, |rows| (rows.tally(condition), rows.columns())).unwrap();
        let row = plan.sizes.row();
        let here = &cells[block.first * row..][..block.rows * row];
        let seen =
            stream.pieces(block, here, &MEMORY, |rows| (rows.tally(condition), rows.columns()));
        assert_eq!(seen.unwrap(), made);
        for (more, piece) in made {
            tally = tally + more;
            columns.from.extend(piece.from);
            columns.to.extend(piece.to);
            columns.labels.extend(piece.labels);
        }
    }
    (tally, columns)
}

#[test]
fn buffers_in_blocks_of_three_sizes() {
    for n in 1..=8u32 {
        let plan = plan(&apart(&mut Symbols::new(), n as usize));
        let expected = expected(&plan.run(&MEMORY).unwrap());
        assert_eq!(expected.0.checksum.steps, 1 << (2 * n));
        for bytes in [1, 3000, 1 << 30] {
            assert_eq!(
                streamed(&plan, bytes, None),
                expected,
                "{n} buffers, blocks of {bytes} bytes"
            );
        }
        assert_eq!(expected.0.checksum, plan.checksum());
    }
}

/// Digests that no later version may change: datasets have them.
#[test]
fn digests_that_stay() {
    let digest = |parts: &[Automaton]| streamed(&plan(parts), 4096, None).0.digest;
    let found = [2, 5, 8].map(|n| digest(&apart(&mut Symbols::new(), n)));
    assert_eq!(
        found.map(|d| format!("{d:016x}")),
        ["3c7be57e7af81561", "b7edf87fed5f0672", "cf6f444b2ecb6680"]
    );
    let found = digest(&chain(&mut Symbols::new(), 5));
    assert_eq!(format!("{found:016x}"), "573371a0cf1d52f9");
}

#[test]
fn every_number_of_threads() {
    let plan = plan(&apart(&mut Symbols::new(), 9));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| streamed(&plan, 100_000, None))
    };
    assert_eq!(run(1), run(3));
}

/// A state that nothing leaves, and a condition that some steps break.
#[test]
fn what_is_stuck_and_what_is_broken() {
    let mut symbols = Symbols::new();
    let [a, b] = ["a", "b"].map(|word| symbols.name(word));
    let mut builder = AutomatonBuilder::over(vec![a, b], 4, vec![0]);
    for (from, names, to) in
        [(0, &[a][..], 1), (0, &[a, b][..], 1), (1, &[a][..], 2), (1, &[b][..], 3)]
    {
        builder.step(from, names, Default::default(), to);
    }
    let plan = plan(&[builder.finish().unwrap()]);
    // a and b are bits 0 and 1: `b -> a` is broken by the last step, `a -> b` by the first and the
    // third.
    for (needs, of, broken, first) in [(1, 2, 1, (1, 3, 2)), (2, 1, 2, (0, 1, 1))] {
        let holds = move |label: u64| label & of == 0 || label & needs != 0;
        for bytes in [1, 1 << 20] {
            let (tally, _) = streamed(&plan, bytes, Some(&holds));
            assert_eq!((tally.broken, tally.first_broken), (broken, Some(first)));
            assert_eq!((tally.stuck, tally.first_stuck), (2, Some(2)));
        }
    }
}

#[test]
fn wrong_cells_and_stops() {
    let plan = plan(&apart(&mut Symbols::new(), 4));
    let stream = DenseStream::new(&plan, 512);
    let first = stream.blocks().next().unwrap();
    assert_eq!((stream.len(), stream.words(), first.rows), (4, 64, 4));
    let refused = stream.pieces(first, &[0; 63], &MEMORY, |_| ()).unwrap_err();
    assert_eq!(refused, DenseError::Cells { found: 63, needed: 64 });
    let stop = AtomicBool::new(true);
    let limits = ProductLimits { stop: &stop, ..MEMORY };
    let stopped = DenseError::Stopped(Stopped::Interrupted);
    assert_eq!(stream.each(first, &limits, |_| ()).unwrap_err(), stopped);
}

#[test]
fn in_order_and_to_the_first_error() {
    let plan = plan(&apart(&mut Symbols::new(), 4));
    let stream = DenseStream::new(&plan, 1);
    let mut taken = Vec::new();
    let run = |bad_make: usize, bad_take: usize, taken: &mut Vec<usize>| {
        let made =
            |block: RowBlock| if block.number == bad_make { Err("made") } else { Ok(block.first) };
        in_turn(stream.blocks(), made, |block, first| {
            assert_eq!(block.first, first);
            taken.push(block.number);
            if block.number == bad_take { Err("taken") } else { Ok(()) }
        })
    };
    assert_eq!(run(99, 99, &mut taken), Ok(()));
    assert_eq!(std::mem::take(&mut taken), (0..16).collect::<Vec<_>>());
    assert_eq!(run(5, 99, &mut taken), Err("made"));
    assert_eq!(std::mem::take(&mut taken), (0..5).collect::<Vec<_>>());
    assert_eq!(run(99, 5, &mut taken), Err("taken"));
    assert_eq!(taken, (0..6).collect::<Vec<_>>());
}

#[test]
fn one_is_taken_while_the_next_is_made() {
    let plan = plan(&apart(&mut Symbols::new(), 2));
    let stream = DenseStream::new(&plan, 1);
    // Blocks 0 and 1 meet: neither ends before the other has begun.
    let meet = std::sync::Barrier::new(2);
    let met = AtomicBool::new(false);
    let make = |block: RowBlock| -> Result<(), ()> {
        if block.number == 1 {
            meet.wait();
        }
        Ok(())
    };
    in_turn(stream.blocks(), make, |block, ()| {
        if block.number == 0 {
            meet.wait();
            met.store(true, Ordering::Relaxed);
        }
        Ok(())
    })
    .unwrap();
    assert!(met.into_inner());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_connectors(family in family(1..=4, false), bytes in 1u64..5000) {
        let plan = plan(&family);
        let expected = expected(&plan.run(&MEMORY).unwrap());
        prop_assert_eq!(expected.0.checksum, plan.checksum());
        for bytes in [1, bytes, 1 << 30] {
            prop_assert_eq!(&streamed(&plan, bytes, None), &expected);
        }
    }
}
