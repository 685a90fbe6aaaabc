//! From a request to the steps of all its configurations.
//!
//! One reading keeps the symbols open, so it serves all configurations - unless the syntax itself
//! depends on a symbol: `#if VW == 4`, or `float##VW`. Such a symbol is *structural*. The source is
//! then read once for each combination of structural values that occurs; each reading is a
//! [`Variant`].
//!
//! A reading with values knows the most of them, but is one of many. Beyond a number of readings
//! ([`ReaderSetup::max_by_value`]) conditions are structural, where that is possible, and not the
//! symbols in them.

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};
use rayon::prelude::*;

use crate::child;
use crate::child::ReaderSetup;
use crate::error::{Read, ReadError};
use crate::preprocess::{Conditions, Expanded, Expander, Said, c_value};
use crate::proof::events::ProofKernel;
use crate::reading::{KernelSignature, MAX_VARIANTS, One, ParameterType};
use crate::request::{ReadRequest, Symbol};
use crate::steps::{KernelSteps, SymbolExpr};

/// The steps of a kernel for all configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The symbols that the syntax depends on, and the names of conditions.
    pub structural: Vec<String>,
    /// Those conditions over symbols.
    pub conditions: IndexMap<String, SymbolExpr>,
    /// The steps for each combination of their values that occurs, in the order in which they
    /// occur; exactly one if there are no structural symbols.
    pub variants: Vec<Variant>,
}

impl Extracted {
    /// The structural symbols without conditions, which stand behind them.
    pub fn macros(&self) -> &[String] {
        &self.structural[..self.structural.len().saturating_sub(self.conditions.len())]
    }

    /// The structural values for these values of symbols; `None` if one is not known.
    pub fn choice(&self, value: &impl Fn(&str) -> Option<i64>) -> Option<Vec<i64>> {
        let each = self.structural.iter().map(|name| match self.conditions.get(name) {
            Some(condition) => c_value(condition, value),
            None => value(name),
        });
        each.collect()
    }
}

/// The steps for one combination of structural values.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// A value for each structural symbol.
    pub values: Vec<i64>,
    /// The names of the kernel function's parameters.
    pub parameters: Vec<String>,
    /// Their types, in the same order.
    pub types: Vec<ParameterType>,
    /// What a work item does.
    pub steps: KernelSteps,
    /// The same for proofs, if it was read for these; `steps` is empty then.
    pub proof: Option<ProofKernel>,
    /// How far the source wants loops to be unrolled.
    pub unroll: Vec<Said>,
}

/// For some symbols every combination of values that occurs, each with values of all symbols that
/// go with it. Their places count the symbols of the request and then the conditions that are
/// given.
pub type Occurring<'a> = &'a dyn Fn(
    &[usize],
    &IndexMap<String, SymbolExpr>,
) -> Result<IndexMap<Vec<i64>, Vec<i64>>, ReadError>;

/// Reads a kernel for all values of its symbols that occur, in the way of `setup`.
///
/// # Errors
/// What cannot be read in the source, or what this machine lacks.
pub fn extract_with(
    request: &ReadRequest,
    occurring: Occurring<'_>,
    setup: &ReaderSetup<'_>,
) -> Result<Extracted, ReadError> {
    let with_values = || extract(request, occurring, setup, (None, MAX_VARIANTS));
    if request.for_proofs || setup.max_by_value >= MAX_VARIANTS {
        return with_values();
    }
    match extract(request, occurring, setup, (None, setup.max_by_value)) {
        Err(ReadError::ManyReadings { .. }) => {}
        found => return found,
    }
    let with_conditions = Some(Conditions::default());
    match extract(request, occurring, setup, (with_conditions, MAX_VARIANTS)) {
        Err(error) if !matches!(error, ReadError::Stopped { .. }) => match with_values() {
            // A fault of one of the few texts is more useful than that there are many.
            Err(ReadError::ManyReadings { .. }) => Err(error),
            found => found,
        },
        found => found,
    }
}

/// The same with at most `most` readings, and with conditions that are structural or without.
fn extract(
    request: &ReadRequest,
    occurring: Occurring<'_>,
    setup: &ReaderSetup<'_>,
    (mut conditions, most): (Option<Conditions>, usize),
) -> Read<Extracted> {
    let mut structural: IndexSet<String> = IndexSet::new();
    loop {
        let known = conditions.as_ref().map_or_else(IndexMap::new, Conditions::values);
        let mut request = request.clone();
        let truth = |name: &String| (name.clone(), Symbol { least: 0, greatest: 1 });
        request.symbols.extend(known.keys().map(truth));
        let names: IndexSet<String> = structural.iter().chain(known.keys()).cloned().collect();
        let combinations = combinations(&request, (occurring, &known), &names, most)?;
        let names: Vec<String> = names.into_iter().collect();
        match read_all(&request, (&names, conditions.as_ref()), &combinations, setup)? {
            Ok(variants) => {
                return Ok(Extracted { structural: names, conditions: known, variants });
            }
            Err(Asked::Conditions(found)) => conditions = Some(found),
            Err(Asked::Symbols(more)) => {
                let before = structural.len();
                structural.extend(more);
                if structural.len() == before {
                    return Err(ReadError::file(
                        &request.name,
                        "its macros could not be expanded",
                        "give the macros that `#if` asks for as numbers in kernel.defines",
                    ));
                }
            }
        }
    }
}

/// The kernels that a source declares. Symbols that are structural have these values, and so have
/// those that the syntax depends on; others are open.
///
/// # Errors
/// What cannot be compiled in the source, or what this machine lacks.
pub fn kernels(
    request: &ReadRequest,
    mut structural: Vec<String>,
    values: &IndexMap<String, i64>,
    setup: &ReaderSetup<'_>,
) -> Result<Vec<KernelSignature>, ReadError> {
    let expand = |structural: &[String]| {
        Expander::new(request, structural)?.stopped_by(setup.interrupt).one(values)
    };
    let mut expanded = expand(&structural)?;
    while !expanded.asked.is_empty() && structural.len() < values.len() {
        structural.append(&mut expanded.asked);
        expanded = expand(&structural)?;
    }
    let known = structural.iter().map(|name| values.get(name).copied().unwrap_or_default());
    let text = (known.collect(), expanded);
    match &setup.child {
        None => child::kernels_here(request, &structural, &text),
        Some(child) => child.kernels(request, (&structural, text), setup.interrupt),
    }
}

/// Structural values, and for each combination of them values of all symbols that go with it.
type Combinations = IndexMap<Vec<i64>, Vec<i64>>;

fn combinations(
    request: &ReadRequest,
    (occurring, conditions): (Occurring<'_>, &IndexMap<String, SymbolExpr>),
    structural: &IndexSet<String>,
    most: usize,
) -> Read<Combinations> {
    let places: Vec<usize> =
        structural.iter().filter_map(|name| request.symbols.get_index_of(name)).collect();
    let found = occurring(&places, conditions)?;
    if found.len() > most {
        return Err(ReadError::ManyReadings {
            name: request.name.clone(),
            structural: structural.iter().cloned().collect(),
        });
    }
    Ok(found)
}

/// What the syntax depends on besides what is structural.
enum Asked {
    Symbols(Vec<String>),
    /// All conditions that are known now.
    Conditions(Conditions),
}

/// What one pass over all combinations yields, or what the syntax depends on in addition.
type Pass = Result<Vec<Variant>, Asked>;

fn read_all(
    request: &ReadRequest,
    (structural, conditions): (&[String], Option<&Conditions>),
    combinations: &Combinations,
    setup: &ReaderSetup<'_>,
) -> Read<Pass> {
    let combinations: Vec<(&Vec<i64>, &Vec<i64>)> = combinations.iter().collect();
    let mut expander = Expander::new(request, structural)?.stopped_by(setup.interrupt);
    if let Some(conditions) = conditions {
        expander = expander.with_conditions(conditions);
    }
    // The first one alone: it shows most of what is needed.
    let (first, others) = combinations.split_at(combinations.len().min(1));
    let mut expanded = Vec::with_capacity(combinations.len());
    for some in [first, others] {
        let texts = some.par_chunks(TOGETHER).flat_map_iter(|some| expand(&expander, some));
        for text in texts.collect::<Vec<_>>() {
            let text = text?;
            let mut learned = conditions.cloned().unwrap_or_default();
            if learned.learn(&text.conditions, request) {
                return Ok(Err(Asked::Conditions(learned)));
            }
            if !text.asked.is_empty() {
                return Ok(Err(Asked::Symbols(text.asked)));
            }
            expanded.push(text);
        }
    }
    let values: Vec<&Vec<i64>> = combinations.iter().map(|(values, _)| *values).collect();
    read_texts(request, structural, &values, &expanded, setup).map(Ok)
}

/// Copies of a source that one run of the preprocessor expands.
const TOGETHER: usize = 32;

/// What the source expands to for some values of its symbols: in one run, or each by itself.
fn expand(expander: &Expander<'_>, some: &[(&Vec<i64>, &Vec<i64>)]) -> Vec<Read<Expanded>> {
    let named = |(_, configuration): &(&Vec<i64>, &Vec<i64>)| expander.named(configuration);
    let values: Vec<_> = some.iter().map(named).collect();
    if some.len() > 1
        && let Some(all) = expander.together(&values)
    {
        return all.into_iter().map(Ok).collect();
    }
    let alone = |((own, _), values): (&(&Vec<i64>, &Vec<i64>), _)| {
        expander.one(values).map_err(|error| error.with_macros(expander.structural, own))
    };
    some.iter().zip(&values).map(alone).collect()
}

/// Each answer is for a loop or a branch in something that was read.
fn check_answers(request: &ReadRequest, readings: &[One]) -> Read<()> {
    let bounds = request.bounds.iter().map(|(asked, _)| ("bounds", "loop", asked));
    let branches = request.branches.iter().map(|(asked, _)| ("branches", "branch", asked));
    let is_bound = |i: &usize| readings.iter().any(|one| one.matched.0.contains(i));
    let is_branch = |i: &usize| readings.iter().any(|one| one.matched.1.contains(i));
    let bounds = bounds.enumerate().filter(|(i, _)| !is_bound(i));
    let branches = branches.enumerate().filter(|(i, _)| !is_branch(i));
    match bounds.chain(branches).next() {
        None => Ok(()),
        Some((_, (field, what, asked))) => Err(ReadError::file(
            format!("kernel.{field}.{asked}"),
            format!("there is no such {what} in {}", request.name),
            "remove it: what is asked for is said again",
        )),
    }
}

/// Readings that are made before it is seen whether one failed.
const AT_ONCE: usize = 64;

/// Reads what structural values expand to, each text once.
fn read_texts(
    request: &ReadRequest,
    structural: &[String],
    values: &[&Vec<i64>],
    expanded: &[Expanded],
    setup: &ReaderSetup<'_>,
) -> Read<Vec<Variant>> {
    let mut places: IndexMap<&str, usize> = IndexMap::new();
    for (i, text) in expanded.iter().enumerate() {
        places.entry(&text.text).or_insert(i);
    }
    let different: Vec<(&str, usize)> = places.into_iter().collect();
    let texts = different.iter().map(|(text, i)| (*text, expanded[*i].open.as_slice()));
    let key = setup.kept.key(request, texts);
    let before =
        key.and_then(|key| setup.kept.load(key)).filter(|all| all.len() == different.len());
    let is_new = before.is_none();
    let mut readings = before.unwrap_or_default();
    for some in different[readings.len()..].chunks(AT_ONCE) {
        setup.go_on(&request.name)?;
        let text = |(_, i): &(&str, usize)| (values[*i].clone(), expanded[*i].clone());
        let texts: Vec<child::Text> = some.iter().map(text).collect();
        let new = match &setup.child {
            None => child::here(request, structural, &texts),
            Some(child) => child.read(request, (structural, texts), setup.interrupt)?,
        };
        for one in new {
            readings.push(one?);
        }
    }
    if let (Some(key), true) = (key, is_new) {
        setup.kept.store(key, &readings);
    }
    let known: HashMap<&str, &One> =
        different.iter().zip(&readings).map(|((text, _), one)| (*text, one)).collect();
    if !request.partial {
        check_answers(request, &readings)?;
    }
    let variant = |(values, text): (&&Vec<i64>, &Expanded)| {
        let One { parameters, types, steps, proof, .. } = (*known.get(text.text.as_str())?).clone();
        let unroll = text.unroll.clone();
        Some(Variant { values: (*values).clone(), parameters, types, steps, proof, unroll })
    };
    Ok(values.iter().zip(expanded).filter_map(variant).collect())
}
