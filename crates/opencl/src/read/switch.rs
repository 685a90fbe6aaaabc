//! `switch`: a branch for each place that labels lead to.
//!
//! From a label on, the walk goes through all statements up to a `break`, also those behind other
//! labels. Finding the label costs nothing: it is no operation of the abstract machine.

use super::statements::Rest;
use super::symbolic::Poly;
use super::types::{INT, Integer};
use super::{Read, Reader};
use crate::ast::{CExpr, CStmt, CStmtKind, Label};
use crate::error::ReadError;

/// What the sides of a `switch` have in common.
struct Switch<'a, 'r> {
    stmt: &'a CStmt,
    value: &'a CExpr,
    body: &'a [CStmt],
    after: Option<&'r Rest<'a, 'r>>,
}

impl<'a> Reader<'a> {
    /// A `switch`. Where it can be left for more than its end, what follows it is walked with each
    /// side.
    pub fn switch(&mut self, stmt: &'a CStmt, after: Option<&Rest<'a, '_>>) -> Read<()> {
        let CStmtKind::Switch(value, labels, body) = &stmt.kind else { return Ok(()) };
        let number = self.whole(value)?;
        if self.probing == 0 && !self.terms.sayable(&number) && !self.says_iterations(&number) {
            return Err(ReadError::at(
                &stmt.at,
                "the switch depends on data",
                "write it with `if`, whose branches the problem file can answer",
            ));
        }
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

    /// What follows the `switch` that a `break` leaves; nothing if it leaves a loop, or if what
    /// follows is walked later.
    pub fn run_after_switch(&mut self, rest: Option<&Rest<'a, '_>>) -> Read<()> {
        match rest {
            Some(rest) if rest.after_switch => self.run(rest.stmts, rest.next),
            Some(rest) => self.run_after_switch(rest.next),
            None => Ok(()),
        }
    }
}
