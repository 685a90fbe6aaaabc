//! Loops that are left in the midst of an iteration, and loops that cannot be counted.
//!
//! Left by `if (i == last) break;` or `if (i >= n) return;`, a loop has as many complete iterations
//! as neither end nor leave it. What follows is the test of one more, and if it holds, that
//! iteration up to where it leaves. After a `return` the rest of the function is not walked.
//!
//! The problem file gives the iterations of loops that cannot be counted. Each of them counts in
//! full: where a branch that cannot be decided leaves the loop and does nothing else, the other
//! side is taken.

use super::formulas::FormulaId;
use super::nodes::mention;
use super::probe::{Probe, Walked};
use super::scan::{Exits, Loop};
use super::statements::Rest;
use super::symbolic::Poly;
use super::value::VariableIds;
use super::{Read, Reader, scan};
use crate::ast::{CExpr, CStmt};

impl<'a> Reader<'a> {
    pub fn loop_with_exits(&mut self, l: &Loop<'a>, exits: Exits<'a>) -> Read<()> {
        self.exits.push(exits);
        let result = self.walk_with_exits(l);
        self.exits.pop();
        result
    }

    fn walk_with_exits(&mut self, l: &Loop<'a>) -> Read<()> {
        let (probe, count) = self.counted(l)?;
        let count = count.filter(|count| self.says_iterations(count));
        let on_data = self.terms.on_data(&probe.condition);
        let count = count.ok_or_else(|| self.unbounded(l, on_data))?;
        let count = self.terms.max(&count, &Poly::int(0));
        let Walked { nodes, iteration, end } = self.one_iteration(l, &probe, &count)?;
        if mention(&self.terms, &nodes, iteration) {
            let nodes = self.split(l, &nodes, iteration, &count);
            self.append(nodes.ok_or_else(|| self.unbounded(l, false))?);
        } else {
            self.close(l, nodes, iteration, count.clone());
        }
        self.after_iterations(&probe, &count, Some((iteration, &end)));
        if let Some(exits) = self.exits.last_mut() {
            exits.leaving = true;
        }
        let condition = self.test(l)?;
        match l.test {
            Some(test) => {
                let asked = (l.at, test);
                self.fork(&condition, asked, |r| r.run(l.body, None), |_| Ok(())).map(drop)
            }
            None => self.run(l.body, None),
        }
    }

    /// Whether the statement is an exit of the loop that is being walked.
    pub fn is_exit(&self, stmt: &CStmt) -> bool {
        let exits = self.exits.last();
        exits.is_some_and(|exits| exits.at.iter().any(|exit| std::ptr::eq(*exit, stmt)))
    }

    /// An exit, and what follows it.
    pub fn exit(
        &mut self,
        stmt: &'a CStmt,
        (condition, then, otherwise): (&'a CExpr, &'a [CStmt], &'a [CStmt]),
        after: &Rest<'a, '_>,
    ) -> Read<()> {
        let leave = self.condition(condition)?;
        let Some(exits) = self.exits.last_mut() else { return Ok(()) };
        if exits.leaving {
            let last = exits.at.last().is_some_and(|exit| std::ptr::eq(*exit, stmt));
            if last {
                return self.leave_by(then);
            }
            let go_on = |r: &mut Self| r.run(otherwise, Some(after));
            return self.fork(&leave, (&stmt.at, condition), |r| r.leave_by(then), go_on).map(drop);
        }
        let stay = self.terms.not(&leave);
        if let Some(exits) = self.exits.last_mut() {
            exits.stays.push(stay.clone());
        }
        self.terms.assume(&stay);
        self.run(otherwise, Some(after))
    }

    /// The side of an exit that leaves the loop.
    fn leave_by(&mut self, side: &'a [CStmt]) -> Read<()> {
        self.run(side, None)?;
        if scan::returns(side) {
            self.state.left = Some(Poly::int(1));
        }
        Ok(())
    }

    /// What follows a loop with a `return`, if that has not ended the function.
    pub fn unless_left(
        &mut self,
        stmt: &'a CStmt,
        left: &Poly,
        rest: impl FnOnce(&mut Self) -> Read<()>,
    ) -> Read<()> {
        let exits = Loop::of(stmt).and_then(|l| Exits::of(&l));
        let condition = exits.and_then(|exits| exits.returning());
        // Nothing else leaves a function in a loop that was read.
        let Some(asked) = condition else { return rest(self) };
        self.fork(left, asked, |_| Ok(()), rest).map(drop)
    }

    /// The condition of a loop and those of its exits that were met in an iteration.
    pub fn with_exits(&mut self, l: &Loop<'a>, condition: Poly) -> Poly {
        let own = self.exits.last_mut().filter(|exits| std::ptr::eq(exits.body, l.body));
        let stays = own.map(|exits| std::mem::take(&mut exits.stays));
        stays.into_iter().flatten().fold(condition, |all, stay| self.terms.and(&all, &stay))
    }

    /// A loop whose iterations the problem file gives.
    pub fn bounded_loop(&mut self, l: &Loop<'a>, count: Poly) -> Read<()> {
        self.bounded += 1;
        let result = self.undecided(Some(FormulaId::UNKNOWN), |r| r.walk_bounded(l, count));
        self.bounded -= 1;
        result
    }

    fn walk_bounded(&mut self, l: &Loop<'a>, count: Poly) -> Read<()> {
        let probe = self.probe(l)?;
        if self.probing == 0 {
            let Walked { nodes, iteration, .. } = self.one_iteration(l, &probe, &count)?;
            if mention(&self.terms, &nodes, iteration) {
                let question = self.iterations_differ(l.at, &nodes, iteration);
                self.ask(question);
            }
            self.close(l, nodes, iteration, count);
        }
        self.blur(l, probe)
    }

    /// The state after a loop of which is only known what it may have changed.
    pub fn blur(&mut self, l: &Loop<'a>, probe: Probe) -> Read<()> {
        let mut variables: VariableIds = probe.changes.keys().copied().collect();
        scan::assigned(l.body, &mut variables);
        l.expressions().for_each(|e| scan::assigned_by(e, &mut variables));
        self.state = probe.start;
        for id in variables {
            if let Some(value) = self.state.values.get(&id).cloned() {
                let value = self.blurred(id, &value);
                self.state.values.insert(id, value);
            }
        }
        self.last_test(l)
    }
}
