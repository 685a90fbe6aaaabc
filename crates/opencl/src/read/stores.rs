//! Formulas of what variables and memory hold: what stores, branches and loops leave there.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Reader;
use super::access::only;
use super::formulas::{self, Covered, Formula, FormulaId, Guard, StoredValue};
use super::probe::{Change, Probe};
use super::symbolic::{Atom, AtomKind, Leaf, Poly};
use super::types::{parts, scalar_bytes};
use super::value::{ReadState, ReadValue, VariableIds};
use crate::ast::{AddressSpace, Type, VariableId};

/// How what is accessed lies in the parts that a private variable is made of.
enum Fit {
    /// It is one of them.
    Part,
    /// A component of a vector at an offset.
    Lane { vector: Poly, lane: u8 },
    /// All of its components, each in an iteration of a loop.
    Lanes { vector: Poly, counter: Leaf },
    /// It is not known to be inside one.
    Across,
}

impl Reader<'_> {
    /// Notes what is stored in memory that is not private: all that decides what stands there
    /// afterwards. `overwrites`: that is not what stood there before.
    pub fn store_formula(
        &mut self,
        (space, array, offset): (AddressSpace, &Rc<str>, &Poly),
        mut values: Vec<FormulaId>,
        overwrites: bool,
    ) {
        if self.probing > 0 {
            return;
        }
        let local = space == AddressSpace::Local;
        if let (true, [value]) = (local && overwrites, values.as_slice()) {
            self.formulas.stores.push((array.clone(), *value, self.iterations.clone()));
        }
        let leaves = self.terms.leaves(offset).into_iter();
        values.extend(leaves.filter_map(|leaf| self.formulas.loaded.get(&leaf)));
        let stored = StoredValue {
            array: array.clone(),
            offset: offset.clone(),
            values,
            // An operation on what stood there is needed in each iteration.
            loops: if overwrites { self.iterations.clone() } else { Vec::new() },
            path: self.path.clone(),
            barriers: self.barriers,
        };
        // What is stored only as data decide needs what decides it.
        if let Some((decides, loops, guards)) = self.deciding {
            let mut whether = stored.clone();
            whether.values = vec![decides];
            whether.loops.truncate(loops);
            whether.path.truncate(guards);
            self.formulas.keep(&self.terms, whether, local, true, false);
        }
        self.formulas.keep(&self.terms, stored, local, self.deciding.is_none(), overwrites);
    }

    /// Variables with another formula on the other side of a branch, each with one for both.
    pub fn differing(
        &mut self,
        condition: &Poly,
        then: &ReadState,
    ) -> Vec<(VariableId, FormulaId)> {
        if self.probing > 0 {
            return Vec::new();
        }
        let (then, own) = (formulas_in(then), formulas_in(&self.state));
        let pairs = then.into_iter().filter_map(|(id, a)| Some((id, a, *own.get(&id)?)));
        let differ = pairs.filter(|(_, a, b)| a != b).collect::<Vec<_>>();
        differ.into_iter().map(|(id, a, b)| (id, self.chosen(condition, a, b))).collect()
    }

    /// What these private variables hold, if it is one.
    pub fn contents_formula(&mut self, ids: &VariableIds) -> FormulaId {
        let value = only(ids).and_then(|id| self.state.values.get(id)).cloned();
        value.map_or(FormulaId::UNKNOWN, |value| self.formula_of(&value))
    }

    /// What stands at an offset in one of these.
    pub fn part_formula(&mut self, ids: &VariableIds, offset: &Poly, ty: &Type) -> FormulaId {
        let whole = self.contents_formula(ids);
        match self.fit(ids, offset, ty) {
            Fit::Part => {
                let part = self.formulas.element(&mut self.terms, whole, offset);
                if self.probing == 0
                    && let Some(covered) = self.covers((ids, whole), offset, ty)
                {
                    self.formulas.covering.insert(part, covered);
                }
                part
            }
            Fit::Lane { vector, lane } => {
                let vector = self.vector_in(ids, whole, &vector);
                self.formulas.component(vector, lane)
            }
            Fit::Lanes { vector, counter } if self.probing == 0 => {
                let vector = self.vector_in(ids, whole, &vector);
                if self.formulas.may_be_constant(vector) {
                    return FormulaId::CONSTANT;
                }
                let part = self.formulas.add(Formula::Element(whole, offset.clone()));
                self.formulas.covering.insert(part, (Covered::Vector(vector), vec![counter]));
                part
            }
            Fit::Lanes { .. } | Fit::Across => FormulaId::UNKNOWN,
        }
    }

    /// A vector at an offset in one of these, which may be that vector.
    fn vector_in(&mut self, ids: &VariableIds, whole: FormulaId, offset: &Poly) -> FormulaId {
        match ids.first().and_then(|id| self.type_of(*id)) {
            Some(Type::Vector(..)) => whole,
            _ => self.formulas.element(&mut self.terms, whole, offset),
        }
    }

    /// How what is accessed lies in the parts of these variables.
    fn fit(&mut self, ids: &VariableIds, offset: &Poly, ty: &Type) -> Fit {
        let mut part = ids.first().and_then(|id| self.type_of(*id));
        while let Some(Type::Array(element, _)) = part {
            part = Some(element);
        }
        let (bytes, width) = match part {
            Some(Type::Scalar(scalar)) => (scalar_bytes(*scalar), 1),
            Some(Type::Vector(scalar, width)) => (scalar_bytes(*scalar), *width),
            _ => return Fit::Part,
        };
        match parts(ty) {
            own if own == (bytes, width) => Fit::Part,
            own if own == (bytes, 1) => self.fit_lane(offset, bytes, width).unwrap_or(Fit::Across),
            _ => Fit::Across,
        }
    }

    /// A component of a vector at an offset, whose number is constant or a counter.
    fn fit_lane(&mut self, offset: &Poly, bytes: u8, width: u8) -> Option<Fit> {
        let component = i64::from(bytes);
        let size = component * i64::from(if width == 3 { 4 } else { width });
        let counter = self.terms.leaves(offset).into_iter().find_map(|leaf| {
            let atom = self.terms.atom_of(leaf)?;
            let (factor, rest) = self.terms.linear(offset, atom)?;
            let last = self.terms.last_iteration(leaf)?;
            let all = last == Poly::int(i64::from(width) - 1);
            (factor == Poly::int(component) && all).then_some((leaf, rest))
        });
        let rest = counter.as_ref().map_or(offset, |(_, rest)| rest);
        let inside = rest.constant_term().rem_euclid(size);
        let vector = rest.sub(&Poly::int(inside))?;
        if vector.content() % size != 0 || inside % component != 0 {
            return None;
        }
        match counter {
            Some((counter, _)) => (inside == 0).then_some(Fit::Lanes { vector, counter }),
            None => Some(Fit::Lane { vector, lane: u8::try_from(inside / component).ok()? }),
        }
    }

    /// Which parts of this type of a variable loops around have at an offset, and these loops.
    fn covers(
        &mut self,
        (ids, whole): (&VariableIds, FormulaId),
        offset: &Poly,
        ty: &Type,
    ) -> Option<(Covered, Vec<Leaf>)> {
        let array = self.type_of(*ids.first()?)?.clone();
        let (size, part) = (self.bytes(&array).ok()?, self.bytes(ty).ok()?);
        let counters = self.terms.leaves(offset);
        let factors = counters.iter().map(|leaf| {
            let atom = self.terms.atom_of(*leaf)?;
            Some((atom, *leaf, self.terms.linear(offset, atom)?.0))
        });
        let mut left: Vec<(Atom, Leaf, Poly)> = factors.collect::<Option<_>>()?;
        // Where no loop moves it, each part is one of as many as there are.
        let moves = left.iter().map(|(.., factor)| factor);
        let moves = if left.is_empty() { vec![&size] } else { moves.collect() };
        let least = moves.into_iter().filter_map(|factor| self.terms.only_value(factor)).min();
        let least = least.and_then(|least| i64::try_from(least).ok());
        let stride = least.zip(part.constant()).map_or(1, |(least, part)| least / part.max(1));
        let stride = stride.max(1);
        let (mut step, mut rest) = (part.scale(stride)?, offset.clone());
        let mut holds = Poly::int(1);
        while !left.is_empty() {
            let next = left.iter().position(|(.., factor)| *factor == step);
            let (atom, leaf, factor) = left.remove(next.or((left.len() == 1).then_some(0))?);
            let fits = self.terms.equal(&factor, &step);
            holds = self.terms.and(&holds, &fits);
            let iterations = self.terms.last_iteration(leaf)?.add(&Poly::int(1))?;
            rest = rest.sub(&self.terms.mul(&factor, &Poly::atom(atom)))?;
            step = self.terms.mul(&factor, &iterations);
        }
        let fits = self.terms.equal(&step, &size);
        holds = self.terms.and(&holds, &fits);
        holds = self.terms.with_only_values(&holds);
        let first = match rest.constant()? {
            0 => 0,
            bytes => bytes.checked_div(part.constant()?)?,
        };
        if holds == Poly::int(0) || part.scale(first)? != rest || !(0..stride).contains(&first) {
            return None;
        }
        let guard = (holds != Poly::int(1)).then(|| {
            self.forks += 1;
            formulas::number(&mut self.formulas.guards, Guard::Side(holds), self.forks)
        });
        Some((Covered::Array { array: whole, stride, first, guard }, counters))
    }

    /// Notes that something of a type stands at an offset in one of these.
    pub fn set_part_formula(
        &mut self,
        ids: &VariableIds,
        before: FormulaId,
        (offset, ty): (&Poly, &Type),
        formula: FormulaId,
    ) {
        let Some(id) = only(ids).filter(|_| self.probing == 0) else { return };
        let stored = match self.fit(ids, offset, ty) {
            Fit::Part => Formula::Stored(before, offset.clone(), formula),
            Fit::Lane { vector, lane } => {
                let own = self.vector_in(ids, before, &vector);
                let changed = Formula::WithComponent(own, lane, formula);
                match self.type_of(*id) {
                    Some(Type::Vector(..)) => changed,
                    _ => Formula::Stored(before, vector, self.formulas.add(changed)),
                }
            }
            Fit::Lanes { .. } | Fit::Across => Formula::Unknown,
        };
        let stored = self.formulas.add(stored);
        self.set_formula(*id, stored);
    }

    pub fn set_formula(&mut self, id: VariableId, formula: FormulaId) {
        match self.state.values.get_mut(&id) {
            Some(ReadValue::Other(_, own)) => *own = formula,
            // One of which nothing is known.
            Some(ReadValue::Int(number)) if self.probing == 0 => {
                if let Some(AtomKind::Leaf(leaf)) = self.terms.kind_of(number)
                    && !self.iterations.contains(leaf)
                {
                    self.formulas.loaded.entry(*leaf).or_insert(formula);
                }
            }
            _ => {}
        }
    }

    /// Notes what the variables hold at the end of an iteration.
    pub fn end_iteration(&mut self, probe: &Probe, iteration: Leaf) {
        if self.probing > 0 {
            return;
        }
        let mut ends = formulas_in(&self.state);
        for id in somehow(probe) {
            if let Some(number) = self.state.int(id).cloned() {
                ends.insert(id, self.whole_formula(&number));
            }
        }
        self.formulas.ends.insert(iteration, ends);
    }

    /// At the beginning of an iteration, what the variables carry that change in it.
    pub fn carry(&mut self, probe: &Probe, iteration: Leaf) {
        if self.probing > 0 {
            return;
        }
        for id in somehow(probe) {
            let Some(start) = probe.start.values.get(&id) else { continue };
            let start = self.formula_of(start);
            let carried = self.formulas.add(Formula::Carried(iteration, id, start));
            self.set_formula(id, carried);
        }
    }

    /// After a loop, what its last iteration made of what it changes.
    pub fn after_loop(&mut self, probe: &Probe, iteration: Leaf) {
        let may_be_empty = self.terms.may_be_empty(iteration);
        for id in somehow(probe) {
            if let Some(formula) = self.formulas.end_of(iteration, id) {
                let after = self.formulas.add(Formula::After(iteration, formula));
                if let (true, Some(start)) = (may_be_empty, probe.start.values.get(&id)) {
                    let start = self.formula_of(start);
                    let carried = self.formulas.add(Formula::Carried(iteration, id, start));
                    self.formulas.note_before(after, carried, start);
                }
                self.set_formula(id, after);
            }
        }
    }
}

/// The variables that a loop changes in another way than by a step.
fn somehow(probe: &Probe) -> Vec<VariableId> {
    let changes = probe.changes.iter();
    changes.filter(|(_, change)| !matches!(change, Change::By(_))).map(|(id, _)| *id).collect()
}

/// What the variables of a state hold whose formulas are known.
fn formulas_in(state: &ReadState) -> BTreeMap<VariableId, FormulaId> {
    let known = state.values.iter().filter_map(|(id, value)| match value {
        ReadValue::Other(_, formula) => Some((*id, *formula)),
        _ => None,
    });
    known.collect()
}
