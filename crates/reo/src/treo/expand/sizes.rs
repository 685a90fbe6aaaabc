//! Sizes that are not written: which number a word must be for a list to have its length.

use super::expander::Expander;
use super::frame::Frame;
use super::scope::{Scope, Tried, Unresolved, Value};
use crate::treo::ast::TreoVariable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// Words without a value keep it from being known.
    Unknown,
}

impl Expander<'_> {
    /// Gives words of `formals` values such that they take lists of the lengths `given`: one by
    /// one if there are as many of both, else all together.
    pub fn fit(
        &mut self,
        f: &Frame,
        scope: &mut Scope,
        formals: &[&TreoVariable],
        given: &[usize],
    ) -> Fit {
        let mut unknown = Fit::No;
        if formals.len() == given.len() {
            let mut trial = scope.clone();
            unknown = self.one_by_one(f, &mut trial, formals, given);
            if unknown == Fit::Yes {
                *scope = trial;
                return Fit::Yes;
            }
        }
        let total: usize = given.iter().sum();
        match self.solve(f, scope, formals, total) {
            Fit::No => unknown,
            other => other,
        }
    }

    fn one_by_one(
        &mut self,
        f: &Frame,
        scope: &mut Scope,
        formals: &[&TreoVariable],
        given: &[usize],
    ) -> Fit {
        let mut left: Vec<(&TreoVariable, usize)> =
            formals.iter().copied().zip(given.iter().copied()).collect();
        loop {
            let before = left.len();
            let mut unknown = Vec::new();
            for (formal, length) in left {
                match self.solve(f, scope, &[formal], length) {
                    Fit::Yes => {}
                    Fit::No => return Fit::No,
                    Fit::Unknown => unknown.push((formal, length)),
                }
            }
            if unknown.is_empty() {
                return Fit::Yes;
            }
            if unknown.len() == before {
                return Fit::Unknown;
            }
            left = unknown;
        }
    }

    /// Solves for the one word without a value, if there is one; lengths must be linear in it.
    pub fn solve(
        &mut self,
        f: &Frame,
        scope: &mut Scope,
        formals: &[&TreoVariable],
        length: usize,
    ) -> Fit {
        let Ok(length) = i64::try_from(length) else { return Fit::No };
        let word = match self.lengths(f, scope, formals) {
            Ok(total) if total == length => return Fit::Yes,
            Ok(_) => return Fit::No,
            Err(Unresolved::Missing(_, word)) => word,
            Err(Unresolved::Fault(_)) => return Fit::Unknown,
        };
        let mut with = |k: i64| {
            let mut trial = Scope::inside(scope);
            trial.set(word.clone(), Value::Integer(k));
            self.lengths(f, &trial, formals).ok()
        };
        let (Some(one), Some(two)) = (with(1), with(2)) else { return Fit::Unknown };
        let (slope, missing) =
            (i128::from(two) - i128::from(one), i128::from(length) - i128::from(one));
        if slope == 0 || missing % slope != 0 {
            return Fit::No;
        }
        let Ok(k) = i64::try_from(1 + missing / slope) else { return Fit::No };
        if with(k) != Some(length) {
            return Fit::No;
        }
        scope.set(word, Value::Integer(k));
        Fit::Yes
    }

    fn lengths(&mut self, f: &Frame, scope: &Scope, formals: &[&TreoVariable]) -> Tried<i64> {
        formals.iter().try_fold(0i64, |sum, formal| {
            // Ranges are far shorter than the numbers at which this would stick.
            Ok(sum.saturating_add(self.length(f, scope, formal)?))
        })
    }
}
