//! How many iterations a loop has, from what its probe found out.

use std::collections::HashMap;

use super::Reader;
use super::form::Loop;
use super::probe::{Change, Probe};
use super::symbolic::{Atom, Leaf, Poly, WideInterval};
use super::trips::trips;
use super::types::Integer;
use super::value::ReadValue;

impl<'a> Reader<'a> {
    /// How many iterations there are, if that can be said.
    pub fn count(&mut self, l: &Loop<'a>, probe: &Probe) -> Option<Poly> {
        let range = WideInterval::new(0, i64::MAX);
        let leaf = self.terms.counter(range, WideInterval::new(0, 1 << 16), Vec::new());
        let iteration = leaf.as_atom()?;
        let condition = self.at_iteration(probe, &probe.condition, &leaf)?;
        let mut count = trips(&mut self.terms, &condition, iteration)?;
        if l.after {
            count = self.terms.add(&count, &Poly::int(1));
        }
        let fits = !self.terms.mentions_since(&count, probe.mark);
        (fits && self.ends_above_zero(probe, &count)).then_some(count)
    }

    /// The value with `start + step * iteration` in the place of placeholders; `None` if other
    /// variables of the loop are in it.
    fn at_iteration(&mut self, probe: &Probe, value: &Poly, iteration: &Poly) -> Option<Poly> {
        let mut by = HashMap::new();
        for (id, atom) in &probe.placeholders {
            let start = match probe.start.values.get(id)? {
                ReadValue::Int(poly) => poly,
                ReadValue::Pointer(pointer) => &pointer.offset,
                ReadValue::Real(_)
                | ReadValue::Scaled(..)
                | ReadValue::Other(_)
                | ReadValue::Parts(..) => continue,
            };
            let value = match probe.changes.get(id) {
                Some(Change::By(step)) => {
                    let distance = self.terms.mul(step, iteration);
                    self.terms.add(start, &distance)
                }
                None => start.clone(),
                Some(_) => continue,
            };
            by.insert(*atom, value);
        }
        let value = self.terms.substitute(value, &by);
        let iteration = self.terms.leaves(iteration);
        let own = |leaf: &Leaf| *leaf >= probe.mark && !iteration.contains(leaf);
        (!self.terms.leaves(&value).iter().any(own)).then_some(value)
    }

    /// Whether no unsigned counter that the condition asks for falls below zero.
    fn ends_above_zero(&mut self, probe: &Probe, count: &Poly) -> bool {
        for (id, atom) in &probe.placeholders {
            let Some(Change::By(step)) = probe.changes.get(id) else { continue };
            let unsigned = self.type_of(*id).and_then(Integer::of).is_some_and(|i| !i.signed);
            let Some(ReadValue::Int(start)) = probe.start.values.get(id) else { continue };
            let asked = probe_mentions(self, probe, *atom);
            if !unsigned || !asked || self.terms.never_negative(step) {
                continue;
            }
            let distance = self.terms.mul(step, count);
            let end = self.terms.add(start, &distance);
            if !self.terms.never_negative(&end) {
                return false;
            }
        }
        true
    }
}

fn probe_mentions(reader: &Reader<'_>, probe: &Probe, atom: Atom) -> bool {
    let leaves = reader.terms.leaves(&Poly::atom(atom));
    leaves.iter().any(|leaf| reader.terms.mentions(&probe.condition, *leaf))
}
