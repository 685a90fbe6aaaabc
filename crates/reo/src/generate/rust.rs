//! Rust: a trait for what words mean, the connector, and a driver for threads.

use itertools::Itertools;

use super::plan::{Act, After, Memory, Plan, Port, Start, Step, Value, Word};
use super::{filled, lines};

pub(super) fn write(plan: &Plan) -> String {
    // Arguments of types that speak of data only where there are some.
    let (offers, memory) = (plan.ports.iter().any(|p| p.put), !plan.cells.is_empty());
    let data = |some: bool, value: &str| if some { value.to_owned() } else { String::new() };
    filled(include_str!("templates/program.rs.txt"), |key| match key {
        "title" => plan.title.clone(),
        "offers" => data(offers, "<M::Value>"),
        "offers_v" => data(offers, "<V>"),
        "memory" => data(memory, "<M::Value>"),
        "memory_v" => data(memory, "<V>"),
        "constants" => lines(&plan.constants, |w| method("Self::Value", w)),
        "functions" => lines(&plan.functions, |w| method("Self::Value", w)),
        "predicates" => lines(&plan.predicates, |w| method("bool", w)),
        "regions" => plan.initial.len().to_string(),
        "ends" => plan.rows.len().to_string(),
        "rows" => plan.rows.iter().join(", "),
        "arms" => arms(plan),
        "ports" | "none" | "fired" | "busy" | "busy_false" | "taken" | "taken_none" | "results"
        | "operations" => ports(plan, key),
        _ => cells(plan, key),
    })
}

fn method(to: &str, word: &Word) -> String {
    let arguments = (1..=word.arguments).map(|k| format!(", x{k}: &Self::Value")).join("");
    format!("    /// `{}`\n    fn {}(&self{arguments}) -> {to};", word.text, word.word)
}

/// The text for a key of the template that concerns cells.
fn cells(plan: &Plan, key: &str) -> String {
    let given = plan.cells.iter().filter(|c| matches!(c.start, Start::Given));
    let held = |Memory { word, start, .. }: &Memory| match start {
        Start::Empty => format!(", cell_{word}: None"),
        Start::Constant(c) => format!(", cell_{word}: Some(meaning.{}())", plan.constants[*c].word),
        Start::Given => format!(", cell_{word}: Some(cell_{word})"),
    };
    let field = |c: &Memory| format!("    /// `${}`\n    pub cell_{}: Option<V>,", c.text, c.word);
    match key {
        "cells" => lines(&plan.cells, field),
        "given" => given.map(|c| format!(", cell_{}: M::Value", c.word)).join(""),
        "initial" => plan.initial.iter().join(", "),
        "held" => plan.cells.iter().map(held).join(""),
        _ => String::new(),
    }
}

/// As [`cells`], for each port.
fn ports(plan: &Plan, key: &str) -> String {
    let taken = plan.ports.iter().filter(|port| !port.put);
    let offer = |port: &Port| match (port.put, &port.word, &port.text) {
        (true, word, text) => {
            format!("    /// `{text}`: a datum to put.\n    pub put_{word}: Option<V>,")
        }
        (false, word, text) => {
            format!("    /// `{text}`: a datum is to be taken.\n    pub take_{word}: bool,")
        }
    };
    let none =
        |port: &Port| format!("{}: {}", port.variable(), if port.put { "None" } else { "false" });
    let result = |Port { word, put, .. }: &Port| {
        let result = match put {
            true => format!("inside.offers.put_{word} = None;"),
            false => format!(
                "inside.offers.take_{word} = false;
                inside.taken_{word} = fired.at_{word};"
            ),
        };
        format!("            if fired.at_{word}.is_some() {{\n{:16}{result}\n{:12}}}", "", "")
    };
    match key {
        "ports" => lines(&plan.ports, offer),
        "none" => plan.ports.iter().map(none).join(", "),
        "fired" => lines(&plan.ports, |p| {
            format!("    /// `{}`\n    pub at_{}: Option<V>,", p.text, p.word)
        }),
        "busy" => lines(&plan.ports, |p| format!("    busy_{}: bool,", p.word)),
        "taken" => lines(taken, |p| format!("    taken_{}: Option<M::Value>,", p.word)),
        "busy_false" => lines(&plan.ports, |p| format!("            busy_{}: false,", p.word)),
        "taken_none" => lines(taken, |p| format!("            taken_{}: None,", p.word)),
        "results" => lines(&plan.ports, result),
        _ => plan.ports.iter().map(operation).collect(),
    }
}

/// What a thread does at a port.
fn operation(port: &Port) -> String {
    let template = match port.put {
        true => include_str!("templates/put.rs.txt"),
        false => include_str!("templates/take.rs.txt"),
    };
    filled(template, |key| if key == "word" { port.word.clone() } else { port.text.clone() })
}

/// What each step of each state would do.
fn arms(plan: &Plan) -> String {
    let row =
        |(state, row): (usize, &[usize])| lines(row[0]..row[1], |number| arm(plan, state, number));
    plan.rows.windows(2).enumerate().map(row).collect()
}

fn arm(plan: &Plan, state: usize, number: usize) -> String {
    let step = &plan.steps[number];
    let refuse = |unless: String| format!("if {unless} {{\n    return None;\n}}");
    let mut body = Vec::new();
    for port in step.fires.iter().map(|p| &plan.ports[*p]) {
        let offer = format!("offers.{}", port.variable());
        body.push(match port.put {
            true => format!("let {} = {offer}.clone()?;", port.variable()),
            false => refuse(format!("!{offer}")),
        });
    }
    for cell in step.reads.iter().map(|c| &plan.cells[*c]) {
        body.push(format!("let old_{} = self.memory.cell_{}.clone()?;", cell.word, cell.word));
    }
    for act in &step.acts {
        body.push(match act {
            Act::Let(place, value) => {
                format!("let {} = {};", plan.variable(*place), self::value(plan, value))
            }
            Act::Equal(equal, a, b) => {
                let sign = if *equal { "!=" } else { "==" };
                refuse(format!("{} {sign} {}", compared(plan, a), compared(plan, b)))
            }
            Act::Predicate(holds, p, values) => {
                let sign = if *holds { "!" } else { "" };
                refuse(format!("{sign}{}", call(plan, &plan.predicates[*p], values)))
            }
        });
    }
    body.push(done(plan, step));
    let line =
        |text: String| format!("                {}", text.replace('\n', "\n                "));
    let body = lines(body, line);
    let indent = " ".repeat(12);
    let state = format!("self.memory.state[{}] == {state}", step.region);
    format!("{indent}// {}\n{indent}{number} if {state} => {{\n{body}{indent}}}", step.text)
}

/// What a step leaves, and what has been seen of it.
fn done(plan: &Plan, step: &Step) -> String {
    let cell = |(after, word): (&After, &String)| match after {
        After::Gone => format!(", cell_{word}: None"),
        After::Kept => format!(", cell_{word}: self.memory.cell_{word}.clone()"),
        After::New => format!(", cell_{word}: Some(new_{word})"),
    };
    let cells = step.after.iter().zip(plan.cells.iter().map(|c| &c.word)).map(cell).join("");
    let port = |(k, port): (usize, &Port)| match step.fires.contains(&k) {
        true => format!(", at_{}: Some({})", port.word, port.variable()),
        false => format!(", at_{}: None", port.word),
    };
    let ports = plan.ports.iter().enumerate().map(port).join("");
    format!(
        "let mut state = self.memory.state;\nstate[{}] = {};\nlet memory = Memory {{ state{cells} \
         }};\nSome((memory, Fired {{ step{ports} }}))",
        step.region, step.to
    )
}

fn value(plan: &Plan, value: &Value) -> String {
    match value {
        Value::Place(_) => format!("{}.clone()", compared(plan, value)),
        Value::Constant(_) | Value::Call(..) => compared(plan, value),
    }
}

/// A value that is only compared or passed on.
fn compared(plan: &Plan, value: &Value) -> String {
    match value {
        Value::Place(p) => plan.variable(*p),
        Value::Constant(c) => format!("self.meaning.{}()", plan.constants[*c].word),
        Value::Call(f, values) => call(plan, &plan.functions[*f], values),
    }
}

fn call(plan: &Plan, word: &Word, values: &[Value]) -> String {
    let arguments = values.iter().map(|v| format!("&{}", compared(plan, v))).join(", ");
    format!("self.meaning.{}({arguments})", word.word)
}
