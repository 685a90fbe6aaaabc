//! Treo files as text, laid out in one way. What is printed reads back as the same tree.

use std::fmt::{self, Display, Formatter, Write};

use itertools::Itertools;

use super::ast::{
    BlockItem, Body, ComponentInstance, ComponentParameter, Definition, Direction, File, Index,
    ListItem, Meaning, Operator, ParameterKind, Predicate, Rules, States, TermBlock, TreoNode,
    TreoRule, TreoValue, TreoVariable,
};
use crate::syntax::Spot;
use crate::syntax::condition::{GuardClaim, claims_text};

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).join(", ")
}

impl Display for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.section.is_empty() {
            writeln!(f, "section {};\n", self.section.join("."))?;
        }
        for (_, import) in &self.imports {
            writeln!(f, "import {};", import.join("."))?;
        }
        for (at, definition) in self.definitions.iter().enumerate() {
            let gap = if at > 0 || !self.imports.is_empty() { "\n" } else { "" };
            writeln!(f, "{gap}{definition}")?;
        }
        Ok(())
    }
}

impl Display for Definition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, 0, "")
    }
}

impl Definition {
    /// `sign` behind its name marks a definition in a block.
    fn write(&self, f: &mut Formatter<'_>, depth: usize, sign: &str) -> fmt::Result {
        write!(f, "{}{sign}", self.name)?;
        if !self.parameters.is_empty() {
            write!(f, "<{}>", list(&self.parameters))?;
        }
        write!(f, "({}) ", list(&self.nodes))?;
        match &self.body {
            Body::Block(block) => block.write(f, depth),
            Body::Atom(meanings) => {
                f.write_str("{\n")?;
                meanings.iter().try_for_each(|m| write!(f, "{m}"))?;
                f.write_char('}')
            }
        }
    }
}

impl TermBlock {
    fn write(&self, f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
        let margin = "  ".repeat(depth);
        f.write_str("{\n")?;
        for definition in &self.definitions {
            write!(f, "{margin}  ")?;
            definition.write(f, depth + 1, " =")?;
            f.write_char('\n')?;
        }
        for item in &self.items {
            write!(f, "{margin}  ")?;
            match item {
                BlockItem::Instance(instance) => write!(f, "{instance}")?,
                BlockItem::Block(block) => block.write(f, depth + 1)?,
            }
            f.write_char('\n')?;
        }
        if !self.predicates.is_empty() {
            let predicates: Vec<&Predicate> = self.predicates.iter().map(|(_, p)| p).collect();
            writeln!(f, "{margin}| {}", list(&predicates))?;
        }
        write!(f, "{margin}}}")
    }
}

impl Display for ComponentInstance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.component)?;
        if !self.arguments.is_empty() {
            write!(f, "<{}>", list(&self.arguments))?;
        }
        write!(f, "({})", list(&self.nodes))
    }
}

impl Display for ComponentParameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match &self.kind {
            None => Ok(()),
            Some(ParameterKind::Type(kind)) => write!(f, ":{kind}"),
            Some(ParameterKind::Component(nodes)) => write!(f, "({})", list(nodes)),
        }
    }
}

impl Display for TreoNode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}")?;
        }
        f.write_str(match self.direction {
            Some(Direction::In) => "?",
            Some(Direction::Out) => "!",
            None if self.name.is_none() || self.kind.is_some() => ":",
            None => "",
        })?;
        f.write_str(self.kind.as_deref().unwrap_or_default())
    }
}

impl Display for TreoVariable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        self.indices.iter().try_for_each(|index| match index {
            Index::One(at) => write!(f, "[{at}]"),
            Index::Range(from, to) => write!(f, "[{from}..{to}]"),
        })
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

impl Display for ListItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ListItem::One(value) => write!(f, "{value}"),
            ListItem::Range(from, to) => write!(f, "{from}..{to}"),
        }
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::In(word, value) => write!(f, "{word} : {value}"),
            Predicate::Compare(how, left, right) => write!(f, "{left} {} {right}", how.sign()),
            Predicate::Not(inner) => write!(f, "!({inner})"),
            Predicate::All(all) if all.is_empty() => f.write_str("true"),
            Predicate::Any(all) if all.is_empty() => f.write_str("false"),
            Predicate::All(all) => write!(f, "({})", joined(all, " && ")),
            Predicate::Any(all) => write!(f, "({})", joined(all, " || ")),
        }
    }
}

fn joined(all: &[Predicate], sign: &str) -> String {
    all.iter().join(sign)
}

impl Display for Meaning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Meaning::Rules(rules) => write!(f, "{rules}"),
            Meaning::States(states) => write!(f, "{states}"),
            Meaning::Primitive(p) => {
                let arguments = list(&p.arguments);
                let brackets =
                    if arguments.is_empty() { arguments } else { format!("[{arguments}]") };
                let (inputs, outputs) = (list(&p.inputs), list(&p.outputs));
                writeln!(f, "  #PR\n  {}{brackets}({inputs}; {outputs})", p.word)
            }
            Meaning::Foreign(tag, text) => writeln!(f, "  #{tag} {text}"),
        }
    }
}

impl Display for Rules {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "  #RBA")?;
        for (_, cell, value) in &self.initial {
            let claim = GuardClaim::Equal(
                crate::syntax::condition::ClaimValue::Before(cell.clone()),
                value.clone(),
            );
            writeln!(f, "  {};", claims_text(&[(Spot(0), claim)], true))?;
        }
        self.rules.iter().try_for_each(|rule| writeln!(f, "  {rule}"))
    }
}

impl Display for TreoRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = |fires: bool| if fires { "" } else { "~" };
        let condition = claims_text(&self.condition, true);
        let Some(nodes) = &self.nodes else { return f.write_str(&condition) };
        let nodes = nodes.iter().map(|(_, node, fires)| format!("{}{node}", sign(*fires)));
        write!(f, "{{{}}} {condition}", nodes.format(", "))
    }
}

impl Display for States {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "  #{}", self.tag)?;
        for (_, state) in &self.initial {
            writeln!(f, "  {state} : initial")?;
        }
        for step in &self.steps {
            let nodes = list(&step.nodes);
            let guard = step.guard.as_deref().unwrap_or("true");
            let jobs = step.jobs.as_deref().unwrap_or_default();
            writeln!(f, "  {} -> {} : {{{nodes}}}, {guard}, {{{jobs}}}", step.from, step.to)?;
        }
        Ok(())
    }
}
