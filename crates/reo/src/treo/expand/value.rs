//! Values, variables and ranges, evaluated.

use std::sync::Arc;

use super::expander::{Expander, Frame};
use super::scope::{Component, Scope, Tried, Unresolved, Value};
use crate::syntax::Spot;
use crate::treo::ast::{self, Operator, TreoSpan, TreoVariable};
use crate::treo::error::{MAX_RANGE, TreoFault, TreoResult};

impl Expander<'_> {
    pub fn value(&mut self, f: &Frame, scope: &Scope, value: &ast::TreoValue) -> Tried<Value> {
        match value {
            ast::TreoValue::Integer(k) => Ok(Value::Integer(*k)),
            ast::TreoValue::Text(text) => Ok(Value::Text(text.as_str().into())),
            ast::TreoValue::Variable(variable) => self.variable(f, scope, variable),
            ast::TreoValue::Component(word, arguments) => {
                let component = self.variable(f, scope, word)?;
                let Value::Component(component) = component else {
                    return Err(f.kind(word.spot, &component, "a component").into());
                };
                let more = arguments.iter().map(|a| self.value(f, scope, a));
                let more = more.collect::<Tried<Vec<_>>>()?;
                let arguments = component.arguments.iter().cloned().chain(more).collect();
                Ok(Value::Component(Component { arguments, ..component }))
            }
            ast::TreoValue::List(items) => self.list(f, scope, items),
            ast::TreoValue::Negative(_) | ast::TreoValue::Binary(..) => {
                self.integer(f, scope, value).map(Value::Integer)
            }
        }
    }

    fn list(&mut self, f: &Frame, scope: &Scope, items: &[TreoSpan]) -> Tried<Value> {
        let mut all = Vec::new();
        for item in items {
            match item {
                TreoSpan::One(ast::TreoValue::Variable(v)) if is_range(v) => {
                    for name in self.names(f, scope, v)? {
                        all.push(self.word(f, scope, v, &name)?);
                    }
                }
                TreoSpan::One(value) => all.push(self.value(f, scope, value)?),
                TreoSpan::Range(from, to) => {
                    let (from, to) = self.range(f, scope, from, to)?;
                    self.work(f, f.spot, count(from, to))?;
                    all.extend((from..=to).map(Value::Integer));
                }
            }
            if all.len() > MAX_RANGE {
                return Err(f.fault(f.spot, range_limit()).into());
            }
        }
        Ok(Value::List(all.into()))
    }

    /// A variable's value: a list if it has a range.
    fn variable(&mut self, f: &Frame, scope: &Scope, variable: &TreoVariable) -> Tried<Value> {
        let names = self.names(f, scope, variable)?;
        if !is_range(variable) {
            let name = names.first().map(String::as_str).unwrap_or_default();
            return self.word(f, scope, variable, name);
        }
        let values = names.iter().map(|name| self.word(f, scope, variable, name));
        Ok(Value::List(values.collect::<Tried<Vec<_>>>()?.into()))
    }

    fn word(&mut self, f: &Frame, scope: &Scope, at: &TreoVariable, name: &str) -> Tried<Value> {
        if let Some(value) = scope.get(name) {
            return Ok(value.clone());
        }
        if !at.indices.is_empty() {
            return Err(Unresolved::Missing(at.spot, name.to_owned()));
        }
        match self.files.target(f.file, name)? {
            Some(target) => {
                let word = name.rsplit('.').next().unwrap_or(name).into();
                let (arguments, words) = (Arc::from([]), Arc::default());
                Ok(Value::Component(Component { target, word, arguments, words }))
            }
            // A function of foreign code, by the name that the code gives it.
            None if matches!(name, "true" | "false") || name.contains('.') => {
                Ok(Value::Text(name.into()))
            }
            None => Err(Unresolved::Missing(at.spot, name.to_owned())),
        }
    }

    pub fn integer(&mut self, f: &Frame, scope: &Scope, v: &ast::TreoValue) -> Tried<i64> {
        let fault = || f.fault(f.spot, TreoFault::Arithmetic(v.to_string()));
        match v {
            ast::TreoValue::Negative(inner) => {
                let inner = self.integer(f, scope, inner)?;
                inner.checked_neg().ok_or_else(|| fault().into())
            }
            ast::TreoValue::Binary(operator, left, right) => {
                let left = self.integer(f, scope, left)?;
                let right = self.integer(f, scope, right)?;
                let result = match operator {
                    Operator::Add => left.checked_add(right),
                    Operator::Subtract => left.checked_sub(right),
                    Operator::Multiply => left.checked_mul(right),
                    Operator::Divide => left.checked_div(right),
                    Operator::Remainder => left.checked_rem(right),
                };
                result.ok_or_else(|| fault().into())
            }
            other => match self.value(f, scope, other)? {
                Value::Integer(k) => Ok(k),
                value => Err(f.kind(spot_of(other, f), &value, "a whole number").into()),
            },
        }
    }

    fn range(
        &mut self,
        f: &Frame,
        scope: &Scope,
        from: &ast::TreoValue,
        to: &ast::TreoValue,
    ) -> Tried<(i64, i64)> {
        let from = self.integer(f, scope, from)?;
        let to = self.integer(f, scope, to)?;
        if count(from, to) > MAX_RANGE {
            return Err(f.fault(f.spot, range_limit()).into());
        }
        Ok((from, to))
    }

    /// The words of a variable: one, or one for each value of its ranges.
    pub fn names(
        &mut self,
        f: &Frame,
        scope: &Scope,
        variable: &TreoVariable,
    ) -> Tried<Vec<String>> {
        let mut names = vec![variable.word.clone()];
        for index in &variable.indices {
            let (from, to) = match index {
                TreoSpan::One(at) => {
                    let at = self.integer(f, scope, at)?;
                    (at, at)
                }
                TreoSpan::Range(from, to) => self.range(f, scope, from, to)?,
            };
            let total = names.len().saturating_mul(count(from, to));
            if total > MAX_RANGE {
                return Err(f.fault(variable.spot, range_limit()).into());
            }
            self.work(f, variable.spot, total)?;
            let longer = |name: &String| {
                let name = name.clone();
                (from..=to).map(move |at| format!("{name}[{at}]"))
            };
            names = names.iter().flat_map(longer).collect();
        }
        Ok(names)
    }

    /// How many words a variable has, not below zero only if its ranges are not.
    pub fn length(&mut self, f: &Frame, scope: &Scope, variable: &TreoVariable) -> Tried<i64> {
        let mut length: i64 = 1;
        for index in &variable.indices {
            if let TreoSpan::Range(from, to) = index {
                let (from, to) = (self.integer(f, scope, from)?, self.integer(f, scope, to)?);
                let one = to.checked_sub(from).and_then(|d| d.checked_add(1));
                let product = one.and_then(|one| length.checked_mul(one));
                let fault = || f.fault(variable.spot, TreoFault::Arithmetic(variable.to_string()));
                length = product.ok_or_else(fault)?;
            }
        }
        Ok(length)
    }

    /// A number or text, as text.
    pub fn scalar(&self, f: &Frame, spot: Spot, value: &Value) -> TreoResult<String> {
        value.scalar().ok_or_else(|| f.kind(spot, value, "a number or a text in quotes"))
    }
}

pub(super) fn is_range(variable: &TreoVariable) -> bool {
    variable.indices.iter().any(|i| matches!(i, TreoSpan::Range(..)))
}

fn count(from: i64, to: i64) -> usize {
    if to < from {
        0
    } else {
        usize::try_from(to.abs_diff(from)).map_or(usize::MAX, |d| d.saturating_add(1))
    }
}

fn range_limit() -> TreoFault {
    TreoFault::limit("values in one range", MAX_RANGE)
}

fn spot_of(value: &ast::TreoValue, f: &Frame) -> Spot {
    match value {
        ast::TreoValue::Variable(v) | ast::TreoValue::Component(v, _) => v.spot,
        _ => f.spot,
    }
}
