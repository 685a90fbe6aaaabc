//! Numbers out of noisy times: slopes over iterations, repeated until steady.
//!
//! A launch takes its own time besides its iterations. Two launches that differ only in their
//! iterations have it alike, so the difference of their times over the difference of their
//! iterations is the time of an iteration: a *slope*. The shorter launch has a quarter of the
//! longer one's iterations. Both are run in sequence, each pair gives one slope, and the
//! median of these is taken together with its interval ([`measure::sample`](crate::sample)): what
//! drifts slowly is alike in a pair.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::run::{CalibrateError, CalibrationRun, RunTimes, Runner};
use crate::sample::{SampleRule, interval, median};

/// Most iterations of a launch. A kernel that still takes no time then costs nothing measurable.
const MAX_ROUNDS: u32 = 1 << 20;
/// The same for launches that grow in groups, times those that they begin with.
const MAX_GROUPS: u32 = 1 << 16;

/// When a number is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// How often to repeat.
    pub rule: SampleRule,
    /// Seconds that the longer launch of a pair should take, at least.
    pub launch: f64,
}

/// A measured number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The median, in seconds; 0 where it is not positive, as then it is less than can be measured.
    pub seconds: f64,
    /// Half the width of the median's interval over the median, if there is one of each.
    pub spread: Option<f64>,
    /// Whether the spread is as small as was requested.
    pub steady: bool,
    /// How many values there were.
    pub runs: usize,
}

impl Sample {
    /// The number that these values give.
    pub fn of(values: &[f64], rule: &SampleRule) -> Sample {
        let middle = median(values).filter(|m| m.is_finite() && *m > 0.0);
        let seconds = middle.unwrap_or(0.0);
        let spread = match (middle, interval(values)) {
            (Some(middle), Some((low, high))) => Some((high - low) / 2.0 / middle),
            _ => None,
        };
        let steady = values.len() >= rule.least && spread.is_some_and(|s| s <= rule.spread);
        Sample { seconds, spread, steady, runs: values.len() }
    }

    /// The same number in another measure.
    #[must_use]
    pub fn times(self, factor: f64) -> Sample {
        Sample { seconds: self.seconds * factor, ..self }
    }

    /// Without what belongs to another number.
    #[must_use]
    pub fn less(self, seconds: f64) -> Sample {
        Sample { seconds: (self.seconds - seconds).max(0.0), ..self }
    }

    /// Whether it is greater than nothing.
    pub fn seen(&self) -> bool {
        self.seconds > 0.0
    }
}

/// Takes samples on a runner.
pub struct Sampler<'a> {
    /// What runs the launches.
    pub runner: &'a mut dyn Runner,
    /// How hard to try.
    pub effort: Effort,
    /// Set when the user has had enough.
    pub interrupt: &'a AtomicBool,
}

impl Sampler<'_> {
    /// Seconds of one operation, all items together: the slope over the iterations of this launch,
    /// by `iterations * items * operations`. What the kernel computes is verified.
    ///
    /// # Errors
    /// The device fails or computes something else, or the user has had enough.
    pub fn operation(&mut self, run: CalibrationRun) -> Result<Sample, CalibrateError> {
        self.runner.verify(&run)?;
        let quarter = self.quarter(run)?;
        let sample = self.repeat(|this| this.slope(run, quarter))?;
        self.runner.verify(&run.iterations(4 * quarter))?;
        Ok(sample.times(1.0 / (run.items() as f64 * run.work.operations() as f64)))
    }

    /// Seconds by which an iteration of one launch is longer than an iteration of another.
    pub fn difference(
        &mut self,
        with: CalibrationRun,
        without: CalibrationRun,
    ) -> Result<Sample, CalibrateError> {
        self.runner.verify(&with)?;
        self.runner.verify(&without)?;
        let (more, less) = (self.quarter(with)?, self.quarter(without)?);
        let sample =
            self.repeat(|this| Ok(this.slope(with, more)? - this.slope(without, less)?))?;
        self.runner.verify(&with.iterations(4 * more))?;
        self.runner.verify(&without.iterations(4 * less))?;
        Ok(sample)
    }

    /// Seconds of one group more of a launch: the slope over the number of groups, which grow from
    /// those of `run` until it takes long enough, or are those and a quarter of them.
    pub fn group(&mut self, run: CalibrationRun, grow: bool) -> Result<Sample, CalibrateError> {
        let mut short = run;
        if grow {
            let of = |quarters: u32| groups(run, quarters as usize);
            self.runner.verify(&run)?;
            short = of(self.grow(MAX_GROUPS, of)?);
        } else {
            short.groups = (run.groups / 4).max(1);
            self.runner.verify(&short)?;
        }
        let long = groups(short, 4);
        let more = (long.groups - short.groups).max(1) as f64;
        let sample = self.repeat(|this| Ok((-this.busy(&short)? + this.busy(&long)?) / more))?;
        self.runner.verify(&long)?;
        Ok(sample)
    }

    /// Seconds of a whole launch: on the device, and from the queue to the end.
    pub fn launch(&mut self, run: CalibrationRun) -> Result<[Sample; 2], CalibrateError> {
        self.runner.verify(&run)?;
        let mut queued = Vec::new();
        let busy = self.repeat(|this| {
            let times = this.run(&run)?;
            queued.push(times.queued);
            Ok(times.busy)
        })?;
        Ok([busy, Sample::of(&queued, &self.effort.rule)])
    }

    fn run(&mut self, run: &CalibrationRun) -> Result<RunTimes, CalibrateError> {
        match self.interrupt.load(Ordering::Relaxed) {
            true => Err(CalibrateError::Interrupted),
            false => self.runner.run(run),
        }
    }

    fn busy(&mut self, run: &CalibrationRun) -> Result<f64, CalibrateError> {
        Ok(self.run(run)?.busy)
    }

    fn slope(&mut self, run: CalibrationRun, quarter: u32) -> Result<f64, CalibrateError> {
        let short = self.busy(&run.iterations(quarter))?;
        Ok((self.busy(&run.iterations(4 * quarter))? - short) / (3.0 * f64::from(quarter)))
    }

    fn quarter(&mut self, run: CalibrationRun) -> Result<u32, CalibrateError> {
        self.grow(MAX_ROUNDS, |iterations| run.iterations(iterations))
    }

    /// A quarter of the size at which a launch is long enough.
    fn grow(
        &mut self,
        most: u32,
        of: impl Fn(u32) -> CalibrationRun,
    ) -> Result<u32, CalibrateError> {
        let mut quarter = 1;
        // The first launch of a kernel is slow everywhere.
        self.busy(&of(4))?;
        while 4 * quarter < most {
            let seconds = self.busy(&of(4 * quarter))?;
            if seconds >= self.effort.launch {
                break;
            }
            let factor = (self.effort.launch / seconds.max(1e-9)).ceil().clamp(2.0, 16.0) as u32;
            quarter = (quarter * factor).min(most / 4);
        }
        Ok(quarter)
    }

    /// Takes values until they are enough or time is up.
    fn repeat(
        &mut self,
        mut value: impl FnMut(&mut Self) -> Result<f64, CalibrateError>,
    ) -> Result<Sample, CalibrateError> {
        let (rule, warming) = (self.effort.rule, Instant::now());
        let mut warm = 0;
        while warm < rule.warm_up || warming.elapsed().as_secs_f64() < rule.warm_seconds {
            value(self)?;
            warm += 1;
        }
        let began = Instant::now();
        let mut values = Vec::new();
        let late = |n| n >= rule.least && began.elapsed().as_secs_f64() > rule.seconds;
        while !rule.enough(&values) && !late(values.len()) {
            values.push(value(self)?);
        }
        Ok(Sample::of(&values, &rule))
    }
}

fn groups(run: CalibrationRun, times: usize) -> CalibrationRun {
    CalibrationRun { groups: run.groups.saturating_mul(times), ..run }
}
