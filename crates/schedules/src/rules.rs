//! Schedules that are made by rule: where a launch is too large to be explored, the best and the
//! worst of them bound what the ends can be.

use tickbound_model::{Bound, Problem};
use tickbound_simulator::{
    Chooser, Decision, FirstCome, Script, SimulateError, SimulateOptions, simulate_with,
};

/// Random schedules that are tried after all rules.
const RANDOM: u64 = 12;

/// Which warp a free dispatcher starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// That which has been ready longest.
    FirstCome,
    /// That which became ready last.
    LastCome,
    /// Of the oldest group, so that groups end in sequence.
    OldGroup,
    /// Of the youngest group.
    YoungGroup,
    /// One that needs a slot, so that slots are never free for long.
    SlotFirst,
    /// One that needs none.
    SlotLast,
    /// One that needs a slot, of the youngest group.
    SlotYoung,
    /// One that needs none, of the oldest group.
    NoSlotOld,
    /// Any, by a generator.
    Random(u64),
}

const RULES: [Rule; 8] = [
    Rule::FirstCome,
    Rule::LastCome,
    Rule::OldGroup,
    Rule::YoungGroup,
    Rule::SlotFirst,
    Rule::SlotLast,
    Rule::SlotYoung,
    Rule::NoSlotOld,
];

/// What the schedules that were tried take, in ticks, each with one that does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The least.
    pub least: (i64, Script),
    /// The greatest.
    pub greatest: (i64, Script),
}

impl Tried {
    /// The least and the greatest of both.
    #[must_use]
    pub fn join(self, other: Tried) -> Tried {
        Tried {
            least: if other.least.0 < self.least.0 { other.least } else { self.least },
            greatest: if other.greatest.0 > self.greatest.0 {
                other.greatest
            } else {
                self.greatest
            },
        }
    }

    /// Whether one of the two takes this many ticks.
    pub fn takes(&self, ticks: i64) -> bool {
        self.least.0 == ticks || self.greatest.0 == ticks
    }
}

/// Follows schedules made by rule and at random, until `stop` returns true; `None` if that was
/// before the first had ended.
///
/// # Errors
/// The simulator refuses the configuration.
pub fn try_rules(
    problem: &Problem,
    bound: &Bound,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Tried>, SimulateError> {
    let Some(first) = follow(problem, bound, Rule::FirstCome, stop)? else { return Ok(None) };
    let mut tried = Tried { least: first.clone(), greatest: first };
    let random = (0..RANDOM).map(Rule::Random);
    for rule in RULES.into_iter().skip(1).chain(random) {
        let Some(found) = follow(problem, bound, rule, stop)? else { break };
        if found.0 > tried.greatest.0 {
            tried.greatest = found;
        } else if found.0 < tried.least.0 {
            tried.least = found;
        }
    }
    Ok(Some(tried))
}

/// Ticks of the first-come schedule; `None` if `stop` returns true.
///
/// # Errors
/// The simulator refuses the configuration.
pub fn first_come(
    problem: &Problem,
    bound: &Bound,
    stop: &dyn Fn() -> bool,
) -> Result<Option<i64>, SimulateError> {
    Ok(follow(problem, bound, Rule::FirstCome, stop)?.map(|(ticks, _)| ticks))
}

fn follow(
    problem: &Problem,
    bound: &Bound,
    rule: Rule,
    stop: &dyn Fn() -> bool,
) -> Result<Option<(i64, Script)>, SimulateError> {
    let (starts, units) = (Vec::new(), Vec::new());
    let mut ruled = Ruled { rule, starts, units, asked: 0, stop, stopped: false };
    match simulate_with(problem, bound, &SimulateOptions::default(), &mut ruled) {
        Err(SimulateError::NoSuchOption { .. }) if ruled.stopped => Ok(None),
        Err(error) => Err(error),
        Ok(run) => {
            let script = Script::Starts { starts: ruled.starts, units: ruled.units };
            Ok(Some((run.time, script)))
        }
    }
}

/// A chooser that follows a rule, and notes what it does.
struct Ruled<'s> {
    rule: Rule,
    starts: Vec<(i64, i64, i64)>,
    units: Vec<i64>,
    /// How often it was asked.
    asked: u64,
    stop: &'s dyn Fn() -> bool,
    stopped: bool,
}

impl Chooser for Ruled<'_> {
    fn choose(&mut self, now: i64, options: &[Decision]) -> usize {
        self.asked += 1;
        if self.asked.is_multiple_of(1024) && (self.stop)() {
            // What does not exist ends the simulation.
            self.stopped = true;
            return usize::MAX;
        }
        if let Rule::Random(state) = &mut self.rule {
            // The constants of Knuth's MMIX.
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            return (*state >> 33) as usize % options.len().max(1);
        }
        let rank = |decision: &Decision| match *decision {
            Decision::Place { unit, .. } => (0, 0, unit),
            Decision::Start { group, warp, needs_slot, ready_since, .. } => match self.rule {
                Rule::FirstCome | Rule::Random(_) => (ready_since, group, warp),
                Rule::LastCome => (-ready_since, group, warp),
                Rule::OldGroup => (group, ready_since, warp),
                Rule::YoungGroup => (-group, ready_since, warp),
                Rule::SlotFirst => (i64::from(!needs_slot), ready_since, warp),
                Rule::SlotLast => (i64::from(needs_slot), ready_since, warp),
                Rule::SlotYoung => (i64::from(!needs_slot), -group, warp),
                Rule::NoSlotOld => (i64::from(needs_slot), group, warp),
            },
        };
        let best = options.iter().enumerate().min_by_key(|(_, decision)| rank(decision));
        best.map_or_else(|| FirstCome.choose(now, options), |(index, _)| index)
    }

    fn taken(&mut self, now: i64, decision: &Decision) {
        match *decision {
            Decision::Start { group, warp, .. } => self.starts.push((now, group, warp)),
            Decision::Place { unit, .. } => self.units.push(unit),
        }
    }
}
