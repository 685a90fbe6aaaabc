//! The style `processes`: one process for each part of the platform, as in the paper.
//!
//! The processes are those of seed 000, Sections 3 and 4: `main`, `host`, `device`, `unit`, `pex` (or
//! `dispatcher`, where the platform has warps), `barrier` and `clock`. What the listings leave to
//! luck is made exact by one rule: whoever acts holds a place among the running processes (`NRP`), and the
//! clock moves on only if all of them have reported. Who wakes others counts them first; who
//! falls asleep counts itself out last; who hands work on hands its place on. So no tick passes while
//! something can still happen in it. `docs/promela.md` has the argument.

pub(super) mod body;

use minijinja::{Value as Json, context};

use super::amounts::Amounts;
use super::choice::{Choice, Quantity};
use super::error::PromelaError;
use super::facts::{Facts, Value, Who};
use super::shape::Layout;
use super::width::Width;
use super::{Model, Style, mentions, render};
use body::Body;
use tickbound_model::Expr;
use tickbound_model::kernel::{has_barrier, has_until};

/// Most processes that SPIN runs at a time, and one for the never claim.
const MAX_PROCESSES: u64 = 255;

/// Writes the model.
///
/// # Errors
/// What Promela cannot hold.
pub(crate) fn write(facts: &Facts<'_>) -> Result<Model, PromelaError> {
    let parts = Parts::new(facts)?;
    let processes = parts.processes()?;
    let derived = parts.derived()?;
    let fragments = parts.fragments()?;
    let choice = Choice::new(facts, &derived)?;
    let vector_bytes = parts.vector_bytes(&choice, processes);
    let text = render("processes", facts, &choice, fragments)?;
    Ok(Model::new(facts, Style::Processes, text, processes, vector_bytes))
}

/// What the text is put together from.
struct Parts<'f, 'a> {
    facts: &'f Facts<'a>,
    barriers: bool,
    marks: bool,
    time: Width,
    /// The program of a worker, and its loop counters.
    kernel: (Vec<String>, Vec<Width>),
    /// The program `finish`.
    finish: (Vec<String>, Vec<Width>),
}

impl<'f, 'a> Parts<'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> Result<Self, PromelaError> {
        let problem = facts.problem;
        let amounts = match (facts.shape.layout, problem.platform.warps()) {
            (Layout::Warps, Some(warps)) => Amounts::of_warps(facts, warps.width)?,
            _ => Amounts::of_items(facts),
        };
        let kernel = Body::new(&amounts, facts.fix(), ("mark", "k")).write(&problem.kernel)?;
        let launch = Amounts::of_launch(facts);
        let finish = Body::new(&launch, facts.fix(), ("mark", "k")).write(&problem.finish)?;
        let finish = if problem.finish.is_empty() { (Vec::new(), Vec::new()) } else { finish };
        Ok(Parts {
            facts,
            barriers: has_barrier(&problem.kernel),
            marks: has_until(&problem.kernel) || has_until(&problem.finish),
            time: facts.time_width()?,
            kernel,
            finish,
        })
    }

    fn layout(&self) -> Layout {
        self.facts.shape.layout
    }

    fn items(&self) -> bool {
        self.layout() == Layout::Items
    }

    fn groups_differ(&self) -> bool {
        !self.facts.shape.groups_alike
    }

    fn processes(&self) -> Result<usize, PromelaError> {
        let shape = &self.facts.shape;
        let in_unit = 1 + u64::from(self.barriers) + shape.slots().unsigned_abs();
        let count = in_unit.saturating_mul(shape.units.unsigned_abs()).saturating_add(5);
        if count > MAX_PROCESSES {
            let (units, slots) = (shape.units, shape.slots());
            let what = if self.items() { "work items" } else { "elements" };
            return Err(PromelaError::TooManyProcesses {
                count,
                what: format!("{units} units with {slots} {what} each"),
                limit: MAX_PROCESSES,
                fix: "make groups smaller, or the platform (--input elements_per_unit=...)".into(),
            });
        }
        Ok(count as usize)
    }

    fn launch(&self, at: &str, expr: &Expr) -> Result<Value, PromelaError> {
        self.facts.plain(at, expr, Who::Launch)
    }

    fn rounds(&self) -> Result<Value, PromelaError> {
        self.launch("launch", &self.facts.shape.rounds_expr)
    }

    /// NWE, NWU, and how often an element runs.
    fn derived(&self) -> Result<Vec<Quantity>, PromelaError> {
        let shape = &self.facts.shape;
        let quantity = |name: &str, value: Value, comment: &str| Quantity {
            name: name.into(),
            value,
            comment: comment.into(),
        };
        let mut all = vec![quantity(
            "NWE",
            self.launch("launch.local_size", &shape.workers_expr)?,
            "working elements of a unit",
        )];
        let rounds = match (&self.facts.problem.launch, self.groups_differ()) {
            (tickbound_model::Launch::Activations { .. }, _) => "how often the unit is activated",
            (_, true) => "workgroups of all units",
            (_, false) => "workgroups of the busiest unit",
        };
        all.push(quantity("rounds", self.rounds()?, rounds));
        if shape.units > 1 {
            let units = Box::new(Expr::Int(shape.units));
            let groups = Box::new(shape.rounds_expr.clone());
            let working = Expr::Call(tickbound_model::expr::Function::Min, vec![*groups, *units]);
            all.push(quantity("NWU", self.launch("launch", &working)?, "working units"));
        }
        if self.loops_over_runs() {
            let runs = self.launch("launch.local_size", &shape.runs_expr)?;
            let what = if self.layout() == Layout::Warps { "warps" } else { "runs of the program" };
            all.push(quantity("runs", runs, &format!("{what} of each worker in a group")));
        }
        Ok(all)
    }

    /// True if a worker runs its program in a counted loop.
    fn loops_over_runs(&self) -> bool {
        let shape = &self.facts.shape;
        let single = || {
            self.launch("launch.local_size", &shape.runs_expr)
                .is_ok_and(|r| r.constant() == Some(1))
        };
        matches!(self.layout(), Layout::Runs | Layout::Warps) && !single()
    }

    fn elements(&self) -> Result<String, PromelaError> {
        let slot =
            self.facts.problem.scope.slot("elements_per_unit").map_or(Expr::Int(1), Expr::Name);
        Ok(self.facts.value("platform.elements_per_unit", &slot, Who::Launch)?.text)
    }

    fn local(&self) -> Result<Value, PromelaError> {
        self.facts.value("launch.local_size", self.facts.problem.launch.local_size(), Who::Launch)
    }

    /// The type of a counter up to `most`, and one more, which a `for` reaches.
    fn counter(&self, most: i64, what: &str) -> Result<&'static str, PromelaError> {
        let width = Width::holding((0, most.saturating_add(1)), what, &self.facts.fix())?;
        Ok(width.name())
    }

    fn fragments(&self) -> Result<Json, PromelaError> {
        let (items, shape) = (self.items(), &self.facts.shape);
        let (rounds, local) = (self.rounds()?, self.local()?);
        let elements = self.elements_if_used()?;
        let workers = self.launch("launch.local_size", &shape.workers_expr)?;
        let worker = if self.layout() == Layout::Warps { "dispatcher" } else { "pex" };
        let group_type = self.counter(rounds.range.1, "groups")?;
        let finish = &self.finish;
        let (kernel_launch, group_start) =
            (self.facts.price("kernel_launch")?, self.facts.price("group_start")?);
        let barrier_price = if self.barriers { self.facts.price("barrier")? } else { None };
        let runs = self.facts.value("launch.local_size", &shape.runs_expr, Who::Launch)?;
        Ok(context! {
            items, barriers => self.barriers, marks => self.marks,
            // The number that stands for none of an element's items.
            turn_type => self.counter(runs.range.1, "items of an element")?,
            nobody => runs.range.1.saturating_add(1),
            places => shape.units.saturating_mul(self.facts.problem.platform.elements_per_unit().min(shape.slots())),
            elements, local => local.text,
            host_locals => self.locals(&[(&finish.0, &finish.1)], kernel_launch.is_some(), has_until(&self.facts.problem.finish)),
            kernel_launch, group_start, barrier_price,
            finish => self.finish_lines(),
            device_note => if shape.groups_alike { "; one unit stands for all, because all\n * groups take the same time (Section 5)" } else { "" },
            message => if self.groups_differ() { format!(", {group_type}") } else { String::new() },
            i_device => group_type, i_unit => self.counter(shape.slots(), "work items")?,
            // SPIN refuses a loop of which it sees that it is never run.
            many_workers => workers.range.1 > 1, more_groups => rounds.range.1 > shape.units,
            many_units => shape.units > 1, groups_differ => self.groups_differ(), group_type,
            rounds => "rounds",
            workers => if worker == "pex" { "processing elements" } else { "dispatchers" },
            workers_to_run => if items { local.text.clone() } else { "NWE".into() },
            worker, worker_note => self.worker_note(),
            worker_parameters => self.worker_parameters()?,
            worker_locals => self.worker_locals()?,
            worker_body => self.worker_body()?,
        })
    }

    fn elements_if_used(&self) -> Result<String, PromelaError> {
        match self.layout() {
            Layout::Items => self.elements(),
            _ => Ok(String::new()),
        }
    }

    fn finish_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if has_until(&self.facts.problem.finish) {
            lines.push("mark = time;".to_owned());
        }
        lines.extend(self.finish.0.iter().cloned());
        if self.finish.0.is_empty() { Vec::new() } else { lines }
    }

    /// Declarations for some programs.
    fn locals(&self, programs: &[(&[String], &[Width])], more: bool, mark: bool) -> Vec<String> {
        let mut locals = Vec::new();
        let all = || programs.iter().flat_map(|(lines, _)| lines.iter());
        let time = self.time.name();
        if more || all().any(|l| l.contains("work(")) {
            locals.push(format!("{time} begin, cur_time;"));
        } else if all().any(|l| l.contains("until_mark(")) {
            locals.push(format!("{time} cur_time;"));
        }
        if all().any(|l| l.contains("(delay);")) {
            locals.push("int delay;".to_owned());
        }
        if mark {
            locals.push(format!("{time} mark;  /* start_time in the paper */"));
        }
        for (_, counters) in programs {
            for (depth, width) in counters.iter().enumerate() {
                locals.push(format!("{} k{};", width.name(), depth + 1));
            }
        }
        locals
    }

    fn worker_note(&self) -> &'static str {
        match self.layout() {
            Layout::Runs => "A processing element (Listing 8).",
            Layout::Strided => {
                "A processing element (Listing 8); it runs its work items one after another."
            }
            Layout::Items => {
                "A work item (Listing 8); its processing element runs one of its items at a time."
            }
            Layout::Warps => {
                "A dispatcher: it runs its warps one after another, each in lockstep\n * (Garanina, Gorlatch 2021, Listing 3)."
            }
        }
    }

    fn mentions(&self, word: &str) -> bool {
        self.kernel.0.iter().any(|line| mentions(line, word))
    }

    fn worker_parameters(&self) -> Result<String, PromelaError> {
        let number = self.counter(self.facts.shape.slots(), "work items")?;
        Ok(match self.layout() {
            Layout::Runs => format!("{number} lid"),
            Layout::Items => format!("{number} lid; byte u"),
            Layout::Strided | Layout::Warps => format!("{number} me"),
        })
    }

    fn worker_locals(&self) -> Result<Vec<String>, PromelaError> {
        let has_until = has_until(&self.facts.problem.kernel);
        let mut locals = self.locals(&[(&self.kernel.0, &self.kernel.1)], false, has_until);
        let shape = &self.facts.shape;
        if self.groups_differ() {
            locals.push(format!("{} group;", self.counter(self.rounds()?.range.1, "groups")?));
        }
        let most_runs = self.launch("launch.local_size", &shape.runs_expr)?.range.1;
        if self.loops_over_runs() {
            locals.push(format!("{} r;", self.counter(most_runs, "runs")?));
        }
        let item = match self.layout() {
            Layout::Strided => Some("lid"),
            Layout::Warps if self.mentions("w") => Some("w"),
            _ => None,
        };
        if let Some(item) = item {
            let most = self.local()?.range.1.saturating_add(shape.slots());
            locals.push(format!("{} {item};", self.counter(most, "work items")?));
        }
        Ok(locals)
    }

    fn worker_body(&self) -> Result<Vec<String>, PromelaError> {
        let mut kernel = Vec::new();
        if has_until(&self.facts.problem.kernel) {
            kernel.push("mark = time;".to_owned());
        }
        kernel.extend(self.kernel.0.iter().cloned());
        let local = self.local()?.text;
        let deeper = |lines: Vec<String>| lines.into_iter().map(|l| format!("  {l}"));
        let mut lines = Vec::new();
        match self.layout() {
            Layout::Strided => {
                lines.extend(["lid = me;".into(), "do".into(), format!(":: lid < {local} ->")]);
                lines.extend(deeper(kernel));
                lines.extend(["  lid = lid + NWE".into(), ":: else -> break".into(), "od;".into()]);
                lines.push("lid = 0;".into());
            }
            Layout::Items => {
                lines.push("my_turn;".into());
                lines.extend(kernel);
                lines.push("turn[ROW] = turn[ROW] + 1;".into());
                lines.extend(["if".into(), ":: last_of_element -> pex_u ! done".into()]);
                lines.extend([":: else -> skip".into(), "fi".into()]);
                return Ok(lines);
            }
            Layout::Runs | Layout::Warps => {
                let warp = self.layout() == Layout::Warps && self.mentions("w");
                if warp {
                    lines.push("w = me;".into());
                }
                if self.loops_over_runs() {
                    lines.push("for (r : 1 .. runs) {".into());
                    lines.extend(deeper(kernel));
                    lines.extend(warp.then(|| "  w = w + NWE;".into()));
                    lines.push("}".into());
                } else {
                    lines.extend(kernel);
                }
            }
        }
        lines.push("pex_u ! done".into());
        Ok(lines)
    }

    /// An upper estimate: SPIN aligns variables and adds a header to each process and channel.
    fn vector_bytes(&self, choice: &Choice, processes: usize) -> usize {
        let units = usize::try_from(self.facts.shape.units).unwrap_or(1);
        let turns = usize::try_from(self.facts.shape.slots()).unwrap_or(0) * 4 * units;
        let locals = 4 * (10 + self.kernel.1.len() + self.finish.1.len());
        64 + 2 * choice.bytes + turns + processes * (12 + locals) + (4 + 4 * units) * 24
    }
}
