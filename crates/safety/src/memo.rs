//! Values of terms while a group is tried.

use std::collections::HashMap;

use tickbound_opencl::proof::terms::{Node, TermId, Terms};

/// What a term depends on.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Depends {
    /// Ids of the item, by dimension.
    pub ids: [bool; 3],
    /// Iterations.
    pub counters: bool,
}

/// Values of terms, kept from case to case so that room is made once.
#[derive(Default)]
pub struct TermMemo {
    /// Values by term, with the time at which they were computed.
    pub known: Vec<(u32, Option<i128>)>,
    /// What each term depends on.
    pub depends: Vec<Depends>,
    /// Values of terms that depend on the item alone, by item.
    pub by_item: HashMap<TermId, Vec<Option<Option<i128>>>>,
    /// Values of variables by term.
    pub fixed: Vec<Option<i128>>,
    /// The time: it goes on when a variable gets a value.
    pub now: u32,
    /// The time at which a counter got its value.
    pub iterated: u32,
}

impl TermMemo {
    /// Gets ready for new terms.
    pub fn restart(&mut self, terms: &Terms, some: &[TermId], ids: [TermId; 3]) {
        self.known.resize(terms.count(), (0, None));
        self.depends.resize(terms.count(), Depends::default());
        self.fixed.resize(terms.count(), None);
        self.by_item.clear();
        self.now += 1;
        self.iterated = self.now;
        for term in terms.inside(some) {
            let mut own = Depends { ids: ids.map(|id| id == term), counters: false };
            if let Node::Variable(_) = terms.node(term) {
                self.fixed[term.0 as usize] = None;
                own.counters = own.ids == [false; 3];
            }
            for part in terms.parts(term) {
                let part = self.depends[part.0 as usize];
                (0..3).for_each(|d| own.ids[d] |= part.ids[d]);
                own.counters |= part.counters;
            }
            self.depends[term.0 as usize] = own;
        }
    }
}
