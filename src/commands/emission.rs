//! What `tune --emit` writes.

use std::path::{Path, PathBuf};

use tickbound_model::Problem;
use tickbound_report::answer::About;
use tickbound_rules::emit::{Emitted, EmittedSizes, EmittedVariant, Format, identifier};
use tickbound_rules::{DecisionTree, RuleSizes};
use tickbound_solver::TuneResult;

use super::exit::{CliError, input};
use super::load::Question;
use super::output::{Outputs, save, written};

/// What the line with the command begins with.
pub(super) const WRITTEN_BY: &str = "written by: tickbound ";

/// A configuration or a rule, to be written as code.
pub(super) struct Emission {
    emitted: Emitted,
    /// The arguments of the program that writes it.
    command: String,
}

impl Emission {
    /// What is emitted for the problem that a command is about.
    pub(super) fn new(
        question: &Question,
        about: Vec<String>,
        (parameters, variants): (Vec<String>, Vec<EmittedVariant>),
        sizes: Option<&RuleSizes>,
    ) -> Emission {
        let stem = Path::new(&question.chosen.problem).file_stem();
        let name = identifier(&stem.map_or("problem".into(), |stem| stem.to_string_lossy()));
        let sizes = sizes.map(EmittedSizes::for_rule);
        let emitted = Emitted { name, about, parameters, variants, sizes, tree: None };
        let words: Vec<String> = std::env::args().skip(1).filter(|word| !shapes(word)).collect();
        let command = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        Emission { emitted, command }
    }

    /// The best configuration of a search.
    ///
    /// # Errors
    /// The search has found none.
    pub(super) fn best(
        question: &Question,
        problem: &Problem,
        result: &TuneResult,
    ) -> Result<Emission, CliError> {
        let nothing = || CliError::Input("--emit: no configuration was found to be written".into());
        let best = result.best.as_ref().ok_or_else(nothing)?;
        let about = About::of(problem);
        let answer = tickbound_report::answer::tune::answer(problem, result);
        let time = about.units.time(best.time);
        let proved = match answer.proved() {
            true => format!("least time of all configurations, proved in the model: {time}"),
            false => format!("time {time}; not proved to be the least"),
        };
        let parameters = problem.parameters.iter().map(|p| p.name.clone()).collect();
        let values = best.configuration.0.clone();
        let variants = vec![EmittedVariant { values, form: None }];
        let about = vec![described(&about), proved];
        Ok(Emission::new(question, about, (parameters, variants), None))
    }

    /// The same with a decision tree that picks, if there is one.
    pub(super) fn by_tree(self, tree: Option<DecisionTree>) -> Emission {
        Emission { emitted: Emitted { tree, ..self.emitted }, ..self }
    }

    /// The same as another command writes it.
    pub(super) fn by(self, command: &str) -> Emission {
        Emission { command: command.to_owned(), ..self }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// The ending belongs to no format, or something has no form in it.
    pub(super) fn text(&self, file: &Path) -> Result<String, CliError> {
        let format = Format::by_path(file).map_err(CliError::Input)?;
        let mut emitted = self.emitted.clone();
        emitted.about.push("the model is not the device: measure before you rely on it".into());
        emitted.about.push(format!("{WRITTEN_BY}{}", self.command));
        emitted.text(format).map_err(|why| input(format!("--emit {}: {why}", file.display())))
    }

    /// Writes files.
    pub(super) fn write(&self, files: &[PathBuf]) -> Result<(), CliError> {
        for file in files {
            save(file, &self.text(file)?)?;
        }
        written(files);
        Ok(())
    }
}

/// Refuses files that have no format.
pub(super) fn checked(files: &[PathBuf], outputs: Outputs) -> Result<Outputs, CliError> {
    files.iter().try_fold(outputs, |outputs, file| {
        Format::by_path(file).map_err(CliError::Input)?;
        Ok(outputs.file("--emit", Some(file)))
    })
}

/// What a file is about, in a line.
pub(super) fn described(about: &About) -> String {
    let inputs: Vec<String> =
        about.inputs.iter().map(|(name, v)| format!("{name} = {v}")).collect();
    let inputs =
        if inputs.is_empty() { String::new() } else { format!(" ({})", inputs.join(", ")) };
    let (_, model) = about.model();
    format!("tickbound {}: {}{inputs}, {model}", about.tickbound, about.name)
}

/// Whether a word of the command line is about what is printed alone.
fn shapes(word: &str) -> bool {
    matches!(word, "--json" | "--quiet" | "-q")
}
