//! `tickbound explain`.

use std::fmt::Write;

use indexmap::IndexSet;
use itertools::Itertools;
use num_bigint::BigUint;
use tickbound_elimination::TableLimits;
use tickbound_model::count::{LaunchCounts, count};
use tickbound_model::{Bound, Configurations, LeftOut, LineUsage, Problem, Profile, Usage};
use tickbound_opencl::lower::Names;
use tickbound_opencl::steps::Assumed;
use tickbound_opencl::{KernelReading, Variant};
use tickbound_simulator::{used, used_of};

use super::exit::{CliError, Exit};
use super::load::{Chosen, Setting, bound};
use super::output::{say_folded, say_json, width};
use super::stop::Stops;
use tickbound_report::answer;
use tickbound_report::answer::resources::Resources;
use tickbound_report::answer::{About, COUNTED, Explained, Tally};
use tickbound_report::explain;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// Show this configuration; every parameter needs a value
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<Setting>,
    #[command(flatten)]
    stops: Stops,
    /// Print one JSON object, with the program in the problem format
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ExplainArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    let (problem, reading) = args.chosen.explained()?;
    let configurations = problem.configurations(&TableLimits::default())?;
    let choices = problem.choices()?;
    // Without parameters there is one configuration, and nothing to choose.
    let chosen = match args.set.is_empty() && !problem.parameters.is_empty() {
        true => None,
        false => Some(bound(&problem, "--set", &args.set)?),
    };
    let left_out = problem.left_out(&TableLimits::default())?;
    let (reading, chosen) = (reading.as_ref(), chosen.as_ref());
    let page = Page { problem: &problem, left_out, reading, chosen };
    if args.json {
        say_json(&page.object(&configurations, choices)?)?;
    } else {
        say_folded(&page.text(&configurations, choices)?)?;
    }
    Ok(Exit::found(configurations.count() != Some(BigUint::default())))
}

struct Page<'p> {
    problem: &'p Problem,
    left_out: Option<LeftOut>,
    reading: Option<&'p KernelReading>,
    chosen: Option<&'p Bound>,
}

impl Page<'_> {
    fn text(&self, configurations: &Configurations<'_>, choices: u64) -> Result<String, CliError> {
        let problem = self.problem;
        let of = match &problem.source {
            Some(source) => format!(": kernel `{}` of {}", source.entry, source.path),
            None => String::new(),
        };
        let number =
            configurations.count().map_or_else(|| "uncounted".to_owned(), |n| n.to_string());
        let mut text =
            format!("{}{of}\n{number} configurations of {choices} choices\n", problem.name);
        let (name, model) = About::of(problem).model();
        text += &format!("{name} {model}\n");
        if let Some(left_out) = self.left_out.as_ref().filter(|all| !all.limits.is_empty()) {
            text += &format!("left out: {left_out}\n");
        }
        text.push('\n');
        match self.reading {
            Some(reading) => self.add_steps(&mut text, reading, configurations),
            None if problem.kernel.is_empty() => text.push_str("there is no kernel program\n"),
            None => text.push_str(&explain::program(problem, &problem.kernel)),
        }
        if !problem.finish.is_empty() {
            text.push_str("\nat the end, once:\n");
            text.push_str(&explain::program(problem, &problem.finish));
        }
        if let Some(bound) = self.chosen {
            let counts = self.counts(bound)?;
            let counts = counts.map_or_else(|why| why, |counts| listed(&counts));
            let values = problem.name_values(&bound.configuration).to_string();
            let with = if values.is_empty() { values } else { format!(" with {values}") };
            let _ = writeln!(text, "\none launch{with}: {counts}");
            if problem.profile == Profile::Resources {
                self.add_used(&mut text, bound)?;
            }
        }
        Ok(text)
    }

    /// The counts of a launch, or why it is not counted: the profile `resources` runs no items, so
    /// it has a time even so.
    fn counts(&self, bound: &Bound) -> Result<Result<LaunchCounts, String>, CliError> {
        match count(self.problem, bound) {
            Ok(counts) => Ok(Ok(counts)),
            Err(why) if self.problem.profile == Profile::Resources => {
                Ok(Err(format!("not counted ({why})")))
            }
            Err(why) => Err(why.into()),
        }
    }

    /// What a configuration uses of a device, in all and by lines, and what bounds its time.
    fn add_used(&self, text: &mut String, bound: &Bound) -> Result<(), CliError> {
        let problem = self.problem;
        let uses = |usage: &Usage| -> Result<String, CliError> {
            let used = used_of(problem, usage, bound)?;
            let all = Usage::NAMES.iter().zip(used).filter(|(_, n)| *n != 0);
            Ok(all.map(|(name, n)| format!("{name} {n}")).join(", "))
        };
        let _ = writeln!(text, "\nit uses: {}", uses(problem.usage())?);
        for LineUsage { file, line, usage } in problem.usage_lines() {
            // A line alone may have no value where the whole has one.
            if let Some(uses) = uses(usage).ok().filter(|uses| !uses.is_empty()) {
                let _ = writeln!(text, "{file}:{line}: {uses}");
            }
        }
        text.push('\n');
        for (name, line) in Resources::of_bound(problem, bound)?.lines() {
            let _ = writeln!(text, "{name:<12}{line}");
        }
        Ok(())
    }

    fn add_steps(&self, text: &mut String, reading: &KernelReading, all: &Configurations<'_>) {
        let extracted = &reading.extracted;
        let Some(variant) = self.variant(reading, all) else { return };
        let steps = explain::steps(&variant.steps.body, &reading.name, &reading.text, width());
        text.push_str(&steps);
        for array in &variant.steps.locals {
            let bytes = explain::number(&array.bytes);
            let _ = writeln!(
                text,
                "\nlocal array {}: {bytes} bytes (line {})",
                array.name, array.at.line
            );
        }
        for assumed in &variant.steps.assumed {
            let _ = match assumed {
                Assumed::Once { at, key } => writeln!(
                    text,
                    "\nassumed: the loop in line {} succeeds at once; {} in kernel.bounds says \
                     otherwise",
                    at.line,
                    serde_json::Value::from(key.as_str())
                ),
                Assumed::Printed { at } => {
                    writeln!(text, "\nassumed: what line {} prints costs nothing", at.line)
                }
            };
        }
        if !extracted.structural.is_empty() {
            let values = extracted.structural.iter().zip(&variant.values);
            let shown: Vec<String> = values.map(|(name, v)| format!("{name}={v}")).collect();
            let _ = writeln!(
                text,
                "\nthe source's text depends on {}: this is one of {} readings, for {}; --set \
                 shows others",
                extracted.structural.join(", "),
                extracted.variants.len(),
                shown.join(", ")
            );
        }
    }

    /// The reading for the chosen configuration, or for the first one.
    fn variant<'r>(
        &self,
        reading: &'r KernelReading,
        all: &Configurations<'_>,
    ) -> Option<&'r Variant> {
        let first = || all.bind(&all.first()?).ok();
        let bound = &self.chosen.cloned().or_else(first)?;
        let extracted = &reading.extracted;
        let symbols = Names::new(self.problem, self.problem.source.as_ref()?).symbols(extracted);
        let values = symbols.ok()?.into_iter().map(|symbol| symbol.eval(&bound.env).ok());
        let values: Option<Vec<i64>> = values.collect();
        extracted.variants.iter().find(|v| Some(&v.values) == values.as_ref())
    }

    fn object(
        &self,
        configurations: &Configurations<'_>,
        choices: u64,
    ) -> Result<Explained, CliError> {
        let problem = self.problem;
        let counted = |bound: &Bound| Ok::<_, CliError>(self.counts(bound)?.ok());
        let uses = |bound: &Bound| {
            let used = used(problem, bound)?;
            let named = Usage::NAMES.iter().zip(used).map(|(n, v)| ((*n).to_owned(), v));
            Ok::<_, CliError>(named.collect())
        };
        let used = self.chosen.filter(|_| problem.profile == Profile::Resources);
        Ok(Explained {
            about: About::of(problem),
            name: problem.name.clone(),
            configurations: configurations.count().as_ref().map(Tally::of),
            left_out: self.left_out.as_ref().map(answer::tune::left_out),
            choices,
            reading: self.reading.map(|reading| read(problem, reading)),
            counts: self.chosen.map(counted).transpose()?.flatten().as_ref().map(answer::counts),
            usage: used.map(uses).transpose()?,
        })
    }
}

/// What was read out of the source.
fn read(problem: &Problem, reading: &KernelReading) -> answer::Reading {
    let extracted = &reading.extracted;
    let assumed = extracted.variants.iter().flat_map(|v| &v.steps.assumed);
    let keys = assumed.filter_map(|assumed| match assumed {
        Assumed::Once { key, .. } => Some(key.as_str()),
        Assumed::Printed { .. } => None,
    });
    let assumed: IndexSet<&str> = keys.collect();
    answer::Reading {
        program: problem.kernel_json(),
        structural: extracted.structural.clone(),
        readings: extracted.variants.len(),
        assumed: assumed.into_iter().map(str::to_owned).collect(),
    }
}

pub(super) fn listed(counts: &LaunchCounts) -> String {
    let accesses = COUNTED.iter().map(|a| (a.name(), counts.of(*a)));
    let all = accesses.chain([("barrier", counts.barriers)]).filter(|(_, n)| *n != 0);
    let all: Vec<String> = all.map(|(name, n)| format!("{name} {n}")).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}
