//! A connector put together piece by piece, hidden and made small on the way.
//!
//! A name that no part still to come has can be hidden at once, and the piece replaced by a smaller
//! one that does the same: product and hiding keep strong and weak bisimilarity, so that the end is
//! bisimilar to hiding and minimising the whole product (the argument is in `docs/reo.md`). What
//! would have 2^n states at the end then often never has more than a few n: a chain of buffers, the
//! alternator, the sequencer.

use super::order::order;
use super::reachable;
use crate::automaton::Automaton;
use crate::bisimulation::{Kind, minimise};
use crate::hide::{close, confluence, hide};
use crate::limits::{Limits, Stopped};
use crate::symbol::Name;

/// What is done to the product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Names to hide.
    pub hidden: Vec<Name>,
    /// Which states may be one; none: no two.
    pub minimise: Option<Kind>,
}

/// What came out, and how large it was on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The connector as one automaton.
    pub automaton: Automaton,
    /// States of the largest automaton on the way.
    pub most_states: usize,
    /// Transitions of the largest automaton on the way.
    pub most_transitions: usize,
}

/// The product of `parts`, reachable states only, hidden and minimised as `options` say.
///
/// Without minimising, hidden names go in the end, and steps that have become silent are taken into
/// those behind them (the hiding of Baier et al. 2006); with [`Kind::Strong`] the same, then
/// minimised. With [`Kind::Weak`] silent steps stay where they decide something.
///
/// # Errors
/// When the work was stopped or needs more memory than allowed.
pub fn compose(
    parts: &[&Automaton],
    options: &Options,
    limits: &Limits<'_>,
) -> Result<Composed, Stopped> {
    let Some(kind) = options.minimise else {
        let whole = reachable::compose(parts, limits)?;
        let most = (whole.states(), whole.transitions());
        let hidden = if options.hidden.is_empty() {
            whole
        } else {
            close(&hide(&whole, &options.hidden), limits)?
        };
        return Ok(composed(hidden, most));
    };
    let mut piece = Piece { kind, limits, automaton: None, most: (0, 0) };
    let mut group: Vec<&Automaton> = Vec::new();
    let order = order(parts, &options.hidden);
    let last_use = |name: &Name| order.iter().rposition(|at| has(parts[*at], name));
    let mut closing: Vec<Vec<Name>> = vec![Vec::new(); order.len()];
    for name in &options.hidden {
        if let Some(at) = last_use(name) {
            closing[at].push(*name);
        }
    }
    for (at, names) in order.iter().zip(&closing) {
        group.push(parts[*at]);
        if !names.is_empty() {
            piece.add(&std::mem::take(&mut group), names)?;
        }
    }
    piece.add(&group, &[])?;
    piece.finish(!options.hidden.is_empty())
}

fn has(part: &Automaton, name: &Name) -> bool {
    part.alphabet().binary_search(name).is_ok()
}

fn composed(automaton: Automaton, most: (usize, usize)) -> Composed {
    Composed { automaton, most_states: most.0, most_transitions: most.1 }
}

/// What has been put together so far.
struct Piece<'a> {
    kind: Kind,
    limits: &'a Limits<'a>,
    automaton: Option<Automaton>,
    most: (usize, usize),
}

impl Piece<'_> {
    fn add(&mut self, group: &[&Automaton], names: &[Name]) -> Result<(), Stopped> {
        let all: Vec<&Automaton> =
            self.automaton.iter().chain(group.iter().copied()).collect();
        let whole = match all[..] {
            [one] if names.is_empty() => one.clone(),
            _ => reachable::compose(&all, self.limits)?,
        };
        self.most = (self.most.0.max(whole.states()), self.most.1.max(whole.transitions()));
        let smaller = if names.is_empty() {
            whole
        } else {
            let hidden = hide(&whole, names);
            match self.kind {
                Kind::Weak => minimise(&confluence::reduce(&hidden), Kind::Weak, self.limits)?,
                Kind::Strong => minimise(&hidden, Kind::Strong, self.limits)?,
            }
        };
        self.automaton = Some(smaller);
        Ok(())
    }

    fn finish(self, hidden: bool) -> Result<Composed, Stopped> {
        let Some(mut whole) = self.automaton else {
            return Ok(composed(reachable::compose(&[], self.limits)?, self.most));
        };
        if self.kind == Kind::Strong && hidden {
            whole = close(&whole, self.limits)?;
        }
        Ok(composed(minimise(&whole, self.kind, self.limits)?, self.most))
    }
}
