//! Filling the templates.

use minijinja::{Environment, Value as Json, context};

use super::declarations::Declarations;
use super::error::PromelaError;
use super::facts::Facts;
use super::lines::in_comment;

const TEMPLATES: &[(&str, &str)] = &[
    ("header", include_str!("templates/header.pml.j2")),
    ("finished", include_str!("templates/finished.pml.j2")),
    ("claims", include_str!("templates/claims.pml.j2")),
    ("lockstep", include_str!("templates/lockstep.pml.j2")),
    ("processes", include_str!("templates/processes.pml.j2")),
    ("open_lockstep", include_str!("open/lockstep.pml.j2")),
    ("open_processes", include_str!("open/processes.pml.j2")),
];

/// Fills a template: what all models have, and `more`.
pub(crate) fn render(
    template: &'static str,
    facts: &Facts<'_>,
    declarations: &Declarations,
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
        constants => declarations.constants,
        variables => declarations.variables,
        choose => declarations.statements,
        time => facts.time_width()?.name(),
        c_code => embedded_c(&names, &format),
        format, arguments,
    };
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_keep_trailing_newline(true);
    // The templates are part of the program: that they fit is a test's business, not the user's.
    let fault = |e: minijinja::Error| PromelaError::Template(template.into(), e.to_string());
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).map_err(fault)?;
    }
    let template = environment.get_template(template).map_err(fault)?;
    template.render(context! { ..more, ..common }).map_err(fault)
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
