//! A rule that was found: its answer, and itself as code.

use tickbound_model::Problem;
use tickbound_report::answer::{About, RuleVariant, SizeRule, WorstSize};
use tickbound_rules::emit::EmittedVariant;
use tickbound_rules::{ClosedForm, DecisionTree, Rule, RuleError, RuleSizes, Worst};

use crate::commands::emission::{Emission, described};
use crate::commands::exit::CliError;
use crate::commands::load::{Attacher, Question};
use crate::commands::reader::setup;
use crate::commands::stop;

/// The problem with numbers for some parameters, its kernel read.
pub(super) fn read(
    unread: &Problem,
    attacher: &Attacher<'_>,
    values: &[Option<i64>],
) -> Result<Problem, RuleError> {
    let mut problem = unread.with_values(values);
    attacher.attach(&mut problem).map_err(|error| RuleError::Kernel(error.to_string()))?;
    Ok(problem)
}

/// A rule that was found, and the problem that it is for.
pub(super) struct FoundRule {
    /// On the first platform.
    pub(super) unread: Problem,
    pub(super) sizes: RuleSizes,
    pub(super) rule: Rule,
    pub(super) answer: SizeRule,
    /// The loss that was allowed, in percent.
    pub(super) most: f64,
}

impl FoundRule {
    /// The rule as code, with its decision tree or the loss that it has if its closed forms pick;
    /// for several devices without a tree its configurations.
    pub(super) fn emission(&self, question: &Question) -> Result<Emission, CliError> {
        if !self.sizes.platforms().is_empty() || self.rule.tree.is_some() {
            let alone = |values: &Vec<i64>| EmittedVariant { values: values.clone(), form: None };
            let variants = self.rule.variants.iter().map(alone).collect();
            let emission = self.emitted(question, variants, &self.answer.worst);
            return Ok(emission.by_tree(self.rule.tree.clone()));
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
            format!("sizes: {}", self.answer.places()),
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
pub(super) fn answer(problem: &Problem, sizes: &RuleSizes, rule: &Rule) -> SizeRule {
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
        leaves: rule.tree.as_ref().map(DecisionTree::leaves),
        fewer: rule.curve.iter().map(|loss| loss.map(|loss| loss as f64 / 1e4)).collect(),
        infeasible: rule.infeasible.iter().map(|size| sizes.name(*size)).collect(),
        open: rule.open.len(),
        stopped_by: stop::reason().map(|why| why.to_string()).filter(|_| !rule.is_whole),
        examined: rule.examined,
        simulated: rule.simulated,
        seconds: stop::began().elapsed().as_secs_f64(),
    }
}
