//! Certificates of random problems under the profile `resources`.

use tickbound_certificate::branch::branch;
use tickbound_certificate::branches::{self, Branches};
use tickbound_certificate::inequalities;
use tickbound_certificate::prove::prove;
use tickbound_timing::obligation::Obligation;

use crate::{least, never, random_chains, read};

#[test]
fn the_least_time_and_no_tick_more() {
    let (mut proved, mut boxes, mut rows) = (0, 0, 0);
    for seed in 2000..2100 {
        let problem = read(&random_chains::problem(seed));
        let obligation = Obligation::new(&problem).unwrap();
        let Some((_, time)) = least(&problem) else {
            // A fault of the problem leaves its box open, whatever is claimed.
            let empty = problem.space().is_ok_and(|space| space.bound.is_empty());
            assert!(empty || branch(&obligation, 0, &never).is_err(), "seed {seed}");
            continue;
        };
        let tree = branch(&obligation, time, &never).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let check = |tree: &Branches, time| branches::check(&obligation, tree, time, &never);
        check(&tree, time).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(check(&tree, time + 1).is_err(), "seed {seed}");
        assert!(branch(&obligation, time + 1, &never).is_err(), "seed {seed}");
        // A part of the tree alone, a leaf in place of a cut, a leaf too many.
        let last = tree.boxes.len() - 1;
        let mut shorter = tree.clone();
        shorter.boxes.truncate(last);
        let mut longer = tree.clone();
        longer.boxes.push(None);
        assert!(check(&shorter, time).is_err() && check(&longer, time).is_err(), "seed {seed}");
        if let Some(cut) = tree.boxes.iter().position(Option::is_some) {
            let mut uncut = tree.clone();
            uncut.boxes[cut] = None;
            assert!(check(&uncut, time).is_err(), "seed {seed}");
        }
        let proof = prove(&obligation, true, 1 << 16, &never).unwrap();
        let checked = inequalities::check(&obligation, &proof, time, &never).unwrap();
        assert!(inequalities::check(&obligation, &proof, time + 1, &never).is_err(), "seed {seed}");
        (proved, boxes, rows) = (proved + 1, boxes + tree.boxes.len(), rows + checked.inequalities);
    }
    assert_eq!((proved, boxes, rows), (99, 2955, 125_507));
}
