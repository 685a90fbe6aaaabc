//! The `tick` encoding: one clock for all, one step a tick.
//!
//! This is the papers' way to let time pass: all threads share one clock, and it advances by one
//! when no thread can go on without it. A step is either one tick or one instant in which every
//! thread that is done with its point moves on, so the number of steps is the run time plus the
//! number of such instants. It serves to check the other encodings and small problems; its size
//! grows with the time itself.
//!
//! Each thread carries the tick at which it is done with its point, set on arrival.

use crate::machine::flow::{Flow, PointKind};
use crate::machine::{Control, Move, Signals};
use crate::plan::{Amount, AmountId, Op, Plan};
use crate::system::System;
use crate::system::{Ex, Sort, StateId};

/// The tick encoding of a plan.
#[must_use]
pub fn encode(plan: &Plan) -> System {
    let mut plan = plan.clone();
    let code = std::mem::take(&mut plan.code);
    plan.code = without_prices(&mut plan, code);
    let mut control = Control::new(&plan, &plan.code, false);
    let time = control.system.state("time", Sort::Int);
    let watches: Vec<Watch> = (0..plan.threads).map(|t| Watch::new(&mut control, t)).collect();
    let now = control.system.state_expr(time);

    let arrived: Vec<Ex> = (0..plan.threads).map(|t| control.at_barrier(t)).collect();
    let signals = control.signals(&arrived);
    let mut moving = vec![signals.release];
    moving.extend(&signals.next_item);
    let mut ended = Vec::new();
    let end = control.flow.end();
    for (t, watch) in watches.iter().enumerate() {
        let leave = watch.leave(&mut control, t, now);
        let moves = control.moves(t, &leave, &signals);
        watch.define(&mut control, t, now, &moves, &signals);
        control.define(t, &moves, &leave, &signals);
        moving.extend(leave);
        ended.push(control.at(t, end));
    }
    let system = &mut control.system;
    let goal = system.and(&ended);
    moving.push(goal);
    let instant = system.or(&moving);
    let (zero, one) = (system.int(0), system.int(1));
    let later = system.add(now, one);
    let next = system.ite(instant, now, later);
    system.define(time, zero, next);
    system.goal = goal;
    system.cost = now;
    control.system
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
                    values: crate::plan::Values::Uniform(values),
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
struct Watch {
    done: StateId,
    marks: Vec<StateId>,
}

impl Watch {
    fn new(control: &mut Control<'_>, t: usize) -> Watch {
        let done = control.system.state(format!("done[{t}]"), Sort::Int);
        let marks = if control.plan.uses_marks { control.items } else { 0 };
        let marks = (0..marks)
            .map(|i| control.system.state(format!("mark[{t}][{i}]"), Sort::Int))
            .collect();
        Watch { done, marks }
    }

    /// For each point whether the thread is there and done with it.
    fn leave(&self, control: &mut Control<'_>, t: usize, now: Ex) -> Vec<Ex> {
        let done = control.system.state_expr(self.done);
        let done = control.system.le(done, now);
        let waits = |flow: &Flow, p: usize| {
            matches!(flow.points[p].kind, PointKind::Barrier { .. } | PointKind::End)
        };
        (0..control.flow.points.len())
            .map(|p| {
                if waits(&control.flow, p) {
                    control.system.bool(false)
                } else {
                    let at = control.at(t, p);
                    control.system.and(&[at, done])
                }
            })
            .collect()
    }

    fn define(
        &self,
        control: &mut Control<'_>,
        t: usize,
        now: Ex,
        moves: &[Move],
        signals: &Signals,
    ) {
        let zero = control.system.int(0);
        let mut done = control.system.state_expr(self.done);
        // What is reached is priced for the item that will run there.
        for item in 0..control.items {
            let will = control.will_run(t, item, signals);
            for m in moves {
                let taken = control.system.and(&[m.taken, will]);
                let until = self.done_at(control, t, item, now, m);
                done = control.system.ite(taken, until, done);
            }
        }
        control.system.define(self.done, zero, done);
        for (item, state) in self.marks.iter().enumerate() {
            let will = control.will_run(t, item, signals);
            let marked: Vec<Ex> = moves.iter().filter(|m| m.mark).map(|m| m.taken).collect();
            let marked = control.system.or(&marked);
            let set = control.system.and(&[marked, will]);
            let old = control.system.state_expr(*state);
            let next = control.system.ite(set, now, old);
            control.system.define(*state, zero, next);
        }
    }

    /// When the thread will be done with the point that `m` reaches at `now`.
    fn done_at(&self, control: &mut Control<'_>, t: usize, item: usize, now: Ex, m: &Move) -> Ex {
        match control.flow.points[m.target].kind.clone() {
            PointKind::Work { amount, times } => {
                let mut ticks = control.amount_of(amount, t, item);
                if let Some(times) = times {
                    let times = control.amount_of(times, t, item);
                    ticks = control.system.mul(ticks, times);
                }
                control.system.add(now, ticks)
            }
            PointKind::Until(amount) => {
                let mark = if m.mark { now } else { control.system.state_expr(self.marks[item]) };
                let (ticks, one) = (control.amount_of(amount, t, item), control.system.int(1));
                let ticks = control.system.add(ticks, one);
                let until = control.system.add(mark, ticks);
                control.system.max(now, until)
            }
            PointKind::Jump(_)
            | PointKind::Global(_)
            | PointKind::Pause(_)
            | PointKind::Barrier { .. }
            | PointKind::Nop
            | PointKind::End => now,
        }
    }
}
