//! `mpirun -n N ranks`: products by N processes, each against the one that is made alone. For `make
//! test-mpi`.
//!
//! With the word `fail` the last rank ends in the middle of a product.

use std::process::ExitCode;

use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{self, BufferContent};
use tickbound_reo::product::dense::{CellData, CellTally, DenseStream as Dense, Matrix, plan};
use tickbound_reo::product::reachable::{
    Exchange, StepStream, StreamError, compose, compose_shared, total,
};
use tickbound_reo::symbol::Symbols;
use tickbound_reo_mpi::World;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let mut world = match World::start() {
        Ok(Some(world)) => world,
        Ok(None) => {
            eprintln!("start it with mpirun");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let fail = std::env::args().nth(1).is_some_and(|word| word == "fail");
    match products(&mut world, fail) {
        Ok(()) if world.rank() == 0 => println!("{} ranks: as one alone", world.size()),
        Ok(()) => {}
        Err(error) => {
            eprintln!("rank {}: {error}", world.rank());
            world.abort(2);
        }
    }
    ExitCode::SUCCESS
}

fn products(world: &mut World, fail: bool) -> Result<(), Failure> {
    let mut symbols = Symbols::new();
    let limits = ProductLimits::memory(256 << 20);
    let mut chain = |n: usize| -> Vec<Automaton> {
        let mut buffer = |i: usize| {
            let (a, b) = (symbols.name(&format!("x{i}")), symbols.name(&format!("x{}", i + 1)));
            primitive::fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty)
        };
        (0..n).map(&mut buffer).collect()
    };
    let plain: Vec<Automaton> = chain(14).iter().map(Automaton::without_data).collect();
    for parts in [plain, chain(9)] {
        whole(world, &parts, &limits)?;
        summed(world, &parts, &limits, fail)?;
    }
    dense(world, &chain(9), &limits)
}

/// The whole product, on the first rank.
fn whole(
    world: &mut World,
    parts: &[Automaton],
    limits: &ProductLimits<'_>,
) -> Result<(), Failure> {
    let parts: Vec<&Automaton> = parts.iter().collect();
    let made = compose_shared(&parts, limits, world)?;
    let expected = if world.rank() == 0 { Some(compose(&parts, limits)?) } else { None };
    if made != expected {
        return Err("the product is another one".into());
    }
    Ok(())
}

/// The steps that each rank makes, summed.
fn summed(
    world: &mut World,
    parts: &[Automaton],
    limits: &ProductLimits<'_>,
    fail: bool,
) -> Result<(), Failure> {
    let parts: Vec<&Automaton> = parts.iter().collect();
    let stream = StepStream::new(&parts, limits)?;
    let (last, mut tally, mut alone) =
        (world.rank() + 1 == world.size(), CellTally::default(), CellTally::default());
    stream.share(limits, world, false, |steps| {
        if fail && last {
            return Err("this rank fails".into());
        }
        tally = tally + steps.tally(None);
        Ok::<(), Failure>(())
    })?;
    stream.run(limits, None, |steps| {
        alone = alone + steps.tally(None);
        Ok::<(), StreamError>(())
    })?;
    if total(world, tally)?.is_some_and(|tally| tally != alone) {
        return Err("the sums are others".into());
    }
    Ok(())
}

/// Every rank makes some blocks of a dense product.
fn dense(
    world: &mut World,
    parts: &[Automaton],
    limits: &ProductLimits<'_>,
) -> Result<(), Failure> {
    let matrix = |part| Matrix::new(part, CellData::Ignore, limits);
    let matrices = parts.iter().map(matrix).collect::<Result<Vec<_>, _>>()?;
    let plan = plan(&matrices, limits)?;
    let stream = Dense::new(&plan, 1 << 16);
    let (mut tally, mut alone) = (CellTally::default(), CellTally::default());
    for block in stream.blocks() {
        let made = stream.each(block, limits, |rows| rows.tally(None))?.into_iter().sum();
        alone = alone + made;
        if block.number % world.size() == world.rank() {
            tally = tally + made;
        }
    }
    if total(world, tally)?.is_some_and(|tally| tally != alone) {
        return Err("the dense sums are others".into());
    }
    Ok(())
}
