//! Gives a problem the kernel program that its source describes.

use std::path::Path;

use indexmap::IndexMap;
use itertools::Itertools;
use tickbound_elimination::TableLimits;
use tickbound_expr::{BinaryOp, EvalError, Expr};
use tickbound_model::source::{ArgumentKind, Define, KernelArgument, QuestionKey};
use tickbound_model::{
    Bound, Configurations, Dimension, GroupNeeds, KernelSource, LeastUsage, Problem, Profile,
};

use crate::child::ReaderSetup;
use crate::error::{Read, ReadError};
use crate::extract::{Extracted, Variant, extract_with};
use crate::lower::{Names, lower, numbers as merged_numbers};
use crate::preprocess::c_value;
use crate::reading::By;
use crate::request::{LaunchBound, Passed, ReadRequest, Symbol};
use crate::steps::SymbolExpr;
use crate::usage::{Device, usage};

/// What was read out of a problem's source.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelReading {
    /// The first source file, as places in it name it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The steps of a work item.
    pub extracted: Extracted,
}

/// Reads the source of `problem`, whose path counts from `folder`, and puts the kernel program in.
/// Gives back what was read; `None` if the problem has no source, or no configuration to read it
/// for.
///
/// # Errors
/// What cannot be read in the source, what does not fit the problem, or what this machine lacks.
pub fn attach(problem: &mut Problem, folder: &Path) -> Result<Option<KernelReading>, ReadError> {
    attach_with(problem, folder, &ReaderSetup::default())
}

/// As [`attach`], in the way of `setup`.
pub fn attach_with(
    problem: &mut Problem,
    folder: &Path,
    setup: &ReaderSetup<'_>,
) -> Result<Option<KernelReading>, ReadError> {
    let Some(source) = problem.source.clone() else { return Ok(None) };
    let before = problem.clone();
    let configurations = before.configurations(&TableLimits::default())?;
    let reader = Reader { problem: &before, source: &source, configurations: &configurations };
    if reader.occurring(&[])?.is_empty() {
        return Ok(None);
    }
    let request = reader.request(folder)?;
    let extracted =
        extract_with(&request, &|places, truths| reader.symbols(places, truths), setup)?;
    check_arguments(&request, &source, &extracted)?;
    let names = Names::new(problem, &source);
    problem.set_kernel(lower(&extracted, &names)?)?;
    problem.set_group_needs(group_needs(&extracted, &names)?)?;
    problem.settle(&configurations);
    // It was readable a moment ago.
    let text = tickbound_input::source(&request.path).unwrap_or_default();
    // It asks for more than a program does: the values of all arguments that addresses depend on.
    if problem.profile == Profile::Resources {
        let device = Device::of(problem, &configurations);
        let (used, lines) =
            usage(&extracted, &names, &device, &configurations, &|| setup.go_on(&request.name))?;
        problem.set_usage(used, lines)?;
    }
    Ok(Some(KernelReading { name: request.name, text, extracted }))
}

/// Reads the source of `problem` for [proofs](crate::proof); answers for prices are not used.
/// `None` if the problem has no source.
///
/// # Errors
/// As [`attach_with`].
pub fn for_proofs(
    problem: &Problem,
    configurations: &Configurations<'_>,
    folder: &Path,
    setup: &ReaderSetup<'_>,
) -> Result<Option<Extracted>, ReadError> {
    let Some(source) = &problem.source else { return Ok(None) };
    let reader = Reader { problem, source, configurations };
    let mut request = reader.request(folder)?;
    (request.bounds, request.branches) = (Vec::new(), Vec::new());
    request.for_proofs = true;
    let extracted =
        extract_with(&request, &|places, truths| reader.symbols(places, truths), setup)?;
    check_arguments(&request, source, &extracted)?;
    Ok(Some(extracted))
}

/// What the kernel of a problem, as it was read, uses at least.
///
/// # Errors
/// A name of the steps that the problem does not have.
pub fn least(problem: &Problem, reading: &KernelReading) -> Result<LeastUsage, ReadError> {
    let Some(source) = problem.source.clone() else { return Ok(LeastUsage::default()) };
    let configurations = problem.configurations(&TableLimits::default())?;
    let names = Names::new(problem, &source);
    let device = Device::of(problem, &configurations);
    crate::least::least(&reading.extracted, &names, &device, &configurations)
}

/// What a group needs beside its items, over all variants.
fn group_needs(extracted: &Extracted, names: &Names) -> Read<GroupNeeds> {
    let symbols = names.symbols(extracted)?;
    let merged = |of: &dyn Fn(&Variant) -> Read<Vec<Expr>>| {
        let each = extracted.variants.iter().map(|v| Ok((v.values.clone(), of(v)?)));
        Ok::<_, ReadError>(merged_numbers(&symbols, each.collect::<Read<_>>()?))
    };
    let local = merged(&|v| {
        let names = names.of_parameters(&v.parameters);
        let mut bytes = v.steps.locals.iter().map(|array| names.put_in(&array.bytes, &array.at));
        let sum = bytes.fold_ok(Expr::Int(0), |a, b| Expr::folded(BinaryOp::Add, a, b))?;
        Ok(vec![sum.simplified()])
    })?;
    let required = match extracted.variants.iter().all(|v| v.steps.required.is_some()) {
        false => None,
        true => {
            let sizes = merged(&|v| {
                let names = names.of_parameters(&v.parameters);
                let required = v.steps.required.iter();
                let sizes = required.flat_map(|of| of.sizes.iter().map(|size| (size, &of.at)));
                sizes.map(|(size, at)| Ok(names.put_in(size, at)?.simplified())).collect()
            })?;
            sizes.try_into().ok()
        }
    };
    let local_bytes = local.into_iter().next().filter(|bytes| *bytes != Expr::Int(0));
    Ok(GroupNeeds { required, local_bytes })
}

fn check_arguments(
    request: &ReadRequest,
    source: &KernelSource,
    extracted: &Extracted,
) -> Read<()> {
    if !source.arguments.is_empty() {
        let all = extracted.variants.iter().map(|v| check_types(request, source, v));
        all.collect::<Read<()>>()?;
    }
    let given = source.arguments.len();
    let wrong = extracted.variants.iter().find(|v| given != 0 && v.parameters.len() != given);
    let Some(Variant { parameters, .. }) = wrong else { return Ok(()) };
    let needed = parameters.len();
    Err(ReadError::file(
        &request.name,
        format!("`{}` takes {needed} arguments, but kernel.arguments has {given}", request.entry),
        format!("list one for each of {}", parameters.join(", ")),
    ))
}

/// Arguments of the problem fit the parameters of the kernel function: numbers and buffers, global
/// and local memory, real and whole elements, and their sizes. Elements of structures and of `void`
/// may be given as any.
fn check_types(request: &ReadRequest, source: &KernelSource, variant: &Variant) -> Read<()> {
    let parameters = variant.parameters.iter().zip(&variant.types);
    for (argument, (name, parameter)) in source.arguments.iter().zip(parameters) {
        let fault = |is: String, fix: String| {
            let at = format!("kernel.arguments.{}", argument.name);
            let entry = &request.entry;
            let what = format!("`{name}` of `{entry}` is {}, but this is {is}", parameter.text);
            Err(ReadError::file(at, what, fix))
        };
        let Some(expected) = parameter.by else { continue };
        let given = match argument.kind {
            _ if !argument.image.is_empty() => By::Image(argument.image.len()),
            ArgumentKind::Buffer { .. } => By::Buffer,
            ArgumentKind::Local { .. } => By::Local,
            ArgumentKind::Whole { .. } => By::Whole,
            ArgumentKind::Scalar(_) | ArgumentKind::Real(_) => By::Value,
        };
        if given != expected {
            let fix = match expected {
                By::Buffer => "give it a \"length\" without a \"space\"",
                By::Local => "give it a \"length\" and \"space\": \"local\"",
                By::Value => "give it a \"value\"",
                By::Whole => "give it a \"length\" and \"space\": \"private\"",
                By::Image(1) => "give it \"image\": [TEXELS]",
                By::Image(2) => "give it \"image\": [WIDTH, HEIGHT]",
                By::Image(_) => "give it \"image\": [WIDTH, HEIGHT, DEPTH]",
            };
            return fault(given.what().to_owned(), fix.to_owned());
        }
        let element = argument.element;
        // A vector or a structure is as well given by its bytes.
        if let Some(fits) = parameter.element
            && !matches!(expected, By::Whole | By::Image(_))
            && (fits.is_real(), fits.bytes()) != (element.is_real(), element.bytes())
        {
            let is = format!("{} of type {}", given.what(), element.name());
            return fault(is, format!("write \"type\": \"{}\"", fits.name()));
        }
    }
    Ok(())
}

/// Most combinations of the parameters of one expression.
const MAX_COMBINATIONS: usize = 1 << 18;

struct Reader<'p> {
    problem: &'p Problem,
    source: &'p KernelSource,
    configurations: &'p Configurations<'p>,
}

impl<'p> Reader<'p> {
    fn request(&self, folder: &Path) -> Read<ReadRequest> {
        let mut symbols = IndexMap::new();
        let mut texts = IndexMap::new();
        for (name, define) in &self.source.defines {
            match define {
                Define::Number(value) => {
                    let symbol = self.symbol(&format!("kernel.defines.{name}"), value)?;
                    symbols.insert(name.clone(), symbol);
                }
                Define::Text(text) => {
                    texts.insert(name.clone(), text.clone());
                }
            }
        }
        let bound = |(asked, value): &(QuestionKey, Expr)| {
            Ok((asked.clone(), self.symbol(&format!("kernel.bounds.{asked}"), value)?))
        };
        let in_folder = |name: &String| (name.clone(), folder.join(name));
        let asked = !self.source.bounds.is_empty() || !self.source.branches.is_empty();
        Ok(ReadRequest {
            partial: asked && self.leaves_values_out()?,
            name: self.source.path.clone(),
            more: self.source.more.iter().map(in_folder).collect(),
            include: self.source.include.iter().map(in_folder).collect(),
            path: folder.join(&self.source.path),
            entry: self.source.entry.clone(),
            standard: self.source.standard,
            symbols,
            texts,
            arguments: self.source.arguments.iter().map(|a| self.passed(a)).try_collect()?,
            dimensions: self.problem.grid.len().max(1),
            launch: self.problem.grid.iter().map(|d| self.launch_bound(d)).try_collect()?,
            local: self.problem.grid.iter().map(|d| self.in_symbols(&d.local)).collect(),
            warp: self.problem.platform.resources().warp_width.unwrap_or(0),
            bounds: self.source.bounds.iter().map(bound).collect::<Read<_>>()?,
            branches: self.source.branches.clone(),
            for_proofs: false,
        })
    }

    /// What a reading of the kernel knows of an argument.
    fn passed(&self, argument: &KernelArgument) -> Read<Passed> {
        let symbol = |value| self.symbol(&format!("kernel.arguments.{}", argument.name), value);
        Ok(match &argument.kind {
            ArgumentKind::Buffer { length, .. }
                if symbol(length).is_ok_and(|length| length.least < 0) =>
            {
                let at = format!("kernel.arguments.{}", argument.name);
                return Err(ReadError::file(at, "its length is below 0", "give it at least 0"));
            }
            ArgumentKind::Buffer { length, .. }
                if symbol(length).is_ok_and(|length| length.greatest == 0) =>
            {
                Passed::Null
            }
            ArgumentKind::Buffer { .. }
            | ArgumentKind::Local { .. }
            | ArgumentKind::Whole { .. } => Passed::Memory,
            ArgumentKind::Real(number) => Passed::Real(number.parse().ok()),
            ArgumentKind::Scalar(value) if argument.element.is_real() => {
                let Symbol { least, greatest } = symbol(value)?;
                // Whole numbers beyond need not be real ones exactly.
                let exact = least == greatest && least.unsigned_abs() < 1 << 24;
                Passed::Real(exact.then_some(least as f64))
            }
            ArgumentKind::Scalar(value) => Passed::Number(symbol(value)?),
        })
    }

    /// The greatest sizes of the launch in one dimension.
    fn launch_bound(&self, dimension: &Dimension) -> Read<LaunchBound> {
        let greatest = |size: &Expr| self.symbol("launch", size).map(|symbol| symbol.greatest);
        let (items, local) = (&dimension.global, &dimension.local);
        let groups = Expr::binary(BinaryOp::FloorDiv, items.clone(), local.clone());
        Ok(LaunchBound {
            items: greatest(items)?,
            groups: greatest(&groups)?,
            local: greatest(local)?,
        })
    }

    /// An expression over the macros that configurations give a value; `None` if it takes more.
    fn in_symbols(&self, value: &Expr) -> Option<SymbolExpr> {
        let is = |define: &Define| matches!(define, Define::Number(v) if v == value);
        if let Some((name, _)) = self.source.defines.iter().find(|(_, define)| is(define)) {
            return Some(Expr::Name(name.clone()));
        }
        match value {
            Expr::Int(value) => Some(Expr::Int(*value)),
            Expr::Binary(op @ (BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::Div), a, b) => {
                Some(Expr::binary(*op, self.in_symbols(a)?, self.in_symbols(b)?))
            }
            _ => None,
        }
    }

    /// Whether a parameter has a value that no configuration has.
    fn leaves_values_out(&self) -> Read<bool> {
        let env = self.problem.base_env();
        for (place, parameter) in self.problem.parameters.iter().enumerate() {
            // Domains that depend on others have no more than what occurs.
            let domain = parameter.domain.values(&env).unwrap_or_default();
            if self.occurring(&[place])?.len() < domain.len() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// One configuration for each combination of what some parameters are in valid configurations.
    fn occurring(&self, parameters: &[usize]) -> Read<Vec<Bound>> {
        let limits = TableLimits { rows: MAX_COMBINATIONS, ..TableLimits::default() };
        match self.configurations.representatives(parameters, &limits) {
            Some(all) => {
                Ok(all.iter().map(|c| self.configurations.bind(c)).collect::<Result<_, _>>()?)
            }
            // Conditions too wide for the structure; a list may do.
            None => Ok(self.problem.space()?.bound),
        }
    }

    /// The parameters that expressions depend on.
    fn parameters<'e>(&self, of: impl Iterator<Item = &'e Expr>) -> Read<Vec<usize>> {
        let inlined: Vec<Expr> = of.map(|e| self.problem.inlined("kernel", e)).try_collect()?;
        Ok(self.problem.parameters_of(&inlined))
    }

    /// Between which bounds an expression is over all configurations.
    fn symbol(&self, at: &str, value: &Expr) -> Read<Symbol> {
        let mut bounds: Option<Symbol> = None;
        for bound in self.occurring(&self.parameters([value].into_iter())?)? {
            let value = self.eval(at, value, &bound)?;
            let known = bounds.get_or_insert(Symbol { least: value, greatest: value });
            known.least = known.least.min(value);
            known.greatest = known.greatest.max(value);
        }
        Ok(bounds.unwrap_or(Symbol { least: 0, greatest: 0 }))
    }

    fn eval(&self, at: &str, value: &Expr, bound: &Bound) -> Read<i64> {
        value.eval(&bound.env).map_err(|e: EvalError| {
            ReadError::file(
                at,
                format!("{e} for {}", self.problem.name_values(&bound.configuration)),
                "guard it with `if ... else`",
            )
        })
    }

    /// What the symbols in some places are together, and the values of all symbols that go with it.
    /// Behind the macros that have values come `conditions` over them.
    fn symbols(
        &self,
        places: &[usize],
        conditions: &IndexMap<String, SymbolExpr>,
    ) -> Read<IndexMap<Vec<i64>, Vec<i64>>> {
        let number = |(name, define): &(String, Define)| match define {
            Define::Number(value) => Some((name.clone(), value.clone())),
            Define::Text(_) => None,
        };
        let mut open: IndexMap<String, Expr> =
            self.source.defines.iter().filter_map(number).collect();
        let defined = open.len();
        for (name, condition) in conditions {
            let value = condition.replace(&mut |name| open.get(name).cloned().ok_or(()));
            open.extend(value.ok().map(|value| (name.clone(), value)));
        }
        let asked = places.iter().filter_map(|p| open.get_index(*p)).map(|(_, value)| value);
        let mut found = IndexMap::new();
        for bound in self.occurring(&self.parameters(asked)?)? {
            let each =
                open.iter().map(|(n, v)| self.eval(&format!("kernel.defines.{n}"), v, &bound));
            let all: Vec<i64> = each.try_collect()?;
            let value = |name: &str| all.get(open.get_index_of(name)?).copied();
            let in_c = conditions.values().map(|condition| c_value(condition, &value));
            if !in_c.eq(all[defined..].iter().map(|truth| Some(*truth))) {
                let (what, fix) = ("its `#if` divides numbers below 0", "give it numbers above");
                return Err(ReadError::file(&self.source.path, what, fix));
            }
            let key = places.iter().filter_map(|p| all.get(*p).copied()).collect();
            found.entry(key).or_insert(all);
        }
        Ok(found)
    }
}
