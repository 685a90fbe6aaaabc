//! What is left when all else has been replaced.

use std::sync::Arc;

use crate::catalog::Primitive;
use crate::connector::ChannelEnd;
use crate::treo::atom::Template;

/// What a template depends on: the definition, the values of its words, its number of ports.
pub(super) type Key = (usize, usize, Vec<(String, String)>, usize);

/// A part, or foreign code.
pub(super) struct Leaf {
    pub kind: String,
    /// What it is made with.
    pub arguments: Vec<String>,
    pub prefix: String,
    pub ends: Vec<ChannelEnd>,
    pub make: Make,
    /// The names of its ports, if foreign code takes part at them: the environment sees them.
    pub open: Option<Vec<String>>,
}

pub(super) enum Make {
    Primitive(Primitive),
    Template(Arc<Template>),
    Foreign,
}
