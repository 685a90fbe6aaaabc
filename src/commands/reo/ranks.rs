//! Several processes that make one product: what each reports, and how they end.

use tickbound_reo::product::reachable::Exchange;
use tickbound_reo_mpi::World;
use tickbound_reo_stream::Ranks as Others;

use crate::commands::exit::{CliError, Exit, input};

/// The processes that `mpirun` has started, or this one alone. The first reads and writes.
pub(super) struct Ranks(Option<World>);

impl Ranks {
    /// Joins the others, if there are any.
    pub fn start() -> Result<Ranks, CliError> {
        World::start().map(Ranks).map_err(input)
    }

    /// The number of this one.
    pub fn rank(&self) -> usize {
        self.0.as_ref().map_or(0, World::rank)
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.0.as_ref().map_or(1, World::size)
    }

    /// Whether this one speaks.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The others, if this process was not started alone.
    pub fn world(&mut self) -> Option<&mut World> {
        self.0.as_mut()
    }

    /// The same for a job.
    pub fn others(&mut self) -> Others<'_> {
        Others(self.0.as_mut().map(|world| world as _))
    }

    /// Where a product was made, for people.
    pub fn name(&self, device: &str) -> String {
        match self.size() {
            1 => device.to_owned(),
            size => format!("{device}, {size} ranks"),
        }
    }

    /// Ends all if this one has failed: the others wait for it.
    pub fn end<T>(&self, ended: Result<T, CliError>) -> Result<T, CliError> {
        if let (Err(error), Some(world)) = (&ended, &self.0) {
            error!("tickbound: rank {} of {}: {error}", self.rank(), self.size());
            world.abort(Exit::Input as i32);
        }
        ended
    }
}
