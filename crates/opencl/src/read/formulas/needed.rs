//! What is needed for what is certainly stored.
//!
//! A compiler leaves out other results, or moves them to where they are used. Each answer is a set
//! of executions that are all needed; where several are found, one of them is taken.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use indexmap::IndexSet;
use itertools::Itertools;

use super::super::symbolic::{Leaf, Poly, PolyTerms};
use super::formula::{Formula, FormulaId};
use super::iterations::Part;
use super::offsets::apart;
use super::table::{Covered, Formulas, MAX_VISITED};
use super::ways::{Guard, Guards, Needs, SOME_ITEM, StoredValue, Way, exclusive};
use crate::ast::AddressSpace;

/// Components of the longest vector.
const LANES: u8 = 16;
/// Most branches one inside the other that are looked into for one question.
const MAX_NESTED: usize = 4;
/// Most ways in which one part is needed.
const MAX_WAYS: usize = 8;

/// A part of a formula that is needed.
#[derive(Debug, Clone)]
struct Wanted {
    id: FormulaId,
    part: Part,
    way: Way,
}

pub(super) struct Search<'f> {
    pub formulas: &'f Formulas,
    pub terms: &'f mut PolyTerms,
    found: HashMap<(FormulaId, Part), Vec<Way>>,
    /// Arrays by stride, of whose parts these are needed in one way, by the first of each.
    strided: HashMap<(FormulaId, i64, Option<u8>, Way), HashSet<i64>>,
    /// By the number of conditions: what has few is visited first.
    left: BTreeMap<usize, Vec<Wanted>>,
    /// All guards, and those with other counters.
    pub guards: Guards,
    /// Branches whose guards have other counters, and which.
    pub branches: IndexSet<(u32, Leaf)>,
}

impl Formulas {
    /// Everything that is needed for what is certainly stored; its guards are added.
    pub fn needs(&mut self, terms: &mut PolyTerms) -> Needs {
        let mut search = Search {
            formulas: self,
            terms,
            found: HashMap::new(),
            strided: HashMap::new(),
            left: BTreeMap::new(),
            guards: self.guards.clone(),
            branches: IndexSet::new(),
        };
        for root in &search.formulas.kept {
            let once = search.still(root, &[]);
            let last = once.iter().cartesian_product(&root.values);
            let last = last.map(|(leaf, value)| (*leaf, *value)).collect();
            let path = root.path.iter().copied().collect();
            let way = Way { once, path, last, ..Way::default() };
            for id in &root.values {
                search.want(*id, Part::Whole, way.clone());
            }
        }
        search.run();
        let Search { found, guards, .. } = search;
        self.guards = guards;
        needs(found)
    }

    /// Notes something that is stored, `certain`ly or not. What it may overwrite is not needed.
    pub fn keep(
        &mut self,
        terms: &PolyTerms,
        stored: StoredValue,
        local: bool,
        certain: bool,
        overwrites: bool,
    ) {
        let guards = &self.guards;
        let kept = if local { &mut self.local } else { &mut self.kept };
        kept.retain(|before| {
            !overwrites
                || before.array != stored.array
                || local && before.barriers != stored.barriers
                || apart(terms, &before.offset, &stored.offset)
                || exclusive(guards, &before.path, &stored.path)
        });
        if certain {
            kept.push(stored);
        }
    }

    /// Of two sides the one that the other is certainly made of, and that one.
    pub(super) fn common(&self, sides: [(u32, FormulaId); 2]) -> Option<(FormulaId, FormulaId)> {
        let [(_, a), (_, b)] = sides;
        let pairs = [(a, b), (b, a)];
        pairs.into_iter().find(|(common, whole)| self.is_made_of(*whole, *common, MAX_NESTED))
    }

    /// Whether a formula is certainly made of another one.
    fn is_made_of(&self, id: FormulaId, other: FormulaId, nested: usize) -> bool {
        let (mut seen, mut left) = (HashSet::new(), vec![id]);
        while let Some(id) = left.pop() {
            if id == other {
                return true;
            }
            if seen.len() >= MAX_VISITED / 16 || !seen.insert(id) {
                continue;
            }
            match self.get(id) {
                Formula::Computed(_, parts) | Formula::Vector(parts) => left.extend(parts),
                Formula::Component(base, _) | Formula::After(_, base) => left.push(*base),
                Formula::WithComponent(_, _, value) => left.push(*value),
                Formula::Either(sides)
                    if nested > 0
                        && sides
                            .iter()
                            .all(|(_, side)| self.is_made_of(*side, other, nested - 1)) =>
                {
                    return true;
                }
                // An array in which what was there is part of what is there.
                Formula::Stored(before, at, value) if self.begins(*before, other) => {
                    let part = self.find(&Formula::Element(*before, at.clone()));
                    return part.is_some_and(|part| {
                        nested > 0 && self.is_made_of(*value, part, nested - 1)
                    });
                }
                Formula::Stored(_, _, value) => left.push(*value),
                _ => {}
            }
        }
        false
    }
}

impl Search<'_> {
    /// Notes that something is needed. Unknown formulas have one number, and are not one value.
    pub fn want(&mut self, id: FormulaId, part: Part, way: Way) {
        if id == FormulaId::UNKNOWN {
            return;
        }
        let conditions = way.once.len() + way.short.len() + way.path.len();
        self.left.entry(conditions).or_default().push(Wanted { id, part, way });
    }

    fn run(&mut self) {
        let mut visited = 0;
        while let Some(mut entry) = self.left.first_entry() {
            let Some(Wanted { id, part, way }) = entry.get_mut().pop() else {
                entry.remove();
                continue;
            };
            let ways = self.found.entry((id, part.clone())).or_default();
            if ways.iter().any(|known| known.covers(&way)) {
                continue;
            }
            ways.retain(|known| !way.covers(known));
            if ways.len() >= MAX_WAYS {
                continue;
            }
            let others: Vec<Way> = ways.clone();
            ways.push(way.clone());
            for other in others {
                if let Some(both) = way.with_other_side(&other, &self.guards) {
                    self.want(id, part.clone(), both);
                }
            }
            visited += 1;
            if visited > 16 * MAX_VISITED {
                return;
            }
            self.visit(id, part, way);
        }
    }

    fn visit(&mut self, id: FormulaId, part: Part, way: Way) {
        self.other_forms(id, &part, &way);
        match (self.formulas.get(id).clone(), part) {
            (Formula::Place { space, array, offset, .. }, _) => {
                self.loaded(id, (space, &array, &offset), &way);
            }
            (
                formula
                @ (Formula::Component(..) | Formula::Vector(_) | Formula::WithComponent(..)),
                part,
            ) => self.components(formula, part, way),
            (Formula::Element(base, at), part @ (Part::Whole | Part::Component(_))) => {
                let lane = if let Part::Component(lane) = part { Some(lane) } else { None };
                self.want(base, Part::Element(at, lane), way);
            }
            (Formula::Computed(_, parts), part @ (Part::Whole | Part::Component(_))) => {
                parts.into_iter().for_each(|p| self.want(p, part.clone(), way.clone()));
            }
            (Formula::Either(sides), part) => self.sides(sides, &part, &way),
            (Formula::After(leaf, base), part) => {
                let runs = self.has_iteration(leaf);
                let mut way = way;
                if let (Some(_), Some([(carried, start)])) =
                    (runs, self.formulas.before.get(&id).map(Vec::as_slice))
                    && self.formulas.is_made_of(base, *carried, MAX_NESTED)
                {
                    self.want(*start, part.clone(), way.clone());
                }
                if way.once.insert(leaf) {
                    way.left.insert(leaf);
                }
                way.last.insert((leaf, base));
                way.runs.extend(runs);
                self.want(base, part, way);
            }
            (Formula::Stored(before, at, value), part) => {
                self.stored((before, &at, value), part, way);
            }
            (Formula::Carried(..), part) => self.carried(id, part, way),
            _ => {}
        }
    }

    /// The guard that a loop has an iteration, if it may have none.
    fn has_iteration(&self, leaf: Leaf) -> Option<u32> {
        let number = self.guards.get_index_of(&Guard::Loop(leaf))?;
        self.terms.may_be_empty(leaf).then(|| u32::try_from(number).ok())?
    }

    /// The same formula with the counters of loops before, and the array that it is all of.
    fn other_forms(&mut self, id: FormulaId, part: &Part, way: &Way) {
        if let Some((origin, by, left)) = self.formulas.origins.get(&id) {
            let mut own = way.clone();
            own.last.extend(left);
            for (leaf, _) in left {
                let other = by.get(leaf).and_then(|at| self.counter(at, *leaf));
                own = self.moved(own, *leaf, other);
                own.runs.extend(self.has_iteration(*leaf));
            }
            self.want(*origin, part.clone(), own);
        }
        if let Some((covered, counters)) = self.formulas.covering.get(&id)
            && !counters.iter().any(|leaf| way.once.contains(leaf))
        {
            let lane = if let Part::Component(lane) = part { Some(*lane) } else { None };
            match covered {
                Covered::Array { array, stride, first, guard } => {
                    let mut way = way.clone();
                    way.path.extend(guard);
                    let parts = self.strided.entry((*array, *stride, lane, way.clone()));
                    let parts = parts.or_default();
                    if parts.insert(*first) && parts.len() as i64 == *stride {
                        for at in self.stored_offsets(*array) {
                            self.want(*array, Part::Element(at, lane), way.clone());
                        }
                    }
                }
                Covered::Vector(vector) => self.want(*vector, Part::Whole, way.clone()),
            }
        }
    }

    /// What is needed of the parts of a vector.
    fn components(&mut self, vector: Formula, part: Part, way: Way) {
        match (vector, part) {
            (Formula::Vector(parts), Part::Component(lane)) if parts.len() > 1 => {
                if let Some(part) = parts.get(usize::from(lane)) {
                    self.want(*part, Part::Whole, way);
                }
            }
            (Formula::Vector(parts), _) => {
                parts.into_iter().for_each(|p| self.want(p, Part::Whole, way.clone()));
            }
            (Formula::WithComponent(_, own, value), Part::Component(lane)) if own == lane => {
                self.want(value, Part::Whole, way);
            }
            (Formula::WithComponent(base, ..), Part::Component(lane))
            | (Formula::Component(base, lane), Part::Whole) => {
                self.want(base, Part::Component(lane), way);
            }
            (Formula::WithComponent(base, own, value), Part::Whole) => {
                self.want(value, Part::Whole, way.clone());
                for lane in (0..LANES).filter(|lane| *lane != own) {
                    self.want(base, Part::Component(lane), way.clone());
                }
            }
            _ => {}
        }
    }

    /// Each of two values where its guard holds, and what both are made of.
    fn sides(&mut self, sides: [(u32, FormulaId); 2], part: &Part, way: &Way) {
        if let Some((common, _)) = self.formulas.common(sides) {
            self.want(common, part.clone(), way.clone());
        }
        for (guard, side) in sides {
            let mut own = way.clone();
            own.path.insert(guard);
            self.want(side, part.clone(), own);
        }
    }

    /// What is loaded needs its address, and, in local memory, what was stored there.
    fn loaded(
        &mut self,
        id: FormulaId,
        (space, array, offset): (AddressSpace, &Rc<str>, &Poly),
        way: &Way,
    ) {
        for leaf in self.terms.leaves(offset) {
            if let Some(formula) = self.formulas.loaded.get(&leaf) {
                self.want(*formula, Part::Whole, way.clone());
            }
        }
        let around = self.formulas.around.get(&id).cloned().unwrap_or_default();
        let stores = match space {
            AddressSpace::Local => &self.formulas.local,
            _ => &self.formulas.kept,
        };
        for store in stores.iter().filter(|store| store.array == *array) {
            let again = store.offset == *offset;
            let mut own = way.clone();
            if space == AddressSpace::Local {
                for leaf in self.still(store, &around) {
                    own.once.insert(leaf);
                    own.last.extend(store.values.iter().map(|value| (leaf, *value)));
                }
                own.path = own.path.into_iter().map(|guard| guard | SOME_ITEM).collect();
            } else if !again || !store.loops.iter().any(|leaf| around.contains(leaf)) {
                continue;
            }
            own.path.extend(&store.path);
            for value in &store.values {
                let mut own = own.clone();
                // What each iteration adds to one place is needed as that of the last one is.
                for leaf in store.loops.iter().filter(|leaf| again && around.contains(leaf)) {
                    own.once.remove(leaf);
                    if !own.last.contains(&(*leaf, *value)) {
                        own.short.insert(*leaf);
                    }
                }
                self.want(*value, Part::Whole, own);
            }
        }
    }
}

/// The ways of all parts of each formula together.
fn needs(found: HashMap<(FormulaId, Part), Vec<Way>>) -> Needs {
    let mut needs = Needs::new();
    let mut lanes: HashMap<FormulaId, Vec<Way>> = HashMap::new();
    for ((id, part), ways) in found {
        match part {
            Part::Whole => {
                needs.entry(id).or_default().extend(ways.into_iter().map(|way| (u8::MAX, way)));
            }
            Part::Component(_) => {
                let conditions =
                    |way: &Way| (way.path.len(), way.once.len(), way.short.len(), way.runs.len());
                lanes.entry(id).or_default().extend(ways.into_iter().min_by_key(conditions));
            }
            Part::Element(..) => {}
        }
    }
    for (id, ways) in lanes {
        let lanes = u8::try_from(ways.len()).unwrap_or(LANES);
        let mut all = Way::default();
        for way in ways {
            all.once.extend(way.once);
            all.short.extend(way.short);
            all.path.extend(way.path);
            all.runs.extend(way.runs);
        }
        needs.entry(id).or_default().push((lanes, all));
    }
    needs
}
