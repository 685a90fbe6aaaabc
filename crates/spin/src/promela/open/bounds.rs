//! How long an open schedule can take at most, and how much there is to do.
//!
//! At every tick before the end something is under way: a segment occupies its dispatcher, data are
//! on their way, a warp waits for its mark, a barrier is being released, a group starts. Otherwise
//! something could be started, and it would be. So no schedule takes longer than all of these one
//! after another.

use crate::promela::error::PromelaError;
use crate::promela::layout::{groups_alike, lane};
use tickbound_expr::Expr;
use tickbound_model::{AccessKind, Bound, LaunchSize, Problem, Stmt, StmtKind};

/// Most statements of a run; each is a step of SPIN on the way from one state to the next.
const MAX_STATEMENTS: i64 = 1 << 24;

/// What a program asks for; a sum over all that run it.
#[derive(Debug, Clone, Copy, Default)]
struct Demand {
    /// Ticks if nothing happened at the same time.
    ticks: i64,
    barriers: i64,
    statements: i64,
}

impl Demand {
    fn and(self, more: Demand) -> Demand {
        Demand {
            ticks: self.ticks.saturating_add(more.ticks),
            barriers: self.barriers.saturating_add(more.barriers),
            statements: self.statements.saturating_add(more.statements),
        }
    }

    fn times(self, count: i64) -> Demand {
        Demand {
            ticks: self.ticks.saturating_mul(count),
            barriers: self.barriers.saturating_mul(count),
            statements: self.statements.saturating_mul(count),
        }
    }
}

/// A time that a configuration does not exceed under any schedule.
pub(in crate::promela) fn longest(problem: &Problem, bound: &Bound) -> Result<i64, PromelaError> {
    let demand = Demands { problem, bound }.launch();
    if demand.statements > MAX_STATEMENTS {
        let (count, limit) = (demand.statements.unsigned_abs(), MAX_STATEMENTS.unsigned_abs());
        let (what, fix) = ("statements in one run", "make loops shorter, or the launch smaller");
        return Err(PromelaError::too_many("kernel", what, count, limit, fix));
    }
    Ok(demand.ticks)
}

/// Adds up what one configuration asks for.
struct Demands<'a> {
    problem: &'a Problem,
    bound: &'a Bound,
}

impl Demands<'_> {
    fn launch(&self) -> Demand {
        let platform = &self.problem.platform;
        let (LaunchSize::Range { global, local }, Some(warps)) =
            (self.bound.launch, platform.warps())
        else {
            return Demand::default();
        };
        let alike = groups_alike(self.problem);
        let groups = global / local;
        let mut all = Demand { ticks: platform.kernel_launch(), ..Demand::default() };
        for group in 0..if alike { 1 } else { groups } {
            let lane = |lid| lane(self.problem, self.bound, [lid, group * local + lid, group]);
            let lanes: Vec<Vec<i64>> = (0..local).map(lane).collect();
            let width = usize::try_from(warps.width).unwrap_or(usize::MAX);
            let each =
                lanes.chunks(width).map(|warp| self.program(&self.problem.kernel, warp, true));
            // All warps of a group pass the same barriers.
            let demand = each.reduce(|a, b| a.and(Demand { barriers: 0, ..b })).unwrap_or_default();
            let releases = demand.barriers.saturating_mul(platform.barrier());
            let ticks =
                demand.ticks.saturating_add(releases).saturating_add(platform.group_start());
            all = all.and(Demand { ticks, ..demand }.times(if alike { groups } else { 1 }));
        }
        let finish = [lane(self.problem, self.bound, [0, 0, 0])];
        all.and(self.program(&self.problem.finish, &finish, false))
    }

    /// What these items ask for that move in lockstep.
    fn program(&self, program: &[Stmt], lanes: &[Vec<i64>], warp: bool) -> Demand {
        let each = program.iter().map(|stmt| self.statement(stmt, lanes, warp));
        each.fold(Demand::default(), Demand::and)
    }

    fn statement(&self, stmt: &Stmt, lanes: &[Vec<i64>], warp: bool) -> Demand {
        let mut demand = Demand { statements: 1, ..Demand::default() };
        let greatest = |e: &Expr| lanes.iter().filter_map(|l| e.eval(l).ok()).max().unwrap_or(0);
        match &stmt.kind {
            StmtKind::Access { access, amount } => {
                let (price, latency) = self.price(*access, warp);
                let ticks = greatest(amount).max(0).saturating_mul(price);
                demand.ticks = if ticks > 0 { ticks.saturating_add(latency) } else { 0 };
            }
            StmtKind::Until(d) => demand.ticks = greatest(d).saturating_add(1).max(0),
            StmtKind::Barrier => demand.barriers = 1,
            StmtKind::Mark => {}
            StmtKind::Repeat { count, body } => {
                let count = greatest(count).max(0);
                let body = if count > 0 { self.program(body, lanes, warp) } else { demand };
                demand = demand.and(body.and(demand).times(count));
            }
            StmtKind::If { condition, then, otherwise } => {
                let holds = |l: &&Vec<i64>| condition.eval(l).is_ok_and(|v| v != 0);
                let (yes, no): (Vec<_>, Vec<_>) = lanes.iter().partition(holds);
                for (side, taken) in [(then, yes), (otherwise, no)] {
                    if !taken.is_empty() {
                        let taken: Vec<Vec<i64>> = taken.into_iter().cloned().collect();
                        demand = demand.and(self.program(side, &taken, warp));
                    }
                }
            }
        }
        demand
    }

    fn price(&self, access: AccessKind, warp: bool) -> (i64, i64) {
        match self.problem.platform.warps() {
            Some(warps) if warp && access == AccessKind::Global => {
                (warps.global_issue, warps.global_latency)
            }
            _ => (self.problem.platform.price(access), 0),
        }
    }
}
