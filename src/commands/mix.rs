//! `tickbound tune --mix`: one configuration for all named sizes.

use std::path::PathBuf;

use tickbound_model::Problem;
use tickbound_report::answer::{About, PROVED, SizeMix, SizeOfMix, values};
use tickbound_rules::emit::EmittedVariant;
use tickbound_rules::{Mix, MixRequest, RuleError, mix};
use tickbound_solver::SearchOptions;

use super::emission::{Emission, checked, described};
use super::exit::{CliError, Exit};
use super::load::Question;
use super::output::{Outputs, say_answer, say_json};
use super::progress::Progress;
use super::reader::setup;
use super::stop;

/// Finds the configuration, writes it to `emit`, and prints it.
pub(super) fn run(
    question: &Question,
    options: &SearchOptions,
    (emit, json): (&[PathBuf], bool),
) -> Result<Exit, CliError> {
    let found = FoundMix::new(question, options, emit)?;
    if !emit.is_empty() {
        found.emission(question).write(emit)?;
    }
    if json { say_json(&found.answer) } else { say_answer(&found.answer.words()) }?;
    Ok(Exit::found(found.answer.proved()))
}

/// What `--emit` writes for these arguments.
pub(super) fn emission(question: &Question, options: &SearchOptions) -> Result<Emission, CliError> {
    Ok(FoundMix::new(question, options, &[])?.emission(question))
}

/// A configuration that was found.
struct FoundMix {
    mix: Mix,
    answer: SizeMix,
}

impl FoundMix {
    fn new(
        question: &Question,
        options: &SearchOptions,
        emit: &[PathBuf],
    ) -> Result<FoundMix, CliError> {
        let unread = question.unread()?;
        if unread.sizes.is_empty() {
            return Err(CliError::Input(
                "--mix: the problem has no `sizes`; name some in the file, or give --over".into(),
            ));
        }
        checked(emit, Outputs::default())?.check(&question.chosen.files())?;
        let progress = Progress::new(&unread.name);
        let said = progress.sayer();
        stop::on_forced_end(stop::complain_unfinished);
        let sizes: Vec<(String, i64)> =
            unread.sizes.iter().map(|(name, size)| (name.clone(), size.weight)).collect();
        let at = sizes.iter().map(|(name, _)| {
            let mut one = question.clone();
            one.chosen.size = Some(name.clone());
            one.unread()
        });
        let at = at.collect::<Result<Vec<_>, CliError>>()?;
        let attacher = question.chosen.attacher(setup()?);
        let problem_at = |place: usize| {
            let mut problem = at[place].clone();
            let read = attacher.attach(&mut problem);
            read.map_err(|e| RuleError::Kernel(format!("at {}: {e}", sizes[place].0)))?;
            Ok(problem)
        };
        let mix = mix(&MixRequest {
            sizes: &sizes,
            problem_at: &problem_at,
            options: options.clone(),
            interrupt: stop::flag(),
            progress: &|text| said(text.to_owned()),
        })?;
        let answer = answer(&unread, &sizes, &mix);
        Ok(FoundMix { mix, answer })
    }

    fn emission(&self, question: &Question) -> Emission {
        let SizeMix { about, configuration, sizes, .. } = &self.answer;
        let launches = sizes.iter().map(|size| format!("{} x {}", size.launches, size.name));
        let time = about.units.time(self.mix.total);
        let proved = match self.answer.proved() {
            true => format!("{PROVED} no configuration takes less over all launches: {time}"),
            false => format!("time {time} over all launches; not proved to be the least"),
        };
        let launches = launches.collect::<Vec<_>>().join(", ");
        let about = vec![described(about), format!("launches: {launches}"), proved];
        let values = self.mix.configuration.0.clone();
        let variants = vec![EmittedVariant { values, form: None }];
        let parameters = configuration.keys().cloned().collect();
        Emission::new(question, about, (parameters, variants), None)
    }
}

/// The answer as data.
fn answer(problem: &Problem, sizes: &[(String, i64)], mix: &Mix) -> SizeMix {
    let mut about = About::of(problem);
    about.inputs.retain(|name, _| problem.sizes.values().all(|s| !s.inputs.contains_key(name)));
    let all = sizes.iter().zip(mix.times.iter().zip(&mix.least));
    let size = |((name, launches), (ticks, least)): (&(String, i64), (&i64, &i64))| SizeOfMix {
        name: name.clone(),
        launches: *launches,
        ticks: *ticks,
        least: *least,
    };
    SizeMix {
        about,
        configuration: values(problem, &mix.configuration),
        launches: sizes.iter().fold(0, |all, (_, launches)| launches.saturating_add(all)),
        total: mix.total,
        lower: mix.lower,
        sizes: all.map(size).collect(),
        stopped_by: stop::reason().map(|why| why.to_string()).filter(|_| !mix.is_proved()),
        seconds: stop::began().elapsed().as_secs_f64(),
    }
}
