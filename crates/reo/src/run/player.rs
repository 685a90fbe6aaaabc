//! A run and where it stands.

use std::collections::{BTreeMap, HashMap};

use thiserror::Error;
use tickbound_input::message::excerpt;

use super::settle::{Settled, settle};
use super::wanted::Wanted;
use crate::connector::Connector;
use crate::constraint::{DataConstraint, DataTerm, Literal};
use crate::hide::live::{self, Live};
use crate::label;
use crate::product::dense::mixed;
use crate::product::implicit::{Implicit, ProductStep};
use crate::symbol::{Cell, NameId, SymbolId, Symbols};
use crate::syntax::condition::constant_of;

/// Most choices that are offered at one time.
const MAX_CHOICES: usize = 200;
/// Most steps of a state that are tried for them.
const MAX_TRIED: usize = 20_000;

/// Why a run does not go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlayError {
    #[error("the connector has no initial state; mark one")]
    Initial,
    #[error("{place}: there is no step {number}; {choices} can be taken here{}", listed(steps))]
    Number { place: String, number: usize, choices: usize, steps: Vec<String> },
    #[error("{place}: {found}; give the number of a step and its names{}", listed(steps))]
    Names { place: String, found: String, steps: Vec<String> },
    #[error("{place}: {step} is not possible with these data")]
    Data { place: String, step: String },
}

fn listed(steps: &[String]) -> String {
    let all: Vec<String> = steps.iter().take(8).map(|s| excerpt(s)).collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join("; ")) }
}

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Moment {
    states: Vec<u32>,
    cells: BTreeMap<Cell, DataTerm>,
    facts: Vec<Literal>,
    /// Fresh constants that are taken.
    fresh: usize,
}

impl Moment {
    /// A step with data given, if possible; the first `own` of `symbols` are the connector's.
    fn choice(
        &self,
        symbols: &mut Symbols,
        own: usize,
        step: ProductStep,
        names: Vec<NameId>,
        given: &[(NameId, DataTerm)],
    ) -> Option<Enabled> {
        // A datum that is given as a fresh constant is one from now on.
        let numbers = given.iter().filter_map(|(_, value)| match value {
            DataTerm::Constant(c) => symbols.word(*c).strip_prefix(FRESH)?.parse().ok(),
            _ => None,
        });
        let mut taken = numbers.fold(self.fresh, usize::max);
        let mut new = |symbols: &mut Symbols| fresh(symbols, own, &mut taken);
        let mut cells = self.cells.clone();
        let literals = {
            let mut known = |leaf: &DataTerm| match leaf {
                DataTerm::Before(cell) => {
                    cells.entry(*cell).or_insert_with(|| DataTerm::Constant(new(symbols))).clone()
                }
                other => other.clone(),
            };
            let constraint: DataConstraint = step.constraint.map(&mut known);
            let given = given.iter().map(|(n, v)| Literal::Equal(DataTerm::Datum(*n), v.clone()));
            let facts = self.facts.iter().cloned();
            constraint.literals().iter().cloned().chain(given).chain(facts).collect::<Vec<_>>()
        };
        let Settled { data, after, facts } = settle(&literals, &names, symbols, &mut new)?;
        cells.extend(after);
        let next = Moment { states: step.to.clone(), cells, facts, fresh: taken };
        Some(Enabled { names, data, step, next })
    }
}

/// A step that can be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enabled {
    /// The names that fire.
    pub names: Vec<NameId>,
    /// The data at them.
    pub data: BTreeMap<NameId, DataTerm>,
    step: ProductStep,
    next: Moment,
}

/// A step that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The names that fired, those inside too.
    pub names: Vec<NameId>,
    /// The step as text, as [`Player::text`] has it.
    pub text: String,
    /// What the cells held afterwards that are read again: `$m = 1`.
    pub cells: Vec<String>,
}

/// A run.
pub struct Player {
    product: Implicit,
    symbols: Symbols,
    visible: Vec<NameId>,
    /// For each part which of its cells are read again.
    live: Vec<Live>,
    /// The part that each cell belongs to.
    owner: HashMap<Cell, usize>,
    /// Words of the connector: none of them is a fresh constant.
    own: usize,
    now: Moment,
    /// For each step taken what was before, and all names that fired.
    past: Vec<(Moment, Vec<NameId>)>,
    /// The steps of `past` as text, made when taken: a stopped process has no time for it.
    lines: Vec<String>,
}

impl Player {
    /// A run of `connector` in which nothing has happened. Of several initial states it begins in
    /// the first of each part; a cell of whose content nothing is known holds a fresh constant.
    pub fn new(connector: &Connector) -> Result<Player, PlayError> {
        let parts = connector.parts.iter().map(|p| p.automaton.possible()).collect();
        let product = Implicit::new(parts);
        let states = product.initial().next().ok_or(PlayError::Initial)?;
        let live = product.factors().iter().map(live::cells).collect();
        let mut owner = HashMap::new();
        for (part, automaton) in product.factors().iter().enumerate() {
            automaton.cells().iter().for_each(|c| _ = owner.insert(*c, part));
        }
        let contents = product.contents().iter();
        let cells = contents.map(|(cell, held)| (*cell, DataTerm::Constant(*held))).collect();
        let now = Moment { states, cells, facts: Vec::new(), fresh: 0 };
        let (symbols, visible) = (connector.symbols.clone(), connector.interface.clone());
        let own = symbols.len();
        let (past, lines) = <_>::default();
        let mut player = Player { product, symbols, visible, live, owner, own, now, past, lines };
        let held = player.held(&player.now);
        let unknown: Vec<Cell> = held.filter(|c| !player.now.cells.contains_key(c)).collect();
        for cell in unknown {
            let held = fresh(&mut player.symbols, own, &mut player.now.fresh);
            player.now.cells.insert(cell, DataTerm::Constant(held));
        }
        Ok(player)
    }

    /// The cells whose contents are read again from a moment on, in order.
    fn held(&self, moment: &Moment) -> impl Iterator<Item = Cell> + use<> {
        let live = |(cell, part): (&Cell, &usize)| {
            self.live[*part].is_live(*cell, moment.states[*part]).then_some(*cell)
        };
        let mut cells: Vec<Cell> = self.owner.iter().filter_map(live).collect();
        cells.sort_unstable();
        cells.into_iter()
    }

    /// The steps that can be taken, in a fixed order for each state, and whether there are more.
    pub fn choices(&mut self) -> (Vec<Enabled>, bool) {
        let Player { product, symbols, own, now, .. } = self;
        let mut choices: Vec<Enabled> = Vec::new();
        let mut more = false;
        if let Ok(row) = product.row(&now.states) {
            for (tried, step) in row.enumerate() {
                more = choices.len() == MAX_CHOICES || tried == MAX_TRIED;
                if more {
                    break;
                }
                let names = names(product, &step);
                if let Some(choice) = now.choice(symbols, *own, step, names, &[])
                    && !choices.contains(&choice)
                {
                    choices.push(choice);
                }
            }
        }
        (choices, more)
    }

    /// Takes the requested step.
    pub fn follow(&mut self, wanted: &Wanted) -> Result<(), PlayError> {
        let (choices, _) = self.choices();
        let place = wanted.place.clone();
        let steps = || choices.iter().map(|c| self.text(c)).collect::<Vec<String>>();
        let asked = wanted.names.as_ref().map(|names| {
            let mut words: Vec<&str> = names.iter().map(|(w, _)| w.as_str()).collect();
            words.sort_unstable();
            words
        });
        let fits = |choice: &Enabled| {
            let shown = self.shown(choice);
            let mut shown: Vec<&str> = shown.iter().map(|n| self.symbols.word(n.0)).collect();
            shown.sort_unstable();
            asked.as_ref().is_none_or(|asked| *asked == shown)
        };
        let fitting: Vec<usize> = (0..choices.len()).filter(|k| fits(&choices[*k])).collect();
        let number = match (wanted.number, &fitting[..]) {
            (Some(number), _) if !(1..=choices.len()).contains(&number) => {
                let (choices, steps) = (choices.len(), steps());
                return Err(PlayError::Number { place, number, choices, steps });
            }
            (Some(number), all) if all.contains(&(number - 1)) => number - 1,
            (None, [one]) => *one,
            (wanted, all) => {
                let names = asked.unwrap_or_default().join(", ");
                let found = match (wanted, all) {
                    (Some(number), _) => {
                        format!("step {number} fires other names than {{{names}}}")
                    }
                    (None, []) => format!("no step fires exactly {{{names}}} here"),
                    (None, several) => format!("{} steps fire {{{names}}}", several.len()),
                };
                return Err(PlayError::Names { place, found, steps: steps() });
            }
        };
        let given = self.given(wanted);
        let chosen = choices[number].clone();
        let text = self.text(&chosen);
        // A saved run gives what it would get: so it replays exactly.
        if given.iter().all(|(name, value)| chosen.data.get(name) == Some(value)) {
            self.go(number, chosen);
            return Ok(());
        }
        let Player { symbols, own, now, .. } = self;
        let made = now.choice(symbols, *own, chosen.step, chosen.names, &given);
        let Some(choice) = made else { return Err(PlayError::Data { place, step: text }) };
        self.go(number, choice);
        Ok(())
    }

    fn given(&mut self, wanted: &Wanted) -> Vec<(NameId, DataTerm)> {
        let mut given = Vec::new();
        for (word, value) in wanted.names.iter().flatten() {
            if let (Some(value), Some(name)) = (value, self.symbols.find(word)) {
                given.push((NameId(name), constant_of(value, &mut self.symbols)));
            }
        }
        given
    }

    /// Takes one of the choices at random; `false` if there is none.
    pub fn stray(&mut self, random: &mut Random) -> bool {
        let (mut choices, _) = self.choices();
        if choices.is_empty() {
            return false;
        }
        let number = random.below(choices.len());
        let choice = choices.swap_remove(number);
        self.go(number, choice);
        true
    }

    fn go(&mut self, number: usize, choice: Enabled) {
        self.lines.push(format!("{} {}", number + 1, self.text(&choice)));
        let before = std::mem::replace(&mut self.now, choice.next);
        self.past.push((before, choice.names));
    }

    /// Takes the last step back; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        let Some((before, _)) = self.past.pop() else { return false };
        self.lines.pop();
        self.now = before;
        true
    }

    /// The run so far as [`Wanted`] lines: number among the choices, names and data of each step.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The run so far, step by step.
    pub fn taken(&self) -> Vec<Taken> {
        let later = self.past.iter().skip(1).map(|(moment, _)| moment).chain([&self.now]);
        let taken =
            |(((_, names), line), after): ((&(Moment, Vec<NameId>), &String), &Moment)| Taken {
                names: names.clone(),
                text: line.split_once(' ').map_or(line.as_str(), |(_, text)| text).to_owned(),
                cells: self.held(after).filter_map(|cell| self.content(after, cell)).collect(),
            };
        self.past.iter().zip(&self.lines).zip(later).map(taken).collect()
    }

    /// What a cell holds, as text: `$m = 1`.
    fn content(&self, moment: &Moment, cell: Cell) -> Option<String> {
        let held = moment.cells.get(&cell)?.text(&self.symbols);
        Some(format!("${} = {held}", self.symbols.word(cell.0)))
    }

    /// A step as text: the names of the interface with their data; all names of a step inside.
    pub fn text(&self, choice: &Enabled) -> String {
        let pair = |name: NameId| {
            let datum = choice.data.get(&name).map(|d| d.text(&self.symbols));
            format!("{} = {}", self.word(name), datum.unwrap_or_default())
        };
        let names: Vec<String> = self.shown(choice).into_iter().map(pair).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// What a step changes in the cells that are read again, as text: `$m = 1`.
    pub fn effect(&self, choice: &Enabled) -> Vec<String> {
        let before: HashMap<Cell, &DataTerm> =
            self.held(&self.now).filter_map(|c| Some((c, self.now.cells.get(&c)?))).collect();
        let text = |cell: Cell| {
            let held = choice.next.cells.get(&cell)?;
            let changed = before.get(&cell) != Some(&held);
            changed.then(|| self.content(&choice.next, cell)).flatten()
        };
        self.held(&choice.next).filter_map(text).collect()
    }

    /// Whether a step is inside: the environment sees none of its names.
    pub fn is_inside(&self, choice: &Enabled) -> bool {
        !choice.names.iter().any(|n| self.visible.contains(n))
    }

    fn shown(&self, choice: &Enabled) -> Vec<NameId> {
        let inside = self.is_inside(choice);
        choice.names.iter().copied().filter(|n| inside || self.visible.contains(n)).collect()
    }

    /// A name as text that reads back.
    fn word(&self, name: NameId) -> String {
        crate::syntax::condition::word_text(self.symbols.word(name.0))
    }

    /// The state of each part.
    pub fn states(&self) -> &[u32] {
        &self.now.states
    }

    /// What cells hold that are read again: `$m = 1`, in order.
    pub fn cells(&self) -> Vec<(String, String)> {
        let text = |cell: Cell| {
            let held = self.now.cells.get(&cell)?;
            Some((self.symbols.word(cell.0).to_owned(), held.text(&self.symbols)))
        };
        self.held(&self.now).filter_map(text).collect()
    }

    /// What the run has shown of functions and predicates so far.
    pub fn facts(&self) -> Vec<String> {
        DataConstraint::new(self.now.facts.iter().cloned()).lines(&self.symbols)
    }
}

fn names(product: &Implicit, step: &ProductStep) -> Vec<NameId> {
    label::bits(&step.label).filter_map(|bit| product.alphabet().get(bit).copied()).collect()
}

/// What fresh constants are called, before their number.
const FRESH: &str = "d";

/// The next fresh constant; the first `own` words are the connector's.
fn fresh(symbols: &mut Symbols, own: usize, taken: &mut usize) -> SymbolId {
    loop {
        *taken += 1;
        let symbol = symbols.intern(&format!("{FRESH}{taken}"));
        if symbol.0 as usize >= own {
            return symbol;
        }
    }
}

/// A sequence of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    seed: u64,
    taken: u64,
}

impl Random {
    /// The sequence with a seed.
    pub fn new(seed: u64) -> Random {
        Random { seed, taken: 0 }
    }

    /// A number below `below`, which must not be 0.
    pub fn below(&mut self, below: usize) -> usize {
        let word = mixed(self.taken, self.seed);
        self.taken += 1;
        ((u128::from(word) * below as u128) >> 64) as usize
    }
}
