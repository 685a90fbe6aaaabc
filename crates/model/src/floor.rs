//! Times below which no configuration can run on a device, for all compilers and schedulers.
//!
//! The floor of a configuration is the greatest of a few terms. Each is a count that no correct
//! compilation can go below ([`LeastUsage`]) over a rate that the device cannot exceed
//! ([`Resources`]). `docs/floors.md` has the terms with their arguments. All is in whole
//! picoseconds, rounded down.
//!
//! What all groups do is done by the busiest unit as often as it has groups, and by its busiest
//! scheduler as often as it has warps. Of what only some groups do the average of all units is
//! known.

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
/// Items of a warp where the platform does not state it.
const WARP: i64 = 32;

/// What the caches behind L1 hold when a launch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caches {
    /// Anything: what the launch reads may be in them.
    #[default]
    Unknown,
    /// Nothing of the launch.
    Empty,
}

/// The floor of the configurations of a problem, by terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// Each term in picoseconds, over the problem's names; those that are 0 everywhere are missing.
    pub terms: Vec<(FloorTerm, Expr)>,
}

impl Floor {
    /// The floor of a problem whose kernel uses this at least, in launches that find such caches.
    ///
    /// # Errors
    /// The platform does not state its greatest clock, or the launch has no groups of items.
    pub fn new(problem: &Problem, least: &LeastUsage, caches: Caches) -> Result<Floor, ModelError> {
        let mhz = Floor::greatest_mhz(problem)?;
        let resources = with_hardware_rates(problem.platform.resources());
        let size =
            |of: fn(&crate::Dimension) -> Expr| problem.grid.iter().map(of).product::<Expr>();
        let items = size(|d| d.local.clone());
        let groups = size(|d| quotient(d.global.clone(), d.local.clone()));
        let warps = ceil_div(items, resources.warp_width.unwrap_or(WARP));
        let units = problem.platform.units();
        let busiest = ceil_div(groups.clone(), units);
        let formulas =
            Formulas { problem, least, caches, r: resources, mhz, units, groups, warps, busiest };
        let terms = FloorTerm::ALL.into_iter().filter_map(|term| {
            let time = formulas.term(term)?.simplified();
            (time != Expr::Int(0)).then_some((term, time))
        });
        Ok(Floor { terms: terms.collect() })
    }

    /// The greatest clock of the platform in MHz, if the problem has a floor: what can be found out
    /// before anything is counted.
    ///
    /// # Errors
    /// The platform does not state it, or the launch has no groups of items.
    pub fn greatest_mhz(problem: &Problem) -> Result<i64, ModelError> {
        let Some(mhz) = problem.platform.resources().greatest_mhz else {
            let what =
                format!("platform {} has no floor: it does not state it", problem.platform.name);
            let fix = "add the greatest clock that the driver admits, in MHz";
            return Err(ModelError::new("platform.resources.greatest_mhz", what, fix));
        };
        let Launch::Range { .. } = problem.launch else {
            let what = "has no groups of items, and so no floor";
            return Err(ModelError::new("launch", what, "give it a global and a local size"));
        };
        Ok(mhz)
    }

    /// The floor of one configuration in picoseconds, and the binding term; `None` without a value.
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
        let time = time.map_or(Expr::Int(0), |(_, time)| time.clone());
        Floor::taking(of, &format!("floor by {}", term.name()), &time)
    }

    /// The same where run times are the floors of the configurations: by all terms.
    ///
    /// # Errors
    /// As for [`Floor::problem`].
    pub fn problem_of_all(&self, of: &Problem) -> Result<Problem, ModelError> {
        let times = self.terms.iter().map(|(_, time)| time.clone());
        Floor::taking(of, "floor", &times.reduce(max).unwrap_or_default())
    }

    /// A problem whose run times in picoseconds are these.
    fn taking(of: &Problem, what: &str, time: &Expr) -> Result<Problem, ModelError> {
        let mut problem = of.clone().kernel_alone();
        problem.name = format!("{}, {what} in picoseconds", of.name);
        problem.profile = crate::Profile::Resources;
        problem.without = vec![Part::Dispatch, Part::Launch];
        problem.kernel.clear();
        problem.stated_usage.clear();
        let least_clocks = problem.with_shared_parts(time)?;
        problem.set_usage(Usage { least_clocks, ..Usage::default() }, Vec::new())?;
        Ok(problem)
    }
}

struct Formulas<'p> {
    problem: &'p Problem,
    least: &'p LeastUsage,
    caches: Caches,
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
        Some(match term {
            FloorTerm::Dram => self.dram()?,
            FloorTerm::L2 => {
                let [read, written] = self.launch_bytes();
                self.time(max(read, written), 1, self.units.checked_mul(r.l2_port_bytes?)?)
            }
            FloorTerm::Real => {
                let mut real = self.real();
                if !self.issue_is_shared() {
                    real = real.plus(self.count(LeastCount::Convert));
                }
                self.scheduler_time(real, self.width(), r.real_lanes?)
            }
            FloorTerm::Special => {
                let special = self.count(LeastCount::Special);
                self.scheduler_time(special, self.width(), r.special_lanes?)
            }
            FloorTerm::Issue => self.issue()?,
            FloorTerm::Requests => {
                let (width, lanes) = (self.width(), r.load_store_lanes.unwrap_or(self.width()));
                let of_group = |of| {
                    let Counted { each, some } = self.count(of);
                    (Counted { each: each * &self.warps, some }, width, lanes)
                };
                self.unit_time(
                    [LeastCount::GlobalRequests, LeastCount::LocalRequests].map(of_group),
                )
            }
            FloorTerm::L1 => self.unit_time([
                (self.count(LeastCount::GlobalBytes), 1, r.l1_bytes_per_clock?),
                (self.count(LeastCount::LocalBytes), 1, r.local_bytes_per_clock?),
            ]),
            FloorTerm::Dispatch => self.groups.clone() * r.least_group_picoseconds?,
            FloorTerm::Chain => {
                let turns = ceil_div(self.busiest.clone(), self.held());
                let clocks = turns * self.count(LeastCount::Chain).each;
                self.time(clocks, r.dependent_clocks?, 1)
            }
        })
    }

    fn dram(&self) -> Option<Expr> {
        let rate = self.r.greatest_dram_megabytes_per_second?;
        let room = self.r.l2_size? + self.r.l3_size.unwrap_or(0);
        let [read, written] = self.launch_bytes();
        let read = match self.caches {
            Caches::Unknown => max(0, read - room),
            Caches::Empty => read,
        };
        Some(quotient((read + max(0, written - room)) * PICOSECONDS, rate))
    }

    /// What the schedulers take to issue instructions of all kinds that share their rate.
    fn issue(&self) -> Option<Expr> {
        let r = &self.r;
        let rate = r.issue_rate.or(r.schedulers)?;
        let mut all = self.real().plus(self.count(LeastCount::Special));
        all = all.plus(self.count(LeastCount::Convert));
        if !self.issue_is_shared() {
            let each = (self.width() * r.schedulers.unwrap_or(1) / r.real_lanes?).max(1);
            return Some(self.scheduler_time(all, each, rate));
        }
        let requests = [LeastCount::GlobalRequests, LeastCount::LocalRequests];
        let all = requests.into_iter().fold(all, |all, of| all.plus(self.count(of)));
        Some(self.scheduler_time(all, 1, rate))
    }

    fn issue_is_shared(&self) -> bool {
        self.r.issue_shared == Some(1)
    }

    /// Items of a warp.
    fn width(&self) -> i64 {
        self.r.warp_width.unwrap_or(WARP)
    }

    /// Bytes that the launch reads, and those that it writes.
    fn launch_bytes(&self) -> [Expr; 2] {
        [LeastCount::ReadBytes, LeastCount::WrittenBytes].map(|of| self.count(of).each)
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
    fn scheduler_time(&self, count: Counted, by: i64, rate: i64) -> Expr {
        let schedulers = self.r.schedulers.unwrap_or(1);
        let warps = ceil_div(self.busiest.clone() * &self.warps, schedulers);
        let each = self.time(warps * count.each, by.saturating_mul(schedulers), rate);
        max(each, self.time(count.some, by, rate.saturating_mul(self.units)))
    }

    /// What groups do in two ways, for each by how much and at which rate: at the same time, or
    /// in sequence where both go through one pipe.
    fn unit_time(&self, kinds: [(Counted, i64, i64); 2]) -> Expr {
        let times = kinds.map(|(count, by, rate)| {
            let each = self.time(self.busiest.clone() * count.each, by, rate);
            [each, self.time(count.some, by, rate.saturating_mul(self.units))]
        });
        let [[a, c], [b, d]] = times;
        let both = |a, b| if self.r.one_pipe == Some(1) { a + b } else { max(a, b) };
        max(both(a, b), both(c, d))
    }

    /// Groups that a unit holds at once at most, with any registers.
    fn held(&self) -> Expr {
        let places = self.r.groups_per_unit.map(Expr::Int);
        let warps = self.r.warps_per_unit.map(|n| quotient(n, self.warps.clone()));
        let local = self.problem.group_needs.local_bytes.clone();
        let room = self.problem.platform.local_memory().zip(local).map(|(room, bytes)| {
            let some = Expr::binary(BinaryOp::Lt, Expr::Int(0), bytes.clone());
            let fit = quotient(room, max(1, bytes));
            Expr::conditional(some, fit, self.busiest.clone())
        });
        let bounds = places.into_iter().chain(warps).chain(room);
        let least = bounds.reduce(|a, b| Expr::Call(Function::Min, vec![a, b]));
        max(1, least.unwrap_or_else(|| self.busiest.clone()))
    }
}

/// The resources with rates as hardware has them, powers of two: calibration finds a little less.
fn with_hardware_rates(r: Resources) -> Resources {
    let up = |rate: Option<i64>| {
        let rate = u64::try_from(rate?).ok()?.checked_next_power_of_two()?;
        i64::try_from(rate).ok()
    };
    Resources {
        issue_rate: up(r.issue_rate),
        real_lanes: up(r.real_lanes),
        special_lanes: up(r.special_lanes),
        load_store_lanes: up(r.load_store_lanes),
        l1_bytes_per_clock: up(r.l1_bytes_per_clock),
        local_bytes_per_clock: up(r.local_bytes_per_clock),
        ..r
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(resources: &serde_json::Value) -> Problem {
        let value = json!({
            "platform": { "name": "p", "units_per_device": 2, "elements_per_unit": 4,
                          "global_access": 4, "resources": resources },
            "parameters": { "WG": [32, 64] },
            "launch": { "global_size": 320, "local_size": "WG" }, "kernel": []
        });
        Problem::from_value(&value, &indexmap::IndexMap::new(), &|_| unreachable!()).unwrap()
    }

    fn least() -> LeastUsage {
        let each = [
            (LeastCount::Real, 100),
            (LeastCount::Special, 10),
            (LeastCount::GlobalRequests, 7),
            (LeastCount::ReadBytes, 5000),
            (LeastCount::WrittenBytes, 900),
            (LeastCount::Chain, 50),
        ];
        let each = each.map(|(what, n)| (what, Expr::Int(n))).into_iter().collect();
        let some = [(LeastCount::Real, Expr::Int(8000))].into_iter().collect();
        LeastUsage { each, some }
    }

    #[test]
    fn terms_by_hand() {
        let problem = problem(&json!({
            "warp_width": 32, "schedulers": 4, "issue_rate": 4, "real_lanes": 64,
            "special_lanes": 16, "load_store_lanes": 16, "l2_port_bytes": 64, "l2_size": 1000,
            "greatest_mhz": 1000, "greatest_dram_megabytes_per_second": 1000, "issue_shared": 1,
            "dependent_clocks": 4, "least_group_picoseconds": 500, "warps_per_unit": 2
        }));
        let floor = Floor::new(&problem, &least(), Caches::Unknown).unwrap();
        let env = [problem.base_env()].map(|mut env| {
            let wg = problem.first_parameter();
            env[wg] = 32;
            env
        });
        let found: Vec<(FloorTerm, i64)> =
            floor.terms.iter().map(|(term, time)| (*term, time.eval(&env[0]).unwrap())).collect();
        // 10 groups of a warp: 5 on a unit, 2 of them on a scheduler. A clock takes 1,000 ps.
        assert_eq!(
            found,
            [
                // 4,000 bytes beyond the cache.
                (FloorTerm::Dram, 4_000_000),
                // 5,000 bytes through 2 ports, rounded down.
                (FloorTerm::L2, 39_062),
                // 2 warps, 2 clocks for each of 100; of others 8,000 warps on 2 units of 64 lanes.
                (FloorTerm::Real, 2_000_000),
                (FloorTerm::Special, 2 * 10 * 8 * 1000),
                // 117 instructions of 2 warps; 8,000 warps on 8 schedulers.
                (FloorTerm::Issue, 1_000_000),
                (FloorTerm::Requests, 5 * 7 * 2 * 1000),
                (FloorTerm::Dispatch, 5_000),
                // 2 groups at once: 3 turns.
                (FloorTerm::Chain, 3 * 50 * 4 * 1000),
            ]
        );
        assert_eq!(floor.at(&env[0]), Some((4_000_000, FloorTerm::Dram)));
        // All 5,000 bytes come from memory; what is written may stay in the cache.
        let floor = Floor::new(&problem, &least(), Caches::Empty).unwrap();
        assert_eq!(floor.at(&env[0]), Some((5_000_000, FloorTerm::Dram)));
    }

    #[test]
    fn what_calibration_finds_of_a_rate_is_rounded_up() {
        let lanes = |lanes: i64| {
            let problem = problem(&json!({ "real_lanes": lanes, "greatest_mhz": 1000 }));
            Floor::new(&problem, &least(), Caches::Unknown).unwrap().terms
        };
        assert_eq!(lanes(61), lanes(64));
        assert_ne!(lanes(64), lanes(65));
    }

    #[test]
    fn a_platform_without_a_clock_has_none() {
        let without = problem(&json!({ "warp_width": 32 }));
        let error = Floor::new(&without, &least(), Caches::Unknown).unwrap_err();
        assert!(error.to_string().contains("greatest_mhz"), "{error}");
    }
}
