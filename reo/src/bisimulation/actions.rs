//! Steps as numbers, and which of them count.

use rustc_hash::FxHashMap as HashMap;

use crate::automaton::Automaton;

/// What counts as the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Every step is matched by a step.
    #[default]
    Strong,
    /// Unconditional silent steps need not be matched.
    Weak,
}

/// The number of the silent action.
pub(super) const SILENT: u32 = 0;

/// Kinds of steps as numbers: a label with a constraint each. Number 0 is the unconditional silent
/// one, whether it occurs or not.
pub(super) struct Actions {
    pub of_step: Vec<u32>,
}

impl Actions {
    pub fn new(automaton: &Automaton) -> Actions {
        let silent = vec![0; automaton.words()];
        let mut numbers: HashMap<(&[u64], u32), u32> = HashMap::default();
        numbers.insert((&silent[..], 0), SILENT);
        let labels = automaton.labels().chunks_exact(automaton.words());
        let mut of_step = Vec::with_capacity(automaton.transitions());
        for (at, label) in labels.enumerate() {
            let condition = automaton.conditions().get(at).copied().unwrap_or(0);
            let next = numbers.len() as u32;
            of_step.push(*numbers.entry((label, condition)).or_insert(next));
        }
        Actions { of_step }
    }

    /// Whether there are unconditional silent steps: without any, weak bisimulation is the strong one.
    pub fn has_silent(&self) -> bool {
        self.of_step.contains(&SILENT)
    }

    /// The steps of a state as pairs of action and target.
    pub fn of(&self, automaton: &Automaton, state: u32) -> impl Iterator<Item = (u32, u32)> {
        let range = automaton.rows()[state as usize]..automaton.rows()[state as usize + 1];
        let targets = &automaton.targets()[range.clone()];
        self.of_step[range].iter().copied().zip(targets.iter().copied())
    }
}
