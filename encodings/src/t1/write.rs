//! A problem as a T1 file.

use indexmap::IndexSet;
use itertools::Itertools;
use serde_json::{Value, json};

use super::python::{Division, over_parameters};
use crate::model::domain::Domain;
use crate::model::expr::Expr;
use crate::model::source::{Argument, ArgumentKind, Define, Fill};
use crate::model::{Launch, ModelError, Parameter, Problem};

/// Writes the problem as a T1 file, with the inputs' and the platform's present values put in.
///
/// Conditions are the constraints, what the domains of later parameters ask of earlier ones, and
/// what a launch needs (whole groups, of a size that the platform allows), so that the file has exactly the
/// configurations of [`Problem::space`].
///
/// # Errors
/// The space cannot be listed.
pub fn write(problem: &Problem) -> Result<Value, ModelError> {
    let writer = Writer { problem };
    let parameters = writer.parameters()?;
    let conditions: Vec<Value> = writer.conditions().iter().map(|c| writer.condition(c)).collect();
    Ok(json!({
        "General": { "BenchmarkName": problem.name, "OutputFormat": "JSON" },
        "ConfigurationSpace": { "TuningParameters": parameters, "Conditions": conditions },
        "KernelSpecification": writer.kernel(),
    }))
}

struct Writer<'p> {
    problem: &'p Problem,
}

impl Writer<'_> {
    fn over(&self, expr: &Expr) -> Expr<String> {
        over_parameters(self.problem, expr, Division::Floor)
    }

    /// Each with all values that it has in any configuration or, where its domain depends on
    /// nothing, could have.
    fn parameters(&self) -> Result<Vec<Value>, ModelError> {
        let problem = self.problem;
        let space = problem.space()?;
        let list = problem.parameters.iter().enumerate().map(|(i, parameter)| {
            let values = match depends(problem, parameter) {
                false => problem.independent_values(i)?,
                true => {
                    let seen: IndexSet<i64> =
                        space.bound.iter().map(|b| b.configuration.0[i]).collect();
                    seen.into_iter().sorted().collect_vec()
                }
            };
            let text = format!("[{}]", values.iter().join(", "));
            Ok(json!({ "Name": parameter.name, "Type": "int", "Values": text,
                       "Default": values.first().copied().unwrap_or_default() }))
        });
        list.collect()
    }

    fn conditions(&self) -> Vec<Expr<String>> {
        let problem = self.problem;
        let mut conditions: Vec<Expr<String>> = problem
            .constraints
            .iter()
            .map(|c| over_parameters(problem, &c.expr, Division::Exact))
            .collect();
        for parameter in problem.parameters.iter().filter(|p| depends(problem, p)) {
            conditions.push(self.within(parameter));
        }
        conditions.extend(self.launchable());
        conditions
    }

    /// That a parameter is in its domain, given that it is one of its values at all.
    fn within(&self, parameter: &Parameter) -> Expr<String> {
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
    fn launchable(&self) -> Vec<Expr<String>> {
        let problem = self.problem;
        let Launch::Range { local_size, .. } = &problem.launch else { return Vec::new() };
        let mut conditions = Vec::new();
        for dimension in &problem.grid {
            let (global, local) = (self.over(&dimension.global), self.over(&dimension.local));
            conditions.push(parsed(&format!("({global}) % ({local}) == 0")));
        }
        if let Some(most) = problem.platform.max_group_size() {
            conditions.push(parsed(&format!("{} <= {most}", self.over(local_size))));
        }
        conditions.retain(|c| parameters_of(c).next().is_some());
        conditions
    }

    fn condition(&self, condition: &Expr<String>) -> Value {
        let names: IndexSet<&String> = parameters_of(condition).collect();
        json!({ "Expression": condition.to_string(), "Parameters": names })
    }

    fn kernel(&self) -> Value {
        let problem = self.problem;
        let axes = ["X", "Y", "Z"];
        let sizes = |which: fn(&crate::model::Dimension) -> &Expr| -> Value {
            let of = |(axis, d): (&&str, _)| {
                ((*axis).to_owned(), Value::from(self.over(which(d)).to_string()))
            };
            axes.iter().zip(&problem.grid).map(of).collect::<serde_json::Map<_, _>>().into()
        };
        let mut kernel = json!({
            "Language": "OpenCL",
            "GlobalSizeType": "OpenCL",
            "LocalSize": sizes(|d| &d.local),
            "GlobalSize": sizes(|d| &d.global),
            "ProblemSize": problem.inputs.values().take(3).collect_vec(),
            "SharedMemory": 0,
            "Stream": null,
        });
        if let Some(source) = &problem.source {
            let options = source.defines.iter().filter_map(|(name, define)| match define {
                Define::Text(text) => Some(format!("-D{name}={text}")),
                Define::Number(_) => None,
            });
            kernel["CompilerOptions"] =
                std::iter::once(format!("-cl-std={}", source.standard.name()))
                    .chain(options)
                    .collect_vec()
                    .into();
            kernel["KernelName"] = source.entry.clone().into();
            kernel["KernelFile"] = source.path.clone().into();
            kernel["Arguments"] = source.arguments.iter().map(|a| self.argument(a)).collect();
        }
        kernel
    }

    fn argument(&self, argument: &Argument) -> Value {
        let (name, ty) = (&argument.name, argument.element.name());
        match &argument.kind {
            ArgumentKind::Scalar(value) => json!({ "Name": name, "Type": ty,
                "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillType": "Constant",
                "FillValue": number(&self.over(value)) }),
            ArgumentKind::Real(value) => json!({ "Name": name, "Type": ty,
                "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillType": "Constant",
                "FillValue": value.parse::<f64>().unwrap_or_default() }),
            ArgumentKind::Local { length } => json!({ "Name": name, "Type": ty,
                "MemoryType": "Local", "Size": number(&self.over(length)) }),
            ArgumentKind::Buffer { length, fill, output } => {
                let (kind, value) = match fill {
                    Fill::Constant(value) => ("Constant", number(&self.over(value))),
                    Fill::Index => ("Generator", "i".into()),
                    Fill::Random { high, .. } => ("Random", number(&self.over(high))),
                };
                json!({ "Name": name, "Type": ty, "MemoryType": "Vector",
                        "AccessType": if *output { "ReadWrite" } else { "ReadOnly" },
                        "FillType": kind, "FillValue": value, "Output": i32::from(*output),
                        "Size": number(&self.over(length)) })
            }
        }
    }
}

fn number(expr: &Expr<String>) -> Value {
    let parsed = crate::model::parse::parse(&expr.to_string()).ok();
    let constant = parsed.and_then(|e| e.resolve(&mut |_| None::<usize>).ok());
    match constant.and_then(|e| e.eval(&[]).ok()) {
        Some(n) => n.into(),
        None => expr.to_string().into(),
    }
}

/// Whether the domain depends on other parameters.
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

/// Text made of printed expressions, which therefore can be read.
fn parsed(text: &str) -> Expr<String> {
    crate::model::parse::parse(text).unwrap_or(Expr::Int(1))
}
