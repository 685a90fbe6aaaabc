//! Floors: times that no configuration can undercut on the device.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use tickbound_expr::Expr;
use tickbound_model::verdict::Status;
use tickbound_model::{Bound, Caches, Configuration, Floor, FloorTerm, ModelError, Problem};
use tickbound_opencl::{KernelReading, least};
use tickbound_report::answer::{FloorAnswer, microseconds, values};
use tickbound_solver::bracket::Incumbent;
use tickbound_solver::{SearchOptions, Strategy, TuneResult, tune};

use super::certify::certify;
use super::exit::CliError;
use super::stop;

/// What launches find in caches that were emptied before, or not.
pub fn caches(emptied: bool) -> Caches {
    if emptied { Caches::Empty } else { Caches::Unknown }
}

/// The floor of a problem whose kernel was read; or why it has none.
pub fn floor(
    problem: &Problem,
    reading: Option<&KernelReading>,
    caches: Caches,
) -> Result<Result<Floor, ModelError>, CliError> {
    let Some(reading) = reading else {
        let what = "has no floor: nothing can be counted";
        return Ok(Err(ModelError::new("kernel", what, "take a kernel in OpenCL C")));
    };
    // Counting takes up to seconds.
    if let Err(none) = Floor::greatest_mhz(problem) {
        return Ok(Err(none));
    }
    Ok(Floor::new(problem, &least(problem, reading)?, caches))
}

/// The floor of a space: of the least values of all terms the greatest, or, where no configuration
/// is known that has no more, the least floor of a configuration.
pub struct SpaceFloor {
    floor: Floor,
    /// Each term with its least value, or what is known of it.
    least: Vec<(FloorTerm, TuneResult)>,
    /// The term that binds in the configuration with the least floor, and that, if it was sought.
    whole: Option<(FloorTerm, TuneResult)>,
}

/// Of a search for the least floor of a configuration.
const WHOLE_TIME: Duration = Duration::from_secs(10);

impl SpaceFloor {
    /// Searches for the least value of each term that may bind: of those that take more in a
    /// configuration, the best one known, than the others do anywhere. `say` shows which is sought.
    pub fn search(
        problem: &Problem,
        floor: Floor,
        (options, best): (&SearchOptions, Option<&Configuration>),
        say: &(dyn Fn(String) + Sync),
    ) -> Result<SpaceFloor, CliError> {
        let options = SearchOptions { top: 0, ..options.clone() };
        let env = best.and_then(|best| Some(problem.bind(&values(problem, best)).ok()?.env));
        let at_best = |time: &Expr| env.as_ref().and_then(|env| time.eval(env).ok());
        let mut terms: Vec<(Option<i64>, FloorTerm)> =
            floor.terms.iter().map(|(term, time)| (at_best(time), *term)).collect();
        terms.sort_by_key(|(time, _)| std::cmp::Reverse(time.unwrap_or(i64::MAX)));
        let mut least: Vec<(FloorTerm, TuneResult)> = Vec::new();
        for (time, term) in terms {
            let most = least.iter().map(|(_, result)| result.lower).max();
            if time.zip(most).is_some_and(|(time, most)| time <= most) {
                break;
            }
            let own = floor.problem(problem, term)?;
            let name = term.name();
            say(format!("floor by {name}"));
            let found = searched(&own, &options, &|now| {
                let lower = microseconds(now.bounds.lower);
                say(format!("floor by {name} at least {lower}"));
            });
            least.push((term, found?));
        }
        let mut found = SpaceFloor { floor, least, whole: None };
        found.whole = found.sought_whole(problem, (&options, best), say)?;
        Ok(found)
    }

    /// The least floor of a configuration, if the terms may be least in different ones.
    fn sought_whole(
        &self,
        problem: &Problem,
        (options, best): (&SearchOptions, Option<&Configuration>),
        say: &(dyn Fn(String) + Sync),
    ) -> Result<Option<(FloorTerm, TuneResult)>, CliError> {
        let lower = self.binding().map(|(_, result)| result.lower);
        let reached = self.reached(problem, best).map(|(floor, _)| floor);
        if stop::flag().load(Ordering::Relaxed) || reached.zip(lower).is_none_or(|(a, b)| a <= b) {
            return Ok(None);
        }
        let own = self.floor.problem_of_all(problem)?;
        let spent = options.since.map_or(Duration::ZERO, |since| since.elapsed());
        let left = options.timeout.map_or(WHOLE_TIME, |timeout| timeout.saturating_sub(spent));
        let timeout = Some(left.min(WHOLE_TIME));
        let options = SearchOptions { timeout, since: None, ..options.clone() };
        say("floor by all terms".into());
        let result = tune(&own, &options, stop::flag(), &|_| {})?;
        let term = result.best.as_ref().and_then(|found| {
            let bound = problem.bind(&values(problem, &found.configuration)).ok()?;
            Some(self.at(&bound)?.1)
        });
        Ok(term.map(|term| (term, result)))
    }

    /// Of the best configuration and those that are least for a term, the one with the least floor,
    /// and that in picoseconds.
    fn reached<'s>(
        &'s self,
        problem: &Problem,
        best: Option<&'s Configuration>,
    ) -> Option<(i64, &'s Configuration)> {
        let found = self.least.iter().chain(&self.whole);
        let found = found.filter_map(|(_, result)| result.best.as_ref());
        let floors = found.map(|found| &found.configuration).chain(best).filter_map(|of| {
            let bound = problem.bind(&values(problem, of)).ok()?;
            Some((self.at(&bound)?.0, of))
        });
        floors.min_by_key(|(floor, _)| *floor)
    }

    /// The floor of one configuration in picoseconds, and the term that binds.
    pub fn at(&self, bound: &Bound) -> Option<(i64, FloorTerm)> {
        self.floor.at(&bound.env)
    }

    /// The term whose least value is greatest, or the least floor, if that is greater.
    fn binding(&self) -> Option<&(FloorTerm, TuneResult)> {
        self.whole.iter().chain(&self.least).rev().max_by_key(|(_, result)| result.lower)
    }

    /// The floor of the space in seconds, and the term that binds.
    pub fn seconds(&self) -> Option<(f64, FloorTerm)> {
        self.binding().map(|(term, result)| (result.lower as f64 / 1e12, *term))
    }

    /// The floor as data; `best` is the best configuration known.
    pub fn answer(&self, problem: &Problem, best: Option<&Configuration>) -> FloorAnswer {
        let least = self.reached(problem, best);
        let (reached, best) = (least.map(|(floor, _)| floor), least.map(|(_, best)| best));
        let proved = self.least.iter().all(|(_, result)| result.status == Status::Optimal);
        let of = |(term, result): &(FloorTerm, TuneResult)| (*term, result.lower);
        let terms: Vec<_> = self.least.iter().map(of).collect();
        let best = best.map(|best| values(problem, best));
        FloorAnswer::new(&terms, self.binding().map(of), (best, reached), proved)
    }

    /// Writes the certificate that the term which binds has no less value into a folder beside
    /// `folder`.
    pub fn certify(&self, problem: &Problem, folder: &Path) -> Result<(), CliError> {
        let Some((term, result)) = self.binding() else { return Ok(()) };
        let own = match self.whole.as_ref().is_some_and(|(_, whole)| whole.lower >= result.lower) {
            true => self.floor.problem_of_all(problem)?,
            false => self.floor.problem(problem, *term)?,
        };
        certify(&own, result, &beside(folder))
    }
}

/// Searches for the least value of a term by elimination, which is enough for nearly all and is
/// what certificates are of; otherwise in all ways.
fn searched(
    problem: &Problem,
    options: &SearchOptions,
    observer: &(dyn Fn(&Incumbent) + Sync),
) -> Result<TuneResult, CliError> {
    let with = |options: &SearchOptions| tune(problem, options, stop::flag(), observer);
    if options.strategy == Strategy::Race {
        let found = with(&SearchOptions { strategy: Strategy::Eliminate, ..options.clone() })?;
        if found.status == Status::Optimal || stop::flag().load(Ordering::Relaxed) {
            return Ok(found);
        }
    }
    Ok(with(options)?)
}

/// The folder for the certificate of a floor: `DIR-floor`.
pub fn beside(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push("-floor");
    folder.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;
    use tickbound_model::{LeastCount, LeastUsage};

    use super::*;

    /// Groups of these sizes.
    fn problem(sizes: &[i64]) -> Problem {
        let value = json!({
            "platform": { "name": "p", "units_per_device": 1, "elements_per_unit": 4,
                "global_access": 4, "resources": { "warp_width": 32, "load_store_lanes": 16,
                    "greatest_mhz": 1000, "least_group_picoseconds": 3000 } },
            "parameters": { "WG": sizes },
            "launch": { "global_size": 128, "local_size": "WG" }, "kernel": []
        });
        let read = |_: &str| unreachable!();
        Problem::from_value(&value, &indexmap::IndexMap::new(), &read).unwrap()
    }

    /// The floor of a problem whose items make these requests.
    fn found(problem: &Problem, requests: Expr, say: &(dyn Fn(String) + Sync)) -> SpaceFloor {
        let each = [(LeastCount::GlobalRequests, requests)].into_iter().collect();
        let least = LeastUsage { each, ..LeastUsage::default() };
        let floor = Floor::new(problem, &least, Caches::Unknown).unwrap();
        SpaceFloor::search(problem, floor, (&SearchOptions::default(), None), say).unwrap()
    }

    /// Large groups make twice as many requests, and small ones take twice as long to start.
    #[test]
    fn terms_that_are_least_in_different_configurations() {
        let problem = problem(&[32, 64]);
        let size = Expr::Name(problem.first_parameter());
        let requests = Expr::binary(tickbound_expr::BinaryOp::FloorDiv, size, Expr::Int(32));
        let found = found(&problem, requests, &|_| {});
        // 4 warps with a request of 2 clocks, and 4 groups of 3,000 picoseconds.
        let answer = found.answer(&problem, None);
        assert_eq!((answer.terms["requests"], answer.terms["dispatch"]), (8000, 6000));
        assert_eq!((answer.picoseconds, answer.reached), (12_000, Some(12_000)));
        assert_eq!(answer.term.as_deref(), Some("dispatch"));
        assert_eq!(found.seconds(), Some((1.2e-8, FloorTerm::Dispatch)));
    }

    /// Requests bind in small groups, the start of groups in others: what is sought is shown.
    #[test]
    fn the_terms_that_are_sought() {
        let problem = problem(&[8, 32, 64]);
        let shown = Mutex::new(Vec::new());
        let found = found(&problem, Expr::Int(2), &|text| shown.lock().unwrap().push(text));
        // 4 warps with 2 requests of 2 clocks.
        assert_eq!(found.seconds(), Some((1.6e-8, FloorTerm::Requests)));
        let shown = shown.into_inner().unwrap();
        for text in ["floor by requests", "floor by requests at least 0.0160 us"] {
            assert!(shown.iter().any(|s| s == text), "{shown:?}");
        }
        assert!(shown.iter().any(|s| s == "floor by dispatch"), "{shown:?}");
        // Four warps in any case; small groups need more. Two groups take 6,000 picoseconds.
        let answer = found.answer(&problem, Some(&Configuration(vec![64])));
        assert_eq!((answer.reached, answer.terms["dispatch"]), (Some(16_000), 6000));
        assert_eq!(
            answer.words(&problem, Some(20)),
            "0.0160 us by requests: no configuration takes \
            less on p (proved)"
        );
    }
}
