//! What an export takes and gives, and the templates of its texts.

use minijinja::{Environment, Value as Json, context};

use super::declarations::{Declarations, Quantity};
use super::error::PromelaError;
use super::facts::Facts;
use super::lines::in_comment;

tickbound_input::named! {
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
pub struct PromelaOptions {
    /// The style.
    pub style: Style,
}

/// A name of the problem and the one that represents it in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromelaName {
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
    pub parameters: Vec<PromelaName>,
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

const TEMPLATES: &[(&str, &str)] = &[
    ("header", include_str!("templates/header.pml.j2")),
    ("finished", include_str!("templates/finished.pml.j2")),
    ("claims", include_str!("templates/claims.pml.j2")),
    ("lockstep", include_str!("templates/lockstep.pml.j2")),
    ("processes", include_str!("templates/processes.pml.j2")),
    ("open_lockstep", include_str!("open/lockstep.pml.j2")),
    ("open_processes", include_str!("open/processes.pml.j2")),
];

impl Model {
    /// Fills a template with `fragments` and common parts; `derived` are quantities of the style.
    /// The model has this many processes, and these bytes in a state beside what is declared.
    pub(super) fn new(
        template: (Style, &'static str),
        facts: &Facts<'_>,
        derived: &[Quantity],
        fragments: Json,
        (processes, bytes): (usize, usize),
    ) -> Result<Model, PromelaError> {
        let declarations = Declarations::new(facts, derived)?;
        let names = facts.parameters();
        let text = render(template, facts, &declarations, &names, fragments)?;
        let parameters = facts.problem.parameters.iter().zip(names);
        let parameters =
            parameters.map(|(p, promela)| PromelaName { problem: p.name.clone(), promela });
        Ok(Model {
            text,
            style: template.0,
            parameters: parameters.collect(),
            processes,
            vector_bytes: bytes + 2 * declarations.bytes,
            max_time: facts.max_time,
            configurations: facts.space.bound.len(),
            open_schedule: facts.problem.has_open_schedule(),
        })
    }
}

fn render(
    (style, template): (Style, &'static str),
    facts: &Facts<'_>,
    declarations: &Declarations,
    names: &[String],
    fragments: Json,
) -> Result<String, PromelaError> {
    let format: String = names.iter().map(|n| format!(" {n}=%d")).collect();
    let arguments: String = names.iter().map(|n| format!(", {n}")).collect();
    let common = context! {
        title => in_comment(&facts.problem.name),
        style => style.name(),
        configurations => facts.space.bound.len(),
        parameters => facts.problem.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(),
        first_time => facts.first_time,
        max_time => facts.max_time,
        constants => declarations.constants,
        variables => declarations.variables,
        choose => declarations.statements,
        time => facts.time_width()?.name(),
        c_code => embedded_c(names, &format),
        format, arguments,
    };
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    let fault = |e: minijinja::Error| PromelaError::Template(template.into(), e.to_string());
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).map_err(fault)?;
    }
    let template = environment.get_template(template).map_err(fault)?;
    template.render(context! { ..fragments, ..common }).map_err(fault)
}

/// The C of the modes BEST and TIMES.
pub(super) fn embedded_c(names: &[String], format: &str) -> Vec<String> {
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
