//! A machine that runs a syntax tree, one work item at a time, and counts its accesses. It shares
//! nothing with the reader but the tree: it knows values instead of formulas.
//!
//! What is in memory is drawn anew at each load. A program whose counts depend on it must be
//! refused by the reader, so all the others have the same counts whatever is drawn.

mod calls;
mod operators;
mod types;

use std::collections::HashMap;

use tickbound_opencl::ast::{
    AddressSpace, CBinaryOp, CExpr, CStmt, CStmtKind, CVariable, ExprKind, Label, ScalarType, Type,
    UnaryOp, Unit, VariableId,
};

use crate::random::Random;
use crate::steps::StepCounts;
use types::convert;

/// Why a run has no meaning, so nothing can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    Overflow,
    DivisionByZero,
    Endless,
    Shift,
}

/// A work item's place: for each dimension its id, its group's, their size and number.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub lid: [i64; 3],
    pub group: [i64; 3],
    pub local: [i64; 3],
    pub groups: [i64; 3],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Int(i64),
    Other,
    /// A vector, a structure or an array: its number among all of which parts were put down.
    Whole(usize),
    /// Into memory, or to a private variable with an offset.
    Memory(AddressSpace),
    Private(VariableId, i64),
}

/// The way to a part of a private variable: `[2]`, `.n`, `#0` for the first component.
type Way = String;

#[derive(Debug, Clone)]
enum Place {
    Variable(VariableId),
    /// An element of a private array, a member, or a component of a private vector: of which
    /// variable and where, as far as that can be followed.
    Part(Option<VariableId>, Option<Way>),
    Memory(AddressSpace),
    Lane(AddressSpace),
}

enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

type Run<T> = Result<T, Undefined>;

pub struct Machine<'u> {
    pub unit: &'u Unit,
    pub symbols: &'u HashMap<String, i64>,
    pub item: Item,
    pub counts: StepCounts,
    pub random: Random,
    /// Items of a sub-group.
    pub warp: i64,
    values: HashMap<VariableId, Value>,
    spaces: HashMap<VariableId, AddressSpace>,
    arrays: HashMap<VariableId, bool>,
    /// What was last put into parts of private variables.
    parts: HashMap<(VariableId, Way), Value>,
    wholes: Vec<Vec<(Way, Value)>>,
    work: u64,
}

impl<'u> Machine<'u> {
    pub fn new(
        unit: &'u Unit,
        symbols: &'u HashMap<String, i64>,
        item: Item,
        random: Random,
    ) -> Machine<'u> {
        Machine {
            unit,
            symbols,
            item,
            counts: StepCounts::default(),
            random,
            warp: 32,
            values: HashMap::new(),
            spaces: HashMap::new(),
            arrays: HashMap::new(),
            parts: HashMap::new(),
            wholes: Vec::new(),
            work: 0,
        }
    }

    /// Runs the kernel `k`, whose whole-number arguments have these values.
    pub fn kernel(&mut self, arguments: &HashMap<String, i64>) -> Run<()> {
        for global in &self.unit.globals {
            self.spaces.insert(global.id, global.space);
            self.arrays.insert(global.id, matches!(global.ty, Type::Array(..)));
        }
        let kernel = &self.unit.functions["k"];
        for parameter in &kernel.parameters {
            let value = match &parameter.ty {
                Type::Pointer(space, _) if !arguments.contains_key(&parameter.name) => {
                    Value::Memory(*space)
                }
                _ => arguments.get(&parameter.name).map_or(Value::Other, |v| Value::Int(*v)),
            };
            self.values.insert(parameter.id, value);
        }
        self.block(&kernel.body).map(drop)
    }

    fn block(&mut self, stmts: &'u [CStmt]) -> Run<Flow> {
        for stmt in stmts {
            match self.stmt(stmt)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &'u CStmt) -> Run<Flow> {
        match &stmt.kind {
            CStmtKind::Block(body) => return self.block(body),
            CStmtKind::Declare(variables) => {
                for variable in variables {
                    self.declare(variable)?;
                }
            }
            CStmtKind::Expr(e) => {
                self.value(e)?;
            }
            CStmtKind::If(c, then, otherwise) => {
                return if self.truth(c)? { self.block(then) } else { self.block(otherwise) };
            }
            CStmtKind::For { init, condition, step, body } => {
                self.block(init)?;
                return self.repeat(condition.as_ref(), step.as_ref(), body, false);
            }
            CStmtKind::While(c, body) => return self.repeat(Some(c), None, body, false),
            CStmtKind::DoWhile(body, c) => return self.repeat(Some(c), None, body, true),
            CStmtKind::Switch(value, labels, body) => return self.switch(value, labels, body),
            CStmtKind::Return(None) => return Ok(Flow::Return(Value::Other)),
            CStmtKind::Return(Some(e)) => return Ok(Flow::Return(self.value(e)?)),
            CStmtKind::Break => return Ok(Flow::Break),
            CStmtKind::Continue => return Ok(Flow::Continue),
            CStmtKind::Empty => {}
            CStmtKind::Unread(what) => panic!("{what}"),
        }
        Ok(Flow::Next)
    }

    fn switch(&mut self, value: &'u CExpr, labels: &'u [Label], body: &'u [CStmt]) -> Run<Flow> {
        let number = match self.value(value)? {
            Value::Int(number) => number,
            // A program that depends on it is refused.
            _ => self.random.below(4),
        };
        let mut found = None;
        for label in labels {
            match &label.value {
                Some(own) if self.value(own)? == Value::Int(number) => {
                    found = Some(label.place);
                    break;
                }
                None => found = Some(label.place),
                _ => {}
            }
        }
        let from = found.unwrap_or(body.len());
        Ok(match self.block(&body[from..])? {
            Flow::Break => Flow::Next,
            flow => flow,
        })
    }

    fn repeat(
        &mut self,
        condition: Option<&'u CExpr>,
        step: Option<&'u CExpr>,
        body: &'u [CStmt],
        after: bool,
    ) -> Run<Flow> {
        let mut first = true;
        loop {
            self.work += 1;
            if self.work > 200_000 {
                return Err(Undefined::Endless);
            }
            let asks = !(after && first);
            first = false;
            if let (true, Some(c)) = (asks, condition)
                && !self.truth(c)?
            {
                return Ok(Flow::Next);
            }
            match self.block(body)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.value(step)?;
            }
        }
    }

    fn declare(&mut self, variable: &'u CVariable) -> Run<()> {
        self.spaces.insert(variable.id, variable.space);
        let array = matches!(variable.ty, Type::Array(..));
        self.arrays.insert(variable.id, array);
        let value = match &variable.init {
            Some(init) => {
                let value = self.value(init)?;
                convert(value, &variable.ty)?
            }
            None => self.drawn(&variable.ty),
        };
        self.fill(variable.id, value);
        Ok(())
    }

    fn truth(&mut self, e: &'u CExpr) -> Run<bool> {
        Ok(match self.value(e)? {
            Value::Int(v) => v != 0,
            Value::Other | Value::Whole(_) => self.random.below(2) == 0,
            Value::Memory(_) | Value::Private(..) => true,
        })
    }

    fn drawn(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Scalar(ScalarType::Int { .. }) => Value::Int(self.random.below(12)),
            _ => Value::Other,
        }
    }

    fn place(&mut self, e: &'u CExpr) -> Run<Place> {
        match &e.kind {
            ExprKind::Variable(id, _) => Ok(match self.spaces.get(id) {
                Some(
                    space @ (AddressSpace::Local | AddressSpace::Global | AddressSpace::Constant),
                ) => Place::Memory(*space),
                _ => Place::Variable(*id),
            }),
            ExprKind::Unary(UnaryOp::Deref, a) => {
                let pointer = self.value(a)?;
                Ok(self.behind(pointer))
            }
            ExprKind::Index(base, index) => {
                if matches!(base.ty, Type::Vector(..)) {
                    let place = self.place(base)?;
                    let way = match self.value(index)? {
                        Value::Int(index) => Some(format!("#{index}")),
                        _ => None,
                    };
                    return Ok(lane(place, way));
                }
                if matches!(base.ty, Type::Array(..))
                    && matches!(base.kind, ExprKind::Member { .. })
                {
                    let place = self.place(base)?;
                    let Value::Int(i) = self.value(index)? else { return Ok(inside(place, None)) };
                    return Ok(inside(place, Some(format!("[{i}]"))));
                }
                let pointer = self.value(base)?;
                let moved = match (pointer, self.value(index)?) {
                    (Value::Private(id, at), Value::Int(by)) => Value::Private(id, at + by),
                    (pointer, _) => pointer,
                };
                Ok(self.behind(moved))
            }
            ExprKind::Member { base, arrow, member } => {
                let place = if *arrow {
                    let pointer = self.value(base)?;
                    self.behind(pointer)
                } else {
                    self.place(base)?
                };
                let ty = match &base.ty {
                    Type::Pointer(_, ty) => &**ty,
                    ty => ty,
                };
                Ok(match (ty, place) {
                    (Type::Vector(..), place) => lane(place, component(member)),
                    (Type::Struct(..), place) => inside(place, Some(format!(".{member}"))),
                    (_, place) => inside(place, None),
                })
            }
            _ => {
                self.value(e)?;
                Ok(Place::Part(None, None))
            }
        }
    }

    fn behind(&self, pointer: Value) -> Place {
        match pointer {
            Value::Memory(space) => Place::Memory(space),
            Value::Private(id, 0) if !self.arrays.get(&id).copied().unwrap_or(false) => {
                Place::Variable(id)
            }
            Value::Private(id, at) => Place::Part(Some(id), Some(format!("[{at}]"))),
            _ => Place::Part(None, None),
        }
    }

    fn load(&mut self, place: &Place, ty: &Type) -> Value {
        if matches!(ty, Type::Array(..)) {
            return match place {
                Place::Memory(space) | Place::Lane(space) => Value::Memory(*space),
                Place::Variable(id) => Value::Private(*id, 0),
                Place::Part(..) => Value::Other,
            };
        }
        match place {
            Place::Variable(id) if aggregate(ty) => {
                let parts = self.parts.iter().filter(|((of, _), _)| of == id);
                self.wholes.push(parts.map(|((_, way), value)| (way.clone(), *value)).collect());
                Value::Whole(self.wholes.len() - 1)
            }
            Place::Variable(id) => self.values.get(id).copied().unwrap_or(Value::Other),
            Place::Part(id, way) => {
                let known = id.zip(way.clone()).and_then(|key| self.parts.get(&key).copied());
                known.unwrap_or_else(|| self.drawn(ty))
            }
            Place::Memory(space) | Place::Lane(space) => {
                *self.counts.loads.entry(*space).or_default() += 1;
                self.drawn(ty)
            }
        }
    }

    fn store(&mut self, place: &Place, value: Value) {
        match place {
            Place::Variable(id) => self.fill(*id, value),
            Place::Part(Some(id), Some(way)) => {
                // What lies inside it is gone.
                self.parts.retain(|(of, other), _| of != id || !other.starts_with(way.as_str()));
                self.parts.insert((*id, way.clone()), value);
            }
            Place::Part(Some(id), None) => self.parts.retain(|(of, _), _| of != id),
            Place::Part(None, _) => self.parts.clear(),
            Place::Memory(space) => *self.counts.stores.entry(*space).or_default() += 1,
            Place::Lane(space) => {
                *self.counts.loads.entry(*space).or_default() += 1;
                *self.counts.stores.entry(*space).or_default() += 1;
            }
        }
    }

    /// Gives a variable a value, and with it all its parts.
    fn fill(&mut self, id: VariableId, value: Value) {
        self.parts.retain(|(of, _), _| *of != id);
        if let Value::Whole(number) = value {
            let parts = self.wholes[number].clone();
            self.parts.extend(parts.into_iter().map(|(way, value)| ((id, way), value)));
        }
        self.values.insert(id, value);
    }

    /// The numbers of a list, with the way to each.
    fn list(&mut self, items: &'u [CExpr], ty: &Type) -> Run<Value> {
        let values: Vec<Value> = items.iter().map(|item| self.value(item)).collect::<Run<_>>()?;
        let mut parts = Vec::new();
        let mut lanes = 0;
        for (i, (item, value)) in items.iter().zip(&values).enumerate() {
            let (way, part) = match ty {
                Type::Scalar(_) => return convert(*value, ty),
                Type::Vector(scalar, _) => (format!("#{lanes}"), Type::Scalar(*scalar)),
                Type::Array(element, _) => (format!("[{i}]"), (**element).clone()),
                Type::Struct(_, fields) => match fields.get(i) {
                    Some((name, field)) => (format!(".{name}"), field.clone()),
                    None => break,
                },
                _ => break,
            };
            lanes += if let Type::Vector(_, width) = item.ty { width } else { 1 };
            // Braces may be left out.
            if aggregate(&part) {
                break;
            }
            if let (Value::Int(_), Type::Scalar(_)) = (value, &item.ty) {
                parts.push((way, convert(*value, &part)?));
            }
        }
        if let (Type::Vector(_, width), [(_, only)], 1) = (ty, parts.as_slice(), items.len()) {
            let only = *only;
            parts = (0..*width).map(|lane| (format!("#{lane}"), only)).collect();
        }
        self.wholes.push(parts);
        Ok(Value::Whole(self.wholes.len() - 1))
    }

    fn value(&mut self, e: &'u CExpr) -> Run<Value> {
        self.work += 1;
        if self.work > 200_000 {
            return Err(Undefined::Endless);
        }
        Ok(match &e.kind {
            ExprKind::Int(v) | ExprKind::SizeOf(v) => convert(Value::Int(*v), &e.ty)?,
            ExprKind::Real(_) | ExprKind::Text => Value::Other,
            ExprKind::Symbol(name) => Value::Int(self.symbols[name]),
            ExprKind::Variable(..) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                let place = self.place(e)?;
                let value = self.load(&place, &e.ty);
                self.fixed(e).unwrap_or(value)
            }
            ExprKind::Unary(op, a) => self.unary(*op, a, e)?,
            ExprKind::Binary(CBinaryOp::And, a, b) => {
                Value::Int(i64::from(self.truth(a)? && self.truth(b)?))
            }
            ExprKind::Binary(CBinaryOp::Or, a, b) => {
                Value::Int(i64::from(self.truth(a)? || self.truth(b)?))
            }
            ExprKind::Binary(CBinaryOp::Comma, a, b) => {
                self.value(a)?;
                self.value(b)?
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                self.binary(*op, (x, &a.ty), (y, &b.ty), &e.ty)?
            }
            ExprKind::Assign(op, left, right) => {
                let value = self.value(right)?;
                let place = self.place(left)?;
                let value = match op {
                    None => convert(value, &left.ty)?,
                    Some(op) => {
                        let old = self.load(&place, &left.ty);
                        let new =
                            self.binary(*op, (old, &left.ty), (value, &right.ty), &left.ty)?;
                        convert(new, &left.ty)?
                    }
                };
                self.store(&place, value);
                value
            }
            ExprKind::Conditional(c, a, b) => {
                let chosen = if self.truth(c)? { a } else { b };
                let value = self.value(chosen)?;
                convert(value, &e.ty)?
            }
            ExprKind::Cast(a) => {
                let value = self.value(a)?;
                if matches!(value, Value::Other | Value::Whole(_)) && !aggregate(&e.ty) {
                    self.drawn(&e.ty)
                } else {
                    convert(value, &e.ty)?
                }
            }
            ExprKind::List(items) => self.list(items, &e.ty)?,
            ExprKind::Call(name, arguments) => self.call(name, arguments, e)?,
            ExprKind::Unread(what) => panic!("{what}"),
        })
    }

    /// The value of a constant of program scope.
    fn fixed(&self, e: &CExpr) -> Option<Value> {
        let ExprKind::Variable(id, _) = &e.kind else { return None };
        let global = self.unit.globals.iter().find(|global| global.id == *id)?;
        match global.init.as_ref()?.kind {
            ExprKind::Int(value) => Some(Value::Int(value)),
            _ => None,
        }
    }
}

fn lane(place: Place, way: Option<Way>) -> Place {
    match place {
        Place::Memory(space) | Place::Lane(space) => Place::Lane(space),
        place => inside(place, way),
    }
}

/// A part of what lies at a place.
fn inside(place: Place, way: Option<Way>) -> Place {
    match place {
        Place::Variable(id) => Place::Part(Some(id), way),
        Place::Part(id, Some(first)) => {
            let component = first.contains('#');
            Place::Part(id, way.filter(|_| !component).map(|way| first + &way))
        }
        place => place,
    }
}

/// The way to a component by its name, if it is one.
fn component(member: &str) -> Option<Way> {
    let digit = member.strip_prefix(['s', 'S']).filter(|digit| digit.len() == 1);
    let digit = digit.and_then(|digit| u8::from_str_radix(digit, 16).ok());
    let letter = if member.len() == 1 { "xyzw".find(member) } else { None };
    digit.map(usize::from).or(letter).map(|lane| format!("#{lane}"))
}

fn aggregate(ty: &Type) -> bool {
    matches!(ty, Type::Vector(..) | Type::Struct(..) | Type::Union(..) | Type::Array(..))
}
