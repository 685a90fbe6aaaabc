//! Rust: a trait for what words mean, the connector, and a driver for threads.

use std::fmt::Write;

use itertools::Itertools;

use super::plan::{Act, After, Plan, Port, Start, Step, Value, Word};

/// A datum, outside and inside of the code that knows its meaning.
const DATUM: &str = "M::Value";

/// The function that chooses among steps.
const BELOW: &str = "\
/// A random number below `count`: splitmix64.
fn below(random: &mut u64, count: usize) -> usize {
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *random;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((u128::from(z ^ (z >> 31)) * count as u128) >> 64) as usize
}
";

pub(super) fn write(plan: &Plan) -> String {
    let datum = |some: bool| if some { "<M::Value>" } else { "" };
    let types = Types {
        offers: datum(plan.ports.iter().any(|p| p.put)),
        memory: datum(!plan.cells.is_empty()),
    };
    let parts = [
        head(plan),
        meaning(plan),
        data(plan, &types),
        connector(plan, &types),
        stepping(&types),
        attempt(plan, &types),
        driver(plan, &types),
        advancing(plan),
        BELOW.to_owned(),
    ];
    parts.join("\n")
}

/// Arguments of types that speak of data only where there are some.
struct Types {
    offers: &'static str,
    memory: &'static str,
}

/// `<V>` where the type has data.
fn generic(arguments: &str) -> &str {
    if arguments.is_empty() { "" } else { "<V>" }
}

/// A line for each of `all`.
fn lines<T>(all: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) -> String {
    all.into_iter().map(|one| line(one) + "\n").collect()
}

fn head(plan: &Plan) -> String {
    format!(
        "//! The connector {}, written by `tickbound reo generate`.
//!
//! Say in a [`Meaning`] what its words mean. A [`Driver`] is for threads that put and take at its
//! ports; a [`Connector`] alone takes one step at a time.
#![allow(dead_code, non_snake_case)]

use std::sync::{{Condvar, Mutex, MutexGuard, PoisonError}};
",
        plan.title
    )
}

fn meaning(plan: &Plan) -> String {
    let method = |to: &str, word: &Word| {
        let arguments = (1..=word.arguments).map(|k| format!(", x{k}: &Self::Value")).join("");
        format!("    /// `{}`\n    fn {}(&self{arguments}) -> {to};", word.text, word.word)
    };
    format!(
        "\
/// What the words of the connector mean. Different constants must differ; the same arguments must
/// always give the same.
pub trait Meaning {{
    /// Data.
    type Value: Clone + PartialEq;
{}{}{}}}
",
        lines(&plan.constants, |w| method("Self::Value", w)),
        lines(&plan.functions, |w| method("Self::Value", w)),
        lines(&plan.predicates, |w| method("bool", w)),
    )
}

fn data(plan: &Plan, types: &Types) -> String {
    let offer = |port: &Port| match port.put {
        true => format!(
            "    /// `{}`: a datum to put.\n    pub put_{}: Option<V>,",
            port.text, port.word
        ),
        false => format!(
            "    /// `{}`: a datum is to be taken.\n    pub take_{}: bool,",
            port.text, port.word
        ),
    };
    let none =
        |port: &Port| format!("{}: {}", port.variable(), if port.put { "None" } else { "false" });
    let (offers, memory) = (generic(types.offers), generic(types.memory));
    format!(
        "/// What waits at the ports.
#[derive(Debug, Clone, PartialEq)]
pub struct Offers{offers} {{
{}}}

impl{offers} Offers{offers} {{
    /// Nothing.
    pub const fn none() -> Self {{
        Offers {{ {} }}
    }}
}}

/// A step that was taken, and the datum at each port that fired.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired<V> {{
    /// Its number.
    pub step: usize,
{}}}

/// A state, and what the cells hold that are read again.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory{memory} {{
    /// From 0.
    pub state: usize,
{}}}
",
        lines(&plan.ports, offer),
        plan.ports.iter().map(none).join(", "),
        lines(&plan.ports, |p| format!("    /// `{}`\n    pub at_{}: Option<V>,", p.text, p.word)),
        lines(&plan.cells, |c| format!(
            "    /// `${}`\n    pub cell_{}: Option<V>,",
            c.text, c.word
        )),
    )
}

fn connector(plan: &Plan, types: &Types) -> String {
    let given = plan.cells.iter().filter(|c| matches!(c.start, Start::Given));
    let given = given.map(|c| format!(", cell_{}: {DATUM}", c.word)).join("");
    let cell = |(start, word): (&Start, &String)| match start {
        Start::Empty => format!(", cell_{word}: None"),
        Start::Constant(c) => format!(", cell_{word}: Some(meaning.{}())", plan.constants[*c].word),
        Start::Given => format!(", cell_{word}: Some(cell_{word})"),
    };
    let cells = plan.cells.iter().map(|c| cell((&c.start, &c.word))).join("");
    let rows = plan.rows.iter().join(", ");
    let (ends, memory, initial) = (plan.rows.len(), types.memory, plan.initial);
    format!(
        "/// The steps of state s are those from `ROWS[s]` to before `ROWS[s + 1]`.
const ROWS: [usize; {ends}] = [{rows}];

/// The connector.
#[derive(Debug, Clone)]
pub struct Connector<M: Meaning> {{
    meaning: M,
    memory: Memory{memory},
}}

impl<M: Meaning> Connector<M> {{
    /// The connector at its beginning; cells that are arguments hold what is given.
    pub fn new(meaning: M{given}) -> Self {{
        let memory = Memory {{ state: {initial}{cells} }};
        Connector {{ meaning, memory }}
    }}

    /// Where it is.
    pub fn memory(&self) -> &Memory{memory} {{
        &self.memory
    }}
"
    )
}

/// The functions of the connector that take steps.
fn stepping(types: &Types) -> String {
    let offers = types.offers;
    format!(
        "    /// The numbers of the steps that can be taken with these offers, in order.
    pub fn enabled(&self, offers: &Offers{offers}) -> Vec<usize> {{
        let row = ROWS[self.memory.state]..ROWS[self.memory.state + 1];
        row.filter(|step| self.attempt(*step, offers).is_some()).collect()
    }}

    /// Takes the step with a number, if it can be taken.
    pub fn fire(&mut self, step: usize, offers: &Offers{offers}) -> Option<Fired<{DATUM}>> {{
        let (memory, fired) = self.attempt(step, offers)?;
        self.memory = memory;
        Some(fired)
    }}

    /// Takes one of the steps that can be taken, if there is one: `choose` is told how many there
    /// are, and gives the place of one among them, from 0.
    pub fn step(
        &mut self,
        offers: &Offers{offers},
        choose: impl FnOnce(usize) -> usize,
    ) -> Option<Fired<{DATUM}>> {{
        let enabled = self.enabled(offers);
        if enabled.is_empty() {{
            return None;
        }}
        let chosen = choose(enabled.len());
        self.fire(*enabled.get(chosen)?, offers)
    }}
"
    )
}

/// The end of the connector: what each step would do.
fn attempt(plan: &Plan, types: &Types) -> String {
    let mut out = format!(
        "    /// What a step would do, if it can be taken.
    fn attempt(
        &self,
        step: usize,
        offers: &Offers{},
    ) -> Option<(Memory{}, Fired<{DATUM}>)> {{
        match (self.memory.state, step) {{
",
        types.offers, types.memory
    );
    for (state, row) in plan.rows.windows(2).enumerate() {
        for number in row[0]..row[1] {
            arm(plan, state, number, &mut out);
        }
    }
    out + "            _ => None,\n        }\n    }\n}\n"
}

fn arm(plan: &Plan, state: usize, number: usize, out: &mut String) {
    let step = &plan.steps[number];
    let mut line = |text: String| _ = writeln!(out, "            {text}");
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
    line(format!("// {}", step.text));
    let first = format!("({state}, {number}) => {{");
    line(first);
    body.into_iter()
        .for_each(|text| line(format!("    {}", text.replace('\n', "\n                "))));
    line("}".into());
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
        "let memory = Memory {{ state: {}{cells} }};\nSome((memory, Fired {{ step{ports} }}))",
        step.to
    )
}

/// A value of its own.
fn value(plan: &Plan, value: &Value) -> String {
    match value {
        Value::Place(_) => format!("{}.clone()", compared(plan, value)),
        Value::Constant(_) | Value::Call(..) => compared(plan, value),
    }
}

/// A value that is only looked at.
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

fn driver(plan: &Plan, types: &Types) -> String {
    let taken = |port: &&Port| !port.put;
    let took = plan.ports.iter().filter(taken);
    format!(
        "\
/// A connector between threads. It takes steps as long as there are any; of several it takes one by
/// a random number, and the same seed gives the same numbers.
pub struct Driver<M: Meaning> {{
    inside: Mutex<Inside<M>>,
    changed: Condvar,
}}

struct Inside<M: Meaning> {{
    connector: Connector<M>,
    random: u64,
    offers: Offers{},
{}{}}}

impl<M: Meaning> Driver<M> {{
    /// A driver of `connector`.
    pub fn new(connector: Connector<M>, seed: u64) -> Self {{
        let inside = Inside {{
            connector,
            random: seed,
            offers: Offers::none(),
{}{}        }};
        Driver {{ inside: Mutex::new(inside), changed: Condvar::new() }}
    }}
{}",
        types.offers,
        lines(&plan.ports, |p| format!("    busy_{}: bool,", p.word)),
        lines(took.clone(), |p| format!("    taken_{}: Option<{DATUM}>,", p.word)),
        lines(&plan.ports, |p| format!("            busy_{}: false,", p.word)),
        lines(took, |p| format!("            taken_{}: None,", p.word)),
        plan.ports.iter().map(operation).collect::<String>(),
    )
}

/// The end of the driver: how threads wait, and what its steps give them.
fn advancing(plan: &Plan) -> String {
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
    format!(
        "    /// The inside, once `busy` is false of it.
    fn wait<'a>(
        &self,
        inside: MutexGuard<'a, Inside<M>>,
        busy: impl Fn(&Inside<M>) -> bool,
    ) -> MutexGuard<'a, Inside<M>> {{
        let waited = self.changed.wait_while(inside, |inside| busy(inside));
        waited.unwrap_or_else(PoisonError::into_inner)
    }}

    fn lock(&self) -> MutexGuard<'_, Inside<M>> {{
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }}

    /// Takes steps as long as there are any.
    fn advance(&self, inside: &mut Inside<M>) {{
        loop {{
            let Inside {{ connector, random, offers, .. }} = &mut *inside;
            let Some(fired) = connector.step(offers, |count| below(random, count)) else {{
                break;
            }};
{}        }}
        self.changed.notify_all();
    }}
}}
",
        lines(&plan.ports, result),
    )
}

/// What a thread does at a port.
fn operation(port: &Port) -> String {
    let Port { word, text, put } = port;
    if *put {
        return format!(
            "
    /// Puts a datum at `{text}`, and returns when a step has taken it.
    pub fn put_{word}(&self, value: {DATUM}) {{
        let mut inside = self.wait(self.lock(), |inside| inside.busy_{word});
        inside.busy_{word} = true;
        inside.offers.put_{word} = Some(value);
        self.advance(&mut inside);
        let mut inside = self.wait(inside, |inside| inside.offers.put_{word}.is_some());
        inside.busy_{word} = false;
        self.changed.notify_all();
    }}
"
        );
    }
    format!(
        "
    /// Takes a datum at `{text}`, once a step gives one.
    pub fn take_{word}(&self) -> {DATUM} {{
        let mut inside = self.wait(self.lock(), |inside| inside.busy_{word});
        inside.busy_{word} = true;
        inside.offers.take_{word} = true;
        self.advance(&mut inside);
        loop {{
            if let Some(value) = inside.taken_{word}.take() {{
                inside.busy_{word} = false;
                self.changed.notify_all();
                return value;
            }}
            inside = self.wait(inside, |inside| inside.taken_{word}.is_none());
        }}
    }}
"
    )
}
