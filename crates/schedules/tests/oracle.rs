//! Both ends of random launches, as by the simulator's exploration of every schedule.

use indexmap::IndexMap;
use tickbound_model::{Bound, Problem};
use tickbound_schedules::{ScheduleEnds, ScheduleError, ScheduleLimits, WarpLaunch, try_rules};
use tickbound_simulator::SimulateError;

/// A small generator: one number after another from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len() as u64) as usize]
    }
}

fn amount(r: &mut Random) -> String {
    match r.below(8) {
        0 => "\"lid\"".to_owned(),
        1 => "\"lid / 2 % 2\"".to_owned(),
        2 => "\"group\"".to_owned(),
        _ => r.below(4).to_string(),
    }
}

fn statement(r: &mut Random, depth: u64, barrier: bool) -> String {
    let body = |r: &mut Random, barrier| {
        let body: Vec<String> =
            (0..1 + r.below(2)).map(|_| statement(r, depth - 1, barrier)).collect();
        format!("[ {} ]", body.join(", "))
    };
    match r.below(if depth > 0 { 11 } else { 8 }) {
        0..=2 => format!(r#"{{ "global": {} }}"#, amount(r)),
        3 => format!(r#"{{ "compute": {} }}"#, amount(r)),
        4 => format!(r#"{{ "local": {} }}"#, amount(r)),
        5 if barrier => r#""barrier""#.to_owned(),
        6 if r.below(2) == 0 => r#""mark""#.to_owned(),
        7 if r.below(2) == 0 => {
            format!(r#"{{ "until": {} }}"#, r.pick(&["3", "7", "-2", "\"lid * 3\"", "12"]))
        }
        5..=7 => r#"{ "work": 2 }"#.to_owned(),
        8 | 9 => {
            format!(r#"{{ "repeat": {}, "body": {} }}"#, r.below(4), body(r, barrier))
        }
        _ => {
            let condition =
                r.pick(&["lid == 0", "lid % 2 == 0", "group == 0", "lid < 2", "gid < 3"]);
            let (then, other) = (body(r, false), body(r, false));
            format!(r#"{{ "if": "{condition}", "then": {then}, "else": {other} }}"#)
        }
    }
}

/// A random launch of one configuration.
pub(crate) fn random(seed: u64) -> String {
    let mut r = Random(seed);
    let groups = 1 + r.below(4);
    launch_of(&mut r, groups)
}

/// A random launch of so many groups.
pub(crate) fn launch_of(r: &mut Random, groups: u64) -> String {
    let body: Vec<String> = (0..1 + r.below(4)).map(|_| statement(r, 2, true)).collect();
    let slots =
        r.pick(&[r#", "memory_slots": 1"#, r#", "memory_slots": 2"#, r#", "memory_slots": 3"#, ""]);
    let (units, dispatchers, places) = (1 + r.below(5) / 4, 1 + r.below(3), 1 + r.below(5) / 2);
    let (barrier, start, issue, latency) = (r.below(3), r.below(4), 1 + r.below(3), r.below(9));
    let width = 1 + r.below(2);
    let warps = 1 + r.below(3).max(r.below(4));
    let local = (warps * width - r.below(width)).max(1);
    format!(
        r#"{{ "platform": {{ "units_per_device": {units}, "elements_per_unit": 2,
             "global_access": 3,
             "barrier": {barrier}, "group_start": {start}, "global_issue": {issue},
             "global_latency": {latency}, "kernel_launch": 5,
             "warps": {{ "width": {width}, "dispatchers": {dispatchers},
                 "resident_groups": {places} {slots} }} }},
           "parameters": {{}},
           "launch": {{ "global_size": {}, "local_size": {local} }},
           "kernel": [ {} ], "finish": {} }}"#,
        local * groups,
        body.join(", "),
        r.pick(&["[]", "[]", r#"[ { "global": 2 }, { "until": 9 }, "mark", { "until": 3 } ]"#]),
    )
}

pub(crate) fn only(text: &str) -> (Problem, Bound) {
    let problem = Problem::from_json(text, &IndexMap::new(), &tickbound_model::platforms::find)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut bounds = problem.space().unwrap_or_else(|e| panic!("{e}\n{text}")).bound;
    assert_eq!(bounds.len(), 1, "{text}");
    (problem, bounds.remove(0))
}

pub(crate) fn explored(text: &str, limits: &ScheduleLimits) -> Result<ScheduleEnds, ScheduleError> {
    let (problem, bound) = only(text);
    let launch = WarpLaunch::new(&problem, &bound)?;
    let both = launch.explore(limits, &|| false)?;
    assert!(launch.least() <= both.best && both.worst <= launch.most(), "{text}");
    if let Some((least, most)) = launch.ratios(20_000, &|| false)? {
        assert!(least <= both.best && both.worst <= most, "{least} to {most}, {both:?}\n{text}");
    }
    Ok(both)
}

/// Both schedules take the times of the two ends.
pub(crate) fn follows(text: &str, both: &ScheduleEnds) {
    let (problem, bound) = only(text);
    let (best, worst) = both.scripts.as_ref().expect("a small launch");
    for (script, time) in [(best, both.best), (worst, both.worst)] {
        let run = script.run(&problem, &bound, &tickbound_simulator::SimulateOptions::default());
        let run = run.unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(run.map(|r| r.time), Some(time), "{script:?}\n{text}");
    }
}

/// What beams find are schedules, and no beam is narrower than this at both ends of a small launch:
/// all that differs goes on.
fn searched(text: &str, ours: &ScheduleEnds) {
    let (problem, bound) = only(text);
    let launch = WarpLaunch::new(&problem, &bound).unwrap_or_else(|e| panic!("{e}"));
    for width in [1, 3, 20_000] {
        let found = launch.beam(width, &|| false).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let Some(found) = found else { continue };
        for (ticks, script) in [&found.least, &found.greatest] {
            let run =
                script.run(&problem, &bound, &tickbound_simulator::SimulateOptions::default());
            let run = run.unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(run.map(|run| run.time), Some(*ticks), "width {width}\n{text}");
        }
        let (least, greatest) = (found.least.0, found.greatest.0);
        assert!(ours.best <= least && greatest <= ours.worst, "width {width}\n{text}");
        if width == 20_000 {
            assert_eq!((least, greatest), (ours.best, ours.worst), "{text}");
        }
    }
}

/// One end after the other, with nothing but what may come to it: the same ends, and schedules that
/// take them. True if something was dropped.
pub(crate) fn apart(text: &str, ours: &ScheduleEnds, limits: &ScheduleLimits) -> bool {
    let apart = explored(text, &ScheduleLimits { max_together: 0, ..*limits });
    let apart = apart.unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!((apart.best, apart.worst), (ours.best, ours.worst), "{text}");
    if apart.scripts.is_some() {
        follows(text, &apart);
    }
    apart.dropped > 0
}

/// What two ways have shown of a launch: whether its ends differ, and whether runs were dropped on
/// the way to them.
struct Agreed {
    open: bool,
    dropped: bool,
}

/// `None` if one of the two gave up.
fn agrees(seed: u64) -> Option<Agreed> {
    let text = random(seed);
    let (problem, bound) = only(&text);
    let oracle = tickbound_simulator::ExploreLimits {
        max_states: 3_000,
        ..tickbound_simulator::ExploreLimits::default()
    };
    let limits = ScheduleLimits { max_states: 20_000, ..ScheduleLimits::default() };
    let all = tickbound_simulator::explore(&problem, &bound, &oracle);
    if matches!(all, Err(SimulateError::TooManyStates { .. })) {
        return None;
    }
    match (explored(&text, &limits), all) {
        (Err(ScheduleError::Limit(_)), Ok(_)) => None,
        (Ok(ours), Ok(all)) => {
            assert_eq!((ours.best, ours.worst), (all.best, all.worst), "seed {seed}\n{text}");
            follows(&text, &ours);
            let tried = try_rules(&problem, &bound, &|| false).unwrap_or_else(|e| panic!("{e}"));
            let tried = tried.expect("nobody says stop");
            let (least, greatest) = (tried.least.0, tried.greatest.0);
            assert!(ours.best <= least && least <= greatest && greatest <= ours.worst, "{text}");
            searched(&text, &ours);
            Some(Agreed { open: all.best < all.worst, dropped: apart(&text, &ours, &limits) })
        }
        (Err(ours), Err(error)) => {
            assert_eq!(ours.to_string(), error.to_string(), "seed {seed}\n{text}");
            Some(Agreed { open: false, dropped: false })
        }
        (ours, all) => panic!("seed {seed}: {ours:?}, but {all:?}\n{text}"),
    }
}

#[test]
fn both_ends_are_those_of_every_schedule() {
    let cases: u64 =
        std::env::var("TICKBOUND_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let found: Vec<Option<Agreed>> = (0..cases).map(agrees).collect();
    let given_up = found.iter().filter(|f| f.is_none()).count();
    let open = found.iter().flatten().filter(|f| f.open).count();
    let dropped = found.iter().flatten().filter(|f| f.dropped).count();
    println!(
        "{cases} launches: {open} with an open time, {given_up} too large for the oracle; \
         {dropped} with runs dropped"
    );
    // Launches in which every schedule takes as long would show nothing, nor would goals that drop
    // nothing.
    assert!(open as u64 * 6 >= cases && given_up as u64 * 4 <= cases);
    assert!(dropped as u64 * 20 >= cases);
}

/// What cycles of states say of random launches holds, and is not empty: [`explored`] compares it.
#[test]
fn ratios_bound_random_launches() {
    let (mut bounded, mut tight) = (0, 0);
    for seed in 0..300 {
        let (problem, bound) = only(&random(seed));
        let Ok(launch) = WarpLaunch::new(&problem, &bound) else { continue };
        let limits = ScheduleLimits { max_states: 20_000, ..ScheduleLimits::default() };
        let (Ok(both), Ok(Some((least, most)))) =
            (launch.explore(&limits, &|| false), launch.ratios(20_000, &|| false))
        else {
            continue;
        };
        assert!(
            least <= both.best && both.worst <= most,
            "seed {seed}: {least} to {most}, {both:?}"
        );
        bounded += 1;
        tight += u32::from(launch.least() < least || most < launch.most());
    }
    println!("{bounded} launches, in {tight} more than the bounds without states");
}
