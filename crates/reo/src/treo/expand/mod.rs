//! A tree and its imports as channels and nodes: every use of a component is replaced by what the
//! component is made of, until only atoms and built-in components are left.

mod arguments;
mod atom;
mod block;
mod expander;
mod instance;
mod scope;
mod top;
mod value;

use self::expander::Expander;
use super::error::TreoResult;
use super::library::Library;
use super::request::TreoRequest;
use crate::connector::Connector;
use crate::syntax::Source;

/// The connector that a component of a text describes, its imports read from `library`.
///
/// # Errors
/// The first fault of the text or its imports; what is outside what is read here; a limit that it
/// passes.
pub fn connector(
    source: &Source,
    library: &dyn Library,
    request: &TreoRequest,
) -> TreoResult<Connector> {
    Expander::new(source, library)?.top(request)
}
