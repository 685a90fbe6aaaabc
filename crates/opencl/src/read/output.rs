//! From nodes to steps: numbers become expressions.

use std::collections::HashMap;

use super::nodes::{KernelNode, NodeKind, Nodes, Reach, Value};
use super::symbolic::{Monomial, Poly, WideInterval};
use super::{Read, Reader, strides};
use crate::ast::{AddressSpace, CExpr, CVariable, ExprKind, SourcePlace};
use crate::error::ReadError;
use crate::preprocess::REQUIRED_GROUP;
use crate::steps::{
    Array, Dependence, KernelStep, KernelStepKind, KernelSteps, MemoryAccess, RealValue,
    RequiredGroup, Stride, SymbolExpr, depends_on_item,
};

/// Most steps.
const MAX_STEPS: usize = 100_000;

impl<'a> Reader<'a> {
    /// The steps out of what was read.
    pub fn finish(mut self) -> Read<KernelSteps> {
        let nodes = std::mem::take(&mut self.nodes);
        let nodes = self.number_results(nodes);
        let mut left = MAX_STEPS;
        let body = self.steps(nodes, &mut left)?;
        let locals = std::mem::take(&mut self.locals);
        let locals = self.arrays(locals.into_values())?;
        let privates = std::mem::take(&mut self.privates);
        let privates = self.arrays(privates.into_values())?;
        let read_only = self.entry.parameters.iter().filter(|parameter| parameter.read_only);
        let read_only = read_only.map(|parameter| parameter.name.clone()).collect();
        let required = self.required_group()?;
        let (assumed, dimensions) = (self.assumed, self.dimensions);
        Ok(KernelSteps { body, locals, privates, read_only, required, assumed, dimensions })
    }

    /// The group that `reqd_work_group_size` of the kernel requires; the preprocessor has put its
    /// arguments into an array.
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

    fn arrays(&self, all: impl Iterator<Item = (&'a CVariable, Poly)>) -> Read<Vec<Array>> {
        all.map(|(CVariable { name, at, .. }, bytes)| {
            Ok(Array { name: name.clone(), bytes: self.number(&bytes, at)?, at: at.clone() })
        })
        .collect()
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

    /// An access with its strides.
    fn access_of(&mut self, reach: Reach) -> MemoryAccess {
        let (items, digits, groups) = match reach.space {
            AddressSpace::Private => (strides::own(&self.terms, &reach), None, Vec::new()),
            _ => (
                strides::items(&mut self.terms, &reach),
                strides::digits(&mut self.terms, &reach),
                strides::groups(&mut self.terms, &reach),
            ),
        };
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
            iterations: reach.iterations.into_iter().map(|(_, stride)| stride).collect(),
        }
    }

    fn real_value(&mut self, value: Value) -> RealValue {
        RealValue {
            lanes: value.lanes,
            width: value.width,
            key: self.keys.get(&value.formula).copied().unwrap_or(0),
            differs: value.differs,
            places: self.distances(value.places),
        }
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
