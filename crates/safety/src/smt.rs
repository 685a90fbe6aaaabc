//! Questions to Z3 about terms: whole numbers without limits.
//!
//! What has no linear form (operations on bits, contents of memory, numbers that follow from
//! iteration to iteration) is a variable with a range. So the answer that conditions
//! cannot hold together is right, and values for them have to be checked by evaluation.

use std::collections::HashMap;
use std::time::Duration;

use tickbound_opencl::proof::terms::{BitOp, MOST, Node, TermId, Terms, type_range};
use z3::ast::{Bool, Int};
use z3::{Model, Params, SatResult, Solver};

use crate::replay::iterated;

/// What Z3 answers.
pub enum SmtReply {
    /// The conditions cannot hold together.
    Never,
    /// They can, with these values.
    Values(HashMap<TermId, i128>),
    /// It is not known.
    Unknown,
}

/// Conditions on a live solver.
pub struct SmtQuestion<'t> {
    terms: &'t mut Terms,
    solver: Solver,
    numbers: HashMap<TermId, Int>,
    /// Terms whose values a model gives.
    leaves: Vec<TermId>,
    /// Questions asked so far.
    pub asked: usize,
}

fn leaf_name(term: TermId) -> String {
    format!("t{}", term.0)
}

impl<'t> SmtQuestion<'t> {
    /// Whether all these conditions can hold.
    pub fn new(terms: &'t mut Terms, conditions: &[TermId], time: Duration) -> SmtQuestion<'t> {
        let solver = Solver::new();
        let mut params = Params::new();
        // The program's own handler ends it.
        params.set_bool("ctrl_c", false);
        params.set_u32("timeout", u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
        solver.set_params(&params);
        // Without a scope Z3 tries tactics first, which start threads for each question.
        solver.push();
        let mut question =
            SmtQuestion { terms, solver, numbers: HashMap::new(), leaves: Vec::new(), asked: 0 };
        for condition in conditions {
            question.require(*condition);
        }
        question
    }

    /// One more condition.
    pub fn require(&mut self, condition: TermId) {
        let holds = self.truth(condition);
        self.solver.assert(&holds);
    }

    /// Asks.
    pub fn ask(&mut self) -> SmtReply {
        self.asked += 1;
        match self.solver.check() {
            SatResult::Unsat => SmtReply::Never,
            SatResult::Unknown => SmtReply::Unknown,
            SatResult::Sat => match self.solver.get_model().and_then(|m| self.values(&m)) {
                Some(values) => SmtReply::Values(values),
                None => SmtReply::Unknown,
            },
        }
    }

    /// Asks whether a condition can hold, too; keeps it if it can.
    pub fn try_with(&mut self, condition: TermId) -> SmtReply {
        let before = self.leaves.len();
        self.solver.push();
        self.require(condition);
        let reply = self.ask();
        if !matches!(reply, SmtReply::Values(_)) {
            self.solver.pop(1);
            // What was defined inside is gone.
            self.leaves.truncate(before);
            self.numbers.retain(|term, _| self.leaves.contains(term));
        }
        reply
    }

    /// That a variable is at most a number.
    pub fn at_most(&mut self, variable: TermId, number: i128) -> TermId {
        let number = self.terms.int(number);
        let above = self.terms.less(number, variable);
        self.terms.not(above)
    }

    /// The conditions, with the ranges of what is in them.
    pub fn asserted(&self) -> Vec<Bool> {
        self.solver.get_assertions()
    }

    /// What a term's constant is called; it is made if it is not there.
    pub fn constant_name(&mut self, term: TermId) -> String {
        self.number(term);
        leaf_name(term)
    }

    /// What the constants of the conditions are called.
    pub fn leaf_names(&self) -> impl Iterator<Item = String> {
        self.leaves.iter().map(|leaf| leaf_name(*leaf))
    }

    /// Whether it has terms that are no more than a number with bounds.
    pub fn is_loose(&self) -> bool {
        self.leaves.iter().any(|leaf| !matches!(self.terms.node(*leaf), Node::Variable(_)))
    }

    /// Whether the conditions cannot hold where some terms have these values.
    pub fn never_with(&mut self, terms: &[TermId], values: &[i64]) -> bool {
        self.solver.push();
        for (term, value) in terms.iter().zip(values) {
            let number = self.number(*term);
            self.solver.assert(number.eq(Int::from_i64(*value)));
        }
        let reply = self.solver.check();
        self.solver.pop(1);
        reply == SatResult::Unsat
    }

    /// The terms.
    pub fn terms(&self) -> &Terms {
        self.terms
    }

    fn values(&self, model: &Model) -> Option<HashMap<TermId, i128>> {
        let mut values = HashMap::new();
        for leaf in &self.leaves {
            let value = model.eval(self.numbers.get(leaf)?, true)?;
            let value = match value.as_i64() {
                Some(value) => value.into(),
                None => value.to_string().replace(['(', ')', ' '], "").parse().ok()?,
            };
            values.insert(*leaf, value);
        }
        Some(values)
    }

    fn constant(value: i128) -> Int {
        i64::try_from(value).map_or_else(|_| Int::from_i128(value), Int::from_i64)
    }

    /// A variable for a term.
    fn leaf(&mut self, term: TermId) -> Int {
        let number = Int::new_const(leaf_name(term));
        let (low, high) = self.terms.range(term);
        if low > -MOST {
            self.solver.assert(number.ge(Self::constant(low)));
        }
        if high < MOST {
            self.solver.assert(number.le(Self::constant(high)));
        }
        self.leaves.push(term);
        number
    }

    fn number(&mut self, term: TermId) -> Int {
        if let Some(known) = self.numbers.get(&term) {
            return known.clone();
        }
        let node = self.terms.node(term).clone();
        let number = match node {
            Node::Int(value) => Self::constant(value),
            Node::Variable(_) => self.leaf(term),
            Node::Bits(op, a, b) => self.bits(term, op, [a, b]),
            Node::Apply(..) => self.applied(term),
            Node::Sum(sum) => {
                let products = sum.iter().map(|(product, factor)| {
                    let parts = product.iter().map(|part| self.number(*part));
                    let all: Vec<Int> = parts.chain([Self::constant(*factor)]).collect();
                    if all.len() == 1 { all[0].clone() } else { Int::mul(&all) }
                });
                let products: Vec<Int> = products.collect();
                // A sum of one is none for cvc5.
                if products.len() == 1 { products[0].clone() } else { Int::add(&products) }
            }
            Node::Quotient(a, b) => self.quotient(a, b),
            Node::Remainder(a, b) => {
                let (x, y, quotient) = (self.number(a), self.number(b), self.quotient(a, b));
                x - y * quotient
            }
            Node::Least(a, b) => {
                let (a, b) = (self.number(a), self.number(b));
                a.le(&b).ite(&a, &b)
            }
            Node::Choice(c, a, b) => {
                let (c, a, b) = (self.truth(c), self.number(a), self.number(b));
                c.ite(&a, &b)
            }
            Node::Wrap(bits, signed, a) => {
                let low = type_range(bits, signed).0;
                let (low, modulus) = (Self::constant(low), Self::constant(1 << bits));
                let shifted = self.number(a) - &low;
                shifted.modulo(&modulus) + low
            }
            _ => {
                let holds = self.truth(term);
                holds.ite(&Int::from_i64(1), &Int::from_i64(0))
            }
        };
        self.numbers.insert(term, number.clone());
        number
    }

    /// An operation on bits: a number with bounds, where neither operand is negative.
    fn bits(&mut self, term: TermId, op: BitOp, parts: [TermId; 2]) -> Int {
        let number = self.leaf(term);
        if parts.iter().any(|part| self.terms.range(*part).0 < 0) {
            return number;
        }
        let [a, b] = parts.map(|part| self.number(part));
        let bounds = match op {
            BitOp::And => vec![number.le(&a), number.le(&b)],
            BitOp::Right => vec![number.le(&a)],
            BitOp::Or => vec![number.ge(&a), number.ge(&b), number.le(&a + &b)],
            BitOp::Xor => vec![number.le(&a + &b)],
            BitOp::Left => vec![number.ge(&a)],
        };
        bounds.iter().chain([&number.ge(Int::from_i64(0))]).for_each(|b| self.solver.assert(b));
        number
    }

    /// A quotient toward zero: Z3's leaves a remainder that is not negative.
    fn quotient(&mut self, a: TermId, b: TermId) -> Int {
        let (x, y) = (self.number(a), self.number(b));
        if self.terms.range(a).0 >= 0 {
            return x.div(&y);
        }
        let zero = Int::from_i64(0);
        x.ge(&zero).ite(&x.div(&y), &(-((-&x).div(&y))))
    }

    /// A function's result; of one that is computed from iteration to iteration each value.
    fn applied(&mut self, term: TermId) -> Int {
        let number = self.leaf(term);
        let Some((counter, values)) = iterated(self.terms, term) else { return number };
        let counter = self.number(counter);
        let mut whole = number.clone();
        for (i, value) in values.iter().enumerate().rev() {
            let is = counter.eq(Int::from_i64(i as i64));
            whole = is.ite(&Self::constant(*value), &whole);
        }
        self.solver.assert(number.eq(&whole));
        number
    }

    fn truth(&mut self, term: TermId) -> Bool {
        let zero = Int::from_i64(0);
        match *self.terms.node(term) {
            Node::Int(value) => Bool::from_bool(value != 0),
            Node::Negative(a) => self.number(a).lt(&zero),
            Node::Zero(a) => self.number(a).eq(&zero),
            Node::And(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                Bool::and(&[a, b])
            }
            Node::Or(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                Bool::or(&[a, b])
            }
            Node::Not(a) => self.truth(a).not(),
            Node::Choice(c, a, b) => {
                let (c, a, b) = (self.truth(c), self.truth(a), self.truth(b));
                c.ite(&a, &b)
            }
            _ => self.number(term).eq(&zero).not(),
        }
    }
}
