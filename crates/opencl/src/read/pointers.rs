//! Arrays of pointers: where an element points, by its number.

use std::collections::HashMap;

use super::Reader;
use super::access::only;
use super::symbolic::{AtomKind, Leaf, Poly, WideInterval};
use super::value::{
    ElementNumber, Pointer, ReadState, ReadValue, Target, VariableIds, holds_pointers,
};
use crate::ast::VariableId;
use crate::steps::Dependence;

/// Numbers that elements may have.
const NUMBERS: WideInterval = WideInterval { least: 0, greatest: 1 << 20 };

impl Reader<'_> {
    /// An array of pointers is declared.
    pub fn declare_pointers(&mut self, id: VariableId) {
        // Elements that nothing is stored to cannot be read.
        self.state.values.remove(&id);
        if let Some(atom) = self.terms.leaf(NUMBERS, Dependence::Uniform).as_atom() {
            let newer = self.terms.next_leaf();
            self.elements.insert(id, ElementNumber { atom, newer, mixed: false });
        }
    }

    /// An element of an array of pointers takes a value. Where its number is that of an iteration,
    /// the value is a function of it.
    pub fn store_pointer(&mut self, id: VariableId, offset: &Poly, value: ReadValue) {
        let known = match self.by_element(id, offset, &value) {
            Some(known) => known,
            None if offset.constant().is_some() => value,
            None => self.blurred(id, &value),
        };
        let known = match self.state.values.get(&id).cloned() {
            Some(before) => self.pointer_to_either(&before, &known),
            None => known,
        };
        self.state.values.insert(id, known);
    }

    /// A pointer that is stored as a function of the element's number.
    fn by_element(
        &mut self,
        id: VariableId,
        offset: &Poly,
        value: &ReadValue,
    ) -> Option<ReadValue> {
        let element = *self.elements.get(&id).filter(|element| !element.mixed)?;
        let ReadValue::Pointer(pointer) = value else { return None };
        let number = self.number_of_element(offset)?;
        let first = number.constant_term();
        let turn = number.sub(&Poly::int(first))?.as_atom()?;
        if !matches!(self.terms.kind(turn), AtomKind::Leaf(_)) {
            return None;
        }
        let same = Poly::atom(element.atom).sub(&Poly::int(first))?;
        let by = HashMap::from([(turn, same)]);
        let offset = self.terms.substitute(&pointer.offset, &by);
        (!self.terms.mentions_since(&offset, element.newer)).then(|| value.with_number(offset))
    }

    /// The number of the element at an offset in bytes.
    fn number_of_element(&mut self, offset: &Poly) -> Option<Poly> {
        let number = self.terms.quotient(offset, &Poly::int(8));
        (number.scale(8)? == *offset).then_some(number)
    }

    /// What the element of an array of pointers at an offset points to, if that is known.
    pub fn pointer_in(&mut self, ids: &VariableIds, offset: &Poly) -> Option<ReadValue> {
        let id = *only(ids)?;
        let value = self.state.values.get(&id)?.clone();
        let ReadValue::Pointer(pointer) = &value else { return None };
        self.type_of(id).filter(|ty| holds_pointers(ty))?;
        let Some(element) = self.elements.get(&id).copied() else { return Some(value) };
        if !self.terms.has(&pointer.offset, element.atom) {
            return Some(value);
        }
        let Some(number) = self.number_of_element(offset).filter(|_| !element.mixed) else {
            return Some(self.blurred(id, &value));
        };
        let by = HashMap::from([(element.atom, number)]);
        Some(value.with_number(self.terms.substitute(&pointer.offset, &by)))
    }

    /// Whether all iterations are taken to store one function of the number.
    pub fn is_same_array(&self, id: VariableId) -> bool {
        self.elements.get(&id).is_some_and(|element| !element.mixed)
    }

    /// An iteration changes what was known of an array of pointers. False if nothing was.
    pub fn mix_array(&mut self, id: VariableId) -> bool {
        let known = self.elements.get_mut(&id).filter(|element| !element.mixed);
        known.map(|element| element.mixed = true).is_some()
    }

    /// The arrays of pointers that an iteration fills for the first time: with what all iterations
    /// store, or with pointers of which only the target is known.
    pub fn filled(&mut self, head: &ReadState, after: &ReadState, mark: Leaf) -> ReadState {
        let mut filled = ReadState::default();
        for (id, now) in &after.values {
            let ReadValue::Pointer(pointer) = now else { continue };
            if head.values.contains_key(id) || !self.elements.contains_key(id) {
                continue;
            }
            let unknown = pointer.offset.as_atom().is_some_and(
                |atom| matches!(self.terms.kind(atom), AtomKind::Leaf(leaf) if *leaf >= mark),
            );
            if unknown {
                filled.values.insert(*id, self.blurred(*id, now));
            } else if !self.terms.mentions_since(&pointer.offset, mark) {
                filled.values.insert(*id, now.clone());
            }
        }
        filled
    }

    /// A pointer that is one or the other; where they point to different memories nothing is known.
    pub fn pointer_to_either(&mut self, a: &ReadValue, b: &ReadValue) -> ReadValue {
        let (ReadValue::Pointer(a), ReadValue::Pointer(b)) = (a, b) else {
            return ReadValue::other(Dependence::Data);
        };
        let Some(target) = Target::either(&a.target, &b.target) else {
            return ReadValue::other(Dependence::Data);
        };
        let offset = match a.offset == b.offset {
            true => a.offset.clone(),
            false => self.terms.unknown(Dependence::Data),
        };
        ReadValue::Pointer(Pointer { target, offset })
    }
}
