//! The style `lockstep`: one process, whose states are the moments at which something is open.
//!
//! One step does what was decided, and then everything that follows, up to the next moment with
//! more than one way to go on. `docs/promela.md` has the argument that no time is lost.

use minijinja::{Value as Json, context};

use super::common::Common;
use super::nodes::Nodes;
use crate::promela::amounts::Amounts;
use crate::promela::body;
use crate::promela::error::PromelaError;
use crate::promela::facts::Value;
use crate::promela::model::{Model, Style};
use crate::promela::program::Written;
use crate::promela::width::Width;

pub(super) fn write(common: &Common<'_, '_>) -> Result<Model, PromelaError> {
    let parts = Parts::new(common)?;
    let fragments = parts.fragments()?;
    let (template, sizes) = ((Style::Lockstep, "open_lockstep"), (2, 64 + parts.row_bytes()));
    Model::new(template, common.facts, &common.derived()?, fragments, sizes)
}

struct Parts<'c, 'f, 'a> {
    common: &'c Common<'f, 'a>,
    kernel: Written,
    finish: Written,
    time: Width,
    /// The last warp before warp `w` that is like it.
    alike_before: Option<Value>,
}

impl<'c, 'f, 'a> Parts<'c, 'f, 'a> {
    fn new(common: &'c Common<'f, 'a>) -> Result<Self, PromelaError> {
        let facts = common.facts;
        let amounts = Amounts::of_warps(facts, common.warps.width)?;
        let kernel = Nodes::new(&amounts, common).write(&facts.problem.kernel)?;
        let finish = body::finish(facts, ("begin", "f"))?;
        let alike_before = amounts.alike_before(common.dispatchers);
        Ok(Parts { common, kernel, finish, time: facts.time_width()?, alike_before })
    }

    /// What go_on sets before it looks at a row.
    fn before(&self) -> Vec<&'static str> {
        let names = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|w| w == "group");
        let alike = self.alike_before.as_ref().is_some_and(|value| names(&value.text));
        let group = alike || self.kernel.mentions("group");
        if group { vec!["group = group_of[PLACE(u, p)];"] } else { Vec::new() }
    }

    /// Variables that are used within one step only.
    fn scratch(&self) -> Vec<String> {
        let mut scratch: Vec<String> =
            self.before().iter().map(|_| "hidden int group;".to_owned()).collect();
        let counters = self.finish.declarations("f");
        scratch.extend(counters.into_iter().map(|line| format!("hidden {line}")));
        if self.finish.mentions("begin") || self.finish.mentions("until_mark") {
            scratch.push(format!("hidden {} begin;", self.time.name()));
        }
        if self.kernel.mentions("delay") || self.finish.mentions("delay") {
            scratch.push("hidden int delay;".to_owned());
        }
        scratch
    }

    /// What a row holds that its future depends on.
    fn fields(&self) -> Vec<String> {
        let counters = (1..=self.kernel.counters.len()).map(|k| format!("k{k}"));
        let marks = self.common.marks.then(|| "mark".to_owned());
        ["doing", "at", "wake", "load"]
            .map(str::to_owned)
            .into_iter()
            .chain(marks)
            .chain(counters)
            .collect()
    }

    fn fragments(&self) -> Result<Json, PromelaError> {
        let (common, facts) = (self.common, self.common.facts);
        let units = common.units();
        let options = common.rows.max(units);
        let finish = &self.finish.lines;
        let places = self.kernel.lines.len() as i64;
        Ok(context! {
            rows => common.rows, places => common.places, units, options,
            units_note => common.units_note(),
            dispatchers => common.dispatchers_text()?,
            slots => common.slots()?,
            slot_type => common.width(common.rows, "memory slots")?.name(),
            at_type => common.width(places, "places of the program")?.name(),
            group_type => common.width(common.groups, "groups")?.name(),
            option_type => common.width(options, "options")?.name(),
            unit_type => common.width(units, "units")?.name(),
            marks => common.marks, barriers => common.barriers,
            groups_alike => common.groups_alike(),
            alike_before => self.alike_before.as_ref().map(|value| value.text.as_str()),
            counted => self.alike_before.is_some() || common.groups_alike(),
            counters => self.kernel.counter_rows("UNITS * ROWS"), fields => self.fields(),
            scratch => self.scratch(), before => self.before(),
            nodes => self.kernel.lines,
            latency => facts.price("global_latency")?,
            group_start => facts.price("group_start")?,
            kernel_launch => facts.price("kernel_launch")?,
            barrier_price => if common.barriers { facts.price("barrier")? } else { None },
            never => facts.max_time.saturating_add(1),
            finish_marks => finish.iter().any(|line| line.contains("until_mark(")),
            finish,
        })
    }

    fn row_bytes(&self) -> usize {
        let time = self.time.bytes();
        let counters = self.kernel.counters.iter().map(|w| w.bytes()).sum::<usize>();
        let row = 8 + 2 * time + counters;
        let size = |n: i64| usize::try_from(n).unwrap_or(0);
        let unit = size(self.common.rows) * row
            + size(self.common.places) * (8 + time)
            + size(self.common.dispatchers) * time
            + 8;
        size(self.common.units()) * unit
    }
}
