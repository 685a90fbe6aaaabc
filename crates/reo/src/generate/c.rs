//! C11: one file to be included, with no more than three headers of the standard library.

use itertools::Itertools;

use super::plan::{Act, After, Memory, Plan, Port, Start, Step, Value, Word};
use super::{filled, lines};

pub(super) fn write(plan: &Plan) -> String {
    let n = &plan.name;
    let method = |to: &str, word: &Word| {
        let arguments = (1..=word.arguments).map(|k| format!(", {n}_value x{k}")).join("");
        format!("    {to} (*{})(void *context{arguments}); // `{}`", word.word, word.text)
    };
    let offer = |port: &Port| match (port.put, &port.word, &port.text) {
        (true, word, text) => {
            format!("    bool has_{word}; // `{text}`: a datum to put\n    {n}_value put_{word};")
        }
        (false, word, text) => {
            format!("    bool take_{word}; // `{text}`: a datum is to be taken")
        }
    };
    let fired = |port: &Port| {
        format!("    bool fired_{}; // `{}`\n    {n}_value at_{};", port.word, port.text, port.word)
    };
    let given = plan.cells.iter().filter(|c| matches!(c.start, Start::Given));
    let begin = |Memory { word, start, .. }: &Memory| match start {
        Start::Empty => format!("    self->cell_{word} = ({n}_value){{0}};"),
        Start::Constant(c) => {
            format!("    self->cell_{word} = meaning->{};", plan.constants[*c].word)
        }
        Start::Given => format!("    self->cell_{word} = cell_{word};"),
    };
    filled(include_str!("templates/program.c.txt"), |key| match key {
        "n" => n.clone(),
        "title" => plan.title.clone(),
        "constants" => {
            lines(&plan.constants, |w| format!("    {n}_value {}; // `{}`", w.word, w.text))
        }
        "functions" => lines(&plan.functions, |w| method(&format!("{n}_value"), w)),
        "predicates" => lines(&plan.predicates, |w| method("bool", w)),
        "cells" => {
            lines(&plan.cells, |c| format!("    {n}_value cell_{}; // `${}`", c.word, c.text))
        }
        "offers" => lines(&plan.ports, offer),
        "fired" => lines(&plan.ports, fired),
        "given" => given.clone().map(|c| format!(", {n}_value cell_{}", c.word)).join(""),
        "initial" => plan.initial.iter().join(", "),
        "regions" => plan.initial.len().to_string(),
        "begin" => lines(&plan.cells, begin),
        "arms" => lines(plan.steps.iter().enumerate(), |step| arm(plan, step)),
        "rows" => plan.rows.iter().join(", "),
        _ => String::new(),
    })
}

/// The case of a step.
fn arm(plan: &Plan, (number, step): (usize, &Step)) -> String {
    let n = &plan.name;
    let refuse = |unless: String| format!("if ({unless}) return false;");
    let mut body = Vec::new();
    for port in step.fires.iter().map(|p| &plan.ports[*p]) {
        let word = &port.word;
        if port.put {
            body.push(refuse(format!("!offers->has_{word}")));
            body.push(format!("const {n}_value put_{word} = offers->put_{word};"));
        } else {
            body.push(refuse(format!("!offers->take_{word}")));
        }
    }
    for cell in step.reads.iter().map(|c| &plan.cells[*c]) {
        body.push(format!("const {n}_value old_{} = self->cell_{};", cell.word, cell.word));
    }
    for act in &step.acts {
        body.push(match act {
            Act::Let(place, value) => {
                format!("const {n}_value {} = {};", plan.variable(*place), self::value(plan, value))
            }
            Act::Equal(equal, a, b) => {
                let (sign, a, b) = (if *equal { "!" } else { "" }, value(plan, a), value(plan, b));
                refuse(format!("{sign}self->meaning.equal(self->meaning.context, {a}, {b})"))
            }
            Act::Predicate(holds, p, values) => {
                let sign = if *holds { "!" } else { "" };
                refuse(format!("{sign}{}", call(plan, &plan.predicates[*p], values)))
            }
        });
    }
    body.push(format!("next->state[{}] = {};", step.region, step.to));
    for (after, cell) in step.after.iter().zip(&plan.cells) {
        match after {
            After::Gone => body.push(format!("next->cell_{} = ({n}_value){{0}};", cell.word)),
            After::Kept => {}
            After::New => body.push(format!("next->cell_{} = new_{};", cell.word, cell.word)),
        }
    }
    for port in step.fires.iter().map(|p| &plan.ports[*p]) {
        body.push(format!("fired->fired_{} = true;", port.word));
        body.push(format!("fired->at_{} = {};", port.word, port.variable()));
    }
    body.push("return true;".into());
    let body = lines(body, |text| format!("        {text}"));
    format!("    case {number}: {{ // {}.\n{body}    }}", step.text)
}

fn value(plan: &Plan, value: &Value) -> String {
    match value {
        Value::Place(p) => plan.variable(*p),
        Value::Constant(c) => format!("self->meaning.{}", plan.constants[*c].word),
        Value::Call(f, values) => call(plan, &plan.functions[*f], values),
    }
}

fn call(plan: &Plan, word: &Word, values: &[Value]) -> String {
    let arguments = values.iter().map(|v| format!(", {}", value(plan, v))).join("");
    format!("self->meaning.{}(self->meaning.context{arguments})", word.word)
}
