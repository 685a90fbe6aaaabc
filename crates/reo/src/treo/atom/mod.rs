//! An atom as a [`Template`]: an automaton over the words of its interface, copied by each use.

mod rules;
mod search;
mod template;

pub(super) use rules::of_rules;
pub(super) use template::{Template, Words, of_states};
