//! The frozen symbols of a problem.

use indexmap::IndexSet;
use tickbound_model::{Problem, Space};

use crate::system;

/// The frozen symbols: the values that parameters take in valid configurations.
pub(crate) fn frozen(
    problem: &Problem,
    space: &Space,
) -> (Vec<system::SystemParameter>, Vec<Vec<u32>>) {
    let mut values: Vec<IndexSet<i64>> = vec![IndexSet::new(); problem.parameters.len()];
    let configurations = space
        .bound
        .iter()
        .map(|b| {
            let chosen = b.configuration.0.iter().zip(&mut values);
            chosen.map(|(v, seen)| seen.insert_full(*v).0 as u32).collect()
        })
        .collect();
    let parameters = problem
        .parameters
        .iter()
        .zip(values)
        .map(|(p, v)| system::SystemParameter {
            name: p.name.clone(),
            values: v.into_iter().collect(),
        })
        .collect();
    (parameters, configurations)
}
