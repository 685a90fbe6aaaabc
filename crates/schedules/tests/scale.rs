//! Launches of real size, by exact times; and what makes them possible against going the long way.

use tickbound_schedules::{ScheduleEnds, ScheduleError, ScheduleLimits, WarpLaunch};

use crate::oracle::{Random, apart, explored, follows, launch_of, only};

/// `loops` times load, barrier, work, barrier, on one unit with two dispatchers; a load occupies
/// its dispatcher for 2 ticks, and its data are there 10 ticks later.
struct Loads {
    warps: u64,
    loops: u64,
    groups: u64,
    resident: u64,
    slots: Option<u64>,
}

impl Loads {
    fn text(&self) -> String {
        let Loads { warps, loops, groups, resident, slots } = self;
        let slots = slots.map_or(String::new(), |slots| format!(r#", "memory_slots": {slots}"#));
        format!(
            r#"{{ "platform": {{ "units_per_device": 1, "elements_per_unit": 1, "global_access": 12,
                 "barrier": 1, "global_issue": 2, "global_latency": 10,
                 "warps": {{ "width": 1, "dispatchers": 2,
                     "resident_groups": {resident} {slots} }} }},
               "launch": {{ "global_size": {}, "local_size": {warps} }},
               "kernel": [ {{ "repeat": {loops}, "body":
                   [ {{ "global": 1 }}, "barrier", {{ "compute": 4 }}, "barrier" ] }} ] }}"#,
            warps * groups
        )
    }

    fn explored(&self) -> ScheduleEnds {
        explored(&self.text(), &ScheduleLimits::default()).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// Four warps a group, two groups at once, three slots.
const SMALL: Loads = Loads { warps: 4, loops: 4, groups: 4, resident: 2, slots: Some(3) };

#[test]
fn few_groups() {
    let cases = [
        (Loads { ..SMALL }, (295, 434)),
        (Loads { loops: 16, ..SMALL }, (1147, 1730)),
        (Loads { warps: 8, loops: 1, ..SMALL }, (153, 204)),
        (Loads { warps: 8, ..SMALL }, (544, 816)),
        // Four warps on a dispatcher: 4 * 2 to issue, 10 to wait, 1, 4 * 4 to work, 1; 4 times.
        (Loads { warps: 8, groups: 1, resident: 1, slots: None, ..SMALL }, (144, 144)),
    ];
    for (loads, times) in cases {
        let both = loads.explored();
        assert_eq!((both.best, both.worst), times, "{}", loads.text());
        follows(&loads.text(), &both);
    }
    let (problem, bound) = only(&SMALL.text());
    let all = tickbound_simulator::explore(
        &problem,
        &bound,
        &tickbound_simulator::ExploreLimits::default(),
    );
    let all = all.unwrap_or_else(|e| panic!("{e}"));
    let both = SMALL.explored();
    assert_eq!((both.best, both.worst), (all.best, all.worst));
    assert!(both.states * 10 < all.states as usize, "{} of {}", both.states, all.states);
}

#[test]
fn thousand_groups() {
    let cases = [
        (Loads { groups: 1000, ..SMALL }, (71_011, 108_002)),
        (Loads { groups: 1000, warps: 8, ..SMALL }, (130_688, 197_360)),
        (Loads { groups: 1000, warps: 24, slots: None, ..SMALL }, (288_001, 312_000)),
    ];
    for (loads, times) in cases {
        let both = loads.explored();
        assert_eq!((both.best, both.worst), times, "{}", loads.text());
        follows(&loads.text(), &both);
        assert!(both.skipped[0].groups > 900, "{both:?}");
    }
}

/// Bounds by the cycles of the states: as near to the ends for long loops as for short ones.
#[test]
fn ratios_of_long_loops() {
    let long = Loads { groups: 1000, loops: 1000, ..SMALL };
    for (loads, bounds) in [
        // 71,011 and 108,002 as explored.
        (Loads { loops: 4, ..long }, (71_011, 108_028)),
        (Loads { ..long }, (17_750_000, 27_007_000)),
        // 130,688 and 197,360.
        (Loads { warps: 8, loops: 4, ..long }, (130_687, 197_360)),
        // 2,090,688 and 3,157,760.
        (Loads { warps: 8, loops: 64, ..long }, (2_090_687, 3_157_760)),
        // 32,666,688 and 49,340,000.
        (Loads { warps: 8, ..long }, (32_666_677, 49_340_000)),
        (Loads { warps: 24, slots: None, ..long }, (71_999_988, 78_006_000)),
    ] {
        let (problem, bound) = only(&loads.text());
        let launch = WarpLaunch::new(&problem, &bound).unwrap_or_else(|e| panic!("{e}"));
        let found = launch.ratios(20_000, &|| false).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, Some(bounds), "{}", loads.text());
    }
}

/// With each end by itself, among the runs that may come to it, a long loop takes hardly more than
/// a short one.
#[test]
fn ends_of_long_loops_apart() {
    let limits = ScheduleLimits { max_together: 0, ..ScheduleLimits::default() };
    for (loads, times, visits) in [
        (Loads { groups: 1000, loops: 64, warps: 8, ..SMALL }, (2_090_688, 3_157_760), 2_000_000),
        (Loads { groups: 1000, loops: 128, warps: 8, ..SMALL }, (4_181_355, 6_315_520), 10_000_000),
    ] {
        let both = explored(&loads.text(), &limits).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((both.best, both.worst), times, "{}", loads.text());
        assert!(both.visits < visits, "{} visits of {}", both.visits, loads.text());
        if both.scripts.is_some() {
            follows(&loads.text(), &both);
        }
    }
}

/// The number of states does not depend on the length of the loop or of the queue.
#[test]
fn states_are_those_of_the_loop_body() {
    let states = |loops, groups| Loads { loops, groups, ..SMALL }.explored().states;
    let few = states(4, 6);
    assert_eq!([states(40, 6), states(4, 60), states(40, 60)], [few; 3]);
}

#[test]
fn queues_that_repeat_themselves_are_added_up_rightly() {
    let cases = std::env::var("TICKBOUND_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let long = ScheduleLimits { max_states: 3_000, max_period: 0, ..ScheduleLimits::default() };
    let short = ScheduleLimits { max_period: 8, ..long };
    let (mut skipped, mut given_up, mut dropped) = (0, 0, 0);
    for seed in 0..cases {
        let mut r = Random(seed ^ 0x7e57);
        let groups = 20 + r.below(30);
        let text = launch_of(&mut r, groups);
        match (explored(&text, &long), explored(&text, &short)) {
            (Ok(all), Ok(both)) => {
                let times = (both.best, both.worst);
                assert_eq!(times, (all.best, all.worst), "seed {seed}\n{text}");
                follows(&text, &both);
                assert_eq!(all.skipped, []);
                dropped += u64::from(apart(&text, &both, &short));
                skipped += u64::from(!both.skipped.is_empty());
            }
            (Err(a), Err(b)) => {
                assert_eq!(a.to_string(), b.to_string(), "seed {seed}\n{text}");
                given_up += u64::from(matches!(a, ScheduleError::Limit(_)));
            }
            (a, b) => panic!("seed {seed}: {a:?}, but {b:?}\n{text}"),
        }
    }
    println!(
        "{cases} launches: {skipped} with groups skipped, {given_up} too large, {dropped} with \
         runs dropped"
    );
    assert!(skipped * 3 >= cases && given_up * 3 <= cases && dropped * 10 >= cases);
}

/// The first half of the groups computes less than the second: each half repeats itself.
#[test]
fn two_kinds_of_groups() {
    let text = Loads { groups: 80, ..SMALL }.text();
    let text = text.replace(r#"{ "compute": 4 }"#, r#"{ "compute": "4 + group / 40 * 3" }"#);
    let all = explored(&text, &ScheduleLimits { max_period: 0, ..ScheduleLimits::default() });
    let both = explored(&text, &ScheduleLimits::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(all.map(|all| (all.best, all.worst)), Ok((both.best, both.worst)));
    let groups: Vec<u64> = both.skipped.iter().map(|skipped| skipped.groups).collect();
    assert_eq!(groups, [28, 30]);
    follows(&text, &both);
}

/// Schedules are recorded in a run of their own: what was within the limit once is so again.
#[test]
fn recording_is_not_more_than_was_explored() {
    let both = SMALL.explored();
    let limits =
        ScheduleLimits { max_visits: 4 * (both.visits + 100), ..ScheduleLimits::default() };
    let again = explored(&SMALL.text(), &limits).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again, both);
    assert_eq!((again.visits, again.dropped), (5596, 0));
}

/// A launch that is too large says so, and its bounds hold all the same.
#[test]
fn limits() {
    let text = Loads { warps: 8, ..SMALL }.text();
    let states = ScheduleLimits { max_states: 100, ..ScheduleLimits::default() };
    let error = explored(&text, &states).map_err(|e| e.to_string());
    assert_eq!(error.unwrap_err(), "not explored within 100 states of a unit");
    let visits = ScheduleLimits { max_visits: 5_000, ..ScheduleLimits::default() };
    let error = explored(&text, &visits).map_err(|e| e.to_string());
    assert_eq!(error.unwrap_err(), "not explored within 5000 visits");
    let text = Loads { resident: 17, groups: 17, ..SMALL }.text();
    let error = explored(&text, &ScheduleLimits::default()).map_err(|e| e.to_string());
    assert_eq!(error.unwrap_err(), "the launch has places for more than 16 groups at once");
    let (problem, bound) = only(&text);
    let launch = WarpLaunch::new(&problem, &bound).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((launch.least(), launch.most()), (1098, 4488));
    let (problem, bound) = only(&Loads { groups: 1000, ..SMALL }.text());
    let launch = WarpLaunch::new(&problem, &bound).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(launch.explore(&ScheduleLimits::default(), &|| true), Err(ScheduleError::Stopped));
}
