//! Statements.

use super::expressions::unread;
use super::nodes::matter;
use super::scan;
use super::types::Integer;
use super::value::{ReadValue, holds_pointers};
use super::{Read, Reader, counts};
use crate::ast::{AddressSpace, CExpr, CStmt, CStmtKind, CVariable, Type};
use crate::steps::Dependence;

/// What is to be walked after the statements at hand.
#[derive(Clone, Copy)]
pub struct Rest<'a, 'r> {
    /// The next statements.
    pub stmts: &'a [CStmt],
    /// What follows them.
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
        let value = self.value(e)?;
        let result = self.calls.last().and_then(|name| self.unit.functions.get(*name));
        let value = match result {
            Some(function) => self.of(e, |r| r.convert(value, &e.ty, &function.result, &e.at)),
            None => value,
        };
        self.state.returned = Some(value);
        Ok(())
    }

    fn declare(&mut self, variable: &'a CVariable) -> Read<()> {
        if let Type::Other(name) = &variable.ty
            && variable.space == AddressSpace::Private
            && name != "event_t"
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
                // What the first store puts in is all that can be read.
                self.state.values.remove(&variable.id);
                return Ok(());
            }
            None => self.unknown(&variable.ty, Dependence::Data),
        };
        self.state.values.insert(variable.id, value);
        Ok(())
    }

    fn initial(&mut self, variable: &'a CVariable, init: &'a CExpr) -> Read<ReadValue> {
        let part = |r: &mut Self| {
            let value = r.value(init)?;
            Ok(match &variable.ty {
                Type::Array(..) | Type::Struct(..) | Type::Union(..) => match value {
                    ReadValue::Parts(..) => value,
                    ReadValue::Pointer(..) if holds_pointers(&variable.ty) => value,
                    value => ReadValue::Other(value.depends(&r.terms)),
                },
                ty => r.of(init, |r| r.convert(value, &init.ty, ty, &init.at)),
            })
        };
        let index = match &variable.ty {
            Type::Pointer(..) => true,
            ty => Integer::of(ty).is_some() && self.feeding.contains(&variable.id),
        };
        if index { self.index(part) } else { part(self) }
    }
}
