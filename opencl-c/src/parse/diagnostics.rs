//! libclang's errors, as ours.

use std::sync::Arc;

use clang::TranslationUnit;
use clang::diagnostic::Severity;

use crate::ast::At;
use crate::error::ReadError;
use crate::request::Request;

/// The first error, if there is one.
pub(super) fn check<'tu>(
    unit: &'tu TranslationUnit<'tu>,
    request: &Request,
) -> Result<(), ReadError> {
    let diagnostics = unit.get_diagnostics();
    let Some(first) = diagnostics.iter().find(|d| d.get_severity() >= Severity::Error) else {
        return Ok(());
    };
    let (file, line, column) = first.get_location().get_presumed_location();
    let text = first.get_text();
    let fix = fix(&text);
    if file.is_empty() || file.starts_with('<') {
        return Err(ReadError::file(&request.name, text, fix));
    }
    Err(ReadError::at(&At { file: Arc::from(file), line, column }, text, fix))
}

fn fix(text: &str) -> &'static str {
    let unknown =
        ["undeclared identifier", "unknown type name", "implicit declaration of function"];
    if unknown.iter().any(|words| text.contains(words)) {
        "declare it, add it to kernel.defines, or set kernel.standard to the version that has it"
    } else {
        "correct the source"
    }
}
