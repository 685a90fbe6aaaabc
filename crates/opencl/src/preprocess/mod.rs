//! Macros, expanded by the machine's C compiler.
//!
//! libclang knows where an expression came from, but not what a macro made of it. So the C compiler
//! that is there anyway expands the source before, with the macros of OpenCL C and those of clang's
//! own header. Line markers keep the lines of the user's file.
//!
//! A macro whose value stays open, a *symbol*, expands to itself and is declared in front as an
//! enumeration constant: it may be the length of an array, and libclang finds where it is used.
//! Where the preprocessor itself needs the value, in `#if` or in a token that is pasted together
//! (`float##WIDTH`), the symbol is *structural*: the caller expands again for each of its values.
//! Where these are many, the truth of an `#if` can be a structural symbol itself
//! ([`Conditions`]).

mod compiler;
mod conditions;
mod declared;
mod included;
mod messages;
mod text;
mod together;
mod unroll;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tickbound_os::process::ProcessLimits;

use crate::cuda::{self, CudaNames};
use crate::error::{Read, ReadError};
use crate::libclang;
use crate::lines::{is_word, quote};
use crate::outline::Outline;
use crate::request::ReadRequest;
use compiler::Preprocessed;
pub use conditions::Conditions;
pub(crate) use conditions::c_value;
pub use included::included;
use together::Copies;

pub(crate) use declared::DECLARED;
pub(crate) use text::SYMBOLS;
pub use unroll::Said;

/// A source without macros.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expanded {
    /// The text, with line markers; in front of it, the open symbols as enumeration constants.
    pub text: String,
    /// Symbols that stay open: those of the request that are not structural.
    pub open: Vec<String>,
    /// Open symbols whose value the preprocessor needs. If there are any, the text is not to be
    /// used: make them structural and expand again.
    pub asked: Vec<String>,
    /// Names and texts of the conditions of `#if`, if it was expanded with [`Conditions`].
    #[serde(skip)]
    pub conditions: Vec<(String, String)>,
    /// How far it wants loops to be unrolled.
    pub unroll: Vec<Said>,
}

/// A source whose macros are to be expanded for values of its structural symbols.
pub struct Expander<'r> {
    request: &'r ReadRequest,
    source: String,
    headers: PathBuf,
    /// The symbols that have values of their own.
    pub structural: &'r [String],
    open: Vec<String>,
    /// In CUDA, names that are no macros.
    names: CudaNames,
    limits: ProcessLimits<'r>,
}

impl<'r> Expander<'r> {
    /// Symbols that are not structural stay open; others have the values that are expanded for.
    ///
    /// # Errors
    /// The source or a file that it includes cannot be read, or this machine lacks libclang.
    pub fn new(
        request: &'r ReadRequest,
        structural: &'r [String],
    ) -> Result<Expander<'r>, ReadError> {
        let mut source = read(&request.name, &request.path)?;
        for (name, path) in &request.more {
            source += &format!("\n# 1 {}\n{}", quote(name), read(name, path)?);
        }
        let source = unroll::marked(&source);
        let headers = libclang::lend(|_, headers| Ok(headers.to_owned()))?;
        let names = request.symbols.keys().filter(|name| !structural.contains(name));
        let open = names.cloned().collect();
        let (limits, names) = (compiler::limits(), CudaNames::default());
        let mut expander = Expander { request, source, headers, structural, open, names, limits };
        included(&request.name, &expander.source, &expander.folders())?;
        if request.standard.is_cuda() {
            let folders = expander.folders();
            (expander.names, expander.source) = CudaNames::new(request, &expander.source, &folders);
        }
        Ok(expander)
    }

    /// The same, with the truth of conditions among the structural symbols.
    #[must_use]
    pub fn with_conditions(mut self, conditions: &Conditions) -> Expander<'r> {
        self.source = conditions.marked(&self.source);
        self
    }

    /// The same, but `interrupt` stops the compiler.
    #[must_use]
    pub fn stopped_by(mut self, interrupt: &'r AtomicBool) -> Expander<'r> {
        self.limits.interrupt = interrupt;
        self
    }

    /// The expanded text for these values of symbols.
    ///
    /// # Errors
    /// The compiler rejects the source, or there is none.
    pub fn one(&self, values: &IndexMap<String, i64>) -> Result<Expanded, ReadError> {
        let name = &self.request.name;
        let marked = format!("# 1 {}\n{}\n", quote(name), self.source);
        let structural = self.numbers(values).into_iter().map(|(name, n)| format!("{name}={n}"));
        let defines: Vec<String> = self.same_for_all().into_iter().chain(structural).collect();
        let said = self.run(&marked, &defines)?;
        let files = text::Files::of(self.request);
        let mut asked = text::asked(&said.text, &said.messages, &self.open);
        let own = said.text.find(&format!("# 1 {}", quote(name))).unwrap_or(0);
        asked.extend(self.names.asked(&said.text[own..], &self.open));
        if asked.is_empty() && !said.success {
            return Err(messages::error(&text::name(&said.messages, &self.open), &files));
        }
        Ok(self.expanded(&said.text, asked, values))
    }

    /// The same for many values of symbols, in one run. `None` if it is not sure that the texts are
    /// those that [`one`](Expander::one) gives, or if one of them is rejected.
    pub fn together(&self, all: &[IndexMap<String, i64>]) -> Option<Vec<Expanded>> {
        let header = match self.request.standard.is_cuda() {
            true => cuda::shim(self.request.standard),
            false => std::fs::read_to_string(self.headers.join(libclang::HEADER)).ok()?,
        };
        let directives = header.lines().filter(|line| line.trim_start().starts_with('#'));
        let mut words = directives.flat_map(|line| line.split(|c| !is_word(c)));
        if words.any(|word| self.structural.iter().any(|name| name == word)) {
            return None;
        }
        let (name, folder) = (self.request.name.as_str(), folder(self.request));
        let more = self.request.more.iter().map(|(name, _)| name.as_str());
        let own: Vec<&str> = std::iter::once(name).chain(more).collect();
        let macros: Vec<_> = all.iter().map(|values| self.numbers(values)).collect();
        let mut copies = Copies::new(&self.source)?;
        loop {
            let said = self.run(&copies.text(name, &self.source, &macros), &self.same_for_all());
            let said = said.ok().filter(|said| said.success)?;
            if !text::asked("", &said.messages, &self.open).is_empty() {
                return None;
            }
            if copies.more_files(&said.text, folder, &own)? {
                continue;
            }
            let texts = together::apart(&said.text, all.len())?;
            let each = texts.into_iter().zip(all).map(|(text, values)| {
                let mut asked = text::asked(text, "", &self.open);
                asked.extend(self.names.asked(text, &self.open));
                self.expanded(text, asked, values)
            });
            return Some(each.collect());
        }
    }

    /// A value for each symbol, under its name.
    pub fn named(&self, values: &[i64]) -> IndexMap<String, i64> {
        self.request.symbols.keys().cloned().zip(values.iter().copied()).collect()
    }

    /// Macros that are the same for all values of structural symbols.
    fn same_for_all(&self) -> Vec<String> {
        let open = self.open.iter().enumerate().filter(|(_, name)| !self.names.has(name));
        let open = open.map(|(i, n)| format!("{n}={}", text::stand_in(i)));
        let texts = self.request.texts.iter().filter(|(name, _)| !self.names.has(name));
        let texts = texts.map(|(name, text)| format!("{name}={text}"));
        open.chain(texts).collect()
    }

    /// The structural symbols with their values.
    fn numbers(&self, values: &IndexMap<String, i64>) -> Vec<(String, String)> {
        let value = |name: &String| self.value(name, values).to_string();
        let macros = self.structural.iter().filter(|name| !self.names.has(name));
        macros.map(|name| (name.clone(), value(name))).collect()
    }

    fn value(&self, name: &str, values: &IndexMap<String, i64>) -> i64 {
        let least = || self.request.symbols.get(name).map(|s| s.least);
        values.get(name).copied().or_else(least).unwrap_or_default()
    }

    fn run(&self, marked: &str, defines: &[String]) -> Read<Preprocessed> {
        let (folders, language) = (self.folders(), (self.request.standard, defines));
        let places = (folder(self.request), &folders[1..]);
        let said = compiler::run(marked, places, &self.headers, language, self.limits);
        said.map_err(|error| match error {
            ReadError::Stopped { .. } => ReadError::Stopped { name: self.request.name.clone() },
            error => error,
        })
    }

    /// Where files to be included are looked for: that of the source first.
    fn folders(&self) -> Vec<PathBuf> {
        let more = self.request.include.iter().map(|(_, path)| text::absolute(path));
        std::iter::once(folder(self.request).to_owned()).chain(more).collect()
    }

    fn expanded(&self, said: &str, asked: Vec<String>, values: &IndexMap<String, i64>) -> Expanded {
        let files = text::Files::of(self.request);
        let conditions = conditions::found(said, &self.open);
        let said = conditions::unmarked(said);
        let unroll = unroll::all(&said, &files, &self.open, values);
        let mut body = files.tidy(&unroll::unmarked(&said));
        if self.request.standard.is_cuda() {
            let value = |name: &String| (name.clone(), self.value(name, values).to_string());
            let fixed: Vec<_> = self.structural.iter().map(value).collect();
            let mut body = self.names.with_values(&body, &fixed);
            let bodies = cuda::bodies(&body);
            if !bodies.is_empty() {
                body.insert_str(0, &format!("# 1 \"{DECLARED}\"\n{bodies}"));
            }
            let text = text::declare(&body, &self.open, |name| self.value(name, values));
            let arguments = self.names.arguments(self.request, |name| self.value(name, values));
            let text = text + &arguments;
            return Expanded { text, open: self.open.clone(), asked, conditions, unroll };
        }
        body += &required_group(&body, &self.request.entry).unwrap_or_default();
        body += &required_sub_group(&body, &self.request.entry).unwrap_or_default();
        let declarations = declared::declarations(&body);
        if declarations.contains("ext_vector_type(32)") {
            body = declared::numbered(&body);
        }
        body.insert_str(0, &declarations);
        let text = text::declare(&body, &self.open, |name| self.value(name, values));
        Expanded { text, open: self.open.clone(), asked, conditions, unroll }
    }
}

/// The array that holds the arguments of `reqd_work_group_size`, to be read as expressions.
pub(crate) const REQUIRED_GROUP: &str = "tickbound_required_group";

/// A declaration of that array, if the kernel has the attribute.
fn required_group(text: &str, entry: &str) -> Option<String> {
    if !text.contains("reqd_work_group_size") {
        return None;
    }
    let groups = Outline::of(text).groups;
    let (_, [x, y, z]) = groups.into_iter().find(|(function, _)| function == entry)?;
    Some(format!("\n__constant long {REQUIRED_GROUP}[3] = {{({x}), ({y}), ({z})}};\n"))
}

/// The constant that holds the size of sub-groups that an attribute of the kernel requires.
pub(crate) const REQUIRED_SUB_GROUP: &str = "tickbound_required_sub_group";

/// A declaration of that constant, if the kernel has such an attribute.
fn required_sub_group(text: &str, entry: &str) -> Option<String> {
    if !text.contains("reqd_sub_group_size") {
        return None;
    }
    let sizes = Outline::of(text).sub_groups;
    let (_, size) = sizes.into_iter().find(|(function, _)| function == entry)?;
    Some(format!("\n__constant long {REQUIRED_SUB_GROUP} = {size};\n"))
}

/// The folder of the source, where its includes lie.
fn folder(request: &ReadRequest) -> &Path {
    match request.path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn read(name: &str, path: &Path) -> Read<String> {
    let text = tickbound_input::source(path)
        .map_err(|error| ReadError::file(name, error.to_string(), "check kernel.opencl"))?;
    if text.contains('\0') {
        return Err(ReadError::file(name, "there is a NUL character in it", "remove it"));
    }
    Ok(text)
}
