//! Several processes that make one product: who says what, and how they end.

use tickbound_reo::product::dense::CellTally;
use tickbound_reo::product::reachable::{Exchange, total};
use tickbound_reo_mpi::World;
use tickbound_reo_stream::BlockRecord;

use crate::commands::exit::{CliError, Exit, input};

/// The processes that `mpirun` has started; often this one is alone. The first reads, writes and
/// speaks for all.
pub(super) struct Ranks(Option<World>);

impl Ranks {
    /// Joins the others, if there are any.
    ///
    /// # Errors
    /// There are, and MPI is missing or does not start.
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

    /// What is said of where a product was made.
    pub fn name(&self, device: &str) -> String {
        match self.size() {
            1 => device.to_owned(),
            size => format!("{device}, {size} ranks"),
        }
    }

    /// Ends all if this one has failed: the others wait for it.
    pub fn end<T>(&self, ended: Result<T, CliError>) -> Result<T, CliError> {
        if let (Err(error), Some(world)) = (&ended, &self.0) {
            complain!("tickbound: rank {} of {}: {error}", self.rank(), self.size());
            world.abort(Exit::Input as i32);
        }
        ended
    }

    /// The sum of what all have counted, for the first; of the others what they have counted
    /// themselves.
    pub fn total(&mut self, tally: CellTally) -> Result<CellTally, CliError> {
        let Some(world) = self.world() else { return Ok(tally) };
        Ok(total(world, tally).map_err(input)?.unwrap_or(tally))
    }

    /// What the first one gives to all.
    pub fn told_by_first(&mut self, words: Vec<u64>) -> Result<Vec<u64>, CliError> {
        let first = self.is_first();
        let Some(world) = self.world() else { return Ok(words) };
        let size = world.size();
        let words = if first { vec![words; size] } else { vec![Vec::new(); size] };
        Ok(world.all_to_all(words).map_err(input)?.swap_remove(0))
    }
}

/// Gives the record of a block to the first rank, if there is one, and returns all that the ranks
/// give to this one.
///
/// # Errors
/// The others cannot be reached.
pub(super) fn records(
    world: &mut World,
    record: Option<&BlockRecord>,
) -> std::io::Result<Vec<BlockRecord>> {
    let bytes = record.map(serde_json::to_vec).transpose()?.unwrap_or_default();
    let mut words = vec![Vec::new(); world.size()];
    words[0] = bytes.chunks(8).map(word).collect();
    let all = world.all_to_all(words)?;
    let read = |words: Vec<u64>| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        serde_json::from_slice(bytes.trim_ascii_end()).map_err(std::io::Error::from)
    };
    all.into_iter().filter(|words| !words.is_empty()).map(read).collect()
}

/// Up to eight bytes as a word; spaces behind them, which JSON does not mind.
fn word(bytes: &[u8]) -> u64 {
    let mut whole = [b' '; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(whole)
}
