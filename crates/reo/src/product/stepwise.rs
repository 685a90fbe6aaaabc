//! A connector composed piece by piece, hidden and minimised between the steps.
//!
//! A name that no later part has is hidden at once, and the piece minimised: product and hiding
//! preserve strong and weak bisimilarity (`docs/reo.md`), so that the result is bisimilar to hiding
//! and minimising the whole. Chains and sequencers stay linear where the whole has 2^n states.

use super::order::order;
use super::reachable;
use crate::automaton::Automaton;
use crate::bisimulation::{Equivalence, minimise, without_inert};
use crate::constraint::simplify::may_conflict;
use crate::hide::{close, confluence, hide, hide_between, simplified};
use crate::limits::{Limited, ProductLimits, Stopped};
use crate::symbol::NameId;

/// What is done to the product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepwiseOptions {
    /// Names to hide.
    pub hidden: Vec<NameId>,
    /// Which equivalent states to merge; none: no two.
    pub minimise: Option<Equivalence>,
}

/// What came out, and how large it was between the steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The connector as one automaton.
    pub automaton: Automaton,
    /// States of the largest automaton between the steps.
    pub most_states: usize,
}

/// Pieces with fewer states are not minimised before the end.
const SMALL: usize = 16;

/// Memory of the first attempt, in bytes; each further one may use [`FACTOR`] times as much.
const FIRST: u64 = 1 << 20;
const FACTOR: u64 = 8;

/// The product of `parts`, reachable states only, hidden and minimised as `options` say.
///
/// Without minimising, hidden names go in the end, and steps that have become silent are taken into
/// those behind them (the hiding of Baier et al. 2006); with [`Equivalence::Strong`] the same, then
/// minimised. With [`Equivalence::Weak`] silent steps stay where they decide something.
///
/// With minimising there are two orders, piece by piece or the whole product first, and either may
/// explode where the other does not: pieces of a ring do not know that only one token goes around,
/// the whole of a chain has 2^n states. Both are tried in turn with growing memory; which one ends
/// first does not depend on time.
pub fn compose(
    parts: &[&Automaton],
    options: &StepwiseOptions,
    limits: &ProductLimits,
) -> Limited<Composed> {
    let Some(kind) = options.minimise else {
        let whole = reachable::compose(parts, limits)?;
        let most_states = whole.states();
        let automaton = hidden(whole, &options.hidden, limits)?;
        return Ok(Composed { automaton, most_states });
    };
    if options.hidden.is_empty() {
        // Nothing can go between the steps: there is one order only.
        return pieces(parts, &[], kind, usize::MAX, limits);
    }
    let mut allowed = FIRST.min(limits.memory);
    loop {
        let limited = ProductLimits { memory: allowed, ..*limits };
        let mut stopped = None;
        for group in [1, usize::MAX] {
            match pieces(parts, &options.hidden, kind, group, &limited) {
                Err(why @ (Stopped::Memory { .. } | Stopped::States(_))) => stopped = Some(why),
                done => return done,
            }
        }
        if let Some(why) = stopped.filter(|_| allowed == limits.memory) {
            return Err(why);
        }
        allowed = allowed.saturating_mul(FACTOR).min(limits.memory);
    }
}

/// A whole product in which `names` are hidden, as [`compose`] does it without minimising.
pub fn hidden(whole: Automaton, names: &[NameId], limits: &ProductLimits) -> Limited<Automaton> {
    if names.is_empty() { Ok(whole) } else { close(&hide(&whole, names), limits) }
}

/// Parts that together do what `parts` do with data left out, without steps that no data fulfil:
/// one for each of `parts` where their data forbid no joint step, else their product.
pub fn without_data(parts: &[&Automaton], limits: &ProductLimits) -> Limited<Vec<Automaton>> {
    if may_conflict(parts.iter().flat_map(|part| part.constraints().iter())) {
        return Ok(vec![reachable::compose(parts, limits)?.without_data()]);
    }
    Ok(parts.iter().map(|part| part.without_data()).collect())
}

/// Composes parts until `least` hidden names can go, hides them, and so on.
fn pieces(
    parts: &[&Automaton],
    hidden: &[NameId],
    kind: Equivalence,
    least: usize,
    limits: &ProductLimits,
) -> Limited<Composed> {
    let order = order(parts, hidden);
    let last_use = |name: &NameId| order.iter().rposition(|at| has(parts[*at], name));
    let mut last_used: Vec<Vec<NameId>> = vec![Vec::new(); order.len()];
    for name in hidden {
        if let Some(at) = last_use(name) {
            last_used[at].push(*name);
        }
    }
    let mut piece = Piece { kind, limits, automaton: None, most_states: 0, settled: 0 };
    let (mut group, mut names): (Vec<&Automaton>, Vec<NameId>) = (Vec::new(), Vec::new());
    for (at, done) in order.iter().zip(last_used) {
        // Parts of one state make no states that could go: they may come together.
        let grows = parts[*at].states() > 1 && group.iter().any(|p| p.states() > 1);
        if grows && names.len() >= least {
            piece.add(&std::mem::take(&mut group), &std::mem::take(&mut names))?;
        }
        group.push(parts[*at]);
        names.extend(done);
    }
    piece.add(&group, &names)?;
    piece.finish(!hidden.is_empty())
}

fn has(part: &Automaton, name: &NameId) -> bool {
    part.alphabet().binary_search(name).is_ok()
}

/// What has been put together so far.
struct Piece<'a> {
    kind: Equivalence,
    limits: &'a ProductLimits<'a>,
    automaton: Option<Automaton>,
    most_states: usize,
    /// States when it was last minimised.
    settled: usize,
}

impl Piece<'_> {
    fn add(&mut self, group: &[&Automaton], names: &[NameId]) -> Limited<()> {
        let all: Vec<&Automaton> = self.automaton.iter().chain(group.iter().copied()).collect();
        let mut piece = match all[..] {
            [one] => one.clone(),
            _ => reachable::compose(&all, self.limits)?,
        };
        self.most_states = self.most_states.max(piece.states());
        if !names.is_empty() {
            piece = hide_between(&piece, names);
            piece = confluence::reduce(&piece);
            // Confluence does most of it; bisimulation is dearer, and worth its price now and then.
            if piece.states() > 2 * self.settled + SMALL {
                piece = match self.kind {
                    Equivalence::Weak => minimise(piece, self.kind, self.limits)?,
                    // The moment at which a silent step is taken counts until it is closed.
                    Equivalence::Strong => without_inert(piece, self.limits)?,
                };
                self.settled = piece.states();
            }
        }
        self.automaton = Some(piece);
        Ok(())
    }

    fn finish(self, hidden: bool) -> Limited<Composed> {
        let Some(mut whole) = self.automaton else {
            let automaton = reachable::compose(&[], self.limits)?;
            return Ok(Composed { automaton, most_states: self.most_states });
        };
        whole = simplified(whole);
        if hidden {
            whole = confluence::reduce(&whole);
        }
        if self.kind == Equivalence::Strong && hidden {
            whole = close(&without_inert(whole, self.limits)?, self.limits)?;
        }
        let automaton = minimise(whole, self.kind, self.limits)?;
        Ok(Composed { automaton, most_states: self.most_states })
    }
}
