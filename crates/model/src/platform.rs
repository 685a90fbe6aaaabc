//! The platform: how many units and elements there are, and what each kind of access costs.
//!
//! This is the one place that prices an access. All times are in ticks, the unit of the model's
//! clock; what a tick is on a device is stated by the platform file's field `tick`. Two
//! texts of it are understood ([`Platform::tick_microseconds`]), others are for people. A number
//! may be written plain or as `{ "value": 132, "source": "..." }`.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::error::ModelError;
use super::json::{Field, join};
use super::resources::Resources;

tickbound_input::named! {
    /// What an atom of a kernel program does, hence what one of it costs.
    pub enum AccessKind {
        /// Access to global memory.
        Global = "global",
        /// Access to local memory.
        Local = "local",
        /// Access to constant memory.
        Constant = "constant",
        /// Arithmetic.
        Compute = "compute",
        /// Atomic operation on global memory.
        Atomic = "atomic",
        /// Atomic operation on local memory.
        LocalAtomic = "local_atomic",
        /// Atomic operation on one address of global memory that all items use at once.
        SharedAtomic = "shared_atomic",
        /// Atomic operation on one address of local memory that all items of a group use at once.
        SharedLocalAtomic = "shared_local_atomic",
        /// Work given directly in ticks.
        Work = "work",
    }
}

impl AccessKind {
    /// What a platform has a price for: all but plain work.
    pub const PRICED: [AccessKind; 8] = {
        let [priced @ .., _work] = AccessKind::ALL;
        priced
    };
}

/// Warps: how work items of a group are bundled and dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warps {
    /// Work items per warp, moving in lockstep.
    pub width: i64,
    /// Dispatchers per unit; each runs one warp at a time.
    pub dispatchers: i64,
    /// Most groups a unit holds at once.
    pub resident_groups: i64,
    /// Most warps of a unit that may have a global access under way; `None`: no limit.
    pub memory_slots: Option<i64>,
    /// Ticks a dispatcher is occupied by one global access.
    pub global_issue: i64,
    /// Ticks from the last issue of a global access until the warp is ready again.
    pub global_latency: i64,
}

/// Numbers with another's default ([`Platform::default_from`]), each after that one.
const DERIVED: [&str; 5] = [
    "atomic_access",
    "local_atomic_access",
    "shared_atomic_access",
    "shared_local_atomic_access",
    "constant_access",
];

/// A platform. Counts are at least 1, prices at least 0 ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// What people call it; empty for a nameless one.
    pub name: String,
    /// What a tick is, as the file states it.
    tick: Option<String>,
    fields: IndexMap<&'static str, i64>,
    /// Names of the numbers that are given, and no defaults.
    given: IndexSet<&'static str>,
    sources: IndexMap<String, String>,
}

struct FieldRule {
    key: &'static str,
    /// Name under which expressions see the field.
    name: &'static str,
    least: i64,
    default: Option<i64>,
    what: &'static str,
    /// Whether it is a time in ticks.
    in_ticks: bool,
}

const fn rule(
    key: &'static str,
    least: i64,
    default: Option<i64>,
    what: &'static str,
) -> FieldRule {
    FieldRule { key, name: key, least, default, what, in_ticks: false }
}

const fn time(key: &'static str, default: Option<i64>, what: &'static str) -> FieldRule {
    FieldRule { in_ticks: true, ..rule(key, 0, default, what) }
}

/// Every field of a platform, with its least value, its default and its meaning.
const FIELDS: &[FieldRule] = &[
    rule("devices", 1, Some(1), "number of devices"),
    rule("units_per_device", 1, None, "compute units in one device"),
    rule("elements_per_unit", 1, None, "processing elements in one unit"),
    time("global_access", None, "ticks of one access to global memory"),
    time("local_access", Some(1), "ticks of one access to local memory"),
    time(
        "constant_access",
        None,
        "ticks of one access to constant memory; as local_access if absent",
    ),
    time("compute_op", Some(1), "ticks of one arithmetic operation"),
    time("atomic_access", None, "ticks of one atomic operation; as global_access if absent"),
    time(
        "local_atomic_access",
        None,
        "ticks of one atomic operation on local memory; as atomic_access if absent",
    ),
    time(
        "shared_atomic_access",
        None,
        "ticks of one atomic operation on an address that all items use; as atomic_access if \
         absent",
    ),
    time(
        "shared_local_atomic_access",
        None,
        "ticks of one atomic operation on an address of local memory that all items of a group \
         use; as local_atomic_access if absent",
    ),
    time("barrier", Some(0), "ticks from the last arrival at a barrier to its release"),
    time("group_start", Some(0), "ticks to start a group on a unit"),
    time("kernel_launch", Some(0), "ticks before the first group starts"),
    rule("local_memory", 0, None, "bytes of local memory in one unit"),
    rule("max_group_size", 1, None, "most work items in a group"),
    time("global_issue", None, "ticks a dispatcher is occupied by one global access"),
    time("global_latency", None, "ticks from a global access's last issue to its data"),
    rule("clock_mhz", 1, None, "clock of a unit in MHz"),
];

const WARP_FIELDS: &[FieldRule] = &[
    FieldRule { name: "warp_width", ..rule("width", 1, None, "work items per warp") },
    rule("dispatchers", 1, None, "dispatchers per unit"),
    rule("resident_groups", 1, Some(1), "most groups a unit holds at once"),
    rule("memory_slots", 1, None, "most warps of a unit with a global access under way"),
];

fn resource_fields() -> impl Iterator<Item = FieldRule> {
    Resources::FIELDS.iter().map(|(key, least, what)| rule(key, *least, None, what))
}

/// How `tick` begins where a tick is a clock.
const CLOCK_TICK: &str = "one clock cycle of a unit";

/// Greatest value of any field; keeps every product of two fields within 64 bits.
const MAX_FIELD: i64 = 1 << 40;

impl Platform {
    /// Reads a platform from JSON; `path` is its place in the file, for errors.
    ///
    /// # Errors
    /// An unknown, missing or impossible field.
    pub fn from_json(path: &str, value: &Value) -> Result<Platform, ModelError> {
        let mut object = Field::new(path, value).object()?;
        let name = object.take("name").map(|f| f.label()).transpose()?;
        let tick = object.take("tick").and_then(|f| f.value.as_str().map(str::to_owned));
        for comment in ["notes", "sources", "$schema"] {
            object.take(comment);
        }
        let mut platform = Platform {
            name: name.unwrap_or_default(),
            tick,
            fields: IndexMap::new(),
            given: IndexSet::new(),
            sources: IndexMap::new(),
        };
        for rule in FIELDS {
            platform.read(rule, path, object.take(rule.key))?;
        }
        if let Some(warps) = object.take("warps") {
            let path = warps.path.clone();
            let mut warps = warps.object()?;
            for rule in WARP_FIELDS {
                platform.read(rule, &path, warps.take(rule.key))?;
            }
            if let Some(missing) =
                ["width", "dispatchers"].into_iter().find(|k| warps.take(k).is_none())
            {
                return Err(ModelError::new(join(&path, missing), "is missing", "add it"));
            }
            warps.finish()?;
        }
        if let Some(resources) = object.take("resources") {
            platform.read_resources(resources)?;
        }
        object.finish()?;
        for key in ["units_per_device", "elements_per_unit", "global_access"] {
            if platform.get(key).is_none() {
                let what = FIELDS.iter().find(|r| r.key == key).map_or("", |r| r.what);
                return Err(ModelError::new(
                    join(path, key),
                    "is missing",
                    format!("add the {what}"),
                ));
            }
        }
        platform.derive();
        Ok(platform)
    }

    /// The numbers that take their value from this one, as they are not given.
    pub fn followers<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'static str> + 'p {
        let of = move |other: &&str| Platform::default_from(other) == Some(name);
        DERIVED.into_iter().filter(of).filter(|other| !self.is_given(other))
    }

    /// Sets the numbers that are not given and take their value from others.
    fn derive(&mut self) {
        for name in DERIVED {
            let from = Platform::default_from(name).filter(|_| !self.is_given(name));
            if let Some(value) = from.and_then(|from| self.get(from)) {
                self.fields.insert(name, value);
            }
        }
    }

    fn read_resources(&mut self, resources: Field<'_>) -> Result<(), ModelError> {
        let path = resources.path.clone();
        let mut resources = resources.object()?;
        for rule in resource_fields() {
            let field = resources.take(rule.key);
            if let Some(field) = field.as_ref().filter(|_| self.fields.contains_key(rule.name)) {
                let what = "is given by `warps` too";
                return Err(ModelError::new(&field.path, what, "keep one of them"));
            }
            self.read(&rule, &path, field)?;
        }
        resources.finish()
    }

    fn read(
        &mut self,
        rule: &FieldRule,
        path: &str,
        field: Option<Field<'_>>,
    ) -> Result<(), ModelError> {
        let Some(field) = field else {
            if let Some(default) = rule.default {
                self.fields.insert(rule.name, default);
            }
            return Ok(());
        };
        let number = if field.value.is_object() {
            let mut object = field.clone().object()?;
            let value = object.need("value", "the number")?;
            if let Some(source) = object.take("source") {
                self.sources.insert(rule.name.into(), source.text()?.to_owned());
            }
            object.take("unit");
            object.finish()?;
            value.integer()?
        } else {
            field.integer()?
        };
        self.insert(rule, &join(path, rule.key), number)
    }

    fn insert(&mut self, rule: &FieldRule, at: &str, number: i64) -> Result<(), ModelError> {
        if !(rule.least..=MAX_FIELD).contains(&number) {
            return Err(ModelError::new(
                at,
                format!("found {number}"),
                format!("write the {}, from {} to {MAX_FIELD}", rule.what, rule.least),
            ));
        }
        self.fields.insert(rule.name, number);
        self.given.insert(rule.name);
        Ok(())
    }

    /// Replaces the field that expressions call `name`, and what defaults to it; `None` without it.
    pub fn set(&mut self, name: &str, value: i64) -> Option<Result<(), ModelError>> {
        let named = |rule: &FieldRule| rule.name == name;
        if let Some(rule) = FIELDS.iter().chain(WARP_FIELDS).find(|rule| named(rule)) {
            let inserted = self.insert(rule, name, value);
            self.derive();
            return Some(inserted);
        }
        resource_fields().find(named).map(|rule| self.insert(&rule, name, value))
    }

    /// Makes clocks of a unit of ticks, the nearest number of each: under the profile `resources` a
    /// tick is one for any file. Nothing changes where a tick is a clock, or the length of
    /// either is not known.
    pub(super) fn count_in_clocks(&mut self) {
        let (Some(tick), Some(clock)) = (self.tick_microseconds(), self.clock_microseconds())
        else {
            return;
        };
        for rule in FIELDS.iter().filter(|rule| rule.in_ticks) {
            if let Some(ticks) = self.fields.get_mut(rule.name) {
                *ticks = ((*ticks as f64 * tick / clock).round() as i64).min(MAX_FIELD);
            }
        }
        self.tick = Some(CLOCK_TICK.to_owned());
    }

    /// The numbers of the platform under the names that expressions use, in a fixed order.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = (&'static str, i64)> + '_ {
        self.fields.iter().map(|(k, v)| (*k, *v))
    }

    /// Where a number comes from, if the platform states it.
    pub fn source(&self, name: &str) -> Option<&str> {
        self.sources.get(name).map(String::as_str)
    }

    /// Whether the file, or what replaces its numbers, gives a number; else it is a default.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }

    /// The number that one takes its default from, if that is not the same on all platforms.
    pub fn default_from(name: &str) -> Option<&'static str> {
        match name {
            "constant_access" => Some("local_access"),
            "atomic_access" => Some("global_access"),
            "local_atomic_access" | "shared_atomic_access" => Some("atomic_access"),
            "shared_local_atomic_access" => Some("local_atomic_access"),
            _ => None,
        }
    }

    /// What a tick is, as the file states it.
    pub fn tick(&self) -> Option<&str> {
        self.tick.as_deref()
    }

    /// Microseconds of a tick: where `tick` is a clock cycle of a unit and the clock
    /// is known, or gives its nanoseconds, as in `0.01 ns`.
    pub fn tick_microseconds(&self) -> Option<f64> {
        let tick = self.tick()?;
        if tick.starts_with(CLOCK_TICK) {
            return self.clock_microseconds();
        }
        let nanoseconds: f64 = tick.strip_suffix(" ns")?.parse().ok()?;
        (nanoseconds.is_finite() && nanoseconds > 0.0).then_some(nanoseconds / 1e3)
    }

    /// Microseconds of a clock cycle of a unit, if the clock is known.
    pub fn clock_microseconds(&self) -> Option<f64> {
        self.clock_mhz().map(|clock| 1.0 / clock as f64)
    }

    fn get(&self, name: &str) -> Option<i64> {
        self.fields.get(name).copied()
    }

    fn need(&self, name: &str) -> i64 {
        self.get(name).unwrap_or_default()
    }

    /// Units of all devices together.
    pub fn units(&self) -> i64 {
        self.need("devices").saturating_mul(self.need("units_per_device"))
    }

    /// Processing elements in one unit.
    pub fn elements_per_unit(&self) -> i64 {
        self.need("elements_per_unit")
    }

    /// Ticks from the last arrival at a barrier to its release.
    pub fn barrier(&self) -> i64 {
        self.need("barrier")
    }

    /// Ticks to start a group on a unit.
    pub fn group_start(&self) -> i64 {
        self.need("group_start")
    }

    /// Ticks before the first group starts.
    pub fn kernel_launch(&self) -> i64 {
        self.need("kernel_launch")
    }

    /// Most work items in a group, if the platform limits them.
    pub fn max_group_size(&self) -> Option<i64> {
        self.get("max_group_size")
    }

    /// Ticks of one `access` on an element.
    pub fn price(&self, access: AccessKind) -> i64 {
        Platform::price_name(access).map_or(1, |name| self.need(name))
    }

    /// The name under which expressions see the price of `access`; `None` for plain work.
    pub fn price_name(access: AccessKind) -> Option<&'static str> {
        Some(match access {
            AccessKind::Global => "global_access",
            AccessKind::Local => "local_access",
            AccessKind::Constant => "constant_access",
            AccessKind::Compute => "compute_op",
            AccessKind::Atomic => "atomic_access",
            AccessKind::LocalAtomic => "local_atomic_access",
            AccessKind::SharedAtomic => "shared_atomic_access",
            AccessKind::SharedLocalAtomic => "shared_local_atomic_access",
            AccessKind::Work => return None,
        })
    }

    /// Bytes of local memory in one unit, if the platform states it.
    pub fn local_memory(&self) -> Option<i64> {
        self.get("local_memory")
    }

    /// Clock of a unit in MHz, if the platform states it.
    pub fn clock_mhz(&self) -> Option<i64> {
        self.get("clock_mhz")
    }

    /// The resources of the platform.
    pub fn resources(&self) -> Resources {
        Resources::of(|name| self.get(name))
    }

    /// The warps, if the platform has them.
    pub fn warps(&self) -> Option<Warps> {
        Some(Warps {
            width: self.get("warp_width")?,
            dispatchers: self.get("dispatchers")?,
            resident_groups: self.need("resident_groups").max(1),
            memory_slots: self.get("memory_slots"),
            global_issue: self.get("global_issue").unwrap_or_else(|| self.need("global_access")),
            global_latency: self.need("global_latency"),
        })
    }
}
