//! How long it takes to find and prove the least time, over spaces of 10^2 to 10^17 valid
//! configurations: the program's strategies, CP-SAT, and - for the space alone - Kernel Tuner, one
//! after another on the same problem. Writes docs/results/spaces.md and its plot: `make
//! spaces-report`. Without `--write` it does nothing, so that `cargo bench` stays short.
//!
//! Each search is a process of its own with a limit of time and memory. All that end must agree on
//! the least time and on the number of valid configurations; otherwise this program fails.

#[path = "../common/mod.rs"]
mod common;

mod chart;
mod contenders;
mod mapping;
mod page;
mod problems;
mod sharing;

use std::path::{Path, PathBuf};
use std::time::Instant;

use contenders::{CONTENDERS, Contender, Timing};
use problems::{Family, Problem};

/// A family, measured.
pub struct Measured {
    /// What it is.
    pub family: Family,
    /// A row for each of its problems.
    pub rows: Vec<Row>,
}

impl Measured {
    /// Whether the spaces grow, and how many configurations each has is known.
    pub fn is_growing(&self) -> bool {
        self.family.grows && self.rows.iter().all(|row| row.configurations.is_some())
    }
}

/// A problem, measured.
pub struct Row {
    /// The problem.
    pub label: String,
    /// Valid configurations.
    pub configurations: Option<u64>,
    /// What all agree on.
    pub least: Option<i64>,
    /// What each of [`CONTENDERS`] came to.
    pub outcomes: Vec<Timing>,
}

fn main() {
    if !std::env::args().any(|a| a == "--write") {
        println!("spaces: nothing done; `cargo xtask run spaces` measures and writes");
        return;
    }
    let (started, load) = (Instant::now(), load());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let families = problems::families().into_iter();
    let measured: Vec<Measured> = families.map(|family| measure(family, folder.path())).collect();
    let page = page::page(&measured, &[load, crate::load()], started.elapsed());
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/results");
    std::fs::write(results.join("spaces.md"), page).expect("docs/results can be written to");
    tickbound_report::picture::write(&chart::Panels(&measured), &results.join("spaces.svg"))
        .expect("the plot can be drawn");
    println!("spaces: docs/results/spaces.md and spaces.svg written");
}

/// Jobs that wanted to run in the last minute, this one among them.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

fn measure(family: Family, folder: &Path) -> Measured {
    let mut rows: Vec<Row> = Vec::new();
    for (label, problem) in &family.problems {
        let file = file(problem, folder);
        let tried = |i: usize| !family.grows || rows.last().is_none_or(|row: &Row| row.ended(i));
        let outcome =
            |(i, c): (usize, &Contender)| if tried(i) { c.timed(&file) } else { Timing::NotTried };
        let outcomes: Vec<Timing> = CONTENDERS.iter().enumerate().map(outcome).collect();
        let row = Row::new(&format!("{}, {label}", family.name), label.clone(), outcomes);
        let shown: Vec<String> = row.outcomes.iter().map(Timing::shown).collect();
        println!(
            "spaces: {}, {label}: {:?}, {}",
            family.name,
            row.configurations,
            shown.join(" | ")
        );
        rows.push(row);
    }
    let measured = Measured { family, rows };
    println!("\n{}", page::table(&measured).to_markdown());
    measured
}

fn file(problem: &Problem, folder: &Path) -> PathBuf {
    match problem {
        Problem::Kernel(name) => {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/kernels").join(name)
        }
        Problem::Made(value) => {
            let file = folder.join("problem.json");
            std::fs::write(&file, value.to_string())
                .expect("the temporary folder can be written to");
            file
        }
    }
}

impl Row {
    /// The row of a problem that `about` names. Panics unless all agree.
    fn new(about: &str, label: String, outcomes: Vec<Timing>) -> Row {
        let mut row = Row { label, configurations: None, least: None, outcomes };
        for (contender, outcome) in CONTENDERS.iter().zip(&row.outcomes) {
            let Timing::Done { least, configurations, .. } = outcome else { continue };
            let name = contender.name();
            agree(&mut row.least, *least, &format!("{about}: {name}: least time"));
            agree(
                &mut row.configurations,
                *configurations,
                &format!("{about}: {name}: configurations"),
            );
        }
        row
    }

    fn ended(&self, contender: usize) -> bool {
        self.outcomes[contender].seconds().is_some()
    }
}

/// Takes what is said, if anything is; it must be what was said before.
fn agree<T: PartialEq + std::fmt::Debug + Copy>(
    known: &mut Option<T>,
    said: Option<T>,
    about: &str,
) {
    if let Some(said) = said {
        assert_eq!(*known.get_or_insert(said), said, "{about}: others say otherwise");
    }
}
