//! Loops whose iterations differ by a comparison with their counter: cut where it changes.
//!
//! `for (i = 0; i < n; i++) if (lid + i * W < m) ...` does the same in all iterations before
//! `ceil((m - lid) / W)`, and the same in all from there on: two loops. What goes in: the steps of
//! any iteration, whose counts and conditions mention it. What comes out: loops that do the same in
//! the same order, whose steps no longer mention it; or nothing, and iterations are [walked one by
//! one](super::unroll). Loops inside whose counts grow with the counter stand beside the one around
//! them, with the [sums](super::sums) of their iterations, if they may be too many to walk.
//!
//! Where a barrier is in the loop, all items of a group have to be in the same piece. In a guarded
//! tile, `if (t * TS + lid < n)`, they change from one piece to the next in a few neighbouring
//! iterations ([`band`]), which are taken out one by one, each item with its own condition.

use std::collections::HashMap;

use super::Reader;
use super::nodes::{
    KernelNode, NodeKind, Nodes, first_mention, has_barrier, mapped, numbers, size,
};
use super::numbering::set_iterations;
use super::questions::MAX_ITERATIONS;
use super::scan::Loop;
use super::sums::{Apart, Over};
use super::symbolic::{Atom, AtomKind, Leaf, Poly, PolyTerms};
use super::unroll::guarded;
use crate::steps::Dependence;

/// Most loops that one is cut into.
const MAX_PIECES: usize = 12;
/// To look for where a loop is cut takes about as long as to walk this number of expressions.
const PIECE_WORK: u64 = 1000;
/// Most steps that they have together: loops inside have been cut already.
const MAX_STEPS: usize = 1 << 14;

struct Cut<'l, 'a> {
    l: &'l Loop<'a>,
    iteration: Leaf,
    /// The iteration as a value.
    atom: Atom,
    /// How many iterations there are.
    whole: &'l Poly,
    /// Whether they may be too many to be walked one by one.
    many: bool,
    /// Pieces that may still be made.
    left: usize,
    /// Steps that these may have.
    steps: usize,
}

impl Cut<'_, '_> {
    /// One more piece of these steps, if there may be one.
    fn takes(&mut self, nodes: &[KernelNode]) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        self.steps = self.steps.checked_sub(size(nodes))?;
        Some(())
    }
}

/// Where a part of the steps changes its value.
struct Edge {
    part: Atom,
    /// The first iteration in which it has its second value.
    at: Poly,
    before: Poly,
    /// The value in that iteration alone, if it differs from those on both sides.
    there: Option<Poly>,
    after: Poly,
}

/// What stands between the steps and a loop of equal iterations.
enum Found {
    /// Nothing mentions the iteration.
    Nothing,
    Edge(Edge),
    /// The iteration itself, in a sum or a product.
    Growing,
    /// Something that is not cut.
    Other,
}

impl<'a> Reader<'a> {
    /// The loop, cut; `None` if that does not do.
    pub fn split(
        &mut self,
        l: &Loop<'a>,
        nodes: &[KernelNode],
        iteration: Leaf,
        count: &Poly,
    ) -> Option<Nodes> {
        let atom = self.terms.atom_of(iteration)?;
        let many = self.terms.interval(count).greatest > MAX_ITERATIONS.into();
        let end = self.terms.max(count, &Poly::int(0));
        let (left, steps) = (MAX_PIECES, MAX_STEPS);
        let mut cut = Cut { l, iteration, atom, whole: &end, many, left, steps };
        let pieces = self.pieces(&mut cut, nodes, (&Poly::int(0), &end))?;
        if let Some((by, branch)) = first_mention(&self.terms, nodes, iteration) {
            self.cuts.insert(l.at.clone(), (by.clone(), branch));
        }
        Some(pieces)
    }

    /// The iterations from one to before another.
    fn pieces(
        &mut self,
        cut: &mut Cut<'_, 'a>,
        nodes: &[KernelNode],
        (from, to): (&Poly, &Poly),
    ) -> Option<Nodes> {
        self.work += PIECE_WORK;
        let length = self.terms.sub(to, from);
        if length.constant().is_some_and(|n| n <= 0) {
            return Some(Vec::new());
        }
        let facts = self.terms.facts();
        let iteration = Poly::atom(cut.atom);
        for (a, b) in [(&iteration, to), (from, &self.terms.add(&iteration, &Poly::int(1)))] {
            let inside = self.terms.less(a, b);
            self.terms.assume(&inside);
        }
        let found = first_edge(&mut self.terms, &numbers(nodes), cut);
        let apart = match found {
            Found::Growing if cut.many => {
                let over = Over { atom: cut.atom, iteration: cut.iteration, from, to };
                over.apart(&mut self.terms, nodes)
            }
            _ => None,
        };
        self.terms.forget(facts);
        match found {
            Found::Nothing => {
                cut.takes(nodes)?;
                Some(self.piece(cut, nodes, from, length))
            }
            Found::Edge(edge) => self.at_edge(cut, nodes, (from, to), &edge),
            Found::Growing => {
                let Apart { alike, summed } = apart?;
                cut.takes(nodes)?;
                let mut pieces = self.piece(cut, &alike, from, length);
                pieces.extend(summed);
                Some(pieces)
            }
            Found::Other => None,
        }
    }

    /// What lies before an edge, at it, and after it.
    fn at_edge(
        &mut self,
        cut: &mut Cut<'_, 'a>,
        nodes: &[KernelNode],
        (from, to): (&Poly, &Poly),
        edge: &Edge,
    ) -> Option<Nodes> {
        // Items of a group meet at a barrier in the same iteration of the same loop.
        let apart = has_barrier(nodes) && self.terms.depends(&edge.at) != Dependence::Uniform;
        let band = if apart { Some(band(&mut self.terms, &edge.at)?) } else { None };
        let mut with = |value: &Poly| {
            let by = HashMap::from([(edge.part, value.clone())]);
            mapped(nodes, &mut |poly| self.terms.substitute(poly, &by))
        };
        let (before, there, after) =
            (with(&edge.before), edge.there.as_ref().map(&mut with), with(&edge.after));
        if before == after && there.as_ref().is_none_or(|there| *there == before) {
            return self.pieces(cut, &before, (from, to));
        }
        let clamp = |terms: &mut PolyTerms, value: &Poly| {
            let raised = terms.max(value, from);
            terms.min(&raised, to)
        };
        if let Some(band) = band {
            // Where the part is true in one iteration alone, that one belongs to the band.
            let one = i64::from(there.is_some());
            let end = self.terms.add(&band.last, &Poly::int(one));
            let (first, last) = (clamp(&mut self.terms, &band.first), clamp(&mut self.terms, &end));
            let mut pieces = self.pieces(cut, &before, (from, &first))?;
            pieces.extend(self.in_band(cut, nodes, (&first, &last), band.most + one)?);
            pieces.extend(self.pieces(cut, &after, (&last, to))?);
            return Some(pieces);
        }
        let middle = clamp(&mut self.terms, &edge.at);
        let mut pieces = self.pieces(cut, &before, (from, &middle))?;
        let mut rest = middle;
        if let Some(there) = there {
            let next = self.terms.add(&edge.at, &Poly::int(1));
            let next = clamp(&mut self.terms, &next);
            pieces.extend(self.pieces(cut, &there, (&rest, &next))?);
            rest = next;
        }
        pieces.extend(self.pieces(cut, &after, (&rest, to))?);
        Some(pieces)
    }

    /// The iterations in which items differ, at most `most`, each with its own conditions.
    fn in_band(
        &mut self,
        cut: &mut Cut<'_, 'a>,
        nodes: &[KernelNode],
        (first, end): (&Poly, &Poly),
        most: i64,
    ) -> Option<Nodes> {
        let mut pieces = Vec::new();
        for k in 0..most {
            let at = self.terms.add(first, &Poly::int(k));
            let condition = self.terms.less(&at, end);
            if condition.constant() == Some(0) {
                break;
            }
            cut.takes(nodes)?;
            let facts = self.terms.facts();
            self.terms.assume(&condition);
            let by = HashMap::from([(cut.atom, at)]);
            let body = mapped(nodes, &mut |poly| self.terms.substitute(poly, &by));
            self.terms.forget(facts);
            pieces.extend(guarded(cut.l, condition, body));
        }
        Some(pieces)
    }

    /// A loop of `count` equal iterations.
    fn piece(
        &mut self,
        cut: &Cut<'_, 'a>,
        nodes: &[KernelNode],
        from: &Poly,
        count: Poly,
    ) -> Nodes {
        if count == Poly::int(1) {
            let by = HashMap::from([(cut.atom, from.clone())]);
            return mapped(nodes, &mut |poly| self.terms.substitute(poly, &by));
        }
        let mut body = nodes.to_vec();
        if body.is_empty() {
            return body;
        }
        set_iterations(&self.formulas, &mut self.terms, &mut body, cut.iteration);
        let whole = (count != *cut.whole).then(|| cut.whole.clone());
        vec![KernelNode { kind: NodeKind::Repeat { count, whole, body }, at: cut.l.at.clone() }]
    }
}

fn edge_of(terms: &mut PolyTerms, poly: &Poly, cut: &Cut<'_, '_>) -> Found {
    let mut growing = false;
    for atom in poly.atoms() {
        if !terms.mentions(&Poly::atom(atom), cut.iteration) {
            continue;
        }
        if atom == cut.atom || terms.sums.contains_key(poly) {
            growing = true;
            continue;
        }
        return match terms.kind(atom).clone() {
            AtomKind::Negative(p) => {
                sign_change(terms, atom, &p, (Poly::int(1), Poly::int(0)), cut)
            }
            AtomKind::Zero(p) => zero_edge(terms, atom, &p, cut),
            AtomKind::And(a, b) | AtomKind::Or(a, b) => first_edge(terms, &[&a, &b], cut),
            AtomKind::Choice(c, a, b) => first_edge(terms, &[&c, &a, &b], cut),
            // The sign of their difference distinguishes two.
            AtomKind::Min(a, b) => {
                let difference = terms.sub(&a, &b);
                sign_change(terms, atom, &difference, (a, b), cut)
            }
            AtomKind::Max(a, b) => {
                let difference = terms.sub(&a, &b);
                sign_change(terms, atom, &difference, (b, a), cut)
            }
            _ => Found::Other,
        };
    }
    if growing { Found::Growing } else { Found::Nothing }
}

/// The first part that changes; the iteration itself only if nothing does.
fn first_edge(terms: &mut PolyTerms, parts: &[&Poly], cut: &Cut<'_, '_>) -> Found {
    let mut growing = false;
    for part in parts {
        match edge_of(terms, part, cut) {
            Found::Nothing => {}
            Found::Growing => growing = true,
            found => return found,
        }
    }
    if growing { Found::Growing } else { Found::Nothing }
}

/// A part that is `below` as long as the polynomial is less than zero, then, or before, another.
fn sign_change(
    terms: &mut PolyTerms,
    part: Atom,
    poly: &Poly,
    (below, other): (Poly, Poly),
    cut: &Cut<'_, '_>,
) -> Found {
    if terms.negative_always(poly) || terms.never_negative(poly) {
        let value = if terms.negative_always(poly) { below } else { other };
        return Found::Edge(Edge {
            part,
            at: Poly::int(0),
            before: value.clone(),
            there: None,
            after: value,
        });
    }
    let Some((step, start)) = terms.linear(poly, cut.atom) else {
        return inner_edge(terms, poly, cut);
    };
    let down = terms.neg(&step);
    if terms.interval(&step).least >= 1 {
        // start + step r < 0 before r = ceil(-start / step)
        let distance = terms.neg(&start);
        let at = terms.ceil_quotient(&distance, &step);
        return Found::Edge(Edge { part, at, before: below, there: None, after: other });
    }
    if terms.interval(&down).least >= 1 {
        // start - down r < 0 from r = floor(start / down) + 1 on
        let last = terms.quotient(&start, &down);
        let at = terms.add(&last, &Poly::int(1));
        return Found::Edge(Edge { part, at, before: other, there: None, after: below });
    }
    Found::Other
}

/// A part that is true where the polynomial is zero, which is in one iteration.
fn zero_edge(terms: &mut PolyTerms, part: Atom, poly: &Poly, cut: &Cut<'_, '_>) -> Found {
    let Some((step, start)) = terms.linear(poly, cut.atom) else {
        return inner_edge(terms, poly, cut);
    };
    let Some(step) = step.constant().filter(|step| *step != 0) else { return Found::Other };
    let (sign, size) = (step.signum(), step.unsigned_abs());
    let Ok(size) = i64::try_from(size) else { return Found::Other };
    // start + step r = 0 at most in r = -start / step
    let distance = terms.mul(&start, &Poly::int(-sign));
    let at = terms.quotient(&distance, &Poly::int(size));
    let rest = terms.remainder(&distance, &Poly::int(size));
    let there = terms.zero(&rest);
    Found::Edge(Edge { part, at, before: Poly::int(0), there: Some(there), after: Poly::int(0) })
}

/// Where the polynomial is not linear in the iteration, what inside it may be cut first.
fn inner_edge(terms: &mut PolyTerms, poly: &Poly, cut: &Cut<'_, '_>) -> Found {
    let plain = poly.atoms().any(|atom| atom == cut.atom);
    if plain && poly.linear_in(cut.atom).is_none() {
        return Found::Other;
    }
    let others: Vec<Poly> = poly.atoms().filter(|a| *a != cut.atom).map(Poly::atom).collect();
    first_edge(terms, &others.iter().collect::<Vec<_>>(), cut)
}

/// Farthest that the items of a group may be apart.
const FARTHEST: i128 = 8;

/// Between which numbers the items of a group are.
pub struct Band {
    /// The least.
    pub first: Poly,
    /// The greatest.
    pub last: Poly,
    /// How far the greatest is above the least at most.
    pub most: i64,
}

pub fn band(terms: &mut PolyTerms, number: &Poly) -> Option<Band> {
    let differs = |terms: &PolyTerms, poly: &Poly| terms.depends(poly) != Dependence::Uniform;
    let mut parts = number.distinct_atoms();
    parts.retain(|atom| differs(terms, &Poly::atom(*atom)));
    // A quotient that is all that differs, or a plain sum.
    let (numerator, divisor, falls) = match parts.as_slice() {
        [one] => match terms.kind(*one).clone() {
            AtomKind::Quotient(a, d) => {
                let (factor, _) = number.linear_in(*one)?;
                let sign = factor.constant().filter(|f| f.abs() == 1)?;
                (a, d, sign < 0)
            }
            _ => (number.clone(), Poly::int(1), false),
        },
        _ => (number.clone(), Poly::int(1), false),
    };
    if differs(terms, &divisor) || terms.interval(&divisor).least < 1 {
        return None;
    }
    let (low, high) = ends(terms, &numerator)?;
    let value = |terms: &mut PolyTerms, by: &HashMap<Atom, Poly>| terms.substitute(number, by);
    let (first, last) = match falls {
        true => (value(terms, &high), value(terms, &low)),
        false => (value(terms, &low), value(terms, &high)),
    };
    // floor(a / d) - floor(b / d) is at most ceil((a - b) / d).
    let (a, b) = (terms.substitute(&numerator, &high), terms.substitute(&numerator, &low));
    let apart = terms.sub(&a, &b);
    let steps = terms.ceil_quotient(&apart, &divisor);
    let most = terms.interval(&steps).greatest;
    let uniform = !differs(terms, &first) && !differs(terms, &last);
    let most = i64::try_from(most).ok().filter(|n| i128::from(*n) <= FARTHEST && uniform)?;
    Some(Band { first, last, most: most.max(0) })
}

/// Local ids for which a sum is least in a group, and for which it is greatest.
fn ends(terms: &PolyTerms, sum: &Poly) -> Option<(HashMap<Atom, Poly>, HashMap<Atom, Poly>)> {
    let (mut low, mut high) = (HashMap::new(), HashMap::new());
    for id in
        sum.distinct_atoms().into_iter().filter(|id| terms.info(*id).depends != Dependence::Uniform)
    {
        let AtomKind::Name(name) = terms.kind(id) else { return None };
        // A local id has one bound: the size of its group, less one.
        let greatest = terms.info(id).uppers.first().filter(|_| name.starts_with("$lid_"))?;
        let (factor, _) = sum.linear_in(id)?;
        let falling = factor.scale(-1)?;
        let (zero, greatest) = (Poly::int(0), greatest.clone());
        let (least, most) = match (terms.never_negative(&factor), terms.never_negative(&falling)) {
            (true, _) => (zero, greatest),
            (_, true) => (greatest, zero),
            _ => return None,
        };
        low.insert(id, least);
        high.insert(id, most);
    }
    Some((low, high))
}
