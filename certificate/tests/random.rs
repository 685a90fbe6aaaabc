//! The obligation against the simulator: 1,000 random problems.

use tickbound_certificate::check::check;
use tickbound_certificate::folder::Kind;
use tickbound_certificate::obligation::Obligation;

use crate::{certificate, least, never, problems, read};

#[test]
fn written_and_checked() {
    let (mut by, mut at_fault) = ([0, 0], 0);
    for seed in 0..1000 {
        let problem = read(&problems::problem(seed));
        let Some((configuration, time)) = least(&problem) else {
            // What has no time in some configuration is not proved anything of.
            let some = problem.space().ok().and_then(|s| s.bound.first().cloned());
            if let Some(first) = some {
                let wrong = certificate(&problem, &first.configuration, 0);
                let checked = wrong.and_then(|c| check(&c, &never));
                assert!(checked.is_err(), "seed {seed}: a problem at fault is proved");
            }
            at_fault += 1;
            continue;
        };
        let written = certificate(&problem, &configuration, time);
        let written = written.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        check(&written, &never).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        by[usize::from(written.claim.proof == Kind::Inequalities)] += 1;
        // One tick more or less is not true of it.
        for wrong in [time - 1, time + 1] {
            let checked =
                certificate(&problem, &configuration, wrong).and_then(|c| check(&c, &never));
            assert!(checked.is_err(), "seed {seed}: {wrong} for {time} is proved");
        }
    }
    // By simulation, and by inequalities; the others are at fault, or have no configuration.
    assert_eq!((by, at_fault), ([306, 456], 238));
}

/// The time as a sum is what the simulator takes, in every configuration.
#[test]
fn the_sum() {
    let mut compared = 0;
    for seed in 1000..2000 {
        let problem = read(&problems::problem(seed));
        let Ok(obligation) = Obligation::new(&problem) else { continue };
        let Ok(space) = problem.space() else { continue };
        for bound in &space.bound {
            let run = tickbound_model::simulate::simulate(&problem, bound, &Default::default());
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
    assert_eq!(compared, 19_259);
}
