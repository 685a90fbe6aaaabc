//! Classes of configurations: those that agree on the numbers of an obligation.
//!
//! An obligation names few numbers, so a large space makes few cases of it.

use std::collections::{BTreeSet, HashMap, HashSet};
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

/// Rows between two looks at the clock.
const LOOK: usize = 1 << 12;

/// A problem with its configurations.
pub struct Classes<'p> {
    problem: &'p Problem,
    configurations: &'p Configurations<'p>,
    /// The macros that the text depends on.
    structural: Vec<Expr>,
    texts: OnceLock<Result<Texts, String>>,
    rows: Mutex<HashMap<RowsKey, Arc<OnceLock<ListedRows>>>>,
    stop: StopCheck<'p>,
    among: Option<&'p [Configuration]>,
}

/// The parameters that the text depends on, and their values with those of the text.
type Texts = (Vec<usize>, Vec<(Vec<i64>, Vec<i64>)>);

/// The parameters that rows are for, and the texts.
type RowsKey = (Vec<usize>, Vec<Vec<i64>>);

/// The values of all slots for some configurations, or why they are not known.
type ListedRows = Result<Arc<Vec<Vec<i64>>>, String>;

/// Combinations of values of some numbers, in the order of the domains, each with a configuration
/// that has them.
#[derive(Default)]
pub struct SafetyCases {
    rows: Vec<Arc<Vec<Vec<i64>>>>,
    places: IndexMap<Vec<i64>, (usize, usize)>,
}

impl SafetyCases {
    /// The combinations.
    pub fn values(&self) -> indexmap::map::Keys<'_, Vec<i64>, (usize, usize)> {
        self.places.keys()
    }

    /// The values of parameters for the combination in a place.
    pub fn configuration(&self, problem: &Problem, place: usize) -> IndexMap<String, i64> {
        let place = self.places.get_index(place);
        let row = place.and_then(|(_, (list, row))| self.rows.get(*list)?.get(*row));
        let Some(row) = row else { return IndexMap::new() };
        let names = problem.parameters.iter().map(|p| p.name.clone());
        names.zip(row.iter().skip(problem.first_parameter()).copied()).collect()
    }
}

/// Combinations of values of some parameters, all others being left out: of no parameters there is
/// one combination, and without that one nothing is left.
type Restriction = (Vec<usize>, BTreeSet<Vec<i64>>);

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
        let (texts, rows) = (OnceLock::new(), Mutex::new(HashMap::new()));
        Classes { problem, configurations, structural, texts, rows, stop, among }
    }

    /// The problem.
    pub fn problem(&self) -> &'p Problem {
        self.problem
    }

    /// The texts that occur: values of the numbers that the text depends on.
    ///
    /// # Errors
    /// What has no value, or too many combinations.
    pub fn texts(&self) -> Result<BTreeSet<Vec<i64>>, String> {
        Ok(self.text_rows()?.1.iter().map(|(_, text)| text.clone()).collect())
    }

    /// The parameters that the text depends on.
    ///
    /// # Errors
    /// What has no value, or too many combinations.
    pub fn text_parameters(&self) -> Result<&[usize], String> {
        Ok(&self.text_rows()?.0)
    }

    fn text_rows(&self) -> Result<&Texts, String> {
        let list = || {
            let parameters = self.parameters(&self.structural.iter().collect::<Vec<_>>())?;
            let first = self.problem.first_parameter();
            let text = |row: &Vec<i64>| {
                let values: Result<Vec<i64>, _> =
                    self.structural.iter().map(|number| number.eval(row)).collect();
                let own = parameters.iter().map(|p| row[first + p]).collect();
                Ok((own, values.map_err(|error| error.to_string())?))
            };
            let rows = self.listed(&parameters, &(Vec::new(), BTreeSet::from([Vec::new()])))?;
            let rows = rows.iter().map(text).collect::<Result<_, String>>()?;
            Ok((parameters, rows))
        };
        self.texts.get_or_init(list).as_ref().map_err(String::clone)
    }

    /// The values of the fewest parameters that tell some texts from the others.
    fn restriction(&self, texts: &[Vec<i64>]) -> Result<Restriction, String> {
        let texts: HashSet<&Vec<i64>> = texts.iter().collect();
        let (parameters, rows) = self.text_rows()?;
        let chosen = |row: &[i64], places: &[usize]| -> Vec<i64> {
            places.iter().map(|place| row[*place]).collect()
        };
        let tell = |places: &[usize]| {
            let mut known = HashMap::new();
            rows.iter().all(|(row, text)| {
                let is_own = texts.contains(text);
                *known.entry(chosen(row, places)).or_insert(is_own) == is_own
            })
        };
        let mut places: Vec<usize> = (0..parameters.len()).collect();
        for place in 0..parameters.len() {
            let fewer: Vec<usize> = places.iter().copied().filter(|p| *p != place).collect();
            if tell(&fewer) {
                places = fewer;
            }
        }
        let own = rows.iter().filter(|(_, text)| texts.contains(text));
        let own = own.map(|(row, _)| chosen(row, &places)).collect();
        Ok((places.iter().map(|place| parameters[*place]).collect(), own))
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

    /// The combinations of values of numbers in the configurations of some readings, each given by
    /// its numbers and by its text: values of the numbers that the text depends on.
    ///
    /// # Errors
    /// What has no value, or too many combinations.
    pub fn cases<'e>(
        &self,
        readings: impl IntoIterator<Item = (Vec<&'e Expr>, Vec<i64>)>,
    ) -> Result<SafetyCases, String> {
        // Names of arguments, and with them numbers, may differ from reading to reading.
        let mut alike = Vec::<(Vec<&Expr>, Vec<Vec<i64>>)>::new();
        for (numbers, text) in readings {
            match alike.iter_mut().find(|(known, _)| *known == numbers) {
                Some((_, texts)) => texts.push(text),
                None => alike.push((numbers, vec![text])),
            }
        }
        let mut cases = SafetyCases::default();
        for (numbers, texts) in alike {
            self.add_cases(&mut cases, texts, &numbers)?;
        }
        Ok(cases)
    }

    fn add_cases(
        &self,
        cases: &mut SafetyCases,
        texts: Vec<Vec<i64>>,
        numbers: &[&Expr],
    ) -> Result<(), String> {
        let rows = self.rows(self.parameters(numbers)?, texts)?;
        for (i, env) in rows.iter().enumerate() {
            if i.is_multiple_of(LOOK) && (self.stop)() {
                return Err("it was stopped".to_owned());
            }
            let mut key = Vec::with_capacity(numbers.len());
            for number in numbers {
                let value = number.eval(env);
                key.push(value.map_err(|e| format!("{e} for {}", self.problem.describe(env)))?);
            }
            cases.places.entry(key).or_insert((cases.rows.len(), i));
        }
        cases.rows.push(rows);
        Ok(())
    }

    /// The places of the parameters that some numbers depend on.
    ///
    /// # Errors
    /// What has no value.
    pub fn parameters(&self, numbers: &[&Expr]) -> Result<Vec<usize>, String> {
        let inlined: Result<Vec<Expr>, _> =
            numbers.iter().map(|number| self.problem.inlined("kernel", number)).collect();
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
        for env in self.rows(parameters.to_vec(), vec![variant.values.clone()])?.iter() {
            let key: Result<Vec<i64>, _> = numbers.iter().map(|n| n.eval(env)).collect();
            let values = parameters.iter().map(|p| env[first + p]).collect();
            all.entry(key.map_err(|error| error.to_string())?).or_default().push(values);
        }
        Ok(all)
    }

    /// A configuration for each combination of values of some parameters with some texts, listed
    /// once.
    fn rows(&self, parameters: Vec<usize>, texts: Vec<Vec<i64>>) -> ListedRows {
        let key = (parameters, texts);
        let rows = {
            let mut known = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(key.clone()).or_default().clone()
        };
        rows.get_or_init(|| self.listed(&key.0, &self.restriction(&key.1)?)).clone()
    }

    /// A configuration for each combination of values of some parameters.
    fn listed(&self, parameters: &[usize], restriction: &Restriction) -> ListedRows {
        let (of, allowed) = restriction;
        let limits = TableLimits { rows: MAX_ROWS, stop: &|| (self.stop)(), ..Default::default() };
        let found = match self.among {
            None => self.configurations.representatives_among((of, allowed), parameters, &limits),
            Some(_) => None,
        };
        let all = match found {
            Some(all) => all,
            None if (self.stop)() => return Err("it was stopped".to_owned()),
            None => {
                let all = match self.among {
                    Some(among) => among.to_vec(),
                    None => {
                        let space = self.problem.space().map_err(|error| error.to_string())?;
                        space.bound.into_iter().map(|bound| bound.configuration).collect()
                    }
                };
                let chosen = |c: &Configuration, of: &[usize]| -> Vec<i64> {
                    of.iter().map(|p| c.0[*p]).collect()
                };
                let is_allowed = |c: &Configuration| allowed.contains(&chosen(c, of));
                let all = all.into_iter().filter(is_allowed);
                all.unique_by(|c| chosen(c, parameters)).collect()
            }
        };
        let row = |configuration: &Configuration| {
            let mut env = self.problem.base_env();
            let put = self.problem.put(configuration, &mut env);
            put.map_err(|error| error.to_string()).map(|()| env)
        };
        all.iter().map(row).collect::<Result<_, _>>().map(Arc::new)
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
