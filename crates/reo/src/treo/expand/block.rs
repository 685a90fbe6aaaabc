//! Blocks: their items, once for each choice of values that fulfils their predicates.
//!
//! Predicates are taken in the order of the text, those first whose words have values: an equation
//! gives its word a value, a comparison stops what breaks it, `i : list` goes through the list.

use super::arguments::Fit;
use super::expander::{Done, Expander, Frame};
use super::scope::{Component, Scope, Tried, Unresolved, Value};
use super::value::is_range;
use crate::treo::ast::{
    BlockItem, ComponentParameter, Predicate, TermBlock, TermComparison, TreoValue as Written,
    TreoVariable,
};
use crate::treo::error::TreoResult;
use crate::treo::files::Target;

/// The meaning of a predicate, once its words have values.
enum Resolved {
    Test(bool),
    /// It gives a word, perhaps with a range, a value.
    Give(TreoVariable, Value),
    /// The word takes these values in turn.
    Each(String, Value),
}

impl Expander<'_> {
    pub fn block(&mut self, f: &mut Frame, scope: &Scope, block: &TermBlock) -> Done {
        let all: Vec<usize> = (0..block.predicates.len()).collect();
        self.deeper(f, |x, f| x.items(f, scope, block, &all))
    }

    /// The items of `block`, for each choice of values that fulfils the predicates `left`.
    fn items(&mut self, f: &mut Frame, scope: &Scope, block: &TermBlock, left: &[usize]) -> Done {
        self.work(f, f.spot, 1)?;
        if left.is_empty() {
            let inner = self.definitions(f, scope, block);
            return self.put(f, &inner, block);
        }
        let (at, outcome) = self.first_ready(f, scope, block, left)?;
        let rest: Vec<usize> = left.iter().copied().filter(|n| *n != at).collect();
        let spot = block.predicates[at].0;
        let values = match outcome {
            Resolved::Test(false) => return Ok(()),
            Resolved::Test(true) => return self.deeper(f, |x, f| x.items(f, scope, block, &rest)),
            Resolved::Give(word, value) => {
                let mut inner = Scope::inside(scope);
                self.give(f, &mut inner, &word, value)?;
                return self.deeper(f, |x, f| x.items(f, &inner, block, &rest));
            }
            Resolved::Each(word, Value::List(values)) => (word, values),
            Resolved::Each(_, other) => return Err(f.kind(spot, &other, "a list `<1..n>`")),
        };
        for value in values.1.iter() {
            let mut inner = Scope::inside(scope);
            inner.set(values.0.clone(), value.clone());
            self.deeper(f, |x, f| x.items(f, &inner, block, &rest))?;
        }
        Ok(())
    }

    fn put(&mut self, f: &mut Frame, scope: &Scope, block: &TermBlock) -> Done {
        block.items.iter().try_for_each(|item| match item {
            BlockItem::Instance(instance) => self.instance(f, scope, instance),
            BlockItem::Block(block) => self.block(f, scope, block),
        })
    }

    /// The words of a block and the components that it defines. Each knows those before it.
    fn definitions<'s>(&self, f: &Frame, scope: &'s Scope, block: &TermBlock) -> Scope<'s> {
        let mut inner = Scope::inside(scope);
        for definition in &block.definitions {
            let Some(number) = f.loaded.number(definition) else { continue };
            let target = Target::Defined { file: f.file, definition: number, import: None };
            let (word, arguments) = (definition.name.as_str().into(), [].into());
            let words = inner.all().into();
            let component = Component { target, word, arguments, words };
            inner.set(definition.name.clone(), Value::Component(component));
        }
        inner
    }

    /// The first predicate that has the values that it needs; comparisons before lists.
    fn first_ready(
        &mut self,
        f: &mut Frame,
        scope: &Scope,
        block: &TermBlock,
        left: &[usize],
    ) -> TreoResult<(usize, Resolved)> {
        let mut unresolved = None;
        for lists in [false, true] {
            for at in left {
                let (spot, predicate) = &block.predicates[*at];
                f.spot = *spot;
                let tried = match predicate {
                    Predicate::In(word, list) if lists => self.membership(f, scope, word, list),
                    Predicate::Compare(how, a, b) if !lists => self.compare(f, scope, *how, a, b),
                    Predicate::Not(_) | Predicate::All(_) | Predicate::Any(_) if !lists => {
                        self.test(f, scope, predicate).map(Resolved::Test)
                    }
                    _ => continue,
                };
                match tried {
                    Ok(outcome) => return Ok((*at, outcome)),
                    Err(Unresolved::Fault(error)) => return Err(error),
                    Err(missing) => unresolved = unresolved.or(Some(missing)),
                }
            }
        }
        let unresolved = unresolved.unwrap_or(Unresolved::Missing(f.spot, "a word".into()));
        Err(f.unset(scope, unresolved))
    }

    /// Whether a predicate holds whose words all have values.
    fn test(&mut self, f: &Frame, scope: &Scope, tested: &Predicate) -> Tried<bool> {
        let outcome = match tested {
            Predicate::Not(inner) => return self.test(f, scope, inner).map(|holds| !holds),
            Predicate::All(all) | Predicate::Any(all) => {
                let any = matches!(tested, Predicate::Any(_));
                for one in all {
                    if self.test(f, scope, one)? == any {
                        return Ok(any);
                    }
                }
                return Ok(!any);
            }
            Predicate::In(word, list) => self.membership(f, scope, word, list)?,
            Predicate::Compare(how, a, b) => self.compare(f, scope, *how, a, b)?,
        };
        match outcome {
            Resolved::Test(holds) => Ok(holds),
            Resolved::Give(word, _) => Err(Unresolved::Missing(word.spot, word.to_string())),
            Resolved::Each(word, _) => Err(Unresolved::Missing(f.spot, word)),
        }
    }

    fn membership(
        &mut self,
        f: &Frame,
        scope: &Scope,
        word: &TreoVariable,
        list: &Written,
    ) -> Tried<Resolved> {
        let list = self.value(f, scope, list)?;
        let names = self.names(f, scope, word)?;
        let name = match names.as_slice() {
            [name] if !is_range(word) => name.clone(),
            _ => return Err(f.kind(word.spot, &list, "a list for one word").into()),
        };
        match (scope.get(&name), list) {
            (Some(bound), Value::List(items)) => {
                Ok(Resolved::Test(items.iter().any(|item| item.same(bound))))
            }
            (_, list) => Ok(Resolved::Each(name, list)),
        }
    }

    fn compare(
        &mut self,
        f: &Frame,
        scope: &Scope,
        how: TermComparison,
        left: &Written,
        right: &Written,
    ) -> Tried<Resolved> {
        let (a, b) = (self.value(f, scope, left), self.value(f, scope, right));
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(Unresolved::Fault(error)), _) | (_, Err(Unresolved::Fault(error))) => {
                return Err(error.into());
            }
            (Err(missing), Ok(value)) => return given(how, left, value, missing),
            (Ok(value), Err(missing)) => return given(how, right, value, missing),
            (Err(missing), Err(_)) => return Err(missing),
        };
        let holds = match how {
            TermComparison::Equal | TermComparison::Different => {
                for side in [&a, &b] {
                    self.scalar(f, f.spot, side)?;
                }
                a.same(&b) == (how == TermComparison::Equal)
            }
            _ => {
                let (Value::Integer(x), Value::Integer(y)) = (&a, &b) else {
                    let wrong = if matches!(a, Value::Integer(_)) { &b } else { &a };
                    return Err(f.kind(f.spot, wrong, "a whole number").into());
                };
                match how {
                    TermComparison::Less => x < y,
                    TermComparison::LessEqual => x <= y,
                    TermComparison::Greater => x > y,
                    _ => x >= y,
                }
            }
        };
        Ok(Resolved::Test(holds))
    }

    /// Gives a word its value, or the words of a range those of a list.
    fn give(&mut self, f: &Frame, scope: &mut Scope, word: &TreoVariable, value: Value) -> Done {
        if is_range(word) {
            let Value::List(items) = &value else {
                return Err(f.kind(word.spot, &value, "a list `<...>`"));
            };
            let parameter = ComponentParameter { name: word.clone(), kind: None };
            return match self.solve(f, scope, &[word], items.len()) {
                Fit::Yes => {
                    let _ = self.spread(f, scope, &parameter, items.to_vec());
                    Ok(())
                }
                _ => Err(f.kind(word.spot, &value, "a list of another length")),
            };
        }
        let names = self.names(f, scope, word).map_err(|t| f.unset(scope, t))?;
        names.into_iter().for_each(|name| scope.set(name, value.clone()));
        Ok(())
    }
}

/// What an equation with one side known gives.
fn given(
    how: TermComparison,
    side: &Written,
    value: Value,
    missing: Unresolved,
) -> Tried<Resolved> {
    match (how, side, &missing) {
        (TermComparison::Equal, Written::Variable(word), Unresolved::Missing(_, name))
            if is_range(word)
                || word.indices.is_empty()
                || name.starts_with(&format!("{}[", word.word)) =>
        {
            Ok(Resolved::Give(word.clone(), value))
        }
        _ => Err(missing),
    }
}
