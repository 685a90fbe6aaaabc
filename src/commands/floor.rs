//! Floors: times that no configuration can undercut on the device.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

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

/// The floor of a space: of the least values of all terms the greatest.
pub struct SpaceFloor {
    floor: Floor,
    /// Each term with its least value, or what is known of it.
    least: Vec<(FloorTerm, TuneResult)>,
}

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
        Ok(SpaceFloor { floor, least })
    }

    /// The floor of one configuration in picoseconds, and the term that binds.
    pub fn at(&self, bound: &Bound) -> Option<(i64, FloorTerm)> {
        self.floor.at(&bound.env)
    }

    /// The term whose least value is greatest.
    fn binding(&self) -> Option<&(FloorTerm, TuneResult)> {
        self.least.iter().rev().max_by_key(|(_, result)| result.lower)
    }

    /// The floor of the space in seconds, and the term that binds.
    pub fn seconds(&self) -> Option<(f64, FloorTerm)> {
        self.binding().map(|(term, result)| (result.lower as f64 / 1e12, *term))
    }

    /// The floor as data; `best` is the best configuration known.
    pub fn answer(&self, problem: &Problem, best: Option<&Configuration>) -> FloorAnswer {
        // Of the best and those that are least for a term the one with the least floor.
        let found = self.least.iter().filter_map(|(_, result)| result.best.as_ref());
        let floors = found.map(|found| &found.configuration).chain(best).filter_map(|of| {
            let bound = problem.bind(&values(problem, of)).ok()?;
            Some((self.at(&bound)?.0, of))
        });
        let least = floors.min_by_key(|(floor, _)| *floor);
        let (reached, best) = (least.map(|(floor, _)| floor), least.map(|(_, best)| best));
        let proved = self.least.iter().all(|(_, result)| result.status == Status::Optimal);
        let terms = self.least.iter().map(|(term, result)| (*term, result.lower));
        let best = best.map(|best| values(problem, best));
        FloorAnswer::new(&terms.collect::<Vec<_>>(), (best, reached), proved)
    }

    /// Writes the certificate that the term which binds has no less value into a folder beside
    /// `folder`.
    pub fn certify(&self, problem: &Problem, folder: &Path) -> Result<(), CliError> {
        let Some((term, result)) = self.binding() else { return Ok(()) };
        certify(&self.floor.problem(problem, *term)?, result, &beside(folder))
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

    /// Requests bind in small groups, the start of groups in others: what is sought is shown.
    #[test]
    fn the_terms_that_are_sought() {
        let value = json!({
            "platform": { "name": "p", "units_per_device": 1, "elements_per_unit": 4,
                "global_access": 4, "resources": { "warp_width": 32, "load_store_lanes": 16,
                    "greatest_mhz": 1000, "least_group_picoseconds": 3000 } },
            "parameters": { "WG": [8, 32, 64] },
            "launch": { "global_size": 128, "local_size": "WG" }, "kernel": []
        });
        let read = |_: &str| unreachable!();
        let problem = Problem::from_value(&value, &indexmap::IndexMap::new(), &read).unwrap();
        let each = [(LeastCount::GlobalRequests, Expr::Int(2))].into_iter().collect();
        let least = LeastUsage { each, ..LeastUsage::default() };
        let floor = Floor::new(&problem, &least, Caches::Unknown).unwrap();
        let shown = Mutex::new(Vec::new());
        let options = SearchOptions::default();
        let found = SpaceFloor::search(&problem, floor, (&options, None), &|text| {
            shown.lock().unwrap().push(text);
        });
        let found = found.unwrap();
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
