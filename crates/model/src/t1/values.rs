//! Values of a parameter as Python has them: lists, ranges, comprehensions, and sums of these.
//!
//! ```text
//! values  = part { "+" part }
//! part    = "[" [ expression { "," expression } ] "]" | "(" ... ")" | "[" expression clauses "]"
//!         | "list(" values ")" | "tuple(" values ")" | "range(" [ first "," ] end [ "," step ] ")"
//! clauses = "for" name "in" values { "for" name "in" values | "if" condition }
//! ```
//!
//! Expressions are those of conditions: `/` is exact, and what comes out must be a whole number.

use super::python::from_python;
use tickbound_expr::Expr;
use tickbound_expr::parse::parse_python;

/// Most values that are examined, those that a condition drops included.
const MAX_STEPS: u32 = 1 << 20;
/// Most brackets that are open at once.
const MAX_DEPTH: usize = 32;

/// What is wrong with the values, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub what: String,
    pub fix: &'static str,
}

/// The fix for everything that is no list of whole numbers.
const WHOLE: &str = "write whole numbers, such as \"[16, 32]\"";
const NUMBERED: &str = "number the texts, and write the numbers, such as \"[0, 1]\"";
const SCALED: &str = "scale the values to whole numbers, such as \"[1, 2, 3]\" for quarters";
const CONSTRUCTS: &str = "write a list, range(...), a comprehension `[i for i in range(1, 9) if \
    ...]`, or a sum of these";

/// The values of a text, in the order in which they are written.
pub(super) fn values(text: &str) -> Result<Vec<i64>, Wrong> {
    if depth(text) > MAX_DEPTH {
        return Err(wrong(format!("brackets are nested deeper than {MAX_DEPTH}"), WHOLE));
    }
    let values = Values::read(text, &mut Vec::new())?;
    Run { env: Vec::new(), steps: 0 }.values(&values)
}

fn wrong(what: String, fix: &'static str) -> Wrong {
    Wrong { what, fix }
}

/// A name of a comprehension is the number of the `for` that binds it.
enum Values {
    List(Vec<Expr>),
    Range(Vec<Expr>),
    Each { element: Expr, clauses: Vec<Clause> },
    Sum(Vec<Values>),
}

enum Clause {
    For(Values),
    If(Expr),
}

impl Values {
    /// `names` are those that comprehensions around the text bind, the outermost first.
    fn read(text: &str, names: &mut Vec<String>) -> Result<Values, Wrong> {
        let text = text.trim();
        let parts = split(text, "+");
        if parts.len() > 1 && split(text, ",").len() == 1 {
            let parts = parts.into_iter().map(|part| Values::read(part, names));
            return Ok(Values::Sum(parts.collect::<Result<_, _>>()?));
        }
        // A tuple, with its comma behind a single value.
        if split(text, ",").len() > 1 {
            return Ok(Values::List(expressions(text, names)?));
        }
        if let Some(of) = within(text, "list(", ")").or_else(|| within(text, "tuple(", ")")) {
            return Values::read(of, names);
        }
        if let Some(bounds) = within(text, "range(", ")") {
            let bounds = expressions(bounds, names)?;
            return match bounds.len() {
                1..=3 => Ok(Values::Range(bounds)),
                n => Err(wrong(format!("`{text}` has {n} arguments"), "give range one to three")),
            };
        }
        match (within(text, "[", "]"), within(text, "(", ")")) {
            (Some(inner), _) if split(inner, "for").len() > 1 => each(inner, names),
            (Some(inner), _) => Ok(Values::List(expressions(inner, names)?)),
            (None, Some(inner)) if split(inner, ",").len() == 1 && !inner.trim().is_empty() => {
                Values::read(inner, names)
            }
            (None, Some(inner)) => Ok(Values::List(expressions(inner, names)?)),
            (None, None) => {
                Err(wrong(format!("cannot read `{}` as values", short(text)), CONSTRUCTS))
            }
        }
    }
}

/// The inside of a comprehension.
fn each(text: &str, names: &mut Vec<String>) -> Result<Values, Wrong> {
    let outer = names.len();
    let mut parts = split(text, "for").into_iter();
    let element = parts.next().unwrap_or_default();
    let mut clauses = Vec::new();
    for part in parts {
        let mut ifs = split(part, "if").into_iter();
        let [name, of] = split(ifs.next().unwrap_or_default(), "in")[..] else {
            let what = format!("cannot read `for {}`", short(part.trim()));
            return Err(wrong(what, "write `for NAME in VALUES`"));
        };
        clauses.push(Clause::For(Values::read(of, names)?));
        names.push(name.trim().to_owned());
        for condition in ifs {
            clauses.push(Clause::If(expression(condition, true, names)?));
        }
    }
    let element = expression(element, false, names)?;
    names.truncate(outer);
    Ok(Values::Each { element, clauses })
}

/// Expressions between commas; the last may have one behind it.
fn expressions(text: &str, names: &[String]) -> Result<Vec<Expr>, Wrong> {
    let mut parts = split(text, ",");
    if parts.last().is_some_and(|last| last.trim().is_empty()) {
        parts.pop();
    }
    parts.into_iter().map(|part| expression(part, false, names)).collect()
}

fn expression(text: &str, truth: bool, names: &[String]) -> Result<Expr, Wrong> {
    let text = text.trim();
    if text.contains(['\'', '"']) {
        return Err(wrong(format!("`{}` is a text", short(text)), NUMBERED));
    }
    if text.parse::<i64>().is_err() && text.parse::<f64>().is_ok() {
        return Err(wrong(format!("`{}` is no whole number", short(text)), SCALED));
    }
    let read = parse_python(text).map_err(|e| wrong(e.to_string(), WHOLE))?;
    let slot = |name: &String| names.iter().rposition(|n| n == name);
    from_python(&read, truth)
        .resolve(&mut |name| slot(name))
        .map_err(|name| wrong(format!("`{name}` in `{}` has no value here", short(text)), WHOLE))
}

struct Run {
    /// The value of each `for` around, the outermost first.
    env: Vec<i64>,
    /// Values examined so far.
    steps: u32,
}

impl Run {
    fn values(&mut self, of: &Values) -> Result<Vec<i64>, Wrong> {
        let mut all = Vec::new();
        match of {
            Values::List(items) => {
                for item in items {
                    self.step()?;
                    all.push(self.whole(item)?);
                }
            }
            Values::Range(bounds) => self.range(bounds, &mut all)?,
            Values::Each { element, clauses } => self.clauses(element, clauses, &mut all)?,
            Values::Sum(parts) => {
                for part in parts {
                    all.append(&mut self.values(part)?);
                }
            }
        }
        Ok(all)
    }

    /// Python's range, which excludes its end.
    fn range(&mut self, bounds: &[Expr], all: &mut Vec<i64>) -> Result<(), Wrong> {
        let bounds: Vec<i64> = bounds.iter().map(|e| self.whole(e)).collect::<Result<_, _>>()?;
        let (first, end, step) = match bounds[..] {
            [first, end, step] => (first, end, step),
            [first, end] => (first, end, 1),
            _ => (0, bounds.first().copied().unwrap_or(0), 1),
        };
        if step == 0 {
            return Err(wrong("a range with the step 0".to_owned(), "write another step"));
        }
        let mut next = Some(first);
        while let Some(value) = next.filter(|v| if step > 0 { *v < end } else { *v > end }) {
            self.step()?;
            all.push(value);
            next = value.checked_add(step);
        }
        Ok(())
    }

    fn clauses(
        &mut self,
        element: &Expr,
        clauses: &[Clause],
        all: &mut Vec<i64>,
    ) -> Result<(), Wrong> {
        match clauses.split_first() {
            None => all.push(self.whole(element)?),
            Some((Clause::For(values), rest)) => {
                for value in self.values(values)? {
                    self.env.push(value);
                    self.clauses(element, rest, all)?;
                    self.env.pop();
                }
            }
            Some((Clause::If(condition), rest)) => {
                let holds = condition.holds(&self.env);
                if holds.map_err(|e| wrong(format!("a condition has no value: {e}"), WHOLE))? {
                    self.clauses(element, rest, all)?;
                }
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Wrong> {
        self.steps += 1;
        match self.steps > MAX_STEPS {
            true => Err(wrong(
                format!("more than {MAX_STEPS} values are looked at"),
                "narrow the ranges",
            )),
            false => Ok(()),
        }
    }

    fn whole(&self, e: &Expr) -> Result<i64, Wrong> {
        let value = e.eval_exact(&self.env).map_err(|e| wrong(e.to_string(), WHOLE))?;
        let whole = value.is_integer().then(|| i64::try_from(value.to_integer()).ok()).flatten();
        whole.ok_or_else(|| wrong(format!("{value} is no whole number of 64 bits"), SCALED))
    }
}

/// What stands between `open` and `close` if these are the ends of the text and belong together.
fn within<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    let mut open = 0usize;
    for c in inner.chars() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => open = open.checked_sub(1)?,
            _ => {}
        }
    }
    Some(inner)
}

/// The parts of a text between separators outside brackets; a word as separator must stand alone.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = separator.starts_with(is_word);
    let (mut parts, mut from, mut open) = (Vec::new(), 0, 0usize);
    let mut before = None;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        let rest = text[at..].strip_prefix(separator).filter(|_| open == 0 && at >= from);
        let alone = |rest: &str| !before.is_some_and(is_word) && !rest.starts_with(is_word);
        if rest.is_some_and(|rest| !word || alone(rest)) {
            parts.push(&text[from..at]);
            from = at + separator.len();
        }
        before = Some(c);
    }
    parts.push(&text[from..]);
    parts
}

/// The most brackets that are open at once.
fn depth(text: &str) -> usize {
    let (mut open, mut deepest) = (0usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short += "...";
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_makes_of_them() {
        let to = |n: i64| (1..=n).collect::<Vec<_>>();
        for (text, expected) in [
            ("[i for i in range(1, 33) if 32 % i == 0]", vec![1, 2, 4, 8, 16, 32]),
            ("[1, 2] + list(range(32, 96+1, 32))", vec![1, 2, 32, 64, 96]),
            ("[2**i for i in range(0, 6)]", vec![1, 2, 4, 8, 16, 32]),
            ("[1] + [2 * i for i in range(1, 4)]", vec![1, 2, 4, 6]),
            ("list([i for i in (3, 5)]) + tuple(range(2))", vec![3, 5, 0, 1]),
            ("range(4, 0, -2)", vec![4, 2]),
            ("range(5, 1)", vec![]),
            ("[a * b for a in [1, 3] for b in range(a, 5) if a < b if b != 3]", vec![2, 4, 12]),
            ("[(i if i > 2 else -i) for i in range(1, 4)]", vec![-1, -2, 3]),
            ("[i if i > 2 else -i for i in range(1, 4)]", vec![-1, -2, 3]),
            ("[32/2, 4 or 9, True]", vec![16, 4, 1]),
            ("([1, 2])", vec![1, 2]),
            ("(1, 2,)", vec![1, 2]),
            ("1, 0x10, +2, len([7, 8])", vec![1, 16, 2, 2]),
            ("[format for format in [1]]", vec![1]),
            ("[x for x in [1, 2] for x in [x + 10]]", vec![11, 12]),
            ("[]", vec![]),
            ("range(1, 9)", to(8)),
        ] {
            assert_eq!(values(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_refused_is_named() {
        for (text, what, fix) in [
            ("['a', 'b']", "`'a'` is a text", NUMBERED),
            ("[1, 0.5]", "`0.5` is no whole number", SCALED),
            ("[i / 2 for i in range(3)]", "1/2 is no whole number of 64 bits", SCALED),
            ("range(x)", "`x` in `x` has no value here", WHOLE),
            ("np.arange(3)", "cannot read `np.arange(3)` as values", CONSTRUCTS),
            ("[1] * 3", "cannot read `[1] * 3` as values", CONSTRUCTS),
            (
                "[[x for x in [7]] for y in [1]]",
                "`[x for x in [7]]` is not an expression: stuck at `[x for x in [7]]` (column 1)",
                WHOLE,
            ),
            ("{1, 2}", "cannot read `{1, 2}` as values", CONSTRUCTS),
            ("[1, 2", "cannot read `[1, 2` as values", CONSTRUCTS),
            ("range(1, 2, 0)", "a range with the step 0", "write another step"),
            ("range()", "`range()` has 0 arguments", "give range one to three"),
            ("[i for i range(3)]", "cannot read `for i range(3)`", "write `for NAME in VALUES`"),
            ("[1 // i for i in range(1)]", "division by zero", WHOLE),
            ("range(9_000_000_000)", "more than 1048576 values are looked at", "narrow the ranges"),
        ] {
            assert_eq!(values(text), Err(wrong(what.to_owned(), fix)), "{text}");
        }
        assert!(values(&"(".repeat(10_000)).is_err());
    }
}
