//! Searching without a list, held against listing and simulating everything, on random problems.
//!
//! `TICKBOUND_CASES` says how many problems, `TICKBOUND_FIRST_SEED` where to begin. A failure
//! prints the seed and the problem.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indexmap::IndexMap;
use num_bigint::BigUint;
use serde_json::{Value, json};
use tickbound_elimination::TableLimits;
use tickbound_model::space::Configurations;
use tickbound_model::verdict::Status;
use tickbound_model::{Configuration, Problem, Profile};
use tickbound_simulator::simulate;
use tickbound_solver::Proof;
use tickbound_solver::bracket::Bracket;
use tickbound_solver::result::MAX_OPTIMA;
use tickbound_solver::{SearchOptions, SolveError, Strategy, TuneResult, symbolic, tune};
use tickbound_timing::{Cost, Uncovered};

use crate::problems::{Random, problem};

/// The strategies that ask a solver.
const SOLVERS: [Strategy; 5] = [
    Strategy::Optimize,
    Strategy::Descend,
    Strategy::Ascend,
    Strategy::Bisect,
    Strategy::BisectFresh,
];

/// How long a solver is given for an encoding of a list, which is tested elsewhere.
const LISTED_TIMEOUT: Duration = Duration::from_millis(300);

/// What sort of problems were looked at.
#[derive(Debug, Default)]
struct Seen {
    /// With configurations, all of which have a time.
    problems: u64,
    configurations: u64,
    /// Without a configuration, with a fault in the space, with a fault in the kernel.
    empty: u64,
    faulty_space: u64,
    faulty_kernel: u64,
    /// Faults that the structure does not mind, as another condition excludes the choice.
    lenient_space: u64,
    /// Faults that some strategy did not meet, as what has it cannot be optimal.
    lenient_kernel: u64,
    constrained: u64,
    several_dimensions: u64,
    published: u64,
    /// Not every constant domain is sorted.
    unsorted: u64,
    dependent: u64,
    /// The cost covers the problem; says what it takes; only bounds it.
    covered: u64,
    exact: u64,
    bound: u64,
    items_differ: u64,
    uneven_items: u64,
    barriers: u64,
    repeats: u64,
    /// More than one optimum; more than are listed.
    ties: u64,
    more: u64,
    /// With another time beside the least.
    next: u64,
    searches: u64,
    solver_searches: u64,
    /// Encodings of lists that a solver takes long for.
    out_of_time: u64,
    padded: u64,
    proofs: BTreeMap<&'static str, u64>,
}

/// A problem and what running all its configurations gives.
struct Case<'p> {
    seed: u64,
    value: &'p Value,
    problem: &'p Problem,
    /// In the order of the space.
    times: Vec<(Configuration, i64)>,
    /// The cost is no more than a bound.
    bound_only: bool,
}

pub fn parsed(value: &Value) -> Problem {
    let none = |name: &str| unreachable!("no platform is named, but {name} was asked for");
    Problem::from_json(&value.to_string(), &IndexMap::new(), &none)
        .unwrap_or_else(|e| panic!("{e}\n{value}"))
}

fn from_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

fn tuned(problem: &Problem, options: &SearchOptions) -> Result<TuneResult, SolveError> {
    tune(problem, options, &AtomicBool::new(false), &|_| {})
}

/// What the strategy does without a list, whatever else [`tune`] would do.
fn tuned_symbolic(
    configurations: &Configurations<'_>,
    cost: &Cost,
    options: &SearchOptions,
) -> Result<TuneResult, SolveError> {
    let never = AtomicBool::new(false);
    let bracket = Bracket::new(None, &never, &|_| {});
    symbolic::tune(configurations, cost, options, &bracket)
}

impl Case<'_> {
    fn about(&self, what: &str) -> String {
        format!("seed {}: {what}\n{}", self.seed, self.value)
    }

    fn least(&self) -> i64 {
        self.times.iter().map(|(_, t)| *t).min().expect("configurations")
    }

    // ---- the space
    // ----------------------------------------------------------------------------------

    fn compare_space(&self, all: &Configurations<'_>) {
        let about = |what: &str| self.about(what);
        assert!(all.is_complete(), "{}", about("some condition is no relation"));
        let count = all.count().unwrap_or_else(|| panic!("{}", about("not counted")));
        assert_eq!(count, BigUint::from(self.times.len()), "{}", about("count"));
        let listed: BTreeSet<&Configuration> = self.times.iter().map(|(c, _)| c).collect();
        let numbered: Vec<Configuration> = (0..self.times.len())
            .map(|n| all.nth(&n.into()).unwrap_or_else(|| panic!("{}", about("no nth"))))
            .collect();
        assert_eq!(numbered.iter().collect::<BTreeSet<_>>(), listed, "{}", about("nth"));
        assert_eq!(all.nth(&count), None, "{}", about("one more than all"));
        let mut r = Random(self.seed);
        for _ in 0..if listed.is_empty() { 0 } else { 3 } {
            let drawn = all.random(&mut || r.next() as u32);
            let drawn = drawn.unwrap_or_else(|| panic!("{}", about("none drawn")));
            assert!(listed.contains(&drawn), "{}", about("drawn"));
            all.bind(&drawn).unwrap_or_else(|e| panic!("{}", about(&format!("{drawn:?}: {e}"))));
        }
        let n = self.problem.parameters.len() as u64;
        let (one, other) = (r.below(n) as usize, r.below(n) as usize);
        let mut both = vec![one, other];
        both.sort_unstable();
        both.dedup();
        for of in [vec![one], both] {
            self.compare_projection(all, &of);
            self.compare_restricted(all, &of, one);
        }
    }

    fn compare_projection(&self, all: &Configurations<'_>, of: &[usize]) {
        let relation = all.projected(of, &TableLimits::default()).expect("small");
        let value = |p: usize, i: u32| all.values()[p][i as usize];
        let projected: BTreeSet<Vec<i64>> = relation
            .sorted()
            .into_iter()
            .map(|(row, _)| of.iter().zip(row).map(|(p, i)| value(*p, i)).collect())
            .collect();
        let expected: BTreeSet<Vec<i64>> =
            self.times.iter().map(|(c, _)| of.iter().map(|p| c.0[*p]).collect()).collect();
        assert_eq!(projected, expected, "{}", self.about(&format!("projected on {of:?}")));
    }

    /// Every second combination of some parameters' values that occurs, and one that does not.
    fn compare_restricted(&self, all: &Configurations<'_>, of: &[usize], shown: usize) {
        let own = |c: &Configuration| of.iter().map(|p| c.0[*p]).collect::<Vec<i64>>();
        let known: BTreeSet<Vec<i64>> = self.times.iter().map(|(c, _)| own(c)).collect();
        let unknown = vec![i64::MIN; of.len()];
        let allowed: BTreeSet<Vec<i64>> = known.into_iter().step_by(2).chain([unknown]).collect();
        let expected: BTreeSet<i64> = self
            .times
            .iter()
            .filter(|(c, _)| allowed.contains(&own(c)))
            .map(|(c, _)| c.0[shown])
            .collect();
        let limits = TableLimits::default();
        let found = all.representatives_among((of, &allowed), &[shown], &limits).expect("small");
        for configuration in &found {
            let valid = self.times.iter().any(|(c, _)| c == configuration);
            assert!(valid && allowed.contains(&own(configuration)), "{}", self.about("restricted"));
        }
        let values: BTreeSet<i64> = found.iter().map(|c| c.0[shown]).collect();
        assert_eq!(
            (values, found.len()),
            (expected.clone(), expected.len()),
            "{}",
            self.about("restricted")
        );
    }

    // ---- the cost
    // -----------------------------------------------------------------------------------

    fn compare_cost(&self, all: &Configurations<'_>, cost: &Cost) {
        for (configuration, time) in &self.times {
            let env = all.bind(configuration).expect("valid").env;
            let value = cost.term().value(&env);
            let agrees = match &value {
                Ok(value) if cost.is_exact() => value == time,
                Ok(value) => value <= time,
                Err(_) => false,
            };
            let say = format!("{configuration:?} takes {time}, the cost says {value:?}");
            assert!(agrees, "{}", self.about(&say));
        }
    }

    // ---- the search
    // ---------------------------------------------------------------------------------

    /// Compares a result; `multiple` says how many configurations of the search stand for one here,
    /// of which the first parameters are those here.
    fn compare(&self, result: &TuneResult, top: usize, multiple: usize, what: &str) {
        let about = || self.about(&format!("{what}\n{result:?}"));
        let least = self.least();
        assert_eq!(result.status, Status::Optimal, "{}", about());
        assert_eq!((result.lower, result.upper), (least, Some(least)), "{}", about());
        assert!(result.stopped_by.is_none(), "{}", about());
        assert!(result.replayed, "{}", about());
        assert!(!result.proofs.is_empty(), "{}", about());
        let parameters = self.problem.parameters.len();
        let times: HashMap<&[i64], i64> =
            self.times.iter().map(|(c, t)| (c.0.as_slice(), *t)).collect();
        let best = result.best.as_ref().unwrap_or_else(|| panic!("{}", about()));
        assert_eq!(times.get(&best.configuration.0[..parameters]), Some(&least), "{}", about());
        assert_eq!(best.time, least, "{}", about());
        // What is listed takes what is said, once each.
        let mut listed = BTreeSet::new();
        for found in &result.optima {
            let own = &found.configuration.0[..parameters];
            assert_eq!(times.get(own), Some(&found.time), "{}", about());
            assert!(listed.insert(&found.configuration), "{}", about());
        }
        // As many as promised, the least times first.
        let mut sorted: Vec<i64> = self.times.iter().map(|(_, t)| *t).collect();
        sorted.sort_unstable();
        let all = sorted.len() * multiple;
        let optimal = sorted.iter().filter(|t| **t == least).count() * multiple;
        let promised = top.max(optimal.min(MAX_OPTIMA)).min(all);
        let expected = sorted.iter().flat_map(|t| std::iter::repeat_n(*t, multiple));
        let expected: Vec<i64> = expected.take(promised).collect();
        let listed: Vec<i64> = result.optima.iter().map(|f| f.time).collect();
        assert_eq!(listed, expected, "{}", about());
        assert_eq!(result.more_optima, optimal > promised, "{}", about());
        if let Some(count) = &result.optima_count {
            assert_eq!(*count, BigUint::from(optimal), "{}", about());
        }
        if result.next.is_some() {
            let next = sorted.iter().copied().find(|t| *t > least);
            assert_eq!(result.next, next, "{}", about());
        }
        if let Some(count) = &result.configurations {
            assert_eq!(*count, BigUint::from(all), "{}", about());
        }
    }

    fn search(&self, options: &SearchOptions, seen: &mut Seen) {
        let what = format!("{:?}, top {}", options.strategy, options.top);
        let result = tuned(self.problem, options);
        let result = result.unwrap_or_else(|e| panic!("{}", self.about(&format!("{what}: {e}"))));
        // The time may be out while the optima are listed, too.
        let out = options.timeout.is_some_and(|t| result.seconds >= t.as_secs_f64());
        if out || (options.timeout.is_some() && result.status == Status::Bounded) {
            let least = self.least();
            let around = result.lower <= least && result.upper.is_none_or(|upper| least <= upper);
            assert!(around, "{}", self.about(&format!("{what}\n{result:?}")));
            seen.out_of_time += 1;
            return;
        }
        self.compare(&result, options.top, 1, &what);
        self.note(&result, seen);
    }

    fn search_symbolic(
        &self,
        (all, cost): (&Configurations<'_>, &Cost),
        options: &SearchOptions,
        seen: &mut Seen,
    ) {
        let what = format!("{:?} without a list, top {}", options.strategy, options.top);
        let result = tuned_symbolic(all, cost, options);
        let result = result.unwrap_or_else(|e| panic!("{}", self.about(&format!("{what}: {e}"))));
        self.compare(&result, options.top, 1, &what);
        self.note(&result, seen);
    }

    fn note(&self, result: &TuneResult, seen: &mut Seen) {
        seen.searches += 1;
        for proof in &result.proofs {
            *seen.proofs.entry(proof.name()).or_default() += 1;
        }
    }

    /// The same problem with parameters on which nothing depends, so that it is too large to be
    /// listed.
    fn padded(&self, solver: Option<Strategy>, seen: &mut Seen) {
        let mut value = self.value.clone();
        value["parameters"]["PAD1"] = json!("range(1, 500)");
        value["parameters"]["PAD2"] = json!("range(1, 500)");
        let padded = parsed(&value);
        let searches = [(Strategy::Race, 0), (Strategy::Race, 3), (Strategy::Eliminate, 70)];
        for (strategy, top) in searches.into_iter().chain(solver.map(|s| (s, 0))) {
            let what = format!("padded, {strategy:?}, top {top}");
            let result =
                tuned(&padded, &SearchOptions { strategy, top, ..SearchOptions::default() });
            let result =
                result.unwrap_or_else(|e| panic!("{}", self.about(&format!("{what}: {e}"))));
            self.compare(&result, top, 250_000, &what);
            self.note(&result, seen);
            assert!(result.optima_count.is_some(), "{}", self.about(&what));
            for name in ["PAD1", "PAD2"] {
                let named = result.indifferent.iter().any(|n| n == name);
                assert!(named, "{}", self.about(&format!("{what}: {:?}", result.indifferent)));
            }
            let simulated = |p: &Proof| matches!(p, Proof::Simulation { .. });
            assert!(!result.proofs.iter().any(simulated), "{}", self.about(&what));
        }
        seen.padded += 1;
    }
}

/// True if some statement has this key, or is this word.
fn holds(program: &Value, key: &str) -> bool {
    match program {
        Value::Array(all) => all.iter().any(|s| holds(s, key)),
        Value::Object(fields) => {
            fields.contains_key(key) || fields.values().any(|inner| holds(inner, key))
        }
        Value::String(word) => word == key,
        _ => false,
    }
}

fn count(seen: &mut Seen, case: &Case<'_>) {
    let value = case.value;
    seen.problems += 1;
    seen.configurations += case.times.len() as u64;
    let constraints = value["constraints"].as_array().map_or(0, Vec::len);
    seen.constrained += u64::from(constraints > 0);
    seen.several_dimensions += u64::from(value["launch"]["local_size"].is_array());
    seen.published += u64::from(case.problem.profile == Profile::Published2023);
    let domains = || value["parameters"].as_object().into_iter().flat_map(|all| all.values());
    let numbers = |d: &Value| -> Vec<i64> {
        d.as_array().map_or(Vec::new(), |v| v.iter().filter_map(Value::as_i64).collect())
    };
    seen.unsorted += u64::from(domains().any(|d| !numbers(d).is_sorted()));
    let names = |d: &Value| {
        let text = d.as_str().map_or_else(|| d.to_string(), str::to_owned);
        text.chars().any(|c| c.is_ascii_uppercase())
    };
    seen.dependent += u64::from(domains().any(names));
    seen.barriers += u64::from(holds(&value["kernel"], "barrier"));
    seen.repeats += u64::from(holds(&value["kernel"], "repeat"));
    let optimal = case.times.iter().filter(|(_, t)| *t == case.least()).count();
    seen.ties += u64::from(optimal > 1);
    seen.more += u64::from(optimal > MAX_OPTIMA);
    seen.next += u64::from(optimal < case.times.len());
}

/// A fault of the problem is said as one, or the structure finds that nothing excluded has it.
fn compare_faulty_space(about: &str, problem: &Problem, error: &str, seen: &mut Seen) {
    match problem.configurations(&TableLimits::default()) {
        Err(e) => {
            assert!(!e.to_string().is_empty(), "{about}");
            seen.faulty_space += 1;
        }
        Ok(all) => {
            // Every member is valid, so what has the fault is none of them.
            let count = all.count().unwrap_or_else(|| panic!("{about}: {error}"));
            let count = u64::try_from(count).unwrap_or_else(|_| panic!("{about}: {error}"));
            for n in 0..count {
                let one = all.nth(&n.into()).unwrap_or_else(|| panic!("{about}: {error}"));
                all.bind(&one).unwrap_or_else(|e| panic!("{about}: {error}: {e}"));
            }
            seen.lenient_space += 1;
        }
    }
}

/// Where a configuration has no time, a search says so, or it has found that this one cannot be
/// optimal.
fn compare_faulty_kernel(case: &Case<'_>, seen: &mut Seen) {
    seen.faulty_kernel += 1;
    for strategy in [Strategy::Race, Strategy::Eliminate, Strategy::Branch, Strategy::Enumerate] {
        match tuned(case.problem, &SearchOptions { strategy, ..SearchOptions::default() }) {
            Err(e) => assert!(!e.is_fault(), "{}", case.about(&format!("{strategy:?}: {e}"))),
            Ok(result) => {
                let least = case.times.iter().map(|(_, t)| *t).min();
                let about = || case.about(&format!("{strategy:?}\n{result:?}"));
                assert_eq!(result.upper, least, "{}", about());
                seen.lenient_kernel += 1;
            }
        }
    }
}

fn compare(seed: u64, seen: &mut Seen) {
    let value = problem(seed);
    let problem = parsed(&value);
    let about = |what: &str| format!("seed {seed}: {what}\n{value}");
    let space = match problem.space() {
        Ok(space) => space,
        Err(e) => return compare_faulty_space(&about("space"), &problem, &e.to_string(), seen),
    };
    let all = problem.configurations(&TableLimits::default());
    let all = all.unwrap_or_else(|e| panic!("{}", about(&format!("no structure: {e}"))));
    let mut times = Vec::new();
    let mut faulty = false;
    for bound in &space.bound {
        match simulate(&problem, bound, &tickbound_simulator::SimulateOptions::default()) {
            Ok(run) => times.push((bound.configuration.clone(), run.time)),
            Err(_) => faulty = true,
        }
    }
    let mut case = Case { seed, value: &value, problem: &problem, times, bound_only: false };
    if faulty {
        return compare_faulty_kernel(&case, seen);
    }
    case.compare_space(&all);
    let mut r = Random(!seed);
    let strategies = [Strategy::Race, Strategy::Eliminate, Strategy::Branch, Strategy::Enumerate];
    if case.times.is_empty() {
        seen.empty += 1;
        for strategy in [Strategy::Race, Strategy::Enumerate] {
            let result = tuned(&problem, &SearchOptions { strategy, ..SearchOptions::default() });
            let result = result.unwrap_or_else(|e| panic!("{}", about(&e.to_string())));
            assert_eq!(result.status, Status::Infeasible, "{}", about(&format!("{strategy:?}")));
        }
        return;
    }
    count(seen, &case);
    let cost = match Cost::new(&problem) {
        Ok(cost) => Some(cost),
        Err(Uncovered::Statement { .. }) => None,
        Err(e) => panic!("{}", about(&e.to_string())),
    };
    case.bound_only = cost.as_ref().is_some_and(|c| !c.is_exact());
    for strategy in strategies {
        if cost.is_none() && matches!(strategy, Strategy::Eliminate | Strategy::Branch) {
            continue;
        }
        // Without a cost a race asks a solver about the list.
        let timeout = (cost.is_none() && strategy == Strategy::Race).then_some(LISTED_TIMEOUT);
        for top in if timeout.is_some() { &[3][..] } else { &[0, 3] } {
            case.search(
                &SearchOptions { strategy, top: *top, timeout, ..SearchOptions::default() },
                seen,
            );
        }
    }
    let solver = SearchOptions { strategy: r.one_of(&SOLVERS), ..SearchOptions::default() };
    if r.below(16) == 0 {
        case.search(&SearchOptions { timeout: Some(LISTED_TIMEOUT), ..solver.clone() }, seen);
        seen.solver_searches += 1;
    }
    let Some(cost) = cost else { return };
    seen.covered += 1;
    seen.exact += u64::from(cost.is_exact());
    seen.bound += u64::from(!cost.is_exact());
    let term = format!("{:?}", cost.term());
    seen.items_differ += u64::from(term.contains("Items"));
    seen.uneven_items += u64::from(term.contains("Emptier"));
    case.compare_cost(&all, &cost);
    if cost.is_exact() && r.below(8) == 0 {
        case.search_symbolic((&all, &cost), &SearchOptions { top: 3, ..solver.clone() }, seen);
        seen.solver_searches += 1;
    }
    if cost.is_exact() && r.below(10) == 0 {
        // That one always lists the configurations.
        case.padded(Some(solver.strategy).filter(|s| *s != Strategy::BisectFresh), seen);
    }
}

/// Fails unless at least `least` of a thousand problems are of this sort.
fn at_least(seen: &Seen, least: u64, sort: &str, number: u64) {
    assert!(
        number * 1_000 >= least * seen.problems,
        "only {number} problems with {sort}: {seen:#?}"
    );
}

#[test]
fn searching_without_a_list_finds_what_simulating_everything_finds() {
    let cases = from_environment("TICKBOUND_CASES", 800);
    let first = from_environment("TICKBOUND_FIRST_SEED", 0);
    let mut seen = Seen::default();
    let mut failed = Vec::new();
    for seed in first..first + cases {
        // A panic says what is wrong; the other problems are looked at nevertheless.
        let compared = std::panic::catch_unwind(AssertUnwindSafe(|| compare(seed, &mut seen)));
        failed.extend(compared.is_err().then_some(seed));
    }
    println!("{seen:#?}");
    assert!(failed.is_empty(), "seeds {failed:?}");
    if cases < 200 {
        return;
    }
    assert!(seen.problems * 10 >= cases * 6, "too many problems were refused: {seen:#?}");
    assert!(seen.configurations >= 15 * seen.problems, "too few configurations: {seen:#?}");
    for (least, sort, number) in [
        (300, "constraints", seen.constrained),
        (300, "several dimensions", seen.several_dimensions),
        (120, "activations as published", seen.published),
        (400, "domains that are not sorted", seen.unsorted),
        (400, "domains that depend on others", seen.dependent),
        (800, "a time that is an expression", seen.covered),
        (750, "a time that is exactly an expression", seen.exact),
        (30, "a cost that is only a bound", seen.bound),
        (200, "items that differ", seen.items_differ),
        (100, "elements with one item more than others", seen.uneven_items),
        (400, "barriers", seen.barriers),
        (400, "loops", seen.repeats),
        (300, "several optima", seen.ties),
        (5, "more optima than are listed", seen.more),
        (700, "another time beside the least", seen.next),
        (100, "a solver asked", seen.solver_searches),
        (50, "a space too large to be listed", seen.padded),
        (5, "a fault that only some configurations have", seen.faulty_kernel),
        (30, "a fault in the space", seen.faulty_space),
        (30, "no configuration", seen.empty),
        (2, "a fault only in a choice that is excluded", seen.lenient_space),
    ] {
        at_least(&seen, least, sort, number);
    }
    assert!(seen.out_of_time * 20 <= seen.problems, "solvers had no answer too often: {seen:#?}");
    for proof in ["bounds", "branching", "elimination", "simulation", "z3"] {
        let number = seen.proofs.get(proof).copied().unwrap_or_default();
        at_least(&seen, 100, &format!("a proof by {proof}"), number);
    }
}

#[test]
fn bound_only_costs_list_as_many_as_asked_for() {
    let value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 2,
        "global_access": 1 },
        "parameters": { "A": [1, 2, 3, 4] }, "launch": { "global_size": 4, "local_size": 4 },
        "kernel": ["mark", { "work": "A" }, { "until": 1 }] });
    let problem = parsed(&value);
    for strategy in [Strategy::Eliminate, Strategy::Branch] {
        let result =
            tuned(&problem, &SearchOptions { strategy, top: 3, ..SearchOptions::default() });
        assert_eq!(result.expect("a result").optima.len(), 3, "{strategy:?}");
    }
}

/// Searches spaces that are not listed, where the cost is only a bound.
fn on_bounds(strategy: Strategy) {
    for (until, finish) in
        [("B", json!([])), ("2 * B - A", json!([{ "compute": "B" }])), ("7", json!([]))]
    {
        let value = json!({ "platform": { "units_per_device": 2, "elements_per_unit": 8,
            "global_access": 1,
                "barrier": 1 },
            "parameters": { "WG": [8, 2, 4], "A": "range(1, 4)", "B": [0, 3, 5] },
            "constraints": ["A * WG >= 8"],
            "launch": { "global_size": 16, "local_size": "WG" },
            "kernel": [{ "work": "WG" }, "mark", { "work": "A" }, { "until": until }, "barrier",
                { "work": "4 - A" }],
            "finish": finish });
        let problem = parsed(&value);
        let space = problem.space().expect("a space");
        let time = |b| {
            simulate(&problem, b, &tickbound_simulator::SimulateOptions::default())
                .expect("a time")
                .time
        };
        let times = space.bound.iter().map(|b| (b.configuration.clone(), time(b))).collect();
        let case = Case { seed: 0, value: &value, problem: &problem, times, bound_only: true };
        assert!(!Cost::new(&problem).expect("a cost").is_exact());
        let mut large = value.clone();
        large["parameters"]["PAD1"] = json!("range(1, 500)");
        large["parameters"]["PAD2"] = json!("range(1, 500)");
        let timeout = Some(Duration::from_secs(5));
        let result = tuned(
            &parsed(&large),
            &SearchOptions { strategy, timeout, ..SearchOptions::default() },
        );
        let result = result.unwrap_or_else(|e| panic!("{}", case.about(&e.to_string())));
        assert_eq!(result.stopped_by, None, "{result:?}");
        case.compare(&result, 0, 250_000, "a large space on bounds");
    }
}

#[test]
fn elimination_on_bounds() {
    on_bounds(Strategy::Eliminate);
}

#[test]
fn a_race_on_bounds() {
    on_bounds(Strategy::Race);
}

#[test]
fn branch_and_bound_on_bounds() {
    on_bounds(Strategy::Branch);
}

/// Every two of 14 parameters share a cost, so that tables are too large: one configuration is
/// known before anything else.
#[test]
fn a_search_that_is_stopped_at_once_has_something_to_show() {
    let parameters: IndexMap<String, &str> =
        (0..14).map(|i| (format!("P{i}"), "range(1, 40)")).collect();
    let pairs = (0..14).flat_map(|i| (i + 1..14).map(move |j| (i, j)));
    let kernel: Vec<Value> =
        pairs.map(|(i, j)| json!({ "work": format!("(3 * P{i} + 5 * P{j}) % 13") })).collect();
    let problem = parsed(&json!({
        "platform": { "units_per_device": 4, "elements_per_unit": 4, "global_access": 5 },
        "parameters": parameters, "launch": { "global_size": 16, "local_size": 4 },
        "kernel": kernel }));
    for strategy in [Strategy::Race, Strategy::Eliminate, Strategy::Branch] {
        let options = SearchOptions { strategy, ..SearchOptions::default() };
        let result = tune(&problem, &options, &AtomicBool::new(true), &|_| {}).expect("a result");
        assert_eq!(result.status, Status::Bounded, "{strategy:?}");
        let best = result.best.expect("a configuration");
        let bound = problem
            .configurations(&TableLimits::default())
            .expect("a space")
            .bind(&best.configuration);
        let run = simulate(
            &problem,
            &bound.expect("valid"),
            &tickbound_simulator::SimulateOptions::default(),
        );
        assert_eq!((Some(best.time), best.time), (result.upper, run.expect("a time").time));
    }
}

/// In a constraint `/` is exact, in a definition that the constraint uses it is not.
#[test]
fn a_division_of_a_definition_rounds_down_in_a_constraint() {
    let value = json!({ "platform": { "units_per_device": 1, "elements_per_unit": 2,
        "global_access": 1 },
        "parameters": { "A": [1, 2, 3, 4], "B": [1, 2] },
        "definitions": { "d": "7 / A", "e": "d / 2" },
        "constraints": ["d <= 3", "e == 1", "B / 2 < 1"],
        "launch": { "global_size": 4, "local_size": 4 }, "kernel": [{ "work": "A" }] });
    let problem = parsed(&value);
    let space = problem.space().expect("a space");
    assert_eq!(space.bound.len(), 2);
    let all = problem.configurations(&TableLimits::default()).expect("a structure");
    assert_eq!(all.count(), Some(BigUint::from(2u32)));
}

/// Under `published-2021`, where items do not differ, the cost is what the simulator takes in every
/// configuration.
#[test]
fn warps_in_turn() {
    let (mut covered, mut compared) = (0, 0);
    for seed in 0..2000u64 {
        let mut value = problem(seed);
        value["profile"] = json!("published-2021");
        value["platform"]["warps"] =
            json!({ "width": 1 + seed % 2, "dispatchers": 1 + seed / 2 % 2 });
        let none = |name: &str| unreachable!("no platform is named, but {name} was asked for");
        let problem = Problem::from_json(&value.to_string(), &IndexMap::new(), &none);
        let Ok(problem) = problem else { continue };
        let (Ok(cost), Ok(space)) = (Cost::new(&problem), problem.space()) else { continue };
        assert!(cost.is_exact());
        covered += 1;
        for bound in &space.bound {
            let run = simulate(&problem, bound, &tickbound_simulator::SimulateOptions::default());
            match (run, cost.term().value(&bound.env)) {
                (Ok(run), Ok(time)) => {
                    assert_eq!(run.time, time, "seed {seed}: {:?}\n{value}", bound.configuration);
                    compared += 1;
                }
                (Err(_), Err(_)) => {}
                (run, time) => {
                    panic!("seed {seed}: {:?}: {run:?} {time:?}\n{value}", bound.configuration)
                }
            }
        }
    }
    assert_eq!((covered, compared), (720, 18_838));
}
