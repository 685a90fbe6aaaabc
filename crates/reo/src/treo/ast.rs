//! Treo files as trees, and their variables and values as text.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use itertools::Itertools;

use crate::syntax::Spot;
use crate::syntax::condition::{ClaimValue as RuleValue, Claimed};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// `section a.b;`, or nothing.
    pub section: Vec<String>,
    /// `import a.b.c;`, each with its place.
    pub imports: Vec<(Spot, Vec<String>)>,
    pub definitions: Vec<Arc<Definition>>,
}

/// A component: `name<parameters>(nodes) { body }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub spot: Spot,
    pub name: String,
    pub parameters: Vec<ComponentParameter>,
    pub nodes: Vec<TreoNode>,
    pub body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    Block(TermBlock),
    /// What it does, in one or several forms, which ought to agree.
    Atom(Vec<Meaning>),
}

/// `{ items | predicates }`: the items, once for each choice of values that fulfils the predicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TermBlock {
    pub definitions: Vec<Arc<Definition>>,
    pub items: Vec<BlockItem>,
    /// Conditions on words, all of which hold.
    pub predicates: Vec<(Spot, Predicate)>,
}

/// A part of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockItem {
    /// `component<arguments>(nodes)`.
    Instance(ComponentInstance),
    Block(TermBlock),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentInstance {
    pub component: TreoVariable,
    pub arguments: Vec<TreoValue>,
    pub nodes: Vec<TreoVariable>,
}

/// A parameter: `k:int`, `ileg[1..n](?, !)` or just `P`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentParameter {
    /// Its name, with a range if there are several.
    pub name: TreoVariable,
    pub kind: Option<ParameterKind>,
}

/// What may be given for a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterKind {
    /// A value of a type, such as `int`.
    Type(String),
    Component(Vec<TreoNode>),
}

/// A node of an interface: `a?String`. In the interface of a component parameter the name may lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreoNode {
    /// Its name, with a range if there are several.
    pub name: Option<TreoVariable>,
    pub direction: Option<Direction>,
    /// The type of its data, as written.
    pub ty: Option<String>,
}

/// How data flow at a node of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `?`: into the component.
    In,
    /// `!`: out of it.
    Out,
}

/// A word with indices: `a`, `a[i]`, `a[1..n]`, `a[i][j]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreoVariable {
    pub spot: Spot,
    pub word: String,
    pub indices: Vec<TreoSpan>,
}

/// An element of an index or of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreoSpan {
    One(TreoValue),
    /// `i..j`: all integers between.
    Range(TreoValue, TreoValue),
}

/// A value, or something that has one once its words do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreoValue {
    Integer(i64),
    Text(String),
    Variable(TreoVariable),
    /// A component with arguments: `fifo<3>`.
    Component(TreoVariable, Vec<TreoValue>),
    /// `-a`.
    Negative(Box<TreoValue>),
    /// `a + b` and so on.
    Binary(Operator, Box<TreoValue>, Box<TreoValue>),
    /// `<1..n, x>`.
    List(Vec<TreoSpan>),
}

/// What joins two whole numbers; division is towards zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// `i : list`: the word takes each value of the list in turn.
    In(TreoVariable, TreoValue),
    /// `a = b`, which gives a word a value or tests two; `a != b`, `a < b` and so on test.
    Compare(TermComparison, TreoValue, TreoValue),
    /// `!p`: tests.
    Not(Box<Predicate>),
    /// `p && q`, `true` without any: tests.
    All(Vec<Predicate>),
    /// `p || q`, `false` without any: tests.
    Any(Vec<Predicate>),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermComparison {
    Equal,
    Different,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// What an atom does, in one of its forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// `#RBA`.
    Rules(Rules),
    /// `#WA` and `#SCA`.
    States(States),
    /// `#PR`.
    Primitive(PrimitiveUse),
    /// Code in another language: its name, and the text.
    Foreign(String, String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// `$m = k;`: what is in cells at the start.
    pub initial: Vec<(Spot, String, RuleValue)>,
    pub rules: Vec<TreoRule>,
}

/// `{a, ~b} condition`: one case of the condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreoRule {
    pub spot: Spot,
    /// Nodes that fire (`true`) or not; nothing without braces: then those of the condition fire.
    pub nodes: Option<Vec<(Spot, TreoVariable, bool)>>,
    pub condition: Vec<Claimed>,
}

/// An automaton given by its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct States {
    /// `WA` or `SCA`.
    pub tag: String,
    pub initial: Vec<(Spot, String)>,
    pub steps: Vec<StateStep>,
}

/// `q -> p : {a}, guard, {jobs}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateStep {
    pub spot: Spot,
    pub from: String,
    pub to: String,
    pub nodes: Vec<TreoVariable>,
    /// The guard, if there is one other than `true`.
    pub guard: Option<String>,
    pub jobs: Option<String>,
}

/// `Fifo[1](a; b)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimitiveUse {
    pub spot: Spot,
    pub word: String,
    pub arguments: Vec<TreoValue>,
    /// Nodes before the `;` and behind it.
    pub nodes: Vec<TreoVariable>,
}

impl Operator {
    pub fn sign(self) -> &'static str {
        ["+", "-", "*", "/", "%"][self as usize]
    }
}

impl TermComparison {
    /// All of them, in the order of [`TermComparison::sign`].
    pub const ALL: [TermComparison; 6] = {
        use TermComparison::{Different, Equal, Greater, GreaterEqual, Less, LessEqual};
        [Equal, Different, Less, LessEqual, Greater, GreaterEqual]
    };

    pub fn sign(self) -> &'static str {
        ["=", "!=", "<", "<=", ">", ">="][self as usize]
    }
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).join(", ")
}

impl Display for TreoVariable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        self.indices.iter().try_for_each(|index| write!(f, "[{index}]"))
    }
}

impl Display for TreoValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TreoValue::Integer(k) => write!(f, "{k}"),
            TreoValue::Text(text) => write!(f, "{text:?}"),
            TreoValue::Variable(variable) => write!(f, "{variable}"),
            TreoValue::Component(word, arguments) => write!(f, "{word}<{}>", list(arguments)),
            TreoValue::Negative(value) => write!(f, "-({value})"),
            TreoValue::Binary(operator, left, right) => {
                write_side(f, left, operator.binds())?;
                // `//` begins a comment.
                let gap = if *operator == Operator::Divide { " " } else { "" };
                write!(f, "{gap}{}{gap}", operator.sign())?;
                write_side(f, right, operator.binds() + 1)
            }
            TreoValue::List(items) => write!(f, "<{}>", list(items)),
        }
    }
}

/// A side of an operation, in brackets if it binds looser than `least`.
fn write_side(f: &mut Formatter<'_>, side: &TreoValue, least: u8) -> fmt::Result {
    match side {
        TreoValue::Binary(operator, _, _) if operator.binds() < least => write!(f, "({side})"),
        TreoValue::Integer(k) if *k < 0 => write!(f, "({side})"),
        _ => write!(f, "{side}"),
    }
}

impl Operator {
    fn binds(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 0,
            Operator::Multiply | Operator::Divide | Operator::Remainder => 1,
        }
    }
}

impl Display for TreoSpan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TreoSpan::One(value) => write!(f, "{value}"),
            TreoSpan::Range(from, to) => write!(f, "{from}..{to}"),
        }
    }
}
