//! Places, loads and stores.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::proof::events::{AccessMode, ProofAccess, ProofArray, ProofEventKind};

use super::value::{
    Pointee, PointeeTarget, Pointees, Worth, chosen, is_aggregate, lanes, whole_type,
};
use super::walk::Walk;
use crate::ast::{
    AddressSpace, CExpr, ExprKind, ScalarType, SourcePlace, Type, UnaryOp, VariableId, scalar_bytes,
};
use crate::error::Read;
use crate::proof::terms::{FunctionKind, Node, TermId, type_range};
use crate::read::{Integer, parts};

/// The place of an lvalue.
#[derive(Debug, Clone)]
pub(super) enum ProofPlace {
    /// A whole private variable.
    Variable(VariableId),
    /// One of the places a pointer may point to.
    Memory(Pointees),
    /// Components of a vector of this type.
    Lanes(Box<ProofPlace>, Type, Vec<u8>),
    /// A part of a value without a place.
    Nowhere,
}

impl<'a> Walk<'a> {
    pub fn place(&mut self, e: &'a CExpr) -> Read<ProofPlace> {
        self.tick(&e.at)?;
        match &e.kind {
            ExprKind::Variable(id, _) => Ok(self.place_of(*id)),
            ExprKind::Unary(UnaryOp::Deref, pointer) => {
                let value = self.value(pointer)?;
                Ok(ProofPlace::Memory(self.pointees(&value)))
            }
            ExprKind::Index(base, index) => {
                let (base, index) =
                    if Integer::of(&base.ty).is_some() { (index, base) } else { (base, index) };
                if let Type::Vector(_, width) = base.ty {
                    let place = self.place(base)?;
                    let index = self.whole(index)?;
                    let lanes = match self.terms.constant(index) {
                        Some(lane) => u8::try_from(lane).into_iter().collect(),
                        None => (0..width).collect(),
                    };
                    return Ok(ProofPlace::Lanes(Box::new(place), base.ty.clone(), lanes));
                }
                let value = self.value(base)?;
                let index = self.whole(index)?;
                let size = self.bytes(&e.ty);
                let distance = self.terms.mul(index, size);
                Ok(ProofPlace::Memory(self.pointed(&value, distance)))
            }
            ExprKind::Member { base, member, arrow } => self.member(base, member, *arrow),
            _ => self.value(e).map(|_| ProofPlace::Nowhere),
        }
    }

    fn place_of(&mut self, id: VariableId) -> ProofPlace {
        let Some(variable) = self.variables.get(&id).copied() else { return ProofPlace::Nowhere };
        // Parameters that are written as arrays are pointers.
        if variable.space == AddressSpace::Private
            || matches!(self.now.values.get(&id), Some(Worth::Pointer(_)))
        {
            return ProofPlace::Variable(id);
        }
        let array = self.array_of(variable, variable.space, &variable.ty, None, false);
        ProofPlace::Memory(self.pointee(PointeeTarget::Array(array)))
    }

    pub fn pointees(&mut self, value: &Worth) -> Pointees {
        match value {
            Worth::Pointer(all) => all.clone(),
            _ => self.pointee(PointeeTarget::Unread),
        }
    }

    /// What a pointer points to, some bytes behind it.
    pub fn pointed(&mut self, value: &Worth, distance: TermId) -> Pointees {
        let all = self.pointees(value);
        let moved = all.iter().map(|p| {
            let offset = self.terms.add(p.offset, distance);
            Pointee { offset, ..p.clone() }
        });
        Rc::new(moved.collect())
    }

    fn member(&mut self, base: &'a CExpr, member: &str, arrow: bool) -> Read<ProofPlace> {
        let (place, ty) = match (&base.ty, arrow) {
            (Type::Pointer(_, pointee), true) => {
                let value = self.value(base)?;
                (ProofPlace::Memory(self.pointees(&value)), &**pointee)
            }
            (ty, _) => (self.place(base)?, ty),
        };
        if let Type::Vector(_, width) = ty {
            let lanes = lanes(member, *width);
            return Ok(match place {
                ProofPlace::Lanes(whole, vector, outer) => {
                    let inner = lanes.iter().filter_map(|l| outer.get(usize::from(*l)).copied());
                    let inner = inner.collect();
                    ProofPlace::Lanes(whole, vector, inner)
                }
                place => ProofPlace::Lanes(Box::new(place), ty.clone(), lanes),
            });
        }
        let Some(distance) = self.field(ty, member) else { return Ok(ProofPlace::Nowhere) };
        Ok(match self.address(&place) {
            pointer @ Worth::Pointer(_) => ProofPlace::Memory(self.pointed(&pointer, distance)),
            _ => ProofPlace::Nowhere,
        })
    }

    pub fn address(&mut self, place: &ProofPlace) -> Worth {
        match place {
            ProofPlace::Variable(id) => self.pointer(PointeeTarget::Private(*id)),
            ProofPlace::Memory(all) => Worth::Pointer(all.clone()),
            ProofPlace::Lanes(whole, ty, lanes) => {
                let lane = lanes.first().copied().unwrap_or(0);
                Worth::Pointer(self.lane(whole, ty, lane))
            }
            ProofPlace::Nowhere => Worth::Other,
        }
    }

    /// The value of an lvalue; arrays are pointers to their first element.
    pub fn load(&mut self, place: &ProofPlace, ty: &Type, at: &SourcePlace) -> Worth {
        if matches!(ty, Type::Array(..)) {
            if let ProofPlace::Variable(id) = place
                && let Some(value @ Worth::Pointer(_)) = self.now.values.get(id)
            {
                return value.clone();
            }
            return self.address(place);
        }
        match place {
            ProofPlace::Variable(id) => match self.now.values.get(id).cloned() {
                Some(value) => value,
                None => self.unknown(ty),
            },
            ProofPlace::Memory(all) => self.load_from(all, ty, at),
            ProofPlace::Lanes(whole, vector, lanes) => {
                let part = Type::Scalar(vector_scalar(vector));
                if let (ProofPlace::Variable(id), [lane]) = (&**whole, lanes.as_slice()) {
                    let offset = i64::from(*lane) * lane_bytes(vector) as i64;
                    return self.part_of(*id, offset, &part);
                }
                let mut last = Worth::Other;
                for lane in lanes {
                    let memory = self.lane(whole, vector, *lane);
                    last = self.load_from(&memory, &part, at);
                }
                if lanes.len() == 1 { last } else { Worth::Other }
            }
            ProofPlace::Nowhere => self.unknown(ty),
        }
    }

    /// A component of a vector in memory.
    fn lane(&mut self, vector: &ProofPlace, ty: &Type, lane: u8) -> Pointees {
        let pointer = self.address(vector);
        let distance = self.terms.int(i128::from(lane) * lane_bytes(ty));
        self.pointed(&pointer, distance)
    }

    /// The value of one of these places.
    pub fn load_from(&mut self, all: &[Pointee], ty: &Type, at: &SourcePlace) -> Worth {
        let mut value: Option<Worth> = None;
        for pointee in all {
            let one = self.load_one(pointee, ty, at);
            value = Some(match value {
                Some(value) => chosen(&mut self.terms, pointee.when, &one, &value),
                None => one,
            });
        }
        value.unwrap_or(Worth::Other)
    }

    fn load_one(&mut self, pointee: &Pointee, ty: &Type, at: &SourcePlace) -> Worth {
        match pointee.target {
            PointeeTarget::Array(array) => {
                self.access(AccessMode::Load, array, pointee, ty, None, at);
                self.content(array, pointee.offset, ty)
            }
            PointeeTarget::Private(id) => {
                self.private_access(id, pointee, ty, AccessMode::Load, at);
                match self.terms.constant(pointee.offset) {
                    Some(offset) => self.part_of(id, offset as i64, ty),
                    None => self.unknown(ty),
                }
            }
            PointeeTarget::Null => {
                self.null_access(AccessMode::Load, pointee, ty, at);
                self.unknown(ty)
            }
            PointeeTarget::Unread => {
                self.unread_pointer(pointee, at);
                self.unknown(ty)
            }
        }
    }

    /// A number in memory that is never stored to is a function of its place.
    fn content(&mut self, array: usize, offset: TermId, ty: &Type) -> Worth {
        let Some(integer) = Integer::of(ty) else { return self.unknown(ty) };
        let never = self.ever_stored.as_ref().is_some_and(|stored| !stored.contains(&array));
        if !never || self.arrays[array].space == AddressSpace::Local {
            return self.unknown(ty);
        }
        let range = type_range(integer.bits, integer.signed);
        let key = (array, integer.bits, integer.signed);
        let known = self.contents.get(&key).copied();
        let function = known.unwrap_or_else(|| {
            // What the file itself fills is not any number.
            let kind = match self.arrays[array].parameter {
                Some(_) => FunctionKind::Content(array as u32),
                None => FunctionKind::Some,
            };
            self.terms.function(kind, range)
        });
        self.contents.insert(key, function);
        Worth::Int(self.terms.term(Node::Apply(function, vec![offset])))
    }

    /// A part of a private variable.
    fn part_of(&mut self, id: VariableId, offset: i64, ty: &Type) -> Worth {
        let same = self.variables.get(&id).is_some_and(|v| v.ty == *ty);
        match self.now.values.get(&id) {
            Some(value) if same && offset == 0 => value.clone(),
            Some(Worth::Parts(parts)) => match (parts.get(&offset), whole_type(ty)) {
                (Some((known, term)), Some(integer)) if *known == integer => Worth::Int(*term),
                _ => self.unknown(ty),
            },
            _ => self.unknown(ty),
        }
    }

    pub fn store(&mut self, place: &ProofPlace, ty: &Type, value: Worth, at: &SourcePlace) {
        match place {
            ProofPlace::Variable(id) => self.set(*id, value),
            ProofPlace::Memory(all) => self.store_to(all, ty, &value, at),
            ProofPlace::Lanes(whole, vector, lanes) => {
                let part = Type::Scalar(vector_scalar(vector));
                for lane in lanes {
                    let value = if lanes.len() == 1 { value.clone() } else { Worth::Other };
                    let value = match value {
                        Worth::Other => self.unknown(&part),
                        value => value,
                    };
                    if let ProofPlace::Variable(id) = **whole {
                        let offset = self.terms.int(i128::from(*lane) * lane_bytes(vector));
                        let when = self.terms.int(1);
                        let target = PointeeTarget::Private(id);
                        self.put(id, &Pointee { when, target, offset }, &part, &value);
                    } else {
                        let memory = self.lane(whole, vector, *lane);
                        self.store_to(&memory, &part, &value, at);
                    }
                }
            }
            ProofPlace::Nowhere => {}
        }
    }

    /// Puts a value into one of these places.
    pub fn store_to(&mut self, all: &[Pointee], ty: &Type, value: &Worth, at: &SourcePlace) {
        for pointee in all {
            match pointee.target {
                PointeeTarget::Array(array) => {
                    self.access(AccessMode::Store, array, pointee, ty, Some(value), at);
                }
                PointeeTarget::Private(id) => {
                    self.private_access(id, pointee, ty, AccessMode::Store, at);
                    self.put(id, pointee, ty, value);
                }
                PointeeTarget::Null => self.null_access(AccessMode::Store, pointee, ty, at),
                PointeeTarget::Unread => self.unread_pointer(pointee, at),
            }
        }
    }

    /// A part of a private variable takes a new value, if the pointer points there.
    fn put(&mut self, id: VariableId, pointee: &Pointee, ty: &Type, value: &Worth) {
        let Some(variable) = self.variables.get(&id).copied() else { return };
        let before = self.now.values.get(&id).cloned();
        let offset = self.terms.constant(pointee.offset);
        let after = if variable.ty == *ty && offset == Some(0) {
            value.clone()
        } else if !is_aggregate(&variable.ty) {
            self.unknown(&variable.ty)
        } else if let Some(offset) = offset.and_then(|offset| i64::try_from(offset).ok()) {
            let mut parts = match &before {
                Some(Worth::Parts(parts)) => (**parts).clone(),
                _ => BTreeMap::new(),
            };
            let size = self.bytes(ty);
            let end = self.terms.constant(size).map_or(i64::MAX, |size| offset + size as i64);
            parts.retain(|from, (ty, _)| from + ty.bytes() <= offset || end <= *from);
            if let (Worth::Int(term), Some(integer)) = (value, whole_type(ty)) {
                parts.insert(offset, (integer, *term));
            }
            Worth::Parts(Rc::new(parts))
        } else {
            self.unknown(&variable.ty)
        };
        let before = before.unwrap_or(Worth::Other);
        let value = chosen(&mut self.terms, pointee.when, &after, &before);
        self.set(id, value);
    }

    /// An access of a private array, which can be out of bounds as any other.
    fn private_access(
        &mut self,
        id: VariableId,
        pointee: &Pointee,
        ty: &Type,
        mode: AccessMode,
        at: &SourcePlace,
    ) {
        let Some(variable) = self.variables.get(&id).copied() else { return };
        if is_aggregate(&variable.ty) && !self.is_inside(&variable.ty, pointee.offset, ty) {
            let space = AddressSpace::Private;
            let array = self.array_of(variable, space, &variable.ty, None, false);
            self.access(mode, array, pointee, ty, None, at);
        }
    }

    /// Whether a part lies in a variable for certain.
    fn is_inside(&mut self, whole: &Type, offset: TermId, part: &Type) -> bool {
        let (whole, part) = (self.bytes(whole), self.bytes(part));
        let end = self.terms.add(offset, part);
        let left = self.terms.sub(whole, end);
        self.terms.range(offset).0 >= 0 && self.terms.range(left).0 >= 0
    }

    /// Null points to an array without bytes: each access is out of bounds.
    fn null_access(&mut self, mode: AccessMode, pointee: &Pointee, ty: &Type, at: &SourcePlace) {
        let name = "a null pointer".to_owned();
        let known = self.arrays.iter().position(|array| array.name == name);
        let array = known.unwrap_or_else(|| {
            let (space, bytes) = (AddressSpace::Private, Some(self.terms.int(0)));
            self.arrays.push(ProofArray { name, space, bytes, parameter: None, element: 1 });
            self.arrays.len() - 1
        });
        self.access(mode, array, pointee, ty, None, at);
    }

    pub fn access(
        &mut self,
        mode: AccessMode,
        array: usize,
        pointee: &Pointee,
        ty: &Type,
        value: Option<&Worth>,
        at: &SourcePlace,
    ) {
        if mode != AccessMode::Load {
            self.stored.insert(array);
        }
        let bytes = match ty {
            Type::Scalar(_) | Type::Vector(..) => {
                let (element, width) = parts(ty);
                i128::from(element) * i128::from(width)
            }
            ty => {
                let bytes = self.bytes(ty);
                self.terms.constant(bytes).unwrap_or_else(|| self.terms.range(bytes).1)
            }
        };
        let Ok(bytes) = u32::try_from(bytes) else {
            return self.note(at, "the size of what is accessed is not known");
        };
        let value = value.and_then(|value| match value {
            Worth::Int(term) => Some(*term),
            _ => None,
        });
        self.emit_access((mode, array, pointee), bytes, (value, None), at);
    }

    /// Adds an access of `bytes` bytes: what is stored, and the event of the copy around.
    pub fn emit_access(
        &mut self,
        (mode, array, pointee): (AccessMode, usize, &Pointee),
        bytes: u32,
        (value, copy): (Option<TermId>, Option<TermId>),
        at: &SourcePlace,
    ) {
        // Addresses have 64 bits.
        let offset = self.terms.wrap(64, true, pointee.offset);
        let access = ProofAccess { array, mode, offset, bytes, value, copy };
        self.under(pointee.when, |w| w.emit(ProofEventKind::Access(access), at));
    }

    fn unread_pointer(&mut self, pointee: &Pointee, at: &SourcePlace) {
        if self.terms.constant(pointee.when) != Some(0) {
            self.note(at, "where this pointer points to is not read");
        }
    }
}

fn vector_scalar(ty: &Type) -> ScalarType {
    match ty {
        Type::Vector(scalar, _) => *scalar,
        _ => ScalarType::Real { bytes: 4 },
    }
}

fn lane_bytes(ty: &Type) -> i128 {
    scalar_bytes(vector_scalar(ty)).into()
}
