//! What a component's parameters are where it is used, and sizes that are not written: which
//! number a word must be for a list to have its length.

use super::expander::{Expander, Frame, counted};
use super::scope::{Scope, Tried, Unresolved, Value};
use super::value::is_range;
use crate::treo::ast::{
    Body, ComponentParameter, ParameterKind, Predicate, TermComparison, TreoValue as Written,
    TreoVariable,
};
use crate::treo::error::TreoFault;

impl Expander<'_> {
    /// Gives the parameters of a component the values `given`, in order; lengths may give the rest.
    pub fn arguments(
        &mut self,
        f: &Frame,
        scope: &mut Scope,
        given: &[Value],
    ) -> Result<(), TreoFault> {
        let parameters = &f.definition().parameters;
        let misfit = |fix: &str| TreoFault::Misfit {
            component: f.definition().name.clone(),
            has: counted(parameters.len(), "parameter"),
            given: given.len().to_string(),
            fix: fix.to_owned(),
        };
        let ranged = parameters.iter().filter(|p| is_range(&p.name)).count();
        if given.len() > parameters.len() && ranged != 1 {
            return Err(misfit("leave out what it does not take"));
        }
        // One list may be spread over several arguments.
        let spare = given.len().saturating_sub(parameters.len());
        let mut rest = given;
        let mut lists = Vec::new();
        for parameter in parameters {
            let take = if is_range(&parameter.name) { 1 + spare } else { 1 };
            let Some((own, others)) = rest.split_at_checked(take) else { break };
            rest = others;
            match own {
                [Value::List(items)] if is_range(&parameter.name) => {
                    lists.push((parameter, items.to_vec()));
                }
                _ if is_range(&parameter.name) => lists.push((parameter, own.to_vec())),
                _ => self.one(f, scope, parameter, &own[0])?,
            }
        }
        for (parameter, items) in lists {
            let fix = "give a list of another length";
            self.spread(f, scope, parameter, items).ok_or_else(|| misfit(fix))?;
        }
        Ok(())
    }

    /// Gives a parameter without a range its value.
    pub fn one(
        &mut self,
        f: &Frame,
        scope: &mut Scope,
        parameter: &ComponentParameter,
        value: &Value,
    ) -> Result<(), TreoFault> {
        let expected = match &parameter.kind {
            Some(ParameterKind::Type(kind)) if kind.eq_ignore_ascii_case("int") => {
                (!matches!(value, Value::Integer(_))).then_some("a whole number")
            }
            Some(ParameterKind::Type(kind)) if kind.eq_ignore_ascii_case("string") => {
                value.scalar().is_none().then_some("a text in quotes")
            }
            Some(ParameterKind::Component(_)) => {
                (!matches!(value, Value::Component(_))).then_some("a component")
            }
            _ => None,
        };
        if let Some(expected) = expected {
            let name = &parameter.name;
            let value = format!("{} for `{name}` of `{}`", value.text(), f.definition().name);
            return Err(TreoFault::Kind { value, expected });
        }
        if let Ok(names) = self.names(f, scope, &parameter.name) {
            names.into_iter().for_each(|name| scope.set(name, value.clone()));
        }
        Ok(())
    }

    /// Gives a parameter with a range its values, and the words of the range theirs.
    pub fn spread(
        &mut self,
        f: &Frame,
        scope: &mut Scope,
        parameter: &ComponentParameter,
        items: Vec<Value>,
    ) -> Option<()> {
        if self.solve(f, scope, &[&parameter.name], items.len()) != Fit::Yes {
            return None;
        }
        let names = self.names(f, scope, &parameter.name).ok()?;
        names.into_iter().zip(items).for_each(|(name, value)| scope.set(name, value));
        Some(())
    }

    /// Values that the outermost block gives to words, so far as they can be had already.
    pub fn equations(&mut self, f: &Frame, scope: &mut Scope) {
        let Body::Block(block) = &f.definition().body else { return };
        for (_, predicate) in &block.predicates {
            let Predicate::Compare(TermComparison::Equal, Written::Variable(word), value) =
                predicate
            else {
                continue;
            };
            if word.indices.is_empty()
                && scope.get(&word.word).is_none()
                && let Ok(value @ Value::Integer(_)) = self.value(f, scope, value)
            {
                scope.set(word.word.clone(), value);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// Words without a value keep it from being known.
    Unknown,
}

impl Expander<'_> {
    /// Gives words of `formals` values that fit lists of the lengths `given`, singly or together.
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
