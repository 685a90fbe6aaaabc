//! `tickbound platforms`.

use super::exit::{CliError, Exit};
use super::output::{say_folded, width};
use tickbound_model::Platform;

use tickbound_model::platforms;
use tickbound_report::Table;

/// Arguments of `platforms`.
#[derive(Debug, clap::Args)]
pub struct PlatformsArgs {
    /// A shipped platform, or the path of a platform file
    name: Option<String>,
}

pub(super) fn run(args: &PlatformsArgs) -> Result<Exit, CliError> {
    match &args.name {
        Some(name) => show(name)?,
        None => list()?,
    }
    Ok(Exit::Done)
}

fn list() -> Result<(), CliError> {
    let mut table = Table::new(["name", "device", "units", "elements", "global", "local"]);
    for name in platforms::names() {
        let p = Platform::from_json(name, &platforms::find(name)?)?;
        let number = |n: &str| p.numbers().find(|(k, _)| *k == n).map_or(0, |(_, v)| v);
        table.push([
            name.to_string(),
            p.name.clone(),
            p.units().to_string(),
            p.elements_per_unit().to_string(),
            number("global_access").to_string(),
            number("local_access").to_string(),
        ]);
    }
    say_folded(&format!(
        "{}\nelements per unit; global and local: ticks of one access\n",
        table.fitted(width())
    ))
}

fn show(name: &str) -> Result<(), CliError> {
    let p = Platform::from_json(name, &platforms::find(name)?)?;
    let mut table = Table::new(["number", "value", "source"]);
    for (number, value) in p.numbers() {
        table.push([number.to_owned(), value.to_string(), origin(&p, number)]);
    }
    let title = if p.name.is_empty() { name } else { &p.name };
    let tick = p.tick().map_or_else(String::new, |tick| format!("a tick is {tick}\n"));
    say_folded(&format!("{title}\n{tick}{}\n", table.fitted(width())))
}

/// Where a number comes from.
fn origin(p: &Platform, number: &str) -> String {
    match (p.source(number), Platform::default_from(number)) {
        (Some(source), _) => source.to_owned(),
        (None, _) if p.is_given(number) => "given without a source".to_owned(),
        (None, Some(other)) => format!("not given: as {other}"),
        (None, None) => "not given: the default".to_owned(),
    }
}
