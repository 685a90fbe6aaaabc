//! Bounds over boxes of parameter values, from the messages of a small elimination.
//!
//! In goes a search, out comes a [`BoxBounds`]: an elimination with few rows, whose joins are
//! divided where they would have more. For a box in which the first parameters of its order are
//! single values, it bounds all configurations in it from below. The fewer joins were divided,
//! the nearer that is to the least time.

use tickbound_timing::ParameterBox;

use crate::search::{Eliminated, Search};

/// Most rows of one of its relations.
const MAX_ROWS: usize = 1 << 16;

/// What the messages of an elimination say of boxes.
pub(crate) struct BoxBounds<'s, 'a> {
    search: &'s Search<'a>,
    found: &'s Eliminated,
    /// The parameters in the order in which they are to be decided.
    order: Vec<usize>,
    /// The indices of each parameter's values, in increasing order of the values.
    places: Vec<Vec<u32>>,
    /// The inverse of that.
    ranks: Vec<Vec<u32>>,
}

impl<'s, 'a> BoxBounds<'s, 'a> {
    /// Makes one; `None` if even that is too large, or at a stop.
    pub(crate) fn new(search: &'s Search<'a>) -> Option<BoxBounds<'s, 'a>> {
        let found = search.guiding(MAX_ROWS)?;
        let (order, values) = (found.tree.order(), search.configurations.values());
        let sorted = |values: &Vec<i64>| {
            let mut places: Vec<u32> = (0..values.len() as u32).collect();
            places.sort_by_key(|place| values[*place as usize]);
            places
        };
        let places: Vec<Vec<u32>> = values.iter().map(sorted).collect();
        let inverse = |places: &Vec<u32>| {
            let mut ranks = vec![0; places.len()];
            (0..).zip(places).for_each(|(rank, place)| ranks[*place as usize] = rank);
            ranks
        };
        let ranks = places.iter().map(inverse).collect();
        Some(BoxBounds { search, found, order, places, ranks })
    }

    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Ticks that no configuration in a box undercuts; `None` if none is valid.
    pub(crate) fn bound(&self, of: &ParameterBox) -> Option<i64> {
        let Eliminated { tables, tree, root } = self.found;
        let single = |p: &&usize| of[**p].0 == of[**p].1;
        let decided = self.order.iter().take_while(single).count();
        let mut indices = vec![0; of.len()];
        let ticks = |indices: &[u32], sum| tables.ticks(&self.search.env(indices), sum);
        if decided < tables.kept.len() {
            let rows = root.rows().filter_map(|(key, sum)| {
                root.scope().unpack(key, &mut indices);
                let inside = |p: &usize| {
                    let rank = self.ranks[*p][indices[*p] as usize];
                    (of[*p].0..=of[*p].1).contains(&rank)
                };
                tables.kept.iter().all(inside).then(|| ticks(&indices, sum.0))
            });
            return rows.min();
        }
        for p in &self.order[..decided] {
            indices[*p] = self.places[*p][of[*p].0 as usize];
        }
        let next = self
            .order
            .get(decided)
            .map_or(&[][..], |p| &self.places[*p][of[*p].0 as usize..=of[*p].1 as usize]);
        let sum = tree.least_from(root, &mut indices, decided, next)?;
        Some(ticks(&indices, sum.0))
    }
}
