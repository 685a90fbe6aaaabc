//! Conditions on which names fire together, `a -> b | c`, and on whole runs, `G (a -> F b)`.

pub use super::text::FormulaError;

use std::collections::BTreeSet;

use tickbound_input::message::suggest;

use super::text::{self, Text};
use crate::symbol::{NameId, Symbols};

/// A condition on one step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LtlFormula {
    /// Always.
    True,
    /// Never.
    False,
    /// The name fires.
    Fires(NameId),
    /// It does not hold.
    Not(Box<LtlFormula>),
    /// Both hold.
    And(Box<LtlFormula>, Box<LtlFormula>),
    /// One or both hold.
    Or(Box<LtlFormula>, Box<LtlFormula>),
}

/// A condition on an infinite run from a step of it on (linear temporal logic; Pnueli, *The
/// temporal logic of programs*, 1977), with negations inside only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ltl {
    /// On the step itself.
    Now(LtlFormula),
    /// Both hold.
    And(Box<Ltl>, Box<Ltl>),
    /// One or both hold.
    Or(Box<Ltl>, Box<Ltl>),
    /// It holds from the next step on.
    Next(Box<Ltl>),
    /// The second holds from some step on, the first from each step before.
    Until(Box<Ltl>, Box<Ltl>),
    /// The second holds from each step on up to the first from which both hold, or from all.
    Release(Box<Ltl>, Box<Ltl>),
}

impl LtlFormula {
    /// Reads a formula over `names`. Loosest first: `->` (to the right), `|`, `&`, `!`; `true` and
    /// `false` are what they say unless a name is called so. Names are letters, digits and `_`,
    /// with `.`, `/`, `~` and indices in square brackets.
    pub fn parse(
        text: &str,
        names: &[NameId],
        symbols: &Symbols,
    ) -> Result<LtlFormula, FormulaError> {
        match Ltl::parse(text, names, symbols)? {
            Ltl::Now(formula) => Ok(formula),
            _ => Err(FormulaError(format!(
                "`{}`: X, U, R, G and F speak of a whole run, this is a condition on each step; \
                 use --ltl",
                text::shown(text)
            ))),
        }
    }

    /// Adds the names of which it speaks to `all`.
    pub fn names(&self, all: &mut BTreeSet<NameId>) {
        match self {
            LtlFormula::True | LtlFormula::False => {}
            LtlFormula::Fires(name) => _ = all.insert(*name),
            LtlFormula::Not(inner) => inner.names(all),
            LtlFormula::And(a, b) | LtlFormula::Or(a, b) => {
                [a, b].iter().for_each(|f| f.names(all))
            }
        }
    }

    /// Whether it holds in a step in which exactly the names fire for which `fires` holds.
    pub fn holds(&self, fires: &dyn Fn(NameId) -> bool) -> bool {
        match self {
            LtlFormula::True => true,
            LtlFormula::False => false,
            LtlFormula::Fires(name) => fires(*name),
            LtlFormula::Not(inner) => !inner.holds(fires),
            LtlFormula::And(a, b) => a.holds(fires) && b.holds(fires),
            LtlFormula::Or(a, b) => a.holds(fires) || b.holds(fires),
        }
    }
}

impl Ltl {
    /// Reads a formula over `names`, as [`LtlFormula::parse`] does, with `X` (next), `F` (at some
    /// time) and `G` (always) before, and `U` (until) and `R` (releases) between formulas; these
    /// bind closer than `&`. A name that is called like one of these letters may need brackets:
    /// `(F) U b`.
    pub fn parse(text: &str, names: &[NameId], symbols: &Symbols) -> Result<Ltl, FormulaError> {
        bind(text::parse(text)?, names, symbols)
    }

    /// Adds the names of which it speaks to `all`.
    pub fn names(&self, all: &mut BTreeSet<NameId>) {
        match self {
            Ltl::Now(formula) => formula.names(all),
            Ltl::Next(inner) => inner.names(all),
            Ltl::And(a, b) | Ltl::Or(a, b) | Ltl::Until(a, b) | Ltl::Release(a, b) => {
                [a, b].iter().for_each(|f| f.names(all));
            }
        }
    }

    /// What holds of exactly the other runs.
    #[must_use]
    pub fn negated(self) -> Ltl {
        let not = |inner: Box<Ltl>| Box::new(inner.negated());
        match self {
            Ltl::Now(LtlFormula::Not(inner)) => Ltl::Now(*inner),
            Ltl::Now(LtlFormula::True) => Ltl::Now(LtlFormula::False),
            Ltl::Now(LtlFormula::False) => Ltl::Now(LtlFormula::True),
            Ltl::Now(formula) => Ltl::Now(LtlFormula::Not(Box::new(formula))),
            Ltl::And(a, b) => Ltl::Or(not(a), not(b)),
            Ltl::Or(a, b) => Ltl::And(not(a), not(b)),
            Ltl::Next(a) => Ltl::Next(not(a)),
            Ltl::Until(a, b) => Ltl::Release(not(a), not(b)),
            Ltl::Release(a, b) => Ltl::Until(not(a), not(b)),
        }
    }
}

fn bind(text: Text, names: &[NameId], symbols: &Symbols) -> Result<Ltl, FormulaError> {
    let one = |a: Box<Text>| bind(*a, names, symbols).map(Box::new);
    Ok(match text {
        Text::Word(word) => Ltl::Now(atom(word, names, symbols)?),
        Text::Constant(true) => Ltl::Now(LtlFormula::True),
        Text::Constant(false) => Ltl::Now(LtlFormula::False),
        Text::Not(inner) => one(inner)?.negated(),
        Text::And(a, b) => match (*one(a)?, *one(b)?) {
            (Ltl::Now(a), Ltl::Now(b)) => Ltl::Now(LtlFormula::And(Box::new(a), Box::new(b))),
            (a, b) => Ltl::And(Box::new(a), Box::new(b)),
        },
        Text::Or(a, b) => match (*one(a)?, *one(b)?) {
            (Ltl::Now(a), Ltl::Now(b)) => Ltl::Now(LtlFormula::Or(Box::new(a), Box::new(b))),
            (a, b) => Ltl::Or(Box::new(a), Box::new(b)),
        },
        Text::Next(inner) => Ltl::Next(one(inner)?),
        Text::Until(a, b) => Ltl::Until(one(a)?, one(b)?),
        Text::Release(a, b) => Ltl::Release(one(a)?, one(b)?),
    })
}

fn atom(word: String, names: &[NameId], symbols: &Symbols) -> Result<LtlFormula, FormulaError> {
    let name = symbols.find(&word).map(NameId).filter(|n| names.contains(n));
    match (name, word.as_str()) {
        (Some(name), _) => Ok(LtlFormula::Fires(name)),
        (None, "true") => Ok(LtlFormula::True),
        (None, "false") => Ok(LtlFormula::False),
        (None, _) => {
            let known: Vec<&str> = names.iter().map(|n| symbols.word(n.0)).collect();
            let known =
                text::spelled(&word).unwrap_or_else(|| suggest(&word, known.iter().copied()));
            Err(FormulaError(format!("`{word}` is not a name of the connector; {known}")))
        }
    }
}
