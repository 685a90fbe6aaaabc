//! The paper's tables beside ours, in Markdown: `docs/results/comparison.md`.

use indexmap::IndexMap;
use itertools::Itertools;
use std::fmt::Write;

use super::{Beside, PaperError, tables};
use tickbound_report::Table;
use tickbound_report::answer::comparison::{Case, Comparison, Row, RowStatus};
use tickbound_report::comparison::{megabytes, seconds};

/// The page. `pictures` are files beside it with the plot of each table.
///
/// # Errors
/// Problem files that are missing or at fault.
pub fn page(comparison: &Comparison, pictures: &[String]) -> Result<String, PaperError> {
    let [first, third] = tables(comparison)?;
    let mut out = String::new();
    begin(&mut out, comparison);
    let _ =
        writeln!(out, "## Table 1: the abstract kernel\n\n{ABOUT_1}\n\n{}", answers(&first, true));
    reasons(&mut out, &first);
    let _ = writeln!(out, "{}", costs(&first, true));
    picture(&mut out, pictures.first(), "abstract");
    let _ =
        writeln!(out, "## Table 3: the Minimum kernel\n\n{ABOUT_3}\n\n{}", answers(&third, false));
    reasons(&mut out, &third);
    let _ = writeln!(out, "{}", costs(&third, false));
    picture(&mut out, pictures.get(1), "Minimum");
    not_ended(&mut out, comparison);
    Ok(out)
}

const ABOUT_1: &str = "The paper's columns are as published. \"There\" is what our simulator takes \
    at the published WG and TS. The least time is what the engines say together; where several \
    configurations take it, one is named.";

const ABOUT_3: &str = "The paper lists several configurations for each size; only the best of a \
    size is held against the least time.";

const COSTS: &str = "In each cell: seconds from the start of the engine's process to its end, most \
megabytes that its processes had resident at once (for SPIN what its verifier counts), and states \
stored where states are. `>`: ended without a proof, with the best time found; `-`: not there, or \
not tried: an engine that did not end on a smaller size, and a swarm where the exhaustive search \
has ended.";

fn begin(out: &mut String, comparison: &Comparison) {
    let machine = &comparison.machine;
    let memory = |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), megabytes);
    let mut tools = comparison.cases.iter().flat_map(|c| &c.rows).flat_map(|r| &r.tool).unique();
    let _ = writeln!(
        out,
        "# Engines compared, beside the paper's tables\n\n\
         Written by `cargo xtask paper docs/results`: tables 1 and 3 of Garanina, Staroletov, \
         Gorlatch: *Auto-Tuning High-Performance Programs Using Model Checking in Promela* (2023), \
         each problem given to each of our engines for {} s{}. The paper used an M1-based MacBook \
         with 16 GB; this is {}, {} cores, {} MB. Tools: {}. Commands and all figures: \
         [comparison.json](comparison.json); `cargo xtask paper docs/results` writes them as a \
         page with plots, comparison.html, too.\n",
        comparison.timeout,
        comparison.memory_limit.map_or_else(String::new, |b| format!(" and {} MB", megabytes(b))),
        machine.processor,
        machine.cores,
        memory(machine.memory),
        tools.join(", "),
    );
    if comparison.interrupted {
        out.push_str("**Interrupted**: some engines were not run.\n\n");
    }
    for case in &comparison.cases {
        for disagreement in &case.disagreements {
            let _ =
                writeln!(out, "**The engines disagree** ({}): {disagreement}\n", case.settings());
        }
    }
}

fn answers(rows: &[Beside<'_>], table_1: bool) -> String {
    let elements = if table_1 { None } else { Some("elements") };
    let own = ["There", "Least time", "At", "Proved by"];
    let head = ["N", "Size"].into_iter().chain(elements);
    let mut table =
        Table::new(head.chain(["Paper's WG", "TS", "Time", "Steps"]).chain(own).chain(["Differs"]));
    for row in rows {
        let p = &row.published;
        let elements = if table_1 { None } else { Some(p.elements.to_string()) };
        let best = row.case.and_then(|c| c.rows.iter().find(|r| r.proved()));
        let proofs = row.case.map_or(0, |c| c.rows.iter().filter(|r| r.proved()).count());
        let numbers = [p.row.to_string(), p.size.to_string()].into_iter().chain(elements);
        let paper = [p.wg, p.ts, p.time].map(|n| n.to_string());
        table.push(numbers.chain(paper).chain([
            p.steps.to_string(),
            row.simulated.to_string(),
            best.and_then(|r| r.time).map_or_else(|| "?".to_owned(), |t| t.to_string()),
            best.map(Row::named).unwrap_or_default(),
            if proofs == 1 { "1 engine".to_owned() } else { format!("{proofs} engines") },
            if row.reason.is_some() { "yes".to_owned() } else { "no".to_owned() },
        ]));
    }
    table.to_markdown()
}

fn reasons(out: &mut String, rows: &[Beside<'_>]) {
    let differ: Vec<_> =
        rows.iter().filter_map(|r| r.reason.as_ref().map(|why| (r, why))).collect();
    let _ = writeln!(out, "{} of {} rows differ:\n", differ.len(), rows.len());
    for (row, why) in differ {
        let _ = writeln!(out, "* Row {} (size {}): {why}.", row.published.row, row.published.size);
    }
    out.push('\n');
}

/// What it cost: the paper's searches beside each engine.
fn costs(rows: &[Beside<'_>], table_1: bool) -> String {
    let mut cases: Vec<&Beside<'_>> = Vec::new();
    for row in rows {
        if row.case.is_some() && !cases.iter().any(|known| known.case == row.case) {
            cases.push(row);
        }
    }
    let engines = cases.iter().flat_map(|c| c.case).flat_map(|c| &c.rows);
    let engines = engines.filter(|row| row.process_seconds.is_some()).map(|row| &row.engine);
    // Engines are rows: there are more of them than fit beside each other.
    let sizes = cases.iter().map(|c| format!("size {}", c.published.size));
    let mut table = Table::new(["engine".to_owned()].into_iter().chain(sizes));
    if table_1 {
        let of = |p: fn(&Beside<'_>) -> String| cases.iter().map(move |c| p(c));
        let name = |text: &str| [text.to_owned()].into_iter();
        table.push(name("paper: exhaustive, memory").chain(of(|c| c.published.exhaustive.into())));
        table.push(name("paper: swarm, memory").chain(of(|c| c.published.swarm.into())));
        table.push(name("paper: time").chain(of(|c| c.published.verification.into())));
    }
    for engine in engines.unique() {
        let cell = |c: &&Beside<'_>| c.case.map_or_else(String::new, |case| cost(case, engine));
        table.push([engine.to_owned()].into_iter().chain(cases.iter().map(cell)));
    }
    let about = if table_1 { COSTS } else { "Cells as above." };
    format!("{about}\n\n{}", table.to_markdown())
}

fn cost(case: &Case, engine: &str) -> String {
    let row = case.rows.iter().find(|r| r.engine == engine);
    let Some((row, taken)) = row.and_then(|r| Some((r, r.process_seconds?))) else {
        return "-".to_owned();
    };
    let memory = row.search_memory.or(row.memory);
    let memory = memory.map_or_else(String::new, |b| format!(", {} MB", megabytes(b)));
    let states = row.states.map_or_else(String::new, |n| format!(", {n} states"));
    let end = match (row.status, row.time) {
        (RowStatus::Optimal, _) => return format!("{} s{memory}{states}", seconds(taken)),
        (RowStatus::Bounded, Some(time)) => format!("best {time}"),
        (RowStatus::Bounded, None) => "nothing found".to_owned(),
        (RowStatus::Infeasible, _) => "no configuration".to_owned(),
        (RowStatus::Refused, _) => return "refused".to_owned(),
        (RowStatus::Failed | RowStatus::NotInstalled | RowStatus::NotRun, _) => {
            return "failed".to_owned();
        }
    };
    format!("> {} s{memory}{states}, {end}", seconds(taken))
}

fn picture(out: &mut String, file: Option<&String>, kernel: &str) {
    if let Some(file) = file {
        let about = format!("Seconds of each engine over the size of the {kernel} kernel");
        let _ = writeln!(out, "![{about}]({file})\n");
    }
}

/// What did not end, and why; what was not tried shows in the tables.
fn not_ended(out: &mut String, comparison: &Comparison) {
    let mut reasons: IndexMap<String, Vec<String>> = IndexMap::new();
    for case in &comparison.cases {
        let not_tried = |r: &&Row| r.status == RowStatus::NotRun;
        for row in case.rows.iter().filter(|r| !r.proved() && !not_tried(r)) {
            let why = row.reason.clone().unwrap_or_else(|| "no reason given".to_owned());
            let key = format!("{}: {why}", row.engine);
            let size = case.inputs.get("size").map_or_else(String::new, i64::to_string);
            let file = case.file.rsplit('/').next().unwrap_or_default();
            let place = format!("{} {size}", file.trim_end_matches(".json"));
            reasons.entry(key).or_default().push(place);
        }
    }
    if reasons.is_empty() {
        return;
    }
    out.push_str("## What did not end\n\n");
    for (why, places) in reasons {
        let _ = writeln!(out, "* {why} ({})", places.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::proved;
    use super::*;

    #[test]
    fn the_page_of_a_comparison() {
        let page = page(&proved(), &["comparison.svg".to_owned()]).unwrap();
        for line in [
            "|   1 |    8 |          4 |   4 |     44 |     1658 |     44 |         44 | WG=4, \
             TS=2    | 1 engine  | no      |",
            "4 of 8 rows differ:",
            "5 of 12 rows differ:",
            "![Seconds of each engine over the size of the abstract kernel](comparison.svg)",
            "> 60.1 s, best 45",
            "* smt:event: time-out (abstract 8, abstract 16,",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
    }
}
