//! The best configurations, timed again in turns, and the comparison with the user's own.
//!
//! Times that were measured minutes apart differ by more than two good configurations do: clock
//! rates, temperature and other work change. So the best run in rounds, each once a round, and
//! their times in these rounds count.

use super::pool::Said;
use super::schedule::{Campaign, Observer, append};
use crate::error::MeasureError;
use crate::outcome::{Outcome, Timed};
use crate::report::MeasureEvent;
use crate::sample::{self, SampleRule};
use crate::supervisor::SupervisorError;
use crate::versus::Versus;
use crate::worker::{Request, WorkerAnswer};

/// Most configurations that run in rounds, besides the user's own.
const MOST: usize = 5;
/// How much longer than the best a configuration may take that runs in rounds, as a factor.
const NEAR: f64 = 1.05;
/// When rounds end.
const RULE: SampleRule =
    SampleRule { warm_up: 1, warm_seconds: 0.0, least: 10, most: 56, spread: 0.005, seconds: 5.0 };

impl Campaign<'_> {
    /// Times the best again, if something was measured or the user's own is compared.
    pub(super) fn finals(&mut self, observer: &mut Observer<'_>) -> Result<(), MeasureError> {
        let is_new = self.done.iter().any(|(_, measured)| !measured.cached);
        let places = self.finalists();
        if places.len() < 2 || (!is_new && self.about.baseline.is_none()) {
            return Ok(());
        }
        observer(MeasureEvent::Finals(places.len()));
        let tasks: Vec<usize> = places.iter().map(|place| self.done[*place].0).collect();
        let Some(jobs) = self.jobs(&tasks, observer)? else { return Ok(()) };
        let spent = self.about.began.elapsed();
        let left = self.about.options.budget.map(|budget| budget.saturating_sub(spent));
        let seconds = left.map_or(RULE.seconds, |left| left.as_secs_f64().min(RULE.seconds));
        self.pool.give(0, Request::Rounds(jobs, SampleRule { seconds, ..RULE }))?;
        let answer = loop {
            // A process that compiles has nothing more to say that matters.
            if let (0, Said::Answer(answer)) = self.pool.hear()? {
                break answer;
            }
        };
        if let WorkerAnswer::Rounds(runs) = answer? {
            return Ok(self.settle(&places, runs)?);
        }
        let why = "the best could not run in turns; their first times count".to_owned();
        observer(MeasureEvent::Note(why));
        Ok(())
    }

    /// The places of the best among the results, and of the user's own.
    fn finalists(&self) -> Vec<usize> {
        let seconds =
            |place: &usize| self.done[*place].1.record.outcome.timed().map(Timed::seconds);
        let mut timed: Vec<(f64, usize)> =
            (0..self.done.len()).filter_map(|place| Some((seconds(&place)?, place))).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_own = |place: usize| Some(self.done[place].0) == self.about.baseline;
        // One other than the user's own runs in any case.
        let best = timed.iter().find(|(_, place)| !is_own(*place)).map_or(0.0, |(best, _)| *best);
        let near =
            timed.iter().filter(|(seconds, place)| *seconds <= best * NEAR && !is_own(*place));
        let own = timed.iter().filter(|(_, place)| is_own(*place));
        own.chain(near.take(MOST)).map(|(_, place)| *place).collect()
    }

    /// Puts the times of the rounds into the results and the cache; compares with the user's own.
    fn settle(&mut self, places: &[usize], runs: Vec<Vec<f64>>) -> Result<(), SupervisorError> {
        let mut changed = Vec::new();
        for (place, (_, measured)) in self.done.iter_mut().enumerate() {
            let Outcome::Timed(timed) = &mut measured.record.outcome else { continue };
            let at = places.iter().position(|other| *other == place);
            let rounds = at.and_then(|at| runs.get(at).cloned()).unwrap_or_default();
            if timed.rounds != rounds {
                timed.rounds = rounds;
                changed.push(place);
            }
        }
        let median = |at: usize| sample::median(&runs[at]).unwrap_or(f64::INFINITY);
        let is_own = |at: usize| Some(self.done[places[at]].0) == self.about.baseline;
        let others = (0..runs.len()).filter(|at| !is_own(*at));
        let best = others.min_by(|a, b| median(*a).total_cmp(&median(*b)));
        let own = (0..runs.len()).find(|at| is_own(*at));
        self.versus = own.zip(best).and_then(|(own, best)| {
            Versus::new((places[own], &runs[own]), (places[best], &runs[best]))
        });
        for place in changed {
            append(&mut self.cache, &self.done[place].1.record)?;
        }
        Ok(())
    }
}
