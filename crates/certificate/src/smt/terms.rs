//! Expressions over the parameters as terms of SMT-LIB 2, linear over the integers.
//!
//! A product or a quotient of two things that depend on parameters is taken apart over the values
//! of one of them: `A * B` is `4 * B` where A is 4, `8 * B` where it is 8, and so on. So is a
//! power, over the parameters that it depends on. So any solver for linear arithmetic can read what
//! comes out. It has the value that the expression has; where the expression has none, it has some
//! value, which no valid configuration reaches.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use itertools::Itertools;
use tickbound_expr::{BinaryOp, Expr, Function};

use crate::refusal::Refusal;
use crate::walk::Walk;
use tickbound_timing::obligation::Obligation;

/// Most values over which a product is taken apart.
const MAX_VALUES: usize = 1 << 12;
/// Most bytes of definitions.
const MAX_BYTES: usize = 1 << 25;

/// Terms of one question.
pub struct SmtTerms<'o, 'p> {
    obligation: &'o Obligation<'p>,
    stop: &'o dyn Fn() -> bool,
    /// `define-fun` commands so far.
    definitions: String,
    /// How many.
    count: usize,
    /// What is defined already.
    known: HashMap<Expr, String>,
}

/// A number as SMT-LIB writes it.
pub fn number(n: i128) -> String {
    match n < 0 {
        true => format!("(- {})", n.unsigned_abs()),
        false => n.to_string(),
    }
}

/// `op` of some terms; `none` if there are none, the term itself if there is one.
pub fn of_all(op: &str, terms: &[String], none: &str) -> String {
    match terms {
        [] => none.to_owned(),
        [one] => one.clone(),
        all => format!("({op} {})", all.iter().format(" ")),
    }
}

impl<'o, 'p> SmtTerms<'o, 'p> {
    /// No term yet; `stop` is asked now and then.
    pub fn new(obligation: &'o Obligation<'p>, stop: &'o dyn Fn() -> bool) -> SmtTerms<'o, 'p> {
        let (definitions, known) = (String::new(), HashMap::new());
        SmtTerms { obligation, stop, definitions, count: 0, known }
    }

    /// The definitions that the terms need, and forgets that text.
    pub fn definitions(&mut self) -> String {
        std::mem::take(&mut self.definitions)
    }

    /// The symbol of a parameter, which no word of SMT-LIB and no other term has.
    pub fn parameter(&self, place: usize) -> String {
        format!("p.{}", self.obligation.problem.parameters[place].name)
    }

    /// A name for a term of sort Int, unless it is short.
    pub fn named(&mut self, term: String) -> Result<String, Refusal> {
        if !term.starts_with('(') || term.len() < 12 {
            return Ok(term);
        }
        let name = format!("t{}", self.count);
        self.count += 1;
        let _ = writeln!(self.definitions, "(define-fun {name} () Int {term})");
        match self.definitions.len() > MAX_BYTES {
            true => Err(Refusal::TooLarge("a question of too many bytes")),
            false => Ok(name),
        }
    }

    /// The value of an expression that does not depend on the parameters.
    pub fn constant(&self, e: &Expr) -> Option<i64> {
        let problem = self.obligation.problem;
        let depends = e.mentions(|slot| slot >= problem.first_parameter());
        if depends { None } else { e.eval(&problem.base_env()).ok() }
    }

    /// An expression as a term of sort Int.
    pub fn int(&mut self, e: &Expr) -> Result<String, Refusal> {
        if let Some(known) = self.known.get(e) {
            return Ok(known.clone());
        }
        let term = match self.constant(e) {
            Some(n) => number(i128::from(n)),
            None => self.variable(e)?,
        };
        let name = self.named(term)?;
        self.known.insert(e.clone(), name.clone());
        Ok(name)
    }

    /// An expression that depends on the parameters as a term of sort Int.
    fn variable(&mut self, e: &Expr) -> Result<String, Refusal> {
        Ok(match e {
            Expr::Int(n) => number(i128::from(*n)),
            Expr::Name(slot) => {
                let first = self.obligation.problem.first_parameter();
                let place = slot.checked_sub(first);
                let known = place.filter(|p| *p < self.obligation.problem.parameters.len());
                // Constants were taken out before, and the sum mentions nothing else.
                let unknown = || Refusal::wrong("a name that is no parameter");
                self.parameter(known.ok_or_else(unknown)?)
            }
            Expr::Neg(a) => format!("(- {})", self.int(a)?),
            Expr::Conditional(c, a, b) => {
                format!("(ite {} {} {})", self.truth(c)?, self.int(a)?, self.int(b)?)
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                format!("({} {} {})", op.symbol(), self.int(a)?, self.int(b)?)
            }
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let depends = |e: &Expr| !self.obligation.problem.parameters_of([e]).is_empty();
                // What does not depend on parameters is not compared: the other may have too many
                // choices to be enumerated.
                let (a, b) = match (depends(a), depends(b)) {
                    (false, _) => (a, b),
                    (true, false) => (b, a),
                    _ if self.values(a)?.len() <= self.values(b)?.len() => (a, b),
                    _ => (b, a),
                };
                let other = self.int(b)?;
                self.split(a, &|n| format!("(* {} {other})", number(i128::from(n))))?
            }
            Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv, a, b) => {
                let a = self.int(a)?;
                self.split(b, &|n| quotient(&a, n))?
            }
            Expr::Binary(BinaryOp::Rem, a, b) => {
                let a = self.int(a)?;
                let rest =
                    |n: i64| format!("(- {a} (* {} {}))", number(i128::from(n)), quotient(&a, n));
                self.split(b, &rest)?
            }
            Expr::Binary(BinaryOp::Pow, _, _) => self.tabulated(e)?,
            Expr::Call(function, arguments) => self.call(*function, arguments)?,
            Expr::Not(_) | Expr::Binary(..) => format!("(ite {} 1 0)", self.truth(e)?),
        })
    }

    /// A function of expressions as a term of sort Int.
    fn call(&mut self, function: Function, arguments: &[Expr]) -> Result<String, Refusal> {
        match function {
            Function::CeilDiv => match arguments {
                [a, b] => {
                    let a = self.int(a)?;
                    self.split(b, &|n| format!("(- {})", quotient(&format!("(- {a})"), n)))
                }
                _ => Err(Refusal::wrong("ceil_div of other than two")),
            },
            Function::Min | Function::Max => {
                let op = if function == Function::Min { "<=" } else { ">=" };
                let terms = arguments.iter().map(|a| self.int(a)).collect::<Result<Vec<_>, _>>()?;
                let terms = terms.into_iter().map(Ok);
                let least = terms.reduce(|best, term| {
                    let (best, term) = (best?, term?);
                    self.named(format!("(ite ({op} {best} {term}) {best} {term})"))
                });
                least.ok_or_else(|| Refusal::wrong("the least of nothing"))?
            }
            Function::Abs => {
                let a = arguments.first().ok_or_else(|| Refusal::wrong("abs of nothing"))?;
                let a = self.int(a)?;
                Ok(format!("(ite (>= {a} 0) {a} (- {a}))"))
            }
        }
    }

    /// An expression as a term of sort Bool: whether it is not 0.
    pub fn truth(&mut self, e: &Expr) -> Result<String, Refusal> {
        if let Some(n) = self.constant(e) {
            return Ok((n != 0).to_string());
        }
        Ok(match e {
            Expr::Not(a) => format!("(not {})", self.truth(a)?),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                format!("({} {} {})", op.symbol(), self.truth(a)?, self.truth(b)?)
            }
            Expr::Binary(BinaryOp::Eq, a, b) => format!("(= {} {})", self.int(a)?, self.int(b)?),
            Expr::Binary(BinaryOp::Ne, a, b) => {
                format!("(not (= {} {}))", self.int(a)?, self.int(b)?)
            }
            Expr::Binary(
                op @ (BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge),
                a,
                b,
            ) => format!("({} {} {})", op.symbol(), self.int(a)?, self.int(b)?),
            _ => format!("(not (= {} 0))", self.int(e)?),
        })
    }

    /// The greater of an expression and 0, times a term.
    pub fn times(&mut self, e: &Expr, term: &str) -> Result<String, Refusal> {
        let product = self.split(e, &|n| match n.max(0) {
            0 => "0".to_owned(),
            1 => term.to_owned(),
            n => format!("(* {n} {term})"),
        })?;
        self.named(product)
    }

    /// What `of` makes of an expression's value.
    fn split(&mut self, e: &Expr, of: &dyn Fn(i64) -> String) -> Result<String, Refusal> {
        let values = self.values(e)?;
        let mut values = values.into_iter().rev().peekable();
        // Without a value in any choice, no valid configuration comes here.
        let Some(last) = values.next() else { return Ok("0".to_owned()) };
        let mut term = of(last);
        if values.peek().is_none() {
            return Ok(term);
        }
        let own = self.int(e)?;
        for n in values {
            term = format!("(ite (= {own} {}) {} {term})", number(i128::from(n)), of(n));
        }
        Ok(term)
    }

    /// The values of an expression over the choices of its parameters that no condition excludes.
    fn values(&self, e: &Expr) -> Result<BTreeSet<i64>, Refusal> {
        let mut values = BTreeSet::new();
        let over = self.obligation.problem.parameters_of([e]);
        Walk::new(self.obligation, &over, self.stop).all(&mut |env, _| {
            values.extend(e.eval(env).ok());
            match values.len() > MAX_VALUES {
                true => Err(Refusal::TooLarge("a factor of too many values")),
                false => Ok(()),
            }
        })?;
        Ok(values)
    }

    /// An expression by its values over its parameters.
    fn tabulated(&self, e: &Expr) -> Result<String, Refusal> {
        let over = self.obligation.problem.parameters_of([e]);
        let mut choices: HashMap<i64, Vec<String>> = HashMap::new();
        self.walk(&over, &mut |env, choice| {
            if let Ok(value) = e.eval(env) {
                choices.entry(value).or_default().push(choice);
            }
        })?;
        let mut rows = choices.into_iter().sorted();
        let Some((last, _)) = rows.next() else { return Ok("0".to_owned()) };
        Ok(rows.fold(number(i128::from(last)), |rest, (n, choices)| {
            let choice = of_all("or", &choices, "false");
            format!("(ite {choice} {} {rest})", number(i128::from(n)))
        }))
    }

    /// Calls `each` for every choice of some parameters, with the choice as a term.
    pub fn walk(
        &self,
        over: &[usize],
        each: &mut dyn FnMut(&[i64], String),
    ) -> Result<(), Refusal> {
        let first = self.obligation.problem.first_parameter();
        let mut count = 0;
        Walk::new(self.obligation, over, self.stop).all(&mut |env, _| {
            count += 1;
            let equal = |p: &usize| {
                let value = number(i128::from(env[first + p]));
                format!("(= {} {value})", self.parameter(*p))
            };
            each(env, of_all("and", &over.iter().map(equal).collect_vec(), "true"));
            match count > MAX_VALUES {
                true => Err(Refusal::TooLarge("a table of too many rows")),
                false => Ok(()),
            }
        })
    }
}

/// A term divided by a number, rounded down; `div` of SMT-LIB rounds down only where the divisor is
/// above 0.
fn quotient(a: &str, n: i64) -> String {
    match n {
        0 => "0".to_owned(),
        1 => a.to_owned(),
        n if n > 0 => format!("(div {a} {n})"),
        n => format!("(div (- {a}) {})", n.unsigned_abs()),
    }
}
