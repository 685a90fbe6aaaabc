//! A Gaussian process over points in a unit cube: what values at some points say of others.

use std::f64::consts::{PI, SQRT_2};

use itertools::Itertools;
use rayon::prelude::*;

/// Factors of the usual length scale that are tried for all coordinates together.
const COMMON: [f64; 7] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Those tried for each by itself: of few values, a single short length is seldom right.
const OWN: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Parts of the variance that are tried as noise.
const NOISE: [f64; 2] = [1e-3, 0.05];
/// How often each length scale is tried anew.
const SWEEPS: usize = 2;
/// The standard deviation before there are values: a model of time may well be wrong by a quarter.
const BEFORE: f64 = 0.25;
/// As how many values that counts.
const WORTH: f64 = 4.0;
/// Variance of the logarithm of a length scale before there are values.
const SPREAD: f64 = 3.0;

/// A process with values at some points.
///
/// Its mean is constant, its covariance Matern's of 5/2 with a length scale for each coordinate (C.
/// E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, 2006, equations
/// 2.25, 2.26 and 4.17). Length scales and noise are the most likely ones of a small grid. Before
/// there are values a length scale in d dimensions is log-normal, with logarithms around sqrt(2) +
/// ln(d) / 2 of variance 3 (C. Hvarfner, E. O. Hellsten, L. Nardi, *Vanilla Bayesian Optimization
/// Performs Great in High Dimensions*, ICML 2024).
#[derive(Debug, Clone)]
pub struct Process {
    points: Vec<Vec<f64>>,
    fit: Fit,
}

/// What is known of the value at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guess {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

impl Process {
    /// The process through `values` at `points`, which all have as many coordinates; nothing of no
    /// values, or of values that are not finite.
    pub fn new(points: Vec<Vec<f64>>, values: &[f64]) -> Option<Process> {
        let dimensions = points.first()?.len();
        let usual = usual_length(dimensions);
        let mut best: Option<Fit> = None;
        // The most likely one, the first of equal ones.
        let mut take = |all: Vec<(Vec<f64>, f64)>| {
            let fit = |(lengths, noise): &(Vec<f64>, f64)| fit(&points, values, lengths, *noise);
            let all: Vec<Option<Fit>> = all.par_iter().map(fit).collect();
            for found in all.into_iter().flatten() {
                if best.as_ref().is_none_or(|best| found.likely > best.likely) {
                    best = Some(found);
                }
            }
            best.as_ref().map(|best| (best.lengths.clone(), best.noise))
        };
        let common = COMMON.iter().map(|factor| vec![factor * usual; dimensions]);
        let (mut lengths, mut noise) = take(common.cartesian_product(NOISE).collect())?;
        for coordinate in (0..SWEEPS).flat_map(|_| 0..dimensions) {
            let tried = OWN.map(|factor| {
                let mut tried = lengths.clone();
                tried[coordinate] = factor * usual;
                (tried, noise)
            });
            (lengths, noise) = take(tried.into())?;
        }
        take(NOISE.map(|noise| (lengths.clone(), noise)).into());
        let fit = best?;
        Some(Process { points, fit })
    }

    /// The process through other values, with the length scales and the noise of this one.
    pub fn through(&self, points: Vec<Vec<f64>>, values: &[f64]) -> Option<Process> {
        let fit = fit(&points, values, &self.fit.lengths, self.fit.noise)?;
        Some(Process { points, fit })
    }

    /// How many values it goes through.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// The same mean as [`Process::at`] has, with the deviation where nothing is known, which is
    /// the greatest.
    pub fn roughly_at(&self, point: &[f64]) -> Guess {
        let near = self.points.iter().map(|p| covariance(p, point, &self.fit.lengths));
        let mean = near.zip(&self.fit.weights).map(|(near, weight)| near * weight).sum::<f64>();
        Guess { mean: self.fit.mean + mean, deviation: self.fit.variance.sqrt() }
    }

    /// What the values say of a point.
    pub fn at(&self, point: &[f64]) -> Guess {
        let near: Vec<f64> =
            self.points.iter().map(|p| covariance(p, point, &self.fit.lengths)).collect();
        let mean = self.fit.mean + dot(&near, &self.fit.weights);
        let known = self.fit.factor.forward(near);
        let left = (1.0 - dot(&known, &known)).max(0.0);
        Guess { mean, deviation: (self.fit.variance * left).sqrt() }
    }
}

impl Guess {
    /// How much the value is expected to be below `best`, counting 0 where it is above (D. R.
    /// Jones, M. Schonlau, W. J. Welch, *Efficient Global Optimization of Expensive Black-Box
    /// Functions*, Journal of Global Optimization 13, 1998, equation 15).
    pub fn improvement(&self, best: f64) -> f64 {
        let below = best - self.mean;
        if self.deviation <= 0.0 {
            return below.max(0.0);
        }
        let z = below / self.deviation;
        let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
        (below * (1.0 + erf(z / SQRT_2)) / 2.0 + self.deviation * density).max(0.0)
    }
}

/// The middle of the length scales before there are values.
fn usual_length(dimensions: usize) -> f64 {
    SQRT_2.exp() * (dimensions.max(1) as f64).sqrt()
}

/// The error function, to 1.5e-7 (Abramowitz, Stegun, *Handbook of Mathematical Functions*, 7.1).
fn erf(x: f64) -> f64 {
    const A: [f64; 5] = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429];
    let t = 1.0 / (1.0 + 0.3275911 * x.abs());
    let sum = A.iter().rev().fold(0.0, |sum, a| (sum + a) * t);
    (1.0 - sum * (-x * x).exp()).copysign(x)
}

/// A process with settled length scales and noise; `likely`: log-likelihood, but for a constant.
#[derive(Debug, Clone)]
struct Fit {
    lengths: Vec<f64>,
    noise: f64,
    mean: f64,
    variance: f64,
    factor: Factor,
    weights: Vec<f64>,
    likely: f64,
}

fn fit(points: &[Vec<f64>], values: &[f64], lengths: &[f64], noise: f64) -> Option<Fit> {
    let (n, usual) = (points.len(), usual_length(lengths.len()));
    let rows = (0..n).map(|i| {
        let row = (0..i).map(|j| covariance(&points[i], &points[j], lengths));
        row.chain([1.0 + noise]).collect()
    });
    let factor = Factor::new(rows.collect())?;
    // The mean that is most likely: values weighted by what each of them adds.
    let ones = factor.solved(vec![1.0; n]);
    let mean = dot(&ones, values) / ones.iter().sum::<f64>();
    let centred: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let weights = factor.solved(centred.clone());
    let sum = dot(&centred, &weights) + WORTH * BEFORE * BEFORE;
    let count = n as f64 + WORTH;
    let variance = sum / count;
    let off = lengths.iter().map(|l| (l / usual).ln());
    let before: f64 = off.map(|off| off * off / (2.0 * SPREAD)).sum();
    let likely = -(count * variance.ln() + factor.log_determinant()) / 2.0 - before;
    let lengths = lengths.to_vec();
    likely.is_finite().then_some(Fit { lengths, noise, mean, variance, factor, weights, likely })
}

/// Matern's covariance of two points, 1 at one place.
fn covariance(a: &[f64], b: &[f64], lengths: &[f64]) -> f64 {
    let scaled = a.iter().zip(b).zip(lengths).map(|((a, b), length)| (a - b) / length);
    let r = (5.0 * scaled.map(|d| d * d).sum::<f64>()).sqrt();
    (1.0 + r + r * r / 3.0) * (-r).exp()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Cholesky's factor of a symmetric matrix: `L` with `L * L^T` the matrix; row i has i + 1 numbers.
#[derive(Debug, Clone)]
struct Factor(Vec<Vec<f64>>);

impl Factor {
    /// Of a matrix given by its rows up to the diagonal; nothing if it is not positive definite.
    fn new(mut rows: Vec<Vec<f64>>) -> Option<Factor> {
        for i in 0..rows.len() {
            let (above, below) = rows.split_at_mut(i);
            let row = &mut below[0];
            for j in 0..i {
                row[j] = (row[j] - dot(&row[..j], &above[j][..j])) / above[j][j];
            }
            let left = row[i] - dot(&row[..i], &row[..i]);
            row[i] = Some(left).filter(|left| *left > 0.0)?.sqrt();
        }
        Some(Factor(rows))
    }

    /// The `x` with `L * x = y`.
    fn forward(&self, mut y: Vec<f64>) -> Vec<f64> {
        for (i, row) in self.0.iter().enumerate() {
            y[i] = (y[i] - dot(&row[..i], &y[..i])) / row[i];
        }
        y
    }

    /// The `x` with `L * L^T * x = y`.
    fn solved(&self, y: Vec<f64>) -> Vec<f64> {
        let mut x = self.forward(y);
        for i in (0..x.len()).rev() {
            x[i] /= self.0[i][i];
            for j in 0..i {
                x[j] -= self.0[i][j] * x[i];
            }
        }
        x
    }

    fn log_determinant(&self) -> f64 {
        self.0.iter().enumerate().map(|(i, row)| 2.0 * row[i].ln()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_function_of_the_published_table() {
        for (x, y) in [(0.0, 0.0), (0.5, 0.520_499_878), (1.0, 0.842_700_793), (2.0, 0.995_322_265)]
        {
            assert!((erf(x) - y).abs() < 2e-7 && (erf(-x) + y).abs() < 2e-7, "{x}");
        }
    }

    #[test]
    fn factor_by_hand() {
        let factor = Factor::new(vec![vec![4.0], vec![2.0, 5.0]]).unwrap();
        assert_eq!(factor.0, [vec![2.0], vec![1.0, 2.0]]);
        // 4 * 1 + 2 * 2 = 8, 2 * 1 + 5 * 2 = 12; the determinant is 16.
        assert_eq!(factor.solved(vec![8.0, 12.0]), [1.0, 2.0]);
        assert!((factor.log_determinant() - 16f64.ln()).abs() < 1e-12);
        assert!(Factor::new(vec![vec![1.0], vec![2.0, 1.0]]).is_none());
    }

    #[test]
    fn knows_what_it_was_told_and_little_far_away() {
        let points: Vec<Vec<f64>> = (0..8).map(|i| vec![f64::from(i) / 7.0, 0.5]).collect();
        let values: Vec<f64> = points.iter().map(|p| (5.0 * p[0]).sin()).collect();
        let process = Process::new(points.clone(), &values).unwrap();
        for (point, value) in points.iter().zip(&values) {
            let guess = process.at(point);
            assert!((guess.mean - value).abs() < 0.1, "{guess:?} and {value}");
            assert!(guess.deviation < process.at(&[30.0, 0.5]).deviation / 2.0);
        }
        let between = process.at(&[0.5, 0.5]);
        assert!((between.mean - 2.5f64.sin()).abs() < 0.1, "{between:?}");
        assert!(Process::new(Vec::new(), &[]).is_none());
        assert!(Process::new(vec![vec![0.0]], &[f64::NAN]).is_none());
        // Equal values at equal places are no fault.
        assert!(Process::new(vec![vec![0.5]; 6], &[1.0; 6]).is_some());
    }

    /// The integral that it represents, as a sum.
    #[test]
    fn improvement_is_what_is_expected() {
        for (mean, deviation, best) in [(1.0, 0.5, 1.2), (3.0, 0.7, 1.0), (0.0, 2.0, 1.0)] {
            let step = deviation / 1000.0;
            let density = |x: f64| {
                let z = (x - mean) / deviation;
                (-z * z / 2.0).exp() / ((2.0 * PI).sqrt() * deviation)
            };
            let each = (-8000..8000).map(|i| mean + f64::from(i) * step);
            let sum: f64 = each.map(|x| (best - x).max(0.0) * density(x) * step).sum();
            let found = Guess { mean, deviation }.improvement(best);
            assert!((found - sum).abs() < 1e-4 * deviation, "{found} and {sum}");
        }
        assert_eq!(Guess { mean: 1.0, deviation: 0.0 }.improvement(3.0), 2.0);
        assert_eq!(Guess { mean: 1.0, deviation: 0.0 }.improvement(0.5), 0.0);
    }
}
