//! The `tick` encoding: one clock for all, one step a tick.
//!
//! This is the papers' way to let time pass: all threads share one clock, and it advances by one
//! when no thread can go on without it. A step is either one tick or one instant in which every
//! thread that is done with its point moves on, so the number of steps is the run time plus the
//! number of such instants. It serves to check the other encodings and small problems; its size
//! grows with the time itself.
//!
//! Each thread carries the tick at which it is done with its point, set on arrival.

use std::convert::Infallible;

use crate::encoded::EncodeError;
use crate::machine::flow::PointKind;
use crate::machine::{Control, Move, Signals};
use crate::plan::{Amount, AmountId, Op, Plan, Values};
use crate::queue;
use crate::system::{Bool, Int, InternalError, StateVariable, System, SystemBuilder};

/// The tick encoding of a plan.
///
/// # Errors
/// A group of a queue without ticks, or a fault of this program.
pub fn encode(plan: &Plan) -> Result<System, EncodeError> {
    Ok(queue::encode(plan, &|plan| Ok(encode_alone(plan)?.into()))?.system)
}

fn encode_alone(plan: &Plan) -> Result<System, InternalError> {
    let mut plan = plan.clone();
    let code = std::mem::take(&mut plan.code);
    plan.code = without_prices(&mut plan, code);
    let build = SystemBuilder::new(plan.parameters.clone(), plan.configurations.clone());
    let control = Control::new(&build, &plan, false);
    let time = build.state::<Int<'_>>("time");
    let watches: Vec<Watch<'_>> = (0..plan.threads).map(|t| Watch::new(&control, t)).collect();
    let now = time.now();
    let arrived: Vec<Bool<'_>> = (0..plan.threads).map(|t| control.at_barrier(t)).collect();
    let signals = control.signals(&arrived);
    let mut moving = vec![signals.release];
    moving.extend(&signals.next_item);
    for (t, watch) in watches.iter().enumerate() {
        let leave = watch.leave(&control, t, now);
        let moves = control.moves(t, &leave, &signals);
        watch.define(&control, t, now, &moves, &signals);
        control.define(t, &moves, &leave, &signals, build.bool(true));
        moving.extend(leave);
    }
    let goal = build.all((0..plan.threads).map(|t| control.at(t, control.flow.end())));
    moving.push(goal);
    let instant = build.any(moving);
    time.define(build.int(0), instant.ite(now, now + build.int(1)));
    build.finish(goal, now, build.bool(true))
}

/// A priced barrier as a free one, work that each element does once, and a free one.
fn without_prices(plan: &mut Plan, code: Vec<Op>) -> Vec<Op> {
    let mut out = Vec::new();
    for op in code {
        match op {
            Op::Barrier { price, solo } if price > 0 => {
                let values = plan.configurations.iter().map(|_| Some(price)).collect();
                plan.amounts.push(Amount {
                    name: "barrier".into(),
                    expr: None,
                    values: Values::Uniform(values),
                });
                let amount = AmountId(plan.amounts.len() - 1);
                out.push(Op::Barrier { price: 0, solo: true });
                out.push(Op::Work { amount, times: None });
                out.push(Op::Barrier { price: 0, solo });
            }
            Op::Repeat { count, body } => {
                out.push(Op::Repeat { count, body: without_prices(plan, body) });
            }
            Op::If { condition, then, otherwise } => out.push(Op::If {
                condition,
                then: without_prices(plan, then),
                otherwise: without_prices(plan, otherwise),
            }),
            other => out.push(other),
        }
    }
    out
}

/// When one thread is done with its point, and what its items remember.
struct Watch<'b> {
    done: StateVariable<'b, Int<'b>>,
    marks: Vec<StateVariable<'b, Int<'b>>>,
}

type Ticks<'b> = Control<'b, Infallible>;

impl<'b> Watch<'b> {
    fn new(control: &Ticks<'b>, t: usize) -> Self {
        let done = control.build.state(format!("done[{t}]"));
        let marks = if control.plan.uses_marks { control.items } else { 0 };
        let marks = (0..marks).map(|i| control.build.state(format!("mark[{t}][{i}]"))).collect();
        Watch { done, marks }
    }

    /// For each point whether the thread is there and done with it.
    fn leave(&self, control: &Ticks<'b>, t: usize, now: Int<'b>) -> Vec<Bool<'b>> {
        let done = self.done.now().at_most(now);
        let leave = |p: usize| match control.flow.points[p].kind {
            PointKind::Barrier { .. } | PointKind::End => control.build.bool(false),
            _ => control.at(t, p) & done,
        };
        (0..control.flow.points.len()).map(leave).collect()
    }

    fn define(
        &self,
        control: &Ticks<'b>,
        t: usize,
        now: Int<'b>,
        moves: &[Move<'b>],
        signals: &Signals<'b>,
    ) {
        let zero = control.build.int(0);
        let mut done = self.done.now();
        // What is reached is priced for the item that will run there.
        for item in 0..control.items {
            let will = control.will_run(t, item, signals);
            for m in moves {
                done = (m.taken & will).ite(self.done_at(control, t, item, now, m), done);
            }
        }
        self.done.define(zero, done);
        let marked = control.build.any(moves.iter().filter(|m| m.mark).map(|m| m.taken));
        for (item, state) in self.marks.iter().enumerate() {
            let set = marked & control.will_run(t, item, signals);
            state.define(zero, set.ite(now, state.now()));
        }
    }

    /// When the thread will be done with the point that `m` reaches at `now`.
    fn done_at(
        &self,
        control: &Ticks<'b>,
        t: usize,
        item: usize,
        now: Int<'b>,
        m: &Move<'b>,
    ) -> Int<'b> {
        match &control.flow.points[m.target].kind {
            PointKind::Work { amount, times } => {
                let ticks = control.amount_of(*amount, t, item);
                now + times.map_or(ticks, |times| ticks * control.amount_of(times, t, item))
            }
            PointKind::Until(amount) => {
                let mark = if m.mark { now } else { self.marks[item].now() };
                let ticks = control.amount_of(*amount, t, item) + control.build.int(1);
                now.max(mark + ticks)
            }
            PointKind::Own(never) => match *never {},
            PointKind::Barrier { .. } | PointKind::Nop | PointKind::End => now,
        }
    }
}
