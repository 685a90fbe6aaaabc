//! libclang's errors, as ours.

use std::collections::BTreeSet;
use std::sync::Arc;

use clang::TranslationUnit;
use clang::diagnostic::Severity;

use crate::ast::SourcePlace;
use crate::error::ReadError;
use crate::request::ReadRequest;

/// The first error, if there is one; what follows from a name without a meaning is no error of its
/// own.
pub(super) fn check<'tu>(
    unit: &'tu TranslationUnit<'tu>,
    request: &ReadRequest,
) -> Result<(), ReadError> {
    let diagnostics = unit.get_diagnostics();
    let errors = || diagnostics.iter().filter(|d| d.get_severity() >= Severity::Error);
    let Some(first) = errors().next() else { return Ok(()) };
    let (file, line, column) = first.get_location().get_presumed_location();
    let text = first.get_text();
    if file.is_empty() || file.starts_with('<') {
        return Err(ReadError::file(&request.name, text, "correct the source"));
    }
    let at = SourcePlace { file: Arc::from(file), line, column };
    match unknown(&text) {
        None => return Err(ReadError::at(&at, text, "correct the source")),
        Some((_, "asm")) => {
            let fix = "write in OpenCL C what it does";
            return Err(ReadError::at(&at, "inline assembly cannot be read", fix));
        }
        Some(_) => {}
    }
    let (mut values, mut types) = (BTreeSet::new(), BTreeSet::new());
    for text in errors().map(|d| d.get_text()) {
        match unknown(&text) {
            Some((true, name)) => types.insert(name.to_owned()),
            Some((false, name)) => values.insert(name.to_owned()),
            None => false,
        };
    }
    values.remove("asm");
    let (values, types) = (values.into_iter().collect(), types.into_iter().collect());
    Err(ReadError::Undeclared { at, what: text, values, types })
}

/// The name without a meaning that a message is about, and whether it stands for a type.
fn unknown(text: &str) -> Option<(bool, &str)> {
    let is_type = text.starts_with("unknown type name");
    let values = ["use of undeclared identifier", "implicit declaration of function"];
    if !is_type && !values.iter().any(|words| text.starts_with(words)) {
        return None;
    }
    Some((is_type, text.split('\'').nth(1)?))
}
