//! The primitive channels and components of Reo, as constraint automata.
//!
//! Sources: Baier, Sirjani, Arbab, Rutten 2006, figure 2 and section 3; Arbab, Reo: a channel-based
//! coordination model, 2004 (spouts, lossy buffers); Arbab, Baier, de Boer, Rutten, Models and
//! temporal logical specifications for timed component connectors, 2007 (Timer). The caller gives
//! names and memory cells; no other part may write a buffer's cell.

use crate::automaton::{Automaton, AutomatonBuilder};
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::symbol::{Cell, NameId, SymbolId};

fn equal(a: DataTerm, b: DataTerm) -> Literal {
    Literal::Equal(a, b)
}

fn one(literal: Literal) -> DataConstraint {
    DataConstraint::new([literal])
}

fn same(a: NameId, b: NameId) -> DataConstraint {
    one(equal(DataTerm::Datum(a), DataTerm::Datum(b)))
}

fn stateless(names: &[NameId], steps: &[(&[NameId], DataConstraint)]) -> Automaton {
    let mut builder = AutomatonBuilder::over(names.iter().copied(), 1, vec![0]);
    steps.iter().for_each(|(fire, constraint)| _ = builder.step(0, fire, constraint.clone(), 0));
    builder.done()
}

/// Sync: `a` and `b` fire together, with the same datum.
pub fn sync(a: NameId, b: NameId) -> Automaton {
    stateless(&[a, b], &[(&[a, b], same(a, b))])
}

/// LossySync: as [`sync`], or `a` alone, whose datum is lost. Which one is open, as in the 2006
/// paper; that `b` is only passed over when it is not ready needs context, which constraint
/// automata do not have.
pub fn lossy_sync(a: NameId, b: NameId) -> Automaton {
    stateless(&[a, b], &[(&[a, b], same(a, b)), (&[a], DataConstraint::default())])
}

/// SyncDrain, and SyncSpout: `a` and `b` fire together, with any data.
pub fn sync_drain(a: NameId, b: NameId) -> Automaton {
    stateless(&[a, b], &[(&[a, b], DataConstraint::default())])
}

/// AsyncDrain, and AsyncSpout: `a` or `b` fires, never both.
pub fn async_drain(a: NameId, b: NameId) -> Automaton {
    stateless(&[a, b], &[(&[a], DataConstraint::default()), (&[b], DataConstraint::default())])
}

/// Filter: what fulfils `predicate` passes as in a [`sync`], the rest is lost.
pub fn filter(a: NameId, b: NameId, predicate: SymbolId) -> Automaton {
    sieve(a, b, predicate, true)
}

/// As [`filter`]; unless `passes`, what fulfils `predicate` is lost, and the rest passes.
pub(crate) fn sieve(a: NameId, b: NameId, predicate: SymbolId, passes: bool) -> Automaton {
    let test = |holds| Literal::Predicate(holds, predicate, [DataTerm::Datum(a)].into());
    let pass = DataConstraint::new([test(passes), equal(DataTerm::Datum(a), DataTerm::Datum(b))]);
    stateless(&[a, b], &[(&[a, b], pass), (&[a], one(test(!passes)))])
}

/// Transform: `b` gives `function` of the datum at `a`.
pub fn transform(a: NameId, b: NameId, function: SymbolId) -> Automaton {
    join(&[a], b, function)
}

/// A function of several inputs, all at once: `out` gives `function` of the data at `inputs`. With
/// the function `tuple` it is Reo's Join.
pub fn join(inputs: &[NameId], out: NameId, function: SymbolId) -> Automaton {
    let arguments: Vec<DataTerm> = inputs.iter().copied().map(DataTerm::Datum).collect();
    let result = one(equal(DataTerm::Datum(out), DataTerm::Call(function, arguments.into())));
    let names: Vec<NameId> = inputs.iter().copied().chain([out]).collect();
    stateless(&names, &[(&names, result)])
}

/// Merger: exactly one of `inputs` fires, together with `out` and with the same datum.
pub fn merger(inputs: &[NameId], out: NameId) -> Automaton {
    let names = inputs.iter().copied().chain([out]);
    let mut builder = AutomatonBuilder::over(names, 1, vec![0]);
    inputs.iter().for_each(|input| _ = builder.step(0, &[*input, out], same(*input, out), 0));
    builder.done()
}

/// Replicator: `input` fires together with all of `outputs`, with the same datum.
pub fn replicator(input: NameId, outputs: &[NameId]) -> Automaton {
    let names: Vec<NameId> = [input].into_iter().chain(outputs.iter().copied()).collect();
    let copies = outputs.iter().map(|out| equal(DataTerm::Datum(input), DataTerm::Datum(*out)));
    stateless(&names, &[(&names, DataConstraint::new(copies))])
}

/// Router: `input` fires together with exactly one of `outputs`, with the same datum.
pub fn router(input: NameId, outputs: &[NameId]) -> Automaton {
    merger(outputs, input)
}

/// What is in a buffer at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferContent {
    /// Nothing.
    Empty,
    /// A datum of which nothing is known.
    Unknown,
    /// This constant.
    Constant(SymbolId),
}

/// A buffer with states 0 (empty) and 1 (full); `given` follows when a datum was given.
fn buffer(
    a: NameId,
    b: NameId,
    cell: Cell,
    content: BufferContent,
    given: u32,
) -> AutomatonBuilder {
    let initial = u32::from(content != BufferContent::Empty);
    let mut builder = AutomatonBuilder::over([a, b], 2, vec![initial]);
    if let BufferContent::Constant(datum) = content {
        builder.contents([(cell, datum)]);
    }
    builder.step(0, &[a], store(a, cell), 1);
    builder.step(1, &[b], one(equal(DataTerm::Datum(b), DataTerm::Before(cell))), given);
    builder
}

fn store(a: NameId, cell: Cell) -> DataConstraint {
    one(equal(DataTerm::Datum(a), DataTerm::After(cell)))
}

/// FIFO1: takes a datum at `a` when empty, gives it at `b` when full. `content` other than
/// [`BufferContent::Empty`] makes it FIFO1full.
pub fn fifo1(a: NameId, b: NameId, cell: Cell, content: BufferContent) -> Automaton {
    buffer(a, b, cell, content, 0).done()
}

/// Overflow-lossy FIFO1: as [`fifo1`]; what comes while it is full is lost.
pub fn overflow_lossy_fifo1(a: NameId, b: NameId, cell: Cell) -> Automaton {
    let mut builder = buffer(a, b, cell, BufferContent::Empty, 0);
    builder.step(1, &[a], DataConstraint::default(), 1);
    builder.done()
}

/// Shift-lossy FIFO1: as [`fifo1`]; what comes while it is full takes the place of what is there.
pub fn shift_lossy_fifo1(a: NameId, b: NameId, cell: Cell) -> Automaton {
    let mut builder = buffer(a, b, cell, BufferContent::Empty, 0);
    builder.step(1, &[a], store(a, cell), 1);
    builder.done()
}

/// Variable: keeps the last datum from `a`; once there is one, `b` gives it any number of times.
pub fn variable(a: NameId, b: NameId, cell: Cell, content: BufferContent) -> Automaton {
    let mut builder = buffer(a, b, cell, content, 1);
    builder.step(1, &[a], store(a, cell), 1);
    builder.done()
}

/// FIFOn: a queue with a place for each of `cells`, at least one. State k holds k data; the oldest
/// is in the last cell, so that giving one shifts the others.
///
/// Together they take and give one datum in a step once neither full nor empty, as a chain of
/// [`fifo1`] with hidden inner names does.
pub fn fifo(a: NameId, b: NameId, cells: &[Cell]) -> Automaton {
    let n = cells.len();
    let mut builder = AutomatonBuilder::over([a, b], n + 1, vec![0]);
    // k data lie in the last k cells; the i-th oldest in cells[n - 1 - i].
    let place = |i: usize| cells[n - 1 - i];
    let give = |k: usize| {
        let shift =
            (1..k).map(move |i| equal(DataTerm::After(place(i - 1)), DataTerm::Before(place(i))));
        shift.chain([equal(DataTerm::Datum(b), DataTerm::Before(place(0)))])
    };
    for k in 0..=n {
        let from = k as u32;
        if k < n {
            let take = one(equal(DataTerm::Datum(a), DataTerm::After(place(k))));
            builder.step(from, &[a], take, from + 1);
        }
        if k > 0 {
            builder.step(from, &[b], DataConstraint::new(give(k)), from - 1);
        }
        if k > 0 && k < n {
            let take = equal(DataTerm::Datum(a), DataTerm::After(place(k - 1)));
            builder.step(from, &[a, b], DataConstraint::new(give(k).chain([take])), from);
        }
    }
    builder.done()
}

/// Timer: a datum at `a` starts it; after `ticks` ticks it fires `b` with the constant `timeout`.
///
/// Time is discrete: `tick` fires when one unit of time passes, for all timers at once, as the name
/// is shared. State 0 is off (time passes without effect), state k > 0 has k - 1 ticks to go; in
/// state 1 no time passes before `b` has fired.
pub fn timer(a: NameId, b: NameId, tick: NameId, ticks: u32, timeout: SymbolId) -> Automaton {
    let mut builder = AutomatonBuilder::over([a, b, tick], ticks as usize + 2, vec![0]);
    builder.step(0, &[tick], DataConstraint::default(), 0);
    builder.step(0, &[a], DataConstraint::default(), ticks + 1);
    for k in 2..ticks + 2 {
        builder.step(k, &[tick], DataConstraint::default(), k - 1);
    }
    builder.step(1, &[b], one(equal(DataTerm::Datum(b), DataTerm::Constant(timeout))), 0);
    builder.done()
}
