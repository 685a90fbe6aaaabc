//! Unrolling a transition system into one without states.
//!
//! The result is a [`System`] again, so that what is built twice is one node and constants fold.

use tickbound_encodings::system::evaluate::{Algebra, SystemValues, evaluate};
use tickbound_encodings::system::{
    Bool, ChoiceId, Int, InternalError, System, SystemBuilder, TableId,
};

/// Why a system cannot be unrolled.
#[derive(Debug)]
pub(super) enum Unflat {
    /// It takes more nodes than it may; how many there were.
    TooLarge(usize),
    /// The system is not one.
    Fault(InternalError),
}

impl From<InternalError> for Unflat {
    fn from(fault: InternalError) -> Self {
        Unflat::Fault(fault)
    }
}

/// `system` after `steps` steps, as values of the parameters alone: its goal and cost at the end,
/// for the configurations with the indices `kept`. The system has no choices.
///
/// # Errors
/// More than `limit` nodes, or a system that is not one.
pub(super) fn flatten(
    system: &System,
    steps: usize,
    kept: &[usize],
    limit: usize,
) -> Result<System, Unflat> {
    let kept: Vec<Vec<u32>> = kept.iter().map(|c| system.configurations[*c].clone()).collect();
    let build = SystemBuilder::new(system.parameters.clone(), kept.clone());
    let table = |table: &tickbound_encodings::system::SystemTable| {
        let values: Vec<Option<i64>> = kept.iter().map(|c| table.value(c)).collect();
        build.table(&table.name, &values)
    };
    let mut terms = Terms { build: &build, tables: system.tables.iter().map(table).collect() };
    let live = system.live();
    let mut values = SystemValues::none(system);
    evaluate(system, &system.first(), &[], &mut terms, &mut values)?;
    let mut states =
        system.states.iter().map(|s| values.get(s.init).copied()).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..steps {
        evaluate(system, &live, &states, &mut terms, &mut values)?;
        for (state, value) in system.states.iter().zip(&mut states) {
            *value = *values.get(state.next)?;
        }
        if build.size() > limit {
            return Err(Unflat::TooLarge(build.size()));
        }
    }
    evaluate(system, &live, &states, &mut terms, &mut values)?;
    let (goal, cost) = (*values.bool(system.goal)?, *values.int(system.cost)?);
    Ok(build.finish(goal, cost, build.bool(true))?)
}

/// Expressions of another system.
struct Terms<'b> {
    build: &'b SystemBuilder,
    tables: Vec<Int<'b>>,
}

impl<'b> Algebra for Terms<'b> {
    type Int = Int<'b>;
    type Bool = Bool<'b>;
    type Error = InternalError;

    fn int(&mut self, value: i64) -> Int<'b> {
        self.build.int(value)
    }

    fn bool(&mut self, value: bool) -> Bool<'b> {
        self.build.bool(value)
    }

    fn unread(&mut self) -> Int<'b> {
        self.build.unread()
    }

    fn table(&mut self, table: TableId) -> Result<Int<'b>, InternalError> {
        Ok(self.tables[table.index()])
    }

    fn choice(&mut self, _: ChoiceId) -> Result<Bool<'b>, InternalError> {
        Err(InternalError("a system with choices".into()))
    }

    fn add(&mut self, a: &Int<'b>, b: &Int<'b>) -> Result<Int<'b>, InternalError> {
        Ok(*a + *b)
    }

    fn mul(&mut self, a: &Int<'b>, b: &Int<'b>) -> Result<Int<'b>, InternalError> {
        Ok(*a * *b)
    }

    fn max(&mut self, a: &Int<'b>, b: &Int<'b>) -> Int<'b> {
        a.max(*b)
    }

    fn equal(&mut self, a: &Int<'b>, b: &Int<'b>) -> Bool<'b> {
        a.equals(*b)
    }

    fn at_most(&mut self, a: &Int<'b>, b: &Int<'b>) -> Bool<'b> {
        a.at_most(*b)
    }

    fn not(&mut self, a: &Bool<'b>) -> Bool<'b> {
        !*a
    }

    fn junction(
        &mut self,
        items: impl Iterator<Item = Result<Bool<'b>, InternalError>>,
        conjunction: bool,
    ) -> Result<Bool<'b>, InternalError> {
        Ok(self.build.junction(items.collect::<Result<Vec<_>, _>>()?, conjunction))
    }

    fn ite_int(&mut self, c: &Bool<'b>, a: &Int<'b>, b: &Int<'b>) -> Int<'b> {
        c.ite(*a, *b)
    }

    fn ite_bool(&mut self, c: &Bool<'b>, a: &Bool<'b>, b: &Bool<'b>) -> Bool<'b> {
        c.ite(*a, *b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tickbound_encodings::system::run::run;
    use tickbound_encodings::system::{SystemNode, SystemParameter};

    /// Counts to `n` in steps of 1, three ticks each.
    fn counter() -> System {
        let n = SystemParameter { name: "n".into(), values: vec![3, 5] };
        let b = SystemBuilder::new(vec![n], vec![vec![0], vec![1]]);
        let (i, t) = (b.state::<Int>("i"), b.state::<Int>("t"));
        let done = i.now().equals(b.table("n", &[Some(3), Some(5)]));
        i.define(b.int(0), done.ite(i.now(), i.now() + b.int(1)));
        t.define(b.int(0), done.ite(t.now(), t.now() + b.int(3)));
        b.finish(done, t.now(), b.bool(true)).unwrap()
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
        let flat = flatten(&counter(), 3, &[0], 1000).unwrap();
        assert_eq!(flat.configurations, [[0]]);
        // With one configuration everything is known.
        assert_eq!(flat.node(flat.goal), &SystemNode::Bool(true));
        assert_eq!(flat.node(flat.cost), &SystemNode::Int(9));
    }

    #[test]
    fn a_limit_on_nodes() {
        assert!(matches!(flatten(&counter(), 5, &[0, 1], 3), Err(Unflat::TooLarge(4..))));
    }
}
