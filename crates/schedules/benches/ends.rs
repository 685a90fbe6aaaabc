//! Both ends of launches of growing size: by counted warps, by the simulator's exploration of every
//! schedule, and the best case alone by CP-SAT where `PYTHON` names a Python that has it; one after
//! the other in one run. Prints a page in Markdown; `cargo xtask run schedules`.

use std::process::Command;
use std::time::Instant;

use indexmap::IndexMap;
use tickbound_model::{Bound, Problem};
use tickbound_schedules::{ScheduleError, ScheduleLimits, Skipped, WarpLaunch};
use tickbound_simulator::SimulateError;

/// Most states of the simulator's exploration.
const MOST: u64 = 300_000;
/// Seconds for CP-SAT.
const PATIENCE: u64 = 30;

/// `loops` times load, barrier, work, barrier.
struct Loads {
    warps: u64,
    loops: u64,
    groups: u64,
    resident: u64,
    slots: Option<u64>,
}

impl Loads {
    const fn new(warps: u64, loops: u64, groups: u64) -> Loads {
        Loads { warps, loops, groups, resident: 2, slots: Some(3) }
    }

    fn problem(&self) -> (Problem, Bound) {
        let Loads { warps, loops, groups, resident, slots } = self;
        let slots = slots.map_or(String::new(), |slots| format!(r#", "memory_slots": {slots}"#));
        let text = format!(
            r#"{{ "platform": {{ "units_per_device": 1, "elements_per_unit": 1, "global_access": 12,
                 "barrier": 1, "global_issue": 2, "global_latency": 10,
                 "warps": {{ "width": 1, "dispatchers": 2,
                     "resident_groups": {resident} {slots} }} }},
               "launch": {{ "global_size": {}, "local_size": {warps} }},
               "kernel": [ {{ "repeat": {loops}, "body":
                   [ {{ "global": 1 }}, "barrier", {{ "compute": 4 }}, "barrier" ] }} ] }}"#,
            warps * groups
        );
        let problem =
            Problem::from_json(&text, &IndexMap::new(), &tickbound_model::platforms::find);
        let problem = problem.unwrap_or_else(|e| panic!("{e}"));
        let bound = problem.space().unwrap_or_else(|e| panic!("{e}")).bound.remove(0);
        (problem, bound)
    }

    fn row(&self) -> String {
        let (problem, bound) = self.problem();
        let begin = Instant::now();
        let launch = WarpLaunch::new(&problem, &bound).unwrap_or_else(|e| panic!("{e}"));
        let limits = ScheduleLimits { max_recorded: 0, ..ScheduleLimits::default() };
        let both = launch.explore(&limits, &|| false);
        let seconds = begin.elapsed().as_secs_f64();
        let best = both.as_ref().ok().map(|both| both.best);
        let ours = match &both {
            Ok(both) => {
                let each = |of: fn(&Skipped) -> u64| {
                    let all: Vec<String> = both.skipped.iter().map(|s| of(s).to_string()).collect();
                    if all.is_empty() { "-".to_owned() } else { all.join(", ") }
                };
                let (skipped, period) = (each(|s| s.groups), each(|s| s.period));
                format!(
                    "{} / {} | {seconds:.3} s | {} | {} | {skipped} | {period}",
                    both.best, both.worst, both.states, both.visits
                )
            }
            Err(ScheduleError::Limit(limit)) => {
                format!("- | {seconds:.1} s, {limit} | | | |")
            }
            Err(error) => panic!("{error}"),
        };
        let begin = Instant::now();
        let cycles = launch.ratios(200_000, &|| false).unwrap_or_else(|e| panic!("{e}"));
        let seconds = begin.elapsed().as_secs_f64();
        let cycles = cycles.map_or("-".to_owned(), |(least, most)| {
            format!("{} / {}, {seconds:.3} s", launch.least().max(least), launch.most().min(most))
        });
        let begin = Instant::now();
        let limits = tickbound_simulator::ExploreLimits {
            max_states: MOST,
            ..tickbound_simulator::ExploreLimits::default()
        };
        // Hopeless, and long.
        let all =
            (self.groups <= 4).then(|| tickbound_simulator::explore(&problem, &bound, &limits));
        let seconds = begin.elapsed().as_secs_f64();
        let oracle = match (all, both) {
            (None, _) => "not tried".to_owned(),
            (Some(Ok(all)), Ok(both)) => {
                assert_eq!((all.best, all.worst), (both.best, both.worst));
                format!("{seconds:.3} s, {} states", all.states)
            }
            (Some(Err(SimulateError::TooManyStates { .. })), _) => {
                format!("gave up after {seconds:.1} s, {MOST} states")
            }
            (Some(all), both) => panic!("{all:?}, but {both:?}"),
        };
        let Loads { warps, loops, groups, resident, slots } = self;
        let slots = slots.map_or("any".to_owned(), |slots| slots.to_string());
        let cp_sat = if self.groups <= 4 { self.cp_sat(best) } else { "not tried".to_owned() };
        format!(
            "| {warps}, {loops}, {groups} | {resident}, {slots} | {ours} | {cycles} | {oracle} | \
             {cp_sat} |"
        )
    }

    /// What CP-SAT says of the best case, which may not be more than ours: its dispatchers may
    /// idle.
    fn cp_sat(&self, best: Option<i64>) -> String {
        let python = std::env::var("PYTHON").ok().filter(|python| !python.is_empty());
        let Some(python) = python else { return "not there".to_owned() };
        let Loads { warps, loops, groups, resident, slots } = *self;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/cp_sat.py");
        let numbers = [warps, loops, groups, resident, slots.unwrap_or(0), PATIENCE];
        let said = Command::new(python).arg(script).args(numbers.map(|n| n.to_string())).output();
        let said = said.unwrap_or_else(|e| panic!("{script}: {e}"));
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let words: Vec<&str> = said.split_whitespace().collect();
        let [status, least, bound, seconds] = words[..] else { panic!("{said}") };
        if status == "OPTIMAL" {
            let least: i64 = least.parse().unwrap_or_else(|e| panic!("{said}: {e}"));
            assert!(best.is_none_or(|best| least <= best), "{said}, but {best:?}");
            return format!("{least}, {seconds} s");
        }
        format!("{bound} to {least} after {seconds} s")
    }
}

fn main() {
    println!("# Open schedules: both ends\n");
    println!(
        "One unit, two dispatchers; `loops` times load (issue 2, latency 10), barrier, work of 4 \
         ticks,"
    );
    println!(
        "barrier. Made by `cargo xtask run schedules`; all in one run, one thread each. CP-SAT, \
         with one worker, is asked for the best"
    );
    println!(
        "case alone, and its dispatchers may idle while a warp is ready, which is easier \
         (`schedules/benches/cp_sat.py`). *Bounds by cycles* are for both\n\
         ends, and take as long for any number of iterations \
         ([encodings](../encodings.md#counted-warps)). Where two numbers of groups are\n\
         *skipped*, each end was looked for by itself.\n"
    );
    println!(
        "| warps, loops, groups | places, slots | best / worst | counted warps | states | visits | \
         groups skipped | period | bounds by cycles | every schedule | CP-SAT, best |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |");
    let rows = [
        Loads::new(4, 1, 4),
        Loads::new(8, 1, 2),
        Loads::new(4, 4, 4),
        Loads::new(4, 16, 4),
        Loads::new(8, 1, 4),
        Loads::new(8, 4, 4),
        Loads::new(4, 4, 1000),
        Loads::new(4, 16, 1000),
        Loads::new(4, 64, 1000),
        Loads::new(8, 4, 1000),
        Loads::new(8, 16, 1000),
        Loads::new(8, 64, 1000),
        Loads::new(8, 256, 1000),
        Loads::new(8, 1000, 1000),
        Loads { slots: None, ..Loads::new(24, 4, 1000) },
        Loads { slots: None, ..Loads::new(24, 64, 1000) },
        Loads { resident: 3, ..Loads::new(4, 4, 1000) },
        Loads { resident: 3, slots: None, ..Loads::new(16, 4, 1000) },
        Loads { resident: 4, slots: None, ..Loads::new(8, 2, 1000) },
    ];
    for row in rows {
        println!("{}", row.row());
    }
}
