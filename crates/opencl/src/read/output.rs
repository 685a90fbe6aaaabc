//! From nodes to steps: numbers become expressions.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;
use tickbound_expr::BinaryOp;

use super::formulas::{ArraySpan, Compared, FormulaId, Guard, Needs, SOME_ITEM, apart_classes};
use super::nodes::{KernelNode, NodeKind, Nodes, Reach, Value};
use super::numbering::{each_access, gather, keep};
use super::symbolic::{AtomKind, Leaf, Monomial, Poly, WideInterval};
use super::{Read, Reader, digits, strides};
use crate::ast::{AddressSpace, CExpr, CVariable, ExprKind, SourcePlace, VariableId};
use crate::error::ReadError;
use crate::preprocess::REQUIRED_GROUP;
use crate::steps::{
    Array, Dependence, KernelStep, KernelStepKind, KernelSteps, MemoryAccess, NeedGuard, Needed,
    NeededIterations, RealValue, RequiredGroup, Stride, SymbolExpr, TURN, at_end_of_group,
    depends_on_item, mentions,
};

const MAX_STEPS: usize = 100_000;

impl<'a> Reader<'a> {
    /// Leaves out products that additions take with them, and numbers formulas.
    fn number_results(&mut self, nodes: &mut Nodes) {
        let (mut all, mut stored) = (Vec::new(), HashSet::new());
        gather(nodes, &mut all, &mut stored);
        self.needs = self.formulas.needs(&mut self.terms);
        let at_run_time = self.formulas.at_run_time(false);
        let live = |needs: &Needs, formula: FormulaId| {
            needs.contains_key(&formula) && at_run_time.contains(&formula)
        };
        all.retain(|formula| live(&self.needs, *formula));
        let (absorbed, taking) =
            self.formulas.absorbed(&self.terms, &all.iter().copied().collect());
        all.retain(|id| !absorbed.contains(id) && !self.formulas.may_be_none(&self.terms, *id));
        let counted: HashSet<FormulaId> = all.iter().copied().collect();
        let soon = self.formulas.at_run_time(true);
        let first = |id: &FormulaId| match (soon.contains(id), taking.contains(id)) {
            (true, true) => None,
            (soon, _) => Some((*id, self.formulas.known_first(*id, soon))),
        };
        let known_first = all.iter().filter_map(first);
        self.known_first =
            known_first.filter(|(id, leaf)| leaf.is_some() || !soon.contains(id)).collect();
        self.keys = self.formulas.keys(&self.terms, &all);
        self.number_accesses(nodes);
        keep(nodes, &|id| counted.contains(&id), &stored);
    }

    /// Numbers for accesses that never have one address.
    fn number_accesses(&self, nodes: &mut [KernelNode]) {
        let mut offsets = Vec::new();
        each_access(nodes, &mut |reach| {
            let bytes = i64::from(reach.element) * i64::from(reach.width);
            offsets.push((reach.array.clone(), reach.offset.clone(), bytes));
        });
        let spans =
            offsets.iter().map(|(array, offset, bytes)| ArraySpan { array, offset, bytes: *bytes });
        let spans: Vec<ArraySpan<'_>> = spans.collect();
        let of_one = apart_classes(&self.terms, &spans, Compared::OneItem);
        let of_any = apart_classes(&self.terms, &spans, Compared::AnyItems);
        let mut numbers = of_one.into_iter().zip(of_any);
        each_access(nodes, &mut |reach| {
            if let Some((one, any)) = numbers.next() {
                reach.apart = [one, any];
            }
        });
    }

    pub fn finish(mut self) -> Read<KernelSteps> {
        let mut nodes = std::mem::take(&mut self.nodes);
        self.number_results(&mut nodes);
        let mut left = MAX_STEPS;
        let body = self.steps(nodes, &mut left)?;
        let locals = self.arrays(&self.locals)?;
        let privates = self.arrays(&self.privates)?;
        let read_only = self.entry.parameters.iter().filter(|parameter| parameter.read_only);
        let read_only = read_only.map(|parameter| parameter.name.clone()).collect();
        let required = self.required_group()?;
        let (assumed, dimensions, joined) = (self.assumed, self.dimensions, self.terms.joined);
        Ok(KernelSteps { body, locals, privates, read_only, required, assumed, dimensions, joined })
    }

    /// The group that `reqd_work_group_size` requires: the preprocessor has put it into an array.
    pub fn required_group(&mut self) -> Read<Option<RequiredGroup>> {
        let unit = self.unit;
        let Some(array) = unit.globals.iter().find(|global| global.name == REQUIRED_GROUP) else {
            return Ok(None);
        };
        let Some(ExprKind::List(sizes)) = array.init.as_ref().map(|init| &init.kind) else {
            return Ok(None);
        };
        let size = |e: &'a CExpr| {
            let (size, _) = self.capture(|r| r.whole(e))?;
            self.number(&size, &self.entry.at)
        };
        let sizes = sizes.iter().map(size).collect::<Read<_>>()?;
        Ok(Some(RequiredGroup { at: self.entry.at.clone(), sizes }))
    }

    fn arrays(&self, all: &IndexMap<VariableId, (&CVariable, Poly)>) -> Read<Vec<Array>> {
        let array = |(CVariable { name, at, .. }, bytes): &(&CVariable, Poly)| {
            Ok(Array { name: name.clone(), bytes: self.number(bytes, at)?, at: at.clone() })
        };
        all.values().map(array).collect()
    }

    fn steps(&mut self, nodes: Nodes, left: &mut usize) -> Read<Vec<KernelStep>> {
        nodes.into_iter().map(|node| self.output(node, left)).collect()
    }

    fn output(&mut self, node: KernelNode, left: &mut usize) -> Read<KernelStep> {
        let Some(rest) = left.checked_sub(1) else {
            return Err(ReadError::at(
                &node.at,
                format!("there are more than {MAX_STEPS} steps"),
                "make loops shorter whose iterations differ",
            ));
        };
        *left = rest;
        let at = node.at;
        let kind = match node.kind {
            NodeKind::Access(reach) => KernelStepKind::Access(self.access_of(reach)),
            NodeKind::Atomic { shared, reach } => KernelStepKind::Atomic {
                space: reach.space,
                array: reach.array.to_string(),
                offset: self.offset(&reach),
                shared,
            },
            NodeKind::Compute { kind, amount, width } => {
                KernelStepKind::Compute { kind, amount, width }
            }
            NodeKind::Value(value) => KernelStepKind::Value(self.real_value(value)),
            NodeKind::Barrier => KernelStepKind::Barrier,
            NodeKind::Repeat { count, whole, body } => {
                let count = self.number(&count, &at)?;
                let whole = whole.map(|whole| self.number(&whole, &at)).transpose()?;
                KernelStepKind::Repeat { count, whole, body: self.steps(body, left)? }
            }
            NodeKind::If { condition, then, otherwise } => {
                let condition = self.number(&condition, &at)?;
                let depends = match depends_on_item(&condition) {
                    true => Dependence::Item,
                    false => Dependence::Uniform,
                };
                let (then, otherwise) = (self.steps(then, left)?, self.steps(otherwise, left)?);
                KernelStepKind::If { condition, depends, then, otherwise }
            }
        };
        Ok(KernelStep { kind, at })
    }

    fn access_of(&mut self, reach: Reach) -> MemoryAccess {
        let (items, digits, groups) = match reach.space {
            AddressSpace::Private => (strides::own(&self.terms, &reach), None, Vec::new()),
            _ => (
                strides::items(&mut self.terms, &reach),
                digits::digits(&mut self.terms, &reach),
                strides::groups(&mut self.terms, &reach),
            ),
        };
        let counters: Vec<Leaf> = reach.iterations.iter().map(|(counter, _)| *counter).collect();
        let needed = self.needed(reach.formula, &reach.path, &counters);
        MemoryAccess {
            space: reach.space,
            store: reach.store,
            array: reach.array.to_string(),
            element: reach.element,
            width: reach.width,
            offset: self.offset(&reach),
            items,
            digits,
            groups,
            exact: strides::is_exact(&mut self.terms, &reach),
            apart: reach.apart,
            unknown: self.distances(reach.unknown.clone()),
            needed,
            iterations: reach.iterations.into_iter().map(|(_, stride)| stride).collect(),
        }
    }

    fn real_value(&mut self, value: Value) -> RealValue {
        let counters: Vec<Leaf> = value.differs.iter().map(|(counter, _)| *counter).collect();
        RealValue {
            lanes: value.lanes,
            width: value.width,
            key: self.keys.get(&value.formula).copied().unwrap_or(0),
            needed: self.needed(value.formula, &value.path, &counters),
            differs: value.differs.into_iter().map(|(_, differs)| differs).collect(),
            places: self.distances(value.places),
        }
    }

    /// In which executions a formula is needed that stands behind these guards and in loops with
    /// these counters, inner ones first: the way with the fewest conditions.
    fn needed(&mut self, formula: FormulaId, path: &[u32], counters: &[Leaf]) -> Needed {
        let ways = self.needs.get(&formula).cloned().unwrap_or_default();
        let outside = |guard: &&u32| !path.contains(&(*guard & !SOME_ITEM));
        let ways = ways.into_iter().filter_map(|(lanes, way)| {
            let mut guards_of = |numbers: &BTreeSet<u32>| {
                let guards = numbers.iter().filter(outside).map(|g| self.guards(*g, counters));
                Some(guards.collect::<Option<Vec<_>>>()?.concat())
            };
            let (guards, runs) = (guards_of(&way.path)?, guards_of(&way.runs)?);
            Some((lanes, way, guards, runs))
        });
        let best = ways.min_by_key(|(_, way, guards, runs)| {
            (guards.len(), way.once.len(), way.short.len(), runs.len())
        });
        let Some((lanes, way, guards, runs)) = best else { return Needed::default() };
        let known_first = self.known_first.get(&formula).copied();
        let which = |counter: Leaf| {
            let part = way.short.contains(&counter);
            match (way.once.contains(&counter), known_first == Some(Some(counter))) {
                (true, true) => NeededIterations::None,
                (true, _) if part => NeededIterations::OneOfTwo,
                (true, _) => NeededIterations::One,
                (_, true) if part => NeededIterations::None,
                (_, known) if known || part => NeededIterations::ButLast,
                _ => NeededIterations::All,
            }
        };
        // What is known before a loop around that has ended may be known now.
        let known = known_first.is_some_and(|leaf| !leaf.is_some_and(|l| counters.contains(&l)));
        Needed {
            components: if known { 0 } else { lanes },
            iterations: counters.iter().copied().map(which).collect(),
            guards: [guards, runs].concat(),
        }
    }

    /// A guard as conditions over names, if it is one. In the loops with these counters it may be
    /// one on the iteration of one of them.
    fn guards(&mut self, number: u32, counters: &[Leaf]) -> Option<Vec<NeedGuard>> {
        let holds = match self.formulas.guards.get_index((number & !SOME_ITEM) as usize)?.0 {
            Guard::Side(holds) => holds.clone(),
            Guard::Loop(leaf) => {
                let last = self.terms.last_iteration(*leaf)?;
                let ends = self.terms.negative(&last);
                self.terms.not(&ends)
            }
        };
        let (mut left, mut found) = (vec![holds], Vec::new());
        while let Some(holds) = left.pop() {
            if let Some(AtomKind::And(a, b)) = self.terms.kind_of(&holds) {
                left.extend([a.clone(), b.clone()]);
                continue;
            }
            let mut mentioned = counters.iter().filter(|leaf| self.terms.mentions(&holds, **leaf));
            let (counter, None) = (mentioned.next().copied(), mentioned.next()) else {
                return None;
            };
            let Some(counter) = counter else {
                found.push(NeedGuard { holds: self.guard(&holds, number)?, iterations: None });
                continue;
            };
            let turn = self.terms.uniform(TURN, WideInterval::new(0, i64::MAX));
            let by = HashMap::from([(self.terms.atom_of(counter)?, turn)]);
            let holds = self.terms.substitute(&holds, &by);
            let iterations = self.terms.last_iteration(counter)?.add(&Poly::int(1))?;
            let iterations = Some(self.terms.number(&iterations)?);
            found.push(NeedGuard { holds: self.guard(&holds, number)?, iterations });
        }
        Some(found)
    }

    /// A condition over names.
    fn guard(&self, holds: &Poly, number: u32) -> Option<SymbolExpr> {
        let holds = self.terms.number(holds)?;
        if number & SOME_ITEM == 0 || !mentions(&holds, "$lid_") {
            return Some(holds);
        }
        // It holds for some item if it does for the first or the last one.
        let [first, last] = [false, true].map(|last| at_end_of_group(&holds, [last; 3]));
        Some(SymbolExpr::binary(BinaryOp::Or, first, last))
    }

    /// Of places whose distances hold everywhere, those between iterations.
    fn distances(&mut self, places: Vec<Reach>) -> Vec<Vec<Stride>> {
        let exact = |place: &Reach| strides::is_exact(&mut self.terms, place);
        let places = places.into_iter().filter(exact);
        places.map(|place| place.iterations.into_iter().map(|(_, s)| s).collect()).collect()
    }

    /// Where something is accessed, with names for the iterations of the loops around.
    fn offset(&mut self, reach: &Reach) -> Option<SymbolExpr> {
        if reach.space == AddressSpace::Private {
            return None;
        }
        let mut named = HashMap::new();
        for (k, (leaf, _)) in reach.iterations.iter().enumerate() {
            let range = WideInterval::new(0, i64::MAX);
            let name = format!("$turn_{k}");
            let name = self.terms.uniform(&name, range);
            named.extend(self.terms.atom_of(*leaf).map(|atom| (atom, name)));
        }
        let element = i64::from(reach.element.max(1));
        let (elements, rest) = reach.offset.split((&Monomial::new(), element));
        let elements = self.terms.substitute(&elements, &named);
        self.terms.number(&elements).filter(|_| rest == Poly::int(0))
    }

    fn number(&self, poly: &Poly, at: &SourcePlace) -> Read<SymbolExpr> {
        self.terms.number(poly).ok_or_else(|| {
            ReadError::at(at, "a number here depends on data", "use macros and arguments")
        })
    }
}
