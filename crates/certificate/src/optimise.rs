//! A problem as text for optimisers that others have written.
//!
//! In goes a problem, out comes a text whose solutions are the valid configurations and whose
//! objective is the run time in ticks: the pseudo-Boolean formula of a certificate
//! ([`crate::pseudo_boolean`]) in OPB or FlatZinc, or the sum in SMT-LIB 2 with `minimize`, the
//! command of Z3 and OptiMathSAT.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use itertools::Itertools;
use tickbound_model::Problem;
use tickbound_timing::obligation::Obligation;

use crate::prove::{MAX_ROWS, prove};
use crate::pseudo_boolean::clusters::{ClusterTables, shapes};
use crate::pseudo_boolean::formula::{BooleanVariable, PseudoBooleanFormula};
use crate::refusal::Refusal;
use crate::smt::question::minimisation;

/// What optimisers read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptimiserFormat {
    /// The format of the pseudo-Boolean competition.
    Opb,
    /// What MiniZinc hands to solvers.
    FlatZinc,
    /// SMT-LIB 2 with `minimize`.
    Smt2,
}

/// Most rows of the tables of a formula: tens of megabytes.
const MAX_EXPORTED_ROWS: usize = 1 << 18;

/// The problem as a text in a format.
///
/// # Errors
/// The time is not a sum, the tables have too many rows, an expression has no value, or a stop.
pub fn optimisation(
    problem: &Problem,
    format: OptimiserFormat,
    stop: &dyn Fn() -> bool,
) -> Result<String, Refusal> {
    let obligation = Obligation::new(problem)?;
    if format == OptimiserFormat::Smt2 {
        return minimisation(&obligation, stop);
    }
    let formula = formula(&obligation, stop)?;
    match format {
        OptimiserFormat::FlatZinc => flatzinc(&formula, &obligation),
        _ => Ok(formula.text("")),
    }
}

/// The formula of a sum of tables by its clusters, of anything else by the direct form.
fn formula(
    obligation: &Obligation<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<PseudoBooleanFormula, Refusal> {
    let form = obligation.direct_form();
    if let Some(form) = form.as_ref().filter(|form| !form.is_plain()) {
        return PseudoBooleanFormula::from_form(form, MAX_EXPORTED_ROWS);
    }
    match (clustered(obligation, stop), form) {
        (Err(Refusal::TooLarge(_)), Some(form)) => {
            PseudoBooleanFormula::from_form(&form, MAX_EXPORTED_ROWS)
        }
        (formula, _) => formula,
    }
}

fn clustered(
    obligation: &Obligation<'_>,
    stop: &dyn Fn() -> bool,
) -> Result<PseudoBooleanFormula, Refusal> {
    let proof = prove(obligation, false, MAX_ROWS, stop)?;
    let tables =
        ClusterTables::new(obligation, shapes(obligation, &proof)?, MAX_EXPORTED_ROWS, stop)?;
    Ok(PseudoBooleanFormula::new(obligation, &tables))
}

/// The formula in FlatZinc. Parameters are variables `parameter_NAME`, and the objective is `time`.
fn flatzinc(
    formula: &PseudoBooleanFormula,
    obligation: &Obligation<'_>,
) -> Result<String, Refusal> {
    let name = |p: usize| format!("parameter_{}", obligation.problem.parameters[p].name);
    let mut text = String::new();
    for number in 1..=formula.variables.len() {
        let _ = writeln!(text, "var 0..1: x{number};");
    }
    for (p, values) in obligation.values.iter().enumerate() {
        let values = values.iter().sorted().join(",");
        let _ = writeln!(text, "var {{{values}}}: {} :: output_var;", name(p));
    }
    let [least, most] = bounds(formula)?;
    let _ = writeln!(text, "var {least}..{most}: time :: output_var;");
    let mut linear = |kind: &str, terms: Vec<(i64, String)>, right: i64| {
        let (factors, names): (Vec<i64>, Vec<String>) = terms.into_iter().unzip();
        let (factors, names) = (factors.iter().join(","), names.join(","));
        let _ = writeln!(text, "constraint int_lin_{kind}([{factors}],[{names}],{right});");
    };
    let truths = |sign: i64, terms: &[(i64, usize)]| {
        terms.iter().map(|(n, x)| (sign * n, format!("x{}", x + 1))).collect::<Vec<_>>()
    };
    for (terms, right) in formula.equations.values() {
        linear("eq", truths(1, terms), *right);
    }
    for (terms, right) in &formula.inequalities {
        linear("le", truths(-1, terms), -right);
    }
    for (p, values) in obligation.values.iter().enumerate() {
        let truth =
            |(v, value): (u32, &i64)| (*value, formula.literal(&BooleanVariable::Value(p, v)));
        linear("eq", (0..).zip(values).map(truth).chain([(-1, name(p))]).collect(), 0);
    }
    let mut sum = truths(1, &formula.objective);
    sum.push((-1, "time".to_owned()));
    linear("eq", sum, 0);
    text.push_str("solve minimize time;\n");
    Ok(text)
}

/// Between which numbers the objective is where one row of each table and one value of each
/// parameter holds.
fn bounds(formula: &PseudoBooleanFormula) -> Result<[i64; 2], Refusal> {
    let ticks: HashMap<usize, i64> = formula.objective.iter().map(|(n, x)| (*x, *n)).collect();
    let mut ranges: BTreeMap<(u8, usize), [i64; 2]> = BTreeMap::new();
    for (x, variable) in formula.variables.keys().enumerate() {
        let own = ticks.get(&x).copied().unwrap_or(0);
        let (one_of, range) = match variable {
            BooleanVariable::One => ((0, x), [own; 2]),
            BooleanVariable::Value(p, _) => ((1, *p), [own; 2]),
            BooleanVariable::Row(table, _) => ((2, *table), [own; 2]),
            BooleanVariable::Agreed(..) | BooleanVariable::Bit(..) => {
                ((3, x), [own.min(0), own.max(0)])
            }
        };
        let all = ranges.entry(one_of).or_insert(range);
        *all = [all[0].min(range[0]), all[1].max(range[1])];
    }
    let sum = |end: usize| {
        let sum = ranges.values().try_fold(0i64, |sum, range| sum.checked_add(range[end]));
        sum.ok_or(Refusal::TooLarge("a sum of ticks beyond 63 bits"))
    };
    Ok([sum(0)?, sum(1)?])
}
