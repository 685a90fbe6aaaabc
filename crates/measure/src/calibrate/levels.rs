//! The caches of a device, seen in how long loads take that wait for each other.
//!
//! In go the times of such loads over footprints that double, smallest first. Where a time is much
//! greater than the one before, a cache no longer has what is loaded. Out comes a [`Level`] for
//! each cache, nearest first, and the time of a load from what is behind them. Two neighbouring
//! footprints at least must agree for a cache: one alone is a transition. What is found is a power
//! of two, the greatest footprint of which a cache still has more than half. docs/calibrate.md says
//! what else looks like a cache.

use super::sample::Sample;

/// How much greater a time is at least where a cache ends. What loads in one cache differ by among
/// themselves, in transitions of its tables of addresses, is less on the devices that were looked
/// at.
const STEP: f64 = 1.3;

/// A cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Bytes of the greatest footprint that it serves more than half of.
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
        let half = (latency.seconds + next.seconds) / 2.0;
        let within = chases.iter().rev().find(|(_, sample)| sample.seconds < half);
        found.extend(within.map(|(bytes, _)| Level { bytes: *bytes, latency: *latency }));
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
    fn plateaus_are_caches_and_transitions_belong_where_more_than_half_is() {
        // What an AMD EPYC with 48 KiB, 1 MiB and a share of 32 MiB takes, from 4 KiB to 64 MiB.
        let times = [
            1.17, 1.17, 1.17, 1.17, 3.5, 3.49, 3.52, 3.96, 7.14, 13.5, 13.84, 14.18, 121.27,
            146.23, 153.17,
        ];
        let caches = vec![(32, 1.17), (1024, 3.5), (8192, 13.5)];
        assert_eq!(found(&times), (caches, 153.17));
        // The transition is nearer to what follows.
        assert_eq!(found(&[1.0, 1.0, 7.0, 10.0, 10.5]), (vec![(8, 1.0)], 10.5));
        // One footprint alone is no cache.
        assert_eq!(found(&[1.0, 4.0, 9.0, 10.0]), (vec![], 10.0));
        assert_eq!(found(&[5.0, 5.0, 5.1]), (vec![], 5.1));
        assert_eq!(found(&[0.0, 0.0]), (vec![], 0.0));
        assert_eq!(found(&[]), (vec![], 0.0));
    }
}
