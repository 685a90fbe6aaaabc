//! Without MPI there is no world.

use std::convert::Infallible;
use std::io;

use tickbound_reo::product::reachable::Exchange;

use crate::{WorldError, is_started};

/// All processes that work together: there are none.
#[derive(Debug)]
pub struct NoWorld(Infallible);

impl NoWorld {
    /// Nothing.
    ///
    /// # Errors
    /// The process was started as one of several.
    pub fn start() -> Result<Option<NoWorld>, WorldError> {
        if is_started() { Err(WorldError::Missing) } else { Ok(None) }
    }

    /// Cannot be called, as there is no world.
    pub fn abort(&self, _: i32) -> ! {
        match self.0 {}
    }
}

impl Exchange for NoWorld {
    fn rank(&self) -> usize {
        match self.0 {}
    }

    fn size(&self) -> usize {
        match self.0 {}
    }

    fn all_to_all(&mut self, _: Vec<Vec<u64>>) -> io::Result<Vec<Vec<u64>>> {
        match self.0 {}
    }

    fn send(&mut self, _: usize, _: &[u64]) -> io::Result<()> {
        match self.0 {}
    }

    fn receive(&mut self, _: usize) -> io::Result<Vec<u64>> {
        match self.0 {}
    }
}
