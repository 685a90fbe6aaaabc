//! Evaluation: a counterexample is shown only if its values show the fault.

use std::collections::HashMap;

use tickbound_opencl::proof::bits_of;
use tickbound_opencl::proof::terms::{FunctionKind, Node, TermId, Terms, VariableKind, type_range};

use crate::intervals::Begun;

/// Most iterations that are replayed.
const MAX_ITERATIONS: i128 = 1 << 16;
/// Most values of a number that follows from iteration to iteration.
const MAX_VALUES: usize = 70;

/// Values of variables, and of what memory holds.
pub struct ValueReplay<'t> {
    terms: &'t Terms,
    values: &'t HashMap<TermId, i128>,
    /// What arrays hold at a byte: function, place and number.
    pub contents: HashMap<(u32, i128), i128>,
    /// Whether some value may be none that the kernel can compute.
    pub guessed: bool,
}

impl<'t> ValueReplay<'t> {
    /// A replay with these values of variables and of functions.
    pub fn new(terms: &'t Terms, values: &'t HashMap<TermId, i128>) -> ValueReplay<'t> {
        ValueReplay { terms, values, contents: HashMap::new(), guessed: false }
    }

    /// The value of a term; `None` if it has none, or memory would have to hold two numbers.
    pub fn value(&mut self, term: TermId) -> Option<i128> {
        self.value_with(term, &mut HashMap::new())
    }

    fn value_with(&mut self, term: TermId, own: &mut HashMap<TermId, i128>) -> Option<i128> {
        if let Some(value) = own.get(&term) {
            return Some(*value);
        }
        let terms = self.terms;
        if let Node::Variable(index) = terms.node(term) {
            return self.variable(term, *index);
        }
        let mut value = |part: TermId| self.value_with(part, own);
        let found = match terms.node(term) {
            Node::Int(value) => *value,
            Node::Variable(_) => return None,
            Node::Sum(sum) => {
                let mut all = 0_i128;
                for (product, factor) in sum {
                    let mut whole = *factor;
                    for part in product {
                        whole = whole.checked_mul(value(*part)?)?;
                    }
                    all = all.checked_add(whole)?;
                }
                all
            }
            Node::Quotient(a, b) => value(*a)?.checked_div(value(*b)?)?,
            Node::Remainder(a, b) => value(*a)?.checked_rem(value(*b)?)?,
            Node::Least(a, b) => value(*a)?.min(value(*b)?),
            Node::Negative(a) => i128::from(value(*a)? < 0),
            Node::Zero(a) => i128::from(value(*a)? == 0),
            Node::And(a, b) => i128::from(value(*a)? != 0 && value(*b)? != 0),
            Node::Or(a, b) => i128::from(value(*a)? != 0 || value(*b)? != 0),
            Node::Not(a) => i128::from(value(*a)? == 0),
            Node::Choice(c, a, b) => {
                let side = if value(*c)? != 0 { *a } else { *b };
                value(side)?
            }
            Node::Wrap(bits, signed, a) => {
                let low = type_range(*bits, *signed).0;
                (value(*a)? - low).rem_euclid(1 << bits) + low
            }
            Node::Bits(op, a, b) => bits_of(*op, value(*a)?, value(*b)?)?,
            Node::Apply(function, parts) => {
                let parts = parts.iter().map(|part| value(*part)).collect::<Option<Vec<_>>>()?;
                self.applied(term, *function, &parts)?
            }
        };
        own.insert(term, found);
        Some(found)
    }

    fn variable(&mut self, term: TermId, index: u32) -> Option<i128> {
        let variable = &self.terms.variables[index as usize];
        let value = self.values.get(&term).copied();
        // What no condition names may be anything.
        let value = value.unwrap_or(variable.range.0.max(0));
        self.guessed |= variable.kind == VariableKind::Unknown;
        (variable.range.0 <= value && value <= variable.range.1).then_some(value)
    }

    fn applied(&mut self, term: TermId, function: u32, parts: &[i128]) -> Option<i128> {
        let known = self.values.get(&term).copied();
        let TermRangeOf { kind, range } = self.function(function);
        match kind {
            FunctionKind::Content(_) => {
                let value = known.unwrap_or(range.0.max(0));
                let place = (function, *parts.first()?);
                (*self.contents.entry(place).or_insert(value) == value).then_some(value)
            }
            FunctionKind::Iterated { .. } => {
                iterate(self.terms, function, parts, MAX_ITERATIONS)?.last().copied()
            }
            FunctionKind::Some => {
                self.guessed = true;
                Some(known.unwrap_or(range.0.max(0)))
            }
        }
    }

    fn function(&self, function: u32) -> TermRangeOf<'t> {
        let function = &self.terms.functions[function as usize];
        TermRangeOf { kind: &function.kind, range: function.range }
    }

    /// Whether loops reach the iterations that their counters say.
    pub fn reaches(&mut self, loops: &[Begun]) -> Option<bool> {
        for l in loops {
            let last = self.value(l.counter)?;
            if self.terms.constant(l.goes_on) == Some(1) {
                continue;
            }
            if !(0..=MAX_ITERATIONS).contains(&last) {
                return None;
            }
            let Node::Variable(_) = self.terms.node(l.counter) else {
                // Moved to the iteration before; the other item is in the one after it.
                continue;
            };
            for before in 0..last {
                let mut own = HashMap::from([(l.counter, before)]);
                if self.value_with(l.goes_on, &mut own)? == 0 {
                    return Some(false);
                }
            }
        }
        Some(true)
    }
}

struct TermRangeOf<'t> {
    kind: &'t FunctionKind,
    range: (i128, i128),
}

/// The values of a variable of a loop, from the first one to that of an iteration, at most `most`;
/// `None` if data decide them, or the function is of another kind.
pub fn iterate(terms: &Terms, function: u32, parts: &[i128], most: i128) -> Option<Vec<i128>> {
    let FunctionKind::Iterated { start, next, place, leaves } =
        &terms.functions.get(function as usize)?.kind
    else {
        return None;
    };
    let (count, rest) = parts.split_first()?;
    if !(0..=most).contains(count) {
        return None;
    }
    let variable = |index: &u32| terms.known(&Node::Variable(*index));
    let mut values = HashMap::new();
    for (leaf, value) in leaves.iter().zip(rest) {
        values.insert(variable(leaf)?, *value);
    }
    let before: Vec<TermId> = start.iter().map(|(v, _)| variable(v)).collect::<Option<_>>()?;
    let first = |(_, term): &(u32, TermId)| ValueReplay::new(terms, &values).value(*term);
    let mut now: Vec<i128> = start.iter().map(first).collect::<Option<_>>()?;
    let mut all = vec![now[*place]];
    for _ in 0..*count {
        let mut known = values.clone();
        known.extend(before.iter().copied().zip(now.iter().copied()));
        let step = |term: &TermId| {
            let mut replay = ValueReplay::new(terms, &known);
            // A content of memory is none that can be computed here.
            replay.value(*term).filter(|_| replay.contents.is_empty())
        };
        now = next.iter().map(step).collect::<Option<_>>()?;
        all.push(now[*place]);
    }
    Some(all)
}

/// For a function whose arguments are numbers but the first one, which counts iterations: that
/// one, and the first values.
pub fn iterated(terms: &Terms, term: TermId) -> Option<(TermId, Vec<i128>)> {
    let Node::Apply(function, parts) = terms.node(term) else { return None };
    let (counter, rest) = parts.split_first()?;
    let rest: Vec<i128> = rest.iter().map(|part| terms.constant(*part)).collect::<Option<_>>()?;
    let mut best = None;
    let mut count = 0;
    // As many as can be computed.
    while count < MAX_VALUES as i128 {
        let parts: Vec<i128> = std::iter::once(count).chain(rest.iter().copied()).collect();
        match iterate(terms, *function, &parts, MAX_VALUES as i128) {
            Some(values) => best = Some(values),
            None => break,
        }
        count = if count == 0 { 8 } else { count * 2 };
    }
    best.map(|values| (*counter, values))
}
