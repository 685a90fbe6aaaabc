//! A tuning problem written out in Promela, for SPIN.
//!
//! In goes a [`Problem`] with its [`Space`], out comes a [`Model`]: a text whose runs are the runs of the
//! problem. It chooses a configuration, lets time pass in a global `time`, and sets `FIN` when
//! everything has ended; then `time` is the run time that [`tickbound_model::simulate`] computes. The text has the
//! two properties of Garanina, Staroletov and Gorlatch 2023: `NonTerm`, `[] !FIN`, and `OverTime`,
//! `[] (FIN -> time > T)`. SPIN refutes `OverTime` exactly if some configuration, under some schedule, ends
//! within `T` ticks. So SPIN can confirm a least time, and the way there does not touch any of the
//! encodings.
//!
//! There are two [`Style`]s. `processes` has the processes of the paper. `lockstep` has one process, whose
//! steps lead from one moment at which something happens to the next.
//!
//! Promela is small, and silent about what it cannot hold. Types are chosen from the values that occur,
//! every expression is compared with what C computes for every configuration and work item, and what
//! does not fit is an error that says what to shrink ([`PromelaError`]).
//!
//! The rooms: `shape` lays a launch out over units and elements; `facts`, `expression`, `table` and
//! `amounts` carry numbers over; `names` and `width` choose names and types; `choice` chooses parameters;
//! `processes`, `lockstep` and `open` write the models, with the templates beside them.
//! `docs/promela.md` has the arguments.

mod amounts;
mod choice;
mod error;
mod expression;
mod facts;
mod lines;
mod lockstep;
mod names;
mod open;
mod processes;
mod shape;
mod table;
mod width;

use minijinja::{Environment, Value as Json, context};

pub use error::PromelaError;

use choice::Choice;
use facts::Facts;
use tickbound_model::simulate;
use tickbound_model::{Problem, Space, Stmt};

tickbound_model::named! {
    /// How a model is written.
    #[derive(Default)]
    pub enum Style {
        /// The processes of the paper: host, device, unit, pex, barrier, clock
        Processes = "processes",
        /// One process, one atomic step from one moment to the next
        #[default]
        Lockstep = "lockstep",
    }
}

/// How to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The style.
    pub style: Style,
}

/// A name of the problem and the one that stands for it in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// In the problem.
    pub problem: String,
    /// In the Promela text.
    pub promela: String,
}

/// A problem in Promela.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The text.
    pub text: String,
    /// How it is written.
    pub style: Style,
    /// The global variable of each tuning parameter, in the problem's order.
    pub parameters: Vec<Name>,
    /// Most processes that are alive at once, the never claim included.
    pub processes: usize,
    /// At least as many bytes as a state has: the verifier needs `-DVECTORSZ` beyond 1024.
    pub vector_bytes: usize,
    /// No run takes more ticks.
    pub max_time: i64,
    /// Configurations.
    pub configurations: usize,
    /// A configuration can take different times, according to the schedule.
    pub open_schedule: bool,
}

impl Model {
    fn new(
        facts: &Facts<'_>,
        style: Style,
        text: String,
        processes: usize,
        vector_bytes: usize,
    ) -> Model {
        let names = facts.problem.parameters.iter().zip(facts.parameters());
        let parameters = names.map(|(p, promela)| Name { problem: p.name.clone(), promela });
        Model {
            text,
            style,
            parameters: parameters.collect(),
            processes,
            vector_bytes,
            max_time: facts.max_time,
            configurations: facts.space.bound.len(),
            open_schedule: false,
        }
    }
}

/// Writes `problem` over `space` in Promela.
///
/// Every configuration is simulated once, for the width of `time`.
///
/// # Errors
/// A fault of the problem that shows in a configuration, or something that Promela cannot hold.
pub fn export(problem: &Problem, space: &Space, options: &Options) -> Result<Model, PromelaError> {
    if space.bound.is_empty() {
        return Err(PromelaError::EmptySpace);
    }
    if open::is_open(problem) {
        let facts = Facts::new(problem, space, open::times(problem, space)?)?;
        return open::write(&facts, options.style);
    }
    let facts = Facts::new(problem, space, times(problem, space)?)?;
    match options.style {
        Style::Processes => processes::write(&facts),
        Style::Lockstep => lockstep::write(&facts),
    }
}

/// The time of the first configuration, and the greatest of all.
fn times(problem: &Problem, space: &Space) -> Result<(i64, i64), PromelaError> {
    let (mut first, mut most) = (None, 0);
    for bound in &space.bound {
        let time = simulate::simulate(problem, bound, &simulate::Options::default())?.time;
        first.get_or_insert(time);
        most = most.max(time);
    }
    Ok((first.unwrap_or(0), most))
}

const TEMPLATES: &[(&str, &str)] = &[
    ("header", include_str!("templates/header.pml.j2")),
    ("finished", include_str!("templates/finished.pml.j2")),
    ("claims", include_str!("templates/claims.pml.j2")),
    ("lockstep", include_str!("templates/lockstep.pml.j2")),
    ("processes", include_str!("templates/processes.pml.j2")),
];

/// Fills a template: what all models have, and `more`.
fn render(
    template: &'static str,
    facts: &Facts<'_>,
    choice: &Choice,
    more: Json,
) -> Result<String, PromelaError> {
    let names = facts.parameters();
    let format: String = names.iter().map(|n| format!(" {n}=%d")).collect();
    let arguments: String = names.iter().map(|n| format!(", {n}")).collect();
    let common = context! {
        title => in_comment(&facts.problem.name),
        style => template,
        configurations => facts.space.bound.len(),
        parameters => facts.problem.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
        notes => Vec::<String>::new(),
        first_time => facts.first_time,
        max_time => facts.max_time,
        constants => choice.constants,
        variables => choice.variables,
        choose => choice.statements,
        time => facts.time_width()?.name(),
        c_code => embedded_c(&names, &format),
        format, arguments,
    };
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    // The templates are part of the program: that they fit is a test's business, not the user's.
    let fault = |e: minijinja::Error| PromelaError::Template {
        template: template.into(),
        why: e.to_string(),
    };
    for (name, source) in TEMPLATES.iter().chain(&open::TEMPLATES) {
        environment.add_template(name, source).map_err(fault)?;
    }
    let template = environment.get_template(template).map_err(fault)?;
    template.render(context! { ..more, ..common }).map_err(fault)
}

/// Text that cannot end the comment it stands in.
fn in_comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r', '\\'], " ")
}

/// The C of the modes BEST and TIMES.
fn embedded_c(names: &[String], format: &str) -> Vec<String> {
    let values: Vec<String> = std::iter::once("now.time".to_owned())
        .chain(names.iter().map(|n| format!("now.{n}")))
        .collect();
    let count = values.len();
    let same = (0..count).map(|j| format!("tb_rows[{count} * i + {j}] == row[{j}]"));
    let same = same.collect::<Vec<_>>().join(" && ");
    let text = format!(
        r#"#ifdef BEST
#if BEST + 0 > 1
static int tb_best = BEST;
#else
static int tb_best = 2147483647;
#endif
#endif
static void tb_line(void) {{
  printf("tickbound: time=%d{format}\n", {});
  fflush(stdout);
}}
#ifdef TIMES
static int *tb_rows = 0;
static int tb_count = 0;
static void tb_each(void) {{
  int row[] = {{ {} }}, i;
  for (i = 0; i < tb_count; i++) if ({same}) return;
  tb_rows = (int *) realloc(tb_rows, sizeof(row) * (tb_count + 1));
  if (!tb_rows) {{ printf("tickbound: out of memory\n"); exit(1); }}
  memcpy(tb_rows + {count} * tb_count++, row, sizeof(row));
  tb_line();
}}
#endif"#,
        values.join(", "),
        values.join(", "),
    );
    text.lines().map(str::to_owned).collect()
}

/// Where a statement comes from, and what people call it.
fn comment(stmt: &Stmt) -> String {
    let label = in_comment(&stmt.label);
    if label == stmt.kind.name() {
        format!("  /* {} */", stmt.at)
    } else {
        format!("  /* {}: {label} */", stmt.at)
    }
}

/// True if `word` occurs in `line` as a whole word.
fn mentions(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|w| w == word)
}
