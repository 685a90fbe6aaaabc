//! Decision trees in programming languages and in JSON.

use serde_json::{Value, json};

use super::language::Language;
use crate::tree::DecisionTree;

/// The body of a function that picks, with a line break after each line. The smaller side of a
/// comparison is nested, the larger one follows it: a compiler limits how deep blocks nest.
pub(super) fn written(tree: &DecisionTree, arguments: &[String], language: Language) -> String {
    let mut text = String::new();
    write(tree, arguments, language, 1, &mut text);
    text
}

fn write(
    mut tree: &DecisionTree,
    arguments: &[String],
    language: Language,
    depth: usize,
    text: &mut String,
) {
    let indent = " ".repeat(depth * if language == Language::C { 2 } else { 4 });
    let (open, close) = match language {
        Language::C => (["if (", ") {"], "}"),
        Language::Rust => (["if ", " {"], "}"),
        Language::Python => (["if ", ":"], ""),
    };
    while let DecisionTree::Split { feature, most, below, above } = tree {
        let (first, then, sign) = match below.leaves() <= above.leaves() {
            true => (below, above, "<="),
            false => (above, below, ">"),
        };
        let name = &arguments[feature.argument];
        let value = match (feature.modulus, language) {
            (None, _) => name.clone(),
            (Some(n), Language::Rust) => format!("{name}.rem_euclid({n})"),
            (Some(n), Language::Python) => format!("{name} % {n}"),
            (Some(n), Language::C) => format!("({name} % {n} + {n}) % {n}"),
        };
        let condition = format!("{value} {sign} {most}");
        *text += &format!("{indent}{}{condition}{}\n", open[0], open[1]);
        write(first, arguments, language, depth + 1, text);
        if !close.is_empty() {
            *text += &format!("{indent}{close}\n");
        }
        tree = then;
    }
    if let DecisionTree::Leaf(variant) = tree {
        *text += &format!("{indent}return {}\n", leaf(*variant, language));
    }
}

fn leaf(variant: Option<usize>, language: Language) -> String {
    match (variant, language) {
        (Some(v), Language::C) => format!("{v};"),
        (None, Language::C) => "-1;".to_owned(),
        (variant, Language::Rust) => format!("{variant:?};"),
        (Some(v), Language::Python) => v.to_string(),
        (None, Language::Python) => "None".to_owned(),
    }
}

/// The nodes of a tree as a list, its root first; `below` and `above` are places in the list. A
/// leaf has a variant, or null where nothing is valid.
pub(super) fn json(tree: &DecisionTree, arguments: &[String]) -> Value {
    let (mut nodes, mut next) = (Vec::new(), 1);
    let mut open = vec![tree];
    while !open.is_empty() {
        let mut children = Vec::new();
        for node in open {
            nodes.push(match node {
                DecisionTree::Leaf(variant) => json!({ "variant": variant }),
                DecisionTree::Split { feature, most, below, above } => {
                    children.extend([&**below, &**above]);
                    next += 2;
                    let (below, above) = (next - 2, next - 1);
                    json!({ "argument": arguments[feature.argument], "modulus": feature.modulus,
                        "most": most, "below": below, "above": above })
                }
            });
        }
        open = children;
    }
    Value::Array(nodes)
}
