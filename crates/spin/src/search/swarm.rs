//! Fig. 5 of seed 000: many bitstate runs at once.
//!
//! Workers differ in their seed, which orders the choices, in the size of their hash array, and in
//! the bits they set for each state. First they look for runs that end (`NonTerm`); the best of
//! these gives T. Then they look for something faster (`OverTime` at T - 1), again and again with
//! the new time, until a round finds nothing in the time that the round before took.
//!
//! A bitstate run takes some states for others, so what it does not find may exist: a swarm gives
//! upper bounds and no lower one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tickbound_os::process::ProcessStop;

use super::first::cut;
use crate::error::SpinError;
use crate::orders::{Bits, Build, Goal, Order, OrderClaim, Storage, VerifierRun};
use crate::output::VerifierVerdict;
use crate::result::SpinStop;
use crate::state::{Ending, SearchState};
use crate::watch::Watch;

/// Trails that a worker writes in the first round.
const TRAILS: u64 = 10;
/// No round ends sooner than this for want of a result.
const SHORTEST: Duration = Duration::from_secs(5);
/// The first hash arrays have 2 to the power of this many bits: 128 MiB.
const INITIAL_BITS: u32 = 30;
/// Least and greatest binary logarithm of the bits of a hash array that the verifier takes.
const ARRAY_BITS: std::ops::RangeInclusive<u32> = 20..=34;
/// With fewer bits than this for each state the verifier calls the coverage poor.
const POOR: f64 = 100.0;
/// How often the end of a round is looked for.
const POLL: Duration = Duration::from_millis(10);

pub(super) fn run(state: &SearchState<'_>) -> Result<Ending, SpinError> {
    let started = Instant::now();
    let mut bits = INITIAL_BITS;
    let claim = OrderClaim::NonTerm;
    let first = Round { number: 0, claim, bound: 0, errors: TRAILS, limit: None, bits };
    let Some(mut ended) = round(state, &first)? else { return Ok(cut(state.stop_reason())) };
    if ended.stopped_by.is_some() || state.bounds().1.is_none() {
        return Ok(Ending { proof: None, stopped_by: ended.stopped_by });
    }
    let mut before = started.elapsed();
    for number in 1.. {
        let (_, Some(best)) = state.bounds() else { break };
        if best == 0 {
            break;
        }
        let started = Instant::now();
        let limit = before.max(SHORTEST);
        let claim = OrderClaim::OverTime;
        // Where the arrays were too full the next ones are larger, as far as memory allows.
        bits += if ended.crowded { 2 } else { 0 };
        let next = Round { number, claim, bound: best - 1, errors: 1, limit: Some(limit), bits };
        let Some(now) = round(state, &next)? else { return Ok(cut(state.stop_reason())) };
        ended = now;
        if ended.stopped_by.is_some() {
            return Ok(Ending { proof: None, stopped_by: ended.stopped_by });
        }
        if state.bounds().1 == Some(best) {
            state.note(format!(
                "the last round of the swarm found nothing within {} ticks in {:.1} s",
                best - 1,
                started.elapsed().as_secs_f64()
            ));
            break;
        }
        before = started.elapsed();
    }
    Ok(Ending::default())
}

/// One swarm.
struct Round {
    number: u64,
    claim: OrderClaim,
    bound: i64,
    errors: u64,
    limit: Option<Duration>,
    /// Of the largest hash array.
    bits: u32,
}

struct RoundEnd {
    /// What ended the whole search.
    stopped_by: Option<SpinStop>,
    /// A hash array was too full to tell states apart.
    crowded: bool,
}

/// Lets all workers run, and replays their trails; `None` if stopped before the start.
fn round(state: &SearchState<'_>, round: &Round) -> Result<Option<RoundEnd>, SpinError> {
    let Some(build) = state.build(Goal::Claims { bound: round.bound }, Storage::Bits)? else {
        return Ok(None);
    };
    let settled = AtomicBool::new(false);
    let watch = state.watch.or_settled(&settled);
    let started = Instant::now();
    let runs = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..state.workers())
            .map(|worker| {
                let build = &build;
                scope.spawn(move || work(state, build, round, worker, watch))
            })
            .collect();
        while workers.iter().any(|w| !w.is_finished()) {
            if round.limit.is_some_and(|limit| started.elapsed() >= limit) {
                settled.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(POLL);
        }
        let panicked = || SpinError::Fault("a worker failed".into());
        let join =
            |w: std::thread::ScopedJoinHandle<'_, _>| w.join().unwrap_or_else(|_| Err(panicked()));
        workers.into_iter().map(join).collect::<Result<Vec<_>, SpinError>>()
    })?;
    let order = order(state, round, 0, watch);
    for (file, run) in trails(&runs) {
        match state.replay(&build, &order, file, run.run) {
            Ok(Some(trail)) => state.offer(trail)?,
            Ok(None) => break,
            // The last trail of a run that was stopped may be half written.
            Err(SpinError::Trail(_)) if matches!(run.verdict, VerifierVerdict::Stopped(_)) => {}
            // So may one of a run that was cut by its memory or its depth.
            Err(e @ SpinError::Trail(_)) if !run.complete => {
                state.note(format!("left out: {e}"));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Some(RoundEnd {
        stopped_by: stop_reason(state, round, &runs),
        crowded: runs.iter().any(|r| r.hash_factor.is_some_and(|f| f < POOR)),
    }))
}

/// The first trail of each worker, then the second of each, and so on, should time be short.
fn trails(runs: &[VerifierRun]) -> impl Iterator<Item = (&PathBuf, &VerifierRun)> {
    let most = runs.iter().map(|r| r.trails.len()).max().unwrap_or(0);
    (0..most).flat_map(move |i| runs.iter().filter_map(move |r| Some((r.trails.get(i)?, r))))
}

/// What ended the whole search: user or clock; if nothing was found, what cut the workers.
fn stop_reason(state: &SearchState<'_>, round: &Round, runs: &[VerifierRun]) -> Option<SpinStop> {
    let stopped = runs.iter().find_map(|r| match r.verdict {
        VerifierVerdict::Stopped(why @ (ProcessStop::Interrupted | ProcessStop::Time(_))) => {
            Some(why)
        }
        _ => None,
    });
    if let Some(stop) = stopped {
        return Some(state.reason(stop));
    }
    if runs.iter().any(|r| !r.trails.is_empty()) {
        return None;
    }
    runs.iter().find_map(|r| match r.verdict {
        VerifierVerdict::OutOfMemory => Some(SpinStop::Memory(state.memory_for(Storage::Bits))),
        VerifierVerdict::DepthLimit if round.number == 0 => Some(SpinStop::Depth(state.depth())),
        _ => None,
    })
}

fn order<'a>(state: &SearchState<'_>, round: &Round, worker: usize, watch: Watch<'a>) -> Order<'a> {
    let memory = state.memory_for(Storage::Bits);
    // At most half of the memory. Every third worker has less, so that it takes other states for
    // equal.
    let most = (memory / 2 * 8).ilog2().min(round.bits);
    let array = most.saturating_sub(worker as u32 % 3);
    let bits = Bits {
        seed: round.number * state.workers() as u64 + worker as u64 + 1,
        array: array.clamp(*ARRAY_BITS.start(), *ARRAY_BITS.end()),
        per_state: 2 + worker as u32 % 2,
    };
    Order {
        what: round.claim.name(),
        claim: Some(round.claim),
        bound: (round.claim == OrderClaim::OverTime).then_some(round.bound),
        depth: state.depth(),
        errors: Some(round.errors),
        bits: Some(bits),
        watch,
    }
}

/// One worker: raises the depth limit until it suffices or something has been found.
fn work(
    state: &SearchState<'_>,
    build: &Build,
    round: &Round,
    worker: usize,
    watch: Watch<'_>,
) -> Result<VerifierRun, SpinError> {
    let mut order = order(state, round, worker, watch);
    let run = state.run_deep_enough(build, &mut order)?;
    // In the search for something faster, the first one to find it ends the round.
    if round.claim == OrderClaim::OverTime
        && !run.trails.is_empty()
        && let Some(settled) = watch.settled
    {
        settled.store(true, Ordering::Relaxed);
    }
    Ok(run)
}
