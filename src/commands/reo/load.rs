//! Reading connectors from files.

use crate::commands::exit::{CliError, input};
use std::cell::RefCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tickbound_input::message::one_line;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::connector::Connector;
use tickbound_reo::context::in_context;
use tickbound_reo::symbol::NameId;
use tickbound_reo::syntax::{MAX_TEXT, Source};
use tickbound_reo::treo::{self, Library, TreoRequest};
use tickbound_reo::{aut, cat, ect, json};

use super::shared::{DEFAULT_MEMORY, within};
use crate::commands::values::ByteSize;

/// Which connector, and of it what is kept.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectorArgs {
    /// The component of a Treo file; without it `main`, that which is called as the file, or the
    /// last. The connector of a .reo file; the second of two of one name is NAME.2
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
    /// A parameter of the component, or a size of its interface, such as n=4
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A folder in which imports are looked for as well
    #[arg(long, value_name = "DIR")]
    library: Vec<String>,
    /// Leave data out: every data constraint becomes true
    #[arg(long)]
    no_data: bool,
    /// Nothing waits and no datum is lost without a reason: a lossy channel loses what the other
    /// side cannot take (docs/reo.md)
    #[arg(long)]
    context: bool,
    /// The files that were read.
    #[arg(skip)]
    files: RefCell<Vec<PathBuf>>,
}

impl ConnectorArgs {
    /// The same with other values, and the component found by itself.
    pub(super) fn with(&self, set: &[String]) -> ConnectorArgs {
        ConnectorArgs {
            component: None,
            set: set.to_vec(),
            library: self.library.clone(),
            no_data: self.no_data,
            context: self.context,
            files: RefCell::default(),
        }
    }

    /// The files that the connector was read from, once it is, and another one.
    pub(super) fn files_and(&self, other: Option<&str>) -> Vec<PathBuf> {
        self.files.borrow().iter().cloned().chain(other.map(PathBuf::from)).collect()
    }
}

/// Files of this machine: folders with libraries, and what was read.
struct Disk<'a>(&'a [String], &'a RefCell<Vec<PathBuf>>);

impl Library for Disk<'_> {
    fn folders(&self) -> Vec<String> {
        self.0.to_vec()
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        use ErrorKind::{IsADirectory, NotADirectory, NotFound};
        match tickbound_input::text(path) {
            Ok(text) if text.len() > MAX_TEXT => {
                Err(format!("has {} bytes; at most {MAX_TEXT} are read", text.len()))
            }
            Ok(text) => {
                self.1.borrow_mut().push(PathBuf::from(path));
                Ok(Some(text))
            }
            Err(e) if matches!(e.kind(), NotFound | NotADirectory | IsADirectory) => Ok(None),
            Err(e) => Err(e.to_string()),
        }
    }
}

/// The connector in the file at `path`: Treo, `.cat`, `.reo`, `.ea`, `.aut` or JSON, by ending.
pub(super) fn connector(path: &str, choice: &ConnectorArgs) -> Result<Connector, CliError> {
    let unreadable = |why: String| {
        input(format!("{path}: {why}; give a .treo, .cat, .reo, .ea, .aut or .json file"))
    };
    let text = Disk(&[], &choice.files)
        .read(path)
        .and_then(|text| text.ok_or_else(|| "there is no such file".to_owned()))
        .map_err(unreadable)?;
    let source = Source::new(path, &text);
    let end = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let named = end == "treo" || ["reo", "ea"].contains(&end) && choice.set.is_empty();
    if !named && (choice.component.is_some() || !choice.set.is_empty()) {
        return Err(input(format!("{path}: --component and --set are for .treo files")));
    }
    let mut connector = match end {
        "treo" => {
            treo::connector(&source, &Disk(&choice.library, &choice.files), &request(choice)?)
                .map_err(input)?
        }
        "aut" => aut::connector(&source).map_err(input)?,
        "cat" => cat::connector(&source).map_err(input)?,
        "reo" => ect::connector(&source, choice.component.as_deref()).map_err(input)?,
        "ea" => ect::automata(&source, choice.component.as_deref()).map_err(input)?,
        "json" => json::connector(&source).map_err(input)?,
        _ => return Err(unreadable("unknown kind of file".into())),
    };
    connector.name = one_line(&connector.name);
    if choice.no_data {
        connector.parts.iter_mut().for_each(|p| p.automaton = p.automaton.without_data());
    }
    if choice.context {
        let memory = DEFAULT_MEMORY.parse::<ByteSize>().map_err(input)?;
        return within("composing in context", memory, |limits| {
            in_context(&connector, limits).map_err(input)
        });
    }
    Ok(connector)
}

/// Which component of a Treo file is meant, with its settings.
fn request(choice: &ConnectorArgs) -> Result<TreoRequest, CliError> {
    let mut request = TreoRequest { component: choice.component.clone(), settings: Vec::new() };
    for setting in &choice.set {
        let Some((word, value)) = setting.split_once('=') else {
            return Err(input(format!("--set {setting}: write NAME=VALUE, such as n=4")));
        };
        let word = word.trim();
        if request.settings.iter().any(|(other, _)| other == word) {
            return Err(input(format!("--set {word}: given twice; keep one of them")));
        }
        request = request.set(word, value.trim());
    }
    Ok(request)
}

/// The automata of a connector.
pub(super) fn parts(connector: &Connector) -> Vec<&Automaton> {
    connector.parts.iter().map(|part| &part.automaton).collect()
}

/// Prints the notes about how the text was read.
pub(super) fn notes(connector: &Connector) {
    connector.notes.iter().for_each(|note| note!("tickbound: {note}"));
}

/// The names to hide: those of the list `a,b`, and all inner ones if asked.
pub(super) fn hidden(
    connector: &Connector,
    list: Option<&str>,
    inner: bool,
) -> Result<Vec<NameId>, CliError> {
    let mut names = if inner { connector.inner() } else { Vec::new() };
    for word in list.map(words).unwrap_or_default() {
        let known = connector.parts.iter().flat_map(|p| p.automaton.alphabet());
        let found =
            connector.symbols.find(word).map(NameId).filter(|n| known.clone().any(|k| k == n));
        let Some(name) = found else {
            let mut known: Vec<&str> = known.map(|n| connector.symbols.word(n.0)).collect();
            known.sort_unstable();
            known.dedup();
            let shown = known.iter().take(12).copied().collect::<Vec<_>>().join(", ");
            let more = if known.len() > 12 { ", ..." } else { "" };
            return Err(input(format!(
                "--hide {word}: the connector has no such name; it has {shown}{more}"
            )));
        };
        names.push(name);
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// The words of a list; commas within square brackets do not part them.
fn words(list: &str) -> Vec<&str> {
    let (mut words, mut begin, mut open) = (Vec::new(), 0, 0i32);
    for (at, c) in list.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            ',' if open == 0 => {
                words.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    words.push(list[begin..].trim());
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn lists() {
        assert_eq!(words("a, b"), ["a", "b"]);
        assert_eq!(words("x[1,2],y"), ["x[1,2]", "y"]);
        assert!(words("").is_empty());
    }
}
