//! Compiles a source, and mends what it needs from the host until it does.
//!
//! Undeclared names become macros. What then does not compile is tried with other types,
//! with greater values of macros, and with the macros that the source only asks for (`#ifdef
//! INTEL`); the first that compiles is taken, and reported.

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_expr::parse;
use tickbound_model::source::Standard;
use tickbound_opencl::outline::Outline;
use tickbound_opencl::reading::{KernelParameter, KernelSignature};
use tickbound_opencl::steps::{SymbolExpr, has_name};
use tickbound_opencl::{ReadError, ReaderSetup, extract};

use crate::compiler::{Compiler, request};
use crate::cuda::UNKNOWN;
use crate::domain::{self, one_of};
use crate::draft::Draft;
use crate::error::ProposeError;
use crate::macros::{DIVISION, conversions, declare, hosted, joined, undefined, vector};
use crate::names::{few, reserved};

/// Most rounds of compiling and naming what is missing.
const MAX_ROUNDS: usize = 16;
/// Values that are tried for a macro, besides those of its domain.
const TRIED: [i64; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512];

/// Compiles until nothing is missing. Gives back the kernels.
pub(crate) fn until_it_compiles(
    draft: &mut Draft,
    path: &Path,
    outline: &Outline,
    setup: &ReaderSetup<'_>,
) -> Result<Vec<KernelSignature>, ProposeError> {
    let compiler = Compiler { path, outline, setup };
    // Kernels that are there without the one that is wanted.
    let mut others: IndexMap<String, KernelSignature> = IndexMap::new();
    for _ in 0..MAX_ROUNDS {
        let error = match compiler.kernels(draft) {
            Ok(kernels) if !compiler.wanted(draft, &kernels) => {
                others.extend(kernels.into_iter().map(|kernel| (kernel.name.clone(), kernel)));
                if compiler.other(draft) || compiler.switch(draft, &[], 0) {
                    continue;
                }
                return Ok(others.into_values().collect());
            }
            Ok(_) if compiler.one_type(draft) => continue,
            Ok(kernels) => {
                compiler.narrow(draft);
                compiler.groups(draft, &kernels);
                types_said(draft);
                asked_said(draft, outline);
                return Ok(kernels);
            }
            Err(stopped @ ReadError::Stopped { .. }) => return Err(stopped.into()),
            Err(error) => error,
        };
        let mended = compiler.mend(draft, &error)?;
        if !mended && !others.is_empty() {
            return Ok(others.into_values().collect());
        }
        if !mended {
            return Err(with_way_out(error, draft).into());
        }
    }
    compiler.kernels(draft).map_err(ProposeError::from)
}

/// Whether an error may be of the values that macros have.
fn of_values(what: &str) -> bool {
    let words = ["#error", "zero", "negative", "positive", "greater", "size", "length", "multiple"];
    words.iter().any(|word| what.contains(word))
}

/// An error mentions the values of macros if they may be its cause.
fn with_way_out(error: ReadError, draft: &Draft) -> ReadError {
    match error {
        ReadError::Source { at, what, fix } if !draft.parameters.is_empty() => {
            let fix = match fix.as_str() {
                "correct the source" => {
                    "give macros other values with --parameter NAME=[...], or \
                     their text with --define, if the source is right"
                }
                _ => "say what they are with --parameter NAME=[...] or --define",
            };
            ReadError::Source { at, what, fix: fix.to_owned() }
        }
        error => error,
    }
}

/// Notes what types the source leaves open.
fn types_said(draft: &mut Draft) {
    for name in std::mem::take(&mut draft.types) {
        let text = match draft.defines.get(&name) {
            Some(Value::Number(number)) => format!("{name} = {number}"),
            defined => {
                let ty = defined.and_then(|d| d.get("text")?.as_str()).unwrap_or("float");
                format!("{name} = {ty}, a type")
            }
        };
        draft.guess(text);
    }
}

/// Notes what the source asks for and is not defined.
fn asked_said(draft: &mut Draft, outline: &Outline) {
    let asked = outline.macros.iter().filter(|(name, m)| {
        m.asked
            && !m.valued
            && !m.defined
            && m.default.is_none()
            && !draft.knows(name)
            && !reserved(name)
    });
    let text = asked.map(|(name, _)| name).join(", ");
    if !text.is_empty() {
        draft.note(format!("macros: {text} not defined, as the source only asks whether they are"));
    }
}

impl Compiler<'_> {
    /// Changes what an error may come from. False if there is nothing to change.
    fn mend(&self, draft: &mut Draft, error: &ReadError) -> Result<bool, ProposeError> {
        Ok(match error {
            ReadError::Undeclared { values, types, .. } => {
                self.supply(draft, (values, types), error)?
            }
            ReadError::Source { what, .. } => {
                what.contains("address space") && self.generic(draft)
                    || what.starts_with("expected") && joined(draft, self.outline)
                    || self.specialised(draft, what)
                    || what.starts_with(DIVISION)
                        && declare(draft, self.outline, (&undefined(self.outline), &[]))
                    || self.retype(draft)
                    || of_values(what) && (self.raise(draft) || self.bounded(draft))
                    || what.starts_with("#error")
                        && (self.switch(draft, &[], 0) || self.required(draft))
            }
            _ => false,
        })
    }

    /// Gives names without a meaning one. False if none is left to be given.
    fn supply(
        &self,
        draft: &mut Draft,
        (values, types): (&[String], &[String]),
        error: &ReadError,
    ) -> Result<bool, ProposeError> {
        let called = values.iter().filter(|name| self.outline.calls(name)).cloned().collect_vec();
        if !called.is_empty() && draft.standard == Standard::Cl12 {
            // A later version may have them.
            let later = Draft { standard: Standard::Cl30, ..draft.clone() };
            let missing = |name: &String| match self.kernels(&later) {
                Err(ReadError::Undeclared { values, .. }) => values.contains(name),
                _ => false,
            };
            if !called.iter().any(missing) {
                draft.standard = Standard::Cl30;
                draft.note(format!("standard: CL3.0, which has `{}`", called.join("`, `")));
                return Ok(true);
            }
        }
        let declared = values.iter().chain(types).filter(|name| self.outline.declares(name));
        let wanted = declared.chain(&called).unique().cloned().collect_vec();
        if !wanted.is_empty() && self.switch(draft, &wanted, 0) {
            return Ok(true);
        }
        // Files that are included behind `#ifdef` may have a meaning for all.
        let all = values.iter().chain(types).cloned().collect_vec();
        if self.outline.macros.values().any(|m| m.included)
            && self.switch(draft, &all, all.len() / 2)
        {
            return Ok(true);
        }
        // What is called may follow from a type without a meaning.
        let typed = hosted(draft, self.outline, &called)
            || declare(draft, self.outline, (&[], types))
            || conversions(draft, &called);
        match (typed, error) {
            (false, ReadError::Undeclared { at, .. }) if !called.is_empty() => {
                let (file, line) = (at.file.to_string(), at.line);
                Err(ProposeError::Undefined { file, line, names: few(&called) })
            }
            _ => Ok(typed || declare(draft, self.outline, (values, types))),
        }
    }

    /// A later version of the language, whose pointers need not name their memory, if it compiles
    /// then.
    fn generic(&self, draft: &mut Draft) -> bool {
        let later = Draft { standard: Standard::Cl30, ..draft.clone() };
        let helps = draft.standard == Standard::Cl12 && self.compiles(&later, &IndexMap::new());
        if helps {
            *draft = later;
            draft.note("standard: CL3.0, for pointers that may point to any memory");
        }
        helps
    }

    /// Gives a guessed argument of a template the kind that an error is about: a function object, a
    /// vector, or a value that the source specialises a class for.
    fn specialised(&self, draft: &mut Draft, what: &str) -> bool {
        let class = what.split_once("undefined template '").map_or("", |(_, class)| class);
        let class = class.split('<').next().unwrap_or_default();
        let class = class.rsplit("::").next().unwrap_or_default();
        let called = what.starts_with("called object type");
        let has_members = what.starts_with("member reference base");
        if class.is_empty() && !called && !has_members {
            return false;
        }
        let texts = |name: &str, value: &Value| {
            let is_float = value.get("text").is_some_and(|text| text == "float");
            if !class.is_empty() && *value == UNKNOWN {
                return self.outline.arguments_of(class);
            }
            if called && is_float && self.outline.is_functor(name) {
                return vec!["std::plus<void>".to_owned()];
            }
            let lanes = if has_members && is_float { self.outline.lanes(name) } else { 1 };
            if lanes > 1 { vec![vector("float", lanes)] } else { Vec::new() }
        };
        let all = draft.defines.iter().flat_map(|(name, value)| {
            let texts = texts(name, value).into_iter().unique();
            texts.map(move |text| (name.clone(), text))
        });
        for (name, text) in all.collect_vec() {
            let old = format!("{name} = ");
            let own = |guess: &String| guess.starts_with(&old);
            let Some(place) = draft.guesses.iter().position(own) else { continue };
            let mut trial = draft.clone();
            trial.define(&name, &text);
            trial.guesses[place] = format!("{name} = {text}");
            let fits = match self.kernels(&trial) {
                Err(ReadError::Source { what: other, .. }) => {
                    other != what && (class.is_empty() || !other.contains(class))
                }
                other => other.is_ok(),
            };
            if fits {
                *draft = trial;
                return true;
            }
        }
        false
    }

    /// Other types for those that are guesses, if it compiles then.
    fn retype(&self, draft: &mut Draft) -> bool {
        for name in draft.types.clone() {
            let lanes = self.outline.lanes(&name);
            let own = [vector("int", lanes), vector("uint", lanes)];
            // The members may be those of another variable with the same name.
            let widths: &[usize] = if lanes == 1 { &[4, 2, 8, 16] } else { &[1] };
            let vectors = widths.iter().map(|lanes| vector("float", *lanes));
            // What seems a type may be a number.
            for text in own.into_iter().chain(vectors).chain(["1".to_owned()]) {
                let mut trial = draft.clone();
                trial.define(&name, &text);
                if self.compiles(&trial, &IndexMap::new()) {
                    *draft = trial;
                    return true;
                }
            }
        }
        false
    }

    /// Sizes of groups that the source requires, over parameters: as it writes them, or worked out.
    fn groups(&self, draft: &mut Draft, kernels: &[KernelSignature]) {
        let (mut asked, values) = request(draft, self.path, self.outline, &IndexMap::new());
        let required = |name: &String| self.outline.groups.iter().find(|(own, _)| own == name);
        for name in
            kernels.iter().map(|kernel| &kernel.name).filter(|name| required(name).is_some())
        {
            let said = required(name);
            asked.entry.clone_from(name);
            let open =
                extract::kernels(&asked, Vec::new(), &values, self.setup).unwrap_or_default();
            let Some(kernel) = open.into_iter().find(|kernel| kernel.name == *name) else {
                continue;
            };
            let text = |(d, number): (usize, &SymbolExpr)| {
                let written = said.and_then(|(_, s)| parse::parse(&s[d].replace('/', "//")).ok());
                let known = |written: &SymbolExpr| {
                    has_name(written, |_| true) && !has_name(written, |name| !draft.knows(name))
                };
                written.filter(known).unwrap_or_else(|| number.clone()).to_string()
            };
            let sizes = kernel.group.iter().enumerate().map(text).collect_vec();
            draft.required.extend((!sizes.is_empty()).then_some((kernel.name, sizes)));
        }
    }

    /// The macros that are guesses.
    fn guessed(draft: &Draft) -> Vec<String> {
        let own = |name: &&String| !draft.request.parameters.contains_key(*name);
        draft.parameters.keys().filter(own).cloned().collect()
    }

    /// Takes for macros the least values for which it compiles, if it does so for any.
    fn raise(&self, draft: &mut Draft) -> bool {
        let names = Self::guessed(draft);
        let all = |value: i64| names.iter().map(|name| (name.clone(), value)).collect();
        let one = |value| names.iter().map(move |name| IndexMap::from([(name.clone(), value)]));
        let together = TRIED[1..].iter().map(|value| all(*value));
        let mut tried = together.chain(TRIED[1..].iter().flat_map(|value| one(*value)));
        let Some(mut values) = tried.find(|own: &IndexMap<_, _>| self.compiles(draft, own)) else {
            return false;
        };
        for name in &names {
            for value in TRIED {
                let own = IndexMap::from([(name.clone(), value)]);
                let own = values.clone().into_iter().chain(own).collect();
                if values.get(name).is_none_or(|known| value < *known) && self.compiles(draft, &own)
                {
                    values = own;
                    break;
                }
            }
        }
        let least_before = |name: &String| draft.parameters.get(name).map(one_of);
        values.retain(|name, value| least_before(name) != Some(*value));
        for (name, least) in &values {
            let before = draft.parameters.get(name).cloned().unwrap_or_default();
            draft.parameters.insert(name.clone(), domain::raised(&before, *least));
            draft.note(format!("parameters.{name}: at least {least}, as the source needs that"));
        }
        !values.is_empty()
    }

    /// Makes a parameter of a macro that seemed to be a size, and that the source wants to be
    /// small.
    fn bounded(&self, draft: &mut Draft) -> bool {
        let own = |name: &&String| !draft.request.inputs.contains_key(*name);
        let names = draft.inputs.keys().filter(own).filter(|name| self.outline.uses(name));
        let fit = |name: &String| {
            let with = |value: &i64| {
                let mut trial = draft.clone();
                trial.inputs.insert(name.clone(), *value);
                self.compiles(&trial, &IndexMap::new())
            };
            let fit = TRIED.into_iter().filter(with).collect_vec();
            (!fit.is_empty()).then(|| (name.clone(), fit))
        };
        let Some((name, fit)) = names.cloned().collect_vec().iter().find_map(fit) else {
            return false;
        };
        draft.inputs.shift_remove(&name);
        draft.note(format!("parameters.{name}: the values for which the source compiles"));
        draft.parameters.insert(name, json!(fit));
        true
    }

    /// Turns off a switch that changes the types of arguments, each of which has one in a problem.
    /// False if there is none.
    fn one_type(&self, draft: &mut Draft) -> bool {
        let switch = |name: &String| domain::values(&draft.parameters[name]) == [0, 1];
        let changes = |name: &String| {
            let [off, on] = [0, 1].map(|value| {
                let own = IndexMap::from([(name.clone(), value)]);
                let kernels = self.kernels_for(draft, &own).unwrap_or_default();
                let ty = |p: KernelParameter| (p.name, p.ty.by, p.ty.element);
                let types =
                    |k: KernelSignature| (k.name, k.parameters.into_iter().map(ty).collect_vec());
                kernels.into_iter().map(types).collect_vec()
            });
            !off.is_empty() && !on.is_empty() && off != on
        };
        let Some(name) = Self::guessed(draft).into_iter().filter(switch).find(changes) else {
            return false;
        };
        draft.parameters.shift_remove(&name);
        draft.notes.retain(|note| !note.starts_with(&format!("parameters.{name}:")));
        draft.guess(format!("{name} = 0, as types of arguments depend on it"));
        draft.defines.insert(name, 0.into());
        true
    }

    /// Leaves out values that the source refuses by `#error`, or for which what has been raised
    /// does not compile.
    fn narrow(&self, draft: &mut Draft) {
        for name in Self::guessed(draft) {
            let asked =
                self.outline.errors && self.outline.macros.get(&name).is_some_and(|m| m.valued);
            let at_least = format!("parameters.{name}: at least");
            let raised = draft.notes.iter().any(|note| note.starts_with(&at_least));
            if !asked && !raised {
                continue;
            }
            let all = domain::values(&draft.parameters[&name]);
            let compiles =
                |value: &i64| self.compiles(draft, &IndexMap::from([(name.clone(), *value)]));
            let fit = all.iter().copied().filter(compiles).collect_vec();
            if !fit.is_empty() && fit.len() < all.len() {
                draft.note(format!("parameters.{name}: the values for which the source compiles"));
                draft.parameters.insert(name, json!(fit));
            }
        }
    }
}
