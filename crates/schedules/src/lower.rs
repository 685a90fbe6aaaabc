//! From a configuration to its launch.
//!
//! This shares no code with the simulator, which it is compared with: it evaluates the program
//! itself, item by item, by the rules of `docs/semantics.md`, "Warps and segments". What has no
//! launch - a negative amount, barriers that only some warps take - is left to the simulator, which
//! states what is wrong.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use tickbound_expr::Expr;
use tickbound_model::kernel::{expressions, has_until};
use tickbound_model::platform::AccessKind;
use tickbound_model::{Bound, LaunchSize, Problem, Stmt, StmtKind};
use tickbound_simulator::{SimulateOptions, simulate};

use crate::error::{ScheduleError, TooLarge};
use crate::launch::{Begin, Memory, NamedWarps, Position, Step, Tables, WarpLaunch};

/// Most steps of all warps that are examined, loops unrolled.
const MAX_STEPS: usize = 20_000_000;
/// Most ticks of a warp between two barriers.
const MAX_TICKS: i64 = 1 << 30;
/// Most dispatchers whose orders are all tried.
const MAX_ORDERED: usize = 4;

/// The launch of a configuration.
///
/// # Errors
/// The configuration has no time, or is too large.
pub(crate) fn lower(problem: &Problem, bound: &Bound) -> Result<WarpLaunch, ScheduleError> {
    let lowering = Lowering::new(problem, bound);
    let irregular = |why| match why {
        Irregular::TooLarge(what) => ScheduleError::TooLarge(what),
        Irregular::NoLaunch => match simulate(problem, bound, &SimulateOptions::default()) {
            Err(error) => ScheduleError::Simulate(error),
            Ok(_) => ScheduleError::Fault("the simulator runs what has no launch".to_owned()),
        },
    };
    lowering.and_then(Lowering::launch).map_err(irregular)
}

/// Why there is no launch.
enum Irregular {
    /// The simulator reports what is wrong.
    NoLaunch,
    TooLarge(TooLarge),
}

/// What a warp does: its steps, phase by phase.
type Trace = Vec<Vec<Step>>;

#[derive(Default)]
struct Groups {
    /// Kinds of groups, by their phases.
    kinds: IndexSet<Vec<u32>, FxBuildHasher>,
    /// How many groups of a kind follow each other.
    queue: Vec<(u64, usize)>,
    /// See [`WarpLaunch::warps`].
    warps: IndexSet<NamedWarps, FxBuildHasher>,
    /// See [`WarpLaunch::naming`].
    naming: Vec<u32>,
}

struct Lowering<'p> {
    problem: &'p Problem,
    env: Vec<i64>,
    global: i64,
    local: i64,
    width: i64,
    dispatchers: i64,
    issue: i64,
    latency: i64,
    tables: Tables,
    /// Steps that may still be made.
    budget: usize,
}

impl<'p> Lowering<'p> {
    fn new(problem: &'p Problem, bound: &Bound) -> Result<Self, Irregular> {
        let LaunchSize::Range { global, local } = bound.launch else {
            return Err(Irregular::NoLaunch);
        };
        let warps = problem.platform.warps().ok_or(Irregular::NoLaunch)?;
        if local < 1 || global % local != 0 || warps.global_issue < 1 {
            return Err(Irregular::NoLaunch);
        }
        Ok(Lowering {
            problem,
            env: bound.env.clone(),
            global,
            local,
            width: warps.width,
            dispatchers: warps.dispatchers,
            issue: warps.global_issue,
            latency: warps.global_latency,
            tables: Tables::default(),
            budget: MAX_STEPS,
        })
    }

    fn launch(mut self) -> Result<WarpLaunch, Irregular> {
        let platform = &self.problem.platform;
        let warps = platform.warps().ok_or(Irregular::NoLaunch)?;
        let small = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
        let groups = self.global / self.local;
        let (units, places) = (small(platform.units()), small(warps.resident_groups.min(groups)));
        let (barrier, group_start) = (ticks(platform.barrier())?, ticks(platform.group_start())?);
        let Groups { kinds, queue, warps: named, naming } = self.groups(groups)?;
        let finish = self.finish()?;
        let per_group = (self.local - 1) / self.width + 1;
        let most = small(per_group.saturating_mul(warps.resident_groups));
        let dispatchers = small(self.dispatchers.min(per_group));
        let (rests, phases) = self.tables.finish();
        let (positions, first) = positions(&kinds);
        let queue = queue.into_iter().map(|(count, kind)| (count, first[kind])).collect();
        Ok(WarpLaunch {
            units,
            dispatchers,
            places,
            slots: warps.memory_slots.map(small).filter(|slots| *slots < most),
            barrier,
            group_start,
            begins: platform.kernel_launch(),
            finish,
            orders: orders(dispatchers, &phases),
            rests,
            phases,
            positions,
            queue,
            warps: named.into_iter().collect(),
            naming,
        })
    }

    fn groups(&mut self, groups: i64) -> Result<Groups, Irregular> {
        let mut all = Groups::default();
        let item = self.problem.first_item_slot();
        if !self.mentions(&[item + 1, item + 2]) {
            let (phases, warps) = self.group(0)?;
            all.kinds.insert(phases);
            all.warps.insert(warps);
            all.queue.push((groups.unsigned_abs(), 0));
            return Ok(all);
        }
        for group in 0..groups {
            let (phases, warps) = self.group(group)?;
            let kind = all.kinds.insert_full(phases).0;
            all.naming.push(all.warps.insert_full(warps).0 as u32);
            match all.queue.last_mut() {
                Some((count, last)) if *last == kind => *count += 1,
                _ => all.queue.push((1, kind)),
            }
        }
        Ok(all)
    }

    /// A group: its phases, and its warps.
    fn group(&mut self, group: i64) -> Result<(Vec<u32>, NamedWarps), Irregular> {
        let mut traces: IndexSet<Trace, FxBuildHasher> = IndexSet::default();
        let mut warps = Vec::new();
        for (first, number) in (0..self.local).step_by(self.width as usize).zip(0i64..) {
            let items: Vec<i64> = (first..(first + self.width).min(self.local)).collect();
            let class = traces.insert_full(self.warp(group, &items)?).0;
            warps.push((class, (number % self.dispatchers) as u32));
        }
        let phases = traces.first().map_or(0, Vec::len);
        if traces.iter().any(|trace| trace.len() != phases) {
            return Err(Irregular::NoLaunch);
        }
        let rests: Vec<Rc<[u32]>> =
            traces.iter().zip(0..).map(|(trace, class)| self.rests(trace, class)).collect();
        // Without marks it does not matter which warps have arrived.
        let marks = has_until(&self.problem.kernel);
        let begins = (0..phases).map(|phase| {
            let mut counts: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
            for (class, dispatcher) in &warps {
                let of = if marks { *class as u32 } else { 0 };
                *counts.entry((of, *dispatcher, rests[*class][phase])).or_default() += 1;
            }
            let begin =
                |((class, dispatcher, rest), count)| Begin { class, dispatcher, rest, count };
            self.tables.phase(counts.into_iter().map(begin).collect())
        });
        let phases = begins.collect();
        let named = |(class, dispatcher): (usize, u32)| (Rc::clone(&rests[class]), dispatcher);
        Ok((phases, warps.into_iter().map(named).collect()))
    }

    /// The rests with which the phases of a trace begin.
    fn rests(&mut self, trace: &Trace, class: u32) -> Rc<[u32]> {
        let mut longest = None;
        let mut rests = Vec::with_capacity(trace.len());
        for steps in trace.iter().rev() {
            let memory = longest.map(|longest| Memory { class, longest });
            rests.push(self.tables.rest(steps, memory));
            longest = before(steps, longest);
        }
        rests.into_iter().rev().collect()
    }

    fn warp(&mut self, group: i64, items: &[i64]) -> Result<Trace, Irregular> {
        let mut steps = Vec::new();
        let problem = self.problem;
        self.program(&problem.kernel, group, items, items.len(), &mut steps)?;
        let mut trace = vec![Vec::new()];
        for step in steps {
            match (step, trace.last_mut()) {
                (Some(step), Some(phase)) => phase.push(step),
                _ => trace.push(Vec::new()),
            }
        }
        for phase in &trace {
            let of = |step: &Step| match step {
                Step::Segment { occupies, latency, .. } => {
                    i64::from(*occupies) + i64::from(*latency)
                }
                Step::Until(_) | Step::Mark => 0,
            };
            ticks(phase.iter().map(of).sum())?;
        }
        Ok(trace)
    }

    /// The steps of a program; `None` is a barrier.
    fn program(
        &mut self,
        program: &[Stmt],
        group: i64,
        items: &[i64],
        width: usize,
        out: &mut Vec<Option<Step>>,
    ) -> Result<(), Irregular> {
        for stmt in program {
            match &stmt.kind {
                StmtKind::Barrier if items.len() < width => return Err(Irregular::NoLaunch),
                StmtKind::Barrier => self.push(None, out)?,
                StmtKind::Mark => self.push(Some(Step::Mark), out)?,
                StmtKind::Access { access, amount } => {
                    let amount = self.greatest_amount(amount, group, items)?;
                    if let Some(segment) = self.segment(*access, amount)? {
                        self.push(Some(segment), out)?;
                    }
                }
                StmtKind::Until(d) => {
                    let d = self.values(d, group, items)?.into_iter().max().unwrap_or(0);
                    let d =
                        i32::try_from(d).ok().filter(|d| i64::from(d.unsigned_abs()) < MAX_TICKS);
                    let d = d.ok_or(Irregular::TooLarge(TooLarge::Ticks(MAX_TICKS)))?;
                    self.push(Some(Step::Until(d)), out)?;
                }
                StmtKind::Repeat { count, body } => {
                    let count = self.values(count, group, items)?.into_iter().max().unwrap_or(0);
                    if count > 0 {
                        let from = out.len();
                        self.program(body, group, items, width, out)?;
                        self.repeat(from, count, out)?;
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    let holds = self.values(condition, group, items)?;
                    let side = |wanted: bool| -> Vec<i64> {
                        let items = items.iter().zip(&holds);
                        items.filter(|(_, v)| (**v != 0) == wanted).map(|(i, _)| *i).collect()
                    };
                    for (program, items) in [(then, side(true)), (otherwise, side(false))] {
                        if !items.is_empty() {
                            self.program(program, group, &items, width, out)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The greatest amount of an access over some items.
    fn greatest_amount(&mut self, e: &Expr, group: i64, items: &[i64]) -> Result<i64, Irregular> {
        let amounts = self.values(e, group, items)?;
        if amounts.iter().any(|amount| *amount < 0) {
            return Err(Irregular::NoLaunch);
        }
        Ok(amounts.into_iter().max().unwrap_or(0))
    }

    fn push(&mut self, step: Option<Step>, out: &mut Vec<Option<Step>>) -> Result<(), Irregular> {
        let too_large = || Irregular::TooLarge(TooLarge::Steps(MAX_STEPS));
        self.budget = self.budget.checked_sub(1).ok_or_else(too_large)?;
        out.push(step);
        Ok(())
    }

    /// Repeats what was pushed from `from` on, to `count` times in all.
    fn repeat(
        &mut self,
        from: usize,
        count: i64,
        out: &mut Vec<Option<Step>>,
    ) -> Result<(), Irregular> {
        let body = out.len() - from;
        if body > 0 {
            let more = usize::try_from(count - 1).unwrap_or(usize::MAX).saturating_mul(body);
            let too_large = || Irregular::TooLarge(TooLarge::Steps(MAX_STEPS));
            self.budget = self.budget.checked_sub(more).ok_or_else(too_large)?;
            for n in 0..more {
                out.push(out[from + n]);
            }
        }
        Ok(())
    }

    /// An access; `None` if it passes at once.
    fn segment(&self, access: AccessKind, amount: i64) -> Result<Option<Step>, Irregular> {
        let (price, latency, slot) = match access {
            AccessKind::Global => (self.issue, self.latency, true),
            other => (self.problem.platform.price(other), 0, false),
        };
        let occupies = ticks(price.checked_mul(amount).unwrap_or(i64::MAX))?;
        let latency = ticks(latency)?;
        Ok((occupies > 0).then_some(Step::Segment { occupies, latency, slot }))
    }

    fn values(&mut self, expr: &Expr, group: i64, items: &[i64]) -> Result<Vec<i64>, Irregular> {
        let first = self.problem.first_item_slot();
        self.env[first + 2] = group;
        let value = |lid: &i64| {
            self.env[first] = *lid;
            self.env[first + 1] = group * self.local + lid;
            expr.eval(&self.env).map_err(|_| Irregular::NoLaunch)
        };
        items.iter().map(value).collect()
    }

    /// Ticks of the finish program, which one item runs alone, at the prices of an element.
    fn finish(&mut self) -> Result<i64, Irregular> {
        let problem = self.problem;
        self.issue = problem.platform.price(AccessKind::Global);
        self.latency = 0;
        let mut steps = Vec::new();
        self.program(&problem.finish, 0, &[0], 1, &mut steps)?;
        let (mut now, mut mark) = (0i64, 0i64);
        for step in steps.into_iter().flatten() {
            match step {
                Step::Segment { occupies, .. } => now += i64::from(occupies),
                Step::Until(d) => now = now.max(mark + i64::from(d) + 1),
                Step::Mark => mark = now,
            }
        }
        Ok(now)
    }

    fn mentions(&self, slots: &[usize]) -> bool {
        let mut found = false;
        expressions(&self.problem.kernel, &mut |_, e| found |= e.mentions(|s| slots.contains(&s)));
        found
    }
}

/// A number of ticks that fits.
fn ticks(n: i64) -> Result<u32, Irregular> {
    let fits = |n: &u32| i64::from(*n) < MAX_TICKS;
    u32::try_from(n).ok().filter(fits).ok_or(Irregular::TooLarge(TooLarge::Ticks(MAX_TICKS)))
}

/// The most ticks that an `until` asks of the mark that is set before these steps; `after` if none
/// of the steps sets it.
fn before(steps: &[Step], after: Option<i32>) -> Option<i32> {
    steps.iter().rev().fold(after, |longest, step| match step {
        Step::Mark => None,
        Step::Until(d) => Some(longest.map_or(*d, |l| l.max(*d))),
        Step::Segment { .. } => longest,
    })
}

/// The positions of all kinds of groups, and where each kind begins.
fn positions(kinds: &IndexSet<Vec<u32>, FxBuildHasher>) -> (Vec<Position>, Vec<u32>) {
    let (mut positions, mut first) = (Vec::new(), Vec::new());
    for kind in kinds {
        first.push(positions.len() as u32);
        for (n, phase) in kind.iter().enumerate() {
            let left = (kind.len() - n) as u32;
            let next = (left > 1).then_some(positions.len() as u32 + 1);
            positions.push(Position { phase: *phase, next, left });
        }
    }
    (positions, first)
}

/// The orders of the dispatchers under which all phases begin as before.
fn orders(dispatchers: usize, phases: &[Vec<Begin>]) -> Vec<Vec<u32>> {
    let plain: Vec<u32> = (0..dispatchers as u32).collect();
    if dispatchers > MAX_ORDERED {
        return vec![plain];
    }
    let same = |order: &Vec<u32>| {
        phases.iter().all(|phase| {
            let moved =
                phase.iter().map(|b| (b.class, order[b.dispatcher as usize], b.rest, b.count));
            let mut moved: Vec<_> = moved.collect();
            moved.sort_unstable();
            let mut here: Vec<_> =
                phase.iter().map(|b| (b.class, b.dispatcher, b.rest, b.count)).collect();
            here.sort_unstable();
            moved == here
        })
    };
    itertools::Itertools::permutations(plain.into_iter(), dispatchers).filter(same).collect()
}
