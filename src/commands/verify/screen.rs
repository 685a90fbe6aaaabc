//! What `measure` runs of `verify`: it leaves out the configurations that are refuted.

use std::path::Path;
use std::time::{Duration, Instant};

use tickbound_elimination::TableLimits;
use tickbound_model::{Bound, Configuration, Problem};
use tickbound_opencl::for_proofs;
use tickbound_safety::answer::{Judgement, Safety};
use tickbound_safety::{VerifyOptions, verify};

use super::text::fault_at;
use crate::commands::exit::CliError;
use crate::commands::progress::Progress;
use crate::commands::reader::setup;
use crate::commands::stop;

/// Most time for all configurations.
const MAX_TIME: Duration = Duration::from_secs(20);
/// Most time for a question to the solver.
const MAX_QUESTION: Duration = Duration::from_secs(1);

/// What is known of the safety of some configurations.
pub struct Screen(Option<Safety>);

impl Screen {
    /// Verifies configurations of a problem whose paths count from `folder`, and notes what is not
    /// proved: no fault of the verification keeps them from being measured.
    pub fn new(
        (problem, folder): (&Problem, &Path),
        among: &[Configuration],
        progress: &Progress,
    ) -> Screen {
        progress.say("verifying that the configurations are safe".to_owned());
        let safety = verified((problem, folder), among).map_err(|error| error.to_string());
        let open = match &safety {
            Err(why) => Some(why.clone()),
            Ok(safety) if safety.is_proved() || !safety.refuted.is_empty() => None,
            Ok(safety) => Some(not_proved(safety)),
        };
        if let Some(why) = open.filter(|_| !stop::is_due()) {
            progress.aside(&format!("tickbound: not verified: {why}"));
        }
        Screen(safety.ok())
    }

    /// Whether a configuration may run: it is not refuted.
    pub fn admits(&self, configuration: &Configuration) -> bool {
        self.0.as_ref().is_none_or(|safety| safety.refutes(configuration).is_none())
    }

    /// Refuses a configuration that is refuted.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, option: &str, configuration: &Configuration) -> Result<(), CliError> {
        match self.0.as_ref().and_then(|safety| safety.refutes(configuration)) {
            None => Ok(()),
            Some(judged) => Err(CliError::Input(format!(
                "{option}: it is not safe: {}; --unverified runs it",
                fault_at(judged)
            ))),
        }
    }

    /// Leaves out the configurations that are refuted.
    pub fn retain(&self, bounds: &mut Vec<Bound>, progress: &Progress) {
        let all = bounds.len();
        bounds.retain(|bound| self.admits(&bound.configuration));
        self.note_left_out(all - bounds.len(), all, progress);
    }

    /// Notes how many configurations are left out.
    pub fn note_left_out(&self, left_out: usize, all: usize, progress: &Progress) {
        let Some(safety) = self.0.as_ref().filter(|_| left_out > 0) else { return };
        let first = safety.refuted.first().and_then(|(number, _)| safety.judged.get(*number));
        let why = first.map_or_else(String::new, fault_at);
        progress.aside(&format!(
            "tickbound: {left_out} of {all} configurations are not run, as they are not safe: \
             {why}; `tickbound verify` shows an example, --unverified runs them"
        ));
    }
}

fn verified(
    (problem, folder): (&Problem, &Path),
    among: &[Configuration],
) -> Result<Safety, CliError> {
    let configurations = problem.configurations(&TableLimits::default())?;
    let extracted = for_proofs(problem, &configurations, folder, &setup()?)?;
    let extracted = extracted.ok_or_else(|| CliError::Input("it has no kernel".to_owned()))?;
    let began = Instant::now();
    let options = VerifyOptions {
        question: MAX_QUESTION,
        stop: &|| stop::is_due() || began.elapsed() > MAX_TIME,
        progress: &|_, _| {},
        among: Some(among),
        all_refuted: true,
        certificate: false,
    };
    let found = verify(problem, &configurations, &extracted, &options);
    Ok(found.map_err(CliError::Input)?.safety)
}

/// Why configurations that are not refuted are not proved safe.
fn not_proved(safety: &Safety) -> String {
    if safety.stopped {
        return format!("it takes more than {} s; try `tickbound verify`", MAX_TIME.as_secs());
    }
    let first = safety.judged.iter().find(|judged| judged.judgement != Judgement::Proved);
    let why = safety.unread.first().cloned().or_else(|| first.map(fault_at)).unwrap_or_default();
    let open = safety.judged.len() - safety.count(Judgement::Proved);
    format!("{open} of {} claims are open; the first: {why}", safety.judged.len())
}
