//! Open schedules: warps that compete for dispatchers and memory slots.
//!
//! [`Machine`] is the state of a launch at one instant. It offers what can be decided, takes one
//! decision after another, and moves on to the next instant; who decides is not its business. The
//! rules are those of `docs/semantics.md`, section "Open schedules"; their numbers appear here.

mod group;
mod machine;
mod rules;
mod unit;

pub(super) use self::machine::Machine;
use super::SimulateError;
use super::chooser::{Chooser, FirstCome};
use super::engine::Engine;
use tickbound_model::Bound;

/// Runs all groups on the first-come schedule; returns the tick at which the last has finished.
///
/// The units do not influence each other while segments are started, so each may decide by itself.
pub(super) fn first_come(engine: &mut Engine<'_>, bound: &Bound) -> Result<i64, SimulateError> {
    let mut machine = Machine::new(engine, bound)?;
    let mut options = Vec::new();
    loop {
        machine.options_of_one(&mut options);
        if options.is_empty() {
            if !machine.advance(engine)? {
                return Ok(machine.instant());
            }
        } else {
            let choice = FirstCome.choose(machine.instant(), &options);
            machine.take(engine, options[choice])?;
        }
    }
}

/// Runs all groups, and asks the chooser wherever there is a choice.
pub(super) fn run(
    engine: &mut Engine<'_>,
    bound: &Bound,
    chooser: &mut dyn Chooser,
) -> Result<i64, SimulateError> {
    let mut machine = Machine::new(engine, bound)?;
    let mut options = Vec::new();
    loop {
        machine.options(&mut options);
        let choice = match options.len() {
            0 if machine.advance(engine)? => continue,
            0 => return Ok(machine.instant()),
            1 => 0,
            _ => chooser.choose(machine.instant(), &options),
        };
        let decision = *options.get(choice).ok_or_else(|| SimulateError::NoSuchOption {
            index: choice,
            options: options.len(),
            time: machine.instant(),
        })?;
        chooser.taken(machine.instant(), &decision);
        machine.take(engine, decision)?;
    }
}
