//! `tickbound tune --over`: a rule for many sizes.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use tickbound_rules::emit::Format;
use tickbound_rules::{RuleRequest, RuleSizes, rule};
use tickbound_solver::SearchOptions;

use crate::commands::emission::{Emission, checked};
use crate::commands::exit::{CliError, Exit};
use crate::commands::load::Question;
use crate::commands::output::{Outputs, say_answer, say_json};
use crate::commands::progress::Progress;
use crate::commands::reader::setup;
use crate::commands::stop;
use crate::commands::values::Percent;

mod found;

use found::{FoundRule, answer, read};

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
    /// Pick by a decision tree over the sizes (and devices), not by the least predicted time
    #[arg(long, requires = "rule", help_heading = "Rule over sizes")]
    tree: bool,
}

impl OverArgs {
    /// Whether a rule is wanted.
    pub(in crate::commands) fn is_given(&self) -> bool {
        self.over.is_some() || !self.devices.is_empty()
    }

    /// The sizes, on all devices.
    fn sizes(&self) -> Result<RuleSizes, CliError> {
        let sizes = self.over.clone().unwrap_or_default();
        sizes.on(&self.devices).map_err(|e| CliError::Input(e.to_string()))
    }

    /// The question about each device, in the order of the sizes' platforms.
    fn questions(&self, question: &Question, sizes: &RuleSizes) -> Vec<Question> {
        let devices = sizes.platforms().iter().cloned().map(Some).collect::<Vec<_>>();
        let own = vec![question.chosen.platform.clone()];
        let on = |platform| {
            let mut one = question.clone();
            (one.chosen.over, one.chosen.platform) = (Some(sizes.clone()), platform);
            one
        };
        if devices.is_empty() { own } else { devices }.into_iter().map(on).collect()
    }

    /// Finds the rule, writes it to `emit`, and prints it.
    pub(in crate::commands) fn run(
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
    pub(in crate::commands) fn emission(
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
            Some(file) if !self.devices.is_empty() && !self.tree => Err(CliError::Input(format!(
                "--emit {}: with --devices only .flags is written, as each device has its own \
                 closed forms; give --tree for code with a decision tree",
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
            tree: self.tree,
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
