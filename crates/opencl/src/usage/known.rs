//! What is known of a problem's names: inputs, ranges, and values that occur together.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use itertools::Itertools;
use tickbound_elimination::TableLimits;
use tickbound_expr::interval::Interval;
use tickbound_expr::restrict::Restriction;
use tickbound_expr::{Expr, Slot};
use tickbound_model::{Configuration, Configurations, Problem};

/// What is known of the names of a problem. By default, nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known<'c> {
    /// Which of them are inputs.
    pub inputs: Inputs,
    /// Between which values each name is that items do not decide.
    ranges: Vec<Interval>,
    /// The configurations, and the variant's values of the structural symbols, if known.
    variant: Option<(&'c Occurring<'c>, &'c [i64])>,
    /// Its configurations by the parameters of numbers, where they are not too many.
    restrictions: Arc<Mutex<Restrictions>>,
    /// The values of all names in one configuration; empty where none is known.
    pub typical: Vec<i64>,
}

type Restrictions = HashMap<Vec<usize>, Option<Restriction>>;

impl Known<'_> {
    /// Of a problem, for any values of its structural symbols.
    pub fn of(problem: &Problem, configurations: &Configurations<'_>) -> Known<'static> {
        let (inputs, ranges) = (Inputs::of(problem), ranges(problem, configurations));
        Known { inputs, ranges, ..Known::default() }
    }

    /// That these slots are inputs.
    #[cfg(test)]
    pub fn inputs(slots: &[Slot]) -> Known<'static> {
        let inputs = Inputs { slots: slots.iter().copied().collect() };
        Known { inputs, ..Known::default() }
    }

    /// The same where the structural symbols have these values.
    pub fn narrowed_to<'c>(&self, occurring: &'c Occurring<'c>, values: &'c [i64]) -> Known<'c> {
        Known {
            inputs: self.inputs.clone(),
            ranges: self.ranges.clone(),
            variant: occurring.configurations.is_complete().then_some((occurring, values)),
            ..Known::default()
        }
    }

    /// Restricts a number to the configurations of the variant.
    pub fn narrowed(&self, number: Expr) -> Expr {
        match (self.variant, &number) {
            (None, _) | (_, Expr::Int(_) | Expr::Name(_)) => number,
            (Some((occurring, values)), _) => {
                // What is in it is whole even if a thread ended early.
                let known = self.restrictions.lock();
                let mut known = known.unwrap_or_else(PoisonError::into_inner);
                occurring.narrowed(&number, values, &mut known)
            }
        }
    }

    /// The value of a number in that one configuration.
    pub fn at_typical(&self, number: &Expr) -> Option<i64> {
        let known = !number.mentions(|slot| slot >= self.typical.len());
        known.then(|| number.eval(&self.typical).ok()).flatten()
    }

    /// What a number is, between two values; `None` where that is not known.
    pub fn range(&self, number: &Expr) -> Option<Interval> {
        if number.mentions(|slot| slot >= self.ranges.len()) {
            return None;
        }
        number.range(&self.ranges).values
    }
}

/// Between which values the names of a problem are, if each can be known by itself.
fn ranges(problem: &Problem, configurations: &Configurations<'_>) -> Vec<Interval> {
    let inputs = problem.inputs.values().copied();
    let numbers = problem.platform.numbers().map(|(_, value)| value);
    let mut all: Vec<Interval> = inputs.chain(numbers).map(Interval::point).collect();
    let anything = Interval { low: i64::MIN, high: i64::MAX };
    for values in configurations.values() {
        let ends = values.iter().minmax().into_option();
        all.push(ends.map_or(anything, |(low, high)| Interval { low: *low, high: *high }));
    }
    for (_, definition) in &problem.definitions {
        all.push(definition.range(&all).values.unwrap_or(anything));
    }
    all
}

/// Names of inputs, or of what is computed from them: they are large beside tuning parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    slots: BTreeSet<Slot>,
}

impl Inputs {
    /// Those of a problem, definitions included.
    pub fn of(problem: &Problem) -> Inputs {
        let mut inputs = Inputs { slots: (0..problem.first_parameter()).collect() };
        for (slot, (_, definition)) in (problem.first_definition()..).zip(&problem.definitions) {
            if inputs.decide(definition) {
                inputs.slots.insert(slot);
            }
        }
        inputs
    }

    /// Whether one of them is in a number.
    pub fn decide(&self, number: &Expr) -> bool {
        number.mentions(|slot| self.slots.contains(&slot))
    }
}

/// Most combinations of values for one number, over all variants.
const MAX_COMBINATIONS: usize = 1 << 18;

/// Most of them for one variant: each is evaluated for every part of the number.
const MAX_OF_A_VARIANT: usize = 1 << 9;

/// The values of some names, together.
#[derive(Debug)]
struct Combinations {
    /// The names: parameters and definitions.
    slots: Vec<Slot>,
    /// For each choice of structural values the combinations in sequence, where they are not too
    /// many.
    by_choice: HashMap<Vec<i64>, Option<Vec<i64>>>,
}

impl Combinations {
    /// Those of a choice, added to the names that have the values `common` everywhere.
    fn restriction(&self, values: &[i64], common: &[i64]) -> Option<Restriction> {
        let rows = self.by_choice.get(values)?.as_ref()?;
        let columns = self.slots.iter().enumerate();
        let columns = columns.map(|(place, slot)| {
            (*slot, rows.iter().skip(place).step_by(self.slots.len()).copied().collect())
        });
        // Without names there is one combination.
        let count = rows.len().checked_div(self.slots.len()).unwrap_or(1);
        Some(Restriction::new(common.to_vec(), count, columns))
    }
}

/// Combinations that one thread lists, and others wait for; `None` where they are too many.
type Listed = Arc<OnceLock<Option<Combinations>>>;

/// Which values occur together.
#[derive(Debug)]
pub(crate) struct Occurring<'c> {
    configurations: &'c Configurations<'c>,
    /// The structural symbols.
    symbols: &'c [Expr],
    /// The parameters that each definition depends on, by their place; all where that is not known.
    defined: Vec<Vec<usize>>,
    /// The values of the names that no configuration changes.
    common: Vec<i64>,
    /// For some parameters, where they are not too many.
    known: Mutex<HashMap<Vec<usize>, Listed>>,
}

impl<'c> Occurring<'c> {
    pub fn new(configurations: &'c Configurations<'c>, symbols: &'c [Expr]) -> Occurring<'c> {
        let problem = configurations.problem();
        let defined = |(_, definition): &(String, Expr)| match problem.inlined("", definition) {
            Ok(whole) => problem.parameters_of([&whole]),
            Err(_) => (0..problem.parameters.len()).collect(),
        };
        let defined = problem.definitions.iter().map(defined).collect();
        let mut common = problem.base_env();
        common.truncate(problem.first_parameter());
        Occurring { configurations, symbols, defined, common, known: Mutex::default() }
    }

    /// A number without what configurations with these values do not need, or its parts so.
    fn narrowed(&self, number: &Expr, values: &[i64], known: &mut Restrictions) -> Expr {
        let own = known.entry(self.parameters(number)).or_insert_with_key(|parameters| {
            let known = self.combinations(parameters);
            let known = known.get_or_init(|| self.listed(parameters));
            known.as_ref()?.restriction(values, &self.common)
        });
        if let Some(own) = own {
            return own.apply(number).simplified();
        }
        let narrowed = number.with_parts(|part| Some(self.narrowed(part, values, known)));
        narrowed.unwrap_or_else(|| number.clone())
    }

    /// The values of all names in a configuration for each choice of structural values; none where
    /// they are not known.
    pub fn typical(&self) -> HashMap<Vec<i64>, Vec<i64>> {
        let limits = TableLimits { rows: MAX_COMBINATIONS, ..TableLimits::default() };
        let parameters = self.parameters(&Expr::Int(0));
        let all = self.configurations.representatives(&parameters, &limits).unwrap_or_default();
        let problem = self.configurations.problem();
        let env = |configuration: &Configuration| {
            let mut env = problem.base_env();
            problem.put(configuration, &mut env).ok()?;
            Some((self.choice(&env)?, env))
        };
        // The first one of each.
        all.iter().rev().filter_map(env).collect()
    }

    /// The parameters that it and the symbols depend on, by their place.
    fn parameters(&self, number: &Expr) -> Vec<usize> {
        let problem = self.configurations.problem();
        let (first, defined) = (problem.first_parameter(), problem.first_definition());
        let mut places = BTreeSet::new();
        for number in self.symbols.iter().chain([number]) {
            number.names(&mut |slot| match slot.checked_sub(defined) {
                Some(definition) => {
                    places.extend(self.defined.get(definition).into_iter().flatten())
                }
                None => places.extend(slot.checked_sub(first)),
            });
        }
        places.into_iter().collect()
    }

    fn combinations(&self, parameters: &[usize]) -> Listed {
        // What is in it is whole even if a thread ended early.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(parameters.to_vec()).or_default().clone()
    }

    fn listed(&self, parameters: &[usize]) -> Option<Combinations> {
        let limits = TableLimits { rows: MAX_COMBINATIONS, ..TableLimits::default() };
        let problem = self.configurations.problem();
        let rows = self.configurations.projected(parameters, &limits).ok()?;
        let (first, first_definition) = (problem.first_parameter(), problem.first_definition());
        let is_defined = |own: &Vec<usize>| own.iter().all(|p| parameters.contains(p));
        let definitions: Vec<usize> =
            (0..self.defined.len()).filter(|d| is_defined(&self.defined[*d])).collect();
        let slots = parameters.iter().map(|p| first + p);
        let slots: Vec<Slot> =
            slots.chain(definitions.iter().map(|d| first_definition + d)).collect();
        let (mut by_choice, mut env) = (HashMap::new(), problem.base_env());
        let mut indices = vec![0; problem.parameters.len()];
        for (key, _) in rows.rows() {
            rows.scope().unpack(key, &mut indices);
            for p in parameters {
                env[first + p] = self.configurations.values()[*p][indices[*p] as usize];
            }
            for d in &definitions {
                env[first_definition + d] = problem.definitions[*d].1.eval(&env).ok()?;
            }
            let own = by_choice.entry(self.choice(&env)?).or_insert_with(|| Some(Vec::new()));
            if let Some(all) = own {
                all.extend(slots.iter().map(|slot| env[*slot]));
            }
            own.take_if(|all| all.len() > MAX_OF_A_VARIANT * slots.len());
        }
        Some(Combinations { slots, by_choice })
    }

    /// The values of the structural symbols.
    fn choice(&self, env: &[i64]) -> Option<Vec<i64>> {
        self.symbols.iter().map(|s| s.eval(env).ok()).collect()
    }
}
