//! Values of expressions.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::value::{Pointee, PointeeTarget, Worth, chosen, is_aggregate, whole_type};
use super::walk::Walk;
use crate::ast::{CBinaryOp, CExpr, ExprKind, SourcePlace, Type, UnaryOp, scalar_bytes};
use crate::error::Read;
use crate::proof::events::ProofEventKind;
use crate::proof::terms::{BitOp, MOST, Node, TermId, VariableKind, type_range};
use crate::read::Integer;

const INT: Integer = Integer { bits: 32, signed: true };
/// `long`, the type of a difference of pointers.
const LONG: Integer = Integer { bits: 64, signed: true };

impl<'a> Walk<'a> {
    pub fn value(&mut self, e: &'a CExpr) -> Read<Worth> {
        self.tick(&e.at)?;
        match &e.kind {
            ExprKind::Int(value) | ExprKind::SizeOf(value) => match Integer::of(&e.ty) {
                Some(integer) => {
                    let value = self.terms.int((*value).into());
                    Ok(Worth::Int(self.terms.wrap(integer.bits, integer.signed, value)))
                }
                None => Ok(self.unknown(&e.ty)),
            },
            ExprKind::Real(_) | ExprKind::Text => Ok(self.unknown(&e.ty)),
            ExprKind::Symbol(name) => Ok(Worth::Int(self.symbol(name, &e.at))),
            ExprKind::Variable(..) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                let place = self.place(e)?;
                Ok(self.load(&place, &e.ty, &e.at))
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, e),
            ExprKind::Binary(op, a, b) => self.binary(*op, [a, b], e),
            ExprKind::Assign(op, left, right) => self.assign(*op, left, right, e),
            ExprKind::Conditional(c, a, b) => self.conditional([c, a, b], e),
            ExprKind::Call(name, arguments) => self.call(name, arguments, e),
            ExprKind::Cast(a) => self.value_as(a, &e.ty),
            ExprKind::List(items) => self.list(items, &e.ty),
            ExprKind::Unread(what) => {
                self.note(&e.at, format!("{what} is not read"));
                Ok(self.unknown(&e.ty))
            }
        }
    }

    pub fn value_as(&mut self, e: &'a CExpr, to: &Type) -> Read<Worth> {
        let value = self.value(e)?;
        Ok(self.converted(value, &e.ty, to))
    }

    pub fn converted(&mut self, value: Worth, from: &Type, to: &Type) -> Worth {
        match (value, whole_type(to), to) {
            (Worth::Int(term), Some(to), _) if whole_type(from).is_some() => {
                let from = whole_type(from).unwrap_or(to);
                Worth::Int(self.brought(term, from, to))
            }
            (value @ Worth::Pointer(_), _, Type::Pointer(..)) => value,
            (Worth::Int(term), _, Type::Pointer(..)) => match self.terms.constant(term) {
                Some(0) => self.pointer(PointeeTarget::Null),
                _ => self.pointer(PointeeTarget::Unread),
            },
            (value, None, _) if from == to => value,
            (value @ Worth::Parts(_), None, to) if is_aggregate(to) && from == to => value,
            _ => self.unknown(to),
        }
    }

    fn brought(&mut self, term: TermId, from: Integer, to: Integer) -> TermId {
        // Signed numbers do not overflow, so those of a type fit a wider one.
        let fits = from == to || to.bits > from.bits && (to.signed || !from.signed);
        if fits && to.bits > 1 { term } else { self.fit(term, to) }
    }

    /// A number as one of an integer type, as C converts it.
    pub fn fit(&mut self, term: TermId, to: Integer) -> TermId {
        match to.bits {
            1 => self.terms.truth(term),
            bits => self.terms.wrap(bits, to.signed, term),
        }
    }

    /// A whole number; one of which nothing is known if it is another value.
    pub fn whole(&mut self, e: &'a CExpr) -> Read<TermId> {
        Ok(match self.value(e)? {
            Worth::Int(term) => term,
            _ => {
                let range = Integer::of(&e.ty).map(|i| type_range(i.bits, i.signed));
                self.terms.unknown(range.unwrap_or((-MOST, MOST)))
            }
        })
    }

    pub fn condition(&mut self, e: &'a CExpr) -> Read<TermId> {
        Ok(match self.value(e)? {
            Worth::Int(term) => self.terms.truth(term),
            Worth::Pointer(all) => {
                let mut some = self.terms.int(0);
                for pointee in all.iter() {
                    let is = match pointee.target {
                        PointeeTarget::Null => self.terms.int(0),
                        PointeeTarget::Unread => self.terms.unknown((0, 1)),
                        _ => self.terms.int(1),
                    };
                    let both = self.terms.and(pointee.when, is);
                    some = self.terms.or(some, both);
                }
                some
            }
            _ => self.terms.unknown((0, 1)),
        })
    }

    /// The value of an expression over macros and constants.
    pub fn constant(&mut self, e: &CExpr) -> TermId {
        let integer = Integer::of(&e.ty).unwrap_or(INT);
        let value = match &e.kind {
            ExprKind::Int(value) | ExprKind::SizeOf(value) => self.terms.int((*value).into()),
            ExprKind::Symbol(name) => self.symbol(name, &e.at),
            ExprKind::Cast(a) => self.constant(a),
            ExprKind::Unary(UnaryOp::Minus, a) => {
                let a = self.constant(a);
                self.terms.scaled(a, -1)
            }
            ExprKind::Unary(UnaryOp::Plus, a) => self.constant(a),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.constant(a), self.constant(b));
                let [i, j] = [a, b].map(|e| Integer::of(&e.ty).unwrap_or(INT));
                self.numbers(*op, (x, i), (y, j))
            }
            ExprKind::Conditional(c, a, b) => {
                let (c, x, y) = (self.constant(c), self.constant(a), self.constant(b));
                let c = self.terms.truth(c);
                self.terms.choice(c, x, y)
            }
            _ => self.terms.unknown(type_range(integer.bits, integer.signed)),
        };
        self.fit(value, integer)
    }

    fn list(&mut self, items: &'a [CExpr], ty: &Type) -> Read<Worth> {
        if let ([item], false) = (items, is_aggregate(ty)) {
            return self.value_as(item, ty);
        }
        let values: Vec<Worth> = items.iter().map(|item| self.value(item)).collect::<Read<_>>()?;
        let mut parts = BTreeMap::new();
        let part = match ty {
            Type::Vector(scalar, _) => Type::Scalar(*scalar),
            Type::Array(element, _) => (**element).clone(),
            _ => return Ok(Worth::Other),
        };
        let Some(integer) = Integer::of(&part) else { return Ok(Worth::Other) };
        let whole = matches!(ty, Type::Vector(_, width) if items.len() == 1 && *width > 1);
        if whole || items.iter().any(|item| Integer::of(&item.ty).is_none()) {
            return Ok(Worth::Other);
        }
        for (i, (value, item)) in values.into_iter().zip(items).enumerate() {
            if let Worth::Int(term) = self.converted(value, &item.ty, &part) {
                parts.insert(i as i64 * integer.bytes(), (integer, term));
            }
        }
        Ok(Worth::Parts(Rc::new(parts)))
    }

    fn unary(&mut self, op: UnaryOp, a: &'a CExpr, e: &'a CExpr) -> Read<Worth> {
        match op {
            UnaryOp::Address => {
                let place = self.place(a)?;
                Ok(self.address(&place))
            }
            UnaryOp::Deref => {
                let place = self.place(e)?;
                Ok(self.load(&place, &e.ty, &e.at))
            }
            UnaryOp::PreIncrement
            | UnaryOp::PostIncrement
            | UnaryOp::PreDecrement
            | UnaryOp::PostDecrement => {
                let adds = matches!(op, UnaryOp::PreIncrement | UnaryOp::PostIncrement);
                let sum = if adds { CBinaryOp::Add } else { CBinaryOp::Sub };
                let place = self.place(a)?;
                let old = self.load(&place, &a.ty, &e.at);
                let one = Worth::Int(self.terms.int(1));
                let new = self.arithmetic(sum, (old.clone(), &a.ty), (one, &INT.ast()), e);
                let new = self.converted(new, &e.ty, &a.ty);
                self.store(&place, &a.ty, new.clone(), &e.at);
                let before = matches!(op, UnaryOp::PreIncrement | UnaryOp::PreDecrement);
                Ok(if before { new } else { old })
            }
            UnaryOp::Not => {
                let condition = self.condition(a)?;
                match Integer::of(&e.ty) {
                    Some(_) => Ok(Worth::Int(self.terms.not(condition))),
                    None => Ok(Worth::Other),
                }
            }
            UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Complement => {
                let value = self.value_as(a, &e.ty)?;
                let (Worth::Int(term), Some(integer)) = (&value, Integer::of(&e.ty)) else {
                    return Ok(if op == UnaryOp::Plus { value } else { self.unknown(&e.ty) });
                };
                let result = match op {
                    UnaryOp::Plus => *term,
                    UnaryOp::Minus => self.terms.scaled(*term, -1),
                    _ => {
                        let negative = self.terms.scaled(*term, -1);
                        self.terms.shifted(negative, -1)
                    }
                };
                Ok(Worth::Int(self.computed(result, integer)))
            }
        }
    }

    /// What an operation of an integer type yields: signed ones of `int` and wider do not overflow.
    pub fn computed(&mut self, term: TermId, integer: Integer) -> TermId {
        if integer.signed && integer.bits >= 32 { term } else { self.fit(term, integer) }
    }

    /// Notes a signed number that may not fit its type. The end of a loop bounds its step.
    fn emit_signed(&mut self, number: TermId, integer: Integer, at: &SourcePlace) {
        let (low, high) = type_range(integer.bits, true);
        let range = self.terms.range(number);
        let fits = low <= range.0 && range.1 <= high;
        if self.stepping || !integer.signed || integer.bits < 32 || fits {
            return;
        }
        let terms = &self.terms;
        let of_data = |term: &TermId| match terms.node(*term) {
            Node::Apply(..) => true,
            Node::Variable(v) => terms.variables[*v as usize].kind == VariableKind::Unknown,
            _ => false,
        };
        if !terms.inside(&[number]).iter().any(of_data) {
            self.emit(ProofEventKind::Signed(number, integer.bits), at);
        }
    }

    fn assign(
        &mut self,
        op: Option<CBinaryOp>,
        left: &'a CExpr,
        right: &'a CExpr,
        e: &'a CExpr,
    ) -> Read<Worth> {
        let Some(op) = op else {
            let value = self.value_as(right, &left.ty)?;
            let place = self.place(left)?;
            self.store(&place, &left.ty, value.clone(), &e.at);
            return Ok(value);
        };
        let value = self.value(right)?;
        let place = self.place(left)?;
        let old = self.load(&place, &left.ty, &e.at);
        let ty = self.result_type(op, &left.ty, &right.ty);
        let new = self.operation(op, (old, &left.ty), (value, &right.ty), &ty, &e.at);
        let new = self.converted(new, &ty, &left.ty);
        self.store(&place, &left.ty, new.clone(), &e.at);
        Ok(new)
    }

    /// The type of an operation whose result is assigned.
    fn result_type(&self, op: CBinaryOp, a: &Type, b: &Type) -> Type {
        match (Integer::of(a), Integer::of(b)) {
            (Some(x), Some(_)) if matches!(op, CBinaryOp::Shl | CBinaryOp::Shr) => {
                x.promoted().ast()
            }
            (Some(x), Some(y)) => x.common(y).ast(),
            (Some(_), None) if !matches!(b, Type::Pointer(..)) => b.clone(),
            _ => a.clone(),
        }
    }

    fn binary(&mut self, op: CBinaryOp, [a, b]: [&'a CExpr; 2], e: &'a CExpr) -> Read<Worth> {
        match op {
            CBinaryOp::Comma => {
                self.value(a)?;
                self.value(b)
            }
            CBinaryOp::And | CBinaryOp::Or if Integer::of(&e.ty).is_some() => {
                let first = self.condition(a)?;
                let asks = if op == CBinaryOp::And { first } else { self.terms.not(first) };
                let zero = self.terms.int(0);
                let second = self.fork(asks, |w| w.condition(b), |_| Ok(zero))?;
                let neutral = self.terms.int(i128::from(op == CBinaryOp::And));
                let second = second.0.unwrap_or(neutral);
                Ok(Worth::Int(match op {
                    CBinaryOp::And => self.terms.and(first, second),
                    _ => self.terms.or(first, second),
                }))
            }
            _ => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                Ok(self.arithmetic(op, (x, &a.ty), (y, &b.ty), e))
            }
        }
    }

    fn arithmetic(
        &mut self,
        op: CBinaryOp,
        x: (Worth, &Type),
        y: (Worth, &Type),
        e: &CExpr,
    ) -> Worth {
        // Of `++` it is the type of the variable.
        let ty = match (Integer::of(x.1), Integer::of(y.1), op.is_truth()) {
            (Some(_), Some(_), false) => self.result_type(op, x.1, y.1),
            _ => e.ty.clone(),
        };
        let value = self.operation(op, x, y, &ty, &e.at);
        self.converted(value, &ty, &e.ty)
    }

    fn operation(
        &mut self,
        op: CBinaryOp,
        (x, a): (Worth, &Type),
        (y, b): (Worth, &Type),
        ty: &Type,
        at: &SourcePlace,
    ) -> Worth {
        match (&x, &y) {
            (Worth::Int(p), Worth::Int(q)) => {
                let (Some(i), Some(j)) = (Integer::of(a), Integer::of(b)) else {
                    return self.unknown(ty);
                };
                if matches!(op, CBinaryOp::Div | CBinaryOp::Rem) {
                    let by = self.brought(*q, j, i.common(j));
                    self.emit(ProofEventKind::Divide(by), at);
                }
                let result = self.numbers(op, (*p, i), (*q, j));
                if matches!(op, CBinaryOp::Add | CBinaryOp::Sub | CBinaryOp::Mul) {
                    self.emit_signed(result, i.common(j), at);
                }
                Worth::Int(result)
            }
            (Worth::Pointer(_), Worth::Int(q)) if matches!(op, CBinaryOp::Add | CBinaryOp::Sub) => {
                let sign = if op == CBinaryOp::Add { 1 } else { -1 };
                self.moved(&x, a, *q, sign)
            }
            (Worth::Int(p), Worth::Pointer(_)) if op == CBinaryOp::Add => self.moved(&y, b, *p, 1),
            (Worth::Pointer(_), _) | (_, Worth::Pointer(_)) => self.pointers(op, &x, &y, a, ty),
            _ => self.unknown(ty),
        }
    }

    fn moved(&mut self, pointer: &Worth, ty: &Type, by: TermId, sign: i128) -> Worth {
        let element = ty.element().cloned().unwrap_or(Type::Void);
        let size = self.bytes(&element);
        let distance = self.terms.mul(by, size);
        let distance = self.terms.scaled(distance, sign);
        Worth::Pointer(self.pointed(pointer, distance))
    }

    /// Comparisons and differences of pointers.
    fn pointers(&mut self, op: CBinaryOp, x: &Worth, y: &Worth, a: &Type, ty: &Type) -> Worth {
        let all = |w: &mut Self, value: &Worth| match value {
            Worth::Pointer(all) => Some(all.clone()),
            Worth::Int(term) if w.terms.constant(*term) == Some(0) => {
                Some(w.pointee(PointeeTarget::Null))
            }
            _ => None,
        };
        let (Some(xs), Some(ys)) = (all(self, x), all(self, y)) else { return self.unknown(ty) };
        if let ([p], [q], CBinaryOp::Sub) = (xs.as_slice(), ys.as_slice(), op)
            && p.target == q.target
            && p.target != PointeeTarget::Unread
        {
            let element = a.element().cloned().unwrap_or(Type::Void);
            let (size, distance) = (self.bytes(&element), self.terms.sub(p.offset, q.offset));
            return Worth::Int(self.terms.quotient(distance, size));
        }
        if !op.is_truth() {
            return self.unknown(ty);
        }
        // One of the pairs is what is compared.
        let mut holds = self.terms.int(0);
        for p in xs.iter() {
            for q in ys.iter() {
                let both = self.terms.and(p.when, q.when);
                let one = self.compared(op, p, q);
                let one = self.terms.and(both, one);
                holds = self.terms.or(holds, one);
            }
        }
        Worth::Int(holds)
    }

    /// A comparison of two places; null lies before all others.
    fn compared(&mut self, op: CBinaryOp, p: &Pointee, q: &Pointee) -> TermId {
        let null = [p, q].map(|place| place.target == PointeeTarget::Null);
        let known = [p, q].iter().all(|place| place.target != PointeeTarget::Unread);
        if p.target == q.target && known {
            return self.numbers(op, (p.offset, LONG), (q.offset, LONG));
        }
        if known && (null[0] || null[1]) {
            let [a, b] = null.map(|null| self.terms.int(i128::from(!null)));
            return self.numbers(op, (a, LONG), (b, LONG));
        }
        self.terms.unknown((0, 1))
    }

    /// An operation on two whole numbers of their types, as C does it.
    pub fn numbers(
        &mut self,
        op: CBinaryOp,
        (p, i): (TermId, Integer),
        (q, j): (TermId, Integer),
    ) -> TermId {
        let shift = matches!(op, CBinaryOp::Shl | CBinaryOp::Shr);
        let common = if shift { i.promoted() } else { i.common(j) };
        let p = self.brought(p, i, common);
        let q = match shift {
            // OpenCL takes the count of a shift modulo the bits of the type.
            true => self.terms.wrap(common.bits.trailing_zeros(), false, q),
            false => self.brought(q, j, common),
        };
        let terms = &mut self.terms;
        let result = match op {
            CBinaryOp::Add => terms.add(p, q),
            CBinaryOp::Sub => terms.sub(p, q),
            CBinaryOp::Mul => terms.mul(p, q),
            CBinaryOp::Div => terms.quotient(p, q),
            CBinaryOp::Rem => terms.remainder(p, q),
            CBinaryOp::Shl => terms.bits(BitOp::Left, p, q),
            CBinaryOp::Shr => terms.bits(BitOp::Right, p, q),
            CBinaryOp::BitAnd => terms.bits(BitOp::And, p, q),
            CBinaryOp::BitOr => terms.bits(BitOp::Or, p, q),
            CBinaryOp::BitXor => terms.bits(BitOp::Xor, p, q),
            CBinaryOp::Eq => return terms.equal(p, q),
            CBinaryOp::Ne => {
                let equal = terms.equal(p, q);
                return terms.not(equal);
            }
            CBinaryOp::Lt => return terms.less(p, q),
            CBinaryOp::Gt => return terms.less(q, p),
            CBinaryOp::Le | CBinaryOp::Ge => {
                let (x, y) = if op == CBinaryOp::Le { (q, p) } else { (p, q) };
                let less = terms.less(x, y);
                return terms.not(less);
            }
            CBinaryOp::And | CBinaryOp::Or => {
                let (x, y) = (terms.truth(p), terms.truth(q));
                return if op == CBinaryOp::And { terms.and(x, y) } else { terms.or(x, y) };
            }
            CBinaryOp::Comma => q,
        };
        // Bits shifted out of a signed number are gone.
        if op == CBinaryOp::Shl { self.fit(result, common) } else { self.computed(result, common) }
    }

    fn conditional(&mut self, [c, a, b]: [&'a CExpr; 3], e: &'a CExpr) -> Read<Worth> {
        if matches!(c.ty, Type::Vector(..)) {
            for part in [c, a, b] {
                self.value(part)?;
            }
            return Ok(self.unknown(&e.ty));
        }
        let condition = self.condition(c)?;
        let side = |side: &'a CExpr| move |w: &mut Self| w.value_as(side, &e.ty);
        match self.fork(condition, side(a), side(b))? {
            (Some(x), Some(y)) => Ok(match chosen(&mut self.terms, condition, &x, &y) {
                Worth::Other => self.unknown(&e.ty),
                value => value,
            }),
            (Some(x), None) | (None, Some(x)) => Ok(x),
            (None, None) => Ok(self.unknown(&e.ty)),
        }
    }
}

/// Bytes of a component of a vector, or of a scalar.
pub(super) fn component(ty: &Type) -> u32 {
    match ty {
        Type::Scalar(scalar) | Type::Vector(scalar, _) => scalar_bytes(*scalar).into(),
        _ => 1,
    }
}
