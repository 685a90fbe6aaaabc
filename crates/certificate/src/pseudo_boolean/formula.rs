//! The formula, in the format OPB.
//!
//! In go tables, out comes a formula whose solutions are the valid configurations, and whose
//! objective is the run time:
//!
//! - a parameter has one truth value for each of its values, of which one holds;
//! - a cluster has one truth value for each row of its table. For each value of each of its
//!   parameters, the rows that have it are together what the parameter's truth value is: so one row
//!   holds, that of the configuration;
//! - two clusters that agree on some parameters have a truth value for each choice of these; for
//!   each of the two the rows with that choice are together that. This follows from the rest, but
//!   not by adding lines, which is all that the proof does;
//! - the objective is the sum over the rows of their ticks, and a constant, for which there is a
//!   truth value that holds.
//!
//! Everything but the objective is an equation; VeriPB counts each as two lines, at least and at
//! most. The formula of a direct form has inequalities too ([`super::accumulators`]).

use std::fmt::Write;

use indexmap::IndexMap;
use itertools::Itertools;

use super::clusters::{ClusterShape, ClusterTables};
use crate::refusal::Refusal;
use tickbound_timing::obligation::Obligation;

/// The line of the text that states what the clusters are.
const CLUSTERS: &str = "* clusters: ";

/// A truth value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BooleanVariable {
    /// It holds.
    One,
    /// A parameter has the value with this number.
    Value(usize, u32),
    /// A cluster is in the row with this number.
    Row(usize, usize),
    /// A cluster and the later one agree on this choice.
    Agreed(usize, Vec<u32>),
    /// A bit of the maximum of a part of the cost, by its power of two.
    Bit(usize, u32),
}

/// An equation, by its content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Equation {
    /// [`BooleanVariable::One`].
    One,
    /// A parameter has one value.
    OneValue(usize),
    /// The rows of a cluster, where a parameter has a value.
    Rows(usize, usize, u32),
    /// One row of a cluster.
    OneRow(usize),
    /// The rows of the first cluster that agree on a choice of the second's `to`.
    Agreed(usize, usize, Vec<u32>),
}

/// A formula.
#[derive(Debug, Clone, Default)]
pub struct PseudoBooleanFormula {
    /// What each truth value `x1`, `x2`, ... is.
    pub variables: IndexMap<BooleanVariable, ()>,
    /// The equations, with their coefficients and right-hand side.
    pub equations: IndexMap<Equation, (Vec<(i64, usize)>, i64)>,
    /// The inequalities: coefficients of a sum that is at least the right-hand side.
    pub inequalities: Vec<(Vec<(i64, usize)>, i64)>,
    /// The coefficients of the objective.
    pub objective: Vec<(i64, usize)>,
}

impl PseudoBooleanFormula {
    /// The formula of some tables.
    pub fn new(obligation: &Obligation<'_>, tables: &ClusterTables) -> PseudoBooleanFormula {
        let mut formula = PseudoBooleanFormula::default();
        formula.equation(Equation::One, vec![(1, BooleanVariable::One)], 1);
        for (p, values) in obligation.values.iter().enumerate() {
            let values =
                (0..).zip(values).map(|(v, _)| (1, BooleanVariable::Value(p, v))).collect();
            formula.equation(Equation::OneValue(p), values, 1);
        }
        for (c, shape) in tables.shapes.iter().enumerate() {
            let rows = |of: &dyn Fn(&[u32]) -> bool| -> Vec<(i64, BooleanVariable)> {
                let all = tables.rows[c].iter().enumerate();
                all.filter(|(_, (row, _))| of(row))
                    .map(|(r, _)| (1, BooleanVariable::Row(c, r)))
                    .collect()
            };
            for (place, p) in shape.over.iter().enumerate() {
                for (v, _) in (0..).zip(&obligation.values[*p]) {
                    let mut all = rows(&|row| row[place] == v);
                    all.push((-1, BooleanVariable::Value(*p, v)));
                    formula.equation(Equation::Rows(c, *p, v), all, 0);
                }
            }
            formula.equation(Equation::OneRow(c), rows(&|_| true), 1);
            let later = tables.later(c);
            let agreeing = shape.messages.iter().filter(|m| tables.later(**m).is_some());
            for of in agreeing.copied().chain(later.map(|_| c)) {
                let to = &tables.shapes[of].to;
                let own = |(r, (row, _)): (usize, &(Vec<u32>, i64))| {
                    (tables.choice(c, row, to), (1, BooleanVariable::Row(c, r)))
                };
                let mut by_choice = tables.rows[c].iter().enumerate().map(own).into_group_map();
                for choice in tables.agreed(of) {
                    let mut all = by_choice.remove(&choice).unwrap_or_default();
                    all.push((-1, BooleanVariable::Agreed(of, choice.clone())));
                    formula.equation(Equation::Agreed(c, of, choice), all, 0);
                }
            }
        }
        let rows = tables.rows.iter().enumerate().flat_map(|(c, rows)| {
            rows.iter().enumerate().map(move |(r, (_, ticks))| (*ticks, BooleanVariable::Row(c, r)))
        });
        for (ticks, variable) in rows.chain([(tables.constant, BooleanVariable::One)]) {
            if ticks != 0 {
                let number = formula.number(variable);
                formula.objective.push((ticks, number));
            }
        }
        formula
    }

    /// The number of a truth value, from 0.
    fn number(&mut self, variable: BooleanVariable) -> usize {
        self.variables.insert_full(variable, ()).0
    }

    /// A sum with each truth value once.
    pub(super) fn numbered(&mut self, terms: Vec<(i64, BooleanVariable)>) -> Vec<(i64, usize)> {
        let mut sum: IndexMap<usize, i64> = IndexMap::new();
        for (n, variable) in terms {
            *sum.entry(self.number(variable)).or_default() += n;
        }
        sum.into_iter().map(|(x, n)| (n, x)).collect()
    }

    pub(super) fn equation(
        &mut self,
        name: Equation,
        terms: Vec<(i64, BooleanVariable)>,
        right: i64,
    ) {
        let terms = self.numbered(terms);
        self.equations.insert(name, (terms, right));
    }

    /// How VeriPB writes a truth value.
    pub fn literal(&self, variable: &BooleanVariable) -> String {
        format!("x{}", self.variables.get_index_of(variable).map_or(0, |i| i + 1))
    }

    /// The number of the line that states an equation's left-hand side is at least the right one;
    /// the next states at most.
    pub fn at_least(&self, equation: &Equation) -> usize {
        self.equations.get_index_of(equation).map_or(0, |i| 2 * i + 1)
    }

    /// The text of the formula, which names its clusters.
    ///
    /// # Errors
    /// The clusters cannot be written.
    pub fn with_clusters(&self, shapes: &[ClusterShape]) -> Result<String, Refusal> {
        let shapes = serde_json::to_string(shapes).map_err(|e| Refusal::wrong(e.to_string()))?;
        Ok(self.text(&format!("{CLUSTERS}{shapes}\n")))
    }

    /// The text of the formula, with comments after its first line.
    pub fn text(&self, comments: &str) -> String {
        let sum = |terms: &[(i64, usize)]| {
            terms.iter().map(|(n, x)| format!("{n:+} x{}", x + 1)).join(" ")
        };
        let constraints = self.equations.len() + self.inequalities.len();
        let variables = self.variables.len();
        let mut text = format!("* #variable= {variables} #constraint= {constraints}\n{comments}");
        let _ = writeln!(text, "min: {} ;", sum(&self.objective));
        for (terms, right) in self.equations.values() {
            let _ = writeln!(text, "{} = {right} ;", sum(terms));
        }
        for (terms, right) in &self.inequalities {
            let _ = writeln!(text, "{} >= {right} ;", sum(terms));
        }
        text
    }
}

/// The clusters that a formula's text names.
///
/// # Errors
/// It names none.
pub fn clusters(text: &str) -> Result<Vec<ClusterShape>, Refusal> {
    let named = text.lines().find_map(|line| line.strip_prefix(CLUSTERS));
    let named = named.ok_or_else(|| Refusal::wrong("the formula does not name its clusters"))?;
    serde_json::from_str(named).map_err(|e| Refusal::wrong(format!("clusters: {e}")))
}
