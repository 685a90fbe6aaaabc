//! What both styles need of a problem with open schedules.

use crate::promela::declarations::Quantity;
use crate::promela::error::PromelaError;
use crate::promela::facts::{Facts, Who};
use crate::promela::layout::{binary, platform};
use crate::promela::width::Width;
use tickbound_expr::{BinaryOp, Expr, Function};
use tickbound_model::kernel::{has_barrier, has_until};
use tickbound_model::{Launch, ModelError, Warps};

/// Most warps that a unit may hold at once, and most units: each is a line of the text.
const MAX_OPTIONS: i64 = 255;
/// Most rows of all units together.
const MAX_ROWS: i64 = 1 << 14;

/// What both styles need.
pub(super) struct Common<'f, 'a> {
    pub facts: &'f Facts<'a>,
    pub warps: Warps,
    /// Devices, and units of each, for which there are groups: as units are alike, the first ones.
    pub devices: i64,
    pub units_per_device: i64,
    /// Most groups and most warps that a unit holds at once.
    pub places: i64,
    pub rows: i64,
    /// Dispatchers that have warps.
    pub dispatchers: i64,
    /// Most groups of a launch.
    pub groups: i64,
    pub barriers: bool,
    pub marks: bool,
}

impl<'f, 'a> Common<'f, 'a> {
    pub fn new(facts: &'f Facts<'a>) -> Result<Self, PromelaError> {
        let platform = &facts.problem.platform;
        let missing = || ModelError::new("platform.warps", "is missing", "add it");
        let warps = platform.warps().ok_or_else(missing)?;
        let sizes = facts.layout.groups.iter().zip(&facts.layout.items);
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
                return Err(PromelaError::too_many(at, what, count, limit, fix));
            }
        }
        Ok(())
    }

    pub fn units(&self) -> i64 {
        self.devices.saturating_mul(self.units_per_device)
    }

    pub fn units_note(&self) -> &'static str {
        if self.units() < self.facts.problem.platform.units() {
            "as many as there are groups: units are alike, so the first ones may be those that get \
             any"
        } else {
            "of all devices"
        }
    }

    pub fn groups_alike(&self) -> bool {
        self.facts.layout.groups_alike
    }

    /// Memory slots, if a unit's warps can compete for them.
    pub fn slots(&self) -> Result<Option<String>, PromelaError> {
        match self.warps.memory_slots {
            Some(slots) if slots < self.rows => self.number("memory_slots").map(Some),
            _ => Ok(None),
        }
    }

    /// A number of the platform under its name.
    fn number(&self, name: &str) -> Result<String, PromelaError> {
        let expr = platform(self.facts.problem, name);
        Ok(self.facts.value(&format!("platform.{name}"), &expr, Who::Launch)?.text)
    }

    /// The dispatchers' number: its name, unless some of them never have a warp.
    pub fn dispatchers_text(&self) -> Result<String, PromelaError> {
        if self.dispatchers < self.warps.dispatchers {
            return Ok(self.dispatchers.to_string());
        }
        self.number("dispatchers")
    }

    /// The type of a number up to `most`.
    pub fn width(&self, most: i64, what: &str) -> Result<Width, PromelaError> {
        Width::holding((0, most), what, &self.facts.fix())
    }

    /// WGs, warps and places.
    pub fn derived(&self) -> Result<Vec<Quantity>, PromelaError> {
        let problem = self.facts.problem;
        let Launch::Range { global_size, local_size } = &problem.launch else {
            return Ok(Vec::new());
        };
        let groups = binary(BinaryOp::FloorDiv, global_size.clone(), local_size.clone());
        let of_group = vec![local_size.clone(), platform(problem, "warp_width")];
        let held = vec![platform(problem, "resident_groups"), groups.clone()];
        let all = [
            ("WGs", groups, "workgroups"),
            ("warps", Expr::Call(Function::CeilDiv, of_group), "warps of a group"),
            ("places", Expr::Call(Function::Min, held), "groups that a unit holds at once"),
        ];
        let quantity = |(name, expr, comment): (&str, Expr, &str)| {
            let value = self.facts.plain("launch", &expr, Who::Launch)?;
            Ok(Quantity::new(name, value, comment))
        };
        all.into_iter().map(quantity).collect()
    }
}
