//! Questions to the problem file: which loops and branches they are about, and its answers.

use std::collections::BTreeSet;

use itertools::Itertools;
use tickbound_model::source::{QuestionKey, Side};

use super::nodes::{KernelNode, first_mention};
use super::scan::Loop;
use super::symbolic::Leaf;
use super::{Reader, scan};
use crate::ast::{CBinaryOp, CExpr, CFunction, CStmt, CStmtKind, ExprKind, SourcePlace, Unit};
use crate::error::ReadError;
use crate::request::{ReadRequest, Symbol, bound_name};
use crate::written::written;

/// Most iterations of a loop that are walked one by one.
pub const MAX_ITERATIONS: i64 = 64;

/// A loop or branch: where it stands, and its condition, if it has one.
pub type QuestionPlace<'e> = (&'e SourcePlace, Option<&'e CExpr>);

/// Whether an answer is for a place in a function.
pub fn fits(
    asked: &QuestionKey,
    function: &CFunction,
    file: &str,
    (at, condition): QuestionPlace<'_>,
) -> bool {
    match asked {
        QuestionKey::Line(line) => at.line == *line && *at.file == *file,
        QuestionKey::Function { name, condition: wanted, place } => {
            let text = plain(&condition_text(condition));
            let same = |wanted: &String| plain(wanted) == text;
            let numbered = |n: &u32| number(function, at, &text) == usize::try_from(*n).ok();
            *name == function.name
                && wanted.as_ref().is_none_or(same)
                && place.as_ref().is_none_or(numbered)
        }
    }
}

/// The number, from 1, of a place among those in its function with the same condition.
fn number(function: &CFunction, at: &SourcePlace, text: &str) -> Option<usize> {
    let (loops, branches) = places(&function.body);
    let mut all: Vec<QuestionPlace<'_>> = [loops, branches].concat();
    all.retain(|(_, condition)| plain(&condition_text(*condition)) == text);
    all.sort_by_key(|(at, _)| *at);
    all.dedup_by_key(|(at, _)| *at);
    all.iter().position(|(a, _)| *a == at).map(|index| index + 1)
}

/// A condition without blanks.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The condition of a loop or branch, as answers have it.
pub fn condition_text(condition: Option<&CExpr>) -> String {
    condition.map_or_else(|| "true".to_owned(), written)
}

/// The loops and the branches in statements.
fn places(body: &[CStmt]) -> (Vec<QuestionPlace<'_>>, Vec<QuestionPlace<'_>>) {
    let (mut loops, mut branches) = (Vec::new(), Vec::new());
    scan::statements(body, &mut |stmt| {
        if let Some(l) = Loop::of(stmt) {
            loops.push((l.at, l.test));
            branches.extend(l.breaks.iter().map(|e| (l.at, Some(*e))));
        }
        if let CStmtKind::If(condition, ..) | CStmtKind::Switch(condition, ..) = &stmt.kind {
            branches.push((&stmt.at, Some(condition)));
        }
        for e in scan::direct_expressions(stmt) {
            scan::expressions(e, &mut |e| match &e.kind {
                ExprKind::Conditional(a, ..)
                | ExprKind::Binary(CBinaryOp::And | CBinaryOp::Or, a, _) => {
                    branches.push((&e.at, Some(a)));
                }
                _ => {}
            });
        }
    });
    (loops, branches)
}

/// Functions without a body that statements call.
fn called<'e>(body: &'e [CStmt], unit: &Unit) -> BTreeSet<&'e str> {
    let mut all = BTreeSet::new();
    scan::statements(body, &mut |stmt| {
        for e in scan::direct_expressions(stmt) {
            scan::expressions(e, &mut |e| match &e.kind {
                ExprKind::Call(name, _) if !unit.functions.contains_key(name) => {
                    all.insert(name.as_str());
                }
                _ => {}
            });
        }
    });
    all
}

/// Whether an answer is for all of a function of this name.
fn is_function(asked: &QuestionKey, function: &str) -> bool {
    matches!(asked, QuestionKey::Function { name, condition: None, .. } if name == function)
}

/// The answers of a request, by place, that are for loops and for branches of a file.
pub fn matched(request: &ReadRequest, unit: &Unit) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let (mut bounds, mut sides) = (BTreeSet::new(), BTreeSet::new());
    let Some(entry) = unit.functions.get(&request.entry) else { return (bounds, sides) };
    for function in unit.functions.values() {
        let (loops, branches) = places(&function.body);
        let found = |asked: &QuestionKey, places: &[QuestionPlace<'_>]| {
            places.iter().any(|place| fits(asked, function, &entry.at.file, *place))
        };
        bounds.extend(request.bounds.iter().positions(|(asked, _)| found(asked, &loops)));
        let calls = called(&function.body, unit);
        let is_called = |asked: &QuestionKey| calls.iter().any(|name| is_function(asked, name));
        bounds.extend(request.bounds.iter().positions(|(asked, _)| is_called(asked)));
        sides.extend(request.branches.iter().positions(|(asked, _)| found(asked, &branches)));
    }
    (bounds, sides)
}

impl<'a> Reader<'a> {
    /// Which side the problem file chooses for a branch.
    pub fn chosen_side(&self, at: &SourcePlace, condition: &CExpr) -> Option<Side> {
        let mut answers = self.request.branches.iter();
        answers.find(|(asked, _)| self.is_meant(asked, (at, Some(condition)))).map(|(_, s)| *s)
    }

    /// The name and the range of the most iterations that the problem file gives for a loop.
    pub fn given_bound(&self, l: &Loop<'a>) -> Option<(String, Symbol)> {
        let mut answers = self.request.bounds.iter().enumerate();
        let meant = answers.find(|(_, (asked, _))| self.is_meant(asked, (l.at, l.test)));
        meant.map(|(i, (asked, bound))| (bound_name(i, asked), *bound))
    }

    /// The name and the range of the operations that are given for a function without a body.
    pub fn price_of_call(&self, function: &str) -> Option<(String, Symbol)> {
        let mut answers = self.request.bounds.iter().enumerate();
        let meant = answers.find(|(_, (asked, _))| is_function(asked, function));
        meant.map(|(i, (asked, bound))| (bound_name(i, asked), *bound))
    }

    /// What an answer for a condition in the function at hand is called.
    pub fn key(&self, condition: Option<&CExpr>) -> String {
        let function = self.calls.last().copied().unwrap_or_default();
        format!("{function}: {}", condition_text(condition))
    }

    fn is_meant(&self, asked: &QuestionKey, place: QuestionPlace<'_>) -> bool {
        let function = self.calls.last().and_then(|name| self.unit.functions.get(*name));
        function.is_some_and(|function| fits(asked, function, &self.entry.at.file, place))
    }

    /// The iterations of a loop are not known, because of data or for another reason.
    pub fn unbounded(&self, l: &Loop<'a>, on_data: bool) -> ReadError {
        ReadError::Unbounded { at: l.at.clone(), key: self.key(l.test), on_data }
    }

    /// The iterations of a loop differ, and there may be too many of them.
    pub fn iterations_differ(
        &self,
        at: &SourcePlace,
        nodes: &[KernelNode],
        iteration: Leaf,
    ) -> ReadError {
        let first = first_mention(&self.terms, nodes, iteration);
        // A loop that was cut differs by what it was cut for.
        let (inner, branch) = first.map_or((at, false), |(inner, branch)| {
            self.cuts.get(inner).map_or((inner, branch), |(by, branch)| (by, *branch))
        });
        let (key, most) = (self.key_at(inner).to_string(), MAX_ITERATIONS);
        ReadError::Differing { at: at.clone(), inner: inner.clone(), key, branch, most }
    }

    /// What an answer for a place is called: by its line, or elsewhere by function and condition.
    fn key_at(&self, at: &SourcePlace) -> QuestionKey {
        let mut named = self.unit.functions.values().filter_map(|function| {
            let (loops, branches) = places(&function.body);
            let (_, condition) = loops.into_iter().chain(branches).find(|(own, _)| *own == at)?;
            let text = condition_text(condition);
            let place = number(function, at, &plain(&text)).and_then(|n| u32::try_from(n).ok());
            let name = function.name.clone();
            Some(QuestionKey::Function { name, condition: Some(text), place })
        });
        let other = (at.file != self.entry.at.file).then(|| named.next()).flatten();
        other.unwrap_or(QuestionKey::Line(at.line))
    }
}
