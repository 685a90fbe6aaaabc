//! The user's own configuration and the best other one, compared round by round.
//!
//! How many times as fast one is follows from the ratios within rounds: their median, and the
//! interval that has it with at least 95 % ([`sample`]).

use super::sample;

/// The best configuration beside the user's own, in rounds that both ran in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Versus {
    /// Where the user's own is among the results.
    pub baseline: usize,
    /// Where the best other one is among the results.
    pub other: usize,
    /// The median of the own one's time over the other's, in the same round.
    pub ratio: f64,
    /// The interval that has it with at least 95 %.
    pub interval: (f64, f64),
    /// How many rounds there were.
    pub rounds: usize,
}

impl Versus {
    /// Compares the times of two configurations, round by round; nothing of fewer than 6 rounds.
    pub fn new(baseline: (usize, &[f64]), other: (usize, &[f64])) -> Option<Versus> {
        let ratios: Vec<f64> = baseline.1.iter().zip(other.1).map(|(own, it)| own / it).collect();
        Some(Versus {
            baseline: baseline.0,
            other: other.0,
            ratio: sample::median(&ratios)?,
            interval: sample::interval(&ratios)?,
            rounds: ratios.len(),
        })
    }

    /// Whether the other one is faster, beyond what chance explains.
    pub fn is_faster(&self) -> bool {
        self.interval.0 > 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_of_the_same_round() {
        // The device becomes slower by the round; the ratio does not change.
        let own: Vec<f64> = (0..9).map(|round| 3.0 * f64::from(1 << round)).collect();
        let other: Vec<f64> = (0..9).map(|round| 2.0 * f64::from(1 << round)).collect();
        let versus = Versus::new((4, &own), (7, &other)).unwrap();
        assert_eq!((versus.baseline, versus.other, versus.rounds), (4, 7, 9));
        assert_eq!((versus.ratio, versus.interval), (1.5, (1.5, 1.5)));
        assert!(versus.is_faster());
        assert!(!Versus::new((4, &other), (7, &own)).unwrap().is_faster());
        assert!(!Versus::new((0, &own), (1, &own)).unwrap().is_faster());
        assert_eq!(Versus::new((0, &own[..5]), (1, &own[..5])), None);
        // Of six rounds the least ratio bounds the interval.
        let six = Versus::new((0, &[2.0, 3.0, 3.0, 3.0, 3.0, 4.0]), (1, &[2.0; 6])).unwrap();
        assert_eq!((six.ratio, six.interval, six.is_faster()), (1.5, (1.0, 2.0), false));
    }
}
