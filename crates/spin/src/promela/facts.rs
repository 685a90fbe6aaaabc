//! What both styles need to know of a problem: its layout in every configuration, and its
//! expressions as Promela text with the range of their values.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::error::PromelaError;
use super::expression::{c_value, inner, text};
use super::layout::{Layout, lane};
use super::names::Names;
use super::table::{Key, conditional};
use super::width::Width;
use tickbound_expr::{Expr, Slot};
use tickbound_model::scope::NameKind;
use tickbound_model::{Problem, Profile, Space};

/// Most evaluations of one expression while it is compared with what C computes.
const MAX_SAMPLES: u64 = 8_000_000;
/// Most rows of a table over work items.
const MAX_ITEM_ROWS: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// The text; in parentheses if it is more than a word.
    pub text: String,
    /// Least and greatest value over all configurations and items that have one.
    pub range: (i64, i64),
}

impl Value {
    /// The value, if it is always the same.
    pub fn constant(&self) -> Option<i64> {
        (self.range.0 == self.range.1).then_some(self.range.0)
    }
}

/// Who evaluates an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The launch, or the program `finish`: `lid`, `gid` and `group` are 0.
    Launch,
    /// A work item, whose number is the variable `lid`.
    Item,
}

/// A problem and its space, and which names have been used in the text so far.
pub(crate) struct Facts<'a> {
    pub problem: &'a Problem,
    pub space: &'a Space,
    pub names: Names,
    pub layout: Layout,
    /// Greatest time of any configuration, in ticks.
    pub max_time: i64,
    /// Time of the first configuration, in ticks: where a search may begin.
    pub first_time: i64,
    used: RefCell<BTreeSet<Slot>>,
}

impl<'a> Facts<'a> {
    pub fn new(
        problem: &'a Problem,
        space: &'a Space,
        (first_time, max_time): (i64, i64),
    ) -> Result<Self, PromelaError> {
        let layout = Layout::new(problem, space)?;
        let (names, used) = (Names::new(problem), RefCell::default());
        let mut facts = Facts { problem, space, names, layout, max_time, first_time, used };
        if problem.profile != Profile::Published2023 {
            let local =
                facts.value("launch.local_size", problem.launch.local_size(), Who::Launch)?;
            facts.layout.gid = format!("(group * {} + lid)", local.text);
            facts.used.borrow_mut().clear();
        }
        Ok(facts)
    }

    /// `expr` in Promela.
    pub fn value(&self, at: &str, expr: &Expr, who: Who) -> Result<Value, PromelaError> {
        let samples = self.samples(at, expr, who)?;
        let values: Vec<Option<i64>> = samples.iter().map(|s| expr.eval(&s.env).ok()).collect();
        let range = range(&values);
        Width::holding(range, at, &self.fix())?;
        let same =
            samples.iter().zip(&values).all(|(s, v)| v.is_none() || c_value(expr, &s.env) == *v);
        let name = |slot: Slot| self.name(slot, who);
        if same && let Some(text) = inner(expr, &name) {
            expr.names(&mut |slot| self.uses(*slot));
            return Ok(Value { text, range });
        }
        let keys = self.keys(&samples, expr, who);
        let text = conditional(&keys, &values).ok_or_else(|| self.too_many(at, values.len()))?;
        self.use_parameters();
        Ok(Value { text, range })
    }

    /// As [`Facts::value`], without parentheses around the whole.
    pub fn plain(&self, at: &str, expr: &Expr, who: Who) -> Result<Value, PromelaError> {
        let mut value = self.value(at, expr, who)?;
        let name = |slot: Slot| self.name(slot, who);
        if let (Some(whole), Some(word)) = (text(expr, &name), inner(expr, &name))
            && word == value.text
        {
            value.text = whole;
        }
        Ok(value)
    }

    /// The text of a value that is listed for rows of a configuration and more keys.
    pub fn listed(
        &self,
        at: &str,
        configurations: &[usize],
        more: Vec<Key>,
        values: &[Option<i64>],
    ) -> Result<Value, PromelaError> {
        let mut keys = self.parameter_keys(configurations);
        keys.extend(more);
        let text = conditional(&keys, values).ok_or_else(|| self.too_many(at, values.len()))?;
        let range = range(values);
        Width::holding(range, at, &self.fix())?;
        Ok(Value { text, range })
    }

    fn too_many(&self, at: &str, count: usize) -> PromelaError {
        let what = "different values that Promela's arithmetic cannot compute";
        let limit = super::table::MAX_BRANCHES as u64;
        PromelaError::too_many(at, what, count as u64, limit, &self.fix())
    }

    /// What to shrink, in words.
    pub fn fix(&self) -> String {
        let inputs: Vec<&str> = self.problem.inputs.keys().map(String::as_str).collect();
        if inputs.is_empty() {
            "make the problem's numbers smaller".into()
        } else {
            format!("make the inputs smaller (--input {}=...)", inputs.join("=..., --input "))
        }
    }

    /// Every environment in which `expr` is evaluated, up to the names it mentions.
    fn samples(&self, at: &str, expr: &Expr, who: Who) -> Result<Vec<Sample>, PromelaError> {
        let first = self.problem.first_item_slot();
        let mentions = |slot: Slot| who == Who::Item && expr.mentions(|s| s == slot);
        let (lid, gid, group) = (mentions(first), mentions(first + 1), mentions(first + 2));
        let mut samples = Vec::new();
        let limit = MAX_SAMPLES / (self.problem.scope.len() as u64 + 1);
        for (c, bound) in self.space.bound.iter().enumerate() {
            let groups = if gid || group { self.layout.groups[c] } else { 1 };
            let items = if lid || gid { self.layout.items[c] } else { 1 };
            let count = (samples.len() as u64).saturating_add((groups * items).unsigned_abs());
            if count > limit {
                let what = "work items whose expressions would have to be checked";
                return Err(PromelaError::too_many(at, what, count, limit, &self.fix()));
            }
            for group in 0..groups {
                for lid in 0..items {
                    let item = who == Who::Item;
                    let env = if item { self.lane(c, group, lid) } else { bound.env.clone() };
                    samples.push(Sample { configuration: c, group, lid, env });
                }
            }
        }
        Ok(samples)
    }

    /// The environment of a work item of a configuration.
    pub fn lane(&self, c: usize, group: i64, lid: i64) -> Vec<i64> {
        let gid = group * self.layout.group_stride(c) + lid;
        lane(self.problem, &self.space.bound[c], [lid, gid, group])
    }

    fn keys(&self, samples: &[Sample], expr: &Expr, who: Who) -> Vec<Key> {
        let configurations: Vec<usize> = samples.iter().map(|s| s.configuration).collect();
        let mut keys = self.parameter_keys(&configurations);
        let first = self.problem.first_item_slot();
        let item = who == Who::Item && expr.mentions(|s| s >= first);
        if item && samples.len() <= MAX_ITEM_ROWS {
            keys.push(("group".into(), samples.iter().map(|s| s.group).collect()));
            keys.push(("lid".into(), samples.iter().map(|s| s.lid).collect()));
        }
        keys
    }

    /// The tuning parameters as keys of a table with these configurations as rows.
    pub fn parameter_keys(&self, configurations: &[usize]) -> Vec<Key> {
        let first = self.problem.first_parameter();
        let key = |p: usize| {
            let value = |c: &usize| self.space.bound[*c].configuration.0[p];
            let name = self.names.slot(first + p).to_owned();
            (name, configurations.iter().map(value).collect())
        };
        (0..self.problem.parameters.len()).map(key).collect()
    }

    /// What an expression calls a slot.
    fn name(&self, slot: Slot, who: Who) -> String {
        let first = self.problem.first_item_slot();
        match (who, slot.checked_sub(first)) {
            (_, None) => self.names.slot(slot).to_owned(),
            (Who::Launch, Some(_)) => "0".into(),
            (Who::Item, Some(0)) => "lid".into(),
            (Who::Item, Some(1)) => self.layout.gid.clone(),
            (Who::Item, Some(_)) => self.layout.group.clone(),
        }
    }

    fn uses(&self, slot: Slot) {
        self.used.borrow_mut().insert(slot);
        let first = self.problem.first_item_slot();
        if slot == first + 1 {
            // `gid` is computed from the group's size.
            self.problem.launch.local_size().names(&mut |s| self.uses(*s));
        }
    }

    fn use_parameters(&self) {
        let parameters = self.problem.first_parameter()..self.problem.first_definition();
        self.used.borrow_mut().extend(parameters);
    }

    /// The name of a price of the platform; `None` if it is free or the profile ignores it.
    pub fn price(&self, name: &str) -> Result<Option<String>, PromelaError> {
        let has_price = self.problem.platform.numbers().any(|(n, v)| n == name && v > 0);
        let slot = self.problem.scope.slot(name);
        match slot.filter(|_| has_price && self.problem.profile == Profile::OpenCl) {
            None => Ok(None),
            Some(slot) => {
                let at = format!("platform.{name}");
                Ok(Some(self.value(&at, &Expr::Name(slot), Who::Launch)?.text))
            }
        }
    }

    /// The inputs and platform numbers that the text has used, with their values.
    pub fn constants(&self) -> Vec<(String, i64)> {
        let used = self.used.borrow();
        let env = |slot: Slot| self.space.bound.first().map_or(0, |b| b.env[slot]);
        let constant = |slot: &&Slot| **slot < self.problem.first_parameter();
        used.iter().filter(constant).map(|s| (self.names.slot(*s).to_owned(), env(*s))).collect()
    }

    /// The definitions that the text has used, and those that they use, in order.
    pub fn definitions(&self) -> Result<Vec<(String, Value)>, PromelaError> {
        let mut found = Vec::new();
        for (i, (name, expr)) in self.problem.definitions.iter().enumerate().rev() {
            let slot = self.problem.first_definition() + i;
            if !self.used.borrow().contains(&slot) {
                continue;
            }
            let value = self.plain(&format!("definitions.{name}"), expr, Who::Launch)?;
            found.push((self.names.slot(slot).to_owned(), value));
        }
        found.reverse();
        Ok(found)
    }

    pub fn parameters(&self) -> Vec<String> {
        let slots = self.problem.first_parameter()..self.problem.first_definition();
        debug_assert!(
            slots.clone().all(|s| self.problem.scope.kind(s) == Some(NameKind::Parameter))
        );
        slots.map(|s| self.names.slot(s).to_owned()).collect()
    }

    /// The type of times and marks; a mark plus a wait fits 32 bits and is at most the time.
    pub fn time_width(&self) -> Result<Width, PromelaError> {
        // One more, because the clock may pass the last tick before everybody has seen it.
        Width::holding((0, self.max_time.saturating_add(1)), "time", &self.fix())
    }
}

struct Sample {
    configuration: usize,
    group: i64,
    lid: i64,
    env: Vec<i64>,
}

fn range(values: &[Option<i64>]) -> (i64, i64) {
    let known = || values.iter().flatten();
    (known().min().copied().unwrap_or(0), known().max().copied().unwrap_or(0))
}
