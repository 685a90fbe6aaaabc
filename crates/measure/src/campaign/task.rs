//! A configuration that is to be measured, with its job.

use tickbound_model::{Bound, Problem};

use crate::error::MeasureError;
use crate::files::SourceFiles;
use crate::job::Job;
use crate::report::MeasureOptions;

#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) bound: &'a Bound,
    pub(super) job: Job,
    pub(super) fingerprint: String,
}

impl<'a> Task<'a> {
    pub(super) fn new(
        problem: &Problem,
        files: &SourceFiles,
        bound: &'a Bound,
        options: &MeasureOptions,
    ) -> Result<Task<'a>, MeasureError> {
        let mut job = Job::new(problem, files, bound).map_err(|e| match e {
            MeasureError::Number(at, why) => {
                let name = problem.name_values(&bound.configuration);
                MeasureError::Number(at, format!("{why} for {name}"))
            }
            e => e,
        })?;
        // The rest of the limit is for a run that takes longer than others, and for the last check.
        job.rule.seconds = options.limit.as_secs_f64() * 0.7;
        let resources = problem.platform.resources();
        let caches = [resources.l2_size, resources.l3_size].into_iter().flatten();
        let bytes = caches.map(|bytes| u64::try_from(bytes).unwrap_or(0)).sum();
        job.flush = options.flush_cache.then_some(bytes);
        let fingerprint = job.fingerprint(files);
        Ok(Task { bound, job, fingerprint })
    }

    pub(super) fn values(&self) -> &[i64] {
        &self.bound.configuration.0
    }
}
