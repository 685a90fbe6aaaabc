//! Snapshots of the Promela models of the shipped examples, so that a change of a template is seen.

use indexmap::IndexMap;
use serde_json::Value;
use tickbound_model::{ModelError, Problem};
use tickbound_spin::promela::{PromelaError, PromelaOptions, Style, export};

fn platform(name: &str) -> Result<Value, ModelError> {
    panic!("{name}: the problems here bring their platforms along")
}

fn problem(text: &str, inputs: &[(&str, i64)]) -> Problem {
    let inputs: IndexMap<String, i64> = inputs.iter().map(|(n, v)| ((*n).into(), *v)).collect();
    Problem::from_json(text, &inputs, &platform).unwrap()
}

fn text(text: &str, inputs: &[(&str, i64)], style: Style) -> String {
    let problem = problem(text, inputs);
    let space = problem.space().unwrap();
    export(&problem, &space, &PromelaOptions { style }).unwrap().text
}

const ABSTRACT: &str = include_str!("../../../examples/problems/abstract.json");
const MINIMUM: &str = include_str!("../../../examples/problems/minimum.json");
const FERMI: &str = include_str!("../../../examples/problems/fermi.json");
const OPENCL: &str = include_str!("../../../examples/problems/abstract-opencl.json");

#[test]
fn abstract_kernel() {
    insta::assert_snapshot!("abstract-processes", text(ABSTRACT, &[], Style::Processes));
    insta::assert_snapshot!("abstract-lockstep", text(ABSTRACT, &[], Style::Lockstep));
}

#[test]
fn minimum() {
    insta::assert_snapshot!("minimum-processes", text(MINIMUM, &[], Style::Processes));
}

#[test]
fn warps_in_rounds() {
    insta::assert_snapshot!("fermi-processes", text(FERMI, &[("size", 64)], Style::Processes));
    insta::assert_snapshot!("fermi-lockstep", text(FERMI, &[("size", 64)], Style::Lockstep));
}

#[test]
fn items_that_share_an_element() {
    let inputs = [("size", 8), ("elements_per_unit", 2)];
    insta::assert_snapshot!("opencl-processes", text(OPENCL, &inputs, Style::Processes));
    insta::assert_snapshot!("opencl-lockstep", text(OPENCL, &inputs, Style::Lockstep));
}

#[test]
fn an_empty_space_and_a_faulty_problem_are_errors() {
    let of = |constraint: &str, kernel: &str| {
        let text = format!(
            r#"{{ "platform": {{ "units_per_device": 1, "elements_per_unit": 4,
             "global_access": 4 }},
              "parameters": {{ "WG": [2, 4] }}, "constraints": ["{constraint}"],
              "launch": {{ "global_size": 8, "local_size": "WG" }}, "kernel": {kernel} }}"#
        );
        let problem = problem(&text, &[]);
        export(&problem, &problem.space().unwrap(), &PromelaOptions::default())
    };
    let work = r#"[ { "work": "lid" } ]"#;
    assert!(of("WG > 2", work).is_ok());
    assert_eq!(of("WG > 4", work).unwrap_err(), PromelaError::EmptySpace);
    let diverging = r#"[ { "if": "lid == 0", "then": ["barrier"] } ]"#;
    assert!(matches!(of("WG > 2", diverging).unwrap_err(), PromelaError::Simulate(_)));
    let negative = r#"[ { "work": "1 - lid" } ]"#;
    assert!(matches!(of("WG > 2", negative).unwrap_err(), PromelaError::Simulate(_)));
}
