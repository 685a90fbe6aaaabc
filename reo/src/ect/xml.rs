//! XML as the Eclipse Modeling Framework writes it: elements and attributes. Text between elements, comments, and
//! instructions are passed over; a document type is refused, as nothing here is looked up or expanded.

use std::collections::HashMap;

use super::fault::{EctError, EctFault};
use crate::syntax::{Fault, MAX_NESTING, MAX_TEXT, Source, Spot};

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub spot: Spot,
    /// Its name, with the prefix.
    name: String,
    /// Attributes with their prefixes.
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

impl Element {
    /// The value of an attribute without a prefix.
    pub fn value(&self, attribute: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == attribute).map(|(_, value)| value.as_str())
    }

    /// The elements in it of this name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.children.iter().filter(move |child| local(&child.name) == name)
    }

    /// What its `xsi:type` or `xmi:type` says.
    fn class(&self) -> Option<&str> {
        let class = |name: &str| name == "xsi:type" || name == "xmi:type";
        self.attributes.iter().find(|(name, _)| class(name)).map(|(_, value)| value.as_str())
    }

    /// Its type without the prefix.
    pub fn kind(&self) -> &str {
        local(self.class().unwrap_or(&self.name))
    }

    /// The prefix of its type.
    pub fn type_prefix(&self) -> Option<&str> {
        Some(self.class()?.split_once(':')?.0)
    }
}

/// The module, or all that stands in an `xmi:XMI` element.
pub(super) fn read(source: &Source) -> Result<Vec<Element>, EctError> {
    if source.text.len() > MAX_TEXT {
        let long = Fault::Long("text", source.text.len(), MAX_TEXT);
        return Err(source.fault(Spot(0), EctFault::Xml(long.to_string())));
    }
    let mut reader = Reader { source, at: 0 };
    // Elements that have begun; the first one stands for the text.
    let mut open = vec![Element::default()];
    while let Some(tag) = reader.tag()? {
        match tag {
            Tag::Begin(element, ended) => {
                open.push(element);
                if open.len() > MAX_NESTING {
                    return Err(reader.wrong(&Fault::Deep.to_string()));
                }
                if ended {
                    close(&mut open);
                }
            }
            Tag::End(name) => {
                if open.len() < 2 || open.last().is_none_or(|element| element.name != name) {
                    return Err(reader.wrong("an end tag of an element that has not begun"));
                }
                close(&mut open);
            }
        }
    }
    if open.len() > 1 {
        return Err(reader.wrong("the end of the text where an element should end"));
    }
    let mut all = open.pop().map(|text| text.children).unwrap_or_default();
    match &mut all[..] {
        [one] if local(&one.name) == "XMI" => Ok(std::mem::take(&mut one.children)),
        [_] => Ok(all),
        _ => Err(reader.wrong("several elements, or none, where one should stand")),
    }
}

fn close(open: &mut Vec<Element>) {
    if let Some(element) = open.pop()
        && let Some(around) = open.last_mut()
    {
        around.children.push(element);
    }
}

/// The elements with an `xmi:id`, by their places.
pub(super) fn identified(roots: &[Element]) -> HashMap<&str, Spot> {
    let mut known = HashMap::new();
    let mut open: Vec<&Element> = roots.iter().collect();
    while let Some(element) = open.pop() {
        let id = element.attributes.iter().find(|(name, _)| name == "xmi:id");
        known.extend(id.map(|(_, id)| (id.as_str(), element.spot)));
        open.extend(&element.children);
    }
    known
}

/// The element that a reference means: an `xmi:id`, or a path from a root such as `//@connectors.0/@nodes.2`.
pub(super) fn resolved(
    roots: &[Element],
    known: &HashMap<&str, Spot>,
    reference: &str,
) -> Option<Spot> {
    let reference = reference.trim();
    let fragment = reference.rsplit('#').next().unwrap_or(reference);
    let Some(path) = fragment.strip_prefix('/') else { return known.get(fragment).copied() };
    let mut steps = path.split('/');
    let root = match steps.next()? {
        "" => 0,
        number => number.parse().ok()?,
    };
    let mut element = roots.get(root)?;
    for step in steps {
        let (name, number) = step.strip_prefix('@')?.split_once('.').unwrap_or((&step[1..], "0"));
        element = element.named(name).nth(number.parse().ok()?)?;
    }
    Some(element.spot)
}

enum Tag {
    /// An element begins; whether it ends at once.
    Begin(Element, bool),
    End(String),
}

struct Reader<'a> {
    source: &'a Source,
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> EctError {
        self.source.fault(Spot(self.at), EctFault::Xml(what.to_owned()))
    }

    fn rest(&self) -> &str {
        self.source.text.get(self.at..).unwrap_or_default()
    }

    /// Goes behind the next `end`.
    fn pass(&mut self, end: &str) -> Result<(), EctError> {
        match self.rest().find(end) {
            Some(length) => {
                self.at += length + end.len();
                Ok(())
            }
            None => Err(self.wrong(&format!("the end of the text where `{end}` should stand"))),
        }
    }

    fn spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is = self.rest().starts_with(sign);
        self.at += if is { sign.len() } else { 0 };
        is
    }

    fn need(&mut self, sign: &str) -> Result<(), EctError> {
        if self.eat(sign) {
            Ok(())
        } else {
            Err(self.wrong(&format!("here should stand `{sign}`")))
        }
    }

    fn name(&mut self) -> Result<String, EctError> {
        let sign = |c: char| c.is_whitespace() || "<>=/\"'&".contains(c);
        let length = self.rest().find(sign).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.wrong("here should stand a name"));
        }
        let name = self.rest()[..length].to_owned();
        self.at += length;
        Ok(name)
    }

    /// The next tag, if there is one.
    fn tag(&mut self) -> Result<Option<Tag>, EctError> {
        loop {
            let Some(length) = self.rest().find('<') else {
                self.at = self.source.text.len();
                return Ok(None);
            };
            self.at += length;
            if self.rest().starts_with("<!--") {
                self.pass("-->")?;
            } else if self.rest().starts_with("<?") {
                self.pass("?>")?;
            } else if self.rest().starts_with("<![CDATA[") {
                self.pass("]]>")?;
            } else if self.rest().starts_with("<!") {
                return Err(self.wrong("a document type is not read; leave it out"));
            } else {
                break;
            }
        }
        let spot = Spot(self.at);
        self.need("<")?;
        if self.eat("/") {
            let name = self.name()?;
            self.spaces();
            return self.need(">").map(|()| Some(Tag::End(name)));
        }
        let mut element = Element { spot, name: self.name()?, ..Element::default() };
        loop {
            self.spaces();
            if self.eat("/>") {
                return Ok(Some(Tag::Begin(element, true)));
            }
            if self.eat(">") {
                return Ok(Some(Tag::Begin(element, false)));
            }
            let attribute = self.attribute()?;
            if element.attributes.iter().any(|(name, _)| *name == attribute.0) {
                return Err(self.wrong("an attribute stands here a second time"));
            }
            element.attributes.push(attribute);
        }
    }

    fn attribute(&mut self) -> Result<(String, String), EctError> {
        let name = self.name()?;
        self.spaces();
        self.need("=")?;
        self.spaces();
        let quote = if self.eat("\"") { "\"" } else { "'" };
        if quote == "'" {
            self.need(quote)?;
        }
        let Some(length) = self.rest().find(quote) else {
            return Err(self.wrong("a value in quotes without an end"));
        };
        let value = self.plain(&self.rest()[..length])?;
        self.at += length + 1;
        Ok((name, value))
    }

    /// A value with its references replaced.
    fn plain(&self, value: &str) -> Result<String, EctError> {
        let mut parts = value.split('&');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once(';').unwrap_or((part, ""));
            let code = |digits: &str, base| {
                u32::from_str_radix(digits, base).ok().and_then(char::from_u32)
            };
            let letter = match name {
                "lt" => Some('<'),
                "gt" => Some('>'),
                "amp" => Some('&'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => match (name.strip_prefix("#x"), name.strip_prefix('#')) {
                    (Some(digits), _) => code(digits, 16),
                    (None, Some(digits)) => code(digits, 10),
                    (None, None) => None,
                },
            };
            out.push(letter.ok_or_else(|| self.wrong("`&` without a letter; write `&amp;`"))?);
            out.push_str(rest);
        }
        Ok(out)
    }
}
