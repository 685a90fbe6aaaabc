//! The dense product against the definition, and what it refuses.

use crate::families;

use std::sync::atomic::{AtomicBool, Ordering};

use families::{apart, by_definition, chain, family};
use proptest::prelude::*;
use tickbound_reo::automaton::{Automaton, AutomatonBuilder};
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::primitive;
use tickbound_reo::product::dense::{
    BatchPlan, CellData, Checksum, DenseError, DensePlan, EMPTY, Matrix, SparseForm, batch,
    compose, fold, need, product,
};
use tickbound_reo::symbol::{NameId, Symbols};

const MEMORY: ProductLimits<'static> =
    ProductLimits { memory: 1 << 30, stop: &NEVER, progress: &|_| {} };
static NEVER: AtomicBool = AtomicBool::new(false);

fn matrix(automaton: &Automaton) -> Matrix {
    Matrix::new(automaton, CellData::Ignore, &MEMORY).unwrap()
}

fn matrices(parts: &[Automaton]) -> Vec<Matrix> {
    parts.iter().map(matrix).collect()
}

/// What the definition says, in standard form and without data.
fn standard(family: &[Automaton]) -> Automaton {
    let plain: Vec<Automaton> = family.iter().map(Automaton::without_data).collect();
    by_definition(&plain).without_idle()
}

#[test]
fn buffers_that_share_nothing() {
    // The thesis, section 3.1.3: 4, 16, 256 algebraic transitions of 1, 2 and 4 buffers; its square
    // is two of them, and the experiment's product is two squares.
    for n in 1..=6u32 {
        let parts = matrices(&apart(&mut Symbols::new(), n as usize));
        let all = fold(&parts, &MEMORY).unwrap();
        assert_eq!((all.states(), all.slots()), (1 << n, 1));
        assert_eq!(all.transitions(), 1 << (2 * n));
        let standard = compose(&parts, SparseForm::Standard, &MEMORY).unwrap();
        assert_eq!(standard.transitions(), (1 << (2 * n)) - (1 << n));
        assert_eq!(need(&parts), 8 << (2 * n));
    }
}

#[test]
fn chains() {
    // (buffers, algebraic transitions of the full product, states that can be reached and their
    // transitions in standard form)
    let table = [(1, 4, 2, 2), (2, 10, 4, 6), (3, 24, 8, 16), (4, 58, 16, 42), (5, 140, 32, 108)];
    for (n, full, states, transitions) in table {
        let parts = chain(&mut Symbols::new(), n);
        let product = fold(&matrices(&parts), &MEMORY).unwrap();
        assert_eq!((product.states(), product.transitions()), (1 << n, full), "{n}");
        let (reachable, _) = product.to_automaton(&MEMORY).unwrap().without_idle().reachable();
        assert_eq!((reachable.states(), reachable.transitions()), (states, transitions), "{n}");
        assert_eq!(product.to_automaton(&MEMORY).unwrap().without_idle(), standard(&parts));
    }
}

#[test]
fn cells_hold_several_steps() {
    let mut symbols = Symbols::new();
    let [a, b, c] = ["a", "b", "c"].map(|word| symbols.name(word));
    let lossy = matrix(&primitive::lossy_sync(a, b));
    assert_eq!((lossy.states(), lossy.slots()), (1, 3));
    assert_eq!(lossy.cells(), [0, 0b01, 0b11]);
    let sync = matrix(&primitive::sync(b, c));
    assert_eq!(sync.cells(), [0, 0b11]);
    // Bits a, b, c: with `b` the sync goes along, without it it idles.
    let both = product(&lossy, &sync, &MEMORY).unwrap();
    assert_eq!(both.slots(), 6);
    assert_eq!(both.cells(), [0, EMPTY, 0b001, EMPTY, EMPTY, 0b111]);
    assert_eq!(both.transitions(), 3);
}

#[test]
fn nothing_and_one() {
    let unit = fold(&[], &MEMORY).unwrap();
    assert_eq!((unit.states(), unit.cells()), (1, &[0][..]));
    let none = AutomatonBuilder::over([], 0, vec![]).finish().unwrap();
    let empty = matrix(&none);
    assert_eq!((empty.states(), empty.transitions()), (0, 0));
    let nothing = product(&empty, &unit, &MEMORY).unwrap();
    assert_eq!(nothing.to_automaton(&MEMORY).unwrap(), none);
    assert_eq!(compose(&[empty, unit], SparseForm::Algebraic, &MEMORY).unwrap(), none);
}

#[test]
fn what_is_refused() {
    let mut symbols = Symbols::new();
    let names: Vec<NameId> = (0..64).map(|n| symbols.name(&n.to_string())).collect();
    let hub = primitive::replicator(names[0], &names[1..]);
    assert_eq!(Matrix::new(&hub, CellData::Ignore, &MEMORY), Err(DenseError::Names(64)));
    let buffer = apart(&mut symbols, 1).remove(0);
    assert_eq!(Matrix::new(&buffer, CellData::Refuse, &MEMORY), Err(DenseError::Data { from: 0 }));
    let mut silent = AutomatonBuilder::over([], 2, vec![0]);
    silent.step(1, &[], DataConstraint::default(), 0);
    let silent = silent.finish().unwrap();
    let refused = Err(DenseError::Silent { from: 1, to: 0 });
    assert_eq!(Matrix::new(&silent, CellData::Refuse, &MEMORY), refused);
    // 40 names each: with 20 of them shared, 60 fit; with 10, 70 do not.
    let drain = |names: &[NameId]| matrix(&primitive::replicator(names[0], &names[1..]));
    let more: Vec<NameId> = (0..80).map(|n| symbols.name(&format!("n{n}"))).collect();
    assert!(product(&drain(&more[..40]), &drain(&more[20..60]), &MEMORY).is_ok());
    let far = product(&drain(&more[..40]), &drain(&more[30..70]), &MEMORY);
    assert_eq!(far, Err(DenseError::Names(70)));
}

#[test]
fn memory_is_checked_before_it_is_taken() {
    // 31 buffers: 2^62 cells. 10 of them: 2^20 cells of 8 bytes.
    let parts = matrices(&apart(&mut Symbols::new(), 31));
    let limit = ProductLimits::memory(1 << 20);
    let refused = |parts: &[Matrix]| match fold(parts, &limit) {
        Err(DenseError::Stopped(Stopped::Memory { needed, limit, .. })) => (needed, limit),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&parts), (8 << 62, 1 << 20));
    assert_eq!(refused(&parts[..10]), (8 << 20, 1 << 20));
    assert!(fold(&parts[..8], &limit).is_ok());
    // Sparse rows: halves of 2 * 2^10 cells, and 2^20 steps of 12 bytes each.
    let rows = compose(&parts[..10], SparseForm::Algebraic, &limit);
    let needed = (12 << 20) + 8 * 1025 + 8 * 2048;
    let what = "the sparse rows";
    let expected = Stopped::Memory { what, needed, limit: 1 << 20 };
    assert_eq!(rows, Err(DenseError::Stopped(expected)));
}

#[test]
fn it_can_be_stopped() {
    let parts = matrices(&apart(&mut Symbols::new(), 8));
    let stop = AtomicBool::new(false);
    let limits = ProductLimits { stop: &stop, ..MEMORY };
    let plan = DensePlan::new(&parts[0], &parts[1]).unwrap();
    stop.store(true, Ordering::Relaxed);
    let stopped = DenseError::Stopped(Stopped::Interrupted);
    assert_eq!(plan.run(&limits).unwrap_err(), stopped);
    assert_eq!(fold(&parts, &limits).unwrap_err(), stopped);
    assert_eq!(compose(&parts, SparseForm::Standard, &limits).unwrap_err(), stopped);
    assert_eq!(batch(&[(&parts[0], &parts[1])], &limits).unwrap_err(), stopped);
}

#[test]
fn any_number_of_threads() {
    let mut symbols = Symbols::new();
    let parts = matrices(&apart(&mut symbols, 9));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (fold(&parts, &MEMORY), compose(&parts, SparseForm::Standard, &MEMORY)))
    };
    let one = run(1);
    assert_eq!(one.0.as_ref().unwrap().transitions(), 1 << 18);
    assert_eq!(run(3), one);
}

#[test]
fn the_experiment_of_the_thesis() {
    let mut symbols = Symbols::new();
    let parts = matrices(&apart(&mut symbols, 4));
    let squares = [fold(&parts[..2], &MEMORY).unwrap(), fold(&parts[2..], &MEMORY).unwrap()];
    assert!(squares.iter().all(|s| (s.states(), s.transitions()) == (4, 16)));
    let pairs = vec![(&squares[0], &squares[1]); 1000];
    let all = batch(&pairs, &MEMORY).unwrap();
    let one = product(&squares[0], &squares[1], &MEMORY).unwrap();
    assert_eq!((one.states(), one.transitions()), (16, 256));
    assert!((0..1000).all(|number| all.matrix(number).as_ref() == Some(&one)));
    assert_eq!(all.matrix(1000), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn as_defined(family in family(1..=4, false)) {
        let parts = matrices(&family);
        let dense = fold(&parts, &MEMORY).unwrap();
        let automaton = dense.to_automaton(&MEMORY).unwrap();
        prop_assert_eq!(&automaton.without_idle(), &standard(&family));
        prop_assert_eq!(automaton.transitions() as u64, dense.transitions());
        prop_assert_eq!(&compose(&parts, SparseForm::Algebraic, &MEMORY).unwrap(), &automaton);
        prop_assert_eq!(compose(&parts, SparseForm::Standard, &MEMORY).unwrap(), standard(&family));
        // There and back again: slots that the product has too many are gone.
        let again = matrix(&automaton);
        prop_assert!(again.slots() <= dense.slots());
        prop_assert_eq!(again.to_automaton(&MEMORY).unwrap(), automaton);
    }

    #[test]
    fn any_bracketing(family in family(3, false)) {
        let [a, b, c] = <[Matrix; 3]>::try_from(matrices(&family)).unwrap();
        let left = product(&product(&a, &b, &MEMORY).unwrap(), &c, &MEMORY).unwrap();
        let right = product(&a, &product(&b, &c, &MEMORY).unwrap(), &MEMORY).unwrap();
        prop_assert_eq!(left, right);
    }

    #[test]
    fn checksums_are_known_before(family in family(2..=4, false),
        wrong in any::<proptest::sample::Index>()) {
        let parts = matrices(&family);
        let (last, before) = parts.split_last().unwrap();
        let plan = DensePlan::new(&fold(before, &MEMORY).unwrap(), last).unwrap();
        let mut cells = plan.run(&MEMORY).unwrap().cells().to_vec();
        prop_assert_eq!(Checksum::of(&cells, 0), plan.checksum());
        prop_assert_eq!(plan.transitions(SparseForm::Algebraic), plan.checksum().steps);
        let (head, tail) = cells.split_at(wrong.index(cells.len()));
        let sum = Checksum::of(head, 0) + Checksum::of(tail, head.len() as u64);
        prop_assert_eq!(sum, plan.checksum());
        // A cell that was left out is seen.
        let at = wrong.index(cells.len());
        cells[at] = if cells[at] == EMPTY { 0 } else { EMPTY };
        prop_assert_ne!(Checksum::of(&cells, 0), plan.checksum());
    }

    #[test]
    fn batches(families in proptest::collection::vec(family(2, false), 0..40)) {
        let parts: Vec<Vec<Matrix>> = families.iter().map(|f| matrices(f)).collect();
        let pairs: Vec<(&Matrix, &Matrix)> = parts.iter().map(|p| (&p[0], &p[1])).collect();
        let plan = BatchPlan::new(&pairs, &MEMORY).unwrap();
        let sums: Vec<Checksum> = plan.parts.iter().map(|part| plan.checksum(part)).collect();
        let all = plan.run(&MEMORY).unwrap();
        prop_assert_eq!(all.matrix(pairs.len()), None);
        for (number, (left, right)) in pairs.iter().enumerate() {
            let one = product(left, right, &MEMORY).unwrap();
            prop_assert_eq!(Checksum::of(one.cells(), 0), sums[number]);
            prop_assert_eq!(all.matrix(number), Some(one));
        }
    }
}
