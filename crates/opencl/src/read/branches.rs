//! Branches: both sides are walked, then the two paths come together.

use tickbound_model::source::Side;

use super::formulas::{self, FormulaId, Guard};
use super::nodes::{self, NodeKind, Nodes, joined, make_uncertain, matter, same_effect};
use super::symbolic::{AtomKind, Poly};
use super::value::ReadState;
use super::{Read, Reader};
use crate::ast::{CExpr, SourcePlace};
use crate::error::ReadError;
use crate::steps::Dependence;

impl<'a> Reader<'a> {
    /// Walks both sides of a branch, each from the state before it, and lets them come together.
    /// A side that is certainly not taken is not walked.
    pub fn fork<T>(
        &mut self,
        condition: &Poly,
        asked: (&SourcePlace, &'a CExpr),
        then: impl FnOnce(&mut Self) -> Read<T>,
        otherwise: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<(Option<T>, Option<T>)> {
        match self.terms.only_value(condition) {
            Some(0) => return Ok((None, Some(otherwise(self)?))),
            Some(_) => return Ok((Some(then(self)?), None)),
            None => {}
        }
        let by_data = !self.terms.sayable(condition) && !self.says_iterations(condition);
        let decides = by_data.then(|| self.whole_formula(condition));
        let (then_state, [(x, then_nodes), (y, other_nodes)]) =
            self.undecided(decides, |r| r.both_sides(condition, then, otherwise))?;
        let differing = self.differing(condition, &then_state);
        self.state = ReadState::merge(&mut self.terms, condition, &then_state, &self.state);
        differing.into_iter().for_each(|(id, formula)| self.set_formula(id, formula));
        self.branch(condition, asked, then_nodes, other_nodes)?;
        Ok((Some(x), Some(y)))
    }

    /// A part of the walk that is executed only as data decide.
    pub fn undecided<T>(
        &mut self,
        decides: Option<FormulaId>,
        part: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let Some(decides) = decides else { return part(self) };
        let before = self.deciding;
        self.deciding = before.or(Some((decides, self.iterations.len(), self.path.len())));
        let result = part(self);
        self.deciding = before;
        result
    }

    /// A part of the walk behind a guard, a side of a branch, with the guard's number.
    pub fn behind<T>(
        &mut self,
        (guard, branch): (Guard, u32),
        part: impl FnOnce(&mut Self) -> T,
    ) -> (u32, T) {
        if self.probing > 0 {
            return (0, part(self));
        }
        let number = formulas::number(&mut self.formulas.guards, guard, branch);
        self.path.push(number);
        let result = part(self);
        self.path.pop();
        (number, result)
    }

    /// Both sides of a branch, each from the state before it, and the state after the first.
    fn both_sides<T>(
        &mut self,
        condition: &Poly,
        then: impl FnOnce(&mut Self) -> Read<T>,
        otherwise: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<(ReadState, [(T, Nodes); 2])> {
        let before = self.state.clone();
        let negated = self.terms.not(condition);
        self.forks += 1;
        let sides = [condition, &negated].map(|holds| Guard::Side(holds.clone()));
        let known = sides.iter().find_map(|side| self.formulas.guards.get(side).copied());
        let branch = known.unwrap_or(self.forks);
        let [holds, fails] = sides.map(|side| (side, branch));
        let (first, then) = self.behind(holds, |r| r.assuming(condition, then));
        let (x, then_nodes) = then?;
        let then_state = std::mem::replace(&mut self.state, before);
        let (second, other) = self.behind(fails, |r| r.assuming(&negated, otherwise));
        let other = other?;
        self.sides = [first, second];
        Ok((then_state, [(x, then_nodes), other]))
    }

    /// A part of the walk that takes a condition for granted, and its steps.
    pub fn assuming<T>(
        &mut self,
        condition: &Poly,
        part: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<(T, Nodes)> {
        let facts = self.terms.facts();
        self.terms.assume(condition);
        let result = self.capture(part);
        self.terms.forget(facts);
        result
    }

    /// The steps of a branch out of those of its sides.
    fn branch(
        &mut self,
        condition: &Poly,
        (at, asked): (&SourcePlace, &'a CExpr),
        mut then: Nodes,
        mut otherwise: Nodes,
    ) -> Read<()> {
        if then.is_empty() && otherwise.is_empty() || self.probing > 0 {
            return Ok(());
        }
        let named = self.terms.sayable(condition);
        let chosen = self.chosen_side(at, asked).is_some();
        let same = same_effect(&then, &otherwise);
        // Of what data decide nothing is certain.
        if !named && !same && !self.says_iterations(condition) {
            [&mut then, &mut otherwise].into_iter().for_each(make_uncertain);
        }
        let decided = named || !chosen && self.says_iterations(condition);
        if !named && same || !matter(&then) && !matter(&otherwise) && !named {
            let both = joined(&mut self.terms, then, otherwise);
            self.append(both);
        } else if decided {
            self.emit_if(condition, then, otherwise, at);
        } else {
            // A value that no data decide is known where the counters around are.
            self.needs_counters = !chosen && self.terms.depends(condition) < Dependence::Data;
            let side = self.side(at, asked)?;
            // What is known of the condition holds on the side that is answered for the rest.
            let may_hold = self.implied(condition, true);
            let must_hold = self.implied(condition, false);
            match side {
                Side::Then => self.emit_if(&may_hold, then, otherwise, at),
                Side::Else => self.emit_if(&must_hold, then, otherwise, at),
                Side::Both => {
                    self.emit_if(&may_hold, then, Vec::new(), at);
                    self.emit_if(&must_hold, Vec::new(), otherwise, at);
                }
            }
        }
        Ok(())
    }

    /// A condition with `unknown` for parts without names: what 1 implies, or what implies 0.
    fn implied(&mut self, condition: &Poly, unknown: bool) -> Poly {
        if self.terms.sayable(condition) {
            return condition.clone();
        }
        match self.terms.kind_of(condition).cloned() {
            Some(ref kind @ (AtomKind::And(ref a, ref b) | AtomKind::Or(ref a, ref b))) => {
                let (a, b) = (self.implied(a, unknown), self.implied(b, unknown));
                let both = matches!(kind, AtomKind::And(..));
                if both { self.terms.and(&a, &b) } else { self.terms.or(&a, &b) }
            }
            Some(_) => Poly::int(i64::from(unknown)),
            None => {
                let negated = self.terms.not(condition);
                match self.terms.kind_of(&negated) {
                    Some(AtomKind::And(..) | AtomKind::Or(..)) => {
                        let part = self.implied(&negated, !unknown);
                        self.terms.not(&part)
                    }
                    _ => Poly::int(i64::from(unknown)),
                }
            }
        }
    }

    /// A branch whose condition may be a constant.
    pub fn emit_if(&mut self, condition: &Poly, then: Nodes, otherwise: Nodes, at: &SourcePlace) {
        match condition.constant() {
            Some(0) => self.append(otherwise),
            Some(_) => self.append(then),
            None if then.is_empty() && otherwise.is_empty() => {}
            None if then.is_empty() => {
                let condition = self.terms.not(condition);
                self.emit(NodeKind::If { condition, then: otherwise, otherwise: then }, at);
            }
            None => {
                self.emit(NodeKind::If { condition: condition.clone(), then, otherwise }, at);
            }
        }
    }

    /// Whether the value is made of names and iterations of the loops around.
    pub fn says_iterations(&self, poly: &Poly) -> bool {
        self.terms.leaves(poly).iter().all(|leaf| self.iterations.contains(leaf))
    }

    /// Which side the problem file chooses for a branch that depends on data.
    pub fn side(&mut self, at: &SourcePlace, asked: &CExpr) -> Read<Side> {
        if let Some(side) = self.chosen_side(at, asked) {
            return Ok(side);
        }
        let (at, key) = (at.clone(), self.key(Some(asked)));
        let function = self.calls.last().copied().unwrap_or_default().to_owned();
        let question = ReadError::Unsided { at, key, function };
        if self.needs_counters {
            return Err(question);
        }
        self.ask(question);
        Ok(Side::Both)
    }

    pub fn append(&mut self, more: Nodes) {
        for node in more {
            nodes::push(&mut self.nodes, node);
        }
    }
}
