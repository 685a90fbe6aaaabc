//! C11: one file to be included, with no more than three headers of the standard library.

use std::fmt::Write;

use itertools::Itertools;

use super::plan::{Act, After, Plan, Port, Start, Step, Value, Word};

pub(super) fn write(plan: &Plan) -> String {
    let parts =
        [head(plan), data(plan), beginning(plan), attempt(plan), steps(plan), choosing(plan)];
    parts.join("\n")
}

/// A line for each of `all`.
fn lines<T>(all: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) -> String {
    all.into_iter().map(|one| line(one) + "\n").collect()
}

fn head(plan: &Plan) -> String {
    let n = &plan.name;
    let method = |to: &str, word: &Word| {
        let arguments = (1..=word.arguments).map(|k| format!(", {n}_value x{k}")).join("");
        format!("    {to} (*{})(void *context{arguments}); // `{}`", word.word, word.text)
    };
    format!(
        "// The connector {}, written by `tickbound reo generate`. Include this file.
//
// Say in a struct {n}_meaning what its words mean. {n}_VALUE is the type of data, int64_t unless it
// is defined before. Locks are the caller's.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef {n}_VALUE
#define {n}_VALUE int64_t
#endif
typedef {n}_VALUE {n}_value;

// What the words of the connector mean. Different constants must differ; the same arguments must
// always give the same. Functions get `context`.
struct {n}_meaning {{
    void *context;
    bool (*equal)(void *context, {n}_value x1, {n}_value x2);
{}{}{}}};
",
        plan.title,
        lines(&plan.constants, |w| format!("    {n}_value {}; // `{}`", w.word, w.text)),
        lines(&plan.functions, |w| method(&format!("{n}_value"), w)),
        lines(&plan.predicates, |w| method("bool", w)),
    )
}

fn data(plan: &Plan) -> String {
    let n = &plan.name;
    let offer = |port: &Port| match port.put {
        true => format!(
            "    bool has_{}; // `{}`: a datum to put\n    {n}_value put_{};",
            port.word, port.text, port.word
        ),
        false => format!("    bool take_{}; // `{}`: a datum is to be taken", port.word, port.text),
    };
    let fired = |port: &Port| {
        format!("    bool fired_{}; // `{}`\n    {n}_value at_{};", port.word, port.text, port.word)
    };
    format!(
        "// The connector: a state from 0, and what the cells hold that are read again.
struct {n} {{
    struct {n}_meaning meaning;
    size_t state;
{}}};

// What waits at the ports.
struct {n}_offers {{
{}}};

// A step that was taken, and the datum at each port that fired.
struct {n}_fired {{
    size_t step;
{}}};
",
        lines(&plan.cells, |c| format!("    {n}_value cell_{}; // `${}`", c.word, c.text)),
        lines(&plan.ports, offer),
        lines(&plan.ports, fired),
    )
}

fn beginning(plan: &Plan) -> String {
    let n = &plan.name;
    let given = plan.cells.iter().filter(|c| matches!(c.start, Start::Given));
    let given = given.map(|c| format!(", {n}_value cell_{}", c.word)).join("");
    let cell = |(start, word): (&Start, &String)| match start {
        Start::Empty => format!("    self->cell_{word} = ({n}_value){{0}};"),
        Start::Constant(c) => {
            format!("    self->cell_{word} = meaning->{};", plan.constants[*c].word)
        }
        Start::Given => format!("    self->cell_{word} = cell_{word};"),
    };
    format!(
        "// The connector at its beginning; cells that are arguments hold what is given.
static inline void {n}_init(struct {n} *self, const struct {n}_meaning *meaning{given}) {{
    self->meaning = *meaning;
    self->state = {};
{}}}
",
        plan.initial,
        lines(&plan.cells, |c| cell((&c.start, &c.word))),
    )
}

fn attempt(plan: &Plan) -> String {
    let n = &plan.name;
    let mut out = format!(
        "// What a step of the connector's state would do; false if it cannot be taken.
static inline bool {n}_attempt(
    const struct {n} *self, const struct {n}_offers *offers, size_t step,
    struct {n} *next, struct {n}_fired *fired
) {{
    *next = *self;
    *fired = (struct {n}_fired){{0}};
    fired->step = step;
    switch (step) {{
",
    );
    for (number, step) in plan.steps.iter().enumerate() {
        arm(plan, number, step, &mut out);
    }
    out + "    default:\n        return false;\n    }\n}\n"
}

fn arm(plan: &Plan, number: usize, step: &Step, out: &mut String) {
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
    body.push(format!("next->state = {};", step.to));
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
    _ = writeln!(out, "    case {number}: {{ // {}.", step.text);
    body.iter().for_each(|text| _ = writeln!(out, "        {text}"));
    out.push_str("    }\n");
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

fn steps(plan: &Plan) -> String {
    let n = &plan.name;
    format!(
        "// The steps of state s are those from {n}_rows[s] to before {n}_rows[s + 1].
static const size_t {n}_rows[] = {{{}}};

// How many steps can be taken with these offers; the numbers of the first `most` go to `steps`.
static inline size_t {n}_enabled(
    const struct {n} *self, const struct {n}_offers *offers, size_t *steps, size_t most
) {{
    struct {n} next;
    struct {n}_fired fired;
    size_t count = 0;
    for (size_t step = {n}_rows[self->state]; step < {n}_rows[self->state + 1]; step++) {{
        if (!{n}_attempt(self, offers, step, &next, &fired)) continue;
        if (count < most) steps[count] = step;
        count++;
    }}
    return count;
}}

// Takes the step with a number; false, and the connector has not changed, if it cannot be taken.
static inline bool {n}_fire(
    struct {n} *self, const struct {n}_offers *offers, size_t step, struct {n}_fired *fired
) {{
    if (step < {n}_rows[self->state] || step >= {n}_rows[self->state + 1]) return false;
    struct {n} next;
    if (!{n}_attempt(self, offers, step, &next, fired)) return false;
    *self = next;
    return true;
}}
",
        plan.rows.iter().join(", ")
    )
}

/// The function that takes one of the steps.
fn choosing(plan: &Plan) -> String {
    let n = &plan.name;
    format!(
        "\
// Takes one of the steps that can be taken; false if there is none. `choose` is told how many there
// are, and gives the place of one among them, from 0.
static inline bool {n}_step(
    struct {n} *self, const struct {n}_offers *offers,
    size_t (*choose)(void *context, size_t count), void *context, struct {n}_fired *fired
) {{
    size_t count = {n}_enabled(self, offers, NULL, 0);
    if (count == 0) return false;
    size_t chosen = choose(context, count);
    for (size_t step = {n}_rows[self->state]; step < {n}_rows[self->state + 1]; step++) {{
        struct {n} next;
        if (!{n}_attempt(self, offers, step, &next, fired)) continue;
        if (chosen-- > 0) continue;
        *self = next;
        return true;
    }}
    return false;
}}
"
    )
}
