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

use super::super::SpinError;
use super::super::output::Verdict;
use super::super::process::{Stop, Watch};
use super::super::result::StopReason;
use super::super::session::{Ending, Session};
use super::super::verifier::{Bits, Build, Claim, Goal, Order, Outcome, Storage};
use super::cut;

/// Trails that a worker writes in the first round.
const TRAILS: u64 = 10;
/// No round ends sooner than this for want of a result.
const SHORTEST: Duration = Duration::from_secs(5);
/// The first hash arrays have 2 to the power of this many bits: 128 MiB.
const FIRST_BITS: u32 = 30;
/// Hash arrays have 2 to the power of at least and at most this many bits; the verifier takes no
/// more.
const ARRAY_BITS: std::ops::RangeInclusive<u32> = 20..=34;
/// With fewer bits than this for each state the verifier calls the coverage poor.
const POOR: f64 = 100.0;

pub(super) fn run(session: &Session<'_>) -> Result<Ending, SpinError> {
    let started = Instant::now();
    let mut bits = FIRST_BITS;
    let claim = Claim::NonTerm;
    let first = Round { number: 0, claim, bound: 0, errors: TRAILS, limit: None, bits };
    let Some(mut ended) = round(session, &first)? else { return Ok(cut(session.stopped())) };
    if ended.stopped_by.is_some() || session.bounds().1.is_none() {
        return Ok(Ending { proof: None, stopped_by: ended.stopped_by });
    }
    let mut before = started.elapsed();
    for number in 1.. {
        let (_, Some(best)) = session.bounds() else { break };
        if best == 0 {
            break;
        }
        let started = Instant::now();
        let limit = before.max(SHORTEST);
        let claim = Claim::OverTime;
        // Where the arrays were too full the next ones are larger, as far as memory allows.
        bits += if ended.crowded { 2 } else { 0 };
        let next = Round { number, claim, bound: best - 1, errors: 1, limit: Some(limit), bits };
        let Some(now) = round(session, &next)? else { return Ok(cut(session.stopped())) };
        ended = now;
        if ended.stopped_by.is_some() {
            return Ok(Ending { proof: None, stopped_by: ended.stopped_by });
        }
        if session.bounds().1 == Some(best) {
            session.note(format!(
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
    claim: Claim,
    bound: i64,
    errors: u64,
    limit: Option<Duration>,
    /// Of the largest hash array.
    bits: u32,
}

/// How a round ended.
struct Ended {
    /// What ended the whole search.
    stopped_by: Option<StopReason>,
    /// A hash array was too full to tell states apart.
    crowded: bool,
}

/// Lets all workers run, and replays their trails. `None` if the search was stopped before they
/// could start.
fn round(session: &Session<'_>, round: &Round) -> Result<Option<Ended>, SpinError> {
    let Some(build) = session.build(Goal::Claims { bound: round.bound }, Storage::Bits)? else {
        return Ok(None);
    };
    let settled = AtomicBool::new(false);
    let end = round.limit.and_then(|limit| Instant::now().checked_add(limit));
    let watch = Watch { round: end, settled: Some(&settled), ..session.watch };
    let outcomes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..session.workers())
            .map(|worker| {
                let build = &build;
                scope.spawn(move || work(session, build, round, worker, watch))
            })
            .collect();
        let join =
            |w: std::thread::ScopedJoinHandle<'_, _>| w.join().unwrap_or(Err(SpinError::Panicked));
        workers.into_iter().map(join).collect::<Result<Vec<_>, SpinError>>()
    })?;
    let order = order(session, round, 0, watch);
    for (file, outcome) in trails(&outcomes) {
        match session.replay(&build, &order, file, outcome.run) {
            Ok(Some(trail)) => session.offer(trail)?,
            Ok(None) => break,
            // The last trail of a run that was stopped may be half written.
            Err(SpinError::Trail { .. }) if matches!(outcome.verdict, Verdict::Stopped(_)) => {}
            // So may one of a run that was cut by its memory or its depth.
            Err(e @ SpinError::Trail { .. }) if !outcome.complete => {
                session.note(format!("left out: {e}"));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(Some(Ended {
        stopped_by: stop_reason(session, round, &outcomes),
        crowded: outcomes.iter().any(|o| o.hash_factor.is_some_and(|f| f < POOR)),
    }))
}

/// The first trail of every worker, then the second of every worker, and so on: if there is little
/// time, each has had its say.
fn trails(outcomes: &[Outcome]) -> impl Iterator<Item = (&PathBuf, &Outcome)> {
    let most = outcomes.iter().map(|o| o.trails.len()).max().unwrap_or(0);
    (0..most).flat_map(move |i| outcomes.iter().filter_map(move |o| Some((o.trails.get(i)?, o))))
}

/// What has ended the whole search: the user or the clock; or, if nothing was found, what cut the
/// workers short.
fn stop_reason(session: &Session<'_>, round: &Round, outcomes: &[Outcome]) -> Option<StopReason> {
    let stopped = outcomes.iter().find_map(|o| match o.verdict {
        Verdict::Stopped(stop @ (Stop::Interrupted | Stop::TimedOut)) => Some(stop),
        _ => None,
    });
    if let Some(stop) = stopped {
        return Some(session.reason(stop));
    }
    if outcomes.iter().any(|o| !o.trails.is_empty()) {
        return None;
    }
    outcomes.iter().find_map(|o| match o.verdict {
        Verdict::OutOfMemory => Some(StopReason::Memory(session.memory_for(Storage::Bits))),
        Verdict::DepthLimit if round.number == 0 => Some(StopReason::Depth(session.depth())),
        _ => None,
    })
}

fn order<'a>(session: &Session<'_>, round: &Round, worker: usize, watch: Watch<'a>) -> Order<'a> {
    let memory = session.memory_for(Storage::Bits);
    // At most half of the memory. Every third worker has less, so that it takes other states for
    // equal.
    let most = (memory / 2 * 8).ilog2().min(round.bits);
    let array = most.saturating_sub(worker as u32 % 3);
    let bits = Bits {
        seed: round.number * session.workers() as u64 + worker as u64 + 1,
        array: array.clamp(*ARRAY_BITS.start(), *ARRAY_BITS.end()),
        per_state: 2 + worker as u32 % 2,
    };
    Order {
        what: round.claim.name(),
        claim: Some(round.claim),
        bound: (round.claim == Claim::OverTime).then_some(round.bound),
        depth: session.depth(),
        stop_when_cut: false,
        errors: Some(round.errors),
        bits: Some(bits),
        watch,
    }
}

/// One worker: raises the depth limit until it suffices or something has been found.
fn work(
    session: &Session<'_>,
    build: &Build,
    round: &Round,
    worker: usize,
    watch: Watch<'_>,
) -> Result<Outcome, SpinError> {
    let mut order = order(session, round, worker, watch);
    loop {
        let next = session.deeper(order.depth, session.memory_for(Storage::Bits));
        order.stop_when_cut = next.is_some();
        let outcome = session.run(build, &order)?;
        match (&outcome.verdict, next) {
            (Verdict::DepthLimit, Some(next)) if outcome.trails.is_empty() => {
                order.depth = next;
                session.set_depth(next);
            }
            _ => {
                // In the search for something faster, the first one to find it ends the round.
                if round.claim == Claim::OverTime
                    && !outcome.trails.is_empty()
                    && let Some(settled) = watch.settled
                {
                    settled.store(true, Ordering::Relaxed);
                }
                return Ok(outcome);
            }
        }
    }
}
