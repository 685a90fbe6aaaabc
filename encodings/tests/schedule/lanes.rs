//! The warps of a launch, configuration by configuration, and what bounds their time from below.

use super::MAX_LANES;
use crate::plan::walk::{Numbered, Signature, Step, Walker};
use crate::plan::{Amount, AmountId, Op, Plan, PlanError, Values};
use tickbound_model::platform::{AccessKind, Warps};
use tickbound_model::{Bound, LaunchSize, ModelError, Problem, Profile, Space};
use tickbound_timing::max_plus::ClockMap;

/// What a warp does beside its own work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WarpOp {
    /// A global access: it occupies the dispatcher for this many ticks and holds a memory slot
    /// until its latency is over.
    Global(AmountId),
    /// Waits this many ticks without occupying anything.
    Pause(i64),
}

/// The warps of some configurations as threads of one program.
#[derive(Debug, Clone)]
pub struct WarpLanes {
    /// The program: one thread per warp of the launch, in the order of groups.
    pub(super) plan: Plan<WarpOp>,
    pub(super) warps: Warps,
    /// Units of all devices.
    pub(super) units: usize,
    pub(super) group_start: i64,
    pub(super) kernel_launch: i64,
    /// For each configuration: groups, and warps in a group.
    pub(super) shape: Vec<(usize, usize)>,
    /// For each configuration the ticks of the finish program.
    pub(super) finish: Vec<i64>,
}

/// See [`super::lanes`].
pub(super) fn lanes(
    problem: &Problem,
    space: &Space,
    members: &[usize],
) -> Result<WarpLanes, PlanError> {
    let warps = problem.platform.warps().filter(|_| problem.profile == Profile::OpenCl);
    let warps = warps.ok_or_else(|| ModelError::new("platform.warps", "is missing", "add it"))?;
    let price = |access| match access {
        AccessKind::Global => warps.global_issue,
        other => problem.platform.price(other),
    };
    let kernel = Numbered::priced(&problem.kernel, &price);
    let walker = Walker { problem, kernel: &kernel };
    let mut shape = Vec::new();
    let mut signatures = Vec::new();
    for c in members {
        let (of_lanes, warps_per_group) = signatures_of(&walker, &space.bound[*c], warps)?;
        shape.push((of_lanes.len() / warps_per_group, warps_per_group));
        signatures.push(of_lanes);
    }
    let finish = finish_ticks(problem, space, members)?;
    let plan = plan(problem, space, members, &kernel, &signatures);
    Ok(WarpLanes {
        plan,
        warps,
        units: usize::try_from(problem.platform.units()).unwrap_or(usize::MAX).min(MAX_LANES),
        group_start: problem.platform.group_start(),
        kernel_launch: problem.platform.kernel_launch(),
        shape,
        finish,
    })
}

/// The signature of every warp of the launch, and how many warps a group has.
fn signatures_of(
    walker: &Walker<'_>,
    bound: &Bound,
    warps: Warps,
) -> Result<(Vec<Signature>, usize), PlanError> {
    let LaunchSize::Range { global, local } = bound.launch else {
        return Err(ModelError::new("launch", "has no global size", "add it").into());
    };
    let (groups, per_group) = (global / local, (local - 1) / warps.width + 1);
    let count = usize::try_from(groups.saturating_mul(per_group)).unwrap_or(usize::MAX);
    if count > MAX_LANES {
        return Err(PlanError::TooManyClasses {
            what: "warps in the launch",
            count,
            limit: MAX_LANES,
        });
    }
    let first = walker.problem.first_item_slot();
    let mut all = Vec::new();
    for group in 0..groups {
        let mut of_group = Vec::new();
        for w in 0..per_group {
            let items: Vec<Vec<i64>> = (w * warps.width..((w + 1) * warps.width).min(local))
                .map(|lid| {
                    let mut env = bound.env.clone();
                    env[first] = lid;
                    env[first + 1] = group * local + lid;
                    env[first + 2] = group;
                    env
                })
                .collect();
            of_group.push(walker.signature(&items)?);
        }
        walker.check_agreement(&of_group.iter().collect::<Vec<_>>())?;
        all.extend(of_group);
    }
    Ok((all, per_group as usize))
}

/// Ticks of the finish program, which one element runs alone: a plan of its own, at the prices of
/// an element.
fn finish_ticks(
    problem: &Problem,
    space: &Space,
    members: &[usize],
) -> Result<Vec<i64>, PlanError> {
    let finish = Numbered::new(problem, &problem.finish);
    let walker = Walker { problem, kernel: &finish };
    let signatures: Vec<Vec<Signature>> = members
        .iter()
        .map(|c| Ok(vec![walker.signature(std::slice::from_ref(&space.bound[*c].env))?]))
        .collect::<Result<_, ModelError>>()?;
    let plan = plan(problem, space, members, &finish, &signatures);
    let alone = |c: usize| Load::of(&plan, &plan.code, c, 0, 0).path.time();
    Ok((0..members.len()).map(alone).collect())
}

/// A program with one thread per signature.
fn plan(
    problem: &Problem,
    space: &Space,
    members: &[usize],
    kernel: &Numbered,
    signatures: &[Vec<Signature>],
) -> Plan<WarpOp> {
    let threads = signatures.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let (parameters, all) = crate::plan::frozen(problem, space);
    let mut amounts = Vec::new();
    for (n, (at, _)) in kernel.expressions.iter().enumerate() {
        let value = |of_lanes: &Vec<Signature>, t: usize| of_lanes.get(t).and_then(|s| s[n]);
        let values = signatures
            .iter()
            .flat_map(|of_lanes| (0..threads).map(move |t| value(of_lanes, t)))
            .collect();
        amounts.push(Amount { name: at.clone(), expr: None, values: Values::PerItem(values) });
    }
    let barrier = problem.platform.barrier();
    Plan {
        parameters,
        configurations: members.iter().map(|c| all[*c].clone()).collect(),
        threads,
        items: 1,
        item_counts: vec![1; members.len() * threads],
        uses_marks: true,
        code: std::iter::once(Op::Mark).chain(operations(&kernel.steps, barrier)).collect(),
        amounts,
        queue: None,
    }
}

/// Steps as operations of a warp: each side of a branch that some item takes is run.
fn operations(steps: &[Step], barrier: i64) -> Vec<Op<WarpOp>> {
    let mut code = Vec::new();
    for step in steps {
        match step {
            Step::Work { number, access: AccessKind::Global } => {
                code.push(Op::Own(WarpOp::Global(AmountId(*number))))
            }
            Step::Work { number, .. } => {
                code.push(Op::Work { amount: AmountId(*number), times: None });
            }
            Step::Until { number } => code.push(Op::Until(AmountId(*number))),
            Step::Mark => code.push(Op::Mark),
            Step::Barrier => {
                code.push(Op::Barrier { price: 0, solo: true });
                if barrier > 0 {
                    code.push(Op::Own(WarpOp::Pause(barrier)));
                }
            }
            Step::Repeat { number, body, .. } => {
                code.push(Op::Repeat { count: AmountId(*number), body: operations(body, barrier) })
            }
            Step::If { number, other, then, otherwise, .. } => {
                for (condition, side) in [(number, then), (other, otherwise)] {
                    code.push(Op::If {
                        condition: AmountId(*condition),
                        then: operations(side, barrier),
                        otherwise: Vec::new(),
                    });
                }
            }
        }
    }
    code
}

/// What one warp asks of the unit.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// Its path if nothing else ran.
    path: ClockMap,
    /// Ticks of a dispatcher.
    dispatcher: i64,
    /// Ticks of a memory slot.
    slot: i64,
}

impl Load {
    const NOTHING: Load = Load { path: ClockMap::IDENTITY, dispatcher: 0, slot: 0 };

    fn then(self, next: Load) -> Load {
        Load {
            path: self.path.then(next.path),
            dispatcher: self.dispatcher.saturating_add(next.dispatcher),
            slot: self.slot.saturating_add(next.slot),
        }
    }

    /// What lane `t` does in configuration `c`. What it does not reach has no value and asks
    /// nothing.
    fn of(plan: &Plan<WarpOp>, code: &[Op<WarpOp>], c: usize, t: usize, latency: i64) -> Load {
        let value = |id: &AmountId| plan.value(*id, c, t, 0);
        let waiting = |path| Load { path, ..Load::NOTHING };
        code.iter().fold(Load::NOTHING, |load, op| {
            let next = match op {
                Op::Work { amount, .. } => value(amount).map(|ticks| Load {
                    path: ClockMap::wait(ticks),
                    dispatcher: ticks,
                    slot: 0,
                }),
                Op::Own(WarpOp::Global(amount)) => {
                    value(amount).filter(|ticks| *ticks > 0).map(|ticks| {
                        let held = ticks.saturating_add(latency);
                        Load { path: ClockMap::wait(held), dispatcher: ticks, slot: held }
                    })
                }
                Op::Own(WarpOp::Pause(ticks)) => Some(waiting(ClockMap::wait(*ticks))),
                Op::Until(amount) => value(amount).map(|ticks| waiting(ClockMap::until(ticks))),
                Op::Mark => Some(waiting(ClockMap::MARK)),
                Op::Repeat { count, body } => value(count)
                    .map(|count| Load::of(plan, body, c, t, latency).times(count.max(0))),
                Op::If { condition, then, otherwise } => value(condition).map(|condition| {
                    let side = if condition != 0 { then } else { otherwise };
                    Load::of(plan, side, c, t, latency)
                }),
                Op::Barrier { .. } => None,
            };
            next.map_or(load, |next| load.then(next))
        })
    }

    fn times(self, n: i64) -> Load {
        Load {
            path: self.path.times(n),
            dispatcher: self.dispatcher.saturating_mul(n),
            slot: self.slot.saturating_mul(n),
        }
    }
}

impl WarpLanes {
    /// For each configuration a number of ticks that no schedule undercuts: the longest path of one
    /// warp for as many groups as a place must take, the load of all dispatchers, and that of all
    /// memory slots.
    pub fn lower_bounds(&self) -> Vec<i64> {
        (0..self.shape.len()).map(|c| self.lower_bound(c)).collect()
    }

    fn lower_bound(&self, c: usize) -> i64 {
        let (groups, per_group) = self.shape[c];
        let load =
            |t: usize| Load::of(&self.plan, &self.plan.code, c, t, self.warps.global_latency);
        let (mut dispatcher, mut slot) = (0i64, 0i64);
        let mut shortest_group = i64::MAX;
        let mut longest_group = 0;
        for g in 0..groups {
            let loads: Vec<Load> = (g * per_group..(g + 1) * per_group).map(load).collect();
            let path = loads.iter().map(|l| l.path.time()).max().unwrap_or(0);
            shortest_group = shortest_group.min(path);
            longest_group = longest_group.max(path);
            for l in loads {
                dispatcher = dispatcher.saturating_add(l.dispatcher);
                slot = slot.saturating_add(l.slot);
            }
        }
        let shared = |load: i64, by: i64| {
            let by = by.saturating_mul(self.units as i64).max(1);
            if load == 0 { 0 } else { (load - 1) / by + 1 }
        };
        let places = self.warps.resident_groups.saturating_mul(self.units as i64).max(1);
        let waves = (groups as i64 - 1) / places + 1;
        let one_place = (self.group_start.saturating_add(shortest_group)).saturating_mul(waves);
        let busiest = [
            one_place,
            self.group_start.saturating_add(longest_group),
            self.group_start.saturating_add(shared(dispatcher, self.warps.dispatchers)),
            self.warps.memory_slots.map_or(0, |m| self.group_start.saturating_add(shared(slot, m))),
        ];
        let busiest = busiest.into_iter().max().unwrap_or(0);
        self.kernel_launch.saturating_add(busiest).saturating_add(self.finish[c])
    }
}
