//! The proof that a formula's least objective is the time claimed, for VeriPB 3.
//!
//! In go tables and a configuration, out comes one line of arithmetic: equations of the formula,
//! each this many times, and truth values that are not below 0, add up to "the objective is at
//! least this many ticks". How many times follows from the elimination: the least sum of a cluster
//! and those before it, for each choice that a later one agrees on. The configuration shows
//! that no more can be proved.
//!
//! The format is that of VeriPB, version 3.0; the idea is that of certifying dynamic programs (E.
//! Demirović, C. McCreesh, M. McIlree, J. Nordström, A. Oertel, K. Sidorov: *Pseudo-Boolean
//! reasoning about states and transitions to certify dynamic programming and decision diagram
//! algorithms*, CP 2024).

use std::collections::HashMap;
use std::fmt::Write;

use itertools::Itertools;

use super::clusters::ClusterTables;
use super::formula::{BooleanVariable, Equation, PseudoBooleanFormula};
use crate::refusal::Refusal;

/// What a cluster and those before it come to at least, for each choice that a later one agrees on.
type Message = HashMap<Vec<u32>, i64>;

/// The proof that nothing is below `time`, which the configuration with these numbers of values
/// takes.
///
/// # Errors
/// A number beyond 63 bits.
pub fn proof(
    formula: &PseudoBooleanFormula,
    tables: &ClusterTables,
    (configuration, time): (&[u32], i64),
) -> Result<String, Refusal> {
    let mut steps: Vec<(String, i64)> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    steps.push((formula.at_least(&Equation::One).to_string(), tables.constant));
    for cluster in 0..tables.shapes.len() {
        let (totals, message) = totals(tables, cluster, &messages, time)?;
        let to = &tables.shapes[cluster].to;
        let agrees = tables.later(cluster).is_some();
        for (r, (total, (row, _))) in totals.iter().zip(&tables.rows[cluster]).enumerate() {
            let choice = if agrees { tables.choice(cluster, row, to) } else { Vec::new() };
            let least = message.get(&choice).copied().unwrap_or(0);
            // A row that takes longer than the least of its choice.
            steps.push((formula.literal(&BooleanVariable::Row(cluster, r)), total - least));
        }
        if agrees {
            for choice in tables.agreed(cluster) {
                let least = message.get(&choice).copied().unwrap_or(0);
                let own = Equation::Agreed(cluster, cluster, choice);
                steps.push((formula.at_least(&own).to_string(), least));
            }
        } else {
            let least = message.get(&Vec::new()).copied().unwrap_or(0);
            steps.push((formula.at_least(&Equation::OneRow(cluster)).to_string(), least));
        }
        for of in tables.shapes[cluster].messages.iter().filter(|m| tables.later(**m).is_some()) {
            for choice in tables.agreed(*of) {
                let least = messages[*of].get(&choice).copied().unwrap_or(0);
                let equation = Equation::Agreed(cluster, *of, choice);
                steps.push(((formula.at_least(&equation) + 1).to_string(), least));
            }
        }
        messages.push(message);
    }
    let all = steps.iter().filter(|(_, times)| *times != 0).enumerate();
    let sum = all.map(|(i, (what, n))| format!("{what} {n} *{}", if i > 0 { " +" } else { "" }));
    let (sum, lines) = (sum.format(" "), 2 * formula.equations.len());
    let mut text =
        format!("pseudo-Boolean proof version 3.0\nf {lines} ;\npol {sum} ;\noutput NONE ;\n");
    let witness = witness(formula, tables, configuration);
    let line = lines + 1;
    let _ = writeln!(text, "conclusion BOUNDS {time} : {line} {time} : {witness} ;");
    text.push_str("end pseudo-Boolean proof ;\n");
    Ok(text)
}

/// Whether a text has the lines of such a proof and no others. VeriPB knows rules that assume
/// something without a proof.
pub fn is_one(text: &str) -> bool {
    let words = text.lines().map(|line| line.split(' ').next().unwrap_or_default());
    words.eq(["pseudo-Boolean", "f", "pol", "output", "conclusion", "end"])
}

/// The sum of each row of a cluster and those before it, and the least for each choice that a
/// later one agrees on. A choice that no row has belongs to no configuration: `never` is as much as
/// will be needed.
fn totals(
    tables: &ClusterTables,
    cluster: usize,
    messages: &[Message],
    never: i64,
) -> Result<(Vec<i64>, Message), Refusal> {
    let shape = &tables.shapes[cluster];
    let agrees = tables.later(cluster).is_some();
    let mut message: Message = tables.agreed(cluster).into_iter().map(|c| (c, never)).collect();
    let mut least: Message = HashMap::new();
    let mut totals = Vec::new();
    for (row, ticks) in &tables.rows[cluster] {
        let mut total = *ticks;
        for m in shape.messages.iter().filter(|m| tables.later(**m).is_some()) {
            let choice = tables.choice(cluster, row, &tables.shapes[*m].to);
            let more = messages[*m].get(&choice).copied().unwrap_or(never);
            total = total.checked_add(more).ok_or(Refusal::TooLarge("a sum beyond 63 bits"))?;
        }
        let choice = if agrees { tables.choice(cluster, row, &shape.to) } else { Vec::new() };
        least.entry(choice).and_modify(|l| *l = total.min(*l)).or_insert(total);
        totals.push(total);
    }
    message.extend(least);
    Ok((totals, message))
}

/// The truth values of a configuration.
fn witness(
    formula: &PseudoBooleanFormula,
    tables: &ClusterTables,
    configuration: &[u32],
) -> String {
    let of = |places: &[usize]| places.iter().map(|p| configuration[*p]).collect_vec();
    let holds = |variable: &BooleanVariable| match variable {
        BooleanVariable::One => true,
        BooleanVariable::Value(p, v) => configuration[*p] == *v,
        BooleanVariable::Row(c, r) => tables.rows[*c][*r].0 == of(&tables.shapes[*c].over),
        BooleanVariable::Agreed(c, choice) => *choice == of(&tables.shapes[*c].to),
        // A formula of clusters has no maxima.
        BooleanVariable::Bit(..) => false,
    };
    let literal = |(i, v): (usize, &BooleanVariable)| {
        format!("{}x{}", if holds(v) { "" } else { "~" }, i + 1)
    };
    formula.variables.keys().enumerate().map(literal).join(" ")
}
