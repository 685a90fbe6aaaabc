//! The state of the work, and its limits.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::frame::Frame;
use super::leaf::{Key, Leaf};
use crate::connector::Notes;
use crate::syntax::{Source, Spot};
use crate::treo::atom::Template;
use crate::treo::error::{MAX_DEPTH, MAX_WORK, TreoFault, TreoResult};
use crate::treo::files::Files;
use crate::treo::library::Library;

pub(super) type Done = TreoResult<()>;

/// The state of the work.
pub(super) struct Expander<'l> {
    pub files: Files<'l>,
    pub leaves: Vec<Leaf>,
    pub notes: Notes,
    pub templates: HashMap<Key, Arc<Template>>,
    /// Definitions, by file and number, whose interfaces have been compared with their bodies.
    pub compared: HashSet<(usize, usize)>,
    pub worked: usize,
    pub depth: usize,
    pub size: usize,
}

impl<'l> Expander<'l> {
    pub fn new(source: &Source, library: &'l dyn Library) -> TreoResult<Self> {
        let files = Files::new(source, library)?;
        let (leaves, notes, templates, compared) = <_>::default();
        Ok(Expander { files, leaves, notes, templates, compared, worked: 0, depth: 0, size: 0 })
    }

    /// Counts `pieces` of work.
    pub fn work(&mut self, f: &Frame, spot: Spot, pieces: usize) -> Done {
        self.worked = self.worked.saturating_add(pieces);
        if self.worked <= MAX_WORK {
            return Ok(());
        }
        Err(f.fault(spot, TreoFault::limit("pieces of work", MAX_WORK)))
    }

    /// Does `inside` one level deeper.
    pub fn deeper(
        &mut self,
        f: &mut Frame,
        inside: impl FnOnce(&mut Self, &mut Frame) -> Done,
    ) -> Done {
        if self.depth >= MAX_DEPTH {
            return Err(f.fault(f.spot, TreoFault::limit("components in components", MAX_DEPTH)));
        }
        self.depth += 1;
        let done = inside(self, f);
        self.depth -= 1;
        done
    }
}
