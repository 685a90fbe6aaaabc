//! `tickbound tune --over`: a rule for many sizes.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use tickbound_model::Problem;
use tickbound_report::answer::{About, RuleVariant, SizeRule, WorstSize};
use tickbound_rules::emit::{EmittedVariant, Format};
use tickbound_rules::{ClosedForm, Rule, RuleError, RuleRequest, RuleSizes, Worst, rule};
use tickbound_solver::SearchOptions;

use super::emission::{Emission, checked, described};
use super::exit::{CliError, Exit};
use super::load::{Attacher, Question};
use super::output::{Outputs, say_answer, say_json};
use super::progress::Progress;
use super::reader::setup;
use super::stop;
use super::values::Percent;

/// Options of a rule.
#[derive(Debug, Clone, clap::Args)]
#[command(group = clap::ArgGroup::new("rule").args(["over", "devices"]).multiple(true))]
pub struct OverArgs {
    /// Find a few configurations for all these sizes: NAME=FIRST..LAST[:STEP] or NAME=VALUE,...
    /// for inputs, M=N=... for equal ones
    #[arg(
        long, value_name = "SIZES", help_heading = "Rule over sizes",
        conflicts_with_all = ["trace", "plot", "html", "certificate", "floor", "top", "size"]
    )]
    over: Option<RuleSizes>,
    /// Find a few configurations for all these devices, at each size of --over: names of shipped
    /// platforms, or paths of files
    #[arg(
        long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Rule over sizes",
        conflicts_with_all = ["trace", "plot", "html", "certificate", "floor", "top", "platform"]
    )]
    devices: Vec<String>,
    /// The most that the rule may lose at any size against the least time there
    #[arg(
        long, value_name = "PERCENT", default_value_t = Percent(5.0),
        help_heading = "Rule over sizes"
    )]
    loss: Percent,
    /// Find this many configurations at most, and the least loss
    #[arg(
        long,
        value_name = "K",
        requires = "rule",
        conflicts_with = "loss",
        help_heading = "Rule over sizes"
    )]
    variants: Option<NonZeroUsize>,
}

impl OverArgs {
    /// Whether a rule is wanted.
    pub(super) fn is_given(&self) -> bool {
        self.over.is_some() || !self.devices.is_empty()
    }

    /// The sizes, on all devices.
    fn sizes(&self) -> Result<RuleSizes, CliError> {
        let sizes = self.over.clone().unwrap_or_default();
        sizes.on(&self.devices).map_err(|e| CliError::Input(e.to_string()))
    }

    /// The question about each device, in the order of the sizes' platforms.
    fn questions(&self, question: &Question, sizes: &RuleSizes) -> Vec<Question> {
        let mut over = question.clone();
        over.chosen.over = Some(sizes.clone());
        if sizes.platforms().is_empty() {
            return vec![over];
        }
        let on = |platform: &String| {
            let mut one = over.clone();
            one.chosen.platform = Some(platform.clone());
            one
        };
        sizes.platforms().iter().map(on).collect()
    }

    /// Finds the rule, writes it to `emit`, and prints it.
    pub(super) fn run(
        &self,
        question: &Question,
        options: &SearchOptions,
        (emit, json): (&[PathBuf], bool),
    ) -> Result<Exit, CliError> {
        let Some(found) = self.found(question, options, emit)? else { return Ok(Exit::Nothing) };
        if !emit.is_empty() && !found.answer.proved() {
            note!("tickbound: --emit: nothing is written, as the loss is not proved at all sizes");
        } else if !emit.is_empty() {
            found.emission(question)?.write(emit)?;
        }
        if json { say_json(&found.answer) } else { say_answer(&found.answer.words()) }?;
        Ok(Exit::found(found.answer.proved()))
    }

    /// The rule as code.
    pub(super) fn emission(
        &self,
        question: &Question,
        options: &SearchOptions,
    ) -> Result<Option<Emission>, CliError> {
        self.found(question, options, &[])?.map(|found| found.emission(question)).transpose()
    }

    /// Refuses code for several devices: each has its own closed forms.
    fn check_formats(&self, emit: &[PathBuf]) -> Result<(), CliError> {
        let is_code = |file: &&PathBuf| Format::by_path(file) != Ok(Format::Flags);
        match emit.iter().find(is_code) {
            Some(file) if !self.devices.is_empty() => Err(CliError::Input(format!(
                "--emit {}: with --devices only .flags is written, as each device has its own \
                 closed forms; emit code with --platform for one of them",
                file.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Finds the rule, if one is wanted; files that cannot be written are refused before.
    fn found(
        &self,
        question: &Question,
        options: &SearchOptions,
        emit: &[PathBuf],
    ) -> Result<Option<FoundRule>, CliError> {
        if !self.is_given() {
            return Ok(None);
        }
        let sizes = self.sizes()?;
        let questions = self.questions(question, &sizes);
        let unread = questions.iter().map(Question::unread).collect::<Result<Vec<_>, _>>()?;
        let attacher = question.chosen.attacher(setup()?);
        checked(emit, Outputs::default())?.check(&questions[0].chosen.files())?;
        self.check_formats(emit)?;
        let progress = Progress::new(&unread[0].name);
        let said = progress.sayer();
        stop::on_forced_end(stop::complain_unfinished);
        let problem_at = |size: usize| {
            let values: Vec<Option<i64>> = sizes.values(size).into_iter().map(Some).collect();
            let platform = sizes.platform(size);
            read(&unread[platform], &attacher, &values)
        };
        let request = RuleRequest {
            sizes: &sizes,
            problem_at: &problem_at,
            loss: self.loss.millionths(),
            variants: self.variants.map(NonZeroUsize::get),
            options: options.clone(),
            interrupt: stop::flag(),
            progress: &|text| said(text.to_owned()),
        };
        let rule = rule(&request)?;
        let answer = answer(&unread[0], &sizes, &rule);
        let most = if self.variants.is_none() { self.loss.0 } else { 0.0 };
        let unread = unread.into_iter().next();
        Ok(unread.map(|unread| FoundRule { unread, sizes, rule, answer, most }))
    }
}

/// The problem with numbers for some parameters, its kernel read.
fn read(
    unread: &Problem,
    attacher: &Attacher<'_>,
    values: &[Option<i64>],
) -> Result<Problem, RuleError> {
    let mut problem = unread.with_values(values);
    attacher.attach(&mut problem).map_err(|error| RuleError::Kernel(error.to_string()))?;
    Ok(problem)
}

struct FoundRule {
    /// On the first platform.
    unread: Problem,
    sizes: RuleSizes,
    rule: Rule,
    answer: SizeRule,
    /// The loss that was allowed, in percent.
    most: f64,
}

impl FoundRule {
    /// The rule as code, with the loss that it has if its closed forms pick; for several devices
    /// its configurations.
    fn emission(&self, question: &Question) -> Result<Emission, CliError> {
        if !self.sizes.platforms().is_empty() {
            let alone = |values: &Vec<i64>| EmittedVariant { values: values.clone(), form: None };
            let variants = self.rule.variants.iter().map(alone).collect();
            return Ok(self.emitted(question, variants, &self.answer.worst));
        }
        let attacher = question.chosen.attacher(setup()?);
        let first = self.sizes.names().count();
        let forms = self.rule.variants.iter().map(|variant| {
            let values = std::iter::repeat_n(None, first).chain(variant.iter().copied().map(Some));
            let problem = read(&self.unread, &attacher, &values.collect::<Vec<_>>())?;
            ClosedForm::new(&problem, &self.sizes).map_err(RuleError::NoForm)
        });
        let forms = forms.collect::<Result<Vec<_>, RuleError>>()?;
        let worst = worst(&self.sizes, &self.rule.loss_of(&self.sizes, &forms)?);
        if worst.percent > self.most.max(self.answer.worst.percent) {
            return Err(CliError::Input(format!(
                "--emit: as code the rule loses {}; give a smaller --loss",
                worst.words()
            )));
        }
        let variants = self.rule.variants.iter().cloned().zip(forms.into_iter().map(Some));
        let variants = variants.map(|(values, form)| EmittedVariant { values, form }).collect();
        Ok(self.emitted(question, variants, &worst))
    }

    /// What the file is about, on all platforms.
    fn about(&self) -> About {
        let mut about = self.answer.about.clone();
        if !self.answer.platforms.is_empty() {
            about.platform = self.answer.platforms.join(", ");
        }
        about
    }

    /// The file's contents.
    fn emitted(
        &self,
        question: &Question,
        variants: Vec<EmittedVariant>,
        worst: &WorstSize,
    ) -> Emission {
        let first = self.sizes.names().count();
        let parameters = self.unread.parameters[first..].iter().map(|p| p.name.clone()).collect();
        let about = vec![
            described(&self.about()),
            format!("sizes: {}", self.answer.places().trim_start_matches("at ")),
            format!("rule: {}", self.answer.rule()),
            format!("loss: {}", worst.words()),
            format!("proved in the model: {}", self.answer.proof()),
        ];
        Emission::new(question, about, (parameters, variants), Some(&self.sizes))
    }
}

fn worst(sizes: &RuleSizes, worst: &Worst) -> WorstSize {
    WorstSize {
        size: sizes.name(worst.size),
        ticks: worst.time,
        least: worst.least,
        percent: worst.loss() as f64 / 1e4,
    }
}

/// The answer as data.
fn answer(problem: &Problem, sizes: &RuleSizes, rule: &Rule) -> SizeRule {
    let own = &problem.parameters[sizes.names().count()..];
    let names = || own.iter().map(|p| p.name.clone());
    let variant = |(values, sizes): (&Vec<i64>, &usize)| RuleVariant {
        configuration: names().zip(values.iter().copied()).collect(),
        sizes: *sizes,
    };
    SizeRule {
        about: About::of(problem),
        over: sizes.to_string(),
        platforms: sizes.platforms().to_vec(),
        sizes: sizes.count(),
        worst: worst(sizes, &rule.worst),
        variants: rule.variants.iter().zip(&rule.serves).map(variant).collect(),
        fewer: rule.curve.iter().map(|loss| loss.map(|loss| loss as f64 / 1e4)).collect(),
        infeasible: rule.infeasible.iter().map(|size| sizes.name(*size)).collect(),
        open: rule.open.len(),
        stopped_by: stop::reason().map(|why| why.to_string()).filter(|_| !rule.is_whole),
        examined: rule.examined,
        simulated: rule.simulated,
        seconds: stop::began().elapsed().as_secs_f64(),
    }
}
