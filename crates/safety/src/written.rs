//! What a group does to a local array, up to a load of it.

use tickbound_opencl::ast::SourcePlace;
use tickbound_opencl::proof::events::{AccessMode, ProofEvent, ProofEventKind};
use tickbound_opencl::proof::terms::{Node, TermId, Terms};

/// What a group does to a local array, with one of its loads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WrittenStep {
    /// A store, or the load that is judged.
    Access {
        /// It is done if all of these hold, besides the conditions of the loops around.
        when: Vec<TermId>,
        /// Bytes behind the beginning of the array.
        offset: TermId,
        /// How many bytes.
        bytes: u32,
        /// Whether it is a store.
        store: bool,
    },
    /// A loop.
    Repeat {
        /// It is done if all of these hold.
        when: Vec<TermId>,
        /// The iteration.
        counter: TermId,
        /// Whether an iteration is begun.
        enters: TermId,
        /// Whether a further one may be, once it is done.
        stays: TermId,
        /// What an iteration does.
        body: Vec<WrittenStep>,
    },
}

impl WrittenStep {
    /// Does something to each term of it, in order.
    pub fn each(&mut self, act: &mut dyn FnMut(&mut TermId)) {
        match self {
            WrittenStep::Access { when, offset, .. } => {
                when.iter_mut().for_each(&mut *act);
                act(offset);
            }
            WrittenStep::Repeat { when, counter, enters, stays, body } => {
                when.iter_mut().for_each(&mut *act);
                [counter, enters, stays].into_iter().for_each(&mut *act);
                body.iter_mut().for_each(|step| step.each(act));
            }
        }
    }

    /// All terms of some steps.
    pub fn terms(steps: &[WrittenStep]) -> Vec<TermId> {
        let mut all = Vec::new();
        steps.to_vec().iter_mut().for_each(|step| step.each(&mut |term| all.push(*term)));
        all
    }

    /// What some steps are beside their terms, as text.
    pub fn outline(steps: &[WrittenStep]) -> String {
        let mut steps = steps.to_vec();
        steps.iter_mut().for_each(|step| step.each(&mut |term| *term = TermId(0)));
        format!("{steps:?}")
    }
}

/// The loads of an array, in order: where each is, and what the group does to the array.
pub fn loads(
    terms: &mut Terms,
    events: &[ProofEvent],
    array: usize,
) -> Vec<(SourcePlace, Vec<WrittenStep>)> {
    let mut places = Vec::new();
    steps(terms, events, array, &mut Walk { places: &mut places, judged: None, begun: Vec::new() });
    (0..places.len())
        .map(|judged| {
            let mut seen = Vec::new();
            let mut walk = Walk { places: &mut seen, judged: Some(judged), begun: Vec::new() };
            (places[judged].clone(), steps(terms, events, array, &mut walk))
        })
        .collect()
}

/// A walk over the loads of an array: where they are, which is kept, and what holds in the
/// iterations around.
struct Walk<'w> {
    places: &'w mut Vec<SourcePlace>,
    judged: Option<usize>,
    begun: Vec<TermId>,
}

fn steps(
    terms: &mut Terms,
    events: &[ProofEvent],
    array: usize,
    walk: &mut Walk<'_>,
) -> Vec<WrittenStep> {
    let mut all = Vec::new();
    for event in events {
        let further = |c: &TermId| !walk.begun.contains(c);
        let when: Vec<TermId> = event.when.iter().copied().filter(further).collect();
        match &event.kind {
            ProofEventKind::Access(access) if access.array == array => {
                let (offset, bytes) = (access.offset, access.bytes);
                if access.mode != AccessMode::Store {
                    if walk.judged == Some(walk.places.len()) {
                        let when = when.clone();
                        all.push(WrittenStep::Access { when, offset, bytes, store: false });
                    }
                    walk.places.push(event.at.clone());
                }
                if access.mode != AccessMode::Load {
                    all.push(WrittenStep::Access { when, offset, bytes, store: true });
                }
            }
            ProofEventKind::Repeat(l) => {
                walk.begun.push(l.enters);
                let body = steps(terms, &l.body, array, walk);
                walk.begun.pop();
                if !body.is_empty() {
                    let counter = terms.term(Node::Variable(l.counter));
                    let (enters, stays) = (l.enters, l.stays);
                    all.push(WrittenStep::Repeat { when, counter, enters, stays, body });
                }
            }
            _ => {}
        }
    }
    all
}
