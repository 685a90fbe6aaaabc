//! The answer of one engine as data.

use indexmap::IndexMap;
use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tickbound_model::verdict::{Status, TimedConfiguration};
use tickbound_model::{Configuration, Problem};
use tickbound_solver::{Objective, Strategy};
use tickbound_spin::Search;
use tickbound_spin::output::Coverage;
use tickbound_spin::promela::Style;
use tickbound_spin::result::SpinProof;

use super::about::About;
use super::floor::FloorAnswer;
#[cfg(test)]
use super::names::named;
use super::resources::Resources;

/// Numbers by name: the values of a configuration's parameters, or counts.
pub type Values = IndexMap<String, i64>;

/// A configuration by the names of its parameters.
pub fn values(problem: &Problem, configuration: &Configuration) -> Values {
    problem.parameters.iter().map(|p| p.name.clone()).zip(configuration.0.clone()).collect()
}

/// Seconds as all answers give them: to a tenth of a millisecond.
pub fn tenth_of_millisecond(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 1e4
}

/// What `tune`, `spin` and `cp-sat` print with `--json`. Times of the model are in ticks,
/// wall-clock times in seconds, memory in bytes. A command prints all its keys, always in
/// the same order; a key is `null` where nothing is known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answer {
    /// What it is about.
    pub about: Option<About>,
    /// Ticks of the best configuration found.
    pub time: Option<i64>,
    /// How much is known of the least time.
    #[cfg_attr(test, schemars(schema_with = "super::names::status"))]
    pub status: Status,
    /// No configuration takes fewer ticks than this.
    #[serde(default)]
    pub lower: i64,
    /// The same as `time`, as the other end of the bracket.
    pub upper: Option<i64>,
    /// The best configuration found.
    pub configuration: Option<Values>,
    /// The simulator was run on the configuration and took as many ticks.
    pub replayed: Option<bool>,
    /// Wall-clock seconds, all in all.
    pub seconds: Option<f64>,
    /// What ended the search early.
    pub stopped_by: Option<String>,
    /// The tool and its version.
    pub tool: Option<String>,
    /// The encoding; `none` if every configuration was simulated.
    pub encoding: Option<String>,

    /// `tune`: the optimal configurations, or a ranking.
    pub optima: Option<Vec<Optimum>>,
    /// `tune`: the best distinct programs, if a ranking was requested under the profile
    /// `resources`.
    pub programs: Option<Vec<Folded>>,
    /// `tune`: all configurations of each program were counted, and not only those that the search
    /// came by.
    pub programs_whole: Option<bool>,
    /// `tune`: there are more optimal configurations than are listed.
    pub more_optima: Option<bool>,
    /// `tune`: how many optimal configurations there are, if they were counted.
    pub optima_count: Option<Tally>,
    /// `tune`: ticks of the best configuration that is not optimal.
    pub next: Option<i64>,
    /// `tune`: parameters on which no run time depends.
    pub indifferent: Option<Vec<String>>,
    /// `tune`: valid configurations, if they were counted.
    pub configurations: Option<Tally>,
    /// `tune`: configurations that satisfy the constraints and cannot be launched, by the limit
    /// that removes them: `multiple` (of the global size by the local size), `max_group_size`,
    /// `warp_rounds`, `local_memory`, `reqd_work_group_size`, `no_value` (a division by zero).
    pub left_out: Option<IndexMap<String, Tally>>,
    /// `tune`: who has proved that nothing is faster: `simulation` (of all configurations),
    /// `bounds`, `elimination`, `branching`, `second-derivation`, `z3`.
    pub proved_by: Option<Vec<String>>,
    /// `tune`: why configurations were simulated one by one, with the place in the problem or the
    /// source, where the problem leaves nothing else.
    pub simulated_because: Option<String>,
    /// `tune`: configurations drawn at random that the simulator has run as a check of what was
    /// proved; `null` if all were run anyway.
    pub checked: Option<u64>,
    /// `tune`: the requested strategy.
    #[cfg_attr(test, schemars(schema_with = "named::<Strategy>"))]
    pub strategy: Option<Strategy>,
    /// `tune`: checks that solvers made.
    pub solver_calls: Option<u64>,
    /// `tune`: what was requested.
    #[cfg_attr(test, schemars(schema_with = "named::<Objective>"))]
    pub objective: Option<Objective>,
    /// `tune`: ticks of the configuration under its best schedule.
    pub best_case: Option<i64>,
    /// `tune`: ticks of the configuration under its worst schedule.
    pub worst_case: Option<i64>,
    /// `tune`: the least and the most ticks that its best schedule may take, where schedules were
    /// explored; no most is `null`.
    pub best_case_bounds: Option<[Option<i64>; 2]>,
    /// `tune`: the same of its worst schedule.
    pub worst_case_bounds: Option<[Option<i64>; 2]>,
    /// `tune`: ticks of the configuration if the warp that has been ready longest is started first.
    pub first_come: Option<i64>,
    /// `tune`: what warps spend their time on under the best schedule, in ticks summed over all
    /// warps: `running`, and waiting for a `load`, a `dispatcher`, a memory `slot`, in `until`, or
    /// at a `barrier`. `null` where schedules are not open, or not both ends known.
    pub best_case_warps: Option<Values>,
    /// `tune`: the same under the worst schedule.
    pub worst_case_warps: Option<Values>,
    /// `tune`: a plain solver has confirmed the least time over all configurations.
    pub confirmed_uncut: Option<bool>,
    /// `tune`: what bounds the time of the best configuration found, under the profile `resources`.
    pub resources: Option<Resources>,
    /// `tune --floor`: a time that no configuration can undercut on the device.
    pub floor: Option<FloorAnswer>,
    /// `tune`: how large the formula was, as counts.
    pub size: Option<Values>,

    /// `spin`: the search.
    #[cfg_attr(test, schemars(schema_with = "named::<Search>"))]
    pub search: Option<Search>,
    /// `spin`: how the model is written.
    #[cfg_attr(test, schemars(schema_with = "named::<Style>"))]
    pub style: Option<Style>,
    /// `spin`: what the least time rests on.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub proof: Option<SpinProof>,
    /// `spin`: states stored, over all runs.
    pub states: Option<u64>,
    /// `spin`: transitions taken, over all runs.
    pub transitions: Option<u64>,
    /// `spin`: bytes of the run that took most memory.
    pub memory_bytes: Option<u64>,
    /// `spin`: greatest depth of a run, in steps.
    pub depth: Option<u64>,
    /// `spin`: all runs, in the order in which they ended.
    pub runs: Option<Vec<Run>>,
    /// `spin`: all trails, best first.
    pub trails: Option<Vec<Trail>>,
    /// `spin`: what a reader should know beside the figures.
    pub notes: Option<Vec<String>>,
    /// `spin`: its version.
    pub spin: Option<String>,
    /// `spin`: the version of the C compiler.
    pub compiler: Option<String>,

    /// `cp-sat`: steps that the system was unrolled for.
    pub steps: Option<u64>,
    /// `cp-sat`: values in the graph.
    pub nodes: Option<u64>,
    /// `cp-sat`: seconds that the solver itself took.
    pub solver_seconds: Option<f64>,
    /// `cp-sat`: branches of the search.
    pub branches: Option<u64>,
    /// `cp-sat`: conflicts of the search.
    pub conflicts: Option<u64>,
    /// `cp-sat`: search threads.
    pub workers: Option<u64>,
}

/// How many there are: a number, or its decimal digits where it leaves 63 bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Tally {
    /// Up to 2^63 - 1.
    Number(i64),
    /// The digits of a greater one.
    Digits(String),
}

impl Tally {
    /// The number.
    pub fn of(count: &BigUint) -> Tally {
        i64::try_from(count).map_or_else(|_| Tally::Digits(count.to_string()), Tally::Number)
    }
}

impl From<i128> for Tally {
    fn from(count: i128) -> Tally {
        i64::try_from(count).map_or_else(|_| Tally::Digits(count.to_string()), Tally::Number)
    }
}

/// One of the best configurations of `tune`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Optimum {
    /// An entry of a ranking, which has its own time.
    Ranked {
        /// Its ticks.
        time: i64,
        /// The configuration.
        configuration: Values,
    },
    /// A configuration that takes the least time.
    Tied(Values),
}

/// Configurations that use the same of a device, so that they are one program under the profile
/// `resources`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Folded {
    /// Ticks of each of them.
    pub time: i64,
    /// The first of them.
    pub configuration: Values,
    /// How many there are.
    pub configurations: usize,
    /// The parameters in which they differ.
    pub differ: Vec<String>,
}

/// One run of a program that SPIN generated, or of SPIN's own simulator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// What was run.
    pub what: String,
    /// The bound in ticks, where there is one.
    pub bound: Option<i64>,
    /// The seed of a random run.
    pub seed: Option<u64>,
    /// Its outcome, in a word or two.
    pub verdict: String,
    /// How states were stored.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub coverage: Option<Coverage>,
    /// Bits of the hash array for each state, in a bitstate run.
    pub hash_factor: Option<f64>,
    /// States stored.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Greatest depth reached, in steps.
    pub depth: u64,
    /// The depth limit, in steps.
    pub depth_limit: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Seconds of `spin -a`.
    pub spin_seconds: f64,
    /// Seconds of the C compiler.
    pub compile_seconds: f64,
    /// Seconds of the run itself.
    pub seconds: f64,
    /// Trails it wrote.
    pub trails: usize,
}

/// A run of SPIN's model to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trail {
    /// Its ticks.
    pub time: i64,
    /// The configuration.
    pub configuration: Values,
    /// Steps of the model's run; `null` for a run of SPIN's simulator.
    pub steps: Option<u64>,
    /// The run it comes from, as an index into `runs`.
    pub run: usize,
    /// The simulator has run it and takes as many ticks.
    pub confirmed: bool,
    /// Where schedules are open: which warp of which group is started when, as (tick, group, warp).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<Vec<(i64, i64, i64)>>,
    /// Where schedules are open: which unit each group goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Vec<i64>>,
}

impl Answer {
    /// The keys that each command prints, in order.
    pub const COMMANDS: [(&'static str, &'static str); 3] = [
        (
            "tune",
            "about time status lower upper configuration optima more_optima encoding strategy \
             solver_calls seconds stopped_by objective best_case worst_case best_case_bounds \
             worst_case_bounds first_come best_case_warps worst_case_warps confirmed_uncut \
             replayed size configurations optima_count next indifferent proved_by checked \
             left_out simulated_because resources programs programs_whole floor",
        ),
        (
            "spin",
            "about time status lower upper configuration search style proof states transitions \
             memory_bytes depth runs trails replayed notes tool spin compiler seconds stopped_by",
        ),
        (
            "cp-sat",
            "about time status lower encoding steps nodes seconds solver_seconds branches \
             conflicts \
             workers replayed tool stopped_by configuration",
        ),
    ];

    /// The part that all engines have: what is known, and the best configuration.
    pub fn new(
        problem: &Problem,
        status: Status,
        lower: i64,
        best: Option<&TimedConfiguration>,
    ) -> Answer {
        let configuration = best.map(|found| values(problem, &found.configuration));
        let time = best.map(|found| found.time);
        let about = Some(About::of(problem));
        Answer { about, time, status, lower, configuration, ..Answer::default() }
    }

    /// The least time is proved.
    pub fn proved(&self) -> bool {
        self.status == Status::Optimal
    }

    /// The command that prints such an answer, and its keys.
    fn of_command(&self) -> (&'static str, &'static str) {
        let [tune, spin, cp_sat] = Self::COMMANDS;
        match (self.strategy, self.search) {
            (Some(_), _) => tune,
            (None, Some(_)) => spin,
            (None, None) => cp_sat,
        }
    }

    /// The engine's name for a report: the command and what was chosen, such as `tune event race`.
    pub fn engine(&self) -> String {
        let encoding = self.encoding.as_deref().filter(|e| *e != "none");
        let strategy = self.strategy.map(Strategy::name);
        let (style, search) = (self.style.map(Style::name), self.search.map(Search::name));
        let chosen = [encoding, strategy, style, search].into_iter().flatten();
        [self.of_command().0].into_iter().chain(chosen).collect::<Vec<_>>().join(" ")
    }

    /// The object that is printed.
    pub fn json(&self) -> Value {
        let mut all = json!(self);
        let keys = self.of_command().1.split_whitespace();
        Value::Object(keys.map(|key| (key.to_owned(), all[key].take())).collect())
    }
}
