//! Obligations of different readings that are equal but for the numbers of their variables.

use std::collections::HashMap;

use tickbound_opencl::proof::terms::{FunctionKind, Node, TermId, Terms, VariableKind};

use crate::classes::name_of;
use crate::obligations::SafetyObligation;
use crate::written::WrittenStep;

/// What matters to the fault of an obligation.
pub struct Relevant {
    /// What has to hold.
    pub obligation: SafetyObligation,
    /// What its numbers are called.
    pub kinds: Vec<VariableKind>,
}

/// The shapes of terms, numbered: terms of different readings that are equal but for the numbers
/// of their variables have one shape.
#[derive(Default)]
pub struct Shapes(HashMap<Shape, usize>);

/// What a term is: an operation, its numbers, and the shapes of its parts.
type Shape = (String, Vec<i128>, Vec<usize>);

impl Shapes {
    fn number(&mut self, shape: Shape) -> usize {
        let next = self.0.len();
        *self.0.entry(shape).or_insert(next)
    }

    /// The meaning of an obligation, as numbers: the same for obligations of one meaning; `None`
    /// if it has numbers that follow from iteration to iteration.
    pub fn said(&mut self, terms: &Terms, relevant: &Relevant) -> Option<Vec<usize>> {
        let obligation = &relevant.obligation;
        let all = terms.inside(&obligation.roots());
        let (mut shapes, mut ranks) = (HashMap::new(), HashMap::<String, i128>::new());
        for term in &all {
            let shape = Shapes::shape(terms, *term, &shapes, &mut ranks)?;
            shapes.insert(*term, self.number(shape));
        }
        let one = |term: &TermId| shapes.get(term).copied();
        let list = |terms: &[TermId]| terms.iter().map(one).collect::<Option<Vec<usize>>>();
        let SafetyObligation {
            claim, given, faults, touched, loops, twins, items, written, ..
        } = obligation;
        let mut given = list(given)?;
        given.sort_unstable();
        let mut twins: Vec<usize> = list(&twins.iter().map(|(a, _)| *a).collect::<Vec<_>>())?;
        twins.sort_unstable();
        let loops: Vec<TermId> = loops.iter().flat_map(|l| [l.counter, l.goes_on]).collect();
        let touched: Vec<TermId> = touched.iter().map(|(offset, _)| *offset).collect();
        let items: Vec<TermId> = items.iter().flatten().flatten().copied().collect();
        let written = list(&WrittenStep::terms(written))?;
        let (faults, touched, loops) = (list(faults)?, list(&touched)?, list(&loops)?);
        let parts = [given, faults, touched, loops, twins, list(&items)?, written];
        let outline = WrittenStep::outline(&obligation.written);
        let label = format!("{claim:?}{}{:?}{outline}", obligation.differ, relevant.kinds);
        let bytes = obligation.touched.iter().map(|(_, bytes)| i128::from(*bytes)).collect();
        let label = self.number((label, bytes, Vec::new()));
        let lengths = parts.iter().map(Vec::len);
        Some(std::iter::once(label).chain(lengths).chain(parts.concat()).collect())
    }

    /// The shape of a term whose parts have theirs. Variables of a kind differ by their order.
    fn shape(
        terms: &Terms,
        term: TermId,
        shapes: &HashMap<TermId, usize>,
        ranks: &mut HashMap<String, i128>,
    ) -> Option<Shape> {
        let mut ranked = |label: &str, number: u32| {
            let next = ranks.len() as i128;
            *ranks.entry(format!("{label} {number}")).or_insert(next)
        };
        let node = terms.node(term);
        let mut label = format!("{:?}", std::mem::discriminant(node));
        let mut numbers = Vec::new();
        let parts = terms.parts(term);
        let mut parts: Vec<usize> =
            parts.iter().map(|p| shapes.get(p).copied()).collect::<Option<_>>()?;
        match node {
            Node::Int(value) => numbers.push(*value),
            Node::Variable(index) => {
                let variable = &terms.variables[*index as usize];
                label = format!("{variable:?}");
                if name_of(&variable.kind).is_none() {
                    numbers.push(ranked("variable", *index));
                }
            }
            Node::Apply(function, _) => {
                let known = &terms.functions[*function as usize];
                if matches!(known.kind, FunctionKind::Iterated { .. }) {
                    return None;
                }
                label += &format!("{:?}", known.range);
                numbers.push(ranked("function", *function));
            }
            Node::Sum(sum) => {
                let lengths = sum.iter().map(|(product, factor)| (product.len(), *factor));
                (numbers, parts) = in_order(lengths, &parts);
            }
            Node::Wrap(bits, signed, _) => numbers.extend([i128::from(*bits), (*signed).into()]),
            Node::Bits(op, ..) => label = format!("{op:?}"),
            Node::Least(..) | Node::And(..) | Node::Or(..) => parts.sort_unstable(),
            _ => {}
        }
        Some((label, numbers, parts))
    }
}

/// A sum, by the lengths and factors of its products, with these in the order of their shapes.
fn in_order(
    products: impl Iterator<Item = (usize, i128)>,
    parts: &[usize],
) -> (Vec<i128>, Vec<usize>) {
    let mut rest = parts;
    let mut sorted = Vec::new();
    for (length, factor) in products {
        let (own, behind) = rest.split_at(length);
        rest = behind;
        let mut own = own.to_vec();
        own.sort_unstable();
        sorted.push((own, factor));
    }
    sorted.sort_unstable();
    let numbers = sorted.iter().flat_map(|(own, factor)| [own.len() as i128, *factor]);
    (numbers.collect(), sorted.iter().flat_map(|(own, _)| own.iter().copied()).collect())
}
