//! `tickbound tune --over`: a rule for many sizes.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use tickbound_model::Problem;
use tickbound_report::answer::{About, RuleVariant, SizeRule, WorstSize};
use tickbound_rules::emit::EmittedVariant;
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
pub struct OverArgs {
    /// Find a few configurations for all these sizes: NAME=FIRST..LAST[:STEP] or NAME=VALUE,...
    /// for inputs, M=N=... for equal ones
    #[arg(
        long, value_name = "SIZES", help_heading = "Rule over sizes",
        conflicts_with_all = ["trace", "plot", "html", "certificate", "floor", "top", "size"]
    )]
    over: Option<RuleSizes>,
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
        requires = "over",
        conflicts_with = "loss",
        help_heading = "Rule over sizes"
    )]
    variants: Option<NonZeroUsize>,
}

impl OverArgs {
    /// Whether a rule is wanted.
    pub(super) fn is_given(&self) -> bool {
        self.over.is_some()
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

    /// Finds the rule, if one is wanted; files that cannot be written are refused before.
    fn found(
        &self,
        question: &Question,
        options: &SearchOptions,
        emit: &[PathBuf],
    ) -> Result<Option<FoundRule<'_>>, CliError> {
        let Some(sizes) = &self.over else { return Ok(None) };
        let mut question = question.clone();
        question.chosen.over = Some(sizes.clone());
        let unread = question.unread()?;
        let attacher = question.chosen.attacher(setup()?);
        checked(emit, Outputs::default())?.check(&question.chosen.files())?;
        let progress = Progress::new(&unread.name);
        let said = progress.sayer();
        stop::on_forced_end(stop::complain_unfinished);
        let problem_at = |values: &[i64]| {
            let values: Vec<Option<i64>> = values.iter().copied().map(Some).collect();
            read(&unread, &attacher, &values)
        };
        let request = RuleRequest {
            sizes,
            problem_at: &problem_at,
            loss: self.loss.millionths(),
            variants: self.variants.map(NonZeroUsize::get),
            options: options.clone(),
            interrupt: stop::flag(),
            progress: &|text| said(text.to_owned()),
        };
        let rule = rule(&request)?;
        let answer = answer(&unread, sizes, &rule);
        let most = if self.variants.is_none() { self.loss.0 } else { 0.0 };
        Ok(Some(FoundRule { unread, sizes, rule, answer, most }))
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

struct FoundRule<'a> {
    unread: Problem,
    sizes: &'a RuleSizes,
    rule: Rule,
    answer: SizeRule,
    /// The loss that was allowed, in percent.
    most: f64,
}

impl FoundRule<'_> {
    /// The rule as code, with the loss that it has if its closed forms pick.
    fn emission(&self, question: &Question) -> Result<Emission, CliError> {
        let attacher = question.chosen.attacher(setup()?);
        let first = self.sizes.names().count();
        let forms = self.rule.variants.iter().map(|variant| {
            let values = std::iter::repeat_n(None, first).chain(variant.iter().copied().map(Some));
            let problem = read(&self.unread, &attacher, &values.collect::<Vec<_>>())?;
            ClosedForm::new(&problem, self.sizes).map_err(RuleError::NoForm)
        });
        let forms = forms.collect::<Result<Vec<_>, RuleError>>()?;
        let worst = worst(self.sizes, &self.rule.loss_of(self.sizes, &forms)?);
        if worst.percent > self.most.max(self.answer.worst.percent) {
            return Err(CliError::Input(format!(
                "--emit: as code the rule loses {}; give a smaller --loss",
                worst.words()
            )));
        }
        let parameters = self.unread.parameters[first..].iter().map(|p| p.name.clone()).collect();
        let about = vec![
            described(&self.answer.about),
            format!("sizes: {}", self.answer.over),
            format!("rule: {}", self.answer.rule()),
            format!("loss: {}", worst.words()),
            format!("proved in the model: {}", self.answer.proof()),
        ];
        let variants = self.rule.variants.iter().cloned().zip(forms.into_iter().map(Some));
        let variants = variants.map(|(values, form)| EmittedVariant { values, form }).collect();
        Ok(Emission::new(question, about, (parameters, variants), Some(self.sizes)))
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
