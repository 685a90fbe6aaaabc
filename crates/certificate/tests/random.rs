//! The obligation against the simulator: 1,000 random problems.

use crate::check;
use serde_json::Value;
use tickbound_certificate::branch::branch;
use tickbound_certificate::branches;
use tickbound_simulator::{SimulateOptions, simulate};
use tickbound_timing::obligation::Obligation;

use crate::{certificate, least, marked, never, problems, read};

#[test]
fn written_and_checked() {
    let (mut by, mut at_fault) = ([0; 4], 0);
    for seed in 0..1000 {
        let problem = read(&problems::problem(seed));
        let Some((configuration, time)) = least(&problem) else {
            // What has no time in some configuration is not proved anything of.
            let some = problem.space().ok().and_then(|s| s.bound.first().cloned());
            if let Some(first) = some {
                let wrong = certificate(&problem, &first.configuration, 0);
                let checked = wrong.and_then(|c| check(&c, None, &never));
                assert!(checked.is_err(), "seed {seed}: a problem at fault is proved");
            }
            at_fault += 1;
            continue;
        };
        let written = certificate(&problem, &configuration, time);
        let written = written.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        check(&written, None, &never).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        by[written.claim.proof as usize] += 1;
        // One tick more or less is not true of it.
        for wrong in [time - 1, time + 1] {
            let checked =
                certificate(&problem, &configuration, wrong).and_then(|c| check(&c, None, &never));
            assert!(checked.is_err(), "seed {seed}: {wrong} for {time} is proved");
        }
    }
    // By inequalities, branch and bound, labels, simulation; the others are at fault, or have no
    // configuration.
    assert_eq!((by, at_fault), ([706, 0, 0, 63], 231));
}

/// The time as a sum is what the simulator takes, in every configuration; returns in how many of
/// how many problems.
fn the_sum(problems: impl Iterator<Item = (u64, Value)>) -> (usize, usize) {
    let (mut covered, mut compared) = (0, 0);
    for (seed, value) in problems {
        let problem = read(&value);
        let Ok(obligation) = Obligation::new(&problem) else { continue };
        let Ok(space) = problem.space() else { continue };
        covered += 1;
        for bound in &space.bound {
            let run = simulate(&problem, bound, &SimulateOptions::default());
            match (run, obligation.time.value(&bound.env)) {
                (Ok(run), Ok(sum)) => {
                    assert_eq!(sum, i128::from(run.time), "seed {seed}: {:?}", bound.configuration);
                    compared += 1;
                }
                (Err(_), Err(_)) => {}
                (run, sum) => panic!("seed {seed}: {:?}: {run:?} {sum:?}", bound.configuration),
            }
        }
    }
    (covered, compared)
}

#[test]
fn the_sum_of_random_problems() {
    let problems = (1000..2000).map(|seed| (seed, problems::problem(seed)));
    assert_eq!(the_sum(problems), (835, 28_348));
}

#[test]
fn the_sum_of_marked_programs() {
    let problems = (0..2000).map(|seed| (seed, marked::problem(seed)));
    assert_eq!(the_sum(problems), (1635, 26_160));
}

/// Branch and bound proves the least time of every problem that has a sum, and of none a tick more.
#[test]
fn branches_of_random_problems() {
    let (mut trees, mut boxes) = (0, 0);
    let all = (0..500).map(problems::problem).chain((0..300).map(marked::problem));
    for (number, value) in all.enumerate() {
        let problem = read(&value);
        let Some((_, time)) = least(&problem) else { continue };
        let Ok(obligation) = Obligation::new(&problem) else { continue };
        let tree = branch(&obligation, time, &never).unwrap_or_else(|e| panic!("{number}: {e}"));
        branches::check(&obligation, &tree, time, &never)
            .unwrap_or_else(|e| panic!("{number}: {e}"));
        assert!(branch(&obligation, time + 1, &never).is_err(), "{number}");
        let wrong = branches::check(&obligation, &tree, time + 1, &never);
        assert!(wrong.is_err(), "{number}");
        trees += 1;
        boxes += tree.boxes.len();
    }
    assert_eq!((trees, boxes), (596, 16_292));
}

/// Marked programs, certified and checked: those with a sum by inequalities.
#[test]
fn marked_programs() {
    let mut by = [0; 4];
    for seed in 0..500 {
        let problem = read(&marked::problem(seed));
        let Some((configuration, time)) = least(&problem) else { continue };
        let written = certificate(&problem, &configuration, time);
        let written = written.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        check(&written, None, &never).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        by[written.claim.proof as usize] += 1;
        let wrong = certificate(&problem, &configuration, time + 1);
        assert!(wrong.and_then(|c| check(&c, None, &never)).is_err(), "seed {seed}");
    }
    assert_eq!(by, [406, 0, 0, 69]);
}
