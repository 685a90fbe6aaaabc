//! libclang's cursors to the syntax tree.
//!
//! The text has no macros any more (see [`preprocess`](crate::preprocess)), so that what stands
//! between two operands is the operator itself: libclang before version 17 does not tell it.

mod declare;
mod diagnostics;
mod express;
mod literal;
mod member;
mod operator;
mod size;
mod state;
mod symbolic;
mod text;
mod types;

use clang::{Index, Unsaved};

use crate::ast::Unit;
use crate::error::ReadError;
use crate::libclang;
use crate::preprocess::Expanded;
use crate::request::ReadRequest;

use state::Tree;

/// The name under which libclang gets the text. Nothing is written to disk; messages and places
/// have the names of line markers.
const FILE: &str = "kernel.cl";

/// Makes the tree of a source that has been expanded.
pub fn parse(request: &ReadRequest, expanded: &Expanded) -> Result<Unit, ReadError> {
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
            "-w",
            // Names without a meaning are told all at once.
            "-ferror-limit=0",
        ];
        let index = Index::new(clang, false, false);
        let mut parser = index.parser(FILE);
        parser.arguments(&arguments).unsaved(&[Unsaved::new(FILE, &expanded.text)]);
        let unit = parser.parse().map_err(|error| {
            ReadError::file(
                &request.name,
                format!("libclang gives up: {error}"),
                "simplify the source, or install another version of libclang",
            )
        })?;
        diagnostics::check(&unit, request)?;
        Ok(Tree::new(&expanded.text, &expanded.open).unit(unit.get_entity()))
    })
}
