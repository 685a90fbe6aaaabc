//! Times below which no configuration can run on a device, whatever its compiler and scheduler do.
//!
//! The floor of a configuration is the greatest of a few terms. Each is a count that no correct
//! compilation can go below ([`LeastUsage`]) over a rate that the device cannot exceed
//! ([`Resources`]). `docs/floors.md` has the terms with their arguments. All is in whole
//! picoseconds, rounded down.
//!
//! What all groups do is done by the busiest unit as often as it has groups, and by its busiest
//! scheduler as often as it has warps. Of what only some groups do only the average of all units
//! is known.

use tickbound_expr::{BinaryOp, Expr, Function};

use crate::{Launch, LeastCount, LeastUsage, ModelError, Part, Problem, Resources, Usage};

tickbound_input::named! {
    /// What a launch cannot be faster than.
    pub enum FloorTerm {
        /// The device's memory, which moves what no cache can hold.
        Dram = "DRAM",
        /// The ports between the units and L2.
        L2 = "L2",
        /// Lanes for real numbers.
        Real = "real operations",
        /// Lanes for special functions.
        Special = "special operations",
        /// The issue of instructions.
        Issue = "issue",
        /// Lanes for addresses.
        Requests = "requests",
        /// Bytes of L1 and of local memory.
        L1 = "L1",
        /// The start of groups.
        Dispatch = "dispatch",
        /// Operations that depend on each other.
        Chain = "dependent operations",
    }
}

const PICOSECONDS: i64 = 1_000_000;

/// The floor of the configurations of a problem, by terms.
#[derive(Debug, Clone)]
pub struct Floor {
    /// Each term in picoseconds, over the problem's names; those that are 0 everywhere are missing.
    pub terms: Vec<(FloorTerm, Expr)>,
}

impl Floor {
    /// The floor of a problem whose kernel uses this at least.
    ///
    /// # Errors
    /// The platform does not state its greatest clock, or the launch has no groups of items.
    pub fn new(problem: &Problem, least: &LeastUsage) -> Result<Floor, ModelError> {
        let resources = problem.platform.resources();
        let Some(mhz) = resources.greatest_mhz else {
            let what =
                format!("platform {} has no floor: it does not state it", problem.platform.name);
            let fix = "add the greatest clock that the driver admits, in MHz";
            return Err(ModelError::new("platform.resources.greatest_mhz", what, fix));
        };
        let Launch::Range { .. } = problem.launch else {
            let what = "has no groups of items, and so no floor";
            return Err(ModelError::new("launch", what, "give it a global and a local size"));
        };
        let size =
            |of: fn(&crate::Dimension) -> Expr| problem.grid.iter().map(of).product::<Expr>();
        let items = size(|d| d.local.clone());
        let groups = size(|d| quotient(d.global.clone(), d.local.clone()));
        let warps = ceil_div(items, resources.warp_width.unwrap_or(32));
        let units = problem.platform.units();
        let busiest = ceil_div(groups.clone(), units);
        let formulas =
            Formulas { problem, least, r: resources, mhz, units, groups, warps, busiest };
        let terms = FloorTerm::ALL.into_iter().filter_map(|term| {
            let time = formulas.term(term)?.simplified();
            (time != Expr::Int(0)).then_some((term, time))
        });
        Ok(Floor { terms: terms.collect() })
    }

    /// The floor of one configuration in picoseconds, and the term that binds; `None` where a part
    /// has no value.
    pub fn at(&self, env: &[i64]) -> Option<(i64, FloorTerm)> {
        let values =
            self.terms.iter().filter_map(|(term, time)| Some((time.eval(env).ok()?, *term)));
        // Of equal ones the first.
        values.rev().max_by_key(|(time, _)| *time)
    }

    /// The problem whose run times, in picoseconds as ticks, are those of one term: its least time
    /// is a time that no configuration can undercut.
    ///
    /// # Errors
    /// The formula is nested too deeply.
    pub fn problem(&self, of: &Problem, term: FloorTerm) -> Result<Problem, ModelError> {
        let time = self.terms.iter().find(|(own, _)| *own == term);
        let mut problem = of.clone().kernel_alone();
        problem.name = format!("{}, floor by {} in picoseconds", of.name, term.name());
        problem.profile = crate::Profile::Resources;
        problem.without = vec![Part::Dispatch, Part::Launch];
        problem.kernel.clear();
        problem.stated_usage.clear();
        let least_clocks = time.map_or(Expr::Int(0), |(_, time)| time.clone());
        problem.set_usage(Usage { least_clocks, ..Usage::default() }, Vec::new())?;
        Ok(problem)
    }
}

struct Formulas<'p> {
    problem: &'p Problem,
    least: &'p LeastUsage,
    r: Resources,
    mhz: i64,
    units: i64,
    groups: Expr,
    warps: Expr,
    /// Groups of the busiest unit, at least.
    busiest: Expr,
}

/// What of a count all groups do, and what some do.
#[derive(Clone, Default)]
struct Counted {
    each: Expr,
    some: Expr,
}

impl Counted {
    fn plus(self, other: Counted) -> Counted {
        Counted { each: self.each + other.each, some: self.some + other.some }
    }

    fn map(self, of: impl Fn(Expr) -> Expr) -> Counted {
        Counted { each: of(self.each), some: of(self.some) }
    }
}

impl Formulas<'_> {
    fn term(&self, term: FloorTerm) -> Option<Expr> {
        let r = &self.r;
        let width = r.warp_width.unwrap_or(32);
        Some(match term {
            FloorTerm::Dram => {
                let rate = r.greatest_dram_megabytes_per_second?;
                let caches = r.l2_size? + r.l3_size.unwrap_or(0);
                let moved = [LeastCount::ReadBytes, LeastCount::WrittenBytes]
                    .map(|of| max(0, self.count(of).each - caches));
                quotient(moved.into_iter().sum::<Expr>() * PICOSECONDS, rate)
            }
            FloorTerm::L2 => {
                let [read, written] =
                    [LeastCount::ReadBytes, LeastCount::WrittenBytes].map(|of| self.count(of).each);
                self.time(max(read, written), 1, self.units.checked_mul(r.l2_port_bytes?)?)
            }
            FloorTerm::Real => {
                let lanes = r.real_lanes?;
                let mut real = self.real();
                if r.issue_shared != Some(1) {
                    real = real.plus(self.count(LeastCount::Convert));
                }
                self.of_schedulers(real, width, lanes)
            }
            FloorTerm::Special => {
                self.of_schedulers(self.count(LeastCount::Special), width, r.special_lanes?)
            }
            FloorTerm::Issue => {
                let rate = r.issue_rate.or(r.schedulers)?;
                let vector = self.real().plus(self.count(LeastCount::Special));
                if r.issue_shared == Some(1) {
                    let others = [
                        LeastCount::Convert,
                        LeastCount::GlobalRequests,
                        LeastCount::LocalRequests,
                    ];
                    let all = others.into_iter().fold(vector, |all, of| all.plus(self.count(of)));
                    return Some(self.of_schedulers(all, 1, rate));
                }
                let all = vector.plus(self.count(LeastCount::Convert));
                let each = (width * r.schedulers.unwrap_or(1) / r.real_lanes?).max(1);
                self.of_schedulers(all, each, rate)
            }
            FloorTerm::Requests => {
                let lanes = r.load_store_lanes.unwrap_or(width);
                let of_group = |of| {
                    let Counted { each, some } = self.count(of);
                    Counted { each: each * &self.warps, some }
                };
                let kinds = [LeastCount::GlobalRequests, LeastCount::LocalRequests].map(of_group);
                self.of_units(kinds.map(|kind| (kind, width, lanes)))
            }
            FloorTerm::L1 => {
                let kinds = [
                    (self.count(LeastCount::GlobalBytes), 1, r.l1_bytes_per_clock?),
                    (self.count(LeastCount::LocalBytes), 1, r.local_bytes_per_clock?),
                ];
                self.of_units(kinds)
            }
            FloorTerm::Dispatch => self.groups.clone() * r.least_group_picoseconds?,
            FloorTerm::Chain => {
                let turns = ceil_div(self.busiest.clone(), self.held());
                let clocks = turns * self.count(LeastCount::Chain).each;
                self.time(clocks, r.dependent_clocks?, 1)
            }
        })
    }

    fn count(&self, of: LeastCount) -> Counted {
        let get =
            |all: &indexmap::IndexMap<LeastCount, Expr>| all.get(&of).cloned().unwrap_or_default();
        Counted { each: get(&self.least.each), some: get(&self.least.some) }
    }

    /// Instructions on real numbers.
    fn real(&self) -> Counted {
        let of_lane = self.r.operations_of_lane.unwrap_or(1);
        self.count(LeastCount::Real).map(|n| quotient(n, of_lane))
    }

    /// Picoseconds of `count * by / rate` clocks.
    fn time(&self, count: Expr, by: i64, rate: i64) -> Expr {
        let (up, down) = (by.saturating_mul(PICOSECONDS), rate.saturating_mul(self.mhz));
        let common = gcd(up, down);
        quotient(count * (up / common), down / common)
    }

    /// What warps do, each on its scheduler, which has its share of `rate`.
    fn of_schedulers(&self, count: Counted, by: i64, rate: i64) -> Expr {
        let schedulers = self.r.schedulers.unwrap_or(1);
        let warps = ceil_div(self.busiest.clone() * &self.warps, schedulers);
        let each = self.time(warps * count.each, by.saturating_mul(schedulers), rate);
        max(each, self.time(count.some, by, rate.saturating_mul(self.units)))
    }

    /// What groups do in two ways, for each by how much and at which rate: at the same time, or
    /// one after the other where both go through one pipe.
    fn of_units(&self, kinds: [(Counted, i64, i64); 2]) -> Expr {
        let times = kinds.map(|(count, by, rate)| {
            let each = self.time(self.busiest.clone() * count.each, by, rate);
            [each, self.time(count.some, by, rate.saturating_mul(self.units))]
        });
        let [[a, c], [b, d]] = times;
        let both = |a, b| if self.r.one_pipe == Some(1) { a + b } else { max(a, b) };
        max(both(a, b), both(c, d))
    }

    /// Groups that a unit holds at once at most, whatever registers they have.
    fn held(&self) -> Expr {
        let places = self.r.groups_per_unit.map(Expr::Int);
        let warps = self.r.warps_per_unit.map(|n| quotient(n, self.warps.clone()));
        let local = self.problem.group_needs.local_bytes.clone();
        let room = self.problem.platform.local_memory().zip(local).map(|(room, bytes)| {
            let some = Expr::binary(BinaryOp::Lt, Expr::Int(0), bytes.clone());
            let fit = quotient(room, max(1, bytes));
            Expr::Conditional(Box::new(some), Box::new(fit), Box::new(self.busiest.clone()))
        });
        let bounds = places.into_iter().chain(warps).chain(room);
        let least = bounds.reduce(|a, b| Expr::Call(Function::Min, vec![a, b]));
        max(1, least.unwrap_or_else(|| self.busiest.clone()))
    }
}

fn quotient(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    match (a.into(), b.into()) {
        (a, Expr::Int(1)) => a,
        (a, b) => Expr::folded(BinaryOp::FloorDiv, a, b),
    }
}

fn ceil_div(a: Expr, b: impl Into<Expr>) -> Expr {
    match b.into() {
        Expr::Int(1) => a,
        b => Expr::Call(Function::CeilDiv, vec![a, b]).simplified(),
    }
}

fn max(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    match (a.into(), b.into()) {
        (Expr::Int(a), Expr::Int(b)) => Expr::Int(a.max(b)),
        (a, Expr::Int(0)) | (Expr::Int(0), a) => Expr::Call(Function::Max, vec![Expr::Int(0), a]),
        (a, b) => Expr::Call(Function::Max, vec![a, b]),
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}
