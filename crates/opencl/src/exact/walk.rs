//! Statements, walked with the condition under which each is executed.
//!
//! Both sides of every branch are walked. What a path has left (`return`, `break`, `continue`) is a
//! term; what follows is done under its opposite. So an event has a list of conditions instead of a
//! place in a tree, and values after a branch are choices.

use std::collections::{BTreeSet, HashMap};

use super::value::{Now, Pointee, PointeeTarget, Pointees, Worth, Written, merged, whole_type};
use crate::ast::{
    AddressSpace, CExpr, CFunction, CStmt, CStmtKind, CVariable, Label, SourcePlace, Type, Unit,
    VariableId,
};
use crate::error::{Read, ReadError};
use crate::proof::events::{ProofArray, ProofEvent, ProofEventKind};
use crate::proof::terms::{MOST, TermId, Terms, type_range};
use crate::read::{Integer, variables};
use crate::request::{Passed, ReadRequest};
use std::rc::Rc;

/// Most expressions that are walked.
const MAX_WORK: u64 = 4_000_000;
/// Most nodes of terms.
const MAX_NODES: usize = 1 << 21;

pub(super) struct Walk<'a> {
    pub request: &'a ReadRequest,
    pub unit: &'a Unit,
    pub variables: HashMap<VariableId, &'a CVariable>,
    pub terms: Terms,
    pub arrays: Vec<ProofArray>,
    /// The arrays of variables, and of parameters.
    pub places: HashMap<VariableId, usize>,
    pub now: Now,
    /// Conditions of this place, from the loop around inward.
    pub path: Vec<TermId>,
    /// What holds here.
    pub given: Vec<TermId>,
    pub events: Vec<ProofEvent>,
    /// Inside how many walks that only look.
    pub probing: u32,
    /// Whether the step of a loop is walked.
    pub stepping: bool,
    pub written: Written,
    /// Arrays that are stored to: as found so far, and as a walk before has found.
    pub stored: BTreeSet<usize>,
    pub ever_stored: Option<BTreeSet<usize>>,
    /// The functions of the contents of arrays.
    pub contents: HashMap<(usize, u32, bool), u32>,
    pub unread: Vec<(SourcePlace, String)>,
    pub assumed: Vec<(SourcePlace, String)>,
    pub calls: Vec<&'a str>,
    /// The counters of the loops around.
    pub counters: Vec<TermId>,
    /// How many asynchronous copies there are.
    pub copies: i128,
    pub work: u64,
}

impl<'a> Walk<'a> {
    pub fn new(request: &'a ReadRequest, unit: &'a Unit) -> Walk<'a> {
        let mut terms = Terms::default();
        let no = terms.int(0);
        Walk {
            request,
            unit,
            variables: variables(unit),
            terms,
            arrays: Vec::new(),
            places: HashMap::new(),
            now: Now {
                values: Default::default(),
                returned: no,
                broken: no,
                continued: no,
                result: None,
            },
            path: Vec::new(),
            given: Vec::new(),
            events: Vec::new(),
            probing: 0,
            stepping: false,
            written: Written::new(),
            stored: BTreeSet::new(),
            ever_stored: None,
            contents: HashMap::new(),
            unread: Vec::new(),
            assumed: Vec::new(),
            calls: Vec::new(),
            counters: Vec::new(),
            copies: 0,
            work: 0,
        }
    }

    /// Gives the kernel's parameters their values.
    pub fn bind(&mut self, entry: &'a CFunction) {
        for (i, parameter) in entry.parameters.iter().enumerate() {
            let null = self.request.arguments.get(i) == Some(&Passed::Null);
            let value = match &parameter.ty {
                Type::Pointer(..) if null => self.pointer(PointeeTarget::Null),
                Type::Pointer(space, element) => {
                    let array = self.array_of(parameter, *space, element, Some(i), false);
                    self.pointer(PointeeTarget::Array(array))
                }
                Type::Other(name) if name.contains("image") => {
                    let space = AddressSpace::Global;
                    let array = self.array_of(parameter, space, &parameter.ty, Some(i), true);
                    self.pointer(PointeeTarget::Array(array))
                }
                ty => match Integer::of(ty) {
                    Some(integer) => {
                        let range = type_range(integer.bits, integer.signed);
                        let range = match self.request.arguments.get(i) {
                            Some(Passed::Number(symbol)) => (
                                range.0.max(symbol.least.into()),
                                range.1.min(symbol.greatest.into()),
                            ),
                            _ => range,
                        };
                        Worth::Int(self.name(&format!("${}", parameter.name), range))
                    }
                    None => Worth::Other,
                },
            };
            self.now.values.insert(parameter.id, value);
        }
    }

    fn name(&mut self, name: &str, range: (i128, i128)) -> TermId {
        self.terms.named(crate::proof::terms::VariableKind::Name(name.to_owned()), range)
    }

    /// A macro whose value is open.
    pub fn symbol(&mut self, name: &str, at: &SourcePlace) -> TermId {
        match self.request.symbols.get(name) {
            Some(symbol) => self.name(name, (symbol.least.into(), symbol.greatest.into())),
            None => {
                self.note(at, format!("the macro {name} has no value"));
                self.terms.unknown((-MOST, MOST))
            }
        }
    }

    pub fn pointer(&mut self, target: PointeeTarget) -> Worth {
        Worth::Pointer(self.pointee(target))
    }

    /// The beginning of what a pointer points to.
    pub fn pointee(&mut self, target: PointeeTarget) -> Pointees {
        let (when, offset) = (self.terms.int(1), self.terms.int(0));
        Rc::new(vec![Pointee { when, target, offset }])
    }

    /// The array that a variable is, or that a parameter points to.
    pub fn array_of(
        &mut self,
        variable: &CVariable,
        space: AddressSpace,
        ty: &Type,
        parameter: Option<usize>,
        image: bool,
    ) -> usize {
        if let Some(place) = self.places.get(&variable.id) {
            return *place;
        }
        let bytes = match parameter {
            Some(_) => None,
            None => Some(self.bytes(&variable.ty)),
        };
        let (component, _) = crate::read::parts(ty);
        self.arrays.push(ProofArray {
            name: variable.name.clone(),
            space,
            bytes,
            parameter,
            element: if image { 0 } else { component.into() },
        });
        self.places.insert(variable.id, self.arrays.len() - 1);
        self.arrays.len() - 1
    }

    pub fn note(&mut self, at: &SourcePlace, what: impl Into<String>) {
        let unread = (at.clone(), what.into());
        if self.probing == 0 && !self.unread.contains(&unread) {
            self.unread.push(unread);
        }
    }

    pub fn tick(&mut self, at: &SourcePlace) -> Read<()> {
        self.work += 1;
        if self.work <= MAX_WORK && self.terms.count() <= MAX_NODES {
            return Ok(());
        }
        Err(ReadError::at(at, "the kernel is too large to be read", "verify a part of it"))
    }

    pub fn emit(&mut self, kind: ProofEventKind, at: &SourcePlace) {
        let dead = self.path.iter().any(|c| self.terms.constant(*c) == Some(0));
        if self.probing == 0 && !dead {
            let (when, given) = (self.path.clone(), self.given.clone());
            self.events.push(ProofEvent { at: at.clone(), when, given, kind });
        }
    }

    /// A part of the walk that is executed if a condition holds.
    pub fn guarded(
        &mut self,
        condition: TermId,
        part: impl FnOnce(&mut Self) -> Read<()>,
    ) -> Read<()> {
        if self.terms.constant(condition) == Some(0) {
            return Ok(());
        }
        let before = self.now.clone();
        self.under(condition, part)?;
        self.now = merged(&mut self.terms, condition, &self.now, &before);
        Ok(())
    }

    /// The same; the state after it is that of the part.
    pub fn under<T>(&mut self, condition: TermId, part: impl FnOnce(&mut Self) -> T) -> T {
        let (path, given) = (self.path.len(), self.given.len());
        if self.terms.constant(condition).is_none_or(|value| value == 0) {
            self.path.push(condition);
        }
        let result = part(self);
        self.path.truncate(path);
        self.given.truncate(given);
        result
    }

    /// Both sides of a branch, each from the state before it.
    pub fn fork<T>(
        &mut self,
        condition: TermId,
        then: impl FnOnce(&mut Self) -> Read<T>,
        otherwise: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<(Option<T>, Option<T>)> {
        match self.terms.constant(condition) {
            Some(0) => return Ok((None, Some(otherwise(self)?))),
            Some(_) => return Ok((Some(then(self)?), None)),
            None => {}
        }
        let before = self.now.clone();
        let x = self.under(condition, then)?;
        let first = std::mem::replace(&mut self.now, before);
        let negated = self.terms.not(condition);
        let y = self.under(negated, otherwise)?;
        self.now = merged(&mut self.terms, condition, &first, &self.now);
        Ok((Some(x), Some(y)))
    }

    fn ended(&mut self) -> TermId {
        let left = self.terms.or(self.now.returned, self.now.broken);
        self.terms.or(left, self.now.continued)
    }

    /// Walks statements, as long as the path goes on.
    pub fn block(&mut self, stmts: &'a [CStmt]) -> Read<()> {
        for (i, stmt) in stmts.iter().enumerate() {
            let ended = self.ended();
            match self.terms.constant(ended) {
                Some(0) => self.statement(stmt)?,
                Some(_) => return Ok(()),
                None => {
                    let live = self.terms.not(ended);
                    return self.afresh(live, |w| w.block(&stmts[i..]));
                }
            }
        }
        Ok(())
    }

    /// A part of the walk that is executed where the path has not ended.
    fn afresh(&mut self, live: TermId, part: impl FnOnce(&mut Self) -> Read<()>) -> Read<()> {
        let no = self.terms.int(0);
        self.guarded(live, |w| {
            (w.now.returned, w.now.broken, w.now.continued) = (no, no, no);
            part(w)
        })
    }

    fn statement(&mut self, stmt: &'a CStmt) -> Read<()> {
        let yes = self.terms.int(1);
        match &stmt.kind {
            CStmtKind::Block(body) => self.block(body),
            CStmtKind::Declare(variables) => variables.iter().try_for_each(|v| self.declare(v)),
            CStmtKind::Expr(e) => self.value(e).map(drop),
            CStmtKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let side = |side: &'a [CStmt]| move |w: &mut Self| w.block(side);
                self.fork(condition, side(then), side(otherwise)).map(drop)
            }
            CStmtKind::For { init, .. } => {
                self.block(init)?;
                self.repeat(stmt)
            }
            CStmtKind::While(..) | CStmtKind::DoWhile(..) => self.repeat(stmt),
            CStmtKind::Switch(value, labels, body) => self.switch(value, labels, body),
            CStmtKind::Return(value) => {
                if let Some(e) = value {
                    let function = self.calls.last().and_then(|n| self.unit.functions.get(*n));
                    let ty = function.map_or(&e.ty, |function| &function.result);
                    self.now.result = Some(self.value_as(e, ty)?);
                }
                self.now.returned = yes;
                Ok(())
            }
            CStmtKind::Break => {
                self.now.broken = yes;
                Ok(())
            }
            CStmtKind::Continue => {
                self.now.continued = yes;
                Ok(())
            }
            CStmtKind::Empty => Ok(()),
            CStmtKind::Unread(what) => {
                self.note(&stmt.at, format!("{what} is not read"));
                Ok(())
            }
        }
    }

    fn declare(&mut self, variable: &'a CVariable) -> Read<()> {
        if variable.space != AddressSpace::Private {
            self.array_of(variable, variable.space, &variable.ty, None, false);
            return Ok(());
        }
        let value = match &variable.init {
            Some(init) => self.value_as(init, &variable.ty)?,
            None => self.unknown(&variable.ty),
        };
        self.set(variable.id, value);
        Ok(())
    }

    pub fn set(&mut self, id: VariableId, value: Worth) {
        self.written.insert(id);
        self.now.values.insert(id, value);
    }

    pub fn unknown(&mut self, ty: &Type) -> Worth {
        match (whole_type(ty), ty) {
            (Some(integer), _) => {
                Worth::Int(self.terms.unknown(type_range(integer.bits, integer.signed)))
            }
            (_, Type::Pointer(..)) => self.pointer(PointeeTarget::Unread),
            _ => Worth::Other,
        }
    }

    /// A `switch`: from the label that the value leads to up to a `break`.
    fn switch(&mut self, value: &'a CExpr, labels: &'a [Label], body: &'a [CStmt]) -> Read<()> {
        let number = self.whole(value)?;
        let mut any = self.terms.int(0);
        let mut leads = Vec::new();
        for label in labels {
            let Some(own) = &label.value else { continue };
            let constant = self.whole(own)?;
            let is = self.terms.equal(number, constant);
            any = self.terms.or(any, is);
            leads.push((label.place, is));
        }
        let none = self.terms.not(any);
        leads.extend(labels.iter().filter(|label| label.value.is_none()).map(|l| (l.place, none)));
        let outer = std::mem::replace(&mut self.now.broken, self.terms.int(0));
        let mut entered = self.terms.int(0);
        for (i, stmt) in body.iter().enumerate() {
            for (_, is) in leads.iter().filter(|(place, _)| *place == i) {
                entered = self.terms.or(entered, *is);
            }
            let ended = self.ended();
            let live = self.terms.not(ended);
            let live = self.terms.and(entered, live);
            self.afresh(live, |w| w.statement(stmt))?;
        }
        self.now.broken = outer;
        Ok(())
    }

    /// Walks a function's body; its parameters have their values. Gives what it returns.
    pub fn function(&mut self, function: &'a CFunction) -> Read<Option<Worth>> {
        let no = self.terms.int(0);
        let outer = (self.now.returned, self.now.broken, self.now.continued);
        (self.now.returned, self.now.broken, self.now.continued) = (no, no, no);
        let result = self.now.result.take();
        self.calls.push(&function.name);
        let walked = self.block(&function.body);
        self.calls.pop();
        (self.now.returned, self.now.broken, self.now.continued) = outer;
        let returned = std::mem::replace(&mut self.now.result, result);
        walked.map(|()| returned)
    }
}
