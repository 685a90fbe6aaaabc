//! The processes that MPI has started.

use std::io;

use mpi::Threading;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use tickbound_reo::product::reachable::Exchange;

use crate::{WorldError, is_started};

/// All processes that work together. MPI ends with it.
pub struct World {
    // Ends MPI when it is dropped.
    _universe: Universe,
    rank: usize,
    size: usize,
}

impl World {
    /// Joins the others; nothing if this process is alone. To be called once, before threads use
    /// MPI.
    ///
    /// # Errors
    /// MPI does not start, or lets only one thread call it: the search calls it from one at a time,
    /// but not always the same.
    pub fn start() -> Result<Option<World>, WorldError> {
        if !is_started() {
            return Ok(None);
        }
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) =
            started.ok_or(WorldError::Start("it was started before in this process"))?;
        if threading < Threading::Serialized {
            return Err(WorldError::Start("it has no support for threads"));
        }
        let world = universe.world();
        let number = |n: i32| usize::try_from(n).unwrap_or(0);
        let (rank, size) = (number(world.rank()), number(world.size()));
        Ok(Some(World { _universe: universe, rank, size }))
    }

    /// Ends all processes, this one with exit status `code`. The reason was reported before.
    pub fn abort(&self, code: i32) -> ! {
        SimpleCommunicator::world().abort(code)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // To end MPI the usual way would wait for the others, who wait for this one.
        if std::thread::panicking() {
            self.abort(3);
        }
    }
}

impl Exchange for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_to_all(&mut self, words: Vec<Vec<u64>>) -> io::Result<Vec<Vec<u64>>> {
        let world = SimpleCommunicator::world();
        let lengths: Vec<i32> =
            words.iter().map(|to| length(to.len())).collect::<Result<_, _>>()?;
        let mut coming = vec![0_i32; self.size];
        world.all_to_all_into(&lengths[..], &mut coming[..]);
        let (begins, going) = places(&lengths)?;
        let (places_of, total) = places(&coming)?;
        let (mut sent, mut received) = (Vec::with_capacity(going), vec![0_u64; total]);
        words.into_iter().for_each(|to| sent.extend(to));
        let out = Partition::new(&sent[..], &lengths[..], &begins[..]);
        let mut into = PartitionMut::new(&mut received[..], &coming[..], &places_of[..]);
        world.all_to_all_varcount_into(&out, &mut into);
        drop(into);
        let mut rest = &received[..];
        let parts = coming.iter().map(|length| {
            let (part, after) = rest.split_at(usize::try_from(*length).unwrap_or(0));
            rest = after;
            part.to_vec()
        });
        Ok(parts.collect())
    }

    fn send(&mut self, to: usize, words: &[u64]) -> io::Result<()> {
        length(words.len())?;
        SimpleCommunicator::world().process_at_rank(length(to)?).send(words);
        Ok(())
    }

    fn receive(&mut self, from: usize) -> io::Result<Vec<u64>> {
        Ok(SimpleCommunicator::world().process_at_rank(length(from)?).receive_vec().0)
    }
}

/// Where parts of these lengths begin, one behind the other, and where the last ends.
fn places(lengths: &[i32]) -> io::Result<(Vec<i32>, usize)> {
    let mut end = 0;
    let begins = lengths.iter().map(|many| {
        let begin = length(end);
        end += usize::try_from(*many).unwrap_or(0);
        begin
    });
    let begins = begins.collect::<io::Result<Vec<i32>>>()?;
    length(end)?;
    Ok((begins, end))
}

/// A number of words as MPI takes it.
fn length(words: usize) -> io::Result<i32> {
    let most = |_| {
        io::Error::other(format!(
            "{words} words at once, where MPI takes 2147483647; use more ranks, or less --memory"
        ))
    };
    i32::try_from(words).map_err(most)
}
