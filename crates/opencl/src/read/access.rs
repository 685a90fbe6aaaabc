//! Loading from places and storing to them: where accesses are counted.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::formulas::{Formula, FormulaId};
use super::nodes::{NodeKind, Reach};
use super::places::ObjectPlace;
use super::symbolic::Poly;
use super::types::{self, Integer};
use super::value::{Pointer, ReadValue, Target, VariableIds, holds_pointers};
use super::{Read, Reader};
use crate::ast::{AddressSpace, CExpr, ExprKind, SourcePlace, Type, VariableId, members};
use crate::steps::Dependence;

impl<'a> Reader<'a> {
    /// The value of an lvalue; arrays are pointers to their first element.
    pub fn load(&mut self, place: &ObjectPlace, ty: &Type, at: &SourcePlace) -> Read<ReadValue> {
        // A parameter that is written as an array is a pointer.
        let pointer = matches!(place, ObjectPlace::Variable(id)
            if matches!(self.type_of(*id), Some(Type::Pointer(..))));
        if matches!(ty, Type::Array(..)) && !pointer {
            return Ok(self.address(place));
        }
        Ok(match place {
            ObjectPlace::Variable(id) => {
                let known = self.state.values.get(id).cloned();
                known.unwrap_or_else(|| self.unknown(ty, Dependence::Data))
            }
            ObjectPlace::Part(ids, offset) => {
                self.access_private(false, (ids, offset), ty, at);
                match self.pointer_in(ids, offset).or_else(|| self.known_part(ids, offset, ty)) {
                    Some(value) => value,
                    None => {
                        let depends = self.contents(ids);
                        let formula = self.part_formula(ids, offset, ty);
                        self.made(ty, depends, formula)
                    }
                }
            }
            ObjectPlace::Memory(space, name, offset) => {
                let formula = self.load_memory((*space, name, offset), ty, at);
                let known = self.known_constant(*space, name, ty);
                known.unwrap_or_else(|| self.made(ty, Dependence::Data, formula))
            }
            ObjectPlace::Lane(whole, vector, lane) => {
                let value = self.load(whole, vector, at)?;
                let part = Integer::of(ty).zip(lane_offset(ty, *lane));
                match part.and_then(|(integer, offset)| value.part(offset, integer)) {
                    Some(part) => ReadValue::Int(part),
                    None => {
                        let formula = self.component_formula(&value, *lane);
                        self.made(ty, value.depends(&self.terms), formula)
                    }
                }
            }
            ObjectPlace::Value(depends) => self.unknown(ty, *depends),
        })
    }

    pub fn store(
        &mut self,
        place: &ObjectPlace,
        ty: &Type,
        value: ReadValue,
        at: &SourcePlace,
    ) -> Read<()> {
        match place {
            ObjectPlace::Variable(id) => {
                self.state.values.insert(*id, value);
                if self.probing > 0 {
                    self.set_formula(*id, FormulaId::CHANGED);
                }
            }
            ObjectPlace::Part(ids, offset) => {
                self.access_private(true, (ids, offset), ty, at);
                let before = self.contents_formula(ids);
                let formula = self.formula_of(&value);
                self.store_part(ids, offset, ty, value);
                self.set_part_formula(ids, before, (offset, ty), formula);
            }
            ObjectPlace::Memory(space, name, offset) => {
                let formula = self.formula_of(&value);
                self.store_memory((*space, name, offset), ty, formula, at);
            }
            ObjectPlace::Lane(whole, vector, lane) => match &**whole {
                ObjectPlace::Variable(id) => {
                    let before = self.state.values.get(id).cloned();
                    let formula = self.with_component(before.as_ref(), *lane, &value);
                    match lane_offset(ty, *lane) {
                        Some(offset) => self.put(*id, offset, ty, &value),
                        None => self.smudge(*id, value.depends(&self.terms)),
                    }
                    self.set_formula(*id, formula);
                }
                whole => {
                    let before = self.load(whole, vector, at)?;
                    let formula = self.with_component(Some(&before), *lane, &value);
                    let value = self.with_formula(value, formula);
                    self.store(whole, vector, value, at)?;
                }
            },
            ObjectPlace::Value(_) => {}
        }
        Ok(())
    }

    /// Something in one of these private variables takes a new value.
    fn store_part(&mut self, ids: &VariableIds, offset: &Poly, ty: &Type, value: ReadValue) {
        match (only(ids), offset.constant()) {
            (Some(id), _) if self.type_of(*id).is_some_and(holds_pointers) => {
                self.store_pointer(*id, offset, value);
            }
            (Some(id), Some(at)) => self.put(*id, at, ty, &value),
            _ => {
                let depends = value.depends(&self.terms);
                ids.iter().for_each(|id| self.smudge(*id, depends));
            }
        }
    }

    /// A part of a private variable, if it is a known whole number.
    fn known_part(&self, ids: &VariableIds, offset: &Poly, ty: &Type) -> Option<ReadValue> {
        self.state
            .values
            .get(only(ids)?)?
            .part(offset.constant()?, Integer::of(ty)?)
            .map(ReadValue::Int)
    }

    /// The part of a private variable that begins at a byte takes a new value; others keep theirs.
    fn put(&mut self, id: VariableId, at: i64, ty: &Type, value: &ReadValue) {
        let depends = value.depends(&self.terms);
        let size = self.bytes(ty).ok().and_then(|bytes| bytes.constant());
        let before = self.state.values.get(&id).and_then(ReadValue::parts);
        let mut parts = before.cloned().unwrap_or_default();
        self.smudge(id, depends);
        if matches!(self.type_of(id), None | Some(Type::Scalar(_) | Type::Pointer(..))) {
            return;
        }
        let Some(end) = size.and_then(|size| at.checked_add(size)) else { return };
        parts.retain(|from, (ty, _)| from.saturating_add(ty.bytes()) <= at || end <= *from);
        if let (ReadValue::Int(number), Some(integer)) = (value, Integer::of(ty)) {
            parts.insert(at, (integer, number.clone()));
        }
        if let Some(depends) = self.state.values.get(&id).map(|value| value.depends(&self.terms)) {
            self.state.values.insert(id, ReadValue::with_parts(depends, parts));
        }
    }

    /// A part of a private variable takes a new value, and none is known from here on.
    pub fn smudge(&mut self, id: VariableId, depends: Dependence) {
        let Some(ty) = self.type_of(id) else { return };
        let before = self.state.values.get(&id).map(|value| value.depends(&self.terms));
        let value = self.unknown(ty, depends.max(before.unwrap_or(Dependence::Uniform)));
        self.state.values.insert(id, value);
        if self.probing > 0 {
            self.set_formula(id, FormulaId::CHANGED);
        }
    }

    /// What the contents of these variables depend on.
    fn contents(&self, ids: &VariableIds) -> Dependence {
        let values = ids.iter().map(|id| self.state.values.get(id));
        let depends = values.map(|v| v.map_or(Dependence::Data, |v| v.depends(&self.terms)));
        depends.max().unwrap_or(Dependence::Data)
    }

    pub fn address(&mut self, place: &ObjectPlace) -> ReadValue {
        let (target, offset) = match place {
            ObjectPlace::Variable(id) => {
                (Target::Private(Rc::new(BTreeSet::from([*id]))), Poly::int(0))
            }
            ObjectPlace::Part(ids, offset) => (Target::Private(ids.clone()), offset.clone()),
            ObjectPlace::Memory(space, name, offset) => {
                (Target::Memory(*space, name.clone()), offset.clone())
            }
            ObjectPlace::Lane(whole, ..) => {
                let ReadValue::Pointer(whole) = self.address(whole) else {
                    return ReadValue::other(Dependence::Data);
                };
                (whole.target, self.terms.unknown(Dependence::Data))
            }
            ObjectPlace::Value(depends) => return ReadValue::other(*depends),
        };
        ReadValue::Pointer(Pointer { target, offset })
    }

    /// Counts one access; what is loaded.
    pub fn access(
        &mut self,
        store: bool,
        (space, array, offset): (AddressSpace, &Rc<str>, &Poly),
        (element, width): (u8, u8),
        at: &SourcePlace,
    ) -> FormulaId {
        let mut reach = Reach::new(store, (space, array, offset), (element, width));
        if self.probing == 0 && space != AddressSpace::Private {
            reach.unknown = self.reaches(&self.formulas.places_in(&self.terms, offset));
            reach.path.clone_from(&self.path);
            if !store {
                reach.formula = self.loaded((space, array, offset), (element, width));
            }
        }
        let formula = reach.formula;
        self.emit(NodeKind::Access(reach), at);
        formula
    }

    /// Loads a structure member by member, as compilers do. Returns the formula of the whole.
    fn load_memory(
        &mut self,
        (space, name, offset): (AddressSpace, &Rc<str>, &Poly),
        ty: &Type,
        at: &SourcePlace,
    ) -> FormulaId {
        let Some(members) = members(ty) else {
            return self.access(false, (space, name, offset), types::parts(ty), at);
        };
        let mut whole = FormulaId::UNKNOWN;
        for (start, ty) in members {
            let start = Poly::int(start);
            let offset = self.terms.add(offset, &start);
            let member = self.load_memory((space, name, &offset), ty, at);
            whole = self.formulas.add(Formula::Stored(whole, start, member));
        }
        whole
    }

    /// Stores to memory, a structure member by member.
    fn store_memory(
        &mut self,
        (space, name, offset): (AddressSpace, &Rc<str>, &Poly),
        ty: &Type,
        whole: FormulaId,
        at: &SourcePlace,
    ) {
        let Some(members) = members(ty) else {
            self.access(true, (space, name, offset), types::parts(ty), at);
            return self.store_formula((space, name, offset), vec![whole], true);
        };
        for (start, ty) in members {
            let start = Poly::int(start);
            let formula = self.formulas.element(&mut self.terms, whole, &start);
            let offset = self.terms.add(offset, &start);
            self.store_memory((space, name, &offset), ty, formula, at);
        }
    }

    /// Notes an access of a private array, which may have to live in memory.
    fn access_private(
        &mut self,
        store: bool,
        (ids, offset): (&VariableIds, &Poly),
        ty: &Type,
        at: &SourcePlace,
    ) {
        let Some(variable) = only(ids).and_then(|id| self.variables.get(id)) else { return };
        if matches!(variable.ty, Type::Array(..)) && !holds_pointers(&variable.ty) {
            let array = variable.name.as_str().into();
            self.access(store, (AddressSpace::Private, &array, offset), types::parts(ty), at);
        }
    }

    /// The value of a whole number of program scope that never changes.
    fn known_constant(&mut self, space: AddressSpace, name: &str, ty: &Type) -> Option<ReadValue> {
        let integer = Integer::of(ty)?;
        if space != AddressSpace::Constant {
            return None;
        }
        let global = self.unit.globals.iter().find(|global| {
            global.name == name && global.space == AddressSpace::Constant && global.ty == *ty
        })?;
        let init = global.init.as_ref()?;
        let value = self.constant(init).ok()?;
        let from = Integer::of(&init.ty)?;
        Some(ReadValue::Int(from.convert(integer, &mut self.terms, &value)))
    }

    /// An expression over macros and constants, walked for its value only.
    pub fn constant(&mut self, e: &CExpr) -> Read<Poly> {
        let integer = |e: &CExpr| Integer::of(&e.ty).unwrap_or(types::INT);
        Ok(match &e.kind {
            ExprKind::Int(value) | ExprKind::SizeOf(value) => Poly::int(*value),
            ExprKind::Symbol(name) => self.symbol(name, &e.at)?,
            ExprKind::Variable(id, _) => match self.state.values.get(id) {
                Some(ReadValue::Int(value)) => value.clone(),
                _ => self.terms.unknown(Dependence::Data),
            },
            ExprKind::Cast(a) => {
                let value = self.constant(a)?;
                integer(a).convert(integer(e), &mut self.terms, &value)
            }
            ExprKind::Unary(op, a) => {
                let value = self.constant(a)?;
                self.integer_unary(*op, &value, integer(a))
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.constant(a)?, self.constant(b)?);
                self.integer_binary(*op, (&x, integer(a)), (&y, integer(b)))
            }
            ExprKind::Conditional(c, a, b) => {
                let (c, x, y) = (self.constant(c)?, self.constant(a)?, self.constant(b)?);
                let c = self.terms.truth(&c);
                self.terms.choice(&c, &x, &y)
            }
            _ => self.terms.unknown(Dependence::Data),
        })
    }
}

/// The variable, if there is one alone.
pub fn only(ids: &VariableIds) -> Option<&VariableId> {
    ids.first().filter(|_| ids.len() == 1)
}

/// Where a component of this type begins in its vector.
fn lane_offset(ty: &Type, lane: Option<u8>) -> Option<i64> {
    Some(i64::from(lane?) * Integer::of(ty)?.bytes())
}
