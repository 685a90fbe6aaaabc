//! What is needed of the contents of arrays, by the iterations that have stored them.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::IndexSet;

use super::super::symbolic::{Leaf, Poly};
use super::formula::{Formula, FormulaId};
use super::iterations::Part;
use super::needed::Search;
use super::offsets::{apart_inside, matched, moves_evenly, steps, unit};
use super::table::MAX_VISITED;
use super::ways::{Guard, SOME_ITEM, StoredValue, Way, number};

impl Search<'_> {
    /// What an array holds in which something is stored.
    pub(super) fn stored(
        &mut self,
        (before, at, value): (FormulaId, &Poly, FormulaId),
        part: Part,
        way: Way,
    ) {
        let Part::Element(offset, lane) = part else {
            if part == Part::Whole {
                self.want(value, Part::Whole, way);
            }
            return;
        };
        let inside = lane.map_or(Part::Whole, Part::Component);
        if let Some(way) = self.same_place(at, &offset, way.clone()) {
            self.want(value, inside, way);
        } else if apart_inside(self.terms, at, &offset) {
            self.want(before, Part::Element(offset, lane), way);
        }
    }

    /// The iterations that store at `at` and are needed, if what stands at `offset` is.
    pub(super) fn same_place(&mut self, at: &Poly, offset: &Poly, way: Way) -> Option<Way> {
        let counters = self.terms.leaves(at);
        if at == offset {
            let left: Vec<Leaf> =
                counters.into_iter().filter(|leaf| way.left.contains(leaf)).collect();
            return Some(left.into_iter().fold(way, |way, leaf| way.moved(leaf, Some(leaf))));
        }
        let others = self.terms.leaves(offset);
        let own: Vec<Leaf> = counters.into_iter().filter(|leaf| !others.contains(leaf)).collect();
        let by = matched(self.terms, &own, at, offset)?;
        let mut way = way;
        for leaf in own {
            let value = self.terms.atom_of(leaf).and_then(|atom| by.get(&atom));
            let other = value.and_then(|value| self.counter(value, leaf));
            way = self.moved(way, leaf, other);
        }
        Some(way)
    }

    /// A way where as many iterations of `of` are needed as of `other`, which guards mention.
    pub(super) fn moved(&mut self, way: Way, of: Leaf, other: Option<Leaf>) -> Way {
        let mut way = way.moved(of, other);
        let atoms =
            other.and_then(|other| Some((self.terms.atom_of(other)?, self.terms.atom_of(of)?)));
        let Some((from, to)) = atoms.filter(|(from, to)| from != to) else { return way };
        let by = HashMap::from([(from, Poly::atom(to))]);
        let path = std::mem::take(&mut way.path);
        for guard in path {
            let moved = match self.guards.get_index((guard & !SOME_ITEM) as usize) {
                Some((Guard::Side(holds), branch)) if self.terms.has(holds, from) => {
                    Some((Guard::Side(self.terms.substitute(holds, &by)), *branch))
                }
                _ => None,
            };
            let own = moved.map(|(moved, branch)| {
                // A guard with another counter is not a side of the original branch.
                let branch = self.branches.insert_full((branch, of)).0;
                let branch = u32::MAX - u32::try_from(branch).unwrap_or(0);
                number(&mut self.guards, moved, branch)
            });
            way.path.insert(own.map_or(guard, |own| own | guard & SOME_ITEM));
        }
        way
    }

    /// The counter that a number is, if it has as many values as another one.
    pub(super) fn counter(&self, number: &Poly, other: Leaf) -> Option<Leaf> {
        let (atom, other) = (number.as_atom()?, self.terms.atom_of(other)?);
        let (own, others) = (self.terms.info(atom), self.terms.info(other));
        let leaf = own.leaves.first().copied()?;
        let same = !own.uppers.is_empty() && own.uppers == others.uppers;
        (same && self.terms.atom_of(leaf) == Some(atom)).then_some(leaf)
    }

    /// What a variable holds as an iteration begins: from before the loop, or the one before.
    pub(super) fn carried(&mut self, id: FormulaId, part: Part, way: Way) {
        let Formula::Carried(leaf, variable, start) = self.formulas.get(id).clone() else { return };
        let Some(end) = self.formulas.end_of(leaf, variable) else { return };
        // What each iteration finds at another place was there before the loop.
        if let Part::Element(offset, _) = &part
            && self.terms.mentions(offset, leaf)
        {
            if moves_evenly(self.terms, offset, leaf) {
                self.want(start, part, way);
            }
            return;
        }
        let before = (part.clone(), way.clone());
        let (part, way) = match part {
            // By the counters with which it was stored.
            Part::Element(offset, lane) => {
                let Some((at, way)) = self.stored_at(end, &offset, &way, &mut (MAX_VISITED / 16))
                else {
                    if !before.1.once.contains(&leaf) {
                        self.want(start, before.0, before.1);
                    }
                    return;
                };
                (Part::Element(at, lane), way)
            }
            part => (part, way),
        };
        // At another place in each iteration nothing is made of what was there: one of them, or
        // those that the offset gives, have stored it.
        let moves = matches!(&part, Part::Element(at, _) if self.terms.mentions(at, leaf));
        let given = moves && before.1.last.contains(&(leaf, end)) && !way.once.contains(&leaf);
        let all = !moves && self.formulas.advances(self.terms, id, leaf, (&part, true));
        if all || !way.once.contains(&leaf) {
            self.want(start, before.0, before.1);
        }
        let mut way = way;
        match all {
            true => drop(way.once.remove(&leaf)),
            false if given => {}
            false => way = way.moved(leaf, None),
        }
        if moves && !given || !way.last.contains(&(leaf, end)) {
            way.short.insert(leaf);
        }
        way.left.remove(&leaf);
        self.want(end, part, way);
    }

    /// The offset with which something was stored last, if that is found in `left` steps.
    pub(super) fn stored_at(
        &mut self,
        end: FormulaId,
        offset: &Poly,
        way: &Way,
        left: &mut usize,
    ) -> Option<(Poly, Way)> {
        *left = left.checked_sub(1)?;
        match self.formulas.get(end).clone() {
            Formula::After(_, base) => self.stored_at(base, offset, way, left),
            Formula::Carried(_, _, start) => self.stored_at(start, offset, way, left),
            Formula::Either(sides) => match self.formulas.common(sides) {
                Some((_, whole)) => self.stored_at(whole, offset, way, left),
                None => {
                    let [a, b] = sides.map(|(_, side)| self.stored_at(side, offset, way, left));
                    a.zip(b).filter(|(a, b)| a.0 == b.0).map(|(a, _)| a)
                }
            },
            Formula::Stored(before, at, _) => match self.same_place(&at, offset, way.clone()) {
                _ if at == *offset => Some((at, way.clone())),
                Some(way) => Some((at, way)),
                None if apart_inside(self.terms, &at, offset) => {
                    self.stored_at(before, offset, way, left)
                }
                None => None,
            },
            _ => None,
        }
    }

    /// Where something was stored in an array, by the counters of then.
    pub(super) fn stored_offsets(&self, array: FormulaId) -> IndexSet<Poly> {
        let (mut seen, mut left, mut found) = (HashSet::new(), vec![array], IndexSet::new());
        while let Some(id) = left.pop() {
            if seen.len() >= MAX_VISITED || !seen.insert(id) {
                continue;
            }
            match self.formulas.get(id) {
                Formula::After(_, base) => left.push(*base),
                Formula::Carried(leaf, variable, start) => {
                    left.push(*start);
                    left.extend(self.formulas.end_of(*leaf, *variable));
                }
                Formula::Either(sides) => left.extend(sides.iter().map(|(_, side)| *side)),
                Formula::Stored(before, at, _) => {
                    left.push(*before);
                    found.insert(at.clone());
                }
                _ => {}
            }
        }
        found
    }

    /// The loops around a store, but for those in `around`, whose iterations may store to one
    /// place, by what is constant: the last one remains.
    pub(super) fn still(&mut self, store: &StoredValue, around: &[Leaf]) -> BTreeSet<Leaf> {
        let mut moves: Vec<(Poly, i128, i128)> = Vec::new();
        let mut still = BTreeSet::new();
        for leaf in store.loops.iter().filter(|leaf| !around.contains(leaf)) {
            let Some(atom) = self.terms.atom_of(*leaf) else { continue };
            if self.terms.interval(&Poly::atom(atom)).greatest < 1 {
                continue;
            }
            let mut steps = steps(self.terms, &store.offset, atom).unwrap_or_default();
            steps.retain(|(_, last)| *last > 0);
            let mut own = Vec::new();
            for (factor, last) in &steps {
                let (unit, size) = unit(factor);
                let span = if *last > 1 << 16 { 0 } else { size * *last };
                let apart = |(other, other_size, other_span): &(Poly, i128, i128)| {
                    *other != unit
                        || *other_size < size && *other_span < size
                        || size < *other_size && span < *other_size
                };
                let apart = size > 0 && moves.iter().chain(&own).all(apart);
                own.extend(apart.then_some((unit, size, span)));
            }
            match own.len() == steps.len() && !own.is_empty() {
                true => moves.extend(own),
                false => drop(still.insert(*leaf)),
            }
        }
        still
    }
}
