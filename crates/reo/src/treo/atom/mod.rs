//! An atom as a [`Template`]: an automaton over the words of its interface, from
//! which every use of the atom gets its copy.

mod rules;
mod search;
mod states;
mod template;

pub(super) use rules::of_rules;
pub(super) use states::of_states;
pub(super) use template::{Template, Words};
