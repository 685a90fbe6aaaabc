//! Declarations of the tuning parameters, how `main` chooses them, and what follows from them.

use super::error::PromelaError;
use super::facts::{Facts, Value};
use super::lines::IndentedLines;
use super::table::classes;
use super::width::Width;

/// A variable of the text: its name, what it holds, and where that comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    pub name: String,
    pub value: Value,
    /// What it is, for people.
    pub comment: String,
}

impl Quantity {
    pub fn new(name: &str, value: Value, comment: &str) -> Quantity {
        Quantity { name: name.into(), value, comment: comment.into() }
    }
}

/// Declarations and assignments of parameters and of what follows from them.
#[derive(Default)]
pub(crate) struct Declarations {
    /// `#define` lines for what is the same in all configurations.
    pub constants: Vec<String>,
    pub variables: Vec<String>,
    /// Statements of `main` that choose the parameters and assign the rest.
    pub statements: Vec<String>,
    /// Bytes in a state.
    pub bytes: usize,
}

impl Declarations {
    /// `derived` are quantities of the style itself, such as the number of working elements. Call
    /// this last: it declares only what the rest of the text has used.
    pub fn new(facts: &Facts<'_>, derived: &[Quantity]) -> Result<Declarations, PromelaError> {
        let definitions = facts.definitions()?;
        let mut declarations = Declarations::default();
        declarations.select(facts)?;
        let definitions = definitions.into_iter().map(|(name, value)| Quantity {
            comment: format!("definitions.{name}"),
            name,
            value,
        });
        for quantity in definitions.chain(derived.iter().cloned()) {
            declarations.assign(facts, &quantity)?;
        }
        let constant = |(name, value): (String, i64)| format!("#define {name} {}", literal(value));
        declarations.constants.splice(0..0, facts.constants().into_iter().map(constant));
        Ok(declarations)
    }

    fn assign(&mut self, facts: &Facts<'_>, quantity: &Quantity) -> Result<(), PromelaError> {
        let Quantity { name, value, comment } = quantity;
        if let Some(constant) = value.constant() {
            self.constants.push(format!("#define {name} {}  /* {comment} */", literal(constant)));
            return Ok(());
        }
        let width = Width::holding(value.range, name, &facts.fix())?;
        self.bytes += width.bytes();
        self.variables.push(format!("{} {name};  /* {comment} */", width.name()));
        self.statements.push(format!("{name} = {};", value.text));
        Ok(())
    }

    fn select(&mut self, facts: &Facts<'_>) -> Result<(), PromelaError> {
        let mut lines = IndentedLines::default();
        let (mut most, mut selects) = (0, false);
        for (p, name) in facts.parameters().iter().enumerate() {
            let column = facts.space.bound.iter().map(|b| b.configuration.0[p]);
            let range = (column.clone().min().unwrap_or(0), column.max().unwrap_or(0));
            let width = Width::holding(range, name, "take smaller values")?;
            self.bytes += width.bytes();
            self.variables.push(format!("{} {name};  /* tuning parameter */", width.name()));
            let mut alternatives = Vec::new();
            for (condition, values) in options(facts, p)? {
                let (choice, by_number) = choice(name, &values);
                if by_number {
                    (most, selects) = (most.max(values.len()), true);
                }
                alternatives.push((condition, choice));
            }
            lines.alternatives(alternatives);
        }
        if selects {
            let width = Width::holding((0, most as i64), "i", "take fewer values")?;
            self.statements.push(format!("{} i;", width.name()));
        }
        self.statements.extend(lines.take());
        if selects {
            self.statements.push("i = 0;".into());
        }
        Ok(())
    }
}

/// A parameter's values, for each class of the choices before it.
type Options = Vec<(Option<String>, Vec<i64>)>;

fn options(facts: &Facts<'_>, p: usize) -> Result<Options, PromelaError> {
    let bound = &facts.space.bound;
    let mut values: indexmap::IndexMap<&[i64], Vec<i64>> = indexmap::IndexMap::new();
    for b in bound {
        let (before, here) = b.configuration.0.split_at(p);
        let list = values.entry(before).or_default();
        if list.last() != here.first() {
            list.extend(here.first());
        }
    }
    let lists: indexmap::IndexSet<&Vec<i64>> = values.values().collect();
    let class = |b: &tickbound_model::Bound| {
        let list = values.get(&b.configuration.0[..p])?;
        lists.get_index_of(list).map(|i| i as i64)
    };
    let class: Vec<Option<i64>> = bound.iter().map(class).collect();
    let all: Vec<usize> = (0..bound.len()).collect();
    let keys = facts.parameter_keys(&all);
    let found = classes(&keys[..p], &class).ok_or_else(|| {
        let at = format!("parameters.{}", facts.problem.parameters[p].name);
        let what = "different combinations of earlier parameters that decide its values";
        let (count, limit) = (values.len() as u64, super::table::MAX_BRANCHES as u64);
        let fix = "narrow the domains, or fix parameters by --set";
        PromelaError::too_many(&at, what, count, limit, fix)
    })?;
    let list = |c: i64| lists[usize::try_from(c).unwrap_or(0)].clone();
    Ok(found.into_iter().map(|(condition, c)| (condition, list(c))).collect())
}

/// How one of some values is chosen (seed 000, Listing 3, lines 6 to 10), and whether by `i`.
fn choice(name: &str, values: &[i64]) -> (Vec<String>, bool) {
    let (first, count) = (values.first().copied().unwrap_or(0), values.len());
    if count <= 1 {
        return (vec![format!("{name} = {first};")], false);
    }
    let select =
        |text: String| (vec![format!("select (i : 0 .. {}); {name} = {text};", count - 1)], true);
    let step = values[1] - first;
    if first > 0 && values.windows(2).all(|w| w[1] == 2 * w[0]) {
        select(format!("{first} << i"))
    } else if step > 0 && values.windows(2).all(|w| w[1] - w[0] == step) {
        let scaled = if step == 1 { "i".to_owned() } else { format!("{step} * i") };
        select(if first == 0 { scaled } else { format!("{} + {scaled}", literal(first)) })
    } else {
        let mut lines = vec!["if".to_owned()];
        lines.extend(values.iter().map(|v| format!(":: {name} = {};", literal(*v))));
        lines.push("fi;".into());
        (lines, false)
    }
}

fn literal(value: i64) -> String {
    if value < 0 { format!("({value})") } else { value.to_string() }
}
