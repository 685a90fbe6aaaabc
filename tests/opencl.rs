//! OpenCL devices: what they are asked, what goes wrong, and the dense product on each of them
//! against the processors' and the definition.
//!
//! A device is needed, such as PoCL. Where there is none these tests say so and do nothing, except
//! on CI, where that is a failure.

use crate::families;

use std::sync::atomic::{AtomicBool, Ordering};

use families::{apart, by_definition, chain, family};
use itertools::Itertools;
use proptest::strategy::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tickbound_device::{
    self, Arg, Device, DeviceChoice, DeviceError, DeviceKind, DeviceProgram, Picked, Session,
};
use tickbound_measure::check;
use tickbound_measure::expected::DeviceCompare;
use tickbound_measure::guarded::{Breach, Guarded, Round, Side, ZONE};
use tickbound_model::source::ElementType;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::check::{LtlFormula, deadlock, violation};
use tickbound_reo::limits::{ProductLimits, ProductProgress, Stopped};
use tickbound_reo::product::dense::{
    self, BatchPlan, CellData, CellTally, DenseError, DensePlan, DenseStream, Matrix, RowBlock,
    RowsOf, SparseForm, batch, fold, plan,
};
use tickbound_reo::product::halves::Halves;
use tickbound_reo::product::reachable;
use tickbound_reo::symbol::Symbols;
use tickbound_reo_opencl::{
    Clause, EXPLORE_KERNELS, ExploreSizes, ExploredProduct, Explorer, KERNELS, Maker, Multiplier,
    MultiplierError, MultiplierResult, agree, composed,
};
use tickbound_xtask::reo_bench::{self, BenchOptions, Mode};

/// All devices, if there are any.
fn devices() -> Vec<Device> {
    let listing = tickbound_device::list();
    match listing.absent() {
        Some(why) if std::env::var_os("CI").is_none() => eprintln!("skipped: {why}"),
        Some(why) => panic!("{why}"),
        None => {}
    }
    listing.devices
}

fn memory() -> ProductLimits<'static> {
    ProductLimits::memory(1 << 30)
}

fn matrices(parts: &[Automaton]) -> Vec<Matrix> {
    parts.iter().map(|part| Matrix::new(part, CellData::Ignore, &memory()).unwrap()).collect()
}

/// What a device finds right beyond doubt is right, and what is clearly right it finds.
#[test]
fn outputs_compared_on_a_device() {
    let special = [0.0, -0.0, 1e-40, 1.0, -1.0, 1e30, f64::MAX, f64::INFINITY, f64::NAN];
    let near = [0.0, 1e-9, -1e-9, 0.9e-5, 0.999_999e-5, 1e-5, 1.000_001e-5, -1.1e-5, 1e-3];
    for device in devices() {
        let session = Session::open(&device).unwrap();
        let mut compare = DeviceCompare::new(&session);
        let mut sure = |element, tolerance, got: &[u8], expected: &[u8]| {
            let buffers = [got, expected].map(|bytes| session.upload(bytes).unwrap());
            let sure = compare.surely_right(element, tolerance, &buffers[0], &buffers[1]).unwrap();
            let right = check::compare(element, tolerance, got, expected).is_none();
            assert!(right || !sure, "{element:?} {tolerance}: {got:?} for {expected:?}");
            sure
        };
        let mut found = 0;
        for (expected, off) in special.iter().cartesian_product(near) {
            for got in special.iter().copied().chain([expected + off * expected.abs().max(1.0)]) {
                let [a, b] = [got, *expected].map(|x| (x as f32).to_ne_bytes());
                found += usize::from(sure(ElementType::Float, 1e-5, &a, &b));
                sure(ElementType::Float, 0.0, &a, &b);
                let [a, b] = [got, *expected].map(f64::to_ne_bytes);
                found += usize::from(sure(ElementType::Double, 1e-5, &a, &b));
            }
        }
        // Of 9 * 9 * 10 pairs of each type.
        assert!((250..1000).contains(&found), "{found}");
        // The one element that is wrong, wherever it is.
        let right: Vec<u8> = (0..5_000_003u32).map(|i| (i * 7) as u8).collect();
        for (element, length) in [(ElementType::Uchar, 5_000_003), (ElementType::Int, 5_000_000)] {
            assert!(sure(element, 0.0, &right[..length], &right[..length]));
            for place in [0, 1, 65_536, length - 1] {
                let mut wrong = right[..length].to_vec();
                wrong[place] ^= 1;
                assert!(!sure(element, 0.0, &wrong, &right[..length]), "{element:?} {place}");
            }
        }
        let floats: Vec<u8> = (0..1_000_000).flat_map(|i| (i as f32).to_ne_bytes()).collect();
        assert!(sure(ElementType::Float, 1e-6, &floats, &floats));
        let mut off = floats.clone();
        off[4 * 999_999..].copy_from_slice(&1_000_010f32.to_ne_bytes());
        assert!(!sure(ElementType::Float, 1e-6, &off, &floats));
        assert!(sure(ElementType::Float, 1e-4, &off, &floats));
    }
}

#[test]
fn what_a_device_says() {
    for (index, device) in devices().iter().enumerate() {
        assert_eq!(device.index, index);
        assert!(device.units > 0 && device.max_alloc > 0 && device.memory >= device.max_alloc);
        assert!(!device.name.is_empty() && !device.platform.is_empty());
        let listing = tickbound_device::list();
        let picked = listing.pick(DeviceChoice::Number(index)).unwrap();
        assert_eq!(picked, Picked::Device(device));
        assert!(matches!(listing.pick(DeviceChoice::OpenCl), Ok(Picked::Device(_))));
    }
}

/// A part is the same memory, and zones around it show what is written past it on either side, by
/// each round.
#[test]
fn parts_of_buffers_and_zones_around_them() {
    for device in devices() {
        let (session, align) = (Session::open(&device).unwrap(), device.alignment());
        assert!(align.is_power_of_two() && align >= 128, "{align}");
        let whole = session.upload(&vec![1u8; 2 * align]).unwrap();
        let part = session.part(&whole, align, 3).unwrap();
        session.fill(&part, 9).unwrap();
        let mut got = vec![0; 2 * align];
        session.read(&whole, 0, &mut got).unwrap();
        let changed: Vec<usize> = (0..got.len()).filter(|i| got[*i] != 1).collect();
        assert_eq!(changed, [align, align + 1, align + 2]);
        assert!(matches!(session.part(&whole, align, align + 1), Err(DeviceError::Range { .. })));
        assert!(matches!(session.part(&whole, 2 * align, 0), Err(DeviceError::Range { .. })));
        let program = "kernel void set(global uchar *x, long at, uchar to) { x[at] = to; }";
        let program = DeviceProgram::build(&session, program, "").unwrap();
        let kernel = program.kernel("set").unwrap();
        for bytes in [0, 1, 777] {
            let guarded = Guarded::new(&session, bytes).unwrap();
            let (end, zone) = (bytes as i64, ZONE as i64);
            let past =
                [(-1, Side::Before, 0), (-zone, Side::Before, ZONE - 1), (end, Side::Behind, 0)];
            let past = past.into_iter().chain([(end + zone - 1, Side::Behind, ZONE - 1)]);
            for (at, side, distance) in past {
                // Whatever value is written each time, one of the rounds sees it.
                for to in [0u8, 1, 0xff, 0x5a] {
                    let seen = [Round::First, Round::Last].map(|round| {
                        guarded.arm(&session, round).unwrap();
                        assert_eq!(guarded.breach(&session, round).unwrap(), None);
                        let arguments =
                            [Arg::buffer(guarded.data()), Arg::I64(at), Arg::Bytes(&[to])];
                        // SAFETY: one item writes one byte of the zones around its argument.
                        let launch = unsafe { session.enqueue(&kernel, &arguments, &[1], None) };
                        launch.unwrap().wait().unwrap();
                        guarded.breach(&session, round).unwrap()
                    });
                    let breach = Breach { side, distance };
                    assert!(seen.contains(&Some(breach)), "{bytes}, {at}, {to}: {seen:?}");
                    assert!(seen.iter().flatten().all(|found| *found == breach), "{seen:?}");
                }
            }
        }
    }
}

#[test]
fn what_goes_wrong() {
    for device in devices() {
        let session = Session::open(&device).unwrap();
        let build = |source| DeviceProgram::build(&session, source, "");
        let broken = build("kernel void f(global int *x) { x[0] = undeclared; }").unwrap_err();
        let DeviceError::Build { log, .. } = &broken else { panic!("{broken}") };
        assert!(log.contains("undeclared"), "{log}");
        let program = build("kernel void f(global int *x, int y) { x[0] = y; }").unwrap();
        assert!(matches!(program.kernel("g"), Err(DeviceError::Call { code: -46, .. })));
        assert_eq!(program.kernel("g\0").unwrap_err(), DeviceError::Zero("kernel's name"));
        let kernel = program.kernel("f").unwrap();
        let buffer = session.upload(&[1i32, 2]).unwrap();
        // SAFETY: refused before anything runs; if it ran, it would write one element of two.
        let bad = |arguments: &[Arg], sizes: &[usize]| unsafe {
            session.enqueue(&kernel, arguments, sizes, None).and_then(|launch| launch.wait())
        };
        let x = Arg::buffer(&buffer);
        let wrong_size = bad(&[x, Arg::I64(3)], &[1]).unwrap_err();
        let size =
            matches!(wrong_size, DeviceError::Argument { index: 1, bytes: 8, code: -51, .. });
        assert!(size, "{wrong_size}");
        let too_many = bad(&[x, Arg::I32(3), Arg::I32(3)], &[1]).unwrap_err();
        let index = matches!(too_many, DeviceError::Argument { index: 2, bytes: 4, code: -49, .. });
        assert!(index, "{too_many}");
        let dimensions = DeviceError::Dimensions { global: 0, local: 0 };
        assert_eq!(bad(&[x, Arg::I32(3)], &[]).unwrap_err(), dimensions);
        assert!(bad(&[x, Arg::I32(3)], &[1]).is_ok());
        let mut all = [0; 2];
        session.read(&buffer, 0, &mut all).unwrap();
        assert_eq!(all, [3, 2]);
        let range = DeviceError::Range { offset: 1, end: 3, len: 2 };
        assert_eq!(session.write(&buffer, 1, &[7, 7]).unwrap_err(), range);
        assert_eq!(session.read(&buffer, 1, &mut all).unwrap_err(), range);
        let large = session.buffer::<u64>(usize::MAX).unwrap_err();
        assert!(matches!(large, DeviceError::TooLarge { .. }), "{large}");
        session.fill(&buffer, -1).unwrap();
        session.read(&buffer, 0, &mut all).unwrap();
        assert_eq!(all, [-1, -1]);
        let none = session.upload::<u64>(&[]).unwrap();
        assert!(none.is_empty() && session.read(&none, 0, &mut []).is_ok());
    }
}

/// Random families, the same each time.
fn families(count: usize, size: std::ops::RangeInclusive<usize>) -> Vec<Vec<Automaton>> {
    let mut runner = TestRunner::deterministic();
    let strategy = family(size, false);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn a_thousand_families() {
    let families = families(1000, 2..=4);
    let parts: Vec<Vec<Matrix>> = families.iter().map(|family| matrices(family)).collect();
    let defined: Vec<Automaton> =
        families.iter().map(|family| by_definition(family).without_idle()).collect();
    for device in devices() {
        let engine = Multiplier::new(&device).unwrap();
        // All families at once: a launch for the second factors, one for the third, one for the
        // fourth.
        let mut made: Vec<Matrix> = parts.iter().map(|family| family[0].clone()).collect();
        for next in 1..4 {
            let going: Vec<usize> = (0..1000).filter(|f| parts[*f].len() > next).collect();
            let pairs: Vec<(&Matrix, &Matrix)> =
                going.iter().map(|f| (&made[*f], &parts[*f][next])).collect();
            let products = engine.batch(&pairs, &memory()).unwrap();
            assert_eq!(products, batch(&pairs, &memory()).unwrap());
            for (number, f) in going.into_iter().enumerate() {
                made[f] = products.matrix(number).unwrap();
            }
        }
        for (made, (parts, defined)) in made.iter().zip(parts.iter().zip(&defined)) {
            assert_eq!(made, &fold(parts, &memory()).unwrap());
            assert_eq!(&made.to_automaton(&memory()).unwrap().without_idle(), defined);
        }
    }
}

/// The product of some matrices, of which the last is made on the device.
fn multiplied(
    engine: &Multiplier,
    parts: &[Matrix],
    limits: &ProductLimits,
) -> MultiplierResult<Matrix> {
    let plan = plan(parts, limits)?;
    let mut cells = plan.allocate(limits)?;
    engine.rows(&plan, cells.len())?.fill(0, &mut cells, limits)?;
    Ok(plan.matrix(cells)?)
}

#[test]
fn one_product_in_one_launch() {
    let parts: Vec<Vec<Matrix>> = families(60, 2..=3).iter().map(|f| matrices(f)).collect();
    let apart = matrices(&apart(&mut Symbols::new(), 9));
    for device in devices() {
        let engine = Multiplier::new(&device).unwrap();
        for family in &parts {
            assert_eq!(
                multiplied(&engine, family, &memory()),
                Ok(fold(family, &memory()).unwrap())
            );
        }
        for form in [SparseForm::Standard, SparseForm::Algebraic] {
            let whole = dense::compose(&apart, form, &memory()).unwrap();
            for bytes in [1, 1 << 16, 1 << 30] {
                assert_eq!(composed(Some(&device), &apart, form, bytes, &memory()).unwrap(), whole);
            }
            for family in &parts {
                let made = composed(Some(&device), family, form, 1 << 10, &memory()).unwrap();
                assert_eq!(made, dense::compose(family, form, &memory()).unwrap());
            }
        }
        // 2^9 states.
        let large = multiplied(&engine, &apart, &memory()).unwrap();
        assert_eq!((large.states(), large.transitions()), (512, 1 << 18));
        assert_eq!(large, fold(&apart, &memory()).unwrap());
        assert_eq!(multiplied(&engine, &[], &memory()).unwrap(), fold(&[], &memory()).unwrap());
        let pairs: Vec<(&Matrix, &Matrix)> = parts.iter().map(|f| (&f[0], &f[1])).collect();
        let plan = BatchPlan::new(&pairs, &memory()).unwrap();
        let (cells, times) = engine.one_by_one(&plan, &memory()).unwrap();
        assert_eq!(cells, plan.run(&memory()).unwrap().cells());
        assert!(times.total > 0.0 && times.kernels > 0.0);
    }
}

#[test]
fn more_than_a_buffer_holds() {
    let parts = matrices(&apart(&mut Symbols::new(), 8));
    for device in devices() {
        // A device that says that 40 rows of 256 words are all that fits.
        let mut small = device;
        small.max_alloc = 40 * 256 * 8;
        let engine = Multiplier::new(&small).unwrap();
        let whole = multiplied(&engine, &parts, &memory()).unwrap();
        assert_eq!(whole, fold(&parts, &memory()).unwrap());
        let pairs: Vec<(&Matrix, &Matrix)> = vec![(&parts[0], &parts[1]); 5000];
        assert_eq!(engine.batch(&pairs, &memory()).unwrap(), batch(&pairs, &memory()).unwrap());
        small.max_alloc = 8;
        let tiny = Multiplier::new(&small).unwrap();
        let refused = multiplied(&tiny, &parts[..2], &memory()).unwrap_err();
        assert!(
            matches!(refused, MultiplierError::Device(DeviceError::TooLarge { .. })),
            "{refused}"
        );
    }
}

/// What the whole product comes to, made in blocks.
fn streamed(plan: &DensePlan, bytes: u64, maker: Maker) -> CellTally {
    let stream = DenseStream::new(plan, bytes);
    let (mut all, mut blocks) = (CellTally::default(), Vec::new());
    let take = |block: RowBlock, tallies: Vec<CellTally>| {
        blocks.push(block.number);
        all = tallies.into_iter().fold(all, |all, one| all + one);
        Ok::<(), MultiplierError>(())
    };
    maker.run(&stream, stream.blocks(), &memory(), |rows| rows.tally(None), take).unwrap();
    assert_eq!(all.checksum, plan.checksum());
    if !matches!(maker, Maker::Devices([_, _, ..])) {
        assert!(blocks.is_sorted());
    }
    blocks.sort_unstable();
    assert_eq!(blocks, (0..stream.len()).collect::<Vec<_>>());
    all
}

#[test]
fn blocks_of_three_sizes() {
    let mut all = families(40, 2..=4);
    all.extend([8, 2, 5].map(|n| apart(&mut Symbols::new(), n)));
    let plans: Vec<DensePlan> =
        all.iter().map(|f| plan(&matrices(f), &memory()).unwrap()).collect();
    for device in devices() {
        // Blocks of more than a buffer of the device holds, too.
        let mut small = device.clone();
        small.max_alloc = 40 * 256 * 8;
        // The last: three devices that share the work.
        let makers =
            [vec![device.clone()], vec![small.clone()], vec![device.clone(), small, device]];
        for plan in &plans {
            let expected = streamed(plan, 1 << 30, Maker::Threads);
            for (devices, bytes) in makers.iter().cartesian_product([1, 20_000, 1 << 30]) {
                assert_eq!(streamed(plan, bytes, Maker::Devices(devices)), expected);
            }
        }
    }
}

/// Rows counted where they are made, by blocks and workgroups of several sizes: the same sums as by
/// threads, and nothing but these comes back.
#[test]
fn rows_are_counted_on_the_device() {
    let mut all = families(600, 2..=4);
    all.extend([8, 2, 5].map(|n| apart(&mut Symbols::new(), n)));
    let clauses: [Clause; 2] = [(1, 2), (4, 0)];
    let holds = |label: u64| label & 3 == 1 || label & 4 == 4;
    for device in devices() {
        let engine = Multiplier::new(&device).unwrap();
        let mut broken = 0;
        for (at, family) in all.iter().enumerate() {
            let plan = plan(&matrices(family), &memory()).unwrap();
            let whole = DenseStream::new(&plan, 1 << 30);
            let see = |rows: RowsOf| rows.tally(Some(&holds));
            let threads = whole.blocks().flat_map(|b| whole.each(b, &memory(), see).unwrap());
            let expected: CellTally = threads.sum();
            broken += expected.broken;
            let group = [1, 7, 64, 256][at % 4];
            let rows = engine.tallies(&plan, Some(&clauses), Some(group)).unwrap();
            for bytes in [1, 4 << 10, 64 << 20] {
                let stream = DenseStream::new(&plan, bytes);
                let before = engine.bytes_read();
                let counted = stream.blocks().map(|b| rows.count(b, &memory()).unwrap());
                assert_eq!(counted.sum::<CellTally>(), expected, "{at} {group} {bytes}");
                assert_eq!(engine.bytes_read() - before, 88 * stream.len() as u64);
            }
            assert_eq!(expected.checksum, plan.checksum());
        }
        assert!(broken > 1000, "{broken}");
        let plan = plan(&matrices(&all[0]), &memory()).unwrap();
        let beyond = RowBlock { number: 0, first: 1, rows: plan.sizes.states() };
        let refused = engine.tallies(&plan, None, None).unwrap().count(beyond, &memory());
        assert!(matches!(refused, Err(MultiplierError::Dense(DenseError::Cells { .. }))));
    }
}

/// The counts of the reachable product of these parts, computed on the CPU.
fn explored(parts: &[Automaton], clauses: &[Clause]) -> ExploredProduct {
    let parts: Vec<&Automaton> = parts.iter().collect();
    let whole = reachable::compose(&parts, &memory()).unwrap();
    let holds =
        |label: u64| clauses.iter().any(|(must, not)| label & must == *must && label & not == 0);
    let stuck = (0..whole.states() as u32).filter(|state| whole.steps(*state).len() == 0);
    let broken = whole.all_steps().filter(|step| !holds(step.label[0]));
    let (mut reached, mut next) = (vec![false; whole.states()], whole.initial().to_vec());
    let mut levels = 0;
    while !next.is_empty() {
        next.iter().for_each(|state| reached[*state as usize] = true);
        let to = next.iter().flat_map(|state| whole.steps(*state)).map(|step| step.to);
        next = to.filter(|to| !reached[*to as usize]).sorted_unstable().dedup().collect();
        levels += 1;
    }
    ExploredProduct {
        states: whole.states() as u64,
        transitions: whole.transitions() as u64,
        stuck: stuck.count() as u64,
        broken: broken.count() as u64,
        levels,
        complete: true,
    }
}

fn plain(parts: &[Automaton]) -> Vec<Automaton> {
    parts.iter().map(|part| part.without_data().without_idle()).collect()
}

/// Random circuits, half of them with silent steps, and some buffers beside them.
fn circuits(count: usize) -> Vec<Vec<Automaton>> {
    let mut runner = TestRunner::deterministic();
    let mut circuit = |at: usize| {
        let mut parts =
            family(1..=5, at.is_multiple_of(2)).new_tree(&mut runner).unwrap().current();
        parts.extend(apart(&mut Symbols::new(), at % 7));
        plain(&parts)
    };
    (0..count).map(&mut circuit).collect()
}

#[test]
fn the_reachable_product_is_counted_on_the_device() {
    let clauses: [Clause; 2] = [(1, 2), (4, 0)];
    let all = circuits(600);
    for device in devices() {
        let engine = Explorer::new(&device).unwrap();
        let (mut sum, mut silent) = (ExploredProduct::default(), 0);
        for (at, family) in all.iter().enumerate() {
            let parts: Vec<&Automaton> = family.iter().collect();
            let expected = explored(family, &clauses);
            let halves = Halves::new(&parts, &memory()).unwrap();
            silent +=
                usize::from([&halves.left, &halves.right].iter().any(|h| h.labels.contains(&0)));
            let group = Some([1, 7, 64, 256][at % 4]);
            // Room for one key, for as many as there are, and a table that is nearly full.
            let states = expected.states as usize;
            let full = ExploreSizes {
                group,
                room: states,
                places: states + states / 99,
                load: 100,
                part: 7,
            };
            let sizes = [
                ExploreSizes { group, ..ExploreSizes::default() },
                ExploreSizes { group, room: 1, places: 1, load: 100, part: 3 },
                full,
            ];
            for sizes in sizes {
                let found = engine.explore(&halves, Some(&clauses), sizes, &memory()).unwrap();
                assert_eq!(found, expected, "{at} {sizes:?}");
            }
            let found = engine.explore(&halves, None, sizes[0], &memory()).unwrap();
            assert_eq!(found, ExploredProduct { broken: 0, ..expected }, "{at}");
            sum.states += expected.states;
            sum.stuck += expected.stuck;
            sum.broken += expected.broken;
        }
        println!("{sum:?}, {silent} with silent steps");
        assert!(sum.states > 5_000 && sum.stuck > 50 && sum.broken > 1_000 && silent > 30);
    }
}

/// The states of a product after steps with these labels.
fn after(whole: &Automaton, labels: &[u64]) -> Vec<u32> {
    let mut states = whole.initial().to_vec();
    for label in labels {
        let steps = states.iter().flat_map(|state| whole.steps(*state));
        let next = steps.filter(|step| step.label[0] == *label).map(|step| step.to);
        states = next.sorted_unstable().dedup().collect();
    }
    states
}

#[test]
fn a_shortest_run_is_found_on_the_device() {
    let mut all = circuits(300);
    all.extend((1..=9).map(|n| plain(&chain(&mut Symbols::new(), n))));
    for device in devices() {
        let engine = Explorer::new(&device).unwrap();
        let (mut stuck, mut broken, mut steps) = (0, 0, 0);
        for (at, family) in all.iter().enumerate() {
            let parts: Vec<&Automaton> = family.iter().collect();
            let whole = reachable::compose(&parts, &memory()).unwrap();
            let halves = Halves::new(&parts, &memory()).unwrap();
            let sizes = match at % 3 {
                0 => ExploreSizes::default(),
                1 => ExploreSizes { group: Some(7), part: 3, ..ExploreSizes::default() },
                _ => ExploreSizes { room: 1, places: 1, load: 100, ..ExploreSizes::default() },
            };
            let shortest = |clauses| engine.shortest(&halves, clauses, sizes, &memory()).unwrap();
            let (found, expected) = (shortest(None), deadlock(&whole));
            assert_eq!(found.as_ref().map(Vec::len), expected.map(|run| run.steps.len()), "{at}");
            if let Some(run) = found {
                let ends = after(&whole, &run);
                assert!(ends.iter().any(|state| whole.steps(*state).len() == 0), "{at} {run:?}");
                (stuck, steps) = (stuck + 1, steps + run.len());
            }
            // No step in which one of the last two names fires.
            let names = halves.alphabet.iter().rev().take(2);
            let bits = (0..halves.alphabet.len()).rev().take(2).map(|bit| 1 << bit).sum();
            let clauses: [Clause; 2] = [(0, u64::MAX), (0, bits)];
            let holds = |label: u64| label & bits == 0;
            let any = names
                .map(|name| LtlFormula::Fires(*name))
                .reduce(|a, b| LtlFormula::Or(Box::new(a), Box::new(b)));
            let none = LtlFormula::Not(Box::new(any.unwrap_or(LtlFormula::False)));
            let (found, expected) = (shortest(Some(&clauses)), violation(&whole, &none));
            assert_eq!(found.as_ref().map(Vec::len), expected.map(|run| run.steps.len()), "{at}");
            if let Some(run) = found {
                let (last, before) = run.split_last().expect("a step");
                assert!(!holds(*last) && before.iter().all(|label| holds(*label)), "{at} {run:?}");
                assert!(!after(&whole, &run).is_empty(), "{at} {run:?}");
                (broken, steps) = (broken + 1, steps + run.len());
            }
        }
        println!("{stuck} deadlocks, {broken} broken, {steps} steps");
        assert!(stuck > 20 && broken > 100 && steps > 300);
    }
}

#[test]
fn the_reachable_product_within_limits_and_with_faulty_kernels() {
    let family = plain(&chain(&mut Symbols::new(), 10));
    let parts: Vec<&Automaton> = family.iter().collect();
    let halves = Halves::new(&parts, &memory()).unwrap();
    let expected = explored(&family, &[]);
    assert_eq!((expected.states, expected.transitions, expected.levels), (1024, 10_458, 20));
    for device in devices() {
        let explore = |from: &str, to: &str, memory: u64| {
            assert!(EXPLORE_KERNELS.contains(from));
            let engine = Explorer::with_kernels(&device, &EXPLORE_KERNELS.replace(from, to));
            let limits = ProductLimits::memory(memory);
            let sizes = ExploreSizes { room: 300, places: 600, ..ExploreSizes::default() };
            engine.unwrap().explore(&halves, Some(&[]), sizes, &limits)
        };
        // All hashes equal: slower, and right.
        let hash = "mul_hi(hashed(key), known->capacity)";
        for equal in ["0", "known->capacity - 1"] {
            assert_eq!(explore(hash, equal, 1 << 20), Ok(expected));
        }
        // Memory for a third of the states.
        let refused = explore("", "", 24 * 341).unwrap_err();
        let stopped = |error| {
            matches!(error, MultiplierError::Dense(DenseError::Stopped(Stopped::Memory { .. })))
        };
        assert!(stopped(refused));
        // A step that is dropped, a key that is lost, and one that is not explored.
        for (from, to) in [
            ("++steps;\n        }\n        for", "steps += key != 5;\n        }\n        for"),
            ("known->keys[at] = key;", "known->keys[at] = key & ~1UL;"),
            ("return was == NONE;", "return was == NONE && key != 77;"),
        ] {
            assert_ne!(explore(from, to, 1 << 20), Ok(expected), "{to}");
        }
        // A run through states that no step leads to, and to one that is not stuck.
        for (from, to) in [
            ("atomic_min(first, low);", "atomic_min(first, count);"),
            ("first_broken = min(first_broken, key);", "first_broken = 0;"),
        ] {
            assert!(EXPLORE_KERNELS.contains(from));
            let engine = Explorer::with_kernels(&device, &EXPLORE_KERNELS.replace(from, to));
            let out = halves.alphabet.len() - 1;
            let clauses = [(0, 1 << out)];
            let sizes = ExploreSizes::default();
            let wrong = engine.unwrap().shortest(&halves, Some(&clauses), sizes, &memory());
            assert!(matches!(wrong, Err(MultiplierError::Unusable(_))), "{wrong:?}");
        }
        let engine = Explorer::new(&device).unwrap();
        let stop = AtomicBool::new(true);
        let limits = ProductLimits { stop: &stop, ..memory() };
        let stopped = engine.explore(&halves, None, ExploreSizes::default(), &limits);
        assert_eq!(stopped, Err(Stopped::Interrupted.into()));
        // Empty, the first full, and the second full, which three steps leave: it moves on, the
        // first fills again, or both.
        let stop = AtomicBool::new(false);
        let progress = |now: ProductProgress| stop.store(now.transitions == 2, Ordering::Relaxed);
        let limits = ProductLimits { stop: &stop, progress: &progress, ..memory() };
        let kept = engine.explore(&halves, Some(&[]), ExploreSizes::default(), &limits);
        let (states, levels) = (3, 3);
        let first =
            ExploredProduct { states, transitions: 5, broken: 5, levels, ..Default::default() };
        assert_eq!(kept, Ok(first));
    }
}

#[test]
fn the_reachable_product_from_the_command_line() {
    if devices().is_empty() {
        return;
    }
    let run = |more: &[&str]| {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("tickbound");
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command.args(["reo", "compose", "examples/connectors/alternator.treo", "--set", "n=6"]);
        let out = command.args(["--stream", "--json"]).args(more).output().expect("it starts");
        let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        (out.status.code(), value, String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let numbers = |value: &serde_json::Value| {
        ["states", "transitions", "stuck", "broken"].map(|key| value[key].clone())
    };
    for more in [&["--no-data"][..], &["--no-data", "--invariant", "in[1] -> !in[2]"]] {
        let (status, cpu, err) = run(more);
        assert!(cpu["states"].is_string() || cpu["states"].is_number(), "{cpu} {err}");
        let (same, device, err) = run(&[more, &["--device", "opencl"]].concat());
        assert_eq!((status, numbers(&cpu)), (same, numbers(&device)), "{err}");
        assert!(device["levels"].as_u64() > Some(1) && device["checksum"].is_null(), "{device}");
    }
    let (status, _, err) = run(&["--no-data", "--device", "opencl", "--dataset", "d"]);
    assert!(status == Some(2) && err.contains("written by the processors"), "{err}");
}

/// Deadlocks and broken invariants by the device: as many steps as the processors find.
#[test]
fn checked_from_the_command_line() {
    if devices().is_empty() {
        return;
    }
    let run = |more: &[&str]| {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("tickbound");
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        let out = command.args(["reo", "check"]).args(more).output().expect("it starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let ring = folder.path().join("ring.treo").display().to_string();
    // What enters stays, until both buffers are full.
    let parts = "sync(in, x) fifo1(x, p) fifo1(p, x)";
    let text = format!("import reo.sync;\nimport reo.fifo1;\nring(in?) {{ {parts} }}\n");
    std::fs::write(&ring, text).expect("a file");
    let ring = [ring.as_str(), "--no-data"];
    let chain = ["examples/connectors/chain.treo", "--no-data", "--set", "n=8"];
    let ends = ["--invariant", "x[8] | !x[8]", "--invariant", "x[8] -> x[0]"];
    for (what, status, said) in [
        (ring.to_vec(), 1, "a deadlock after 3 steps\n  1. {in}\n  2. inside: {p}\n  3. {in}"),
        (chain.to_vec(), 0, "no deadlock"),
        ([&chain[..], &ends].concat(), 1, "x[0]` is broken by the last step of 9 steps"),
        ([&chain[..], &ends, &["--json"]].concat(), 1, "{x[8]}"),
        ([&chain[..], &ends[..2]].concat(), 0, "every invariant holds"),
    ] {
        for device in [&[][..], &["--device", "opencl"]] {
            let (code, out, err) = run(&[&what[..], device].concat());
            assert_eq!((code, out.contains(said)), (Some(status), true), "{what:?} {out} {err}");
        }
    }
    for (more, why) in [
        (&["--ltl", "F x[8]"][..], "cannot be used with"),
        (&["--invariant", "nothing"], "`nothing` is not a name"),
    ] {
        let (code, _, err) = run(&[&chain[..], &["--device", "opencl"], more].concat());
        assert!(code == Some(2) && err.contains(why), "{err}");
    }
}

#[test]
fn a_kernel_that_leaves_a_cell_out_is_caught() {
    for device in devices() {
        // Runs of 4 cells, and of 8, which a processor takes at once.
        for (buffers, label, faulty) in [
            (
                5,
                "const ulong label = joined(a, b[at], mask);",
                "const ulong label = cells + at == 3 ? EMPTY : joined(a, b[at], mask);",
            ),
            (
                7,
                "const ulong8 kept = as_ulong8(label != EMPTY);",
                "const ulong8 kept = as_ulong8(label != EMPTY && cells + at != 8);",
            ),
        ] {
            let plan = plan(&matrices(&apart(&mut Symbols::new(), buffers)), &memory()).unwrap();
            assert!(KERNELS.contains(label));
            for good in [true, false] {
                let source = if good { KERNELS.into() } else { KERNELS.replace(label, faulty) };
                let engine = Multiplier::with_kernels(&device, &source).unwrap();
                let rows = engine.tallies(&plan, None, None).unwrap();
                let all = DenseStream::new(&plan, 1 << 30).blocks();
                let counted: CellTally = all.map(|b| rows.count(b, &memory()).unwrap()).sum();
                let agreed = agree(&device.name, plan.checksum(), counted.checksum);
                let is_run = buffers == 5 || device.kind == DeviceKind::Cpu;
                assert_eq!(agreed.is_ok(), good || !is_run, "{agreed:?}");
            }
        }
    }
}

/// Invariants by clauses on the device, and one of too many names by threads.
#[test]
fn invariants_on_the_device() {
    if devices().is_empty() {
        return;
    }
    let many: Vec<String> = (1..=6).map(|k| format!("in[{k}] & out[{k}]")).collect();
    let run = |device: &str, invariant: &str| {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("tickbound");
        command.current_dir(env!("CARGO_MANIFEST_DIR"));
        command.args(["reo", "compose", "examples/connectors/buffers.treo", "--no-data"]);
        command.args(["--set", "n=7", "--mode", "dense", "--stream", "--device", device]);
        let out = command.args(["--invariant", invariant]).output().expect("it starts");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        (out.status.code(), said.lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
    };
    for invariant in ["in[1] -> in[2]", "!(in[1] & out[1])", "false", &many.join(" | ")] {
        let cpu = run("cpu", invariant);
        assert_eq!(run("opencl", invariant), cpu, "{invariant}");
        assert_eq!(cpu.0, Some(i32::from(!invariant.starts_with('!'))), "{cpu:?}");
    }
}

#[test]
fn two_devices_make_a_stream() {
    let devices = devices();
    let Some(first) = devices.first() else { return };
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("tickbound");
    // PoCL has the devices that it is told to have.
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("POCL_DEVICES", "basic pthread");
    command.args(["reo", "compose", "examples/connectors/buffers.treo", "--no-data"]);
    command.args(["--set", "n=10", "--mode", "dense", "--stream", "--block", "256K"]);
    let out = command.args(["--device", "opencl:all"]).assert().success().get_output().clone();
    let said = String::from_utf8_lossy(&out.stdout);
    // As threads make it, in docs/reo.md.
    assert!(said.contains("checksum a0aa5bdaa6513d9f"), "{said}");
    let two = said.contains("basic-") && said.contains(" + ") && said.contains("pthread-");
    assert!(two || !first.platform.contains("Portable Computing Language"), "{said}");
}

#[test]
fn limits() {
    let parts = matrices(&apart(&mut Symbols::new(), 10));
    for device in devices() {
        let engine = Multiplier::new(&device).unwrap();
        let refused = multiplied(&engine, &parts, &ProductLimits::memory(1 << 20)).unwrap_err();
        let what = "the dense product";
        let expected = Stopped::Memory { what, needed: 8 << 20, limit: 1 << 20 };
        assert_eq!(refused, MultiplierError::Dense(DenseError::Stopped(expected)));
        let stop = AtomicBool::new(true);
        let stopped =
            multiplied(&engine, &parts, &ProductLimits { stop: &stop, ..memory() }).unwrap_err();
        assert_eq!(stopped, Stopped::Interrupted.into());
    }
}

#[test]
fn the_bench() {
    let devices = devices();
    let options = BenchOptions { products: vec![100, 200], kept: 2, dropped: 1, bytes: 1 << 18 };
    let report = reo_bench::run(&options, &devices, &memory(), &|_| {}).unwrap();
    assert_eq!(report.devices.len(), 1 + devices.len());
    for device in &report.devices {
        assert_eq!(device.error, None);
        let modes: Vec<Mode> = device.series.iter().map(|series| series.mode).collect();
        assert_eq!(modes, [Mode::OneByOne, Mode::Batched]);
        let points = device.series.iter().flat_map(|series| &series.points);
        let points: Vec<(usize, usize)> = points.map(|p| (p.products, p.total.len())).collect();
        assert_eq!(points, [(100, 2), (200, 2), (100, 2), (200, 2)]);
        assert_eq!(device.bandwidth.as_ref().map(|b| b.bytes), Some(8 << 14));
    }
    let text = report.markdown();
    assert!(text.contains("| E8400 CPU (2012)") && text.contains("7.813"), "{text}");
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<reo_bench::BenchReport>(&json).unwrap(), report);
    let folder = tempfile::tempdir().unwrap();
    for name in ["times.svg", "times.png"] {
        let path = folder.path().join(name);
        assert_eq!(report.plot(&path).unwrap(), std::slice::from_ref(&path));
        assert!(std::fs::metadata(path).unwrap().len() > 1000);
    }
    assert!(report.plot(folder.path().join("none/times.svg")).is_err());
    let stop = AtomicBool::new(true);
    let limits = ProductLimits { stop: &stop, ..memory() };
    let stopped = reo_bench::run(&options, &devices, &limits, &|_| {});
    assert!(stopped.is_err() || stopped.is_ok_and(|report| report.interrupted));
}
