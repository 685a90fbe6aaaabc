//! Unrolling a transition system into one without states.
//!
//! The result is a [`System`] again, so that what is built twice is one node and constants fold.

use tickbound_encodings::system::{Ex, Node, System};

/// `system` after `steps` steps, as values of the parameters alone: its goal and cost at the end, for
/// the configurations with the indices `kept`. The system has no choices.
///
/// # Errors
/// The number of nodes, once there are more than `limit`.
pub(super) fn flatten(
    system: &System,
    steps: usize,
    kept: &[usize],
    limit: usize,
) -> Result<System, usize> {
    let kept: Vec<Vec<u32>> = kept.iter().map(|c| system.configurations[*c].clone()).collect();
    let mut flat = System::new(system.parameters.clone(), kept.clone());
    let tables: Vec<Ex> = system
        .tables
        .iter()
        .map(|table| {
            let values: Vec<Option<i64>> = kept.iter().map(|c| table.value(c)).collect();
            flat.table(&table.name, &values)
        })
        .collect();
    let live = system.live();
    let nothing = flat.int(0);
    let mut values = vec![nothing; system.nodes().len()];
    let mut states = vec![nothing; system.states.len()];
    // The first values depend on the parameters alone; what else is computed here is not read.
    evaluate(system, &live, &tables, &states, &mut values, &mut flat);
    for (state, slot) in system.states.iter().zip(&mut states) {
        *slot = values[state.init.index()];
    }
    for _ in 0..steps {
        evaluate(system, &live, &tables, &states, &mut values, &mut flat);
        for (state, slot) in system.states.iter().zip(&mut states) {
            *slot = values[state.next.index()];
        }
        if flat.nodes().len() > limit {
            return Err(flat.nodes().len());
        }
    }
    evaluate(system, &live, &tables, &states, &mut values, &mut flat);
    flat.goal = values[system.goal.index()];
    flat.cost = values[system.cost.index()];
    Ok(flat)
}

fn evaluate(
    system: &System,
    live: &[Ex],
    tables: &[Ex],
    states: &[Ex],
    values: &mut [Ex],
    flat: &mut System,
) {
    for e in live {
        let at = |e: &Ex| values[e.index()];
        let all = |items: &Vec<Ex>| items.iter().map(at).collect::<Vec<_>>();
        values[e.index()] = match system.node(*e) {
            Node::Int(v) => flat.int(*v),
            Node::Bool(v) => flat.bool(*v),
            Node::State(s) => states[s.index()],
            Node::Table(t) => tables[t.index()],
            Node::Choice(_) => flat.bool(false),
            Node::Add(a, b) => flat.add(at(a), at(b)),
            Node::Mul(a, b) => flat.mul(at(a), at(b)),
            Node::Max(a, b) => flat.max(at(a), at(b)),
            Node::Eq(a, b) => flat.eq(at(a), at(b)),
            Node::Le(a, b) => flat.le(at(a), at(b)),
            Node::Not(a) => flat.not(at(a)),
            Node::And(items) => flat.and(&all(items)),
            Node::Or(items) => flat.or(&all(items)),
            Node::Ite(c, a, b) => flat.ite(at(c), at(a), at(b)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickbound_encodings::system::run::run;
    use tickbound_encodings::system::{Parameter, Sort};

    /// Counts to `n` in steps of 1, three ticks each.
    fn counter() -> System {
        let n = Parameter { name: "n".into(), values: vec![3, 5] };
        let mut s = System::new(vec![n], vec![vec![0], vec![1]]);
        let end = s.table("n", &[Some(3), Some(5)]);
        let (i, t) = (s.state("i", Sort::Int), s.state("t", Sort::Int));
        let (zero, one, three) = (s.int(0), s.int(1), s.int(3));
        let (at, time) = (s.state_expr(i), s.state_expr(t));
        let done = s.eq(at, end);
        let (more, later) = (s.add(at, one), s.add(time, three));
        let (next, next_time) = (s.ite(done, at, more), s.ite(done, time, later));
        s.define(i, zero, next);
        s.define(t, zero, next_time);
        (s.goal, s.cost) = (done, time);
        s
    }

    #[test]
    fn the_end_is_that_of_the_run() {
        let flat = flatten(&counter(), 5, &[0, 1], 1000).unwrap();
        assert!(flat.states.is_empty());
        for (c, cost) in [(0, 9), (1, 15)] {
            let run = run(&flat, c, 0).unwrap();
            assert_eq!((run.steps, run.cost), (0, cost));
        }
        // Too few steps: the goal does not hold.
        let short = flatten(&counter(), 4, &[0, 1], 1000).unwrap();
        assert!(run(&short, 0, 0).is_ok() && run(&short, 1, 0).is_err());
    }

    #[test]
    fn what_is_left_out_is_not_there() {
        let mut flat = flatten(&counter(), 3, &[0], 1000).unwrap();
        assert_eq!(flat.configurations, [[0]]);
        // With one configuration everything is known.
        let nine = flat.int(9);
        let yes = flat.bool(true);
        assert_eq!((flat.goal, flat.cost), (yes, nine));
    }

    #[test]
    fn a_limit_on_nodes() {
        assert!(flatten(&counter(), 5, &[0, 1], 3).is_err_and(|nodes| nodes > 3));
    }
}
