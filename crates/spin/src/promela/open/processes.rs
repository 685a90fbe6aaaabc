//! The style `processes`: the processes of the papers, with warps in place of processing elements.
//!
//! A warp waits for its dispatcher before every segment, and the dispatcher picks one of those that
//! wait. The clock is that of the closed profiles, with two differences: it also waits until no
//! dispatcher can start a warp, and a process reports to it once, not at every tick.
//! `docs/promela.md` has the argument.

use minijinja::{Value as Json, context};

use super::common::Common;
use crate::promela::amounts::Amounts;
use crate::promela::body::{self, Body};
use crate::promela::error::PromelaError;
use crate::promela::model::{Model, Style};
use crate::promela::program::Written;
use crate::promela::width::Width;
use tickbound_model::kernel::has_until;
use tickbound_model::{AccessKind, Stmt, StmtKind};

/// Most processes that SPIN runs at a time, and most channels.
const MAX_PROCESSES: i64 = 255;

pub(super) fn write(common: &Common<'_, '_>) -> Result<Model, PromelaError> {
    let parts = Parts::new(common)?;
    let fragments = parts.fragments()?;
    let processes = usize::try_from(parts.processes()).unwrap_or(usize::MAX);
    let (template, sizes) =
        ((Style::Processes, "open_processes"), (processes, parts.vector_bytes()));
    Model::new(template, common.facts, &common.derived()?, fragments, sizes)
}

struct Parts<'c, 'f, 'a> {
    common: &'c Common<'f, 'a>,
    time: Width,
    /// The program of a warp.
    kernel: Written,
    finish: Written,
}

impl<'c, 'f, 'a> Parts<'c, 'f, 'a> {
    fn new(common: &'c Common<'f, 'a>) -> Result<Self, PromelaError> {
        let (facts, problem) = (common.facts, common.facts.problem);
        let amounts = Amounts::of_warps(facts, common.warps.width)?;
        let inline = |stmt: &Stmt| match stmt.kind {
            StmtKind::Access { access: AccessKind::Global, .. } => "load",
            _ => "segment",
        };
        let kernel = Body::new(&amounts, ("mark", "k"), inline).write(&problem.kernel)?;
        let finish = body::finish(facts, ("mark", "k"))?;
        let parts = Parts { common, time: facts.time_width()?, kernel, finish };
        parts.check()?;
        Ok(parts)
    }

    /// The never claim included.
    fn processes(&self) -> i64 {
        let common = self.common;
        let place = 1 + i64::from(common.barriers);
        let unit = 1 + common.dispatchers + common.places * place + common.rows;
        4 + common.devices + common.units().saturating_mul(unit)
    }

    fn channels(&self) -> i64 {
        let common = self.common;
        let unit = 2 + common.dispatchers + common.places * 3 + common.rows;
        1 + 2 * common.devices + common.units().saturating_mul(unit)
    }

    fn check(&self) -> Result<(), PromelaError> {
        let count = self.processes().max(self.channels());
        if count <= MAX_PROCESSES {
            return Ok(());
        }
        let common = self.common;
        Err(PromelaError::TooManyProcesses {
            count: count.unsigned_abs(),
            what: format!(
                "{} units with {} dispatchers and {} warps at once",
                common.units(),
                common.dispatchers,
                common.rows
            ),
            limit: MAX_PROCESSES.unsigned_abs(),
            fix: "make groups smaller, or the platform (--input resident_groups=...)".into(),
        })
    }

    fn locals(&self, program: &Written, until: bool) -> Vec<String> {
        let mut locals = program.declarations("k");
        if program.mentions("delay") {
            locals.push("int delay;".to_owned());
        }
        if until || program.mentions("mark") {
            let time = self.time.name();
            locals.push(format!("{time} mark;  /* start_time in the paper */"));
        }
        locals
    }

    /// The program, and what has to be set before it and cleared after it.
    fn warp_body(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.common.marks {
            lines.push("mark = time;".to_owned());
        }
        lines.extend(self.kernel.lines.iter().cloned());
        // What a warp has done with cannot tell states apart.
        let used = |name: &&str| self.kernel.mentions(name);
        let counters = (1..=self.kernel.counters.len()).map(|k| format!("k{k} = 0;"));
        lines.extend(counters);
        lines.extend(["delay", "mark"].iter().filter(|n| used(n)).map(|n| format!("{n} = 0;")));
        lines
    }

    fn fragments(&self) -> Result<Json, PromelaError> {
        let (common, facts) = (self.common, self.common.facts);
        let units = common.units();
        let in_finish = has_until(&facts.problem.finish);
        let asked = units.saturating_mul(common.places).saturating_add(common.groups);
        Ok(context! {
            processes => self.processes(), devices => common.devices, units,
            rows => common.rows, all_rows => common.rows * units,
            places => common.places,
            units_note => common.units_note(),
            dispatchers => common.dispatchers_text()?,
            slots => common.slots()?,
            slot_type => common.width(common.rows, "memory slots")?.name(),
            group_type => common.width(common.groups, "groups")?.name(),
            asked_type => common.width(asked.saturating_add(1), "groups")?.name(),
            groups_alike => common.groups_alike(),
            barriers => common.barriers, until => common.marks || in_finish,
            latency => facts.price("global_latency")?,
            group_start => facts.price("group_start")?,
            kernel_launch => facts.price("kernel_launch")?,
            barrier_price => if common.barriers { facts.price("barrier")? } else { None },
            never => facts.max_time.saturating_add(1),
            host_locals => self.locals(&self.finish, in_finish),
            finish => self.finish.lines,
            warp_locals => self.locals(&self.kernel, common.marks),
            warp_body => self.warp_body(),
        })
    }

    /// An upper estimate: SPIN aligns variables and adds a header to each process and channel.
    fn vector_bytes(&self) -> usize {
        let size = |n: i64| usize::try_from(n).unwrap_or(0);
        let (time, common) = (self.time.bytes(), self.common);
        let process = 24 + time + 4 * (self.kernel.counters.len() + self.finish.counters.len());
        let unit =
            size(common.places) * 8 + size(common.rows) * 4 + size(common.dispatchers) * 2 + 8;
        96 + size(self.processes()) * (process + time)
            + size(self.channels()) * 16
            + size(common.units()) * unit
    }
}
