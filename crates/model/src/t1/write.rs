//! A problem as a T1 file.

use indexmap::{IndexMap, IndexSet};
use itertools::Itertools;
use serde_json::{Value, json};
use tickbound_elimination::TableLimits;

use super::arguments::type_name;
use super::python::{Division, check_name, over_parameters};
use crate::problem::SpaceConstraint;
use crate::source::{ArgumentKind, Define, Fill, KernelArgument};
use crate::{Configurations, Launch, ModelError, Parameter, Problem, Profile};
use tickbound_expr::domain::Domain;
use tickbound_expr::{BinaryOp, Expr, Function};

/// Writes the problem as a T1 file, with the inputs' and the platform's present values substituted.
///
/// Conditions are the constraints, what the domains of later parameters ask of earlier ones, and
/// what a launch needs (whole groups, of a size that the platform allows), so that the file has
/// exactly the configurations of [`Problem::space`].
///
/// # Errors
/// The space cannot be listed; a parameter's name is a word of Python; a macro of the kernel is
/// neither a number, a text nor a parameter; an argument's value depends on parameters.
pub fn write(problem: &Problem) -> Result<Value, ModelError> {
    let writer = Writer { problem };
    let parameters = writer.parameters()?;
    let conditions = writer.conditions(&parameters)?;
    Ok(json!({
        "General": { "BenchmarkName": problem.name, "OutputFormat": "JSON" },
        "ConfigurationSpace": { "TuningParameters": parameters, "Conditions": conditions },
        "KernelSpecification": writer.kernel()?,
    }))
}

struct Writer<'p> {
    problem: &'p Problem,
}

impl Writer<'_> {
    fn over(&self, expr: &Expr) -> Expr<String> {
        over_parameters(self.problem, expr, Division::Floor)
    }

    /// Each with all values that it has in any configuration or, of a fixed domain, could have.
    fn parameters(&self) -> Result<Vec<Value>, ModelError> {
        let problem = self.problem;
        let dependent = problem.parameters.iter().any(|p| depends(problem, p));
        let valid =
            dependent.then(|| problem.configurations(&TableLimits::default())).transpose()?;
        let list = problem.parameters.iter().enumerate().map(|(i, parameter)| {
            check_name(&parameter.name)?;
            let values = match &valid {
                Some(valid) if depends(problem, parameter) => self.occurring(valid, i)?,
                _ => problem.independent_values(i)?,
            };
            let text = format!("[{}]", values.iter().join(", "));
            Ok(json!({ "Name": parameter.name, "Type": "int", "Values": text,
                       "Default": values.first().copied().unwrap_or_default() }))
        });
        list.collect()
    }

    /// The values that a parameter has in valid configurations, in increasing order.
    fn occurring(
        &self,
        valid: &Configurations<'_>,
        parameter: usize,
    ) -> Result<Vec<i64>, ModelError> {
        let seen: IndexSet<i64> = match valid.representatives(&[parameter], &TableLimits::default())
        {
            Some(some) => some.iter().map(|c| c.0[parameter]).collect(),
            None => {
                self.problem.space()?.bound.iter().map(|b| b.configuration.0[parameter]).collect()
            }
        };
        Ok(seen.into_iter().sorted().collect_vec())
    }

    /// In the order in which [`Problem::space`] asks for them: for each parameter its domain and
    /// the constraints that it completes, then constraints on definitions, then the launch. One
    /// that may divide by zero where earlier ones do not hold has those before it.
    fn conditions(&self, parameters: &[Value]) -> Result<Vec<Value>, ModelError> {
        let guards = Guards::new(parameters);
        let mut earlier: Vec<Expr<String>> = Vec::new();
        let mut written = Vec::new();
        for condition in self.in_order()? {
            let guarded = match guards.may_fail(&condition) {
                false => condition.clone(),
                true => earlier.iter().rev().fold(condition.clone(), |rest, guard| {
                    Expr::Binary(BinaryOp::And, Box::new(guard.clone()), Box::new(rest))
                }),
            };
            earlier.push(condition);
            written.push(self.condition(&guarded)?);
        }
        Ok(written)
    }

    fn in_order(&self) -> Result<Vec<Expr<String>>, ModelError> {
        let problem = self.problem;
        let (first, defined) = (problem.first_parameter(), problem.first_definition());
        let newest = |expr: &Expr| {
            let mut newest = 0;
            expr.names(&mut |slot| newest = newest.max(*slot));
            newest
        };
        let constraint = |c: &SpaceConstraint| over_parameters(problem, &c.expr, Division::Exact);
        let mut conditions = Vec::new();
        for (i, parameter) in problem.parameters.iter().enumerate() {
            if depends(problem, parameter) {
                conditions.push(self.within(parameter)?);
            }
            let completed = problem.constraints.iter().filter(|c| newest(&c.expr) == first + i);
            conditions.extend(completed.map(constraint));
        }
        let (none, last): (Vec<&SpaceConstraint>, Vec<&SpaceConstraint>) = problem
            .constraints
            .iter()
            .filter(|c| !(first..defined).contains(&newest(&c.expr)))
            .partition(|c| newest(&c.expr) < first);
        conditions.extend(none.into_iter().chain(last).map(constraint));
        conditions.extend(self.launchable()?);
        Ok(conditions)
    }

    /// That a parameter is in its domain, given that it is one of its values at all.
    fn within(&self, parameter: &Parameter) -> Result<Expr<String>, ModelError> {
        let this = parameter.name.as_str();
        let text = match &parameter.domain {
            Domain::List(items) => {
                items.iter().map(|e| format!("{this} == ({})", self.over(e))).join(" or ")
            }
            Domain::PowersOfTwo(a, b) => {
                format!("({}) <= {this} <= ({})", self.over(a), self.over(b))
            }
            Domain::Range { first, last, step } => {
                let (first, last, step) = (self.over(first), self.over(last), self.over(step));
                format!("({first}) <= {this} <= ({last}) and ({this} - ({first})) % ({step}) == 0")
            }
            Domain::Divisors(n) => format!("({}) % {this} == 0", self.over(n)),
        };
        parsed(&text)
    }

    /// What a launch asks for, left out where it always holds.
    fn launchable(&self) -> Result<Vec<Expr<String>>, ModelError> {
        let problem = self.problem;
        let local = self.over(problem.launch.local_size());
        let mut texts = Vec::new();
        for dimension in &problem.grid {
            let (global, local) = (self.over(&dimension.global), self.over(&dimension.local));
            texts.push(format!("({global}) % ({local}) == 0"));
        }
        if let (Profile::Published2021, Some(warps)) = (problem.profile, problem.platform.warps()) {
            let round = warps.width.saturating_mul(warps.dispatchers);
            texts.push(format!("({local}) % {round} == 0"));
        }
        if let Some(most) = problem.platform.max_group_size() {
            texts.push(format!("({local}) <= {most}"));
        }
        let mut conditions = texts.iter().map(|t| parsed(t)).collect::<Result<Vec<_>, _>>()?;
        conditions.retain(|c| parameters_of(c).next().is_some());
        Ok(conditions)
    }

    fn condition(&self, condition: &Expr<String>) -> Result<Value, ModelError> {
        let text = condition.to_string();
        // What could not be read again is refused here.
        parsed(&text)?;
        let names: IndexSet<&String> = parameters_of(condition).collect();
        Ok(json!({ "Expression": text, "Parameters": names }))
    }

    fn kernel(&self) -> Result<Value, ModelError> {
        let problem = self.problem;
        let axes = ["X", "Y", "Z"];
        let sizes = |which: fn(&crate::Dimension) -> &Expr| -> Value {
            let of = |(axis, d): (&&str, _)| {
                ((*axis).to_owned(), Value::from(self.over(which(d)).to_string()))
            };
            axes.iter().zip(&problem.grid).map(of).collect::<serde_json::Map<_, _>>().into()
        };
        let mut kernel = json!({
            "Language": problem.source.as_ref().map_or("OpenCL", |s| s.standard.language()),
            "GlobalSizeType": "OpenCL",
            "LocalSize": sizes(|d| &d.local),
            "GlobalSize": sizes(|d| &d.global),
            // T1 asks for both; a problem without a source has an empty file name.
            "KernelName": problem.name,
            "KernelFile": "",
            "SharedMemory": 0,
            "Stream": null,
        });
        if let Launch::Activations { local_size, activations } = &problem.launch {
            let (local, times) = (self.over(local_size), self.over(activations));
            kernel["LocalSize"]["X"] = local.to_string().into();
            kernel["GlobalSize"]["X"] =
                Expr::binary(BinaryOp::Mul, local, times).to_string().into();
        }
        // A reader names its numbers, which must not be a parameter's name.
        if !problem.parameters.iter().any(|p| p.name.starts_with("problem_size_")) {
            kernel["ProblemSize"] = problem.inputs.values().copied().take(3).collect();
        }
        if let Some(source) = &problem.source {
            let version = (!source.standard.is_cuda()).then(|| source.standard.name());
            let mut options: Vec<_> = version.map(|v| format!("-cl-std={v}")).into_iter().collect();
            for (name, define) in &source.defines {
                options.extend(self.option(name, define)?);
            }
            kernel["CompilerOptions"] = options.into();
            kernel["KernelName"] = source.entry.clone().into();
            kernel["KernelFile"] = source.path.clone().into();
            kernel["Arguments"] = source
                .arguments
                .iter()
                .map(|a| self.argument(a))
                .collect::<Result<Vec<_>, _>>()?
                .into();
        }
        Ok(kernel)
    }

    /// The option that defines a macro; none for a parameter's name, which readers define.
    fn option(&self, name: &str, define: &Define) -> Result<Option<String>, ModelError> {
        let value = match define {
            Define::Text(text) => return Ok(Some(format!("-D{name}={text}"))),
            Define::Number(value) => self.over(value),
        };
        match number(&value) {
            Value::Number(n) => Ok(Some(format!("-D{name}={n}"))),
            _ if value == Expr::Name(name.to_owned()) => Ok(None),
            _ => Err(ModelError::new(
                format!("kernel.defines.{name}"),
                format!("T1 has no place for a macro that is `{value}`"),
                "make it a parameter of its own, with a constraint that says what it is",
            )),
        }
    }

    fn argument(&self, argument: &KernelArgument) -> Result<Value, ModelError> {
        let (name, ty) = (&argument.name, type_name(argument.element));
        Ok(match &argument.kind {
            ArgumentKind::Whole { .. } => {
                return Err(ModelError::new(
                    format!("kernel.arguments.{name}"),
                    "T1 has no place for a vector or a structure by value",
                    "pass its members one by one, or in a buffer",
                ));
            }
            _ if !argument.image.is_empty() => {
                return Err(ModelError::new(
                    format!("kernel.arguments.{name}"),
                    "T1 has no place for an image",
                    "pass the data in a buffer",
                ));
            }
            ArgumentKind::Scalar(value) => json!({ "Name": name, "Type": ty,
                "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillType": "Constant",
                "FillValue": self.fill_value(name, value)? }),
            ArgumentKind::Real(value) => json!({ "Name": name, "Type": ty,
                "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillType": "Constant",
                "FillValue": value.parse::<f64>().unwrap_or_default() }),
            ArgumentKind::Local { length } => json!({ "Name": name, "Type": ty,
                "MemoryType": "Local", "Size": number(&self.over(length)) }),
            ArgumentKind::Buffer { length, fill, output } => {
                let mut buffer = json!({ "Name": name, "Type": ty, "MemoryType": "Vector",
                    "AccessType": if *output { "ReadWrite" } else { "ReadOnly" },
                    "Output": i32::from(*output), "Size": number(&self.over(length)) });
                let (kind, key, value) = match fill {
                    Fill::Constant(of) => ("Constant", "FillValue", self.fill_value(name, of)?),
                    Fill::Index => ("Generator", "DataSource", "i".into()),
                    Fill::Random { high, .. } => {
                        ("Random", "FillValue", self.fill_value(name, high)?)
                    }
                };
                buffer["FillType"] = kind.into();
                buffer[key] = value;
                buffer
            }
        })
    }

    /// What an argument is filled with: T1 has numbers alone.
    fn fill_value(&self, argument: &str, value: &Expr) -> Result<Value, ModelError> {
        let value = self.over(value);
        Some(number(&value)).filter(Value::is_number).ok_or_else(|| {
            ModelError::new(
                format!("kernel.arguments.{argument}"),
                format!("T1 has no place for a value that depends on parameters: `{value}`"),
                "let the kernel take it from the parameters, which are macros",
            )
        })
    }
}

fn number(expr: &Expr<String>) -> Value {
    let parsed = tickbound_expr::parse::parse(&expr.to_string()).ok();
    let constant = parsed.and_then(|e| e.resolve(&mut |_| None::<usize>).ok());
    match constant.and_then(|e| e.eval(&[]).ok()) {
        Some(n) => n.into(),
        None => expr.to_string().into(),
    }
}

fn depends(problem: &Problem, parameter: &Parameter) -> bool {
    let (first, defined) = (problem.first_parameter(), problem.first_definition());
    let inner = |slot: usize| (first..defined).contains(&slot);
    parameter.domain.expressions().iter().any(|e| e.mentions(inner))
}

fn parameters_of(expr: &Expr<String>) -> impl Iterator<Item = &String> {
    let mut names = Vec::new();
    expr.names(&mut |name| names.push(name));
    names.into_iter()
}

/// Text made of printed expressions, which can be read unless it is too long.
fn parsed(text: &str) -> Result<Expr<String>, ModelError> {
    tickbound_expr::parse::parse(text).map_err(|e| {
        ModelError::new("--to t1", format!("a condition cannot be written: {e}"), "shorten it")
    })
}

/// Most values that are tried for the divisors of one condition.
const MAX_TRIED: usize = 100_000;

/// Knows where conditions have no value.
struct Guards {
    values: IndexMap<String, Vec<i64>>,
}

impl Guards {
    fn new(parameters: &[Value]) -> Guards {
        let of = |p: &Value| {
            let name = p["Name"].as_str()?.to_owned();
            let values = serde_json::from_str(p["Values"].as_str()?).ok()?;
            Some((name, values))
        };
        Guards { values: parameters.iter().filter_map(of).collect() }
    }

    /// Whether a condition lacks a value for some parameters; also if that is too much to try.
    fn may_fail(&self, condition: &Expr<String>) -> bool {
        let names: IndexSet<&String> = parameters_of(condition).collect();
        let lists: Vec<&[i64]> =
            names.iter().map(|n| self.values.get(*n).map_or(&[][..], Vec::as_slice)).collect();
        let tried: usize = lists.iter().map(|l| l.len()).fold(1, usize::saturating_mul);
        let resolved = condition.resolve(&mut |name| names.get_index_of(name));
        let (Ok(resolved), true) = (resolved, tried <= MAX_TRIED) else {
            return divides(condition);
        };
        if !divides(condition) {
            return false;
        }
        let mut all = lists.into_iter().map(|l| l.iter().copied()).multi_cartesian_product();
        all.any(|env| resolved.holds(&env).is_err())
    }
}

/// Whether there is anything in it that may have no value.
fn divides(expr: &Expr<String>) -> bool {
    match expr {
        Expr::Int(_) | Expr::Name(_) => false,
        Expr::Neg(a) | Expr::Not(a) => divides(a),
        Expr::Binary(op, a, b) => {
            use BinaryOp::{Div, FloorDiv, Pow, Rem};
            matches!(op, Div | FloorDiv | Rem | Pow) || divides(a) || divides(b)
        }
        Expr::Conditional(c, a, b) => divides(c) || divides(a) || divides(b),
        Expr::Call(f, args) => *f == Function::CeilDiv || args.iter().any(divides),
    }
}
