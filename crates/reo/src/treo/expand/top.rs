//! The request: which component of a file, and with which settings.

use indexmap::IndexSet;
use itertools::Itertools;
use tickbound_input::message::{excerpt, suggest};

use super::expander::{Expander, Frame};
use super::scope::{Scope, Unresolved, Value};
use crate::connector::Connector;
use crate::syntax::Source;
use crate::treo::ast::{Definition, File, TreoSpan, TreoValue as Written, TreoVariable};
use crate::treo::error::{TreoFault, TreoResult};
use crate::treo::library::stem;
use crate::treo::parse;
use crate::treo::request::TreoRequest;

impl Expander<'_> {
    pub fn top(mut self, request: &TreoRequest) -> TreoResult<Connector> {
        let loaded = self.files.get(0);
        let fault = |fault| loaded.source.fault(crate::syntax::Spot(0), fault);
        let definition = chosen(&loaded.file, &loaded.source, request).map_err(fault)?;
        let mut f = Frame::new(self.files.get(0), 0, definition, String::new());
        f.top = true;
        let mut scope = Scope::default();
        for (word, value) in &request.settings {
            self.setting(&f, &mut scope, word, value)?;
        }
        self.equations(&f, &mut scope);
        let unset = self.unset(&f, &scope);
        if !unset.is_empty() {
            let mut settings = unset.iter().map(|w| format!("--set {w}=VALUE"));
            let fix = format!("give {}", settings.join(" "));
            return Err(f.fault(f.spot, TreoFault::Unset { words: unset, fix }));
        }
        self.interface(&mut f, &scope)?;
        f.outer = f.ports.iter().map(|(name, _)| (name.clone(), name.clone())).collect();
        self.body(&mut f, &scope)?;
        f.spot = f.definition().spot;
        self.wire(&f)
    }

    fn setting(&mut self, f: &Frame, scope: &mut Scope, word: &str, text: &str) -> TreoResult<()> {
        let definition = f.definition();
        let source = Source::new(&format!("--set {word}"), text);
        let at = |fault| source.fault(crate::syntax::Spot(0), fault);
        let known = settable(definition);
        let base = word.split('[').next().unwrap_or_default();
        if !known.contains(base) {
            let fix = suggest(base, known.iter().copied());
            let component = definition.name.clone();
            return Err(at(TreoFault::Setting { word: word.into(), component, fix }));
        }
        let written = parse::setting(&source)?;
        let value = match (self.value(f, scope, &written), &written) {
            (Ok(value), _) => value,
            (Err(Unresolved::Missing(_, text)), Written::Variable(_)) => Value::Text(text.into()),
            (Err(unresolved), _) => return Err(f.unset(scope, unresolved)),
        };
        let parameter = definition.parameters.iter().find(|p| p.name.word == base);
        match (parameter, value) {
            (Some(parameter), Value::List(items)) if !word.contains('[') => {
                let length = items.len();
                let misfit = || TreoFault::Misfit {
                    component: base.to_owned(),
                    has: format!("the words `{}`", parameter.name),
                    given: length.to_string(),
                    fix: "give a list of another length".to_owned(),
                };
                self.spread(f, scope, parameter, items.to_vec()).ok_or_else(|| at(misfit()))
            }
            (Some(parameter), value) if parameter.name.indices.is_empty() => {
                self.one(f, scope, parameter, &value).map_err(at)
            }
            (_, value) => {
                scope.set(word.to_owned(), value);
                Ok(())
            }
        }
    }

    /// Words that need a value before the interface is known, and parameters without one.
    fn unset(&mut self, f: &Frame, scope: &Scope) -> Vec<String> {
        let definition = f.definition();
        let mut unset: IndexSet<String> = IndexSet::new();
        let parameters = definition.parameters.iter().map(|p| &p.name);
        for variable in parameters.clone().chain(f.formals()) {
            for word in words_of(variable) {
                if scope.get(word).is_none() {
                    unset.insert(word.to_owned());
                }
            }
        }
        for name in parameters {
            let names = self.names(f, scope, name).unwrap_or_default();
            unset.extend(names.into_iter().filter(|n| scope.get(n).is_none()));
        }
        unset.into_iter().take(8).collect()
    }
}

/// The number of the requested component, else `main`, the one called as the file, or the last.
fn chosen(file: &File, source: &Source, request: &TreoRequest) -> Result<usize, TreoFault> {
    let position = |word: &str| file.definitions.iter().position(|d| d.name == word);
    if let Some(word) = &request.component {
        return position(word).ok_or_else(|| TreoFault::Unknown {
            word: excerpt(word),
            what: "component of this file",
            fix: suggest(word, file.definitions.iter().map(|d| d.name.as_str())),
        });
    }
    let last = file.definitions.len().checked_sub(1).ok_or(TreoFault::Empty)?;
    Ok(position("main").or_else(|| position(stem(&source.path))).unwrap_or(last))
}

/// Words that can be set: parameters, and words in the sizes of the interface.
pub(super) fn settable(definition: &Definition) -> IndexSet<&str> {
    let parameters = definition.parameters.iter().map(|p| &p.name);
    let nodes = definition.nodes.iter().filter_map(|n| n.name.as_ref());
    let own = parameters.clone().map(|v| v.word.as_str());
    own.chain(parameters.chain(nodes).flat_map(words_of)).collect()
}

/// Words in the indices of a variable.
fn words_of(variable: &TreoVariable) -> Vec<&str> {
    let mut words = Vec::new();
    for index in &variable.indices {
        match index {
            TreoSpan::One(at) => collect(at, &mut words),
            TreoSpan::Range(from, to) => {
                collect(from, &mut words);
                collect(to, &mut words);
            }
        }
    }
    words
}

fn collect<'v>(value: &'v Written, into: &mut Vec<&'v str>) {
    match value {
        Written::Variable(v) => {
            into.push(&v.word);
            into.extend(words_of(v));
        }
        Written::Negative(inner) => collect(inner, into),
        Written::Binary(_, left, right) => {
            collect(left, into);
            collect(right, into);
        }
        _ => {}
    }
}
