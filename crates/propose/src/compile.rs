//! Compiles a source, and mends what it needs from the host until it does.
//!
//! Names that nobody declares become macros. What then does not compile is tried with other types,
//! with greater values of macros, and with the macros that the source only asks for (`#ifdef
//! INTEL`); what compiles is taken, and said.

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_expr::parse;
use tickbound_model::source::Standard;
use tickbound_opencl::outline::Outline;
use tickbound_opencl::reading::{KernelParameter, KernelSignature};
use tickbound_opencl::steps::{SymbolExpr, has_name};
use tickbound_opencl::{ReadError, ReadRequest, ReaderSetup, Symbol, extract};

use crate::domain::{self, one_of};
use crate::draft::Draft;
use crate::error::ProposeError;
use crate::macros::{conversions, declare, hosted, joined, vector};
use crate::names::reserved;

/// Most rounds of compiling and naming what is missing.
const MAX_ROUNDS: usize = 16;
/// Most names in a message.
const MAX_NAMES: usize = 4;
/// Most macros that are tried because the source asks whether they are defined, alone and by two.
const MAX_SWITCHES: usize = 100;
const MAX_PAIRED: usize = 8;
/// Most of them that would do.
const MAX_OTHERS: usize = 4;
/// Values that are tried for a macro, besides those of its domain.
const TRIED: [i64; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, 512];

/// A source that is compiled with the macros of drafts.
struct Compiler<'c> {
    path: &'c Path,
    outline: &'c Outline,
    setup: &'c ReaderSetup<'c>,
}

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
        if outline.is_cuda() {
            return Err(ProposeError::Cuda { path: path.display().to_string() });
        }
        let mended = match &error {
            ReadError::Undeclared { values, types, .. } => {
                compiler.supply(draft, (values, types), &error)?
            }
            ReadError::Source { what, .. } => {
                what.contains("address space") && compiler.generic(draft)
                    || what.starts_with("expected") && joined(draft, outline)
                    || compiler.retype(draft)
                    || of_values(what) && (compiler.raise(draft) || compiler.bounded(draft))
                    || what.starts_with("#error")
                        && (compiler.switch(draft, &[], 0) || compiler.required(draft))
            }
            _ => false,
        };
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

/// An error that may be of the values that macros were given says so.
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
    fn kernels(&self, draft: &Draft) -> Result<Vec<KernelSignature>, ReadError> {
        self.kernels_for(draft, &IndexMap::new())
    }

    /// The kernels for these values of some macros.
    fn kernels_for(
        &self,
        draft: &Draft,
        own: &IndexMap<String, i64>,
    ) -> Result<Vec<KernelSignature>, ReadError> {
        let (asked, values) = request(draft, self.path, self.outline, own);
        let all = values.keys().cloned().collect();
        extract::kernels(&asked, all, &values, self.setup)
    }

    /// Whether it compiles, but for names without a meaning, for these values of some macros.
    fn compiles(&self, draft: &Draft, own: &IndexMap<String, i64>) -> bool {
        matches!(self.kernels_for(draft, own), Ok(_) | Err(ReadError::Undeclared { .. }))
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

    /// Defines what the source only asks for, if all but `left` of these names have a meaning then;
    /// without names, if it has the kernel or names without a meaning. What the host names comes
    /// first, and what would do as well is noted.
    fn switch(&self, draft: &mut Draft, wanted: &[String], left: usize) -> bool {
        let macros = self.outline.macros.iter();
        let asked = macros.filter(|(_, m)| m.asked && !m.defined && m.default.is_none());
        let open = |name: &&String| !draft.knows(name) && !draft.without.contains(*name);
        let names = asked.map(|(name, _)| name).filter(open);
        let names = names.sorted_by_key(|name| !draft.wishes.host.mentions(name));
        let names = names.take(MAX_SWITCHES).cloned().collect_vec();
        let with = |some: &[&String]| {
            let mut trial = draft.clone();
            trial.defines.extend(some.iter().map(|name| ((*name).clone(), 1.into())));
            trial
        };
        let before = self.kernels(draft).err().map(|error| error.to_string());
        // 0: it compiles and has the kernel; 1: names have no meaning yet; 2: there is no error;
        // 3: there is another error, after that of an `#error`; 4: there are other kernels.
        let rank = |some: &[&String]| match self.kernels(&with(some)) {
            Ok(kernels) if self.wanted(draft, &kernels) => Some(0),
            Ok(kernels) if before.is_some() => Some(if kernels.is_empty() { 2 } else { 4 }),
            // What code mentions has a value or a text.
            Err(ReadError::Undeclared { .. })
                if wanted.is_empty() && some.iter().any(|n| self.outline.mentions(n)) =>
            {
                None
            }
            Err(ReadError::Undeclared { values, types, .. }) => {
                let open = values.iter().chain(&types).filter(|n| wanted.contains(n)).count();
                (open <= left).then_some(1)
            }
            Err(error @ ReadError::Source { .. }) => {
                let passed = before.as_ref().filter(|before| before.contains("#error"));
                passed.is_some_and(|before| *before != error.to_string()).then_some(3)
            }
            _ => None,
        };
        let mut good = 0;
        let alone = names.iter().filter_map(|name| Some((rank(&[name])?, name)));
        let alone = alone.take_while(|(rank, _)| {
            good += usize::from(*rank < 2);
            good <= MAX_OTHERS
        });
        let alone = alone.sorted_by_key(|(rank, _)| *rank).map(|(_, name)| name).collect_vec();
        let some = match alone.first() {
            Some(first) => Some(vec![*first]),
            None => {
                names.iter().take(MAX_PAIRED).combinations(2).find(|some| rank(some) == Some(0))
            }
        };
        let Some(some) = some else { return false };
        let without_it = draft.clone();
        *draft = with(&some);
        draft.switched = Some((Box::new(without_it), some.iter().copied().cloned().collect()));
        let what = match wanted {
            [] => "what there is to run".to_owned(),
            names => few(names),
        };
        let (names, stands) = (some.iter().join(", "), some.iter().join(" and "));
        let others = alone.iter().skip(1).map(|name| format!(", or of {name}")).join("");
        draft.note(format!("defines.{names}: 1, as {what} stands behind #ifdef {stands}{others}"));
        draft.guess(format!("{stands} is defined"));
        true
    }

    /// Whether the kernel is among these.
    fn wanted(&self, draft: &Draft, kernels: &[KernelSignature]) -> bool {
        let entry = draft.wishes.entry.as_ref();
        kernels.iter().any(|kernel| entry.is_none_or(|entry| *entry == kernel.name))
    }

    /// Goes back to before the macros that were last defined as the source only asks for them, to
    /// define others. False if none were, or all have been tried.
    fn other(&self, draft: &mut Draft) -> bool {
        let Some((before, names)) = draft.switched.take() else { return false };
        let mut before = *before;
        before.without.extend(names);
        before.without.extend(draft.without.iter().cloned());
        let goes_on = self.switch(&mut before, &[], 0);
        if goes_on {
            *draft = before;
        }
        goes_on
    }

    /// Gives a meaning to what the source asks for, uses and does not define itself. False if there
    /// is nothing.
    fn required(&self, draft: &mut Draft) -> bool {
        let asked = self.outline.macros.iter().filter(|(_, m)| m.asked && !m.defined && !m.valued);
        let names = asked.map(|(name, _)| name).filter(|name| self.outline.mentions(name));
        let names = names.cloned().collect_vec();
        declare(draft, self.outline, (&names, &[]))
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

    /// Other types for those that are guesses, if it compiles then.
    fn retype(&self, draft: &mut Draft) -> bool {
        for name in draft.types.clone() {
            let lanes = self.outline.lanes(&name);
            let own = [vector("int", lanes), vector("uint", lanes)];
            // Members of another variable of the same name are none of its own.
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
        let own = |name: &&String| !draft.wishes.parameters.contains_key(*name);
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
        let own = |name: &&String| !draft.wishes.inputs.contains_key(*name);
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

/// Some names, the first ones of many.
fn few(names: &[String]) -> String {
    let first = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).join(", ");
    if names.len() > MAX_NAMES { format!("{first} and others") } else { first }
}

/// What compiles the source: each macro has one value.
fn request(
    draft: &Draft,
    path: &Path,
    outline: &Outline,
    own: &IndexMap<String, i64>,
) -> (ReadRequest, IndexMap<String, i64>) {
    let mut values = IndexMap::new();
    for (name, domain) in &draft.parameters {
        values.insert(name.clone(), own.get(name).copied().unwrap_or_else(|| one_of(domain)));
    }
    let is_macro = |name: &&String| outline.uses(name) && !outline.declares(name);
    for (name, value) in draft.inputs.iter().filter(|(name, _)| is_macro(name)) {
        values.insert(name.clone(), (*value).max(1));
    }
    let mut texts = IndexMap::new();
    for (name, value) in &draft.defines {
        match value.get("text").and_then(Value::as_str) {
            Some(text) => _ = texts.insert(name.clone(), text.to_owned()),
            None => _ = values.insert(name.clone(), value.as_i64().unwrap_or(1)),
        }
    }
    let symbols = values.iter().map(|(name, v)| (name.clone(), Symbol { least: *v, greatest: *v }));
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = draft.files();
    let (first, more) = files.split_first().unwrap_or((&draft.file, &[]));
    let includes = &draft.wishes.include;
    let request = ReadRequest {
        path: folder.join(first),
        name: first.clone(),
        more: more.iter().map(|name| (name.clone(), folder.join(name))).collect(),
        include: includes.iter().map(|name| (name.clone(), folder.join(name))).collect(),
        standard: draft.standard,
        symbols: symbols.collect(),
        texts,
        dimensions: draft.dimensions,
        ..ReadRequest::default()
    };
    (request, values)
}
