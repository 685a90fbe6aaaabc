//! Launches with open schedules: small ones are explored by the simulator, large ones are counted
//! or bounded, and said to be trusted.

use crate::check;
use serde_json::{Value, json};
use tickbound_certificate::Refusal;
use tickbound_certificate::check::CheckReport;
use tickbound_schedules::WarpLaunch;
use tickbound_simulator::{ExploreLimits, explore};

use crate::{certificate, never, read};

/// Groups of four warps that load and compute, on a multiprocessor that holds two of them and has
/// three memory slots.
fn loads(rounds: u64, groups: &Value) -> Value {
    json!({
        "platform": {
            "units_per_device": 1, "elements_per_unit": 1, "global_access": 12, "barrier": 1,
            "global_issue": 2, "global_latency": 10,
            "warps": { "width": 1, "dispatchers": 2, "resident_groups": 2, "memory_slots": 3 }
        },
        "parameters": { "GROUPS": groups },
        "launch": { "global_size": "4 * GROUPS", "local_size": 4 },
        "kernel": [{ "repeat": rounds, "body": [{ "global": 1 }, { "compute": 3 }, "barrier"] }]
    })
}

/// The report of a check of `claimed` ticks, or of the least time, with the first configuration.
fn checked(problem: &Value, claimed: Option<i64>) -> Result<(i64, CheckReport), Refusal> {
    let problem = read(problem);
    let first = &problem.space().expect("a space").bound[0];
    let launch = WarpLaunch::new(&problem, first).expect("a launch");
    let least = launch
        .explore(&tickbound_schedules::ScheduleLimits::default(), &never)
        .expect("explored")
        .best;
    let time = claimed.unwrap_or(least);
    let written = certificate(&problem, &first.configuration, time)?;
    check(&written, None, &never).map(|report| (least, report))
}

#[test]
fn small_launches_are_simulated() {
    let problem = loads(1, &json!([1, 2]));
    let (time, report) = checked(&problem, None).expect("it holds");
    let read = read(&problem);
    let first = &read.space().expect("a space").bound[0];
    assert_eq!(explore(&read, first, &ExploreLimits::default()).expect("explored").best, time);
    assert_eq!(
        report.checked.last().expect("checked"),
        "nothing is faster: all 2 configurations are simulated"
    );
    assert_eq!(
        report.trusted,
        [
            "the simulator, for the time of one configuration",
            "the list of the valid configurations"
        ]
    );
}

#[test]
fn large_launches_are_counted_and_bounded() {
    // The simulator would need more states than a check gives it. With 12 groups no bound is as
    // great as the time, with 40 one is.
    let (_, report) = checked(&loads(3, &json!([12, 40])), None).expect("it holds");
    assert_eq!(
        report.trusted,
        [
            "the exploration by counted warps (docs/encodings.md), for the time of one \
             configuration",
            "the list of the valid configurations",
            "the exploration by counted warps (docs/encodings.md), for the schedules of 1 \
             configurations",
            "bounds of what groups ask for (docs/encodings.md), for 1 configurations"
        ]
    );
}

#[test]
fn another_time_is_rejected() {
    for rounds in [1, 3] {
        let problem = loads(rounds, &json!([12]));
        let (time, _) = checked(&problem, None).expect("it holds");
        for wrong in [time - 1, time + 1] {
            let why = checked(&problem, Some(wrong)).expect_err("another time").to_string();
            assert!(why.contains(&format!("{wrong} ticks are claimed")), "{why}");
            assert!(why.contains(&format!("takes {time} with the configuration")), "{why}");
        }
    }
}

#[test]
fn a_faster_configuration_is_found() {
    // 12 groups are claimed to be the best choice, and 10 take less.
    let why =
        checked(&loads(3, &json!([12, 10])), None).expect_err("10 groups are faster").to_string();
    assert!(why.contains("GROUPS=10 takes"), "{why}");
}
