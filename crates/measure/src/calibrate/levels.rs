//! The caches of a device, seen in how long loads take that wait for each other.
//!
//! In go the times of such loads over footprints that double, smallest first. Where a time is much
//! greater than the one before, a cache no longer has what is loaded. Out comes a [`Level`] for
//! each cache, nearest first, and the time of a load from what is behind them. Two neighbouring
//! footprints at least must agree for a cache: one alone is a transition. A size is the share that
//! the cache has of the first footprint too large for it, by where the time lies between those of
//! the cache and of what is behind. docs/calibrate.md lists what else looks like a cache.

use super::sample::Sample;

/// How much greater a time is at least where a cache ends. What loads in one cache differ by among
/// themselves, in transitions of its tables of addresses, is less on the devices examined.
const STEP: f64 = 1.3;

/// A cache that serves this share of a footprint has all of it: the rest is noise.
const MIN_WHOLE: f64 = 0.9;

/// A cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Bytes that it holds.
    pub bytes: usize,
    /// Seconds of a load from it.
    pub latency: Sample,
}

/// The caches, nearest first, and what a load takes that none of them serves.
pub fn levels(chases: &[(usize, Sample)]) -> (Vec<Level>, Option<Sample>) {
    let alike = |a: &(usize, Sample), b: &(usize, Sample)| b.1.seconds < STEP * a.1.seconds;
    let runs: Vec<&[(usize, Sample)]> = chases.chunk_by(alike).collect();
    let Some((memory, nearer)) = runs.split_last() else { return (Vec::new(), None) };
    let behind = memory.last().map(|(_, sample)| *sample);
    let caches: Vec<&[(usize, Sample)]> =
        nearer.iter().copied().filter(|run| run.len() > 1).collect();
    let mut found = Vec::new();
    for (i, run) in caches.iter().enumerate() {
        let Some((_, latency)) = run.first() else { continue };
        let next = caches.get(i + 1).and_then(|run| run.first()).map(|(_, sample)| *sample);
        let Some(next) = next.or(behind) else { continue };
        let held = |(bytes, sample): &(usize, Sample)| {
            let share = (next.seconds - sample.seconds) / (next.seconds - latency.seconds);
            if share >= MIN_WHOLE { *bytes } else { (*bytes as f64 * share.max(0.0)) as usize }
        };
        let last = run.last().map_or(0, |(bytes, _)| *bytes);
        let beyond = chases.iter().find(|(bytes, _)| *bytes > last);
        let bytes = run.iter().chain(beyond).map(held).max().unwrap_or(0);
        found.push(Level { bytes, latency: *latency });
    }
    (found, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(nanoseconds: &[f64]) -> (Vec<(usize, f64)>, f64) {
        let of = |ns: &f64| Sample { seconds: *ns, spread: None, steady: true, runs: 1 };
        let chases: Vec<(usize, Sample)> =
            nanoseconds.iter().enumerate().map(|(i, ns)| (4 << i, of(ns))).collect();
        let (caches, memory) = levels(&chases);
        let caches = caches.iter().map(|level| (level.bytes, level.latency.seconds)).collect();
        (caches, memory.map_or(0.0, |sample| sample.seconds))
    }

    #[test]
    fn plateaus_are_caches_and_transitions_are_interpolated() {
        // What an AMD EPYC with 48 KiB, 1 MiB and a share of 32 MiB takes, from 4 KiB to 64 MiB.
        let times = [
            1.17, 1.17, 1.17, 1.17, 3.5, 3.49, 3.52, 3.96, 7.14, 13.5, 13.84, 14.18, 121.27,
            146.23, 153.17,
        ];
        let caches = vec![(32, 1.17), (651, 3.5), (8192, 13.5)];
        assert_eq!(found(&times), (caches, 153.17));
        // The transition is nearer to what follows.
        assert_eq!(found(&[1.0, 1.0, 7.0, 10.0, 10.5]), (vec![(8, 1.0)], 10.5));
        // What an NVIDIA H200 takes, of whose 256 KiB for L1 and local memory L1 has a part.
        let mut times = vec![19.8; 6];
        times.push(75.87);
        times.extend([145.2; 6]);
        times.extend([219.93, 325.75]);
        assert_eq!(found(&times), (vec![(141, 19.8), (19205, 145.2)], 325.75));
        // One footprint alone is no cache.
        assert_eq!(found(&[1.0, 4.0, 9.0, 10.0]), (vec![], 10.0));
        assert_eq!(found(&[5.0, 5.0, 5.1]), (vec![], 5.1));
        assert_eq!(found(&[0.0, 0.0]), (vec![], 0.0));
        assert_eq!(found(&[]), (vec![], 0.0));
    }
}
