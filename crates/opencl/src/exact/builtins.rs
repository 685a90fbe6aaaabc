//! Functions of OpenCL C's library.

use super::expressions::component;
use super::value::{Pointee, PointeeTarget, Worth};
use super::walk::Walk;
use crate::ast::{AddressSpace, CExpr, ScalarType, SourcePlace, Type};
use crate::error::Read;
use crate::proof::events::{AccessMode, Fences, ProofEventKind};
use crate::proof::terms::{MOST, TermId, VariableKind};
use crate::read::{Integer, is_pure, width, writes_last};

/// The flag of a barrier that orders local memory, and that for global memory.
const LOCAL_FENCE: i128 = 1;
const GLOBAL_FENCE: i128 = 2;

impl<'a> Walk<'a> {
    /// A call of a builtin function; `None` if it is none that is known.
    pub fn builtin(
        &mut self,
        name: &'a str,
        arguments: &'a [CExpr],
        e: &'a CExpr,
    ) -> Read<Option<Worth>> {
        if let Some(id) = self.id_function(name, arguments, &e.at)? {
            let id = match Integer::of(&e.ty) {
                Some(integer) => self.fit(id, integer),
                None => id,
            };
            return Ok(Some(Worth::Int(id)));
        }
        match name {
            "barrier" | "work_group_barrier" => self.barrier(arguments, e)?,
            "wait_group_events" => self.wait(arguments, e)?,
            "async_work_group_copy" | "async_work_group_strided_copy" => {
                return self.copy(name.contains("strided"), arguments, e).map(Some);
            }
            "mem_fence"
            | "read_mem_fence"
            | "write_mem_fence"
            | "atomic_work_item_fence"
            | "prefetch"
            | "printf"
            | "__builtin_assume"
            | "sub_group_barrier" => {
                self.all(arguments)?;
            }
            // What it orders among the items of a warp is not modelled.
            "__syncwarp" => self.note(&e.at, "__syncwarp orders accesses of a warp's items"),
            "__builtin_expect" => {
                return Ok(self.all(arguments)?.into_iter().next());
            }
            _ if self.memory_function(name, arguments, e)? => {}
            _ if name.starts_with("convert_") || name.starts_with("as_") => {
                if let [argument] = arguments {
                    return self.conversion(name, argument, e).map(Some);
                }
            }
            _ => return self.function_of_numbers(name, arguments, e),
        }
        Ok(Some(self.unknown(&e.ty)))
    }

    /// Atomic operations, vectors behind pointers to scalars, and images; whether it is one.
    fn memory_function(&mut self, name: &str, arguments: &'a [CExpr], e: &'a CExpr) -> Read<bool> {
        match name {
            _ if name.starts_with("atomic_") || name.starts_with("atom_") => {
                self.atomic(arguments, e)?;
            }
            _ if name.starts_with("vload") => {
                if let [index, pointer] = arguments {
                    self.vector(name, index, pointer, None, e)?;
                }
            }
            _ if name.starts_with("vstore") => {
                if let [data, index, pointer] = arguments {
                    self.value(data)?;
                    self.vector(name, index, pointer, Some(width(&data.ty)), e)?;
                }
            }
            _ if name.starts_with("read_image") || name.starts_with("write_image") => {
                self.image(name.starts_with("write"), arguments, e)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn all(&mut self, arguments: &'a [CExpr]) -> Read<Vec<Worth>> {
        arguments.iter().map(|argument| self.value(argument)).collect()
    }

    fn barrier(&mut self, arguments: &'a [CExpr], e: &'a CExpr) -> Read<()> {
        let mut flags = None;
        for (i, argument) in arguments.iter().enumerate() {
            let value = self.whole(argument)?;
            if i == 0 {
                flags = self.terms.constant(value);
            }
        }
        // Flags that are not known order nothing for certain.
        let has = |flag: i128| flags.is_some_and(|flags| flags & flag != 0);
        let fences = Fences { local: has(LOCAL_FENCE), global: has(GLOBAL_FENCE) };
        self.emit(ProofEventKind::Barrier(fences), &e.at);
        Ok(())
    }

    /// An asynchronous copy, which all items of the group have to call with the same arguments.
    fn copy(&mut self, strided: bool, arguments: &'a [CExpr], e: &'a CExpr) -> Read<Worth> {
        let [to, from, count, rest @ ..] = arguments else { return Ok(Worth::Other) };
        let (target, source) = (self.value(to)?, self.value(from)?);
        let count = self.whole(count)?;
        let rest: Vec<Worth> = rest.iter().map(|a| self.value(a)).collect::<Read<_>>()?;
        let element = to.ty.element().cloned().unwrap_or(Type::Void);
        let event = self.event(rest.last());
        let local = |w: &Self, p: &Pointee| match p.target {
            PointeeTarget::Array(a) => w.arrays[a].space == AddressSpace::Local,
            _ => false,
        };
        let stride = match (strided, rest.first()) {
            (true, Some(Worth::Int(stride))) => *stride,
            _ => self.terms.int(1),
        };
        self.emit(ProofEventKind::Barrier(Fences { local: false, global: false }), &e.at);
        let range = (0, (self.terms.range(count).1 - 1).max(0));
        let place = self.terms.variable(VariableKind::Counter, range);
        let below = self.terms.less(place, count);
        let size = self.bytes(&element);
        for (mode, value) in [(AccessMode::Load, &source), (AccessMode::Store, &target)] {
            let is_local = self.pointees(value).iter().any(|p| local(self, p));
            let unit = if is_local { self.terms.int(1) } else { stride };
            let distance = self.terms.mul(place, unit);
            let distance = self.terms.mul(distance, size);
            let all = self.pointed(value, distance);
            self.under(below, |w| w.copied((mode, event), &all, &element, &e.at));
            // What differs between items would be copied from or to different places.
            if let Worth::Pointer(all) = value {
                for pointee in all.iter() {
                    self.emit(ProofEventKind::Agree(pointee.offset), &e.at);
                    self.emit(ProofEventKind::Agree(pointee.when), &e.at);
                }
            }
        }
        for number in [count, stride, event] {
            self.emit(ProofEventKind::Agree(number), &e.at);
        }
        Ok(Worth::Int(event))
    }

    /// The event of a copy: that which it is given, or one that no other copy has.
    fn event(&mut self, given: Option<&Worth>) -> TermId {
        self.copies += 1;
        let mut own = self.terms.int(self.copies);
        for (i, counter) in self.counters.clone().into_iter().enumerate() {
            let scale = self.terms.int(1 << (20 * (i.min(3) + 1)));
            let part = self.terms.mul(counter, scale);
            own = self.terms.add(own, part);
        }
        match given {
            Some(Worth::Int(given)) => {
                let some = self.terms.truth(*given);
                self.terms.choice(some, *given, own)
            }
            _ => self.terms.unknown((0, MOST)),
        }
    }

    /// Waits for events in a private variable or array.
    fn wait(&mut self, arguments: &'a [CExpr], e: &'a CExpr) -> Read<()> {
        self.emit(ProofEventKind::Barrier(Fences { local: false, global: false }), &e.at);
        let [count, list] = arguments else { return Ok(()) };
        let (count, value) = (self.whole(count)?, self.value(list)?);
        let count = self.terms.constant(count).filter(|count| (0..=64).contains(count));
        let (Some(count), Some(ty)) = (count, list.ty.element()) else {
            self.note(&e.at, "which events are waited for is not read");
            return Ok(());
        };
        let mut events = Vec::new();
        for i in 0..count {
            let distance = self.terms.int(8 * i);
            let place = self.pointed(&value, distance);
            if let Worth::Int(event) = self.load_from(&place, ty, &e.at) {
                self.emit(ProofEventKind::Agree(event), &e.at);
                events.push(event);
            }
        }
        self.emit(ProofEventKind::Wait(events), &e.at);
        Ok(())
    }

    fn copied(
        &mut self,
        (mode, event): (AccessMode, TermId),
        all: &[Pointee],
        ty: &Type,
        at: &SourcePlace,
    ) {
        let bytes = self.bytes(ty);
        let bytes = self.terms.constant(bytes).and_then(|b| u32::try_from(b).ok());
        for pointee in all {
            let (PointeeTarget::Array(array), Some(bytes)) = (pointee.target, bytes) else {
                self.note(at, "where this copies from or to is not read");
                continue;
            };
            if mode == AccessMode::Store {
                self.stored.insert(array);
            }
            self.emit_access((mode, array, pointee), bytes, (None, Some(event)), at);
        }
    }

    fn atomic(&mut self, arguments: &'a [CExpr], e: &'a CExpr) -> Read<()> {
        let values = self.all(arguments)?;
        let (Some(object), Some(first)) = (values.first(), arguments.first()) else {
            return Ok(());
        };
        let ty = first.ty.element().cloned().unwrap_or(Type::Void);
        for pointee in self.pointees(object).iter() {
            match pointee.target {
                PointeeTarget::Array(array) => {
                    self.access(AccessMode::Atomic, array, pointee, &ty, None, &e.at);
                }
                PointeeTarget::Private(_) | PointeeTarget::Null => {
                    let value = self.unknown(&ty);
                    self.store_to(std::slice::from_ref(pointee), &ty, &value, &e.at);
                }
                PointeeTarget::Unread => {
                    self.note(&e.at, "where this pointer points to is not read");
                }
            }
        }
        // The expected value of a compare-and-exchange is read and written.
        for (value, argument) in values.iter().zip(arguments).skip(1) {
            if let (Worth::Pointer(_), Some(ty)) = (value, argument.ty.element()) {
                let (place, new) = (self.pointees(value), self.unknown(ty));
                self.load_from(&place, ty, &e.at);
                self.store_to(&place, ty, &new, &e.at);
            }
        }
        Ok(())
    }

    /// `vload4(index, pointer)` and `vstore4(data, index, pointer)`.
    fn vector(
        &mut self,
        name: &str,
        index: &'a CExpr,
        pointer: &'a CExpr,
        stores: Option<u8>,
        e: &'a CExpr,
    ) -> Read<()> {
        let index = self.whole(index)?;
        let value = self.value(pointer)?;
        let count = stores.unwrap_or_else(|| width(&e.ty));
        let element = pointer.ty.element().map_or(1, component);
        // Aligned vectors of three have the pitch of four.
        let pitch = if name.contains("a_half") && count == 3 { 4 } else { count };
        let distance = self.terms.scaled(index, i128::from(pitch) * i128::from(element));
        let all = self.pointed(&value, distance);
        let Some(Type::Scalar(scalar)) = pointer.ty.element() else {
            self.note(&e.at, "the type of this pointer is not read");
            return Ok(());
        };
        let ty = if count == 1 { Type::Scalar(*scalar) } else { Type::Vector(*scalar, count) };
        match stores {
            Some(_) => self.store_to(&all, &ty, &Worth::Other, &e.at),
            None => drop(self.load_from(&all, &ty, &e.at)),
        }
        Ok(())
    }

    /// Texels of an image have places that differ where their coordinates do.
    fn image(&mut self, store: bool, arguments: &'a [CExpr], e: &'a CExpr) -> Read<()> {
        let values = self.all(arguments)?;
        let at = if store || arguments.len() == 2 { 1 } else { arguments.len().saturating_sub(1) };
        let (Some(Worth::Pointer(all)), Some(place)) = (values.first(), values.get(at)) else {
            self.note(&e.at, "which image this is was not read");
            return Ok(());
        };
        let number = match place {
            Worth::Int(term) => *term,
            Worth::Parts(parts) => {
                let mut sum = self.terms.int(0);
                for (offset, (_, term)) in parts.iter().take(3) {
                    let scale = 1 << (32 * (offset / 4).clamp(0, 2) as u32);
                    sum = self.terms.plus(sum, scale, *term);
                }
                sum
            }
            _ => self.terms.unknown((-MOST, MOST)),
        };
        let offset = self.terms.scaled(number, 16);
        let mode = if store { AccessMode::Store } else { AccessMode::Load };
        for pointee in all.clone().iter() {
            if let PointeeTarget::Array(array) = pointee.target {
                let texel = Pointee { offset, ..pointee.clone() };
                let ty = Type::Vector(ScalarType::Real { bytes: 4 }, 4);
                self.access(mode, array, &texel, &ty, None, &e.at);
            }
        }
        Ok(())
    }

    fn conversion(&mut self, name: &str, argument: &'a CExpr, e: &'a CExpr) -> Read<Worth> {
        let value = self.value(argument)?;
        let same_size = match (Integer::of(&argument.ty), Integer::of(&e.ty)) {
            (Some(a), Some(b)) => a.bits == b.bits,
            _ => false,
        };
        match (name.starts_with("as_"), name.contains("_sat")) {
            (true, _) if !same_size => Ok(self.unknown(&e.ty)),
            (_, true) => Ok(self.unknown(&e.ty)),
            _ => Ok(self.converted(value, &argument.ty, &e.ty)),
        }
    }

    /// `min`, `clamp`, `mad24` and the like, and functions that write no memory.
    fn function_of_numbers(
        &mut self,
        name: &str,
        arguments: &'a [CExpr],
        e: &'a CExpr,
    ) -> Read<Option<Worth>> {
        let whole = matches!(name, "min" | "max" | "clamp" | "abs" | "mul24" | "mad24" | "select");
        if !whole && !is_pure(name) {
            return Ok(None);
        }
        let values = self.all(arguments)?;
        if name.starts_with("work_group_") {
            // All items have to call it, as a barrier that orders no memory.
            self.emit(ProofEventKind::Barrier(Fences { local: false, global: false }), &e.at);
        }
        if let (true, Some(value), Some(last)) =
            (writes_last(name), values.last(), arguments.last())
            && let Some(ty) = last.ty.element()
        {
            let (place, new) = (self.pointees(value), self.unknown(ty));
            self.store_to(&place, ty, &new, &e.at);
        }
        // Operands are of the type of the result, but for what `abs` and `select` take.
        let kept = |i: usize| name == "abs" || name == "select" && i == 2;
        let numbers =
            values.into_iter().zip(arguments).enumerate().map(|(i, (value, argument))| {
                let to = if kept(i) { &argument.ty } else { &e.ty };
                match self.converted(value, &argument.ty, to) {
                    Worth::Int(term) => Some(term),
                    _ => None,
                }
            });
        let numbers: Option<Vec<TermId>> = numbers.collect();
        let result = numbers.filter(|_| whole).and_then(|all| self.known_function(name, &all));
        Ok(Some(match result.zip(Integer::of(&e.ty)) {
            Some((term, integer)) => Worth::Int(self.computed(term, integer)),
            None => self.unknown(&e.ty),
        }))
    }

    fn known_function(&mut self, name: &str, numbers: &[TermId]) -> Option<TermId> {
        let terms = &mut self.terms;
        Some(match (name, numbers) {
            ("min", [a, b]) => terms.least(*a, *b),
            ("max", [a, b]) => terms.greatest(*a, *b),
            ("clamp", [x, low, high]) => {
                let raised = terms.greatest(*x, *low);
                terms.least(raised, *high)
            }
            ("abs", [a]) => {
                let negative = terms.scaled(*a, -1);
                terms.greatest(*a, negative)
            }
            // Defined for factors of 24 bits only, whose product they are.
            ("mul24", [a, b]) => terms.mul(*a, *b),
            ("mad24", [a, b, c]) => {
                let product = terms.mul(*a, *b);
                terms.add(product, *c)
            }
            ("select", [a, b, c]) => {
                let chosen = terms.truth(*c);
                terms.choice(chosen, *b, *a)
            }
            _ => return None,
        })
    }
}
