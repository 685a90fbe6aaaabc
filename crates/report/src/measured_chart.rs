//! The picture of measured times.
//!
//! Over two parameters: a line for each value of the second, over the values of the first; bytes a
//! second where the problem states how many there are, as in Table 2 of Garanina, Staroletov,
//! Gorlatch (2023), else milliseconds. Over others: each configuration as a point, its time over
//! the model's ticks; without a model, over its place in the order of times.

use itertools::Itertools;
use tickbound_model::Problem;

use super::chart::{Chart, ChartData, MAX_LINES};
use super::measured::MeasuredTimes;
use tickbound_measure::Measured;

impl MeasuredTimes<'_> {
    /// The picture; nothing if no configuration has a time.
    pub fn chart(&self) -> Option<Chart> {
        let ranked = self.report.ranked();
        if ranked.is_empty() {
            return None;
        }
        self.lines(&ranked).or_else(|| self.over_ticks()).or_else(|| self.in_order(&ranked))
    }

    fn title(&self) -> String {
        let inputs = self.problem.inputs.iter().map(|(n, v)| format!(", {n} = {v}"));
        format!(
            "{}{} on {}",
            self.problem.name,
            inputs.collect::<String>(),
            self.report.device.name
        )
    }

    fn lines(&self, ranked: &[&Measured]) -> Option<Chart> {
        let [first, second] = self.varying(ranked)[..] else { return None };
        let (values, others) = (distinct(ranked, first), distinct(ranked, second));
        if others.len() > MAX_LINES || values.len() < 2 {
            return None;
        }
        let rate = |m: &Measured| m.record.rates.iter().find(|(n, _)| n == "GB/s").map(|(_, r)| *r);
        let with_rates = ranked.iter().all(|m| rate(m).is_some());
        let number = |m: &Measured| if with_rates { rate(m) } else { milliseconds(m) };
        let at = |x: i64, y: i64| {
            let here = |m: &&&Measured| {
                let c = &m.bound.configuration.0;
                c[first] == x && c[second] == y
            };
            ranked.iter().find(here).and_then(|m| number(m))
        };
        let name = |p: usize| &self.problem.parameters[p].name;
        let lines = others.iter().map(|y| {
            (format!("{} = {y}", name(second)), values.iter().map(|x| at(*x, *y)).collect())
        });
        Some(Chart {
            title: self.title(),
            x: name(first).clone(),
            y: if with_rates { "GB/s" } else { "milliseconds" }.to_owned(),
            data: ChartData::Lines { lines: lines.collect(), values, logarithmic: false },
        })
    }

    /// The parameters that have several values.
    fn varying(&self, ranked: &[&Measured]) -> Vec<usize> {
        let problem: &Problem = self.problem;
        (0..problem.parameters.len()).filter(|p| distinct(ranked, *p).len() > 1).collect()
    }

    fn over_ticks(&self) -> Option<Chart> {
        let results = self.report.results.iter().zip(self.ticks);
        let points = results.filter_map(|(m, ticks)| Some(((*ticks)? as f64, milliseconds(m)?)));
        let points = points.filter(|(x, y)| *x > 0.0 && *y > 0.0);
        self.points("ticks of the model (logarithmic)", points.collect())
    }

    fn in_order(&self, ranked: &[&Measured]) -> Option<Chart> {
        let times = ranked.iter().filter_map(|m| milliseconds(m)).filter(|t| *t > 0.0);
        let points = times.enumerate().map(|(i, t)| ((i + 1) as f64, t)).collect();
        self.points("configurations, fastest first (logarithmic)", points)
    }

    fn points(&self, x: &str, points: Vec<(f64, f64)>) -> Option<Chart> {
        (!points.is_empty()).then(|| Chart {
            title: self.title(),
            x: x.to_owned(),
            y: "milliseconds (logarithmic)".to_owned(),
            data: ChartData::Points(points),
        })
    }
}

fn milliseconds(measured: &Measured) -> Option<f64> {
    measured.record.outcome.timed().map(|timed| timed.seconds() * 1e3)
}

/// The values of a parameter, in increasing order.
fn distinct(ranked: &[&Measured], parameter: usize) -> Vec<i64> {
    ranked.iter().map(|m| m.bound.configuration.0[parameter]).sorted_unstable().dedup().collect()
}
