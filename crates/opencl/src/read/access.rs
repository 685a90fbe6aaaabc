//! Loading from places and storing to them: where accesses are counted.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::nodes::{NodeKind, Reach};
use super::places::Place;
use super::symbolic::Poly;
use super::types::Integer;
use super::value::{Parts, Pointer, Target, Value, holds_pointers};
use super::{Read, Reader};
use crate::ast::{At, Expr, ExprKind, Space, Type, VariableId};
use crate::steps::Dependence;

impl<'a> Reader<'a> {
    /// The value of an lvalue; arrays are pointers to their first element.
    pub fn load(&mut self, place: &Place, ty: &Type, at: &At) -> Read<Value> {
        // A parameter that is written as an array is a pointer.
        let pointer = matches!(place, Place::Variable(id)
            if matches!(self.type_of(*id), Some(Type::Pointer(..))));
        if matches!(ty, Type::Array(..)) && !pointer {
            return Ok(self.address(place));
        }
        Ok(match place {
            Place::Variable(id) => match self.state.values.get(id) {
                Some(value) => value.clone(),
                None => self.unknown(ty, Dependence::Data),
            },
            Place::Part(ids, offset) => {
                self.access_private(false, (ids, offset), ty, at);
                match self.pointers_in(ids).or_else(|| self.known_part(ids, offset, ty)) {
                    Some(value) => value,
                    None => {
                        let depends = self.contents(ids);
                        self.unknown(ty, depends)
                    }
                }
            }
            Place::Memory(space, name, offset) => {
                self.access(false, (*space, name, offset), super::types::parts(ty), at);
                match self.known_constant(*space, name, ty) {
                    Some(value) => value,
                    None => self.unknown(ty, Dependence::Data),
                }
            }
            Place::Lane(whole, vector, lane) => {
                let value = self.load(whole, vector, at)?;
                let part = Integer::of(ty).zip(lane_offset(ty, *lane));
                match part.and_then(|(integer, offset)| value.part(offset, integer)) {
                    Some(part) => Value::Int(part),
                    None => self.unknown_as(ty, &value),
                }
            }
            Place::Value(depends) => self.unknown(ty, *depends),
        })
    }

    /// Puts a value into an lvalue.
    pub fn store(&mut self, place: &Place, ty: &Type, value: Value, at: &At) -> Read<()> {
        match place {
            Place::Variable(id) => {
                self.state.values.insert(*id, value);
            }
            Place::Part(ids, offset) => {
                self.access_private(true, (ids, offset), ty, at);
                self.store_part(ids, offset, ty, value);
            }
            Place::Memory(space, name, offset) => {
                self.access(true, (*space, name, offset), super::types::parts(ty), at);
            }
            Place::Lane(whole, vector, lane) => match &**whole {
                Place::Variable(id) => match lane_offset(ty, *lane) {
                    Some(offset) => self.put(*id, offset, ty, &value),
                    None => self.smudge(*id, value.depends(&self.terms)),
                },
                whole => {
                    self.load(whole, vector, at)?;
                    self.store(whole, vector, value, at)?;
                }
            },
            Place::Value(_) => {}
        }
        Ok(())
    }

    /// Something in one of these private variables takes a new value.
    fn store_part(&mut self, ids: &BTreeSet<VariableId>, offset: &Poly, ty: &Type, value: Value) {
        let only = ids.first().filter(|_| ids.len() == 1);
        match (only, offset.constant()) {
            (Some(id), _) if self.type_of(*id).is_some_and(holds_pointers) => {
                let value = match self.state.values.get(id).cloned() {
                    Some(before) => self.pointer_to_either(&before, &value),
                    None => value,
                };
                self.state.values.insert(*id, value);
            }
            (Some(id), Some(at)) => self.put(*id, at, ty, &value),
            _ => {
                let depends = value.depends(&self.terms);
                ids.iter().for_each(|id| self.smudge(*id, depends));
            }
        }
    }

    /// What the elements of an array of pointers point to, if that is known.
    fn pointers_in(&self, ids: &BTreeSet<VariableId>) -> Option<Value> {
        let id = ids.first().filter(|_| ids.len() == 1)?;
        let value = self.state.values.get(id)?;
        let known =
            matches!(value, Value::Pointer(_)) && self.type_of(*id).is_some_and(holds_pointers);
        known.then(|| value.clone())
    }

    /// A pointer that is one or the other; where they point to different memories nothing is known.
    pub fn pointer_to_either(&mut self, a: &Value, b: &Value) -> Value {
        let (Value::Pointer(a), Value::Pointer(b)) = (a, b) else {
            return Value::Other(Dependence::Data);
        };
        let Some(target) = Target::either(&a.target, &b.target) else {
            return Value::Other(Dependence::Data);
        };
        let offset = match a.offset == b.offset {
            true => a.offset.clone(),
            false => self.terms.unknown(Dependence::Data),
        };
        Value::Pointer(Pointer { target, offset })
    }

    /// A part of a private variable, if it is a known whole number.
    fn known_part(&self, ids: &BTreeSet<VariableId>, offset: &Poly, ty: &Type) -> Option<Value> {
        let id = ids.first().filter(|_| ids.len() == 1)?;
        self.state.values.get(id)?.part(offset.constant()?, Integer::of(ty)?).map(Value::Int)
    }

    /// The part of a private variable that begins at a byte takes a new value; others keep theirs.
    fn put(&mut self, id: VariableId, at: i64, ty: &Type, value: &Value) {
        let depends = value.depends(&self.terms);
        let size = self.bytes(ty).ok().and_then(|bytes| bytes.constant());
        let mut parts = match self.state.values.get(&id) {
            Some(before) => before.parts().cloned().unwrap_or_default(),
            None => Parts::new(),
        };
        self.smudge(id, depends);
        if matches!(self.type_of(id), None | Some(Type::Scalar(_) | Type::Pointer(..))) {
            return;
        }
        let Some(end) = size.and_then(|size| at.checked_add(size)) else { return };
        parts.retain(|from, (ty, _)| from.saturating_add(ty.bytes()) <= at || end <= *from);
        if let (Value::Int(number), Some(integer)) = (value, Integer::of(ty)) {
            parts.insert(at, (integer, number.clone()));
        }
        if let Some(depends) = self.state.values.get(&id).map(|value| value.depends(&self.terms)) {
            self.state.values.insert(id, Value::with_parts(depends, parts));
        }
    }

    /// A part of a private variable takes a new value, and none is known from here on.
    pub fn smudge(&mut self, id: VariableId, depends: Dependence) {
        let Some(ty) = self.type_of(id) else { return };
        let before = self.state.values.get(&id).map(|value| value.depends(&self.terms));
        let value = self.unknown(ty, depends.max(before.unwrap_or(Dependence::Uniform)));
        self.state.values.insert(id, value);
    }

    /// What the contents of these variables depend on.
    fn contents(&self, ids: &BTreeSet<VariableId>) -> Dependence {
        let values = ids.iter().map(|id| self.state.values.get(id));
        let depends = values.map(|v| v.map_or(Dependence::Data, |v| v.depends(&self.terms)));
        depends.max().unwrap_or(Dependence::Data)
    }

    /// A pointer to a place.
    pub fn address(&mut self, place: &Place) -> Value {
        let (target, offset) = match place {
            Place::Variable(id) => (Target::Private(Rc::new(BTreeSet::from([*id]))), Poly::int(0)),
            Place::Part(ids, offset) => (Target::Private(ids.clone()), offset.clone()),
            Place::Memory(space, name, offset) => {
                (Target::Memory(*space, name.clone()), offset.clone())
            }
            Place::Lane(whole, ..) => {
                let Value::Pointer(whole) = self.address(whole) else {
                    return Value::Other(Dependence::Data);
                };
                (whole.target, self.terms.unknown(Dependence::Data))
            }
            Place::Value(depends) => return Value::Other(*depends),
        };
        Value::Pointer(Pointer { target, offset })
    }

    /// Counts one access.
    pub fn access(
        &mut self,
        store: bool,
        (space, array, offset): (Space, &Rc<str>, &Poly),
        (element, width): (u8, u8),
        at: &At,
    ) {
        let (array, offset) = (array.clone(), offset.clone());
        let reach = Reach { space, store, array, element, width, offset, iterations: Vec::new() };
        self.emit(NodeKind::Access(reach), at);
    }

    /// Notes an access of a private array, which may have to live in memory.
    fn access_private(
        &mut self,
        store: bool,
        (ids, offset): (&BTreeSet<VariableId>, &Poly),
        ty: &Type,
        at: &At,
    ) {
        let Some(variable) = ids.first().and_then(|id| self.variables.get(id)) else { return };
        if ids.len() == 1 && matches!(variable.ty, Type::Array(..)) && !holds_pointers(&variable.ty)
        {
            let array = variable.name.as_str().into();
            self.access(store, (Space::Private, &array, offset), super::types::parts(ty), at);
        }
    }

    /// The value of a whole number of program scope that never changes.
    fn known_constant(&mut self, space: Space, name: &str, ty: &Type) -> Option<Value> {
        let integer = Integer::of(ty)?;
        if space != Space::Constant {
            return None;
        }
        let global = self.unit.globals.iter().find(|global| {
            global.name == name && global.space == Space::Constant && global.ty == *ty
        })?;
        let init = global.init.as_ref()?;
        let value = self.constant(init).ok()?;
        let from = Integer::of(&init.ty)?;
        Some(Value::Int(from.convert(integer, &mut self.terms, &value)))
    }

    /// An expression over macros and constants, walked for its value only.
    pub fn constant(&mut self, e: &Expr) -> Read<Poly> {
        let integer = |e: &Expr| Integer::of(&e.ty).unwrap_or(super::types::INT);
        Ok(match &e.kind {
            ExprKind::Int(value) | ExprKind::SizeOf(value) => Poly::int(*value),
            ExprKind::Symbol(name) => self.symbol(name, &e.at)?,
            ExprKind::Variable(id, _) => match self.state.values.get(id) {
                Some(Value::Int(value)) => value.clone(),
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

/// Where a component of this type begins in its vector.
fn lane_offset(ty: &Type, lane: Option<u8>) -> Option<i64> {
    Some(i64::from(lane?) * Integer::of(ty)?.bytes())
}
