//! What ranks that make one product together tell each other: `cargo bench -p tickbound-reo --bench
//! ranks [-- BUFFERS]`.
//!
//! The product is that of an open chain of buffers (16: 65,536 states, 2,207,842 transitions).
//! Ranks are threads, each with the search that a process has, so that every message is the one
//! that MPI would carry; only the time of the network is not there. For each number of ranks: how
//! much goes from rank to rank in all, for each transition and each state, in how many exchanges,
//! and how unequal the ranks are, in what they send and in the steps that they make: the most of a
//! rank beside the mean.

use std::io;
use std::sync::{Arc, Barrier, Mutex, PoisonError};

use tickbound_reo::automaton::Automaton;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::primitive::{BufferContent, fifo1};
use tickbound_reo::product::reachable::{Exchange, StepStream, StreamError};
use tickbound_reo::symbol::Symbols;

/// Memory of each rank.
const MEMORY: u64 = 48 << 20;

fn main() -> Result<(), StreamError> {
    let n = std::env::args().skip(1).find_map(|n| n.parse().ok()).unwrap_or(16);
    let parts = chain(n);
    let refs: Vec<&Automaton> = parts.iter().collect();
    let limits = ProductLimits::memory(MEMORY);
    let product = StepStream::new(&refs, &limits)?;
    println!(
        "| ranks | exchanges | MB sent | bytes a transition | bytes a state | most sent / mean | \
         most steps / mean |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for size in [2, 4, 16, 64, 256, 1000] {
        let all = simulated(&product, size, &limits)?;
        let states = all[0].states as f64;
        let sum = |of: fn(&Told) -> u64| all.iter().map(of).sum::<u64>() as f64;
        let most = |of: fn(&Told) -> u64| all.iter().map(of).max().unwrap_or(0) as f64;
        let (sent, steps) = (sum(|r| r.bytes), sum(|r| r.steps));
        let ratio = |of: fn(&Told) -> u64| most(of) * size as f64 / sum(of).max(1.0);
        println!(
            "| {size} | {} | {:.1} | {:.2} | {:.0} | {:.2} | {:.2} |",
            all[0].exchanges,
            sent / 1e6,
            sent / steps,
            sent / states,
            ratio(|r| r.bytes),
            ratio(|r| r.steps),
        );
    }
    Ok(())
}

/// Buffers in a row: what leaves one enters the next in the same step.
fn chain(n: usize) -> Vec<Automaton> {
    let mut symbols = Symbols::new();
    let mut buffer = |i: usize| {
        let (a, b) = (symbols.name(&format!("x{i}")), symbols.name(&format!("x{}", i + 1)));
        fifo1(a, b, symbols.cell(&format!("m{i}")), BufferContent::Empty).without_data()
    };
    (0..n).map(&mut buffer).collect()
}

/// What a rank has told others, and done.
#[derive(Debug, Default)]
struct Told {
    bytes: u64,
    exchanges: u64,
    steps: u64,
    states: u64,
}

/// Where ranks put what they give to each other: for each rank what each other gives to it.
struct Board {
    words: Vec<Mutex<Vec<Vec<u64>>>>,
    barrier: Barrier,
}

/// One thread that is a rank.
struct Rank {
    rank: usize,
    board: Arc<Board>,
    told: Told,
}

impl Exchange for Rank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.board.words.len()
    }

    fn all_to_all(&mut self, words: Vec<Vec<u64>>) -> io::Result<Vec<Vec<u64>>> {
        self.told.exchanges += 1;
        let place =
            |rank: usize| self.board.words[rank].lock().unwrap_or_else(PoisonError::into_inner);
        for (to, words) in words.into_iter().enumerate() {
            if to != self.rank {
                self.told.bytes += words.len() as u64 * 8;
            }
            place(to)[self.rank] = words;
        }
        self.board.barrier.wait();
        let size = self.board.words.len();
        let mine = std::mem::replace(&mut *place(self.rank), vec![Vec::new(); size]);
        self.board.barrier.wait();
        Ok(mine)
    }

    // Each rank sums up its own steps: nothing is sent to one alone.
    fn send(&mut self, _: usize, _: &[u64]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn receive(&mut self, _: usize) -> io::Result<Vec<u64>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The product by so many ranks.
fn simulated(
    product: &StepStream,
    size: usize,
    limits: &ProductLimits<'_>,
) -> Result<Vec<Told>, StreamError> {
    let words = (0..size).map(|_| Mutex::new(vec![Vec::new(); size])).collect();
    let board = Arc::new(Board { words, barrier: Barrier::new(size) });
    let make = |rank: usize| {
        let mut rank = Rank { rank, board: Arc::clone(&board), told: Told::default() };
        // A rank's search runs on a pool, whose threads wait for other ranks: so each has its own.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|e| StreamError::Exchange(io::Error::other(e)))?;
        let count = pool
            .install(|| product.share(limits, &mut rank, false, |_| Ok::<(), StreamError>(())))?;
        (rank.told.states, rank.told.steps) = (count.states, count.transitions as u64);
        Ok(rank.told)
    };
    std::thread::scope(|scope| {
        let make = &make;
        let ranks: Vec<_> = (0..size).map(|rank| scope.spawn(move || make(rank))).collect();
        let join = |rank: std::thread::ScopedJoinHandle<'_, _>| {
            rank.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        ranks.into_iter().map(join).collect()
    })
}
