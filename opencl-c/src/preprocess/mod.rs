//! Macros, expanded by the machine's C compiler.
//!
//! libclang tells where an expression came from, but not what a macro made of it. So the source is
//! expanded before libclang sees it, by the C compiler that is there anyway, with the macros of
//! OpenCL C and those of clang's own header. Line markers keep the lines of the user's file.
//!
//! A macro whose value stays open, a *symbol*, expands to itself and is declared in front as an
//! enumeration constant: it may be the length of an array, and libclang says where it is used.
//! That cannot work where the preprocessor itself needs the value, in `#if` or in a token that is
//! pasted together (`float##WIDTH`). Such symbols are reported; the caller gives them a value and
//! expands again, once for each value: they are *structural*.

mod compiler;
mod messages;
mod text;

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::error::ReadError;
use crate::libclang;
use crate::request::Request;

pub(crate) use text::SYMBOLS;

/// A source without macros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// The text, with line markers; in front of it, the open symbols as enumeration constants.
    pub text: String,
    /// Symbols that stay open: those of the request that are not structural.
    pub open: Vec<String>,
    /// Open symbols whose value the preprocessor needs. If there are any, the text is not to be
    /// used: make them structural and expand again.
    pub asked: Vec<String>,
}

/// Expands the macros of a source. Symbols listed in `structural` have their value of `values`; the
/// others stay open, and `values` only gives one for which the source compiles.
pub fn expand(
    request: &Request,
    structural: &[String],
    values: &IndexMap<String, i64>,
) -> Result<Expanded, ReadError> {
    let source = read(request)?;
    let headers = libclang::lend(|_, headers| Ok(headers.to_owned()))?;
    let value = |name: &str| {
        values.get(name).copied().or_else(|| request.symbols.get(name).map(|s| s.least))
    };
    let open: Vec<String> =
        request.symbols.keys().filter(|name| !structural.contains(name)).cloned().collect();
    let stands = |name: &String| match open.iter().position(|o| o == name) {
        Some(index) => text::stand_in(index),
        None => value(name).unwrap_or_default().to_string(),
    };
    let defines: Vec<String> = (request.symbols.keys())
        .map(|name| format!("{name}={}", stands(name)))
        .chain(request.texts.iter().map(|(name, text)| format!("{name}={text}")))
        .collect();

    let marked = format!("# 1 {}\n{source}\n", text::quote(&request.name));
    let said = compiler::run(&marked, folder(request), &headers, request.standard, &defines)?;
    let files = text::Files::new(&request.name);
    let asked = text::asked(&said.text, &said.messages, &open);
    if asked.is_empty() && !said.success {
        return Err(messages::error(&text::name(&said.messages, &open), &files));
    }
    let body = files.tidy(&said.text);
    let text = text::declare(&body, &open, |name| value(name).unwrap_or_default());
    Ok(Expanded { text, open, asked })
}

/// The folder of the source, where its includes lie.
fn folder(request: &Request) -> &Path {
    match request.path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn read(request: &Request) -> Result<String, ReadError> {
    let bytes = std::fs::read(&request.path).map_err(|error| {
        let what = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        ReadError::file(&request.name, what, "check kernel.opencl")
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        let at = crate::ast::At {
            file: Arc::from(request.name.as_str()),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: 0,
        };
        ReadError::at(&at, "this is not UTF-8", "save the file as UTF-8")
    })?;
    if text.contains('\0') {
        return Err(ReadError::file(&request.name, "there is a NUL character in it", "remove it"));
    }
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}
