//! Systems that are built by hand: tables over their least support, and runs.

use tickbound_encodings::system::run::{SystemRun, SystemRunError, run};
use tickbound_encodings::system::{Int, System, SystemBuilder, SystemParameter};

/// A system whose cost is `value` where the goal holds, for configurations 0 and 1.
fn ending_with(unread: bool) -> System {
    let b = SystemBuilder::new(
        vec![SystemParameter { name: "n".into(), values: vec![3, 5] }],
        vec![vec![0], vec![1]],
    );
    let table = b.table("t", &[Some(7), None]);
    let cost = if unread { b.table("nowhere", &[None, None]) } else { table };
    let i = b.state::<Int>("i");
    i.define(b.int(0), i.now());
    b.finish(i.now().equals(b.int(0)), cost + i.now(), b.bool(true)).unwrap()
}

#[test]
fn a_value_that_is_not_there_is_a_fault() {
    assert!(matches!(run(&ending_with(true), 0, 1), Err(SystemRunError::Fault(_))));
    let constant = ending_with(false);
    // A table of one value is that value: what nobody reads may be anything.
    assert_eq!(run(&constant, 0, 1), Ok(SystemRun { steps: 0, cost: 7 }));
}

#[test]
fn support_is_least() {
    let configurations: Vec<Vec<u32>> =
        (0..3).flat_map(|a| (0..2).flat_map(move |b| (0..2).map(move |c| vec![a, b, c]))).collect();
    let parameter = |values| SystemParameter { name: String::new(), values };
    let parameters = vec![parameter(vec![0, 1, 2]), parameter(vec![0, 1]), parameter(vec![0, 1])];
    let b = SystemBuilder::new(parameters, configurations.clone());
    let system = b.finish(b.bool(true), b.int(0), b.bool(true)).unwrap();

    let values: Vec<Option<i64>> =
        configurations.iter().map(|c| Some(i64::from(c[0] * 10 + c[2]))).collect();
    let (support, rows) = system.rows(&values);
    assert_eq!(support, vec![0, 2]);
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[&vec![2, 1]], 21);
    assert_eq!(system.rows(&[Some(7); 12]).0, Vec::<usize>::new());
    let only_b0: Vec<Option<i64>> =
        configurations.iter().map(|c| (c[1] == 0).then_some(i64::from(c[0]))).collect();
    assert_eq!(system.rows(&only_b0).0, vec![0]);
}
