//! Parts that always step together, as one.
//!
//! Parts of one state and one step that fires all their names, such as synchronous channels and
//! drains, fire together if they share a name. As one part they cost one look a state, and whether
//! their names can fire needs not be passed on from one to the next.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::automaton::{Automaton, AutomatonBuilder};
use crate::constraint::DataConstraint;
use crate::product::regions::groups;
use crate::symbol::NameId;

/// The parts, with one instead of those that always step together, at the place of the first.
pub(super) fn joined<'a>(parts: &[&'a Automaton]) -> Vec<Cow<'a, Automaton>> {
    let single = |at: usize| parts[at..=at].iter().filter(|part| is_single(part));
    let names = |at| single(at).flat_map(|part| part.alphabet()).map(|name| name.0).collect();
    let one = |group: Vec<usize>| match group[..] {
        [at] => Cow::Borrowed(parts[at]),
        _ => Cow::Owned(one_step(group.iter().map(|at| parts[*at]))),
    };
    groups(parts.len(), names).into_iter().map(one).collect()
}

/// Whether a part has one state and one step, which fires all its names.
fn is_single(part: &Automaton) -> bool {
    let all = |fires: usize| fires == part.alphabet().len() && fires > 0;
    part.states() == 1
        && part.initial().len() == 1
        && part.transitions() == 1
        && part.steps(0).all(|step| all(part.fires(&step).count()))
}

/// The product of such parts that are joined by names.
fn one_step<'a>(parts: impl Iterator<Item = &'a Automaton> + Clone) -> Automaton {
    let names: BTreeSet<NameId> = parts.clone().flat_map(Automaton::alphabet).copied().collect();
    let names: Vec<NameId> = names.into_iter().collect();
    let all = parts.clone().flat_map(|part| part.steps(0).map(|step| part.constraint(&step)));
    let constraint = all.fold(DataConstraint::default(), |all, one| all.and(one));
    let mut builder = AutomatonBuilder::over(names.iter().copied(), 1, vec![0]);
    builder.contents(parts.flat_map(|part| part.contents()).copied());
    builder.step(0, &names, constraint, 0);
    builder.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::{async_drain, fifo1, merger, sync, sync_drain};
    use crate::symbol::Symbols;

    #[test]
    fn what_fires_together_is_one_part() {
        let mut symbols = Symbols::new();
        let [a, b, c, d, e, f, g] = ["a", "b", "c", "d", "e", "f", "g"].map(|w| symbols.name(w));
        let cell = symbols.cell("m");
        let buffer = fifo1(d, e, cell, crate::primitive::BufferContent::Empty);
        let all = [
            sync(a, b),
            buffer,
            sync_drain(e, f),
            sync(b, c),
            merger(&[c, d], g),
            async_drain(a, g),
            sync_drain(c, e),
        ];
        let parts: Vec<&Automaton> = all.iter().collect();
        let joined = joined(&parts);
        let names: Vec<&[NameId]> = joined.iter().map(|part| part.alphabet()).collect();
        assert_eq!(names, [&[a, b, c, e, f][..], &[d, e], &[c, d, g], &[a, g]]);
        let steps: Vec<usize> = joined.iter().map(|part| part.transitions()).collect();
        assert_eq!(steps, [1, 2, 2, 2]);
        assert_eq!(joined[0].text(&symbols), "0 {a, b, c, e, f} a = b & b = c -> 0\n");
    }
}
