//! The style `lockstep`: one process, and one atomic step from one moment to the next.
//!
//! Time only advances when every running element has reported that it waits. Until then elements do
//! not influence each other, except where all of a unit have arrived; so the order in which they
//! act within a tick cannot be seen afterwards, and one order represents all. A step lets
//! everything happen that happens at this tick, and then moves the time to the first tick at which
//! an element goes on. What is left of the state space is one path for each configuration.
//! `docs/promela.md` has the argument.

use minijinja::{Value as Json, context};

use super::common::Common;
use super::nodes::Nodes;
use crate::promela::body;
use crate::promela::error::PromelaError;
use crate::promela::layout::Sharing;
use crate::promela::model::{Model, Style};
use crate::promela::program::Written;
use crate::promela::width::Width;
use tickbound_model::Profile;

/// Most rows of elements or items.
const MAX_ROWS: u64 = 1 << 15;

pub(super) fn write(common: &Common<'_, '_>) -> Result<Model, PromelaError> {
    let parts = Parts::new(common)?;
    let fragments = parts.fragments()?;
    let derived = common
        .derived("groups, or activations, that are run", "runs of each element in a group")?;
    let (template, sizes) = ((Style::Lockstep, "lockstep"), (2, 64 + parts.row_bytes()?));
    Model::new(template, common.facts, &derived, fragments, sizes)
}

struct Parts<'c, 'f, 'a> {
    common: &'c Common<'f, 'a>,
    kernel: Written,
    /// The place after the kernel.
    end: usize,
    finish: Written,
    rows: i64,
}

impl<'c, 'f, 'a> Parts<'c, 'f, 'a> {
    fn new(common: &'c Common<'f, 'a>) -> Result<Self, PromelaError> {
        let (problem, layout) = (common.problem(), common.layout());
        let amounts = common.amounts()?;
        let barrier_price = problem.profile == Profile::OpenCl && problem.platform.barrier() > 0;
        let nodes = Nodes::new(&amounts, barrier_price, common.marks);
        let (kernel, end) = nodes.write(&problem.kernel)?;
        let finish = body::finish(common.facts, ("begin", "f"))?;
        let rows = layout.units.saturating_mul(layout.slots());
        if rows.unsigned_abs() > MAX_ROWS {
            let what = "work items or elements in units at once";
            let fix = "make groups smaller, or take fewer units";
            let count = rows.unsigned_abs();
            return Err(PromelaError::too_many("launch", what, count, MAX_ROWS, fix));
        }
        Ok(Parts { common, kernel, end, finish, rows })
    }

    fn sharing(&self) -> Sharing {
        self.common.layout().sharing
    }

    /// The place after the program, and the one where a row waits for a group.
    fn ends(&self) -> (usize, usize) {
        (self.end, self.end + 1)
    }

    fn width(&self, most: i64, what: &str) -> Result<Width, PromelaError> {
        Width::holding((0, most), what, &self.common.facts.fix())
    }

    /// What an element does before and after its program.
    fn nodes(&self) -> Vec<String> {
        let (end, ended) = self.ends();
        let mark = if self.common.marks { "mark[e] = time; " } else { "" };
        let mut nodes =
            vec![format!(":: at[e] == 0 && time >= wake[e] -> wake[e] = 0; {mark}at[e] = 1")];
        nodes.extend(self.kernel.lines.iter().flat_map(|l| l.lines().map(str::to_owned)));
        let clear = if self.common.marks { "mark[e] = 0; " } else { "" };
        let over = format!("{clear}at[e] = {ended}; arrive()");
        match self.sharing() {
            Sharing::Strided => {
                let local = &self.common.local.text;
                nodes.push(format!(
                    ":: at[e] == {end} && item[e] + NWE < {local} -> item[e] = item[e] + NWE; lid \
                     = item[e]; {mark}at[e] = 1"
                ));
                nodes.push(format!(
                    ":: at[e] == {end} && item[e] + NWE >= {local} -> item[e] = 0; {over}"
                ));
            }
            _ if self.common.counts_runs() => {
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

    /// Sets `w`, if the program depends on the warp.
    fn warp(&self) -> Option<String> {
        let many = if self.common.counts_runs() { "w = n + NWE * (runs - r[e])" } else { "w = n" };
        (self.sharing() == Sharing::Warps && self.kernel.mentions("w")).then(|| many.to_owned())
    }

    /// What go_on sets before it looks at a row, and the declarations of that.
    fn before(&self) -> (Vec<String>, Vec<String>) {
        let (mut set, mut declare) = (Vec::new(), Vec::new());
        let lid = match self.sharing() {
            Sharing::Strided => Some("lid = item[e];"),
            Sharing::Warps => None,
            Sharing::Runs | Sharing::Items => self.kernel.mentions("lid").then_some("lid = n;"),
        };
        if let Some(lid) = lid {
            declare.push("hidden int lid;".to_owned());
            set.push(lid.to_owned());
        }
        if let Some(w) = self.warp() {
            declare.push("hidden int w;".to_owned());
            set.push(format!("{w};"));
        }
        if self.common.groups_differ() {
            declare.push("hidden int group;".to_owned());
            set.push("group = group_of[u];".to_owned());
        }
        (set, declare)
    }

    fn finish_locals(&self) -> Vec<String> {
        let counters = self.finish.declarations("f").into_iter();
        let mut locals: Vec<String> = counters.map(|line| format!("hidden {line}")).collect();
        if !self.finish.lines.is_empty() {
            locals.push(format!("hidden {} begin;", self.common.time.name()));
            locals.push("hidden int delay;".to_owned());
        }
        locals
    }

    /// What a row of the arrays belongs to.
    fn row_is(&self) -> &'static str {
        match self.sharing() {
            _ if self.common.items() => "work item",
            Sharing::Warps => "dispatcher",
            _ => "processing element",
        }
    }

    fn fragments(&self) -> Result<Json, PromelaError> {
        let (common, facts) = (self.common, self.common.facts);
        let (items, layout) = (common.items(), common.layout());
        let (before, mut scratch) = self.before();
        scratch.extend(self.finish_locals());
        let mut at_start = Vec::new();
        if self.common.counts_runs() {
            at_start.push("r[e] = runs;");
        }
        let strided = self.sharing() == Sharing::Strided;
        if strided {
            at_start.push("item[e] = n;");
        }
        let (rows, slots) = (self.rows, layout.slots());
        let finish = &self.finish.lines;
        let run_type = common.counts_runs().then(|| self.width(common.runs.range.1, "runs"));
        let item_type = strided.then(|| self.width(common.local.range.1, "work items"));
        Ok(context! {
            items, barriers => common.barriers, marks => self.common.marks, rows, slots,
            row_is => self.row_is(),
            at_type => self.width(self.ends().1 as i64, "places of the program")?.name(),
            ended => self.ends().1,
            counters => self.kernel.counter_rows(rows),
            run_type => run_type.transpose()?.map(Width::name),
            item_type => item_type.transpose()?.map(Width::name),
            slot_type => self.width(slots, "elements")?.name(),
            units => layout.units,
            groups_differ => self.common.groups_differ(),
            group_type => self.width(self.common.rounds.range.1, "groups")?.name(),
            turn_type => self.width(self.common.runs.range.1, "items of an element")?.name(),
            places => common.places(),
            scratch, before, nodes => self.nodes(), elements => common.elements()?,
            local => self.common.local.text,
            workers => if items { self.common.local.text.clone() } else { "NWE".into() },
            nwu => if layout.units > 1 { "NWU" } else { "1" },
            never => facts.max_time.saturating_add(1),
            at_start,
            group_start => facts.price("group_start")?,
            kernel_launch => facts.price("kernel_launch")?,
            barrier_price => common.barrier_price()?,
            finish_marks => finish.iter().any(|l| l.contains("until_mark(")),
            finish,
        })
    }

    fn row_bytes(&self) -> Result<usize, PromelaError> {
        let (time, mut each) = (self.common.time.bytes(), 4);
        each += time * (1 + usize::from(self.common.marks));
        each += self.kernel.counters.iter().map(|w| w.bytes()).sum::<usize>();
        each += self.width(self.common.runs.range.1, "runs")?.bytes() + 4;
        let rows = usize::try_from(self.rows).unwrap_or(0);
        Ok(rows * each + 16 * usize::try_from(self.common.facts.layout.units).unwrap_or(0))
    }
}
