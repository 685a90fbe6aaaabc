//! Statements.
//!
//! A `switch` becomes a branch for each place that labels lead to. From a label on, the walk goes
//! through all statements up to a `break`, also those behind other labels. Finding the label costs
//! nothing: it is not an operation of the abstract machine.

use super::expressions::unread;
use super::nodes::matter;
use super::symbolic::Poly;
use super::types::{INT, Integer};
use super::value::{ReadValue, holds_pointers};
use super::{Read, Reader, counts, scan};
use crate::ast::{AddressSpace, CExpr, CStmt, CStmtKind, CVariable, Label, Type};
use crate::steps::Dependence;

/// What is to be walked after the statements at hand.
#[derive(Clone, Copy)]
pub struct Rest<'a, 'r> {
    pub stmts: &'a [CStmt],
    pub next: Option<&'r Rest<'a, 'r>>,
    /// Whether they follow a `switch`: a `break` inside it leads to them.
    pub after_switch: bool,
}

impl<'a> Reader<'a> {
    /// Walks statements, then what follows them. A `return`, `break` or `continue` ends the walk.
    pub fn run(&mut self, stmts: &'a [CStmt], rest: Option<&Rest<'a, '_>>) -> Read<()> {
        for (i, stmt) in stmts.iter().enumerate() {
            let after = Rest { stmts: &stmts[i + 1..], next: rest, after_switch: false };
            match &stmt.kind {
                CStmtKind::Block(body) if scan::escapes(body) => {
                    return self.run(body, Some(&after));
                }
                CStmtKind::If(condition, then, otherwise) if self.is_exit(stmt) => {
                    return self.exit(stmt, (condition, then, otherwise), &after);
                }
                CStmtKind::If(condition, then, otherwise)
                    if scan::escapes(then) || scan::escapes(otherwise) =>
                {
                    return self.parting(condition, then, otherwise, &after, stmt);
                }
                CStmtKind::Switch(..) if scan::escapes(std::slice::from_ref(stmt)) => {
                    let after = Rest { after_switch: true, ..after };
                    return self.switch(stmt, Some(&after));
                }
                CStmtKind::Return(value) => return self.leave(value.as_ref()),
                CStmtKind::Break => return self.run_after_switch(rest),
                CStmtKind::Continue => return Ok(()),
                _ => self.statement(stmt)?,
            }
            if let Some(left) = self.state.left.take() {
                return self.unless_left(stmt, &left, |r| r.run(after.stmts, rest));
            }
        }
        match rest {
            Some(rest) => self.run(rest.stmts, rest.next),
            None => Ok(()),
        }
    }

    /// A statement after which the walk goes on.
    fn statement(&mut self, stmt: &'a CStmt) -> Read<()> {
        match &stmt.kind {
            CStmtKind::Block(body) => self.run(body, None),
            CStmtKind::Declare(variables) => {
                variables.iter().try_for_each(|variable| self.declare(variable))
            }
            CStmtKind::Expr(e) => self.value(e).map(drop),
            CStmtKind::If(condition, then, otherwise) => {
                let asked = (&stmt.at, condition);
                let condition = self.condition(condition)?;
                let side = |side: &'a [CStmt]| move |r: &mut Self| r.run(side, None);
                self.fork(&condition, asked, side(then), side(otherwise)).map(drop)
            }
            CStmtKind::For { init, .. } => {
                self.run(init, None)?;
                self.repeat(stmt)
            }
            CStmtKind::While(..) | CStmtKind::DoWhile(..) => self.repeat(stmt),
            CStmtKind::Switch(..) => self.switch(stmt, None),
            CStmtKind::Unread(what) => Err(unread(what, &stmt.at)),
            CStmtKind::Return(_) | CStmtKind::Break | CStmtKind::Continue | CStmtKind::Empty => {
                Ok(())
            }
        }
    }

    /// An `if` with a side that leaves: what follows belongs to each side that does not.
    fn parting(
        &mut self,
        condition: &'a CExpr,
        then: &'a [CStmt],
        otherwise: &'a [CStmt],
        after: &Rest<'a, '_>,
        stmt: &'a CStmt,
    ) -> Read<()> {
        let asked = (&stmt.at, condition);
        let condition = self.condition(condition)?;
        if self.bounded > 0 && !self.says_iterations(&condition) {
            // The iterations that are counted are those that do not leave.
            for (leaving, staying) in [(then, otherwise), (otherwise, then)] {
                if scan::always_leaves(leaving) && self.is_silent(leaving)? {
                    return self.run(staying, Some(after));
                }
            }
        }
        let side = |side: &'a [CStmt]| move |r: &mut Self| r.run(side, Some(after));
        self.fork(&condition, asked, side(then), side(otherwise)).map(drop)
    }

    /// Whether statements do nothing but arithmetic. Nothing remains of the walk.
    fn is_silent(&mut self, stmts: &'a [CStmt]) -> Read<bool> {
        let before = self.state.clone();
        let result = self.capture(|r| r.run(stmts, None));
        self.state = before;
        Ok(!matter(&result?.1))
    }

    fn leave(&mut self, value: Option<&'a CExpr>) -> Read<()> {
        let Some(e) = value else { return Ok(()) };
        let function = self.calls.last().and_then(|name| self.unit.functions.get(*name));
        let result = function.map_or(&e.ty, |function| &function.result);
        self.state.returned = Some(self.value_as(e, result, &e.at)?);
        Ok(())
    }

    fn declare(&mut self, variable: &'a CVariable) -> Read<()> {
        if let Type::Other(name) = &variable.ty
            && variable.space == AddressSpace::Private
            && name != "event_t"
            && !name.contains("sampler")
        {
            let what = format!("a variable of type {name}");
            return Err(unread(&what, &variable.at));
        }
        if variable.space == AddressSpace::Local && !self.locals.contains_key(&variable.id) {
            let bytes = self.bytes(&variable.ty)?;
            self.locals.insert(variable.id, (variable, bytes));
        }
        if counts(variable.space) {
            return Ok(());
        }
        if !matches!(variable.ty, Type::Scalar(_) | Type::Pointer(..) | Type::Other(_))
            && !self.privates.contains_key(&variable.id)
        {
            let bytes = self.bytes(&variable.ty)?;
            self.privates.insert(variable.id, (variable, bytes));
        }
        let value = match &variable.init {
            Some(init) => self.initial(variable, init)?,
            None if holds_pointers(&variable.ty) => {
                self.declare_pointers(variable.id);
                return Ok(());
            }
            None => self.unknown(&variable.ty, Dependence::Data),
        };
        self.state.values.insert(variable.id, value);
        Ok(())
    }

    fn initial(&mut self, variable: &'a CVariable, init: &'a CExpr) -> Read<ReadValue> {
        let part = |r: &mut Self| match &variable.ty {
            Type::Array(..) | Type::Struct(..) | Type::Union(..) => Ok(match r.value(init)? {
                value @ ReadValue::Parts(..) => value,
                value @ ReadValue::Pointer(..) if holds_pointers(&variable.ty) => value,
                value => ReadValue::Other(value.depends(&r.terms), r.formula_of(&value)),
            }),
            ty => r.value_as(init, ty, &init.at),
        };
        let index = match &variable.ty {
            Type::Pointer(..) => true,
            ty => Integer::of(ty).is_some() && self.feeding.contains(&variable.id),
        };
        self.index_if(index, part)
    }
}

/// What the sides of a `switch` have in common.
struct Switch<'a, 'r> {
    stmt: &'a CStmt,
    value: &'a CExpr,
    body: &'a [CStmt],
    after: Option<&'r Rest<'a, 'r>>,
}

impl<'a> Reader<'a> {
    /// A `switch`. With several ways to leave it, what follows is walked with each side.
    pub fn switch(&mut self, stmt: &'a CStmt, after: Option<&Rest<'a, '_>>) -> Read<()> {
        let CStmtKind::Switch(value, labels, body) = &stmt.kind else { return Ok(()) };
        let number = self.whole(value)?;
        let default = labels.iter().find(|label| label.value.is_none()).map(|label| label.place);
        let mut sides: Vec<(Poly, usize)> = Vec::new();
        for label in labels.iter().filter(|label| Some(label.place) != default) {
            let is = self.is_label(&number, value, label)?;
            match sides.last_mut() {
                Some((any, place)) if *place == label.place => *any = self.terms.or(any, &is),
                _ => sides.push((is, label.place)),
            }
        }
        self.sides(&Switch { stmt, value, body, after }, &sides, default)
    }

    /// Whether a label is that of a value. Both are brought to the promoted type of the value.
    fn is_label(&mut self, number: &Poly, value: &CExpr, label: &Label) -> Read<Poly> {
        let Some(own) = &label.value else { return Ok(Poly::int(1)) };
        let to = Integer::of(&value.ty).unwrap_or(INT).promoted();
        let constant = self.constant(own)?;
        let from = Integer::of(&own.ty).unwrap_or(INT);
        let constant = from.convert(to, &mut self.terms, &constant);
        let constant = to.exact(&mut self.terms, &constant);
        Ok(self.terms.equal(number, &constant))
    }

    /// The first side whose condition holds; the default, or nothing, if none does.
    fn sides(
        &mut self,
        of: &Switch<'a, '_>,
        sides: &[(Poly, usize)],
        default: Option<usize>,
    ) -> Read<()> {
        let from =
            |r: &mut Self, place: usize| r.run(&of.body[place.min(of.body.len())..], of.after);
        match sides {
            [] => from(self, default.unwrap_or(of.body.len())),
            [(condition, place), others @ ..] => {
                let asked = (&of.stmt.at, of.value);
                let otherwise = |r: &mut Self| r.sides(of, others, default);
                self.fork(condition, asked, |r| from(r, *place), otherwise).map(drop)
            }
        }
    }

    /// What follows the `switch` that a `break` leaves; nothing of a loop, or if walked later.
    pub fn run_after_switch(&mut self, rest: Option<&Rest<'a, '_>>) -> Read<()> {
        match rest {
            Some(rest) if rest.after_switch => self.run(rest.stmts, rest.next),
            Some(rest) => self.run_after_switch(rest.next),
            None => Ok(()),
        }
    }
}
