//! Results of operations on real numbers: which ones each correct compilation computes.

use std::collections::HashMap;
use std::rc::Rc;

use itertools::Itertools;

use super::Reader;
use super::formulas::{Formula, FormulaId, RealOperation};
use super::nodes::{NodeKind, Reach, Value};
use super::symbolic::{AtomKind, Poly};
use super::types::width;
use super::value::ReadValue;
use crate::ast::{AddressSpace, CBinaryOp, ScalarType, SourcePlace, Type, UnaryOp};
use crate::lines::lists;
use crate::steps::Lanes;

/// The place of whole numbers that are made of ids and arguments.
const NUMBER: &str = "#number";
/// Functions that the special lanes compute; others are sequences of products.
const SPECIAL: &str = "sqrt rsqrt exp exp2";
/// The same where the source requests them as the hardware has them.
const NATIVE: &str = "sqrt rsqrt exp exp2 exp10 log log2 log10 sin cos tan powr recip";
/// Functions that are one operation on real numbers, or more.
const PLAIN: &str = "\
    cbrt expm1 exp10 log log2 log10 log1p sin cos tan sinpi cospi tanpi asin acos atan atan2 sinh \
    cosh tanh asinh acosh atanh pow pown powr rootn hypot erf erfc tgamma lgamma fmod length \
    distance normalize smoothstep mix degrees radians";
/// Functions that may be part of another operation, or that choose one of their arguments.
const CHOOSING: &str = "fmin fmax fabs maxmag minmag min max clamp";

impl Reader<'_> {
    pub fn formula_of(&mut self, value: &ReadValue) -> FormulaId {
        match value {
            ReadValue::Real(number) => self.formulas.number(*number),
            ReadValue::Other(_, formula) | ReadValue::Scaled(_, _, formula) => *formula,
            ReadValue::Int(number) => self.whole_formula(number),
            ReadValue::Pointer(_) | ReadValue::Parts(..) => FormulaId::UNKNOWN,
        }
    }

    /// A whole number as a real one. What loops count is a constant in each iteration.
    pub fn whole_formula(&mut self, number: &Poly) -> FormulaId {
        if let Some(constant) = number.constant() {
            return self.formulas.number(constant as f64);
        }
        if let Some(AtomKind::Leaf(leaf)) = self.terms.kind_of(number) {
            let loaded = self.formulas.loaded.get(leaf).copied();
            return loaded.unwrap_or(FormulaId::UNKNOWN);
        }
        if self.terms.on_data(number) {
            return self.deciding(number);
        }
        match self.is_on_ids(number) && !self.ends_known(number) {
            true => self.private_place(NUMBER.into(), number.clone()),
            false => FormulaId::CONSTANT,
        }
    }

    /// Whether ids or sizes that no compiler knows are part of a number.
    fn is_on_ids(&self, number: &Poly) -> bool {
        self.terms.names(number).into_iter().any(
            |atom| matches!(self.terms.kind(atom), AtomKind::Name(name) if name.starts_with('$')),
        )
    }

    /// Whether a number that loops count may be a constant in the last iteration of one of them.
    fn ends_known(&mut self, number: &Poly) -> bool {
        self.terms.leaves(number).into_iter().any(|leaf| {
            let Some(atom) = self.terms.atom_of(leaf) else { return true };
            let Some(last) = self.terms.last_iteration(leaf) else { return true };
            let end = self.terms.substitute(number, &HashMap::from([(atom, last)]));
            !self.is_on_ids(&end)
        })
    }

    /// A whole number that depends on what is loaded: on each number that decides it once.
    fn deciding(&mut self, number: &Poly) -> FormulaId {
        if self.probing > 0 {
            return FormulaId::UNKNOWN;
        }
        let mut leaves = Vec::new();
        self.terms.deciding(number, &mut leaves);
        let counts = leaves.iter().counts();
        let once = leaves.iter().filter(|leaf| counts[leaf] == 1);
        let parts: Vec<FormulaId> =
            once.filter_map(|leaf| self.formulas.loaded.get(leaf).copied()).collect();
        match parts.is_empty() {
            true => FormulaId::UNKNOWN,
            false => self.formulas.add(Formula::Computed(RealOperation::Whole, parts)),
        }
    }

    /// One of two values, as the condition of the branch decides that was walked last.
    pub fn chosen(&mut self, condition: &Poly, a: FormulaId, b: FormulaId) -> FormulaId {
        let [then, otherwise] = self.sides;
        match self.terms.on_data(condition) {
            _ if self.probing > 0 || a == b => a,
            true => {
                let parts = vec![self.whole_formula(condition)];
                self.formulas.add(Formula::Computed(RealOperation::Whole, parts))
            }
            false => self.formulas.add(Formula::Either([(then, a), (otherwise, b)])),
        }
    }

    /// A number that no compiler knows, but is loaded from no memory.
    fn private_place(&mut self, array: Rc<str>, offset: Poly) -> FormulaId {
        let space = AddressSpace::Private;
        let (element, width, barriers) = (1, 1, 0);
        self.formulas.add(Formula::Place { space, array, offset, element, width, barriers })
    }

    /// What is loaded from a place; nothing is known of what the walk only looks at.
    pub fn loaded(
        &mut self,
        (space, array, offset): (AddressSpace, &Rc<str>, &Poly),
        (element, width): (u8, u8),
    ) -> FormulaId {
        if self.probing > 0 || self.unit.globals.iter().any(|global| *global.name == **array) {
            return FormulaId::UNKNOWN;
        }
        let (array, offset) = (array.clone(), offset.clone());
        let barriers = if space == AddressSpace::Local { self.barriers } else { 0 };
        let place =
            self.formulas.add(Formula::Place { space, array, offset, element, width, barriers });
        self.formulas.load(place, &self.iterations);
        place
    }

    /// A real number that the host passes.
    pub fn argument(&mut self, name: &str) -> FormulaId {
        self.private_place(format!("#{name}").into(), Poly::int(0))
    }

    /// A component of a vector.
    pub fn component_formula(&mut self, of: &ReadValue, lane: Option<u8>) -> FormulaId {
        let whole = self.formula_of(of);
        lane.map_or(FormulaId::UNKNOWN, |lane| self.formulas.component(whole, lane))
    }

    /// A vector with another component.
    pub fn with_component(
        &mut self,
        before: Option<&ReadValue>,
        lane: Option<u8>,
        value: &ReadValue,
    ) -> FormulaId {
        let (Some(lane), 0) = (lane, self.probing) else { return FormulaId::UNKNOWN };
        let whole = before.map_or(FormulaId::UNKNOWN, |before| self.formula_of(before));
        let formula = self.formula_of(value);
        self.formulas.add(Formula::WithComponent(whole, lane, formula))
    }

    /// The value with its formula, if it is one that can have one.
    pub fn with_formula(&mut self, value: ReadValue, formula: FormulaId) -> ReadValue {
        match value {
            ReadValue::Other(depends, _) => ReadValue::Other(depends, formula),
            ReadValue::Scaled(depends, number, _) => ReadValue::Scaled(depends, number, formula),
            ReadValue::Int(number) => {
                if let Some(AtomKind::Leaf(leaf)) = self.terms.kind_of(&number) {
                    self.formulas.loaded.insert(*leaf, formula);
                }
                ReadValue::Int(number)
            }
            value => value,
        }
    }

    /// A result of an operation, computed by these lanes.
    fn result(
        &mut self,
        (operation, lanes): (RealOperation, Option<Lanes>),
        operands: &[FormulaId],
        width: u8,
        at: &SourcePlace,
    ) -> FormulaId {
        if self.probing > 0 {
            return FormulaId::UNKNOWN;
        }
        if operands.iter().all(|operand| self.formulas.is_constant(*operand)) {
            return FormulaId::CONSTANT;
        }
        let formula = self.formulas.add(Formula::Computed(operation, operands.to_vec()));
        // A constant that is not known may be one that needs no operation.
        let neutral =
            operands.iter().map(|operand| self.formulas.neutral(*operand, width, operation));
        let sure = neutral.fold(width, u8::saturating_sub);
        if let Some(lanes) = lanes.filter(|_| sure > 0 && self.constant == 0) {
            let width = if self.formulas.components_differ(formula) { sure } else { 1 };
            let places = self.formulas.places(&self.terms, formula);
            let places = self.reaches(&places);
            let path = self.path.clone();
            let value = Value { formula, lanes, width, places, differs: Vec::new(), path };
            self.emit(NodeKind::Value(value), at);
        }
        formula
    }

    pub fn reaches(&self, places: &[FormulaId]) -> Vec<Reach> {
        let reach = |id: &FormulaId| {
            let Formula::Place { space, array, offset, element, width, .. } =
                self.formulas.get(*id)
            else {
                return None;
            };
            Some(Reach::new(false, (*space, array, offset), (*element, *width)))
        };
        places.iter().filter_map(reach).collect()
    }

    pub fn binary_formula(
        &mut self,
        op: CBinaryOp,
        (a, b): (&ReadValue, &ReadValue),
        ty: &Type,
        at: &SourcePlace,
    ) -> FormulaId {
        let (a, b) = (self.operand(a, at), self.operand(b, at));
        let is =
            |r: &Self, id, number: f64| r.formulas.value(id).is_some_and(|n| n.abs() == number);
        let real = Some(Lanes::Real);
        match op {
            _ if is_half(ty) => self.result((RealOperation::Packed, None), &[a, b], width(ty), at),
            CBinaryOp::Add | CBinaryOp::Sub if is(self, b, 0.0) => a,
            CBinaryOp::Add if is(self, a, 0.0) => b,
            CBinaryOp::Add => self.result((RealOperation::Add, real), &[a, b], width(ty), at),
            CBinaryOp::Sub if is(self, a, 0.0) => {
                self.result((RealOperation::Negate, None), &[b], width(ty), at)
            }
            CBinaryOp::Sub => self.result((RealOperation::Subtract, real), &[a, b], width(ty), at),
            CBinaryOp::Mul => self.product(a, b, width(ty), at),
            CBinaryOp::Div => self.quotient(a, b, width(ty), at),
            _ => self.result((RealOperation::Whole, None), &[a, b], width(ty), at),
        }
    }

    /// An operand of an operation on real numbers, to which whole ones are converted.
    fn operand(&mut self, value: &ReadValue, at: &SourcePlace) -> FormulaId {
        match value {
            ReadValue::Int(_) => self.converted(value, 1, at),
            value => self.formula_of(value),
        }
    }

    fn product(&mut self, a: FormulaId, b: FormulaId, width: u8, at: &SourcePlace) -> FormulaId {
        for (one, other) in [(a, b), (b, a)] {
            match self.formulas.value(one) {
                Some(1.0) => return other,
                Some(-1.0) => {
                    return self.result((RealOperation::Negate, None), &[other], width, at);
                }
                _ => {}
            }
        }
        self.result((RealOperation::Multiply, Some(Lanes::Real)), &[a, b], width, at)
    }

    /// A division: a reciprocal, which a root and equal divisors have in common, and a product.
    fn quotient(&mut self, a: FormulaId, b: FormulaId, width: u8, at: &SourcePlace) -> FormulaId {
        let root = matches!(self.formulas.get(b), Formula::Computed(RealOperation::Root, _));
        let lanes = (!root && !self.formulas.is_constant(b)).then_some(Lanes::Special);
        let reciprocal = self.result((RealOperation::Reciprocal, lanes), &[b], width, at);
        self.product(a, reciprocal, width, at)
    }

    /// The result of a function of real numbers, by its name without and with what is before it.
    pub fn function_formula(
        &mut self,
        (plain, name): (&str, &str),
        values: &[ReadValue],
        width: u8,
        at: &SourcePlace,
    ) -> FormulaId {
        let operands: Vec<FormulaId> = values.iter().map(|value| self.formula_of(value)).collect();
        let native = name.starts_with("native_") && lists(NATIVE, plain);
        let lanes = match plain {
            _ if native || lists(SPECIAL, plain) => Some(Lanes::Special),
            _ if lists(PLAIN, plain) => Some(Lanes::Real),
            _ => None,
        };
        match (plain, operands.as_slice()) {
            ("fma" | "mad", [a, b, c]) => {
                let one = [a, b].into_iter().any(|id| self.formulas.is_constant(*id));
                let zero = self.formulas.is_constant(*c);
                let lanes = (!one && !zero).then_some(Lanes::Real);
                self.result((RealOperation::MultiplyAdd, lanes), &[*a, *b, *c], width, at)
            }
            ("dot", _) => {
                self.result((RealOperation::MultiplyAdd, Some(Lanes::Real)), &operands, width, at)
            }
            ("divide", [a, b]) => self.quotient(*a, *b, width, at),
            ("sqrt" | "rsqrt", _) => {
                self.result((RealOperation::Root, lanes), &operands, width, at)
            }
            ("recip", [a]) => {
                let one = self.formulas.number(1.0);
                self.quotient(one, *a, width, at)
            }
            ("fabs", [a]) => self.result((RealOperation::Negate, None), &[*a], width, at),
            _ if lists(CHOOSING, plain) => {
                self.result((RealOperation::Extreme, None), &operands, width, at)
            }
            _ => {
                let number = self.functions.insert_full(plain.to_owned()).0;
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                self.result((RealOperation::Function(number), lanes), &operands, width, at)
            }
        }
    }

    /// The result of a conversion between whole and real numbers.
    pub fn converted(&mut self, value: &ReadValue, width: u8, at: &SourcePlace) -> FormulaId {
        let from = self.formula_of(value);
        let known = matches!(self.formulas.get(from),
            Formula::Place { array, .. } if &**array == NUMBER);
        let lanes = (!known && from != FormulaId::UNKNOWN).then_some(Lanes::Convert);
        if known || self.formulas.is_constant(from) {
            return from;
        }
        self.result((RealOperation::Convert, lanes), &[from], width, at)
    }

    /// The number with the other sign, which is free.
    pub fn negated(&mut self, op: UnaryOp, value: &ReadValue, at: &SourcePlace) -> FormulaId {
        let formula = self.formula_of(value);
        match op {
            UnaryOp::Minus => self.result((RealOperation::Negate, None), &[formula], 1, at),
            _ => FormulaId::UNKNOWN,
        }
    }

    /// A vector of values, or an array of constants.
    pub fn list_formula(&mut self, values: &[ReadValue], ty: &Type) -> FormulaId {
        let parts: Vec<FormulaId> = values.iter().map(|value| self.formula_of(value)).collect();
        match ty {
            Type::Vector(_, width) if parts.len() == 1 || parts.len() == usize::from(*width) => {
                self.formulas.add(Formula::Vector(parts))
            }
            _ if parts.iter().all(|part| self.formulas.is_constant(*part)) => FormulaId::CONSTANT,
            _ => FormulaId::UNKNOWN,
        }
    }

    /// A real number for all components of a vector, or with another precision.
    pub fn spread(&mut self, value: &ReadValue, from: &Type, to: &Type) -> FormulaId {
        let formula = self.formula_of(value);
        match (from, to) {
            (Type::Scalar(_), Type::Vector(..)) => {
                self.formulas.add(Formula::Vector(vec![formula]))
            }
            _ => formula,
        }
    }
}

/// Whether operations on numbers of a type may be done two at a time.
pub fn is_half(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Scalar(ScalarType::Real { bytes: 2 })
            | Type::Vector(ScalarType::Real { bytes: 2 }, _)
    )
}
