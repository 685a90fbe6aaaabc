//! The style `processes`: one process for each part of the platform, as in the paper.
//!
//! The processes are those of seed 000, Sections 3 and 4: `main`, `host`, `device`, `unit`, `pex`
//! (or `dispatcher`, where the platform has warps), `barrier` and `clock`. What the listings leave
//! to luck is made exact by one rule: whoever acts holds a place among the running processes
//! (`NRP`), and the clock moves on only if all of them have reported. Who wakes others counts them
//! first; who falls asleep counts itself out last; who hands work on hands its place on. So no tick
//! passes while something can still happen in it. `docs/promela.md` has the argument.

use minijinja::{Value as Json, context};

use super::common::Common;
use crate::promela::body::{self, Body};
use crate::promela::error::PromelaError;
use crate::promela::layout::Sharing;
use crate::promela::model::{Model, Style};
use crate::promela::program::Written;
use crate::promela::width::Width;
use tickbound_model::Launch;
use tickbound_model::kernel::has_until;

/// Most processes that SPIN runs at a time, and one for the never claim.
const MAX_PROCESSES: u64 = 255;

pub(super) fn write(common: &Common<'_, '_>) -> Result<Model, PromelaError> {
    let parts = Parts::new(common)?;
    let processes = parts.processes()?;
    let rounds = match (&common.problem().launch, common.groups_differ()) {
        (Launch::Activations { .. }, _) => "how often the unit is activated",
        (_, true) => "workgroups of all units",
        (_, false) => "workgroups of the busiest unit",
    };
    let what = if common.warps() { "warps" } else { "runs of the program" };
    let derived = common.derived(rounds, &format!("{what} of each worker in a group"))?;
    let (template, bytes) = ((Style::Processes, "processes"), parts.vector_bytes(processes));
    Model::new(template, common.facts, &derived, parts.fragments()?, (processes, bytes))
}

struct Parts<'c, 'f, 'a> {
    common: &'c Common<'f, 'a>,
    /// The program of a worker.
    kernel: Written,
    finish: Written,
}

impl<'c, 'f, 'a> Parts<'c, 'f, 'a> {
    fn new(common: &'c Common<'f, 'a>) -> Result<Self, PromelaError> {
        let amounts = common.amounts()?;
        let kernel =
            Body::new(&amounts, ("mark", "k"), |_| "work").write(&common.problem().kernel)?;
        Ok(Parts { common, kernel, finish: body::finish(common.facts, ("mark", "k"))? })
    }

    fn sharing(&self) -> Sharing {
        self.common.layout().sharing
    }

    fn processes(&self) -> Result<usize, PromelaError> {
        let layout = self.common.layout();
        let in_unit = 1 + u64::from(self.common.barriers) + layout.slots().unsigned_abs();
        let count = in_unit.saturating_mul(layout.units.unsigned_abs()).saturating_add(5);
        if count > MAX_PROCESSES {
            let (units, slots) = (layout.units, layout.slots());
            let what = if self.common.items() { "work items" } else { "elements" };
            return Err(PromelaError::TooManyProcesses {
                count,
                what: format!("{units} units with {slots} {what} each"),
                limit: MAX_PROCESSES,
                fix: "make groups smaller, or the platform (--input elements_per_unit=...)".into(),
            });
        }
        Ok(count as usize)
    }

    /// The type of a counter up to `most`, and one more, which a `for` reaches.
    fn counter(&self, most: i64, what: &str) -> Result<&'static str, PromelaError> {
        let width = Width::holding((0, most.saturating_add(1)), what, &self.common.facts.fix())?;
        Ok(width.name())
    }

    fn fragments(&self) -> Result<Json, PromelaError> {
        let (common, facts) = (self.common, self.common.facts);
        let (items, layout) = (common.items(), common.layout());
        let (rounds, local, most_runs) = (&common.rounds, &common.local, common.runs.range.1);
        let worker = if common.warps() { "dispatcher" } else { "pex" };
        let group_type = self.counter(rounds.range.1, "groups")?;
        let kernel_launch = facts.price("kernel_launch")?;
        let in_finish = has_until(&common.problem().finish);
        let alike =
            "; one unit stands for all, because all\n * groups take the same time (Section 5)";
        let message = self.common.groups_differ().then(|| format!(", {group_type}"));
        Ok(context! {
            items, barriers => common.barriers, marks => common.marks || in_finish,
            // The number that represents none of an element's items.
            turn_type => self.counter(most_runs, "items of an element")?,
            nobody => most_runs.saturating_add(1),
            places => common.places(),
            elements => common.elements()?, local => local.text,
            host_locals => self.locals(&self.finish, kernel_launch.is_some(), in_finish),
            kernel_launch, group_start => facts.price("group_start")?,
            barrier_price => common.barrier_price()?,
            finish => self.finish.lines,
            device_note => if layout.groups_alike { alike } else { "" },
            message => message.unwrap_or_default(),
            i_device => group_type, i_unit => self.counter(layout.slots(), "work items")?,
            // SPIN refuses a loop of which it sees that it is never run.
            many_workers => common.workers.range.1 > 1,
            more_groups => rounds.range.1 > layout.units, many_units => layout.units > 1,
            groups_differ => self.common.groups_differ(), group_type, rounds => "rounds",
            workers => if worker == "pex" { "processing elements" } else { "dispatchers" },
            workers_to_run => if items { local.text.clone() } else { "NWE".into() },
            worker, worker_note => self.worker_note(),
            worker_parameters => self.worker_parameters()?,
            worker_locals => self.worker_locals()?,
            worker_body => self.worker_body()?,
        })
    }

    fn locals(&self, program: &Written, more: bool, mark: bool) -> Vec<String> {
        let mut locals = Vec::new();
        let calls = |what: &str| program.lines.iter().any(|line| line.contains(what));
        let time = self.common.time.name();
        if more || calls("work(") {
            locals.push(format!("{time} begin, cur_time;"));
        } else if calls("until_mark(") {
            locals.push(format!("{time} cur_time;"));
        }
        if calls("(delay);") {
            locals.push("int delay;".to_owned());
        }
        if mark {
            locals.push(format!("{time} mark;  /* start_time in the paper */"));
        }
        locals.extend(program.declarations("k"));
        locals
    }

    fn worker_note(&self) -> &'static str {
        match self.sharing() {
            Sharing::Runs => "A processing element (Listing 8).",
            Sharing::Strided => {
                "A processing element (Listing 8); it runs its work items one after another."
            }
            Sharing::Items => {
                "A work item (Listing 8); its processing element runs one of its items at a time."
            }
            Sharing::Warps => {
                "A dispatcher: it runs its warps one after another, each in lockstep\n * \
                 (Garanina, Gorlatch 2021, Listing 3)."
            }
        }
    }

    fn worker_parameters(&self) -> Result<String, PromelaError> {
        let number = self.counter(self.common.facts.layout.slots(), "work items")?;
        Ok(match self.sharing() {
            Sharing::Runs => format!("{number} lid"),
            Sharing::Items => format!("{number} lid; byte u"),
            Sharing::Strided | Sharing::Warps => format!("{number} me"),
        })
    }

    fn worker_locals(&self) -> Result<Vec<String>, PromelaError> {
        let mut locals = self.locals(&self.kernel, false, self.common.marks);
        let layout = self.common.layout();
        if self.common.groups_differ() {
            locals.push(format!("{} group;", self.counter(self.common.rounds.range.1, "groups")?));
        }
        let most_runs = self.common.runs.range.1;
        if self.common.counts_runs() {
            locals.push(format!("{} r;", self.counter(most_runs, "runs")?));
        }
        let item = match self.sharing() {
            Sharing::Strided => Some("lid"),
            Sharing::Warps if self.kernel.mentions("w") => Some("w"),
            _ => None,
        };
        if let Some(item) = item {
            let most = self.common.local.range.1.saturating_add(layout.slots());
            locals.push(format!("{} {item};", self.counter(most, "work items")?));
        }
        Ok(locals)
    }

    fn worker_body(&self) -> Result<Vec<String>, PromelaError> {
        let mut kernel = Vec::new();
        if self.common.marks {
            kernel.push("mark = time;".to_owned());
        }
        kernel.extend(self.kernel.lines.iter().cloned());
        let local = self.common.local.text.clone();
        let deeper = |lines: Vec<String>| lines.into_iter().map(|l| format!("  {l}"));
        let mut lines = Vec::new();
        match self.sharing() {
            Sharing::Strided => {
                lines.extend(["lid = me;".into(), "do".into(), format!(":: lid < {local} ->")]);
                lines.extend(deeper(kernel));
                lines.extend(["  lid = lid + NWE".into(), ":: else -> break".into(), "od;".into()]);
                lines.push("lid = 0;".into());
            }
            Sharing::Items => {
                lines.push("my_turn;".into());
                lines.extend(kernel);
                lines.push("turn[ROW] = turn[ROW] + 1;".into());
                lines.extend(["if".into(), ":: last_of_element -> pex_u ! done".into()]);
                lines.extend([":: else -> skip".into(), "fi".into()]);
                return Ok(lines);
            }
            Sharing::Runs | Sharing::Warps => {
                let warp = self.sharing() == Sharing::Warps && self.kernel.mentions("w");
                if warp {
                    lines.push("w = me;".into());
                }
                if self.common.counts_runs() {
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
    fn vector_bytes(&self, processes: usize) -> usize {
        let units = usize::try_from(self.common.facts.layout.units).unwrap_or(1);
        let turns = usize::try_from(self.common.facts.layout.slots()).unwrap_or(0) * 4 * units;
        let locals = 4 * (10 + self.kernel.counters.len() + self.finish.counters.len());
        64 + turns + processes * (12 + locals) + (4 + 4 * units) * 24
    }
}
