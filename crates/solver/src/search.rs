//! What a search without a list works on; here configurations are simulated before they count.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use num_bigint::BigUint;
use tickbound_elimination::{Least, Relation, TableLimits, TooWide, Tree};
use tickbound_encodings::system::InternalError;
use tickbound_model::space::Configurations;
use tickbound_model::verdict::TimedConfiguration;
use tickbound_model::{Configuration, ModelError, Problem};
use tickbound_timing::{Cost, CostTables, FactoredSum, ParameterBox, StepBounds};

use crate::bracket::Bracket;
use crate::error::SolveError;
use crate::simulated::{Simulated, simulated};

/// Most rows of a join: some hundred megabytes.
pub(crate) const MAX_ROWS: usize = 1 << 22;

/// Most rows of a join at first, before other ways are tried as well.
pub(crate) const INITIAL_ROWS: usize = 1 << 19;

/// Most bounds of boxes that are kept: some megabytes.
const MAX_BOUNDS: usize = 1 << 15;

/// Limits that divide nothing.
pub(crate) fn limits<'a>(rows: usize, stop: &'a dyn Fn() -> bool) -> TableLimits<'a> {
    TableLimits { rows, divide: false, stop }
}

/// What a search works on.
pub struct Search<'a> {
    /// The valid configurations.
    pub configurations: &'a Configurations<'a>,
    /// Their run time.
    pub cost: &'a Cost,
    /// The shared bracket; its configurations are those that were tried, in that order.
    pub bracket: &'a Bracket<'a>,
    tried: Mutex<IndexMap<Configuration, Tried>>,
    simulated: AtomicU64,
    rows: AtomicUsize,
    /// Rows of a relation that are too few for an exact elimination.
    too_few: AtomicUsize,
    eliminated: OnceLock<Eliminated>,
    bounding: OnceLock<Eliminated>,
    guiding: OnceLock<Option<Eliminated>>,
    step_bounds: OnceLock<Option<StepBounds>>,
    /// Bounds of boxes that a chain of steps gives: the ranking examines those of the search again.
    boxes: Mutex<HashMap<ParameterBox, Option<i64>>>,
    /// All configurations with their times in the order of the space, where all were simulated.
    all: OnceLock<Vec<TimedConfiguration>>,
}

/// A cost whose parameters were eliminated exactly.
#[derive(Debug)]
pub(crate) struct Eliminated {
    /// The cost in tables.
    pub tables: CostTables,
    /// What its elimination left.
    pub tree: Tree<Least>,
    /// The least sum for each combination of the kept parameters.
    pub root: Relation<Least>,
}

impl Eliminated {
    /// True if the sums are costs, and not only bounds.
    pub(crate) fn is_exact(&self) -> bool {
        self.tables.is_exact() && self.tree.is_exact()
    }
}

/// What is known of a configuration.
#[derive(Debug, Clone, Copy)]
struct Tried {
    time: i64,
    simulated: bool,
}

impl<'a> Search<'a> {
    /// A search that knows nothing yet.
    pub fn new(
        configurations: &'a Configurations<'a>,
        cost: &'a Cost,
        bracket: &'a Bracket<'a>,
    ) -> Search<'a> {
        Search {
            configurations,
            cost,
            bracket,
            tried: Mutex::default(),
            simulated: AtomicU64::new(0),
            rows: AtomicUsize::new(MAX_ROWS),
            too_few: AtomicUsize::new(0),
            eliminated: OnceLock::new(),
            bounding: OnceLock::new(),
            guiding: OnceLock::new(),
            step_bounds: OnceLock::new(),
            boxes: Mutex::default(),
            all: OnceLock::new(),
        }
    }

    /// The same with tables and a tree made elsewhere, unexamined. Tests pass wrong ones.
    #[must_use]
    pub fn with_tables(self, tables: CostTables, tree: Tree<Least>) -> Search<'a> {
        let root = tree.root(&TableLimits::default());
        let found = root.map(|root| OnceLock::from(Eliminated { tables, tree, root }));
        Search { eliminated: found.unwrap_or_default(), ..self }
    }

    /// The problem.
    pub fn problem(&self) -> &'a Problem {
        self.configurations.problem()
    }

    /// How many configurations were simulated.
    pub fn simulated(&self) -> u64 {
        self.simulated.load(Ordering::Relaxed)
    }

    pub(crate) fn limit_rows(&self, rows: usize) {
        self.rows.store(rows, Ordering::Relaxed);
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// The exact elimination of the cost; `None` if it needs too many rows, or at a stop.
    pub(crate) fn eliminated(&self) -> Option<&Eliminated> {
        self.eliminated_within(self.rows())
    }

    /// The same with at most this many rows in a relation.
    pub(crate) fn eliminated_within(&self, rows: usize) -> Option<&Eliminated> {
        if let Some(known) = self.eliminated.get() {
            return Some(known);
        }
        if !self.cost.is_exact() || !self.configurations.is_complete() || self.is_long() {
            return None;
        }
        // After the bracket is closed the tree is wanted for the ranking.
        let closed = self.bracket.closed();
        let stop = || if closed { self.bracket.out_of_time() } else { self.bracket.done() };
        if rows <= self.too_few.load(Ordering::Relaxed) {
            return None;
        }
        match self.eliminate(&limits(rows, &stop)) {
            Ok(found) if found.is_exact() => Some(self.eliminated.get_or_init(|| found)),
            Err(TooWide::Stopped) => None,
            Ok(_) | Err(_) => {
                self.too_few.fetch_max(rows, Ordering::Relaxed);
                None
            }
        }
    }

    /// True if a row takes long to compute, and there are too many: those of a chain of steps.
    fn is_long(&self) -> bool {
        let few = |n: BigUint| n <= BigUint::from(self.rows());
        self.cost.is_chain() && !self.configurations.count().is_some_and(few)
    }

    /// An elimination whose costs may be lower bounds.
    pub(crate) fn bounding(&self, stop: &dyn Fn() -> bool) -> Result<&Eliminated, TooWide> {
        if let Some(known) = self.eliminated.get().or(self.bounding.get()) {
            return Ok(known);
        }
        let found = self.eliminate(&TableLimits { divide: true, ..limits(self.rows(), stop) })?;
        if found.is_exact() {
            return Ok(self.eliminated.get_or_init(|| found));
        }
        self.too_few.fetch_max(self.rows(), Ordering::Relaxed);
        Ok(self.bounding.get_or_init(|| found))
    }

    /// An elimination with at most this many rows in a relation, whose costs may be lower bounds;
    /// made once. `None` if even that is too large, or at a stop.
    pub(crate) fn guiding(&self, rows: usize) -> Option<&Eliminated> {
        let stop = || self.bracket.out_of_time();
        let limits = TableLimits { divide: true, ..limits(rows, &stop) };
        self.guiding.get_or_init(|| self.eliminate(&limits).ok()).as_ref()
    }

    /// True if boxes serve better than tables: for a chain of steps that is not in tables.
    pub(crate) fn is_over_boxes(&self) -> bool {
        self.cost.is_chain() && self.tabulated().is_none()
    }

    /// Bounds of a cost that is a chain of steps; made once.
    pub(crate) fn step_bounds(&self) -> Option<&StepBounds> {
        let make = || {
            let conditions = self.configurations.conditions();
            let values = self.configurations.sorted_values();
            StepBounds::new(self.problem(), values, conditions, self.cost.term())
        };
        self.step_bounds.get_or_init(make).as_ref()
    }

    /// What no valid configuration in a box undercuts, if there is one; found by `make` the first
    /// time.
    pub(crate) fn bound_of_box(
        &self,
        of: &ParameterBox,
        make: impl FnOnce() -> Option<i64>,
    ) -> Option<i64> {
        let known = || self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bound) = known().get(of) {
            return *bound;
        }
        let bound = make();
        let mut known = known();
        if known.len() < MAX_BOUNDS {
            known.insert(of.clone(), bound);
        }
        bound
    }

    /// The elimination of the cost's smallest form.
    pub(crate) fn eliminate(&self, limits: &TableLimits<'_>) -> Result<Eliminated, TooWide> {
        self.of_smallest_form(limits, |tables| {
            let tree: Tree<Least> = tables.network.eliminated(&tables.kept, limits)?;
            let root = tree.root(limits)?;
            Ok(Eliminated { tables, tree, root })
        })
    }

    /// What `make` makes of the tables of the smallest form of the cost for which nothing is too
    /// wide; of two as small the one with more in the scale.
    fn of_smallest_form<T>(
        &self,
        limits: &TableLimits<'_>,
        make: impl Fn(CostTables) -> Result<T, TooWide>,
    ) -> Result<T, TooWide> {
        let mut last = TooWide::Rows(limits.rows);
        let sizes: Vec<usize> = self.configurations.values().iter().map(Vec::len).collect();
        let mut forms = FactoredSum::all(self.cost.term(), self.problem());
        forms.sort_by_cached_key(|form| form.rows(self.problem(), &sizes));
        for normal in forms {
            let tables = CostTables::new(self.configurations, self.cost, normal, limits);
            match tables.and_then(&make) {
                Err(TooWide::Stopped) => return Err(TooWide::Stopped),
                Err(why) => last = why,
                Ok(made) => return Ok(made),
            }
        }
        Err(last)
    }

    /// The tables of the cost, if something has made them already.
    pub(crate) fn tabulated(&self) -> Option<&CostTables> {
        self.eliminated.get().map(|e| &e.tables)
    }

    /// The tables of the cost's smallest form.
    pub(crate) fn tables(&self, limits: &TableLimits<'_>) -> Option<CostTables> {
        self.of_smallest_form(limits, Ok).ok()
    }

    /// The values of all slots for a solution of the network.
    pub fn env(&self, indices: &[u32]) -> Vec<i64> {
        let mut env = self.problem().base_env();
        self.configurations.put(indices, &mut env);
        env
    }

    /// Simulates a configuration and offers its time to the bracket. `claimed` is what the cost
    /// gave for it. `None` if it is too large to simulate and nothing was claimed.
    ///
    /// # Errors
    /// It is not valid, has no time, or takes another time than claimed.
    pub fn offer(
        &self,
        configuration: Configuration,
        claimed: Option<i64>,
    ) -> Result<Option<i64>, SolveError> {
        if let Some(known) = self.known(&configuration) {
            return self.agreed(&configuration, claimed, known.time).map(Some);
        }
        let bound = self.configurations.bind(&configuration).map_err(|e| self.not_valid(e))?;
        let max_events = tickbound_simulator::SimulateOptions::default().max_events;
        let tried = match simulated(self.problem(), &bound, max_events)? {
            Simulated::Time { ticks: time, .. } => {
                self.simulated.fetch_add(1, Ordering::Relaxed);
                Tried { time, simulated: true }
            }
            Simulated::Beyond => return self.beyond(&configuration, claimed),
            Simulated::TooLarge => match claimed.filter(|t| *t < i64::MAX) {
                // The cost is taken, and the result is marked as not replayed.
                Some(time) => Tried { time, simulated: false },
                None => return Ok(None),
            },
        };
        self.agreed(&configuration, claimed, tried.time)?;
        let index = self.lock().insert_full(configuration.clone(), tried).0;
        self.bracket.offer(index, &configuration, tried.time);
        Ok(Some(tried.time))
    }

    /// Gives up closing the bracket: a configuration of `least` ticks or more cannot be simulated.
    pub(crate) fn too_large(&self, configuration: &Configuration, least: i64) {
        let name = self.problem().name_values(configuration);
        self.bracket
            .give_up(format!("{name} is too large to simulate and takes {least} ticks or more"));
    }

    /// The time of a configuration, if nothing else was claimed.
    fn agreed(
        &self,
        configuration: &Configuration,
        claimed: Option<i64>,
        time: i64,
    ) -> Result<i64, SolveError> {
        match claimed.filter(|t| *t != time) {
            None => Ok(time),
            Some(encoding) => Err(self.disagreement(configuration, encoding, Some(time))),
        }
    }

    /// The error for a configuration of which the cost and the simulator state different ticks.
    pub(crate) fn disagreement(
        &self,
        configuration: &Configuration,
        cost: i64,
        simulator: Option<i64>,
    ) -> SolveError {
        SolveError::disagreement(self.problem(), configuration, cost, simulator)
    }

    /// A choice that was taken for a configuration. Where the structure knows every condition it
    /// has excluded those choices before, and those for which the problem is at fault.
    fn not_valid(&self, why: ModelError) -> SolveError {
        match self.configurations.is_complete() {
            true => InternalError(format!(
                "a choice that is not valid was taken for a configuration: {why}"
            ))
            .into(),
            false => why.into(),
        }
    }

    /// A configuration whose time leaves 63 bits; the cost must do so too.
    fn beyond(
        &self,
        configuration: &Configuration,
        claimed: Option<i64>,
    ) -> Result<Option<i64>, SolveError> {
        match claimed.filter(|t| *t < i64::MAX) {
            Some(encoding) => Err(self.disagreement(configuration, encoding, None)),
            None => Ok(None),
        }
    }

    /// Takes the simulated times of all configurations, in the order of the space. What was tried
    /// before keeps its number.
    ///
    /// # Errors
    /// One takes another time than was claimed.
    pub(crate) fn listed(&self, all: Vec<TimedConfiguration>) -> Result<(), SolveError> {
        for TimedConfiguration { configuration, time } in &all {
            if let Some(known) = self.known(configuration) {
                self.agreed(configuration, Some(known.time), *time)?;
            }
            let tried = Tried { time: *time, simulated: true };
            let index = self.lock().insert_full(configuration.clone(), tried).0;
            self.bracket.offer(index, configuration, *time);
        }
        self.simulated.store(all.len() as u64, Ordering::Relaxed);
        self.bracket.close();
        self.all.get_or_init(|| all);
        Ok(())
    }

    /// All configurations with their times in the order of the space, if all were simulated.
    pub(crate) fn all(&self) -> Option<&[TimedConfiguration]> {
        self.all.get().map(Vec::as_slice)
    }

    fn known(&self, configuration: &Configuration) -> Option<Tried> {
        self.lock().get(configuration).copied()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, IndexMap<Configuration, Tried>> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A configuration by the bracket's number, with its time.
    pub(crate) fn found(&self, index: usize) -> TimedConfiguration {
        let tried = self.lock();
        let (configuration, tried) = tried.get_index(index).map_or_else(
            || (Configuration(Vec::new()), Tried { time: i64::MAX, simulated: false }),
            |(c, t)| (c.clone(), *t),
        );
        TimedConfiguration { configuration, time: tried.time }
    }

    pub(crate) fn was_simulated(&self, configuration: &Configuration) -> bool {
        self.known(configuration).is_some_and(|t| t.simulated)
    }

    /// The cost of a configuration, or the fault of the problem if it has none.
    ///
    /// # Errors
    /// An expression without a value.
    pub(crate) fn claimed(&self, configuration: &Configuration) -> Result<i64, SolveError> {
        let problem = self.problem();
        let mut env = problem.base_env();
        let first = problem.first_parameter();
        configuration.0.iter().enumerate().for_each(|(i, v)| env[first + i] = *v);
        let value = self.cost.term().value(&env);
        value.map_err(|e| problem.fault(&e.at, &e.what, &env).into())
    }
}
