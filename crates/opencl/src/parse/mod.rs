//! libclang's cursors to the syntax tree.
//!
//! The text has no macros any more (see [`preprocess`](crate::preprocess)), so that what stands
//! between two operands is the operator itself: libclang before version 17 does not tell it.

mod cpp;
mod cuda;
mod declare;
mod express;
mod size;
mod spelling;
mod state;
mod text;
mod types;

use clang::diagnostic::{Diagnostic, Severity};
use clang::{Index, TranslationUnit, Unsaved};

use crate::ast::Unit;
use crate::error::{Read, ReadError};
use crate::libclang;
use crate::preprocess::Expanded;
use crate::request::ReadRequest;

pub(crate) use cpp::HostPart;
use spelling::{gives_up, rejected};
use state::Tree;
use text::Text;

/// The name under which libclang gets the text; messages have the names of line markers.
const FILE: &str = "kernel.cl";

/// Makes the tree of a source that has been expanded.
pub fn parse(request: &ReadRequest, expanded: &Expanded) -> Result<Unit, ReadError> {
    if request.standard.is_cuda() {
        return Ok(cpp::parse(request, expanded, false)?.0);
    }
    let standard = format!("-cl-std={}", request.standard.name());
    libclang::lend(|clang, headers| {
        let headers = headers.to_string_lossy();
        let arguments = [
            "-x",
            "cl",
            &standard,
            // Sizes of pointers and the extensions are those of no particular device.
            "-target",
            "spir64-unknown-unknown",
            // Instead of the headers that the driver would choose: ours, in any version.
            "-cl-no-stdinc",
            "-isystem",
            &headers,
            "-Xclang",
            "-finclude-default-header",
            "-Xclang",
            "-fdeclare-opencl-builtins",
            // Headers of clang 14 do not define it.
            "-D__opencl_c_work_group_collective_functions=1",
            "-w",
            // Names without a meaning are reported all at once.
            "-ferror-limit=0",
        ];
        let index = Index::new(clang, false, false);
        let mut parser = index.parser(FILE);
        parser.arguments(&arguments).unsaved(&[Unsaved::new(FILE, &expanded.text)]);
        let unit = parser.parse().map_err(|error| gives_up(request, error))?;
        check(&unit, request)?;
        let (text, open) = (Text(&expanded.text), expanded.open.as_slice());
        Ok(Tree { text, open, ..Tree::default() }.unit(unit.get_entity()))
    })
}

/// The same with what a source in CUDA has beside its kernel.
pub(crate) fn parse_with_host(
    request: &ReadRequest,
    expanded: &Expanded,
) -> Read<(Unit, HostPart)> {
    match request.standard.is_cuda() {
        true => cpp::parse(request, expanded, true),
        false => Ok((parse(request, expanded)?, HostPart::default())),
    }
}

fn check<'tu>(unit: &'tu TranslationUnit<'tu>, request: &ReadRequest) -> Read<()> {
    let diagnostics = unit.get_diagnostics();
    let errors = diagnostics.iter().filter(|d| d.get_severity() >= Severity::Error);
    let errors: Vec<&Diagnostic<'_>> = errors.collect();
    let Some(first) = errors.first() else { return Ok(()) };
    let (file, ..) = first.get_location().get_presumed_location();
    if file.is_empty() || file.starts_with('<') {
        return Err(ReadError::file(&request.name, first.get_text(), "correct the source"));
    }
    rejected(&errors)
}
