//! Open schedules: warps that compete for the dispatchers and the memory slots of their unit.
//!
//! What is open is a choice in the text: which ready warp a free dispatcher starts, and on which of
//! several units the next group is placed. Everything else follows, by the rules of
//! `docs/semantics.md`, section "Open schedules".
//!
//! - `processes` keeps the processes of the papers, with warps in place of processing elements;
//! - `lockstep` has one process, whose states are the moments at which something is open;
//! - `bounds` says how long a run can take at most.
//!
//! Every decision prints a line where a run is replayed, so that [`tickbound_model::simulate::Scripted`] can follow it.

mod bounds;
mod lockstep;
mod nodes;
mod processes;

use super::amounts::Amounts;
use super::choice::Quantity;
use super::error::PromelaError;
use super::facts::{Facts, Value, Who};
use super::width::Width;
use super::{Model, Style};
use tickbound_model::expr::{BinaryOp, Function};
use tickbound_model::kernel::{expressions, has_barrier, has_until};
use tickbound_model::{
    Access, Expr, Launch, ModelError, Platform, Problem, Profile, Space, Stmt, StmtKind, Warps,
};

/// The templates, by name.
pub(super) const TEMPLATES: [(&str, &str); 2] = [
    ("open_lockstep", include_str!("lockstep.pml.j2")),
    ("open_processes", include_str!("processes.pml.j2")),
];

/// Words that these models use; a problem's names keep clear of them.
pub(super) const WORDS: &[&str] = &[
    "DEVICES",
    "DISPATCHER",
    "PLACE",
    "PLACES",
    "ROWS",
    "UNITS",
    "WARP",
    "_pid",
    "a",
    "alarm",
    "alike",
    "answer",
    "ask",
    "asked",
    "at_barrier",
    "at_end",
    "b",
    "begin_group",
    "begins",
    "busy",
    "can",
    "compare_places",
    "compare_units",
    "d",
    "delay",
    "dev",
    "doing",
    "due",
    "ended",
    "g",
    "going",
    "holds",
    "is_free",
    "is_load",
    "j",
    "kind",
    "load",
    "loading",
    "look",
    "look_at_dispatcher",
    "look_at_unit",
    "look_for_places",
    "may_start",
    "mine",
    "occupy",
    "open",
    "over",
    "p",
    "pick",
    "pl_u",
    "places",
    "placing",
    "plain",
    "q",
    "quiet",
    "ready",
    "room",
    "run_on",
    "running",
    "same",
    "same_places",
    "same_rows",
    "segment",
    "settle",
    "settle_place",
    "short_of_slots",
    "some_start",
    "starting",
    "starting_warp",
    "ticks",
    "to_w",
    "u_pl",
    "used_slots",
    "w_b",
    "w_dis",
    "w_pl",
    "wait_past_mark",
    "waits",
    "warps",
    "x",
];

/// Most warps that a unit may hold at once, and most units: each is a line of the text.
const MAX_OPTIONS: i64 = 255;
/// Most rows of all units together.
const MAX_ROWS: i64 = 1 << 14;

/// True if the problem leaves the schedule open.
pub(super) fn is_open(problem: &Problem) -> bool {
    problem.profile == Profile::OpenCl && problem.platform.warps().is_some()
}

/// The time of the first configuration under one schedule, and a time that no run exceeds.
///
/// # Errors
/// A fault of the problem that shows in a configuration, or more statements than SPIN can run through.
pub(super) fn times(problem: &Problem, space: &Space) -> Result<(i64, i64), PromelaError> {
    bounds::times(problem, &space.bound, "make loops shorter, or the launch smaller")
}

/// Writes the model.
///
/// # Errors
/// What Promela cannot hold.
pub(super) fn write(facts: &Facts<'_>, style: Style) -> Result<Model, PromelaError> {
    let common = Common::new(facts)?;
    let model = match style {
        Style::Lockstep => lockstep::write(&common)?,
        Style::Processes => processes::write(&common)?,
    };
    Ok(Model { open_schedule: true, ..model })
}

/// True if no expression of the kernel mentions `gid` or `group`.
fn groups_alike(problem: &Problem) -> bool {
    let first = problem.first_item_slot();
    !mentions(problem, |slot| slot > first)
}

/// True if no expression of the kernel mentions `lid` or `gid`.
fn warps_alike(problem: &Problem) -> bool {
    let first = problem.first_item_slot();
    !mentions(problem, |slot| slot == first || slot == first + 1)
}

fn mentions(problem: &Problem, is: impl Fn(usize) -> bool) -> bool {
    let mut found = false;
    expressions(&problem.kernel, &mut |_, e| found |= e.mentions(&is));
    found
}

/// What both styles need.
struct Common<'f, 'a> {
    facts: &'f Facts<'a>,
    warps: Warps,
    /// Devices, and units of each, as far as there are groups for them: units are alike, so the first
    /// ones may be the ones that get any.
    devices: i64,
    units_per_device: i64,
    /// Most groups and most warps that a unit holds at once.
    places: i64,
    rows: i64,
    /// Dispatchers that have warps.
    dispatchers: i64,
    /// Most groups of a launch.
    groups: i64,
    barriers: bool,
    marks: bool,
}

impl<'f, 'a> Common<'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> Result<Self, PromelaError> {
        let platform = &facts.problem.platform;
        let missing = || ModelError::new("platform.warps", "is missing", "add it");
        let warps = platform.warps().ok_or_else(missing)?;
        let sizes = facts.shape.groups.iter().zip(&facts.shape.items);
        let sizes = sizes.map(|(groups, items)| (*groups, (items - 1) / warps.width + 1));
        let most =
            |of: &dyn Fn(i64, i64) -> i64| sizes.clone().map(|(g, w)| of(g, w)).max().unwrap_or(1);
        let groups = most(&|groups, _| groups);
        let devices = platform.numbers().find(|(n, _)| *n == "devices").map_or(1, |(_, v)| v);
        let units_per_device = (platform.units() / devices).min(groups);
        let common = Common {
            facts,
            warps,
            devices: devices.min((groups - 1) / units_per_device + 1),
            units_per_device,
            places: most(&|groups, _| groups.min(warps.resident_groups)),
            rows: most(&|groups, warps_of_group| {
                groups.min(warps.resident_groups).saturating_mul(warps_of_group)
            }),
            dispatchers: most(&|_, warps_of_group| warps_of_group).min(warps.dispatchers),
            groups,
            barriers: has_barrier(&facts.problem.kernel),
            marks: has_until(&facts.problem.kernel),
        };
        common.check()?;
        Ok(common)
    }

    fn check(&self) -> Result<(), PromelaError> {
        let all = self.rows.saturating_mul(self.units());
        let fix = "make groups smaller, or the platform (--input resident_groups=...)";
        let units = "use fewer units (--input units_per_device=...)";
        let checks = [
            (self.rows, MAX_OPTIONS, "launch", "warps on a unit at once", fix),
            (self.units(), MAX_OPTIONS, "platform.units_per_device", "units", units),
            (all, MAX_ROWS, "launch", "warps on all units at once", units),
        ];
        for (count, limit, at, what, fix) in checks {
            if count > limit {
                let (count, limit) = (count.unsigned_abs(), limit.unsigned_abs());
                let (at, fix) = (at.into(), fix.into());
                return Err(PromelaError::TooMany { at, what, count, limit, fix });
            }
        }
        Ok(())
    }

    fn units(&self) -> i64 {
        self.devices.saturating_mul(self.units_per_device)
    }

    fn units_note(&self) -> &'static str {
        if self.units() < self.facts.problem.platform.units() {
            "as many as there are groups: units are alike, so the first ones may be those that get any"
        } else {
            "of all devices"
        }
    }

    fn groups_alike(&self) -> bool {
        groups_alike(self.facts.problem)
    }

    /// Memory slots, if a unit's warps can compete for them.
    fn slots(&self) -> Result<Option<String>, PromelaError> {
        match self.warps.memory_slots {
            Some(slots) if slots < self.rows => self.number("memory_slots").map(Some),
            _ => Ok(None),
        }
    }

    /// A number of the platform under its name.
    fn number(&self, name: &str) -> Result<String, PromelaError> {
        let expr = self.platform(name);
        Ok(self.facts.value(&format!("platform.{name}"), &expr, Who::Launch)?.text)
    }

    fn platform(&self, name: &str) -> Expr {
        self.facts.problem.scope.slot(name).map_or(Expr::Int(1), Expr::Name)
    }

    /// The dispatchers' number: its name, unless some of them never have a warp.
    fn dispatchers_text(&self) -> Result<String, PromelaError> {
        if self.dispatchers < self.warps.dispatchers {
            return Ok(self.dispatchers.to_string());
        }
        self.number("dispatchers")
    }

    /// The type of a number up to `most`.
    fn width(&self, most: i64, what: &str) -> Result<Width, PromelaError> {
        Width::holding((0, most), what, &self.facts.fix())
    }

    /// WGs, warps and places.
    fn derived(&self) -> Result<Vec<Quantity>, PromelaError> {
        let Launch::Range { global_size, local_size } = &self.facts.problem.launch else {
            return Ok(Vec::new());
        };
        let groups = binary(BinaryOp::FloorDiv, global_size.clone(), local_size.clone());
        let of_group = vec![local_size.clone(), self.platform("warp_width")];
        let held = vec![self.platform("resident_groups"), groups.clone()];
        let all = [
            ("WGs", groups, "workgroups"),
            ("warps", Expr::Call(Function::CeilDiv, of_group), "warps of a group"),
            ("places", Expr::Call(Function::Min, held), "groups that a unit holds at once"),
        ];
        let quantity = |(name, expr, comment): (&str, Expr, &str)| {
            let value = self.facts.plain("launch", &expr, Who::Launch)?;
            Ok(Quantity { name: name.into(), value, comment: comment.into() })
        };
        all.into_iter().map(quantity).collect()
    }

    /// The ticks of a warp's access: amount times price; for global memory those for which it occupies
    /// its dispatcher.
    fn ticks(&self, amounts: &Amounts<'_, '_>, stmt: &Stmt) -> Result<Option<Value>, PromelaError> {
        let StmtKind::Access { access, amount } = &stmt.kind else { return Ok(None) };
        let scope = &self.facts.problem.scope;
        let price = match access {
            Access::Global => scope.slot("global_issue").or_else(|| scope.slot("global_access")),
            other => Platform::price_name(*other).and_then(|name| scope.slot(name)),
        };
        let expr = match price {
            None => amount.clone(),
            Some(slot) if *amount == Expr::Int(1) => Expr::Name(slot),
            Some(slot) => binary(BinaryOp::Mul, Expr::Name(slot), amount.clone()),
        };
        amounts.value(stmt, &expr).map(Some)
    }
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use indexmap::IndexMap;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::promela::names::Names;

    /// The words of a template, but for those of its comments, strings and placeholders.
    fn words(template: &str) -> BTreeSet<String> {
        let mut text = template.to_owned();
        for (open, close) in [("{{", "}}"), ("{%", "%}"), ("/*", "*/"), ("\"", "\"")] {
            while let Some(start) = text.find(open) {
                let after = start + open.len();
                let end = text[after..].find(close).map_or(text.len(), |e| after + e + close.len());
                text.replace_range(start..end, " ");
            }
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = text.split(|c| !word(c)).filter(|w| w.starts_with(|c: char| c.is_alphabetic()));
        words.map(str::to_owned).collect()
    }

    #[test]
    fn a_problem_cannot_take_a_word_of_the_templates() {
        let of_format = ["if", "else", "and", "or", "not", "True", "False", "lid", "gid", "group"];
        let of_cpp = ["define", "ifdef", "endif"];
        for (name, template) in TEMPLATES {
            for word in words(template) {
                if of_format.contains(&word.as_str()) || of_cpp.contains(&word.as_str()) {
                    continue;
                }
                let mut inputs = Map::new();
                inputs.insert(word.clone(), json!(1));
                let value = json!({ "inputs": inputs,
                    "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
                    "launch": { "global_size": 1, "local_size": 1 }, "kernel": [] });
                let platform = |_: &str| -> Result<Value, _> { unreachable!("no names") };
                let problem = Problem::from_value(&value, &IndexMap::new(), &platform);
                // The names of the platform are taken, too.
                let Ok(problem) = problem else { continue };
                assert_ne!(Names::new(&problem).slot(0), word, "{name}");
            }
        }
    }
}
