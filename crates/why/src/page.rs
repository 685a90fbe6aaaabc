//! The page of `why`: the answer, what the best configuration spends its time on, and what changes
//! would save.

use std::path::Path;

use tickbound_model::verdict::Status;

use super::words::{facts, heading, least};
use tickbound_report::answer::why::{Finding, Share, Why};
use tickbound_report::html::{Page, SpentChart, SpentPart, Stripe};
use tickbound_report::sarif::SarifFinding;

/// The page.
pub fn page(why: &Why) -> Page {
    let facts = [("model", why.about.model().1)].into_iter().chain(facts(why));
    let facts = facts.map(|(about, text)| (about.to_owned(), text));
    let mut page = Page {
        title: heading(why),
        figure: why.time.map_or_else(|| "No time".to_owned(), |time| why.about.units.time(time)),
        meaning: match why.status {
            Status::Optimal => "least time, proved in the model".to_owned(),
            _ => least(why),
        },
        at: why.configuration.iter().flatten().map(|(name, n)| (name.clone(), *n)).collect(),
        facts: facts.collect(),
        spent: saved(why),
        ..Page::default()
    };
    let unknown = Some(why.not_known.join("; ")).filter(|unknown| !unknown.is_empty());
    page.facts.extend(unknown.map(|unknown| ("not known".to_owned(), unknown)));
    page.facts.extend(why.stopped_by.clone().map(|by| ("stopped by".to_owned(), by)));
    let lines = why.resources.iter().flat_map(|resources| resources.findings(Path::new("")));
    let line = |found: SarifFinding| {
        let (file, line) = found.places.into_iter().next()?;
        Some((format!("{file}:{line}"), found.message))
    };
    page.facts.extend(lines.filter_map(line));
    page
}

/// What each thing that is left out or changed saves, beside the least time.
fn saved(why: &Why) -> Option<SpentChart> {
    let least = why.time.filter(|_| why.status == Status::Optimal)?;
    let free = |all: &[Share]| -> Vec<Stripe> {
        all.iter().filter_map(|s| stripe(&s.name, "global", s.saves, least)).collect()
    };
    let without = |name: &str, found: &Finding| stripe(name, "local", found.saves, least);
    let constraints = &why.constraints;
    // Where there is only one it is all of them.
    let all = constraints.all.iter().filter(|_| constraints.each.len() > 1);
    let all = all.filter_map(|found| without("all constraints", found));
    let each = constraints.each.iter().filter_map(|w| without(&w.constraint, &w.found));
    let together = constraints.together.iter();
    let together = together.filter_map(|t| without(&t.constraints.join(" and "), &t.found));
    let numbers = why.platform.iter().filter_map(|n| {
        let name = format!("{}: {} instead of {}", n.name, n.to, n.from);
        stripe(&name, "compute", n.found.saves, least)
    });
    let parts = [
        ("free", why.spent.as_ref().map(|of| free(&of.parts)).unwrap_or_default()),
        ("step that is free", why.spent.as_ref().map(|of| free(&of.steps)).unwrap_or_default()),
        ("without", all.chain(each).chain(together).collect()),
        ("platform", numbers.collect()),
    ];
    let parts = parts.into_iter().filter(|(_, lines)| !lines.is_empty());
    let parts: Vec<SpentPart> = parts.map(|(head, lines)| SpentPart { head, lines }).collect();
    let about = "Ticks that are saved: by the best configuration if something is left out of it \
        or is free, and by a new \
                 search if constraints are left out or a number of the platform is one unit \
                 better. They need not add up.";
    (!parts.is_empty()).then(|| SpentChart { about: about.to_owned(), unit: "ticks saved", parts })
}

/// A stripe where something is saved.
fn stripe(name: &str, kind: &str, saves: Option<i64>, least: i64) -> Option<Stripe> {
    let saves = saves.filter(|saves| *saves > 0 && least > 0)?;
    Some(Stripe::new(name, kind, saves as f64, least as f64, 0))
}
