//! The style `lockstep`: one process, and one atomic step from one moment to the next.
//!
//! Time only advances when every running element has reported that it waits. Until then elements do not
//! influence each other, except where all of a unit have arrived; so the order in which they act within
//! a tick cannot be seen afterwards, and one order stands for all. A step lets everything happen
//! that happens at this tick, and then moves the time to the first tick at which an element goes on. What is
//! left of the state space is one path for each configuration. `docs/promela.md` has the argument.

mod nodes;

use minijinja::{Value as Json, context};

use super::amounts::Amounts;
use super::choice::{Choice, Quantity};
use super::error::PromelaError;
use super::facts::{Facts, Value, Who};
use super::processes::body::Body;
use super::shape::Layout;
use super::width::Width;
use super::{Model, Style, mentions, render};
use nodes::{Nodes, Written};
use tickbound_model::expr::Function;
use tickbound_model::kernel::{has_barrier, has_until};
use tickbound_model::{Expr, Profile};

/// Most rows of elements or items.
const MAX_ROWS: u64 = 1 << 15;

/// Writes the model.
///
/// # Errors
/// What Promela cannot hold.
pub(crate) fn write(facts: &Facts<'_>) -> Result<Model, PromelaError> {
    let parts = Parts::new(facts)?;
    let fragments = parts.fragments()?;
    let derived = parts.derived()?;
    let choice = Choice::new(facts, &derived)?;
    let vector_bytes = 64 + 2 * choice.bytes + parts.row_bytes()?;
    let text = render("lockstep", facts, &choice, fragments)?;
    Ok(Model::new(facts, Style::Lockstep, text, 2, vector_bytes))
}

/// What the text is put together from.
struct Parts<'f, 'a> {
    facts: &'f Facts<'a>,
    marks: bool,
    kernel: Written,
    finish: (Vec<String>, Vec<Width>),
    rounds: Value,
    runs: Value,
    local: Value,
    rows: i64,
    time: Width,
}

impl<'f, 'a> Parts<'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> Result<Self, PromelaError> {
        let problem = facts.problem;
        let amounts = match (facts.shape.layout, problem.platform.warps()) {
            (Layout::Warps, Some(warps)) => Amounts::of_warps(facts, warps.width)?,
            _ => Amounts::of_items(facts),
        };
        let marks = has_until(&problem.kernel);
        let barrier_price = problem.profile == Profile::OpenCl && problem.platform.barrier() > 0;
        let nodes = Nodes::new(&amounts, facts.fix(), (barrier_price, marks), 1);
        let kernel = nodes.write(&problem.kernel)?;
        let launch = Amounts::of_launch(facts);
        let finish = if problem.finish.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            Body::new(&launch, facts.fix(), ("begin", "f")).write(&problem.finish)?
        };
        let shape = &facts.shape;
        let rows = shape.units.saturating_mul(shape.slots());
        if rows.unsigned_abs() > MAX_ROWS {
            let (at, what) = ("launch".into(), "work items or elements in units at once");
            let fix = "make groups smaller, or take fewer units".into();
            let (count, limit) = (rows.unsigned_abs(), MAX_ROWS);
            return Err(PromelaError::TooMany { at, what, count, limit, fix });
        }
        let value = |at: &str, expr: &Expr| facts.value(at, expr, Who::Launch);
        Ok(Parts {
            facts,
            marks,
            kernel,
            finish,
            rounds: facts.plain("launch", &shape.rounds_expr, Who::Launch)?,
            runs: facts.plain("launch.local_size", &shape.runs_expr, Who::Launch)?,
            local: value("launch.local_size", problem.launch.local_size())?,
            rows,
            time: facts.time_width()?,
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

    /// True if a worker runs its program more than once in a group.
    fn counts_runs(&self) -> bool {
        matches!(self.layout(), Layout::Runs | Layout::Warps) && self.runs.constant() != Some(1)
    }

    /// The place after the program, and the one where a row waits for a group.
    fn ends(&self) -> (usize, usize) {
        (self.kernel.end, self.kernel.end + 1)
    }

    fn width(&self, most: i64, what: &str) -> Result<Width, PromelaError> {
        Width::holding((0, most), what, &self.facts.fix())
    }

    fn elements(&self) -> Result<String, PromelaError> {
        let slot =
            self.facts.problem.scope.slot("elements_per_unit").map_or(Expr::Int(1), Expr::Name);
        Ok(self.facts.value("platform.elements_per_unit", &slot, Who::Launch)?.text)
    }

    fn derived(&self) -> Result<Vec<Quantity>, PromelaError> {
        let shape = &self.facts.shape;
        let quantity = |name: &str, value: Value, comment: &str| Quantity {
            name: name.into(),
            value,
            comment: comment.into(),
        };
        let plain = |expr: &Expr| self.facts.plain("launch", expr, Who::Launch);
        let workers = plain(&shape.workers_expr)?;
        let mut all = vec![
            quantity("NWE", workers, "working elements of a unit"),
            quantity("rounds", self.rounds.clone(), "groups, or activations, that are run"),
        ];
        if shape.units > 1 {
            let all_units = vec![shape.rounds_expr.clone(), Expr::Int(shape.units)];
            let working = plain(&Expr::Call(Function::Min, all_units))?;
            all.push(quantity("NWU", working, "working units"));
        }
        if self.counts_runs() {
            all.push(quantity("runs", self.runs.clone(), "runs of each element in a group"));
        }
        Ok(all)
    }

    /// What an element does before and after its program.
    fn nodes(&self) -> Vec<String> {
        let (end, ended) = self.ends();
        let mark = if self.marks { "mark[e] = time; " } else { "" };
        let mut nodes =
            vec![format!(":: at[e] == 0 && time >= wake[e] -> wake[e] = 0; {mark}at[e] = 1")];
        nodes.extend(self.kernel.lines.iter().flat_map(|l| l.lines().map(str::to_owned)));
        let clear = if self.marks { "mark[e] = 0; " } else { "" };
        let over = format!("{clear}at[e] = {ended}; arrive()");
        match self.layout() {
            Layout::Strided => {
                let local = &self.local.text;
                nodes.push(format!(
                    ":: at[e] == {end} && item[e] + NWE < {local} -> item[e] = item[e] + NWE; lid = item[e]; {mark}at[e] = 1"
                ));
                nodes.push(format!(
                    ":: at[e] == {end} && item[e] + NWE >= {local} -> item[e] = 0; {over}"
                ));
            }
            _ if self.counts_runs() => {
                let warp = self.warp().map_or(String::new(), |w| format!("{w}; "));
                nodes.push(format!(
                    ":: at[e] == {end} && r[e] > 1 -> r[e] = r[e] - 1; {warp}{mark}at[e] = 1"
                ));
                nodes.push(format!(":: at[e] == {end} && r[e] <= 1 -> r[e] = 0; {over}"));
            }
            _ => nodes.push(format!(":: at[e] == {end} -> {over}")),
        }
        nodes
    }

    fn uses(&self, word: &str) -> bool {
        self.kernel.lines.iter().any(|line| mentions(line, word))
    }

    /// Sets `w`, if the program depends on the warp.
    fn warp(&self) -> Option<String> {
        let many = if self.counts_runs() { "w = n + NWE * (runs - r[e])" } else { "w = n" };
        (self.layout() == Layout::Warps && self.uses("w")).then(|| many.to_owned())
    }

    /// What go_on sets before it looks at a row, and the declarations of that.
    fn before(&self) -> (Vec<String>, Vec<String>) {
        let (mut set, mut declare) = (Vec::new(), Vec::new());
        let lid = match self.layout() {
            Layout::Strided => Some("lid = item[e];"),
            Layout::Warps => None,
            Layout::Runs | Layout::Items => self.uses("lid").then_some("lid = n;"),
        };
        if let Some(lid) = lid {
            declare.push("hidden int lid;".to_owned());
            set.push(lid.to_owned());
        }
        if let Some(w) = self.warp() {
            declare.push("hidden int w;".to_owned());
            set.push(format!("{w};"));
        }
        if self.groups_differ() {
            declare.push("hidden int group;".to_owned());
            set.push("group = group_of[u];".to_owned());
        }
        (set, declare)
    }

    fn finish_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if has_until(&self.facts.problem.finish) {
            lines.push("begin = time;".to_owned());
        }
        lines.extend(self.finish.0.iter().cloned());
        lines
    }

    fn finish_locals(&self) -> Vec<String> {
        let counters = self.finish.1.iter().enumerate();
        let mut locals: Vec<String> =
            counters.map(|(depth, w)| format!("hidden {} f{};", w.name(), depth + 1)).collect();
        if !self.finish.0.is_empty() {
            locals.push(format!("hidden {} begin;", self.time.name()));
            locals.push("hidden int delay;".to_owned());
        }
        locals
    }

    fn fragments(&self) -> Result<Json, PromelaError> {
        let (items, shape) = (self.items(), &self.facts.shape);
        let (before, mut scratch) = self.before();
        scratch.extend(self.finish_locals());
        let elements = if items { self.elements()? } else { String::new() };
        let barriers = has_barrier(&self.facts.problem.kernel);
        let mut at_start = Vec::new();
        if self.counts_runs() {
            at_start.push("r[e] = runs;");
        }
        if self.layout() == Layout::Strided {
            at_start.push("item[e] = n;");
        }
        let (rows, slots) = (self.rows, shape.slots());
        let finish = self.finish_lines();
        let per_unit = self.facts.problem.platform.elements_per_unit().min(slots);
        let counters = self.kernel.counters.iter().enumerate();
        let counters = counters.map(|(depth, w)| {
            format!(
                "{} k{}[{rows}];  /* how often a loop has still to be run */",
                w.name(),
                depth + 1
            )
        });
        Ok(context! {
            items, barriers, marks => self.marks, rows, slots,
            row_is => if items { "work item" } else if self.layout() == Layout::Warps { "dispatcher" } else { "processing element" },
            at_type => self.width(self.ends().1 as i64, "places of the program")?.name(),
            ended => self.ends().1,
            counters => counters.collect::<Vec<_>>(),
            run_type => self.counts_runs().then(|| self.width(self.runs.range.1, "runs")).transpose()?.map(Width::name),
            item_type => (self.layout() == Layout::Strided).then(|| self.width(self.local.range.1, "work items")).transpose()?.map(Width::name),
            slot_type => self.width(slots, "elements")?.name(),
            units => shape.units,
            groups_differ => self.groups_differ(),
            group_type => self.width(self.rounds.range.1, "groups")?.name(),
            turn_type => self.width(self.runs.range.1, "items of an element")?.name(),
            places => shape.units.saturating_mul(per_unit),
            scratch, before, nodes => self.nodes(), elements,
            local => self.local.text,
            workers => if items { self.local.text.clone() } else { "NWE".into() },
            nwu => if shape.units > 1 { "NWU" } else { "1" },
            never => self.facts.max_time.saturating_add(1),
            at_start,
            group_start => self.facts.price("group_start")?,
            kernel_launch => self.facts.price("kernel_launch")?,
            barrier_price => if barriers { self.facts.price("barrier")? } else { None },
            finish_marks => finish.iter().any(|l| l.contains("until_mark(")),
            finish,
        })
    }

    fn row_bytes(&self) -> Result<usize, PromelaError> {
        let (time, mut each) = (self.time.bytes(), 4);
        each += time * (1 + usize::from(self.marks));
        each += self.kernel.counters.iter().map(|w| w.bytes()).sum::<usize>();
        each += self.width(self.runs.range.1, "runs")?.bytes() + 4;
        let rows = usize::try_from(self.rows).unwrap_or(0);
        Ok(rows * each + 16 * usize::try_from(self.facts.shape.units).unwrap_or(0))
    }
}
