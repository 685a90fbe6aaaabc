//! Classes of configurations: those that agree on the numbers of an obligation.
//!
//! An obligation names few numbers, so a large space makes few cases of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_elimination::TableLimits;
use tickbound_expr::{BinaryOp, Expr};
use tickbound_model::source::{ArgumentKind, Define};
use tickbound_model::{Configuration, Configurations, KernelSource, Problem};
use tickbound_opencl::Variant;
use tickbound_opencl::proof::terms::{Terms, VariableKind};

use crate::options::StopCheck;

/// Most combinations of values of the parameters that an obligation depends on.
const MAX_ROWS: usize = 1 << 20;

/// A problem with its configurations.
pub struct Classes<'p> {
    problem: &'p Problem,
    configurations: &'p Configurations<'p>,
    /// The macros that the text depends on.
    structural: Vec<Expr>,
    /// By the parameters that they are for.
    rows: Mutex<HashMap<Vec<usize>, ListedRows>>,
    stop: StopCheck<'p>,
    among: Option<&'p [Configuration]>,
}

/// Rows, once they are listed.
type ListedRows = Arc<OnceLock<Result<Rows, String>>>;

/// The values of all slots for some configurations, by those of the macros that the text depends
/// on.
type Rows = HashMap<Vec<i64>, Vec<Vec<i64>>>;

/// The numbers that a variant's names stand for, over the slots of the problem.
pub type NamedNumbers = IndexMap<String, Expr>;

/// The values of the macros that the text of a kernel depends on.
///
/// # Errors
/// A macro without a value.
pub fn structural(source: &KernelSource, names: &[String]) -> Result<Vec<Expr>, String> {
    let value = |name: &String| {
        let define = source.defines.iter().find(|(known, _)| known == name);
        match define {
            Some((_, Define::Number(value))) => Ok(value.clone()),
            _ => Err(format!("kernel.defines: `{name}` is missing; add its value")),
        }
    };
    names.iter().map(value).collect()
}

/// How the bytes of a parameter's array are called among names.
pub fn length_name(parameter: usize) -> String {
    format!("#bytes {parameter}")
}

/// How a variable is called among names; `None` if no configuration decides it.
pub fn name_of(kind: &VariableKind) -> Option<String> {
    match kind {
        VariableKind::Name(name) => Some(name.clone()),
        VariableKind::LocalSize(d) => Some(format!("#local {d}")),
        VariableKind::Groups(d) => Some(format!("#groups {d}")),
        _ => None,
    }
}

impl<'p> Classes<'p> {
    /// The classes of a problem, whose text depends on some numbers; what ends the work, and the
    /// configurations, if these are not all.
    pub fn new(
        problem: &'p Problem,
        configurations: &'p Configurations<'p>,
        structural: Vec<Expr>,
        (stop, among): (StopCheck<'p>, Option<&'p [Configuration]>),
    ) -> Classes<'p> {
        let rows = Mutex::new(HashMap::new());
        Classes { problem, configurations, structural, rows, stop, among }
    }

    /// The problem.
    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    /// The texts that occur: values of the numbers that the text depends on.
    ///
    /// # Errors
    /// What has no value, or too many combinations.
    pub fn texts(&self) -> Result<Vec<Vec<i64>>, String> {
        Ok(self.listed(&self.parameters(&[])?)?.into_keys().collect())
    }

    /// The numbers that the text depends on.
    pub fn structural(&self) -> &[Expr] {
        &self.structural
    }

    /// What the names of a variant stand for.
    pub fn numbers(&self, source: &KernelSource, variant: &Variant) -> NamedNumbers {
        let mut numbers = NamedNumbers::new();
        for (name, define) in &source.defines {
            if let Define::Number(value) = define {
                numbers.insert(name.clone(), value.clone());
            }
        }
        for (d, dimension) in self.problem.grid.iter().enumerate() {
            let (global, local) = (dimension.global.clone(), dimension.local.clone());
            let groups = Expr::binary(BinaryOp::FloorDiv, global, local.clone());
            numbers.insert(format!("#local {d}"), local);
            numbers.insert(format!("#groups {d}"), groups);
        }
        for d in self.problem.grid.len()..3 {
            numbers.insert(format!("#local {d}"), Expr::Int(1));
            numbers.insert(format!("#groups {d}"), Expr::Int(1));
        }
        for (i, (argument, name)) in source.arguments.iter().zip(&variant.parameters).enumerate() {
            match &argument.kind {
                ArgumentKind::Scalar(value) if !argument.element.is_real() => {
                    numbers.insert(format!("${name}"), value.clone());
                }
                ArgumentKind::Buffer { length, .. } | ArgumentKind::Local { length }
                    if argument.image.is_empty() =>
                {
                    let bytes = argument.element.bytes() as i64 * length;
                    numbers.insert(length_name(i), bytes);
                }
                _ => {}
            }
        }
        numbers
    }

    /// The combinations of values of some numbers, each with the place of a configuration that has
    /// them, in the order of the domains; for one text, by the numbers that it depends on.
    ///
    /// # Errors
    /// What has no value, or too many combinations.
    pub fn cases(
        &self,
        text: &[i64],
        numbers: &[&Expr],
    ) -> Result<IndexMap<Vec<i64>, usize>, String> {
        let rows = self.rows(numbers)?;
        let rows = rows.get().ok_or("internal error: configurations were not listed")?;
        let mut cases = IndexMap::new();
        for (i, env) in rows.as_ref()?.get(text).into_iter().flatten().enumerate() {
            let mut key = Vec::with_capacity(numbers.len());
            for number in numbers {
                let value = number.eval(env);
                key.push(value.map_err(|e| format!("{e} for {}", self.problem.describe(env)))?);
            }
            cases.entry(key).or_insert(i);
        }
        Ok(cases)
    }

    /// The places of the parameters that some numbers depend on, with those of the text.
    ///
    /// # Errors
    /// What has no value.
    pub fn parameters(&self, numbers: &[&Expr]) -> Result<Vec<usize>, String> {
        let inlined = numbers.iter().copied().chain(&self.structural);
        let inlined: Result<Vec<Expr>, _> =
            inlined.map(|number| self.problem.inlined("kernel", number)).collect();
        Ok(self.problem.parameters_of(&inlined.map_err(|error| error.to_string())?))
    }

    /// The name of a parameter.
    pub fn name(&self, parameter: usize) -> String {
        self.problem.parameters.get(parameter).map_or_else(String::new, |p| p.name.clone())
    }

    /// Values of some parameters in a variant's configurations, by the values of some numbers.
    ///
    /// # Errors
    /// What has no value, or too many combinations.
    pub fn by_numbers(
        &self,
        variant: &Variant,
        parameters: &[usize],
        numbers: &[&Expr],
    ) -> Result<IndexMap<Vec<i64>, Vec<Vec<i64>>>, String> {
        let mut all = IndexMap::<Vec<i64>, Vec<Vec<i64>>>::new();
        let first = self.problem.first_parameter();
        for env in self.listed(parameters)?.remove(&variant.values).unwrap_or_default() {
            let key: Result<Vec<i64>, _> = numbers.iter().map(|n| n.eval(&env)).collect();
            let values = parameters.iter().map(|p| env[first + p]).collect();
            all.entry(key.map_err(|error| error.to_string())?).or_default().push(values);
        }
        Ok(all)
    }

    /// The configurations for some numbers, listed once.
    fn rows(&self, numbers: &[&Expr]) -> Result<ListedRows, String> {
        let parameters = self.parameters(numbers)?;
        let rows = {
            let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(parameters.clone()).or_default().clone()
        };
        rows.get_or_init(|| self.listed(&parameters));
        Ok(rows)
    }

    fn listed(&self, parameters: &[usize]) -> Result<Rows, String> {
        let mut rows = Rows::new();
        for configuration in self.representatives(parameters)? {
            let mut env = self.problem.base_env();
            self.problem.put(&configuration, &mut env).map_err(|error| error.to_string())?;
            let key: Result<Vec<i64>, _> =
                self.structural.iter().map(|value| value.eval(&env)).collect();
            rows.entry(key.map_err(|error| error.to_string())?).or_default().push(env);
        }
        Ok(rows)
    }

    /// A configuration for each combination of values of some parameters.
    fn representatives(&self, parameters: &[usize]) -> Result<Vec<Configuration>, String> {
        if let Some(among) = self.among {
            let own = |c: &&Configuration| parameters.iter().map(|p| c.0[*p]).collect::<Vec<_>>();
            return Ok(among.iter().unique_by(own).cloned().collect());
        }
        let limits = TableLimits { rows: MAX_ROWS, stop: &|| (self.stop)(), ..Default::default() };
        match self.configurations.representatives(parameters, &limits) {
            Some(all) => Ok(all),
            None if (self.stop)() => Err("it was stopped".to_owned()),
            None => {
                let space = self.problem.space().map_err(|error| error.to_string())?;
                Ok(space.bound.into_iter().map(|bound| bound.configuration).collect())
            }
        }
    }

    /// The values of parameters of a configuration, by its place among those for some numbers.
    pub fn configuration(
        &self,
        variant: &Variant,
        numbers: &[&Expr],
        row: usize,
    ) -> IndexMap<String, i64> {
        let rows = self.rows(numbers).ok();
        let listed = rows.as_ref().and_then(|rows| rows.get()?.as_ref().ok());
        let env = listed.and_then(|rows| rows.get(&variant.values)?.get(row));
        let Some(env) = env else { return IndexMap::new() };
        let names = self.problem.parameters.iter().map(|p| p.name.clone());
        names.zip(env.iter().skip(self.problem.first_parameter()).copied()).collect()
    }
}

/// The kind of the number that decides a variable: itself, or, for an id, how many there are.
pub fn number_kind(kind: &VariableKind) -> VariableKind {
    match kind {
        VariableKind::LocalId(d) => VariableKind::LocalSize(*d),
        VariableKind::GroupId(d) => VariableKind::Groups(*d),
        kind => kind.clone(),
    }
}

/// The ranges of ids are those of sizes, so sizes matter wherever ids stand.
pub fn named_kinds(terms: &Terms, variables: &[u32]) -> Vec<VariableKind> {
    let mut kinds: Vec<VariableKind> = Vec::new();
    for index in variables {
        let kind = number_kind(&terms.variables[*index as usize].kind);
        if name_of(&kind).is_some() && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}
