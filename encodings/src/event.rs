//! The `event` encoding: one step takes every thread to its next event.
//!
//! Threads meet only at barriers, so each keeps a clock of its own, and a step moves every thread
//! that is not waiting past the point where it stands: work adds to its clock, a wait for the mark
//! is a maximum. At a barrier it waits for the others and all clocks become the greatest one. The
//! number of steps is the number of points on the longest way, whatever the ticks are.
//!
//! Sound and complete: the clocks at a barrier are those of the tick-by-tick run, because between
//! barriers a thread's time depends on nothing outside it (`docs/encodings.md`).

use crate::machine::flow::PointKind;
use crate::machine::{Control, Move, Signals};
use crate::plan::{Op, Plan};
use crate::system::{Ex, Sort, StateId, System};

/// The event encoding of a plan.
#[must_use]
pub fn encode(plan: &Plan) -> System {
    encode_program(plan, &plan.code, false)
}

/// The event encoding of a program with the effect of the plan's own; for `alike` see
/// [`Control::new`].
pub(crate) fn encode_program(plan: &Plan, code: &[Op], alike: bool) -> System {
    let mut control = Control::new(plan, code, alike);
    let threads = control.threads();
    let clocks: Vec<Clock> = (0..threads).map(|t| Clock::new(&mut control, t)).collect();
    let arrived: Vec<Ex> = (0..threads).map(|t| control.at_barrier(t)).collect();
    let signals = control.signals(&arrived);
    let latest = latest(&mut control, &clocks);
    let end = control.flow.end();
    let mut ended = Vec::new();
    for (t, clock) in clocks.iter().enumerate() {
        let leave: Vec<Ex> = (0..control.flow.points.len())
            .map(|p| if p == end { control.system.bool(false) } else { control.at(t, p) })
            .collect();
        let moves = control.moves(t, &leave, &signals);
        clock.define(&mut control, t, latest, &moves, &signals);
        control.define(t, &moves, &leave, &signals);
        ended.push(control.at(t, end));
    }
    control.system.goal = control.system.and(&ended);
    control.system.cost = latest;
    control.system
}

fn latest(control: &mut Control<'_>, clocks: &[Clock]) -> Ex {
    let mut latest = control.system.state_expr(clocks[0].now);
    for clock in &clocks[1..] {
        let now = control.system.state_expr(clock.now);
        latest = control.system.max(latest, now);
    }
    latest
}

/// Clock and marks of one thread.
struct Clock {
    now: StateId,
    /// One per item; empty if nothing waits for a mark.
    marks: Vec<StateId>,
}

impl Clock {
    fn new(control: &mut Control<'_>, t: usize) -> Clock {
        let now = control.system.state(format!("now[{t}]"), Sort::Int);
        let marks = if control.plan.uses_marks { control.items } else { 0 };
        let marks = (0..marks)
            .map(|i| control.system.state(format!("mark[{t}][{i}]"), Sort::Int))
            .collect();
        Clock { now, marks }
    }

    /// The mark of the item that runs now.
    fn mark(&self, control: &mut Control<'_>, t: usize) -> Ex {
        let Some((last, others)) = self.marks.split_last() else {
            return control.system.int(0);
        };
        let mut mark = control.system.state_expr(*last);
        for (item, state) in others.iter().enumerate().rev() {
            let (here, value) = (control.runs(t, item), control.system.state_expr(*state));
            mark = control.system.ite(here, value, mark);
        }
        mark
    }

    /// Defines the clock and the marks after this step.
    fn define(
        &self,
        control: &mut Control<'_>,
        t: usize,
        latest: Ex,
        moves: &[Move],
        signals: &Signals,
    ) {
        let now = control.system.state_expr(self.now);
        let mark = self.mark(control, t);
        let zero = control.system.int(0);
        // Work is one addition of a chosen amount, which a solver takes better than a choice of sums.
        let (mut work, mut price) = (zero, zero);
        let mut special: Vec<(Ex, Ex, Ex)> = Vec::new();
        for p in 0..control.flow.points.len() {
            let at = control.at(t, p);
            match control.flow.points[p].kind.clone() {
                PointKind::Work { amount, times } => {
                    let ticks = control.work(t, amount, times);
                    work = control.system.ite(at, ticks, work);
                }
                PointKind::Until(amount) => {
                    let (ticks, one) = (control.amount(amount, t), control.system.int(1));
                    let ticks = control.system.add(ticks, one);
                    let until = control.system.add(mark, ticks);
                    special.push((at, control.system.max(now, until), mark));
                }
                PointKind::Jump(jump) => {
                    let (clock, mark) = control.jump(&jump, now, mark);
                    special.push((at, clock, mark));
                }
                PointKind::Barrier { price: ticks, .. } => {
                    let ticks = control.system.int(ticks);
                    price = control.system.ite(at, ticks, price);
                }
                PointKind::Global(_) | PointKind::Pause(_) | PointKind::Nop | PointKind::End => {}
            }
        }
        let mut next = control.system.add(now, work);
        let mut kept = mark;
        for (at, clock, mark) in special {
            next = control.system.ite(at, clock, next);
            kept = control.system.ite(at, mark, kept);
        }
        let released = control.system.add(latest, price);
        next = control.system.ite(signals.release, released, next);
        control.system.define(self.now, zero, next);
        self.define_marks(control, t, kept, next, moves, signals);
    }

    fn define_marks(
        &self,
        control: &mut Control<'_>,
        t: usize,
        kept: Ex,
        now: Ex,
        moves: &[Move],
        signals: &Signals,
    ) {
        let marked: Vec<Ex> = moves.iter().filter(|m| m.mark).map(|m| m.taken).collect();
        let marked = control.system.or(&marked);
        let zero = control.system.int(0);
        for (item, state) in self.marks.iter().enumerate() {
            let old = control.system.state_expr(*state);
            let runs = control.runs(t, item);
            let old = control.system.ite(runs, kept, old);
            let will = control.will_run(t, item, signals);
            let set = control.system.and(&[marked, will]);
            let next = control.system.ite(set, now, old);
            control.system.define(*state, zero, next);
        }
    }
}
