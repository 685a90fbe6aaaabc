//! Lower bounds on a configuration's time, from its critical path.
//!
//! A barrier can only delay a thread. So the time a thread would need without waiting is a
//! lower bound on the time of the whole, and so is the greatest of these over all threads. It costs
//! a walk over the program, for any loop counts: without barriers a thread's program is a
//! max-plus map of the pair (now, mark), and a loop is a power of it.
//!
//! The bound is exact where threads do not differ.

use tickbound_timing::max_plus::ClockMap;

use crate::plan::{AmountId, Op, Plan, Queue};

/// For each configuration of the plan a number of ticks that no run of it undercuts.
pub fn lower_bounds(plan: &Plan) -> Vec<i64> {
    let alone = (0..plan.configurations.len()).map(|c| {
        let path = |t| Path { plan, c, t }.whole().time();
        (0..plan.threads).map(path).max().unwrap_or(0)
    });
    let Some(queue) = &plan.queue else { return alone.collect() };
    let groups = lower_bounds(&queue.groups);
    alone.zip(of_queue(queue, &groups)).map(|(rest, groups)| rest.saturating_add(groups)).collect()
}

/// Groups end no sooner than the longest of them, and than all shared evenly among the units.
fn of_queue<'q>(queue: &'q Queue, groups: &'q [i64]) -> impl Iterator<Item = i64> + 'q {
    queue.order.iter().map(|order| {
        let longest = order.iter().map(|(group, _)| groups[*group]).max().unwrap_or(0);
        let all = order.iter().fold(0_i64, |all, (group, count)| {
            all.saturating_add(groups[*group].saturating_mul(*count))
        });
        longest.max(all / queue.units + i64::from(all % queue.units > 0))
    })
}

struct Path<'p> {
    plan: &'p Plan,
    c: usize,
    t: usize,
}

impl Path<'_> {
    fn whole(&self) -> ClockMap {
        self.map(&self.plan.code, true).0
    }

    fn value(&self, id: AmountId, item: usize) -> Option<i64> {
        self.plan.value(id, self.c, self.t, item)
    }

    /// The map of `code`, and whether what follows it is done once by the element.
    fn map(&self, code: &[Op], mut solo: bool) -> (ClockMap, bool) {
        let mut map = ClockMap::IDENTITY;
        for op in code {
            let next = match op {
                Op::Barrier { price, solo: now } => {
                    solo = *now;
                    ClockMap::wait(*price)
                }
                Op::Repeat { count, body } => {
                    let count = self.value(*count, 0);
                    // A loop around barriers does the same for all items; another may not.
                    let (body, after) = self.map(body, solo);
                    if crate::plan::has_barrier(std::slice::from_ref(op)) {
                        solo = after;
                        count.map_or(ClockMap::IDENTITY, |count| body.times(count))
                    } else {
                        self.items(std::slice::from_ref(op), solo)
                    }
                }
                Op::If { condition, then, otherwise } => {
                    if crate::plan::has_barrier(std::slice::from_ref(op)) {
                        let Some(condition) = self.value(*condition, 0) else { continue };
                        let side = if condition == 0 { otherwise } else { then };
                        let (side, after) = self.map(side, solo);
                        solo = after;
                        side
                    } else {
                        self.items(std::slice::from_ref(op), solo)
                    }
                }
                _ => self.items(std::slice::from_ref(op), solo),
            };
            map = map.then(next);
        }
        (map, solo)
    }

    /// What the thread does with all its items, without a barrier. With more than one item, waits
    /// are dropped: each item has its own mark.
    fn items(&self, code: &[Op], solo: bool) -> ClockMap {
        if self.plan.items == 1 || solo {
            return self.item(code, 0, true);
        }
        let items = self.plan.items_of(self.c, self.t);
        (0..items as usize)
            .fold(ClockMap::IDENTITY, |map, item| map.then(self.item(code, item, false)))
    }

    /// What one item does. What it does not reach has no value and takes no time.
    fn item(&self, code: &[Op], item: usize, marks: bool) -> ClockMap {
        let value = |id: &AmountId| self.value(*id, item);
        code.iter().fold(ClockMap::IDENTITY, |map, op| {
            let next = match op {
                Op::Work { amount, times: None } => value(amount).map(ClockMap::wait),
                Op::Work { amount, times: Some(times) } => {
                    let both = value(amount).zip(value(times));
                    both.map(|(ticks, times)| ClockMap::wait(ticks.saturating_mul(times)))
                }
                Op::Until(amount) => value(amount).filter(|_| marks).map(ClockMap::until),
                Op::Mark => marks.then_some(ClockMap::MARK),
                Op::Repeat { count, body } => {
                    value(count).map(|count| self.item(body, item, marks).times(count))
                }
                Op::If { condition, then, otherwise } => value(condition).map(|condition| {
                    self.item(if condition == 0 { otherwise } else { then }, item, marks)
                }),
                Op::Own(never) => match *never {},
                // Items are followed between barriers only.
                Op::Barrier { .. } => None,
            };
            next.map_or(map, |next| map.then(next))
        })
    }
}
