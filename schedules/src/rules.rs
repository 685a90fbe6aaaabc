//! Schedules that are made by rule: where a launch is too large to be explored, the best and the worst
//! of them bound what the ends can be.

use tickbound_model::simulate::{
    Chooser, Decision, FirstCome, Options, Script, SimulateError, simulate_with,
};
use tickbound_model::{Bound, Problem};

/// Random schedules that are tried after all rules.
const RANDOM: u64 = 12;

/// Which warp a free dispatcher starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// That which has been ready longest.
    FirstCome,
    /// That which became ready last.
    LastCome,
    /// Of the oldest group, so that groups end one after another.
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

/// Follows schedules made by rule and at random, until `stop` says so; at least that which serves first
/// come first.
///
/// # Errors
/// The simulator refuses the configuration.
pub fn try_rules(
    problem: &Problem,
    bound: &Bound,
    stop: &dyn Fn() -> bool,
) -> Result<Tried, SimulateError> {
    let first = follow(problem, bound, Rule::FirstCome)?;
    let mut tried = Tried { least: first.clone(), greatest: first };
    let random = (0..RANDOM).map(Rule::Random);
    for rule in RULES.into_iter().skip(1).chain(random) {
        if stop() {
            break;
        }
        let found = follow(problem, bound, rule)?;
        if found.0 > tried.greatest.0 {
            tried.greatest = found;
        } else if found.0 < tried.least.0 {
            tried.least = found;
        }
    }
    Ok(tried)
}

fn follow(problem: &Problem, bound: &Bound, rule: Rule) -> Result<(i64, Script), SimulateError> {
    let mut ruled = Ruled { rule, starts: Vec::new(), units: Vec::new() };
    let run = simulate_with(problem, bound, &Options::default(), &mut ruled)?;
    Ok((run.time, Script::Starts { starts: ruled.starts, units: ruled.units }))
}

/// A chooser that follows a rule, and notes what it does.
struct Ruled {
    rule: Rule,
    starts: Vec<(i64, i64, i64)>,
    units: Vec<i64>,
}

impl Chooser for Ruled {
    fn choose(&mut self, now: i64, options: &[Decision]) -> usize {
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
