//! Values of expressions.

use super::builtins::Call;
use super::symbolic::Poly;
use super::types::{INT, Integer, scalar_bytes, width};
use super::value::{ReadValue, VectorParts, holds_pointers};
use super::{Read, Reader};
use crate::ast::{CBinaryOp, CExpr, ExprKind, SourcePlace, Type, UnaryOp};
use crate::error::ReadError;
use crate::steps::Dependence;

impl<'a> Reader<'a> {
    pub fn value(&mut self, e: &'a CExpr) -> Read<ReadValue> {
        self.tick(&e.at)?;
        self.of(e, |r| r.value_of(e))
    }

    pub fn value_as(&mut self, e: &'a CExpr, to: &Type, at: &SourcePlace) -> Read<ReadValue> {
        let value = self.value(e)?;
        Ok(self.of(e, |r| r.convert(value, &e.ty, to, at)))
    }

    fn value_of(&mut self, e: &'a CExpr) -> Read<ReadValue> {
        match &e.kind {
            ExprKind::Int(value) | ExprKind::SizeOf(value) if Integer::of(&e.ty).is_some() => {
                Ok(ReadValue::Int(Poly::int(*value)))
            }
            ExprKind::Real(text) => {
                let number = text.trim_end_matches(['f', 'F', 'h', 'H']).parse().ok();
                let known = ReadValue::real(number, &e.ty);
                Ok(known.unwrap_or_else(|| self.unknown(&e.ty, Dependence::Uniform)))
            }
            ExprKind::Int(_) | ExprKind::SizeOf(_) | ExprKind::Text => {
                Ok(self.unknown(&e.ty, Dependence::Uniform))
            }
            ExprKind::Symbol(name) => Ok(ReadValue::Int(self.symbol(name, &e.at)?)),
            ExprKind::Variable(..) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                let place = self.place(e)?;
                self.load(&place, &e.ty, &e.at)
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, e),
            ExprKind::Binary(op, a, b) => self.binary(*op, [a, b], e),
            ExprKind::Assign(op, left, right) => self.assign(*op, left, right, e),
            ExprKind::Conditional(c, a, b) => self.conditional([c, a, b], e),
            ExprKind::Call(name, arguments) => self.call(Call { name, arguments, e }),
            ExprKind::Cast(a) => {
                let value = self.value(a)?;
                Ok(self.convert(value, &a.ty, &e.ty, &e.at))
            }
            ExprKind::List(items) => self.list(items, &e.ty),
            ExprKind::Unread(what) => Err(unread(what, &e.at)),
        }
    }

    /// The parts of a vector, or the initial values of an array or structure.
    fn list(&mut self, items: &'a [CExpr], ty: &Type) -> Read<ReadValue> {
        let values: Vec<ReadValue> =
            items.iter().map(|item| self.value(item)).collect::<Read<_>>()?;
        match (values.as_slice(), items) {
            ([value], [item]) if Integer::of(ty).is_some() => {
                Ok(self.of(item, |r| r.convert(value.clone(), &item.ty, ty, &item.at)))
            }
            _ if holds_pointers(ty) => Ok(self.any_of(&values)),
            _ => {
                let depends = values.iter().map(|value| value.depends(&self.terms)).max();
                let depends = depends.unwrap_or(Dependence::Uniform);
                let parts = self.parts_of_list(items, &values, ty)?;
                let formula = self.list_formula(&values, ty);
                let value = match parts.is_empty() {
                    true => self.unknown(ty, depends),
                    false => ReadValue::with_parts(depends, parts),
                };
                Ok(self.with_formula(value, formula))
            }
        }
    }

    /// What any element of an array of pointers holds: a pointer to one of what they point to.
    fn any_of(&mut self, values: &[ReadValue]) -> ReadValue {
        let Some((first, rest)) = values.split_first() else {
            return ReadValue::other(Dependence::Data);
        };
        rest.iter().fold(first.clone(), |all, value| self.pointer_to_either(&all, value))
    }

    /// The whole numbers of a list, each with its offset. Behind an item that may take more
    /// or less room than it seems, as where braces are left out, nothing is known.
    fn parts_of_list(
        &mut self,
        items: &[CExpr],
        values: &[ReadValue],
        ty: &Type,
    ) -> Read<VectorParts> {
        let mut parts = VectorParts::new();
        let mut items: Vec<(&CExpr, &ReadValue)> = items.iter().zip(values).collect();
        if let (Type::Vector(_, width), [(item, _)]) = (ty, items.as_slice())
            && !matches!(item.ty, Type::Vector(..))
        {
            // One number for all components.
            items = vec![items[0]; usize::from(*width)];
        }
        let mut lanes = 0;
        for (i, (item, value)) in items.into_iter().enumerate() {
            let (part, offset) = match ty {
                Type::Vector(scalar, _) => {
                    let part = Type::Scalar(*scalar);
                    let offset = lanes * i64::from(scalar_bytes(*scalar));
                    lanes += i64::from(width(&item.ty));
                    (part, Some(offset))
                }
                Type::Array(element, _) => {
                    let bytes = self.bytes(element)?.constant();
                    let place = i64::try_from(i).ok();
                    let offset = bytes.zip(place).and_then(|(bytes, i)| bytes.checked_mul(i));
                    ((**element).clone(), offset)
                }
                Type::Struct(_, fields) => {
                    let Some((name, field)) = fields.get(i) else { break };
                    let known = self.field_offset(ty, name)?.filter(|(_, overlaps)| !overlaps);
                    (field.clone(), known.and_then(|(offset, _)| offset.constant()))
                }
                _ => break,
            };
            if !matches!(part, Type::Scalar(_)) {
                break;
            }
            if let (ReadValue::Int(number), Some(offset)) = (value, offset)
                && let (Some(from), Some(to)) = (Integer::of(&item.ty), Integer::of(&part))
            {
                let number = from.convert(to, &mut self.terms, number);
                parts.insert(offset, (to, number));
            }
        }
        Ok(parts)
    }

    fn unary(&mut self, op: UnaryOp, a: &'a CExpr, e: &'a CExpr) -> Read<ReadValue> {
        match op {
            UnaryOp::Address => {
                let place = self.place(a)?;
                Ok(self.address(&place))
            }
            UnaryOp::Deref => {
                let place = self.place(e)?;
                self.load(&place, &e.ty, &e.at)
            }
            UnaryOp::PreIncrement
            | UnaryOp::PostIncrement
            | UnaryOp::PreDecrement
            | UnaryOp::PostDecrement => self.step(op, a, &e.at),
            UnaryOp::Plus => {
                let value = self.value(a)?;
                Ok(self.convert(value, &a.ty, &e.ty, &e.at))
            }
            UnaryOp::Minus | UnaryOp::Not | UnaryOp::Complement => {
                let value = self.value(a)?;
                Ok(self.plain_unary(op, value, a, e))
            }
        }
    }

    fn plain_unary(&mut self, op: UnaryOp, value: ReadValue, a: &CExpr, e: &CExpr) -> ReadValue {
        match (value, Integer::for_number(&a.ty)) {
            (ReadValue::Int(poly), Some(integer)) => {
                let result = self.integer_unary(op, &poly, integer);
                self.price(CBinaryOp::Sub, &a.ty, &e.at);
                ReadValue::Int(result)
            }
            // `!p`: arrays have an address.
            (ReadValue::Pointer(_), _) => ReadValue::Int(Poly::int(0)),
            (ReadValue::Real(number), _) if op != UnaryOp::Complement => {
                self.price(CBinaryOp::Sub, &a.ty, &e.at);
                match op {
                    UnaryOp::Not => ReadValue::Int(Poly::int(i64::from(number == 0.0))),
                    _ => ReadValue::Real(-number),
                }
            }
            (value, _) => {
                self.price(CBinaryOp::Sub, &a.ty, &e.at);
                let formula = self.negated(op, &value, &e.at);
                self.made(&e.ty, value.depends(&self.terms), formula)
            }
        }
    }

    /// `++` and `--`.
    fn step(&mut self, op: UnaryOp, a: &'a CExpr, at: &SourcePlace) -> Read<ReadValue> {
        let adds = matches!(op, UnaryOp::PreIncrement | UnaryOp::PostIncrement);
        let before = matches!(op, UnaryOp::PreIncrement | UnaryOp::PreDecrement);
        let sum = if adds { CBinaryOp::Add } else { CBinaryOp::Sub };
        let feeds = self.feeds(a);
        let place = self.place(a)?;
        let old = self.load(&place, &a.ty, at)?;
        let new = self.index_if(feeds, |r| {
            let (old, one) = ((old.clone(), &a.ty), (ReadValue::Int(Poly::int(1)), &INT.ast()));
            let (value, ty) = r.arithmetic(sum, old, one, &a.ty, at)?;
            Ok(r.convert(value, &ty, &a.ty, at))
        })?;
        self.store(&place, &a.ty, new.clone(), at)?;
        Ok(if before { new } else { old })
    }

    /// Whether what is assigned to this feeds addresses or loops.
    pub fn feeds(&self, left: &CExpr) -> bool {
        match &left.kind {
            ExprKind::Variable(id, _) => {
                self.feeding.contains(id) || matches!(left.ty, Type::Pointer(..))
            }
            _ => false,
        }
    }

    fn assign(
        &mut self,
        op: Option<CBinaryOp>,
        left: &'a CExpr,
        right: &'a CExpr,
        e: &'a CExpr,
    ) -> Read<ReadValue> {
        let part = |r: &mut Self| {
            let Some(op) = op else {
                let value = r.value_as(right, &left.ty, &e.at)?;
                return Ok((r.place(left)?, value));
            };
            let value = r.value(right)?;
            let place = r.place(left)?;
            let old = r.load(&place, &left.ty, &e.at)?;
            let operands = ((old, &left.ty), (value, &right.ty));
            let (value, ty) = r.arithmetic(op, operands.0, operands.1, &left.ty, &e.at)?;
            Ok((place, r.convert(value, &ty, &left.ty, &e.at)))
        };
        let (place, value) = self.index_if(self.feeds(left), part)?;
        self.store(&place, &left.ty, value.clone(), &e.at)?;
        Ok(value)
    }

    fn binary(&mut self, op: CBinaryOp, [a, b]: [&'a CExpr; 2], e: &'a CExpr) -> Read<ReadValue> {
        match op {
            CBinaryOp::Comma => {
                self.value(a)?;
                self.value(b)
            }
            CBinaryOp::And | CBinaryOp::Or if width(&e.ty) == 1 => self.logical(op, [a, b], &e.at),
            _ => {
                let pointers = matches!(e.ty, Type::Pointer(..));
                let (x, y) = self.index_if(pointers, |r| Ok((r.value(a)?, r.value(b)?)))?;
                self.lone = self.lone_products.contains(&std::ptr::from_ref(e));
                self.by_root = is_one(a) && is_root(b);
                let (value, ty) = self.arithmetic(op, (x, &a.ty), (y, &b.ty), &e.ty, &e.at)?;
                Ok(self.convert(value, &ty, &e.ty, &e.at))
            }
        }
    }

    /// `&&` and `||`.
    fn logical(
        &mut self,
        op: CBinaryOp,
        [a, b]: [&'a CExpr; 2],
        at: &SourcePlace,
    ) -> Read<ReadValue> {
        let first = self.condition(a)?;
        let asks = if op == CBinaryOp::And { first.clone() } else { self.terms.not(&first) };
        let second = self.fork(&asks, (at, a), |r| r.condition(b), |_| Ok(Poly::int(0)))?;
        self.price(op, &b.ty, at);
        let neutral = Poly::int(i64::from(op == CBinaryOp::And));
        let second = second.0.unwrap_or(neutral);
        Ok(ReadValue::Int(match (op, asks.constant()) {
            (_, Some(0)) => first,
            (CBinaryOp::And, _) => self.terms.and(&first, &second),
            _ => self.terms.or(&first, &second),
        }))
    }

    pub fn condition(&mut self, e: &'a CExpr) -> Read<Poly> {
        match (self.value(e)?, Integer::for_number(&e.ty)) {
            (ReadValue::Int(poly), Some(integer)) => {
                let exact = integer.exact(&mut self.terms, &poly);
                Ok(self.terms.truth(&exact))
            }
            (ReadValue::Pointer(_), _) => Ok(Poly::int(1)),
            (ReadValue::Real(number), _) => Ok(Poly::int(i64::from(number != 0.0))),
            (value, _) => {
                let depends = value.depends(&self.terms);
                Ok(self.terms.unknown_truth(depends))
            }
        }
    }

    fn conditional(&mut self, [c, a, b]: [&'a CExpr; 3], e: &'a CExpr) -> Read<ReadValue> {
        if matches!(c.ty, Type::Vector(..)) {
            let values = [self.value(c)?, self.value(a)?, self.value(b)?];
            let depends = values.iter().map(|v| v.depends(&self.terms)).max();
            return Ok(self.unknown(&e.ty, depends.unwrap_or(Dependence::Data)));
        }
        let condition = self.condition(c)?;
        let side = |side: &'a CExpr| move |r: &mut Self| r.value_as(side, &e.ty, &e.at);
        match self.fork(&condition, (&e.at, c), side(a), side(b))? {
            (Some(x), Some(y)) => {
                let [a, b] = [&x, &y].map(|side| self.formula_of(side));
                let formula = self.chosen(&condition, a, b);
                let value = ReadValue::choice(&mut self.terms, &condition, &x, &y);
                Ok(match value {
                    ReadValue::Other(..) => self.with_formula(value, formula),
                    value => value,
                })
            }
            (Some(x), None) | (None, Some(x)) => Ok(x),
            (None, None) => Ok(self.unknown(&e.ty, Dependence::Data)),
        }
    }
}

pub fn unread(what: &str, at: &SourcePlace) -> ReadError {
    ReadError::at(at, format!("{what} is not read"), "write it in another way")
}

fn is_one(e: &CExpr) -> bool {
    match &e.kind {
        ExprKind::Int(1) => true,
        ExprKind::Real(text) => text.trim_end_matches(['f', 'F']).parse() == Ok(1.0),
        ExprKind::Cast(inner) => is_one(inner),
        _ => false,
    }
}

/// Whether an expression is a square root.
fn is_root(e: &CExpr) -> bool {
    match &e.kind {
        ExprKind::Call(name, _) => matches!(name.as_str(), "sqrt" | "native_sqrt" | "half_sqrt"),
        ExprKind::Cast(inner) => is_root(inner),
        _ => false,
    }
}
