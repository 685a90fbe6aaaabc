//! The page of results.

use std::fmt::Write as _;
use std::time::Duration;

use tickbound_report::Table;
use tickbound_report::machine::Machine;

use crate::common::today;
use crate::contenders::{CONTENDERS, LIMIT, SHORT, Timing, python, version};
use crate::{Measured, Row};

/// The seconds of a family.
pub fn table(measured: &Measured) -> Table {
    let headers = ["problem", "valid configurations", "T_min"].into_iter();
    let mut table = Table::new(headers.chain(CONTENDERS.map(|c| c.name())));
    for row in &measured.rows {
        let unknown = || "?".to_owned();
        let facts = [
            row.label.clone(),
            row.configurations.map_or_else(unknown, |n| n.to_string()),
            row.least.map_or_else(unknown, |t| t.to_string()),
        ];
        table.push(facts.into_iter().chain(row.outcomes.iter().map(Timing::shown)));
    }
    table
}

/// From how many valid configurations on the race ends first. Elimination is a part of it and no
/// rival.
fn crossovers(all: &[Measured]) -> Table {
    let rivals = || CONTENDERS.iter().enumerate().skip(2);
    let headers = rivals().map(|(_, c)| c.name());
    let mut table = Table::new(["family"].into_iter().chain(headers));
    for measured in all.iter().filter(|m| m.is_growing()) {
        let cells = rivals().map(|(rival, _)| crossover(&measured.rows, rival));
        table.push([measured.family.name.to_owned()].into_iter().chain(cells));
    }
    table
}

/// The least space from which on the race is ahead of a rival in every row.
fn crossover(rows: &[Row], rival: usize) -> String {
    let place = |row: &Row, who: usize| row.outcomes[who].seconds().unwrap_or(f64::INFINITY);
    let ahead = |row: &&Row| place(row, 0) < place(row, rival);
    match rows.iter().rev().take_while(ahead).last().and_then(|row| row.configurations) {
        Some(configurations) => configurations.to_string(),
        None => "never".to_owned(),
    }
}

/// What those say who refuse.
fn refusals(all: &[Measured]) -> String {
    let mut said: Vec<String> = Vec::new();
    for row in all.iter().flat_map(|m| &m.rows) {
        for (contender, outcome) in CONTENDERS.iter().zip(&row.outcomes) {
            if let Timing::Refused(why) = outcome {
                said.push(format!(
                    "- `{}`: {}\n",
                    contender.name(),
                    why.trim_start_matches("tickbound: ")
                ));
            }
        }
    }
    said.sort();
    said.dedup();
    said.concat()
}

fn head(load: &[String; 2], took: Duration) -> String {
    let Machine { processor, cores, .. } = Machine::this();
    let installed = |variable, environment, package| {
        version(&python(variable, environment), package)
            .unwrap_or_else(|| "not installed".to_owned())
    };
    format!(
        "Written by `cargo xtask run spaces` on {}: {processor}, {cores} cores, tickbound {}, Z3 \
         {}, \
         OR-Tools {}, HiGHS {}, Kernel \
         Tuner {}. It took {:.0} minutes. Other jobs ran on the machine at times: its load was {} \
         when this began and \
         {} when it ended, this program's own searches included, so a factor of three between two \
         cells says \
         little.",
        today(),
        env!("CARGO_PKG_VERSION"),
        tickbound_solver::z3_version().split(" - ").next().unwrap_or("?"),
        installed("PYTHON", "cp-sat", "ortools"),
        installed("HIGHS", "highs", "highspy"),
        installed("KERNEL_TUNER", "kernel-tuner", "kernel_tuner"),
        took.as_secs_f64() / 60.0,
        load[0],
        load[1],
    )
}

/// The whole page.
pub fn page(all: &[Measured], load: &[String; 2], took: Duration) -> String {
    let mut page =
        format!("# Spaces of 10^2 to 10^17 configurations, measured\n\n{}\n\n", head(load, took));
    let _ = writeln!(page, "{}\n", reading());
    let _ = writeln!(page, "![Seconds over valid configurations](spaces.svg)\n");
    let _ = writeln!(
        page,
        "## Where the race passes the others\n\n{CROSSOVERS}\n\n{}",
        crossovers(all).to_markdown()
    );
    for measured in all {
        let family = &measured.family;
        let _ = writeln!(
            page,
            "## {}\n\n{}\n\n{}",
            family.name,
            family.about,
            table(measured).to_markdown()
        );
    }
    let _ = writeln!(
        page,
        "## What is slow, and why\n\n{WHY}\n\nWhat `refused` stands for:\n\n{}",
        refusals(all)
    );
    page.trim_end().to_owned() + "\n"
}

fn reading() -> String {
    format!(
        "Each cell is wall-clock seconds, one search after another on the same problem: reading \
         it, searching, proving \
         and replaying. Below {SHORT} s the median of three. `> {LIMIT}`: given up; `refused`: the \
         problem is outside \
         what it takes (what it says is below); `memory`: more than 12 GiB; `-`: not tried, it had \
         not ended on the \
         space before. All that ended agree on T_min and on the number of valid configurations; \
         the program \
         that writes this page fails otherwise. `race` is the default. `descend` is Z3: on the \
         problem as stated, \
         or, up to 20,000 valid configurations, on the list of them. `cp-sat` is CP-SAT on the \
         formula of the list, `tables` on the tables of the time as a sum, on all cores and on \
         one, the solver alone (the start of Python takes 0.6 s or more); HiGHS has the same sum \
         as a pseudo-Boolean problem of at most 65,536 rows, the solver alone, on one thread. \
         Kernel Tuner only builds the space, which every \
         search with it begins \
         with; it finds no T_min, and neither the start of Python nor the import counts."
    )
}

const CROSSOVERS: &str = "The number of valid configurations from which on `race` was ahead in \
    every row, even if only \
    by chance; `never`: it was not in the last one. A search that did not end is behind one that \
    did.";

const WHY: &str = "\
- `enumerate`, `cp-sat` and Kernel Tuner need a list, so they take time in proportion to the \
number of valid \
  configurations. The list that the first two share ends at a million, a limit of this program and \
  not of CP-SAT, \
  which is here given a formula with a row for each configuration.
- `race` knows the least time as early as `eliminate` where tables of at most 4,096 rows hold the \
  costs; where there are at most 20,000 configurations it then simulates every one, which is the \
  strongest proof and \
  what its time is made of. Above, it is `eliminate`, and then, if its search took 40 ms or more, \
  Z3 as a second opinion for at most as long \
  as that.
- `eliminate` grows with the rows of the join tree, not with the space: chains and trees get a \
few rows more with each \
  parameter. GEMM's widest cluster has eight of its parameters, so its rows grow with the domains. \
  About half of its \
  time goes into the elimination of the time as it was derived a second way, which all four \
  strategies here end with.
- `branch` bounds a box of values by intervals, and by the messages of an elimination of at most \
2^16 rows in a relation. Where \
  that suffices without dividing a join it is as good as `eliminate`, and a handful of boxes are \
  looked at. Where joins are \
  divided, the boxes grow with what the messages leave open.
- `descend` on the problem as stated is Z3 on the same tables, helped by what elimination has \
learned: slower than \
  `eliminate` by what Z3 takes. Up to 20,000 valid configurations it is asked about the list of \
  them, which takes \
  longer than about many more without a list.
- The families up to the mappings suit elimination: the cost is a sum of terms over few \
parameters. In those from the budgets on parameters share something, and `race` proves them by \
  prices and labels ([docs/spaces.md](../spaces.md)) on the same tables that CP-SAT and HiGHS get: \
  there these are the rivals, and the list, the boxes and Z3 are not. Products are not linear, so \
  HiGHS has none.";
