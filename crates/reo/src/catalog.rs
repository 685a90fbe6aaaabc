//! The built-in components by name, with their arguments and ends.
//!
//! Treo uses them where no file defines a component, `#PR` atoms and JSON name them directly.
//! `LossySync`, `lossy_sync` and `lossysync` are one.

use thiserror::Error;
use tickbound_input::message::suggest;

use self::Takes::{Content, Nothing, Number, Word};
use crate::automaton::Automaton;
use crate::constant::predicate_word;
use crate::primitive::{self, BufferContent};
use crate::symbol::{Cell, NameId, Symbols};

/// Most places of a built-in FIFO.
pub const MAX_CAPACITY: u32 = 256;
pub const MAX_TICKS: u32 = 100_000;
/// Most ends of one component, and most ends that write to one node.
pub const MAX_ENDS: usize = 4_096;
/// The name that all timers share: it fires when a unit of time passes.
pub const TICK: &str = "tick";

/// A built-in component with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Primitive {
    Sync,
    LossySync,
    SyncDrain,
    AsyncDrain,
    /// [`primitive::sync_drain`] with ends that write.
    SyncSpout,
    /// [`primitive::async_drain`] with ends that write.
    AsyncSpout,
    /// [`primitive::fifo1`], empty.
    Fifo1,
    /// [`primitive::fifo1`], full; the constant in it, if known.
    FifoFull(Option<String>),
    /// [`primitive::fifo`] of that many places.
    Fifo(u32),
    OverflowLossyFifo1,
    ShiftLossyFifo1,
    /// [`primitive::variable`], and what it holds at the start.
    Variable(Option<String>),
    /// [`primitive::filter`] with a predicate.
    Filter(String),
    /// [`primitive::transform`] with a function.
    Transform(String),
    /// [`primitive::merger`]: the last end is its output.
    Merger,
    /// [`primitive::replicator`]: the first end is its input.
    Replicator,
    /// [`primitive::router`]: the first end is its input.
    Router,
    /// [`primitive::join`] with a function: the last end is its output.
    Join(String),
    /// [`primitive::timer`] with that many ticks; its third end is [`TICK`].
    Timer(u32),
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CatalogError {
    #[error("no built-in component is called `{0}`; {1}")]
    Unknown(String, String),
    #[error("`{word}` takes {takes}, here are {given}")]
    Arguments { word: String, takes: &'static str, given: usize },
    #[error("`{word}` takes a whole number from 1 to {most}, not `{given}`")]
    Number { word: String, most: u32, given: String },
    #[error("`{word}` has {has}, here are {given}")]
    Ends { word: String, has: String, given: usize },
}

/// What a word takes, and the component that it then is.
enum Takes {
    Nothing(Primitive),
    /// A number, up to this one.
    Number(&'static str, u32, fn(u32) -> Primitive),
    /// A constant, or nothing.
    Content(fn(Option<String>) -> Primitive),
    /// A word; without one it is the other one, if there is one.
    Word(&'static str, Option<&'static str>, fn(String) -> Primitive),
}

const CAPACITY: Takes = Number("1 argument (its capacity)", MAX_CAPACITY, |places| match places {
    1 => Primitive::Fifo1,
    places => Primitive::Fifo(places),
});
const FUNCTION: &str = "1 argument (its function)";

static WORDS: [(&str, Takes); 31] = [
    ("sync", Nothing(Primitive::Sync)),
    ("lossy", Nothing(Primitive::LossySync)),
    ("lossysync", Nothing(Primitive::LossySync)),
    ("syncdrain", Nothing(Primitive::SyncDrain)),
    ("asyncdrain", Nothing(Primitive::AsyncDrain)),
    ("syncspout", Nothing(Primitive::SyncSpout)),
    ("asyncspout", Nothing(Primitive::AsyncSpout)),
    ("fifo", CAPACITY),
    ("fifo1", Nothing(Primitive::Fifo1)),
    ("fifofull", Content(Primitive::FifoFull)),
    ("fifo1full", Content(Primitive::FifoFull)),
    ("overflowlossyfifo", Nothing(Primitive::OverflowLossyFifo1)),
    ("overflowlossyfifo1", Nothing(Primitive::OverflowLossyFifo1)),
    ("shiftlossyfifo", Nothing(Primitive::ShiftLossyFifo1)),
    ("shiftlossyfifo1", Nothing(Primitive::ShiftLossyFifo1)),
    ("variable", Content(Primitive::Variable)),
    ("filter", Word("1 argument (its predicate)", None, Primitive::Filter)),
    ("transformer", Word(FUNCTION, None, Primitive::Transform)),
    ("transform", Word(FUNCTION, None, Primitive::Transform)),
    ("merger", Nothing(Primitive::Merger)),
    ("replicator", Nothing(Primitive::Replicator)),
    ("router", Nothing(Primitive::Router)),
    ("xrouter", Nothing(Primitive::Router)),
    ("exrouter", Nothing(Primitive::Router)),
    ("join", Word("at most 1 argument (its function)", Some("tuple"), Primitive::Join)),
    ("binop", Word(FUNCTION, None, Primitive::Join)),
    ("timer", Number("1 argument (its number of ticks)", MAX_TICKS, Primitive::Timer)),
    ("fifon", CAPACITY),
    ("fifoempty", Nothing(Primitive::Fifo1)),
    ("drain", Nothing(Primitive::SyncDrain)),
    ("spout", Nothing(Primitive::SyncSpout)),
];

fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

impl Primitive {
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| *word)
    }

    pub fn is_known(word: &str) -> bool {
        let word = plain(word);
        Primitive::words().any(|w| w == word)
    }

    pub fn find(word: &str, arguments: &[&str]) -> Result<Primitive, CatalogError> {
        let known = plain(word);
        let Some((_, takes)) = WORDS.iter().find(|(w, _)| *w == known) else {
            return Err(CatalogError::Unknown(word.into(), suggest(word, Primitive::words())));
        };
        let (given, first) = (arguments.len(), arguments.first().copied());
        let argument = first.map(str::to_owned);
        let fault = |takes| Err(CatalogError::Arguments { word: word.to_owned(), takes, given });
        match (takes, given) {
            (Nothing(primitive), 0) => Ok(primitive.clone()),
            (Nothing(_), _) => fault("no argument"),
            (Number(_, most, make), 1) => number(word, first, *most).map(make),
            (Content(make), 0 | 1) => Ok(make(argument)),
            (Content(_), _) => fault("at most 1 argument (what is in it)"),
            (Word(_, Some(other), make), 0) => Ok(make((*other).into())),
            (Word(_, _, make), 1) => Ok(make(argument.unwrap_or_default())),
            (Number(text, ..) | Word(text, ..), _) => fault(text),
        }
    }

    /// For each of `count` ends whether it writes to its node.
    pub fn ends(&self, count: usize) -> Result<Vec<bool>, CatalogError> {
        let fault =
            |has: String| CatalogError::Ends { word: self.word().into(), has, given: count };
        if count > MAX_ENDS {
            return Err(fault(format!("at most {MAX_ENDS} ends")));
        }
        let merges = matches!(self, Primitive::Merger | Primitive::Join(_));
        if merges || matches!(self, Primitive::Replicator | Primitive::Router) {
            let writes = |k| if merges { k + 1 == count } else { k > 0 };
            let ends = (count >= 2).then(|| (0..count).map(writes).collect());
            return ends.ok_or_else(|| fault("at least 2 ends".into()));
        }
        let fixed: &[bool] = match self {
            Primitive::SyncDrain | Primitive::AsyncDrain => &[false, false],
            Primitive::SyncSpout | Primitive::AsyncSpout => &[true, true],
            Primitive::Timer(_) => &[false, true, false],
            _ => &[false, true],
        };
        let fits = fixed.len() == count;
        if fits { Ok(fixed.to_vec()) } else { Err(fault(format!("{} ends", fixed.len()))) }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Primitive::Sync => "sync",
            Primitive::LossySync => "lossysync",
            Primitive::SyncDrain => "syncdrain",
            Primitive::AsyncDrain => "asyncdrain",
            Primitive::SyncSpout => "syncspout",
            Primitive::AsyncSpout => "asyncspout",
            Primitive::Fifo1 => "fifo1",
            Primitive::FifoFull(_) => "fifofull",
            Primitive::Fifo(_) => "fifo",
            Primitive::OverflowLossyFifo1 => "overflowlossyfifo1",
            Primitive::ShiftLossyFifo1 => "shiftlossyfifo1",
            Primitive::Variable(_) => "variable",
            Primitive::Filter(_) => "filter",
            Primitive::Transform(_) => "transformer",
            Primitive::Merger => "merger",
            Primitive::Replicator => "replicator",
            Primitive::Router => "router",
            Primitive::Join(_) => "join",
            Primitive::Timer(_) => "timer",
        }
    }

    pub fn argument(&self) -> Option<String> {
        match self {
            Primitive::FifoFull(held) | Primitive::Variable(held) => held.clone(),
            Primitive::Filter(word) | Primitive::Transform(word) | Primitive::Join(word) => {
                Some(word.clone())
            }
            Primitive::Fifo(number) | Primitive::Timer(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// About how many numbers its automaton takes, for limits.
    pub fn size(&self, ends: usize) -> usize {
        match self {
            Primitive::Fifo(places) => 8 * (*places as usize).pow(2),
            Primitive::Timer(ticks) => 8 * *ticks as usize,
            Primitive::Merger | Primitive::Router => ends * (4 + ends / 64),
            _ => 8 + ends,
        }
    }

    /// Its automaton over `names`, as many as it has ends; cells are called `prefix` and a word.
    pub fn automaton(&self, names: &[NameId], prefix: &str, symbols: &mut Symbols) -> Automaton {
        let (first, last) = match names {
            [first, .., last] => (*first, *last),
            [only] => (*only, *only),
            [] => (symbols.name(prefix), symbols.name(prefix)),
        };
        let second = names.get(1).copied().unwrap_or(last);
        let inputs = &names[..names.len().saturating_sub(1)];
        let outputs = names.get(1..).unwrap_or_default();
        let cell = |symbols: &mut Symbols| symbols.fresh_cell(&format!("{prefix}m"));
        match self {
            Primitive::Sync => primitive::sync(first, last),
            Primitive::LossySync => primitive::lossy_sync(first, last),
            Primitive::SyncDrain | Primitive::SyncSpout => primitive::sync_drain(first, last),
            Primitive::AsyncDrain | Primitive::AsyncSpout => primitive::async_drain(first, last),
            Primitive::Fifo1 => primitive::fifo1(first, last, cell(symbols), BufferContent::Empty),
            Primitive::FifoFull(held) => {
                let content = content(held.as_deref(), BufferContent::Unknown, symbols);
                primitive::fifo1(first, last, cell(symbols), content)
            }
            Primitive::Fifo(places) => {
                let cells = (1..=*places).map(|k| symbols.fresh_cell(&format!("{prefix}m[{k}]")));
                primitive::fifo(first, last, &cells.collect::<Vec<Cell>>())
            }
            Primitive::OverflowLossyFifo1 => {
                primitive::overflow_lossy_fifo1(first, last, cell(symbols))
            }
            Primitive::ShiftLossyFifo1 => primitive::shift_lossy_fifo1(first, last, cell(symbols)),
            Primitive::Variable(held) => {
                let content = content(held.as_deref(), BufferContent::Empty, symbols);
                primitive::variable(first, last, cell(symbols), content)
            }
            Primitive::Filter(p) => {
                let (passes, p) = predicate_word(p);
                primitive::sieve(first, last, symbols.intern(p), passes)
            }
            Primitive::Transform(f) => primitive::transform(first, last, symbols.intern(f)),
            Primitive::Merger => primitive::merger(inputs, last),
            Primitive::Join(f) => primitive::join(inputs, last, symbols.intern(f)),
            Primitive::Replicator => primitive::replicator(first, outputs),
            Primitive::Router => primitive::router(first, outputs),
            Primitive::Timer(ticks) => {
                primitive::timer(first, second, last, *ticks, symbols.intern("timeout"))
            }
        }
    }
}

fn content(held: Option<&str>, without: BufferContent, symbols: &mut Symbols) -> BufferContent {
    held.map_or(without, |word| BufferContent::Constant(symbols.intern(word)))
}

fn number(word: &str, argument: Option<&str>, most: u32) -> Result<u32, CatalogError> {
    let given = argument.unwrap_or_default();
    let number = given.parse().ok().filter(|k| (1..=most).contains(k));
    number.ok_or_else(|| CatalogError::Number { word: word.into(), most, given: given.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(word: &str, arguments: &[&str], names: &[&str]) -> Result<String, CatalogError> {
        let primitive = Primitive::find(word, arguments)?;
        primitive.ends(names.len())?;
        let mut symbols = Symbols::new();
        let names: Vec<NameId> = names.iter().map(|n| symbols.name(n)).collect();
        Ok(primitive.automaton(&names, "i/", &mut symbols).text(&symbols))
    }

    #[test]
    fn every_word_gives_an_automaton() {
        for (word, takes) in &WORDS {
            let arguments: &[&str] = if matches!(takes, Nothing(_)) { &[] } else { &["2"] };
            let names = if *word == "timer" { 3 } else { 2 };
            let text = text(word, arguments, &["a", "b", "c"][..names]);
            assert!(text.is_ok_and(|t| !t.is_empty()), "{word}");
        }
    }

    #[test]
    fn ends_write_or_read() {
        let ends = |word, arguments: &[&str], count| Primitive::find(word, arguments)?.ends(count);
        assert_eq!(ends("fifo", &["3"], 2), Ok(vec![false, true]));
        assert_eq!(ends("Merger", &[], 3), Ok(vec![false, false, true]));
        let error = Primitive::find("fifo", &[]).map_err(|e| e.to_string());
        assert_eq!(error, Err("`fifo` takes 1 argument (its capacity), here are 0".into()));
    }

    #[test]
    fn words_are_found_as_written() {
        let lossy = "0 {a} true -> 0\n0 {a, b} a = b -> 0\n";
        assert_eq!(text("LossySync", &[], &["a", "b"]), Ok(lossy.into()));
        let full = "0 {a} a = $i/m' -> 1\n1 {b} b = $i/m -> 0\n";
        assert_eq!(text("fifo1_full", &["0"], &["a", "b"]), Ok(full.into()));
    }

    #[test]
    fn refused_words_say_why() {
        let error = |w, a: &[&str], n: &[&str]| text(w, a, n).map_err(|e| e.to_string());
        for (got, expected) in [
            (
                error("synk", &[], &[]),
                "no built-in component is called `synk`; did you mean `sync`?",
            ),
            (error("sync", &["1"], &[]), "`sync` takes no argument, here are 1"),
            (error("fifo", &["0"], &[]), "`fifo` takes a whole number from 1 to 256, not `0`"),
            (error("fifo", &["k"], &[]), "`fifo` takes a whole number from 1 to 256, not `k`"),
            (error("sync", &[], &["a"]), "`sync` has 2 ends, here are 1"),
            (error("merger", &[], &["a"]), "`merger` has at least 2 ends, here are 1"),
        ] {
            assert_eq!(got, Err(expected.into()));
        }
    }
}
