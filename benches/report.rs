//! Measures once and writes docs/results/encodings.md: `cargo xtask run bench`. Without `--write`
//! it does nothing, so that `cargo bench` stays short.
//!
//! Every figure of a report is from one run of this program. Short searches are repeated and the
//! median is taken; long ones run once, and none longer than [`LIMIT`].

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{ENCODINGS, Prepared, name, problem, search, today, two_halves, with};
use tickbound_model::Problem;
use tickbound_model::verdict::Status;
use tickbound_report::Table;
use tickbound_solver::{Encoding, SearchOptions, Strategy};

/// A search that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(60);
/// Searches that take longer than this run once.
const LONG: f64 = 2.0;
/// How often short ones run.
const REPEATS: usize = 5;
/// Sizes of the abstract kernel.
const SIZES: [i64; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];

fn main() {
    if !std::env::args().any(|a| a == "--write") {
        println!("report: nothing done; `cargo xtask run bench` measures and writes");
        return;
    }
    let sizes = sizes();
    let ratios = ratios();
    let platforms = platforms();
    let page = page(&sizes, &ratios, &platforms);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    write(&root.join("docs/results/encodings.md"), &page);
}

fn write(path: &Path, text: &str) {
    let done = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let shown: PathBuf = path.file_name().map(PathBuf::from).unwrap_or_default();
    match done.and_then(|()| std::fs::write(path, text)) {
        Ok(()) => println!("report: {} written", shown.display()),
        Err(e) => {
            eprintln!("report: {}: {e}", shown.display());
            std::process::exit(1);
        }
    }
}

/// What a search came to.
struct Measured {
    /// Median seconds; `None` if it did not end within [`LIMIT`] or was refused.
    seconds: Option<f64>,
    least: Option<i64>,
}

impl Measured {
    fn shown(&self) -> String {
        self.seconds.map_or_else(|| format!("> {}", LIMIT.as_secs()), seconds)
    }

    fn or_forever(&self) -> f64 {
        self.seconds.unwrap_or(f64::INFINITY)
    }

    fn or_limit(&self) -> f64 {
        self.seconds.unwrap_or(LIMIT.as_secs_f64())
    }

    /// Another search's seconds, and how many times as long this one takes.
    fn against(&self, other: &Measured) -> String {
        let shown = other.shown();
        match (self.seconds, other.seconds) {
            (Some(this), Some(other)) => format!("{shown} s ({:.1} x)", this / other),
            (None, Some(other)) => format!("{shown} s (> {:.0} x)", LIMIT.as_secs_f64() / other),
            _ => format!("{shown} s"),
        }
    }
}

fn seconds(s: f64) -> String {
    if s < 10.0 { format!("{s:.3}") } else { format!("{s:.1}") }
}

fn measure(problem: &Problem, options: &SearchOptions) -> Measured {
    let options = SearchOptions { timeout: Some(LIMIT), ..options.clone() };
    let mut all = Vec::new();
    let mut least = None;
    while all.len() < REPEATS {
        let Ok(result) = search(problem, &options) else { break };
        if result.status != Status::Optimal {
            break;
        }
        least = result.upper;
        all.push(result.seconds);
        if result.seconds > LONG {
            break;
        }
    }
    all.sort_by(f64::total_cmp);
    Measured { seconds: all.get(all.len() / 2).copied(), least }
}

/// Encodings over growing sizes of the abstract kernel.
fn sizes() -> Table {
    let mut table = Table::new(["size", "least time", "tick", "event", "summary"]);
    let mut too_large = [false; ENCODINGS.len()];
    for size in SIZES {
        let problem = problem("abstract.json", &[("size", size)]);
        let prepared = Prepared::new(&problem);
        let mut row = vec![size.to_string(), prepared.least.to_string()];
        for (encoding, too_large) in ENCODINGS.into_iter().zip(&mut too_large) {
            if *too_large {
                row.push("-".to_owned());
                continue;
            }
            println!("report: size {size}, {}", name(encoding));
            let system = prepared.encode(encoding);
            let Some(steps) = prepared.steps(&system) else {
                *too_large = true;
                row.push("-".to_owned());
                continue;
            };
            let measured = measure(&problem, &with(encoding, Strategy::Race));
            assert!(measured.least.is_none_or(|t| t == prepared.least), "size {size}");
            *too_large = measured.seconds.is_none();
            let variables = prepared.variables(&system, steps);
            row.push(format!("{steps} / {variables} / {}", measured.shown()));
        }
        table.push(row);
    }
    table
}

/// The papers' repeated bisection against searches on one live solver, on the event encoding.
///
/// With it, for each column, the least factor by which `bisect-fresh` is slower.
fn ratios() -> (Table, [f64; 3]) {
    let mut least = [f64::INFINITY; 3];
    let mut table = Table::new([
        "problem",
        "bisect-fresh",
        "bisect, same start",
        "best live, same start",
        "default",
    ]);
    for (about, problem) in [
        ("abstract, size 8", problem("abstract.json", &[("size", 8)])),
        ("abstract, size 16", problem("abstract.json", &[("size", 16)])),
        ("minimum, size 16", problem("minimum.json", &[])),
        ("minimum, size 64", problem("minimum.json", &[("size", 64)])),
        ("minimum, size 256", problem("minimum.json", &[("size", 256)])),
        ("two halves, size 4", two_halves(4)),
        ("two halves, size 8", two_halves(8)),
        ("two halves, size 16", two_halves(16)),
    ] {
        println!("report: strategies, {about}");
        let measured =
            |s, bounds| measure(&problem, &SearchOptions { bounds, ..with(Encoding::Event, s) });
        let fresh = measured(Strategy::BisectFresh, true);
        let mut row = vec![about.to_owned(), format!("{} s", fresh.shown())];
        let live = LIVE.map(|s| (s, measured(s, false)));
        let best = live.iter().min_by(|a, b| a.1.or_forever().total_cmp(&b.1.or_forever()));
        let default = measured(Strategy::Race, true);
        row.push(fresh.against(&live[0].1));
        row.push(best.map_or_else(String::new, |(strategy, best)| {
            format!("{}, {}", format!("{strategy:?}").to_lowercase(), fresh.against(best))
        }));
        row.push(fresh.against(&default));
        let rivals = [Some(&live[0].1), best.map(|b| &b.1), Some(&default)];
        for (least, rival) in least.iter_mut().zip(rivals.into_iter().flatten()) {
            *least = least.min(fresh.or_limit() / rival.or_limit());
        }
        table.push(row);
    }
    (table, least)
}

/// Strategies that keep their solver, `bisect` first.
const LIVE: [Strategy; 4] =
    [Strategy::Bisect, Strategy::Descend, Strategy::Ascend, Strategy::Optimize];

/// Full devices under the default options.
fn platforms() -> Table {
    let mut table =
        Table::new(["problem", "work items", "configurations", "least time", "seconds"]);
    for (about, items, problem) in [
        (
            "reduction-h200: 132 units of 128 elements",
            "2^20 values",
            problem("reduction-h200.json", &[]),
        ),
        ("matmul on h200: 132 units of 128 elements", "2^20 items", problem("matmul.json", &[])),
    ] {
        println!("report: {about}");
        let measured = measure(&problem, &SearchOptions::default());
        let configurations = problem.space().map_or(0, |s| s.bound.len());
        table.push([
            about.to_owned(),
            items.to_owned(),
            configurations.to_string(),
            measured.least.map_or_else(|| "?".to_owned(), |t| t.to_string()),
            measured.shown(),
        ]);
    }
    table
}

fn page(sizes: &Table, (ratios, least): &(Table, [f64; 3]), platforms: &Table) -> String {
    let mut page = String::from("# Encodings and strategies, measured\n\n");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let _ = writeln!(
        page,
        "Written by `cargo xtask run bench` on {}; {}, {processors} processors, Z3 {}.\n\n\
         Times are wall-clock seconds of a whole search: reading the space, encoding, solving, \
         confirming \
         and replaying. Below {LONG} s the median of {REPEATS} runs. A search is given up after {} \
         s.\n",
        today(),
        cpu(),
        tickbound_solver::z3_version().split(" - ").next().unwrap_or("?"),
        LIMIT.as_secs(),
    );
    let _ = writeln!(
        page,
        "## Encodings\n\nThe published abstract kernel, default strategy. In each cell: steps the \
         system is \
         unrolled for / constants and assertions given to Z3 / seconds. `>`: not ended; `-`: not \
         tried, \
         the size before did not end.\n\n{}",
        sizes.to_markdown()
    );
    let [bisect, live, default] = least;
    let _ = writeln!(
        page,
        "## Strategies\n\n{STRATEGIES}\n\n{}\nThe least factors: bisect from the same start \
         {bisect:.1}, best \
         live from the same start {live:.1}, default {default:.1}.\n\n{WHY}\n",
        ratios.to_markdown()
    );
    let _ = writeln!(
        page,
        "## A full device\n\nDefault options; the bar is 1 s.\n\n{}",
        platforms.to_markdown()
    );
    page
}

const STRATEGIES: &str = "The event encoding. `bisect-fresh` is the papers' way: it starts from 0 \
    and \
the time of the first configuration and gives every question to a new solver. \"Same start\" is a \
live \
solver that starts from there too, so it shows what keeping the solver saves; \"best live\" names \
the \
fastest of bisect, descend, ascend and optimize. \"Default\" is the race with lower bounds, probes \
and \
cuts. In brackets: how many times as long `bisect-fresh` takes.";

const WHY: &str = "Keeping the solver is not what saves most. Nearly all the time goes into \
refutations, and on unrolled events each costs about as much as the one before: what the solver \
has \
learned about one bound does little for the next. Bisection asks for several refutations whether \
its \
solver is kept or not; descending asks for one, the last, which is why it is the fastest from the \
same \
start. The default asks for one too, and unrolls the formula only as far as the configurations \
need \
that the lower bounds leave over.";

fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, m)| m.trim().to_owned())
}
