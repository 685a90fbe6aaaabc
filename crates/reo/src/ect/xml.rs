//! XML as the Eclipse Modeling Framework writes it, by `roxmltree`; document types are refused.

use std::collections::HashMap;

use roxmltree::{Document, Node};
use thiserror::Error;
use tickbound_input::message::{excerpt, one_line, printable};

use crate::cat::CatFault;
use crate::catalog::CatalogError;
use crate::syntax::{CLOCKS, MAX_NESTING, MAX_TEXT, Source, Spot, SyntaxFault, WithPlace};

/// Most elements that a message lists.
const MAX_LISTED: usize = 40;

#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a>(Node<'a, 'a>);

/// What is made of a text, or what is wrong with which element.
pub(super) type Made<'a, T> = Result<T, (Element<'a>, EctFault)>;

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

impl<'a> Element<'a> {
    pub fn spot(self) -> Spot {
        Spot(self.0.range().start)
    }

    /// The value of an attribute without a prefix.
    pub fn value(self, attribute: &str) -> Option<&'a str> {
        self.attribute(attribute, false)
    }

    fn attribute(self, name: &str, has_namespace: bool) -> Option<&'a str> {
        let mut named = self.0.attributes().filter(|a| a.name() == name);
        named.find(|a| a.namespace().is_some() == has_namespace).map(|a| a.value())
    }

    /// The value of an attribute with some prefix, such as `xsi:type` or `xmi:id`.
    fn prefixed(self, attribute: &str) -> Option<&'a str> {
        self.attribute(attribute, true)
    }

    pub fn text(self) -> &'a str {
        self.0.text().unwrap_or_default()
    }

    pub fn named(self, name: &str) -> impl Iterator<Item = Element<'a>> {
        let is = move |node: &Node<'_, '_>| node.is_element() && node.tag_name().name() == name;
        self.0.children().filter(is).map(Element)
    }

    /// Its type without the prefix.
    pub fn kind(self) -> &'a str {
        self.prefixed("type").map_or_else(|| self.0.tag_name().name(), local)
    }

    /// The namespace of its type; the prefix, if it has none.
    pub fn type_namespace(self) -> Option<&'a str> {
        let prefix = self.prefixed("type")?.split_once(':').map(|(prefix, _)| prefix);
        self.0.lookup_namespace_uri(prefix).or(prefix)
    }

    /// Its name, or `word` and a number; with `_` behind it as often as it is taken.
    pub fn own_name(self, word: &str, number: usize, taken: impl Fn(&str) -> bool) -> String {
        let given = self.value("name").filter(|name| !name.trim().is_empty());
        let mut name = given.map_or_else(|| format!("{word}{number}"), one_line);
        while taken(&name) {
            name.push('_');
        }
        name
    }

    /// The name of a connector or automaton, or the word used instead.
    pub fn title(self) -> &'a str {
        let word = if self.0.has_tag_name("automata") { "automaton" } else { "connector" };
        self.value("name").filter(|name| !name.trim().is_empty()).unwrap_or(word)
    }

    /// Its ends, and whether each writes to its node.
    pub fn ends(self) -> impl Iterator<Item = (Element<'a>, bool)> {
        let of = move |(word, writes)| self.named(word).map(move |end| (end, writes));
        [("sourceEnds", false), ("sinkEnds", true)].into_iter().flat_map(of)
    }

    /// The elements in it that have ends, but for those of connectors other than `connector`.
    pub fn with_ends(self, connector: Element<'a>) -> impl Iterator<Item = Element<'a>> {
        let is_connector = |node: &Node<'_, '_>| node.tag_name().name() == "connectors";
        let elsewhere = move |node: Node<'a, 'a>| {
            node.ancestors().find(is_connector).is_some_and(|other| other != connector.0)
        };
        let all = self.0.descendants().filter(move |node| !elsewhere(*node)).map(Element);
        all.filter(|element| element.ends().next().is_some())
    }
}

pub(super) fn read(source: &Source) -> Result<Document<'_>, EctError> {
    let wrong = |at: usize, what: String| source.fault(Spot(at), EctFault::Xml(what));
    if source.text.len() > MAX_TEXT {
        return Err(wrong(0, SyntaxFault::Long("text", source.text.len(), MAX_TEXT).to_string()));
    }
    let document = Document::parse(&source.text).map_err(|error| {
        let place = error.pos();
        let lines = source.text.split_inclusive('\n').take(place.row.saturating_sub(1) as usize);
        let at = lines.map(str::len).sum::<usize>();
        let line = source.text.get(at..).unwrap_or_default();
        let column = line.char_indices().nth(place.col.saturating_sub(1) as usize);
        let what = match error {
            roxmltree::Error::DtdDetected => "a document type is not read; leave it out".to_owned(),
            // Its place stands before it already; a character that it quotes may break the line.
            error => {
                let said = error.to_string().replace(&format!(" at {place}"), "");
                printable(&said.replace('\n', "\\n")).into_owned()
            }
        };
        wrong(at + column.map_or(line.len(), |(at, _)| at), what)
    })?;
    // In the order of the text, so that few ancestors are counted of any.
    let mut elements = document.descendants().filter(Node::is_element);
    if let Some(deep) = elements.find(|node| node.ancestors().count() > MAX_NESTING) {
        return Err(wrong(deep.range().start, SyntaxFault::Deep.to_string()));
    }
    Ok(document)
}

/// The module, or the elements of an `xmi:XMI` element.
pub(super) fn roots<'a>(document: &'a Document<'a>) -> Vec<Element<'a>> {
    let root = document.root_element();
    match root.tag_name().name() {
        "XMI" => root.children().filter(Node::is_element).map(Element).collect(),
        _ => vec![Element(root)],
    }
}

/// The elements with an `xmi:id`, by their places.
pub(super) fn identified<'a>(roots: &[Element<'a>]) -> HashMap<&'a str, Spot> {
    let all = roots.iter().flat_map(|root| root.0.descendants()).map(Element);
    all.filter_map(|element| Some((element.prefixed("id")?, element.spot()))).collect()
}

/// The nodes that list an end as theirs (`<nodes sourceEnds="...">`), by the place of the end.
pub(super) fn listed_ends(roots: &[Element], known: &HashMap<&str, Spot>) -> HashMap<usize, Spot> {
    let all = roots.iter().flat_map(|root| root.0.descendants()).map(Element);
    let nodes = all.filter(|element| element.0.has_tag_name("nodes"));
    let mut listed = HashMap::new();
    for node in nodes {
        let lists = ["sourceEnds", "sinkEnds"].into_iter().filter_map(|name| node.value(name));
        for reference in lists.flat_map(str::split_whitespace) {
            if let Some(end) = resolved(roots, known, reference) {
                listed.insert(end.0, node.spot());
            }
        }
    }
    listed
}

/// The element of a reference: an `xmi:id`, or a path such as `//@connectors.0/@nodes.2`.
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
    let mut element = *roots.get(root)?;
    for step in steps {
        let (name, number) = step.strip_prefix('@')?.split_once('.').unwrap_or((&step[1..], "0"));
        element = element.named(name).nth(number.parse().ok()?)?;
    }
    Some(element.spot())
}

/// The elements called `name`, or all; `name.2` is the second of two, unless one is called so.
pub(super) fn called<'a>(all: &[Element<'a>], name: Option<&str>) -> Vec<Element<'a>> {
    let Some(name) = name else { return all.to_vec() };
    let is = |word: &str| all.iter().copied().filter(|e| e.title() == word).collect::<Vec<_>>();
    let found = is(name);
    let numbered = name.rsplit_once('.').filter(|_| found.is_empty());
    match numbered.and_then(|(word, number)| Some((is(word), number.parse::<usize>().ok()?))) {
        Some((same, number)) => same.get(number.wrapping_sub(1)).copied().into_iter().collect(),
        None => found,
    }
}

/// The names of elements by which [`called`] finds each.
pub(super) fn numbered(all: &[Element]) -> Vec<String> {
    let same = |at: usize, range: std::ops::Range<usize>| {
        all[range].iter().filter(|other| other.title() == all[at].title()).count()
    };
    let number = |at: usize| match (same(at, 0..at), same(at, at + 1..all.len())) {
        (0, 0) => all[at].title().to_owned(),
        (before, _) => format!("{}.{}", all[at].title(), before + 1),
    };
    (0..all.len().min(MAX_LISTED)).map(number).collect()
}

/// There are several elements of these names, or none of the requested name.
pub(super) fn several<T: AsRef<str>>(what: &'static str, names: &[T]) -> EctFault {
    let names = names.iter().take(MAX_LISTED).map(|name| format!("`{}`", excerpt(name.as_ref())));
    EctFault::Several(what, names.collect::<Vec<_>>().join(", "))
}

/// A fault and its place, on one line.
pub type EctError = WithPlace<EctFault>;

/// What is wrong with a `.reo` or `.ea` file, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EctFault {
    #[error("{0}")]
    Xml(String),
    #[error("the file has no `{0}`; give a file that the editor has saved")]
    Empty(&'static str),
    #[error("the file has the {0} {1}; give --component and one of them")]
    Several(&'static str, String),
    #[error("the automaton `{0}` has no start state; mark one in the editor")]
    Start(String),
    #[error(
        "the extension `{0}` is not read here; leave it out, or use port names, start states, \
         state memory and constraints"
    )]
    Extension(String),
    #[error("the extension `{0}` is about time: {CLOCKS}")]
    Clocks(String),
    #[error(
        "`{0}` in a constraint is not read here; use equations, predicates, literals, functions, \
         conjunctions and disjunctions"
    )]
    Element(String),
    #[error("the {0} of a transition is `{1}`, which is no state of its automaton; draw it anew")]
    State(&'static str, String),
    #[error(transparent)]
    Automaton(#[from] CatFault),
    #[error(
        "`{0}` is no channel that is read here; use Sync, LossySync, FIFO, LossyFIFO, drains, \
         spouts, Filter, Transform or Timer"
    )]
    Kind(String),
    #[error(
        "`{0}` is of the namespace `{1}`, which is not that of channels; declare its prefix as \
         xmlns:channels=\"http://www.cwi.nl/reo/channels\""
    )]
    Namespace(String, String),
    #[error("an end joins {0}; connect it to a node")]
    End(String),
    #[error("{0}")]
    Value(&'static str),
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}
