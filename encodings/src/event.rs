//! The `event` encoding: one step takes every thread to its next event.
//!
//! Threads meet only at barriers, so each keeps its own clock, and a step moves every thread
//! that is not waiting past the point where it stands: work adds to its clock, a wait for the mark
//! is a maximum. At a barrier it waits for the others and all clocks become the greatest one. The
//! number of steps is the number of points on the longest path, for any ticks.
//!
//! Sound and complete: the clocks at a barrier are those of the tick-by-tick run, because between
//! barriers a thread's time depends on nothing outside it (`docs/encodings.md`).

use crate::encoded::EncodeError;
use crate::machine::flow::PointKind;
use crate::machine::{Control, Move, Signals};
use crate::plan::{Jump, Plan, Scalar};
use crate::queue;
use crate::system::{Bool, Int, InternalError, StateVariable, System, SystemBuilder};

/// The event encoding of a plan.
///
/// # Errors
/// A group of a queue without ticks, or a fault of this program.
pub fn encode(plan: &Plan) -> Result<System, EncodeError> {
    let alone = |plan: &Plan| Ok(encode_jumps(&plan.clone().lifted(), false)?.into());
    Ok(queue::encode(plan, &alone)?.system)
}

/// The event encoding of a program with closed pieces; for `alike` see [`Control::new`].
pub(crate) fn encode_jumps(plan: &Plan<Jump>, alike: bool) -> Result<System, InternalError> {
    let build = SystemBuilder::new(plan.parameters.clone(), plan.configurations.clone());
    let control = Control::new(&build, plan, alike);
    let threads = control.threads();
    let clocks: Vec<Clock<'_>> = (0..threads).map(|t| Clock::new(&control, t)).collect();
    let arrived: Vec<Bool<'_>> = (0..threads).map(|t| control.at_barrier(t)).collect();
    let signals = control.signals(&arrived);
    let latest = clocks.iter().map(|clock| clock.now.now()).reduce(Int::max);
    let latest = latest.ok_or_else(|| InternalError("a plan without threads".into()))?;
    let end = control.flow.end();
    for (t, clock) in clocks.iter().enumerate() {
        let leave: Vec<Bool<'_>> = (0..control.flow.points.len())
            .map(|p| if p == end { build.bool(false) } else { control.at(t, p) })
            .collect();
        let moves = control.moves(t, &leave, &signals);
        clock.define(&control, t, latest, &moves, &signals);
        control.define(t, &moves, &leave, &signals, build.bool(true));
    }
    let ended = (0..threads).map(|t| control.at(t, end));
    build.finish(build.all(ended), latest, build.bool(true))
}

struct Clock<'b> {
    now: StateVariable<'b, Int<'b>>,
    /// One per item; empty if nothing waits for a mark.
    marks: Vec<StateVariable<'b, Int<'b>>>,
}

impl<'b> Clock<'b> {
    fn new(control: &Control<'b, Jump>, t: usize) -> Self {
        let now = control.build.state(format!("now[{t}]"));
        let marks = if control.plan.uses_marks { control.items } else { 0 };
        let marks = (0..marks).map(|i| control.build.state(format!("mark[{t}][{i}]"))).collect();
        Clock { now, marks }
    }

    /// The mark of the item that runs now.
    fn mark(&self, control: &Control<'b, Jump>, t: usize) -> Int<'b> {
        let Some((last, others)) = self.marks.split_last() else { return control.build.unread() };
        others
            .iter()
            .enumerate()
            .rev()
            .fold(last.now(), |mark, (item, state)| control.runs(t, item).ite(state.now(), mark))
    }

    fn define(
        &self,
        control: &Control<'b, Jump>,
        t: usize,
        latest: Int<'b>,
        moves: &[Move<'b>],
        signals: &Signals<'b>,
    ) {
        let (now, mark) = (self.now.now(), self.mark(control, t));
        let zero = control.build.int(0);
        // Work is one addition of a chosen amount: solvers take it better than a choice of sums.
        let (mut work, mut price) = (zero, zero);
        let mut special = Vec::new();
        for (p, point) in control.flow.points.iter().enumerate() {
            let at = control.at(t, p);
            match &point.kind {
                PointKind::Work { amount, times } => {
                    work = at.ite(control.work(t, *amount, *times), work);
                }
                PointKind::Until(amount) => {
                    let ticks = control.amount(*amount, t) + control.build.int(1);
                    special.push((at, now.max(mark + ticks), mark));
                }
                PointKind::Own(closed) => {
                    let (clock, mark) = jump(control, closed, now, mark);
                    special.push((at, clock, mark));
                }
                PointKind::Barrier { price: ticks, .. } => {
                    price = at.ite(control.build.int(*ticks), price);
                }
                PointKind::Nop | PointKind::End => {}
            }
        }
        let (mut next, mut kept) = (now + work, mark);
        for (at, clock, mark) in special {
            (next, kept) = (at.ite(clock, next), at.ite(mark, kept));
        }
        next = signals.release.ite(latest + price, next);
        self.now.define(zero, next);
        let marked = control.build.any(moves.iter().filter(|m| m.mark).map(|m| m.taken));
        for (item, state) in self.marks.iter().enumerate() {
            let old = control.runs(t, item).ite(kept, state.now());
            let set = marked & control.will_run(t, item, signals);
            state.define(zero, set.ite(next, old));
        }
    }
}

/// A closed number as an expression; none for minus infinity.
fn scalar<'b>(control: &Control<'b, Jump>, of: &Scalar) -> Option<Int<'b>> {
    let scalar = |of| scalar(control, of);
    Some(match of {
        Scalar::Never => return None,
        Scalar::Int(v) => control.build.int(*v),
        Scalar::Amount(of) => control.amount_of(of.id, of.thread, of.item),
        Scalar::Add(a, b) => scalar(a)? + scalar(b)?,
        Scalar::Mul(a, b) => scalar(a)? * scalar(b)?,
        Scalar::Max(a, b) => match (scalar(a), scalar(b)) {
            (Some(a), Some(b)) => a.max(b),
            (a, b) => return a.or(b),
        },
    })
}

/// Clock and mark after a jump from clock `now` and mark `mark`.
fn jump<'b>(
    control: &Control<'b, Jump>,
    jump: &Jump,
    now: Int<'b>,
    mark: Int<'b>,
) -> (Int<'b>, Int<'b>) {
    let shift = |from: Int<'b>, by: &Scalar| scalar(control, by).map(|by| from + by);
    let (first, second, tail) = match jump {
        Jump::Keep { now: a, mark: b } => (shift(now, a), shift(mark, b), None),
        Jump::Set { now: c, mark: d, after } => (shift(now, c), shift(mark, d), Some(after)),
    };
    let met = match (first, second) {
        (Some(a), Some(b)) => a.max(b),
        (Some(a), None) | (None, Some(a)) => a,
        (None, None) => now,
    };
    match tail {
        None => (met, mark),
        Some(after) => (shift(met, after).unwrap_or(met), met),
    }
}
