//! What tickbound reads, in this process: one function for each kind of file. The fuzzers of
//! `tests/fuzz.rs` and of the folder `fuzz` call them.
//!
//! Bytes go in. Out comes nothing, if the file can be read, or the error message that a user would
//! see. What is read is also used a little, as commands do. A panic is a fault, and so is an error
//! of several lines.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde_json::{Value, json};
use tickbound_elimination::TableLimits;
use tickbound_encodings::plan::Plan;
use tickbound_encodings::system::run::run;
use tickbound_encodings::{EncodeError, Encoding, bounds};
use tickbound_measure::score::Results;
use tickbound_model::kernel::expressions;
use tickbound_model::problem::parse_json;
use tickbound_model::{Bound, LaunchSize, ModelError, Platform, Problem, Space, t1};
use tickbound_opencl::{Child, ReaderSetup, attach_with, for_proofs};
use tickbound_reo::automaton::Automaton;
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::reachable;
use tickbound_reo::syntax::Source;
use tickbound_reo::treo::{self, Shelf, TreoRequest};
use tickbound_reo::{aut, cat, ect, json as automata};
use tickbound_safety::certificate::check::check as check_certificate;
use tickbound_safety::{VerifyOptions, verify};
use tickbound_simulator::{SimulateOptions, simulate};

/// Larger spaces are not listed here: a limit of the program, which takes longer, guards them.
const CHOICES: u32 = 20_000;
/// Configurations that are simulated.
const SIMULATED: usize = 6;
/// Spaces with more configurations, and more items to sort, are not planned.
const PLANNED: (usize, i64) = (64, 20_000);
/// Connectors of more parts are not composed, and no product may take more bytes.
const COMPOSED: (usize, u64) = (12, 8 << 20);

/// How many problems got as far as a plan.
pub static PLANS: AtomicU64 = AtomicU64::new(0);

/// One kind of file.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// The name of its folder in `tests/corpus`.
    pub name: &'static str,
    /// Reads a file's bytes.
    pub read: fn(&[u8]) -> Result<(), String>,
}

/// All kinds of files.
pub const READERS: [Reader; 11] = [
    Reader { name: "problem", read: |bytes| problem(&text(bytes)?) },
    Reader { name: "platform", read: |bytes| platform(&text(bytes)?) },
    Reader { name: "t1", read: |bytes| t1_file(&text(bytes)?) },
    Reader { name: "opencl", read: |bytes| kernel(&text(bytes)?) },
    Reader { name: "safety", read: |bytes| verified(&text(bytes)?) },
    Reader { name: "treo", read: |bytes| treo_file(&text(bytes)?) },
    Reader { name: "cat", read: |bytes| cat_file(&text(bytes)?) },
    Reader { name: "aut", read: |bytes| aut_file(&text(bytes)?) },
    Reader { name: "reo", read: |bytes| reo_file(&text(bytes)?) },
    Reader { name: "automata", read: |bytes| automata_file(&text(bytes)?) },
    Reader { name: "measured", read: measured },
];

/// Tries one input on the reader of this name.
pub fn check(name: &str, bytes: &[u8]) {
    let reader = READERS.iter().find(|reader| reader.name == name).expect("a reader");
    if let Err(error) = (reader.read)(bytes) {
        one_line(&error);
    }
}

/// An error is one line that says something.
pub fn one_line(text: &str) {
    assert!(!text.trim().is_empty() && !text.contains(['\n', '\r']), "not one line: {text:?}");
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

fn text(bytes: &[u8]) -> Result<String, String> {
    tickbound_input::decoded(bytes.to_vec()).map_err(said)
}

// ---- problems, platforms, T1
// -------------------------------------------------------------------------------

/// Named platforms are looked up by the command line; here there is one.
fn platforms(name: &str) -> Result<Value, ModelError> {
    if name == "small" {
        return Ok(json!({ "units_per_device": 2, "elements_per_unit": 3, "global_access": 4 }));
    }
    Err(ModelError::new("platform", format!("no platform `{name}`"), "write small"))
}

/// True if the space has few choices; counts them as the walk through the space does.
fn is_small(problem: &Problem) -> bool {
    fn visit(problem: &Problem, env: &mut [i64], depth: usize, left: &mut u32) {
        let Some(parameter) = problem.parameters.get(depth) else { return };
        for value in parameter.domain.values(env).unwrap_or_default() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return;
            }
            env[problem.first_parameter() + depth] = value;
            visit(problem, env, depth + 1, left);
        }
    }
    let mut env: Vec<i64> = problem.inputs.values().copied().collect();
    env.extend(problem.platform.numbers().map(|(_, v)| v));
    env.resize(problem.scope.len(), 0);
    let mut left = CHOICES;
    visit(problem, &mut env, 0, &mut left);
    left > 0
}

/// All that the command line does to a problem file but for the solver.
pub fn problem(text: &str) -> Result<(), String> {
    used(&Problem::from_json(text, &IndexMap::new(), &platforms).map_err(said)?)
}

fn used(problem: &Problem) -> Result<(), String> {
    if !is_small(problem) {
        return Ok(());
    }
    let space = problem.space().map_err(said)?;
    for bound in space.bound.iter().take(SIMULATED) {
        let options = SimulateOptions { max_events: 20_000, ..SimulateOptions::default() };
        if let Err(e) = simulate(problem, bound, &options) {
            one_line(&e.to_string());
        }
    }
    encoded(problem, &space)
}

fn encoded(problem: &Problem, space: &Space) -> Result<(), String> {
    let mut differ = false;
    expressions(&problem.kernel, &mut |_, e| differ |= e.mentions(|s| problem.scope.is_item(s)));
    let looked_at = |bound: &Bound| match bound.launch {
        // Each group may differ.
        LaunchSize::Range { global, .. } => global,
        LaunchSize::Activations { local, .. } => local,
    };
    let items = space.bound.iter().fold(0, |sum: i64, b| sum.saturating_add(looked_at(b)));
    if space.bound.is_empty() || space.bound.len() > PLANNED.0 || (differ && items > PLANNED.1) {
        return Ok(());
    }
    let plan = Plan::new(problem, space).map_err(said)?;
    PLANS.fetch_add(1, Ordering::Relaxed);
    assert_eq!(bounds::lower_bounds(&plan).len(), space.bound.len());
    let of_group = plan.queue.as_ref().map_or(&plan, |queue| &queue.groups);
    let groups = of_group.configurations.len();
    if of_group.threads * of_group.items > 16 || (plan.queue.is_some() && groups > 16) {
        return Ok(());
    }
    for encoding in Encoding::ALL {
        let run = match encoding.encode(&plan) {
            Ok(encoded) => run(&encoded.system, 0, 50),
            Err(EncodeError::Group { error, .. }) => Err(error),
            Err(EncodeError::Fault(fault)) => panic!("{fault}"),
        };
        if let Err(e) = run {
            one_line(&e.to_string());
        }
    }
    Ok(())
}

/// A small problem for a platform, a kernel or the like.
fn small_problem() -> Value {
    json!({ "inputs": { "size": 16 }, "platform": "small",
        "parameters": { "WG": "powers_of_two(1, 4)", "TS": [1, 2] },
        "launch": { "global_size": "size", "local_size": "WG" },
        "kernel": [{ "global": "TS" }, { "local": 1 }, "barrier", { "compute": "WG" }] })
}

/// A platform file, and a problem on that platform.
fn platform(text: &str) -> Result<(), String> {
    let value: Value = serde_json::from_str(text).map_err(said)?;
    Platform::from_json("platform", &value).map_err(said)?;
    for profile in ["opencl", "resources"] {
        let mut file = small_problem();
        file["profile"] = json!(profile);
        let found = Problem::from_value(&file, &IndexMap::new(), &|_| Ok(value.clone()));
        if let Err(e) = found.map_err(said).and_then(|problem| used(&problem)) {
            one_line(&e);
        }
    }
    Ok(())
}

/// A T1 file, without its kernel.
fn t1_file(text: &str) -> Result<(), String> {
    let value = parse_json(text).map_err(said)?;
    if !t1::is_t1(&value) {
        return Err("no T1 file".to_owned());
    }
    let _ = t1::without_program(&value);
    let mut file = t1::read(&value).map_err(said)?;
    file["platform"] = json!("small");
    let problem = Problem::from_value(&file, &IndexMap::new(), &platforms).map_err(said)?;
    if let Err(e) = t1::write(&problem) {
        one_line(&e.to_string());
    }
    used(&problem)
}

// ---- OpenCL C
// --------------------------------------------------------------------------------------------

/// Why there is no libclang here, if that is what an error says.
pub fn is_missing(error: &str) -> bool {
    error.contains("libclang") && error.contains("install") && !error.contains("while it read")
}

/// A source whose kernel is called `k`. libclang runs in a process of its own, as for users, where
/// the program has been built.
fn kernel(text: &str) -> Result<(), String> {
    let (mut problem, folder) = problem_of_kernel(text)?;
    attach_with(&mut problem, folder.path(), &setup()).map_err(said)?;
    used(&problem)
}

/// A problem whose kernel is a text, in a folder of its own.
fn problem_of_kernel(text: &str) -> Result<(Problem, tempfile::TempDir), String> {
    let mut file = small_problem();
    file["kernel"] = json!({ "opencl": "k.cl", "entry": "k" });
    file["launch"] = json!({ "global_size": ["size"], "local_size": ["WG"] });
    let problem = Problem::from_value(&file, &IndexMap::new(), &platforms).map_err(said)?;
    let folder = tempfile::tempdir().map_err(said)?;
    std::fs::write(folder.path().join("k.cl"), text).map_err(said)?;
    Ok((problem, folder))
}

fn setup() -> ReaderSetup<'static> {
    let child = option_env!("CARGO_BIN_EXE_tickbound")
        .map(|program| Child { program: program.into(), arguments: vec!["read-kernel".into()] });
    ReaderSetup { child, ..ReaderSetup::default() }
}

/// A source whose kernel `k` is verified; the certificate of what is proved is complete.
fn verified(text: &str) -> Result<(), String> {
    let (problem, folder) = problem_of_kernel(text)?;
    let configurations = problem.configurations(&TableLimits::default()).map_err(said)?;
    let read = for_proofs(&problem, &configurations, folder.path(), &setup()).map_err(said)?;
    let Some(read) = read else { return Ok(()) };
    let began = Instant::now();
    let options = VerifyOptions {
        question: Duration::from_millis(200),
        stop: &|| began.elapsed() > Duration::from_secs(5),
        progress: &|_, _| {},
        among: None,
        all_refuted: true,
        certificate: true,
    };
    let found = verify(&problem, &configurations, &read, &options)?;
    if let Some(certificate) = found.certificate.filter(|_| !found.safety.stopped) {
        let proofs = folder.path().join("proofs");
        certificate.write(&proofs)?;
        check_certificate(&proofs, &|| false).unwrap_or_else(|why| panic!("{why}: {text}"));
    }
    Ok(())
}

// ---- connectors
// ------------------------------------------------------------------------------------------

/// A Treo file, and its connector, of size 2 where it asks for one.
fn treo_file(text: &str) -> Result<(), String> {
    let source = Source::new("a.treo", text);
    treo::parse(&source).map_err(said)?;
    let shelf = Shelf::default();
    let sized = TreoRequest::default().set("n", "2");
    let found = treo::connector(&source, &shelf, &TreoRequest::default())
        .or_else(|_| treo::connector(&source, &shelf, &sized));
    composed(&found.map_err(said)?);
    Ok(())
}

fn cat_file(text: &str) -> Result<(), String> {
    composed(&cat::connector(&Source::new("a.cat", text)).map_err(said)?);
    Ok(())
}

fn aut_file(text: &str) -> Result<(), String> {
    composed(&aut::connector(&Source::new("a.aut", text)).map_err(said)?);
    Ok(())
}

/// The files of both editors: one text is a connector or an automaton, never both.
fn reo_file(text: &str) -> Result<(), String> {
    if let Ok(automata) = ect::automata(&Source::new("a.ea", text), None) {
        composed(&automata);
        return Ok(());
    }
    composed(&ect::connector(&Source::new("a.reo", text), None).map_err(said)?);
    Ok(())
}

fn automata_file(text: &str) -> Result<(), String> {
    composed(&automata::connector(&Source::new("a.json", text)).map_err(said)?);
    Ok(())
}

/// A connector is composed if it is small.
fn composed(connector: &Connector) {
    if connector.parts.len() > COMPOSED.0 {
        return;
    }
    let parts: Vec<&Automaton> = connector.parts.iter().map(|part| &part.automaton).collect();
    if let Err(e) = reachable::compose(&parts, &ProductLimits::memory(COMPOSED.1)) {
        one_line(&e.to_string());
    }
}

// ---- measured times
// --------------------------------------------------------------------------------------

/// A cache of Kernel Tuner, a T4 file or KTT's output, also compressed.
fn measured(bytes: &[u8]) -> Result<(), String> {
    let path = std::path::Path::new("results");
    let mut results = Results::of_bytes(path, bytes.to_vec()).map_err(said)?;
    results.only(&["WG", "TS"]).map_err(said)
}
